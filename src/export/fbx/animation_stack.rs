//! Writes a clip as an FBX animation stack with one layer, curve nodes and curves.
//!
//! A constant curve has one key; all others have a key at every frame, or with a tolerance at the frames that it needs, with
//! linear interpolation. The frame before a cut is held until the cut. Angles are continuous from frame to frame, so that
//! interpolation always takes the shorter arc.
//!
//! Space: each joint in its parent, as in the file. Units: degrees, the length unit of the file, ticks.

use super::record_properties::{self, object, properties, row, time_row};
use super::records::FbxRecord;
use crate::export::euler_angles::{self, RotationOrder};
use crate::export::key_reduction::thin;
use crate::math::Quat;
use crate::model::UniqueNames;
use std::borrow::Cow;

/// Angles that differ by less count as constant, degrees: the precision of the 32-bit quaternions of a glTF file.
const STEADY: f64 = 2e-5;
/// Translations that differ by less count as constant, metres.
pub(super) const STEADY_METRES: f64 = 1e-7;
/// Weights of morph targets that differ by less count as constant, percent: less than a 16-bit weight resolves.
const STEADY_PERCENT: f64 = 1e-3;
/// Key attribute flag: the value is held until the next key.
const HELD: i32 = 2;
/// Key attribute flag: linear interpolation.
const LINEAR: i32 = 4;
/// Metres of a translation that count as one degree of an angle in a tolerance: a millimetre.
const METRES_PER_DEGREE: f64 = 1e-3;

/// A clip in the units and angles of the file.
pub(super) struct AnimationStack {
    /// The name, unique in the file.
    pub(super) name: String,
    /// Frames per second.
    pub(super) rate: f64,
    /// The time of each frame, at least one, ticks.
    pub(super) ticks: Vec<i64>,
    /// The animation of each joint.
    pub(super) tracks: Vec<JointCurves>,
    /// The animation of morph targets.
    pub(super) morphs: Vec<MorphCurve>,
    /// The frames that follow a cut, ascending.
    pub(super) cuts: Vec<usize>,
    /// Largest error of a curve, degrees, millimetres and percent; 0 keeps every key.
    pub(super) tolerance: f64,
}

/// The animation of one morph target.
pub(super) struct MorphCurve {
    /// The object id of its channel.
    pub(super) channel: i64,
    /// The weight in every frame, percent.
    pub(super) percent: Vec<f64>,
}

/// The animation of one joint.
pub(super) struct JointCurves {
    /// The object id of the joint.
    pub(super) model: i64,
    /// `Lcl Rotation` in every frame.
    pub(super) degrees: Vec<[f64; 3]>,
    /// `Lcl Translation` in every frame, for joints that move.
    pub(super) translations: Option<Vec<[f64; 3]>>,
}

/// The records of a stack.
pub(super) struct StackRecords {
    pub(super) objects: Vec<FbxRecord<'static>>,
    pub(super) connections: Vec<FbxRecord<'static>>,
    pub(super) take: FbxRecord<'static>,
}

/// The Euler angles of rotations about X, Y and Z in degrees, for the rotation order of the file. The first are near `start`, the
/// others near those before.
pub(super) fn degrees(
    rotations: impl Iterator<Item = Quat>,
    order: RotationOrder,
    start: [f64; 3],
) -> Vec<[f64; 3]> {
    let axes = order.axes();
    let mut before = axes.map(|axis| start[axis]);
    let mut angles = Vec::with_capacity(rotations.size_hint().0);
    for rotation in rotations {
        before = euler_angles::angles(&rotation, order, Some(&before));
        let mut xyz = [0.0; 3];
        for (axis, angle) in axes.into_iter().zip(before) {
            xyz[axis] = angle;
        }
        angles.push(xyz);
    }
    angles
}

/// A new name for a clip as it may stand in a file; it is in use from then on.
pub(super) fn free_name(name: &str, names: &mut UniqueNames) -> String {
    match record_properties::plain(name) {
        empty if empty.trim().is_empty() => names.fresh("Take"),
        name => names.fresh(&name),
    }
}

/// A connection between two objects.
pub(super) fn connection(from: i64, to: i64) -> FbxRecord<'static> {
    FbxRecord::new("C").string("OO").long(from).long(to)
}

/// A connection from an object to a property of another.
pub(super) fn property_connection(from: i64, to: i64, property: &str) -> FbxRecord<'static> {
    FbxRecord::new("C").string("OP").long(from).long(to).string(property)
}

/// The records of a stack; `new` returns unused ids.
pub(super) fn write(
    stack: &AnimationStack,
    new: &mut impl FnMut() -> i64,
    metres_per_unit: f64,
) -> StackRecords {
    let mut writer = CurveWriter {
        out: StackRecords { objects: Vec::new(), connections: Vec::new(), take: FbxRecord::new("Take") },
        times: [
            record_properties::longs(&stack.ticks),
            record_properties::longs(stack.ticks.get(..1).unwrap_or_default()),
        ],
        stack,
    };
    let (start, stop) =
        (stack.ticks.first().copied().unwrap_or_default(), stack.ticks.last().copied().unwrap_or_default());
    let (top, layer) = (new(), new());
    let span =
        [("LocalStart", start), ("LocalStop", stop), ("ReferenceStart", start), ("ReferenceStop", stop)];
    let rows = span.map(|(name, ticks)| time_row(name, ticks));
    writer.out.objects.push(
        FbxRecord::new("AnimationStack")
            .long(top)
            .string(&object(&stack.name, "AnimStack"))
            .string("")
            .add(properties(rows)),
    );
    // The layer needs an empty block of child records: without it, one reader drops every animation.
    writer.out.objects.push(
        FbxRecord::new("AnimationLayer")
            .long(layer)
            .string(&object("BaseLayer", "AnimLayer"))
            .string("")
            .block(),
    );
    writer.out.connections.push(connection(layer, top));
    for track in &stack.tracks {
        if let Some(translations) = &track.translations {
            let per_degree = METRES_PER_DEGREE / metres_per_unit;
            let precision = [STEADY_METRES / metres_per_unit, stack.tolerance * per_degree];
            writer.curves(new, layer, track.model, ("T", "Lcl Translation"), translations, precision);
        }
        writer.curves(
            new,
            layer,
            track.model,
            ("R", "Lcl Rotation"),
            &track.degrees,
            [STEADY, stack.tolerance],
        );
    }
    for morph in &stack.morphs {
        let values: Vec<[f64; 1]> = morph.percent.iter().map(|percent| [*percent]).collect();
        let names = ("DeformPercent", "DeformPercent");
        writer.curves(new, layer, morph.channel, names, &values, [STEADY_PERCENT, stack.tolerance]);
    }
    writer.out.take = FbxRecord::new("Take")
        .string(&stack.name)
        .add(FbxRecord::new("FileName").string(&format!("{}.tak", stack.name.replace(' ', "_"))))
        .add(FbxRecord::new("LocalTime").long(start).long(stop))
        .add(FbxRecord::new("ReferenceTime").long(start).long(stop));
    writer.out
}

/// Collects the records of a stack.
struct CurveWriter<'a> {
    out: StackRecords,
    /// The encoded times of all frames, and of the first one only.
    times: [Vec<u8>; 2],
    stack: &'a AnimationStack,
}

impl CurveWriter<'_> {
    /// The curves of one property of an object: of a vector, or of a number that has the property's name. `steady` is the
    /// largest change of a constant, `tolerance` the largest error of the others.
    fn curves<const N: usize>(
        &mut self,
        new: &mut impl FnMut() -> i64,
        layer: i64,
        model: i64,
        (short, property): (&str, &str),
        values: &[[f64; N]],
        [steady, tolerance]: [f64; 2],
    ) {
        let axes: [String; N] = std::array::from_fn(|k| match N {
            1 => format!("d|{property}"),
            _ => format!("d|{}", ["X", "Y", "Z"][k]),
        });
        let Some(first) = values.first() else { return };
        let node = new();
        let rows = axes.iter().zip(first).map(|(axis, value)| row(axis, "Number", "", "A").double(*value));
        self.out.objects.push(
            FbxRecord::new("AnimationCurveNode")
                .long(node)
                .string(&object(short, "AnimCurveNode"))
                .string("")
                .add(properties(rows)),
        );
        self.out.connections.push(connection(node, layer));
        self.out.connections.push(property_connection(node, model, property));
        for (k, axis) in axes.iter().enumerate() {
            let constant = values.iter().all(|v| (v[k] - first[k]).abs() <= steady);
            let frames: Vec<usize> = match (constant, tolerance > 0.0) {
                (true, _) => vec![0],
                (false, false) => (0..values.len()).collect(),
                (false, true) => needed_frames(values.iter().map(|v| v[k]), &self.stack.cuts, tolerance),
            };
            let keys: Vec<f32> = frames.iter().map(|f| values[*f][k] as f32).collect();
            let times = match frames.len() {
                n if n == values.len() => Cow::Borrowed(&self.times[0]),
                1 => Cow::Borrowed(&self.times[1]),
                _ => {
                    let ticks: Vec<i64> = frames.iter().map(|f| self.stack.ticks[*f]).collect();
                    Cow::Owned(record_properties::longs(&ticks))
                }
            };
            let (flags, counts) = interpolation(&frames, &self.stack.cuts);
            let curve = new();
            self.out.objects.push(
                FbxRecord::new("AnimationCurve")
                    .long(curve)
                    .string(&object("", "AnimCurve"))
                    .string("")
                    .add(FbxRecord::new("Default").double(first[k]))
                    .add(FbxRecord::new("KeyVer").int(4008))
                    .add(FbxRecord::new("KeyTime").property(&times))
                    .add(FbxRecord::new("KeyValueFloat").floats(&keys))
                    .add(FbxRecord::new("KeyAttrFlags").ints(&flags))
                    .add(FbxRecord::new("KeyAttrDataFloat").floats(&vec![0.0; 4 * flags.len()]))
                    .add(FbxRecord::new("KeyAttrRefCount").ints(&counts)),
            );
            self.out.connections.push(property_connection(curve, node, axis));
        }
    }
}

/// The frames whose keys keep every frame of a curve within the tolerance; those on both sides of a cut are among them.
fn needed_frames(values: impl Iterator<Item = f64>, cuts: &[usize], tolerance: f64) -> Vec<usize> {
    let values: Vec<f64> = values.collect();
    let mut frames = Vec::new();
    let ends = cuts.iter().copied().filter(|cut| (1..values.len()).contains(cut)).chain([values.len()]);
    let mut begin = 0;
    for end in ends {
        let between = |a: &f64, b: &f64, t: f64| a + (b - a) * t;
        let needed = thin(&values[begin..end], tolerance, between, |a, b| (a - b).abs());
        frames.extend(needed.into_iter().map(|frame| begin + frame));
        // A constant part has its first frame only, and the last one is held.
        if frames.last() != Some(&(end - 1)) && end < values.len() {
            frames.push(end - 1);
        }
        begin = end;
    }
    frames
}

/// The interpolation after each key, as runs of equal flags with their lengths.
fn interpolation(frames: &[usize], cuts: &[usize]) -> (Vec<i32>, Vec<i32>) {
    let (mut flags, mut counts) = (Vec::new(), Vec::new());
    for frame in frames {
        let flag = if cuts.binary_search(&(frame + 1)).is_ok() { HELD } else { LINEAR };
        match counts.last_mut().filter(|_| flags.last() == Some(&flag)) {
            Some(count) => *count += 1,
            None => {
                flags.push(flag);
                counts.push(1);
            }
        }
    }
    (flags, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, exp};

    #[test]
    fn angles_reproduce_the_rotation_and_continue_past_180_degrees() {
        let rotations = (0..40).map(|n| exp(&(Vec3::z() * (0.2 * f64::from(n)))));
        let angles = degrees(rotations, RotationOrder::Zyx, [0.0; 3]);
        for (n, [x, y, z]) in angles.into_iter().enumerate() {
            assert!(x.abs() < 1e-9 && y.abs() < 1e-9);
            assert!((z - (0.2 * n as f64).to_degrees()).abs() < 1e-9, "{n}: {z}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names = UniqueNames::new(["walk", "walk_2"].map(str::to_owned));
        let clips = ["walk", "run", "walk", " ", ""].map(|name| free_name(name, &mut names));
        assert_eq!(clips, ["walk_3", "run", "walk_4", "Take", "Take_2"]);
    }

    #[test]
    fn reduced_keys_stay_within_the_tolerance_and_cuts_are_held() {
        let jump = |n: usize| if n < 20 { 0.0 } else { 90.0 };
        let values: Vec<f64> = (0..60).map(|n| 10.0 * (n as f64 / 7.0).sin() + jump(n)).collect();
        let cuts = [20];
        for tolerance in [0.01, 0.1, 1.0] {
            let frames = needed_frames(values.iter().copied(), &cuts, tolerance);
            assert!(frames.len() < values.len() && frames.contains(&19) && frames.contains(&20));
            for pair in frames.windows(2) {
                for n in pair[0]..pair[1] {
                    let t = (n - pair[0]) as f64 / (pair[1] - pair[0]) as f64;
                    let t = if pair[1] == 20 { 0.0 } else { t };
                    let there = values[pair[0]] * (1.0 - t) + values[pair[1]] * t;
                    assert!((there - values[n]).abs() <= tolerance, "{n}");
                }
            }
            let (flags, counts) = interpolation(&frames, &cuts);
            assert_eq!(flags, [LINEAR, HELD, LINEAR]);
            assert_eq!(counts.iter().sum::<i32>() as usize, frames.len());
        }
        assert_eq!(interpolation(&[0, 1, 2], &[]), (vec![LINEAR], vec![3]));
    }

    #[test]
    fn a_steady_curve_keeps_one_key() {
        let track =
            JointCurves { model: 5, degrees: vec![[0.0, 1.0, 2.0], [0.0, 1.0, 3.0]], translations: None };
        let stack = AnimationStack {
            name: "a".into(),
            rate: 30.0,
            ticks: vec![0, 10],
            tracks: vec![track],
            morphs: vec![],
            cuts: vec![],
            tolerance: 0.0,
        };
        let mut id = 10;
        let written = write(
            &stack,
            &mut || {
                id += 1;
                id
            },
            0.01,
        );
        let curves: Vec<&FbxRecord> =
            written.objects.iter().filter(|o| *o.name == *b"AnimationCurve").collect();
        let keys = |r: &FbxRecord| r.child(b"KeyValueFloat").map(|k| k.properties[1]);
        assert_eq!(curves.iter().map(|c| keys(c)).collect::<Vec<_>>(), [Some(1), Some(1), Some(2)]);
        assert_eq!(written.connections.len(), 1 + 2 + 3);
    }
}
