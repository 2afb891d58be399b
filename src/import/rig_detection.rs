//! Detects the roles of a file's joints, also where its rest pose is degenerate.
//!
//! Joint names are read first. The body shape is read from the rest pose if that is usable, else from the pose estimated from the
//! motion; if neither names nor rest pose show a body, single frames are tried. Of several bodies, one is detected without the
//! joints of the others: names and shape of two people who are detected together are exchanged, the toes of one become those of
//! the other.
//!
//! Space: any, Y up. Units: those of the skeleton.

use super::reference_pose::fault;
use crate::anatomy::{
    DetectedRig, HumanoidMap, JointNames, ShapeEvidence, Vocabulary, bodies_apart, detect_roles_from,
    rest_from_motion, second_bodies, second_body,
};
use crate::math::{Transform, Vec3, arc};
use crate::model::{Assignment, Clip, Joint, JointId, ModelPose, Rig, Role, Skeleton};
use crate::report::one_line;

/// Largest rotation of a joint that is at rest, radians: rounding of single precision stays below a tenth of it.
const STILL: f64 = 1e-2;

/// The contents of a file from which roles are detected.
pub(super) struct RigClues<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The bind or rest pose, rotated so that Y is up if the file follows the usual axes.
    pub(super) rest: &'a ModelPose,
    /// Whether `rest` is a bind pose.
    pub(super) bound: bool,
    pub(super) humanoid: &'a HumanoidMap,
    pub(super) mass: Option<&'a [f64]>,
    /// Whether every mesh is moved by one joint alone.
    pub(super) rigid: bool,
    /// The tree of nodes of each joint without a parent; empty where the file has no nodes but joints.
    pub(super) trees: &'a [Option<usize>],
    pub(super) clips: &'a [&'a Clip],
    /// The up axis of the clips' world, if the format or the user specifies it.
    pub(super) up: Option<Vec3>,
    pub(super) vocabulary: &'a Vocabulary,
    /// Whether a scale below zero mirrors the body.
    pub(super) mirrored: bool,
    /// The name of a joint of the body that is meant, of several.
    pub(super) body: Option<&'a str>,
}

/// The rig of a file, with warnings for what was guessed and for bodies that are not used.
pub(super) fn detect_rig(file: &RigClues<'_>) -> DetectedRig {
    // A humanoid map names the joints of one body.
    let bodies = match file.humanoid {
        [] => bodies_apart(file.skeleton, file.rest, file.trees),
        _ => Default::default(),
    };
    let named = file.body.and_then(|name| file.skeleton.find(name));
    let asked = bodies.own.iter().find(|own| named.is_some_and(|id| own.contains(&id)));
    // A copy of a skeleton that moves no skin is for control.
    let has_skin =
        |own: &&Vec<JointId>| file.mass.is_some_and(|mass| own.iter().any(|id| mass[id.index()] > 0.0));
    let skinned = bodies.own.iter().any(|own| has_skin(&own));
    let mut fit = bodies.own.iter().filter(|own| !skinned || has_skin(own));
    let moving = || fit.clone().find(|own| file.clips.iter().any(|clip| moves(clip, own)));
    let chosen = asked.or_else(moving).or_else(|| fit.next());
    let body = chosen.and_then(|own| detect_in(file, &[bodies.shared.as_slice(), own].concat(), detect_one));
    let mut found = body.unwrap_or_else(|| detect_one(file));
    if let Some(name) = file.body.filter(|_| asked.is_none() && !bodies.own.is_empty()) {
        let message = format!(
            "no body has a joint `{}`: the first one is used (set `input.body` to a joint of the body that is meant)",
            one_line(name)
        );
        found.warnings.add("body-not-found", message, "the joints");
    }
    let mut others = second_bodies(&found.rig, file.rest);
    // Bodies whose limbs are branches of their own are not below one joint.
    let rest =
        bodies.own.iter().filter(|own| Some(*own) != chosen && !others.iter().any(|b| own.contains(&b.hips)));
    let grouped: Vec<_> = rest.filter_map(|own| second_body(file.skeleton, file.rest, own)).collect();
    others.extend(grouped);
    for body in others {
        let name = |id: JointId| one_line(&found.rig.skeleton().joint(id).name);
        let message = format!(
            "the file holds a second body of {} joints, which gets no motion: only the body of `{}` is used (choose the other \
             one of a take with `--set input.body=\"{}\"`, or export it as a file of its own)",
            body.joints,
            found.rig.joint(Role::Hips).map_or_else(String::new, name),
            name(body.hips)
        );
        let place = format!("joint {}", name(body.top));
        found.warnings.add("second-body", message, place);
    }
    found
}

/// Whether a clip rotates any of these joints.
fn moves(clip: &Clip, joints: &[JointId]) -> bool {
    let first = |id: &JointId| clip.rotations(0)[id.index()];
    let rotates =
        |f: usize| joints.iter().any(|id| clip.rotations(f)[id.index()].angle_to(&first(id)) > STILL);
    (1..clip.frames()).any(rotates)
}

fn detect_one(file: &RigClues<'_>) -> DetectedRig {
    // Names are parsed once for all poses.
    let names = JointNames::of(file.skeleton, file.vocabulary);
    let by = |pose: &ModelPose, evidence: Option<&ShapeEvidence>| {
        detect_roles_from(&names, file.skeleton.clone(), pose, file.humanoid, evidence)
    };
    let evidence = ShapeEvidence {
        mass: file.mass,
        rigid: file.rigid,
        clip: file.clips.first().copied(),
        mirrored: file.mirrored,
    };
    if file.clips.is_empty() || !file.humanoid.is_empty() {
        return by(file.rest, Some(&evidence));
    }
    let is_body = |u: &DetectedRig| u.rig.joint(Role::Hips).is_some();
    let faulty = |u: &DetectedRig| fault(&u.rig, file.rest, file.bound, file.clips).is_some();
    let at_rest = by(file.rest, Some(&evidence));
    if is_body(&at_rest) && !faulty(&at_rest) {
        return at_rest;
    }
    let named = by(file.rest, None);
    if faulty(&named) {
        // The pose estimated from the motion is oriented by the joint names; the shape is then compared with it.
        return match rest_from_motion(&named.rig, file.clips, file.up) {
            Some(estimate) => by(&estimate.pose, Some(&evidence)),
            None => named,
        };
    }
    match in_a_frame(file, |pose| Some(by(pose, Some(&evidence))).filter(is_body)) {
        Some(mut found) => {
            let said = "neither the joint names nor the rest pose show a body: roles were detected in a single frame \
                        (`posemill map` writes them to a file to be corrected)";
            found.warnings.add("roles-from-frame", said, "the joints");
            found
        }
        None => at_rest,
    }
}

/// The rig detected in the first or the middle frame, along whichever of the usual up axes finds one.
fn in_a_frame(
    file: &RigClues<'_>,
    detect: impl Fn(&ModelPose) -> Option<DetectedRig>,
) -> Option<DetectedRig> {
    let clip = file.clips.first()?;
    let ups = file.up.map_or_else(|| vec![Vec3::y(), Vec3::z()], |up| vec![up]);
    let frames = [0, clip.frames() / 2];
    frames.into_iter().find_map(|frame| {
        let pose = ModelPose::of(file.skeleton, &clip.pose(file.skeleton, frame));
        ups.iter().find_map(|up| {
            let y_up = Transform::from_rotation(arc(up, &Vec3::y(), &Vec3::x()));
            detect(&ModelPose::new(pose.joints().iter().map(|t| y_up * *t).collect()))
        })
    })
}

/// What `detect` finds in the part of a file with these joints, ascending and with all their ancestors; the others have no roles.
fn detect_in(
    file: &RigClues<'_>,
    joints: &[JointId],
    detect: impl Fn(&RigClues<'_>) -> DetectedRig,
) -> Option<DetectedRig> {
    let inside = |id: JointId| joints.binary_search(&id).ok().map(JointId::new);
    let part = joints.iter().map(|&id| {
        let joint = file.skeleton.joint(id);
        Joint { parent: joint.parent.and_then(inside), ..joint.clone() }
    });
    let skeleton = Skeleton::new(part.collect()).ok()?;
    let rest = ModelPose::new(joints.iter().map(|id| *file.rest.joint(*id)).collect());
    let mass: Option<Vec<f64>> = file.mass.map(|mass| joints.iter().map(|id| mass[id.index()]).collect());
    let clips: Vec<Clip> = file.clips.iter().map(|clip| part_of(clip, joints)).collect();
    let clips: Vec<&Clip> = clips.iter().collect();
    let clues = RigClues {
        skeleton: &skeleton,
        rest: &rest,
        mass: mass.as_deref(),
        trees: &[],
        clips: &clips,
        ..*file
    };
    let DetectedRig { rig, warnings } = detect(&clues);
    let roles =
        rig.assignments().map(|(role, a)| (role, Assignment { joint: joints[a.joint.index()], ..a.clone() }));
    let rig = Rig::new(file.skeleton.clone(), roles.collect::<Vec<_>>());
    Some(DetectedRig { rig, warnings })
}

/// The clip with these joints only.
fn part_of(clip: &Clip, joints: &[JointId]) -> Clip {
    let inside = |id: &JointId| joints.binary_search(id).ok();
    let slots: Vec<usize> =
        (0..clip.translated().len()).filter(|k| inside(&clip.translated()[*k]).is_some()).collect();
    let translated = slots.iter().filter_map(|k| inside(&clip.translated()[*k]).map(JointId::new)).collect();
    let frames = || 0..clip.frames();
    let rotations = frames().flat_map(|f| joints.iter().map(move |id| clip.rotations(f)[id.index()]));
    let translations = frames().flat_map(|f| slots.iter().map(move |k| clip.translations(f)[*k]));
    Clip::new(
        clip.name.clone(),
        clip.sample_rate,
        joints.len(),
        rotations.collect(),
        translated,
        translations.collect(),
    )
}
