//! Reads an Acclaim motion (AMC) to a skeleton and a clip.
//!
//! A frame is its number alone on a line, then a line for each bone. With `C` the axes of a bone and `M` its rotation, X
//! first, the bone rotates by `C M C^-1` from rest, in the axes of its parent: rest rotations are the identity. Joints are at
//! the start of their bones; the bone of a leaf is its tip. Bones without a line stay at rest. Space and units: those of the
//! ASF; radians.

use super::asf_error::AsfError;
use super::asf_skeleton::{AmcChannel, AsfBone, AsfSkeleton, about, lines, number};
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::memory_budget::MemoryBudget;
use crate::model::{Clip, Joint, JointId, Skeleton};
use crate::report::{Warnings, one_line};
use std::collections::BTreeMap;

/// The joints of some bones, at rest.
///
/// # Errors
/// Names that are taken twice.
pub(super) fn skeleton(bones: &AsfSkeleton) -> Result<Skeleton, AsfError> {
    let bones_of = &bones.bones;
    let mut leaf = vec![true; bones_of.len()];
    bones_of.iter().filter_map(|b| b.parent).for_each(|p| leaf[p] = false);
    let joint = |(k, bone): (usize, &AsfBone)| {
        let start = bone.parent.map_or(bones.place, |p| bones_of[p].reach);
        let rest = Transform::from_translation(start);
        let tip = Some(bone.reach).filter(|reach| leaf[k] && *reach != Vec3::zeros());
        Joint { tip, ..Joint::new(one_line(&bone.name), bone.parent.map(JointId::new), rest) }
    };
    Ok(Skeleton::new(bones_of.iter().enumerate().map(joint).collect())?)
}

/// Reads the frames; `file` is what errors call it.
///
/// # Errors
/// An [`AsfError`] with the line; a last line that is cut off takes its frame along, with a warning.
pub(super) fn read(
    text: &str,
    file: &str,
    bones: &AsfSkeleton,
    rate: f64,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Clip, AsfError> {
    let by_name: BTreeMap<&str, usize> =
        bones.bones.iter().enumerate().map(|(k, b)| (b.name.as_str(), k)).collect();
    let n = bones.bones.len();
    let still: Vec<Quat> = vec![Quat::identity(); n];
    let mut rotations: Vec<Quat> = Vec::new();
    let mut root_positions: Vec<Vec3> = Vec::new();
    let mut angle = bones.angle;
    let (mut bone_lines, mut least) = (0, None);
    let cut = !text.ends_with(['\n', '\r']);
    let last = lines(text).last().map_or(0, |(line, _)| line);
    let mut broken = false;
    for (line, words) in lines(text) {
        let fault = |reason: String| AsfError::Line { file: file.to_owned(), line, reason };
        if let Some(key) = words[0].strip_prefix(':') {
            match key.to_ascii_lowercase().as_str() {
                "degrees" => angle = 1f64.to_radians(),
                "radians" => angle = 1.0,
                _ => {}
            }
            continue;
        }
        if words.len() == 1 && words[0].bytes().all(|b| b.is_ascii_digit()) {
            least = least.or(Some(bone_lines).filter(|_| !root_positions.is_empty()));
            bone_lines = 0;
            // The number of a frame is two bytes, and makes a rotation for every bone.
            let frame = (n * size_of::<Quat>() + size_of::<Vec3>()) as u64;
            budget.reserve(frame, || format!("frame {} of {n} bones", root_positions.len()))?;
            rotations.extend_from_slice(&still);
            root_positions.push(bones.place);
            continue;
        }
        let (Some(frame), Some(place)) = (rotations.len().checked_sub(n), root_positions.last_mut()) else {
            return Err(fault("a bone before the number of its frame".into()));
        };
        bone_lines += 1;
        let Some(&k) = by_name.get(words[0]) else {
            if cut && line == last {
                broken = true;
                continue;
            }
            warnings.add(
                "amc-unknown-bone",
                "lines of bones that the skeleton does not have were passed over",
                format!("line {line}"),
            );
            continue;
        };
        let bone = &bones.bones[k];
        let values: Option<Vec<f64>> = words[1..].iter().map(|w| number(w)).collect();
        let Some(values) = values.filter(|v| v.len() == bone.channels.len()) else {
            if cut && line == last {
                broken = true;
                continue;
            }
            let reason = format!(
                "`{}` needs {} numbers, found {:?}",
                bone.name,
                bone.channels.len(),
                words[1..].join(" ")
            );
            return Err(fault(reason));
        };
        let (rotation, shift) = bone_motion(bone, &values, angle, k == 0);
        if k == 0 {
            *place = bones.place + shift;
        } else if shift != Vec3::zeros() {
            warnings.add(
                "amc-shifted-bone",
                "bones that move away from their place are kept there",
                format!("line {line}"),
            );
        }
        let before = frame.checked_sub(n).map_or(Quat::identity(), |before| rotations[before + k]);
        rotations[frame + k] = same_hemisphere(rotation, &before);
    }
    // A bone that has no line keeps its rest, whose sign follows the frame before.
    for at in n..rotations.len() {
        rotations[at] = same_hemisphere(rotations[at], &rotations[at - n]);
    }
    if root_positions.len() > 1 && (broken || least.is_some_and(|first| bone_lines < first)) {
        root_positions.pop();
        rotations.truncate(root_positions.len() * n);
        warnings.add("amc-cut", "the last frame is not whole and was left out", "the end of the file");
    }
    Ok(Clip::new("", rate, n, rotations, vec![JointId::new(0)], root_positions))
}

/// How a bone turns from rest, and where a line of the motion puts its start.
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
        // The root's line is in the order that it states; its axes turn the whole figure.
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
            ":FULLY-SPECIFIED\n:DEGREES\n7\nroot 1 2 3 0 90 0\narm 90 7.62852e-016\n8\nroot 0 0 0 0 0 0\n9\nroot 0 0 0 0 0 0\narm 0 0\n",
        );
        let clip = clip.unwrap();
        assert_eq!((clip.frames(), clip.translations(0)[0]), (3, Vec3::new(1.0, 2.0, 3.0)));
        assert!((clip.rotations(0)[0] * Vec3::z() - Vec3::x()).norm() < 1e-12);
        // The bone's X axis is the world's Y: 90 degrees about it bring Z to X.
        assert!((clip.rotations(0)[1] * Vec3::z() - Vec3::x()).norm() < 1e-12);
        // A bone without a line keeps still.
        assert!(clip.rotations(1)[1].angle() < 1e-12);
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
