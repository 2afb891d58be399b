//! Arrays that hold rotations are takes: posemill's own tables and archives come back as they went out, and the archives of motion
//! models are read.

use posemill::export::{self, ExportOptions};
use posemill::import::{ImportOptions, UpAxis, from_bytes};
use posemill::math::{Quat, Transform, Vec3};
use posemill::model::{Asset, Character, Clip, Motion, Pose, Rig, Role, Side, Skeleton};
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

fn own(name: &str) -> Motion {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap();
    from_bytes(&bytes, "take", Some("bvh"), None, &ImportOptions::default()).unwrap().motion(0).unwrap()
}

fn exported(motion: &Motion, name: &str, options: ExportOptions) -> Vec<u8> {
    let format = export::FORMATS.iter().find(|f| f.name == name).unwrap();
    let options = ExportOptions { stem: "take".into(), ..options };
    (format.write)(std::slice::from_ref(motion), &options).unwrap().0.remove(0).bytes
}

fn read(bytes: &[u8], extension: &str) -> Asset {
    let asset = from_bytes(bytes, "take", Some(extension), None, &ImportOptions::default()).unwrap();
    asset.motion(0).unwrap().check().unwrap();
    asset
}

/// Largest distance of the joints of two motions, metres, and angle of their rotations in space, degrees.
fn apart(a: &Motion, b: &Motion) -> (f64, f64) {
    let (mut distance, mut angle) = (0.0f64, 0.0f64);
    assert_eq!(a.clip.frames(), b.clip.frames());
    for frame in 0..a.clip.frames() {
        let (pose, other) = (a.model_pose(frame), b.model_pose(frame));
        for id in a.character.skeleton().ids() {
            let name = &a.character.skeleton().joint(id).name;
            let found = other.joint(b.character.skeleton().find(name).unwrap());
            distance = distance.max((pose.position(id) - found.translation).norm());
            angle = angle.max(pose.joint(id).rotation.angle_to(&found.rotation).to_degrees());
        }
    }
    (distance, angle)
}

#[test]
fn an_archive_of_posemill_comes_back_as_it_went_out() {
    for take in ["walk.bvh", "jump.bvh", "turn.bvh"] {
        let motion = own(take);
        for z_up in [false, true] {
            let mut options = ExportOptions::default();
            if z_up {
                options.npz.up = serde_json::from_str("\"z\"").unwrap();
            }
            let back = read(&exported(&motion, "npz", options), "npz").motion(0).unwrap();
            let (distance, angle) = apart(&motion, &back);
            assert!(distance < 2e-5 && angle < 1e-3, "{take}: {distance} m, {angle} degrees");
            assert!((back.clip.sample_rate - motion.clip.sample_rate).abs() < 1e-3, "{take}");
            let (rest, found) = (motion.character.skeleton(), back.character.skeleton());
            for (a, b) in rest.joints().iter().zip(found.joints()) {
                assert_eq!((&a.name, a.parent), (&b.name, b.parent));
                assert!((a.rest.translation - b.rest.translation).norm() < 1e-5);
            }
            let roles = |motion: &Motion| {
                motion.character.rig.assignments().map(|(r, a)| (r, a.joint)).collect::<Vec<_>>()
            };
            assert_eq!(roles(&motion), roles(&back), "{take}");
        }
    }
}

#[test]
fn a_table_of_posemill_comes_back_as_it_went_out() {
    for take in ["walk.bvh", "jump.bvh"] {
        let motion = own(take);
        for long in [false, true] {
            let mut options = ExportOptions::default();
            if long {
                options.csv.layout = serde_json::from_str("\"long\"").unwrap();
            }
            let asset = read(&exported(&motion, "csv", options), "csv");
            let back = asset.motion(0).unwrap();
            let (distance, angle) = apart(&motion, &back);
            assert!(distance < 1e-4 && angle < 1e-2, "{take}: {distance} m, {angle} degrees");
            assert!((back.clip.sample_rate - motion.clip.sample_rate).abs() < 1e-3, "{take}");
            let (rest, found) = (motion.character.skeleton(), back.character.skeleton());
            for (a, b) in rest.joints().iter().zip(found.joints()) {
                assert_eq!((&a.name, a.parent), (&b.name, b.parent), "{take}");
            }
            assert!(asset.warnings.has("csv-parents"));
        }
    }
}

/// The same motion of a skeleton whose joints have Z up: without the rotation of its root it lies on its back.
fn with_z_up(motion: &Motion) -> Motion {
    let turn = Quat::from_axis_angle(&Vec3::x_axis(), -std::f64::consts::FRAC_PI_2);
    let rig = &motion.character.rig;
    let turned = |root: bool, local: Transform| match root {
        true => Transform::new(local.rotation * turn, local.translation),
        false => Transform::new(turn.inverse() * local.rotation * turn, turn.inverse() * local.translation),
    };
    let joints = rig.skeleton().joints().iter().map(|joint| {
        let mut joint = joint.clone();
        joint.rest = turned(joint.parent.is_none(), joint.rest);
        joint.tip = joint.tip.map(|tip| turn.inverse() * tip);
        joint
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let poses: Vec<Pose> = (0..motion.clip.frames())
        .map(|frame| {
            let mut pose = motion.clip.pose(rig.skeleton(), frame);
            pose.local_mut().iter_mut().enumerate().for_each(|(k, local)| *local = turned(k == 0, *local));
            pose
        })
        .collect();
    let clip = Clip::from_poses("z", motion.clip.sample_rate, &skeleton, &poses);
    let roles: Vec<_> = rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    Motion::new(Arc::new(Character::new("z", Rig::new(skeleton, roles))), clip)
}

#[test]
fn the_rest_pose_of_a_table_stands_whatever_axes_its_joints_have() {
    let motion = with_z_up(&own("walk.bvh"));
    let back = read(&exported(&motion, "csv", ExportOptions::default()), "csv").motion(0).unwrap();
    let (distance, angle) = apart(&motion, &back);
    assert!(distance < 1e-4 && angle < 1e-2, "{distance} m, {angle} degrees");
    let [rest, found] = [&motion, &back].map(|motion| motion.character.reference_pose());
    for (a, b) in rest.joints().iter().zip(found.joints()) {
        // The root is at its usual height, which is not that of the rest pose.
        let [a, b] =
            [a.translation - rest.joints()[0].translation, b.translation - found.joints()[0].translation];
        assert!((a - b).norm() < 0.15, "{a} {b}");
    }
}

#[test]
fn rows_that_are_missing_in_a_table_move_no_other_frame_in_time() {
    let motion = own("walk.bvh");
    let text = String::from_utf8(exported(&motion, "csv", ExportOptions::default())).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    // Four rows are missing after frame 20; what comes after stays where it was.
    let gap: Vec<&str> = [&rows[..21], &rows[25..]].concat();
    let asset = read(gap.join("\n").as_bytes(), "csv");
    assert!(asset.warnings.has("csv-uneven-times"));
    let back = asset.motion(0).unwrap();
    assert!((back.clip.sample_rate - motion.clip.sample_rate).abs() < 1e-3);
    let (distance, _) = apart(&motion, &back);
    assert!(distance < 0.02, "{distance} m");
    let read_error = |rows: &[&str]| {
        let text = rows.join("\n");
        from_bytes(text.as_bytes(), "t", Some("csv"), None, &ImportOptions::default())
            .unwrap_err()
            .to_string()
    };
    let doubled = [&rows[..10], &rows[9..]].concat();
    assert!(read_error(&doubled).contains("line 11: the time"), "{}", read_error(&doubled));
    let backwards: Vec<&str> = rows[..1].iter().chain(rows[1..].iter().rev()).copied().collect();
    assert!(read_error(&backwards).contains("line 3: the time"), "{}", read_error(&backwards));
    let torn = [&rows[..10], &rows[rows.len() - 3..]].concat();
    assert!(read_error(&torn).contains("more rows are missing"), "{}", read_error(&torn));
}

#[test]
fn a_table_in_centimetres_or_milliseconds_is_reported() {
    let motion = own("walk.bvh");
    let text = String::from_utf8(exported(&motion, "csv", ExportOptions::default())).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let names: Vec<&str> = head.split(',').collect();
    let warned = |time: f64, length: f64| {
        let number = |(cell, name): (&str, &&str)| {
            let by = match name.rsplit_once(".p") {
                Some(_) => length,
                None if *name == "time" => time,
                None => 1.0,
            };
            (by * cell.parse::<f64>().unwrap()).to_string()
        };
        let row = |row: &str| row.split(',').zip(&names).map(number).collect::<Vec<_>>().join(",");
        let rows: Vec<String> = rows.lines().map(row).collect();
        let asset = read(format!("{head}\n{}\n", rows.join("\n")).as_bytes(), "csv");
        ["size-odd", "csv-slow"].map(|code| asset.warnings.has(code))
    };
    assert_eq!(warned(1.0, 1.0), [false, false]);
    assert_eq!(warned(1.0, 100.0), [true, false]);
    assert_eq!(warned(4.0 * motion.clip.sample_rate, 1.0), [false, true]);
}

/// One array of `f8`, or of texts.
enum Content<'a> {
    Numbers(Vec<f64>),
    Texts(&'a [&'a str]),
}

/// An archive of arrays: name, shape, content.
fn archive(arrays: &[(&str, &str, Content)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, shape, content) in arrays {
        let (kind, bytes) = match content {
            Content::Numbers(numbers) => {
                ("<f8".to_owned(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
            }
            Content::Texts(texts) => {
                let width = texts.iter().map(|t| t.len()).max().unwrap();
                let padded = texts.iter().flat_map(|t| t.chars().chain(std::iter::repeat('\0')).take(width));
                (format!("<U{width}"), padded.flat_map(|c| u32::from(c).to_le_bytes()).collect())
            }
        };
        let head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(head.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(head.as_bytes()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Parents of the first 22 joints of the SMPL family, and offsets of a T-pose.
const PARENTS: [i32; 22] = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19];
#[rustfmt::skip]
const OFFSETS: [[f64; 3]; 22] = [
    [0.0, 0.0, 0.0], [0.09, -0.05, 0.0], [-0.09, -0.05, 0.0], [0.0, 0.1, 0.0], [0.0, -0.4, 0.0], [0.0, -0.4, 0.0], [0.0, 0.14, 0.0],
    [0.0, -0.42, 0.0], [0.0, -0.42, 0.0], [0.0, 0.06, 0.0], [0.0, -0.06, 0.12], [0.0, -0.06, 0.12], [0.0, 0.2, 0.0], [0.07, 0.12, 0.0],
    [-0.07, 0.12, 0.0], [0.0, 0.09, 0.03], [0.1, 0.02, 0.0], [-0.1, 0.02, 0.0], [0.26, 0.0, 0.0], [-0.26, 0.0, 0.0], [0.25, 0.0, 0.0],
    [-0.25, 0.0, 0.0],
];

/// Frames of local rotations, positions in space and the path of the root.
struct Model {
    local: Vec<[Quat; 22]>,
    positions: Vec<[Vec3; 22]>,
}

fn model() -> Model {
    let (mut local, mut positions) = (Vec::new(), Vec::new());
    for frame in 0..30 {
        let time = frame as f64 / 30.0;
        let q: [Quat; 22] = std::array::from_fn(|k| {
            let k = k as f64;
            posemill::math::exp(
                &(Vec3::new((k + 3.0 * time).sin(), (2.0 * k).cos() * 0.3, (k - 2.0 * time).cos() * 0.5)
                    * 0.4),
            )
        });
        let (mut global, mut at) = ([Quat::identity(); 22], [Vec3::zeros(); 22]);
        for k in 0..22 {
            let offset = Vec3::from(OFFSETS[k]);
            match usize::try_from(PARENTS[k]) {
                Ok(p) => (global[k], at[k]) = (global[p] * q[k], at[p] + global[p] * offset),
                Err(_) => (global[k], at[k]) = (q[k], Vec3::new(0.3 * time, 0.95, time)),
            }
        }
        local.push(q);
        positions.push(at);
    }
    Model { local, positions }
}

impl Model {
    fn matrices(&self) -> Vec<f64> {
        let rows = |q: &Quat| q.to_rotation_matrix().into_inner().transpose().as_slice().to_vec();
        self.local.iter().flatten().flat_map(rows).collect()
    }

    /// Rows `m00 m01 m10 m11 m20 m21`: the first two columns.
    fn six(&self) -> Vec<f64> {
        self.matrices().chunks_exact(9).flat_map(|m| [m[0], m[1], m[3], m[4], m[6], m[7]]).collect()
    }

    fn positions(&self) -> Vec<f64> {
        self.positions.iter().flatten().flat_map(|p| [p.x, p.y, p.z]).collect()
    }

    /// Whether a motion has these positions.
    fn is(&self, asset: &Asset, what: &str) {
        let motion = asset.motion(0).unwrap();
        assert_eq!(motion.clip.frames(), 30, "{what}");
        for (frame, expected) in self.positions.iter().enumerate() {
            let pose = motion.model_pose(frame);
            for (k, expected) in expected.iter().enumerate() {
                let off = (pose.joints()[k].translation - expected).norm();
                assert!(off < 1e-6, "{what}: frame {frame}, joint {k}: {off}");
            }
        }
        assert!(motion.character.rig.joint(Role::UpperArm(Side::Left)).is_some(), "{what}");
    }
}

#[test]
fn archives_of_motion_models_are_takes() {
    use Content::{Numbers, Texts};
    let model = model();
    let root: Vec<f64> = model.positions.iter().flat_map(|p| [p[0].x, p[0].y, p[0].z]).collect();
    let kimodo = [
        ("posed_joints", "30, 22, 3", Numbers(model.positions())),
        ("local_rot_mats", "30, 22, 3, 3", Numbers(model.matrices())),
        ("root_positions", "30, 3", Numbers(root.clone())),
        ("foot_contacts", "30, 4", Numbers(vec![0.0; 120])),
    ];
    let kimodo = read(&archive(&kimodo), "npz");
    model.is(&kimodo, "kimodo");
    assert!(kimodo.warnings.has("npz-rate"));
    // One frame is no batch of one.
    let one = [
        ("posed_joints", "1, 22, 3", Numbers(model.positions()[..66].to_vec())),
        ("local_rot_mats", "1, 22, 3, 3", Numbers(model.matrices()[..198].to_vec())),
    ];
    assert_eq!(read(&archive(&one), "npz").clips[0].frames(), 1);
    // HY-Motion: positions without the path, rotations as six numbers, a batch of one.
    let still: Vec<f64> = (model.positions.iter().flatten().enumerate())
        .flat_map(|(k, p)| (p - model.positions[k / 22][0]).as_slice().to_vec())
        .collect();
    let root_matrices = model.matrices().chunks_exact(198).flat_map(|m| m[..9].to_vec()).collect();
    let hy = [
        ("rot6d", "1, 30, 22, 6", Numbers(model.six())),
        ("transl", "1, 30, 3", Numbers(root.clone())),
        ("root_rotations_mat", "1, 30, 3, 3", Numbers(root_matrices)),
        ("keypoints3d", "1, 30, 22, 3", Numbers(still)),
    ];
    model.is(&read(&archive(&hy), "npz"), "hy-motion");
    // Any archive with names, parents, offsets and rotations; the scalar of quaternions first.
    let quaternions = model.local.iter().flatten().flat_map(|q| [q.w, q.i, q.j, q.k]).collect();
    let names: Vec<String> = [
        "pelvis",
        "left_hip",
        "right_hip",
        "spine1",
        "left_knee",
        "right_knee",
        "spine2",
        "left_ankle",
        "right_ankle",
        "spine3",
        "left_foot",
        "right_foot",
        "neck",
        "left_collar",
        "right_collar",
        "head",
        "left_shoulder",
        "right_shoulder",
        "left_elbow",
        "right_elbow",
        "left_wrist",
        "right_wrist",
    ]
    .map(String::from)
    .into();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let any = [
        ("local_quats", "30, 22, 4", Numbers(quaternions)),
        ("parents", "22,", Numbers(PARENTS.map(f64::from).to_vec())),
        ("joint_names", "22,", Texts(&names)),
        ("offsets", "22, 3", Numbers(OFFSETS.concat())),
        ("root_positions", "30, 3", Numbers(root)),
        ("fps", "", Numbers(vec![30.0])),
    ];
    let any = read(&archive(&any), "npz");
    model.is(&any, "any");
    assert!(any.warnings.has("npz-quaternions") && !any.warnings.has("npz-rate"));
}

#[test]
fn rotations_without_lengths_ask_for_them() {
    let model = model();
    let alone = archive(&[("local_rot_mats", "30, 22, 3, 3", Content::Numbers(model.matrices()))]);
    let said =
        from_bytes(&alone, "take", Some("npz"), None, &ImportOptions::default()).unwrap_err().to_string();
    assert!(said.contains("rest_offsets"), "{said}");
}

#[test]
fn motion_x_is_an_smpl_x_motion_without_its_expression() {
    let mut rows = vec![0.0; 4 * 322];
    for (frame, row) in rows.chunks_exact_mut(322).enumerate() {
        // The left elbow is joint 18, its rotation follows the root's.
        row[3 * 18 + 1] = -1.0;
        row[200] = 5.0;
        row[309..312].copy_from_slice(&[0.1 * frame as f64, 1.0, 0.2]);
    }
    let head = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 322), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(rows.iter().flat_map(|x| x.to_le_bytes()));
    let asset = read(&bytes, "npy");
    assert!(asset.warnings.has("motion-x-face"));
    let motion = asset.motion(0).unwrap();
    let elbow = motion.character.rig.joint(Role::LowerArm(Side::Left)).unwrap();
    assert!((motion.clip.rotations(2)[elbow.index()].angle() - 1.0).abs() < 1e-9);
    let hips = |frame: usize| motion.model_pose(frame).joints()[0].translation;
    assert!((hips(3) - hips(0) - Vec3::new(0.3, 0.0, 0.0)).norm() < 1e-9);
    // It stands along Y, so Y is up; the user may say otherwise.
    let options = ImportOptions { up: Some(UpAxis::Z), ..ImportOptions::default() };
    let lying = from_bytes(&bytes, "take", Some("npy"), None, &options).unwrap().motion(0).unwrap();
    assert!((lying.model_pose(0).joints()[0].rotation * Vec3::y()).y.abs() < 1e-6);
}
