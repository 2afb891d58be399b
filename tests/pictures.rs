//! The pictures of the README are what the program draws from `data/` today, on any number of threads.
//!
//! Where they have changed on purpose, `UPDATE_PICTURES=1 cargo test --test pictures` draws them anew; that run fails, so
//! that it cannot pass by accident.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the picture, take and character of `data/`, whether the take stands beside the result, further options.
const PICTURES: [(&str, &str, &str, bool, &[&str]); 3] = [
    ("walk.png", "walk", "robot", true, &["--frames", "6", "--size", "170x220"]),
    ("jump.png", "jump", "mannequin", false, &["--frames", "6", "--size", "170x220"]),
    ("wave.gif", "wave", "robot", true, &["--fps", "12", "--size", "240"]),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn posemill(threads: &str, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    let output = command.env("RAYON_NUM_THREADS", threads).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The bytes of a preview of `take` on `character`.
fn drawn(
    threads: &str,
    (name, take, character, beside, options): (&str, &str, &str, bool, &[&str]),
) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let take_file = data(&format!("{take}.bvh")).display().to_string();
    let (result, picture) = (path(&format!("{take}.glb")), path(name));
    let character = data(&format!("{character}.glb")).display().to_string();
    posemill(threads, &["retarget", &take_file, "--onto", &character, "-o", &result]);
    let mut arguments = vec!["preview"];
    arguments.extend(beside.then_some(take_file.as_str()));
    arguments.extend([result.as_str(), "-o", &picture]);
    arguments.extend(options);
    posemill(threads, &arguments);
    fs::read(picture).unwrap()
}

#[test]
fn the_pictures_of_the_readme_are_those_of_today() {
    let update = std::env::var_os("UPDATE_PICTURES").is_some();
    let mut total = 0;
    for picture in PICTURES {
        let kept = data("pictures").join(picture.0);
        let today = drawn("2", picture);
        total += today.len();
        if update {
            fs::write(&kept, &today).unwrap();
        }
        assert!(
            fs::read(&kept).is_ok_and(|k| k == today),
            "`data/pictures/{}` is not what is drawn today\n`UPDATE_PICTURES=1 cargo test --test pictures` draws it anew",
            picture.0
        );
    }
    assert!(total < 1_500_000, "{total} bytes");
    assert!(!update, "the pictures were drawn anew; run again without UPDATE_PICTURES");
}

#[test]
fn contact_sheets_of_the_shipped_files_are_golden_at_two_sizes_and_on_one_and_two_threads() {
    // Changed only on purpose: every change of these lines is a change of every preview.
    let golden: [(&[&str], &str, &str); 4] = [
        (&["walk.bvh", "mannequin.glb"], "90x120", "08a460988da9abf1"),
        (&["walk.bvh", "mannequin.glb"], "240x320", "08af6219b6271cbd"),
        (&["robot.glb"], "90x120", "474998d00a755c4b"),
        (&["robot.glb"], "240x320", "1b474d08bec9bd6b"),
    ];
    let mut changed = Vec::new();
    for (files, size, expected) in golden {
        let folder = tempfile::tempdir().unwrap();
        let picture = folder.path().join("sheet.png");
        let files: Vec<String> = files.iter().map(|f| data(f).display().to_string()).collect();
        let drawn = |threads: &str| {
            let mut arguments = vec!["preview"];
            arguments.extend(files.iter().map(String::as_str));
            let out = picture.display().to_string();
            arguments.extend(["-o", &out, "--frames", "4", "--size", size]);
            posemill(threads, &arguments);
            fs::read(&picture).unwrap()
        };
        let one = drawn("1");
        assert_eq!(one, drawn("2"), "{files:?} {size}");
        let mut reader = png::Decoder::new(std::io::Cursor::new(one)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let found = blake3::hash(&pixels).to_hex()[..16].to_owned();
        if found != expected {
            changed.push(format!("{files:?} {size}: {found} instead of {expected}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
