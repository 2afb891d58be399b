//! What can go wrong around a batch, each with its message; the takes beside it are done.

mod batch_studio;

use base64::prelude::{BASE64_STANDARD, Engine};
use batch_studio::{TAKE, command, counts, many, outputs, pipeline, posemill, studio, told, write};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A `.gltf` with a buffer beside it: one node that moves to `end`.
fn moving(folder: &Path, name: &str, uri: &str, end: f32) {
    let numbers = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, end];
    let bytes: Vec<u8> = numbers.iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"name":"a","children":[1]}},{{"name":"b","translation":[0,1,0]}}],
"buffers":[{{"byteLength":32,"uri":"{uri}"}}],"bufferViews":[{{"buffer":0,"byteLength":32}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]}},
{{"bufferView":0,"byteOffset":8,"componentType":5126,"count":2,"type":"VEC3"}}],
"animations":[{{"samplers":[{{"input":0,"output":1}}],"channels":[{{"sampler":0,"target":{{"node":0,"path":"translation"}}}}]}}]}}"#
    );
    write(folder, name, &text);
    let path = folder.join(name);
    fs::write(path.with_file_name(uri), bytes).unwrap();
}

fn joints(folder: &Path, file: &str) -> Value {
    let (code, out, err) = posemill(folder, &["joints", file, "--json"]);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str::<Value>(&out).unwrap()["frames"].clone()
}

#[test]
fn buffers_of_one_name_stay_two_files() {
    let folder = studio(&[]);
    let path = folder.path();
    moving(path, "takes/a/a.gltf", "scene.bin", 2.0);
    moving(path, "takes/b/b.gltf", "scene.bin", 5.0);
    let (code, _, err) =
        posemill(path, &["convert", "takes/a/a.gltf", "takes/b/b.gltf", "-o", "out/", "--format", "gltf"]);
    assert_eq!(code, 0, "{err}");
    for name in ["a", "b"] {
        assert_eq!(
            joints(path, &format!("out/{name}.gltf")),
            joints(path, &format!("takes/{name}/{name}.gltf"))
        );
    }
    let names: Vec<String> = outputs(path).into_keys().collect();
    assert_eq!(names, [".posemill.jsonl", "a.files/scene.bin", "a.gltf", "b.files/scene.bin", "b.gltf"]);
    let again = ["convert", "takes/a/a.gltf", "takes/b/b.gltf", "-o", "out/", "--format", "gltf"];
    assert!(posemill(path, &again).2.ends_with("2 up to date\n"));
}

#[test]
fn a_buffer_that_is_reached_through_its_own_folder_lies_where_the_output_says() {
    let folder = studio(&[]);
    let path = folder.path();
    moving(path, "in/x.gltf", "../in/x.bin", 3.0);
    for out in ["out/x.gltf", "other/"] {
        let (code, _, err) = posemill(path, &["convert", "in/x.gltf", "-o", out, "--format", "gltf"]);
        assert_eq!(code, 0, "{err}");
    }
    let (from, _) = (joints(path, "in/x.gltf"), fs::rename(path.join("in"), path.join("gone")).unwrap());
    assert_eq!(joints(path, "out/x.gltf"), from);
    assert_eq!(joints(path, "other/x.gltf"), from);
}

/// A character as a `.gltf` with its buffer in `hero.bin` beside it.
fn with_buffer(folder: &Path, character: &str, hero: &str) {
    assert_eq!(posemill(folder, &["convert", character, "-o", hero]).0, 0);
    let path = folder.join(hero);
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("data:application/octet-stream;base64,").unwrap();
    let (packed, tail) = rest.split_once('"').unwrap();
    fs::write(path.with_file_name("hero.bin"), BASE64_STANDARD.decode(packed).unwrap()).unwrap();
    fs::write(&path, format!("{head}hero.bin\"{tail}")).unwrap();
}

#[test]
fn two_pipelines_in_one_folder_do_not_take_each_others_buffers() {
    let folder = studio(&[]);
    let path = folder.path();
    let data = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    for (one, character, take) in [("a", "robot.glb", "walk.bvh"), ("b", "mannequin.glb", "jump.bvh")] {
        fs::create_dir(path.join(one)).unwrap();
        let hero = format!("{one}/hero.gltf");
        with_buffer(path, &data(character), &hero);
        let text = format!(
            "[input]\nmotion = [\"{}\"]\ncharacter = \"{hero}\"\n[output]\nreport = false\nformats = [\"gltf\"]\n\
             [[stage]]\nuse = \"retarget\"\n",
            data(take)
        );
        write(path, &format!("{one}.toml"), &text);
    }
    assert_eq!(posemill(path, &["run", "a.toml"]).0, 0);
    let before = outputs(path);
    let shared: Vec<&String> = before.keys().filter(|name| name.ends_with(".bin")).collect();
    assert!(shared.len() == 1 && !shared[0].starts_with("walk"), "{shared:?}");
    let (code, _, err) = posemill(path, &["run", "b.toml"]);
    let told = format!("`out/{}` beside the output belongs to `out/walk.gltf` too, ", shared[0]);
    assert!(code == 1 && err.contains(&told), "{err}");
    assert!(outputs(path).keys().eq(before.keys()) && outputs(path)[shared[0]] == before[shared[0]]);
    // Its own outputs are made anew with it.
    with_buffer(path, &data("mannequin.glb"), "a/hero.gltf");
    let (code, _, err) = posemill(path, &["run", "a.toml"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(posemill(path, &["run", "b.toml"]).0, 0, "the same buffer is nobody's alone");
}

/// `a.glb` and `a.npz` have one page, `a.report.html`: each run would make the other's outputs again, for ever.
#[test]
fn two_pipelines_in_one_folder_do_not_replace_each_others_pages() {
    let folder = studio(&["takes/a.bvh"]);
    let path = folder.path();
    let data = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::copy(data("robot.glb"), path.join("hero.glb")).unwrap();
    fs::copy(data("walk.bvh"), path.join("takes/a.bvh")).unwrap();
    let of = |format: &str, report: bool| {
        format!(
            "[input]\nmotion = [\"takes/*.bvh\"]\ncharacter = \"hero.glb\"\n[output]\nreport = {report}\n\
             formats = [\"{format}\"]\n[[stage]]\nuse = \"retarget\"\n"
        )
    };
    write(path, "g.toml", &of("glb", true));
    write(path, "n.toml", &of("npz", true));
    let (code, _, err) = posemill(path, &["run", "g.toml"]);
    assert_eq!(code, 0, "{err}");
    // The report of the folder is that of the last run.
    let made = || ["a.glb", "a.report.html"].map(|name| fs::read(path.join("out").join(name)).unwrap());
    let before = made();
    for more in [&["--dry-run"][..], &[]] {
        let (code, _, err) = posemill(path, &[&["run", "n.toml"], more].concat());
        let told = "`out/a.report.html` is an output of another pipeline, `g.toml`\n  \
                    hint: give this pipeline a folder of its own";
        assert!(code == 1 && err.contains(told), "{err}");
        assert!(made() == before && !path.join("out/a.npz").exists());
    }
    assert!(posemill(path, &["run", "g.toml"]).2.contains("1 up to date"));
    // Without pages both share the folder, and one pipeline may write another format.
    write(path, "n.toml", &of("npz", false));
    assert_eq!(posemill(path, &["run", "n.toml"]).0, 0);
    assert!(posemill(path, &["run", "g.toml"]).2.contains("1 up to date"));
    write(path, "g.toml", &of("usda", true));
    let (code, _, err) = posemill(path, &["run", "g.toml"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn takes_that_would_go_to_one_file_fail_together_and_alone() {
    let folder = studio(&["takes/a.bvh", "more/a.bvh", "takes/b.bvh"]);
    let path = folder.path();
    let (code, _, err) =
        posemill(path, &["convert", "takes/a.bvh", "more/a.bvh", "takes/b.bvh", "-o", "out/"]);
    assert_eq!(code, 1);
    for (take, other) in [("takes/a.bvh", "more/a.bvh"), ("more/a.bvh", "takes/a.bvh")] {
        let told =
            format!("error: {take}: `{other}` would go to `out/a.glb` too, and neither does\n  hint: ");
        assert!(err.contains(&told), "{err}");
    }
    assert!(err.ends_with("1 written, 2 failed\n"), "{err}");
    assert_eq!(outputs(path).into_keys().collect::<Vec<_>>(), [".posemill.jsonl", "b.glb"]);
    // A file that only its extension makes a take does not stop one of the same name; two such files stop each other.
    for junk in ["takes/b.fbx", "takes/d.fbx", "takes/d.csv"] {
        write(path, junk, "no motion");
    }
    let (code, _, err) = posemill(
        path,
        &["convert", "takes/b.bvh", "takes/b.fbx", "takes/d.fbx", "takes/d.csv", "-o", "junk/"],
    );
    let told = "error: takes/b.fbx: `takes/b.bvh` would go to `junk/b.glb` too, and is written: of this one, only the extension";
    assert!(code == 1 && err.contains(told) && path.join("junk/b.glb").exists(), "{err}");
    assert!(err.ends_with("1 written, 3 failed\n") && err.matches("neither does").count() == 2, "{err}");
    // A file beside one output that is the output of another take.
    write(path, "takes/c.contacts.bvh", TAKE);
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/data/walk.bvh"), path.join("takes/c.bvh")).unwrap();
    pipeline(path, "report = false\nformats = [\"csv\"]\ncontacts = true\n[[stage]]\nuse = \"contacts\"\n");
    let (code, _, err) = posemill(path, &["run", "p.toml", "--output", "tables"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("takes/c.bvh: `tables/c.contacts.csv` beside the output is a file of another take"),
        "{err}"
    );
    assert!(path.join("tables/c.contacts.csv").exists() && !path.join("tables/c.csv").exists());
}

#[test]
fn what_stands_in_the_way_is_told_and_the_rest_is_done() {
    let folder = many(3);
    let path = folder.path();
    fs::create_dir_all(path.join("out/0/0000.glb")).unwrap();
    let (code, _, err) = posemill(path, &["run", "p.toml"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("error: takes/0/0000.bvh: `out/0/0000.glb` cannot be written: is a directory\n"),
        "{err}"
    );
    assert!(err.ends_with("2 written, 1 failed\n"), "{err}");
    // A file where the folder should be.
    write(path, "file", "mine");
    let (code, _, err) = posemill(path, &["run", "p.toml", "--output", "file"]);
    assert!(code == 2 && err.starts_with("error: `file` is a file, not a folder\n  hint: "), "{err}");
    assert_eq!(fs::read(path.join("file")).unwrap(), b"mine");
}

#[test]
fn the_output_of_another_take_is_replaced_by_force_alone() {
    let folder = studio(&["a/x.bvh", "b/x.bvh"]);
    let path = folder.path();
    let convert = |take: &str, more: &[&str]| {
        let (code, _, err) = posemill(path, &[&["convert", take, "-o", "out/"], more].concat());
        (code, err)
    };
    assert_eq!(convert("a/x.bvh", &[]).0, 0);
    let before = outputs(path);
    for more in [&["--dry-run"][..], &[]] {
        let (code, err) = convert("b/x.bvh", more);
        let expected =
            "`out/x.glb` was made of the take `a/x.bvh`, and would now be made of the take `b/x.bvh`\n";
        assert!(code == 1 && err.contains(expected) && err.contains("`--force`"), "{err}");
    }
    assert_eq!(outputs(path), before);
    // Other settings, a take that was edited and one that was moved are no other take.
    assert!(convert("a/x.bvh", &["--fps", "20"]).1.ends_with("1 written\n"));
    write(path, "a/x.bvh", &TAKE.replace(" 20 0", " 7 0"));
    assert!(convert("a/x.bvh", &[]).1.ends_with("1 written\n"));
    fs::rename(path.join("a"), path.join("c")).unwrap();
    assert_eq!(convert("c/x.bvh", &[]).0, 0);
    assert!(convert("c/x.bvh", &["--fps", "15"]).1.ends_with("1 written\n"));
    assert_eq!(convert("b/x.bvh", &["--force"]).0, 0);
    assert!(convert("c/x.bvh", &[]).1.contains("was made of the take `b/x.bvh`"));
    // An output that was deleted is nobody's.
    fs::remove_file(path.join("out/x.glb")).unwrap();
    assert!(convert("c/x.bvh", &[]).1.ends_with("1 written\n"));
    // Two pipelines with the same stages, and other takes of the same names.
    for name in ["b", "c"] {
        write(
            path,
            &format!("{name}.toml"),
            &format!("[input]\nmotion = \"{name}/*.bvh\"\n[output]\nreport = false\n"),
        );
    }
    assert_eq!(posemill(path, &["run", "b.toml", "--output", "two"]).0, 0);
    let (code, _, err) = posemill(path, &["run", "c.toml", "--output", "two"]);
    assert!(code == 1 && err.contains("`two/x.glb` was made of the take `b/x.bvh`"), "{err}");
}

#[test]
fn the_output_for_another_character_is_replaced_by_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for (from, to) in [("walk.bvh", "walk.bvh"), ("robot.glb", "hero.glb"), ("tailed.glb", "other.glb")] {
        fs::copy(data.join(from), path.join(to)).unwrap();
    }
    let onto = |character: &str, more: &[&str]| {
        let take =
            ["retarget", "walk.bvh", "--onto", character, "-o", "out/", "--set", "output.report=false"];
        let (code, _, err) = posemill(path, &[&take, more].concat());
        (code, err)
    };
    assert_eq!(onto("hero.glb", &[]).0, 0);
    let (code, err) = onto("other.glb", &[]);
    let expected = "`out/walk.glb` was made for the character `hero.glb`, and would now be made for the character `other.glb`\n";
    assert!(code == 1 && err.contains(expected), "{err}");
    let (code, _, err) = posemill(path, &["convert", "walk.bvh", "-o", "out/"]);
    assert!(code == 1 && err.contains("would now be made without a character\n"), "{err}");
    // The same character under another name.
    fs::rename(path.join("hero.glb"), path.join("renamed.glb")).unwrap();
    assert_eq!(onto("renamed.glb", &["--set", "stage.ground.enabled=false"]).0, 0);
    assert_eq!(onto("other.glb", &["--force"]).0, 0);
}

#[test]
fn data_that_the_file_of_the_character_lacks_is_no_fault_of_the_take() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    fs::copy(data.join("wave.bvh"), path.join("wave.bvh")).unwrap();
    fs::copy(data.join("robot.glb"), path.join("hero.glb")).unwrap();
    assert_eq!(posemill(path, &["convert", "hero.glb", "-o", "hero.gltf"]).0, 0);
    let text = fs::read_to_string(path.join("hero.gltf")).unwrap();
    let (before, rest) = text.split_once("\"data:application/octet-stream").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    fs::write(path.join("hero.gltf"), format!("{before}\"gone.bin\"{after}")).unwrap();
    let (code, _, err) = posemill(path, &["retarget", "wave.bvh", "--onto", "hero.gltf", "-o", "made.glb"]);
    assert!(code == 1 && err.contains("the file of the character, `hero.gltf`: `buffers[0]`: "), "{err}");
}

#[test]
fn a_take_that_cannot_be_read_is_one_error_for_several_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for name in ["robot.glb", "tailed.glb"] {
        fs::copy(data.join(name), path.join(name)).unwrap();
    }
    write(path, "bad.bvh", "nonsense");
    let text = "[input]\nmotion = \"bad.bvh\"\ncharacter = [\"robot.glb\", \"tailed.glb\"]\n[[stage]]\nuse = \"retarget\"\n";
    write(path, "p.toml", text);
    let (code, _, err) = posemill(path, &["run", "p.toml", "--set", "output.report=false"]);
    assert!(code == 1 && err.ends_with("2 failed\n"), "{err}");
    assert_eq!(err.matches("error: bad.bvh: ").count(), 1, "{err}");
}

#[test]
fn a_partial_run_keeps_what_the_report_of_the_folder_lists() {
    let takes = ["takes/a.bvh", "takes/b.bvh", "takes/c.bvh", "takes/deep/d.bvh"];
    let folder = studio(&takes);
    let path = folder.path();
    pipeline(path, "report = true\nformats = [\"glb\", \"bvh\"]\n");
    let report = || fs::read_to_string(path.join("out/report.json")).unwrap();
    let rows = |page: &str| takes.iter().filter(|take| page.contains(&format!("\"{take}\""))).count();
    assert_eq!(posemill(path, &["run", "p.toml"]).0, 0);
    let whole = report();
    let page = fs::read_to_string(path.join("out/report.html")).unwrap();
    assert_eq!(rows(&whole), 4);
    for part in [&["--shard", "1/3"][..], &["--input", "takes/b.bvh"], &["--shard", "2/3"]] {
        let (code, _, err) = posemill(path, &[&["run", "p.toml"], part].concat());
        assert_eq!(code, 0, "{err}");
        assert_eq!(report(), whole, "{part:?}");
        assert_eq!(fs::read_to_string(path.join("out/report.html")).unwrap(), page, "{part:?}");
    }
    // Outputs that were deleted are not listed.
    fs::remove_file(path.join("out/c.glb")).unwrap();
    fs::remove_file(path.join("out/c.bvh")).unwrap();
    assert_eq!(posemill(path, &["run", "p.toml", "--input", "takes/a.bvh"]).0, 0);
    assert_eq!(rows(&report()), 3);
    // Shares that begin in an empty folder end with the report of one run.
    fs::remove_dir_all(path.join("out")).unwrap();
    for share in ["2/3", "3/3", "1/3"] {
        assert_eq!(posemill(path, &["run", "p.toml", "--shard", share]).0, 0);
    }
    assert_eq!(report(), whole);
    write(path, "none.txt", "\n");
    let (code, _, err) = posemill(path, &["run", "p.toml", "--files-from", "none.txt"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "error: the list of takes `none.txt` cannot be read: it names no take\n")
    );
    assert_eq!(report(), whole);
}

#[test]
fn takes_that_failed_in_other_shares_stay_in_the_report_of_the_folder() {
    let takes = ["takes/a.bvh", "takes/b.bvh", "takes/c.bvh", "takes/d.bvh"];
    let folder = studio(&takes);
    let path = folder.path();
    pipeline(path, "report = true\n");
    write(path, "takes/b.bvh", "nonsense");
    let report = || fs::read_to_string(path.join("out/report.json")).unwrap();
    assert_eq!(posemill(path, &["run", "p.toml"]).0, 1);
    let whole = report();
    for run in 0..2 {
        for take in [1, 0, 3, 2].map(|k: usize| takes[k]) {
            let code = posemill(path, &["run", "p.toml", "--input", take]).0;
            assert_eq!(code, i32::from(take == "takes/b.bvh"), "{take}");
        }
        assert_eq!(report(), whole, "{run}");
        // Shares that begin in an empty folder.
        if run == 0 {
            fs::remove_dir_all(path.join("out")).unwrap();
        }
    }
    // A take that was made since, without a report, and one that is gone have failed no longer.
    write(path, "takes/c.bvh", "nonsense");
    assert_eq!(posemill(path, &["run", "p.toml", "--input", "takes/c.bvh"]).0, 1);
    write(path, "takes/b.bvh", TAKE);
    fs::remove_file(path.join("takes/c.bvh")).unwrap();
    let quiet = ["run", "p.toml", "--input", "takes/b.bvh", "--set", "output.report=false"];
    assert_eq!(posemill(path, &quiet).0, 0);
    assert_eq!(posemill(path, &["run", "p.toml", "--input", "takes/a.bvh"]).0, 0);
    assert!(!report().contains("\"error\": \""), "{}", report());
}

#[test]
fn takes_that_failed_are_the_same_for_runs_from_another_folder() {
    let folder = studio(&["takes/a.bvh", "takes/b.bvh", "takes/c.bvh"]);
    let path = folder.path();
    pipeline(path, "report = true\n");
    write(path, "takes/b.bvh", "nonsense");
    let (deep, elsewhere) = (path.join("takes"), tempfile::tempdir().unwrap());
    let report = || -> Value {
        serde_json::from_str(&fs::read_to_string(path.join("out/report.json")).unwrap()).unwrap()
    };
    let failed = || -> Vec<String> {
        let rows = report()["files"].as_array().unwrap().clone();
        let failed = rows.iter().filter(|row| row["error"].is_string());
        failed.map(|row| row["inputs"][0].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(posemill(path, &["run", "p.toml"]).0, 1);
    assert_eq!(failed(), ["takes/b.bvh"]);
    // Another take, from another folder: the failure stays, and is named as seen from there.
    assert_eq!(posemill(&deep, &["run", "../p.toml", "--input", "a.bvh"]).0, 0);
    assert_eq!(failed(), ["../takes/b.bvh"]);
    // The take that failed, from a third folder: it is one failure, not two.
    let [pipeline, take] =
        ["p.toml", "takes/b.bvh"].map(|name| path.join(name).to_string_lossy().into_owned());
    assert_eq!(posemill(elsewhere.path(), &["run", &pipeline, "--input", &take]).0, 1);
    assert_eq!((failed().len(), report()["files"].as_array().unwrap().len()), (1, 3));
    // It is mended, and made from the first folder.
    write(path, "takes/b.bvh", TAKE);
    assert_eq!(posemill(path, &["run", "p.toml", "--input", "takes/b.bvh"]).0, 0);
    assert_eq!(failed(), [""; 0]);
}

#[test]
fn a_list_of_takes_may_name_what_is_gone() {
    let folder = studio(&["takes/a.bvh", "takes/deep/b.bvh"]);
    let path = folder.path();
    let list = "takes/a.bvh\ntakes/gone.bvh\ntakes/deep/b.bvh\n";
    write(path, "list.txt", list);
    let (code, _, err) = posemill(path, &["run", "p.toml", "--files-from", "list.txt"]);
    assert_eq!(code, 1);
    assert!(err.contains("error: `takes/gone.bvh` cannot be read: no such file or directory\n"), "{err}");
    assert!(err.ends_with("2 written\n"), "{err}");
    assert!(path.join("out/deep/b.glb").exists());
    let mut run = command(path);
    let mut run = run
        .args(["run", "p.toml", "--files-from", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut run.stdin.take().unwrap(), b"takes/a.bvh\n").unwrap();
    assert_eq!(told(&run.wait_with_output().unwrap()).2, "1 up to date\n");
    // The same takes have the same names as by the pattern of the pipeline.
    let (code, _, err) = posemill(path, &["run", "p.toml"]);
    assert_eq!((code, err.as_str()), (0, "2 up to date\n"));
    let (code, _, err) = posemill(path, &["run", "p.toml", "--files-from", "none.txt"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "error: the list of takes `none.txt` cannot be read: no such file or directory\n")
    );
}

#[test]
fn a_second_pipeline_does_not_replace_the_outputs_of_the_first_silently() {
    let folder = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let path = folder.path();
    assert_eq!(posemill(path, &["run", "p.toml"]).0, 0);
    let before = outputs(path);
    let text = fs::read_to_string(path.join("p.toml")).unwrap();
    let other = format!("{text}\n[[stage]]\nuse = \"resample\"\nrate_hz = 20\n");
    write(path, "q.toml", &other);
    for more in [&["--dry-run"][..], &[]] {
        let (code, _, err) = posemill(path, &[&["run", "q.toml"], more].concat());
        let told = "error: takes/a.bvh: `out/a.glb` is an output of another pipeline, `p.toml`\n  \
                    hint: give this pipeline a folder of its own, or replace the file with `--force`\n";
        assert!(code == 1 && err.contains(told) && err.contains("2 failed"), "{err}");
        assert_eq!(outputs(path), before);
    }
    // The first pipeline may change, and be renamed.
    write(path, "p.toml", &other);
    assert!(posemill(path, &["run", "p.toml"]).2.ends_with("2 written\n"));
    assert!(posemill(path, &["run", "q.toml"]).2.ends_with("2 up to date\n"));
    write(path, "q.toml", &text);
    assert_eq!(posemill(path, &["run", "q.toml"]).0, 1);
    let (code, _, err) = posemill(path, &["run", "q.toml", "--force"]);
    assert!(code == 0 && err.ends_with("2 written\n"), "{err}");
    assert_eq!(posemill(path, &["run", "p.toml"]).0, 1);
    // A pipeline file may have any name.
    write(path, "pipeline.txt", &other);
    let (code, _, err) = posemill(path, &["run", "pipeline.txt"]);
    assert!(code == 1 && err.contains("an output of another pipeline, `q.toml`"), "{err}");
    assert_eq!(posemill(path, &["run", "pipeline.txt", "--force"]).0, 0);
    let (code, _, err) = posemill(path, &["run", "q.toml"]);
    assert!(code == 1 && err.contains("an output of another pipeline, `pipeline.txt`"), "{err}");
}

#[test]
fn a_run_all_of_whose_takes_are_refused_leaves_the_report() {
    let folder = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let path = folder.path();
    let reported = ["--set", "output.report=true"];
    assert_eq!(posemill(path, &[&["run", "p.toml"], &reported[..]].concat()).0, 0);
    let reports =
        || ["report.html", "report.json"].map(|name| fs::read(path.join("out").join(name)).unwrap());
    let before = reports();
    let text = fs::read_to_string(path.join("p.toml")).unwrap();
    write(path, "q.toml", &format!("{text}\n[[stage]]\nuse = \"resample\"\nrate_hz = 20\n"));
    assert_eq!(posemill(path, &[&["run", "q.toml"], &reported[..]].concat()).0, 1);
    assert!(reports() == before, "the report shows what is in the folder");
    // Of a run that did something, the refused takes are in the report.
    write(path, "takes/c.bvh", TAKE);
    assert_eq!(posemill(path, &[&["run", "q.toml"], &reported[..]].concat()).0, 1);
    let report: Value = serde_json::from_slice(&reports()[1]).unwrap();
    assert_eq!(report["files"].as_array().unwrap().len(), 3);
}

#[test]
fn a_file_of_no_known_format_takes_no_output_from_a_take_of_its_name() {
    let folder = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let path = folder.path();
    write(path, "takes/a.txt", "notes");
    write(path, "takes/b.abc", "notes");
    let (code, _, err) = posemill(path, &["run", "p.toml", "--input", "takes/*"]);
    assert!(code == 1 && err.ends_with("2 written, 2 failed\n"), "{err}");
    assert!(err.contains("error: takes/a.txt: its format is not known\n"), "{err}");
    assert!(err.contains("error: takes/b.abc: Collada and Alembic are not read\n"), "{err}");
    assert!(path.join("out/a.glb").exists() && path.join("out/b.glb").exists());
}

#[test]
fn too_many_threads_are_refused() {
    let folder = studio(&["takes/a.bvh"]);
    let (code, _, err) = posemill(folder.path(), &["run", "p.toml", "--jobs", "1025"]);
    assert!(code == 2 && err.contains("1..=1024"), "{err}");
}

#[test]
fn outputs_tell_what_made_them_and_unchanged_documents_stay_unchanged() {
    let folder = many(1);
    let path = folder.path();
    assert_eq!(counts(path, &[]).0, 0);
    let (_, out, _) = posemill(path, &["inspect", "out/0/0000.glb", "--json"]);
    let told: Value = serde_json::from_str::<Value>(&out).unwrap()["made_by"].clone();
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    let take = blake3::hash(&fs::read(path.join("takes/0/0000.bvh")).unwrap()).to_hex();
    assert_eq!(told["inputs"], serde_json::json!([{ "name": "0/0000.bvh", "blake3": take.as_str() }]));
    let page = posemill(path, &["inspect", "out/0/0000.glb"]).1;
    assert!(page.contains(&format!("from 0/0000.bvh ({})\n", &take[..12])), "{page}");
    assert_eq!(posemill(path, &["convert", "out/0/0000.glb", "-o", "copy.glb"]).0, 0);
    assert_eq!(fs::read(path.join("copy.glb")).unwrap(), fs::read(path.join("out/0/0000.glb")).unwrap());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn data_that_stdout_does_not_take_is_told() {
        let folder = studio(&["a.bvh"]);
        for arguments in [&["joints", "a.bvh"][..], &["convert", "a.bvh", "-o", "-", "--format", "glb"]] {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let output = command(folder.path()).args(arguments).stdout(full).output().unwrap();
            let (code, _, err) = told(&output);
            assert_ne!(code, 0, "{arguments:?}");
            assert!(err.contains("standard output cannot be written: "), "{err}");
        }
        let mut run = command(folder.path());
        let mut run = run.args(["joints", "a.bvh"]).stdout(Stdio::piped()).spawn().unwrap();
        drop(run.stdout.take());
        assert!(run.wait().unwrap().success(), "a reader that went away is no error");
    }

    #[test]
    fn a_disk_that_is_full_leaves_no_half_file_and_the_next_run_goes_on() {
        let folder = many(4);
        let path = folder.path();
        assert_eq!(counts(path, &[]).0, 0);
        let whole = outputs(path);
        fs::remove_dir_all(path.join("out")).unwrap();
        // No file may grow beyond one block: what a full disk does, for whoever runs this.
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" run p.toml";
        let run = |shell: &str| {
            let mut run = Command::new(shell);
            told(
                &run.args(["-c", script, env!("CARGO_BIN_EXE_posemill")]).current_dir(path).output().unwrap(),
            )
        };
        let (code, _, err) = run("sh");
        assert!(code == 1 && err.contains("cannot be written: file too large"), "{code} {err}");
        assert!(!outputs(path).keys().any(|name| name.ends_with(".part") || name.ends_with(".glb")));
        assert_eq!(counts(path, &[]).0, 0);
        assert!(outputs(path) == whole);
    }

    #[test]
    fn what_may_not_be_read_or_written_is_told_and_the_rest_is_done() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        use std::os::unix::process::CommandExt;
        let folder = studio(&["takes/a.bvh", "takes/b.bvh", "takes/shut/c.bvh"]);
        let path = folder.path();
        let mode = |name: &str, mode: u32| {
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        let run = |arguments: &[&str]| {
            let mut run = command(path);
            // Whoever may do everything is somebody else for once.
            if fs::metadata(path).unwrap().uid() == 0 {
                run.uid(65534);
            }
            told(&run.args(["run", "p.toml"]).args(arguments).output().unwrap())
        };
        mode("", 0o777);
        mode("takes/b.bvh", 0o000);
        mode("takes/shut", 0o000);
        let (code, _, err) = run(&[]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("error: `takes/shut` cannot be read: permission denied\n"), "{err}");
        assert!(err.contains("error: takes/b.bvh: ") && err.contains("permission denied"), "{err}");
        assert!(err.ends_with("1 written, 1 failed\n"), "{err}");
        mode("takes/b.bvh", 0o644);
        mode("takes/shut", 0o755);
        for (name, rights) in [("out/.posemill.jsonl", 0o666), ("out/.posemill.lock", 0o666), ("out", 0o555)]
        {
            mode(name, rights);
        }
        let (code, _, err) = run(&[]);
        assert_eq!(code, 1, "{err}");
        assert!(
            err.contains("error: takes/b.bvh: `out/b.glb` cannot be written: permission denied\n"),
            "{err}"
        );
        mode("out", 0o777);
        let (code, _, err) = run(&[]);
        assert!(code == 0 && err.ends_with("2 written, 1 up to date\n"), "{err}");
        // A folder that cannot be read does not count as an empty one.
        mode("takes/shut", 0o000);
        let mut doctor = command(path);
        if fs::metadata(path).unwrap().uid() == 0 {
            doctor.uid(65534);
        }
        let (code, out, err) = told(&doctor.args(["doctor", "takes/shut"]).output().unwrap());
        assert!(
            code == 1 && out.contains("error: the folder cannot be read: permission denied"),
            "{out}{err}"
        );
        mode("takes/shut", 0o755);
    }

    #[test]
    fn names_that_are_not_utf_8_are_told_and_folders_of_such_names_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        write(&path, "takes/a.bvh", TAKE);
        fs::write(path.join("takes").join(std::ffi::OsStr::from_bytes(b"\xe9.bvh")), TAKE).unwrap();
        write(&path, "p.toml", "[input]\nmotion = [\"takes/*.bvh\"]\n");
        let pipeline = path.join("p.toml");
        for more in [&["--dry-run", "--json"][..], &[]] {
            let arguments: Vec<&std::ffi::OsStr> = ["run".as_ref(), pipeline.as_os_str()]
                .into_iter()
                .chain(more.iter().map(|a| a.as_ref()))
                .collect();
            let (code, out, err) = posemill(folder.path(), &arguments);
            assert_eq!(code, 1, "{err}");
            assert!(
                err.contains("is left out: its name is not UTF-8\n") && !err.contains("panicked"),
                "{err}"
            );
            assert!(more.is_empty() || serde_json::from_str::<Value>(&out).unwrap()["planned"] == 1, "{out}");
        }
        assert!(path.join("out/a.glb").exists() && path.join("out/report.html").exists());
    }

    #[test]
    fn a_link_that_leads_back_is_told_and_the_rest_is_done() {
        let folder = studio(&["takes/a.bvh", "takes/deep/b.bvh"]);
        let path = folder.path();
        std::os::unix::fs::symlink("..", path.join("takes/deep/up")).unwrap();
        let (code, _, err) = posemill(path, &["run", "p.toml"]);
        assert_eq!(code, 1);
        let told =
            "error: the link `takes/deep/up` leads back to a folder that it lies in, and is left out\n";
        assert!(err.contains(told) && err.ends_with("2 written\n"), "{err}");
    }
}
