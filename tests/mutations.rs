//! Damaged files of every format that is read: an error, or a motion that passes [`Motion::check`]; never a panic.
//!
//! Five small files are cut at every byte; ten and the texts that people write are changed at random places, by a seed that
//! a failure tells. `POSEMILL_MUTATION_SECONDS` is how long each family of readers is at it (2), `POSEMILL_MUTATION_SEED`
//! where it starts, `POSEMILL_MUTATION_FAMILY` the only one.

mod development_data;

use posemill::batch::{Manifest, OutputState, listed_takes};
use posemill::dynamics::Scene;
use posemill::export::{self, ExportOptions};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{Asset, Motion};
use posemill::pipeline::{PipelineConfig, TakeFile};
use posemill::retarget::JointMap;
use posemill::stages::{STAGES, Setting};
use std::fs;
use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a folder of outputs says of them.
const MANIFEST: &str = ".posemill.jsonl";

const ASF: &str = ":units\nlength 0.45\nangle deg\n:root\norder TX TY TZ RX RY RZ\naxis XYZ\nposition 0 0 0\norientation 0 0 0\n\
    :bonedata\nbegin\nname arm\ndirection 0 -1 0\nlength 2\naxis 0 0 90 XYZ\ndof rx rz\nend\nbegin\nname hand\n\
    direction 1 0 0\nlength 1\naxis 10 20 30 XYZ\ndof ry\nend\n:hierarchy\nbegin\nroot arm\narm hand\nend\n";
const AMC: &str = ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 1 2 3 0 90 0\narm 90 7.5\nhand 4\n2\nroot 1 2 3 0 91 0\narm 91 7\nhand 5\n";
const BVH: &str = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation \
    Yrotation\nJOINT LeftUpLeg\n{\nOFFSET 10 -5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -40 0\n}\n}\n}\n\
    MOTION\nFrames: 2\nFrame Time: 0.0333\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 19\n";
const GLTF: &str = r#"{"asset":{"version":"2.0"},"nodes":[{"name":"a","children":[1],"translation":[0,1,0]},{"name":"b","mesh":0,"skin":0}],
    "skins":[{"joints":[0,1],"inverseBindMatrices":4}],"meshes":[{"primitives":[{"attributes":{"POSITION":2,"JOINTS_0":3,"WEIGHTS_0":5}}]}],
    "animations":[{"samplers":[{"input":0,"output":1}],"channels":[{"sampler":0,"target":{"node":0,"path":"rotation"}}]}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR"},
    {"componentType":5126,"count":2,"type":"VEC4","sparse":{"count":1,"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}},
    {"componentType":5126,"count":3,"type":"VEC3"},{"componentType":5121,"count":3,"type":"VEC4"},
    {"componentType":5126,"count":2,"type":"MAT4"},{"componentType":5126,"count":3,"type":"VEC4"}],
    "bufferViews":[{"buffer":0,"byteLength":16}],"buffers":[{"byteLength":16,"uri":"data:;base64,AAAAAAAAgD8AAAAAAACAPw=="}]}"#;
const FACE: &str = "Timecode,BlendshapeCount,jawOpen,EyeBlinkLeft,HeadYaw\n10:00:00:01.5,61,0.5,0.25,0\n10:00:00:02.5,61,0.75,0,0\n\
    10:00:00:09,0,,,\n23:00:01:02,61,1,1,1\n";
const FACE_JSON: &str = r#"{"fps":30,"names":["jawOpen","cheekPuff"],"frames":[[0.5,0.25],[1,0]],"frameList":[{"time":0,"weights":{"a":1}}]}"#;
const USDA: &str = "#usda 1.0\n(\n metersPerUnit = 1\n upAxis = \"Z\"\n)\ndef SkelRoot \"R\" {\n def Skeleton \"S\" {\n\
    uniform token[] joints = [\"a\", \"a/b\"]\n uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), \
    ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]\n rel skel:animationSource = </R/A>\n }\n def SkelAnimation \"A\" {\n\
    uniform token[] joints = [\"a/b\"]\n uniform token[] blendShapes = [\"s\"]\n float[] blendShapeWeights.timeSamples = { 0: [0.5], 1: [1] }\n\
    quatf[] rotations.timeSamples = { 0: [(1,0,0,0)], 1: [(0,1,0,0)] }\n }\n def Mesh \"M\" {\n point3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n\
    int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0,1,2]\n int[] primvars:skel:jointIndices = [0,1,0] (elementSize = 1)\n\
    float[] primvars:skel:jointWeights = [1,1,1] (elementSize = 1)\n normal3f[] normals = [(0,0,1),(0,0,1),(0,0,1)] \
    (interpolation = \"faceVarying\")\n uniform token[] skel:blendShapes = [\"s\"]\n rel skel:blendShapeTargets = </R/M/s>\n\
    def BlendShape \"s\" { vector3f[] offsets = [(0,0,1)]\n int[] pointIndices = [2] }\n }\n}\n";
const PIPELINE: &str = "[input]\nmotion = [\"a.bvh\"]\nmemory = \"2GB\"\nunits = \"cm\"\n[input.roles.words]\nzampa = \"hand\"\n[output]\n\
    dir = \"out\"\nfail_on = [\"foot_skate>1cm/s\"]\n[[stage]]\nuse = \"resample\"\nrate_hz = 30.0\n[[stage]]\nuse = \"ik\"\n\
    [[stage.effectors]]\njoint = \"left_hand\"\nkeys = [[0.0, 1.0, 2.0, 3.0]]\n";
const MAP: &str = "source_roles.left_upper_leg = \"LeftUpLeg\"\n[[pair]]\nrole = \"hips\"\nsource = \"Hips\"\ntarget = \"Hips\"\n\
    [limits.left_lower_arm]\nflexion = 120\n";

/// A small generator of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Numbers and words that readers trip over.
const ODD: [&[u8]; 22] = [
    b"-1",
    b"0",
    b"1e308",
    b"-1e39",
    b"nan",
    b"inf",
    b"4294967295",
    b"18446744073709551615",
    b"2147483648",
    b"65536",
    b"1e-320",
    b"{",
    b"}",
    b"[",
    b"\"",
    b"\n",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x80\x7f",
    b"\xff\xff\x7f\x7f",
    b"\x00\x00\xc0\x7f",
    b",",
    b"\\u0000",
];

/// The file with up to four changes.
fn mutated(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(bytes.len());
        let length = dice.below(16).min(bytes.len() - at);
        match dice.below(8) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.next() as u8,
            2 => bytes.truncate(at.max(1)),
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let again = bytes[at..at + length].to_vec();
                bytes.splice(at..at, again);
            }
            5 => {
                let word = ODD[dice.below(ODD.len())];
                let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
                bytes.splice(at..at + digits, word.iter().copied());
            }
            6 => {
                let word = ODD[dice.below(ODD.len())];
                let length = word.len().min(bytes.len() - at);
                bytes[at..at + length].copy_from_slice(&word[..length]);
            }
            _ => {
                let from = dice.below(bytes.len());
                let part: Vec<u8> = bytes[from..].iter().take(length).copied().collect();
                let end = (at + part.len()).min(bytes.len());
                bytes.splice(at..end, part);
            }
        }
        if bytes.is_empty() {
            return vec![0];
        }
    }
    bytes
}

/// What reads one family of files; the word is for nothing but its type.
type Reader = Box<dyn Fn(&[u8]) + Send>;

struct Family {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    read: Reader,
}

fn own(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap()
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn check(asset: &Asset) {
    asset.character.check().unwrap();
    for clip in 0..asset.clips.len() {
        asset.motion(clip).unwrap().check().unwrap();
    }
    for warning in asset.warnings.iter() {
        assert!(warning.message.len() < 5000, "{}", warning.code);
    }
}

/// Files of a format, read as from `folder`.
fn files(
    name: &'static str,
    extension: &'static str,
    folder: Option<PathBuf>,
    seeds: Vec<Vec<u8>>,
) -> Family {
    let read = move |bytes: &[u8]| match from_bytes(
        bytes,
        "mutated",
        Some(extension),
        folder.as_deref(),
        &ImportOptions::default(),
    ) {
        Ok(asset) => check(&asset),
        Err(error) => assert!(error.to_string().len() < 5000),
    };
    Family { name, seeds, read: Box::new(read) }
}

fn squat() -> Motion {
    from_bytes(&own("squat.bvh"), "squat", Some("bvh"), None, &ImportOptions::default())
        .unwrap()
        .motion(0)
        .unwrap()
}

fn exported(name: &str) -> Vec<u8> {
    let format = export::FORMATS.iter().find(|f| f.name == name).unwrap();
    let options = ExportOptions { stem: "squat".into(), ..ExportOptions::default() };
    (format.write)(&[squat()], &options).unwrap().0.remove(0).bytes
}

/// An archive of such arrays of single numbers: name, shape and how many they are.
fn arrays(arrays: &[(&str, &str, usize)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, shape, count) in arrays {
        let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n");
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(head.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(head.as_bytes()).unwrap();
        (0..*count).for_each(|k| zip.write_all(&(0.5f32 + (k % 99) as f32 * 0.01).to_le_bytes()).unwrap());
    }
    zip.finish().unwrap().into_inner()
}

fn npz() -> Vec<u8> {
    arrays(&[("poses", "3, 66", 198), ("trans", "3, 3", 9), ("mocap_framerate", "", 1)])
}

/// A model of MikuMikuDance: a triangle, three bones, of which one copies and one has a chain, a target and a group.
fn pmx() -> Vec<u8> {
    let number = |out: &mut Vec<u8>, x: f32| out.extend(x.to_le_bytes());
    let int = |out: &mut Vec<u8>, x: i32| out.extend(x.to_le_bytes());
    let text = |out: &mut Vec<u8>, text: &[u8]| {
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text);
    };
    let mut out = b"PMX \x00\x00\x00\x40".to_vec();
    out.extend([8, 1, 0, 1, 1, 1, 1, 1, 1]);
    (0..4).for_each(|_| text(&mut out, b"a"));
    int(&mut out, 3);
    for k in 0..3 {
        (0..8).for_each(|n| number(&mut out, if n == k { 1.0 } else { 0.25 }));
        out.extend([1, 0, 1]);
        (0..2).for_each(|_| number(&mut out, 0.5));
    }
    int(&mut out, 3);
    out.extend([0, 1, 2]);
    int(&mut out, 1);
    text(&mut out, b"a.png");
    int(&mut out, 1);
    (0..2).for_each(|_| text(&mut out, b"m"));
    (0..11).for_each(|_| number(&mut out, 0.5));
    out.push(1);
    (0..5).for_each(|_| number(&mut out, 0.5));
    out.extend([0, 255, 0, 1, 0]);
    text(&mut out, b"");
    int(&mut out, 3);
    int(&mut out, 3);
    for (k, flags) in [0_u16, 0x320, 0].into_iter().enumerate() {
        (0..2).for_each(|_| text(&mut out, &[b'x' + k as u8]));
        (0..3).for_each(|_| number(&mut out, k as f32));
        out.push((k as u8).wrapping_sub(1));
        int(&mut out, 0);
        out.extend(flags.to_le_bytes());
        (0..3).for_each(|_| number(&mut out, 1.0));
        if k == 1 {
            out.push(0);
            number(&mut out, 0.5);
            out.push(2);
            int(&mut out, 3);
            number(&mut out, 1.0);
            int(&mut out, 1);
            out.extend([0, 1]);
            (0..6).for_each(|n| number(&mut out, n as f32 - 3.0));
        }
    }
    int(&mut out, 2);
    for kind in [1_u8, 0] {
        (0..2).for_each(|_| text(&mut out, b"t"));
        out.extend([1, kind]);
        int(&mut out, 1);
        out.push(0);
        (0..if kind == 1 { 3 } else { 1 }).for_each(|_| number(&mut out, 0.5));
    }
    (0..3).for_each(|_| int(&mut out, 0));
    out
}

/// A motion of MikuMikuDance: a foot that is pulled, a weight, and a chain that is switched off.
fn vmd() -> Vec<u8> {
    let mut out = b"Vocaloid Motion Data 0002".to_vec();
    out.resize(50, 0);
    out.extend(2_u32.to_le_bytes());
    for frame in [0_u32, 3] {
        out.extend(b"\x8d\xb6\x91\xab\x82\x68\x82\x6a\0\0\0\0\0\0\0");
        out.extend(frame.to_le_bytes());
        (0..7).for_each(|k| out.extend((k as f32 * 0.5).to_le_bytes()));
        out.extend([20; 64]);
    }
    out.extend(1_u32.to_le_bytes());
    out.extend(b"\x82\xa0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f");
    (0..3).for_each(|_| out.extend(0_u32.to_le_bytes()));
    out.extend(1_u32.to_le_bytes());
    out.extend([2, 0, 0, 0, 1, 1, 0, 0, 0]);
    out.extend(b"\x8d\xb6\x91\xab\x82\x68\x82\x6a\0\0\0\0\0\0\0\0\0\0\0\0\0");
    out
}

/// Two frames of a figure of 22 points, of one person or of several who stand in each other.
fn positions(people: usize) -> Vec<u8> {
    let head = match people {
        1 => "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 22, 3), }\n".to_owned(),
        n => format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {n}, 22, 3), }}\n"),
    };
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    for frame in 0..2 {
        for point in (0..people).flat_map(|_| 0..22u8) {
            let [x, y] = [f32::from(point % 2) * 0.3, 1.6 - f32::from(point) * 0.07];
            let p = [x, y, 0.01 * frame as f32];
            p.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
    }
    bytes
}

/// Markers of a figure that stands: label and place in millimetres, Z up.
const MARKERS: [(&str, [i16; 3]); 17] = [
    ("LASI", [120, 100, 1000]),
    ("RASI", [-120, 100, 1000]),
    ("SACR", [0, -60, 1010]),
    ("LKNE", [150, 10, 500]),
    ("RKNE", [-150, 10, 500]),
    ("LANK", [140, 0, 90]),
    ("RANK", [-140, 0, 90]),
    ("LTOE", [120, 150, 40]),
    ("RTOE", [-120, 150, 40]),
    ("LSHO", [190, 0, 1450]),
    ("RSHO", [-190, 0, 1450]),
    ("LELB", [250, 0, 1180]),
    ("RELB", [-250, 0, 1180]),
    ("LWRA", [260, 60, 950]),
    ("RWRA", [-260, 60, 950]),
    ("C7", [0, -60, 1500]),
    ("CLAV", [0, 60, 1420]),
];

/// Five frames of these markers, of which one has a gap, as a C3D file of a processor.
fn c3d(processor: u8, floats: bool) -> Vec<u8> {
    let word = |x: u16| if processor == 86 { x.to_be_bytes() } else { x.to_le_bytes() };
    let float = |x: f32| match processor {
        84 => x.to_le_bytes(),
        86 => x.to_be_bytes(),
        // Floats of a VAX: four times the value, with exchanged words.
        _ => {
            let [a, b, c, d] = (4.0 * x).to_be_bytes();
            [b, a, d, c]
        }
    };
    let scale = if floats { -1.0 } else { 1.0 };
    let mut bytes = vec![2, 0x50];
    [MARKERS.len() as u16, 0, 1, 5, 10].iter().for_each(|x| bytes.extend(word(*x)));
    bytes.extend(float(scale));
    [3, 0].iter().for_each(|x| bytes.extend(word(*x)));
    bytes.extend(float(60.0));
    bytes.resize(512, 0);
    bytes.extend([1, 0x50, 1, processor, 5, 0xff]);
    bytes.extend(b"POINT");
    bytes.extend(word(3));
    bytes.push(0);
    let mut entry = |name: &str, kind: i8, sizes: &[u8], values: &[u8]| {
        bytes.extend([name.len() as u8, 1]);
        bytes.extend(name.as_bytes());
        bytes.extend(word((5 + sizes.len() + values.len()) as u16));
        bytes.extend([kind as u8, sizes.len() as u8]);
        bytes.extend(sizes);
        bytes.extend(values);
        bytes.push(0);
    };
    let labels: String = MARKERS.iter().map(|(label, _)| format!("{label:<4}")).collect();
    entry("LABELS", -1, &[4, MARKERS.len() as u8], labels.as_bytes());
    entry("UNITS", -1, &[2], b"mm");
    entry("SCALE", 4, &[], &float(scale));
    entry("USED", 2, &[], &word(MARKERS.len() as u16));
    bytes.resize(1024, 0);
    for frame in 0..5_i16 {
        for (k, (_, [x, y, z])) in MARKERS.iter().enumerate() {
            let residual = if frame == 2 && k == 3 { -1 } else { 1 };
            for value in [x + frame, y + 10 * frame, *z, residual] {
                match floats {
                    true => bytes.extend(float(f32::from(value))),
                    false => bytes.extend(word(value as u16)),
                }
            }
        }
    }
    bytes
}

/// The same as a table.
fn trc() -> String {
    let mut text =
        "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumFrames\tUnits\n60\t3\tmm\nFrame#\tTime".to_owned();
    MARKERS.iter().for_each(|(label, _)| text += &format!("\t{label}\t\t"));
    for frame in 0..3 {
        text += &format!("\n{frame}\t0.1");
        for (k, (_, [x, y, z])) in MARKERS.iter().enumerate() {
            text += &if frame == 1 && k == 3 {
                "\t\t\t".to_owned()
            } else {
                format!("\t{x}\t{}\t{z}", y + frame)
            };
        }
    }
    text + "\n"
}

/// Frames of a tracker.
const POINTS_JSON: &str = r#"[{"landmarks":[[0,1,0],[0.1,0.9,0],[-0.1,0.9,0],[0,1.1,0],[0.1,0.5,0],[-0.1,0.5,0],[0,1.2,0],[0.1,0.1,0],
    [-0.1,0.1,0],[0,1.3,0],[0.1,0,0.1],[-0.1,0,0.1],[0,1.5,0],[0.05,1.45,0],[-0.05,1.45,0],{"x":0,"y":1.6,"z":0,"visibility":0.9},
    [0.2,1.45,0],[-0.2,1.45,0],[0.4,1.45,0],[-0.4,1.45,0],[0.6,1.45,0.1],[-0.6,1.45,0.1]]},[]]"#;

/// The body that a take of the SMPL family was fitted with, of so few vertices that none is like another.
fn body_model(folder: &Path) -> Family {
    let take = arrays(&[
        ("poses", "3, 66", 198),
        ("trans", "3, 3", 9),
        ("mocap_framerate", "", 1),
        ("betas", "2,", 2),
    ]);
    let model =
        arrays(&[("J_regressor", "22, 5", 110), ("v_template", "5, 3", 15), ("shapedirs", "5, 3, 2", 30)]);
    let path = folder.join("model.npz");
    let fitted = move |model: &[u8]| {
        fs::write(&path, model).unwrap();
        let options = ImportOptions { body_model: Some(path.clone()), ..ImportOptions::default() };
        from_bytes(&take, "mutated", Some("npz"), None, &options)
    };
    check(&fitted(&model).expect("a model that is whole is read"));
    let read = move |bytes: &[u8]| match fitted(bytes) {
        Ok(asset) => check(&asset),
        Err(error) => assert!(error.to_string().len() < 5000),
    };
    Family { name: "body-model", seeds: vec![model], read: Box::new(read) }
}

/// Pictures of materials, drawn on a triangle.
#[cfg(feature = "render")]
fn pictures() -> Family {
    use posemill::math::{Quat, Transform};
    use posemill::model::{Binding, Character, Clip, Joint, JointId, Material, Mesh, Rig, Skeleton, Texture};
    use posemill::render::{PictureFormat, PreviewOptions, Size, Subject, preview};
    use std::sync::Arc;
    let drawn = |picture: Option<&[u8]>, side: u32, format: PictureFormat| {
        let skeleton = Skeleton::new(vec![Joint::new("root", None, Transform::identity())]).unwrap();
        let joint_from_mesh = Transform::identity().to_matrix();
        let texture = picture.map(|bytes| Texture { bytes: bytes.to_vec().into() });
        let mesh = Mesh {
            positions: vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 1.0, 0.0]],
            texcoords: vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]],
            joints: vec![[0; 4]; 3],
            weights: vec![[1.0, 0.0, 0.0, 0.0]; 3],
            triangles: vec![[0, 1, 2]],
            bindings: vec![Binding { joint: JointId::new(0), joint_from_mesh }],
            material: Material { base_color: [1.0; 4], texture, double_sided: true, ..Material::default() },
            ..Mesh::default()
        };
        let clip = Clip::new("still", 30.0, 1, vec![Quat::identity()], Vec::new(), Vec::new());
        let character = Character { meshes: vec![mesh], ..Character::new("square", Rig::new(skeleton, [])) };
        let motion = Motion::new(Arc::new(character), clip);
        let size = Some(Size { width: side, height: side });
        let options = PreviewOptions { frames: Some(1), size, ..PreviewOptions::default() };
        preview(&[Subject::from(&motion)], &options, format, &|_, _| {})
    };
    let seeds = [PictureFormat::Png, PictureFormat::Jpeg].map(|format| drawn(None, 48, format).unwrap());
    let read = move |bytes: &[u8]| drop(drawn(Some(bytes), 16, PictureFormat::Png));
    Family { name: "pictures", seeds: seeds.into(), read: Box::new(read) }
}

/// What is known of sizes and times: whatever stands there, an output that is up to date stays so, and a stale one stale.
fn seen(folder: &Path) -> Family {
    let out = folder.join("batch/out");
    let file = out.join(".posemill.seen");
    let record = fs::read_to_string(out.join(MANIFEST)).unwrap();
    let made_by = record.split_once("\"pipeline\":\"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let path = folder.join("batch/takes/a.bvh");
    let take = TakeFile { path, relative: "a.bvh".into() };
    // What the family of manifests reads is another folder's.
    let own = folder.join("seen");
    fs::create_dir_all(&own).unwrap();
    for name in ["a.glb", MANIFEST] {
        fs::copy(out.join(name), own.join(name)).unwrap();
    }
    let read = move |bytes: &[u8]| {
        fs::write(own.join(".posemill.seen"), bytes).unwrap();
        let manifest = Manifest::look(&own);
        assert!(matches!(manifest.state(&own.join("a.glb"), &made_by, &take), OutputState::UpToDate(..)));
        assert_eq!(manifest.state(&own.join("a.glb"), "another pipeline", &take), OutputState::Stale);
    };
    let seeds = vec![fs::read(file).ok().filter(|bytes| !bytes.is_empty()).unwrap_or_else(|| vec![7; 64])];
    Family { name: "seen", seeds, read: Box::new(read) }
}

fn families(folder: &Path) -> Vec<Family> {
    let text = |name, seed: &str, read: Box<dyn Fn(&str) + Send>| Family {
        name,
        seeds: vec![seed.as_bytes().to_vec()],
        read: Box::new(move |bytes| read(&String::from_utf8_lossy(bytes))),
    };
    fs::write(folder.join("mutated.asf"), ASF).unwrap();
    let data = development_data::data();
    let real = |names: &[&str]| {
        let paths = names.iter().filter_map(|name| Some(data.as_ref()?.join(name)));
        paths.filter_map(|path| fs::read(path).ok()).collect::<Vec<_>>()
    };
    let mut glb = vec![own("tailed.glb"), exported("glb"), exported("vrma")];
    glb.extend(real(&["vrm/basic_armature_vrm1.vrm", "vrm/basic_armature_vrm0.vrm"]));
    let character = from_bytes(&own("robot.glb"), "robot", Some("glb"), None, &ImportOptions::default())
        .unwrap()
        .character;
    let source = squat().character;
    vec![
        files("bvh", "bvh", None, vec![BVH.into(), own("turn.bvh")]),
        files("glb", "glb", None, glb),
        files("gltf", "gltf", None, vec![GLTF.into(), exported("gltf")]),
        files("packed", "glb", None, real(&["derived/cesium-man-gltfpack-meshopt.glb"])),
        #[cfg(feature = "fbx")]
        files(
            "fbx",
            "fbx",
            None,
            std::iter::once(exported("fbx"))
                .chain(real(&["later/fbx/max_transformed_skin_7500_ascii.fbx"]))
                .collect(),
        ),
        files("npz", "npz", None, vec![npz(), arrays(&[("joints", "3, 22, 3", 198), ("fps", "", 1)])]),
        files("npz-own", "npz", None, vec![exported("npz")]),
        files("csv-own", "csv", None, vec![exported("csv")]),
        files("points", "npy", None, vec![positions(1), positions(2)]),
        files("points-json", "json", None, vec![POINTS_JSON.into()]),
        files("c3d", "c3d", None, vec![c3d(84, true), c3d(85, false), c3d(86, true)]),
        files("trc", "trc", None, vec![trc().into()]),
        files("asf", "asf", None, vec![ASF.into()]),
        files("amc", "amc", Some(folder.to_owned()), vec![AMC.into()]),
        files("usda", "usda", None, vec![USDA.into(), exported("usda")]),
        files(
            "usdc",
            "usdc",
            None,
            vec![fixture("usd/two_joints.usdc"), fixture("usd/two_joints_0_4.usdc"), exported("usdc")],
        ),
        files("vmd", "vmd", None, vec![exported("vmd"), vmd()]),
        files("pmx", "pmx", None, vec![pmx()]),
        files("face", "csv", None, vec![FACE.into(), FACE_JSON.into()]),
        text("pipeline", PIPELINE, Box::new(|text| drop(PipelineConfig::parse("p.toml", text, &[], STAGES)))),
        text("map", MAP, Box::new(move |text| drop(JointMap::read(text, "m.toml", &source, &character)))),
        text(
            "scene",
            &String::from_utf8(
                fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chain.toml")).unwrap(),
            )
            .unwrap(),
            Box::new(|text| drop(Scene::parse(text))),
        ),
        Family {
            name: "targets",
            seeds: vec![b"time,x,y,z\n0,0.3,1,0\n0.5,0.3,1.25,1e-3\n1.0,0.1,1,0\n".to_vec()],
            read: Box::new(targets(folder)),
        },
        Family {
            name: "list",
            seeds: vec![b"a.bvh\n./src/lib.rs\r\n../x/b.bvh\n\n/tmp/c.bvh\n".to_vec()],
            read: Box::new(|bytes| {
                let found = listed_takes(bytes, std::path::Path::new(""), &[]);
                assert!(found.takes.len() + found.unseen.len() <= bytes.len());
            }),
        },
        Family { name: "manifest", seeds: vec![manifest(folder)], read: Box::new(records(folder)) },
        seen(folder),
        body_model(folder),
        #[cfg(feature = "render")]
        pictures(),
        text(
            "contacts",
            "part,from,to\nleft_foot,0,10\nright_foot,5,9\n",
            Box::new(|text| drop(posemill::contacts::read(text))),
        ),
        text(
            "contacts-own",
            &String::from_utf8(own("walk.contacts.csv")).unwrap(),
            Box::new(|text| drop(posemill::contacts::read(text))),
        ),
    ]
}

/// Reads a table of targets as the stage `ik` does.
fn targets(folder: &Path) -> impl Fn(&[u8]) + use<> {
    let text = "[[stage]]\nuse = \"ik\"\n[[stage.effectors]]\njoint = \"left_hand\"\ncsv = \"targets.csv\"\n";
    let config = PipelineConfig::parse("p.toml", text, &[], STAGES).unwrap();
    let folder = folder.to_owned();
    let setting = Setting::new(squat().character, &folder);
    fs::write(folder.join("targets.csv"), "0,0,1,0\n").unwrap();
    config.stages[0].stage.resolve(&setting).expect("the stage reads a table that is whole");
    move |bytes| {
        fs::write(folder.join("targets.csv"), bytes).unwrap();
        if let Err(error) = config.stages[0].stage.resolve(&setting) {
            assert!(error.to_string().len() < 5000);
        }
    }
}

/// What a run over two takes leaves.
fn manifest(folder: &Path) -> Vec<u8> {
    let at = |name: &str| folder.join("batch").join(name);
    fs::create_dir_all(at("takes")).unwrap();
    ["a", "b"].iter().for_each(|take| fs::write(at("takes").join(take).with_extension("bvh"), BVH).unwrap());
    let run = Command::new(env!("CARGO_BIN_EXE_posemill"))
        .args(["convert", "takes/*.bvh", "-o", "out/", "-q"])
        .current_dir(at(""))
        .status();
    assert!(run.unwrap().success());
    fs::read(at("out").join(MANIFEST)).unwrap()
}

/// Reads a manifest: what is damaged may only make an output stale, never another file ours.
fn records(folder: &Path) -> impl Fn(&[u8]) + use<> {
    let out = folder.join("batch/out");
    fs::write(out.join("mine.glb"), "mine").unwrap();
    let path = folder.join("batch/takes/a.bvh");
    let take = TakeFile { path, relative: "a.bvh".into() };
    move |bytes| {
        fs::write(out.join(MANIFEST), bytes).unwrap();
        let manifest = Manifest::look(&out);
        assert!(!manifest.may_replace(&out.join("mine.glb")));
        assert_eq!(
            manifest.state(&out.join("a.glb"), "another pipeline", &take).clone(),
            match manifest.may_replace(&out.join("a.glb")) {
                true => OutputState::Stale,
                false => OutputState::Foreign(out.join("a.glb")),
            }
        );
    }
}

/// Reads, and tells what was read where that panics.
fn attempt(family: &Family, bytes: &[u8], what: impl Fn() -> String, folder: &Path) {
    if catch_unwind(AssertUnwindSafe(|| (family.read)(bytes))).is_err() {
        let kept = folder.join(format!("broken.{}", family.name));
        let _ = fs::write(&kept, bytes);
        panic!("{}: {}; kept as {}", family.name, what(), kept.display());
    }
}

fn told(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual)
}

#[test]
fn files_cut_at_every_byte_are_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    for family in families(folder.path()) {
        let smallest = family.seeds.iter().min_by_key(|s| s.len());
        let Some(seed) = smallest.filter(|s| s.len() < 4096) else { continue };
        for cut in 0..seed.len() {
            attempt(
                &family,
                &seed[..cut],
                || format!("cut at {cut}"),
                Path::new(env!("CARGO_TARGET_TMPDIR")),
            );
        }
        println!("{}: {} cuts", family.name, seed.len());
    }
}

/// Changes the files of a family for so long, from a number on.
fn change(family: &Family, seconds: Duration, first: u64) {
    let (started, mut slowest) = (Instant::now(), Duration::ZERO);
    let mut number = first;
    while started.elapsed() < seconds {
        let mut dice = Dice(number);
        let seed = &family.seeds[dice.below(family.seeds.len())];
        let bytes = mutated(seed, &mut dice);
        let begun = Instant::now();
        attempt(family, &bytes, || format!("seed {number}"), Path::new(env!("CARGO_TARGET_TMPDIR")));
        slowest = slowest.max(begun.elapsed());
        number += 1;
    }
    println!("{}: {} changed files, the slowest took {slowest:.2?}", family.name, number - first);
    assert!(slowest < Duration::from_secs(20), "{}: {slowest:?}", family.name);
}

#[test]
fn changed_files_are_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let seconds = Duration::from_secs(told("POSEMILL_MUTATION_SECONDS", 2));
    let first = told("POSEMILL_MUTATION_SEED", 0);
    let only = std::env::var("POSEMILL_MUTATION_FAMILY").ok();
    let chosen =
        |family: &Family| !family.seeds.is_empty() && only.as_ref().is_none_or(|only| only == family.name);
    let left = Mutex::new(families(folder.path()).into_iter().filter(chosen).collect::<Vec<_>>().into_iter());
    let next = || left.lock().unwrap().next();
    // Threads of their own: one of the pool that waits inside of a reader would begin another family.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(family) = next() {
                    change(&family, seconds, first);
                }
            });
        }
    });
}
