//! The record `Definitions` of an FBX file: number of objects by type, and default values of their properties.
//!
//! Readers tolerate wrong counts; not all of them tolerate missing templates. Units: centimetres, degrees.
//! Source: the templates that Autodesk's FBX SDK writes, without properties that are irrelevant for the objects here.

use super::record_properties::{local_row, properties, row, time_row, triple_row, vector_row};
use super::records::FbxRecord;

/// Default colour of meshes and bones in the FBX SDK, RGB.
const GREY: [f64; 3] = [0.8; 3];

/// The record `Definitions` of these objects.
pub(super) fn definitions(objects: &[FbxRecord]) -> FbxRecord<'static> {
    let mut kinds: Vec<(&[u8], i32)> = Vec::new();
    for object in objects {
        match kinds.iter_mut().find(|(kind, _)| *kind == &*object.name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&object.name, 1)),
        }
    }
    let total = objects.len() as i32 + 1;
    let settings = FbxRecord::new("ObjectType").string("GlobalSettings").add(FbxRecord::new("Count").int(1));
    FbxRecord::new("Definitions")
        .add(FbxRecord::new("Version").int(100))
        .add(FbxRecord::new("Count").int(total))
        .add(settings)
        .all(kinds.into_iter().map(|(kind, count)| object_type(&String::from_utf8_lossy(kind), count)))
}

/// The record of one object type.
pub(super) fn object_type(kind: &str, count: i32) -> FbxRecord<'static> {
    let record = FbxRecord::new("ObjectType").string(kind).add(FbxRecord::new("Count").int(count));
    match template(kind) {
        Some((class, rows)) => {
            record.add(FbxRecord::new("PropertyTemplate").string(class).add(properties(rows)))
        }
        None => record,
    }
}

/// The class and the default properties of an object type.
fn template(kind: &str) -> Option<(&'static str, Vec<FbxRecord<'static>>)> {
    Some(match kind {
        "Model" => ("FbxNode", node()),
        "NodeAttribute" => (
            "FbxSkeleton",
            vec![
                triple_row("Color", "ColorRGB", "Color", "", GREY),
                row("Size", "double", "Number", "").double(100.0),
                row("LimbLength", "double", "Number", "H").double(1.0),
            ],
        ),
        "Geometry" => (
            "FbxMesh",
            vec![
                triple_row("Color", "ColorRGB", "Color", "", GREY),
                int("Primary Visibility", "bool", 1),
                int("Casts Shadows", "bool", 1),
                int("Receive Shadows", "bool", 1),
            ],
        ),
        "Material" => (
            "FbxSurfacePhong",
            vec![
                text("ShadingModel", "Phong"),
                int("MultiLayer", "bool", 0),
                triple_row("DiffuseColor", "Color", "", "A", GREY),
                number("DiffuseFactor", 1.0),
            ],
        ),
        "Texture" => (
            "FbxFileTexture",
            vec![int("TextureTypeUse", "enum", 0), text("UVSet", "default"), int("UseMaterial", "bool", 0)],
        ),
        "Video" => ("FbxVideo", vec![row("Path", "KString", "XRefUrl", "").string("")]),
        "AnimationStack" => {
            let times = ["LocalStart", "LocalStop", "ReferenceStart", "ReferenceStop"];
            let times = times.map(|name| time_row(name, 0));
            ("FbxAnimStack", [vec![text("Description", "")], times.to_vec()].concat())
        }
        "AnimationLayer" => (
            "FbxAnimLayer",
            vec![
                number("Weight", 100.0),
                int("Mute", "bool", 0),
                int("Solo", "bool", 0),
                int("Lock", "bool", 0),
                int("BlendMode", "enum", 0),
                int("RotationAccumulationMode", "enum", 0),
                int("ScaleAccumulationMode", "enum", 0),
            ],
        ),
        "AnimationCurveNode" => ("FbxAnimCurveNode", vec![row("d", "Compound", "", "")]),
        _ => return None,
    })
}

/// The default properties of a scene node.
fn node() -> Vec<FbxRecord<'static>> {
    let zero = |name| vector_row(name, [0.0; 3]);
    vec![
        int("QuaternionInterpolate", "enum", 0),
        zero("RotationOffset"),
        zero("RotationPivot"),
        zero("ScalingOffset"),
        zero("ScalingPivot"),
        int("RotationOrder", "enum", 0),
        int("RotationSpaceForLimitOnly", "bool", 0),
        zero("PreRotation"),
        zero("PostRotation"),
        int("RotationActive", "bool", 0),
        int("InheritType", "enum", 0),
        zero("GeometricTranslation"),
        zero("GeometricRotation"),
        vector_row("GeometricScaling", [1.0; 3]),
        int("Show", "bool", 1),
        int("DefaultAttributeIndex", "int", -1),
        local_row("Lcl Translation", [0.0; 3]),
        local_row("Lcl Rotation", [0.0; 3]),
        local_row("Lcl Scaling", [1.0; 3]),
        row("Visibility", "Visibility", "", "A").double(1.0),
        int("Visibility Inheritance", "Visibility Inheritance", 1),
    ]
}

fn int(name: &str, kind: &str, value: i32) -> FbxRecord<'static> {
    row(name, kind, "", "").int(value)
}

fn text(name: &str, value: &str) -> FbxRecord<'static> {
    row(name, "KString", "", "").string(value)
}

fn number(name: &str, value: f64) -> FbxRecord<'static> {
    row(name, "Number", "", "A").double(value)
}
