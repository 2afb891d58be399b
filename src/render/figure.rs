//! Stand-in mesh for a skeleton without skin: rounded limbs between its joints, shaped by their roles.
//!
//! Every part is bound rigidly to one joint and extends to a child or to the joint's tip. Trunk and head are light, the
//! figure's left side is blue and its right side orange. A robot with shapes gets capsules around those of its links. Proportions are those of an adult whose thigh and shin measure
//! 0.86 m together, scaled with the legs. Space: model space of the reference pose with the first frame's joint distances:
//! the rest pose of a capture may be degenerate, with feet and head in any direction.

use super::texture::linear;
use crate::math::{Transform, Vec3, single};
use crate::model::{Binding, Finger, JointId, Mesh, ModelPose, Motion, Rig, Robot, Role, Side};
use crate::robot_body::shape_capsules;

/// Vertices around a part.
const AROUND: usize = 18;
/// Rings of each rounded end.
const CAP: usize = 5;
/// Parts from which on they are drawn coarsely: no body has as many, and tens of thousands of round parts take gigabytes.
const MOST_ROUND: usize = 1000;
/// Vertices around a coarse part, and rings of its ends.
const COARSE: (usize, usize) = (4, 1);
/// Length of thigh and shin of the adult whose measures are given below, metres.
const LEG: f64 = 0.86;

/// Share of a foot's length above which its end rises too steeply, in the reference pose in which feet are flat: sin 30°.
const RISING: f64 = 0.5;

/// sRGB colour of trunk and head.
const TRUNK: [u8; 3] = [222, 216, 206];
/// sRGB colour of the figure's left side.
const LEFT: [u8; 3] = [84, 146, 196];
/// sRGB colour of the figure's right side.
const RIGHT: [u8; 3] = [232, 146, 84];

/// A rounded part from one point to another.
pub(super) struct FigurePart {
    pub(super) joint: JointId,
    pub(super) from: Vec3,
    pub(super) to: Vec3,
    /// Half widths at both ends, metres.
    pub(super) radii: [f64; 2],
    /// Depth over width, across the figure's left.
    pub(super) flat: f64,
    pub(super) color: [u8; 3],
}

/// The body of a motion's skeleton as a mesh.
pub fn figure(motion: &Motion) -> Mesh {
    let rest = lengths_of(motion);
    let mut mesh = Mesh { name: "figure".into(), ..Mesh::default() };
    mesh.material.base_color = [1.0; 4];
    let parts = parts(motion, &rest);
    let fineness = if parts.len() > MOST_ROUND { COARSE } else { (AROUND, CAP) };
    for part in parts {
        add_part(&part, fineness, &mut mesh);
    }
    let bind = |id: JointId| Binding { joint: id, joint_from_mesh: rest.joint(id).inverse().to_matrix() };
    mesh.bindings = motion.character.skeleton().ids().map(bind).collect();
    mesh
}

/// The reference pose with the joint distances of the clip's first frame: some files animate joints away from their offsets.
pub(super) fn lengths_of(motion: &Motion) -> ModelPose {
    let skeleton = motion.character.skeleton();
    let mut pose = motion.character.reference_pose().to_local(skeleton);
    if motion.clip.frames() > 0 {
        for (id, v) in motion.clip.translated().iter().zip(motion.clip.translations(0)) {
            if skeleton.parent(*id).is_some() {
                pose.local_mut()[id.index()].translation = *v;
            }
        }
    }
    ModelPose::of(skeleton, &pose)
}

/// The parts of the body in the pose `rest`.
pub(super) fn parts(motion: &Motion, rest: &ModelPose) -> Vec<FigurePart> {
    if let Some(robot) = motion.character.robot.as_ref().filter(|robot| has_shapes(robot)) {
        return robot_parts(robot, &motion.character.rig, rest);
    }
    let rig = &motion.character.rig;
    let skeleton = rig.skeleton();
    let at = |id: JointId| rest.position(id);
    let size = size(motion, rest);
    let hips = rig.joint(Role::Hips);
    let trunk = (hips.map_or(0.0, |h| at(h).y), highest_shoulder(motion, rest).unwrap_or(f64::NAN));
    let mut parts = trunk_parts(motion, rest, size);
    let pelvis = !parts.is_empty();
    let leads_to_leg = |id: JointId| {
        let thighs = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::UpperLeg(s)));
        let mut thighs = thighs.filter(|&t| t == id || skeleton.is_ancestor(id, t));
        thighs.next().is_some()
    };
    for id in skeleton.ids() {
        let here = nearest_role(rig, id);
        // Joints above the hips get no geometry: they only position the body in the world. Arms may hang there, of a robot whose
        // base is its chest.
        if here.is_none() && hips.is_some_and(|h| !(h == id || skeleton.is_ancestor(h, id))) {
            continue;
        }
        let leaf = skeleton.children(id).is_empty();
        let tip = skeleton.joint(id).tip.map(|t| rest.joint(id).point(&t));
        // Ends of bones, eyes and jaws have no role: they are no further head, hand or foot.
        if rig.role(id).is_none() && (here == Some(Role::Head) || here.is_some() && leaf && tip.is_none()) {
            continue;
        }
        // The pelvis is a separate part.
        let shown = |c: &&JointId| !(pelvis && here == Some(Role::Hips) && leads_to_leg(**c));
        let mut ends: Vec<Vec3> = skeleton.children(id).iter().filter(shown).map(|&c| at(c)).collect();
        if leaf || here == Some(Role::Head) {
            let parent = skeleton.parent(id).map(at);
            let crown = ends.iter().copied().max_by(|a, b| a.y.total_cmp(&b.y));
            ends = vec![end_of(here, rest.joint(id), parent, tip.or(crown), size)];
        }
        if matches!(here, Some(Role::Foot(_) | Role::Toes(_))) {
            ends.iter_mut().for_each(|end| *end = level_foot(at(id), *end));
        }
        for to in ends {
            let from = at(id);
            let length = (to - from).norm();
            if length < 0.012 * size || length > 6.0 * size {
                continue;
            }
            let level = |p: &Vec3| (p.y - trunk.0) / (trunk.1 - trunk.0);
            let (radii, flat) = shape(here, length / size, level(&from), level(&to));
            let radii = radii.map(|r| r * size);
            let (from, to) = if here == Some(Role::Head) { skull(&from, &to) } else { (from, to) };
            parts.push(FigurePart { joint: id, from, to, radii, flat, color: color(here) });
        }
    }
    parts
}

/// The role of a joint or of its nearest ancestor that has one, which determines the shape of a part.
pub(super) fn nearest_role(rig: &Rig, id: JointId) -> Option<Role> {
    std::iter::successors(Some(id), |&joint| rig.skeleton().parent(joint)).find_map(|joint| rig.role(joint))
}

/// Pelvis and rib cage: they span the joints of both sides.
fn trunk_parts(motion: &Motion, rest: &ModelPose, size: f64) -> Vec<FigurePart> {
    let rig = &motion.character.rig;
    let pair = |role: fn(Side) -> Role| {
        Some(Side::BOTH.map(|s| rig.joint(role(s))).map(|j| j.map(|id| rest.position(id))))
            .and_then(|[l, r]| Some([l?, r?]))
    };
    let mut parts = Vec::new();
    let Some(hips) = rig.joint(Role::Hips) else { return parts };
    let Some([left, right]) = pair(Role::UpperLeg) else { return parts };
    let (middle, span) = ((left + right) * 0.5, left - right);
    let along = span.try_normalize(1e-9).unwrap_or_else(Vec3::x) * (0.055 * size).max(0.42 * span.norm());
    let radii = [0.102 * size; 2];
    let raised = middle + Vec3::y() * (0.03 * size);
    parts.push(FigurePart {
        joint: hips,
        from: raised - along,
        to: raised + along,
        radii,
        flat: 0.92,
        color: TRUNK,
    });
    let Some([left, right]) = pair(Role::UpperArm) else { return parts };
    let shoulders = (left + right) * 0.5;
    // Only bipeds have an upright rib cage.
    let Some(axis) = (shoulders - middle).try_normalize(1e-9).filter(|a| a.y > 0.8) else { return parts };
    let chest = rig.chain(Role::Spine).last().copied().unwrap_or(hips);
    let width = ((left - right).norm() / size).clamp(0.24, 0.42) * 0.41;
    let (from, to) = (shoulders - axis * (0.185 * size), shoulders - axis * (0.075 * size));
    let radii = [0.86 * width * size, width * size];
    parts.push(FigurePart { joint: chest, from, to, radii, flat: 0.70, color: TRUNK });
    parts
}

/// The end of a part of the foot, which leads forwards where the file's end points up: exporters invent ends along an axis.
fn level_foot(from: Vec3, end: Vec3) -> Vec3 {
    let v = end - from;
    if v.y > RISING * v.norm() { from + Vec3::z() * v.norm() } else { end }
}

/// The skull sits on the upper part of the head's line.
fn skull(from: &Vec3, to: &Vec3) -> (Vec3, Vec3) {
    (from.lerp(to, 0.42), from.lerp(to, 0.62))
}

/// Scale relative to the adult of the table (1): from the legs, else from the extent of all joints.
fn size(motion: &Motion, rest: &ModelPose) -> f64 {
    let rig = &motion.character.rig;
    let at = |role| rig.joint(role).map(|id| rest.position(id));
    let leg = |side| {
        let (hip, knee, ankle) =
            (at(Role::UpperLeg(side))?, at(Role::LowerLeg(side))?, at(Role::Foot(side))?);
        Some((hip - knee).norm() + (knee - ankle).norm())
    };
    if let (Some(left), Some(right)) = (leg(Side::Left), leg(Side::Right)) {
        return (0.5 * (left + right) / LEG).max(1e-6);
    }
    let points = || rest.joints().iter().map(|t| t.translation);
    let first = rest.joints()[0].translation;
    let (low, high) = points().fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
    ((high - low).amax() / 1.7).max(1e-6)
}

fn highest_shoulder(motion: &Motion, rest: &ModelPose) -> Option<f64> {
    let rig = &motion.character.rig;
    let arms = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::UpperArm(s)));
    arms.map(|id| rest.position(id).y).max_by(f64::total_cmp)
}

/// Where the part of a leaf joint ends: at its tip, or at the usual length for its role.
fn end_of(role: Option<Role>, joint: &Transform, parent: Option<Vec3>, tip: Option<Vec3>, size: f64) -> Vec3 {
    let from = joint.translation;
    let onwards = parent.and_then(|p| (from - p).try_normalize(1e-9)).unwrap_or_else(Vec3::y);
    let forwards = Vec3::new(0.0, -0.25, 1.0).normalize();
    match (role, tip) {
        (Some(Role::Head), tip) => {
            let given = tip.map(|t| (t - from).norm()).filter(|l| *l > 0.12 * size && *l < 0.35 * size);
            from + Vec3::y() * given.unwrap_or(0.22 * size)
        }
        (_, Some(tip)) if (tip - from).norm() > 0.012 * size => tip,
        (Some(Role::Foot(_)), _) => from + forwards * (0.16 * size),
        (Some(Role::Toes(_)), _) => from + Vec3::z() * (0.06 * size),
        (Some(Role::Hand(_)), _) => from + onwards * (0.15 * size),
        (Some(Role::Finger(_, Finger::Thumb, _)), _) => from + onwards * (0.025 * size),
        (Some(Role::Finger(..)), _) => from + onwards * (0.022 * size),
        (Some(Role::Spine(_) | Role::Neck(_) | Role::Hips | Role::Clavicle(_)), _) => from,
        _ => from + onwards * (0.05 * size),
    }
}

/// Half widths at both ends, and depth over width. `length` relative to the adult; `low` and `high` are levels of the trunk,
/// 0 at the hips and 1 at the shoulders.
fn shape(role: Option<Role>, length: f64, low: f64, high: f64) -> ([f64; 2], f64) {
    match role {
        Some(Role::Hips | Role::Spine(_)) => {
            let width = |level: f64| {
                let level = if level.is_finite() { level.clamp(-0.3, 1.3) } else { 0.5 };
                let table =
                    [(-0.3, 0.10), (0.0, 0.118), (0.38, 0.106), (0.75, 0.112), (1.0, 0.065), (1.3, 0.05)];
                let k = table.windows(2).position(|w| level <= w[1].0).unwrap_or(table.len() - 2);
                let ((x0, y0), (x1, y1)) = (table[k], table[k + 1]);
                y0 + (y1 - y0) * (level - x0) / (x1 - x0)
            };
            ([width(low), width(high)], 0.80)
        }
        Some(Role::Neck(_)) => ([0.052, 0.048], 1.0),
        Some(Role::Head) => ([0.088, 0.094], 1.12),
        Some(Role::Clavicle(_)) => ([0.050, 0.060], 1.0),
        Some(Role::UpperArm(_)) => ([0.054, 0.040], 1.0),
        Some(Role::LowerArm(_)) => ([0.042, 0.029], 1.0),
        Some(Role::Hand(_)) if length > 0.12 => ([0.026, 0.030], 1.0),
        Some(Role::Hand(_)) => ([0.022, 0.015], 1.0),
        Some(Role::Finger(..)) => ([0.0105, 0.009], 1.0),
        Some(Role::UpperLeg(_)) => ([0.086, 0.055], 1.0),
        Some(Role::LowerLeg(_)) => ([0.058, 0.037], 1.0),
        Some(Role::Foot(_)) => ([0.042, 0.036], 1.0),
        Some(Role::Toes(_)) => ([0.034, 0.026], 1.0),
        Some(Role::Tail(_)) => ([0.030, 0.024], 1.0),
        None => {
            let radius = (0.16 * length).clamp(0.008, 0.07);
            ([radius, radius * 0.7], 1.0)
        }
    }
}

/// The colour of a role's side.
pub(super) fn color(role: Option<Role>) -> [u8; 3] {
    let side = match role {
        Some(Role::UpperArm(s) | Role::LowerArm(s) | Role::Hand(s) | Role::Finger(s, ..)) => s,
        Some(Role::UpperLeg(s) | Role::LowerLeg(s) | Role::Foot(s) | Role::Toes(s)) => s,
        _ => return TRUNK,
    };
    if side == Side::Left { LEFT } else { RIGHT }
}

/// Rings along the line, rounded at both ends; the width runs along the figure's left.
fn add_part(part: &FigurePart, (around, cap): (usize, usize), mesh: &mut Mesh) {
    let along = part.to - part.from;
    let length = along.norm();
    let axis = if length > 1e-12 { along / length } else { Vec3::y() };
    let across = Vec3::x() - axis * axis.x;
    let wide = across.try_normalize(0.3).unwrap_or_else(|| {
        // A part along the figure's left is wide upwards.
        (Vec3::y() - axis * axis.y).normalize()
    });
    let deep = axis.cross(&wide);
    let [r0, r1] = part.radii;
    // Profile: distance along the axis, half width, and the slope of the normal along the axis.
    let mut profile = Vec::new();
    let quarter = std::f64::consts::FRAC_PI_2;
    for k in 0..=cap {
        let (sin, cos) = libm::sincos(quarter * (1.0 - k as f64 / cap as f64));
        profile.push((-r0 * sin, r0 * cos, -sin, cos));
    }
    for k in 0..=cap {
        let (sin, cos) = libm::sincos(quarter * k as f64 / cap as f64);
        profile.push((length + r1 * sin, r1 * cos, sin, cos));
    }
    let first = mesh.positions.len() as u32;
    let [r, g, b] = linear(part.color);
    let joint = u16::try_from(part.joint.index()).unwrap_or(u16::MAX);
    for &(at, radius, slope, level) in &profile {
        for k in 0..around {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / around as f64);
            let out = wide * (radius * cos) + deep * (radius * part.flat * sin);
            let normal = wide * (level * cos) + deep * (level * sin / part.flat) + axis * slope;
            mesh.positions.push(single(&(part.from + axis * at + out)));
            mesh.normals.push(single(&normal.normalize()));
            mesh.colors.push([r, g, b, 1.0]);
            mesh.joints.push([joint, 0, 0, 0]);
            mesh.weights.push([1.0, 0.0, 0.0, 0.0]);
        }
    }
    let n = around as u32;
    for ring in 0..profile.len() as u32 - 1 {
        for k in 0..n {
            let (a, b) = (first + ring * n + k, first + ring * n + (k + 1) % n);
            mesh.triangles.push([a, b, b + n]);
            mesh.triangles.push([a, b + n, a + n]);
        }
    }
}

/// Whether a robot has shapes to draw.
fn has_shapes(robot: &Robot) -> bool {
    robot.links.iter().any(|link| !link.shapes.is_empty())
}

/// The parts of a robot in the pose `rest` of its skeleton.
fn robot_parts(robot: &Robot, rig: &Rig, rest: &ModelPose) -> Vec<FigurePart> {
    let (_, joints) = robot.joints();
    let of_link = |link: usize| {
        let (joint, origin) = (joints[link], robot.joint_in_link(link));
        let shapes = robot.links[link].shapes.iter();
        shapes.flat_map(move |shape| shape_capsules(link, shape)).map(move |capsule| {
            let [from, to] = capsule.ends.map(|end| rest.joint(joint).point(&(end - origin)));
            let radii = [capsule.radius; 2];
            FigurePart { joint, from, to, radii, flat: 1.0, color: color(nearest_role(rig, joint)) }
        })
    };
    (0..robot.links.len()).flat_map(of_link).collect()
}
