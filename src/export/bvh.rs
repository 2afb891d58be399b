//! A motion becomes BVH text that reads back as the same motion.
//!
//! The rest pose of BVH has no rotations: joints turn from axes aligned with the model's. With `Q` the rest
//! rotation of a joint in model space and `r`, `t` its local rotation and translation in a frame, the file gets
//! `Q_parent r Q^-1` and `Q_parent t`, and as OFFSET `Q_parent` times the rest translation; where all rest
//! rotations are the identity, these are the local values themselves.
//!
//! Space: model space, Y up. Units: metres become the file's unit (centimetres unless asked otherwise), radians
//! degrees. Position channels replace the OFFSET (see [`crate::export::bvh::BvhOptions`]).

use super::bvh_angles::BLOCK;
use super::format::Format;
use super::save::OutputFile;
use super::{bvh_angles, decimal};
use crate::math::{Quat, Vec3};
use crate::model::{Clip, Joint, JointId, Motion, NO_TIP, Skeleton};
use crate::report::Warnings;
use rayon::prelude::*;
use std::ops::Range;

pub use bvh_angles::RotationOrder;
pub use decimal::Decimals;

/// Biovision hierarchy, centimetres.
pub const FORMAT: Format = Format {
    name: "bvh",
    about: "Biovision hierarchy, centimetres",
    loses: "skin, materials, axes of joints at rest; one clip a file",
    several: false,
    write: |motions, options| {
        let file =
            |motion| OutputFile { name: options.file("bvh"), bytes: write(motion, &BvhOptions::default()) };
        Ok((motions.iter().map(file).collect(), Warnings::new()))
    },
};

/// How the text shall look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhOptions {
    /// The order of the rotation channels of every joint.
    pub order: RotationOrder,
    /// The decimals of offsets, positions and angles.
    pub decimals: Decimals,
    /// How many metres one unit of the file is.
    pub metres_per_unit: f64,
}

impl Default for BvhOptions {
    /// ZXY, six decimals, centimetres.
    fn default() -> Self {
        Self { order: RotationOrder::Zxy, decimals: Decimals::Fixed(6), metres_per_unit: 0.01 }
    }
}

/// Writes a motion as BVH text.
///
/// The root and every translated joint get position channels, which replace the OFFSET. A root that the import
/// added above several is left out where it never moves.
///
/// # Panics
/// Where the clip does not belong to the character's skeleton.
pub fn write(motion: &Motion, options: &BvhOptions) -> Vec<u8> {
    let skeleton = motion.character.skeleton();
    assert_eq!(motion.clip.joints(), skeleton.len(), "a clip belongs to its skeleton");
    let writer = Writer::new(skeleton, &motion.clip, options);
    let mut out = Vec::with_capacity(256 * skeleton.len() + writer.row_bytes() * motion.clip.frames());
    writer.hierarchy(&mut out);
    writer.rows(&mut out);
    out
}

struct Writer<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    options: &'a BvhOptions,
    /// The joints in the order of a hierarchy text: depth first, children in joint order.
    order: Vec<(JointId, usize)>,
    /// For each joint, where its translation stands in a frame of the clip.
    translated: Vec<Option<usize>>,
    /// The rest rotations in model space, and those of the parents.
    rest: Vec<Quat>,
    parent_rest: Vec<Quat>,
    units_per_metre: f64,
}

impl<'a> Writer<'a> {
    fn new(skeleton: &'a Skeleton, clip: &'a Clip, options: &'a BvhOptions) -> Self {
        let rest: Vec<Quat> = skeleton.rest_model_pose().joints().iter().map(|t| t.rotation).collect();
        let parent_rest: Vec<Quat> =
            skeleton.parents().iter().map(|p| p.map_or(Quat::identity(), |p| rest[p.index()])).collect();
        let mut translated = vec![None; skeleton.len()];
        for (k, joint) in clip.translated().iter().enumerate() {
            translated[joint.index()] = Some(k);
        }
        let root = JointId::new(0);
        let mut stack = if stands_for_several(skeleton, clip) {
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
        Self { skeleton, clip, options, order, translated, rest, parent_rest, units_per_metre }
    }

    /// Whether a joint has position channels: the roots of the file, and what the clip moves.
    fn has_positions(&self, joint: JointId, depth: usize) -> bool {
        depth == 0 || self.translated[joint.index()].is_some()
    }

    /// About the bytes of a row.
    fn row_bytes(&self) -> usize {
        let number = match self.options.decimals {
            Decimals::Fixed(places) => usize::from(places) + 6,
            Decimals::Shortest => 20,
        };
        (3 * self.order.len() + 3 * self.clip.translated().len() + 3) * number
    }

    fn hierarchy(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HIERARCHY\n");
        for (n, &(id, depth)) in self.order.iter().enumerate() {
            let joint = self.skeleton.joint(id);
            let keyword: &[u8] = if depth == 0 { b"ROOT " } else { b"JOINT " };
            self.line(out, depth, &[keyword, name(joint).as_bytes()]);
            self.line(out, depth, &[b"{"]);
            let offset = self.parent_rest[id.index()] * joint.rest.translation;
            self.offset(out, depth + 1, &offset);
            let positions = self.has_positions(id, depth);
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

    /// The end site of a leaf without a tip: short, since some readers take none of no length, and along its bone.
    fn short_tip(&self, leaf: JointId) -> Vec3 {
        let offset = |id: JointId| self.parent_rest[id.index()] * self.skeleton.joint(id).rest.translation;
        let bones = self.skeleton.path_to_root(leaf).map(offset);
        bones.map(|bone| bone * NO_TIP).find(|tip| *tip != Vec3::zeros()).unwrap_or_else(Vec3::zeros)
    }

    fn line(&self, out: &mut Vec<u8>, depth: usize, parts: &[&[u8]]) {
        out.resize(out.len() + depth, b'\t');
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.push(b'\n');
    }

    fn offset(&self, out: &mut Vec<u8>, depth: usize, offset: &Vec3) {
        out.resize(out.len() + depth, b'\t');
        out.extend_from_slice(b"OFFSET");
        self.vector(out, offset);
        out.push(b'\n');
    }

    /// Three lengths, each after a space.
    fn vector(&self, out: &mut Vec<u8>, metres: &Vec3) {
        for x in metres.iter() {
            out.push(b' ');
            decimal::push(out, x * self.units_per_metre, self.options.decimals);
        }
    }

    fn rows(&self, out: &mut Vec<u8>) {
        let frames = self.clip.frames();
        let time = frame_time(self.clip.sample_rate);
        out.extend_from_slice(format!("MOTION\nFrames: {frames}\nFrame Time: {time}\n").as_bytes());
        let mut before: Vec<Option<[f64; 3]>> = vec![None; self.order.len()];
        let mut angles = vec![[0.0; 3]; BLOCK * self.order.len()];
        for begin in (0..frames).step_by(BLOCK) {
            let block = begin..frames.min(begin + BLOCK);
            // Each joint's angles follow from those before, each row's text from its angles alone.
            let joints = angles.par_chunks_mut(BLOCK).zip(&mut before).zip(&self.order);
            joints.for_each(|((angles, before), (id, _))| self.angles(*id, block.clone(), before, angles));
            let text = |frame: usize| self.row(frame, angles[frame - begin..].iter().step_by(BLOCK));
            block.into_par_iter().map(text).collect::<Vec<_>>().iter().for_each(|row| out.extend(row));
        }
        if frames > 0 {
            out.push(b'\n');
        }
    }

    /// The angles of a joint in some frames, near those of the frame before them.
    fn angles(&self, id: JointId, frames: Range<usize>, before: &mut Option<[f64; 3]>, out: &mut [[f64; 3]]) {
        let between = [&self.parent_rest[id.index()], &self.rest[id.index()].inverse()];
        let turns = frames.map(|frame| &self.clip.rotations(frame)[id.index()]);
        let decimals = self.options.decimals;
        bvh_angles::angles_of_block(
            turns,
            between,
            self.options.order,
            before,
            // Continuity from what the reader will see: writing what was read then chooses the same angles.
            #[inline(always)]
            |angle| decimal::printed(angle, decimals),
            out,
        );
    }

    /// The row of a frame behind the line end of the one before.
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
                decimal::push(&mut out, *angle, self.options.decimals);
            }
        }
        // The space before the row's first number becomes the line end of the row before.
        out[0] = b'\n';
        out
    }
}

/// Whether the root was added by an import above several and says nothing itself.
pub(super) fn stands_for_several(skeleton: &Skeleton, clip: &Clip) -> bool {
    let root = JointId::new(0);
    let joint = skeleton.joint(root);
    let still = |q: &Quat| q.imag() == Vec3::zeros();
    joint.file_name.is_none()
        && skeleton.children(root).len() > 1
        && joint.rest.translation == Vec3::zeros()
        && still(&joint.rest.rotation)
        && !clip.translated().contains(&root)
        && (0..clip.frames()).all(|f| still(&clip.rotations(f)[0]))
}

/// The name as the file had it, without what would end it.
fn name(joint: &Joint) -> String {
    let kept = joint.file_name.as_deref().unwrap_or(&joint.name);
    let safe = kept.replace(|c: char| c.is_control() || matches!(c, '{' | '}'), "_");
    match safe.trim() {
        "" => joint.name.clone(),
        safe => safe.to_owned(),
    }
}

/// Why a motion has no counterpart in the `bvh_anim` crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhAnimError {
    /// The crate loses the offset of such a root.
    #[error("the root `{root}` has no joints below it, which `bvh_anim` cannot hold")]
    RootAlone {
        /// The root's name.
        root: String,
    },
    /// The crate reads one root only.
    #[error("the motion has {roots} roots, `bvh_anim` holds one")]
    SeveralRoots {
        /// How many.
        roots: usize,
    },
    /// The crate refuses the text.
    #[error("`bvh_anim` refuses the motion: {reason}")]
    Refused {
        /// The crate's own words.
        reason: String,
    },
}

impl TryFrom<&Motion> for bvh_anim::Bvh {
    type Error = BvhAnimError;

    /// The motion as a value of the `bvh_anim` crate, in centimetres; colons and white space in names become
    /// underscores, because the crate ends names there.
    ///
    /// # Errors
    /// Where the crate cannot hold the motion.
    fn try_from(motion: &Motion) -> Result<Self, BvhAnimError> {
        let joints = motion.character.skeleton().joints().iter().cloned();
        let renamed = joints.map(|joint| {
            let file_name = Some(name(&joint).replace(|c: char| c == ':' || c.is_whitespace(), "_"));
            Joint { file_name, ..joint }
        });
        let skeleton = Skeleton::new(renamed.collect()).expect("names of the file may be anything");
        let options = BvhOptions::default();
        let writer = Writer::new(&skeleton, &motion.clip, &options);
        let roots = writer.order.iter().filter(|(_, depth)| *depth == 0).count();
        if roots > 1 {
            return Err(BvhAnimError::SeveralRoots { roots });
        }
        if skeleton.len() == 1 {
            return Err(BvhAnimError::RootAlone { root: skeleton.joints()[0].name.clone() });
        }
        let mut text = Vec::new();
        writer.hierarchy(&mut text);
        writer.rows(&mut text);
        bvh_anim::from_bytes(text).map_err(|error| BvhAnimError::Refused { reason: error.to_string() })
    }
}

/// Seconds for each frame: nine significant digits, or as many more as the rate needs; at least six decimals.
///
/// A rate read from `0.0083333` prints as that again, and 120 Hz as `0.00833333333333333`.
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
    fn angles_wind_on_over_blocks_on_any_number_of_threads() {
        let joint =
            |k: usize| Joint::new(format!("j{k}"), k.checked_sub(1).map(JointId::new), Transform::identity());
        let skeleton = Skeleton::new((0..3).map(joint).collect()).unwrap();
        let frames = 2 * BLOCK + 3;
        let turned = |f: usize, k: usize| exp(&(Vec3::z() * (f as f64 * (k + 1) as f64).to_radians()));
        let rotations = (0..frames).flat_map(|f| (0..3).map(move |k| turned(f, k))).collect();
        let clip = Clip::new("wound", 30.0, 3, rotations, Vec::new(), Vec::new());
        let motion = Motion::new(Character::new("three", Rig::new(skeleton, [])).into(), clip);
        let text = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            String::from_utf8(pool.install(|| write(&motion, &BvhOptions::default()))).unwrap()
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
