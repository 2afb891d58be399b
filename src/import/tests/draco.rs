//! Meshes that are compressed with Draco, by the C++ library.

use crate::development_data::data;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use posemill::export::{ExportOptions, Format, save};
use posemill::import::{ImportOptions, from_bytes, load};
use posemill::model::{Asset, Mesh};
use serde_json::json;

/// A ladder of 2 x 5 vertices, 0.5 m wide and 1 m high, whose weights pass from one joint to the other from below upward: in
/// order, and as EdgeBreaker reorders it. Attribute 7 has the joints, 9 the weights, 10 the positions.
const STREAMS: [&str; 2] = [
    "RFJBQ08CAgEAAAAICgEAAQIBAwICAwQDBQQEBQYFBwYGBwgHCQgBAwQEBAAHBAkEAAkACQMACgEAAgABAQEEAmk+mQED1L6YAAAAAAEAAAAAAIA/AAAAAAAA\
     AAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAQD8AAIA+AAAAAAAAAAAAAEA/AACAPgAAAAAAAAAAAAAAPwAAAD8AAAAAAAAAAAAAAD8AAAA/AAAAAAAAAAAAAIA+\
     AABAPwAAAAAAAAAAAACAPgAAQD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAEBABEDaQY3mTkDitGG+P8HAAAA+P8HAAQA+P8H\
     AAAA+P8HAAQA+P8HAAAA+P/3/wMA+P8HAAAA+P8HAAQA+P8HAAAAAAAAAAD//wAAAAAAAAAAAAAAAAAAAACAPxA=",
    "RFJBQ08CAgEBAAAACggCCAAAA1/Xdf8BEf8Cd0D/AndAAwAAAAEAAP8AAQEEBAQABwEBBAkEAAkAAQAJAwAKAgEBAQEEAmk+mQED1L6YAAAAAAEAAAAAAAAA\
     AACAPwAAAAAAAAAAAACAPgAAQD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA+AABAPwAAAAAAAAAAAAAAPwAAAD8AAAAAAAAAAAAAAD8AAAA/AAAAAAAA\
     AAAAAEA/AACAPgAAAAAAAAAAAABAPwAAgD4AAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAQEBABEDzSxpBjPNDATAimmC+v///wMA\
     AAAAAAQAAAIBAAAAAAD//wAAAAAAAAAAAAAAAAAAAACAPxA=",
];

/// A glTF of two joints with the mesh of a stream.
fn document(stream: &[u8]) -> String {
    let list = |component: u32, count: u32, kind: &str| json!({ "componentType": component, "count": count, "type": kind });
    let packed = json!({ "bufferView": 0, "attributes": { "JOINTS_0": 7, "WEIGHTS_0": 9, "POSITION": 10 } });
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(stream));
    json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_draco_mesh_compression"], "extensionsRequired": ["KHR_draco_mesh_compression"],
        "scene": 0, "scenes": [{ "nodes": [0, 2] }],
        "nodes": [
            { "name": "low", "children": [1] },
            { "name": "high", "translation": [0.0, 0.5, 0.0] },
            { "name": "Ladder", "mesh": 0, "skin": 0 },
        ],
        "skins": [{ "joints": [0, 1] }],
        "accessors": [list(5126, 10, "VEC3"), list(5123, 10, "VEC4"), list(5126, 10, "VEC4"), list(5125, 24, "SCALAR")],
        "meshes": [{ "primitives": [{
            "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 }, "indices": 3,
            "extensions": { "KHR_draco_mesh_compression": packed },
        }] }],
        "bufferViews": [{ "buffer": 0, "byteLength": stream.len() }],
        "buffers": [{ "byteLength": stream.len(), "uri": uri }],
    })
    .to_string()
}

fn read(stream: &[u8]) -> Asset {
    from_bytes(document(stream).as_bytes(), "ladder", Some("gltf"), None, &ImportOptions::default()).unwrap()
}

#[test]
fn compressed_meshes_are_read() {
    for stream in STREAMS {
        let asset = read(&STANDARD.decode(stream).unwrap());
        asset.character.check().unwrap();
        assert!(!asset.warnings.has("gltf-draco-mesh"), "{:?}", asset.warnings);
        let [mesh] = asset.character.meshes.as_slice() else { panic!("one mesh") };
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (10, 8));
        let mut area = 0.0;
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
            area += ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0;
        }
        assert!((area - 0.5).abs() < 1e-3, "all faces point the same way: {area}");
        for (vertex, position) in mesh.positions.iter().enumerate() {
            let high: f64 = mesh.influences(vertex).iter().filter(|(j, _)| *j == 1).map(|(_, w)| w).sum();
            assert!((high - f64::from(position[1])).abs() < 1e-4, "{position:?}: {high}");
        }
    }
}

#[test]
fn damaged_streams_are_warnings() {
    let whole = STANDARD.decode(STREAMS[1]).unwrap();
    let mut lost = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        for stream in [&damaged[..], &whole[..at]] {
            let asset = read(stream);
            asset.character.check().unwrap();
            lost += usize::from(asset.warnings.has("gltf-draco-mesh"));
        }
    }
    assert!(lost > whole.len(), "{lost}");
}

/// The triangles of all meshes.
fn triangles_of(meshes: &[Mesh]) -> usize {
    meshes.iter().map(|m| m.triangles.len()).sum()
}

#[cfg(feature = "fbx")]
#[test]
fn compressed_characters_keep_their_mesh_in_other_formats() {
    let Some(data) = data() else { return };
    let asset = load(data.join("gltf/quaternius/Mech_Finn_draco.glb"), &ImportOptions::default()).unwrap();
    let triangles = triangles_of(&asset.character.meshes);
    assert!(triangles > 100 && !asset.warnings.has("gltf-draco-mesh"), "{triangles}");
    let motion = asset.motion(0).unwrap();
    let options = ExportOptions { stem: "x".into(), ..ExportOptions::default() };
    let bytes = save(std::slice::from_ref(&motion), Format::FBX, &options).unwrap().0.swap_remove(0).bytes;
    let back = from_bytes(&bytes, "x", Some("fbx"), None, &ImportOptions::default()).unwrap();
    assert_eq!(triangles_of(&back.character.meshes), triangles);
}
