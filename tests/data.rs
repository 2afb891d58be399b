//! What `data/` ships is the output of its generator, and holds what `data/README.md` promises.

#[path = "../data/make/mod.rs"]
mod make;

use posemill::math::{Mat4, Quat, Transform, Vec3, exp};
use posemill::model::{Joint, JointId, ModelPose, Pose, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(shipped().join(name)).unwrap()
}

/// A take as the file has it: its own unit and axes.
struct Take {
    skeleton: Skeleton,
    poses: Vec<Pose>,
    rate: f64,
}

impl Take {
    /// Reads one of the shipped files; `added` says that position channels are added to the OFFSET.
    fn read(name: &str, added: bool) -> Self {
        let text = text(name);
        let (head, body) = text.split_once("MOTION").unwrap();
        let mut joints: Vec<Joint> = Vec::new();
        let mut channels: Vec<Vec<String>> = Vec::new();
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut next = None;
        for line in head.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let numbers = || Vec3::from_iterator(words[1..4].iter().map(|w| w.parse::<f64>().unwrap()));
            match words[0] {
                "ROOT" | "JOINT" => {
                    let parent = open.last().map(|p| JointId::new(p.unwrap()));
                    joints.push(Joint::new(words[1], parent, Transform::identity()));
                    channels.push(Vec::new());
                    next = Some(joints.len() - 1);
                }
                "End" => next = None,
                "{" => open.push(next),
                "}" => drop(open.pop()),
                "OFFSET" => match *open.last().unwrap() {
                    Some(j) => joints[j].rest.translation = numbers(),
                    None => joints.last_mut().unwrap().tip = Some(numbers()),
                },
                "CHANNELS" => {
                    channels[open.last().unwrap().unwrap()] =
                        words[2..].iter().map(|w| (*w).to_owned()).collect();
                }
                _ => assert_eq!(words, ["HIERARCHY"]),
            }
        }
        let mut lines = body.trim().lines();
        let count: usize = lines.next().unwrap().strip_prefix("Frames:").unwrap().trim().parse().unwrap();
        let time: f64 = lines.next().unwrap().strip_prefix("Frame Time:").unwrap().trim().parse().unwrap();
        let skeleton = Skeleton::new(joints).unwrap();
        let poses: Vec<Pose> = lines.map(|l| pose(&skeleton, &channels, l, added)).collect();
        assert_eq!(poses.len(), count, "{name}");
        Self { skeleton, poses, rate: 1.0 / time }
    }

    fn joint(&self, name: &str) -> JointId {
        self.skeleton.find(name).unwrap()
    }

    fn model(&self, frame: usize) -> ModelPose {
        ModelPose::of(&self.skeleton, &self.poses[frame])
    }
}

fn pose(skeleton: &Skeleton, channels: &[Vec<String>], line: &str, added: bool) -> Pose {
    let mut numbers = line.split_whitespace().map(|w| w.parse::<f64>().unwrap());
    let mut pose = skeleton.rest_pose();
    for (local, channels) in pose.local_mut().iter_mut().zip(channels) {
        let (mut turn, mut place, mut placed) = (Quat::identity(), Vec3::zeros(), false);
        for channel in channels {
            let x = numbers.next().unwrap();
            let axis = usize::from(channel.as_bytes()[0] - b'X');
            let mut along = Vec3::zeros();
            along[axis] = x;
            if channel.ends_with("rotation") {
                turn *= exp(&(along.map(f64::to_radians)));
            } else {
                place += along;
                placed = true;
            }
        }
        local.rotation = turn;
        if added {
            local.translation += place;
        } else if placed {
            local.translation = place;
        }
    }
    assert!(numbers.next().is_none(), "a row has as many numbers as channels");
    pose
}

const FLAT_FOOT: f64 = 6.8;

/// Heel and ball of both feet in a frame of the walk, in metres: the points that the contact labels speak of.
fn soles(take: &Take, frame: usize) -> [Vec3; 4] {
    // The stature of the walker over the 1.75 m that the heel is measured for; the file is in centimetres.
    let heel = Vec3::new(0.0, -FLAT_FOOT, -4.5) * (1.78 / 1.75);
    let model = take.model(frame);
    let foot = |side: &str| {
        let heel = model.joint(take.joint(&format!("mixamorig:{side}Foot"))).point(&heel);
        [heel / 100.0, model.position(take.joint(&format!("mixamorig:{side}ToeBase"))) / 100.0]
    };
    let ([a, b], [c, d]) = (foot("Left"), foot("Right"));
    [a, b, c, d]
}

fn walk_labels() -> Vec<[bool; 4]> {
    let text = text("walk.contacts.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("frame,left_heel,left_ball,right_heel,right_ball"));
    let row = |(n, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], n.to_string());
        std::array::from_fn(|k| cells[k + 1] == "1")
    };
    lines.enumerate().map(row).collect()
}

#[test]
fn the_committed_files_are_the_output_of_their_generator() {
    let folder = tempfile::tempdir().unwrap();
    // `pictures` are drawn from the rest and held by their own test.
    let mut made = BTreeSet::from(["README.md", "make", "pictures"].map(str::to_owned));
    for (name, bytes) in make::every_file() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let same = std::fs::read(shipped().join(name)).unwrap() == std::fs::read(&path).unwrap();
        assert!(same, "{name} is not what the generator writes: run `cargo run --example make_data`");
        made.insert(name.split('/').next().unwrap().to_owned());
    }
    let entries = std::fs::read_dir(shipped()).unwrap();
    let there: BTreeSet<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, made, "everything in the folder is made, or is the maker");
}

#[test]
fn the_standing_foot_of_the_walk_neither_slides_nor_sinks() {
    let take = Take::read("walk.bvh", false);
    let labels = walk_labels();
    assert_eq!(labels.len(), take.poses.len());
    let ball_height = soles(&take, 17)[1].y;
    let mut anchors: [Option<Vec3>; 4] = [None; 4];
    let (mut slide, mut lowest, mut standing) = (0.0f64, f64::INFINITY, 0);
    for (frame, labels) in labels.iter().enumerate() {
        for (k, point) in soles(&take, frame).into_iter().enumerate() {
            let ground = if k % 2 == 0 { 0.0 } else { ball_height };
            lowest = lowest.min(point.y - ground);
            if labels[k] {
                slide = slide.max((point - *anchors[k].get_or_insert(point)).norm());
                standing += 1;
            } else {
                anchors[k] = None;
            }
        }
        assert!(labels.iter().any(|&on| on), "a walk never leaves the ground");
    }
    println!("slide {:.6} mm, lowest {:.6} mm", slide * 1e3, lowest * 1e3);
    assert!(standing > 800);
    assert!(slide < 0.001, "slides by {slide} m");
    assert!(lowest > -0.001, "sinks to {lowest} m");
}

#[test]
fn the_walk_follows_the_published_curves() {
    let take = Take::read("walk.bvh", false);
    let about_x = |frame: usize, joint: &str| {
        let v = take.poses[frame].joint(take.joint(&format!("mixamorig:{joint}"))).rotation.scaled_axis();
        v.x.to_degrees()
    };
    let (mut squares, mut worst) = ([0.0; 3], [0.0f64; 3]);
    for frame in 0..136 {
        let published = make::gait::angles(frame as f64 / 136.0);
        let found = [-about_x(frame, "LeftUpLeg"), about_x(frame, "LeftLeg"), -about_x(frame, "LeftFoot")];
        for k in 0..3 {
            let miss = found[k] - published[k];
            squares[k] += miss * miss / 136.0;
            worst[k] = worst[k].max(miss.abs());
        }
    }
    println!("root mean square {:.1?}, worst {worst:.1?} degrees", squares.map(f64::sqrt));
    assert!(squares.iter().all(|s: &f64| s.sqrt() < 10.0), "{squares:?}");
}

#[test]
fn no_knee_bends_backwards() {
    let takes = [
        ("walk.bvh", false, ["mixamorig:LeftLeg", "mixamorig:RightLeg"]),
        ("wave.bvh", false, ["LeftLeg", "RightLeg"]),
        ("squat.bvh", false, ["LeftKnee", "RightKnee"]),
        ("jump.bvh", false, ["calf_l", "calf_r"]),
        ("turn.bvh", true, ["lShin", "rShin"]),
    ];
    for (name, added, knees) in takes {
        let take = Take::read(name, added);
        let mut least = f64::INFINITY;
        for pose in &take.poses {
            for knee in knees {
                let v = pose.joint(take.joint(knee)).rotation.scaled_axis();
                assert!(v.y.abs().max(v.z.abs()) < 1e-3, "{name}: the knee is a hinge: {v:?}");
                least = least.min(v.x);
            }
        }
        println!("{name}: least knee flexion {:.2} degrees", least.to_degrees());
        assert!(least > 0.5f64.to_radians(), "{name}: {least}");
    }
}

#[test]
fn the_hips_of_the_jump_fly_along_the_documented_parabola() {
    let take = Take::read("jump.bvh", false);
    let mut worst = 0.0f64;
    for frame in 120..=170 {
        let s = (frame - 120) as f64 / 100.0;
        let arc = Vec3::new(0.0, 0.97 + 2.2725 * s - 9.81 * s * s / 2.0, 0.14 + 1.2 * s);
        worst = worst.max((take.model(frame).position(JointId::new(0)) - arc).norm());
    }
    println!("off the arc by {:.2e} m", worst);
    assert!(worst < 1e-4, "{worst}");
    let height = |frame: usize| take.model(frame).position(take.joint("ball_l")).y;
    let ground = height(0);
    assert!((121..170).all(|f| height(f) > ground + 0.001), "in the air from take-off to landing");
    assert!((0..=120).chain(170..300).all(|f| (height(f) - ground).abs() < 1e-4), "and on the ground else");
}

#[test]
fn feet_that_only_stand_stay_where_they_are() {
    for (name, metre, foot, up) in
        [("wave.bvh", 0.45 / 0.0254, "LeftFoot", 2), ("squat.bvh", 1.0 / 0.0254, "RightAnkle", 1)]
    {
        let take = Take::read(name, false);
        let at = |frame: usize| take.model(frame).position(take.joint(foot)) / metre;
        let moved = (0..take.poses.len()).map(|f| (at(f) - at(0)).norm()).fold(0.0, f64::max);
        assert!(moved < 1e-4, "{name}: {moved}");
        assert!((0.05..0.09).contains(&at(0)[up]), "{name}: the ankle stands at {}", at(0));
    }
}

#[test]
fn one_foot_of_the_turn_always_stands_and_it_comes_all_the_way_round() {
    let take = Take::read("turn.bvh", true);
    assert!(text("turn.bvh").contains("\r\n") && !text("turn.bvh").replace("\r\n", "").contains('\n'));
    let at = |frame: usize, foot: &str| take.model(frame).position(take.joint(foot)) / 10.0;
    let heading: f64 = (1..take.poses.len())
        .map(|f| {
            (take.poses[f - 1].joint(JointId::new(0)).rotation.inverse()
                * take.poses[f].joint(JointId::new(0)).rotation)
                .scaled_axis()
                .y
        })
        .sum();
    assert!((heading.to_degrees() - 360.0).abs() < 1e-2, "{heading}");
    for frame in 1..take.poses.len() {
        let still = |foot: &str| (at(frame, foot) - at(frame - 1, foot)).norm() < 1e-4;
        assert!(still("lFoot") || still("rFoot"), "frame {frame}");
    }
}

#[test]
fn no_joint_jumps_between_frames() {
    for name in ["walk.bvh", "wave.bvh", "squat.bvh", "jump.bvh", "turn.bvh"] {
        let take = Take::read(name, name == "turn.bvh");
        let mut worst = (0.0, String::new());
        for pair in take.poses.windows(2) {
            for (id, (a, b)) in take.skeleton.ids().zip(pair[0].local().iter().zip(pair[1].local())) {
                let speed = a.rotation.angle_to(&b.rotation).to_degrees() * take.rate;
                if speed > worst.0 {
                    worst = (speed, take.skeleton.joint(id).name.clone());
                }
            }
        }
        println!("{name}: at most {:.0} degrees per second ({})", worst.0, worst.1);
        assert!(worst.0 < 1200.0, "{name}: {worst:?}");
    }
}

/// A skinned file as its reader gives it: the solids are those of the rest pose in mesh space.
struct Solids {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    weights: Vec<[f32; 4]>,
    joints: Vec<[u16; 4]>,
    triangles: Vec<[usize; 3]>,
    joint_count: usize,
}

fn solids(name: &str) -> Solids {
    let file = gltf::Gltf::from_slice(&std::fs::read(shipped().join(name)).unwrap()).unwrap();
    let blob = file.blob.as_deref().unwrap();
    let vector = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let joint_count = file.skins().next().unwrap().joints().count();
    let mut all = Solids {
        positions: vec![],
        normals: vec![],
        weights: vec![],
        joints: vec![],
        triangles: vec![],
        joint_count,
    };
    for primitive in file.meshes().next().unwrap().primitives() {
        let reader = primitive.reader(|_| Some(blob));
        let start = all.positions.len();
        all.positions.extend(reader.read_positions().unwrap().map(vector));
        all.normals.extend(reader.read_normals().unwrap().map(vector));
        all.weights.extend(reader.read_weights(0).unwrap().into_f32());
        all.joints.extend(reader.read_joints(0).unwrap().into_u16());
        let indices: Vec<usize> =
            reader.read_indices().unwrap().into_u32().map(|i| start + i as usize).collect();
        all.triangles.extend(indices.chunks(3).map(|t| [t[0], t[1], t[2]]));
    }
    all
}

const CHARACTERS: [&str; 2] = ["mannequin.glb", "robot.glb"];

#[test]
fn the_weights_of_every_vertex_sum_to_one() {
    for name in CHARACTERS {
        let s = solids(name);
        let mut blended = 0;
        for (weights, joints) in s.weights.iter().zip(&s.joints) {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{name}: {weights:?}");
            assert!(joints.iter().all(|&j| usize::from(j) < s.joint_count));
            blended += usize::from(weights[1] > 0.0);
        }
        println!("{name}: {} vertices, {blended} blended, {} triangles", s.weights.len(), s.triangles.len());
        assert!((3000..=10000).contains(&s.triangles.len()), "{name}: {}", s.triangles.len());
        assert!(blended * 20 > s.weights.len(), "{name}: some skin bends");
    }
}

#[test]
fn every_solid_is_closed_and_faces_outward() {
    for name in CHARACTERS {
        let s = solids(name);
        let cell = |i: usize| s.positions[i].map(|x| (x * 1e5).round() as i64);
        let mut ids: BTreeMap<[i64; 3], usize> = BTreeMap::new();
        let welded: Vec<usize> = (0..s.positions.len())
            .map(|i| {
                let next = ids.len();
                *ids.entry(cell(i).into()).or_insert(next)
            })
            .collect();
        // Solids are what is connected; `part[v]` climbs to the first vertex of its solid.
        let mut part: Vec<usize> = (0..ids.len()).collect();
        fn first(part: &[usize], mut v: usize) -> usize {
            while part[v] != v {
                v = part[v];
            }
            v
        }
        let mut edges: BTreeMap<(usize, usize), i32> = BTreeMap::new();
        for t in &s.triangles {
            let v = t.map(|i| welded[i]);
            for k in 0..3 {
                let (a, b) = (v[k], v[(k + 1) % 3]);
                assert_ne!(a, b, "{name}: a triangle without area");
                *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
                let (p, q) = (first(&part, a), first(&part, b));
                part[p.max(q)] = p.min(q);
            }
        }
        assert!(edges.values().all(|&n| n == 0), "{name}: an edge is open or its faces disagree");
        let mut volumes: BTreeMap<usize, f64> = BTreeMap::new();
        for t in &s.triangles {
            let [a, b, c] = t.map(|i| s.positions[i]);
            *volumes.entry(first(&part, welded[t[0]])).or_default() += a.dot(&b.cross(&c)) / 6.0;
            let face = (b - a).cross(&(c - a));
            for &i in t {
                assert!(s.normals[i].dot(&face) > 0.0, "{name}: the normal of vertex {i} points inward");
            }
        }
        println!(
            "{name}: {} solids, smallest {:?}",
            volumes.len(),
            volumes.values().copied().reduce(f64::min)
        );
        assert!(volumes.len() > 20 && volumes.values().all(|&v| v > 0.0), "{name}: {volumes:?}");
    }
}

#[test]
fn the_skins_are_bound_in_the_rest_pose() {
    for (name, metres) in [("mannequin.glb", 1.0), ("robot.glb", 0.01)] {
        let file = gltf::Gltf::from_slice(&std::fs::read(shipped().join(name)).unwrap()).unwrap();
        let skin = file.skins().next().unwrap();
        let mut above: BTreeMap<usize, gltf::Node> = BTreeMap::new();
        for node in file.nodes() {
            above.extend(node.children().map(|child| (child.index(), node.clone())));
        }
        let matrix = |m: [[f32; 4]; 4]| Mat4::from_fn(|r, c| f64::from(m[c][r]));
        let blob = file.blob.as_deref().unwrap();
        let binds = skin.reader(|_| Some(blob)).read_inverse_bind_matrices().unwrap();
        for (joint, bind) in skin.joints().zip(binds) {
            let (mut world, mut node) = (matrix(joint.transform().matrix()), joint.index());
            while let Some(parent) = above.get(&node) {
                world = matrix(parent.transform().matrix()) * world;
                node = parent.index();
            }
            let world_from_mesh = world * matrix(bind);
            let expected = if metres == 1.0 {
                Mat4::identity()
            } else {
                Transform::from_rotation(exp(&Vec3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0))).to_matrix()
                    * Mat4::new_nonuniform_scaling(&Vec3::new(metres, metres, metres))
            };
            let miss = (world_from_mesh - expected).amax();
            assert!(miss < 1e-5, "{name}: {:?} is off by {miss}", joint.name());
        }
    }
}

#[test]
fn all_of_it_together_stays_small() {
    let total: usize = make::every_file().iter().map(|f| f.1.len()).sum();
    println!("{total} bytes");
    assert!(total < 2_000_000);
}
