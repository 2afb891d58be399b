//! Detects a tilted floor from the heights of stances and the lean of the body, and levels it; what may be a slope or a drift is
//! reported.
//!
//! Two witnesses make a tilt: stances lie on an inclined plane, and the body leans with it, since it was recorded upright on a level
//! floor. On a ramp, and where the path drifts, the head is above the feet instead. Units: metres of 0.86 m legs.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::fit;
use super::stances::{FootTrajectories, PointKind, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::kinematics::map_frames_towards;
use crate::math::{Vec3, arc, horizontal, median};
use crate::model::{ModelPose, Role};

/// Smallest tilt that is corrected, degrees: smaller ones are invisible.
const LEAST: f64 = 1.2;
/// Tilts from which stances are found by their speed alone, and up to which they are low within a second, degrees.
const STEEP: (f64, f64) = (3.0, 6.0);
/// Largest tilt that is corrected, degrees: a camera seldom looks down further.
const STEEPEST: f64 = 50.0;
/// Least height of the hips above a foot that stands on a floor that may be steep, metres: half a leg.
const UPRIGHT: f64 = 0.43;
/// Least extent of the stances along the slope, metres.
const REACH: f64 = 1.0;
/// Largest residual of the plane, as a share of that of a level floor.
const EXPLAINS: f64 = 0.5;
/// Least share of the slope by which the body leans: from a half on, it is nearer to upright on the level floor than on the slope.
/// Most takes have 0.5 to 1.2 where they are tilted by 3 degrees, and up to 0.4 on ramps of 3; at 2 degrees the two overlap (0.39 tilted,
/// 0.58 on a ramp).
const LEANS: f64 = 0.5;
/// Least stances that define a plane.
const FEWEST: usize = 6;

/// Levels a floor that is tilted by up to 6 degrees; true if it was.
pub(super) fn tilt(
    take: &mut WorkingTake,
    feet: &FootTrajectories,
    stances: &[Stance],
    log: &mut FaultLog,
) -> bool {
    level_floor(take, feet, stances, ([LEAST, STEEP.1], LEAST), log)
}

/// Levels a floor that may be steeper than that, as of a capture by a camera that looks down; true if it was.
pub(super) fn steep_tilt(take: &mut WorkingTake, feet: &FootTrajectories, log: &mut FaultLog) -> bool {
    let character = &take.motion.character;
    let Some(hips) = character.rig.joint(Role::Hips) else { return false };
    let height = |model: &ModelPose| model.position(hips).y * take.scale;
    let heights = map_frames_towards(character.skeleton(), &take.motion.clip, [hips], height);
    let mut stances = feet.stances_at_any_height(SLOW);
    // The feet of a body that lies rest at any height.
    stances.retain(|stance| {
        let middle = stance.frames.len() / 2;
        heights[stance.frames.start + middle] - feet.at(stance)[middle].y > UPRIGHT
    });
    level_floor(take, feet, &stances, ([STEEP.0, STEEPEST], STEEP.1), log)
}

/// Levels a floor whose tilt is between two angles; true if it was. What is not levelled is reported from a third angle on. Degrees.
fn level_floor(
    take: &mut WorkingTake,
    feet: &FootTrajectories,
    stances: &[Stance],
    ([least, most], reported): ([f64; 2], f64),
    log: &mut FaultLog,
) -> bool {
    let (mut points, mut weights): (Vec<Vec3>, Vec<f64>) = (Vec::new(), Vec::new());
    for kind in [PointKind::Ankle, PointKind::Ball] {
        let of_kind = stances.iter().filter(|s| feet.points[s.point].kind == kind);
        let own: Vec<(Vec3, f64)> =
            of_kind.map(|s| (feet.at(s)[s.frames.len() / 2], s.frames.len() as f64)).collect();
        let level = median(own.iter().map(|p| p.0.y).collect());
        points.extend(own.iter().map(|(p, _)| p - Vec3::y() * level));
        weights.extend(own.iter().map(|p| p.1));
    }
    if points.len() < FEWEST {
        return false;
    }
    let mean = points.iter().sum::<Vec3>() / points.len() as f64;
    let rows: Vec<Vec<f64>> = points.iter().map(|p| vec![p.x - mean.x, p.z - mean.z, 1.0]).collect();
    let heights: Vec<f64> = points.iter().map(|p| p.y).collect();
    let plane = fit(&rows, &heights, &weights);
    let [a, b, c] = plane.coefficients[..] else { return false };
    let steep = libm::hypot(a, b);
    let along = |row: &Vec<f64>| (row[0] * a + row[1] * b) / steep.max(1e-9);
    let (low, high) =
        rows.iter().map(along).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let off = |(row, z): (&Vec<f64>, &f64)| (z - row[0] * a - row[1] * b - c).abs();
    let usual = median(heights.clone());
    let before = median(heights.iter().map(|z| (z - usual).abs()).collect());
    let after = median(rows.iter().zip(&heights).map(off).collect());
    let degrees = libm::atan(steep).to_degrees();
    let inclined = all(&[
        degrees / least,
        most / degrees.max(1e-9),
        (high - low) / REACH,
        EXPLAINS * before / after.max(1e-9),
    ]);
    let levelled = (inclined > 1.0).then(|| levelled(take, [a, b]));
    let leans = levelled.as_ref().and_then(|levelled| lean(levelled, feet.cuts()));
    // Upright on the level floor is a lean by the whole slope before.
    let leans = leans.map_or(0.0, |lean| 1.0 - (lean[0] * a + lean[1] * b) / (steep * steep));
    if log.test("tilt", inclined.min(leans / LEANS))
        && let Some(levelled) = levelled
    {
        *take = levelled;
        log.record_fixed("tilt", None, 0..take.frames(), "deg", [degrees, 0.0]);
        return true;
    }
    if inclined > 1.0 && degrees > reported && log.left.iter().all(|f| f.fault != "vertical_drift") {
        let why = "the stances lie on an inclined plane and the body is upright above them: a slope or a drift, not a tilt of the capture";
        log.record_unfixed("tilt", 0..take.frames(), "deg", degrees, why);
    }
    false
}

/// The take rotated about the middle of its path, so that a floor of these slopes along X and Z is level.
fn levelled(take: &WorkingTake, [along_x, along_z]: [f64; 2]) -> WorkingTake {
    let mut levelled = take.clone();
    let positions = take.root_positions();
    let middle = positions.iter().sum::<Vec3>() / positions.len() as f64;
    let normal = Vec3::new(-along_x, 1.0, -along_z);
    levelled.rotate(&arc(&normal, &Vec3::y(), &Vec3::x()), &horizontal(&middle));
    levelled
}

/// How far the head is from above the planted points of the feet along X and Z, as a share of its height above them, in the mean;
/// `None` without a head or stances. A person who bends forward moves the pelvis back: the head stays above the feet.
fn lean(take: &WorkingTake, cuts: &[bool]) -> Option<[f64; 2]> {
    let character = &take.motion.character;
    let head = character.rig.joint(Role::Head)?;
    let feet = FootTrajectories::of(take, cuts)?;
    let heads = map_frames_towards(character.skeleton(), &take.motion.clip, [head], |model: &ModelPose| {
        model.position(head) * take.scale
    });
    let mut planted = vec![(Vec3::zeros(), 0.0); heads.len()];
    for stance in feet.stances(SLOW) {
        for (frame, at) in stance.frames.clone().zip(feet.at(&stance)) {
            planted[frame].0 += at;
            planted[frame].1 += 1.0;
        }
    }
    let on = heads.iter().zip(&planted).filter(|(_, (_, points))| *points > 0.0);
    let above = on.map(|(head, (sum, points))| head - sum / *points).sum::<Vec3>();
    (above.y > 0.0).then(|| [above.x / above.y, above.z / above.y])
}
