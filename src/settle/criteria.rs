//! What a settled clip must keep to, as numbers: ten criteria of what an animator sees.
//!
//! S1 nothing is in the floor; S2 resting feet stand still; S3 joints keep their limits; S4 the performance is followed;
//! S5 hands, head and free feet are where they were; S6 the help at the pelvis is small; S7 flight is ballistic; S8 what
//! rests carries weight; S9 nothing shakes or pops; S10 what was clean has not changed. Space: model space. Units: SI.

use super::flight::{Flight, angular_momentum};
use super::floor::Floor;
use super::ragdoll::{GRAVITY, Ragdoll};
use super::track::Moment;
use crate::ik::Mechanism;
use crate::math::{Quat, Vec3, median};
use crate::model::{ContactPart, ContactPoint, JointId, ModelPose, Pose, Role, Side};
use rayon::prelude::*;
use std::ops::Range;

/// The criteria of one clip; what could not be measured is zero (S8: one).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Criteria {
    /// S1: how deep a point of a foot or hand is in the floor at most, metres.
    pub penetration: f64,
    /// S1: the median height of the lowest resting point above what it rests on, metres.
    pub hover: f64,
    /// S2: 95 of 100 resting points move no faster along the floor, m/s.
    pub skate: f64,
    /// S3: how far a joint is outside its limit at most, radians.
    pub limits: f64,
    /// S4: root mean square over joints of the turn away from the reference, mean over frames, radians.
    pub tracking: f64,
    /// S4: mean distance of joints from the reference, seen from the pelvis, over the height.
    pub mpjpe: f64,
    /// S5: mean distance of hands, head and free feet from the reference, over the height.
    pub effectors: f64,
    /// S6: root mean square force of the help, over the weight.
    pub assist_force: f64,
    /// S6: root mean square torque of the help, over weight times height.
    pub assist_moment: f64,
    /// S7: root mean square of acceleration less gravity in flight, over gravity.
    pub flight: f64,
    /// S7: root mean square change of the angular momentum in flight, over its root mean square.
    pub spin: f64,
    /// S8: the share of labelled frames in which the floor carries more than a fiftieth of the weight.
    pub carried: f64,
    /// S9: jerk of the ends of the body over that of the input.
    pub jerk: f64,
    /// S9: largest turn of a joint from frame to frame over the largest of the input.
    pub pop: f64,
    /// S10: largest way of a joint from the input, metres.
    pub moved: f64,
    /// S10: largest turn of a joint from the input, radians.
    pub turned: f64,
}

/// What a criterion is called, its unit, and what a good clip does not exceed.
pub const TARGETS: [(&str, &str, f64); 16] = [
    ("s1_penetration", "m", 1e-3),
    ("s1_hover", "m", 0.01),
    ("s2_skate_p95", "m/s", 0.01),
    ("s3_limit_excess", "rad", 0.5 * DEGREE),
    ("s4_joint_error", "rad", 3.0 * DEGREE),
    ("s4_mpjpe_over_height", "1", 0.02),
    ("s5_effector_error_over_height", "1", 0.01),
    ("s6_assist_force_over_weight", "1", 0.15),
    ("s6_assist_moment_over_weight_height", "1", 0.03),
    ("s7_flight_acceleration_error", "1", 0.05),
    ("s7_angular_momentum_drift", "1", 0.05),
    ("s8_uncarried_share", "1", 0.02),
    ("s9_jerk_ratio", "1", 1.2),
    ("s9_pop_ratio", "1", 1.5),
    ("s10_moved", "m", f64::INFINITY),
    ("s10_turned", "rad", f64::INFINITY),
];

/// A window may let go of hands, head and free feet by so many times what is good for a clip.
const FAR: f64 = 2.0;

/// How much these `moments` were helped (S6), over the most that is good: above 1 is too much.
pub fn helped<'m>(moments: impl Iterator<Item = &'m Moment> + Clone) -> f64 {
    let force = rms(moments.clone().map(|m| m.assist_force)) / most("s6_assist_force_over_weight");
    force.max(rms(moments.map(|m| m.assist_moment)) / most("s6_assist_moment_over_weight_height"))
}

/// What a good clip does not exceed.
fn most(name: &str) -> f64 {
    TARGETS.iter().find(|t| t.0 == name).map_or(f64::INFINITY, |t| t.2)
}

const DEGREE: f64 = std::f64::consts::PI / 180.0;

impl Criteria {
    /// The numbers in the order of [`TARGETS`].
    pub fn values(&self) -> [f64; 16] {
        [
            self.penetration,
            self.hover,
            self.skate,
            self.limits,
            self.tracking,
            self.mpjpe,
            self.effectors,
            self.assist_force,
            self.assist_moment,
            self.flight,
            self.spin,
            1.0 - self.carried,
            self.jerk,
            self.pop,
            self.moved,
            self.turned,
        ]
    }

    /// Whether a clip with these numbers needs nothing: S1, S2, S3 and S7 hold.
    pub fn is_clean(&self) -> bool {
        let ok = |k: usize| self.values()[k] <= TARGETS[k].2;
        [0, 1, 2, 3, 9, 10].into_iter().all(ok)
    }
}

/// What the criteria are measured against.
#[derive(Debug)]
pub struct Judge<'a> {
    /// The bodies.
    pub ragdoll: &'a Ragdoll,
    /// The limits.
    pub mechanism: &'a Mechanism,
    /// The points that may touch.
    pub points: &'a [ContactPoint],
    /// The floor and the labels.
    pub floor: &'a Floor,
    /// The times without contact.
    pub flights: &'a [Flight],
    /// Frames per second.
    pub rate: f64,
}

fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(s, n), x| (s + x * x, n + 1.0));
    if n > 0.0 { (sum / n).sqrt() } else { 0.0 }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
    if n > 0.0 { sum / n } else { 0.0 }
}

impl Judge<'_> {
    /// All criteria of `poses`: followed is `reference`, the clip that came in is `input`; `moments` tell the forces.
    pub fn judge(&self, poses: &[Pose], reference: &[Pose], input: &[Pose], moments: &[Moment]) -> Criteria {
        let (own, followed, came) = (self.models(poses), self.models(reference), self.models(input));
        let (flight, spin) = self.flight(&own);
        let (tracking, mpjpe) = self.followed((poses, &own), (reference, &followed));
        // What physics did not take part in tells nothing of forces.
        let real: Vec<(usize, &Moment)> =
            moments.iter().enumerate().filter(|(_, m)| m.physics > 0.5).collect();
        let carried = self.carried(real.iter().copied());
        let [jerk, pop] = self.smoothness((poses, &own), (input, &came));
        Criteria {
            penetration: self.penetration(&own),
            hover: self.hover(&own),
            skate: self.skate(&own),
            limits: self.excess(poses),
            tracking,
            mpjpe,
            effectors: self.effectors(&own, &followed, 0),
            assist_force: rms(real.iter().map(|(_, m)| m.assist_force)),
            assist_moment: rms(real.iter().map(|(_, m)| m.assist_moment)),
            flight,
            spin,
            carried,
            jerk,
            pop,
            moved: own.par_iter().zip(&came).map(|(a, b)| farthest(a, b)).reduce(|| 0.0, f64::max),
            turned: poses.par_iter().zip(input).map(|(a, b)| most_turned(a, b).1).reduce(|| 0.0, f64::max),
        }
    }

    /// S4: how far `poses` turn away from `reference` (radians), and move away from it (over the height).
    fn followed(
        &self,
        (poses, own): (&[Pose], &[ModelPose]),
        (reference, followed): (&[Pose], &[ModelPose]),
    ) -> (f64, f64) {
        let turned = mean(poses.iter().zip(reference).map(|(a, b)| self.joint_error(a, b)));
        (turned, mean(own.iter().zip(followed).map(|(a, b)| self.apart(a, b))) / self.ragdoll.height)
    }

    /// How far bodies in `poses` from frame `first` on, with these `moments`, let hands, head and free feet go from the
    /// `reference` (S5), over what is good; nothing where they lost the performance (S4) or the ground (S8), or let go by
    /// more than twice what is good for a clip.
    pub fn let_go(
        &self,
        first: usize,
        poses: &[Pose],
        reference: &[Pose],
        moments: &[Moment],
    ) -> Option<f64> {
        let (own, followed) = (self.models(poses), self.models(reference));
        let (turned, moved) = self.followed((poses, &own), (reference, &followed));
        let kept = [
            ("s4_joint_error", turned),
            ("s4_mpjpe_over_height", moved),
            ("s8_uncarried_share", 1.0 - self.carried((first..).zip(moments))),
        ];
        let far = self.effectors(&own, &followed, first) / most("s5_effector_error_over_height");
        (far <= FAR && kept.iter().all(|(name, value)| *value <= most(name))).then_some(far)
    }

    /// S8: the share of these frames with a label in which the floor carries something; 1 of none.
    fn carried<'m>(&self, moments: impl Iterator<Item = (usize, &'m Moment)>) -> f64 {
        let labelled: Vec<f64> =
            moments.filter(|(f, _)| self.floor.carries(*f)).map(|(_, m)| m.carried).collect();
        let carried = labelled.iter().filter(|c| **c > 0.02).count();
        if labelled.is_empty() { 1.0 } else { carried as f64 / labelled.len() as f64 }
    }

    fn models(&self, poses: &[Pose]) -> Vec<ModelPose> {
        poses.par_iter().map(|p| ModelPose::of(self.mechanism.skeleton(), p)).collect()
    }

    /// Whether `poses` lost within these frames what the kinematic `reference` has: the performance (S4, S5), or its
    /// smoothness against the `input` (S9).
    pub fn lost(&self, frames: Range<usize>, poses: &[Pose], reference: &[Pose], input: &[Pose]) -> bool {
        let first = frames.start;
        let [a, b, c] = [poses, reference, input].map(|p| &p[frames.clone()]);
        let (own, followed, came) = (self.models(a), self.models(b), self.models(c));
        let (turned, moved) = self.followed((a, &own), (b, &followed));
        let shakes = |own: f64, followed: f64, came: f64, most: f64| own > (most * came).max(1.05 * followed);
        let lost = [
            turned > most("s4_joint_error"),
            moved > most("s4_mpjpe_over_height"),
            self.effectors(&own, &followed, first) > FAR * most("s5_effector_error_over_height"),
            shakes(self.jerk(&own), self.jerk(&followed), self.jerk(&came), most("s9_jerk_ratio")),
            shakes(largest_step(a), largest_step(b), largest_step(c), most("s9_pop_ratio")),
        ];
        lost.contains(&true)
    }

    /// S9: jerk and the largest step of `poses`, over those of the `input`.
    fn smoothness(
        &self,
        (poses, own): (&[Pose], &[ModelPose]),
        (input, came): (&[Pose], &[ModelPose]),
    ) -> [f64; 2] {
        let jerk = self.jerk(own) / self.jerk(came).max(JERK_FLOOR);
        [jerk, largest_step(poses) / largest_step(input).max(1e-6)]
    }

    /// Whether `poses` shake or pop against the `input`: S9 does not hold.
    pub fn shakes(&self, poses: &[Pose], input: &[Pose]) -> bool {
        let found = self.smoothness((poses, &self.models(poses)), (input, &self.models(input)));
        let kept = ["s9_jerk_ratio", "s9_pop_ratio"].map(most);
        !found.iter().zip(kept).all(|(found, most)| *found <= most)
    }

    fn touching(&self) -> impl Iterator<Item = &ContactPoint> {
        self.points.iter().filter(|p| p.part.of_foot() || matches!(p.part, ContactPart::Hand(_)))
    }

    fn penetration(&self, models: &[ModelPose]) -> f64 {
        let depth = |f: usize, p: &ContactPoint| -self.floor.clearance(p, &models[f], f);
        let deepest = |f: usize| self.touching().map(|p| depth(f, p)).fold(0.0, f64::max);
        (0..models.len()).into_par_iter().map(deepest).reduce(|| 0.0, f64::max)
    }

    fn hover(&self, models: &[ModelPose]) -> f64 {
        let lowest = |f: usize| {
            let resting = self.points.iter().filter(|p| self.floor.contacts().rests(p.part, f));
            resting.map(|p| self.floor.clearance(p, &models[f], f)).min_by(f64::total_cmp)
        };
        median((0..models.len()).filter_map(lowest).collect()).max(0.0)
    }

    fn skate(&self, models: &[ModelPose]) -> f64 {
        let contacts = self.floor.contacts();
        let mut speeds = Vec::new();
        for p in self.points {
            for f in 1..models.len() {
                // Ends of one rest: a part that stands on another height is on its way.
                let hold = contacts.hold(p.part, f).filter(|h| h.frames.contains(&(f - 1)));
                if hold.is_some() {
                    let at = |f: usize| models[f].joint(p.joint).point(&p.at);
                    let way = at(f) - at(f - 1);
                    speeds.push(way.x.hypot(way.z) * self.rate);
                }
            }
        }
        speeds.sort_by(f64::total_cmp);
        speeds.get((speeds.len() * 95).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0)
    }

    fn excess(&self, poses: &[Pose]) -> f64 {
        let limited: Vec<JointId> = self.mechanism.joints_with_limits().collect();
        let worst =
            |p: &Pose| limited.iter().map(|&id| self.mechanism.excess(id, p.joint(id))).fold(0.0, f64::max);
        poses.par_iter().map(worst).reduce(|| 0.0, f64::max)
    }

    fn joint_error(&self, a: &Pose, b: &Pose) -> f64 {
        let parts = &self.ragdoll.parts[1..];
        rms(parts.iter().map(|p| a.joint(p.joint).rotation.angle_to(&b.joint(p.joint).rotation)))
    }

    fn apart(&self, a: &ModelPose, b: &ModelPose) -> f64 {
        let root = self.ragdoll.parts[0].joint;
        let off = a.position(root) - b.position(root);
        let parts = &self.ragdoll.parts;
        mean(parts.iter().map(|p| (a.position(p.joint) - b.position(p.joint) - off).norm()))
    }

    fn effectors(&self, own: &[ModelPose], followed: &[ModelPose], first: usize) -> f64 {
        let contacts = self.floor.contacts();
        let mut all = Vec::new();
        for p in &self.ragdoll.parts {
            let side = match p.role {
                Role::Foot(side) => Some(side),
                Role::Hand(_) | Role::Head => None,
                _ => continue,
            };
            for f in 0..own.len() {
                let rests = |s: Side| {
                    let rests = |part: ContactPart| contacts.rests(part, first + f);
                    rests(ContactPart::Heel(s)) || rests(ContactPart::Ball(s))
                };
                if !side.is_some_and(rests) {
                    all.push((own[f].position(p.joint) - followed[f].position(p.joint)).norm());
                }
            }
        }
        mean(all.into_iter()) / self.ragdoll.height
    }

    /// Jerk of hands, feet and head (third differences), root mean square, m/s^3.
    fn jerk(&self, models: &[ModelPose]) -> f64 {
        let ends = self
            .ragdoll
            .parts
            .iter()
            .filter(|p| matches!(p.role, Role::Hand(_) | Role::Foot(_) | Role::Head));
        let ends: Vec<JointId> = ends.map(|p| p.joint).collect();
        let jerk = |w: &[ModelPose], j: JointId| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| w[k].position(j));
            (d - (c - b) * 3.0 - a).norm() * self.rate.powi(3)
        };
        let all: Vec<Vec<f64>> =
            models.par_windows(4).map(|w| ends.iter().map(|&j| jerk(w, j)).collect()).collect();
        rms(all.into_iter().flatten())
    }

    /// The errors of acceleration and angular momentum in flight.
    fn flight(&self, models: &[ModelPose]) -> (f64, f64) {
        let mut accelerations = Vec::new();
        let mut drifts: Vec<f64> = Vec::new();
        let mut sizes: Vec<f64> = Vec::new();
        for flight in self.flights {
            let frames = flight.frames.clone();
            let center = |f: usize| self.ragdoll.center_of_mass(&models[f]);
            // Second differences whose three frames are all in the air.
            for f in frames.start + 1..frames.end.saturating_sub(1) {
                let a = (center(f + 1) - center(f) * 2.0 + center(f - 1)) * (self.rate * self.rate);
                accelerations.push((a + Vec3::y() * GRAVITY).norm() / GRAVITY);
            }
            let spins: Vec<Vec3> = (frames.start..frames.end.saturating_sub(1))
                .map(|f| angular_momentum(self.ragdoll, &models[f], &models[f + 1], self.rate))
                .collect();
            let middle = spins.iter().sum::<Vec3>() / spins.len().max(1) as f64;
            drifts.extend(spins.iter().map(|l| (l - middle).norm()));
            sizes.extend(spins.iter().map(|l| l.norm()));
        }
        let size = rms(sizes.into_iter());
        let spin = if size > 0.0 { rms(drifts.into_iter()) / size.max(self.small_spin()) } else { 0.0 };
        (rms(accelerations.into_iter()), spin)
    }

    /// An angular momentum below which its direction says nothing: a turn of the body in a minute.
    fn small_spin(&self) -> f64 {
        0.1 * self.ragdoll.mass * self.ragdoll.height * self.ragdoll.height * 0.1
    }
}

/// Jerk that is as good as none, m/s^3.
const JERK_FLOOR: f64 = 1e-3;

/// The largest way of a joint between two poses of one skeleton.
fn farthest(a: &ModelPose, b: &ModelPose) -> f64 {
    a.joints().iter().zip(b.joints()).map(|(x, y)| (x.translation - y.translation).norm()).fold(0.0, f64::max)
}

/// The joint that is turned most between two poses, and its angle.
pub fn most_turned(a: &Pose, b: &Pose) -> (usize, f64) {
    let angle = |(x, y): (&crate::math::Transform, &crate::math::Transform)| x.rotation.angle_to(&y.rotation);
    let all = a.local().iter().zip(b.local()).map(angle).enumerate();
    all.fold((0, 0.0), |most, (k, angle)| if angle > most.1 { (k, angle) } else { most })
}

fn largest_step(poses: &[Pose]) -> f64 {
    let turn = |a: &Quat, b: &Quat| a.angle_to(b);
    let step = |w: &[Pose]| {
        let pairs = w[0].local().iter().zip(w[1].local());
        pairs.map(|(a, b)| turn(&a.rotation, &b.rotation)).fold(0.0, f64::max)
    };
    poses.par_windows(2).map(step).reduce(|| 0.0, f64::max)
}
