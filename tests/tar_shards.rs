//! Takes in tar archives: what is made of them equals what is made of the same takes in folders; results packed as shards are
//! takes again.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn good(folder: &Path, arguments: &[&str]) -> Output {
    let output = posemill(folder, arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", text(&output.stderr));
    output
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = posemill(folder, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    text(&output.stderr)
}

/// Writes an archive of these files of `folder`, under their names.
fn pack(folder: &Path, archive: &str, members: &[&str]) {
    let path = folder.join(archive);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut builder = tar::Builder::new(fs::File::create(path).unwrap());
    for member in members {
        builder.append_path_with_name(folder.join("takes").join(member), member).unwrap();
    }
    builder.finish().unwrap();
}

/// Takes in two archives and the same takes in folders of their names.
fn library() -> TempDir {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data");
    let copy = |from: &str, to: &str| {
        let to = here.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(data.join(from), to).unwrap();
    };
    copy("robot.glb", "hero.glb");
    for (from, name) in [("walk.bvh", "walk.v1.bvh"), ("wave.bvh", "day/wave.bvh"), ("turn.bvh", "turn.bvh")]
    {
        copy(from, &format!("takes/{name}"));
        let shard = if name == "turn.bvh" { "two" } else { "one" };
        copy(from, &format!("loose/{shard}/{name}"));
    }
    pack(here, "shards/one.tar", &["walk.v1.bvh", "day/wave.bvh"]);
    pack(here, "shards/two.tar", &["turn.bvh"]);
    for (name, motion) in [("packed.toml", "shards/*.tar/**/*.bvh"), ("loose.toml", "loose/**/*.bvh")] {
        let text = format!(
            "[input]\nmotion = \"{motion}\"\ncharacter = \"hero.glb\"\n[[stage]]\nuse = \"retarget\"\n"
        );
        fs::write(here.join(name), text).unwrap();
    }
    folder
}

/// Every file below `folder` that ends with `suffix`, by its path.
fn files(folder: &Path, suffix: &str) -> BTreeMap<String, Vec<u8>> {
    let pattern = folder.join("**/*").to_string_lossy().into_owned();
    let paths = glob::glob(&pattern).unwrap().map(Result::unwrap).filter(|path| path.is_file());
    let paths = paths.filter(|path| path.to_string_lossy().ends_with(suffix));
    paths
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            (name, fs::read(path).unwrap())
        })
        .collect()
}

#[test]
fn takes_in_archives_make_what_takes_in_folders_make() {
    let folder = library();
    let here = folder.path();
    // glTF has the names of the takes in it.
    let arrays = ["--set", "output.formats=[\"npz\"]"];
    good(here, &[&["run", "loose.toml", "--output", "arrays/a"][..], &arrays].concat());
    good(here, &[&["run", "packed.toml", "--output", "arrays/b"][..], &arrays].concat());
    let [loose, packed] = ["arrays/a", "arrays/b"].map(|folder| files(&here.join(folder), ".npz"));
    assert_eq!(loose.len(), 3);
    assert!(loose == packed, "{:?}", packed.keys());
    // A compressed shard is the shard.
    let tar = fs::read(here.join("shards/two.tar")).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    fs::create_dir(here.join("zst")).unwrap();
    fs::write(here.join("zst/two.tar.zst"), ruzstd::encoding::compress_to_vec(&tar[..], level)).unwrap();
    let from_zst = ["--set", "input.motion=\"zst/*.tar.zst/**/*.bvh\"", "--output", "arrays/z"];
    good(here, &[&["run", "packed.toml"][..], &from_zst, &arrays].concat());
    assert!(files(&here.join("arrays/z"), ".npz")["two/turn.npz"] == loose["two/turn.npz"]);
    good(here, &["run", "packed.toml", "--output", "b", "--jobs", "1"]);
    let packed = files(&here.join("b"), ".glb");
    assert_eq!(packed.keys().collect::<Vec<_>>(), ["one/day/wave.glb", "one/walk.v1.glb", "two/turn.glb"]);
    // In processes of their own, and in shares of the work.
    for shard in ["1/2", "2/2"] {
        good(here, &["run", "packed.toml", "--output", "c", "--timeout", "10min", "--shard", shard]);
    }
    assert!(files(&here.join("c"), ".glb") == packed);
    // Nothing is made twice; a take that changed in its archive is made again, the other one of that archive is not.
    assert!(text(&good(here, &["run", "packed.toml", "--output", "b"]).stderr).contains("3 up to date"));
    fs::copy(here.join("takes/turn.bvh"), here.join("takes/walk.v1.bvh")).unwrap();
    pack(here, "shards/one.tar", &["walk.v1.bvh", "day/wave.bvh"]);
    let again = text(&good(here, &["run", "packed.toml", "--output", "b"]).stderr);
    assert!(again.contains("1 written") && again.contains("2 up to date"), "{again}");
    let made = files(&here.join("b"), ".glb");
    assert!(made["one/walk.v1.glb"] != packed["one/walk.v1.glb"]);
    assert!(made["one/day/wave.glb"] == packed["one/day/wave.glb"]);
    // The list of takes of a table names members.
    let list = text(&good(here, &["table", "b", "--files", "shards"]).stdout);
    assert_eq!(list, "shards/one.tar/day/wave.bvh\nshards/one.tar/walk.v1.bvh\nshards/two.tar/turn.bvh\n");
    fs::write(here.join("list.txt"), &list).unwrap();
    let listed = good(here, &["run", "packed.toml", "--files-from", "list.txt", "--output", "b"]);
    assert!(text(&listed.stderr).contains("3 up to date"), "{}", text(&listed.stderr));
}

#[test]
fn one_member_is_a_file_for_every_command() {
    let folder = library();
    let here = folder.path();
    let member = "shards/one.tar/day/wave.bvh";
    good(here, &["retarget", member, "--onto", "hero.glb", "-o", "a.glb"]);
    good(here, &["retarget", "takes/day/wave.bvh", "--onto", "hero.glb", "-o", "b.glb"]);
    assert!(fs::read(here.join("a.glb")).unwrap() == fs::read(here.join("b.glb")).unwrap());
    let document = |file: &str| -> Value {
        let mut found: Value =
            serde_json::from_slice(&good(here, &["inspect", file, "--json"]).stdout).unwrap();
        found.as_object_mut().unwrap().remove("file");
        found.as_object_mut().unwrap().remove("path");
        found
    };
    assert_eq!(document(member), document("takes/day/wave.bvh"));
    good(here, &["convert", member, "-o", "c.npz"]);
    good(here, &["measure", "a.glb", "--source", member]);
}

#[test]
fn what_is_no_take_in_an_archive_has_a_message() {
    let folder = library();
    let here = folder.path();
    let convert = |what: &str| refused(here, &["convert", what, "-o", "o.glb"]);
    let message = convert("shards/one.tar");
    assert!(message.contains("`shards/one.tar` is an archive, with 2 `.bvh`"), "{message}");
    assert!(message.contains("'shards/one.tar/**/*.bvh'"), "{message}");
    let message = convert("shards/one.tar/none.bvh");
    assert!(message.contains("the file `shards/one.tar/none.bvh` does not exist"), "{message}");
    let message = refused(here, &["convert", "shards/*.tar", "-o", "o/"]);
    assert!(message.contains("it is an archive") && message.contains("takes.tar/**/*.bvh"), "{message}");
    fs::copy(here.join("shards/one.tar"), here.join("one.tar.gz")).unwrap();
    let message = convert("one.tar.gz/*.bvh");
    assert!(message.contains("decompress `one.tar.gz`"), "{message}");
    // A search does not open archives that nobody named.
    let list =
        text(&good(here, &["run", "loose.toml", "--dry-run", "--set", "input.motion=['**/*.bvh']"]).stdout);
    assert!(!list.contains(".tar"), "{list}");
    let mut bytes = fs::read(here.join("shards/one.tar")).unwrap();
    bytes.truncate(3000);
    fs::write(here.join("shards/one.tar"), bytes).unwrap();
    let message = refused(here, &["convert", "shards/one.tar/**/*.bvh", "-o", "o/"]);
    assert!(message.contains("ends inside a member"), "{message}");
}

/// Names and contents of the members, in their order.
fn members(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(fs::File::open(archive).unwrap());
    let entries = archive.entries().unwrap().map(Result::unwrap);
    entries
        .map(|mut entry| {
            let name = text(&entry.path_bytes());
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (name, bytes)
        })
        .collect()
}

#[test]
fn results_are_packed_by_keys_and_are_takes_again() {
    let folder = library();
    let here = folder.path();
    let formats = ["--set", "output.formats=[\"glb\", \"npz\"]"];
    good(here, &[&["run", "loose.toml", "--output", "whole"][..], &formats].concat());
    let note = text(&good(here, &["table", "whole", "--shards", "train", "--shard-size", "2"]).stderr);
    assert!(note.contains("3 samples in 2 shards in `train`"), "{note}");
    let names = |archive: &str| -> Vec<String> {
        members(&here.join(archive)).into_iter().map(|(name, _)| name).collect()
    };
    let sample = |key: &str| ["glb", "glb.json", "npz", "npz.json"].map(|end| format!("{key}.{end}"));
    // Keys have no dots behind their folders.
    assert_eq!(names("train/00000.tar"), [sample("one/day/wave"), sample("one/walk_v1")].concat());
    assert_eq!(names("train/00001.tar"), sample("two/turn"));
    let first = members(&here.join("train/00000.tar"));
    assert_eq!(first[0].1, fs::read(here.join("whole/one/day/wave.glb")).unwrap());
    let row: Value = serde_json::from_slice(&first[1].1).unwrap();
    assert_eq!(row["output_blake3"], blake3::hash(&first[0].1).to_hex().to_string());
    assert!(row["measures"]["foot_skate_p95"]["value"].is_f64() && row.get("folder").is_none(), "{row}");
    // The same bytes for any number of machines.
    for shard in ["1/3", "2/3", "3/3"] {
        let name = format!("parts/{}", &shard[..1]);
        good(here, &[&["run", "loose.toml", "--shard", shard, "--output", &name][..], &formats].concat());
    }
    good(here, &["table", "parts", "--shards", "other", "--shard-size", "2"]);
    assert!(files(&here.join("train"), ".tar") == files(&here.join("other"), ".tar"));
    // They are takes.
    let inspected = good(here, &["inspect", "train/00000.tar/one/day/wave.glb", "--json"]);
    assert!(text(&inspected.stdout).contains("clips"));
    good(here, &["convert", "train/*.tar/**/*.glb", "-o", "back/", "--format", "bvh"]);
    assert_eq!(files(&here.join("back"), ".bvh").len(), 3);
}

#[test]
fn shards_are_refused_where_they_would_mix_or_lie() {
    let folder = library();
    let here = folder.path();
    good(here, &["run", "loose.toml", "--output", "out"]);
    good(here, &["table", "out", "--shards", "train"]);
    let message = refused(here, &["table", "out", "--shards", "train"]);
    assert!(message.contains("`train` already holds `00000.tar`"), "{message}");
    assert!(message.contains("name a folder without shards"), "{message}");
    fs::write(here.join("out/two/turn.glb"), b"changed").unwrap();
    let message = refused(here, &["table", "out", "--shards", "b"]);
    assert!(message.contains("is not as the run wrote it"), "{message}");
    // The hint helps.
    assert!(message.contains("run its pipeline again with `--force`"), "{message}");
    good(here, &["run", "loose.toml", "--output", "out", "--force"]);
    good(here, &["table", "out", "--shards", "fixed"]);
    fs::remove_file(here.join("out/two/turn.glb")).unwrap();
    // Shards that are not whole do not appear.
    assert!(files(&here.join("b"), "").is_empty());
    let message = text(&good(here, &["table", "out", "--shards", "c"]).stderr);
    assert!(message.contains("1 result whose file was deleted or moved is left out"), "{message}");
    fs::rename(here.join("loose/one/walk.v1.bvh"), here.join("loose/one/walk_v1.bvh")).unwrap();
    fs::copy(here.join("takes/turn.bvh"), here.join("loose/one/walk.v1.bvh")).unwrap();
    good(here, &["run", "loose.toml", "--output", "out"]);
    let message = refused(here, &["table", "out", "--shards", "d"]);
    assert!(message.contains("would be the same sample, `one/walk_v1`"), "{message}");
}

#[test]
fn outputs_of_one_name_in_several_folders_are_samples_of_their_own() {
    let folder = library();
    let here = folder.path();
    let formats = ["--set", "output.formats=[\"glb\", \"npz\"]"];
    good(here, &[&["run", "loose.toml", "--output", "both/a"][..], &formats].concat());
    let other = ["--set", "output.replace_animations=true"];
    good(here, &[&["run", "loose.toml", "--output", "both/b"][..], &formats, &other].concat());
    let note = text(&good(here, &["table", "both", "--shards", "train", "--shard-size", "2"]).stderr);
    assert!(note.contains("6 samples in 3 shards in `train`"), "{note}");
    let shards = ["00000", "00001", "00002"].map(|number| members(&here.join(format!("train/{number}.tar"))));
    let names: Vec<String> = shards.into_iter().flatten().map(|(name, _)| name).collect();
    let sample = |key: &str| ["glb", "glb.json", "npz", "npz.json"].map(|end| format!("{key}.{end}"));
    let keys = ["one/day/wave", "one/walk_v1", "two/turn"];
    let wanted = keys.map(|key| [sample(&format!("a/{key}")), sample(&format!("b/{key}"))].concat());
    assert_eq!(names, wanted.concat());
    // The folders of one run alone have its keys.
    good(here, &["table", "both/a", "--shards", "alone"]);
    assert_eq!(members(&here.join("alone/00000.tar"))[0].0, "one/day/wave.glb");
}

#[test]
fn a_gltf_in_an_archive_has_its_files_there() {
    let folder = library();
    let here = folder.path();
    good(here, &["retarget", "takes/turn.bvh", "--onto", "hero.glb", "-o", "whole.gltf"]);
    let mut document: Value = serde_json::from_slice(&fs::read(here.join("whole.gltf")).unwrap()).unwrap();
    fs::create_dir_all(here.join("takes/in/deep")).unwrap();
    for (k, place) in ["a.bin", "deep/b c.bin"].into_iter().enumerate() {
        let uri = document["buffers"][k]["uri"].as_str().unwrap();
        let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, uri.split_once(',').unwrap().1)
            .unwrap();
        fs::write(here.join("takes/in").join(place), bytes).unwrap();
        document["buffers"][k]["uri"] = place.replace(' ', "%20").into();
    }
    fs::write(here.join("takes/in/turn.gltf"), document.to_string()).unwrap();
    document["buffers"][1]["uri"] = "../../hero.glb".into();
    fs::write(here.join("takes/in/out.gltf"), document.to_string()).unwrap();
    pack(here, "g.tar", &["in/turn.gltf", "in/out.gltf", "in/a.bin", "in/deep/b c.bin"]);
    good(here, &["convert", "g.tar/in/turn.gltf", "-o", "packed.npz"]);
    good(here, &["convert", "takes/in/turn.gltf", "-o", "loose.npz"]);
    assert!(fs::read(here.join("packed.npz")).unwrap() == fs::read(here.join("loose.npz")).unwrap());
    let message = refused(here, &["convert", "g.tar/in/out.gltf", "-o", "out.npz"]);
    assert!(message.contains("leaves the folder of the document"), "{message}");
}
