//! Places markers on the body of a take whose joints are known.
//!
//! The pelvis is that of Bell et al. 1990 (A comparison of the accuracy of several hip centre location prediction methods), not the
//! regression of the reader; axes of knees and elbows are those about which the take bends. Space: Y up. Units: metres.

use crate::math::{Quat, Vec3, mean_direction, median, median_of};
use crate::model::{Asset, Role, Side};

/// Markers with labels of Plug-in Gait, frame by frame, and the joints below them.
pub(super) struct MarkedTake {
    pub(super) labels: Vec<String>,
    /// By marker.
    pub(super) tracks: Vec<Vec<Vec3>>,
    pub(super) rate: f64,
}

/// The joints of a take in metres, of a leg of 0.85 m.
pub(super) struct Truth {
    asset: Asset,
    pub(super) frames: usize,
    scale: f64,
    at: Vec<Vec<(Vec3, Quat)>>,
}

impl Truth {
    pub(super) fn new(asset: Asset) -> Self {
        let motion = asset.motion(0).unwrap();
        let frames = motion.clip.frames();
        let poses = (0..frames).map(|f| motion.model_pose(f));
        let at: Vec<Vec<_>> =
            poses.map(|pose| pose.joints().iter().map(|t| (t.translation, t.rotation)).collect()).collect();
        let mut truth = Self { asset, frames, scale: 1.0, at };
        let leg = |side, f| {
            let p = |role| truth.position(role, f);
            let (hip, knee, foot) = (p(Role::UpperLeg(side)), p(Role::LowerLeg(side)), p(Role::Foot(side)));
            (hip - knee).norm() + (knee - foot).norm()
        };
        truth.scale = 0.85 / leg(Side::Left, 0);
        truth
    }

    pub(super) fn has(&self, role: Role) -> bool {
        self.asset.character.rig.joint(role).is_some()
    }

    fn joint(&self, role: Role) -> usize {
        self.asset.character.rig.joint(role).unwrap().index()
    }

    pub(super) fn position(&self, role: Role, f: usize) -> Vec3 {
        self.at[f][self.joint(role)].0 * self.scale
    }

    pub(super) fn rotation(&self, role: Role, f: usize) -> Quat {
        self.at[f][self.joint(role)].1
    }

    /// The uppermost joint of the spine.
    pub(super) fn chest(&self) -> Role {
        (0..9).rev().map(Role::Spine).find(|role| self.has(*role)).unwrap()
    }

    fn neck(&self, f: usize) -> Vec3 {
        let shoulder = |side| self.position(Role::UpperArm(side), f);
        match self.has(Role::Neck(0)) {
            true => self.position(Role::Neck(0), f),
            false => (shoulder(Side::Left) + shoulder(Side::Right)) * 0.5,
        }
    }

    /// The mean of a direction in the frame of a joint.
    fn mean(&self, role: Role, direction: impl Fn(usize) -> Vec3) -> Vec3 {
        let local: Vec<Vec3> = (0..self.frames)
            .map(|f| self.rotation(role, f).inverse_transform_vector(&direction(f)))
            .collect();
        mean_direction(&local, &vec![1.0; local.len()]).unwrap()
    }

    /// The axis about which the joint between two bones bends, in the frame of the upper one.
    fn hinge(&self, upper: Role, lower: Role, end: Role) -> Vec3 {
        let axis = |f: usize| {
            let [a, b, c] = [upper, lower, end].map(|role| self.position(role, f));
            (b - a).normalize().cross(&(c - b).normalize())
        };
        let local = (0..self.frames).map(|f| self.rotation(upper, f).inverse_transform_vector(&axis(f)));
        median_of(local).normalize()
    }

    /// The take's own markers; `inner`: with those on the inner sides of knees, ankles and elbows.
    pub(super) fn markers(&self, inner: bool) -> MarkedTake {
        let mut take =
            MarkedTake { labels: Vec::new(), tracks: Vec::new(), rate: self.asset.clips[0].sample_rate };
        self.pelvis(&mut take);
        self.upper_body(&mut take);
        for side in Side::BOTH {
            self.limbs(side, inner, &mut take);
        }
        take
    }

    fn put(&self, take: &mut MarkedTake, label: &str, at: impl Fn(usize) -> Vec3) {
        take.labels.push(label.to_owned());
        take.tracks.push((0..self.frames).map(at).collect());
    }

    /// Places on a bone: left, up and ahead of a point, along its own mean directions.
    fn on_bone<'a>(&'a self, role: Role, left: Vec3, up: Vec3) -> impl Fn(usize, [f64; 3]) -> Vec3 + 'a {
        let up = (up - left * left.dot(&up)).normalize();
        let ahead = left.cross(&up);
        move |f, [l, u, a]| self.rotation(role, f) * (left * l + up * u + ahead * a)
    }

    fn pelvis(&self, take: &mut MarkedTake) {
        let hip = |side, f| self.position(Role::UpperLeg(side), f);
        let left = self.mean(Role::Hips, |f| hip(Side::Left, f) - hip(Side::Right, f));
        let up = self.mean(Role::Hips, |_| Vec3::y());
        let bone = self.on_bone(Role::Hips, left, up);
        let apart =
            median((0..self.frames).map(|f| (hip(Side::Left, f) - hip(Side::Right, f)).norm()).collect());
        // The hips are 14 % of the width inwards, 30 % below and 22 % behind the front spines.
        let width = apart / 0.72;
        let middle = |f| (hip(Side::Left, f) + hip(Side::Right, f)) * 0.5;
        let front = [0.30 * width, 0.22 * width];
        for (label, l, a) in [
            ("LASI", 0.5 * width, 0.0),
            ("RASI", -0.5 * width, 0.0),
            ("LPSI", 0.04, -0.16),
            ("RPSI", -0.04, -0.16),
        ] {
            self.put(take, label, |f| middle(f) + bone(f, [l, front[0], front[1] + a]));
        }
    }

    fn upper_body(&self, take: &mut MarkedTake) {
        let chest = self.chest();
        let shoulder = |side, f| self.position(Role::UpperArm(side), f);
        let left = self.mean(chest, |f| shoulder(Side::Left, f) - shoulder(Side::Right, f));
        let up = self.mean(chest, |_| Vec3::y());
        let bone = self.on_bone(chest, left, up);
        for (label, place) in [
            ("C7", [0.0, 0.03, -0.06]),
            ("CLAV", [0.0, -0.05, 0.06]),
            ("T10", [0.0, -0.22, -0.10]),
            ("STRN", [0.0, -0.20, 0.11]),
        ] {
            self.put(take, label, |f| self.neck(f) + bone(f, place));
        }
        for (label, side) in [("LSHO", Side::Left), ("RSHO", Side::Right)] {
            self.put(take, label, |f| shoulder(side, f) + bone(f, [0.01 * side.sign(), 0.055, 0.0]));
        }
        if self.has(Role::Head) {
            let left = self.mean(Role::Head, |f| shoulder(Side::Left, f) - shoulder(Side::Right, f));
            let bone = self.on_bone(Role::Head, left, self.mean(Role::Head, |_| Vec3::y()));
            for (label, l, a) in
                [("LFHD", 0.07, 0.09), ("RFHD", -0.07, 0.09), ("LBHD", 0.07, -0.07), ("RBHD", -0.07, -0.07)]
            {
                self.put(take, label, |f| self.position(Role::Head, f) + bone(f, [l, 0.12, a]));
            }
        }
    }

    fn limbs(&self, side: Side, inner: bool, take: &mut MarkedTake) {
        let s = if side == Side::Left { "L" } else { "R" };
        let k = side.sign();
        let (thigh, shin, foot) = (Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side));
        let (arm, forearm, hand) = (Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side));
        // The axis of both knees points to the left of the body, that of the left elbow to its inner side.
        let (knee, elbow) = (self.hinge(thigh, shin, foot), self.hinge(arm, forearm, hand));
        let out = |f: usize| self.rotation(thigh, f) * knee * k;
        let elbow_out = |f: usize| self.rotation(arm, f) * elbow * -k;
        let ankle_out = self.mean(shin, out);
        self.put(take, &format!("{s}KNE"), |f| self.position(shin, f) + out(f) * 0.055);
        self.put(take, &format!("{s}ANK"), |f| {
            self.position(foot, f) + self.rotation(shin, f) * ankle_out * 0.04
        });
        self.put(take, &format!("{s}ELB"), |f| self.position(forearm, f) + elbow_out(f) * 0.039);
        if inner {
            self.put(take, &format!("{s}KNM"), |f| self.position(shin, f) - out(f) * 0.055);
            self.put(take, &format!("{s}MMA"), |f| {
                self.position(foot, f) - self.rotation(shin, f) * ankle_out * 0.04
            });
            self.put(take, &format!("{s}MEL"), |f| self.position(forearm, f) - elbow_out(f) * 0.039);
        }
        // In the T-pose the outer side of the elbow is above; the thumb is ahead.
        let along = |f: usize| (self.position(hand, f) - self.position(forearm, f)).normalize();
        let thumb = self.mean(forearm, |f| along(f).cross(&elbow_out(f)) * k);
        let beside = |f: usize| self.rotation(forearm, f) * thumb;
        self.put(take, &format!("{s}WRA"), |f| self.position(hand, f) + beside(f) * 0.03);
        self.put(take, &format!("{s}WRB"), |f| self.position(hand, f) - beside(f) * 0.03);
        let palm = self.mean(hand, along);
        self.put(take, &format!("{s}FIN"), |f| self.position(hand, f) + self.rotation(hand, f) * palm * 0.09);
        let ahead = self.mean(foot, |f| out(f).cross(&Vec3::y()) * k);
        let down = self.mean(foot, |_| -Vec3::y());
        let on_foot = |f: usize, a: f64, d: f64| {
            self.position(foot, f) + self.rotation(foot, f) * (ahead * a + down * d)
        };
        self.put(take, &format!("{s}HEE"), |f| on_foot(f, -0.05, 0.05));
        self.put(take, &format!("{s}TOE"), |f| on_foot(f, 0.13, 0.04));
    }
}
