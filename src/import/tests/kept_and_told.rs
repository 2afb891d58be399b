//! What comes back from files of our own, and what readers say of things that clips do not hold.

use crate::export::{ExportOptions, Format, save};
use crate::gltf_document::{FLOAT, GlbBuilder, floats};
use crate::import::{ImportOptions, from_bytes};
use crate::model::{Asset, Skeleton};
use serde_json::json;

fn read(bytes: &[u8], extension: &str) -> Asset {
    from_bytes(bytes, "take", Some(extension), None, &ImportOptions::default()).unwrap()
}

fn again(take: &Asset, format: &str) -> Asset {
    let format = Format::of(format).unwrap();
    let files = save(&[take.motion(0).unwrap()], format, &ExportOptions::default()).unwrap().0;
    read(&files[0].bytes, format.name)
}

/// A take whose hip joints are where the hips are and never turn, as in the files of CMU.
fn with_hip_joints() -> Asset {
    let leaf = |name: &str, at: &str, tip: &str| {
        format!(
            "JOINT {name} {{ OFFSET {at} CHANNELS 3 Zrotation Yrotation Xrotation End Site {{ OFFSET {tip} }} }}"
        )
    };
    let joint = |name: &str, at: &str, below: String| {
        format!("JOINT {name} {{ OFFSET {at} CHANNELS 3 Zrotation Yrotation Xrotation {below} }}")
    };
    let leg = |side: &str, x: &str| {
        let foot = leaf(&format!("{side}Foot"), "0 -40 0", "0 -8 15");
        let shin = joint(&format!("{side}Leg"), "0 -40 0", foot);
        let thigh = joint(&format!("{side}UpLeg"), &format!("{x} -5 0"), shin);
        joint(&format!("{}HipJoint", &side[..1]), "0 0 0", thigh)
    };
    let spine = joint("LowerBack", "0 0 0", leaf("Head", "0 50 0", "0 20 0"));
    let root = "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation";
    let tree =
        format!("ROOT Hips {{ OFFSET 0 0 0 {root} {} {} {spine} }}", leg("Left", "9"), leg("Right", "-9"));
    // Root, then both legs from the hip joint down, then the spine.
    let row = |f: u32| {
        let swing = 25.0 * (f64::from(f) * 0.3).sin();
        let leg = |turn: f64| format!("0 0 0 0 0 {turn} 0 0 {} 0 0 {}", turn.abs(), -0.5 * turn);
        format!("0 95 {f} 0 {swing} 0 {} {} 0 0 {} 0 {swing} 0", leg(swing), leg(-swing), 0.2 * swing)
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    read(
        format!("HIERARCHY {tree}\nMOTION\nFrames: 40\nFrame Time: 0.04\n{}\n", rows.join("\n")).as_bytes(),
        "bvh",
    )
}

#[test]
fn a_table_finds_the_parents_of_joints_that_are_at_one_place() {
    let take = with_hip_joints();
    let table = again(&take, "csv");
    let named = |skeleton: &Skeleton| -> Vec<(String, Option<String>)> {
        let name = |id| skeleton.joint(id).name.clone();
        skeleton.ids().map(|id| (name(id), skeleton.parent(id).map(name))).collect()
    };
    assert_eq!(named(table.character.skeleton()), named(take.character.skeleton()));
    let roles = |asset: &Asset| -> Vec<_> {
        asset.character.rig.assignments().map(|(role, a)| (role, a.joint)).collect()
    };
    assert_eq!(roles(&table), roles(&take));
}

#[cfg(feature = "formats")]
#[test]
fn arrays_keep_the_ends_of_leaves() {
    let take = with_hip_joints();
    let arrays = again(&take, "npz");
    let tips =
        |asset: &Asset| -> Vec<_> { asset.character.skeleton().joints().iter().map(|j| j.tip).collect() };
    assert_eq!(tips(&take).iter().flatten().count(), 3);
    for (own, back) in tips(&take).iter().zip(tips(&arrays)) {
        match (own, back) {
            (Some(own), Some(back)) => assert!((own - back).norm() < 1e-6, "{own} {back}"),
            (own, back) => assert_eq!(*own, back),
        }
    }
}

#[test]
fn a_scale_that_changes_is_named_with_its_range() {
    let read = |scales: [f32; 2]| {
        let mut binary = GlbBuilder::default();
        let times = json!({"componentType": FLOAT, "count": 2, "type": "SCALAR", "min": [0.0], "max": [1.0]});
        let input = binary.push(&floats(&[[0.0_f32], [1.0]]), None, times);
        let values = json!({"componentType": FLOAT, "count": 2, "type": "VEC3"});
        let output = binary.push(&floats(&scales.map(|s| [1.0, s, 1.0])), None, values);
        let animation = json!({
            "samplers": [{"input": input, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "scale"}}],
        });
        let nodes = json!([{"name": "root", "children": [1]}, {"name": "arm", "translation": [0, 1, 0]}]);
        let document = json!({
            "nodes": nodes, "scene": 0, "scenes": [{"nodes": [0]}], "skins": [{"joints": [0, 1]}], "animations": [animation],
        });
        self::read(&binary.glb(document).unwrap(), "glb").warnings
    };
    let told = read([0.5, 1.25]);
    let warning = told.iter().find(|w| w.code == "gltf-scale-animated").unwrap();
    assert!(warning.message.contains("`arm` changes from 0.500 to 1.250"), "{}", warning.message);
    assert!(!read([1.0, 1.0]).has("gltf-scale-animated"));
    assert!(!read([1.0, 1.000_001]).has("gltf-scale-animated"), "rounding");
}

#[cfg(feature = "formats")]
#[test]
fn variants_that_are_left_out_are_named() {
    let text = "#usda 1.0\n(upAxis = \"Y\")\ndef SkelRoot \"R\" (variants = { string look = \"red\" } prepend variantSets = \"look\") {\n\
        def Skeleton \"S\" {\n uniform token[] joints = [\"a\"]\n uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]\n}\n\
        variantSet \"look\" = { \"red\" { def Mesh \"M\" { } } }\n}\n";
    let told = read(text.as_bytes(), "usda").warnings;
    assert!(told.iter().any(|w| w.code == "usd-variants" && w.message.contains("`look`")), "{told:?}");
}

#[cfg(feature = "formats")]
#[test]
fn usd_keeps_names_of_clips_that_are_no_names_of_prims() {
    let mut take = with_hip_joints();
    for name in ["walk é 2", "ns:a.b \"c\"", "plain", "2nd"] {
        take.clips[0].name = name.to_owned();
        for format in ["usda", "usdc"] {
            assert_eq!(again(&take, format).clips[0].name, name, "{format}");
        }
    }
}

#[cfg(feature = "fbx")]
#[test]
fn rates_of_television_come_back_from_fbx_as_they_are() {
    let mut take = with_hip_joints();
    for whole in [24.0, 30.0, 60.0] {
        let rate = whole * 1000.0 / 1001.0;
        take.clips[0].sample_rate = rate;
        let back = again(&take, "fbx").clips[0].sample_rate;
        assert!((back / rate - 1.0).abs() < 1e-12, "{back} {rate}");
    }
}

#[cfg(feature = "formats")]
#[test]
fn a_clip_of_one_frame_has_the_rate_of_its_usd_layer() {
    let mut take = with_hip_joints();
    take.clips[0] = take.motion(0).unwrap().part(3..4).clip;
    for format in ["usda", "usdc"] {
        let back = again(&take, format);
        assert_eq!((back.clips[0].frames(), back.clips[0].sample_rate), (1, 25.0), "{format}");
    }
}
