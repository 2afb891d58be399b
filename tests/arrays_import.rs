//! Archives of arrays with SMPL motion: real layouts against known joints, body models, laws, damaged files.

mod development_data;

use development_data::data;
use posemill::import::{ImportOptions, UpAxis, from_bytes, load};
use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Asset, Role, Side};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

const BODY: usize = 22;

/// The bytes of a `.npy` array of `<f8`.
fn npy(shape: &[usize], values: &[f64]) -> Vec<u8> {
    assert_eq!(shape.iter().product::<usize>(), values.len());
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.bytes());
    values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (k, (name, bytes)) in arrays.iter().enumerate() {
        let method =
            if k % 2 == 0 { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method))
            .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The numbers of an array of `<f8` in a file that numpy wrote.
fn array(path: &Path, name: &str) -> Vec<f64> {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(String::from_utf8_lossy(&bytes[10..40]).contains("<f8"));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// A body model whose joints rest at `rest`, moved by `shape` along X for each unit of the first coefficient.
fn model(rest: &[Vec3], shape: f64) -> Vec<u8> {
    let n = rest.len();
    let mut regressor = vec![0.0; n * n];
    (0..n).for_each(|k| regressor[k * n + k] = 1.0);
    let template: Vec<f64> = rest.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
    let directions: Vec<f64> = (0..n).flat_map(|_| [shape, 0.0, 0.0, 0.0, 0.0, 0.0]).collect();
    npz(&[
        ("J_regressor", npy(&[n, n], &regressor)),
        ("v_template", npy(&[n, 3], &template)),
        ("shapedirs", npy(&[n, 3, 2], &directions)),
    ])
}

fn check(asset: &Asset) {
    asset.character.check().unwrap();
    (0..asset.clips.len()).for_each(|k| asset.motion(k).unwrap().check().unwrap());
}

fn read(bytes: &[u8], options: &ImportOptions) -> Result<Asset, String> {
    from_bytes(bytes, "take", Some("npz"), None, options).map_err(|error| error.to_string())
}

/// A take of SMPL with `frames` frames in which joint `joint` turns by `angle` about X.
fn take(frames: usize, joint: usize, angle: f64) -> Vec<(&'static str, Vec<u8>)> {
    let mut poses = vec![0.0; frames * 72];
    let mut trans = vec![0.0; frames * 3];
    for frame in 0..frames {
        poses[frame * 72] = std::f64::consts::FRAC_PI_2;
        poses[frame * 72 + 3 * joint] += angle * frame as f64;
        trans[frame * 3 + 1] = -0.1 * frame as f64;
        trans[frame * 3 + 2] = 1.0;
    }
    vec![
        ("poses", npy(&[frames, 72], &poses)),
        ("trans", npy(&[frames, 3], &trans)),
        ("betas", npy(&[2], &[1.0, 0.0])),
        ("mocap_framerate", npy(&[], &[100.0])),
    ]
}

#[test]
fn both_layouts_of_amass_stand_where_the_answer_has_them() {
    let Some(data) = data() else { return };
    let folder = data.join("dcc/numpy");
    let answer = folder.join("amass_walk_answer.npz");
    let (joints, rest) = (array(&answer, "joints"), array(&answer, "rest"));
    let rest: Vec<Vec3> = rest.chunks_exact(3).map(Vec3::from_column_slice).collect();
    let models = tempfile::tempdir().unwrap();
    let path = models.path().join("model.npz");
    fs::write(&path, model(&rest, 0.0)).unwrap();
    let options = ImportOptions { body_model: Some(path), ..ImportOptions::default() };
    for name in ["amass_smplh_walk.npz", "amass_smplx_walk.npz"] {
        let asset = load(folder.join(name), &options).unwrap();
        check(&asset);
        let motion = asset.motion(0).unwrap();
        assert_eq!((motion.clip.frames(), motion.clip.joints()), (120, BODY));
        let mut worst = 0.0f64;
        for (frame, expected) in joints.chunks_exact(3 * BODY).enumerate() {
            let pose = motion.model_pose(frame);
            for (id, p) in motion.character.skeleton().ids().zip(expected.chunks_exact(3)) {
                // The answer has Z up.
                worst = worst.max((pose.position(id) - Vec3::new(p[0], p[2], -p[1])).norm());
            }
        }
        println!("{name}: {worst:.1e} m");
        assert!(worst < 1e-6, "{name}: {worst:e}");
        let neutral = load(folder.join(name), &ImportOptions::default()).unwrap();
        check(&neutral);
        assert!(neutral.warnings.has("smpl-neutral") && !asset.warnings.has("smpl-neutral"));
        let rig = &neutral.character.rig;
        for (role, joint) in [
            (Role::Hips, "pelvis"),
            (Role::LowerLeg(Side::Left), "left_knee"),
            (Role::Toes(Side::Right), "right_foot"),
            (Role::UpperArm(Side::Left), "left_shoulder"),
            (Role::Head, "head"),
        ] {
            assert_eq!(rig.joint(role).map(|id| rig.skeleton().joint(id).name.as_str()), Some(joint));
        }
        // Rotations do not depend on the body.
        let a = neutral.clips[0].rotations(7);
        assert!((0..BODY).all(|k| a[k].angle_to(&asset.clips[0].rotations(7)[k]) < 1e-9));
    }
}

#[test]
fn the_pelvis_turns_about_its_rest_place_and_the_world_is_set_upright() {
    let bytes = npz(&take(3, 4, 0.3));
    let models = tempfile::tempdir().unwrap();
    let path = models.path().join("model.npz");
    let rest: Vec<Vec3> = (0..24).map(|k| Vec3::new(0.01 * k as f64, -0.2, 0.03)).collect();
    fs::write(&path, model(&rest, 0.5)).unwrap();
    let options = ImportOptions { body_model: Some(path), ..ImportOptions::default() };
    let asset = read(&bytes, &options).unwrap();
    check(&asset);
    let motion = asset.motion(0).unwrap();
    assert_eq!(motion.clip.sample_rate, 100.0);
    // J0 + S beta = (0.5, -0.2, 0.03); with trans (0, -0.2, 1) that is (0.5, -0.4, 1.03) with Z up.
    let pelvis = motion.model_pose(2).position(motion.character.skeleton().find("pelvis").unwrap());
    assert!((pelvis - Vec3::new(0.5, 1.03, 0.4)).norm() < 1e-12, "{pelvis}");
    let knee = motion.character.skeleton().find("left_knee").unwrap();
    let turn = motion.clip.rotations(2)[knee.index()];
    assert!(turn.angle_to(&exp(&Vec3::new(0.6, 0.0, 0.0))) < 1e-9);
    assert!(motion.clip.rotations(0)[0].angle_to(&Quat::identity()) < 1e-9);
    // A world that has Y up already stays as it is.
    let told = ImportOptions { up: Some(UpAxis::Y), ..options };
    let lying = read(&bytes, &told).unwrap();
    assert!(lying.clips[0].rotations(0)[0].angle() > 1.5);
    assert_eq!(read(&bytes, &told).unwrap(), lying);
}

#[test]
fn a_path_in_another_unit_is_reported() {
    let warned = |height: f64| {
        let mut arrays = take(2, 0, 0.0);
        let trans = arrays.iter_mut().find(|(name, _)| *name == "trans").unwrap();
        trans.1 = npy(&[2, 3], &[0.0, 0.0, height, 0.0, 0.0, height]);
        let asset = read(&npz(&arrays), &ImportOptions::default()).unwrap();
        asset.warnings.iter().find(|w| w.code == "smpl-unit").map(|w| w.message.clone())
    };
    assert_eq!(warned(0.95), None);
    assert!(warned(95.0).unwrap().contains("centimetres") && warned(950.0).unwrap().contains("millimetres"));
}

#[test]
fn what_is_not_a_motion_is_refused_with_what_was_found() {
    let plain = ImportOptions::default();
    let said = |arrays: &[(&str, Vec<u8>)]| read(&npz(arrays), &plain).unwrap_err();
    let positions = said(&[("positions", npy(&[2, 3, 3], &[0.0; 18])), ("fps", npy(&[], &[30.0]))]);
    assert!(positions.starts_with("3 points: no known layout has so many"), "{positions}");
    assert_eq!(
        said(&[("vertices", npy(&[2, 3, 3], &[0.0; 18])), ("fps", npy(&[], &[30.0]))]),
        "the archive holds no motion that is known, only `vertices` (2, 3, 3), `fps` ()\n  hint: save an AMASS take (`trans` and \
         `poses` of 72, 156 or 165 angles a frame, or `root_orient` and `pose_body`), or positions as the array `joints` of \
         the shape (frames, points, 3)"
    );
    let mut objects = npy(&[1], &[0.0]);
    let at = objects.windows(3).position(|w| w == b"<f8").unwrap();
    objects[at..at + 3].copy_from_slice(b"|O8");
    assert_eq!(
        said(&[("poses", objects.clone())]),
        "the array `poses` holds Python objects, a pickle, which could run any program: it is never read\n  hint: save it \
         again as numbers, in Python: `numpy.asarray(x.todense() if hasattr(x, \"todense\") else x, float)`"
    );
    assert!(said(&[("poses", npy(&[2, 5], &[0.0; 10]))]).contains("(2, 5)"));
    assert_eq!(
        said(&[("poses", npy(&[1, 72], &[f64::NAN; 72]))]),
        "the array `poses`, row 0: a value is not finite, or far beyond any body\n  hint: save the motion again"
    );
    assert!(
        from_bytes(b"PK\x03\x04", "take", Some("npz"), None, &plain)
            .unwrap_err()
            .to_string()
            .ends_with("\n  hint: copy the file again, or save it again with numpy")
    );
    let mut short = take(2, 1, 0.1);
    short[1].1 = npy(&[1, 3], &[0.0; 3]);
    assert!(said(&short).contains("`trans` has the shape (1, 3), expected (2, 3)"));
    // A declared size that is not there costs nothing.
    let mut huge = npy(&[1, 72], &[0.0; 72]);
    let text = String::from_utf8_lossy(&huge).into_owned();
    let at =
        text.find("(1, 72, )").map(|_| huge.windows(9).position(|w| w == b"(1, 72, )").unwrap()).unwrap();
    huge[at..at + 9].copy_from_slice(b"(9999,72)");
    assert!(said(&[("poses", huge)]).contains("its header states the shape"));
    // A body model that is a pickle, or holds one, is never read.
    let models = tempfile::tempdir().unwrap();
    let with = |name: &str, bytes: &[u8]| {
        let path = models.path().join(name);
        fs::write(&path, bytes).unwrap();
        read(&npz(&take(2, 1, 0.1)), &ImportOptions { body_model: Some(path), ..ImportOptions::default() })
            .unwrap_err()
    };
    assert_eq!(
        with("model.pkl", b"\x80\x02}q\x00"),
        format!(
            "the body model `{}`: a pickle could run any program: it is never read\n  hint: use the `.npz` that the model's \
             authors offer, or save `v_template`, `shapedirs` and a dense `J_regressor` with `numpy.savez`",
            models.path().join("model.pkl").display()
        )
    );
    let sparse = npz(&[("J_regressor", objects), ("v_template", npy(&[1, 3], &[0.0; 3]))]);
    assert!(with("sparse.npz", &sparse).contains("`J_regressor` holds Python objects"));
    let odd: Vec<Vec3> = vec![Vec3::zeros(); 7];
    let error = with("odd.npz", &model(&odd, 0.0));
    assert!(
        error.ends_with(
            "odd.npz`: `J_regressor` has 7 joints; models of 22, 24 (SMPL), 52 (SMPL+H) and 55 (SMPL-X) are read"
        ),
        "{error}"
    );
}

#[test]
fn damaged_archives_give_an_error_or_a_motion_that_keeps_the_promises() {
    let mut archives = vec![npz(&take(20, 4, 0.1))];
    if let Some(data) = data() {
        archives.push(fs::read(data.join("dcc/numpy/amass_smplh_walk.npz")).unwrap());
    }
    let options = ImportOptions::default();
    let mut seed = 5u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize
    };
    let mut read_anyway = 0;
    for whole in archives {
        let mut damaged: Vec<Vec<u8>> = (0..60).map(|k| whole[..whole.len() * k / 60].to_vec()).collect();
        for k in 0..240 {
            let mut bytes = whole.clone();
            // Half of the changes hit the directory at the end, where sizes and places are told.
            let from = if k % 2 == 0 { 0 } else { bytes.len() - bytes.len().min(700) };
            let at = from + random() % (bytes.len() - from);
            bytes[at] = random() as u8;
            damaged.push(bytes);
        }
        for bytes in damaged {
            if let Ok(asset) = read(&bytes, &options) {
                check(&asset);
                read_anyway += 1;
            }
        }
    }
    assert!(read_anyway > 0);
}
