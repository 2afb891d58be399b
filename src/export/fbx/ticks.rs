//! Times and frame rates of an FBX file.
//!
//! Units: 46186158000 ticks per second, a multiple of all common rates. A rate that was derived from rounded times (`60.000057`
//! from the 32-bit seconds of a glTF file) is replaced by its nominal rate. Source: `KTime` and `FbxTime::EMode` of Autodesk's
//! FBX SDK.

pub(super) use crate::export::nominal_rate::nominal;
use crate::model::Clip;

/// Ticks per second.
const TICKS: f64 = 46_186_158_000.0;
/// Tolerance for snapping the start of a clip to a whole frame, in frames.
const NEAR_FRAME: f64 = 1e-3;

/// The times of the frames of a clip, in ticks.
pub(super) fn frame_ticks(clip: &Clip) -> Vec<i64> {
    let rate = nominal(clip.sample_rate);
    let start = clip.start * clip.sample_rate;
    let first = if (start - start.round()).abs() < NEAR_FRAME { start.round() } else { start };
    (0..clip.frames()).map(|frame| ((first + frame as f64) / rate * TICKS).round() as i64).collect()
}

/// A time in seconds.
#[cfg(feature = "fbx")]
pub(super) fn seconds(ticks: i64) -> f64 {
    ticks as f64 / TICKS
}

/// The code of a rate (`TimeMode`), [`CUSTOM`] for a rate without one.
pub(super) fn mode(rate: f64) -> i32 {
    /// Frames per second and their code in `FbxTime::EMode`.
    const MODES: [(f64, i32); 15] = [
        (120.0, 1),
        (100.0, 2),
        (60.0, 3),
        (50.0, 4),
        (48.0, 5),
        (30.0, 6),
        (30.0 / 1.001, 9),
        (25.0, 10),
        (24.0, 11),
        (1000.0, 12),
        (24.0 / 1.001, 13),
        (96.0, 15),
        (72.0, 16),
        (60.0 / 1.001, 17),
        (120.0 / 1.001, 18),
    ];
    MODES.iter().find(|(common, _)| (rate / common - 1.0).abs() < 1e-9).map_or(CUSTOM, |(_, mode)| *mode)
}

/// The code of a rate that is stated in `CustomFrameRate`.
pub(super) const CUSTOM: i32 = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    #[test]
    fn rates_are_nominal() {
        for nominal_rate in [24.0 / 1.001, 30.0 / 1.001, 60.0 / 1.001] {
            assert!((nominal(nominal_rate * 1.00001) / nominal_rate - 1.0).abs() < 1e-12);
            assert_ne!(mode(nominal(nominal_rate)), CUSTOM);
        }
        assert_eq!((mode(30.0), mode(33.0)), (6, CUSTOM));
    }

    #[test]
    fn frames_are_at_whole_ticks() {
        let mut clip = Clip::new("", 30.000002, 1, vec![Quat::identity(); 3], vec![], vec![]);
        clip.start = f64::from(1.0f32 / 30.0);
        assert_eq!(frame_ticks(&clip), [1_539_538_600, 3_079_077_200, 4_618_615_800]);
    }
}
