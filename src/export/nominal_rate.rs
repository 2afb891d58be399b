//! Snaps a frame rate to the nominal one (whole, or NTSC) when within 1e-4.

/// Relative tolerance within which a rate counts as the nominal one: 32-bit key times (60 Hz is read as 60.000057 Hz) and rounded
/// frame times (0.008333 s for 120 Hz) are off by less.
const NEAR: f64 = 1e-4;

/// The nominal rate of `hz`: a whole number, or a whole number times 1000 / 1001 (NTSC); else `hz` itself.
pub(super) fn nominal(hz: f64) -> f64 {
    let near = |nominal: f64| nominal > 0.0 && (hz / nominal - 1.0).abs() < NEAR;
    let ntsc = (hz * 1.001).round() / 1.001;
    [hz.round(), ntsc].into_iter().find(|nominal| near(*nominal)).unwrap_or(hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_snap_to_nominal_ones() {
        assert_eq!(nominal(60.000057), 60.0);
        assert!((nominal(29.97) - 30000.0 / 1001.0).abs() < 1e-12);
        assert_eq!(nominal(1.0 / 0.008333), 120.0);
        assert_eq!(nominal(33.4), 33.4);
        assert_eq!(nominal(0.25), 0.25);
    }
}
