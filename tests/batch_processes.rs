//! Takes that are made in processes of their own: what ends such a process costs that take, and nothing else differs.

mod batch_studio;

use batch_studio::{TAKE, command, counts, many, outputs, posemill, studio, told, write};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A take of as many frames as `TAKE` has, `times` over.
fn long(times: usize) -> String {
    let (head, rows) = TAKE.split_once("Frame Time: 0.025\n").unwrap();
    let head = head.replace("Frames: 3", &format!("Frames: {}", 3 * times));
    format!("{head}Frame Time: 0.025\n{}", rows.repeat(times))
}

/// Three takes in two folders, one of them long in a pipeline that makes it much longer.
fn one_long(times: usize) -> tempfile::TempDir {
    let folder = studio(&["takes/a.bvh", "takes/day/b.bvh"]);
    write(folder.path(), "takes/day/it's [long].bvh", &long(times));
    write(
        folder.path(),
        "p.toml",
        "[input]\nmotion = [\"takes/**/*.bvh\"]\n[output]\nreport = false\n[[stage]]\nuse = \"resample\"\nrate_hz = 960.0\n",
    );
    folder
}

/// The command line that a message tells, and what came of it in a shell.
fn again(folder: &Path, err: &str) -> (i32, String) {
    let line = err
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("posemill run "))
        .unwrap_or_else(|| panic!("{err}"));
    let program = env!("CARGO_BIN_EXE_posemill").replace('\'', r"'\''");
    let line = line.replacen("posemill", &format!("'{program}'"), 1);
    let (code, _, err) = told(&Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap());
    (code, err)
}

#[test]
fn what_processes_make_is_what_the_run_itself_makes() {
    let folder = many(6);
    let path = folder.path();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/data/walk.bvh"), path.join("takes/walk.bvh")).unwrap();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/data/robot.glb"), path.join("robot.glb")).unwrap();
    write(path, "takes/torn.bvh", &TAKE[..200]);
    let plain = fs::read_to_string(path.join("p.toml")).unwrap();
    let rich = "[input]\nmotion = [\"takes/**/walk.bvh\", \"takes/torn.bvh\"]\ncharacter = \"robot.glb\"\n[output]\n\
        preview = \"png\"\ncontacts = true\nformats = [\"glb\", \"bvh\"]\n\
        [[stage]]\nuse = \"contacts\"\n[[stage]]\nuse = \"retarget\"\n";
    for (pipeline, made) in [(plain.as_str(), 7), (rich, 1)] {
        write(path, "p.toml", pipeline);
        let here = posemill(path, &["run", "p.toml", "--json"]);
        let before = outputs(path);
        fs::remove_dir_all(path.join("out")).unwrap();
        let there = posemill(path, &["run", "p.toml", "--json", "--timeout", "10min"]);
        assert_eq!(here, there);
        assert_eq!(serde_json::from_str::<Value>(&here.1).unwrap()["written"], made, "{}", here.2);
        assert!(outputs(path) == before);
        assert_eq!(counts(path, &["--timeout", "10min"]), (1, 0, made));
        let (_, _, err) = posemill(path, &["run", "p.toml", "--verify", "--timeout", "10min"]);
        assert!(err.contains(" verified"), "{err}");
        fs::remove_dir_all(path.join("out")).unwrap();
    }
}

#[test]
fn a_take_that_takes_too_long_fails_alone_and_its_line_does_it_again() {
    let folder = one_long(60_000);
    let path = folder.path();
    let begun = Instant::now();
    let (code, _, err) = posemill(path, &["run", "p.toml", "--timeout", "1s"]);
    assert!(code == 1 && err.ends_with("2 written, 1 failed\n"), "{err}");
    let told =
        "error: takes/day/it's [long].bvh: the worker process took longer than the 1s of `--timeout`\n";
    assert!(err.contains(told), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let before = outputs(path);
    let (code, err) = again(path, &err);
    assert!(code == 1 && err.contains(told) && err.ends_with("1 failed\n"), "{err}");
    assert!(outputs(path) == before);
}

#[test]
fn what_came_from_standard_input_is_told_by_the_name_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "long.bvh", &long(60_000));
    let run = |output: &str| {
        let line = format!(
            "'{}' convert - -o {output} --format glb --set input.up=y --timeout 1ms < long.bvh",
            env!("CARGO_BIN_EXE_posemill")
        );
        told(&Command::new("sh").args(["-c", &line]).current_dir(path).output().unwrap())
    };
    for (output, end) in [("-", ""), ("out.glb", " --verify")] {
        let (code, out, err) = run(output);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        let line =
            format!("posemill convert - -o {output} --set input.up=y --format glb{end} --timeout 1ms\n");
        assert!(err.contains(&line), "{err}");
    }
}

#[test]
fn times_and_amounts_without_units_are_refused() {
    let folder = many(1);
    for (option, text, said) in [
        ("--timeout", "60", "a time has a unit: `60s`"),
        ("--timeout", "0s", "a time has a unit: `60s`"),
        ("--memory", "2000000000", "an amount of memory has a unit: `2GB`"),
        ("--memory", "two", "an amount of memory has a unit: `2GB`"),
    ] {
        let (code, _, err) = posemill(folder.path(), &["run", "p.toml", option, text]);
        assert!(code == 2 && err.contains(said), "{err}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    #[test]
    fn a_take_that_needs_too_much_memory_fails_alone_and_its_line_does_it_again() {
        let folder = one_long(20_000);
        let path = folder.path();
        let (code, _, err) = posemill(path, &["run", "p.toml", "--memory", "64MB"]);
        assert!(code == 1 && err.ends_with("2 written, 1 failed\n"), "{err}");
        let told = "error: takes/day/it's [long].bvh: the worker process needed more memory than the 64MB of `--memory`\n";
        assert!(err.contains(told), "{err}");
        let (code, err) = again(path, &err);
        assert!(code == 1 && err.contains(told), "{err}");
        assert_eq!(counts(path, &["--memory", "8GB"]), (0, 1, 2));
    }

    #[test]
    fn where_a_process_cannot_even_start_every_take_is_told_so() {
        let folder = many(3);
        let (code, _, err) =
            posemill(folder.path(), &["run", "p.toml", "--memory", "1kB", "--timeout", "60s"]);
        assert!(code == 1 && err.ends_with("3 failed\n"), "{err}");
        assert_eq!(err.matches("the worker process ").count(), 3, "{err}");
        assert!(!err.contains("took longer"), "{err}");
    }

    /// The processes of these arguments below this one.
    fn workers_of(run: u32) -> Vec<u32> {
        let children = fs::read_dir(format!("/proc/{run}/task")).into_iter().flatten().flatten();
        let listed = children.filter_map(|t| fs::read_to_string(t.path().join("children")).ok());
        listed.flat_map(|l| l.split_whitespace().map(|p| p.parse().unwrap()).collect::<Vec<_>>()).collect()
    }

    fn alive(process: u32) -> bool {
        fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
    }

    fn wait_for(what: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !what() && Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(what());
    }

    #[test]
    fn a_process_that_is_killed_costs_one_take_and_a_run_that_is_killed_leaves_no_process() {
        let folder = one_long(60_000);
        let path = folder.path();
        let start = || {
            let mut run = command(path);
            run.args(["run", "p.toml", "--jobs", "1", "--timeout", "10min"])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        // The long one is the last, when the others are written.
        let at_it = || path.join("out/day/b.glb").exists();
        let run = start();
        wait_for(at_it);
        // The process that made the others took it; without it a new one does.
        let first = workers_of(run.id());
        assert_eq!(first.len(), 1);
        let kill = |process: u32| {
            assert!(Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap().success())
        };
        kill(first[0]);
        wait_for(|| workers_of(run.id()).iter().any(|w| *w != first[0]));
        workers_of(run.id()).into_iter().filter(|w| *w != first[0]).for_each(kill);
        let (code, _, err) = told(&run.wait_with_output().unwrap());
        assert!(code == 1 && err.ends_with("2 written, 1 failed\n"), "{err}");
        assert!(
            err.contains("the worker process was killed, as the system does when memory runs out\n"),
            "{err}"
        );

        let mut run = start();
        wait_for(|| !workers_of(run.id()).is_empty());
        let worker = workers_of(run.id())[0];
        run.kill().unwrap();
        run.wait().unwrap();
        wait_for(|| !alive(worker));
        assert!(!outputs(path).keys().any(|name| name.ends_with(".part")));
        assert_eq!(counts(path, &[]), (0, 1, 2));
    }

    #[test]
    fn a_run_that_is_asked_to_end_finishes_what_its_processes_are_at() {
        let folder = many(400);
        let path = folder.path();
        let mut run = command(path);
        let mut run = run
            .args(["run", "p.toml", "--jobs", "2", "--timeout", "10min"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(|| path.join("out/0/0000.glb").exists());
        let workers = workers_of(run.id());
        // A terminal sends its signal to all.
        for process in workers.iter().chain(&[run.id()]) {
            assert!(Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap().success());
        }
        assert!(run.try_wait().unwrap().is_none());
        let (code, _, err) = told(&run.wait_with_output().unwrap());
        assert!(code == 1 && err.contains("stopped before the end\n") && !err.contains("failed"), "{err}");
        assert!(workers.iter().all(|w| !alive(*w)));
        assert_eq!(counts(path, &[]).0, 0);
    }
}
