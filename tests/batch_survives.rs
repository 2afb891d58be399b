//! A folder of outputs survives what happens to it: kills, company, damage, changes of mind.

mod batch_studio;

use batch_studio::{age, command, counts, many, outputs, pipeline, posemill, studio, told, write};
use posemill::batch::{ClaimState, Manifest, OutputRecord};
use posemill::pipeline::{Pipeline, PipelineConfig};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MANIFEST: &str = "out/.posemill.jsonl";

#[test]
fn a_run_that_was_killed_is_finished_by_the_next_one_as_if_nothing_had_happened() {
    let folder = many(60);
    let path = folder.path();
    assert_eq!(counts(path, &[]), (0, 60, 0));
    let whole = outputs(path);
    for share in 1..=20 {
        fs::remove_dir_all(path.join("out")).unwrap();
        let mut run = command(path).args(["run", "p.toml", "-q"]).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let lines = || fs::read_to_string(path.join(MANIFEST)).map_or(0, |text| text.lines().count());
        while lines() < share * 9 && run.try_wait().unwrap().is_none() && Instant::now() < until {}
        run.kill().unwrap();
        run.wait().unwrap();
        let (code, written, fresh) = counts(path, &[]);
        assert_eq!((code, written + fresh), (0, 60));
        assert!(outputs(path) == whole, "share {share}");
    }
}

#[test]
fn a_run_that_ends_at_any_step_of_an_output_is_finished_by_the_next_one() {
    let folder = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let path = folder.path();
    pipeline(path, "report = false\npreview = \"png\"\n");
    assert_eq!(counts(path, &[]), (0, 2, 0));
    let whole = outputs(path);
    let manifest = String::from_utf8(whole[".posemill.jsonl"].clone()).unwrap();
    let line: Value = serde_json::from_str(manifest.lines().next().unwrap()).unwrap();
    let record: OutputRecord = serde_json::from_value(line["record"].clone()).unwrap();
    assert_eq!(record.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["a.glb", "a.png"]);
    let out = path.join("out");
    let put = |name: &str| fs::write(out.join(name), &whole[name]).unwrap();
    // As a run does them, and how many outputs the next one has to make.
    type Step<'a> = (&'a str, usize, &'a dyn Fn(&Manifest));
    let output = out.join("a.glb");
    let config = PipelineConfig::parse("p.toml", "", &[], &[]).unwrap();
    let plan = Pipeline::new(&config, path, None).unwrap();
    let steps: [Step; 6] = [
        ("nothing", 2, &|_| ()),
        ("claimed", 2, &|manifest| {
            assert_eq!(manifest.claim([output.as_path()].into_iter(), &plan).unwrap(), ClaimState::Own);
        }),
        ("intended", 2, &|manifest| manifest.intend(&output, &record.files).unwrap()),
        ("what lies beside it written", 2, &|_| put("a.png")),
        ("written", 2, &|_| put("a.glb")),
        ("recorded", 1, &|manifest| manifest.add(record.clone(), None).unwrap()),
    ];
    for end in 0..steps.len() {
        fs::remove_dir_all(&out).unwrap();
        let manifest = Manifest::open(&out).unwrap();
        steps[..=end].iter().for_each(|step| (step.2)(&manifest));
        // What a run was writing when it ended, and half of a line.
        write(&out, ".posemill-abc123.part", "half");
        let torn = fs::read(out.join(".posemill.jsonl")).unwrap();
        fs::write(out.join(".posemill.jsonl"), [&torn[..], b"{\"intent\":{"].concat()).unwrap();
        drop(manifest);
        let (name, made, _) = steps[end];
        assert_eq!(counts(path, &[]), (0, made as u64, 2 - made as u64), "{name}");
        assert!(outputs(path) == whole, "{name}: {:?}", outputs(path).keys());
    }
}

#[test]
fn runs_in_one_folder_share_the_work_and_none_loses_what_another_wrote() {
    let folder = many(80);
    let path = folder.path();
    assert_eq!(counts(path, &[]).0, 0);
    let whole = outputs(path);
    for count in [2, 4] {
        fs::remove_dir_all(path.join("out")).unwrap();
        let start = |_| {
            let mut run = command(path);
            run.args(["run", "p.toml", "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs: Vec<_> = (0..count).map(start).collect();
        for run in runs {
            let (code, _, err) = told(&run.wait_with_output().unwrap());
            assert_eq!((code, err.as_str()), (0, ""));
        }
        assert!(outputs(path) == whole, "{count} runs");
        assert_eq!(counts(path, &[]), (0, 0, 80));
    }
}

#[test]
fn of_two_pipelines_that_run_at_once_into_one_folder_each_output_is_of_one() {
    let folder = many(40);
    let path = folder.path();
    pipeline(path, "report = false\npreview = \"png\"\n");
    let first = fs::read_to_string(path.join("p.toml")).unwrap();
    write(path, "q.toml", &first.replace("png", "gif"));
    let start = |name: &str| {
        let mut run = command(path);
        run.args(["run", name, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs = ["p.toml", "q.toml"].map(start).map(|run| told(&run.wait_with_output().unwrap()));
    let numbers = runs.each_ref().map(|(_, out, err)| {
        let json: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {err}"));
        [json["written"].as_u64().unwrap(), json["failed"].as_u64().unwrap_or(u64::MAX)]
    });
    assert_eq!(numbers[0][0] + numbers[1][0], 40, "{numbers:?}");
    for ([written, failed], (_, _, err)) in numbers.iter().zip(&runs) {
        assert_eq!(written + failed, 40, "{numbers:?}");
        assert!(*failed == 0 || err.contains("is an output of another pipeline"), "{err}");
    }
}

#[test]
fn damage_to_the_manifest_costs_the_damaged_lines_only() {
    let folder = many(4);
    let path = folder.path();
    assert_eq!(counts(path, &[]), (0, 4, 0));
    let whole = outputs(path);
    let mut bytes = fs::read(path.join(MANIFEST)).unwrap();
    bytes[40] ^= 0xff;
    fs::write(path.join(MANIFEST), &bytes).unwrap();
    assert_eq!(counts(path, &[]), (0, 1, 3));
    assert!(outputs(path) == whole);
    // Without any record, outputs are adopted where they are just what would be written, and only there.
    fs::remove_file(path.join(MANIFEST)).unwrap();
    write(path, "out/0/0000.glb", "mine");
    let (code, _, err) = posemill(path, &["run", "p.toml"]);
    assert!(code == 1 && err.contains("`out/0/0000.glb` was not written by posemill"), "{err}");
    assert!(err.ends_with("3 written, 1 failed\n"), "{err}");
    assert_eq!(fs::read(path.join("out/0/0000.glb")).unwrap(), b"mine");
    assert_eq!(counts(path, &["--force"]).0, 0);
    assert!(outputs(path) == whole);
}

#[test]
fn litter_of_a_run_that_is_no_more_is_swept() {
    let folder = many(2);
    let path = folder.path();
    assert_eq!(counts(path, &[]).0, 0);
    let whole = outputs(path);
    write(path, "out/.posemill-abc123.part", "half");
    assert_eq!(counts(path, &[]), (0, 0, 2));
    assert!(outputs(path) == whole);
}

#[test]
fn a_change_of_mind_about_formats_and_pictures_accuses_nobody() {
    let folder = studio(&["takes/a.bvh"]);
    let path = folder.path();
    let with = |text: &str| pipeline(path, &format!("report = false\n{text}"));
    with("formats = [\"glb\"]\npreview = \"png\"\n");
    assert_eq!(counts(path, &[]), (0, 1, 0));
    with("formats = [\"bvh\"]\npreview = \"png\"\n");
    assert_eq!(counts(path, &[]), (0, 1, 0));
    with("formats = [\"bvh\"]\n");
    assert_eq!(counts(path, &[]), (0, 1, 0));
    with("formats = [\"glb\", \"bvh\"]\npreview = \"png\"\n");
    assert_eq!(counts(path, &[]).0, 0);
    with("formats = [\"glb\"]\npreview = \"png\"\n[[stage]]\nuse = \"mirror\"\n");
    assert_eq!(counts(path, &[]), (0, 1, 0));
    assert_eq!(counts(path, &[]), (0, 0, 1));
}

#[test]
fn a_table_of_labels_that_was_corrected_stays_as_it_is() {
    let folder = studio(&[]);
    let path = folder.path();
    fs::create_dir(path.join("takes")).unwrap();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/data/walk.bvh"), path.join("takes/walk.bvh")).unwrap();
    let table = path.join("out/walk.contacts.csv");
    pipeline(path, "report = false\ncontacts = true\n[[stage]]\nuse = \"contacts\"\n");
    assert_eq!(counts(path, &[]), (0, 1, 0));
    let corrected = fs::read_to_string(&table).unwrap() + "\n";
    fs::write(&table, &corrected).unwrap();
    assert_eq!(counts(path, &[]), (0, 0, 1));
    pipeline(
        path,
        "report = false\ncontacts = true\n[[stage]]\nuse = \"mirror\"\n[[stage]]\nuse = \"contacts\"\n",
    );
    let (code, _, err) = posemill(path, &["run", "p.toml"]);
    assert!(code == 0 && err.contains("was corrected by hand and stays as it is"), "{err}");
    assert_eq!(fs::read_to_string(&table).unwrap(), corrected);
    assert_eq!(counts(path, &["--force"]).0, 0);
    assert_ne!(fs::read_to_string(&table).unwrap(), corrected);
}

#[test]
fn what_is_up_to_date_does_not_depend_on_where_one_stands_or_what_time_it_is() {
    let folder = many(3);
    let path = folder.path();
    assert_eq!(counts(path, &[]), (0, 3, 0));
    let before = outputs(path);
    fs::create_dir(path.join("elsewhere")).unwrap();
    let (code, _, err) = posemill(&path.join("elsewhere"), &["run", "../p.toml"]);
    assert_eq!((code, err.as_str()), (0, "3 up to date\n"));
    // A clock that was wrong, and a file that was copied without its time.
    age(&path.join("takes/0/0000.bvh"), 1_000_000);
    age(&path.join("takes/1/0001.bvh"), -1_000_000);
    assert_eq!(counts(path, &[]), (0, 0, 3));
    assert_eq!(counts(path, &[]), (0, 0, 3));
    // The same size and the same time, and yet another content.
    let take = path.join("takes/0/0002.bvh");
    let (text, time) = (fs::read_to_string(&take).unwrap(), fs::metadata(&take).unwrap().modified().unwrap());
    fs::write(&take, text.replace("0 1 0.1", "0 1 0.3")).unwrap();
    fs::File::options().write(true).open(&take).unwrap().set_modified(time).unwrap();
    if cfg!(unix) {
        assert_eq!(counts(path, &[]), (0, 1, 2));
        assert!(outputs(path) != before);
    }
}

#[test]
fn shares_make_together_what_one_run_makes() {
    let folder = many(30);
    let path = folder.path();
    assert_eq!(counts(path, &[]).0, 0);
    let whole = outputs(path);
    fs::remove_dir_all(path.join("out")).unwrap();
    let shares = ["1/3", "2/3", "3/3"].map(|share| counts(path, &["--shard", share]));
    assert!(shares.iter().all(|s| s.0 == 0 && s.1 > 0 && s.2 == 0), "{shares:?}");
    assert!(outputs(path) == whole);
    let (code, _, err) = posemill(path, &["run", "p.toml", "--shard", "4/3"]);
    assert!(code == 2 && err.contains("`4/3` is no share of the takes"), "{err}");
}

#[test]
fn outputs_are_verified_without_a_byte_written() {
    let folder = many(3);
    let path = folder.path();
    assert_eq!(counts(path, &[]).0, 0);
    let (code, _, err) = posemill(path, &["run", "p.toml", "--verify"]);
    assert_eq!((code, err.ends_with("3 verified\n")), (0, true), "{err}");
    let mut bytes = fs::read(path.join("out/0/0000.glb")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path.join("out/0/0000.glb"), bytes).unwrap();
    fs::remove_file(path.join("out/1/0001.glb")).unwrap();
    let before = outputs(path);
    let (code, _, err) = posemill(path, &["run", "p.toml", "--verify"]);
    assert!(
        code == 1 && err.contains("`out/0/0000.glb` is not what this pipeline makes of the take"),
        "{err}"
    );
    assert!(err.contains("`out/1/0001.glb` does not exist"), "{err}");
    assert!(outputs(path) == before);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_end_says_what_is_left_and_the_next_one_does_it() {
    let folder = many(1500);
    let path = folder.path();
    let mut run = command(path);
    let mut run = run.args(["run", "p.toml", "--jobs", "1"]).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !path.join("out/0/0000.glb").exists() && Instant::now() < until {}
    let told_to = std::process::Command::new("kill").args(["-TERM", &run.id().to_string()]).status();
    assert!(told_to.unwrap().success() && run.try_wait().unwrap().is_none());
    let (code, _, err) = told(&run.wait_with_output().unwrap());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("stopped before the end\n") && err.ends_with(" left\n"), "{err}");
    let first = outputs(path);
    assert!(first.contains_key("0/0000.glb") && !first.keys().any(|name| name.ends_with(".part")));
    assert!(first.len() < 1500, "{}", first.len());
}
