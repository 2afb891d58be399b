//! Height and speed of a point become labels by two pairs of thresholds: a contact begins below the inner pair and
//! ends above the outer one, each for a while.
//!
//! Units: metres, metres per second, frames.

/// When a contact begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thresholds {
    /// It begins below both.
    pub height_on: f64,
    pub speed_on: f64,
    /// It ends above either.
    pub height_off: f64,
    pub speed_off: f64,
    /// Frames that the condition must hold for; the change then counts from the first of them.
    pub frames: usize,
}

/// The labels of a point, given its height above what it would rest on and its speed.
pub(super) fn labels(height: &[f64], speed: &[f64], thresholds: &Thresholds) -> Vec<bool> {
    let t = thresholds;
    let mut labels = vec![false; height.len()];
    let mut rests = false;
    let mut run = 0;
    for f in 0..height.len() {
        let change = match rests {
            false => height[f] < t.height_on && speed[f] < t.speed_on,
            true => height[f] > t.height_off || speed[f] > t.speed_off,
        };
        run = if change { run + 1 } else { 0 };
        labels[f] = rests;
        // What began before the clip did need not wait.
        if run >= t.frames.max(1) || (change && f + 1 == run && !rests) {
            rests = !rests;
            labels[f + 1 - run..=f].fill(rests);
            run = 0;
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Thresholds =
        Thresholds { height_on: 0.03, speed_on: 0.2, height_off: 0.05, speed_off: 0.4, frames: 2 };

    #[test]
    fn a_contact_begins_inside_and_ends_outside() {
        let height = [0.2, 0.04, 0.02, 0.01, 0.04, 0.04, 0.06, 0.07, 0.0];
        let speed = [1.0, 0.3, 0.1, 0.0, 0.3, 0.1, 0.3, 0.3, 2.0];
        let found: Vec<u8> = labels(&height, &speed, &T).into_iter().map(u8::from).collect();
        assert_eq!(found, [0, 0, 1, 1, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn neither_height_nor_speed_is_enough() {
        assert!(!labels(&[0.0; 9], &[1.0; 9], &T).contains(&true));
        assert!(!labels(&[0.3; 9], &[0.0; 9], &T).contains(&true));
        assert!(!labels(&[0.0; 9], &[0.0; 9], &T).contains(&false));
    }
}
