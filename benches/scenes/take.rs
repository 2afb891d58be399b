//! BVH text of a take, such as capture software writes.

use std::fmt::Write;

/// What the channels of a joint below the root are.
#[derive(Clone, Copy, PartialEq)]
#[allow(dead_code, reason = "every bench takes what it needs")]
pub enum Channels {
    /// Three angles.
    Rotations,
    /// Three lengths: then nothing is made of the numbers.
    Positions,
}

/// A chain of `joints` joints and its End Site (the root has six channels) in `frames` rows of numbers with six decimals.
/// All of it swings smoothly.
pub fn text(joints: usize, frames: usize, channels: Channels) -> String {
    let mut text = String::from("HIERARCHY\n");
    for i in 0..joints {
        let (keyword, channels) = match (i, channels) {
            (0, _) => ("ROOT", "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"),
            (_, Channels::Rotations) => ("JOINT", "3 Zrotation Xrotation Yrotation"),
            (_, Channels::Positions) => ("JOINT", "3 Xposition Yposition Zposition"),
        };
        writeln!(text, "{keyword} joint{i}\n{{\nOFFSET 0 5.5 0\nCHANNELS {channels}").unwrap();
    }
    text.push_str("End Site\n{\nOFFSET 0 1 0\n}\n");
    text.push_str(&"}\n".repeat(joints));
    writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: 0.008333333").unwrap();
    for frame in 0..frames {
        let time = frame as f64 / 120.0;
        for channel in 0..3 + 3 * joints {
            let phase = channel as f64;
            let separator = if channel == 0 { "" } else { " " };
            write!(text, "{separator}{:.6}", 150.0 * (time * (0.2 + 0.01 * phase) + phase).sin()).unwrap();
        }
        text.push('\n');
    }
    text
}

/// The take with only `frames` of its rows, from the row `from`.
#[allow(dead_code, reason = "every bench takes what it needs")]
pub fn part(text: &str, from: usize, frames: usize) -> String {
    let (hierarchy, motion) = text.split_once("MOTION").expect("a BVH file");
    let time = motion.lines().find(|l| l.starts_with("Frame Time")).expect("a BVH file");
    let mut part = format!("{hierarchy}MOTION\nFrames: {frames}\n{time}\n");
    for row in motion.lines().skip(3 + from).take(frames) {
        part.push_str(row);
        part.push('\n');
    }
    part
}
