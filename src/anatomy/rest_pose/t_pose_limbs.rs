//! T-pose orientation of collar bones, arms and legs.
//!
//! The bones of a limb are known exactly; the rotation about them comes from the flexion axis of elbow or knee
//! ([`super::flexion_axis`]).

use super::axis_convention::{ALIKE, LineKind, on_axis, oriented_as_parent, snapped};
use super::flexion_axis::{ENDS, FEW, Flexion, flexion, mean_axis};
use super::motion_samples::{MotionSamples, across, frame};
use super::partial_estimate::PartialEstimate;
use crate::anatomy::orientation::nearest_axis;
use crate::math::{DEGREE, Quat, Vec3, arc, mean_rotation};
use crate::model::{Role, Side};

/// Degrees about the left upper arm from the average posture to the flexion axis: what people do on average.
const ARM_TWIST: f64 = 14.0;
/// The same about the left thigh.
const LEG_TWIST: f64 = -8.0;
/// Degrees above level of collar bones at rest: the median of good rest poses.
const COLLAR_RAISED: f64 = 0.0;
/// Degrees forward of sideways of collar bones at rest: the median of good rest poses.
const COLLAR_FORWARD: f64 = -4.0;
/// Degrees by which hanging arms lower the shoulders on average.
const SHOULDERS_HANG: f64 = 5.0;

/// Collar bone, upper arm and forearm of a side.
pub(super) fn arm(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let k = side.sign();
    let (collar, upper) = (Role::Clavicle(side), Role::UpperArm(side));
    let mut above = found.chest.clone();
    if e.has(&[collar, upper]) {
        let bone = e.line(collar, collar, upper).try_normalize(1e-12);
        let (relative, rigid) = found.relative_rotation(e, &above, collar);
        match bone.filter(|_| !rigid) {
            None if rigid => found.set(collar, relative, 0.9, "it never rotates against the chest"),
            None => found.set(collar, relative, 0.3, "it has no length: the average posture"),
            Some(bone) => {
                let (raised, forward) = (COLLAR_RAISED.to_radians(), COLLAR_FORWARD.to_radians());
                let usual = Vec3::new(
                    k * libm::cos(raised) * libm::cos(forward),
                    libm::sin(raised),
                    libm::cos(raised) * libm::sin(forward),
                );
                let lift = SHOULDERS_HANG.to_radians();
                let seen = relative * bone;
                let seen = (seen * libm::cos(lift) + Vec3::y() * libm::sin(lift)).normalize();
                let up = snapped(found, across(&(relative.inverse() * Vec3::y()), &bone), LineKind::Clavicle);
                let along = (usual + seen).try_normalize(1e-6).unwrap_or(usual);
                found.bones.insert(collar, along);
                let c = frame(&along, &Vec3::y()) * frame(&bone, &up).inverse();
                found.set(collar, c, 0.6, "its bone sideways; upright on average");
            }
        }
        above = found.rotation_from_t_pose(e, collar);
    }
    let roles = ENDS[0].map(|role| role(side));
    if e.has(&roles[..2]) {
        limb(e, found, roles, (Vec3::x() * k, Vec3::y() * -k), &above, k * ARM_TWIST);
    }
}

/// Thigh and shin of a side.
pub(super) fn leg(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let roles = ENDS[1].map(|role| role(side));
    if e.has(&roles[..2]) {
        let above = found.hips.clone();
        limb(e, found, roles, (-Vec3::y(), Vec3::x()), &above, side.sign() * LEG_TWIST);
    }
}

/// A limb of two segments, whose bones both point `along` in the T-pose and bend about `axis` (upper bone x lower bone)
/// there.
///
/// `above` is the rotation of the limb's parent away from the T-pose in each frame; a rotation of `twist` degrees about
/// the bone takes the average posture to the flexion axis.
fn limb(
    e: &MotionSamples,
    found: &mut PartialEstimate,
    roles: [Role; 3],
    (along, axis): (Vec3, Vec3),
    above: &[Quat],
    twist: f64,
) {
    let [upper, lower, end] = roles;
    let bone = e.line(upper, upper, lower).try_normalize(1e-12).unwrap_or_else(Vec3::x);
    let (relative, _) = found.relative_rotation(e, above, upper);
    // The axis where nothing bends: that of the average posture, by the shortest arc from its bone.
    let likely = relative.inverse() * (arc(&(relative * bone), &along, &Vec3::z()).inverse() * axis);
    let likely = across(&likely, &bone);
    let angle = twist.to_radians();
    let likely = likely * libm::cos(angle) + bone.cross(&likely) * libm::sin(angle);
    let limb = LimbAxes { roles, along, axis, target: frame(&along, &axis), bone, likely };
    if !e.has(&[end]) {
        limb.without_end(e, found);
        return;
    }
    let flexion = flexion(e, roles);
    let weights = flexion.weights();
    let (c, sure, why) = limb.upper_segment(e, found, &flexion, &weights);
    found.bones.insert(upper, along);
    found.bones.insert(lower, along);
    found.set(upper, c, sure, why.clone());
    let shown = flexion.shown.contains(&true);
    let weights = if shown { weights.iter().map(|w| w + 1e-9).collect() } else { found.weights.clone() };
    limb.lower_segment(e, found, c, &weights, (sure, why));
}

/// What is known of a limb before its flexion is measured.
struct LimbAxes {
    /// Upper segment, lower segment and end.
    roles: [Role; 3],
    /// Direction of both bones in the T-pose.
    along: Vec3,
    /// Flexion axis in the T-pose.
    axis: Vec3,
    /// The frame of both.
    target: Quat,
    /// The upper bone in its joint's axes.
    bone: Vec3,
    /// The flexion axis of the average posture in the axes of the upper joint.
    likely: Vec3,
}

impl LimbAxes {
    /// Orients both segments by the average posture.
    fn without_end(&self, e: &MotionSamples, found: &mut PartialEstimate) {
        let [upper, lower, _] = self.roles;
        let n = snapped(found, self.likely, LineKind::Hinge);
        let c = self.target * frame(&self.bone, &n).inverse();
        let pairs = e.at(upper).iter().zip(e.at(lower));
        let between: Vec<Quat> = pairs.map(|(u, l)| u.rotation.inverse() * l.rotation).collect();
        let reason = "no joint ends the limb: the average posture";
        found.set(upper, c, 0.3, reason);
        found.set(lower, c * mean_rotation(&between, &found.weights), 0.3, reason);
    }

    /// The orientation of the upper segment by its measured flexion axis, its confidence and the reason.
    fn upper_segment(
        &self,
        e: &MotionSamples,
        found: &PartialEstimate,
        flexion: &Flexion,
        weights: &[f64],
    ) -> (Quat, f64, String) {
        let (upper, bone) = (self.roles[0], self.bone);
        let seen = e.seen_from(upper, |f| flexion.normal[f]);
        let shown = flexion.shown.iter().filter(|s| **s).count();
        let (n, mut sure, mut why) = match mean_axis(&seen, weights) {
            Some((n, spread)) => {
                let sure = (1.0 - spread / 60.0).clamp(0.4, 0.95);
                (n, sure, format!("the axis it bends about in {shown} of {} frames", e.count))
            }
            None => {
                let most = flexion.bend.iter().copied().fold(0.0, f64::max);
                let why =
                    format!("it bends by {most:.0} degrees at most: the rotation about the bone is a guess");
                (self.likely, 0.3, why)
            }
        };
        let weak = weights.iter().sum::<f64>() <= FEW as f64;
        // With too few flexed frames an arm is assumed to have the axes of the collar bone.
        let is_arm = matches!(upper, Role::UpperArm(_));
        let average = self.target * frame(&bone, &n).inverse();
        let as_parent = (weak && is_arm)
            .then(|| oriented_as_parent(e, found, upper, &average, &self.along, &self.axis))
            .flatten();
        let n = match as_parent {
            Some(c) => c.inverse() * self.axis,
            None => snapped(found, n, if weak { LineKind::WeakHinge } else { LineKind::Hinge }),
        };
        if weak {
            sure = sure.min(0.5);
        }
        if as_parent.is_some() {
            (sure, why) = (0.6, "its axes as the collar bone's".into());
        } else if found.conventional && on_axis(&n) {
            sure = sure.max(if weak { 0.6 } else { 0.95 });
        }
        (self.target * frame(&bone, &n).inverse(), sure, why)
    }

    /// Orients the lower segment: the same flexion axis in its own axes. `c` is the orientation of the upper one.
    fn lower_segment(
        &self,
        e: &MotionSamples,
        found: &mut PartialEstimate,
        c: Quat,
        weights: &[f64],
        (sure, why): (f64, String),
    ) {
        let [upper, lower, end] = self.roles;
        let bone = e.line(lower, lower, end).try_normalize(1e-12).unwrap_or(self.bone);
        let (s, ends) = (e.at(lower), e.at(end));
        let in_upper = c.inverse() * self.axis;
        let upper_frames = e.at(upper);
        let flat = |f: usize| {
            let v = (ends[f].translation - s[f].translation).try_normalize(1e-12).unwrap_or_default();
            let m = upper_frames[f].rotation * in_upper;
            (m - v * m.dot(&v)).try_normalize(1e-12).unwrap_or_default()
        };
        let (m, spread) = mean_axis(&e.seen_from(lower, flat), weights).unwrap_or((self.likely, 180.0));
        // Rigs give both segments the same axes.
        let same_bone = nearest_axis(&bone) == nearest_axis(&(c.inverse() * self.along));
        let of_upper = nearest_axis(&in_upper);
        let same = found.conventional && on_axis(&in_upper) && same_bone;
        let n = if same && of_upper.angle(&m) < ALIKE * DEGREE {
            of_upper
        } else {
            snapped(found, m, LineKind::Hinge)
        };
        let c = self.target * frame(&bone, &n).inverse();
        found.set(lower, c, sure.min((1.0 - spread / 90.0).clamp(0.3, 0.95)), why);
    }
}
