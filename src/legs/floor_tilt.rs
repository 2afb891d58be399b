//! Removes the tilt of a capture floor: a plane of slight slope through everything that the source's feet rest on.
//!
//! Captures whose axes are not quite level let a walk of seven metres rise by five centimetres, and the target would hover
//! over most of it. Ramps and stairs are steeper than [`STEEPEST`], uneven ground deviates by more than [`UNEVEN`]: these
//! stay. Space: model space, Y up. Units: metres unless said otherwise.

use super::limb_pose::LimbPositions;
use super::settings::Settings;
use super::timeline::{PLANTED_SPEED, Timeline};
use crate::math::{SlopeFit, Vec3, median, percentile};

/// Largest slope that is a fault of a capture, metres per metre: 1.5 degrees. A floor counts as a ramp from
/// 1 in 20, 2.9 degrees (building codes).
const STEEPEST: f64 = 0.026;
/// Height difference over the clip below which a tilt is not worth correcting, leg lengths: a centimetre for a person.
const LEAST: f64 = 0.012;
/// Largest spread (10th to 90th percentile) of resting heights about the plane, leg lengths: more is no plane.
const UNEVEN: f64 = 0.025;
/// Largest share of the spread of resting heights that may remain: a plane that explains less than half explains little.
const REMAINING: f64 = 0.5;
/// Scale of the Cauchy weights of the fit, leg lengths: larger deviations are not resting feet.
const OUTLIER: f64 = 0.01;
/// Ratio of the squared spread of a path across its direction to that along it. Below it the cross slope cannot be measured and is
/// kept near zero: the feet of a straight walk of 7 m are 0.2 m apart.
const ACROSS: f64 = 1e-3;
/// Rounds of reweighting: the slope changes by less than a hundredth after five.
const ROUNDS: usize = 8;
/// Fewest samples of a joint.
const FEWEST: usize = 10;

/// Moves all joints of the legs vertically, so that a slightly tilted floor on which their feet rest is level and its middle
/// keeps its height; other legs do not change. `leg_length` is the length of the legs; only `distinct` frames count.
pub fn level_floor(
    time: &Timeline,
    legs: &mut [Vec<LimbPositions>],
    distinct: &[bool],
    leg_length: f64,
    settings: &Settings,
) {
    let resting = resting(time, legs, distinct, leg_length, settings);
    let Some(slope) = tilt(&resting, leg_length) else { return };
    let all = resting.iter().map(Vec::len).sum::<usize>() as f64;
    let middle = resting.iter().flatten().sum::<Vec3>() / all;
    let level = |p: &mut Vec3| p.y -= slope[0] * (p.x - middle.x) + slope[1] * (p.z - middle.z);
    legs.iter_mut().flatten().for_each(|pose| {
        [&mut pose.hip, &mut pose.knee, &mut pose.ankle, &mut pose.toes].into_iter().for_each(level);
    });
}

/// The positions of ankles and toe joints while they rest, by joint.
fn resting(
    time: &Timeline,
    legs: &[Vec<LimbPositions>],
    distinct: &[bool],
    leg_length: f64,
    settings: &Settings,
) -> Vec<Vec<Vec3>> {
    let joints: [fn(&LimbPositions) -> Vec3; 2] = [|pose| pose.ankle, |pose| pose.toes];
    let of = |(poses, joint): (&Vec<LimbPositions>, fn(&LimbPositions) -> Vec3)| -> Vec<Vec3> {
        let speeds = time.speeds(|f| joint(&poses[f]), settings.speed_window);
        let is_resting =
            |f: &usize| !time.is_cut[*f] && distinct[*f] && speeds[*f] < PLANTED_SPEED * leg_length;
        (0..speeds.len()).filter(is_resting).map(|f| joint(&poses[f])).collect()
    };
    let pairs = legs.iter().flat_map(|poses| joints.map(|joint| (poses, joint)));
    pairs.map(of).filter(|resting| resting.len() >= FEWEST).collect()
}

/// The slope along X and Z of a slightly tilted plane on which these points lie, each group at a height of its own.
fn tilt(groups: &[Vec<Vec3>], leg_length: f64) -> Option<[f64; 2]> {
    let slope = fitted(groups, OUTLIER * leg_length);
    let height_on_plane = |p: &Vec3| slope[0] * p.x + slope[1] * p.z;
    let spread = |of: &dyn Fn(&Vec3) -> f64| {
        let about_middle = |group: &Vec<Vec3>| {
            let mut heights: Vec<f64> = group.iter().map(of).collect();
            let middle = median(heights.clone());
            heights.iter_mut().for_each(|height| *height -= middle);
            heights
        };
        let all: Vec<f64> = groups.iter().flat_map(about_middle).collect();
        percentile(&all, 0.9) - percentile(&all, 0.1)
    };
    let (before, after) = (spread(&|p| p.y), spread(&|p| p.y - height_on_plane(p)));
    let is_slight =
        libm::hypot(slope[0], slope[1]) < STEEPEST && spread(&height_on_plane) > LEAST * leg_length;
    (is_slight && after < REMAINING * before && after < UNEVEN * leg_length).then_some(slope)
}

/// The common slope of several groups of points, each at a height of its own: iteratively reweighted least squares.
fn fitted(groups: &[Vec<Vec3>], outlier: f64) -> [f64; 2] {
    let mut slope = [0.0; 2];
    let mut level: Vec<f64> = groups.iter().map(|g| median(g.iter().map(|p| p.y).collect())).collect();
    for round in 0..ROUNDS {
        let mut fit = SlopeFit::default();
        let fitted = groups.iter().zip(&level).map(|(group, level)| {
            let weight = |p: &Vec3| {
                let deviation = p.y - level - slope[0] * p.x - slope[1] * p.z;
                if round == 0 { 1.0 } else { 1.0 / (1.0 + (deviation / outlier).powi(2)) }
            };
            fit.add(group.iter().map(|p| (*p, weight(p))))
        });
        let middles: Vec<Vec3> = fitted.collect();
        slope = fit.slope(ACROSS);
        level = middles.iter().map(|m| m.y - slope[0] * m.x - slope[1] * m.z).collect();
    }
    slope
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A walk of `metres` along Z with steps of 0.7 m, on a floor of this height: 30 frames of stance, 20 of swing.
    fn walk(metres: f64, floor: impl Fn(f64, f64) -> f64) -> Vec<Vec<LimbPositions>> {
        let foot = |side: f64, f: usize| {
            let (step, phase) = (f / 50, f % 50);
            let swing = (phase as f64 - 30.0).max(0.0) / 20.0;
            let z = (step as f64 + 0.5 * side + swing) * 1.4;
            let x = 0.1 * (2.0 * side - 1.0);
            Vec3::new(x, floor(x, z) + 0.1 * (std::f64::consts::PI * swing).sin(), z)
        };
        let pose = |side: f64, f: usize| {
            let at = foot(side, f);
            let up = |y: f64| at + Vec3::y() * y;
            LimbPositions { hip: up(0.95), knee: up(0.5), ankle: up(0.08), toes: up(0.02) + Vec3::z() * 0.12 }
        };
        let frames = (metres / 1.4 * 50.0) as usize;
        [0.0, 1.0].map(|side| (0..frames).map(|f| pose(side, f)).collect()).to_vec()
    }

    fn levelled(legs: &[Vec<LimbPositions>]) -> Vec<Vec<LimbPositions>> {
        let frames = legs[0].len();
        let time = Timeline { frames, cycle: false, is_cut: vec![false; frames - 1], dt: 1.0 / 60.0 };
        let mut level = legs.to_vec();
        level_floor(&time, &mut level, &vec![true; frames], 0.9, &Settings::default());
        level
    }

    proptest! {
        #[test]
        fn a_slightly_tilted_floor_becomes_level(slope in 0.005..0.02f64, across in -0.005..0.005f64) {
            let level = levelled(&walk(8.0, |x, z| slope * z + across * x));
            let stance = level[0].iter().step_by(50).map(|pose| pose.ankle.y);
            let (low, high) = stance.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
            prop_assert!(high - low < 0.002, "{} of {}", high - low, 8.0 * slope);
        }
    }

    #[test]
    fn level_floors_ramps_and_stairs_stay_bit_for_bit() {
        let stairs = |z: f64| 0.15 * (z / 1.4).floor();
        let floors: [&dyn Fn(f64, f64) -> f64; 4] =
            [&|_, _| 0.0, &|_, z| 0.06 * z, &|_, z| stairs(z), &|_, z| if z > 4.0 { 0.1 } else { 0.0 }];
        for (k, floor) in floors.into_iter().enumerate() {
            let legs = walk(8.0, floor);
            assert_eq!(levelled(&legs), legs, "floor {k}");
        }
    }
}
