//! Fits that other programs use, as baselines: each leaves the rotation about a bone to chance, or to one frame.
//!
//! World arcs: the feature set of HumanML3D (Guo et al. 2022). `joints2bvh`: the inverse kinematics of MoMask (Guo et al. 2024, after
//! Holden), which starts each frame at the identity. Carried arcs: shortest arcs in the frame of the trunk. Bend plane: the plane of elbow
//! and knee in each frame alone. All are of 22 points, Y up.

use super::arrayed_takes::PartRotations;
use crate::import::points::bone_directions::{axes, swung, unit};
use crate::import::points::limbs::{ARM, LEG, LimbParts};
use crate::import::points::point_tracks::PointTracks;
use crate::import::points::trunk;
use crate::math::{Quat, Vec3, arc, plain_mean_rotation};
use crate::model::{Asset, Clip, Motion, Role, Side};
use crate::signal::fix_hemispheres;

/// The parent of each of the 22 points.
const PARENTS: [usize; 22] = [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19];
/// Rounds of `joints2bvh`.
const ROUNDS: usize = 10;
/// Slope of a resting foot, degrees.
const SLOPE: f64 = 25.0;

/// The directions of a limb's two bones in every frame.
fn bones(points: &PointTracks, side: Side, parts: [&str; 3]) -> [Vec<Vec3>; 2] {
    let [a, b, c] = parts.map(|part| points.joint(side, part));
    let along = |from: &[Vec3], to: &[Vec3]| from.iter().zip(to).map(|(a, b)| unit(b - a)).collect();
    [along(a, b), along(b, c)]
}

fn limb_bones(points: &PointTracks, kind: &LimbParts, side: Side) -> [Vec<Vec3>; 2] {
    let parts = if kind.is_arm() { ["shoulder", "elbow", "wrist"] } else { ["hip", "knee", "ankle"] };
    bones(points, side, parts)
}

fn ahead(points: &PointTracks, side: Side) -> Vec<Vec3> {
    let toes = points.toes(side).unwrap();
    toes.iter().zip(points.joint(side, "ankle")).map(|(toe, ankle)| unit(toe - ankle)).collect()
}

/// Shortest arcs in the world from a T-pose that faces +Z.
pub(super) fn world_arcs(points: &PointTracks) -> PartRotations {
    let from = |rest: Vec3, to: &[Vec3]| to.iter().map(|v| arc(&rest, v, &Vec3::y())).collect::<Vec<_>>();
    let [left, right] = Side::BOTH.map(|side| points.joint(side, "hip"));
    let [l, r] = Side::BOTH.map(|side| points.joint(side, "shoulder"));
    let front = |f: usize| {
        let across = left[f] - right[f] + l[f] - r[f];
        arc(&Vec3::z(), &across.cross(&Vec3::y()), &Vec3::y())
    };
    let neck = points.neck();
    let low = points.middle("spine3").unwrap();
    let trunk: Vec<Vec3> = neck.iter().zip(low).map(|(n, l)| unit(n - l)).collect();
    let limb = |kind: &LimbParts, bone: usize| {
        let track = |side| from(kind.bone(side), &limb_bones(points, kind, side)[bone]);
        Side::BOTH.map(track).to_vec()
    };
    let feet = Side::BOTH.map(|side| from(Vec3::z(), &ahead(points, side))).to_vec();
    vec![
        vec![(0..points.frames).map(front).collect()],
        vec![from(Vec3::y(), &trunk)],
        limb(&ARM, 0),
        limb(&ARM, 1),
        limb(&LEG, 0),
        limb(&LEG, 1),
        feet,
    ]
}

/// The roles of the 22 points.
fn roles() -> [Role; 22] {
    let point = |k: usize| {
        let side = |left: usize| if k == left { Side::Left } else { Side::Right };
        match k {
            0 => Role::Hips,
            3 | 6 | 9 => Role::Spine((k / 3 - 1) as u8),
            12 => Role::Neck(0),
            15 => Role::Head,
            1 | 2 => Role::UpperLeg(side(1)),
            4 | 5 => Role::LowerLeg(side(4)),
            7 | 8 => Role::Foot(side(7)),
            10 | 11 => Role::Toes(side(10)),
            13 | 14 => Role::Clavicle(side(13)),
            16 | 17 => Role::UpperArm(side(16)),
            18 | 19 => Role::LowerArm(side(18)),
            _ => Role::Hand(side(20)),
        }
    };
    std::array::from_fn(point)
}

/// The rotations of all 22 points in a frame.
pub(super) type PointRotations = [Quat; 22];

/// The inverse kinematics of `joints2bvh`, without its clean-up of feet, on the take's own proportions: those of the fitted skeleton.
pub(super) fn joints2bvh(array: &[Vec<Vec3>], fitted: &Asset) -> Vec<PointRotations> {
    let rest = fitted.character.skeleton().rest_model_pose();
    let rest = roles().map(|role| rest.position(fitted.character.rig.joint(role).unwrap()));
    let offset = |k: usize| rest[k] - rest[PARENTS[k]];
    let children = |k: usize| (1..22).filter(move |c| PARENTS[*c] == k);
    let one = |targets: &Vec<Vec3>| -> PointRotations {
        let (mut local, mut world) = ([Quat::identity(); 22], [Quat::identity(); 22]);
        for _ in 0..ROUNDS {
            let mut at = [Vec3::zeros(); 22];
            for k in 0..22 {
                let parent = if k == 0 { Quat::identity() } else { world[PARENTS[k]] };
                at[k] = if k == 0 { targets[0] } else { at[PARENTS[k]] + parent * offset(k) };
                world[k] = parent * local[k];
                let arcs: Vec<Quat> = children(k)
                    .map(|c| {
                        let wanted = world[k].inverse() * (targets[c] - at[k]);
                        arc(&offset(c), &wanted, &Vec3::y())
                    })
                    .collect();
                if !arcs.is_empty() {
                    local[k] *= plain_mean_rotation(&arcs, &vec![1.0; arcs.len()]);
                    world[k] = parent * local[k];
                }
            }
        }
        world
    };
    array.iter().map(one).collect()
}

/// The parts of the body of these rotations.
pub(super) fn parts_of(all: &[PointRotations]) -> PartRotations {
    let track = |k: usize| all.iter().map(|frame| frame[k]).collect::<Vec<_>>();
    let pairs = [16, 18, 1, 4, 7].map(|k| vec![track(k), track(k + 1)]);
    [vec![track(0)], vec![track(9)]].into_iter().chain(pairs).collect()
}

/// The fitted motion with these rotations instead of its own.
pub(super) fn motion_of(all: &[PointRotations], array: &[Vec<Vec3>], fitted: &Asset) -> Motion {
    let mut motion = fitted.motion(0).unwrap();
    let (rig, width) = (&fitted.character.rig, motion.clip.joints());
    let (roles, mut rotations) = (roles(), vec![Quat::identity(); width * all.len()]);
    for (f, world) in all.iter().enumerate() {
        for (k, role) in roles.into_iter().enumerate() {
            let parent = if k == 0 { Quat::identity() } else { world[PARENTS[k]] };
            rotations[f * width + rig.joint(role).unwrap().index()] = parent.inverse() * world[k];
        }
    }
    let hips = array.iter().map(|frame| frame[0]).collect();
    let tracks = motion.clip.translated().to_vec();
    motion.clip = Clip::new("take", motion.clip.sample_rate, width, rotations, tracks, hips);
    fix_hemispheres(&mut motion.clip);
    motion
}

/// The method's own trunk with limbs whose rotation about the upper bone is that of one frame: by the shortest arc from the trunk, or by
/// the plane in which elbow and knee bend.
pub(super) fn of_one_frame(points: &PointTracks, by_bend: bool) -> PartRotations {
    let trunk = trunk::fit(points, 0.0);
    let limb = |kind: &LimbParts, parents: &[Quat], side: Side| -> [Vec<Quat>; 2] {
        let (bone, [u, v]) = (kind.bone(side), limb_bones(points, kind, side));
        let hinge = if kind.is_arm() { -Vec3::y() * side.sign() } else { Vec3::x() };
        let upper = |f: usize| match by_bend {
            true => axes(u[f], u[f].cross(&v[f])) * axes(bone, hinge).inverse(),
            false => swung(&parents[f], &bone, &u[f]),
        };
        let upper: Vec<Quat> = (0..points.frames).map(upper).collect();
        let lower = upper.iter().zip(&v).map(|(q, v)| swung(q, &bone, v)).collect();
        [upper, lower]
    };
    let arms = Side::BOTH.map(|side| limb(&ARM, &trunk.chest, side));
    let legs = Side::BOTH.map(|side| limb(&LEG, &trunk.hips, side));
    let (sin, cos) = libm::sincos(SLOPE.to_radians());
    let rest = Vec3::new(0.0, -sin, cos);
    let foot = |(k, side): (usize, Side)| -> Vec<Quat> {
        let one = |(q, ahead): (&Quat, Vec3)| match by_bend {
            true => axes(ahead, q * Vec3::x()) * axes(rest, Vec3::x()).inverse(),
            false => swung(q, &rest, &ahead),
        };
        legs[k][1].iter().zip(ahead(points, side)).map(one).collect()
    };
    let feet: Vec<Vec<Quat>> = Side::BOTH.into_iter().enumerate().map(foot).collect();
    let both = |limbs: &[[Vec<Quat>; 2]; 2], bone: usize| limbs.iter().map(|l| l[bone].clone()).collect();
    vec![
        vec![trunk.hips.clone()],
        vec![trunk.chest.clone()],
        both(&arms, 0),
        both(&arms, 1),
        both(&legs, 0),
        both(&legs, 1),
        feet,
    ]
}
