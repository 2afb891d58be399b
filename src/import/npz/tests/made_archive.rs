//! Archives of arrays, and the arrays of a generated walk.

use crate::export::numpy_arrays::{archived, doubles, texts};
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Quat, Vec3};
use crate::model::{Asset, Motion};
use std::path::Path;

/// One array: of `f8`, or of texts.
#[derive(Clone)]
pub(super) enum Content {
    Numbers(Vec<usize>, Vec<f64>),
    Texts(Vec<String>),
}

fn archive(arrays: &[(&str, Content)]) -> Vec<u8> {
    let file = |(name, content): &(&str, Content)| match content {
        Content::Numbers(shape, numbers) => doubles(name, shape, numbers.clone()),
        Content::Texts(list) => {
            texts(name, &[list.len()], &list.iter().map(String::as_str).collect::<Vec<_>>())
        }
    };
    archived(&arrays.iter().map(file).collect::<Vec<_>>()).unwrap()
}

pub(super) fn read(arrays: &[(&str, Content)], options: &ImportOptions) -> Asset {
    let asset = from_bytes(&archive(arrays), "take", Some("npz"), None, options).unwrap();
    asset.motion(0).unwrap().check().unwrap();
    asset
}

/// A walk, its world rotated.
pub(super) struct Walk {
    pub(super) motion: Motion,
    /// The world of the arrays from that of the motion.
    pub(super) world: Quat,
}

impl Walk {
    pub(super) fn new(world: Quat) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh");
        let bytes = std::fs::read(path).unwrap();
        let asset = from_bytes(&bytes, "take", Some("bvh"), None, &ImportOptions::default()).unwrap();
        Self { motion: asset.motion(0).unwrap(), world }
    }

    fn frames(&self) -> usize {
        self.motion.clip.frames()
    }

    fn joints(&self) -> usize {
        self.motion.clip.joints()
    }

    /// Names, parents, offsets and rate.
    pub(super) fn skeleton(&self) -> Vec<(&'static str, Content)> {
        let joints = self.motion.character.skeleton().joints();
        let parents = joints.iter().map(|j| j.parent.map_or(-1.0, |p| p.index() as f64)).collect();
        let offsets = joints.iter().flat_map(|j| Vec::from(j.rest.translation.as_slice())).collect();
        vec![
            ("names", Content::Texts(joints.iter().map(|j| j.name.clone()).collect())),
            ("parents", Content::Numbers(vec![joints.len()], parents)),
            ("offsets", Content::Numbers(vec![joints.len(), 3], offsets)),
            ("fps", Content::Numbers(vec![], vec![self.motion.clip.sample_rate])),
        ]
    }

    /// The local rotations, frame by frame.
    pub(super) fn local(&self) -> Vec<Quat> {
        let frame = |f: usize| {
            let mut row = self.motion.clip.rotations(f).to_vec();
            row[0] = self.world * row[0];
            row
        };
        (0..self.frames()).flat_map(frame).collect()
    }

    /// The local rotations as matrices.
    pub(super) fn matrices(&self) -> Content {
        let rows = |q: &Quat| q.to_rotation_matrix().into_inner().transpose().as_slice().to_vec();
        self.rotations(&[3, 3], |q| rows(q))
    }

    /// The local rotations as numbers of this shape.
    pub(super) fn rotations(&self, shape: &[usize], of: impl Fn(&Quat) -> Vec<f64>) -> Content {
        let shape = [&[self.frames(), self.joints()], shape].concat();
        Content::Numbers(shape, self.local().iter().flat_map(of).collect())
    }

    fn in_world(&self) -> Vec<Vec<Vec3>> {
        let row = |f: usize| {
            let pose = self.motion.model_pose(f);
            pose.joints().iter().map(|joint| self.world * joint.translation).collect()
        };
        (0..self.frames()).map(row).collect()
    }

    /// The positions of the joints.
    pub(super) fn positions(&self) -> Content {
        let numbers = self.in_world().concat().iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        Content::Numbers(vec![self.frames(), self.joints(), 3], numbers)
    }

    /// The path of the root.
    pub(super) fn path(&self) -> Content {
        let numbers = self.in_world().iter().flat_map(|row| [row[0].x, row[0].y, row[0].z]).collect();
        Content::Numbers(vec![self.frames(), 3], numbers)
    }

    /// The largest distance of a joint of an asset from where the walk has it, metres; in the asset Y is up.
    pub(super) fn distance(&self, asset: &Asset) -> f64 {
        let found = asset.motion(0).unwrap();
        assert_eq!(found.clip.frames(), self.frames());
        let frame = |f: usize| {
            let (found, truth) = (found.model_pose(f), self.motion.model_pose(f));
            let joints = found.joints().iter().zip(truth.joints());
            joints.map(|(a, b)| (a.translation - b.translation).norm()).fold(0.0, f64::max)
        };
        (0..self.frames()).map(frame).fold(0.0, f64::max)
    }
}
