//! Runs the commands of README.md and of the pages in `docs/`, in order, in a fresh folder with a copy of the data.

use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The `posemill ...` lines of the `sh` blocks of a file.
fn commands(file: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && !line.is_empty() {
            found.push(line.to_owned());
        }
    }
    found
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn every_command_of_the_readme_runs() {
    assert_eq!(run_all("README.md"), 22);
}

#[test]
fn the_pipeline_of_the_readme_is_the_one_that_its_commands_run() {
    let read = |file: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(str::to_owned).collect()
    };
    let readme = read("README.md");
    let (_, shown) = readme.split_once("```toml\n").unwrap();
    assert_eq!(lines(shown.split("```").next().unwrap()), lines(&read("pipelines/demo.toml")));
}

/// Pages with commands, each with their number. `docs/python.md` is run by the tests of the Python package.
const PAGES: [(&str, usize); 7] = [
    ("batches.md", 10),
    ("formats.md", 9),
    ("measures.md", 5),
    ("physics.md", 11),
    ("pipelines.md", 7),
    ("retargeting.md", 10),
    ("robots.md", 9),
];

#[test]
fn every_command_of_the_pages_runs() {
    PAGES.par_iter().for_each(|(page, count)| {
        assert_eq!(run_all(&format!("docs/{page}")), *count, "{page}");
    });
}

#[test]
fn every_page_with_commands_is_listed() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in fs::read_dir(docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let listed = PAGES.iter().any(|page| page.0 == name) || name == "python.md";
        assert!(
            listed || commands(&format!("docs/{name}")).is_empty(),
            "nothing runs the commands of {name}"
        );
    }
}

/// Runs the commands of a file and returns their number.
fn run_all(file: &str) -> usize {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = tempfile::tempdir().unwrap();
    for folder in ["data", "pipelines"] {
        copy_folder(&here.join(folder), &place.path().join(folder));
    }
    let mut ran = 0;
    for line in commands(file) {
        let words = line.split(" #").next().unwrap().split_whitespace();
        let words: Vec<&str> = words.map(|w| w.trim_matches('\'')).collect();
        let arguments = match words.as_slice() {
            ["posemill", rest @ ..] => rest,
            ["cargo", "run", "--release", "--", rest @ ..] => rest,
            // The test command is what runs this test; the install command is not for a test to run.
            ["cargo", "test"] | ["cargo", "install", ..] => continue,
            other => panic!("{file} has a command that nothing checks: {other:?}"),
        };
        let result = Command::new(env!("CARGO_BIN_EXE_posemill"))
            .args(arguments)
            .current_dir(place.path())
            .output()
            .unwrap();
        assert!(result.status.success(), "{line}\n{}", String::from_utf8_lossy(&result.stderr));
        ran += 1;
    }
    ran
}
