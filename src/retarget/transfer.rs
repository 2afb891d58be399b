//! The transfer itself: world rotations away from the source's calibration pose, applied to the aligned target.
//!
//! For a driven joint `R_i(f) = D(f) A_i R_i0`, with `D(f) = S(f) S0^-1` the source joint's rotation in the world
//! away from its calibration pose (two of them blended for chains of different length) and `A_i R_i0` the target's
//! aligned calibration pose. Nothing depends on local axes, on the order of joints, or on the take's frames.
//!
//! The trunk then turns a little more or less, until it leans as the source's does ([`Trunk`]).
//!
//! A joint whose parent in the file is not its parent in the body (feet under a root bone, rigs exported in
//! pieces) is carried by the joint it belongs to and gets a translation channel.
//!
//! Root motion moves the middle of the hip joints, scaled by the ratio of leg lengths, heights from the ground. The
//! ground of a take whose contacts are known is where its soles rest, and a character that stands upright in its own
//! file then stands on the height of its own soles, skin included. Without contacts a capture's floor is the zero of its
//! world, and heights are those of joints.

use super::body_plan::{outward, reachable};
use super::joint_map::JointMap;
use super::rest_alignment::{Standing, align};
use super::trunk::Trunk;
use crate::anatomy::{parent_joint, same_words};
use crate::body::{CharacterBody, SupportPoints};
use crate::kinematics::map_frames_towards;
use crate::legs::{
    Course, Leg, LegPair, Settings, Step, Timeline, course, hands_out_of_floor, leg_ratio, places, steps,
};
use crate::math::{Quat, Transform, Vec3, arc, slerp, twist_angle};
use crate::model::{
    Character, Clip, Contacts, JointId, ModelPose, Motion, PropertyTrack, Rig, Role, Side, Skeleton,
};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;
use std::sync::Arc;

/// How far the root travels, in relation to the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RootScale {
    /// By the ratio of leg lengths, so that strides fit the legs.
    Legs,
    /// By this factor.
    Factor(f64),
}

/// What drives one target joint in every frame.
#[derive(Clone, Debug)]
struct Drive {
    /// The source joint, and a second one with its share.
    source: JointId,
    blend: Option<(JointId, f64)>,
    /// The inverse of the source's calibration rotation, and the same of the second joint.
    unrest: [Quat; 2],
    /// The target's aligned calibration rotation.
    rest: Quat,
    /// The source joint that ends the limb segment, and the segment's direction at calibration, where joints between
    /// bend the source's segment and the target has none to do so.
    aim: Option<(JointId, Vec3)>,
}

/// Where a target joint's position comes from.
#[derive(Clone, Debug)]
enum Place {
    /// Rest translation under the parent of the tree.
    Tree,
    /// Carried by another joint than the tree's parent: its calibration transform in that joint's space.
    Carried(JointId, Transform),
    /// The hips: the pelvis point in the joint's space.
    Pelvis(Vec3),
    /// A driven joint that no other driven joint carries: it travels like the source's.
    Path(JointId),
}

/// How a joint's own translation on the source is carried over, as a world offset from where it would be carried.
#[derive(Clone, Debug)]
struct Stretch {
    source: JointId,
    /// The source joint that carries it, and the place in that joint's space at calibration.
    carrier: JointId,
    at: Vec3,
    /// Whether the source joint hangs elsewhere than under its carrier, and so moves freely against it.
    free: bool,
}

/// A share of the forearm's roll for a twist joint: `local = rest * twist(axis, share * roll)`.
#[derive(Clone, Debug)]
struct Twist {
    lower: JointId,
    hand: JointId,
    /// The axis of the forearm in the joint's own space, and in the forearm's.
    axis: Vec3,
    lower_axis: Vec3,
    /// The hand's local rotation to the forearm at calibration.
    rest: Quat,
    share: f64,
}

/// A transfer that is ready: a pure function of the source's clip.
#[derive(Clone, Debug)]
pub struct Retarget {
    target: Arc<Character>,
    drives: Vec<Option<Drive>>,
    places: Vec<Place>,
    stretches: Vec<Option<Stretch>>,
    twists: Vec<Option<Twist>>,
    /// Joints in an order in which every joint comes after what carries it.
    order: Vec<JointId>,
    /// How the trunk leans, and what must be placed to tell: joints of the order.
    trunk: Option<(Trunk, Vec<JointId>)>,
    pelvis: Option<PelvisPath>,
    /// The legs that both bodies have; none between a character and itself, whose legs are right as they are.
    legs: Vec<LegPair>,
    /// What of the target can be in the floor.
    skin: SupportPoints,
    /// How far the path travels and how high the body stands, for one of the source.
    across: f64,
    scale: f64,
}

/// The path of the middle of the hip joints.
#[derive(Clone, Debug)]
struct PelvisPath {
    hips: JointId,
    /// The pelvis point in the source hips' space.
    at: Vec3,
    source_ground: f64,
    target_ground: f64,
    across: f64,
    up: f64,
    /// The same from sole to sole: the height of the target's, and the ratio of hip heights above the soles.
    soles: Option<(f64, f64)>,
}

impl PelvisPath {
    /// A height of the source's world in the target's.
    fn height(&self, y: f64) -> f64 {
        self.target_ground + self.up * (y - self.source_ground)
    }

    /// The path over a ground that is known to lie at this height of the source's world.
    fn on_ground(self, ground: f64) -> PelvisPath {
        match self.soles {
            Some((sole, up)) => PelvisPath { source_ground: ground, target_ground: sole, up, ..self },
            None => self,
        }
    }
}

/// The height of the soles of a figure that stands upright, and that of its hip joints above them.
fn soles(body: &CharacterBody) -> Option<(f64, f64)> {
    let figure = body.figure().filter(|f| f.up == Vec3::y())?;
    let sole = body.sole_height()?;
    Some((sole, figure.leg + figure.sole - sole))
}

impl Retarget {
    /// The transfer from `source` to `target` by `map`; `rigs` are their roles, those told in a map file included.
    ///
    /// `travel` scales the horizontal path of the root; heights always follow the legs.
    pub fn new(
        source: &Arc<Character>,
        target: Arc<Character>,
        map: &JointMap,
        rigs: (&Rig, &Rig),
        travel: RootScale,
    ) -> Retarget {
        Self::between(&CharacterBody::of(source, rigs.0), &CharacterBody::of(&target, rigs.1), map, travel)
    }

    /// As [`Retarget::new`], of bodies that are shared with others.
    pub(crate) fn between(
        source: &CharacterBody,
        target: &CharacterBody,
        map: &JointMap,
        travel: RootScale,
    ) -> Retarget {
        let (s_rig, t_rig) = (source.rig(), target.rig());
        let skeleton = t_rig.skeleton();
        let driven = |id: JointId| map.driving(id).is_some();
        let (s_rest, bound) = (source.pose(), target.pose());
        let (s_pose, t_pose) = (compared(s_rig, s_rest, |_| true), compared(t_rig, bound, driven));
        let s = Standing::of(source, &s_pose);
        let t = Standing::of(target, &t_pose);
        let aligned = align(map, &s, &t);

        let drives: Vec<Option<Drive>> = skeleton
            .ids()
            .map(|id| {
                let pair = map.driving(id)?;
                let unrest = |joint: JointId| s_rest.joint(joint).rotation.inverse();
                Some(Drive {
                    source: pair.source,
                    blend: pair.blend,
                    unrest: [unrest(pair.source), unrest(pair.blend.map_or(pair.source, |b| b.0))],
                    rest: aligned[id.index()].unwrap_or_else(Quat::identity) * bound.joint(id).rotation,
                    aim: pair.role.and_then(|role| bent_segment(role, map, &s, t_rig)),
                })
            })
            .collect();

        let ground = |standing: &Standing| match (standing.character.document.is_some(), standing.figure) {
            // A model stands on its own ground; a capture's floor is the zero of its world.
            (true, Some(figure)) if figure.up == Vec3::y() => figure.sole,
            _ => 0.0,
        };
        let same = s_rig.skeleton() == skeleton;
        let pairs = if same { Vec::new() } else { LegPair::of(source, target) };
        let skin = if same { SupportPoints::default() } else { target.support_points().clone() };
        let legs = leg_ratio(&pairs).unwrap_or_else(|| match (s.figure, t.figure) {
            (Some(s), Some(t)) => t.leg / s.leg,
            _ => size(bound) / size(s_rest).max(1e-12),
        });
        let across = match travel {
            RootScale::Legs => legs,
            RootScale::Factor(factor) => factor,
        };
        let hips = map.pairs.iter().find(|p| p.role == Some(Role::Hips)).or_else(|| map.pairs.first());
        let mut places = place_joints(t_rig, map, bound, hips.map(|p| p.target));
        let pelvis = hips.map(|pair| {
            let within = |standing: &Standing, rest: &ModelPose, joint: JointId| {
                let point = match pair.role {
                    Some(Role::Hips) => standing.figure.map(|f| f.pelvis),
                    _ => None,
                };
                rest.joint(joint).inverse().point(&point.unwrap_or(rest.position(joint)))
            };
            places[pair.target.index()] = Place::Pelvis(within(&t, bound, pair.target));
            PelvisPath {
                hips: pair.source,
                at: within(&s, s_rest, pair.source),
                source_ground: ground(&s),
                target_ground: ground(&t),
                across,
                up: legs,
                // A character onto itself, and one that has no file to stand in, keep their floor.
                soles: (t.character.document.is_some() && s_rig.skeleton() != t_rig.skeleton())
                    .then(|| {
                        let (from, to) = (soles(source)?, soles(target)?);
                        Some((to.0, to.1 / from.1))
                    })
                    .flatten(),
            }
        });
        let stretches = stretch_joints(s_rig, t_rig, map, s_rest, &places);
        let twists = twist_joints(t_rig, map, bound);
        let order = carried_order(t_rig, &places);
        let trunk = Trunk::of(map, &s, &t, &aligned).map(|trunk| {
            let below = below(t_rig, &places, &order, trunk.joints());
            (trunk, below)
        });
        Retarget {
            target: Arc::clone(target.character()),
            drives,
            places,
            stretches,
            twists,
            order,
            trunk,
            pelvis,
            legs: pairs,
            skin,
            across,
            scale: legs,
        }
    }

    /// The character that the motion leaves with.
    pub fn target(&self) -> &Arc<Character> {
        &self.target
    }

    /// The ratio of leg lengths, target to source.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The target performing the source's clip: rotations copied, then legs brought to do what the source's do.
    ///
    /// # Panics
    /// Where the motion's skeleton is not the one that this transfer was made for.
    pub fn apply(&self, motion: &Motion) -> Motion {
        let performance = self.prepare(motion, &Timeline::of(motion));
        performance.finished(performance.part(motion, 0))
    }

    /// As [`Retarget::apply`], made ready to go through the frames of `motion`, whose timeline is known, in parts.
    ///
    /// # Panics
    /// Where the motion's skeleton is not the one that this transfer was made for.
    pub fn prepare(&self, motion: &Motion, time: &Timeline) -> Performance<'_> {
        let carry = Carry::of(self, motion);
        let course = (!self.legs.is_empty()).then(|| {
            let (from, to): (Vec<&Leg>, Vec<&Leg>) =
                self.legs.iter().map(|pair| (&pair.source, &pair.target)).unzip();
            let (copied, seat) = carry.legs(motion, &to);
            let settings = Settings::default();
            course(time, places(motion, &from), copied, &seat, &self.legs, self.across, &settings)
        });
        let contacts = motion.contacts.as_ref();
        let contacts = match self.legs.is_empty() {
            true => contacts.map(|c| carry.labels(c)),
            false => contacts.map(|c| self.labels(c)),
        };
        let carried = motion.clip.property_tracks.clone();
        Performance { retarget: self, carry, course: course.flatten(), time: time.clone(), contacts, carried }
    }

    /// The labels of the source on the target: what the one stands on is height 0 for the other.
    pub fn labels(&self, contacts: &Contacts) -> Contacts {
        contacts.changed(|frame| frame, |y| self.scale * (y - contacts.ground))
    }

    /// The target with the source's rotations and nothing else: what results are held against.
    ///
    /// # Panics
    /// Where the motion's skeleton is not the one that this transfer was made for.
    pub fn copy(&self, motion: &Motion) -> Motion {
        let carry = Carry::of(self, motion);
        let all = &carry.retarget.order;
        let mut clip = carry.clip(motion.character.skeleton(), &motion.clip, all);
        clip.property_tracks = motion.clip.property_tracks.clone();
        fix_hemispheres(&mut clip);
        let contacts = motion.contacts.as_ref().map(|c| carry.labels(c));
        Motion { character: Arc::clone(&self.target), clip, contacts }
    }

    /// Whether the clip moves the joint against its parent: on another skeleton than the target's by at least a
    /// hundredth of the bone's length, since less is the noise of exporters.
    fn moves(&self, motion: &Motion, joint: JointId) -> bool {
        let Ok(slot) = motion.clip.translated().binary_search(&joint) else { return false };
        let rest = motion.character.skeleton().joint(joint).rest.translation;
        let same = motion.character.skeleton() == self.target.skeleton();
        let noise = if same { 0.0 } else { 0.01 * rest.norm() };
        let width = motion.clip.translated().len();
        motion.clip.all_translations().iter().skip(slot).step_by(width).any(|t| (t - rest).norm() > noise)
    }

    /// One frame: the source's model pose to these joints of the target's, in an order in which they carry each other, and
    /// the trunk that they lean with.
    fn frame(
        &self,
        from: &ModelPose,
        stretches: &[Option<Stretch>],
        (joints, trunk): (&[JointId], Option<&(Trunk, Vec<JointId>)>),
        model: &mut [Transform],
    ) {
        let mut turns = Vec::new();
        if let Some((trunk, below)) = trunk {
            below.iter().for_each(|&id| model[id.index()] = self.placed(id, from, stretches, model, &[]));
            turns = trunk.turns(from, model);
        }
        for &id in joints {
            model[id.index()] = self.placed(id, from, stretches, model, &turns);
        }
    }

    /// Where a joint comes to stand, once what carries it stands; driven joints turn by `turns` as well.
    fn placed(
        &self,
        id: JointId,
        from: &ModelPose,
        stretches: &[Option<Stretch>],
        model: &[Transform],
        turns: &[(JointId, Quat)],
    ) -> Transform {
        let skeleton = self.target.skeleton();
        let k = id.index();
        let rest = &skeleton.joint(id).rest;
        let parent = skeleton.parent(id).map_or_else(Transform::identity, |p| model[p.index()]);
        let rotation = match (&self.drives[k], &self.twists[k]) {
            (Some(drive), _) => match turns.iter().find(|(link, _)| *link == id) {
                Some((_, turn)) => turn * drive.rotation(from),
                None => drive.rotation(from),
            },
            (None, Some(twist)) => parent.rotation * rest.rotation * twist.roll(from, model, self),
            (None, None) => match &self.places[k] {
                Place::Carried(carrier, within) => model[carrier.index()].rotation * within.rotation,
                _ => parent.rotation * rest.rotation,
            },
        };
        let mut position = match &self.places[k] {
            Place::Tree => parent.point(&rest.translation),
            Place::Carried(carrier, within) => model[carrier.index()].point(&within.translation),
            Place::Pelvis(at) => self.pelvis_point(from) - rotation * at,
            Place::Path(source) => self.travelled(&from.position(*source)),
        };
        if let Some(stretch) = &stretches[k] {
            let carried = from.joint(stretch.carrier).point(&stretch.at);
            position += (from.position(stretch.source) - carried) * self.scale;
        }
        Transform::new(rotation, position)
    }

    /// The target's pelvis point for a source pose.
    fn pelvis_point(&self, from: &ModelPose) -> Vec3 {
        let Some(path) = &self.pelvis else { return Vec3::zeros() };
        self.travelled(&from.joint(path.hips).point(&path.at))
    }

    /// A point of the source's world in the target's: scaled over the ground and above it.
    fn travelled(&self, p: &Vec3) -> Vec3 {
        let Some(path) = &self.pelvis else { return *p };
        Vec3::new(p.x * path.across, path.height(p.y), p.z * path.across)
    }
}

/// The rotation copy of one motion: the ground is known, and which joints it moves against their parents.
#[derive(Clone, Debug)]
struct Carry {
    retarget: Retarget,
    stretches: Vec<Option<Stretch>>,
    /// The target's joints that get translations, ascending.
    translated: Vec<JointId>,
}

impl Carry {
    fn of(retarget: &Retarget, motion: &Motion) -> Carry {
        let mut retarget = retarget.clone();
        if let Some(contacts) = &motion.contacts {
            retarget.pelvis = retarget.pelvis.map(|path| path.on_ground(contacts.ground));
        }
        // A joint's own translation is carried over where the source's clip has one, or its tree gives it one.
        let counts = |s: &Stretch| s.free || retarget.moves(motion, s.source);
        let stretches: Vec<Option<Stretch>> =
            retarget.stretches.iter().map(|s| s.clone().filter(counts)).collect();
        let moves = |id: &JointId| {
            !matches!(retarget.places[id.index()], Place::Tree) || stretches[id.index()].is_some()
        };
        let translated = retarget.target.skeleton().ids().filter(moves).collect();
        Carry { retarget, stretches, translated }
    }

    /// These joints (in an order in which they carry each other) of the target in a clip of the source's, whose signs are
    /// as they come; others rest.
    fn clip(&self, source: &Skeleton, clip: &Clip, joints: &[JointId]) -> Clip {
        let skeleton = self.retarget.target.skeleton();
        let (width, frames) = (skeleton.len(), clip.frames());
        let moved = self.translated.len();
        let mut rotations = vec![Quat::identity(); frames * width];
        let mut translations = vec![Vec3::zeros(); frames * moved.max(1)];
        let track = |id: JointId| self.translated.binary_search(&id).ok();
        let tracks: Vec<(JointId, Option<usize>)> = joints.iter().map(|&id| (id, track(id))).collect();
        let trunk = self.retarget.trunk.as_ref().filter(|(trunk, _)| trunk.turns_any(joints));
        // Blocks of frames share their scratch poses; who computes a block changes nothing in it.
        const BLOCK: usize = 64;
        rotations
            .par_chunks_mut(BLOCK * width)
            .zip(translations.par_chunks_mut(BLOCK * moved.max(1)))
            .enumerate()
            .for_each(|(block, (rotations, translations))| {
                let mut local = source.rest_pose();
                let mut from = ModelPose::of(source, &local);
                let mut model = vec![Transform::identity(); width];
                let mut unturned = vec![Transform::identity(); width];
                for (n, row) in rotations.chunks_mut(width).enumerate() {
                    clip.read_pose(block * BLOCK + n, &mut local);
                    from.set(source, &local);
                    self.retarget.frame(&from, &self.stretches, (joints, trunk), &mut model);
                    for &id in joints {
                        if !skeleton.children(id).is_empty() {
                            unturned[id.index()] = model[id.index()].inverse();
                        }
                    }
                    for &(id, track) in &tracks {
                        let own = model[id.index()];
                        let local = skeleton.parent(id).map_or(own, |p| unturned[p.index()] * own);
                        row[id.index()] = local.rotation;
                        if let Some(track) = track {
                            translations[n * moved + track] = local.translation;
                        }
                    }
                }
            });
        if moved == 0 {
            translations.clear();
        }
        let translated = self.translated.clone();
        let mut result =
            Clip::new(clip.name.clone(), clip.sample_rate, width, rotations, translated, translations);
        result.start = clip.start;
        result
    }

    /// The course of these legs of the target, by leg and frame, and how high the lowest of trunk and thighs is; the latter is
    /// empty without skin.
    fn legs(&self, motion: &Motion, legs: &[&Leg]) -> (Vec<Vec<Step>>, Vec<f64>) {
        let Retarget { target, places, order, skin, .. } = &self.retarget;
        let seat: Vec<JointId> = skin.trunk.iter().map(|(joint, _)| *joint).collect();
        let ends = legs.iter().flat_map(|leg| leg.joints()).chain(seat.iter().copied());
        let joints = below(&target.rig, places, order, ends);
        let mut all: Vec<Vec<Step>> = vec![Vec::with_capacity(motion.clip.frames()); legs.len()];
        let mut low = Vec::with_capacity(if seat.is_empty() { 0 } else { motion.clip.frames() });
        for start in (0..motion.clip.frames()).step_by(PART) {
            let part = motion.part(start..(start + PART).min(motion.clip.frames()));
            let clip = self.clip(motion.character.skeleton(), &part.clip, &joints);
            if !seat.is_empty() {
                let lowest = |model: &ModelPose| skin.lowest(model);
                low.extend(map_frames_towards(target.skeleton(), &clip, seat.iter().copied(), lowest));
            }
            let steps = steps(&Motion::new(Arc::clone(target), clip), legs);
            all.iter_mut().zip(steps).for_each(|(all, part)| all.par_extend(part));
        }
        (all, low)
    }

    /// The labels where points at one height stay at one height.
    fn labels(&self, contacts: &Contacts) -> Contacts {
        let Retarget { pelvis, scale, .. } = &self.retarget;
        contacts.changed(|frame| frame, |y| pelvis.as_ref().map_or(y * scale, |path| path.height(y)))
    }
}

/// Frames that are carried over together where a motion is gone through in parts: enough for many threads, and few beside
/// a long take.
pub const PART: usize = 1024;

/// A transfer of one motion, whose legs have found their course: its frames are performed part by part.
#[derive(Clone, Debug)]
pub struct Performance<'a> {
    retarget: &'a Retarget,
    carry: Carry,
    course: Option<Course>,
    time: Timeline,
    contacts: Option<Contacts>,
    carried: Vec<PropertyTrack>,
}

impl Performance<'_> {
    /// The target performing a part of the source's frames, from frame `first` on; quaternions may flip their signs.
    ///
    /// # Panics
    /// Where there are no such frames.
    pub fn part(&self, part: &Motion, first: usize) -> Motion {
        let source = part.character.skeleton();
        let clip = self.carry.clip(source, &part.clip, &self.carry.retarget.order);
        let copy = Motion::new(Arc::clone(&self.retarget.target), clip);
        match &self.course {
            Some(course) => course.write(copy, first, &self.retarget.legs),
            None => copy,
        }
    }

    /// All parts together, with signs that are continuous, hands out of the floor, labels, and what moves beside joints.
    pub fn finished(&self, mut whole: Motion) -> Motion {
        fix_hemispheres(&mut whole.clip);
        let Retarget { legs, skin, .. } = self.retarget;
        if self.course.is_some() {
            whole = hands_out_of_floor(whole, skin, &self.time, legs, &Settings::default());
        }
        whole.clip.property_tracks.clone_from(&self.carried);
        whole.contacts.clone_from(&self.contacts);
        whole
    }
}

impl Drive {
    /// The model rotation of the target joint.
    fn rotation(&self, from: &ModelPose) -> Quat {
        let away = |joint: JointId, unrest: Quat| from.joint(joint).rotation * unrest;
        let first = away(self.source, self.unrest[0]);
        let turned = match self.blend {
            Some((joint, share)) => slerp(&first, &away(joint, self.unrest[1]), share),
            None => first,
        };
        let Some((end, at_rest)) = self.aim else { return turned * self.rest };
        let segment = from.position(end) - from.position(self.source);
        arc(&(turned * at_rest), &segment, &Vec3::z()) * turned * self.rest
    }
}

impl Twist {
    /// The rotation about the twist joint's own axis.
    fn roll(&self, from: &ModelPose, model: &[Transform], retarget: &Retarget) -> Quat {
        let lower = model[self.lower.index()].rotation;
        // The hand is driven: its rotation does not wait for the joints between.
        let Some(drive) = &retarget.drives[self.hand.index()] else { return Quat::identity() };
        let hand = drive.rotation(from);
        let away = lower.inverse() * hand * self.rest.inverse();
        let angle = twist_angle(&away, &self.lower_axis) * self.share;
        Quat::new(self.axis * angle)
    }
}

/// The largest extent of a pose, for skeletons without legs to compare.
fn size(rest: &ModelPose) -> f64 {
    let origin = rest.joints()[0].translation;
    rest.joints().iter().map(|t| (t.translation - origin).norm()).fold(0.0, f64::max)
}

/// The end and the calibration direction of a source segment that joints between its ends bend (upper arms in two
/// parts), where the target's segment has no driven joint of its own between.
fn bent_segment(role: Role, map: &JointMap, s: &Standing, t_rig: &Rig) -> Option<(JointId, Vec3)> {
    let side = role.side()?;
    let end_role = outward(role)
        .iter()
        .map(|r| r(side))
        .find(|&r| s.rig.joint(r).is_some() && t_rig.joint(r).is_some())?;
    let (start, end) = (s.rig.joint(role)?, s.rig.joint(end_role)?);
    let skeleton = s.rig.skeleton();
    if skeleton.parent(end) == Some(start) || !skeleton.is_ancestor(start, end) {
        return None;
    }
    let between = t_rig.skeleton().path_to_root(t_rig.joint(end_role)?).skip(1);
    let mut between = between.take_while(|&j| Some(j) != t_rig.joint(role));
    if between.any(|j| map.driving(j).is_some()) {
        return None;
    }
    Some((end, s.rest.position(end) - s.rest.position(start)))
}

/// The pose whose segment directions are compared: the one that the tree really takes when its `turned` joints have
/// the calibration rotations, or the calibration pose itself for a rig whose parts hang in pieces.
fn compared(rig: &Rig, calibration: &ModelPose, turned: impl Fn(JointId) -> bool) -> ModelPose {
    let in_pieces = rig.assignments().any(|(role, a)| {
        parent_joint(rig, role).is_some_and(|carrier| !rig.skeleton().is_ancestor(carrier, a.joint))
    });
    if in_pieces { calibration.clone() } else { reachable(rig, calibration, turned) }
}

/// Decides for every target joint where its position comes from.
fn place_joints(rig: &Rig, map: &JointMap, bound: &ModelPose, hips: Option<JointId>) -> Vec<Place> {
    let skeleton = rig.skeleton();
    let mut places = vec![Place::Tree; skeleton.len()];
    let above_hips = |id: JointId| hips.is_some_and(|h| skeleton.is_ancestor(id, h));
    let carried = |carrier: JointId, id: JointId| {
        Place::Carried(carrier, bound.joint(carrier).inverse() * *bound.joint(id))
    };
    for pair in &map.pairs {
        let id = pair.target;
        // Above the hips, or hanging from nothing that moves: it travels through the world as on the source.
        let alone =
            pair.role.is_none() && !skeleton.path_to_root(id).skip(1).any(|j| map.driving(j).is_some());
        if Some(id) != hips && (above_hips(id) || alone) {
            places[id.index()] = Place::Path(pair.source);
            continue;
        }
        // An arm under a collar bone that nothing drives goes with the chest.
        let body_parent_of = |joint: JointId| rig.role(joint).and_then(|role| parent_joint(rig, role));
        let mut carriers = std::iter::successors(body_parent_of(id), |&c| body_parent_of(c));
        let carrier = carriers.find(|&c| map.driving(c).is_some());
        if let Some(c) = carrier.filter(|&c| !skeleton.is_ancestor(c, id)) {
            places[id.index()] = carried(c, id);
        }
    }
    // What hangs from nothing that moves goes with the nearest part of the body.
    let body: Vec<JointId> = map.pairs.iter().filter(|p| p.role.is_some()).map(|p| p.target).collect();
    // Two sweeps over the tree, children before parents and parents before children: what carries a driven joint, and
    // what a part of the body carries.
    let mut carries: Vec<bool> = skeleton.ids().map(|id| map.driving(id).is_some()).collect();
    for id in skeleton.ids().rev() {
        if let Some(parent) = skeleton.parent(id).filter(|_| carries[id.index()]) {
            carries[parent.index()] = true;
        }
    }
    let mut on_body = vec![false; skeleton.len()];
    for id in skeleton.ids() {
        let part = map.driving(id).is_some_and(|p| p.role.is_some());
        on_body[id.index()] = part || skeleton.parent(id).is_some_and(|p| on_body[p.index()]);
    }
    for id in skeleton.ids() {
        let loose = !carries[id.index()] && !on_body[id.index()];
        let top = skeleton.parent(id).is_none_or(|p| above_hips(p) || carries[p.index()]);
        if loose && top {
            let nearest = body.iter().copied().min_by(|&a, &b| {
                let distance = |j: JointId| (bound.position(j) - bound.position(id)).norm();
                distance(a).total_cmp(&distance(b))
            });
            if let Some(carrier) = nearest {
                places[id.index()] = carried(carrier, id);
            }
        }
    }
    places
}

/// Joints whose own translation may be carried over: only between versions of one rig, where nine joints of ten have
/// the same name, and there where the carriers are the same too. Elsewhere bones keep their length.
fn stretch_joints(
    s_rig: &Rig,
    t_rig: &Rig,
    map: &JointMap,
    s_rest: &ModelPose,
    places: &[Place],
) -> Vec<Option<Stretch>> {
    let name = |rig: &Rig, id: JointId| rig.skeleton().joint(id).name.clone();
    let same = |s: JointId, t: JointId| same_words(&name(s_rig, s), &name(t_rig, t));
    let shared = map.pairs.iter().filter(|p| p.blend.is_none() && same(p.source, p.target)).count();
    let joints = s_rig.skeleton().len().max(t_rig.skeleton().len());
    if shared * 10 < joints * 9 {
        return vec![None; t_rig.skeleton().len()];
    }
    t_rig
        .skeleton()
        .ids()
        .map(|id| {
            let pair = map.driving(id).filter(|p| p.blend.is_none() && same(p.source, id))?;
            let carrier = match &places[id.index()] {
                Place::Tree => t_rig.skeleton().parent(id)?,
                Place::Carried(carrier, _) => *carrier,
                Place::Pelvis(_) | Place::Path(_) => return None,
            };
            let from = map.driving(carrier).filter(|p| p.blend.is_none() && same(p.source, carrier))?.source;
            let skeleton = s_rig.skeleton();
            let at = if skeleton.parent(pair.source) == Some(from) {
                skeleton.joint(pair.source).rest.translation
            } else {
                s_rest.joint(from).inverse().point(&s_rest.position(pair.source))
            };
            let free = !skeleton.is_ancestor(from, pair.source);
            Some(Stretch { source: pair.source, carrier: from, at, free })
        })
        .collect()
}

/// Undriven joints along the forearm, which share its roll (twist joints, in line or beside it).
fn twist_joints(rig: &Rig, map: &JointMap, bound: &ModelPose) -> Vec<Option<Twist>> {
    let skeleton = rig.skeleton();
    let mut twists: Vec<Option<Twist>> = vec![None; skeleton.len()];
    for side in Side::BOTH {
        let ends = (rig.joint(Role::LowerArm(side)), rig.joint(Role::Hand(side)));
        let (Some(lower), Some(hand)) = ends else { continue };
        if !(map.driving(lower).is_some() && map.driving(hand).is_some()) {
            continue;
        }
        let (start, end) = (bound.position(lower), bound.position(hand));
        let length = (end - start).norm();
        let Some(axis) = (end - start).try_normalize(1e-9) else { continue };
        let within = |id: JointId, v: &Vec3| bound.joint(id).rotation.inverse() * v;
        let mut given = 0.0;
        for id in skeleton.ids().filter(|&id| id != lower && skeleton.is_ancestor(lower, id)) {
            let in_line = skeleton.is_ancestor(id, hand);
            let offset = bound.position(id) - start;
            let along = offset.dot(&axis) / length;
            let off = (offset - axis * offset.dot(&axis)).norm() / length;
            let beside = skeleton.parent(id) == Some(lower) && skeleton.children(id).is_empty() && off < 0.15;
            let between =
                (0.05..0.999).contains(&along) && map.driving(id).is_none() && rig.role(id).is_none();
            if !between || !(in_line || beside) {
                continue;
            }
            // In line, each joint adds to the roll of those above it.
            let share = if in_line { along - given } else { along };
            if in_line {
                given = along;
            }
            twists[id.index()] = Some(Twist {
                lower,
                hand,
                axis: within(id, &axis),
                lower_axis: within(lower, &axis),
                rest: bound.joint(lower).rotation.inverse() * bound.joint(hand).rotation,
                share,
            });
        }
    }
    twists
}

/// An order in which every joint comes after its tree parent and after what carries it; twist joints read the
/// driven hand, whose rotation needs nobody, so hands are taken before the joints between.
fn carried_order(rig: &Rig, places: &[Place]) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let mut order = Vec::with_capacity(skeleton.len());
    let mut placed = vec![false; skeleton.len()];
    // Every round places at least one joint: carriers are body parents, and the body has no cycle. A cycle made by
    // an odd map is broken in joint order.
    while order.len() < skeleton.len() {
        let before = order.len();
        for id in skeleton.ids() {
            let ready = |other: JointId| placed[other.index()];
            let carrier_ready = match &places[id.index()] {
                Place::Carried(carrier, _) => ready(*carrier),
                _ => true,
            };
            if !placed[id.index()] && carrier_ready && skeleton.parent(id).is_none_or(ready) {
                placed[id.index()] = true;
                order.push(id);
            }
        }
        if order.len() == before {
            let left: Vec<JointId> = skeleton.ids().filter(|id| !placed[id.index()]).collect();
            order.extend(left);
        }
    }
    order
}

/// The joints of `order` that carry one of `joints`, and these.
fn below(
    rig: &Rig,
    places: &[Place],
    order: &[JointId],
    joints: impl Iterator<Item = JointId>,
) -> Vec<JointId> {
    let mut needed = vec![false; order.len()];
    joints.for_each(|id| needed[id.index()] = true);
    for &id in order.iter().rev() {
        if !needed[id.index()] {
            continue;
        }
        if let Some(parent) = rig.skeleton().parent(id) {
            needed[parent.index()] = true;
        }
        if let Place::Carried(carrier, _) = places[id.index()] {
            needed[carrier.index()] = true;
        }
    }
    order.iter().copied().filter(|id| needed[id.index()]).collect()
}
