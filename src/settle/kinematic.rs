//! What can be put right without forces: limits, the body over its resting feet, parabolas of flight, feet planted.
//!
//! Physics is not asked to remove centimetres of error; and what it says is brought onto the contacts again in the same
//! way. Space: model space. Units: SI, hertz.

use super::flight::{Flight, fly, shift_hips};
use super::floor::Floor;
use super::legs_inside::legs_inside;
use super::limits::keep_limits;
use super::ragdoll::Ragdoll;
use super::toes::bend_early;
use crate::feet::{Options as PlantOptions, astray, ground, plant, raise_heels};
use crate::ik::{Limit, Mechanism};
use crate::math::Vec3;
use crate::model::{Clip, ContactPart, ContactPoint, Contacts, JointId, ModelPose, Motion, Pose, Role, Side};
use crate::signal::{Butterworth, fix_hemispheres, smooth_positions};
use rayon::prelude::*;

/// The body follows its feet no faster than this, hertz.
const BODY_CUTOFF: f64 = 3.0;

/// Rounds in which heels rise: a heel that is up bends the knee, and that the ankle.
const ANKLE_ROUNDS: usize = 6;

/// An ankle may be bent too far by so much, radians.
const ANKLE_EASE: f64 = 2e-3;

/// A heel that is higher than this above where it rests has risen, metres.
const RISEN: f64 = 0.003;

/// Rounds in which legs come inside by changes that are smooth over time, before what is left is taken frame by frame.
const LEG_ROUNDS: usize = 2;

/// Rounds of a body that flies and feet that get out of its floor.
const FLIGHT_ROUNDS: usize = 3;

/// Legs that have come inside leave the pelvis where it is.
const PELVIS_STAYS: PlantOptions = PlantOptions { blend: 0.3, pelvis: 0.0 };

/// What the passes know of the body.
#[derive(Debug)]
pub struct Passes<'a> {
    /// The motion that came in: its character, rate and name.
    pub motion: &'a Motion,
    /// The labels on the floor.
    pub contacts: &'a Contacts,
    /// The bodies.
    pub ragdoll: &'a Ragdoll,
    /// The limits.
    pub mechanism: &'a Mechanism,
    /// The times without contact.
    pub flights: &'a [Flight],
    /// The points that may touch.
    pub points: &'a [ContactPoint],
}

impl Passes<'_> {
    /// A motion of these poses.
    pub fn motion_of(&self, poses: &[Pose]) -> Motion {
        let (like, skeleton) = (&self.motion.clip, self.motion.character.skeleton());
        let mut clip = Clip::from_poses(like.name.clone(), like.sample_rate, skeleton, poses);
        (clip.start, clip.tolerance) = (like.start, like.tolerance);
        fix_hemispheres(&mut clip);
        Motion { clip, contacts: Some(self.contacts.clone()), ..self.motion.clone() }
    }

    /// The poses of a motion.
    pub fn poses_of(&self, motion: &Motion) -> Vec<Pose> {
        let skeleton = motion.character.skeleton();
        (0..motion.clip.frames()).into_par_iter().map(|f| motion.clip.pose(skeleton, f)).collect()
    }

    /// The kinematic pass.
    pub fn clean(&self, poses: &[Pose]) -> Vec<Pose> {
        let mut poses = poses.to_vec();
        keep_limits(self.mechanism, &mut poses, self.motion.clip.sample_rate);
        self.over_ground(&mut poses);
        self.over_feet(&mut poses);
        self.fly(&mut poses);
        self.finish(&poses)
    }

    /// The body as high over the ground as its feet say, and its limbs as they are.
    fn over_ground(&self, poses: &mut [Pose]) {
        let (motion, _) = ground(&self.motion_of(poses), self.contacts, self.contacts.ground);
        let (skeleton, hips) = (motion.character.skeleton(), self.ragdoll.parts[0].joint);
        let place = |pose: &Pose| ModelPose::of(skeleton, pose).position(hips);
        let lifted = self.poses_of(&motion);
        let shifts: Vec<Vec3> = lifted.par_iter().zip(&*poses).map(|(a, b)| place(a) - place(b)).collect();
        self.shift(poses, &shifts);
    }

    /// The body follows its feet to where they rest; in the air it goes on in between.
    fn over_feet(&self, poses: &mut [Pose]) {
        let mut shifts = filled(&astray(&self.motion_of(poses)));
        if let Some(filter) = Butterworth::new(BODY_CUTOFF, self.motion.clip.sample_rate) {
            smooth_positions(&mut shifts, |x| filter.apply(x));
        }
        self.shift(poses, &shifts);
    }

    /// Limits kept, feet planted, ankles and legs within what they can, flights as bodies fly.
    pub fn finish(&self, poses: &[Pose]) -> Vec<Pose> {
        let mut poses = poses.to_vec();
        keep_limits(self.mechanism, &mut poses, self.motion.clip.sample_rate);
        let mut poses = self.planted(&poses);
        if self.flights.is_empty() {
            return poses;
        }
        // A foot that gets out of the floor moves the centre of mass, and a body that falls another way its feet.
        for _ in 0..FLIGHT_ROUNDS {
            self.fly(&mut poses);
            poses = self.poses_of(&plant(&self.motion_of(&poses), &PlantOptions::default()).0);
        }
        self.planted(&poses)
    }

    /// Feet planted, ankles and legs within what they can.
    fn planted(&self, before: &[Pose]) -> Vec<Pose> {
        let (planted, _) = plant(&self.motion_of(before), &PlantOptions::default());
        let mut poses = self.ease_ankles(self.poses_of(&planted));
        let (floor, rate) = (Floor::new(self.contacts.clone()), self.motion.clip.sample_rate);
        let legs = (&*self.motion.character, self.mechanism);
        for _ in 0..LEG_ROUNDS {
            if !legs_inside(legs, &floor, &mut poses, Some(rate)) {
                break;
            }
            // What was spread over time has taken feet off their places.
            let labelled = Motion { contacts: Some(self.risen(&poses)), ..self.motion_of(&poses) };
            poses = self.poses_of(&plant(&labelled, &PELVIS_STAYS).0);
        }
        legs_inside(legs, &floor, &mut poses, None);
        bend_early((&self.motion.character, self.mechanism), &floor, before, &mut poses, rate);
        poses
    }

    /// The labels without the frames in which a heel had to rise: it does not rest there.
    pub fn risen(&self, poses: &[Pose]) -> Contacts {
        let skeleton = self.motion.character.skeleton();
        let mut labels = self.contacts.clone();
        for point in self.points.iter().filter(|p| matches!(p.part, ContactPart::Heel(_))) {
            let height = |f: usize| ModelPose::of(skeleton, &poses[f]).joint(point.joint).point(&point.at).y;
            let up =
                |f: usize| self.contacts.hold(point.part, f).is_some_and(|h| height(f) > h.height + RISEN);
            labels.release(point.part, |f| f >= poses.len() || up(f));
        }
        labels
    }

    /// Raises heels where a foot on the ground asks more of the ankle than an ankle can.
    fn ease_ankles(&self, poses: Vec<Pose>) -> Vec<Pose> {
        let rig = &self.motion.character.rig;
        let ankles = Side::BOTH.into_iter().filter_map(|side| Some((side, rig.joint(Role::Foot(side))?)));
        let ankles: Vec<(Side, JointId)> = ankles.collect();
        let mut asked: Vec<(Side, Vec<f64>)> =
            ankles.iter().map(|(side, _)| (*side, vec![0.0; poses.len()])).collect();
        let flat = self.motion_of(&poses);
        let mut eased = poses;
        for _ in 0..ANKLE_ROUNDS {
            let mut more = false;
            for ((side, id), (_, asked)) in ankles.iter().zip(&mut asked) {
                let Some(Limit::SwingTwist(limit)) = self.mechanism.limit(*id) else { continue };
                for (f, (pose, asked)) in eased.iter().zip(asked).enumerate() {
                    // A foot that rolls in over its heel has nothing to turn about.
                    if self.contacts.rests(ContactPart::Heel(*side), f)
                        && !self.contacts.rests(ContactPart::Ball(*side), f)
                    {
                        continue;
                    }
                    let excess = limit.angles(&pose.joint(*id).rotation)[0] - limit.swing[0].high;
                    if excess > ANKLE_EASE {
                        *asked += excess;
                        more = true;
                    }
                }
            }
            if !more {
                break;
            }
            eased = self.poses_of(&raise_heels(&flat, &asked));
        }
        eased
    }

    fn shift(&self, poses: &mut [Pose], shifts: &[Vec3]) {
        shift_hips((self.ragdoll, self.motion.character.skeleton()), poses, shifts);
    }

    fn fly(&self, poses: &mut [Pose]) {
        let body = (self.ragdoll, self.motion.character.skeleton());
        fly(body, poses, self.flights, self.motion.clip.sample_rate);
    }
}

/// Values where there are none: between two, the way from one to the other; at the ends, the nearest.
fn filled(values: &[Option<Vec3>]) -> Vec<Vec3> {
    let known: Vec<(usize, Vec3)> = values.iter().enumerate().filter_map(|(f, v)| Some((f, (*v)?))).collect();
    let at = |f: usize| {
        let next = known.partition_point(|k| k.0 < f);
        match (next.checked_sub(1).map(|k| known[k]), known.get(next)) {
            (Some((a, x)), Some(&(b, y))) => x + (y - x) * ((f - a) as f64 / (b - a) as f64),
            (Some((_, v)), None) | (None, Some(&(_, v))) => v,
            (None, None) => Vec3::zeros(),
        }
    };
    (0..values.len()).map(at).collect()
}
