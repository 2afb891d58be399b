//! Which way a figure stands and looks, how long its legs are, and what unit its file was written in.

use crate::math::{Quat, Vec3, arc, from_columns};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};

/// The measures that carry motion from one body to another, taken from a calibration pose, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The middle of the two hip joints (where the thighs turn): the point that root motion moves.
    pub pelvis: Vec3,
    /// The body's own upright direction: +Y, unless a biped lies or leans in the calibration pose.
    pub up: Vec3,
    /// How far along `up` the lowest point of the feet lies.
    pub sole: f64,
    /// From the sole to the hip joints along the leg: thigh plus shin plus the ankle's height.
    pub leg: f64,
    /// The direction from the right hip joint to the left one, perpendicular to `up`, of length 1.
    pub left: Vec3,
}

impl Figure {
    /// The measures of a rig in `rest` (model space, Y up); `None` without two thighs.
    pub fn of(rig: &Rig, rest: &ModelPose) -> Option<Figure> {
        let thighs = [rig.joint(Role::UpperLeg(Side::Left))?, rig.joint(Role::UpperLeg(Side::Right))?];
        let [left, right] = thighs.map(|id| rest.position(id));
        let pelvis = (left + right) * 0.5;
        let up = upright(rig, rest, &pelvis);
        // Some rigs hang both thighs from one point: then the next joints down the legs tell the sides apart.
        let mut across = left - right;
        let size = rest.joints().iter().map(|t| (t.translation - left).norm()).fold(0.0, f64::max);
        if across.norm() < 1e-3 * size {
            let knee = |s| rig.joint(Role::LowerLeg(s)).map(|id| rest.position(id));
            across = knee(Side::Left)? - knee(Side::Right)?;
        }
        across -= up * across.dot(&up);
        let across = across.try_normalize(1e-12)?;
        let sole = lowest(rig, rest, &up);
        let height = |p: &Vec3| p.dot(&up) - sole;
        let length = |side: Side| -> Option<f64> {
            let at = |role: Role| rig.joint(role).map(|id| rest.position(id));
            let hip = at(Role::UpperLeg(side))?;
            let Some(knee) = at(Role::LowerLeg(side)) else { return Some(height(&hip)) };
            let thigh = (knee - hip).norm();
            let Some(ankle) = at(Role::Foot(side)) else { return Some(thigh + height(&knee).max(0.0)) };
            // The sole below the ankle is measured along the shin, so that spread legs do not shorten it.
            let fall = (knee - ankle).try_normalize(1e-12).map_or(1.0, |d| d.dot(&up).abs().max(0.5));
            Some(thigh + (ankle - knee).norm() + height(&ankle).max(0.0) / fall)
        };
        let leg = 0.5 * (length(Side::Left)? + length(Side::Right)?);
        (leg > 0.0).then_some(Figure { pelvis, up, sole, leg, left: across })
    }
}

/// Whether a rig goes on four legs: its trunk does not continue the line of its hind legs in `rest`.
pub fn on_four_legs(rig: &Rig, rest: &ModelPose) -> bool {
    let middle = |role: fn(Side) -> Role| {
        let [a, b] = Side::BOTH.map(|s| rig.joint(role(s)).map(|id| rest.position(id)));
        Some((a? + b?) * 0.5)
    };
    let feet = middle(Role::Foot).or_else(|| middle(Role::LowerLeg));
    let (Some(hips), Some(shoulders), Some(feet)) = (middle(Role::UpperLeg), middle(Role::UpperArm), feet)
    else {
        return false;
    };
    let (trunk, legs) = (shoulders - hips, hips - feet);
    trunk.dot(&legs) < 0.7 * trunk.norm() * legs.norm()
}

/// The upright direction of a body: +Y, or the line from feet to shoulders where legs and trunk form one line that
/// leaves the vertical by more than 40 degrees.
fn upright(rig: &Rig, rest: &ModelPose, pelvis: &Vec3) -> Vec3 {
    let middle = |role: fn(Side) -> Role| {
        let [a, b] = Side::BOTH.map(|s| rig.joint(role(s)).map(|id| rest.position(id)));
        Some((a? + b?) * 0.5)
    };
    let (Some(shoulders), Some(feet)) = (middle(Role::UpperArm), middle(Role::Foot)) else {
        return Vec3::y();
    };
    let ends = ((shoulders - pelvis).try_normalize(1e-9), (pelvis - feet).try_normalize(1e-9));
    let (Some(trunk), Some(legs)) = ends else { return Vec3::y() };
    let stands = trunk.y > 0.77 || legs.y > 0.77;
    if stands || trunk.dot(&legs) < 0.7 { Vec3::y() } else { (trunk + legs).normalize() }
}

/// How far along `up` the lowest joint or tip of the legs lies; of the whole skeleton where there are no legs.
fn lowest(rig: &Rig, rest: &ModelPose, up: &Vec3) -> f64 {
    let skeleton = rig.skeleton();
    let thighs: Vec<JointId> = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::UpperLeg(s))).collect();
    let feet: Vec<JointId> = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::Foot(s))).collect();
    let below = skeleton.below(&[thighs.as_slice(), &feet].concat());
    let of_leg = |id: &JointId| thighs.is_empty() || below[id.index()];
    let mut low = f64::INFINITY;
    for id in skeleton.ids().filter(of_leg) {
        let joint = rest.joint(id);
        low = low.min(joint.translation.dot(up));
        if let Some(tip) = skeleton.joint(id).tip {
            low = low.min(joint.point(&tip).dot(up));
        }
    }
    low
}

/// How the axes of a file relate to the normal form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Normal form (Y up, facing +Z) from the axes of the rest pose.
    pub normal_from_rest: Quat,
    /// The up axis of the rest pose in the file's axes.
    pub up: Vec3,
}

/// Reads up and front off a rest pose whose axes are unknown; `None` where there are no legs to stand on.
///
/// `up` fixes the up axis where the format or the user says it; a guessed one snaps to the file's axes. The front
/// is exactly perpendicular to the line of the hip joints, or the nearest of the file's axes with `snap`: for
/// formats that define a front, where a small angle is a property of the figure.
pub fn orientation(rig: &Rig, rest: &ModelPose, up: Option<Vec3>, snap: bool) -> Option<Orientation> {
    let position = |role| rig.joint(role).map(|id| rest.position(id));
    let mean =
        |role: fn(Side) -> Role| Some((position(role(Side::Left))? + position(role(Side::Right))?) * 0.5);
    let hips = mean(Role::UpperLeg)?;
    let low = mean(Role::Foot).or_else(|| mean(Role::LowerLeg))?;
    let high = position(Role::Head).or_else(|| mean(Role::UpperArm)).unwrap_or(hips);
    let up = up.unwrap_or_else(|| nearest_axis(&((hips - low) + (high - hips))));
    let mut left = position(Role::UpperLeg(Side::Left))? - position(Role::UpperLeg(Side::Right))?;
    if left.norm() < 1e-6 * (hips - low).norm() {
        left = position(Role::LowerLeg(Side::Left))? - position(Role::LowerLeg(Side::Right))?;
    }
    let across = left - up * left.dot(&up);
    if across.norm() < 0.2 * left.norm() {
        return None;
    }
    let left = if snap { nearest_axis(&across) } else { across.try_normalize(1e-12)? };
    // Columns are the file's images of +X (left), +Y (up), +Z (front); the inverse maps the file to normal form.
    let normal_from_rest = from_columns(&left, &up, &left.cross(&up)).inverse();
    Some(Orientation { normal_from_rest, up })
}

/// The signed coordinate axis nearest to `v`.
pub(super) fn nearest_axis(v: &Vec3) -> Vec3 {
    let k = v.iamax();
    let mut axis = Vec3::zeros();
    axis[k] = if v[k] < 0.0 { -1.0 } else { 1.0 };
    axis
}

/// Normal form from the world axes of the motion, which may differ from those of the rest pose: some files move
/// in a Z-up world over Y-up offsets.
///
/// The rest pose's own axes are kept unless the figure clearly stands along another axis: over the clip its legs
/// and trunk point along it by more than three quarters on average, and along the rest pose's up by less than a
/// half. A lying or crawling take does not pass that test with its feet on the ground plane of the other axis.
pub fn motion_up(rig: &Rig, clip: &Clip, rest: &Orientation) -> Quat {
    let skeleton = rig.skeleton();
    let ids = |role: fn(Side) -> Role| Some([rig.joint(role(Side::Left))?, rig.joint(role(Side::Right))?]);
    let (Some(thighs), Some(feet)) = (ids(Role::UpperLeg), ids(Role::Foot).or_else(|| ids(Role::LowerLeg)))
    else {
        return rest.normal_from_rest;
    };
    let step = (clip.frames() / 64).max(1);
    let mut pose = skeleton.rest_pose();
    let mut stands = Vec3::zeros();
    let (mut size, mut samples) = (0.0, 0.0);
    let mut soles = Vec::new();
    for frame in (0..clip.frames()).step_by(step) {
        clip.read_pose(frame, &mut pose);
        let model = ModelPose::of(skeleton, &pose);
        let middle = |ids: [JointId; 2]| (model.position(ids[0]) + model.position(ids[1])) * 0.5;
        let legs = middle(thighs) - middle(feet);
        stands += legs.try_normalize(1e-12).unwrap_or_default();
        size += legs.norm();
        samples += 1.0;
        soles.push([model.position(feet[0]), model.position(feet[1])]);
    }
    if samples == 0.0 {
        return rest.normal_from_rest;
    }
    let (stands, size) = (stands / samples, size / samples);
    let other = nearest_axis(&stands);
    let along_other = stands.dot(&other);
    // The lower foot stays near one height along the true up axis.
    let heights: Vec<f64> = soles.iter().map(|[a, b]| a.dot(&other).min(b.dot(&other))).collect();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let near_ground = heights.iter().filter(|&&h| h - low < 0.4 * size).count() as f64 / samples;
    if stands.dot(&rest.up) > 0.5 || other == rest.up || along_other < 0.75 || near_ground < 0.7 {
        return rest.normal_from_rest;
    }
    arc(&other, &Vec3::y(), &Vec3::x())
}

/// A unit of length that files are written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthUnit {
    /// What people call it.
    pub name: &'static str,
    /// Metres per unit.
    pub metres: f64,
    /// Whether the figure's size fits the unit; otherwise the unit is one that makes the figure adult.
    pub usual: bool,
}

/// The leg of an adult from hip joint to sole in metres (0.53 of 1.65 m, Winter's segment lengths).
const ADULT_LEG: f64 = 0.87;

/// The unit that a body with this leg length was most likely written in.
pub fn guess_unit(leg: f64) -> LengthUnit {
    // The factor by which a leg may miss the adult one: wide for metric units, which characters of any build use,
    // narrow for the others, which only captures of people use.
    let units = [
        ("metres", 1.0, 0.55),
        ("centimetres", 0.01, 0.55),
        ("millimetres", 0.001, 0.55),
        ("decimetres", 0.1, 0.2),
        ("inches", 0.0254, 0.2),
        ("CMU units (1/0.45 inch)", 0.0254 / 0.45, 0.2),
    ];
    let miss = |metres: f64| libm::log(leg * metres / ADULT_LEG).abs();
    let best = units.iter().filter(|u| miss(u.1) < u.2).min_by(|a, b| miss(a.1).total_cmp(&miss(b.1)));
    match best {
        Some(&(name, metres, _)) => LengthUnit { name, metres, usual: true },
        None => LengthUnit { name: "units of no usual length", metres: ADULT_LEG / leg, usual: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_guessed_from_the_leg() {
        assert_eq!(guess_unit(0.9).name, "metres");
        assert_eq!(guess_unit(87.0).name, "centimetres");
        assert_eq!(guess_unit(33.7).name, "inches");
        assert_eq!(guess_unit(15.4).name, "CMU units (1/0.45 inch)");
        let odd = guess_unit(23.2);
        assert!(!odd.usual && (odd.metres * 23.2 - ADULT_LEG).abs() < 1e-12);
    }

    #[test]
    fn axes_snap_with_their_sign() {
        assert_eq!(nearest_axis(&Vec3::new(0.1, -2.0, 1.0)), -Vec3::y());
    }
}
