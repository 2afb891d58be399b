//! Parses the hierarchy of a BVH file to a list of joints with their channels, and finds the start of the rows.
//!
//! Works on bytes: white space and braces may be anywhere, keywords and channel names in any case, and names extend to the
//! end of their line or to a brace. It has its own stack, so depth costs memory and no recursion. Units and axes: those of
//! the file. Grammar: Meredith and Maddock (2001), "Motion capture file formats explained", section 4, extended by what real
//! files contain.

use super::bvh_error::BvhError;
use super::lexer::{clip, is, keyword, shown, starts_with};
use crate::math::Vec3;
use crate::model::FARTHEST;
use crate::report::Warnings;

/// The most joints that can be read. The largest rigs in use have some hundreds; the limit keeps a hostile file
/// from making every frame a megabyte.
pub const MAX_JOINTS: usize = 50_000;

/// The frame time in seconds where the file gives none that can be used: 30 frames per second.
pub const DEFAULT_FRAME_TIME: f64 = 1.0 / 30.0;

/// Frame times in seconds that can be meant: a microsecond to a quarter of an hour.
const FRAME_TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e3;

/// Frame times that are milliseconds written for seconds: as such they are 500 to 10 Hz, all that captures have, and as
/// seconds they would be a pose every two seconds or fewer, which is no motion. One second may be meant: lists of poses
/// have it. At half of the lower end those would be taken for takes, at double takes of 250 to 500 Hz would last for hours.
const MILLISECONDS: std::ops::RangeInclusive<f64> = 2.0..=100.0;

/// What one number of a row drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BvhChannel {
    /// A translation along an axis, X = 0.
    Position(u8),
    /// A rotation about an axis in degrees, X = 0.
    Rotation(u8),
    /// A scale along an axis: read over.
    Scale(u8),
}

impl BvhChannel {
    fn parse(word: &[u8]) -> Option<Self> {
        let (&axis, kind) = word.split_first()?;
        let axis = match axis.to_ascii_lowercase() {
            b'x' => 0,
            b'y' => 1,
            b'z' => 2,
            _ => return None,
        };
        match kind.to_ascii_lowercase().as_slice() {
            b"position" => Some(Self::Position(axis)),
            b"rotation" => Some(Self::Rotation(axis)),
            b"scale" => Some(Self::Scale(axis)),
            _ => None,
        }
    }
}

/// A joint as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScannedJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub offset: Vec3,
    pub channels: Vec<BvhChannel>,
    pub tip: Option<Vec3>,
}

/// All that stands before the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BvhHeader {
    /// Parents first, in file order; at least one.
    pub joints: Vec<ScannedJoint>,
    /// What `Frames:` says, where it says a number.
    pub frames: Option<u64>,
    /// Seconds.
    pub frame_time: f64,
    /// Where the rows start.
    pub rows: usize,
}

/// What an open brace belongs to.
#[derive(Clone, Copy)]
pub(super) enum Open {
    Joint(usize),
    EndSite(usize),
}

/// Reads everything up to the first row.
///
/// # Errors
/// [`BvhError`] with the place of the fault.
pub(super) fn scan(text: &[u8], warnings: &mut Warnings) -> Result<BvhHeader, BvhError> {
    let utf16 = [&b"\xff\xfe"[..], b"\xfe\xff", b"H\0", b"\0H"];
    if utf16.iter().any(|start| text.starts_with(start)) {
        return Err(BvhError::Utf16);
    }
    let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut scanner = Scanner { text, at, warnings, joints: Vec::new(), open: Vec::new(), seen: Vec::new() };
    scanner.hierarchy()?;
    let (frames, frame_time) = scanner.motion()?;
    Ok(BvhHeader { frames, frame_time, rows: scanner.at, joints: scanner.joints })
}

/// What was met of a joint.
#[derive(Clone, Copy, Default)]
pub(super) struct JointKeywords {
    offset: bool,
    channels: bool,
    tip: bool,
}

/// The state of the parser: the text, the offset in it, and the joints read so far.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) warnings: &'a mut Warnings,
    pub(super) joints: Vec<ScannedJoint>,
    pub(super) open: Vec<Open>,
    pub(super) seen: Vec<JointKeywords>,
}

/// The hint where a file ends too early.
const CUT: &str = "the file was cut off; export or copy it again";

impl Scanner<'_> {
    /// Up to and with `MOTION`.
    fn hierarchy(&mut self) -> Result<(), BvhError> {
        self.skip_space();
        if self.at == self.text.len() {
            return Err(BvhError::Empty);
        }
        let mut first = true;
        loop {
            let start = self.next_at();
            let word = self.word();
            let starts = first;
            first = false;
            if is(word, "HIERARCHY") {
                if !starts {
                    self.warn("bvh-hierarchy-repeated", "a second `HIERARCHY` was read over", start);
                }
            } else if starts && !is(word, "ROOT") {
                let hint = "is this a BVH file? it starts with `HIERARCHY` and `ROOT`";
                return Err(self.unexpected(start, "`HIERARCHY`", hint));
            } else if is(word, "ROOT") || is(word, "JOINT") {
                self.joint(start, is(word, "ROOT"))?;
            } else if is(word, "End") || is(word, "EndSite") {
                self.end_site(start, is(word, "End"))?;
            } else if is(word, "OFFSET") {
                self.offset(start)?;
            } else if is(word, "CHANNELS") {
                self.channels(start)?;
            } else if word == b"}" {
                if self.open.pop().is_none() {
                    self.warn("bvh-brace-extra", "a `}` that closes nothing was read over", start);
                }
            } else if is(word, "MOTION") {
                return self.close(start);
            } else {
                let hint = if word.is_empty() {
                    CUT
                } else if word == b"{" {
                    "remove the brace, or put `JOINT` and a name before it"
                } else {
                    "correct the line, or remove it"
                };
                return Err(self.unexpected(start, "a joint, a channel list, `}` or `MOTION`", hint));
            }
        }
    }

    fn close(&mut self, start: usize) -> Result<(), BvhError> {
        if self.joints.is_empty() {
            return Err(self.unexpected(start, "`ROOT`", "a BVH file needs at least one joint"));
        }
        if !self.open.is_empty() {
            self.warn("bvh-brace-missing", "braces still open at `MOTION` were closed", start);
        }
        for i in 0..self.joints.len() {
            if !self.seen[i].offset {
                let first = format!("joint {}", self.joints[i].name);
                let message = "a joint without `OFFSET` was put at its parent";
                self.warnings.add("bvh-offset-missing", message, first);
            }
        }
        Ok(())
    }

    fn joint(&mut self, start: usize, root: bool) -> Result<(), BvhError> {
        if root && !self.open.is_empty() {
            self.warn("bvh-brace-missing", "braces still open at `ROOT` were closed", start);
            self.open.clear();
        }
        let parent = match self.open.last() {
            None => {
                if !root {
                    self.warn(
                        "bvh-joint-outside",
                        "a `JOINT` outside all braces was read as a `ROOT`",
                        start,
                    );
                }
                None
            }
            Some(Open::Joint(parent)) => Some(*parent),
            Some(Open::EndSite(_)) => {
                return Err(self.unexpected(
                    start,
                    "`OFFSET` or `}`",
                    "an End Site holds no joints: close it",
                ));
            }
        };
        if self.joints.len() == MAX_JOINTS {
            let found = MAX_JOINTS + 1;
            return Err(BvhError::Limit { what: "joints", found, limit: MAX_JOINTS, name: "MAX_JOINTS" });
        }
        let name = self.name(start);
        if name.is_empty() {
            self.warn("bvh-name-missing", "a joint without a name was given one", start);
        }
        self.brace()?;
        self.open.push(Open::Joint(self.joints.len()));
        let offset = Vec3::zeros();
        self.joints.push(ScannedJoint { name, parent, offset, channels: Vec::new(), tip: None });
        self.seen.push(JointKeywords::default());
        Ok(())
    }

    fn end_site(&mut self, start: usize, two_words: bool) -> Result<(), BvhError> {
        if two_words {
            let second = self.next_at();
            let word = self.word();
            if !is(word, "Site") {
                return Err(self.unexpected(second, "`Site`", "an end is written `End Site`"));
            }
        }
        let Some(&Open::Joint(owner)) = self.open.last() else {
            return Err(self.unexpected(start, "`ROOT`", "an End Site belongs inside a joint"));
        };
        if !self.name(start).is_empty() {
            self.warn("bvh-end-site-name", "names of End Sites are not kept", start);
        }
        if self.seen[owner].tip {
            self.warn("bvh-end-site-repeated", "of several End Sites of a joint the first is kept", start);
        }
        self.brace()?;
        self.open.push(Open::EndSite(owner));
        Ok(())
    }

    fn brace(&mut self) -> Result<(), BvhError> {
        let start = self.next_at();
        if self.word() == b"{" {
            return Ok(());
        }
        let hint = if start == self.text.len() { CUT } else { "put a `{` there" };
        Err(self.unexpected(start, "`{`", hint))
    }

    fn offset(&mut self, start: usize) -> Result<(), BvhError> {
        let mut offset = Vec3::zeros();
        for i in 0..3 {
            let at = self.next_at();
            let word = self.word();
            let value = match self.value(word, at) {
                Some(value) => value,
                None if keyword(word) || word.is_empty() => {
                    let hint = if word.is_empty() { CUT } else { "an `OFFSET` has three numbers: x, y, z" };
                    return Err(self.unexpected(at, "a number", hint));
                }
                None => return Err(BvhError::Number { place: self.place(at), found: shown(word) }),
            };
            if value.is_nan() || value.abs() > FARTHEST {
                return Err(BvhError::OffsetNotFinite { place: self.place(at), found: shown(word) });
            }
            offset[i] = value;
        }
        match self.open.last() {
            Some(&Open::Joint(joint)) => {
                if self.seen[joint].offset {
                    self.warn(
                        "bvh-offset-repeated",
                        "of several `OFFSET`s of a joint the last is kept",
                        start,
                    );
                }
                self.joints[joint].offset = offset;
                self.seen[joint].offset = true;
            }
            Some(&Open::EndSite(joint)) => {
                // A tip at the joint itself says nothing about where the bone ends.
                if !self.seen[joint].tip && offset != Vec3::zeros() {
                    self.joints[joint].tip = Some(offset);
                }
                self.seen[joint].tip = true;
            }
            None => return Err(self.unexpected(start, "`ROOT`", "an `OFFSET` belongs inside a joint")),
        }
        Ok(())
    }

    fn channels(&mut self, start: usize) -> Result<(), BvhError> {
        let at = self.next_at();
        let word = self.word();
        let stated = std::str::from_utf8(word).ok().and_then(|w| w.parse::<u64>().ok());
        let Some(stated) = stated else {
            if word.is_empty() {
                return Err(self.unexpected(at, "the number of channels", CUT));
            }
            return Err(BvhError::Number { place: self.place(at), found: shown(word) });
        };
        let mut list = Vec::new();
        loop {
            let at = self.next_at();
            let before = self.at;
            let word = self.word();
            match BvhChannel::parse(word) {
                Some(channel) => list.push(channel),
                None if keyword(word) || word.is_empty() => {
                    self.at = before;
                    break;
                }
                None => return Err(BvhError::BvhChannel { place: self.place(at), found: shown(word) }),
            }
        }
        if list.len() as u64 != stated {
            let message = "a channel count that differs from its list was read over";
            self.warn("bvh-channel-count", message, start);
        }
        if list.iter().any(|c| matches!(c, BvhChannel::Scale(_))) {
            self.warn("bvh-scale-channel", "scale channels were read over", start);
        }
        if (1..list.len()).any(|i| list[..i].contains(&list[i])) {
            self.warn("bvh-channel-repeated", "a channel that a joint lists twice is applied twice", start);
        }
        match self.open.last() {
            Some(&Open::Joint(joint)) => {
                if self.seen[joint].channels {
                    self.warn("bvh-channels-repeated", "`CHANNELS` lists of one joint were joined", start);
                }
                self.joints[joint].channels.extend(list);
                self.seen[joint].channels = true;
                Ok(())
            }
            Some(Open::EndSite(_)) if list.is_empty() => Ok(()),
            Some(Open::EndSite(_)) => Err(self.unexpected(
                start,
                "`}`",
                "an End Site has no channels: make it a `JOINT`, or remove them",
            )),
            None => Err(self.unexpected(start, "`ROOT`", "`CHANNELS` belong inside a joint")),
        }
    }

    /// `Frames:` and `Frame Time:`, in any order, each once or not at all.
    fn motion(&mut self) -> Result<(Option<u64>, f64), BvhError> {
        let (mut frames, mut frame_time) = (None, None);
        let (mut frames_seen, mut time_seen) = (false, false);
        loop {
            let start = self.next_at();
            let rest = &self.text[start..];
            if !time_seen && starts_with(rest, "Frame") && !starts_with(rest, "Frames") {
                self.at = start + "Frame".len();
                self.skip_space();
                if !starts_with(&self.text[self.at..], "Time") {
                    return Err(self.unexpected(
                        start,
                        "`Frame Time:`",
                        "the line reads `Frame Time: 0.033333`",
                    ));
                }
                self.at += "Time".len();
                frame_time = self.frame_time();
                time_seen = true;
            } else if !frames_seen && starts_with(rest, "Frames") {
                self.at = start + "Frames".len();
                let (word, at) = self.header_value();
                let text = String::from_utf8_lossy(word);
                frames = text.parse().ok();
                if frames.is_none() {
                    let message = format!("`Frames: {}` is no count: the rows were counted", clip(&text));
                    self.warn("bvh-frames", &message, at);
                }
                frames_seen = true;
            } else {
                break;
            }
        }
        if !frames_seen {
            self.warn("bvh-frames", "without `Frames:` the rows were counted", self.at);
        }
        if !time_seen {
            let message = "without `Frame Time:` 30 frames per second were assumed";
            self.warn("bvh-frame-time", message, self.at);
        }
        Ok((frames, frame_time.unwrap_or(DEFAULT_FRAME_TIME)))
    }

    fn frame_time(&mut self) -> Option<f64> {
        let (word, at) = self.header_value();
        let value = self.value(word, at).filter(|t| FRAME_TIMES.contains(t));
        if value.is_none() {
            let word = String::from_utf8_lossy(word);
            let message =
                format!("frame time `{}` cannot be: 30 frames per second were assumed", clip(&word));
            self.warn("bvh-frame-time", &message, at);
        }
        if let Some(ms) = value.filter(|t| MILLISECONDS.contains(t)) {
            let message = format!(
                "frame time {ms} is one of milliseconds and was read so: {:.3} frames per second",
                1e3 / ms
            );
            self.warn("bvh-milliseconds", &message, at);
            return Some(ms / 1e3);
        }
        value
    }
}
