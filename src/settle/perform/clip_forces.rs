//! Inverse dynamics of a clip: torques, contact forces, the wrench not explained by contacts, energy. The clip is not changed.
//!
//! The same forces that a performance applies ([`super::feed_forward`]), frame by frame. Units: SI, in
//! metres of the performing body, which [`ClipForces::of`] scales back to the clip: lengths by its own, forces as they are.

use super::feed_forward::FeedForward;
use super::load_points::{LoadTracks, OTHER_PARTS, load_points};
use super::performing_body::PerformingBody;
use super::reference::Reference;
#[cfg(feature = "cli")]
use crate::kinematics::GRAVITY;
use crate::kinematics::shots;
use crate::math::Vec3;
use crate::model::{ContactPart, JointId, Motion, Side};
#[cfg(feature = "cli")]
use crate::report::Metric;

/// The forces of one frame. World axes, except for torques.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameForces {
    /// Torque of every joint of [`ClipForces::joints`], N m, in the joint's own axes.
    pub torques: Vec<Vec3>,
    /// The force of the floor on the left and on the right foot, newton.
    pub feet: [Vec3; 2],
    /// The force of the floor on each of [`OTHER_PARTS`], newton.
    pub others: [Vec3; OTHER_PARTS.len()],
    /// The centre of pressure, metres of the clip; `None` where nothing is on the floor.
    pub pressure: Option<Vec3>,
    /// Force that no contact explains, newton, and torque about the hips, N m.
    pub unexplained: [Vec3; 2],
    /// The same over the weight, the torque over 0.25 m.
    pub unexplained_share: f64,
    /// Kinetic and potential energy, joules; potential energy is 0 at height 0.
    pub energy: [f64; 2],
    /// The power of all joints, watts.
    pub power: f64,
}

/// The forces of a clip.
#[derive(Clone, Debug)]
pub struct ClipForces {
    /// The joints that rotate, without the hips.
    pub joints: Vec<JointId>,
    /// One for each frame.
    pub frames: Vec<FrameForces>,
    /// The hips.
    #[cfg(feature = "formats")]
    pub hips: JointId,
    /// The mass of the body, kilograms.
    #[cfg(any(feature = "formats", feature = "cli"))]
    pub mass: f64,
    /// What moves with the hips, then with each joint, kilograms.
    #[cfg(feature = "formats")]
    pub masses: Vec<f64>,
    /// Where its skin contradicts the masses of its parts, in words.
    pub doubt: Option<String>,
}

impl ClipForces {
    /// The forces of a motion; `None` for a body without hips and two legs, or a clip of fewer than two frames.
    pub fn of(motion: &Motion) -> Option<Self> {
        let (body, states) = PerformingBody::of(&motion.character, &motion.clip)?;
        let rate = motion.clip.sample_rate;
        let points = load_points(&motion.character, &body, &states, rate);
        let mut frames = Vec::with_capacity(states.len());
        for shot in shots(motion) {
            let Some(reference) = Reference::of(&states[shot.clone()], rate) else {
                // A single frame between two cuts has no forces: it repeats what is known.
                let torques = vec![Vec3::zeros(); body.tops.len() - 1];
                frames
                    .extend(shot.map(|_| FrameForces { torques: torques.clone(), ..FrameForces::default() }));
                continue;
            };
            let tracks = LoadTracks::of(&points, &body, &reference);
            for frame in 0..shot.len() {
                let k = (frame * reference.per_frame).min(reference.steps() - 1);
                let forces = FeedForward::at(k, &body, &points, &reference, &tracks, true);
                let placed = &forces.placed;
                let rates = &reference.rates[k];
                let (_, kinetic) = body.tree.momentum_and_energy(placed, rates);
                let height = body.tree.centre_of_mass(placed).y;
                let each: Vec<Vec3> = forces.along.iter().map(|along| body.pyramid.force(along)).collect();
                let sum = |of: &dyn Fn(ContactPart) -> bool| -> Vec3 {
                    points.iter().zip(&each).filter(|(p, _)| of(p.part)).map(|(_, force)| force).sum()
                };
                let feet = Side::BOTH.map(|side| sum(&|part| part.of_foot() && part.side() == Some(side)));
                let others = OTHER_PARTS.map(|other| sum(&|part| part == other));
                let down: f64 = each.iter().map(|f| f.y).sum();
                let centre = forces.places.iter().zip(&each).map(|(at, f)| at * f.y).sum::<Vec3>();
                let torques = forces.force.angular[1..].to_vec();
                let power = torques.iter().zip(&rates.angular[1..]).map(|(t, w)| t.dot(w)).sum();
                frames.push(FrameForces {
                    torques,
                    feet,
                    others,
                    pressure: (down > PRESSES * body.weight()).then(|| centre / (down * body.scale)),
                    unexplained: [forces.force.linear, placed.rotation[0] * forces.force.angular[0]],
                    unexplained_share: forces.unexplained(body.weight()),
                    energy: [kinetic, body.weight() * height],
                    power,
                });
            }
        }
        let joints = body.tops[1..].iter().map(|&top| body.parts[top].joint).collect();
        Some(Self {
            joints,
            frames,
            #[cfg(feature = "formats")]
            hips: body.parts[body.tops[0]].joint,
            #[cfg(any(feature = "formats", feature = "cli"))]
            mass: body.mass,
            #[cfg(feature = "formats")]
            masses: body.tree.links().iter().map(|link| link.mass).collect(),
            doubt: body.doubtful_masses(&motion.character),
        })
    }

    /// Sums over the clip for `measure --physics`: the share of frames in which more than a tenth of the weight is unexplained, and the largest torque,
    /// force of the floor (body weights) and power.
    #[cfg(feature = "cli")]
    pub fn metrics(&self) -> Vec<Metric> {
        let over = self.frames.iter().filter(|f| f.unexplained_share > UNEXPLAINED).count();
        let most = |of: &dyn Fn(&FrameForces) -> f64| self.frames.iter().map(of).fold(0.0, f64::max);
        let torque = most(&|f| f.torques.iter().map(|t| t.norm()).fold(0.0, f64::max));
        let floor =
            most(&|f| f.feet.iter().chain(&f.others).map(|force| force.y).sum()) / (self.mass * GRAVITY);
        let metric = |name: &str, value, unit| Metric { name: name.into(), value, unit, ..Metric::default() };
        vec![
            metric("forces_mass", self.mass, "kg"),
            metric("forces_unexplained", over as f64 / self.frames.len().max(1) as f64, "1"),
            metric("forces_torque_max", torque, "N m"),
            metric("forces_floor_max", floor, "1"),
            metric("forces_power_max", most(&|f| f.power.abs()), "W"),
        ]
    }
}

/// Less force than this share of the weight has no centre of pressure.
const PRESSES: f64 = 0.01;

/// Body weights above which a force counts as unexplained: clean captures stay below it in 80 to 94 % of their steps.
#[cfg(feature = "cli")]
const UNEXPLAINED: f64 = 0.1;
