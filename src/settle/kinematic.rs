//! What can be put right without forces: limits, the body over its resting feet, parabolas of flight, feet planted.
//!
//! Physics is not asked to remove centimetres of error; and what it says is brought onto the contacts again in the same
//! way. Feet that had to give way for their joints no longer rest: the labels say so. Space: model space. Units: SI, hertz.

use super::flight::{Flight, fly, shift_hips};
use super::legs_inside::legs_inside;
use super::ragdoll::Ragdoll;
use super::toes::bend_early;
use crate::feet::{Options as PlantOptions, Ranges, astray, ground, plant, plant_within};
use crate::ik::Mechanism;
use crate::limits::{self, keep};
use crate::math::Vec3;
use crate::model::{JointId, Motion};
use crate::signal::{Butterworth, smooth_positions, with_poses};
use rayon::prelude::*;

/// The body follows its feet no faster than this, hertz.
const BODY_CUTOFF: f64 = 3.0;

/// Rounds of a body that flies and feet that get out of its floor.
const FLIGHT_ROUNDS: usize = 3;

/// Legs that have come inside leave the pelvis where it is.
const PELVIS_STAYS: PlantOptions = PlantOptions { blend: 0.3, pelvis: 0.0 };

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
        let mut motion = self.inside(motion.clone());
        motion = self.over_ground(&motion);
        motion = self.over_feet(&motion);
        self.finish(self.fly(&motion))
    }

    /// Limits kept, feet planted, flights as bodies fly.
    pub fn finish(&self, motion: Motion) -> Motion {
        let mut motion = self.planted(&self.inside(motion));
        if self.flights.is_empty() {
            return motion;
        }
        // A foot that gets out of the floor moves the centre of mass, and a body that falls another way its feet.
        for _ in 0..FLIGHT_ROUNDS {
            motion = plant(&self.fly(&motion), &PlantOptions::default()).0;
        }
        self.planted(&motion)
    }

    /// All joints inside their limits.
    fn inside(&self, motion: Motion) -> Motion {
        keep(motion, self.mechanism, self.joints, &limits::Options::default()).0
    }

    /// The body as high over the ground as its feet say, and its limbs as they are.
    fn over_ground(&self, motion: &Motion) -> Motion {
        let Some(contacts) = &motion.contacts else { return motion.clone() };
        let (lifted, _) = ground(motion, contacts, contacts.ground);
        let hips = self.ragdoll.parts[0].joint;
        let rise = |f| lifted.model_pose(f).position(hips) - motion.model_pose(f).position(hips);
        let shifts: Vec<Vec3> = (0..motion.clip.frames()).into_par_iter().map(rise).collect();
        self.shifted(motion, &shifts)
    }

    /// The body follows its feet to where they rest; in the air it goes on in between.
    fn over_feet(&self, motion: &Motion) -> Motion {
        let mut shifts = filled(&astray(motion));
        if let Some(filter) = Butterworth::new(BODY_CUTOFF, motion.clip.sample_rate) {
            smooth_positions(&mut shifts, |x| filter.apply(x));
        }
        self.shifted(motion, &shifts)
    }

    /// Feet planted, their legs within what they can.
    fn planted(&self, arriving: &Motion) -> Motion {
        let ranges = Ranges { mechanism: self.mechanism, joints: self.joints };
        let (mut motion, _) = plant_within(arriving, &PlantOptions::default(), &ranges);
        if let Some(inside) = legs_inside(&motion, self.mechanism) {
            // What was spread over time has taken feet off their places.
            motion = plant(&inside, &PELVIS_STAYS).0;
        }
        bend_early(self.mechanism, arriving, &motion)
    }

    fn shifted(&self, motion: &Motion, shifts: &[Vec3]) -> Motion {
        let mut poses = motion.poses();
        shift_hips((self.ragdoll, motion.character.skeleton()), &mut poses, shifts);
        with_poses(motion, &poses)
    }

    fn fly(&self, motion: &Motion) -> Motion {
        let mut poses = motion.poses();
        let body = (self.ragdoll, motion.character.skeleton());
        fly(body, &mut poses, self.flights, motion.clip.sample_rate);
        with_poses(motion, &poses)
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
