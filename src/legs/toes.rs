//! Bends toes towards level when a rising heel would push them into the floor.
//!
//! Most takes have toes that do not bend, or none, and the direct transfer would stand on the tips of its toes; raising the foot instead
//! would lift every heel-off by centimetres. Toes rotate about their joint by the smallest angle that brings their skin out of
//! the floor, never beyond level. Space: model space, Y up. Units: metres, radians.

use super::envelope::envelope;
use super::leg_pair::LegPair;
use super::limb_pose::LimbPose;
use super::settings::Settings;
use super::timeline::Timeline;
use crate::body::lowest_on_joint;
use crate::math::{DEGREE, Quat, Transform, Vec3, angle_between, exp, smoothstep};
use crate::parallel;

/// Bisection steps for an angle: to a hundredth of a degree.
const BISECTIONS: usize = 13;

/// Sines of the slopes up to which a shin lies on the floor and from which it stands (30 and 45 degrees): the foot of a leg that
/// stands stays on the floor, even if a broad shin is in it. If steep shins counted too, the feet of raylib's robot would rise by
/// 4 cm when it lands.
const SHIN_LIES: [f64; 2] = [0.5, 0.7];

/// Tilts of toes up to which they stand, as under a rising heel, and from which they lie on their back, as those of a body that kneels
/// (70 and 110 degrees): these do not bend. In a narrower interval they would rotate at more than three times the foot's speed; with 65
/// and 115 a take that sits on the floor is 1.26 cm in it on KayKit's manny instead of less than 1.2.
const TOES_LIE: [f64; 2] = [70.0 * DEGREE, 110.0 * DEGREE];

/// Sines of the roll of a foot up to which its toes stand and from which it lies on its side (30 and 60 degrees).
const ROLLED: [f64; 2] = [0.5, 0.87];

/// The lowest heights of the skin of a foot in a frame, relative to the ankle.
#[derive(Clone, Copy, Debug)]
pub struct SoleHeights {
    /// The lowest point of the skin of the foot, without the toes.
    lowest_of_foot: f64,
    /// The lowest point of the skin of the toes.
    lowest_of_toes: f64,
    /// The lowest point of the skin of the shin.
    lowest_of_shin: f64,
    /// How far the shin lies: 1 for a shin that lies, 0 for one that stands.
    lying_shin: f64,
    /// Height of the toe joint.
    toe_height: f64,
    /// Rotation of the toe joint, in model space.
    toe_rotation: Quat,
    /// How far the toes stand: 1 for toes on their sole, 0 for a foot that lies on its side.
    upright: f64,
}

impl SoleHeights {
    /// The heights in every frame; empty without a skin, and on paws that the foot does not move.
    pub fn of(pair: &LegPair, poses: &[LimbPose]) -> Vec<SoleHeights> {
        let of = |pose: &LimbPose| {
            let ankle = pose.foot.translation.y;
            let lowest_of_skin = |toes: bool| {
                let skin = pair.skin.iter().filter(|(joint, _)| (Some(*joint) == pair.target.toes) == toes);
                let joint = if toes { &pose.toes } else { &pose.foot };
                lowest_on_joint(skin.map(|(_, at)| at), joint) - ankle
            };
            let [_, knee, end] = pose.hip_knee_ankle();
            let slope = (end - knee).try_normalize(1e-12).map_or(1.0, |along| along.y.abs());
            let lying_shin = 1.0 - smoothstep((slope - SHIN_LIES[0]) / (SHIN_LIES[1] - SHIN_LIES[0]));
            let shin = pair.shin.iter().filter(|_| lying_shin > 0.0);
            let roll =
                pair.lying_toes.map_or(0.0, |[up, ahead]| (pose.toes.rotation * up.cross(&ahead)).y.abs());
            let upright = 1.0 - smoothstep((roll - ROLLED[0]) / (ROLLED[1] - ROLLED[0]));
            SoleHeights {
                lowest_of_foot: lowest_of_skin(false),
                lowest_of_toes: lowest_of_skin(true),
                lowest_of_shin: lowest_on_joint(shin, &pose.lower) - ankle,
                lying_shin,
                toe_height: pose.toes.translation.y - ankle,
                toe_rotation: pose.toes.rotation,
                upright,
            }
        };
        let unknown = pair.skin.is_empty() || pair.paw > 0.0;
        if unknown { Vec::new() } else { parallel::map_each(poses, 64, of) }
    }

    /// The heights of all legs with these poses, by leg and frame.
    pub fn of_all(pairs: &[LegPair], poses: &[Vec<LimbPose>]) -> Vec<Vec<SoleHeights>> {
        pairs.iter().zip(poses).map(|(pair, poses)| Self::of(pair, poses)).collect()
    }

    /// The lowest points of shin, foot and toes of all legs, by leg and frame.
    pub fn lowest_of_all(soles: Vec<Vec<SoleHeights>>) -> Vec<Vec<f64>> {
        soles.into_iter().map(|soles| soles.iter().map(SoleHeights::lowest_with_shin).collect()).collect()
    }

    /// The lowest point of foot and toes.
    pub fn lowest(&self) -> f64 {
        self.lowest_of_foot.min(self.lowest_of_toes)
    }

    /// The lowest point of shin, foot and toes.
    pub fn lowest_with_shin(&self) -> f64 {
        let sole = self.lowest();
        match self.lying_shin > 0.0 {
            true => sole + self.lying_shin * (self.lowest_of_shin - sole).min(0.0),
            false => sole,
        }
    }

    /// The lowest point with toes that point down rotated to level; `skin` is that of the toes, `up` the up direction in their
    /// space while the foot is flat.
    pub fn lowest_with_level_toes(&self, skin: &[Vec3], up: &Vec3) -> f64 {
        let level = |(axis, angle): (Vec3, f64)| self.lowest_rotated(skin, &exp(&(axis * angle)));
        let toes = self.tilt(up).map_or(self.lowest_of_toes, |tilt| level(tilt).max(self.lowest_of_toes));
        self.lowest_of_foot.min(toes)
    }

    /// The axis and the angle that rotate the toes to level, less of toes that lie; `up` is the up direction in their space while they
    /// are level.
    fn tilt(&self, up: &Vec3) -> Option<(Vec3, f64)> {
        let up = self.toe_rotation * up;
        let axis = up.cross(&Vec3::y()).try_normalize(1e-9)?;
        let tilt = angle_between(&up, &Vec3::y());
        let stands = 1.0 - smoothstep((tilt - TOES_LIE[0]) / (TOES_LIE[1] - TOES_LIE[0]));
        Some((axis, tilt * stands * self.upright))
    }

    /// The lowest of these points of the toes after a delta rotation by an angle about a horizontal axis.
    fn lowest_at(&self, skin: &[Vec3], axis: Vec3) -> impl Fn(f64) -> f64 {
        // A point on the circle about the axis: its heights at angle 0 and at a right angle.
        let circle = |at: &Vec3| {
            let at = self.toe_rotation * at;
            [at.y, axis.cross(&at).y]
        };
        let (circles, toe_height): (Vec<[f64; 2]>, f64) =
            (skin.iter().map(circle).collect(), self.toe_height);
        move |angle| {
            let (sin, cos) = libm::sincos(angle);
            let height = |[at_zero, at_right_angle]: &[f64; 2]| at_zero * cos + at_right_angle * sin;
            circles.iter().map(height).fold(f64::INFINITY, f64::min) + toe_height
        }
    }

    /// The lowest of these points of the toes after a delta rotation.
    fn lowest_rotated(&self, skin: &[Vec3], delta: &Quat) -> f64 {
        let at = Transform::new(delta * self.toe_rotation, Vec3::y() * self.toe_height);
        lowest_on_joint(skin.iter(), &at)
    }
}

/// The skin points of the target's toes, in their space.
pub fn toe_skin(pair: &LegPair) -> Vec<Vec3> {
    let of_toes = pair.skin.iter().filter(|(joint, _)| Some(*joint) == pair.target.toes);
    of_toes.map(|(_, at)| *at).collect()
}

/// The delta rotations of the toes in every frame, as smooth as the raising of feet, and updates `soles`; empty if no toes
/// rotate. `up` is the up direction in the space of the toes while the foot is flat, `ankle` gives the height of the ankle
/// above the floor in a frame, `leg_length` is the length of the legs.
pub fn toe_rotations(
    time: &Timeline,
    pair: &LegPair,
    soles: &mut [SoleHeights],
    up: &Vec3,
    ankle: impl Fn(usize) -> f64 + Sync,
    leg_length: f64,
    settings: &Settings,
) -> Vec<Quat> {
    let skin = toe_skin(pair);
    let least = |f: usize| {
        let (sole, floor) = (&soles[f], -settings.penetration * leg_length - ankle(f));
        if sole.lowest_of_toes >= floor {
            return 0.0;
        }
        let Some((axis, angle_to_level)) = sole.tilt(up) else { return 0.0 };
        let lowest_at_angle = sole.lowest_at(&skin, axis);
        let (mut in_floor, mut clear_of_floor) = (0.0, angle_to_level);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (in_floor + clear_of_floor);
            if lowest_at_angle(middle) < floor { in_floor = middle } else { clear_of_floor = middle }
        }
        clear_of_floor
    };
    let least: Vec<f64> = parallel::map(time.unknowns(), 64, least);
    if least.iter().all(|angle| *angle == 0.0) {
        return Vec::new();
    }
    let angles = envelope(&least, &time.is_cut, time.cycle, time.reach(settings.foot_raise_time));
    let delta = |(f, sole): (usize, &mut SoleHeights)| {
        let angle = angles[time.unknown(f)];
        let tilt = if angle > 0.0 { sole.tilt(up) } else { None };
        let Some((axis, angle_to_level)) = tilt else { return Quat::identity() };
        let delta = exp(&(axis * angle.min(angle_to_level)));
        sole.lowest_of_toes = sole.lowest_rotated(&skin, &delta);
        delta
    };
    soles.iter_mut().enumerate().map(delta).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legs::LimbChain;
    use crate::math::Transform;
    use crate::model::{JointId, Side};

    #[test]
    fn toes_bend_where_the_heel_rises_and_nowhere_else() {
        let [foot, toes] = [2, 3].map(JointId::new);
        let leg = LimbChain {
            side: Side::Left,
            upper: JointId::new(0),
            lower: JointId::new(1),
            foot,
            shin_end: None,
            toes: Some(toes),
            bones: [0.45, 0.45],
            ankle: 0.08,
            forefoot: 0.15,
            foot_up: Vec3::y(),
            soles: Vec::new(),
        };
        // The toe joint is 2 cm above the sole, the tips are 6 cm ahead of it.
        let skin = vec![
            (foot, Vec3::new(0.0, -0.08, -0.05)),
            (toes, Vec3::new(0.0, -0.02, 0.0)),
            (toes, Vec3::new(0.0, -0.02, 0.06)),
        ];
        let pair =
            LegPair { source: leg.clone(), target: leg, skin, shin: Vec::new(), paw: 0.0, lying_toes: None };
        // The foot rotates about its toe joint together with the toes: flat, heel up, flat, and heel up in the air.
        let frames = 240;
        let heel = |f: usize| 0.7 * (std::f64::consts::PI * f as f64 / 60.0).sin().powi(2);
        let air = |f: usize| if f > 120 { 0.1 } else { 0.0 };
        let pose = |f: usize| {
            let rotation = exp(&(Vec3::x() * heel(f)));
            let ball = Vec3::new(0.0, 0.02 + air(f), 0.15);
            let foot = Transform::new(rotation, ball - rotation * Vec3::new(0.0, -0.06, 0.15));
            LimbPose { upper: foot, lower: foot, foot, toes: Transform::new(rotation, ball) }
        };
        let poses: Vec<LimbPose> = (0..frames).map(pose).collect();
        let time = Timeline { frames, cycle: false, is_cut: vec![false; frames - 1], dt: 1.0 / 60.0 };
        let settings = Settings::default();
        let mut soles = SoleHeights::of(&pair, &poses);
        let sunk = |soles: &[SoleHeights], f: usize| soles[f].lowest() + poses[f].foot.translation.y;
        assert!(sunk(&soles, 30) < -0.03);
        let level = |f: usize| soles[f].lowest_with_level_toes(&toe_skin(&pair), &Vec3::y());
        for f in [0, 30, 60] {
            let sunk = level(f) + poses[f].foot.translation.y;
            assert!(sunk.abs() < 1e-9, "level toes are on the floor: {f}: {sunk}");
        }
        let ankle = |f: usize| poses[f].foot.translation.y;
        let deltas = toe_rotations(&time, &pair, &mut soles, &Vec3::y(), ankle, 0.9, &settings);
        for (f, delta) in deltas.iter().enumerate() {
            assert!(sunk(&soles, f) > -settings.penetration * 0.9 - 1e-4, "{f}: {}", sunk(&soles, f));
            let angle = delta.angle_to(&Quat::identity());
            assert!(angle <= heel(f) + 1e-9, "{f}: beyond level");
            assert!(f < 130 || angle == 0.0, "{f}: toes in the air rotate");
        }
        assert!(deltas.windows(2).all(|w| w[0].angle_to(&w[1]) < 0.08), "smoothly");
    }
}
