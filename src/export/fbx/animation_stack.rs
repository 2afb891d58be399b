//! Writes a clip as an FBX animation stack with one layer, curve nodes and curves.
//!
//! A constant curve has one key; all others have a key at every frame, with linear interpolation. Angles are continuous from
//! frame to frame, so that interpolation always takes the shorter arc.
//!
//! Space: each joint in its parent, as in the file. Units: degrees, the length unit of the file, ticks.

use super::record_properties::{self, object, properties, row, time_row};
use super::records::FbxRecord;
use crate::export::euler_angles::{self, RotationOrder};
use crate::math::Quat;

/// Angles that differ by less count as constant, degrees: the precision of the 32-bit quaternions of a glTF file.
const STEADY: f64 = 2e-5;
/// Translations that differ by less count as constant, metres.
pub(super) const STEADY_METRES: f64 = 1e-7;
/// Weights of morph targets that differ by less count as constant, percent: less than a 16-bit weight tells apart.
const STEADY_PERCENT: f64 = 1e-3;
/// Key attribute flag: linear interpolation.
const LINEAR: i32 = 4;

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

/// `name`, with a number appended if it is one of `taken`.
pub(super) fn free_name(name: &str, taken: &[String]) -> String {
    let name = match record_properties::plain(name) {
        empty if empty.trim().is_empty() => "Take".to_owned(),
        name => name,
    };
    let free = |name: &String| !taken.contains(name);
    let numbered = (1..).map(|n| format!("{name}_{n}"));
    std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name)
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
            let steady = STEADY_METRES / metres_per_unit;
            writer.curves(new, layer, track.model, ("T", "Lcl Translation"), translations, steady);
        }
        writer.curves(new, layer, track.model, ("R", "Lcl Rotation"), &track.degrees, STEADY);
    }
    for morph in &stack.morphs {
        let values: Vec<[f64; 1]> = morph.percent.iter().map(|percent| [*percent]).collect();
        let names = ("DeformPercent", "DeformPercent");
        writer.curves(new, layer, morph.channel, names, &values, STEADY_PERCENT);
    }
    writer.out.take = FbxRecord::new("Take")
        .string(&stack.name)
        .add(FbxRecord::new("FileName").string(&format!("{}.tak", stack.name.replace(' ', "_"))))
        .add(FbxRecord::new("LocalTime").long(start).long(stop))
        .add(FbxRecord::new("ReferenceTime").long(start).long(stop));
    writer.out
}

/// Collects the records of a stack.
struct CurveWriter {
    out: StackRecords,
    /// The encoded times of all frames, and of the first one only.
    times: [Vec<u8>; 2],
}

impl CurveWriter {
    /// The curves of one property of an object: of a vector, or of a number that has the property's name.
    fn curves<const N: usize>(
        &mut self,
        new: &mut impl FnMut() -> i64,
        layer: i64,
        model: i64,
        (short, property): (&str, &str),
        values: &[[f64; N]],
        steady: f64,
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
            let kept = if constant { &values[..1] } else { values };
            let keys: Vec<f32> = kept.iter().map(|v| v[k] as f32).collect();
            let curve = new();
            self.out.objects.push(
                FbxRecord::new("AnimationCurve")
                    .long(curve)
                    .string(&object("", "AnimCurve"))
                    .string("")
                    .add(FbxRecord::new("Default").double(first[k]))
                    .add(FbxRecord::new("KeyVer").int(4008))
                    .add(FbxRecord::new("KeyTime").property(&self.times[usize::from(constant)]))
                    .add(FbxRecord::new("KeyValueFloat").floats(&keys))
                    .add(FbxRecord::new("KeyAttrFlags").ints(&[LINEAR]))
                    .add(FbxRecord::new("KeyAttrDataFloat").floats(&[0.0; 4]))
                    .add(FbxRecord::new("KeyAttrRefCount").ints(&[keys.len() as i32])),
            );
            self.out.connections.push(property_connection(curve, node, axis));
        }
    }
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
        let taken = ["walk".to_owned(), "walk_1".to_owned()];
        assert_eq!(free_name("walk", &taken), "walk_2");
        assert_eq!((free_name("run", &taken), free_name(" ", &[])), ("run".to_owned(), "Take".to_owned()));
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
