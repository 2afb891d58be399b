//! Parses the hierarchy of a BVH file to a list of joints with their channels, and finds the start of the rows.
//!
//! Works on bytes: white space and braces may be anywhere, keywords and channel names in any case, and names extend to the
//! end of their line or to a brace. Nesting uses an explicit stack, not recursion. Units and axes: those of
//! the file. Grammar: Meredith and Maddock (2001), "Motion capture file formats explained", section 4, extended by what real
//! files contain.

use super::bvh_error::BvhError;
use super::frame_timing::frame_timing;
use super::lexer::{Lexer, is, keyword, shown};
use crate::math::Vec3;
use crate::model::FARTHEST;
use crate::report::Warnings;

/// The most joints that can be read. The largest rigs in use have some hundreds; the limit keeps a hostile file
/// from making every frame a megabyte.
pub const MAX_JOINTS: usize = 50_000;

/// The meaning of one number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BvhChannel {
    /// A translation along an axis, X = 0.
    Position(u8),
    /// A rotation about an axis in degrees, X = 0.
    Rotation(u8),
    /// A scale along an axis: ignored.
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

/// A joint as it is in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScannedJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub offset: Vec3,
    pub channels: Vec<BvhChannel>,
    pub tip: Option<Vec3>,
}

/// The content of a file before the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BvhHeader {
    /// Parents first, in file order; at least one.
    pub joints: Vec<ScannedJoint>,
    /// The number after `Frames:`, if there is one.
    pub frames: Option<u64>,
    /// Seconds.
    pub frame_time: f64,
    /// The offset of the first row.
    pub rows: usize,
}

/// The owner of an open brace.
#[derive(Clone, Copy)]
enum Open {
    Joint(usize),
    EndSite(usize),
}

/// Reads everything up to the first row.
///
/// # Errors
/// [`BvhError`] with the position of the fault.
pub(super) fn scan(text: &[u8], warnings: &mut Warnings) -> Result<BvhHeader, BvhError> {
    let utf16 = [&b"\xff\xfe"[..], b"\xfe\xff", b"H\0", b"\0H"];
    if utf16.iter().any(|start| text.starts_with(start)) {
        return Err(BvhError::Utf16);
    }
    let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let lexer = Lexer { text, at, warnings };
    let mut scanner = HierarchyParser { lexer, joints: Vec::new(), open: Vec::new(), seen: Vec::new() };
    scanner.hierarchy()?;
    let (frames, frame_time) = frame_timing(&mut scanner.lexer)?;
    Ok(BvhHeader { frames, frame_time, rows: scanner.lexer.at, joints: scanner.joints })
}

/// The keywords that have been read of a joint.
#[derive(Clone, Copy, Default)]
struct JointKeywords {
    offset: bool,
    channels: bool,
    tip: bool,
}

/// The state of the parser: the text, the joints read so far, and the open braces.
struct HierarchyParser<'a> {
    lexer: Lexer<'a>,
    joints: Vec<ScannedJoint>,
    open: Vec<Open>,
    seen: Vec<JointKeywords>,
}

/// The hint if a file ends too early.
const CUT: &str = "export or copy the file again: it was cut off";

impl HierarchyParser<'_> {
    /// Reads up to and including `MOTION`.
    fn hierarchy(&mut self) -> Result<(), BvhError> {
        self.lexer.skip_space();
        if self.lexer.at == self.lexer.text.len() {
            return Err(BvhError::Empty);
        }
        let mut first = true;
        loop {
            let start = self.lexer.next_at();
            let word = self.lexer.word();
            let starts = first;
            first = false;
            if is(word, "HIERARCHY") {
                if !starts {
                    self.lexer.warn("bvh-hierarchy-repeated", "a second `HIERARCHY` was ignored", start);
                }
            } else if starts && !is(word, "ROOT") {
                let hint = "check that this is a BVH file, which starts with `HIERARCHY` and `ROOT`";
                return Err(self.lexer.unexpected(start, "`HIERARCHY`", hint));
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
                    self.lexer.warn("bvh-brace-extra", "a `}` without its `{` was ignored", start);
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
                return Err(self.lexer.unexpected(start, "a joint, a channel list, `}` or `MOTION`", hint));
            }
        }
    }

    fn close(&mut self, start: usize) -> Result<(), BvhError> {
        if self.joints.is_empty() {
            return Err(self.lexer.unexpected(start, "`ROOT`", "a BVH file needs at least one joint"));
        }
        if !self.open.is_empty() {
            self.lexer.warn("bvh-brace-missing", "braces still open at `MOTION` were closed", start);
        }
        for i in 0..self.joints.len() {
            if !self.seen[i].offset {
                let first = format!("joint {}", self.joints[i].name);
                let message = "a joint without `OFFSET` is at its parent's position";
                self.lexer.warnings.add("bvh-offset-missing", message, first);
            }
        }
        Ok(())
    }

    fn joint(&mut self, start: usize, root: bool) -> Result<(), BvhError> {
        if root && !self.open.is_empty() {
            self.lexer.warn("bvh-brace-missing", "braces still open at `ROOT` were closed", start);
            self.open.clear();
        }
        let parent = match self.open.last() {
            None => {
                if !root {
                    self.lexer.warn(
                        "bvh-joint-outside",
                        "a `JOINT` outside all braces was read as a `ROOT`",
                        start,
                    );
                }
                None
            }
            Some(Open::Joint(parent)) => Some(*parent),
            Some(Open::EndSite(_)) => {
                return Err(self.lexer.unexpected(
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
        let name = self.lexer.name(start);
        if name.is_empty() {
            self.lexer.warn("bvh-name-missing", "a joint without a name got a generated one", start);
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
            let second = self.lexer.next_at();
            let word = self.lexer.word();
            if !is(word, "Site") {
                return Err(self.lexer.unexpected(second, "`Site`", "an end is written `End Site`"));
            }
        }
        let Some(&Open::Joint(owner)) = self.open.last() else {
            return Err(self.lexer.unexpected(start, "`ROOT`", "an End Site belongs inside a joint"));
        };
        if !self.lexer.name(start).is_empty() {
            self.lexer.warn("bvh-end-site-name", "names of End Sites are not kept", start);
        }
        if self.seen[owner].tip {
            self.lexer.warn(
                "bvh-end-site-repeated",
                "of several End Sites of a joint the first is kept",
                start,
            );
        }
        self.brace()?;
        self.open.push(Open::EndSite(owner));
        Ok(())
    }

    fn brace(&mut self) -> Result<(), BvhError> {
        let start = self.lexer.next_at();
        if self.lexer.word() == b"{" {
            return Ok(());
        }
        let hint = if start == self.lexer.text.len() { CUT } else { "put a `{` there" };
        Err(self.lexer.unexpected(start, "`{`", hint))
    }

    fn offset(&mut self, start: usize) -> Result<(), BvhError> {
        let mut offset = Vec3::zeros();
        for i in 0..3 {
            let at = self.lexer.next_at();
            let word = self.lexer.word();
            let value = match self.lexer.value(word, at) {
                Some(value) => value,
                None if keyword(word) || word.is_empty() => {
                    let hint = if word.is_empty() { CUT } else { "write three numbers: x, y, z" };
                    return Err(self.lexer.unexpected(at, "a number", hint));
                }
                None => return Err(BvhError::Number { place: self.lexer.place(at), found: shown(word) }),
            };
            if value.is_nan() || value.abs() > FARTHEST {
                return Err(BvhError::OffsetNotFinite { place: self.lexer.place(at), found: shown(word) });
            }
            offset[i] = value;
        }
        match self.open.last() {
            Some(&Open::Joint(joint)) => {
                if self.seen[joint].offset {
                    self.lexer.warn(
                        "bvh-offset-repeated",
                        "of several `OFFSET`s of a joint the last is kept",
                        start,
                    );
                }
                self.joints[joint].offset = offset;
                self.seen[joint].offset = true;
            }
            Some(&Open::EndSite(joint)) => {
                // A tip at the joint itself does not define the end of the bone.
                if !self.seen[joint].tip && offset != Vec3::zeros() {
                    self.joints[joint].tip = Some(offset);
                }
                self.seen[joint].tip = true;
            }
            None => return Err(self.lexer.unexpected(start, "`ROOT`", "an `OFFSET` belongs inside a joint")),
        }
        Ok(())
    }

    fn channels(&mut self, start: usize) -> Result<(), BvhError> {
        let at = self.lexer.next_at();
        let word = self.lexer.word();
        let stated = std::str::from_utf8(word).ok().and_then(|w| w.parse::<u64>().ok());
        let Some(stated) = stated else {
            if word.is_empty() {
                return Err(self.lexer.unexpected(at, "the number of channels", CUT));
            }
            return Err(BvhError::Number { place: self.lexer.place(at), found: shown(word) });
        };
        let mut list = Vec::new();
        loop {
            let at = self.lexer.next_at();
            let before = self.lexer.at;
            let word = self.lexer.word();
            match BvhChannel::parse(word) {
                Some(channel) => list.push(channel),
                None if keyword(word) || word.is_empty() => {
                    self.lexer.at = before;
                    break;
                }
                None => return Err(BvhError::BvhChannel { place: self.lexer.place(at), found: shown(word) }),
            }
        }
        if list.len() as u64 != stated {
            let message = "a channel count that differs from its list was ignored";
            self.lexer.warn("bvh-channel-count", message, start);
        }
        if list.iter().any(|c| matches!(c, BvhChannel::Scale(_))) {
            self.lexer.warn("bvh-scale-channel", "scale channels were ignored", start);
        }
        if (1..list.len()).any(|i| list[..i].contains(&list[i])) {
            self.lexer.warn(
                "bvh-channel-repeated",
                "a channel that a joint lists twice is applied twice",
                start,
            );
        }
        match self.open.last() {
            Some(&Open::Joint(joint)) => {
                if self.seen[joint].channels {
                    self.lexer.warn(
                        "bvh-channels-repeated",
                        "`CHANNELS` lists of one joint were joined",
                        start,
                    );
                }
                self.joints[joint].channels.extend(list);
                self.seen[joint].channels = true;
                Ok(())
            }
            Some(Open::EndSite(_)) if list.is_empty() => Ok(()),
            Some(Open::EndSite(_)) => Err(self.lexer.unexpected(
                start,
                "`}`",
                "an End Site has no channels: make it a `JOINT`, or remove them",
            )),
            None => Err(self.lexer.unexpected(start, "`ROOT`", "`CHANNELS` belong inside a joint")),
        }
    }
}
