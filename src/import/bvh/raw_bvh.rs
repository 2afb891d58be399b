//! Reads BVH text into a skeleton and a clip, first in the file's own units and axes, then in normal form.
//!
//! [`read`] returns the file as it is: rest rotations are the identity, rest translations the OFFSETs, tips the End Sites;
//! rotations are the products of the listed channels in order. [`RawBvh::normalize`] then applies the units and axes that the
//! caller detected.
//!
//! Space: model space of the file, then Y up, facing +Z. Units: the file's, then metres; degrees are converted to
//! quaternions.

use super::bvh_anim_header;
use super::bvh_error::BvhError;
use super::frame_timing::DEFAULT_FRAME_TIME;
use super::header_scanner::{BvhHeader, scan};
use super::irregular_rows::rows_of;
use super::motion_rows::rows;
use super::row_layout::RowLayout;
use crate::math::{Quat, Transform, Vec3, median_of};
use crate::memory_budget::{MAX_MEMORY, MemoryBudget};
use crate::model::{Clip, Joint, JointId, NO_TIP, RotationRows, Skeleton, UniqueNames};
use crate::report::Warnings;

/// How position channels and the OFFSET of a joint are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// The channels are the translation; the OFFSET is the rest pose only.
    Replace,
    /// The channels are added to the OFFSET.
    Add,
}

/// User-specified properties that a file does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BvhReadOptions {
    /// How position channels and OFFSETs are combined; `None`: decided from the data.
    pub positions: Option<Positions>,
}

/// A BVH file as it is: its own units and axes.
#[derive(Clone, Debug, PartialEq)]
pub struct RawBvh {
    /// Rest rotations are the identity, rest translations the OFFSETs. Several roots get an added parent.
    pub skeleton: Skeleton,
    /// The rows; joints with position channels are translated.
    pub clip: Clip,
    /// How position channels were read.
    pub positions: Positions,
    /// What was corrected.
    pub warnings: Warnings,
}

/// The conversion of a file's units and axes to the normal form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalization {
    /// Metres per unit of the file.
    pub metres_per_unit: f64,
    /// Y up, facing +Z, from the axes of the OFFSETs.
    pub rest_from_file: Quat,
    /// Y up, facing +Z, from the axes of the rows, which differ from those of the OFFSETs in some files.
    pub world_from_file: Quat,
}

/// Reads a BVH file as it is.
///
/// # Errors
/// [`BvhError`] if the text is ambiguous; recoverable faults are warnings.
///
/// # Examples
/// ```
/// let text = b"HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation \
///     End Site { OFFSET 0 1 0 } } MOTION\nFrames: 1\nFrame Time: 0.01\n90 0 0\n";
/// let bvh = posemill::import::bvh::read(text, &Default::default())?;
/// assert_eq!(bvh.clip.frames(), 1);
/// # Ok::<(), posemill::import::BvhError>(())
/// ```
pub fn read(bytes: &[u8], options: &BvhReadOptions) -> Result<RawBvh, BvhError> {
    read_within(bytes, options, &MemoryBudget::new(bytes.len() as u64, None))
}

/// The same, within what is left of `budget`.
pub(super) fn read_within(
    bytes: &[u8],
    options: &BvhReadOptions,
    budget: &MemoryBudget,
) -> Result<RawBvh, BvhError> {
    let mut warnings = Warnings::new();
    let header = scan(bytes, &mut warnings)?;
    let layout = RowLayout::new(&header, added_roots(&header));
    let rows = rows(bytes, header.rows, &layout, header.frames, budget, &mut warnings)?;
    let rotations = RotationRows::of(layout.joints(), rows.rotations);
    assemble(&header, &layout, (rotations, rows.translations), options, warnings)
}

/// 1 if the file has several roots, which get an added parent.
pub(super) fn added_roots(header: &BvhHeader) -> usize {
    usize::from(header.joints.iter().filter(|j| j.parent.is_none()).count() > 1)
}

pub(super) fn assemble(
    header: &BvhHeader,
    layout: &RowLayout,
    (rotations, mut translations): (RotationRows, Vec<Vec3>),
    options: &BvhReadOptions,
    mut warnings: Warnings,
) -> Result<RawBvh, BvhError> {
    let mut skeleton = skeleton(header, &mut warnings)?;
    let translated = layout.translated();
    if let Some(joints) = offsets_of_rows(&skeleton, &translated, &translations) {
        let said = "all OFFSETs are zero: the lengths of the bones were taken from the position channels";
        warnings.add("bvh-offsets-zero", said, "HIERARCHY");
        skeleton = Skeleton::new(joints)?;
        let rate = 1.0 / header.frame_time;
        let clip = Clip::of_rows("", rate, rotations, translated, translations);
        return Ok(RawBvh { skeleton, clip, positions: Positions::Replace, warnings });
    }
    let positions = match options.positions {
        Some(positions) => positions,
        None => decide(&skeleton, &translated, &translations, &mut warnings),
    };
    if positions == Positions::Add {
        let offsets: Vec<Vec3> = translated.iter().map(|&j| skeleton.joint(j).rest.translation).collect();
        for (i, t) in translations.iter_mut().enumerate() {
            *t += offsets[i % offsets.len()];
        }
    }
    let rate = 1.0 / header.frame_time;
    let clip = Clip::of_rows("", rate, rotations, translated, translations);
    Ok(RawBvh { skeleton, clip, positions, warnings })
}

fn skeleton(header: &BvhHeader, warnings: &mut Warnings) -> Result<Skeleton, BvhError> {
    let added = added_roots(header);
    let mut names = UniqueNames::new([]);
    let mut joints = Vec::with_capacity(header.joints.len() + added);
    if added == 1 {
        let mut root = Joint::new("", None, Transform::identity());
        root.file_name = None;
        joints.push(root);
        warnings.add("bvh-several-roots", "several roots were put under an added one", "the hierarchy");
    }
    for joint in &header.joints {
        let above = if added == 1 { Some(JointId::new(0)) } else { None };
        let parent = joint.parent.map_or(above, |p| Some(JointId::new(p + added)));
        let name = names.fresh(if joint.name.is_empty() { "unnamed" } else { &joint.name });
        if name != joint.name && !joint.name.is_empty() {
            let message = "joints with the same name were numbered";
            warnings.add("bvh-name-repeated", message, format!("joint {}", joint.name));
        }
        let rest = Transform::from_translation(joint.offset);
        let tip = joint.tip.filter(|tip| !is_short(tip, &rest.translation, parent, &joints));
        joints.push(Joint { name, file_name: Some(joint.name.clone()), parent, rest, tip });
    }
    if added == 1 {
        joints[0].name = names.fresh("root");
    }
    Ok(Skeleton::new(joints)?)
}

/// Whether an end site is only there because the format requires one: [`NO_TIP`] along the nearest bone above with a length.
fn is_short(tip: &Vec3, offset: &Vec3, parent: Option<JointId>, joints: &[Joint]) -> bool {
    let above = std::iter::successors(parent, |p| joints[p.index()].parent);
    let bones = std::iter::once(*offset).chain(above.map(|p| joints[p.index()].rest.translation));
    let mut bones = bones.filter(|bone| *bone != Vec3::zeros());
    bones.next().is_some_and(|bone| (tip - bone * NO_TIP).norm() <= SAME_TIP * NO_TIP * bone.norm())
}

/// Largest rounding error of an end site, as a share of its length.
const SAME_TIP: f64 = 1e-3;

/// The joints with the median of their position channels as OFFSETs, if no joint below a root has an OFFSET and the channels
/// contain bones: some exporters write the lengths of bones only there.
fn offsets_of_rows(skeleton: &Skeleton, translated: &[JointId], rows: &[Vec3]) -> Option<Vec<Joint>> {
    let is_root = |id: JointId| skeleton.parent(id).is_none_or(|p| skeleton.joint(p).file_name.is_none());
    let mut inner = skeleton.ids().filter(|id| !is_root(*id)).peekable();
    inner.peek()?;
    if rows.is_empty() || inner.any(|id| skeleton.joint(id).rest.translation != Vec3::zeros()) {
        return None;
    }
    let mut joints = skeleton.joints().to_vec();
    let mut any = false;
    for (k, &id) in translated.iter().enumerate().filter(|(_, id)| !is_root(**id)) {
        let channels = rows.iter().skip(k).step_by(translated.len());
        let step = (rows.len() / translated.len() / MOST_ROWS).max(1);
        let median = median_of(channels.step_by(step).copied());
        any |= median != Vec3::zeros();
        joints[id.index()].rest.translation = median;
    }
    any.then_some(joints)
}

/// The mean distance from zero or from its OFFSET, over the length of the OFFSET, up to which a joint stays there: half of the
/// distance of the two.
const STAYS: f64 = 0.5;

/// Number of rows from which the length of a bone is taken: it does not change.
const MOST_ROWS: usize = 256;

/// Replace or add, by the joints that have position channels and an OFFSET: each votes for what its channels lie
/// nearer to over all frames, the OFFSET (they replace it) or zero (they are added to it).
///
/// Joints that move through the world (feet below a root bone) lie near neither and do not vote.
/// A root moves about and its OFFSET is often noise, so it votes only where it stays within a thousandth of
/// its OFFSET from zero: then the OFFSET is a rest height, and replacing it would drop the figure.
fn decide(skeleton: &Skeleton, translated: &[JointId], rows: &[Vec3], warnings: &mut Warnings) -> Positions {
    let (mut replace, mut add) = (0, 0);
    for (k, &joint) in translated.iter().enumerate() {
        let offset = skeleton.joint(joint).rest.translation;
        if offset == Vec3::zeros() || rows.is_empty() {
            continue;
        }
        let frames = rows.len() / translated.len();
        let mut channels = rows.iter().skip(k).step_by(translated.len());
        if skeleton.parent(joint).is_none_or(|p| skeleton.joint(p).file_name.is_none()) {
            add += usize::from(channels.all(|v| v.norm() <= 1e-3 * offset.norm()));
            continue;
        }
        let far = channels.map(|v| [(v - offset).norm(), v.norm()]);
        let [replaced, added] = far.fold([0.0; 2], |sum, far| [sum[0] + far[0], sum[1] + far[1]]);
        if replaced.min(added) > STAYS * offset.norm() * frames as f64 {
            continue;
        }
        if added < replaced { add += 1 } else { replace += 1 }
    }
    let decision = if add > replace { Positions::Add } else { Positions::Replace };
    if add > 0 {
        let what = if decision == Positions::Add { "added to" } else { "put in place of" };
        let message = format!(
            "position channels were {what} the OFFSETs: {add} joints look added, {replace} replaced \
             (set `bvh_positions` to decide)"
        );
        // Votes for both are ambiguous.
        match replace == 0 {
            true => warnings.guess("bvh-positions", message, "the rows"),
            false => warnings.add("bvh-positions", message, "the rows"),
        }
    }
    decision
}

impl RawBvh {
    /// The same motion in metres, Y up, facing +Z.
    ///
    /// The root's rest transform is rotated by `rest_from_file`, the root of every frame by `world_from_file`;
    /// all lengths are scaled.
    pub fn normalize(self, normalization: &Normalization) -> RawBvh {
        let Normalization { metres_per_unit: scale, rest_from_file, world_from_file } = *normalization;
        let Self { skeleton, mut clip, positions, warnings } = self;
        let root = JointId::new(0);
        let file_root = skeleton.joint(root).rest;
        let mut joints = skeleton.joints().to_vec();
        for joint in &mut joints {
            joint.rest.translation *= scale;
            joint.tip = joint.tip.map(|t| t * scale);
        }
        joints[0].rest = Transform::from_rotation(rest_from_file) * joints[0].rest;
        clip.all_translations_mut().iter_mut().for_each(|t| *t *= scale);
        if world_from_file != Quat::identity() {
            for frame in 0..clip.frames() {
                let rotations = clip.rotations_mut(frame);
                rotations[0] = world_from_file * rotations[0];
            }
            if clip.translated().first() == Some(&root) {
                for frame in 0..clip.frames() {
                    let translations = clip.translations_mut(frame);
                    translations[0] = world_from_file * translations[0];
                }
            }
        }
        // A root that stays at its OFFSET stays there in the axes of the rows, which may differ from those of the rest pose.
        let place = world_from_file * (file_root.translation * scale);
        if clip.translated().first() != Some(&root) && place != joints[0].rest.translation {
            clip = with_root_at(clip, place);
        }
        let skeleton =
            Skeleton::new(joints).expect("rotating and scaling by finite numbers keeps a skeleton valid");
        RawBvh { skeleton, clip, positions, warnings }
    }
}

/// The clip with its root, which was not translated, kept at `place`.
fn with_root_at(clip: Clip, place: Vec3) -> Clip {
    let mut translated = vec![JointId::new(0)];
    translated.extend(clip.translated());
    let frames = 0..clip.frames();
    let translations =
        frames.flat_map(|f| std::iter::once(place).chain(clip.translations(f).iter().copied()));
    let translations = translations.collect();
    clip.translating(translated, translations)
}

impl TryFrom<&bvh_anim::Bvh> for RawBvh {
    type Error = BvhError;

    /// Converts the value of the `bvh_anim` crate like the text of a file.
    ///
    /// # Errors
    /// A value without joints, or whose channels and frames do not match: the crate allows both.
    fn try_from(bvh: &bvh_anim::Bvh) -> Result<Self, BvhError> {
        let mut header = bvh_anim_header::header_of(bvh);
        let mut warnings = Warnings::new();
        if header.frame_time <= 0.0 {
            header.frame_time = DEFAULT_FRAME_TIME;
            warnings.add("bvh-frame-time", "30 frames per second were assumed", "the frame time");
        }
        let layout = RowLayout::new(&header, added_roots(&header));
        let budget = MemoryBudget::new(0, Some(MAX_MEMORY));
        let rows = rows_of(bvh.frames().map(bvh_anim::Frame::as_slice), &layout, &budget)?;
        let rotations = RotationRows::of(layout.joints(), rows.rotations);
        assemble(&header, &layout, (rotations, rows.translations), &BvhReadOptions::default(), warnings)
    }
}
