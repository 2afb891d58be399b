//! A walking figure of 22 points with known rotations, and arrays of it.

use super::chance::Chance;
use crate::import::{ImportOptions, PointLayout, PointOptions, from_bytes};
use crate::math::{Quat, Vec3, exp};
use crate::model::{Asset, ModelPose, Motion, Role, Side};

/// The heading of each frame, and the bend of the elbows.
pub(super) struct Figure {
    pub(super) frames: usize,
    pub(super) rate: f64,
    pub(super) yaw: fn(f64) -> f64,
    pub(super) elbow: fn(f64) -> f64,
}

/// Points of a layout of 22, frame by frame, and the true rotations of the left upper arm.
pub(super) struct Points {
    pub(super) rate: f64,
    pub(super) frames: Vec<[Vec3; 22]>,
    pub(super) upper_arm: Vec<Quat>,
}

fn about_x(angle: f64) -> Quat {
    exp(&(Vec3::x() * angle))
}

impl Figure {
    /// A walk at a metre per second with swinging arms.
    pub(super) fn points(&self) -> Points {
        let (mut frames, mut upper_arm) = (Vec::new(), Vec::new());
        for frame in 0..self.frames {
            let time = frame as f64 / self.rate;
            let body = exp(&(Vec3::y() * (self.yaw)(time)));
            let pelvis = Vec3::new(0.2 * time, 0.9 + 0.02 * (4.0 * time).sin(), time);
            let mut p = [Vec3::zeros(); 22];
            let mut put = |k: usize, at: Vec3| p[k] = at;
            for (k, y) in [(0, 0.02), (3, 0.12), (6, 0.25), (9, 0.32), (12, 0.52), (15, 0.62)] {
                put(k, pelvis + body * (Vec3::y() * y));
            }
            for side in Side::BOTH {
                let (k, o) = (side.sign(), usize::from(side == Side::Right));
                let swing = k * 0.5 * (4.0 * time).sin();
                let hip = pelvis + body * Vec3::new(0.09 * k, 0.0, 0.0);
                let thigh = body * about_x(-swing - 0.1);
                let shin = thigh * about_x(0.5 + 0.4 * (4.0 * time + k).sin());
                let knee = hip - thigh * Vec3::y() * 0.42;
                let ankle = knee - shin * Vec3::y() * 0.43;
                let collar = pelvis + body * Vec3::new(0.04 * k, 0.47, 0.0);
                let shoulder = pelvis + body * Vec3::new(0.18 * k, 0.48, 0.0);
                // The arm hangs at 20 degrees from the body; it is rotated about its bone by 12 degrees.
                let hang = exp(&(Vec3::z() * (-1.22 * k)));
                let upper = body * about_x(0.3 * swing) * hang * about_x(0.2 * k);
                let lower = upper * exp(&(-Vec3::y() * k * (self.elbow)(time)));
                let elbow = shoulder + upper * Vec3::x() * (0.28 * k);
                let wrist = elbow + lower * Vec3::x() * (0.25 * k);
                for (at, point) in
                    [(1, hip), (4, knee), (7, ankle), (13, collar), (16, shoulder), (18, elbow), (20, wrist)]
                {
                    put(at + o, point);
                }
                put(10 + o, ankle + body * Vec3::new(0.0, -0.05, 0.14));
                if side == Side::Left {
                    upper_arm.push(upper);
                }
            }
            frames.push(p);
        }
        Points { rate: self.rate, frames, upper_arm }
    }
}

/// Three seconds of the walk, fitted.
pub(in crate::import::points) fn walking() -> Asset {
    Figure { frames: 90, rate: 30.0, yaw: |_| 0.0, elbow: |_| 1.0 }.points().fitted()
}

impl Points {
    /// Every point through a function of its frame and number.
    pub(super) fn mapped(mut self, change: impl Fn(usize, usize, Vec3) -> Vec3) -> Self {
        for (f, frame) in self.frames.iter_mut().enumerate() {
            frame.iter_mut().enumerate().for_each(|(k, p)| *p = change(f, k, *p));
        }
        self
    }

    /// White noise of this deviation in metres, the same in every run.
    pub(super) fn with_noise(self, deviation: f64) -> Self {
        let mut chance = Chance(7);
        let Points { rate, mut frames, upper_arm } = self;
        frames.iter_mut().flatten().for_each(|p| *p += chance.vector() * deviation);
        Points { rate, frames, upper_arm }
    }

    /// The array as a `.npy` file of `f8`.
    pub(super) fn npy(&self) -> Vec<u8> {
        let values = self.frames.iter().flatten().flat_map(|p| [p.x, p.y, p.z]);
        npy(&format!("{}, 22, 3", self.frames.len()), values)
    }

    /// The motion fitted to it.
    pub(super) fn fitted(&self) -> Asset {
        read(&self.npy(), "humanml3d", self.rate)
    }
}

/// A `.npy` file.
pub(super) fn npy(shape: &str, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(values.flat_map(f64::to_le_bytes));
    bytes
}

/// The motion of a file with a layout.
pub(super) fn read(bytes: &[u8], layout: &str, rate: f64) -> Asset {
    let points = PointOptions { layout: Some(PointLayout::Named(layout.into())), ..PointOptions::default() };
    let options = ImportOptions { rate: Some(rate), points, ..ImportOptions::default() };
    let asset = from_bytes(bytes, "take", Some("npy"), None, &options).unwrap();
    asset.motion(0).unwrap().check().unwrap();
    asset
}

/// The joints of every frame in model space.
pub(super) fn poses(asset: &Asset) -> (Motion, Vec<ModelPose>) {
    let motion = asset.motion(0).unwrap();
    let poses = (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect();
    (motion, poses)
}

/// The rotations of a role in model space.
pub(super) fn rotations(asset: &Asset, role: Role) -> Vec<Quat> {
    let (motion, poses) = poses(asset);
    let id = motion.character.rig.joint(role).unwrap();
    poses.iter().map(|p| p.joint(id).rotation).collect()
}

/// The largest step of rotations from frame to frame, degrees.
pub(super) fn largest_step(rotations: &[Quat]) -> f64 {
    rotations.windows(2).map(|w| w[0].angle_to(&w[1]).to_degrees()).fold(0.0, f64::max)
}
