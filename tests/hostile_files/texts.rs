//! BVH files, and what stands in for an FBX.

use super::Answer::{Read, Refused};
use super::Use::{Convert, Inspect, Preview, Take};
use super::{Answer, Hostile, MEMORY, Use, many};

const ALL: &[Use] = &[Inspect, Convert, Preview, Take];

fn bvh(hierarchy: &str, rows: &str) -> Vec<u8> {
    format!("HIERARCHY\n{hierarchy}\nMOTION\nFrames: 3\nFrame Time: 0.01\n{rows}").into_bytes()
}

/// A root of one channel with these joints below it.
fn below(joints: &str) -> String {
    format!("ROOT a {{ OFFSET 0 0 0 CHANNELS 1 Xrotation {joints} }}")
}

/// A body of one channel, over and over.
fn ladder(count: usize) -> String {
    "JOINT a { OFFSET 0 1 0 ".repeat(count) + &"}".repeat(count)
}

pub fn texts() -> Vec<Hostile> {
    let file = |name, bytes, uses: &'static [Use], answer: Answer| Hostile { name, bytes, uses, answer };
    let idle = |count: usize| "JOINT b{} ".repeat(count);
    let usd = "#usda 1.0\ndef Skeleton \"S\" {\nuniform token[] joints = [\"a\"]\n\
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]\n}\n";
    let limb = |k: usize| format!("JOINT l{k} {{ OFFSET {} 1 0 JOINT m{k} {{ OFFSET 0 -1 0 }} }}", k % 7);
    vec![
        file("joints-without-channels.bvh", bvh(&below(&idle(49_000)), &"0\n".repeat(2_600)), ALL, MEMORY),
        file("the-same-with-wrapped-rows.bvh", bvh(
            &format!("ROOT a {{ CHANNELS 2 Xrotation Yrotation {} }}", idle(49_000)),
            &"0\n0\n".repeat(2_600),
        ), ALL, MEMORY),
        file("a-star-of-joints.bvh", bvh(&below(&idle(49_000)), "0\n"), &[Inspect], Read),
        file("a-deep-ladder.bvh", bvh(&below(&ladder(30_000)), "0\n"), &[Inspect], Read),
        file("a-ladder-that-is-written.bvh", bvh(&below(&ladder(10_000)), "0\n"), &[Convert], Read),
        file("thousands-of-limbs.bvh", bvh(&below(&many(14_000, " ", limb)), "0\n1\n2\n"), &[Inspect], Read),
        file("more-joints-than-are-read.bvh", bvh(&"ROOT a{}".repeat(60_000), ""), ALL, Refused("MAX_JOINTS")),
        file("a-count-of-channels-beyond-numbers.bvh", bvh("ROOT a { CHANNELS 99999999999999999999 Xrotation }", "0\n"), ALL, Refused("is not a number")),
        file("frames-that-never-come.bvh", String::from_utf8(bvh(&below("JOINT b { OFFSET 0 1 0 }"), "0\n"))
            .unwrap().replace("Frames: 3", "Frames: 9999999999999999999").into_bytes(), &[Inspect], Read),
        file("one-endless-word.bvh", bvh(&below(""), &"7".repeat(900_000)), &[Inspect, Convert], Read),
        file("an-endless-name.bvh", bvh(&format!("ROOT {} {{ CHANNELS 1 Xrotation }}", "n".repeat(900_000)), "0\n"), &[Inspect], Read),
        file("bones-longer-than-numbers.bvh", bvh(&below(&"JOINT b { OFFSET 1e308 0 0 ".repeat(4)), "0\n"), ALL, Refused("far beyond any body")),
        file("animations-that-no-skeleton-binds.usda", format!(
            "{usd}{}{}", "def Skeleton \"b\" {}\n".repeat(20_000), "def SkelAnimation \"c\" {}\n".repeat(16_000),
        ).into_bytes(), &[Inspect], Read),
        file("braces-that-never-close.bvh", format!("HIERARCHY\n{}", "ROOT a {\n".repeat(30_000)).into_bytes(), ALL, Refused("the end of the file")),
        file("an-array-longer-than-its-file.fbx", b"; FBX 7.3.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7300\n}\n\
            Objects:  {\n\tGeometry: 1, \"Geometry::\", \"Mesh\" {\n\t\tVertices: *4000000000000 {\n\t\t\ta: 1,2,3\n".to_vec(),
            ALL, Refused("")),
    ]
}
