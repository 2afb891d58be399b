//! Pictures of a made scene: the same bytes on any number of threads, exact timing, errors instead of panics.

use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{
    Assignment, Binding, Character, Clip, Joint, JointId, Mark, MarkKind, Material, Mesh, Motion,
    ObservedPoints, Pose, Rig, Role, Side, Skeleton, Texture,
};
use posemill::render::{PictureFormat, PreviewOptions, RenderError, Size, Subject, View, preview};
use std::sync::Arc;

/// A joint: name, parent, offset, role.
type Made = (&'static str, usize, [f64; 3], Option<Role>);

/// A walking stick figure with the roles of a person, `frames` long at 30 Hz.
fn walker(frames: usize) -> Motion {
    let joints: [Made; 13] = [
        ("hips", 0, [0.0, 0.9, 0.0], Some(Role::Hips)),
        ("spine", 0, [0.0, 0.2, 0.0], Some(Role::Spine(0))),
        ("neck", 1, [0.0, 0.3, 0.0], Some(Role::Neck(0))),
        ("head", 2, [0.0, 0.1, 0.0], Some(Role::Head)),
        ("arm.l", 1, [0.18, 0.25, 0.0], Some(Role::UpperArm(Side::Left))),
        ("forearm.l", 4, [0.0, -0.28, 0.0], Some(Role::LowerArm(Side::Left))),
        ("arm.r", 1, [-0.18, 0.25, 0.0], Some(Role::UpperArm(Side::Right))),
        ("forearm.r", 6, [0.0, -0.28, 0.0], Some(Role::LowerArm(Side::Right))),
        ("thigh.l", 0, [0.1, 0.0, 0.0], Some(Role::UpperLeg(Side::Left))),
        ("shin.l", 8, [0.0, -0.42, 0.0], Some(Role::LowerLeg(Side::Left))),
        ("thigh.r", 0, [-0.1, 0.0, 0.0], Some(Role::UpperLeg(Side::Right))),
        ("shin.r", 10, [0.0, -0.42, 0.0], Some(Role::LowerLeg(Side::Right))),
        ("foot.r", 11, [0.0, -0.42, 0.0], Some(Role::Foot(Side::Right))),
    ];
    let joint = |(k, j): (usize, &Made)| {
        let parent = (k > 0).then(|| JointId::new(j.1));
        Joint::new(j.0, parent, Transform::from_translation(Vec3::from(j.2)))
    };
    let skeleton = Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap();
    let pose = |frame: usize| {
        let swing = (frame as f64 * 0.2).sin() * 0.5;
        let mut pose: Pose = skeleton.rest_pose();
        for (k, sign) in [(4, -1.0), (6, 1.0), (8, 1.0), (10, -1.0)] {
            pose.local_mut()[k].rotation = exp(&(Vec3::x() * (sign * swing)));
        }
        pose.local_mut()[0].translation.z += 0.04 * frame as f64;
        pose
    };
    let poses: Vec<Pose> = (0..frames).map(pose).collect();
    let clip = Clip::from_poses("walk", 30.0, &skeleton, &poses);
    let assign = |(k, j): (usize, &Made)| {
        let assignment = Assignment::new(JointId::new(k), 1.0, "made");
        j.3.map(|role| (role, assignment))
    };
    let rig = Rig::new(skeleton, joints.iter().enumerate().filter_map(assign).collect::<Vec<_>>());
    let character = Character::new("walker", rig);
    Motion::new(Arc::new(character), clip)
}

/// A textured square of one metre that looks along `facing`, on one joint, for one frame.
fn square(facing: f64, double_sided: bool) -> Motion {
    let skeleton = Skeleton::new(vec![Joint::new("root", None, Transform::identity())]).unwrap();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    // The left half is red, the right one green.
    writer.write_image_data(&[255, 0, 0, 0, 255, 0]).unwrap();
    writer.finish().unwrap();
    let mesh = Mesh {
        name: "square".into(),
        positions: vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.5, 1.0, 0.0]],
        texcoords: vec![[0.25, 1.0], [0.75, 1.0], [0.75, 0.0], [0.25, 0.0]],
        joints: vec![[0; 4]; 4],
        weights: vec![[1.0, 0.0, 0.0, 0.0]; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        bindings: vec![Binding {
            joint: JointId::new(0),
            joint_from_mesh: Transform::from_rotation(exp(&(Vec3::y() * facing))).to_matrix(),
        }],
        material: Material {
            base_color: [1.0; 4],
            texture: Some(Texture { bytes: bytes.into() }),
            double_sided,
            ..Material::default()
        },
        ..Mesh::default()
    };
    let clip = Clip::new("still", 30.0, 1, vec![Quat::identity()], Vec::new(), Vec::new());
    let rig = Rig::new(skeleton, []);
    let character = Character { meshes: vec![mesh], ..Character::new("square", rig) };
    Motion::new(Arc::new(character), clip)
}

fn silent(_: usize, _: usize) {}

fn small() -> PreviewOptions {
    PreviewOptions { size: Some(Size { width: 120, height: 160 }), ..PreviewOptions::default() }
}

fn drawn(
    motions: &[&Motion],
    options: &PreviewOptions,
    format: PictureFormat,
) -> Result<Vec<u8>, RenderError> {
    let subjects: Vec<Subject> = motions.iter().map(|m| Subject::from(*m)).collect();
    preview(&subjects, options, format, &silent)
}

/// Width and RGB pixels of a PNG.
fn pixels(bytes: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    (info.width as usize, buffer.as_chunks::<3>().0.to_vec())
}

/// Size, delays and disposal of the frames of a GIF.
fn frames(bytes: &[u8]) -> Vec<u16> {
    let mut decoder = gif::DecodeOptions::new().read_info(bytes).unwrap();
    let mut delays = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    delays
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    let (a, b) = (walker(45), walker(30));
    for format in [PictureFormat::Png, PictureFormat::Gif, PictureFormat::Apng] {
        let options = PreviewOptions { frames: Some(9), skeleton: true, ..small() };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| drawn(&[&a, &b], &options, format).unwrap())
        };
        let one = on(1);
        assert!(one == on(2) && one == on(3), "{format:?}");
    }
}

#[test]
fn a_made_scene_looks_as_it_did() {
    // Changed only on purpose: every change of these lines is a change of every preview.
    let golden = [
        (Size { width: 120, height: 160 }, "ec48ebbb11b58bfc"),
        (Size { width: 300, height: 260 }, "755e3093e695aaac"),
    ];
    for (size, expected) in golden {
        let options = PreviewOptions { size: Some(size), frames: Some(4), ..PreviewOptions::default() };
        let picture = pixels(&drawn(&[&walker(40)], &options, PictureFormat::Png).unwrap()).1;
        let hash = blake3::hash(picture.as_flattened()).to_hex();
        assert_eq!(&hash[..16], expected, "{size:?}");
    }
}

#[test]
fn the_delays_of_a_gif_add_up_to_the_length_of_the_clip() {
    for (count, fps) in [(31, 25.0), (46, 30.0), (100, 7.0), (3, 50.0)] {
        let motion = walker(count);
        let options = PreviewOptions { fps, ..small() };
        let delays = frames(&drawn(&[&motion], &options, PictureFormat::Gif).unwrap());
        let sum: u64 = delays.iter().map(|&d| u64::from(d)).sum();
        assert_eq!(sum, (motion.clip.duration() * 100.0).round() as u64, "{count} frames at {fps}");
        assert!(delays.iter().all(|&d| d >= 2));
    }
}

#[test]
fn every_frame_of_a_gif_and_an_apng_can_be_read_back_in_full() {
    let options = PreviewOptions { frames: Some(5), view: View::Side, ..small() };
    let motion = walker(30);
    assert_eq!(frames(&drawn(&[&motion], &options, PictureFormat::Gif).unwrap()).len(), 5);
    let bytes = drawn(&[&motion], &options, PictureFormat::Apng).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let control = reader.info().animation_control().unwrap();
    assert_eq!((control.num_frames, control.num_plays), (5, 0));
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..5 {
        reader.next_frame(&mut buffer).unwrap();
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let (some, none) = (walker(10), walker(0));
    let error = |motions: &[&Motion], options: PreviewOptions| {
        let all = [PictureFormat::Png, PictureFormat::Gif, PictureFormat::Apng];
        let found = all.map(|f| drawn(motions, &options, f).unwrap_err().to_string());
        assert!(found.iter().all(|e| *e == found[0]), "{found:?}");
        found[0].clone()
    };
    assert_eq!(error(&[&none], small()), "`walk` has no frames to show");
    assert_eq!(error(&[], small()), "0 motions side by side, allowed are 1 to 64");
    for (width, height) in [(0, 100), (100, 0), (15, 100), (4097, 100), (u32::MAX, u32::MAX)] {
        let size = Some(Size { width, height });
        let expected = format!("a picture of {width} x {height} pixels, allowed are 16 to 4096 a side");
        assert_eq!(error(&[&some], PreviewOptions { size, ..small() }), expected);
    }
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY, 51.0] {
        let expected = format!("a frame rate of {fps} Hz: allowed is above 0 to 50");
        assert_eq!(error(&[&some], PreviewOptions { fps, ..small() }), expected);
    }
    for frames in [0, 10_001] {
        let expected = format!("{frames} frames, allowed are 1 to 10000");
        assert_eq!(error(&[&some], PreviewOptions { frames: Some(frames), ..small() }), expected);
    }
    let large = Some(Size { width: 4096, height: 4096 });
    let many = PreviewOptions { size: large, frames: Some(100), ..small() };
    assert!(matches!(drawn(&[&some], &many, PictureFormat::Png), Err(RenderError::Pixels { .. })));
    let mut broken = some.clone();
    broken.clip.sample_rate = f64::NAN;
    let subject = Subject { label: "walk".into(), ..Subject::from(&broken) };
    let error = preview(&[subject], &small(), PictureFormat::Png, &silent).unwrap_err().to_string();
    assert_eq!(error, "`walk` cannot be drawn: sample rate NaN Hz from 0 s");
    assert_eq!("0x9".parse::<Size>().unwrap_err(), RenderError::Size { width: 0, height: 9 });
    assert_eq!(
        "wide".parse::<Size>().unwrap_err().to_string(),
        "`wide` is no size\n  hint: write `480` or `640x360`"
    );
}

#[test]
fn the_smallest_pictures_and_single_frames_are_drawn_from_everywhere() {
    for view in View::ALL {
        for format in [PictureFormat::Png, PictureFormat::Gif, PictureFormat::Apng] {
            for motion in [walker(1), walker(2), square(0.0, true)] {
                let size = Some(Size { width: 16, height: 16 });
                let options = PreviewOptions { size, view, skeleton: true, ..PreviewOptions::default() };
                let bytes = drawn(&[&motion], &options, format).unwrap();
                assert!(bytes.len() > 60);
            }
        }
    }
}

/// How many pixels are clearly red and clearly green, and whether red lies left of green.
fn red_and_green(motion: &Motion) -> (usize, usize, bool) {
    let options = PreviewOptions { view: View::Front, labels: false, path: false, ..small() };
    let (width, all) = pixels(&drawn(&[motion], &options, PictureFormat::Png).unwrap());
    let places = |wanted: usize, other: usize| -> Vec<usize> {
        let clear = |p: &[u8; 3]| p[wanted] > 120 && u16::from(p[wanted]) > 2 * u16::from(p[other]);
        all.iter().enumerate().filter(|(_, p)| clear(p)).map(|(k, _)| k % width).collect()
    };
    let (red, green) = (places(0, 1), places(1, 0));
    let mean = |xs: &[usize]| xs.iter().sum::<usize>() as f64 / xs.len().max(1) as f64;
    (red.len(), green.len(), mean(&red) < mean(&green))
}

#[test]
fn a_texture_shows_the_right_way_round_on_the_front_and_not_on_the_back() {
    let (red, green, in_order) = red_and_green(&square(0.0, false));
    assert!(red > 1500 && green > 1500 && in_order, "{red} {green} {in_order}");
    assert_eq!(red_and_green(&square(std::f64::consts::PI, false)), (0, 0, false));
    let (red, green, in_order) = red_and_green(&square(std::f64::consts::PI, true));
    assert!(red > 1500 && green > 1500 && !in_order, "{red} {green} {in_order}");
}

#[test]
fn a_floor_of_a_scene_does_not_hide_the_shadow() {
    let with_floor = |triangles: &[[u32; 3]]| {
        let mut motion = square(0.3, true);
        let mut character = (*motion.character).clone();
        let floor = Mesh {
            positions: vec![[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [0.5, 0.0, 0.5], [-0.5, 0.0, 0.5]],
            texcoords: Vec::new(),
            triangles: triangles.to_vec(),
            material: Material { double_sided: true, ..Material::default() },
            ..character.meshes[0].clone()
        };
        character.meshes.push(floor);
        motion.character = Arc::new(character);
        drawn(&[&motion], &small(), PictureFormat::Png).unwrap()
    };
    // Triangles without an area show nothing.
    assert!(with_floor(&[[0, 2, 2], [1, 3, 3]]) == with_floor(&[[0, 2, 1], [0, 3, 2]]));
}

#[test]
fn the_left_of_a_bare_skeleton_is_blue_and_lies_right_in_the_front_view() {
    let options =
        PreviewOptions { view: View::Front, frames: Some(1), labels: false, path: false, ..small() };
    let (width, all) = pixels(&drawn(&[&walker(2)], &options, PictureFormat::Png).unwrap());
    let mean = |is: fn(&[u8; 3]) -> bool| {
        let xs: Vec<usize> = all.iter().enumerate().filter(|(_, p)| is(p)).map(|(k, _)| k % width).collect();
        assert!(xs.len() > 200, "{}", xs.len());
        xs.iter().sum::<usize>() as f64 / xs.len() as f64
    };
    let blue = mean(|p| p[2] > p[0].saturating_add(50));
    let orange = mean(|p| p[0] > p[2].saturating_add(50));
    assert!(blue > orange + 10.0, "{blue} {orange}");
}

#[test]
fn marks_appear_in_their_time() {
    let motion = walker(40);
    let at = Vec3::new(-0.3, 1.2, 1.6);
    let mark = |kind| Mark { kind, at, from: 0.5, to: 2.0 };
    let options = PreviewOptions { frames: Some(2), labels: false, path: false, ..small() };
    let bare = pixels(&preview(&[Subject::from(&motion)], &options, PictureFormat::Png, &silent).unwrap());
    for kind in [MarkKind::Contact, MarkKind::Target] {
        let marked = Subject { marks: vec![mark(kind)], ..Subject::from(&motion) };
        let shown = pixels(&preview(&[marked], &options, PictureFormat::Png, &silent).unwrap());
        let changed = |half: usize| {
            let pairs = bare.1.iter().zip(&shown.1).enumerate();
            pairs.filter(|(k, (a, b))| k % bare.0 * 2 / bare.0 == half && a != b).count()
        };
        assert_eq!(changed(0), 0, "{kind:?}");
        assert!(changed(1) > 5, "{kind:?}");
    }
}

#[test]
fn observed_points_are_dots_on_the_figure_while_they_are_seen() {
    let motion = walker(40);
    // On the hips, which the figure hides, in the second half of the clip.
    let seen = |f: usize| (f >= 20).then_some([0.0, 0.9, f as f32 / 30.0]);
    let observed = ObservedPoints { rate: 30.0, tracks: vec![(0..40).map(seen).collect(), vec![None; 40]] };
    let options = PreviewOptions { frames: Some(2), labels: false, path: false, ..small() };
    let bare = pixels(&preview(&[Subject::from(&motion)], &options, PictureFormat::Png, &silent).unwrap());
    let dotted = Subject { observed: Some(&observed), ..Subject::from(&motion) };
    let shown = pixels(&preview(&[dotted], &options, PictureFormat::Png, &silent).unwrap());
    let changed = |half: usize| {
        let pairs = bare.1.iter().zip(&shown.1).enumerate();
        pairs.filter(|(k, (a, b))| k % bare.0 * 2 / bare.0 == half && a != b).count()
    };
    assert_eq!(changed(0), 0);
    assert!((1..200).contains(&changed(1)), "{}", changed(1));
}

#[test]
fn motions_of_different_rates_stay_in_step() {
    // The same motion sampled at half the rate: every second pose of the sheet falls on a frame of both.
    let fine = walker(41);
    let mut coarse = fine.clone();
    let skeleton = fine.character.skeleton();
    let poses: Vec<Pose> = (0..41).step_by(2).map(|k| fine.clip.pose(skeleton, k)).collect();
    coarse.clip = Clip::from_poses("walk", 15.0, skeleton, &poses);
    let options = PreviewOptions { frames: Some(5), labels: false, ..small() };
    let sheet = |motion: &Motion| pixels(&drawn(&[motion], &options, PictureFormat::Png).unwrap()).1;
    let (a, b) = (sheet(&fine), sheet(&coarse));
    let different = a.iter().zip(&b).filter(|(p, q)| (0..3).any(|k| p[k].abs_diff(q[k]) > 24)).count();
    assert!(different < a.len() / 500, "{different} of {}", a.len());
}
