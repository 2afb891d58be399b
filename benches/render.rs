//! How fast previews are drawn: `cargo bench --bench render`. One thread draws a 10,000-triangle character.

use divan::{Bencher, counter::ItemsCount};
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{Binding, Character, Clip, Joint, JointId, Mesh, Motion, Pose, Rig, Skeleton};
use posemill::render::{PictureFormat, PreviewOptions, Subject, View, preview};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// A bending, walking column of 10,000 triangles on eight joints, two seconds at 30 Hz.
fn character() -> Motion {
    let joint = |k: usize| {
        let parent = k.checked_sub(1).map(JointId::new);
        Joint::new(
            format!("j{k}"),
            parent,
            Transform::from_translation(Vec3::y() * if k > 0 { 0.22 } else { 0.0 }),
        )
    };
    let skeleton = Skeleton::new((0..8).map(joint).collect()).expect("a chain is a skeleton");
    let (around, rings) = (50, 101);
    let mut mesh = Mesh { name: "column".into(), ..Mesh::default() };
    for ring in 0..rings {
        let height = 1.7 * ring as f64 / (rings - 1) as f64;
        let along = (height / 0.22).min(6.99);
        let (low, part) = (along as usize, along.fract() as f32);
        for k in 0..around {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / around as f64).sin_cos();
            let radius = 0.22 + 0.05 * (9.0 * height).sin();
            mesh.positions.push([(radius * cos) as f32, height as f32, (radius * sin) as f32]);
            mesh.normals.push([cos as f32, 0.0, sin as f32]);
            mesh.joints.push([low as u16, low as u16 + 1, 0, 0]);
            mesh.weights.push([1.0 - part, part, 0.0, 0.0]);
        }
    }
    for ring in 0..rings - 1 {
        for k in 0..around {
            let (a, b) = ((ring * around + k) as u32, (ring * around + (k + 1) % around) as u32);
            let up = around as u32;
            mesh.triangles.extend([[a, a + up, b + up], [a, b + up, b]]);
        }
    }
    let rest = skeleton.rest_model_pose();
    let bind = |id: JointId| Binding { joint: id, joint_from_mesh: rest.joint(id).inverse().to_matrix() };
    mesh.bindings = skeleton.ids().map(bind).collect();
    let pose = |frame: usize| {
        let phase = std::f64::consts::TAU * frame as f64 / 60.0;
        let mut pose: Pose = skeleton.rest_pose();
        for t in pose.local_mut().iter_mut().skip(1) {
            t.rotation = exp(&(Vec3::z() * 0.15 * phase.sin()));
        }
        pose.local_mut()[0] = Transform::new(Quat::identity(), Vec3::z() * (0.05 * frame as f64));
        pose
    };
    let poses: Vec<Pose> = (0..61).map(pose).collect();
    let clip = Clip::from_poses("walk", 30.0, &skeleton, &poses);
    let rig = Rig::new(skeleton, []);
    let character = Character { meshes: vec![mesh], ..Character::new("column", rig) };
    Motion::new(Arc::new(character), clip)
}

fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread starts");
    pool.install(work)
}

/// Frames of 480 x 480 a second on one thread, encoding and palette included.
#[divan::bench(args = ["three-quarter", "follow"], sample_count = 5, sample_size = 1)]
fn gif(bencher: Bencher, view: &str) {
    let motion = character();
    let view: View = view.parse().expect("a view");
    let options = PreviewOptions { view, fps: 50.0, ..PreviewOptions::default() };
    bencher.counter(ItemsCount::new(100_usize)).bench_local(|| {
        on_one_thread(|| preview(&[Subject::from(&motion)], &options, PictureFormat::Gif, &|_, _| {}))
    });
}

/// Twelve poses of 240 x 320 on one thread.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn contact_sheet(bencher: Bencher) {
    let motion = character();
    let options = PreviewOptions::default();
    bencher.bench_local(|| {
        on_one_thread(|| preview(&[Subject::from(&motion)], &options, PictureFormat::Png, &|_, _| {}))
    });
}
