//! Units, axes, layouts and files.

use super::figure::{Figure, Points, npy, poses, read};
use crate::import::{ImportOptions, PointLayout, PointOptions, from_bytes};
use crate::math::Vec3;
use crate::model::Asset;
use std::fs;

fn walk() -> Points {
    Figure { frames: 40, rate: 30.0, yaw: |_| 0.0, elbow: |_| 1.0 }.points()
}

fn same(a: &Asset, b: &Asset, within: f64) {
    let ((_, a), (_, b)) = (poses(a), poses(b));
    for (a, b) in a.iter().flat_map(|p| p.joints()).zip(b.iter().flat_map(|p| p.joints())) {
        assert!((a.translation - b.translation).norm() < within);
    }
}

#[test]
fn units_are_found_by_the_legs() {
    let metres = walk().fitted();
    for scale in [100.0, 1000.0, 1.0 / 0.0254] {
        let other = walk().mapped(|_, _, p| p * scale).fitted();
        assert!(other.warnings.has("points-unit"));
        same(&metres, &other, 1e-6);
    }
    let odd = walk().mapped(|_, _, p| p * 7.0).fitted();
    assert!(!odd.warnings.iter().any(|w| w.code == "points-unit" && w.sure));
    same(&metres, &odd, 1e-6);
}

#[test]
fn axes_of_a_table_are_those_of_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let usual = walk().fitted();
    let names = crate::anatomy::PointsLayout::named("humanml3d").unwrap().points;
    let names: Vec<String> = names.iter().map(|p| format!("\"{}\"", p.unwrap())).collect();
    type Axes = (&'static str, fn(Vec3) -> Vec3);
    let cases: [Axes; 4] = [
        ("y_up", |p| p),
        ("z_up", |p| Vec3::new(p.x, -p.z, p.y)),
        ("camera", |p| Vec3::new(p.x, -p.y, -p.z)),
        ("sensor", |p| Vec3::new(-p.x, p.y, -p.z)),
    ];
    for (axes, file_from_figure) in cases {
        let table = folder.path().join("own.toml");
        fs::write(&table, format!("points = [{}]\naxes = \"{axes}\"\nrate = 30\n", names.join(", ")))
            .unwrap();
        let points = PointOptions { layout: Some(PointLayout::File(table)), ..PointOptions::default() };
        let options = ImportOptions { points, ..ImportOptions::default() };
        let bytes = walk().mapped(|_, _, p| file_from_figure(p)).npy();
        same(&usual, &from_bytes(&bytes, "take", Some("npy"), None, &options).unwrap(), 1e-6);
    }
    let lying = walk().mapped(|_, _, p| Vec3::new(p.x, -p.z, p.y)).fitted();
    assert!(lying.warnings.has("points-up"));
}

#[test]
fn an_array_without_a_name_of_its_layout_is_recognised_or_asks() {
    let of = |points: usize| {
        let bytes = npy(&format!("2, {points}, 3"), (0..6 * points).map(|k| k as f64));
        from_bytes(&bytes, "take", Some("npy"), None, &ImportOptions::default())
    };
    let said = of(17).unwrap_err().to_string();
    assert!(said.contains("coco17 or h36m17") && said.contains("input.points.layout"), "{said}");
    assert!(of(25).unwrap_err().to_string().contains("body25 or kinect25"));
    assert!(of(23).unwrap_err().to_string().contains("mediapipe33"));
    let options = ImportOptions::default();
    let found = from_bytes(&walk().npy(), "take", Some("npy"), None, &options).unwrap();
    assert!(found.warnings.has("points-rate"));
    assert_eq!(found.clips[0].sample_rate, 20.0);
}

#[test]
fn json_and_archives_are_the_same_motion() {
    let points = walk();
    let usual = points.fitted();
    let frames: Vec<String> = (points.frames.iter())
        .map(|frame| {
            let list = |p: &Vec3| format!("{{\"x\":{},\"y\":{},\"z\":{},\"visibility\":0.9}}", p.x, p.y, p.z);
            format!("{{\"landmarks\":[{}]}}", frame.iter().map(list).collect::<Vec<_>>().join(","))
        })
        .collect();
    let json = format!("[{}]", frames.join(",\n"));
    same(&usual, &read(json.as_bytes(), "humanml3d", 30.0), 1e-9);
    for rate in ["fps.npy", "framerate.npy"] {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in [("joints.npy", points.npy()), (rate, npy("", std::iter::once(30.0)))] {
            use std::io::Write;
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&bytes).unwrap();
        }
        let archive = zip.finish().unwrap().into_inner();
        let found = from_bytes(&archive, "take", Some("npz"), None, &ImportOptions::default()).unwrap();
        assert!(!found.warnings.has("points-rate"));
        same(&usual, &found, 1e-9);
    }
}

#[test]
fn a_rate_beside_the_frames_of_a_text_is_read() {
    let frames: Vec<String> = (walk().frames.iter())
        .map(|frame| {
            let list: Vec<String> = frame.iter().map(|p| format!("[{},{},{}]", p.x, p.y, p.z)).collect();
            format!("[{}]", list.join(","))
        })
        .collect();
    for name in ["fps", "framerate"] {
        let json = format!("{{\"{name}\": 60, \"frames\": [{}]}}", frames.join(","));
        let found =
            from_bytes(json.as_bytes(), "take", Some("json"), None, &ImportOptions::default()).unwrap();
        assert_eq!((found.clips[0].sample_rate, found.warnings.has("points-rate")), (60.0, false), "{name}");
    }
}

#[test]
fn keypoints_in_an_image_are_refused() {
    let refused = |points: &Points| {
        from_bytes(&points.npy(), "take", Some("npy"), None, &ImportOptions::default())
            .unwrap_err()
            .to_string()
    };
    // Pixels with a score that differs, and with one that does not.
    let score = |f: usize, k: usize| 0.6 + 0.3 * ((f * 7 + k * 3) % 11) as f64 / 11.0;
    let scored = walk().mapped(|f, k, p| Vec3::new(300.0 + 200.0 * p.x, 400.0 - 200.0 * p.y, score(f, k)));
    assert!(refused(&scored).contains("OpenPose"), "{}", refused(&scored));
    let even = walk().mapped(|_, _, p| Vec3::new(300.0 + 200.0 * p.z, 400.0 - 200.0 * p.y, 0.9));
    assert!(refused(&even).contains("MotionBERT"), "{}", refused(&even));
    // A figure without depth, in metres, whichever axis is missing.
    for axis in 0..3 {
        let flat = walk().mapped(|_, _, mut p| {
            p[axis] = 0.0;
            p
        });
        assert!(refused(&flat).contains("the figure is flat"), "{}", refused(&flat));
    }
    // Shares of the image.
    let share = |x: f64| x.clamp(0.0, 1.0);
    let shares = walk().mapped(|f, k, p| {
        Vec3::new(
            share(0.5 + 0.2 * p.x) + 0.03,
            share(1.0 - 0.4 * p.y),
            if k % 5 == 0 { 0.0 } else { score(f, k) },
        )
    });
    assert!(refused(&shares).contains("shares of an image"), "{}", refused(&shares));
    let options = ImportOptions { units: Some(1.0), ..ImportOptions::default() };
    let said = from_bytes(&shares.npy(), "take", Some("npy"), None, &options);
    assert!(
        said.is_ok_and(|asset| asset.clips.len() == 1),
        "whoever states a unit says that they are positions"
    );
    // Landmarks in the image, some points outside of it, with a depth counted from the hips.
    let walk_frames = walk().frames;
    let hips = |f: usize| (walk_frames[f][1] + walk_frames[f][2]) / 2.0;
    let landmarks =
        walk().mapped(|f, _, p| Vec3::new(0.5 + 0.2 * p.x, 1.15 - 0.5 * p.y, 0.2 * (p.z - hips(f).z)));
    assert!(refused(&landmarks).contains("`pose_world_landmarks`"), "{}", refused(&landmarks));
    let said = from_bytes(&landmarks.npy(), "take", Some("npy"), None, &options);
    assert!(said.is_ok(), "{said:?}");
    // In space the hips are the origin of all axes, or y is up.
    for place in [|_: Vec3, hips: Vec3| hips, |_: Vec3, hips: Vec3| Vec3::z() * hips.z] {
        let points = walk().mapped(|f, _, p| p - place(p, hips(f)));
        let said = from_bytes(&points.npy(), "take", Some("npy"), None, &ImportOptions::default());
        assert!(said.is_ok(), "{said:?}");
    }
    // A thin figure in millimetres is one in space.
    let thin = walk().mapped(|_, _, p| Vec3::new(1000.0 * p.x, 1000.0 * p.y, 100.0 * p.z));
    assert!(from_bytes(&thin.npy(), "take", Some("npy"), None, &ImportOptions::default()).is_ok());
}

#[test]
fn what_is_no_array_is_not_called_damaged_json() {
    let refused = |bytes: &[u8], suffix: &str| {
        from_bytes(bytes, "take", Some(suffix), None, &ImportOptions::default()).unwrap_err().to_string()
    };
    assert!(refused(b"1 2 3\n4 5 6\n", "npy").contains("does not begin as the arrays of NumPy do"));
    assert!(
        refused(b"{\"points\": [[1, 2, 3]]}", "json").contains("write points as `{\"fps\": 30, \"frames\"")
    );
    assert!(refused(b"", "pkl").starts_with("the file is empty"), "{}", refused(b"", "pkl"));
}

#[test]
fn damaged_arrays_are_refused() {
    let refused = |bytes: &[u8]| {
        from_bytes(bytes, "take", Some("npy"), None, &ImportOptions::default()).unwrap_err().to_string()
    };
    let whole = walk().npy();
    assert!(refused(&whole[..whole.len() - 8]).contains("header states the shape"));
    let pickle = String::from_utf8_lossy(&whole[..100]).replace("'<f8'", "'|O'");
    let mut objects = b"\x93NUMPY\x01\x00".to_vec();
    let head = &pickle[pickle.find('{').unwrap()..];
    objects.extend((head.len() as u16).to_le_bytes());
    objects.extend(head.as_bytes());
    assert!(refused(&objects).contains("allow_pickle=True"));
    assert!(refused(&npy("0, 22, 3", std::iter::empty())).contains("no frames"));
    let gigabytes = npy("400000000, 22, 3", std::iter::once(0.0));
    assert!(refused(&gigabytes).contains("22, 3"));
    let infinite = walk().mapped(|f, k, p| if f == 3 && k == 4 { p * f64::INFINITY } else { p });
    assert!(refused(&infinite.npy()).contains("frame 3, point 4"));
    let nothing = walk().mapped(|_, _, p| p * f64::NAN);
    assert!(refused(&nothing.npy()).contains("hip"));
    assert!(refused(&walk().mapped(|_, _, _| Vec3::repeat(1.0)).npy()).contains("no length"));
    let far = walk().mapped(|_, _, p| p * 1e-4 + Vec3::repeat(1e9));
    assert!(refused(&far.npy()).contains("beyond any body"));
    // The other byte order and the other order of indices are read.
    let big: Vec<u8> = whole[..whole.len() - 40 * 22 * 3 * 8].to_vec();
    let big = String::from_utf8_lossy(&big[10..]).replace('<', ">");
    let mut file = whole[..10].to_vec();
    file.extend(big.as_bytes());
    file.extend(walk().frames.iter().flatten().flat_map(|p| [p.x, p.y, p.z]).flat_map(f64::to_be_bytes));
    same(&read(&file, "humanml3d", 30.0), &walk().fitted(), 1e-9);
}
