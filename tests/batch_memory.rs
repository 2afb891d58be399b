//! What a batch holds of a take that is done, or not yet begun, is a few bytes: memory hardly grows with the batch.

mod batch_studio;

use batch_studio::many;
use posemill::batch::{
    Batch, BatchOptions, Destination, JobOutcome, Jobs, Manifest, OutcomeSpool, PathOwnership, find_takes,
    run_all, write_reports,
};
use posemill::pipeline::{Pipeline, PipelineConfig};
use posemill::stages::STAGES;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Bytes a take: with them 20,000 takes need a quarter more memory than 1,000 do, of which most is the program itself.
/// Lists that grow are counted together with what they grow out of, so that in truth it is less.
const MOST: usize = 250;

/// Everything that a run does, on this thread.
fn run(folder: &Path, report: bool) {
    let text = std::fs::read_to_string(folder.join("p.toml")).unwrap();
    let sets = [format!("output.report={report}")];
    let config = PipelineConfig::parse("p.toml", &text, &sets, STAGES).unwrap();
    let placement = Destination::Folder(folder.join("out"));
    let takes = find_takes(folder, &config.input.motion, placement.folder()).unwrap().takes;
    let jobs = Jobs::new(takes, &config.output.formats, &placement, &[]).unwrap();
    let mut pipeline = Pipeline::new(&config, folder, None).unwrap();
    pipeline.every_page = false;
    let manifest = Manifest::open(&folder.join("out")).unwrap();
    let (owners, stop) = (PathOwnership::of(std::iter::once(&jobs)), AtomicBool::new(false));
    let (manifest, options) = (Some(&manifest), BatchOptions::default());
    let rows = Mutex::new(OutcomeSpool::new(jobs.len()).unwrap());
    let batch = Batch { pipeline: &pipeline, jobs: &jobs, manifest, owners: &owners, options, stop: &stop };
    run_all(&batch, &|job, outcome: JobOutcome| {
        assert_eq!(outcome.error, None);
        rows.lock().unwrap().put(job, &outcome).unwrap();
    });
    if report {
        write_reports(&folder.join("out"), "p.toml", &mut rows.into_inner().unwrap(), manifest.unwrap())
            .unwrap();
    }
    manifest.unwrap().finish().unwrap();
}

/// How much more the peak of a run is for a take more, in bytes.
fn grown(report: bool) -> usize {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // As full as tables of their sizes are at 20,000.
    let peaks = [300, 1200].map(|count| {
        let folder = many(count);
        run(folder.path(), report);
        // What takes are made with is more than what is held of so few: a second run has only that. It tidies up too.
        let manifest = folder.path().join("out/.posemill.jsonl");
        let damaged = std::fs::read_to_string(&manifest).unwrap() + "damage\n";
        std::fs::write(&manifest, damaged).unwrap();
        alone.install(|| allocation_counter::measure(|| run(folder.path(), report)).bytes_max as usize)
    });
    (peaks[1] - peaks[0]) / 900
}

#[test]
fn a_take_more_is_a_few_bytes_more() {
    for report in [false, true] {
        let grown = grown(report);
        println!("report = {report}: {grown} bytes a take");
        assert!(grown > 0 && grown <= MOST, "report = {report}: {grown}");
    }
}
