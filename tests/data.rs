//! What `data/` ships is the output of its generator, and holds what `data/README.md` promises.

#[path = "../data/make/mod.rs"]
mod make;

use posemill::math::{Quat, Transform, Vec3, exp};
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
    // The statue of the walker over the 1.75 m that the heel is measured for; the file is in centimetres.
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
    let mut made = BTreeSet::from(["README.md".to_owned(), "make".to_owned()]);
    for (name, bytes) in make::every_file() {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let same = std::fs::read(shipped().join(name)).unwrap() == std::fs::read(&path).unwrap();
        assert!(same, "{name} is not what the generator writes: run `cargo run --example make_data`");
        made.insert(name.to_owned());
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
        let published = make::winter(frame as f64 / 136.0);
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
    let takes = [("walk.bvh", false, ["mixamorig:LeftLeg", "mixamorig:RightLeg"])];
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
