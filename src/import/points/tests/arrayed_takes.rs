//! Captured takes as arrays of points in any layout, with their true rotations, and faults put into the arrays.

use super::chance::Chance;
use super::figure::{npy, read};
use crate::anatomy::{BodyPoint, PointsLayout};
use crate::development_data::data;
use crate::export::npy::{ArrayRate, ArrayRateWord, PointArrayOptions, write};
use crate::import::points::point_tracks::PointTracks;
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Quat, Vec3, median};
use crate::model::{Asset, Motion, Role, Side};
use crate::report::Warnings;

/// Takes of eight studios.
const TAKES: [&str; 10] = [
    "assimp/Boxing_Toes",
    "bvh-toolbox/walk01",
    "cmu/01_01",
    "cmu/jumping_jacks",
    "fair1/dab",
    "fair1/zombie",
    "mixamo-names/test_freebvh",
    "mocapbank/test_mocapbank",
    "pymo/AV_8Walk_Meredith_HVHA_Rep1",
    "xia/angry_13_000",
];
/// At most so many frames of each, and frames per second.
const MOST: (usize, f64) = (600, 60.0);
/// The leg of every take, metres.
const LEG: f64 = 0.85;

/// The parts of the body whose rotations are compared.
pub(super) const PARTS: [&str; 7] = ["hips", "chest", "upper arm", "forearm", "thigh", "shin", "foot"];

/// Rotations of each part in every frame: one track, or left and right.
pub(super) type PartRotations = Vec<Vec<Vec<Quat>>>;

/// A take as an array.
#[derive(Clone)]
pub(super) struct ArrayedTake {
    pub(super) name: &'static str,
    pub(super) rate: f64,
    layout: PointsLayout,
    /// The array, in the layout's axes and in metres.
    pub(super) array: Vec<Vec<Vec3>>,
    /// The same as it was made.
    clean: Vec<Vec<Vec3>>,
    pub(super) truth: PartRotations,
    /// The take itself, and how many of its frames each frame of the array stands for.
    pub(super) motion: (Motion, usize),
}

/// The rotations of the parts of a motion, in every `step`-th frame.
fn part_rotations(motion: &Motion, step: usize, frames: usize) -> PartRotations {
    let rig = &motion.character.rig;
    let poses: Vec<_> = (0..frames).map(|f| motion.model_pose(f * step)).collect();
    let chest = (0..9).rev().map(Role::Spine).find(|role| rig.joint(*role).is_some());
    let track = |role| {
        let id = rig.joint(role).unwrap();
        poses.iter().map(|pose| pose.joint(id).rotation).collect::<Vec<_>>()
    };
    let pair = |role: fn(Side) -> Role| Side::BOTH.map(|side| track(role(side))).to_vec();
    let mut parts = vec![vec![track(Role::Hips)], vec![track(chest.unwrap_or(Role::Hips))]];
    let pairs = [Role::UpperArm, Role::LowerArm, Role::UpperLeg, Role::LowerLeg, Role::Foot];
    parts.extend(pairs.map(pair));
    parts
}

/// The rotations of the parts of a fitted motion.
pub(super) fn fitted_parts(asset: &Asset) -> PartRotations {
    let motion = asset.motion(0).unwrap();
    part_rotations(&motion, 1, motion.clip.frames())
}

/// The takes that are there, in a layout.
pub(super) fn takes(layout: &str) -> Vec<ArrayedTake> {
    let Some(folder) = data() else { return Vec::new() };
    let of = |name: &&'static str| {
        let bytes = std::fs::read(folder.join(format!("bvh/{name}.bvh"))).ok()?;
        let asset = from_bytes(&bytes, "take", Some("bvh"), None, &ImportOptions::default()).unwrap();
        Some(ArrayedTake::new(name, &asset.motion(0).unwrap(), layout))
    };
    TAKES.iter().filter_map(of).collect()
}

impl ArrayedTake {
    pub(super) fn new(name: &'static str, motion: &Motion, layout: &str) -> Self {
        let rate = ArrayRate::Word(ArrayRateWord::Take);
        let options = PointArrayOptions { layout: layout.into(), rate };
        let bytes = write(motion, &options, &mut Warnings::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let layout = PointsLayout::named(layout).unwrap();
        let step = (motion.clip.sample_rate / MOST.1 - 1e-3).ceil().max(1.0) as usize;
        let frames = motion.clip.frames().div_ceil(step).min(MOST.0);
        let width = layout.points.len();
        let numbers = &bytes[bytes.len() - motion.clip.frames() * width * 12..];
        let numbers: Vec<f64> =
            numbers.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect();
        let row = |f: usize| {
            let at = |k: usize| Vec3::from_column_slice(&numbers[3 * (f * step * width + k)..][..3]);
            (0..width).map(at).collect()
        };
        let array: Vec<Vec<Vec3>> = (0..frames).map(row).collect();
        let truth = part_rotations(motion, step, frames);
        let rate = motion.clip.sample_rate / step as f64;
        let mut take =
            Self { name, rate, layout, clean: array.clone(), array, truth, motion: (motion.clone(), step) };
        let legs = Side::BOTH.map(|side| {
            let track = |part| take.true_track(Some(side), part).unwrap();
            let (hip, knee, ankle) = (track("hip"), track("knee"), track("ankle"));
            let length = |f: usize| (hip[f] - knee[f]).norm() + (knee[f] - ankle[f]).norm();
            median((0..frames).map(length).collect())
        });
        let scale = LEG / (0.5 * (legs[0] + legs[1]));
        take = take.mapped(|_, _, p| p * scale);
        take.clean.clone_from(&take.array);
        take
    }

    pub(super) fn frames(&self) -> usize {
        self.array.len()
    }

    fn column(&self, side: Option<Side>, part: &str) -> Option<usize> {
        self.layout.points.iter().position(|p| p.is_some_and(|p| p.side == side && p.part == part))
    }

    /// A point as it was before any fault, Y up.
    pub(super) fn true_track(&self, side: Option<Side>, part: &str) -> Option<Vec<Vec3>> {
        let column = self.column(side, part)?;
        let up = self.layout.axes.to_y_up();
        Some(self.clean.iter().map(|frame| up * frame[column]).collect())
    }

    /// The points of the array, Y up.
    pub(super) fn tracks(&self) -> PointTracks {
        let up = self.layout.axes.to_y_up();
        let track = |(k, point): (usize, &Option<BodyPoint>)| {
            Some(((*point)?, self.array.iter().map(|frame| up * frame[k]).collect()))
        };
        let tracks = self.layout.points.iter().enumerate().filter_map(track).collect();
        PointTracks { frames: self.frames(), tracks }
    }

    /// The array with every point through a function of its frame and column.
    pub(super) fn mapped(mut self, mut change: impl FnMut(usize, usize, Vec3) -> Vec3) -> Self {
        for (f, frame) in self.array.iter_mut().enumerate() {
            frame.iter_mut().enumerate().for_each(|(k, p)| *p = change(f, k, *p));
        }
        self
    }

    /// White noise of this deviation, metres.
    pub(super) fn noisy(self, deviation: f64) -> Self {
        let mut chance = Chance(7);
        self.mapped(|_, _, p| if deviation > 0.0 { p + chance.vector() * deviation } else { p })
    }

    /// A gap of 2 to 11 frames in every point, one for each 100 frames.
    pub(super) fn with_gaps(mut self) -> Self {
        let mut chance = Chance(3);
        for k in 0..self.array[0].len() {
            for _ in 0..self.frames().div_ceil(100) {
                let long = (2 + chance.below(10)).min(self.frames() / 4);
                let start = chance.below(self.frames() - long);
                self.array[start..start + long].iter_mut().for_each(|f| f[k] = Vec3::repeat(f64::NAN));
            }
        }
        self
    }

    /// Every point off along the line to the point that it hangs on by a share of the bone that changes over time: bones of `share`
    /// more or less, each with a wave of its own.
    pub(super) fn with_lengths_changing(self, share: f64) -> Self {
        let chain =
            ["hip", "knee", "ankle", "toe"].windows(2).chain(["shoulder", "elbow", "wrist"].windows(2));
        let pairs: Vec<[&str; 2]> = chain.map(|w| [w[0], w[1]]).collect();
        let mut take = self;
        for (n, side) in Side::BOTH.into_iter().enumerate() {
            let mut moved = vec![Vec3::zeros(); take.frames()];
            for (k, [from, to]) in pairs.iter().enumerate() {
                let (Some(a), Some(b)) = (take.column(Some(side), from), take.column(Some(side), to)) else {
                    continue;
                };
                if k == 3 {
                    moved.fill(Vec3::zeros());
                }
                for (f, moved) in moved.iter_mut().enumerate() {
                    let wave = (f as f64 / take.rate * (2.0 + 0.7 * k as f64) + n as f64).sin();
                    // The base has moved by what the bones before it have changed.
                    let bone = take.array[f][b] + *moved - take.array[f][a];
                    *moved += bone * (share * std::f64::consts::SQRT_2 * wave);
                    take.array[f][b] += *moved;
                }
            }
        }
        take
    }

    /// This share of the points off by 0.3 m.
    pub(super) fn with_outliers(self, share: f64) -> Self {
        let mut chance = Chance(9);
        self.mapped(
            |_, _, p| {
                if chance.uniform() < share { p + chance.vector().normalize() * 0.3 } else { p }
            },
        )
    }

    /// Left and right of a group exchanged in these frames.
    pub(super) fn exchanged(mut self, parts: &[&str], frames: std::ops::Range<usize>) -> Self {
        for part in parts {
            let columns = Side::BOTH.map(|side| self.column(Some(side), part));
            if let [Some(a), Some(b)] = columns {
                self.array[frames.clone()].iter_mut().for_each(|f| f.swap(a, b));
            }
        }
        self
    }

    /// The middle of the hips in the origin of every frame.
    pub(super) fn without_path(self) -> Self {
        let columns = Side::BOTH.map(|side| self.column(Some(side), "hip").unwrap());
        let middle: Vec<Vec3> = self.array.iter().map(|f| (f[columns[0]] + f[columns[1]]) * 0.5).collect();
        self.mapped(|f, _, p| p - middle[f])
    }

    /// The array as a `.npy` file.
    pub(super) fn npy(&self) -> Vec<u8> {
        let values = self.array.iter().flatten().flat_map(|p| [p.x, p.y, p.z]);
        npy(&format!("{}, {}, 3", self.frames(), self.array[0].len()), values)
    }

    /// The motion fitted to it.
    pub(super) fn fitted(&self) -> Asset {
        read(&self.npy(), &self.layout.name, self.rate)
    }
}
