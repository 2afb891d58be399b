//! The table of results: one row for each output that the manifests of some folders record, in the order of their names. Clips that
//! have files of their own are outputs of their own.
//!
//! Rows are read twice, first for their order and what they have in common, then one by one: a library of a hundred thousand takes
//! has a gigabyte of measures.

use super::compaction::KeptRecords;
use super::file_times::short;
use super::journal_line::{JournalLine, OutputRecord};
use super::manifest::{MANIFEST, Manifest};
use crate::measure::{MEASURES, Reading, Verdict};
use crate::pipeline::{FileHash, slashed};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// The results of some folders.
#[derive(Debug)]
pub struct ResultTable {
    manifests: Vec<Manifest>,
    /// In the order of rows: the output, the number of its manifest and the offset of its line, and the number of the row whose
    /// takes and pipeline are the same, if there is one.
    rows: Vec<TableEntry>,
    /// Every measure with its unit, those of the catalogue first.
    pub columns: Vec<(String, String)>,
    /// The number of outputs that several folders have with the same content: each has one row.
    pub repeated: usize,
    /// The number of results whose files were deleted or moved: they have no rows.
    pub gone: usize,
    /// What the keys of samples begin with, by the number of the manifest; empty until samples are asked for.
    sample_folders: Vec<String>,
}

#[derive(Debug)]
struct TableEntry {
    output: String,
    manifest: usize,
    offset: u64,
    /// The number of the clip, where each has a file of its own.
    clip: Option<usize>,
    same_as: Option<usize>,
}

/// Hashes of what an output was made from.
#[derive(Debug)]
struct Origin {
    /// The name of the take.
    name: u64,
    /// The content of the take and of the files that it refers to, and the pipeline.
    made_from: u64,
    /// The same, with the output and its content.
    same: u64,
}

/// One output.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResultRow {
    /// The folder of outputs, as named or found.
    pub folder: String,
    /// The output, relative to the folder.
    pub output: String,
    /// The hash of the output, BLAKE3 in hexadecimal digits.
    pub output_blake3: String,
    /// The take, below the fixed part of its pattern.
    pub input: String,
    /// The hash of the take, BLAKE3 in hexadecimal digits.
    pub input_blake3: String,
    /// The fingerprint of the pipeline, BLAKE3 in hexadecimal digits.
    pub pipeline: String,
    /// The number of frames of all clips; null if the record has none.
    pub frames: Option<u64>,
    /// Frames per second of the first clip; null if the record has none.
    pub rate_hz: Option<f64>,
    /// Duration of all clips, seconds; null if the record has none.
    pub duration_s: Option<f64>,
    /// A hash of names, parents and rest pose of the joints, hexadecimal digits; null if the record has none.
    pub skeleton: Option<String>,
    /// The codes of the warnings.
    pub warnings: Vec<String>,
    /// The verdict, `good`, `as recorded` or `over`; null if no measure was judged.
    pub verdict: Option<&'static str>,
    /// The take with the same content that comes first; null of the first.
    pub duplicate_of: Option<String>,
    /// Seconds from the reading of the take to the end of writing, if the cache of the folder has them. Left out of documents,
    /// which are otherwise reproducible.
    #[serde(skip)]
    pub took_s: Option<f64>,
    /// The path of the take when it was read, if the record has it.
    #[serde(skip)]
    pub take: Option<PathBuf>,
    /// The output and its further files, relative to the folder.
    #[serde(skip)]
    pub files: Vec<FileHash>,
    /// What the key of its sample begins with: the folder, where several have outputs of one name; else empty.
    #[serde(skip)]
    pub sample_folder: String,
    /// Values with their units, by measure.
    #[serde(serialize_with = "as_members")]
    #[schemars(with = "BTreeMap<String, MeasuredValue>")]
    pub measures: Vec<Reading>,
}

/// The value of a measure.
#[derive(Debug, Serialize, JsonSchema)]
struct MeasuredValue<'a> {
    /// The value, in `unit`; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    value: f64,
    /// The unit, such as `m`, `rad` or `m/s`; `1` for ratios.
    unit: &'a str,
}

fn as_members<S: serde::Serializer>(measures: &[Reading], serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_map(measures.iter().map(|m| (&m.name, MeasuredValue { value: m.value, unit: &m.unit })))
}

/// The folders with results at or below `folder`, in the order of their names.
pub fn result_folders(folder: &Path) -> Vec<PathBuf> {
    let found = super::find_takes(folder, &[format!("**/{MANIFEST}")], None).unwrap_or_default();
    found.takes.iter().filter_map(|found| Some(found.path.parent()?.to_owned())).collect()
}

/// The output without the extension of its file.
pub(super) fn without_extension(output: &str) -> &str {
    let name = output.rfind('/').map_or(0, |at| at + 1);
    &output[..output[name..].rfind('.').map_or(output.len(), |at| name + at)]
}

impl ResultTable {
    /// The table of these folders.
    pub fn new(folders: &[PathBuf]) -> Self {
        let manifests: Vec<Manifest> = folders.iter().map(|folder| Manifest::look(folder)).collect();
        let mut found = Vec::new();
        let mut gone = 0;
        let mut columns: BTreeMap<String, String> = BTreeMap::new();
        for (number, manifest) in manifests.iter().enumerate() {
            for offset in manifest.offsets() {
                // Reports have records without sources.
                let Some(record) = manifest.record_at(offset) else { continue };
                let Some(take) = record.sources.first() else { continue };
                let mut mains = main_files(&record);
                let recorded = mains.len();
                mains.retain(|(_, file)| manifest.folder.join(&file.path).exists());
                gone += recorded - mains.len();
                if mains.is_empty() {
                    continue;
                }
                for reading in readings(&record) {
                    columns.entry(reading.name).or_insert(reading.unit);
                }
                let sources: Vec<&[u8]> = record.sources.iter().map(|s| s.blake3.as_bytes()).collect();
                let made_from = [sources.as_slice(), &[record.pipeline.as_bytes()]].concat();
                let name = short(&[take.path.as_bytes()]);
                for (clip, file) in mains {
                    let same = short(&[file.path.as_bytes(), file.blake3.as_bytes(), &made_from.concat()]);
                    let output = file.path.clone();
                    let entry = TableEntry { output, manifest: number, offset, clip, same_as: None };
                    found.push((entry, Origin { name, made_from: short(&made_from), same }));
                }
            }
        }
        // The formats of one take follow each other.
        found.sort_by(|(a, _), (b, _)| {
            let stems = without_extension(&a.output).cmp(without_extension(&b.output));
            stems.then_with(|| (&a.output, a.manifest).cmp(&(&b.output, b.manifest)))
        });
        let (mut rows, mut repeated) = (Vec::new(), 0);
        let (mut seen, mut first) = (HashSet::new(), HashMap::new());
        for (mut entry, origin) in found {
            if !seen.insert(origin.same) {
                repeated += 1;
                continue;
            }
            let &mut (number, name) = first.entry(origin.made_from).or_insert((rows.len(), origin.name));
            // One take in several formats or folders is no duplicate.
            entry.same_as = (name != origin.name).then_some(number);
            rows.push(entry);
        }
        Self { manifests, rows, columns: in_order(columns), repeated, gone, sample_folders: Vec::new() }
    }

    /// Makes the keys of samples unique: where several folders have outputs of one name, as those of several characters, keys begin
    /// with the folder, below what all have in common, and the rows of a sample follow each other.
    pub fn with_unique_samples(mut self) -> Self {
        let shared_name = {
            let mut names = HashSet::new();
            self.rows.iter().any(|row| !names.insert(row.output.as_str()))
        };
        if !shared_name {
            return self;
        }
        let folders = self.manifests.iter().map(|manifest| slashed(&manifest.folder) + "/");
        let folders: Vec<String> = folders.collect();
        let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let common = folders.iter().map(|folder| shared(folder, &folders[0])).min().unwrap_or_default();
        let below = folders[0].as_bytes()[..common].iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
        self.sample_folders = folders.iter().map(|folder| folder[below..].to_owned()).collect();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&k| (without_extension(&self.rows[k].output), self.rows[k].manifest));
        let mut new = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| new[from] = to);
        let moved = |&from: &usize| {
            let TableEntry { output, manifest, offset, clip, same_as } = &self.rows[from];
            let same_as = same_as.map(|row| new[row]);
            TableEntry { output: output.clone(), manifest: *manifest, offset: *offset, clip: *clip, same_as }
        };
        self.rows = order.iter().map(moved).collect();
        self
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The rows, in the order of the outputs' names.
    pub fn rows(&self) -> impl Iterator<Item = ResultRow> {
        self.rows.iter().filter_map(|entry| {
            let manifest = &self.manifests[entry.manifest];
            let record = manifest.record_at(entry.offset)?;
            let same = entry.same_as.and_then(|number| {
                let first = &self.rows[number];
                let record = self.manifests[first.manifest].record_at(first.offset)?;
                Some(record.sources.first()?.path.clone())
            });
            let took =
                record.name().and_then(|name| manifest.index().times.time_of(short(&[name.as_bytes()])));
            let took_s = took.map(|time| time.as_secs_f64());
            let sample_folder = self.sample_folders.get(entry.manifest).cloned().unwrap_or_default();
            let found = row(&manifest.folder, &record, entry.clip);
            Some(ResultRow { duplicate_of: same, took_s, sample_folder, ..found })
        })
    }
}

/// Measures in the order of the catalogue, then the others by name.
fn in_order(mut found: BTreeMap<String, String>) -> Vec<(String, String)> {
    let known = MEASURES.iter().filter_map(|m| found.remove_entry(m.name)).collect::<Vec<_>>();
    known.into_iter().chain(found).collect()
}

fn readings(record: &OutputRecord) -> impl Iterator<Item = Reading> {
    record.report["metrics"].as_array().into_iter().flatten().filter_map(Reading::of_json)
}

fn clips(record: &OutputRecord) -> Vec<&Map<String, Value>> {
    record.report["clips"].as_array().into_iter().flatten().filter_map(Value::as_object).collect()
}

/// The main file of the output, or those of its clips with their numbers, where each has a file of its own: `walk.NAME.bvh` for
/// `walk.bvh`, in the order of the clips.
fn main_files(record: &OutputRecord) -> Vec<(Option<usize>, &FileHash)> {
    let count = clips(record).len();
    let stem = without_extension(&record.planned);
    let extension = &record.planned[stem.len()..];
    let of_clip = |file: &&FileHash| {
        let inner = file.path.strip_prefix(stem).and_then(|rest| rest.strip_suffix(extension));
        inner.is_some_and(|name| name.starts_with('.'))
    };
    let apart: Vec<&FileHash> = record.files.iter().take(count).filter(of_clip).collect();
    if record.planned.is_empty() || apart.len() < count || count < 2 {
        return record.files.first().map(|file| (None, file)).into_iter().collect();
    }
    apart.into_iter().enumerate().map(|(clip, file)| (Some(clip), file)).collect()
}

/// The files of the output, or of one of its clips; what belongs to all clips is with the first.
fn files_of(record: &OutputRecord, clip: Option<usize>) -> Vec<FileHash> {
    let Some(clip) = clip else { return record.files.clone() };
    let mains = main_files(record);
    let stems: Vec<&str> = mains.iter().map(|(_, file)| without_extension(&file.path)).collect();
    let behind = |path: &str, stem: &str| path.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
    let owner = |path: &str| {
        let named = (0..stems.len()).filter(|k| behind(path, stems[*k]));
        named.max_by_key(|k| stems[*k].len()).unwrap_or(0)
    };
    let own = record.files.iter().filter(|file| owner(&file.path) == clip);
    let main = mains[clip].1;
    std::iter::once(main).chain(own.filter(|file| file.path != main.path)).cloned().collect()
}

fn row(folder: &Path, record: &OutputRecord, clip: Option<usize>) -> ResultRow {
    let hash = |files: &[FileHash]| {
        files.first().map_or_else(Default::default, |f| (f.path.clone(), f.blake3.clone()))
    };
    let files = files_of(record, clip);
    let ((output, output_blake3), (input, input_blake3)) = (hash(&files), hash(&record.sources));
    let report = &record.report;
    let mut clips = clips(record);
    if let Some(clip) = clip {
        clips = vec![clips[clip]];
    }
    let sum = |key: &str| clips.iter().filter_map(|clip| clip.get(key)?.as_f64()).sum::<f64>();
    let known = !clips.is_empty();
    // Records without measures of each clip have the worst of all clips.
    let own = clip.and_then(|_| clips[0].get("metrics")?.as_array());
    let measures: Vec<Reading> = match own {
        Some(own) => own.iter().filter_map(Reading::of_json).collect(),
        None => readings(record).collect(),
    };
    let verdict = Verdict::of(&measures);
    let warnings = report["warnings"].as_array().into_iter().flatten();
    ResultRow {
        folder: folder.display().to_string(),
        output,
        output_blake3,
        input,
        input_blake3,
        pipeline: record.pipeline.clone(),
        frames: known.then(|| sum("frames") as u64),
        rate_hz: clips.first().and_then(|clip| clip.get("rate_hz")?.as_f64()),
        duration_s: known.then(|| sum("duration_s")),
        skeleton: report["skeleton"].as_str().map(str::to_owned),
        warnings: warnings.filter_map(|w| Some(w["code"].as_str()?.to_owned())).collect(),
        verdict: (verdict.judged > 0).then(|| verdict.judgement().word()),
        duplicate_of: None,
        took_s: None,
        take: record.origin.as_ref().map(|origin| origin.take_in(folder)),
        files,
        sample_folder: String::new(),
        measures,
    }
}

impl Manifest {
    /// The offsets of the current records, in the order of their outputs' names.
    fn offsets(&self) -> Vec<u64> {
        let index = self.index();
        let mut kept = KeptRecords::default();
        let Some(mut reader) = index.reader() else { return Vec::new() };
        let (mut at, mut bytes) = (0, Vec::new());
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let offset = at;
            at += bytes.len() as u64;
            let line = std::str::from_utf8(&bytes).ok().map(|text| text.trim_end_matches('\n'));
            if let Some(JournalLine::Record(record)) = line.and_then(JournalLine::decode)
                && let Some(name) = record.name()
                && index.records.get(&short(&[name.as_bytes()])) == Some(&offset)
            {
                kept.push(name, offset);
            }
            bytes.clear();
        }
        kept.sorted().collect()
    }

    fn record_at(&self, offset: u64) -> Option<OutputRecord> {
        match JournalLine::decode(&self.index().line(offset)?) {
            Some(JournalLine::Record(record)) => Some(record),
            _ => None,
        }
    }
}
