//! `posemill table`: the rows are what the files are, the same for any shards; conditions choose the rows that they say, and their
//! faults have a place.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const PIPELINE: &str =
    "[input]\nmotion = \"takes/**/*.bvh\"\ncharacter = \"hero.glb\"\n[[stage]]\nuse = \"retarget\"\n";

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = posemill(folder, arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

/// Four takes, two of them with one content, and the results of two shards in `out`.
fn library() -> TempDir {
    let folder = TempDir::new().unwrap();
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data");
    fs::create_dir_all(folder.path().join("takes/day 2")).unwrap();
    for (from, to) in [
        ("robot.glb", "hero.glb"),
        ("walk.bvh", "takes/walk.bvh"),
        ("wave.bvh", "takes/wave.bvh"),
        ("turn.bvh", "takes/day 2/turn.bvh"),
        ("wave.bvh", "takes/day 2/copy of wave.bvh"),
    ] {
        fs::copy(data.join(from), folder.path().join(to)).unwrap();
    }
    fs::write(folder.path().join("p.toml"), PIPELINE).unwrap();
    for shard in ["1/2", "2/2"] {
        let run = ["run", "p.toml", "--shard", shard, "--output", "out"];
        let output = posemill(folder.path(), &run);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    folder
}

fn rows(table: &str) -> Vec<Value> {
    table.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn inputs(folder: &Path, condition: &str) -> BTreeSet<String> {
    let table = good(folder, &["table", "out", "--where", condition]);
    rows(&table).iter().map(|row| row["input"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rows_are_what_the_files_are() {
    let folder = library();
    let here = folder.path();
    let table = rows(&good(here, &["table", "out"]));
    let outputs: Vec<&str> = table.iter().map(|row| row["output"].as_str().unwrap()).collect();
    assert_eq!(outputs, ["day 2/copy of wave.glb", "day 2/turn.glb", "walk.glb", "wave.glb"]);
    let hash = |path: PathBuf| blake3::hash(&fs::read(path).unwrap()).to_hex().to_string();
    for row in &table {
        let (output, input) = (row["output"].as_str().unwrap(), row["input"].as_str().unwrap());
        assert_eq!(row["output_blake3"], hash(here.join("out").join(output)));
        assert_eq!(row["input_blake3"], hash(here.join("takes").join(input)));
        let found: Value =
            serde_json::from_str(&good(here, &["inspect", &format!("out/{output}"), "--json"])).unwrap();
        let clip = &found["clips"][0];
        assert_eq!(row["frames"], clip["frames"], "{output}");
        for (column, member) in [("rate_hz", "rate_hz"), ("duration_s", "duration_s")] {
            let [written, read] = [&row[column], &clip[member]].map(|x| x.as_f64().unwrap());
            // Times in glTF are 32-bit numbers.
            assert!((written - read).abs() < 1e-4 * read, "{output}: {column} {written} {read}");
        }
        assert_eq!(row["skeleton"], table[0]["skeleton"], "one character has one skeleton");
        assert!(row["verdict"].is_string());
    }
    // Measures are those that `run` reported.
    let report: Value = serde_json::from_slice(&fs::read(here.join("out/report.json")).unwrap()).unwrap();
    for file in report["files"].as_array().unwrap() {
        let output = file["outputs"][0].as_str().unwrap();
        let row = table.iter().find(|row| output.ends_with(row["output"].as_str().unwrap())).unwrap();
        for metric in file["metrics"].as_array().unwrap().iter().filter(|metric| metric["value"].is_f64()) {
            let found = &row["measures"][metric["name"].as_str().unwrap()];
            assert_eq!((&found["value"], &found["unit"]), (&metric["value"], &metric["unit"]));
        }
    }
}

#[test]
fn shards_in_folders_of_their_own_make_the_table_of_one_run() {
    let folder = library();
    let here = folder.path();
    for shard in ["1/3", "2/3", "3/3"] {
        let name = format!("parts/{}", &shard[..1]);
        let output = posemill(here, &["run", "p.toml", "--shard", shard, "--output", &name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let plain = |table: String| {
        let mut all = rows(&table);
        all.iter_mut().for_each(|row| _ = row.as_object_mut().unwrap().remove("folder"));
        all
    };
    let whole = plain(good(here, &["table", "out"]));
    assert_eq!(plain(good(here, &["table", "parts"])), whole);
    // What two folders have alike is one row.
    let both = posemill(here, &["table", "parts", "out", "--format", "csv"]);
    let lines = text(&both.stdout);
    assert_eq!(lines.lines().count(), 1 + whole.len(), "{lines}");
    assert!(text(&both.stderr).contains("4 results are in several folders"), "{}", text(&both.stderr));
    let header = lines.lines().next().unwrap();
    assert!(header.starts_with("folder,output,") && header.contains(",foot_skate_p95 [m/s],"), "{header}");
    let cells = header.split(',').count();
    assert!(lines.lines().all(|line| line.split(',').count() == cells), "{lines}");
    good(here, &["table", "out", "-o", "tables/t.csv"]);
    assert!(fs::read_to_string(here.join("tables/t.csv")).unwrap().starts_with(header));
}

#[test]
fn times_are_in_the_table_only_when_asked_for() {
    let folder = library();
    let here = folder.path();
    assert!(rows(&good(here, &["table", "out"])).iter().all(|row| row.get("took_s").is_none()));
    let manifest = fs::read_to_string(here.join("out/.posemill.jsonl")).unwrap();
    assert!(!manifest.contains("took"), "a manifest is reproducible");
    let times =
        |table: &str| -> Vec<f64> { rows(table).iter().map(|row| row["took_s"].as_f64().unwrap()).collect() };
    let took = times(&good(here, &["table", "out", "--time"]));
    // Seconds: a take of some seconds takes neither a microsecond nor an hour.
    assert!(took.len() == 4 && took.iter().all(|time| (1e-3..600.0).contains(time)), "{took:?}");
    assert_eq!(inputs(here, "took < 10 min").len(), 4);
    assert!(inputs(here, "took > 10 min").is_empty());
    // They stay when nothing is made again, and are no more than a cache.
    assert!(posemill(here, &["run", "p.toml", "--output", "out"]).status.success());
    assert_eq!(times(&good(here, &["table", "out", "--time"])), took);
    fs::remove_file(here.join("out/.posemill.seen")).unwrap();
    assert!(rows(&good(here, &["table", "out", "--time"])).iter().all(|row| row["took_s"].is_null()));
    let csv = good(here, &["table", "out", "--time", "--format", "csv"]);
    assert!(csv.lines().next().unwrap().contains(",duplicate_of,took_s [s],"), "{csv}");
}

#[test]
fn conditions_choose_the_rows_that_they_say() {
    let folder = library();
    let here = folder.path();
    let all = rows(&good(here, &["table", "out"]));
    let skate = |row: &Value| row["measures"]["foot_skate_p95"]["value"].as_f64().unwrap();
    let chosen = |wanted: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        let chosen = all.iter().filter(|row| wanted(row));
        chosen.map(|row| row["input"].as_str().unwrap().to_owned()).collect()
    };
    // Between the values of two takes, in the unit of people.
    let mut values: Vec<f64> = all.iter().map(skate).collect();
    values.sort_by(f64::total_cmp);
    let limit = (values[1] + values[3]) / 2.0;
    let (below, duration) = (format!("foot_skate_p95 < {}cm/s", limit * 100.0), |row: &Value| {
        row["duration_s"].as_f64().unwrap()
    });
    assert!(!chosen(&|row| skate(row) < limit).is_empty());
    assert_eq!(inputs(here, &below), chosen(&|row| skate(row) < limit));
    assert_eq!(inputs(here, &format!("not ({below})")), chosen(&|row| skate(row) >= limit));
    assert_eq!(inputs(here, &format!("not {below}")), chosen(&|row| skate(row) >= limit));
    // `and` binds more than `or`.
    let mixed = format!("{below} or duration>5s and rate<=30.5 Hz");
    let expected = chosen(&|row| {
        skate(row) < limit || (duration(row) > 5.0 && row["rate_hz"].as_f64().unwrap() <= 30.5)
    });
    assert_eq!(inputs(here, &mixed), expected);
    let bracketed = format!("({below} or duration>5000 ms) and rate<=30.5Hz");
    let expected = chosen(&|row| {
        (skate(row) < limit || duration(row) > 5.0) && row["rate_hz"].as_f64().unwrap() <= 30.5
    });
    assert_eq!(inputs(here, &bracketed), expected);
    assert_eq!(inputs(here, "frames == 166").into_iter().collect::<Vec<_>>(), ["day 2/turn.bvh"]);
    assert_eq!(inputs(here, "input == 'day 2/turn.bvh'").len(), 1);
    assert_eq!(inputs(here, "input != nothing").len(), 4);
    // What no row has is false, whatever the sign.
    assert!(inputs(here, "robot_in_range < 50% or robot_in_range >= 50%").is_empty());
}

#[test]
fn duplicates_are_found_by_content_and_the_list_of_takes_runs() {
    let folder = library();
    let here = folder.path();
    let output = posemill(here, &["table", "out"]);
    assert!(
        text(&output.stderr).contains("1 take has the content of another one"),
        "{}",
        text(&output.stderr)
    );
    let table = rows(&text(&output.stdout));
    let duplicates: Vec<&Value> = table.iter().filter(|row| row["duplicate_of"].is_string()).collect();
    assert_eq!(duplicates.len(), 1);
    assert_eq!(
        (&duplicates[0]["input"], &duplicates[0]["duplicate_of"]),
        (&"wave.bvh".into(), &"day 2/copy of wave.bvh".into())
    );
    assert_eq!(inputs(here, "duplicate_of != ''").into_iter().collect::<Vec<_>>(), ["wave.bvh"]);
    let list = good(here, &["table", "out", "--unique", "--where", "duration < 5s", "--files=takes"]);
    assert_eq!(list, "takes/day 2/copy of wave.bvh\ntakes/walk.bvh\n");
    fs::write(here.join("list"), &list).unwrap();
    good(here, &["run", "p.toml", "--files-from", "list", "--output", "again"]);
    let made: Vec<Value> = rows(&good(here, &["table", "again"]));
    let kept = |name: &str| table.iter().find(|row| row["input"] == name).unwrap()["output_blake3"].clone();
    let hashes: Vec<Value> = made.iter().map(|row| row["output_blake3"].clone()).collect();
    assert_eq!(hashes, [kept("day 2/copy of wave.bvh"), kept("walk.bvh")]);
}

#[test]
fn the_list_of_takes_of_several_folders_names_files_that_are_there() {
    let folder = library();
    let here = folder.path();
    fs::rename(here.join("takes/day 2"), here.join("day 2")).unwrap();
    let text = PIPELINE.replace("\"takes/**/*.bvh\"", "[\"takes/*.bvh\", \"day 2/*.bvh\"]");
    assert_ne!(text, PIPELINE);
    fs::write(here.join("two.toml"), text).unwrap();
    good(here, &["run", "two.toml", "--output", "two"]);
    let list = good(here, &["table", "two", "--files=takes"]);
    assert_eq!(list, "day 2/copy of wave.bvh\nday 2/turn.bvh\ntakes/walk.bvh\ntakes/wave.bvh\n");
    // A library that lies elsewhere now.
    fs::create_dir(here.join("new")).unwrap();
    for file in ["takes/walk.bvh", "takes/wave.bvh", "day 2/turn.bvh", "day 2/copy of wave.bvh"] {
        fs::rename(here.join(file), here.join("new").join(Path::new(file).file_name().unwrap())).unwrap();
    }
    let list = good(here, &["table", "two", "--files=new"]);
    assert_eq!(list, "new/copy of wave.bvh\nnew/turn.bvh\nnew/walk.bvh\nnew/wave.bvh\n");
}

#[test]
fn a_fault_of_a_condition_points_at_its_place() {
    let folder = library();
    for (condition, column, message, hint) in [
        ("foot_skat < 2cm/s", 1, "there is no column `foot_skat`", "`foot_skate`"),
        ("frames > 1 and foot_skate < 2", 29, "`2` has no unit", "write one: `1cm/s`"),
        ("duration > 1m", 12, "`1m` has another unit than this column", "`1s`"),
        ("frames > 2cm", 10, "`2cm` has another unit", "without a unit"),
        ("(frames > 2", 1, "this bracket is not closed", "`)`"),
        ("frames > 2)", 11, "this is no part of the condition", "`and`"),
        ("frames", 1, "`frames` is compared with nothing", "`<`"),
        ("frames > 2 and", 15, "a comparison is missing here", "duration > 1s"),
        ("verdict == 'good", 12, "this text is not closed", "end it with '"),
        ("frames > x", 10, "there is no number here", "without a unit"),
        ("not(verdict==Over)", 14, "no verdict is `Over`", "`'good'`, `'as recorded'`, `'over'`"),
    ] {
        let output = posemill(folder.path(), &["table", "out", "--where", condition]);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{condition}: {shown}");
        assert!(output.stdout.is_empty());
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with(&format!("error: {message}")), "{condition}: {shown}");
        assert_eq!(lines[1].trim(), format!("--> --where:1:{column}"), "{condition}: {shown}");
        assert!(shown.contains(hint), "{condition}: {shown}");
    }
    let nested = "(".repeat(100_000);
    let output = posemill(folder.path(), &["table", "out", "--where", &nested]);
    assert_eq!(output.status.code(), Some(2));
    let none = posemill(folder.path(), &["table", "takes"]);
    assert_eq!(none.status.code(), Some(2));
    assert_eq!(
        text(&none.stderr),
        "error: `takes` holds no results of a run\n  hint: name a folder that `posemill run` wrote to\n"
    );
    let named = posemill(folder.path(), &["table", "out", "-o", "t.xls"]);
    assert!(text(&named.stderr).starts_with("error: `t.xls` has no extension of a table"));
    let parquet = posemill(folder.path(), &["table", "out", "-o", "t.parquet"]);
    assert_eq!(parquet.status.code(), Some(2));
    let shown = text(&parquet.stderr);
    assert!(
        shown.contains("`pyarrow.parquet.write_table(posemill.table(\"out\"), \"t.parquet\")`"),
        "{shown}"
    );
    assert!(!folder.path().join("t.parquet").exists());
}

/// Rows without a verdict are in no selection that asks for one, by whatever way it is asked.
#[test]
fn takes_that_were_not_measured_pass_no_condition_on_measures() {
    let folder = library();
    let run = ["run", "p.toml", "--set", "output.report=false", "--output", "unmeasured"];
    assert!(posemill(folder.path(), &run).status.success());
    for (condition, kept) in [
        ("not(verdict==over)", 0),
        ("verdict!=over", 0),
        ("not(foot_skate_p95>2cm/s)", 0),
        ("not(verdict==over and frames>100000)", 4),
        ("verdict==good or frames>0", 4),
        ("not(verdict==good or frames>0)", 0),
    ] {
        let output = posemill(folder.path(), &["table", "unmeasured", "--where", condition]);
        assert_eq!(text(&output.stdout).lines().count(), kept, "{condition}");
        let said = text(&output.stderr);
        let unknown = kept == 0 && !condition.contains("or");
        assert_eq!(
            said.contains("4 rows lack a value that `--where` compares"),
            unknown,
            "{condition}: {said}"
        );
    }
}

#[test]
fn clips_in_files_of_their_own_have_rows_of_their_own() {
    let folder = library();
    let here = folder.path();
    let takes = ["takes/walk.bvh", "takes/wave.bvh"];
    good(
        here,
        &[&["retarget"][..], &takes, &["--onto", "hero.glb", "--merge", "-o", "clips/both.glb"]].concat(),
    );
    let pipeline = PIPELINE.replace("takes/**/*.bvh", "clips/*.glb") + "[output]\nformats = [\"bvh\"]\n";
    fs::write(here.join("clips.toml"), pipeline).unwrap();
    good(here, &["run", "clips.toml", "--output", "all"]);
    let found = rows(&good(here, &["table", "all"]));
    let names = ["walk", "wave"];
    assert_eq!(found.len(), 2);
    for (row, name) in found.iter().zip(names) {
        let output = format!("both.{name}.bvh");
        assert_eq!(row["output"], output);
        let bytes = fs::read(here.join("all").join(&output)).unwrap();
        assert_eq!(row["output_blake3"], blake3::hash(&bytes).to_hex().to_string());
        let alone = format!("alone-{name}");
        good(here, &["run", "clips.toml", "--clip", name, "--output", &alone]);
        let alone = rows(&good(here, &["table", &alone])).remove(0);
        for column in ["frames", "rate_hz", "duration_s", "verdict", "measures", "input", "skeleton"] {
            assert_eq!(row[column], alone[column], "{name}: {column}");
        }
    }
    assert!(found[0]["measures"] != found[1]["measures"] && found[0]["frames"] != found[1]["frames"]);
    good(here, &["table", "all", "--shards", "train"]);
    let mut archive = tar::Archive::new(fs::File::open(here.join("train/00000.tar")).unwrap());
    let members = archive.entries().unwrap().map(|entry| text(&entry.unwrap().path_bytes()));
    let wanted = names.map(|name| [format!("both_{name}.bvh"), format!("both_{name}.bvh.json")]);
    assert_eq!(members.collect::<Vec<_>>(), wanted.concat());
    // A dry run names the files that there are.
    let plan = good(here, &["run", "clips.toml", "--output", "all", "--dry-run"]);
    assert!(names.iter().all(|name| plan.contains(&format!("keep all/both.{name}.bvh"))), "{plan}");
    assert!(!plan.contains("both.bvh"), "{plan}");
}

#[test]
fn outputs_that_are_gone_have_no_row() {
    let folder = library();
    let here = folder.path();
    fs::remove_file(here.join("out/walk.glb")).unwrap();
    let output = posemill(here, &["table", "out"]);
    let found = rows(&text(&output.stdout));
    assert!(output.status.success() && found.len() == 3, "{found:?}");
    assert!(found.iter().all(|row| row["output"] != "walk.glb"));
    let said = text(&output.stderr);
    assert!(said.contains("1 result whose file was deleted or moved is left out"), "{said}");
    assert!(said.contains("3 of 3 rows"), "{said}");
    let list = good(here, &["table", "out", "--files=takes"]);
    assert!(list.contains("takes/wave.bvh") && !list.contains("takes/walk.bvh"), "{list}");
    fs::remove_dir_all(here.join("out/day 2")).unwrap();
    let said = text(&posemill(here, &["table", "out"]).stderr);
    assert!(said.contains("3 results whose files were deleted or moved are left out"), "{said}");
}

/// Nothing was printed: the run failed, and does not say that it wrote something.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_failure() {
    let folder = library();
    let full = |arguments: &[&str]| {
        let out = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
        let output = command.args(arguments).current_dir(folder.path()).stdout(out).output().unwrap();
        let said = text(&output.stderr);
        assert!(said.contains("standard output cannot be written: no space left"), "{said}");
        (output.status.code(), said.contains("written\n"))
    };
    assert_eq!(full(&["table", "out"]), (Some(1), false));
    assert_eq!(full(&["convert", "takes/walk.bvh", "-o", "-", "--format", "glb"]), (Some(1), false));
    assert_eq!(
        full(&["retarget", "takes/walk.bvh", "--onto", "hero.glb", "-o", "-", "--format", "glb"]),
        (Some(1), false)
    );
}

#[test]
fn characters_of_one_file_name_are_named() {
    let folder = library();
    let here = folder.path();
    fs::create_dir(here.join("other")).unwrap();
    fs::copy(here.join("hero.glb"), here.join("other/hero.glb")).unwrap();
    let text_of = PIPELINE.replace("\"hero.glb\"", "[\"hero.glb\", \"other/hero.glb\"]");
    fs::write(here.join("two.toml"), text_of).unwrap();
    let output = posemill(here, &["run", "two.toml", "--output", "two"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("the characters `hero.glb` and `other/hero.glb` of `two.toml` would both write"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn takes_of_one_name_stop_no_batch_of_several_characters() {
    let folder = library();
    let here = folder.path();
    good(here, &["convert", "takes/walk.bvh", "-o", "takes/walk.glb"]);
    let mannequin = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb");
    fs::copy(mannequin, here.join("mannequin.glb")).unwrap();
    let text_of =
        PIPELINE.replace("**/*.bvh", "w*").replace("\"hero.glb\"", "[\"hero.glb\", \"mannequin.glb\"]");
    fs::write(here.join("two.toml"), text_of).unwrap();
    let output = posemill(here, &["run", "two.toml", "--output", "two"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("2 written, 4 failed") || text(&output.stdout).contains("2 written, 4 failed"),
        "{said}"
    );
    assert!(here.join("two/hero/wave.glb").is_file() && here.join("two/mannequin/wave.glb").is_file());
}

#[test]
fn results_without_takes_are_reported() {
    let folder = library();
    let here = folder.path();
    let run = || {
        let output = posemill(here, &["run", "p.toml", "--output", "out"]);
        assert!(output.status.success());
        text(&output.stderr)
    };
    assert!(!run().contains("no take any more"));
    fs::remove_file(here.join("takes/wave.bvh")).unwrap();
    fs::rename(here.join("takes/walk.bvh"), here.join("takes/stroll.bvh")).unwrap();
    let said = run();
    assert!(said.contains("out: 2 outputs of earlier runs have no take any more (`walk.glb`)"), "{said}");
    // Some of the takes say nothing of the others.
    let share = posemill(here, &["run", "p.toml", "--output", "out", "--input", "takes/stroll.bvh"]);
    assert!(!text(&share.stderr).contains("no take any more"));
    fs::remove_file(here.join("out/walk.glb")).unwrap();
    assert!(run().contains("1 output of an earlier run has no take any more (`wave.glb`)"));
    fs::remove_file(here.join("out/wave.glb")).unwrap();
    assert!(!run().contains("no take any more"));
    // A run that writes something forgets what is not there.
    fs::remove_file(here.join("out/stroll.glb")).unwrap();
    run();
    assert_eq!(rows(&good(here, &["table", "out"])).len(), 3);
    let said = text(&posemill(here, &["table", "out"]).stderr);
    assert!(!said.contains("deleted or moved"), "{said}");
}
