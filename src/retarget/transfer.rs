//! Transfer between two characters by a joint map: direct rotation transfer, then correction of the legs.

use super::body_plan::reachable;
use super::direct_transfer::{DirectLegs, DirectTransfer};
use super::joint_map::JointMap;
use super::joint_transfer::JointTransfer;
use super::morph_weights::transferred;
use super::on_skin::OnSkin;
use super::performance::Performance;
use super::rest_alignment::ReferenceBody;
use super::same_bones::same_bones;
use super::skinned_roots::SkinnedRoots;
use crate::anatomy::parent_joint;
use crate::body::{CharacterBody, SupportPoints};
use crate::contacts::{Footing, FootingJoints};
use crate::kinematics::without_still_ends;
use crate::legs::{
    ArmPair, LegPair, LegTrajectories, LimbChain, PlantedHands, Settings, Timeline, leg_ratio, solve_legs,
};
use crate::model::{Character, Clip, Contacts, JointId, ModelPose, Motion, PropertyTrack, Rig, Role};
use crate::signal::fix_hemispheres;
use std::sync::Arc;

/// Scale of the root's path relative to the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RootScale {
    /// The ratio of leg lengths, so that strides fit the legs.
    Legs,
    /// This factor.
    Factor(f64),
}

/// Difference between the heights of the ankles above their soles, leg lengths, from which the soles of a character are uneven: 2 cm
/// of a person, about the thickness of a sole.
const UNEVEN: f64 = 0.022;

/// A transfer between two characters: a pure function of the source's clip.
#[derive(Clone, Debug)]
pub struct Retarget {
    joints: JointTransfer,
    /// Whether both have the same bones.
    same_bones: bool,
    /// The legs that both bodies have; empty between a character and itself, whose legs need no correction.
    legs: Vec<LegPair>,
    /// The front legs of two quadrupeds.
    forelegs: Vec<LegPair>,
    /// The arms that both bodies have, as the legs.
    arms: Vec<ArmPair>,
    /// The support points of the target that may be in the floor.
    skin: SupportPoints,
    /// The joints of the source that tell where it stands.
    footing: FootingJoints,
    /// The scale of the path over the ground.
    path_scale: f64,
    /// The joints above the target's hips that have skin; `None` between a character and itself.
    roots: Option<SkinnedRoots>,
    /// The height of a body without feet; `None` for other bodies.
    on_skin: Option<OnSkin>,
}

impl Retarget {
    /// The transfer from `source` to `target` by `map`; `rigs` are their roles, including those assigned in a map file.
    ///
    /// `travel` scales the horizontal path of the root; heights are always scaled by the ratio of leg lengths.
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
        let itself = source.rig().skeleton() == target.rig().skeleton();
        let (twins, same_scale) = match itself {
            true => (None, Some(1.0)),
            false => same_bones(source, target, map).unzip(),
        };
        let same = itself || twins.is_some();
        let [source_pose, target_pose] = twins.clone().unwrap_or_else(|| {
            [compared(source, |_| true), compared(target, |id| map.driving(id).is_some())]
        });
        let calibrated = if twins.is_some() { ReferenceBody::twin } else { ReferenceBody::of };
        let target_body = calibrated(target, &target_pose);
        // One skeleton is compared in one pose, whichever was found for each of two files.
        let source_body = match itself {
            true => ReferenceBody { body: source, rig: source.rig(), ..target_body },
            false => calibrated(source, &source_pose),
        };
        let legs = if same { Vec::new() } else { LegPair::of(source, target) };
        let forelegs = if legs.is_empty() { Vec::new() } else { LegPair::forelegs(source, target) };
        let arms = if legs.is_empty() { Vec::new() } else { ArmPair::of(source, target) };
        let skin = if same { SupportPoints::default() } else { target.support_points().clone() };
        let scale = same_scale.or(leg_ratio(&legs)).unwrap_or_else(|| {
            match (source_body.figure, target_body.figure) {
                (Some(source), Some(target)) => target.leg_to_sole / source.leg_to_sole,
                _ => size(target_body.reference_pose) / size(source_body.reference_pose).max(1e-12),
            }
        });
        let path_scale = match travel {
            RootScale::Legs => scale,
            RootScale::Factor(factor) => factor,
        };
        let joints = JointTransfer::new(map, &source_body, &target_body, [path_scale, scale]);
        let above = |hips: JointId| target_body.rig.skeleton().path_to_root(hips).skip(1);
        let hips = map.pairs.iter().find(|p| p.role == Some(Role::Hips)).filter(|_| !itself);
        let hips = hips.filter(|p| !(same && above(p.target).all(|id| map.driving(id).is_some())));
        let roots = hips.and_then(|pair| SkinnedRoots::of(&target_body, pair.target));
        let on_skin = OnSkin::of(source, target).filter(|_| !same);
        let footing = FootingJoints::of(source);
        Retarget { joints, legs, forelegs, arms, skin, footing, path_scale, roots, same_bones: same, on_skin }
    }

    /// The transfer with hands as directly transferred also where the take's rest on the floor.
    pub(crate) fn with_free_hands(self) -> Retarget {
        Retarget { arms: Vec::new(), ..self }
    }

    /// Whether both bodies have the same bones, so that neither legs nor arms need a correction.
    pub(crate) fn has_same_bones(&self) -> bool {
        self.same_bones
    }

    /// The character of the results.
    pub fn target(&self) -> &Arc<Character> {
        &self.joints.target
    }

    /// The side whose sole is thicker below its ankle than the other one by more than can be called even, and by how much, metres.
    pub(crate) fn uneven_soles(&self) -> Option<(&'static str, f64)> {
        let [left, right] = &self.legs[..] else { return None };
        let thicker = left.target.ankle - right.target.ankle;
        let side = if thicker > 0.0 { left.target.side } else { right.target.side };
        (thicker.abs() > UNEVEN * left.target.length()).then_some((side.word(), thicker.abs()))
    }

    /// Whether the legs of the character have no feet, so that they are not solved.
    pub(crate) fn without_feet(&self) -> bool {
        self.on_skin.is_some()
    }

    /// The ratio of leg lengths, target to source.
    pub fn scale(&self) -> f64 {
        self.joints.scale
    }

    /// Transfers a motion: rotations are copied, then legs are corrected to follow the source's.
    ///
    /// # Panics
    /// If the motion's skeleton is not the one that this transfer was made for.
    pub fn apply(&self, motion: &Motion) -> Motion {
        let mut performance = self.prepare(motion, &Timeline::of(motion));
        let whole = performance.part(motion, 0);
        performance.raised_hands(performance.finished(whole))
    }

    /// As [`Retarget::apply`], with a known timeline and prepared for computing the frames of `motion` in parts.
    ///
    /// # Panics
    /// If the motion's skeleton is not the one that this transfer was made for.
    pub fn prepare(&self, motion: &Motion, time: &Timeline) -> Performance<'_> {
        let direct = DirectTransfer::of(&self.joints, motion);
        let (mut trajectories, footing, direct_clip) = self.trajectories(&direct, motion, time);
        let kept = without_still_ends(&motion.clip);
        // If the clip holds its first or last pose, the moving part is solved alone and its ends are repeated, unless the body is
        // raised or lowered during the hold, or only the hold tells how high the body stands.
        if let Some(whole) =
            trajectories.as_ref().filter(|found| kept.len() < time.frames && found.level_outside(&kept))
        {
            let held = [kept.start, time.frames - kept.end];
            let moving = motion.part(kept.clone());
            let (found, ..) = self.trajectories(&direct, &moving, &Timeline::of(&moving));
            if let Some(found) = found.filter(|found| found.is_as_high_as(whole, kept.start)) {
                trajectories = Some(found.with_repeated_ends(held));
            }
        }
        let contacts = motion.contacts.as_ref();
        let contacts = match self.legs.is_empty() && self.on_skin.is_none() {
            true => contacts.map(|c| direct.contacts(c)),
            false => contacts.map(|c| self.labels(c)),
        };
        let on_skin = self.on_skin.as_ref().map(|skin| {
            let heights = skin.heights(motion).into_iter().map(|height| self.scale() * height);
            (skin, heights.collect())
        });
        let planted_hands = trajectories.as_ref().and_then(|_| {
            let legs: Vec<&LimbChain> = self.legs.iter().map(|pair| &pair.source).collect();
            PlantedHands::of(motion, (&self.arms, &legs), [self.path_scale, self.scale()])
        });
        Performance {
            direct,
            direct_clip,
            legs: &self.legs,
            skin: &self.skin,
            trajectories,
            planted_hands,
            time: time.clone(),
            off_floor: footing.floor().is_some(),
            lowest: self.scale() * footing.uneven.map_or(0.0, |ground| ground.lowest),
            contacts,
            property_tracks: self.property_tracks(motion),
            roots: self.roots.as_ref(),
            on_skin,
        }
    }

    /// The trajectories of the legs; `None` without legs. Also when feet can stand, and on what, and the clip of the direct transfer, if
    /// it is computed at once.
    fn trajectories(
        &self,
        direct: &DirectTransfer,
        motion: &Motion,
        time: &Timeline,
    ) -> (Option<LegTrajectories>, Footing, Option<Clip>) {
        let mut clip = None;
        let footing = match self.legs.is_empty() {
            true => Footing::default(),
            false => self.footing.footing(motion, &time.shots()),
        };
        let trajectories = (!self.legs.is_empty()).then(|| {
            let (from, to): (Vec<&LimbChain>, Vec<&LimbChain>) =
                self.legs.iter().chain(&self.forelegs).map(|pair| (&pair.source, &pair.target)).unzip();
            let DirectLegs { mut source, direct: mut direct_poses, lowest_body, clip: direct_clip } =
                direct.legs(motion, (&from, &to), &self.skin, &footing);
            clip = direct_clip;
            let hind = self.legs.len();
            let (front_direct, front) = (direct_poses.split_off(hind), source.split_off(hind));
            let pairs = (&self.legs[..], self.path_scale);
            let solved = solve_legs(
                time,
                (source, direct_poses),
                (&lowest_body, &footing),
                pairs,
                &Settings::default(),
            )?;
            Some(solved.with_forelegs(time, front, front_direct, &self.forelegs, self.joints.scale))
        });
        (trajectories.flatten(), footing, clip)
    }

    /// The weights of morph targets and the animation of other nodes, for the target.
    fn property_tracks(&self, motion: &Motion) -> Vec<PropertyTrack> {
        transferred(&motion.clip.property_tracks, &motion.character, self.target())
    }

    /// The contact labels of the source on the target, whose ground is at height 0, or where a ramp has that height.
    pub fn labels(&self, contacts: &Contacts) -> Contacts {
        contacts.changed(|frame| frame, |y| self.joints.scale * (y - contacts.zero()))
    }

    /// The direct transfer: rotations without correction of the legs. Results are compared with it.
    ///
    /// # Panics
    /// If the motion's skeleton is not the one that this transfer was made for.
    pub fn direct_transfer(&self, motion: &Motion) -> Motion {
        let direct = DirectTransfer::of(&self.joints, motion);
        let mut clip = direct.clip(motion.character.skeleton(), &motion.clip);
        clip.property_tracks = self.property_tracks(motion);
        fix_hemispheres(&mut clip);
        let contacts = motion.contacts.as_ref().map(|c| direct.contacts(c));
        let direct_motion = Motion { character: Arc::clone(self.target()), clip, contacts };
        match &self.roots {
            Some(roots) => roots.applied_to(direct_motion),
            None => direct_motion,
        }
    }
}

/// The largest extent of a pose, for skeletons without legs to compare.
fn size(reference_pose: &ModelPose) -> f64 {
    let origin = reference_pose.joints()[0].translation;
    reference_pose.joints().iter().map(|t| (t.translation - origin).norm()).fold(0.0, f64::max)
}

/// The pose in which segment directions are compared: the one that the tree takes when its `rotated` joints have the
/// reference rotations, or the reference pose itself for a rig in pieces.
fn compared(body: &CharacterBody, rotated: impl Fn(JointId) -> bool) -> ModelPose {
    let (rig, reference_pose) = (body.rig(), body.reference_pose());
    let in_pieces = rig.assignments().any(|(role, a)| {
        parent_joint(rig, role).is_some_and(|parent| !rig.skeleton().is_ancestor(parent, a.joint))
    });
    if in_pieces { reference_pose.clone() } else { reachable(rig, reference_pose, rotated) }
}
