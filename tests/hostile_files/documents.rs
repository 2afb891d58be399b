//! glTF and GLB files.

use super::Answer::{Read, Refused};
use super::Use::{Character, Convert, Inspect, Preview};
use super::{Hostile, MEMORY, Use, glb, many};

const ALL: &[Use] = &[Inspect, Convert, Preview, Character];

/// A list of zeros that costs the file nothing.
fn zeros(count: u64, kind: &str) -> String {
    format!(r#"{{"componentType":5126,"count":{count},"type":"{kind}"}}"#)
}

/// An accessor of floats at the start of view 0.
fn view(count: usize, kind: &str) -> String {
    format!(r#"{{"bufferView":0,"componentType":5126,"count":{count},"type":"{kind}"}}"#)
}

/// A document with these further members, the binary chunk as view 0.
fn document(members: &str, bin: &[u8]) -> Vec<u8> {
    let buffers = format!(
        r#""buffers":[{{"byteLength":{0}}}],"bufferViews":[{{"buffer":0,"byteLength":{0}}}]"#,
        bin.len().max(1)
    );
    let buffers = if bin.is_empty() || members.contains("\"buffers\"") { "" } else { &buffers };
    let comma = if buffers.is_empty() { "" } else { "," };
    glb(&format!(r#"{{"asset":{{"version":"2.0"}},{members}{comma}{buffers}}}"#), bin)
}

/// A clip that turns node 0 at these times.
fn turning(times: &[f32], samplers: usize) -> Vec<u8> {
    let mut bin: Vec<u8> = times.iter().flat_map(|t| t.to_le_bytes()).collect();
    let start = bin.len();
    bin.extend(times.iter().flat_map(|_| [0.0f32, 0.0, 0.0, 1.0]).flat_map(f32::to_le_bytes));
    let n = times.len();
    let accessors = format!(
        r#""accessors":[{},{{"bufferView":0,"byteOffset":{start},"componentType":5126,"count":{n},"type":"VEC4"}}]"#,
        view(n, "SCALAR")
    );
    let animation = r#"{"samplers":[{"input":0,"output":1}],"channels":[{"sampler":0,"target":{"node":0,"path":"rotation"}}]}"#;
    let animations = many(samplers, ",", |_| animation.into());
    document(
        &format!(
            r#""nodes":[{{"name":"a","children":[1]}},{{"name":"b"}}],{accessors},"animations":[{animations}]"#
        ),
        &bin,
    )
}

fn nodes(count: usize, node: impl Fn(usize) -> String) -> String {
    format!(r#""nodes":[{}]"#, many(count, ",", node))
}

/// A chain: every node but the last has the next one as its child.
fn chain(count: usize, further: impl Fn(usize) -> String) -> String {
    nodes(count, |k| {
        if k + 1 < count { format!(r#"{{"children":[{}]{}}}"#, k + 1, further(k)) } else { "{}".into() }
    })
}

/// `count` files of one picture: a large one that packs well.
fn picture(side: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; (side as usize).div_ceil(8) * side as usize]).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A triangle on each of `meshes` nodes, each with a material of its own that shows the picture.
fn pictured(side: u32, meshes: usize) -> Vec<u8> {
    let mut bin: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let picture = picture(side);
    bin.extend(&picture);
    let members = format!(
        r#"{},"meshes":[{}],"materials":[{}],"textures":[{{"source":0}}],"images":[{{"bufferView":1,"mimeType":"image/png"}}],
        "accessors":[{},{}],"buffers":[{{"byteLength":{}}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":{}}}]"#,
        nodes(meshes, |k| format!(r#"{{"mesh":{k}}}"#)),
        many(meshes, ",", |k| format!(
            r#"{{"primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":1}},"material":{k}}}]}}"#
        )),
        many(meshes, ",", |_| r#"{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}"#.into()),
        view(3, "VEC3"),
        view(3, "VEC2"),
        bin.len(),
        picture.len(),
    );
    document(&members, &bin)
}

pub fn documents() -> Vec<Hostile> {
    let file = |name, bytes, uses, answer| Hostile { name, bytes, uses, answer };
    let identity: Vec<u8> =
        (0..16).map(|k| if k % 5 == 0 { 1.0f32 } else { 0.0 }).flat_map(f32::to_le_bytes).collect();
    let every_way = r#"{"attributes":{"POSITION":0,"NORMAL":0,"COLOR_0":1,"TEXCOORD_0":2}}"#;
    let triangle: Vec<u8> = [0.0f32; 9].iter().flat_map(|x| x.to_le_bytes()).collect();
    let shown = |primitives: String| format!(r#""meshes":[{{"primitives":[{primitives}]}}]"#);
    vec![
        file(
            "a-long-name-for-thousands-of-meshes.glb",
            document(
                &format!(
                    r#"{},"skins":[{{"joints":[1]}}],"meshes":[{{"name":"{}","primitives":[{}]}}],"accessors":[{},{},{}]"#,
                    nodes(2, |k| if k == 0 { r#"{"mesh":0,"skin":0}"#.into() } else { r#"{"name":"a"}"#.into() }),
                    "m".repeat(500_000),
                    many(6_000, ",", |_| r#"{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}"#.into()),
                    view(3, "VEC3"),
                    r#"{"componentType":5121,"count":3,"type":"VEC4"}"#,
                    zeros(3, "VEC4")
                ),
                &triangle,
            ),
            &[Inspect, Convert, Character],
            MEMORY,
        ),
        file(
            "zero-filled.glb",
            document(
                &format!(
                    r#"{},{},"accessors":[{}]"#,
                    nodes(1, |_| r#"{"mesh":0}"#.into()),
                    shown(many(1000, ",", |k| format!(r#"{{"attributes":{{"POSITION":{k}}}}}"#))),
                    many(1000, ",", |_| zeros(1 << 20, "VEC3"))
                ),
                &[],
            ),
            ALL,
            MEMORY,
        ),
        file(
            "aliasing-attributes.glb",
            document(
                &format!(
                    r#"{},{},"accessors":[{},{},{}]"#,
                    nodes(8, |_| r#"{"mesh":0}"#.into()),
                    shown(many(4, ",", |_| every_way.into())),
                    zeros(1 << 20, "VEC3"),
                    zeros(1 << 20, "VEC4"),
                    zeros(1 << 20, "VEC2")
                ),
                &[],
            ),
            ALL,
            MEMORY,
        ),
        file(
            "one-list-beyond-any-memory.glb",
            document(
                &format!(
                    r#"{},{},"accessors":[{}]"#,
                    nodes(1, |_| r#"{"mesh":0}"#.into()),
                    shown(r#"{"attributes":{"POSITION":0}}"#.into()),
                    zeros(1 << 62, "VEC3")
                ),
                &[],
            ),
            ALL,
            MEMORY,
        ),
        file(
            "bindings-of-many-primitives.glb",
            document(
                &format!(
                    r#"{},{},"skins":[{{"joints":[{}]}}],"accessors":[{},{{"componentType":5121,"count":1,"type":"VEC4"}},{}]"#,
                    nodes(4000, |k| if k == 0 { r#"{"mesh":0,"skin":0}"#.into() } else { "{}".into() }),
                    shown(many(4000, ",", |_| {
                        r#"{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}"#.into()
                    })),
                    many(4000, ",", |k| k.to_string()),
                    zeros(1, "VEC3"),
                    zeros(1, "VEC4")
                ),
                &[],
            ),
            ALL,
            MEMORY,
        ),
        file(
            "primitives-of-nothing-on-many-nodes.glb",
            document(
                &format!(
                    r#"{},{},"accessors":[{}]"#,
                    nodes(20_000, |_| r#"{"mesh":0}"#.into()),
                    shown(many(10_000, ",", |_| r#"{"attributes":{"POSITION":0}}"#.into())),
                    zeros(0, "VEC3")
                ),
                &[],
            ),
            ALL,
            MEMORY,
        ),
        file(
            "views-over-the-same-bytes-as-images.glb",
            {
                let bin = vec![7; 300_000];
                let members = format!(
                    r#"{},"images":[{}],"buffers":[{{"byteLength":300000}}],"bufferViews":[{}]"#,
                    nodes(1, |_| "{}".into()),
                    many(9000, ",", |k| format!(r#"{{"bufferView":{k}}}"#)),
                    many(9000, ",", |_| r#"{"buffer":0,"byteLength":300000}"#.into())
                );
                document(&members, &bin)
            },
            &[Inspect, Convert],
            MEMORY,
        ),
        file(
            "images-over-one-view.glb",
            document(
                &format!(
                    r#"{},"images":[{}]"#,
                    nodes(1, |_| "{}".into()),
                    many(20_000, ",", |_| r#"{"bufferView":0}"#.into())
                ),
                &vec![7; 400_000],
            ),
            &[Inspect],
            Read,
        ),
        file("one-large-picture-on-many-materials.glb", pictured(8192, 300), &[Preview], Read),
        file("a-picture-beyond-the-limit.glb", pictured(20_000, 2), &[Preview], Read),
        file("skins-over-one-list-of-matrices.glb", {
            let bin = identity.repeat(8000);
            let members = format!(
                r#"{},"skins":[{}],"accessors":[{}]"#,
                nodes(2, |_| "{}".into()),
                many(5000, ",", |_| r#"{"joints":[0,1],"inverseBindMatrices":0}"#.into()),
                view(8000, "MAT4")
            );
            document(&members, &bin)
        }, ALL, MEMORY),
        file("skins-held-against-many-carriers.glb", {
            let members = format!(
                r#"{},"meshes":[{{"primitives":[]}}],"skins":[{}],"accessors":[{}]"#,
                nodes(10_000, |_| r#"{"mesh":0,"skin":0}"#.into()),
                many(8000, ",", |k| format!(r#"{{"joints":[{k}],"inverseBindMatrices":0}}"#)),
                zeros(1, "MAT4")
            );
            document(&members, &[])
        }, &[Inspect], MEMORY),
        file("sparse-places-of-nothing.glb", {
            let sparse = r#"{"componentType":5126,"count":4000000,"type":"VEC4","sparse":{"count":100000,
                "indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}}"#;
            let members = format!(
                r#"{},{},"accessors":[{sparse},{}]"#,
                nodes(1, |_| r#"{"mesh":0}"#.into()),
                shown(many(40, ",", |_| r#"{"attributes":{"POSITION":1,"COLOR_0":0}}"#.into())),
                zeros(4_000_000, "VEC3")
            );
            document(&members, &vec![0; 400_000])
        }, ALL, MEMORY),
        file("a-last-key-beyond-time.glb", turning(&[0.0, 0.1, 0.2, 3e38], 1), ALL, MEMORY),
        file("a-last-key-with-a-flipped-bit.glb", turning(&[0.0, 0.1, 0.2, 3e6], 1), ALL, MEMORY),
        file("keys-that-descend.glb", turning(&[0.0, 2.0, 1.0], 1), ALL, Refused("key times do not ascend")),
        file("a-key-that-is-no-number.glb", turning(&[0.0, f32::NAN], 1), ALL, Refused("not finite")),
        file("clips-over-the-same-keys.glb", turning(&[0.0, 40_000.0], 2000), ALL, MEMORY),
        file("weights-of-many-nodes.glb", {
            let bin: Vec<u8> = [0.0f32, 3000.0].iter().flat_map(|x| x.to_le_bytes()).collect();
            let channel = |k: usize| format!(r#"{{"sampler":1,"target":{{"node":{k},"path":"weights"}}}}"#);
            let members = format!(
                r#"{},"accessors":[{},{},{}],"animations":[{{"samplers":[{{"input":0,"output":1}},{{"input":0,"output":2}}],
                "channels":[{{"sampler":0,"target":{{"node":0,"path":"rotation"}}}},{}]}}]"#,
                nodes(5000, |k| format!(r#"{{"name":"n{k}"}}"#)),
                view(2, "SCALAR"),
                zeros(2, "VEC4"),
                zeros(400, "SCALAR"),
                many(4999, ",", |k| channel(k + 1))
            );
            document(&members, &bin)
        }, ALL, MEMORY),
        file("packed-into-more-than-there-is.glb", {
            let packed = r#"{"buffer":0,"byteLength":16,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":16,
                "byteStride":16,"count":1099511627776,"mode":"ATTRIBUTES"}}}"#;
            let members = format!(
                r#"{},"buffers":[{{"byteLength":16}}],"bufferViews":[{packed}]"#,
                nodes(1, |_| "{}".into())
            );
            document(&members, &[0; 16])
        }, ALL, if cfg!(feature = "meshopt") { MEMORY } else { Read }),
        file("empty-nodes.glb", document(&nodes(260_000, |_| "{}".into()), &[]), ALL, MEMORY),
        file("empty-materials.glb", document(
            &format!(r#"{},"materials":[{}]"#, nodes(1, |_| "{}".into()), many(330_000, ",", |_| "{}".into())),
            &[],
        ), &[Inspect], Read),
        file("nodes-of-one-name.glb", document(&nodes(25_000, |_| r#"{"name":"a"}"#.into()), &[]), &[Inspect], Read),
        file("a-deep-chain.glb", document(&chain(25_000, |_| String::new()), &[]), &[Inspect], Read),
        file("many-leaves-below-a-deep-chain.glb", {
            let leaves: Vec<String> = (12_000..24_000).map(|k| k.to_string()).collect();
            let node = |k: usize| match k {
                k if k < 11_999 => format!(r#"{{"children":[{}]}}"#, k + 1),
                11_999 => format!(r#"{{"children":[{}]}}"#, leaves.join(",")),
                _ => "{}".into(),
            };
            let members = format!(r#"{},"skins":[{{"joints":[{}]}}]"#, nodes(24_000, node), leaves.join(","));
            document(&members, &[])
        }, &[Inspect], Read),
        file("a-ring-of-nodes.gltf", br#"{"asset":{"version":"2.0"},"nodes":[{"children":[1]},{"children":[0]}]}"#.to_vec(), ALL, Refused("its own ancestor")),
        file("an-index-past-32-bits.gltf", br#"{"asset":{"version":"2.0"},"nodes":[{"children":[4294967297]}]}"#.to_vec(), ALL, Refused("is not a valid index")),
        file("brackets-in-brackets.gltf", format!(r#"{{"asset":{{"version":"2.0"}},"nodes":{}"#, "[".repeat(900_000)).into_bytes(), ALL, Refused("")),
        file("a-chunk-longer-than-its-file.glb", {
            let mut bytes = document(&nodes(1, |_| "{}".into()), &[]);
            bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
            bytes
        }, ALL, Refused("chunk needs")),
        file("a-device-as-a-buffer.gltf", br#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0}],"buffers":[{"uri":"/dev/zero","byteLength":9}],
            "bufferViews":[{"buffer":0,"byteLength":9}],"accessors":[{"bufferView":0,"componentType":5126,"count":1,"type":"SCALAR"},
            {"bufferView":0,"componentType":5126,"count":1,"type":"VEC4"}],
            "animations":[{"samplers":[{"input":0,"output":1}],"channels":[{"sampler":0,"target":{"node":0,"path":"rotation"}}]}]}"#.to_vec(),
            ALL, Refused("is not relative")),
    ]
}
