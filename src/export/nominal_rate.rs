//! The rate that a clip means: 32-bit key times make 60 hertz look like 60.000057.

/// A rate this near to a usual one, relative to it, is that one: key times of 32 bits are off by less.
const NEAR: f64 = 1e-4;

/// The rate that `hz` stands for: a whole number, or one slowed down by 1001 / 1000 as television has it; else `hz` itself.
pub(super) fn nominal(hz: f64) -> f64 {
    let near = |meant: f64| meant > 0.0 && (hz / meant - 1.0).abs() < NEAR;
    let slowed = (hz * 1.001).round() / 1.001;
    [hz.round(), slowed].into_iter().find(|meant| near(*meant)).unwrap_or(hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_snap_to_what_they_mean() {
        assert_eq!(nominal(60.000057), 60.0);
        assert!((nominal(29.97) - 30000.0 / 1001.0).abs() < 1e-12);
        assert_eq!(nominal(1.0 / 0.008333), 120.0);
        assert_eq!(nominal(33.4), 33.4);
        assert_eq!(nominal(0.25), 0.25);
    }
}
