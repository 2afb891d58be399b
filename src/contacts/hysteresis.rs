//! Labels contacts by two pairs of thresholds for height and speed.
//!
//! A contact begins below both inner thresholds and goes on until an outer one is exceeded; its last frame is the last one below
//! the inner pair. So a contact that wavers stays one, and its ends are where the part really comes and goes.
//! Units: metres, metres per second, frames.

/// When a contact begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thresholds {
    /// The inner pair: in contact below both.
    pub height_on: f64,
    pub speed_on: f64,
    /// The outer pair: not in contact above either.
    pub height_off: f64,
    pub speed_off: f64,
}

/// The labels of a point, given its height above what it would rest on and its speed.
pub(super) fn labels(height: &[f64], speed: &[f64], t: &Thresholds) -> Vec<bool> {
    let mut labels = vec![false; height.len()];
    // The last frame below the inner pair since the height and speed came below the outer one.
    let mut last: Option<usize> = None;
    for (f, (z, s)) in height.iter().zip(speed).enumerate() {
        if *z > t.height_off || *s > t.speed_off {
            last = None;
        } else if *z < t.height_on && *s < t.speed_on {
            labels[last.unwrap_or(f)..=f].fill(true);
            last = Some(f);
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Thresholds = Thresholds { height_on: 0.03, speed_on: 0.2, height_off: 0.05, speed_off: 0.4 };

    #[test]
    fn a_contact_wavers_between_the_pairs_but_ends_inside() {
        let height = [0.2, 0.04, 0.02, 0.04, 0.01, 0.04, 0.06, 0.01, 0.0];
        let speed = [1.0, 0.3, 0.1, 0.3, 0.0, 0.3, 0.3, 2.0, 0.1];
        let found: Vec<u8> = labels(&height, &speed, &T).into_iter().map(u8::from).collect();
        assert_eq!(found, [0, 0, 1, 1, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn neither_height_nor_speed_is_enough() {
        assert!(!labels(&[0.0; 9], &[1.0; 9], &T).contains(&true));
        assert!(!labels(&[0.3; 9], &[0.0; 9], &T).contains(&true));
        assert!(!labels(&[0.0; 9], &[0.0; 9], &T).contains(&false));
    }
}
