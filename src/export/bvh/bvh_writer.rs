//! Writes a motion as BVH text that reads back as the same motion.
//!
//! The rest pose of BVH has no rotations: joints rotate from axes aligned with the model's. It is the bind pose of a character with
//! skin, whose own rest pose may be a frame of some clip. With `Q` the rotation of a joint there in model space and `r`, `t`
//! its local rotation and translation in a frame, the file gets `Q_parent r Q^-1` and `Q_parent t`, and as OFFSET `Q_parent`
//! times the rest translation. If all `Q` are the identity, these are the local values themselves.
//!
//! Space: model space, Y up. Units: metres are converted to the file's unit (default centimetres), radians to degrees.
//! Position channels replace the OFFSET.

use crate::export::decimal_text::{self, Decimals};
use crate::export::euler_angles::{self, BLOCK, RotationOrder};
use crate::export::synthetic_root::has_synthetic_root;
use crate::math::{Quat, Vec3};
use crate::model::{Clip, Joint, JointId, ModelPose, Motion, NO_TIP, Skeleton};
use crate::parallel;
use std::ops::Range;

/// Most tabs before a line: no character is nested deeper, and the tabs of a chain of n joints have n^2 bytes.
const MOST_TABS: usize = 200;

/// Options of [`write()`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhWriteOptions {
    /// The order of the rotation channels of every joint.
    pub order: RotationOrder,
    /// The decimals of offsets, positions and angles.
    pub decimals: Decimals,
    /// Metres per unit of the file.
    pub metres_per_unit: f64,
}

impl Default for BvhWriteOptions {
    /// ZXY, six decimals, centimetres.
    fn default() -> Self {
        Self { order: RotationOrder::Zxy, decimals: Decimals::Fixed(6), metres_per_unit: 0.01 }
    }
}

/// Writes a motion as BVH text.
///
/// The root and every translated joint get position channels, which replace the OFFSET. A root that the importer added above
/// several roots is omitted if it never moves.
///
/// # Panics
/// If the clip does not belong to the character's skeleton.
pub fn write(motion: &Motion, options: &BvhWriteOptions) -> Vec<u8> {
    let skeleton = motion.character.skeleton();
    assert_eq!(motion.clip.joints(), skeleton.len(), "a clip belongs to its skeleton");
    let writer = BvhWriter::new(skeleton, motion.character.bind.as_ref(), &motion.clip, options);
    let mut out = Vec::with_capacity(256 * skeleton.len() + writer.row_bytes() * motion.clip.frames());
    writer.hierarchy(&mut out);
    writer.rows(&mut out);
    out
}

pub(super) struct BvhWriter<'a> {
    skeleton: &'a Skeleton,
    bind: Option<&'a ModelPose>,
    clip: &'a Clip,
    options: &'a BvhWriteOptions,
    /// The joints and their depths in the order of the hierarchy: depth first, children in joint order.
    pub(super) order: Vec<(JointId, usize)>,
    /// For each joint, the index of its translation in a frame of the clip.
    translated: Vec<Option<usize>>,
    /// The rotations of the file's rest pose in model space, of the joints and of their parents.
    rest: Vec<Quat>,
    parent_rest: Vec<Quat>,
    units_per_metre: f64,
}

impl<'a> BvhWriter<'a> {
    /// The writer of a clip of `skeleton`, whose character has this bind pose.
    pub(super) fn new(
        skeleton: &'a Skeleton,
        bind: Option<&'a ModelPose>,
        clip: &'a Clip,
        options: &'a BvhWriteOptions,
    ) -> Self {
        let rest = bind.cloned().unwrap_or_else(|| skeleton.rest_model_pose());
        let rest: Vec<Quat> = rest.joints().iter().map(|t| t.rotation).collect();
        let root = JointId::new(0);
        let added = has_synthetic_root(skeleton, clip);
        // A root that is not written is the world's, whatever the bind pose makes of it.
        let parent = |p: &Option<JointId>| p.filter(|p| !added || *p != root);
        let parent_rest: Vec<Quat> = skeleton
            .parents()
            .iter()
            .map(|p| parent(p).map_or(Quat::identity(), |p| rest[p.index()]))
            .collect();
        let mut translated = vec![None; skeleton.len()];
        for (k, joint) in clip.translated().iter().enumerate() {
            translated[joint.index()] = Some(k);
        }
        let mut stack = if added {
            skeleton.children(root).iter().rev().map(|&c| (c, 0)).collect()
        } else {
            vec![(root, 0)]
        };
        let mut order = Vec::with_capacity(skeleton.len());
        while let Some((joint, depth)) = stack.pop() {
            order.push((joint, depth));
            stack.extend(skeleton.children(joint).iter().rev().map(|&c| (c, depth + 1)));
        }
        let units_per_metre = 1.0 / options.metres_per_unit;
        Self { skeleton, bind, clip, options, order, translated, rest, parent_rest, units_per_metre }
    }

    /// Whether a joint has position channels: the roots of the file and the joints that the clip translates.
    fn has_positions(&self, joint: JointId, depth: usize) -> bool {
        depth == 0 || self.translated[joint.index()].is_some()
    }

    /// Approximate length of a row, bytes.
    fn row_bytes(&self) -> usize {
        let number = match self.options.decimals {
            Decimals::Fixed(places) => usize::from(places) + 6,
            Decimals::Shortest => 20,
        };
        (3 * self.order.len() + 3 * self.clip.translated().len() + 3) * number
    }

    pub(super) fn hierarchy(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HIERARCHY\n");
        for (n, &(id, depth)) in self.order.iter().enumerate() {
            let joint = self.skeleton.joint(id);
            let keyword: &[u8] = if depth == 0 { b"ROOT " } else { b"JOINT " };
            self.line(out, depth, &[keyword, name(joint).as_bytes()]);
            self.line(out, depth, &[b"{"]);
            let positions = self.has_positions(id, depth);
            // Position channels replace the offset, which is free to be that of the bind pose.
            let offset = match self.bind.filter(|_| positions) {
                Some(bind) => {
                    let parent = self.skeleton.parent(id).filter(|_| depth > 0);
                    bind.position(id) - parent.map_or_else(Vec3::zeros, |p| bind.position(p))
                }
                None => self.parent_rest[id.index()] * joint.rest.translation,
            };
            self.offset(out, depth + 1, &offset);
            let start: &[u8] =
                if positions { b"CHANNELS 6 Xposition Yposition Zposition" } else { b"CHANNELS 3" };
            let letters = self.options.order.axes().map(|a| [b' ', b'X' + a as u8]);
            let [a, b, c] = &letters;
            self.line(out, depth + 1, &[start, a, b"rotation", b, b"rotation", c, b"rotation"]);
            let next = self.order.get(n + 1).map_or(0, |next| next.1);
            if self.skeleton.children(id).is_empty() {
                let tip = joint.tip.filter(|tip| *tip != Vec3::zeros());
                let tip = tip.map_or_else(|| self.short_tip(id), |tip| self.rest[id.index()] * tip);
                self.line(out, depth + 1, &[b"End Site"]);
                self.line(out, depth + 1, &[b"{"]);
                self.offset(out, depth + 2, &tip);
                self.line(out, depth + 1, &[b"}"]);
                for closing in (next..=depth).rev() {
                    self.line(out, closing, &[b"}"]);
                }
            }
        }
    }

    /// The end site of a leaf without a tip, along its bone. It is short but not zero: some readers reject length zero.
    fn short_tip(&self, leaf: JointId) -> Vec3 {
        let offset = |id: JointId| self.parent_rest[id.index()] * self.skeleton.joint(id).rest.translation;
        let bones = self.skeleton.path_to_root(leaf).map(offset);
        bones.map(|bone| bone * NO_TIP).find(|tip| *tip != Vec3::zeros()).unwrap_or_else(Vec3::zeros)
    }

    fn line(&self, out: &mut Vec<u8>, depth: usize, parts: &[&[u8]]) {
        out.resize(out.len() + depth.min(MOST_TABS), b'\t');
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.push(b'\n');
    }

    fn offset(&self, out: &mut Vec<u8>, depth: usize, offset: &Vec3) {
        out.resize(out.len() + depth.min(MOST_TABS), b'\t');
        out.extend_from_slice(b"OFFSET");
        self.vector(out, offset);
        out.push(b'\n');
    }

    /// Appends three lengths, each after a space.
    fn vector(&self, out: &mut Vec<u8>, metres: &Vec3) {
        for x in metres.iter() {
            out.push(b' ');
            decimal_text::push(out, x * self.units_per_metre, self.options.decimals);
        }
    }

    pub(super) fn rows(&self, out: &mut Vec<u8>) {
        let frames = self.clip.frames();
        let time = frame_time(self.clip.sample_rate);
        out.extend_from_slice(format!("MOTION\nFrames: {frames}\nFrame Time: {time}\n").as_bytes());
        let mut before: Vec<Option<[f64; 3]>> = vec![None; self.order.len()];
        let mut angles = vec![[0.0; 3]; BLOCK * self.order.len()];
        for begin in (0..frames).step_by(BLOCK) {
            let block = begin..frames.min(begin + BLOCK);
            // The angles of a joint depend on those of the frame before; the text of a row depends on its angles alone.
            let mut joints: Vec<_> = angles.chunks_mut(BLOCK).zip(&mut before).zip(&self.order).collect();
            parallel::for_each(&mut joints, 1, |_, ((angles, before), (id, _))| {
                self.angles(*id, block.clone(), before, angles);
            });
            let text = |k: usize| self.row(begin + k, angles[k..].iter().step_by(BLOCK));
            parallel::map(block.len(), 1, text).iter().for_each(|row| out.extend(row));
        }
        if frames > 0 {
            out.push(b'\n');
        }
    }

    /// The angles of a joint in `frames`, each near those of the frame before.
    fn angles(&self, id: JointId, frames: Range<usize>, before: &mut Option<[f64; 3]>, out: &mut [[f64; 3]]) {
        let between = [&self.parent_rest[id.index()], &self.rest[id.index()].inverse()];
        let rotations = frames.map(|frame| self.clip.rotations(frame)[id.index()]);
        let decimals = self.options.decimals;
        euler_angles::angles_of_block(
            rotations,
            between,
            self.options.order,
            before,
            // Continuity relative to the printed values: a file that was read and is written again gets the same angles.
            #[inline(always)]
            |angle| decimal_text::printed(angle, decimals),
            out,
        );
    }

    /// The row of a frame, with the line end of the row before in front.
    fn row<'b>(&self, frame: usize, angles: impl Iterator<Item = &'b [f64; 3]>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.row_bytes());
        let translations = self.clip.translations(frame);
        for (&(id, depth), angles) in self.order.iter().zip(angles) {
            let i = id.index();
            if self.has_positions(id, depth) {
                let local = match self.translated[i] {
                    Some(k) => translations[k],
                    None => self.skeleton.joint(id).rest.translation,
                };
                self.vector(&mut out, &(self.parent_rest[i] * local));
            }
            for angle in angles {
                out.push(b' ');
                decimal_text::push(&mut out, *angle, self.options.decimals);
            }
        }
        // Replaces the space before the first number by the line end of the row before.
        out[0] = b'\n';
        out
    }
}

/// The name from the character's file, without the characters that would end it.
pub(super) fn name(joint: &Joint) -> String {
    let kept = joint.file_name.as_deref().unwrap_or(&joint.name);
    let safe = kept.replace(|c: char| c.is_control() || matches!(c, '{' | '}'), "_");
    match safe.trim() {
        "" => joint.name.clone(),
        safe => safe.to_owned(),
    }
}

// Text of the BVH line `Frame Time`, seconds.

/// Seconds for each frame: nine significant digits, or as many more as the rate needs; at least six decimals.
///
/// A rate that was read from `0.0083333` is printed as that again; 120 Hz is printed as `0.00833333333333333`.
fn frame_time(sample_rate: f64) -> String {
    let seconds = 1.0 / sample_rate;
    let leading = (-libm::log10(seconds).floor()).max(0.0) as usize;
    let text = (9..=17)
        .map(|digits| format!("{seconds:.*}", digits - 1 + leading))
        .find(|text| text.parse::<f64>().is_ok_and(|t| 1.0 / t == sample_rate))
        .unwrap_or_else(|| seconds.to_string());
    let decimals = text.len() - text.find('.').map_or(text.len(), |point| point + 1);
    let zeros = text.bytes().rev().take_while(|&b| b == b'0').count();
    text[..text.len() - zeros.min(decimals.saturating_sub(6))].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, exp};
    use crate::model::{Character, Rig};

    #[test]
    fn angles_are_continuous_over_blocks_on_any_number_of_threads() {
        let joint =
            |k: usize| Joint::new(format!("j{k}"), k.checked_sub(1).map(JointId::new), Transform::identity());
        let skeleton = Skeleton::new((0..3).map(joint).collect()).unwrap();
        let frames = 2 * BLOCK + 3;
        let rotation = |f: usize, k: usize| exp(&(Vec3::z() * (f as f64 * (k + 1) as f64).to_radians()));
        let rotations = (0..frames).flat_map(|f| (0..3).map(move |k| rotation(f, k))).collect();
        let clip = Clip::new("spin", 30.0, 3, rotations, Vec::new(), Vec::new());
        let motion = Motion::new(Character::new("three", Rig::new(skeleton, [])).into(), clip);
        let text = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            String::from_utf8(pool.install(|| write(&motion, &BvhWriteOptions::default()))).unwrap()
        };
        let one = text(1);
        assert!(one.lines().count() > frames && [2, 7].into_iter().all(|threads| text(threads) == one));
        for (f, row) in one.lines().rev().take(frames).enumerate() {
            let numbers: Vec<f64> = row.split(' ').map(|n| n.parse().unwrap()).collect();
            let degrees = (frames - 1 - f) as f64;
            assert_eq!([numbers[3], numbers[6], numbers[9]], [1.0, 2.0, 3.0].map(|k| k * degrees));
        }
    }

    #[test]
    fn frame_times_stay_as_they_were_read() {
        for text in ["0.0083333", "0.033333", "0.0417083750417", "0.010000", "2.500000"] {
            let seconds: f64 = text.parse().unwrap();
            assert_eq!(frame_time(1.0 / seconds), text);
        }
        for rate in [24.0, 30.0, 59.94, 120.0, 1e-2, 1e5] {
            assert!((1.0 / frame_time(rate).parse::<f64>().unwrap() / rate - 1.0).abs() < 1e-15);
        }
    }
}
