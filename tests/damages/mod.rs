//! Clean takes become damaged ones, in stated ways: what the repair of a take is judged by.
//!
//! Lengths are those of a body whose thigh and shin are 0.86 m long. Units: metres, degrees, seconds. The same numbers
//! every time.

#![allow(dead_code, reason = "every test takes what it needs")]

use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Clip, JointId, Motion, Role, Side};

/// Random numbers that are the same every time (xorshift).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Three normal deviates of unit deviation, together.
    pub fn normal(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0) / 3f64.sqrt()
    }
}

/// A way to damage a take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damage {
    /// The body is higher by so many metres.
    Raise(f64),
    /// It rises, at this rate.
    DriftUp(f64),
    /// It drifts sideways, at this rate.
    Drift(f64),
    /// From the middle on it stands elsewhere, sideways.
    Step(f64),
    /// From the middle on it stands higher.
    StepUp(f64),
    /// So many frames in the middle repeat the one before them.
    Hold(usize),
    /// So many frames in the middle are missing.
    Drop(usize),
    /// Every joint trembles by so many degrees, and the body by half a centimetre for each.
    Noise(f64),
    /// The left arm trembles.
    Jitter(f64),
    /// The path is longer by this factor.
    Stretch(f64),
    /// Six joints are elsewhere for a frame each, by so many degrees.
    Spikes(f64),
    /// The left foot is turned by so many degrees about some axis of its own, for so many frames from the middle on.
    Flip(f64, usize),
    /// The limbs change sides for so many frames, twice.
    Swap(usize),
    /// The body is elsewhere for one frame.
    Blip(f64),
    /// Every fortieth frame is held for three.
    Stutter,
    /// Three times the body is higher by so many metres within 0.15 s, and sinks again in 0.4 s.
    Hover(f64),
}

/// Metres of the motion's body for a metre of the body with legs of 0.86 m.
pub fn metre(motion: &Motion) -> f64 {
    let (rig, rest) = (&motion.character.rig, motion.character.reference_pose());
    let at = |role| rig.joint(role).map(|id| rest.position(id));
    let leg = |side| {
        let [hip, knee, ankle] =
            [at(Role::UpperLeg(side))?, at(Role::LowerLeg(side))?, at(Role::Foot(side))?];
        Some((knee - hip).norm() + (ankle - knee).norm())
    };
    let legs = Side::BOTH.map(|side| leg(side).unwrap_or(0.86));
    0.5 * (legs[0] + legs[1]) / 0.86
}

/// The motion with the way of its root changed, frame by frame.
pub fn moved(motion: &Motion, way: impl Fn(usize) -> Vec3) -> Motion {
    let mut moved = motion.clone();
    let metre = metre(motion);
    for f in 0..motion.clip.frames() {
        moved.clip.translations_mut(f)[0] += way(f) * metre;
    }
    moved
}

fn turned(motion: &mut Motion, frame: usize, joint: JointId, by: &Vec3) {
    let q = &mut motion.clip.rotations_mut(frame)[joint.index()];
    *q *= exp(by);
}

/// So many frames from `first` on repeat the one before them.
pub fn held(motion: &mut Motion, first: usize, frames: usize) {
    for f in first..first + frames {
        let rotations = motion.clip.rotations(f - 1).to_vec();
        motion.clip.rotations_mut(f).copy_from_slice(&rotations);
        let places = motion.clip.translations(f - 1).to_vec();
        motion.clip.translations_mut(f).copy_from_slice(&places);
    }
}

/// The take, damaged.
pub fn damaged(motion: &Motion, damage: Damage) -> Motion {
    let frames = motion.clip.frames();
    let seconds = |f: usize| f as f64 / motion.clip.sample_rate;
    let half = frames / 2;
    let rig = &motion.character.rig;
    let mut dice = Dice::new(1);
    let mut result = motion.clone();
    match damage {
        Damage::Raise(by) => result = moved(motion, |_| Vec3::y() * by),
        Damage::DriftUp(rate) => result = moved(motion, |f| Vec3::y() * rate * seconds(f)),
        Damage::Drift(rate) => result = moved(motion, |f| Vec3::x() * rate * seconds(f)),
        Damage::Step(by) => result = moved(motion, |f| if f < half { Vec3::zeros() } else { Vec3::x() * by }),
        Damage::StepUp(by) => {
            result = moved(motion, |f| if f < half { Vec3::zeros() } else { Vec3::y() * by });
        }
        Damage::Hover(by) => {
            let ease = |x: f64| x.clamp(0.0, 1.0).powi(2) * (3.0 - 2.0 * x.clamp(0.0, 1.0));
            let height = |f: usize| {
                let of = |share: f64| {
                    let after = seconds(f) - share * seconds(frames);
                    if after < 0.0 { ease(1.0 + after / 0.15) } else { ease(1.0 - after / 0.4) }
                };
                [0.2, 0.5, 0.8].map(of).into_iter().fold(0.0, f64::max)
            };
            result = moved(motion, |f| Vec3::y() * by * height(f));
        }
        Damage::Hold(n) => held(&mut result, half, n),
        Damage::Stutter => (20..frames - 4).step_by(40).for_each(|f| held(&mut result, f, 3)),
        Damage::Drop(n) => {
            let clip = &motion.clip;
            let (j, t) = (clip.joints(), clip.translated().len());
            let mut rotations = clip.all_rotations().to_vec();
            let mut places = clip.all_translations().to_vec();
            rotations.drain(half * j..(half + n) * j);
            places.drain(half * t..(half + n) * t);
            result.clip = Clip::new("", clip.sample_rate, j, rotations, clip.translated().to_vec(), places);
        }
        Damage::Noise(degrees) => {
            for f in 0..frames {
                for id in motion.character.skeleton().ids() {
                    turned(&mut result, f, id, &(dice.normal() * degrees.to_radians()));
                }
            }
            let ways: Vec<Vec3> = (0..frames).map(|_| dice.normal() * 0.005 * degrees).collect();
            result = moved(&result, |f| ways[f]);
        }
        Damage::Jitter(degrees) => {
            let arm = [Role::UpperArm, Role::LowerArm, Role::Hand].map(|r| rig.joint(r(Side::Left)));
            for f in 0..frames {
                for id in arm.into_iter().flatten() {
                    turned(&mut result, f, id, &(dice.normal() * degrees.to_radians()));
                }
            }
        }
        Damage::Stretch(by) => {
            let first = motion.clip.translations(0)[0];
            for f in 0..frames {
                let at = &mut result.clip.translations_mut(f)[0];
                let way = (*at - first) * (by - 1.0);
                *at += Vec3::new(way.x, 0.0, way.z);
            }
        }
        Damage::Spikes(degrees) => {
            let roles = [
                Role::LowerArm(Side::Left),
                Role::UpperArm(Side::Right),
                Role::LowerLeg(Side::Left),
                Role::UpperLeg(Side::Right),
                Role::Hand(Side::Right),
                Role::Head,
            ];
            for (k, role) in roles.into_iter().enumerate() {
                let Some(id) = rig.joint(role) else { continue };
                let f = (frames as f64 * (k as f64 + 0.7) / 6.5) as usize;
                let axis = dice.normal().normalize();
                turned(&mut result, f, id, &(axis * degrees.to_radians()));
            }
        }
        Damage::Flip(degrees, n) => {
            let (axis, foot) = (dice.normal().normalize(), rig.joint(Role::Foot(Side::Left)));
            for f in half..(half + n).min(frames) {
                let Some(foot) = foot else { continue };
                turned(&mut result, f, foot, &(axis * degrees.to_radians()));
            }
        }
        Damage::Swap(n) => {
            let roles: [fn(Side) -> Role; 7] = [
                Role::UpperLeg,
                Role::LowerLeg,
                Role::Foot,
                Role::Toes,
                Role::UpperArm,
                Role::LowerArm,
                Role::Hand,
            ];
            for first in [frames / 3, 2 * frames / 3] {
                for role in roles {
                    let [Some(a), Some(b)] = Side::BOTH.map(|s| rig.joint(role(s))) else { continue };
                    for f in first..first + n {
                        result.clip.rotations_mut(f).swap(a.index(), b.index());
                    }
                }
            }
        }
        Damage::Blip(by) => {
            result = moved(motion, |f| if f == frames / 3 { Vec3::z() * by } else { Vec3::zeros() });
        }
    }
    continuous(&mut result.clip);
    result
}

/// Signs of quaternions go on from frame to frame, as they do in everything that was read.
pub fn continuous(clip: &mut Clip) {
    for f in 1..clip.frames() {
        let before = clip.rotations(f - 1).to_vec();
        for (q, p) in clip.rotations_mut(f).iter_mut().zip(&before) {
            if q.coords.dot(&p.coords) < 0.0 {
                *q = Quat::new_unchecked(-q.into_inner());
            }
        }
    }
}

/// The places of the joints that play a role, by frame, metres of 0.86 m legs.
pub fn places(motion: &Motion) -> Vec<Vec<Vec3>> {
    let metre = metre(motion);
    let ids: Vec<JointId> = motion.character.rig.assignments().map(|(_, a)| a.joint).collect();
    let of = |f: usize| {
        let pose = motion.model_pose(f);
        ids.iter().map(|id| pose.position(*id) / metre).collect()
    };
    (0..motion.clip.frames()).map(of).collect()
}

/// The mean distance between the joints of two motions of one body, centimetres.
pub fn distance(a: &Motion, b: &Motion) -> f64 {
    let (a, b) = (places(a), places(b));
    assert_eq!(a.len(), b.len(), "takes of one length");
    let all = a.iter().zip(&b).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).norm()));
    let (sum, count) = all.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    100.0 * sum / f64::max(count, 1.0)
}
