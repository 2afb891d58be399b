//! One report for a pipeline with several characters: all results, in the folder above those of the characters.

use super::batch_error::BatchError;
use super::folder_reports::write_reports;
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use super::run_batches::PlannedBatch;
use std::path::{Path, PathBuf};

/// Parent folders that several batches of a pipeline with a report share, each with the indices of those batches.
pub(super) fn shared_folders(batches: &[PlannedBatch<'_>]) -> Vec<(PathBuf, Vec<usize>)> {
    let mut found: Vec<(&Path, &str, Vec<usize>)> = Vec::new();
    for (number, batch) in batches.iter().enumerate().filter(|(_, batch)| batch.pipeline.report) {
        let Some(above) = batch.jobs.destination().folder().and_then(Path::parent) else { continue };
        let name = batch.pipeline.name.as_str();
        match found.iter_mut().find(|group| (group.0, group.1) == (above, name)) {
            Some(group) => group.2.push(number),
            None => found.push((above, name, vec![number])),
        }
    }
    let shared = found.into_iter().filter(|group| group.2.len() > 1);
    shared.map(|(above, _, numbers)| (above.to_owned(), numbers)).collect()
}

/// The folders whose report shows all results of these batches.
#[cfg(feature = "cli")]
pub(crate) fn report_folders(batches: &[PlannedBatch<'_>]) -> Vec<PathBuf> {
    let shared = shared_folders(batches);
    let alone = |number: &usize| !shared.iter().any(|group| group.1.contains(number));
    let own = (0..batches.len()).filter(alone).filter(|number| batches[*number].pipeline.report);
    let own = own.filter_map(|number| batches[number].jobs.destination().folder().map(Path::to_owned));
    shared.iter().map(|group| group.0.clone()).chain(own).collect()
}

/// Writes the report of each folder above several; `spools` are the outcomes of the batches.
pub(super) fn write_shared(
    batches: &[PlannedBatch<'_>],
    spools: &mut [Option<OutcomeSpool>],
) -> Result<(), BatchError> {
    for (folder, numbers) in shared_folders(batches) {
        let jobs = numbers.iter().map(|&number| batches[number].jobs.len()).sum();
        let mut all = OutcomeSpool::new(jobs).map_err(|e| BatchError::spool(&e))?;
        let mut job = 0;
        for &number in &numbers {
            for outcome in spools[number].iter_mut().flat_map(OutcomeSpool::each) {
                let put = outcome.and_then(|outcome| all.put(job, &outcome));
                put.map_err(|e| BatchError::spool(&e))?;
                job += 1;
            }
        }
        let manifest = Manifest::open(&folder)?;
        write_reports(&folder, &batches[numbers[0]].pipeline.name, &mut all, &manifest)?;
        manifest.finish()?;
    }
    Ok(())
}
