//! `posemill preview` and `[output] preview` as their users meet them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const TAKE: &str = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation \
    Xrotation Yrotation\n JOINT Chest\n {\n  OFFSET 0 50 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  \
    {\n   OFFSET 0 40 0\n  }\n }\n}\nMOTION\nFrames: 3\nFrame Time: 0.1\n0 90 0 0 0 0 0 0 0\n0 90 5 0 0 0 9 0 0\n\
    0 90 10 0 0 0 0 9 0\n";

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("take.bvh"), TAKE).unwrap();
    folder
}

#[test]
fn the_ending_decides_what_is_drawn() {
    let folder = folder();
    for (out, start) in [("a.png", &b"\x89PNG"[..]), ("b.GIF", b"GIF89a"), ("c.apng", b"\x89PNG")] {
        let output = posemill(folder.path(), &["preview", "take.bvh", "take.bvh", "-o", out, "--size", "64"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty());
        // A take without legs has warnings.
        assert!(String::from_utf8_lossy(&output.stderr).ends_with(&format!("\nwrote {out}\n")));
        assert!(fs::read(folder.path().join(out)).unwrap().starts_with(start), "{out}");
    }
}

/// A figure of 22 points that stands, as text: one dot for each point unless the picture is plain.
#[test]
fn the_points_of_an_array_are_dots() {
    let folder = folder();
    let place = |k: usize| {
        let side = 0.1_f64;
        let middle = [0, 3, 6, 9, 12, 15].iter().position(|m| *m == k);
        let limbs = [(1, 0.9), (4, 0.5), (7, 0.1), (10, 0.03), (13, 1.4), (16, 1.4), (18, 1.1), (20, 0.85)];
        match middle {
            Some(n) => [0.0, 0.92 + 0.13 * n as f64, 0.0],
            None => {
                let (first, height) = limbs.iter().rev().find(|(first, _)| k >= *first).unwrap();
                let side = if k == *first { side } else { -side };
                [
                    side * if *first > 13 { 2.0 } else { 1.0 },
                    *height,
                    if *first == 10 { 0.15 } else { 0.02 * (k % 2) as f64 },
                ]
            }
        }
    };
    let frame: Vec<String> = (0..22).map(|k| format!("{:?}", place(k))).collect();
    fs::write(folder.path().join("take.json"), format!("[[{0}],[{0}]]", frame.join(","))).unwrap();
    for (out, more) in [("dots.png", None), ("plain.png", Some("--plain"))] {
        let all =
            ["preview", "take.json", "-o", out, "--set", "input.points.layout=humanml3d", "--frames", "1"];
        let output = posemill(folder.path(), &all.into_iter().chain(more).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let red = |name: &str| {
        let file = fs::File::open(folder.path().join(name)).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let width = info.color_type.samples();
        // Dots that the figure hides are mixed with its colours.
        let is_red = |p: &&[u8]| p[0] > p[1].saturating_add(60) && p[2] > p[1].saturating_add(10);
        pixels[..info.buffer_size()].chunks_exact(width).filter(is_red).count()
    };
    assert!(red("dots.png") > 40, "{}", red("dots.png"));
    assert_eq!(red("plain.png"), 0);
}

#[test]
fn what_cannot_start_says_why_with_exit_code_2() {
    let folder = folder();
    let says = |arguments: &[&str], expected: &str| {
        let output = posemill(folder.path(), &[&["preview", "take.bvh"], arguments].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    };
    says(
        &["-o", "a.tga"],
        "error: `a.tga` is no preview\n  hint: end it with `.png`, `.jpg`, `.gif` or `.apng`",
    );
    says(&["-o", "a.png", "--size", "9"], "a picture of 9 x 9 pixels, allowed are 16 to 4096 a side");
    says(&["-o", "a.gif", "--fps", "99"], "error: a frame rate of 99 Hz: allowed is above 0 to 50");
    says(&["-o", "a.gif", "--camera", "back"], "`back` is no view");
    says(&["-o", "a.gif", "--clip", "Run"], "there is no clip `Run`");
    assert!(!folder.path().join("a.gif").exists());
}

#[test]
fn a_pipeline_writes_the_picture_beside_the_output_and_keeps_it_fresh() {
    let folder = folder();
    let run = |preview: &str| {
        let text =
            format!("[input]\nmotion = [\"take.bvh\"]\n[output]\ndir = \"out\"\npreview = \"{preview}\"\n");
        fs::write(folder.path().join("p.toml"), text).unwrap();
        let output = posemill(folder.path(), &["run", "p.toml"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        text
    };
    assert!(run("png").contains("1 written"));
    let picture = folder.path().join("out/take.png");
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    assert!(run("png").contains("1 up to date"));
    fs::remove_file(&picture).unwrap();
    assert!(run("png").contains("1 written") && picture.exists());
    assert!(run("gif").contains("1 written") && folder.path().join("out/take.gif").exists());
}
