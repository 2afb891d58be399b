//! Converts values of the `bvh_anim` crate to BVH headers.
//!
//! For programs that hold such values, and as an independent reader in tests: they print canonical headers (names `j0`, `j1`,
//! ..., one keyword per line) and compare joints, parents, channels and columns with ours. Files are never read with the
//! crate: it cuts names at colons and ends the process on a large `Frames:`.

use super::header_scanner::{BvhChannel, BvhHeader, ScannedJoint};
use crate::math::Vec3;
use bvh_anim::ChannelType;

/// Converts a channel of the crate.
pub(super) fn channel_of(channel: ChannelType) -> BvhChannel {
    match channel {
        ChannelType::PositionX => BvhChannel::Position(0),
        ChannelType::PositionY => BvhChannel::Position(1),
        ChannelType::PositionZ => BvhChannel::Position(2),
        ChannelType::RotationX => BvhChannel::Rotation(0),
        ChannelType::RotationY => BvhChannel::Rotation(1),
        ChannelType::RotationZ => BvhChannel::Rotation(2),
    }
}

/// The joints of a `bvh_anim` value, as our parser would return them.
pub(super) fn header_of(bvh: &bvh_anim::Bvh) -> BvhHeader {
    let vector = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let joints = bvh
        .joints()
        .map(|joint| {
            let data = joint.data();
            let offset = data.offset();
            ScannedJoint {
                name: data.name().to_string(),
                parent: data.parent_index(),
                offset: vector([offset.x, offset.y, offset.z]),
                channels: data.channels().iter().map(|c| channel_of(c.channel_type())).collect(),
                tip: data.end_site().map(|e| vector([e.x, e.y, e.z])).filter(|e| *e != Vec3::zeros()),
            }
        })
        .collect();
    let frames = Some(bvh.frames().count() as u64);
    BvhHeader { joints, frames, frame_time: bvh.frame_time().as_secs_f64(), rows: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Compares our reading of the hierarchy with that of `bvh_anim`, root by root.
    fn check(header: &BvhHeader) -> Result<(), String> {
        let starts: Vec<usize> =
            (0..header.joints.len()).filter(|&i| header.joints[i].parent.is_none()).collect();
        for (k, &start) in starts.iter().enumerate() {
            let end = starts.get(k + 1).copied().unwrap_or(header.joints.len());
            check_tree(&header.joints[start..end], start)?;
        }
        Ok(())
    }

    fn check_tree(joints: &[ScannedJoint], start: usize) -> Result<(), String> {
        let differs = |reason: String| Err(reason);
        let model = match bvh_anim::from_bytes(canonical(joints, start)) {
            Ok(model) => model,
            Err(error) => return differs(error.to_string()),
        };
        let dummy = usize::from(joints.len() == 1);
        let found = model.joints().count();
        if found != joints.len() + dummy {
            return differs(format!("{found} joints instead of {}", joints.len() + dummy));
        }
        let mut column = 0;
        for (i, (joint, other)) in joints.iter().zip(model.joints()).enumerate() {
            let other = other.data();
            let parent = joint.parent.map(|p| p - start);
            if *other.name() != *format!("j{i}") || other.parent_index() != parent {
                return differs(format!("joint `{}` hangs elsewhere", joint.name));
            }
            if other.channels().len() != joint.channels.len() {
                return differs(format!("joint `{}` has {} channels", joint.name, other.channels().len()));
            }
            for (channel, other) in joint.channels.iter().zip(other.channels()) {
                if other.channel_type() != model_channel(*channel) || other.motion_index() != column {
                    return differs(format!("joint `{}`: channel {column} differs", joint.name));
                }
                column += 1;
            }
        }
        Ok(())
    }

    /// The channel as one of the crate, which has no scale channels: position channels replace them, also one number each.
    fn model_channel(channel: BvhChannel) -> ChannelType {
        match channel {
            BvhChannel::Position(0) | BvhChannel::Scale(0) => ChannelType::PositionX,
            BvhChannel::Position(1) | BvhChannel::Scale(1) => ChannelType::PositionY,
            BvhChannel::Position(_) | BvhChannel::Scale(_) => ChannelType::PositionZ,
            BvhChannel::Rotation(0) => ChannelType::RotationX,
            BvhChannel::Rotation(1) => ChannelType::RotationY,
            BvhChannel::Rotation(_) => ChannelType::RotationZ,
        }
    }

    /// One tree as text that `bvh_anim` can read: exactly one End Site for each leaf and none elsewhere, and an added joint below a
    /// root without children.
    fn canonical(joints: &[ScannedJoint], start: usize) -> Vec<u8> {
        let mut text = String::from("HIERARCHY\n");
        let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
        for (i, joint) in joints.iter().enumerate() {
            let depth = joint.parent.map_or(0, |p| depths[p - start] + 1);
            depths.push(depth);
            let keyword = if i == 0 { "ROOT" } else { "JOINT" };
            let _ = write!(text, "{keyword} j{i}\n{{\nOFFSET 0.0 0.0 0.0\nCHANNELS {}", joint.channels.len());
            for &channel in &joint.channels {
                let _ = write!(text, " {}", model_channel(channel));
            }
            text.push('\n');
            let next = joints.get(i + 1).map_or(0, |n| n.parent.map_or(0, |p| depths[p - start] + 1));
            if next <= depth {
                let end = "End Site\n{\nOFFSET 0.0 0.0 0.0\n}\n";
                if i == 0 {
                    let _ = write!(text, "JOINT j1\n{{\nOFFSET 0.0 0.0 0.0\nCHANNELS 0\n{end}}}\n");
                } else {
                    text.push_str(end);
                }
                for _ in next..=depth {
                    text.push_str("}\n");
                }
            }
        }
        text.push_str("MOTION\nFrames: 0\nFrame Time: 0.0333333\n");
        text.into_bytes()
    }

    fn header(parents: &[Option<usize>]) -> BvhHeader {
        let joint = |(i, &parent): (usize, &Option<usize>)| ScannedJoint {
            name: format!("joint: {i}"),
            parent,
            offset: Vec3::new(0.0, 1.0, 0.0),
            channels: vec![BvhChannel::Rotation(2), BvhChannel::Scale(0), BvhChannel::Position(1)],
            tip: None,
        };
        let joints = parents.iter().enumerate().map(joint).collect();
        BvhHeader { joints, frames: None, frame_time: 0.01, rows: 0 }
    }

    /// The parent search of the crate is quadratic.
    const MOST: usize = 2_000;

    #[test]
    fn trees_and_lone_roots_are_what_the_model_reads() {
        assert_eq!(check(&header(&[None, Some(0), Some(1), Some(0), None, None, Some(5)])), Ok(()));
        let chain: Vec<_> = (0..MOST).map(|i| i.checked_sub(1)).collect();
        assert_eq!(check(&header(&chain)), Ok(()));
    }

    #[test]
    fn an_order_that_no_text_can_have_is_noticed() {
        let crossed = check(&header(&[None, Some(0), Some(0), Some(1)]));
        assert!(crossed.is_err());
    }
}
