//! Reads an Acclaim motion (AMC) to a skeleton and a clip.
//!
//! A frame is its number alone on a line, then a line for each bone. With `C` the axes of a bone and `M` its rotation, X
//! first, the bone rotates by `C M C^-1` from rest, in the axes of its parent: rest rotations are the identity. Joints are at
//! the start of their bones; the bone of a leaf is its tip. Bones without a line in the whole take stay at rest; where only some frames
//! lack it, they are interpolated. Space and units: those of the ASF; radians.

use super::asf_error::AsfError;
use super::asf_skeleton::{AmcChannel, AsfBone, AsfSkeleton, about, lines, number};
use crate::import::missing_rows::MissingRows;
use crate::math::{Quat, Transform, Vec3, same_hemisphere, slerp};
use crate::memory_budget::MemoryBudget;
use crate::model::{Clip, Joint, JointId, Skeleton};
use crate::report::{Warnings, one_line};
use std::collections::BTreeMap;

/// The joints of some bones, at rest.
///
/// # Errors
/// Two joints of the same name.
pub(super) fn skeleton(bones: &AsfSkeleton) -> Result<Skeleton, AsfError> {
    let bones_of = &bones.bones;
    let mut leaf = vec![true; bones_of.len()];
    bones_of.iter().filter_map(|b| b.parent).for_each(|p| leaf[p] = false);
    let joint = |(k, bone): (usize, &AsfBone)| {
        let start = bone.parent.map_or(bones.position, |p| bones_of[p].reach);
        let rest = Transform::from_translation(start);
        let tip = Some(bone.reach).filter(|reach| leaf[k] && *reach != Vec3::zeros());
        Joint { tip, ..Joint::new(one_line(&bone.name), bone.parent.map(JointId::new), rest) }
    };
    Ok(Skeleton::new(bones_of.iter().enumerate().map(joint).collect())?)
}

/// Reads the frames; errors name the file `file`.
pub(super) fn read(
    text: &str,
    file: &str,
    bones: &AsfSkeleton,
    rate: f64,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Clip, AsfError> {
    let mut frames = AmcFrames::new(bones);
    let cut = !text.ends_with(['\n', '\r']);
    let last = lines(text).last().map_or(0, |(line, _)| line);
    let mut broken = false;
    for (line, words) in lines(text) {
        let fault = |reason: String| AsfError::Line { file: file.to_owned(), line, reason };
        if let Some(key) = words[0].strip_prefix(':') {
            match key.to_ascii_lowercase().as_str() {
                "degrees" => frames.angle = 1f64.to_radians(),
                "radians" => frames.angle = 1.0,
                _ => {}
            }
            continue;
        }
        if words.len() == 1 && words[0].bytes().all(|b| b.is_ascii_digit()) {
            frames.start_frame(words[0].parse().unwrap_or_default(), line, budget)?;
            continue;
        }
        match frames.set_bone(&words) {
            Ok(false) => {}
            Ok(true) => {
                let message = "positions of bones other than the root were ignored";
                warnings.add("amc-shifted-bone", message, format!("line {line}"));
            }
            Err(BoneFault::NoFrame) => return Err(fault("a bone before the number of its frame".into())),
            Err(_) if cut && line == last => broken = true,
            Err(BoneFault::Unknown) => {
                let message = "lines of bones that are not in the skeleton were ignored";
                warnings.add("amc-unknown-bone", message, format!("line {line}"));
            }
            Err(BoneFault::Values(reason)) => return Err(fault(reason)),
        }
    }
    let (n, whole) = (bones.bones.len(), !broken && !frames.is_last_short());
    let AmcFrames { mut rotations, mut root_positions, mut numbers, lines, stated, .. } = frames;
    if root_positions.len() > 1 && !whole {
        root_positions.pop();
        rotations.truncate(root_positions.len() * n);
        numbers.truncate(root_positions.len());
        warnings.add("amc-cut", "the last frame is incomplete and was left out", "the end of the file");
    }
    if let Some((bones_found, bone, frame)) = fill_bones(&stated, n, &mut rotations, &mut root_positions) {
        let (name, line) = (one_line(&bones.bones[bone].name), lines[frame]);
        let bones = if bones_found == 1 { "bone lacks its line" } else { "bones lack their line" };
        let message =
            format!("{bones_found} {bones} in some frames: interpolated there (the first is `{name}`)");
        warnings.add("amc-missing-bone", message, format!("line {line}"));
    }
    warn_of_still_bones(bones, &stated, warnings);
    // The sign of a quaternion follows the frame before.
    for at in n..rotations.len() {
        rotations[at] = same_hemisphere(rotations[at], &rotations[at - n]);
    }
    let missing = MissingRows::of(&numbers).map_err(|fault| {
        let line = lines[fault.row(numbers.len())];
        AsfError::Line { file: file.to_owned(), line, reason: fault.said(&numbers) }
    })?;
    if let Some(missing) = missing {
        let frame = (n * size_of::<Quat>() + size_of::<Vec3>()) as u64;
        budget.reserve(frame.saturating_mul(missing.count as u64), || "the missing frames".to_owned())?;
        warnings.add("amc-missing-frames", missing.said(numbers.len()), file);
        let (mut filled, mut positions) = (Vec::new(), Vec::new());
        for (before, share) in missing.rows(&numbers) {
            let pose = |frame: usize| rotations[frame * n..][..n].iter();
            filled.extend(pose(before).zip(pose(before + 1)).map(|(a, b)| slerp(a, b, share)));
            positions.push(root_positions[before].lerp(&root_positions[before + 1], share));
        }
        (rotations, root_positions) = (filled, positions);
    }
    Ok(Clip::new("", rate, n, rotations, vec![JointId::new(0)], root_positions))
}

/// Warns of bones that could move and of which no frame says how; `stated` tells for each frame and bone whether it does.
fn warn_of_still_bones(bones: &AsfSkeleton, stated: &[bool], warnings: &mut Warnings) {
    let n = bones.bones.len();
    let never = |bone: &usize| !stated.iter().skip(*bone).step_by(n).any(|stated| *stated);
    let still: Vec<usize> =
        (0..n).filter(|bone| !bones.bones[*bone].channels.is_empty()).filter(never).collect();
    if let Some(first) = still.first().filter(|_| !stated.is_empty()) {
        let (count, name) = (still.len(), one_line(&bones.bones[*first].name));
        let said = format!(
            "no frame has a line for {count} of the bones that can move: they rest (the first is `{name}`)"
        );
        warnings.add("amc-still-bone", said, "all frames");
    }
}

/// Interpolates bones that have lines in some frames where they have none; at the ends they are held. Returns their number, and the
/// first bone with its first such frame.
fn fill_bones(
    stated: &[bool],
    n: usize,
    rotations: &mut [Quat],
    positions: &mut [Vec3],
) -> Option<(usize, usize, usize)> {
    let frames = positions.len();
    let mut found: Option<(usize, usize, usize)> = None;
    for bone in 0..n {
        let (known, absent): (Vec<usize>, Vec<usize>) =
            (0..frames).partition(|frame| stated[frame * n + bone]);
        if known.is_empty() || absent.is_empty() {
            continue;
        }
        found.get_or_insert((0, bone, absent[0])).0 += 1;
        for frame in absent {
            let next = known.partition_point(|k| *k < frame);
            let (a, b) = (known[next.saturating_sub(1)], known[next.min(known.len() - 1)]);
            let share = if a < frame && frame < b { (frame - a) as f64 / (b - a) as f64 } else { 0.0 };
            rotations[frame * n + bone] = slerp(&rotations[a * n + bone], &rotations[b * n + bone], share);
            if bone == 0 {
                positions[frame] = positions[a].lerp(&positions[b], share);
            }
        }
    }
    found
}

/// The frames of a motion while its lines are read.
struct AmcFrames<'a> {
    skeleton: &'a AsfSkeleton,
    by_name: BTreeMap<&'a str, usize>,
    /// Radians per angle unit of the file.
    angle: f64,
    rotations: Vec<Quat>,
    /// Whether the file has a line for each of the rotations.
    stated: Vec<bool>,
    root_positions: Vec<Vec3>,
    /// The number of each frame, and its line.
    numbers: Vec<f64>,
    lines: Vec<usize>,
    /// Lines of bones in the current frame.
    bone_lines: usize,
    /// Lines of bones in the first frame, once it is complete.
    expected_lines: Option<usize>,
}

/// Why a line of a bone cannot be used.
enum BoneFault {
    NoFrame,
    Unknown,
    /// Its numbers are not those of the bone's channels.
    Values(String),
}

impl<'a> AmcFrames<'a> {
    fn new(skeleton: &'a AsfSkeleton) -> Self {
        Self {
            skeleton,
            by_name: skeleton.bones.iter().enumerate().map(|(k, b)| (b.name.as_str(), k)).collect(),
            angle: skeleton.angle,
            rotations: Vec::new(),
            stated: Vec::new(),
            root_positions: Vec::new(),
            numbers: Vec::new(),
            lines: Vec::new(),
            bone_lines: 0,
            expected_lines: None,
        }
    }

    /// Adds a frame in which every bone is at rest.
    fn start_frame(&mut self, number: f64, line: usize, budget: &MemoryBudget) -> Result<(), AsfError> {
        let n = self.skeleton.bones.len();
        let first = Some(self.bone_lines).filter(|_| !self.root_positions.is_empty());
        self.expected_lines = self.expected_lines.or(first);
        self.bone_lines = 0;
        // A frame number is two bytes of text, and reserves a rotation for every bone.
        let frame = (n * (size_of::<Quat>() + size_of::<bool>()) + size_of::<Vec3>()) as u64;
        budget.reserve(frame, || format!("frame {} of {n} bones", self.root_positions.len()))?;
        self.rotations.resize(self.rotations.len() + n, Quat::identity());
        self.stated.resize(self.rotations.len(), false);
        self.root_positions.push(self.skeleton.position);
        self.numbers.push(number);
        self.lines.push(line);
        Ok(())
    }

    /// Sets the rotation of one bone, or the transform of the root, in the current frame; true if a position was ignored.
    fn set_bone(&mut self, words: &[&str]) -> Result<bool, BoneFault> {
        let n = self.skeleton.bones.len();
        let (Some(frame), Some(position)) =
            (self.rotations.len().checked_sub(n), self.root_positions.last_mut())
        else {
            return Err(BoneFault::NoFrame);
        };
        self.bone_lines += 1;
        let Some(&k) = self.by_name.get(words[0]) else { return Err(BoneFault::Unknown) };
        let bone = &self.skeleton.bones[k];
        let values: Option<Vec<f64>> = words[1..].iter().map(|w| number(w)).collect();
        let Some(values) = values.filter(|v| v.len() == bone.channels.len()) else {
            let (needed, found) = (bone.channels.len(), words[1..].join(" "));
            return Err(BoneFault::Values(format!(
                "`{}` needs {needed} {}, found {found:?}",
                bone.name,
                if needed == 1 { "number" } else { "numbers" }
            )));
        };
        let (rotation, shift) = bone_motion(bone, &values, self.angle, k == 0);
        if k == 0 {
            *position = self.skeleton.position + shift;
        }
        let before = frame.checked_sub(n).map_or(Quat::identity(), |before| self.rotations[before + k]);
        self.rotations[frame + k] = same_hemisphere(rotation, &before);
        self.stated[frame + k] = true;
        Ok(k != 0 && shift != Vec3::zeros())
    }

    /// Whether the last frame has fewer lines than the first.
    fn is_last_short(&self) -> bool {
        self.expected_lines.is_some_and(|expected| self.bone_lines < expected)
    }
}

/// The rotation of a bone from rest, and the displacement of its start.
fn bone_motion(bone: &AsfBone, values: &[f64], angle: f64, root: bool) -> (Quat, Vec3) {
    let (mut angles, mut shift) = (Vec3::zeros(), Vec3::zeros());
    let mut in_order = Quat::identity();
    for (channel, &value) in bone.channels.iter().zip(values) {
        match *channel {
            AmcChannel::Position(axis) => shift[axis] = value,
            AmcChannel::Rotation(axis) => {
                angles[axis] = value * angle;
                in_order = about(axis, &angles) * in_order;
            }
            AmcChannel::Length => {}
        }
    }
    if root {
        // The channels of the root are applied in their own order; its axes rotate the whole figure.
        return (bone.axes * in_order, shift);
    }
    let rotation = about(2, &angles) * about(1, &angles) * about(0, &angles);
    (bone.axes * rotation * bone.axes.inverse(), shift)
}

#[cfg(test)]
mod tests {
    use super::super::asf_skeleton;
    use super::*;

    const ASF: &str = ":units\nlength 1\nangle deg\n:bonedata\nbegin\nname arm\ndirection 0 -1 0\nlength 2\n\
        axis 0 0 90 XYZ\ndof rx rz\nend\n:hierarchy\nbegin\nroot arm\nend\n";

    fn clip(text: &str) -> (Result<Clip, AsfError>, Warnings) {
        let mut warnings = Warnings::new();
        let bones = asf_skeleton::read(ASF, "a.asf", &mut warnings).unwrap();
        (read(text, "a.amc", &bones, 120.0, &MemoryBudget::new(0, None), &mut warnings), warnings)
    }

    #[test]
    fn a_bone_rotates_in_its_own_axes() {
        let (clip, _) = clip(
            ":FULLY-SPECIFIED\n:DEGREES\n7\nroot 1 2 3 0 90 0\narm 90 7.62852e-016\n8\nroot 0 0 0 0 0 0\narm 90 0\n9\nroot 0 0 0 0 0 0\narm 0 0\n",
        );
        let clip = clip.unwrap();
        assert_eq!((clip.frames(), clip.translations(0)[0]), (3, Vec3::new(1.0, 2.0, 3.0)));
        assert!((clip.rotations(0)[0] * Vec3::z() - Vec3::x()).norm() < 1e-12);
        // The bone's X axis is the world's Y: 90 degrees about it bring Z to X.
        assert!((clip.rotations(0)[1] * Vec3::z() - Vec3::x()).norm() < 1e-12);
    }

    #[test]
    fn bones_that_some_frames_lack_are_interpolated_and_those_of_none_stay_at_rest() {
        let (whole, none) = clip("1\nroot 0 0 0 0 0 0\n2\nroot 1 0 0 0 0 0\n3\nroot 2 0 0 0 0 0\n");
        assert!(none.has("amc-still-bone"));
        assert!(!none.has("amc-missing-bone") && whole.unwrap().rotations(1)[1].angle() < 1e-12);
        let (filled, warnings) = clip(
            "1\nroot 0 0 0 0 0 0\narm 40 0\n2\nroot 1 0 0 0 0 0\n3\narm 60 0\n4\nroot 3 0 0 0 0 0\narm 60 0\n5\nroot 4 0 0 0 0 0\narm 60 0\n",
        );
        let (filled, warning) = (filled.unwrap(), warnings.iter().next().unwrap());
        assert!(!warnings.has("amc-still-bone"));
        assert_eq!((warning.code, warning.first.as_str()), ("amc-missing-bone", "line 6"));
        assert!(warning.message.starts_with("2 bones"), "{}", warning.message);
        assert!((filled.rotations(1)[1].angle().to_degrees() - 50.0).abs() < 1e-9);
        assert!((filled.translations(2)[0].x - 2.0).abs() < 1e-12);
    }

    #[test]
    fn frames_that_are_missing_are_interpolated_and_reported() {
        let frame = |k: usize| format!("{k}\nroot {k} 0 0 0 0 0\narm {} 0\n", 2 * k);
        let text = |frames: &[usize]| frames.iter().map(|k| frame(*k)).collect::<String>();
        let (whole, none) = clip(&text(&[3, 4, 5, 6, 7, 8, 9]));
        let (filled, warnings) = clip(&text(&[3, 4, 5, 8, 9]));
        let (whole, filled) = (whole.unwrap(), filled.unwrap());
        assert!(!none.has("amc-missing-frames") && warnings.has("amc-missing-frames"));
        assert_eq!(filled.frames(), 7);
        for k in 0..7 {
            assert!((filled.translations(k)[0] - whole.translations(k)[0]).norm() < 1e-12);
            assert!(filled.rotations(k)[1].angle_to(&whole.rotations(k)[1]) < 1e-7);
        }
        let refused = clip(&text(&[1, 2, 3, 1, 2])).0.unwrap_err().to_string();
        assert!(refused.contains("line 10: the frame 1 is not after the frame 3"), "{refused}");
    }

    #[test]
    fn errors_name_their_line() {
        let message = |text: &str| clip(text).0.unwrap_err().to_string();
        assert!(message("1\nroot 1 2 3 0 0\n2\n").starts_with("a.amc, line 2: `root` needs 6 numbers"));
        assert!(message("root 0 0 0 0 0 0\n").contains("a bone before the number"));
        assert!(message("1\narm nan 0\n2\n").contains("line 2"));
        let (cut, warnings) = clip("1\nroot 0 0 0 0 0 0\narm 1 2\n2\nroot 0 0 0 0 0 0\narm 1");
        assert_eq!(cut.unwrap().frames(), 1);
        assert!(warnings.has("amc-cut"));
        let (odd, warnings) = clip("1\nroot 0 0 0 0 0 0\ntail 1 2\n");
        assert!(odd.is_ok() && warnings.has("amc-unknown-bone"));
    }
}
