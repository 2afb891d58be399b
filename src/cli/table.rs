//! `posemill table`: the results of runs and shards as one table, filtered, or as the list of their takes.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::batch::{ResultRow, ResultTable, RowFilter, result_folders, write_shards};
use crate::pipeline::{AtomicFile, ConfigError, ConfigFault, ConfigSource, WriteError, slashed};
use crate::regular_file::is_there;
use crate::report::{Shown, csv_field, io_reason, json_line};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "Examples:\n  \
    posemill table out/ > results.jsonl\n  \
    posemill table shard1/ shard2/ -o results.csv\n  \
    posemill table out/ --where 'foot_skate_p95 < 2cm/s and duration > 1s'\n  \
    posemill table out/ --where 'verdict == over' --files=takes | posemill run pipeline.toml --files-from -\n  \
    posemill table out/ --where 'verdict == good' --unique --shards train/";

const CONDITIONS: &str = "\n\nConditions compare columns and measures with `<`, `<=`, `>`, `>=`, `==` and `!=`, joined by `and`, `or`, `not` \
    and brackets. Numbers have units: `2cm/s`, `1s`, `30Hz`, `5deg`, `50%`. Texts with spaces are quoted: `verdict == 'as recorded'`. \
    A row that lacks a compared value is left out, also after `not`. Columns: frames, rate (rate_hz), duration (duration_s), took (took_s), warnings (their number), verdict, \
    input, output, folder, pipeline, skeleton, input_blake3, output_blake3, duplicate_of (empty for the first take with its content).";

/// Print the results of runs as one table, filtered, or the list of their takes
///
/// RUN is a folder of outputs, or one above several: every output that a manifest records is one row, in the order of their
/// names, so that shards of one library make the same table as one run. Failed takes have no row, nor have outputs that were deleted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(after_long_help = EXAMPLES.to_owned() + CONDITIONS)]
pub struct TableArguments {
    /// Folders of outputs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Keep the rows that fulfil a condition, e.g. `foot_skate_p95 < 2cm/s and duration > 1s`
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Leave out takes with the same content as an earlier one
    #[arg(long)]
    unique: bool,
    /// Add how long each output took to make, seconds: the only column that differs between two runs
    #[arg(long)]
    time: bool,
    /// Print the takes below FOLDER, as the list that `posemill run --files-from` reads; of a take that is not there, the path at which it was read
    #[arg(long, value_name = "FOLDER", conflicts_with = "format")]
    files: Option<PathBuf>,
    /// Write the outputs as tar shards into FOLDER, `00000.tar` and so on, as WebDataset reads them, each with its row
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["format", "files", "output", "time"])]
    shards: Option<PathBuf>,
    /// Most takes of a shard
    #[arg(long, value_name = "TAKES", default_value = "1000", requires = "shards")]
    shard_size: NonZeroUsize,
    /// The format of the table [default: that of the file's extension, else jsonl]
    #[arg(long, value_name = "NAME")]
    format: Option<TableFormat>,
    /// Write to this file, which is replaced
    #[arg(long, short, value_name = "TABLE")]
    output: Option<PathBuf>,
}

/// A format of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// One JSON document on each line
    Jsonl,
    /// Comma-separated values with a header; the unit of a measure is in brackets behind its name
    Csv,
}

/// Prints or writes the rows.
pub fn run(arguments: &TableArguments, console: &Console) -> Result<Exit, Failure> {
    let format = format(arguments)?;
    let mut folders = Vec::new();
    for run in &arguments.runs {
        let found = result_folders(run);
        if found.is_empty() {
            return Err(Failure::Argument(format!(
                "`{}` holds no results of a run\n  hint: name a folder that `posemill run` wrote to",
                run.shown()
            )));
        }
        folders.extend(found);
    }
    folders.sort();
    folders.dedup();
    let table = ResultTable::new(&folders);
    let table = if arguments.shards.is_some() { table.with_unique_samples() } else { table };
    let filter = arguments.condition.as_deref().map(|text| filter(text, &table)).transpose()?;
    let mut duplicates = 0;
    let rows = table.rows().inspect(|row| duplicates += usize::from(row.duplicate_of.is_some()));
    let rows = rows.filter(|row| !arguments.unique || row.duplicate_of.is_none());
    let mut unknown = 0;
    let rows = rows.filter(|row| {
        let holds = filter.as_ref().map_or(Some(true), |filter| filter.holds(row));
        unknown += usize::from(holds.is_none());
        holds == Some(true)
    });
    let mut kept = 0;
    let rows = rows.inspect(|_| kept += 1);
    let columns = &table.columns;
    match (&arguments.output, &arguments.shards) {
        (_, Some(folder)) => {
            let counts = write_shards(rows, folder, arguments.shard_size.get())?;
            console.note(format!(
                "{} samples in {} shards in `{}`",
                counts.samples,
                counts.shards,
                folder.shown()
            ));
        }
        (Some(path), None) => {
            let failed = |e: &io::Error| Failure::Write(WriteError::of(path, e));
            let mut draft = AtomicFile::new(path)?;
            write_rows(rows, columns, arguments, format, &mut draft).map_err(|e| failed(&e))?;
            draft.finish()?;
        }
        (None, None) => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            let written = write_rows(rows, columns, arguments, format, &mut out);
            match written.and_then(|()| out.flush()) {
                Err(e) if e.kind() != ErrorKind::BrokenPipe => return Err(Failure::Output(io_reason(&e))),
                _ => {}
            }
        }
    }
    if table.repeated > 0 {
        console.note(format!("{} results are in several folders: each is one row", table.repeated));
    }
    warn_of_gone(table.gone, console);
    if duplicates > 0 {
        let takes = if duplicates == 1 { "take has" } else { "takes have" };
        console.note(format!(
            "{duplicates} {takes} the content of another one: `duplicate_of` names it, `--unique` leaves them out"
        ));
    }
    if unknown > 0 {
        let rows = if unknown == 1 { "row lacks" } else { "rows lack" };
        console.warning(format!(
            "{unknown} {rows} a value that `--where` compares, and are left out\n  hint: \
             set `output.report = true` in the pipeline, so that takes are measured, and run it again"
        ));
    }
    console.note(format!("{kept} of {} rows", table.count()));
    Ok(Exit::Good)
}

/// Warns of results whose files are not there.
fn warn_of_gone(results: usize, console: &Console) {
    match results {
        0 => {}
        1 => console.warning("1 result whose file was deleted or moved is left out"),
        n => console.warning(format!("{n} results whose files were deleted or moved are left out")),
    }
}

fn format(arguments: &TableArguments) -> Result<TableFormat, Failure> {
    let Some(path) = arguments.output.as_deref().filter(|_| arguments.files.is_none()) else {
        return Ok(arguments.format.unwrap_or(TableFormat::Jsonl));
    };
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match (arguments.format, extension.as_str()) {
        (Some(format), _) => Ok(format),
        (None, "csv") => Ok(TableFormat::Csv),
        (None, "jsonl") => Ok(TableFormat::Jsonl),
        (None, "parquet") => Err(Failure::Argument(format!(
            "`{}`: Parquet is written by the package for Python\n  hint: `pyarrow.parquet.write_table(posemill.table(\"{}\"), \
             \"{}\")`, or end the name with `.jsonl`, which DuckDB, Polars and pandas read",
            path.shown(),
            arguments.runs[0].shown(),
            path.shown()
        ))),
        (None, _) => Err(Failure::Argument(format!(
            "`{}` has no extension of a table\n  hint: end it with `.jsonl` or `.csv`, or pass `--format`",
            path.shown()
        ))),
    }
}

/// The condition, with a fault shown at its place.
fn filter(text: &str, table: &ResultTable) -> Result<RowFilter, Failure> {
    RowFilter::parse(text, &table.columns).map_err(|found| {
        let sources = vec![ConfigSource { name: "--where".to_owned(), text: text.to_owned() }];
        let faults = vec![ConfigFault::at(0, found.span, found.message).hint(found.hint)];
        Failure::Scene(ConfigError { sources, faults })
    })
}

/// One row of the table: an output that a manifest records. In shards, rows are without `folder`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableRow<'a> {
    #[serde(flatten)]
    row: &'a ResultRow,
    /// Seconds from the reading of the take to the end of writing; null if they are not known. With `--time` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    took_s: Option<Option<f64>>,
}

fn write_rows(
    rows: impl Iterator<Item = ResultRow>,
    columns: &[(String, String)],
    arguments: &TableArguments,
    format: TableFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    if let Some(folder) = &arguments.files {
        // One take may have several outputs.
        let takes: std::collections::BTreeSet<String> =
            rows.map(|row| slashed(&take_of(&row, folder))).collect();
        return takes.iter().try_for_each(|take| writeln!(out, "{take}"));
    }
    if format == TableFormat::Csv {
        let measures = columns.iter().map(|(name, unit)| csv_field(&format!("{name} [{unit}]")));
        let time = arguments.time.then(|| "took_s [s]".to_owned());
        let header: Vec<String> =
            COLUMNS.map(str::to_owned).into_iter().chain(time).chain(measures).collect();
        writeln!(out, "{}", header.join(","))?;
    }
    for row in rows {
        match format {
            TableFormat::Jsonl => {
                let row = TableRow { row: &row, took_s: arguments.time.then_some(row.took_s) };
                writeln!(out, "{}", json_line(&row))?;
            }
            TableFormat::Csv => writeln!(out, "{}", csv_line(&row, columns, arguments.time))?,
        }
    }
    Ok(())
}

/// The path of a row's take: below `folder`, unless it is not there and is still where it was read.
fn take_of(row: &ResultRow, folder: &Path) -> PathBuf {
    let below = folder.join(&row.input);
    let read = row.take.as_ref().filter(|take| is_there(take));
    match read {
        Some(take) if take.starts_with(folder) || !is_there(&below) => take.clone(),
        _ => below,
    }
}

/// The columns of a CSV before those of measures.
const COLUMNS: [&str; 13] = [
    "folder",
    "output",
    "output_blake3",
    "input",
    "input_blake3",
    "pipeline",
    "frames",
    "rate_hz [Hz]",
    "duration_s [s]",
    "skeleton",
    "warnings",
    "verdict",
    "duplicate_of",
];

/// A path as a field. One that a spreadsheet would take for a formula begins with `./`, which names the same file.
fn path_field(path: &str) -> String {
    let plain = csv_field(path);
    // Quotes aside, a field is longer than its text where it has the apostrophe.
    let length = |text: &str| text.chars().filter(|c| *c != '"').count();
    if length(&plain) > length(path) { csv_field(&format!("./{path}")) } else { plain }
}

fn csv_line(row: &ResultRow, columns: &[(String, String)], time: bool) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut cells = vec![
        path_field(&row.folder),
        path_field(&row.output),
        row.output_blake3.clone(),
        path_field(&row.input),
        row.input_blake3.clone(),
        row.pipeline.clone(),
        row.frames.map_or_else(String::new, |n| n.to_string()),
        number(row.rate_hz),
        number(row.duration_s),
        row.skeleton.clone().unwrap_or_default(),
        csv_field(&row.warnings.join(" ")),
        row.verdict.unwrap_or_default().to_owned(),
        path_field(row.duplicate_of.as_deref().unwrap_or_default()),
    ];
    cells.extend(time.then(|| number(row.took_s)));
    let value = |name: &str| row.measures.iter().find(|m| m.name == name).map(|m| m.value);
    cells.extend(columns.iter().map(|(name, _)| number(value(name))));
    cells.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_read_back_from_a_table_names_the_same_file() {
        for (path, field) in [
            ("walk.glb", "walk.glb"),
            ("a, b/c.glb", "\"a, b/c.glb\""),
            ("-walk.glb", "./-walk.glb"),
            ("=1+1,2.glb", "\"./=1+1,2.glb\""),
            ("'=x.glb", "./'=x.glb"),
            ("'x.glb", "'x.glb"),
        ] {
            assert_eq!(path_field(path), field);
        }
    }
}
