//! What can be put right without forces: limits, parabolas of flight, drift of feet that rest.
//!
//! Physics is not asked to remove centimetres of error; and what it says is brought onto the contacts again in the same
//! way. Space: model space. Units: SI, hertz.

use super::flight::{Flight, fly, shift_hips};
use super::ragdoll::Ragdoll;
use crate::anatomy::contact_points;
use crate::ik::Mechanism;
use crate::kinematics::map_frames;
use crate::legs::{Settings, ground, repair};
use crate::limits::{self, keep};
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Motion};
use crate::signal::{Butterworth, smooth_positions, with_poses};

/// The body follows its feet no faster than this, hertz.
const BODY_CUTOFF: f64 = 3.0;

/// What the passes know of the body.
#[derive(Debug)]
pub struct Passes<'a> {
    /// The bodies.
    pub ragdoll: &'a Ragdoll,
    /// The limits.
    pub mechanism: &'a Mechanism,
    /// The joints that have one.
    pub joints: &'a [JointId],
    /// The times without contact.
    pub flights: &'a [Flight],
}

impl Passes<'_> {
    /// The kinematic pass over a motion with labels.
    pub fn clean(&self, motion: &Motion) -> Motion {
        let inside = self.inside(motion.clone());
        self.finish(self.over_feet(&over_floor(inside)))
    }

    /// Flights as bodies fly, labelled feet at rest.
    pub fn finish(&self, motion: Motion) -> Motion {
        let motion = if self.flights.is_empty() { motion } else { self.fly(&motion) };
        over_floor(repair(motion, &Settings::default()).0)
    }

    /// All joints inside their limits.
    fn inside(&self, motion: Motion) -> Motion {
        keep(motion, self.mechanism, self.joints, &limits::Options::default()).0
    }

    /// The body follows its feet to where they rest; in the air it goes on in between.
    fn over_feet(&self, motion: &Motion) -> Motion {
        let mut shifts = filled(&astray(motion));
        if let Some(filter) = Butterworth::new(BODY_CUTOFF, motion.clip.sample_rate) {
            smooth_positions(&mut shifts, |x| filter.apply(x));
        }
        let mut poses = motion.poses();
        shift_hips((self.ragdoll, motion.character.skeleton()), &mut poses, &shifts);
        with_poses(motion, &poses)
    }

    fn fly(&self, motion: &Motion) -> Motion {
        let mut poses = motion.poses();
        let body = (self.ragdoll, motion.character.skeleton());
        fly(body, &mut poses, self.flights, motion.clip.sample_rate);
        with_poses(motion, &poses)
    }
}

/// The mean way over the ground from what rests of the feet to where each rests on average, for every frame; `None` where
/// nothing rests. Feet that all slide one way mean a root that slides: moving the body keeps the pose.
fn astray(motion: &Motion) -> Vec<Option<Vec3>> {
    let mut sums = vec![(Vec3::zeros(), 0.0); motion.clip.frames()];
    let Some(contacts) = &motion.contacts else { return vec![None; sums.len()] };
    let models = map_frames(motion.character.skeleton(), &motion.clip, ModelPose::clone);
    let points = contact_points(&motion.character, &motion.character.rig);
    for point in points.iter().filter(|p| p.part.of_foot()) {
        for hold in contacts.holds(point.part) {
            let frames = hold.frames.start..hold.frames.end.min(models.len());
            let place = |f: usize| models[f].joint(point.joint).point(&point.at);
            let mean = frames.clone().map(place).sum::<Vec3>() / frames.len().max(1) as f64;
            for f in frames {
                let way = mean - place(f);
                sums[f] = (sums[f].0 + Vec3::new(way.x, 0.0, way.z), sums[f].1 + 1.0);
            }
        }
    }
    sums.into_iter().map(|(sum, n)| (n > 0.0).then(|| sum / n)).collect()
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

/// The body as high over its floor as what rests says, nothing of it in the floor.
fn over_floor(motion: Motion) -> Motion {
    match motion.contacts.clone() {
        Some(contacts) => ground(motion, &contacts, contacts.ground).0,
        None => motion,
    }
}
