//! Symbolic links, pipes and devices in the place of files: nothing outside of the folder is read or changed, and nothing
//! waits for what never comes.
#![cfg(unix)]

mod batch_studio;
#[cfg(feature = "fbx")]
mod text_fbx;

use batch_studio::{command, posemill, studio, write};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time that no command here comes near, seconds.
const PATIENCE: Duration = Duration::from_secs(20);

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Exit code and messages of a command that must end by itself; `None` if it had to be ended.
fn ended(folder: &Path, arguments: &[&str]) -> Option<(i32, String)> {
    let mut command = command(folder);
    let mut child = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    Some((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn pipes_and_devices_in_the_place_of_texts_are_refused() {
    let folder = studio(&["takes/a.bvh"]);
    let path = folder.path();
    pipe(&path.join("fifo"));
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/robot.glb");
    let robot = robot.to_str().unwrap();
    for (name, stage) in [("map", "retarget"), ("file", "contacts")] {
        write(
            path,
            &format!("{name}.toml"),
            &format!(
                "[input]\nmotion = [\"takes/*.bvh\"]\ncharacter = {robot:?}\n[[stage]]\nuse = \"{stage}\"\n{name} = \"fifo\"\n"
            ),
        );
    }
    let commands: [&[&str]; 9] = [
        &["run", "fifo"],
        &["run", "/dev/zero"],
        &["run", "map.toml"],
        &["run", "file.toml"],
        &["simulate", "fifo", "-o", "o.glb"],
        &["retarget", "takes/a.bvh", "--onto", robot, "--map", "fifo", "-o", "o.glb"],
        &["retarget", "takes/a.bvh", "--onto", robot, "--map", "/dev/zero", "-o", "o.glb"],
        &["retarget", "takes/a.bvh", "--onto", "fifo", "-o", "o.glb"],
        &["inspect", "fifo"],
    ];
    for arguments in commands {
        let (code, said) = ended(path, arguments).unwrap_or_else(|| panic!("{arguments:?} waits"));
        assert_ne!(code, 0, "{arguments:?}: {said}");
        assert!(said.contains("it is a pipe or a device, not a file"), "{arguments:?}: {said}");
    }
    let (code, said) = ended(path, &["run", "p.toml", "--files-from", "/dev/zero"]).expect("it reads on");
    assert!(code == 2 && said.contains("MAX_TEXT_BYTES"), "{said}");
}

#[test]
fn own_files_of_an_output_folder_are_no_links_and_no_pipes() {
    let folder = studio(&["takes/a.bvh"]);
    let path = folder.path();
    let victim = path.join("victim");
    for own in [".posemill.seen", ".posemill.jsonl", ".posemill.lock"] {
        for kind in ["link", "dangling", "pipe"] {
            let out = path.join(format!("{kind}{own}"));
            fs::create_dir(&out).unwrap();
            fs::write(&victim, "precious").unwrap();
            match kind {
                "link" => symlink(&victim, out.join(own)).unwrap(),
                "dangling" => symlink(path.join("nowhere"), out.join(own)).unwrap(),
                _ => pipe(&out.join(own)),
            }
            let to = format!("{}/", out.display());
            for more in [&["--dry-run"][..], &[], &["--force"]] {
                let mut arguments = vec!["convert", "takes/a.bvh", "-o", &to];
                arguments.extend(more);
                let (code, said) =
                    ended(path, &arguments).unwrap_or_else(|| panic!("{kind} {own} {more:?} waits"));
                if !more.contains(&"--dry-run") {
                    assert_ne!(code, 0, "{kind} {own}: {said}");
                    assert!(said.contains(own) && said.contains("cannot be written: it is a "), "{said}");
                }
                assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{kind} {own} {more:?}");
                assert!(!path.join("nowhere").exists(), "{kind} {own} {more:?}");
            }
        }
    }
}

#[test]
fn outputs_that_are_pipes_or_links_are_neither_waited_for_nor_followed() {
    let folder = studio(&["takes/a.bvh"]);
    let path = folder.path();
    fs::create_dir(path.join("o")).unwrap();
    let output = path.join("o/a.glb");
    pipe(&output);
    let (code, said) = ended(path, &["convert", "takes/a.bvh", "-o", "o/"]).expect("it waits");
    assert!(code == 1 && said.contains("a.glb"), "{said}");
    fs::remove_file(&output).unwrap();
    fs::write(path.join("victim"), "precious").unwrap();
    symlink(path.join("victim"), &output).unwrap();
    let (code, said) = ended(path, &["convert", "takes/a.bvh", "-o", "o/"]).unwrap();
    assert!(code == 1 && said.contains("a.glb"), "{said}");
    assert_eq!(posemill(path, &["convert", "takes/a.bvh", "-o", "o/", "--force"]).0, 0);
    assert_eq!(fs::read_to_string(path.join("victim")).unwrap(), "precious");
    assert!(output.symlink_metadata().unwrap().is_file());
}

#[cfg(feature = "fbx")]
#[test]
fn textures_of_an_fbx_stay_in_its_folder() {
    let folder = studio(&[]);
    let path = folder.path();
    // A picture is known by its first bytes.
    let (own, secret) = (b"\x89PNG own picture", b"\x89PNG not for you");
    fs::create_dir_all(path.join("in/textures")).unwrap();
    fs::write(path.join("secret.png"), secret).unwrap();
    fs::write(path.join("in/textures/own.png"), own).unwrap();
    symlink(path.join("secret.png"), path.join("in/link.png")).unwrap();
    symlink(path.join("in/textures/own.png"), path.join("in/inner.png")).unwrap();
    symlink(path, path.join("in/up.fbm")).unwrap();
    pipe(&path.join("in/pipe.png"));
    for (name, expected) in [
        ("own.png", true),
        ("inner.png", true),
        ("link.png", false),
        ("pipe.png", false),
        ("up.fbm/secret.png", false),
        ("../secret.png", false),
        ("textures/../../secret.png", false),
    ] {
        let mut fbx = text_fbx::TextFbx::default();
        let (node, _) = fbx.face(0, 3);
        fbx.texture(node, name);
        fs::write(path.join("in/a.fbx"), fbx.bytes()).unwrap();
        let (code, said) = ended(path, &["convert", "in/a.fbx", "-o", "o.glb"]).expect("it waits");
        assert_eq!(code, 0, "{name}: {said}");
        let bytes = fs::read(path.join("o.glb")).unwrap();
        let has = |picture: &[u8]| bytes.windows(picture.len()).any(|w| w == picture);
        assert_eq!((has(own), has(secret)), (expected, false), "{name}: {said}");
        assert_eq!(said.contains("neither in the file nor in its folder"), !expected, "{name}: {said}");
    }
}

/// Every place of the library that opens a file to read it, with the reason why it may.
const OWN_WAYS: [(&str, &str); 5] = [
    ("regular_file/open_file.rs", "the helper itself"),
    ("regular_file/tar_archive.rs", "the part of the helper that opens archives"),
    ("cli/pipe.rs", "a temporary file of the program"),
    ("cli/run_command.rs", "a list of takes may come from a pipe of the shell"),
    ("pipeline/atomic_write.rs", "lists a folder"),
];

#[test]
fn files_are_opened_by_one_helper() {
    fn visit(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, root, found);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            // Its first letters are those of another word.
            let text = text.replace("OriginalFile::open", "");
            let tests = name.split('/').any(|part| part == "tests" || part == "tests.rs");
            let opens = ["File::open", "fs::read(", "read_to_string(", ".open(path"];
            let own_way = OWN_WAYS.iter().any(|(file, _)| *file == name);
            if !tests && !own_way && opens.iter().any(|word| text.contains(word)) {
                found.push(name);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    visit(&root, &root, &mut found);
    assert!(found.is_empty(), "these open files by themselves: {found:?}");
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let table = page.split("## Each promise and its test").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut named = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        // Names, then the file that they are in.
        let words: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let mut names = Vec::new();
        for word in words {
            if !word.ends_with(".rs") {
                names.push(word);
                continue;
            }
            let text = fs::read_to_string(root.join(word)).unwrap();
            for name in names.drain(..) {
                assert!(text.contains(&format!("fn {name}(")), "{word} has no test {name}");
                named += 1;
            }
        }
    }
    assert!(named > 20, "{named} tests are named");
}
