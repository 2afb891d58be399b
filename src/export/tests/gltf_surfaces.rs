//! Surfaces of glTF files in new files of FBX and USD, and back from FBX: texture transforms, alpha, metalness, meshes that no joint
//! moves.

use crate::fbx_reader::open;
use crate::gltf_document::{GlbBuilder, UNSIGNED_SHORT};
use posemill::export::{ExportOptions, Format, save};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{AlphaMode, Asset, Clip, Material, Motion, TextureWrap};
use posemill::report::Warnings;
use serde_json::{Value, json};
use std::sync::Arc;

/// A picture whose right half is clear.
fn half_clear() -> Vec<u8> {
    let alpha = |x: u32| if x < 4 { 255 } else { 0 };
    let pixels = image::RgbaImage::from_fn(8, 8, |x, _| image::Rgba([200, 100, 50, alpha(x)]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

const QUAD: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
const UV: [[f32; 2]; 4] = [[0.0, 1.0], [0.25, 1.0], [0.25, 0.5], [0.0, 0.5]];
const COLOR: [f32; 4] = [0.39, 0.5, 0.0, 1.0];

/// A card on two joints with a material, and a floor on a node outside of the skeleton, 3 m aside.
fn card(material: Value) -> Vec<u8> {
    card_with(material, |_, _| {})
}

/// The same, whose document is changed before it is packed.
fn card_with(material: Value, change: impl FnOnce(&mut Value, &mut GlbBuilder)) -> Vec<u8> {
    let mut binary = GlbBuilder::default();
    let corner = json!({ "componentType": UNSIGNED_SHORT, "count": 6, "type": "SCALAR" });
    let corners: Vec<u8> = [0u16, 1, 2, 0, 2, 3].iter().flat_map(|c| c.to_le_bytes()).collect();
    let indices = binary.push(&corners, None, corner);
    let (position, uv) = (binary.positions(&QUAD, None), binary.tuples(&UV, None));
    let joints = json!({ "componentType": UNSIGNED_SHORT, "count": 4, "type": "VEC4" });
    let joints = binary.push(&[0; 32], None, joints);
    let weights = binary.tuples(&[[1.0f32, 0.0, 0.0, 0.0]; 4], None);
    let color = binary.tuples(&[COLOR; 4], None);
    let image = binary.view(&half_clear(), None);
    let attributes = json!({ "POSITION": position, "TEXCOORD_0": uv, "JOINTS_0": joints, "WEIGHTS_0": weights, "COLOR_0": color });
    let mut json = json!({
        "scene": 0, "scenes": [{ "nodes": [0, 2, 3] }],
        "nodes": [
            { "name": "hips", "children": [1] }, { "name": "spine", "translation": [0, 1, 0] },
            { "name": "Card", "mesh": 0, "skin": 0 },
            { "name": "Floor", "mesh": 1, "translation": [3, 0, 0] },
        ],
        "skins": [{ "joints": [0, 1] }],
        "meshes": [
            { "name": "Card", "primitives": [{ "attributes": attributes, "indices": indices, "material": 0 }] },
            { "name": "Floor", "primitives": [{ "attributes": { "POSITION": position }, "indices": indices }] },
        ],
        "materials": [material], "textures": [{ "source": 0, "sampler": 0 }],
        "samplers": [{ "wrapS": 33071, "wrapT": 33071 }],
        "images": [{ "bufferView": image, "mimeType": "image/png" }],
    });
    change(&mut json, &mut binary);
    binary.glb(json).unwrap()
}

fn read(bytes: &[u8], format: &str) -> Asset {
    from_bytes(bytes, "card", Some(format), None, &ImportOptions::default()).unwrap()
}

fn write(asset: &Asset, format: &str, options: ExportOptions) -> (Vec<u8>, Warnings) {
    let options = ExportOptions { stem: "card".into(), ..options };
    let skeleton = asset.character.skeleton();
    let clip = Clip::from_poses("rest", 30.0, skeleton, &[skeleton.rest_pose(), skeleton.rest_pose()]);
    let motion = Motion::new(Arc::clone(&asset.character), clip);
    let (mut files, warnings) = save(&[motion], Format::of(format).unwrap(), &options).unwrap();
    (files.swap_remove(0).bytes, warnings)
}

/// A card as text of USD and as FBX.
fn written(material: Value) -> (String, Vec<u8>, Warnings) {
    let asset = read(&card(material), "glb");
    let (text, mut warnings) = write(&asset, "usda", ExportOptions::default());
    let (fbx, more) = write(&asset, "fbx", ExportOptions::default());
    warnings.extend(more);
    (String::from_utf8(text).unwrap(), fbx, warnings)
}

fn textured(more: Value) -> Value {
    let mut material =
        json!({ "name": "card", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } });
    material.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    material
}

#[test]
fn texture_transforms_are_part_of_the_coordinates() {
    let transform = json!({ "KHR_texture_transform": { "scale": [2, 0.5], "offset": [0.5, 0] } });
    let info = json!({ "index": 0, "extensions": transform });
    let (text, fbx, warnings) = written(json!({ "pbrMetallicRoughness": { "baseColorTexture": info } }));
    // USD and FBX have the origin at the lower left.
    assert!(text.contains("primvars:st = [(0.5, 0.5), (1, 0.5), (1, 0.75), (0.5, 0.75)]"), "{text}");
    let scene = open(&fbx);
    let mesh = scene.meshes.iter().find(|mesh| mesh.uv_sets.len() == 1).unwrap();
    let most = |f: fn(&ufbx::Vec2) -> f64| mesh.vertex_uv.values.iter().map(f).fold(0.0, f64::max);
    assert_eq!((most(|uv| uv.x), most(|uv| uv.y)), (1.0, 0.75));
    assert!(!warnings.has("surface-omitted"), "{warnings:?}");
}

#[test]
fn alpha_of_a_texture_cuts_out() {
    let (text, fbx, warnings) = written(textured(json!({ "alphaMode": "MASK", "alphaCutoff": 0.25 })));
    let opacity = "float inputs:opacity.connect = </Root/Materials/card/Color.outputs:a>";
    assert!(text.contains(opacity) && text.contains("float inputs:opacityThreshold = 0.25"), "{text}");
    let card = text.split("def Material ").find(|part| part.starts_with("\"card\"")).unwrap();
    assert!(card.contains("float outputs:a") && !card.contains("float inputs:opacity = "), "{card}");
    assert_eq!(text.matches("\"clamp\"").count(), 2, "{text}");
    assert!(warnings.has("fbx-cutoff"));
    let scene = open(&fbx);
    let material = scene.materials.iter().find(|m| *m.element.name == *"card").unwrap();
    assert!(material.fbx.transparency_factor.texture.is_some());
    let back = read(&fbx, "fbx");
    let back = &back.character.meshes[0].material;
    assert_eq!(back.alpha_mode, AlphaMode::Blend);
    assert_eq!(back.texture_wrap, [TextureWrap::Clamp; 2]);

    let (text, fbx, _) = written(textured(json!({})));
    assert!(text.contains("float inputs:opacity = 1") && !text.contains("outputs:a"), "{text}");
    assert_eq!(read(&fbx, "fbx").character.meshes[0].material.alpha_mode, AlphaMode::Opaque);
}

#[test]
fn numbers_of_a_surface_come_back_from_fbx() {
    let material = json!({
        "name": "glass", "alphaMode": "BLEND", "emissiveFactor": [1.0, 0.5, 0.0],
        "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.25, 0.125, 0.4], "metallicFactor": 0.75, "roughnessFactor": 0.1 },
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 5.0 }, "KHR_materials_ior": { "ior": 1.3 } },
    });
    let (text, fbx, warnings) = written(material);
    assert!(text.contains("inputs:emissiveColor = (5, 2.5, 0)"), "{text}");
    let said = format!("{warnings:?}");
    assert!(warnings.has("surface-omitted") && said.contains("`KHR_materials_ior`"), "{said}");
    let back = read(&fbx, "fbx");
    let Material { base_color, metallic, roughness, emissive, alpha_mode, .. } =
        &back.character.meshes[0].material;
    let near = |a: &[f32], b: &[f32]| std::iter::zip(a, b).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near(base_color, &[0.5, 0.25, 0.125, 0.4]), "{base_color:?}");
    assert!(near(&[*metallic, *roughness], &[0.75, 0.1]), "{metallic} {roughness}");
    assert!(near(emissive, &[5.0, 2.5, 0.0]), "{emissive:?}");
    assert_eq!(*alpha_mode, AlphaMode::Blend);
    // The reader of the program that most people open it with takes roughness from this name only.
    let name = b"\x09\0\0\0Shininess";
    assert!(fbx.windows(name.len()).any(|w| w == name));
    let color = back.character.meshes[0].colors[0];
    assert!(near(&color, &COLOR), "{color:?}");
    let srgb = open(&fbx).meshes[0].vertex_color.values[0].x;
    assert!((srgb - 0.6576).abs() < 1e-3, "{srgb}");
}

#[test]
fn numbers_beside_textures_are_named_where_they_are_lost_and_read_where_they_are_written() {
    let map = json!({ "index": 0 });
    let (text, fbx, warnings) = written(json!({
        "normalTexture": { "index": 0, "scale": 0.5 }, "occlusionTexture": { "index": 0, "strength": 0.5 },
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.5, 0.25, 1.0, 1.0], "baseColorTexture": map,
            "metallicFactor": 0.75, "roughnessFactor": 0.1, "metallicRoughnessTexture": map,
        },
    }));
    assert!(text.contains("inputs:scale = (0.5, 0.25, 1, 1)"), "{text}");
    let said = format!("{warnings:?}");
    for lost in
        ["scale of a normal map", "strength of an occlusion map", "colour factor and the factor of roughness"]
    {
        assert!(said.contains(lost), "{lost}: {said}");
    }
    let back = read(&fbx, "fbx");
    assert!(back.warnings.has("fbx-surface-texture"), "the numbers are used");
    let Material { metallic, roughness, .. } = back.character.meshes[0].material;
    assert!((metallic - 0.75).abs() < 1e-4 && (roughness - 0.1).abs() < 1e-4, "{metallic} {roughness}");
}

#[test]
fn meshes_that_no_joint_moves_stay_where_they_are() {
    let (text, fbx, _) = written(json!({}));
    let floor = text.split("def Mesh \"Floor\"").nth(1).expect("the floor");
    assert!(floor.contains("point3f[] points = [(3, 0, 0), (4, 0, 0), (4, 1, 0), (3, 1, 0)]"), "{floor}");
    assert!(!floor.contains("skel:"), "{floor}");
    let scene = open(&fbx);
    let node = scene.nodes.iter().find(|node| *node.element.name == *"Floor").expect("the floor");
    let mesh = node.mesh.as_ref().unwrap();
    assert!(mesh.skin_deformers.is_empty());
    let right = mesh.vertices.iter().map(|v| node.geometry_to_world.m00 * v.x).fold(0.0, f64::max);
    assert!((right - 4.0).abs() < 1e-6, "{right}");
    // A floor is no part of the body.
    assert_eq!(read(&card(json!({})), "glb").character.meshes.len(), 1);
}

#[test]
fn parts_of_a_file_that_have_no_place_elsewhere_are_named() {
    let bytes = card_with(json!({}), |json, _| {
        json["cameras"] = json!([{ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }]);
        json["nodes"][3]["camera"] = 0.into();
        json["nodes"].as_array_mut().unwrap().push(json!({ "name": "Spare", "mesh": 1 }));
        let lines = json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
        let wires = json!({ "attributes": { "POSITION": lines }, "mode": 1 });
        json["meshes"][1]["primitives"].as_array_mut().unwrap().push(wires);
        let coordinates = json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"].clone();
        json["meshes"][0]["primitives"][0]["targets"] = json!([{ "TEXCOORD_0": coordinates }]);
        json["extensionsUsed"] =
            json!(["KHR_lights_punctual", "KHR_materials_variants", "VENDOR_fur", "KHR_mesh_quantization"]);
        json["extensions"] = json!({
            "KHR_lights_punctual": { "lights": [{ "type": "point" }, { "type": "spot" }] },
            "KHR_materials_variants": { "variants": [{ "name": "red" }] },
        });
    });
    let asset = read(&bytes, "glb");
    for format in ["fbx", "usda", "usdc"] {
        let (_, warnings) = write(&asset, format, ExportOptions::default());
        let told = warnings.iter().find(|w| w.code == "file-parts-omitted").unwrap();
        let expected = "1 camera, 2 lights, 1 material variant, 1 primitive of points or lines, \
                        1 morph target of texture coordinates or colours, `VENDOR_fur` have no place";
        assert!(told.message.starts_with(expected), "{}", told.message);
        assert!(warnings.has("gltf-mesh-not-shown"), "{format}: {warnings:?}");
    }
    let (_, warnings) = write(&asset, "glb", ExportOptions::default());
    assert!(!warnings.has("file-parts-omitted") && !warnings.has("gltf-mesh-not-shown"), "{warnings:?}");
    let (_, plain) = write(&read(&card(json!({})), "glb"), "fbx", ExportOptions::default());
    assert!(!plain.has("file-parts-omitted") && !plain.has("gltf-mesh-not-shown"), "{plain:?}");
}

#[test]
fn all_weights_of_a_vertex_are_written() {
    // Nine joints; one weight of a ninth in each of three sets of four.
    let bytes = card_with(json!({}), |json, binary| {
        let nodes = json["nodes"].as_array_mut().unwrap();
        let first = nodes.len();
        nodes.extend((0..7).map(|k| json!({ "name": format!("more{k}") })));
        nodes[1]["children"] = (first..first + 7).collect::<Vec<_>>().into();
        json["skins"][0]["joints"] = [0, 1].into_iter().chain(first..first + 7).collect::<Vec<_>>().into();
        for set in 0..3u16 {
            let count = if set == 2 { 1 } else { 4 };
            let of_vertex = (0..4).map(|k| if k < count { 4 * set + k } else { 0 });
            let joints: Vec<u8> = (0..4).flat_map(|_| of_vertex.clone()).flat_map(u16::to_le_bytes).collect();
            let accessor = json!({ "componentType": UNSIGNED_SHORT, "count": 4, "type": "VEC4" });
            let weight = |k| if k < count { 1.0f32 / 9.0 } else { 0.0 };
            let attributes = &mut json["meshes"][0]["primitives"][0]["attributes"];
            attributes[format!("JOINTS_{set}")] = binary.push(&joints, None, accessor).into();
            attributes[format!("WEIGHTS_{set}")] = binary.tuples(&[[0, 1, 2, 3].map(weight); 4], None).into();
        }
    });
    let asset = read(&bytes, "glb");
    let (text, _) = write(&asset, "usda", ExportOptions::default());
    assert!(String::from_utf8(text).unwrap().contains("elementSize = 9"));
    let (fbx, warnings) = write(&asset, "fbx", ExportOptions::default());
    let scene = open(&fbx);
    let skin = scene.meshes.iter().find_map(|mesh| mesh.skin_deformers.iter().next()).unwrap();
    assert!(skin.vertices.iter().all(|vertex| vertex.num_weights == 9), "{warnings:?}");
}

#[test]
fn names_that_usd_paths_cannot_have_come_back() {
    let bytes =
        card_with(json!({ "name": "skin.001" }), |json, _| json["meshes"][0]["name"] = "Body-頭".into());
    let asset = read(&bytes, "glb");
    for format in ["usda", "usdc"] {
        let (bytes, _) = write(&asset, format, ExportOptions::default());
        let names = if format == "usda" { String::from_utf8(bytes.clone()).unwrap() } else { String::new() };
        assert!(format == "usdc" || names.contains("displayName = \"skin.001\""), "{names}");
        let back = read(&bytes, format);
        assert_eq!(back.character.meshes[0].name, "Body-頭", "{format}");
    }
}

#[test]
fn alpha_of_vertex_colours_is_written_to_usd() {
    let clear = card_with(json!({}), |json, binary| {
        let color = binary.tuples(&[[0.5f32, 0.5, 0.5, 0.25]; 4], None);
        json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = color.into();
    });
    let (text, _) = write(&read(&clear, "glb"), "usda", ExportOptions::default());
    assert!(String::from_utf8(text).unwrap().contains("primvars:displayOpacity = [0.25, 0.25, 0.25, 0.25]"));
    assert!(!written(json!({})).0.contains("displayOpacity"));
}

#[test]
fn a_file_of_an_old_version_is_written_anew() {
    let asset = read(&card(json!({})), "glb");
    let (bytes, _) = write(&asset, "fbx", ExportOptions::default());
    let inside = || ExportOptions { clips_inside: true, ..ExportOptions::default() };
    let mut old = read(&bytes, "fbx");
    assert_eq!(write(&old, "fbx", inside()).0, bytes);
    // The version of the header, which decides how records are read.
    let mut earlier = bytes.clone();
    earlier[23..27].copy_from_slice(&6100u32.to_le_bytes());
    for file in [earlier, b"; FBX 7.4.0 project file".to_vec()] {
        let mut character = (*old.character).clone();
        character.document.as_mut().unwrap().fbx = Some(Arc::new(file));
        old.character = Arc::new(character);
        let (new, warnings) = write(&old, "fbx", inside());
        assert_eq!(new[..27], bytes[..27]);
        assert!(warnings.has("fbx-rebuilt"), "{warnings:?}");
    }
}
