//! Centre of mass, its acceleration, change of angular momentum, and possible support points over a clip.
//!
//! All lengths are scaled so that the leg (thigh and shin) is [`LEG`] long; gravity in these units is estimated from the take.
//! Derivatives and smoothing do not cross cuts. Masses after Winter (`body::PointMass`). Space: model space, Y up. Units:
//! metres after that scaling, seconds.

use super::derivatives::{first_derivative, second_derivative};
use crate::body::CharacterBody;
use crate::kinematics::{map_frames_towards, shots};
use crate::math::{Vec3, percentile};
use crate::model::{ContactPart, ContactPoint, Contacts, Hold, ModelPose, Motion, Rig, Role, Side};
use crate::parallel;
use crate::repair::LEG;
use crate::signal::{gaussian, spans};
use std::ops::Range;

/// A sole up to this height above the low quantile of its kind may bear weight, metres.
const LOW: f64 = 0.04;
/// That quantile.
const LOW_SHARE: f64 = 0.1;

/// Low-pass cutoff of forces, hertz: faster changes are noise of the capture.
const CUTOFF: f64 = 6.0;

/// A point that may bear weight, over a clip.
#[derive(Clone, Debug)]
pub struct SupportTrack {
    /// The part of the body.
    pub part: ContactPart,
    /// The lowest point of its surface; for a heel the position of the ankle.
    pub at: Vec<Vec3>,
    /// Whether it is labelled as in contact.
    pub rests: Vec<bool>,
    /// Whether it is low enough to bear weight, labelled or not.
    pub low: Vec<bool>,
}

impl SupportTrack {
    /// Whether it is a point of a sole.
    pub fn of_sole(&self) -> bool {
        self.part.of_foot()
    }
}

/// The dynamics of a motion.
#[derive(Clone, Debug)]
pub struct WholeBodyDynamics {
    /// Frames a second.
    pub rate: f64,
    /// Factor from metres of the clip to the scaled lengths.
    pub scale: f64,
    /// The centre of mass.
    pub centre: Vec<Vec3>,
    /// Its acceleration, low-pass filtered with [`CUTOFF`].
    pub acceleration: Vec<Vec3>,
    /// The rate of change of the angular momentum about it for a mass of 1 kg, low-pass filtered.
    pub torque: Vec<Vec3>,
    /// The points that may bear weight.
    pub supports: Vec<SupportTrack>,
    /// Whether the positions of the toe tips are known from skin: a guessed tip dips as the foot tips.
    pub tips: bool,
    /// The spans between cuts.
    pub shots: Vec<Range<usize>>,
}

impl WholeBodyDynamics {
    /// The dynamics of a motion with these contact labels; `None` for bodies that do not walk on two legs with feet.
    pub fn of(motion: &Motion, contacts: &Contacts) -> Option<Self> {
        let scale = LEG / leg(&motion.character.rig, &motion.character.reference_pose())?;
        let character = &motion.character;
        let body = CharacterBody::new(character);
        let measured = || (body.point_masses(), body.contact_points());
        let ((particles, points), shots) = parallel::join(measured, || shots(motion));
        let soles = [ContactPart::Heel, ContactPart::Ball].into_iter().flat_map(|part| Side::BOTH.map(part));
        let whole = soles.into_iter().all(|part| points.iter().any(|p| p.part == part));
        if particles.is_empty() || !whole {
            return None;
        }
        let places = |model: &ModelPose| -> Vec<Vec3> {
            let masses = particles.iter().map(|p| model.joint(p.joint).point(&p.at) * scale);
            masses.chain(points.iter().map(|p| place(p, model) * scale)).collect()
        };
        let wanted = particles.iter().map(|p| p.joint).chain(points.iter().map(|p| p.joint));
        let placed = map_frames_towards(character.skeleton(), &motion.clip, wanted, places);
        let path = |k: usize| -> Vec<Vec3> { placed.iter().map(|frame| frame[k]).collect() };
        let mut paths: Vec<Vec<Vec3>> = parallel::map(particles.len() + points.len(), 1, path);
        let of_points = paths.split_off(particles.len());
        let mass_of = |frame: &Vec<Vec3>| frame.iter().zip(particles).map(|(x, p)| x * p.mass).sum();
        let frames = motion.clip.frames();
        let rests = |part: ContactPart| {
            let mut rests = vec![false; frames];
            for Hold { frames: Range { start, end }, .. } in contacts.holds(labelled(part)) {
                rests[(*start).min(frames)..(*end).min(frames)].fill(true);
            }
            rests
        };
        let supports = points.iter().zip(of_points).map(|(point, at)| SupportTrack {
            part: point.part,
            at,
            rests: rests(point.part),
            low: vec![false; frames],
        });
        let mut dynamics = Self {
            rate: motion.clip.sample_rate,
            scale,
            centre: parallel::map_each(&placed, 1, mass_of),
            acceleration: Vec::new(),
            torque: Vec::new(),
            supports: supports.collect(),
            tips: !character.meshes.is_empty(),
            shots,
        };
        dynamics.find_low();
        let moving: Vec<(f64, Vec<Vec3>)> = particles.iter().map(|p| p.mass).zip(paths).collect();
        dynamics.find_forces(&moving);
        Some(dynamics)
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.centre.len()
    }

    /// The frames of so many seconds.
    pub fn frames_of(&self, seconds: f64) -> f64 {
        seconds * self.rate
    }

    /// The results of every shot by itself, in a row.
    pub fn by_shot<T>(&self, of: impl Fn(Range<usize>) -> Vec<T>) -> Vec<T> {
        self.shots.iter().flat_map(|shot| of(shot.clone())).collect()
    }

    /// The heels, balls or tips of the toes of both feet.
    pub fn soles(&self, kind: fn(Side) -> ContactPart) -> impl Iterator<Item = &SupportTrack> {
        self.supports.iter().filter(move |c| Side::BOTH.map(kind).contains(&c.part))
    }

    /// Whether anything may support the body in a frame.
    pub fn supported(&self, frame: usize) -> bool {
        self.supports.iter().any(|c| c.low[frame] || c.rests[frame])
    }

    /// The share of frames with a labelled sole.
    pub fn known(&self) -> f64 {
        let rests = |f: &usize| self.supports.iter().any(|c| c.of_sole() && c.rests[*f]);
        (0..self.frames()).filter(rests).count() as f64 / self.frames().max(1) as f64
    }

    /// The spans of at least `least` seconds without support that begin and end within a shot.
    pub fn flights(&self, least: f64) -> Vec<Range<usize>> {
        self.by_shot(|shot| {
            let mut air = spans(shot.clone(), |f| !self.supported(f));
            air.retain(|air| {
                air.start > shot.start && air.end < shot.end && air.len() as f64 >= self.frames_of(least)
            });
            air
        })
    }

    fn find_low(&mut self) {
        for kind in SOLES {
            let heights: Vec<f64> = self.soles(kind).flat_map(|c| &c.at).map(|p| p.y).collect();
            let most = percentile(&heights, LOW_SHARE) + LOW;
            for track in self.supports.iter_mut().filter(|c| Side::BOTH.map(kind).contains(&c.part)) {
                track.low = track.at.iter().map(|p| p.y < most).collect();
            }
        }
    }

    fn find_forces(&mut self, masses: &[(f64, Vec<Vec3>)]) {
        let (rate, sigma) = (self.rate, self.frames_of(1.0 / (std::f64::consts::TAU * CUTOFF)));
        let (mut acceleration, mut torque) = (Vec::new(), Vec::new());
        for shot in &self.shots {
            let centre = gaussian(&self.centre[shot.clone()], sigma);
            let spin_of = |(mass, path): &(f64, Vec<Vec3>)| -> Vec<Vec3> {
                let smooth = gaussian(&path[shot.clone()], sigma);
                let arm: Vec<Vec3> = smooth.iter().zip(&centre).map(|(x, c)| x - c).collect();
                let speeds = first_derivative(&arm, rate);
                arm.iter().zip(speeds).map(|(arm, speed)| arm.cross(&speed) * *mass).collect()
            };
            let spins: Vec<Vec<Vec3>> = parallel::map_each(masses, 1, spin_of);
            let mut spin = vec![Vec3::zeros(); centre.len()];
            // In the order of the masses, whatever thread was first.
            for of_mass in spins {
                spin.iter_mut().zip(of_mass).for_each(|(spin, own)| *spin += own);
            }
            acceleration.extend(second_derivative(&centre, rate));
            torque.extend(first_derivative(&spin, rate));
        }
        (self.acceleration, self.torque) = (acceleration, torque);
    }
}

/// The kinds of points of soles: each has a level of its own.
pub const SOLES: [fn(Side) -> ContactPart; 3] = [ContactPart::Heel, ContactPart::Ball, ContactPart::Toe];

/// The part whose label is used: toe tips have none of their own.
fn labelled(part: ContactPart) -> ContactPart {
    if let ContactPart::Toe(side) = part { ContactPart::Ball(side) } else { part }
}

/// The position of a point that may bear weight: its surface; of a heel the ankle, since a guessed heel dips into the floor
/// as the foot tips, and the ankle hardly moves.
fn place(point: &ContactPoint, model: &ModelPose) -> Vec3 {
    match point.part {
        ContactPart::Heel(_) => model.position(point.joint),
        _ => model.joint(point.joint).point(&point.at) - Vec3::y() * point.radius,
    }
}

/// Thigh and shin, the mean of both sides, metres.
pub(super) fn leg(rig: &Rig, reference_pose: &ModelPose) -> Option<f64> {
    let length = |side: Side| {
        let at = |role: Role| rig.joint(role).map(|id| reference_pose.position(id));
        let knee = at(Role::LowerLeg(side))?;
        Some((at(Role::UpperLeg(side))? - knee).norm() + (at(Role::Foot(side))? - knee).norm())
    };
    let leg = 0.5 * (length(Side::Left)? + length(Side::Right)?);
    (leg.is_finite() && leg > 1e-6).then_some(leg)
}
