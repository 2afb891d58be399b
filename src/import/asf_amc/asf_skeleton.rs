//! Reads an Acclaim skeleton (ASF) to bones: parents first, each with its own axes.
//!
//! Space: the world at rest, Y up, in which directions are given. Units: those of the file, with metres per unit; degrees are
//! converted to radians. Source: the Acclaim format as CMU's library uses it (J. Lander 1998, Working with Motion Capture
//! File Formats).

use super::asf_error::AsfError;
use crate::math::{Quat, Vec3};
use crate::report::Warnings;
use std::collections::BTreeMap;

/// Maximum number of bones: bodies have 30, and every frame stores a rotation for each.
const MAX_BONES: usize = 10_000;
/// Largest absolute value of a number, in the file's units: larger ones are damaged.
const FARTHEST: f64 = 1e6;
/// Metres per inch: the unit of Acclaim is `length` of an inch.
const INCH: f64 = 0.0254;

/// The meaning of a number in a line of the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AmcChannel {
    /// A position along X, Y or Z.
    Position(usize),
    /// A rotation about X, Y or Z.
    Rotation(usize),
    /// The length of the bone: ignored, clips do not change it.
    Length,
}

impl AmcChannel {
    fn read(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "tx" => AmcChannel::Position(0),
            "ty" => AmcChannel::Position(1),
            "tz" => AmcChannel::Position(2),
            "rx" => AmcChannel::Rotation(0),
            "ry" => AmcChannel::Rotation(1),
            "rz" => AmcChannel::Rotation(2),
            "l" => AmcChannel::Length,
            _ => return None,
        })
    }
}

/// One bone, or the root, whose bone has no length.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AsfBone {
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    /// From its start to its end at rest, in world space, in the file's units.
    pub(super) reach: Vec3,
    /// Its own axes relative to world space.
    pub(super) axes: Quat,
    pub(super) channels: Vec<AmcChannel>,
}

/// A skeleton as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AsfSkeleton {
    /// The root first, parents before children.
    pub(super) bones: Vec<AsfBone>,
    /// The position of the root at rest.
    pub(super) position: Vec3,
    /// `None` if the file does not state it.
    pub(super) metres_per_unit: Option<f64>,
    /// Radians per angle unit of the file.
    pub(super) angle: f64,
}

/// The sections of the file that are read.
#[derive(Clone, Copy, PartialEq)]
enum AsfSection {
    Units,
    Root,
    Bones,
    Hierarchy,
    Other,
}

/// A bone whose lines are still being read.
#[derive(Default)]
struct UnfinishedBone {
    line: usize,
    name: String,
    direction: Vec3,
    length: f64,
    axis: Vec3,
    letters: String,
    channels: Vec<AmcChannel>,
}

/// The lines as words, without comments (`#` and after), each with its number.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().filter_map(|(k, line)| {
        let kept = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = kept.split_whitespace().collect();
        (!words.is_empty()).then_some((k + 1, words))
    })
}

/// One line of a skeleton file: a key and its values.
struct AsfLine<'a> {
    /// The name of the file, for errors.
    file: &'a str,
    line: usize,
    words: Vec<&'a str>,
}

impl AsfLine<'_> {
    fn fault(&self, reason: String) -> AsfError {
        AsfError::Line { file: self.file.to_owned(), line: self.line, reason }
    }

    /// The first `n` values.
    fn numbers(&self, n: usize) -> Result<Vec<f64>, AsfError> {
        let given: Vec<f64> = self.words[1..].iter().take(n).map_while(|w| number(w)).collect();
        if given.len() == n {
            return Ok(given);
        }
        let numbers = if n == 1 { "number" } else { "numbers" };
        Err(self.fault(format!("`{}` needs {n} {numbers}", self.words[0])))
    }

    fn vector(&self) -> Result<Vec3, AsfError> {
        self.numbers(3).map(|v| Vec3::new(v[0], v[1], v[2]))
    }

    fn channels(&self) -> Result<Vec<AmcChannel>, AsfError> {
        let known = |w: &&str| {
            AmcChannel::read(w).ok_or_else(|| self.fault(format!("`{w}` is not the name of a channel")))
        };
        self.words[1..].iter().map(known).collect()
    }

    /// The order of axes that is word `k` of the line.
    fn axis_order(&self, k: usize) -> String {
        self.words.get(k).unwrap_or(&"xyz").to_ascii_lowercase()
    }
}

/// The content of a skeleton file.
#[derive(Default)]
struct AsfContent {
    root: UnfinishedBone,
    position: Vec3,
    bones: Vec<UnfinishedBone>,
    /// The bone whose `end` has not been read.
    open: Option<UnfinishedBone>,
    /// A parent and its children, with their line.
    children: Vec<(usize, Vec<String>)>,
    length: Option<f64>,
    degrees: bool,
}

impl AsfContent {
    fn new() -> Self {
        let mut root =
            UnfinishedBone { name: "root".into(), letters: "xyz".into(), ..UnfinishedBone::default() };
        root.channels =
            ["tx", "ty", "tz", "rx", "ry", "rz"].iter().filter_map(|w| AmcChannel::read(w)).collect();
        Self { root, degrees: true, ..Self::default() }
    }

    /// Adds a line of a section; `key` is its first word in lower case.
    fn add(&mut self, section: AsfSection, key: &str, line: &AsfLine) -> Result<(), AsfError> {
        let words = &line.words;
        match (section, key) {
            (AsfSection::Units, "length") => self.length = Some(line.numbers(1)?[0]),
            (AsfSection::Units, "angle") => {
                self.degrees = !words.get(1).is_some_and(|w| w.to_ascii_lowercase().starts_with("rad"));
            }
            (AsfSection::Root, "order") => self.root.channels = line.channels()?,
            (AsfSection::Root, "axis") => self.root.letters = line.axis_order(1),
            (AsfSection::Root, "position") => self.position = line.vector()?,
            (AsfSection::Root, "orientation") => self.root.axis = line.vector()?,
            (AsfSection::Bones, "begin") => {
                let (line, letters) = (line.line, "xyz".into());
                self.open = Some(UnfinishedBone { line, letters, ..UnfinishedBone::default() });
            }
            (AsfSection::Bones, "end") => {
                self.bones.extend(self.open.take());
                if self.bones.len() > MAX_BONES {
                    let (what, found) = ("bones", self.bones.len());
                    return Err(AsfError::Limit { what, found, limit: MAX_BONES, name: "MAX_BONES" });
                }
            }
            (AsfSection::Bones, key) => {
                if let Some(bone) = &mut self.open {
                    bone.add(key, line)?;
                }
            }
            (AsfSection::Hierarchy, key) if key != "begin" && key != "end" => {
                self.children.push((line.line, words.iter().map(|w| (*w).to_owned()).collect()));
            }
            _ => {}
        }
        Ok(())
    }
}

impl UnfinishedBone {
    fn add(&mut self, key: &str, line: &AsfLine) -> Result<(), AsfError> {
        match key {
            "name" => self.name = line.words.get(1).map(|w| (*w).to_owned()).unwrap_or_default(),
            "direction" => self.direction = line.vector()?,
            "length" => self.length = line.numbers(1)?[0],
            "axis" => {
                self.axis = line.vector()?;
                self.letters = line.axis_order(4);
            }
            "dof" => self.channels = line.channels()?,
            _ => {}
        }
        Ok(())
    }
}

/// Reads a skeleton; errors name the file `file`.
pub(super) fn read(text: &str, file: &str, warnings: &mut Warnings) -> Result<AsfSkeleton, AsfError> {
    let mut section = AsfSection::Other;
    let mut content = AsfContent::new();
    for (line, words) in lines(text) {
        let key = words[0].to_ascii_lowercase();
        match key.strip_prefix(':') {
            Some("units") => section = AsfSection::Units,
            Some("root") => section = AsfSection::Root,
            Some("bonedata") => section = AsfSection::Bones,
            Some("hierarchy") => section = AsfSection::Hierarchy,
            Some(_) => section = AsfSection::Other,
            None => content.add(section, &key, &AsfLine { file, line, words })?,
        }
    }
    let AsfContent { root, position, mut bones, children, length, degrees, .. } = content;
    let metres_per_unit = match length {
        Some(length) if length > 0.0 && (INCH / length).is_finite() => Some(INCH / length),
        Some(_) => {
            warnings.add(
                "asf-unit",
                "the unit of length is not a positive number; it is estimated from the figure",
                ":units",
            );
            None
        }
        None => None,
    };
    let angle = if degrees { 1f64.to_radians() } else { 1.0 };
    let mut all = vec![root];
    all.append(&mut bones);
    let bones = in_order(all, &children, angle, file, warnings)?;
    Ok(AsfSkeleton { bones, position, metres_per_unit, angle })
}

/// A finite number of at most [`FARTHEST`].
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|x| x.abs() <= FARTHEST)
}

/// The bones, parents first, as the hierarchy names them.
fn in_order(
    drafts: Vec<UnfinishedBone>,
    children: &[(usize, Vec<String>)],
    angle: f64,
    file: &str,
    warnings: &mut Warnings,
) -> Result<Vec<AsfBone>, AsfError> {
    let fault = |line: usize, reason: String| AsfError::Line { file: file.to_owned(), line, reason };
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, draft) in drafts.iter().enumerate() {
        if draft.name.is_empty() {
            return Err(fault(draft.line, "a bone without a name".into()));
        }
        if by_name.insert(&draft.name, k).is_some() {
            return Err(fault(draft.line, format!("a second bone is called `{}`", draft.name)));
        }
    }
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    let mut hangs = vec![false; drafts.len()];
    for (line, words) in children {
        let known = |name: &String| {
            by_name
                .get(name.as_str())
                .copied()
                .ok_or_else(|| fault(*line, format!("there is no bone `{name}`")))
        };
        let parent = known(&words[0])?;
        for name in &words[1..] {
            let child = known(name)?;
            if child == 0 || std::mem::replace(&mut hangs[child], true) {
                return Err(fault(*line, format!("`{name}` has two parents")));
            }
            below[parent].push(child);
        }
    }
    let mut bones: Vec<AsfBone> = Vec::with_capacity(drafts.len());
    let mut stack = vec![(0, None)];
    while let Some((k, parent)) = stack.pop() {
        let UnfinishedBone { name, direction, length, axis, letters, channels, line } = &drafts[k];
        let axes = euler(letters, &(axis * angle))
            .ok_or_else(|| fault(*line, format!("`{letters}` is not a valid order of axes of `{name}`")))?;
        // Directions are rounded unit vectors; they are not normalized.
        let reach = direction * *length;
        if reach.amax() > FARTHEST {
            return Err(fault(*line, format!("the bone `{name}` is too long")));
        }
        stack.extend(below[k].iter().rev().map(|&child| (child, Some(bones.len()))));
        bones.push(AsfBone { name: name.clone(), parent, reach, axes, channels: channels.clone() });
    }
    if bones.len() == 1 {
        let reason = "there is no bone below the root: its `:hierarchy` is missing or cut off".to_owned();
        return Err(AsfError::Bones { file: file.to_owned(), reason });
    }
    let lost = drafts.len() - bones.len();
    if lost > 0 {
        let said = format!("{lost} bones hang from nothing and were left out");
        warnings.add("asf-loose-bone", said, ":hierarchy");
    }
    Ok(bones)
}

/// The product of the rotations about the axes of `letters`, the first letter's applied first; angles by axis, in radians.
pub(super) fn euler(letters: &str, angles: &Vec3) -> Option<Quat> {
    let mut rotation = Quat::identity();
    for letter in letters.chars() {
        rotation = about("xyz".find(letter)?, angles) * rotation;
    }
    (letters.len() == 3).then_some(rotation)
}

/// The rotation about one axis.
pub(super) fn about(axis: usize, angles: &Vec3) -> Quat {
    let axes = [Vec3::x_axis(), Vec3::y_axis(), Vec3::z_axis()];
    Quat::from_axis_angle(&axes[axis], angles[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = ":units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0\n\
        :bonedata\n begin\n id 1\n name upper # the first\n direction 1 0 0\n length 4.5\n axis 0 0 90 XYZ\n\
        dof rz\n limits (-10 10)\n end\n begin\n name lower\n direction 1 0 0\n length 2\n axis 0 0 0 XYZ\n end\n\
        :hierarchy\n begin\n root upper\n upper lower\n end\n";

    #[test]
    fn a_skeleton_is_read_with_its_units() {
        let bones = read(ARM, "arm.asf", &mut Warnings::new()).unwrap();
        let names: Vec<_> = bones.bones.iter().map(|b| (b.name.as_str(), b.parent)).collect();
        assert_eq!(names, [("root", None), ("upper", Some(0)), ("lower", Some(1))]);
        let upper = &bones.bones[1];
        assert!((upper.reach.x * bones.metres_per_unit.unwrap() - 0.254).abs() < 1e-12);
        assert_eq!(upper.channels, [AmcChannel::Rotation(2)]);
        assert!((upper.axes * Vec3::x() - Vec3::y()).norm() < 1e-12);
    }

    #[test]
    fn errors_name_their_line() {
        let message = |from: &str, to: &str| {
            read(&ARM.replace(from, to), "arm.asf", &mut Warnings::new()).unwrap_err().to_string()
        };
        assert!(message("length 4.5", "length x").starts_with("arm.asf, line 13: `length` needs 1 number\n"));
        assert!(message("dof rz", "dof rq").contains("line 15: `rq` is not the name of a channel"));
        assert!(message("upper lower", "upper upper").contains("has two parents"));
        assert!(message("upper lower", "upper hand").contains("there is no bone `hand`"));
        assert!(message(":hierarchy", ":other").contains("no bone below the root"));
        assert!(message("length 4.5", "length 1e300").contains("needs 1 number\n"));
        let loop_ = ARM.replace("root upper", "lower upper");
        let bones = read(&loop_, "arm.asf", &mut Warnings::new());
        assert!(matches!(bones, Err(AsfError::Bones { .. })));
    }
}
