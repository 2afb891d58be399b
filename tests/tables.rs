//! Holds `docs/tables.md` to the program: formats, measures, exit codes, and the members of each JSON document.
//!
//! `POSEMILL_UPDATE=1` writes the page anew.

use posemill::measure::MEASURES;
use posemill::{export, import};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A JSON document: who prints it, and commands that print one with as many of its members as possible.
type Document = (&'static str, &'static [&'static [&'static str]]);

/// Every JSON document of the program, in the order in which its commands can be run.
const DOCUMENTS: &[Document] = &[
    (
        "posemill run --json",
        &[
            &["run", "pipeline.toml", "--json"],
            &["run", "pipeline.toml", "--input", "data/damaged/*", "--json"],
        ],
    ),
    (
        "posemill inspect --json",
        &[
            &["inspect", "data/robot.glb", "--json"],
            &["inspect", "data/jump.bvh", "--json"],
            &["inspect", "data/humanoid.xml", "--json"],
            &["inspect", "out/walk.glb", "--json"],
        ],
    ),
    ("posemill doctor --json", &[&["doctor", "data", "--json"]]),
    ("posemill map --json", &[&["map", "data/walk.bvh", "data/robot.glb", "--json"]]),
    ("posemill joints --json", &[&["joints", "data/walk.bvh", "--frames", "0", "--json"]]),
    ("posemill calibrate --json", &[&["calibrate", "data/walk.bvh", "-o", "pose.bvh", "--json"]]),
    ("posemill preview --json", &[&["preview", "data/jump.bvh", "-o", "jump.png", "--json"]]),
    ("report.json", &[&[]]),
    ("posemill table --format jsonl", &[&["table", "out"]]),
    (
        "posemill measure --json",
        &[&[
            "measure",
            "out/walk.glb",
            "--source",
            "data/walk.bvh",
            "--json",
            "--fail-on",
            "foot_skate_p95>0cm/s",
        ]],
    ),
    ("posemill simulate --json", &[&["simulate", "pipelines/chain.toml", "-o", "chain.glb", "--json"]]),
    ("posemill stages --json", &[&["stages", "--json"]]),
    ("posemill formats --json", &[&["formats", "--json"]]),
];

/// Members whose own members have names that depend on the input; what JSON Schema describes is not followed.
const NAMED: [&str; 3] = ["measures", "stages[].keys", "stages[].defaults"];

const PIPELINE: &str = r#"
[input]
motion = ["data/walk.bvh"]
character = "data/robot.glb"
[output]
dir = "out"
report = true
fail_on = ["foot_skate_p95 > 1mm/s"]
[[stage]]
use = "repair"
[[stage]]
use = "contacts"
[[stage]]
use = "retarget"
[[stage]]
use = "foot_lock"
"#;

const HEAD: &str = "\
# Formats, measures, exit codes and JSON as tables

Written by `POSEMILL_UPDATE=1 cargo test --test tables` from what the program has and prints; the same test fails where they differ.
Stages and their keys: `posemill stages --reference`, and as JSON Schema for editors, `posemill stages --schema`.
";

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A cell of a table, in which nothing is markup.
fn cell(text: &str) -> String {
    text.chars().fold(String::new(), |mut cell, c| {
        if "|_*<>`[]\\".contains(c) {
            cell.push('\\');
        }
        cell.push(c);
        cell
    })
}

/// The text with its quoted words as code.
fn prose(text: &str) -> String {
    let part = |(k, part): (usize, &str)| if k % 2 == 1 { format!("`{part}`") } else { cell(part) };
    text.split('`').enumerate().map(part).collect()
}

fn formats() -> String {
    let mut text =
        String::from("\n## Formats that are read\n\nThe content of a file decides, else its extension.\n\n");
    text += "| name | extensions | content | not read |\n| --- | --- | --- | --- |\n";
    for f in import::FORMATS {
        let suffixes: Vec<String> = f.suffixes.iter().map(|s| format!("`.{s}`")).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            f.name,
            suffixes.join(" "),
            prose(f.about),
            prose(f.loses)
        );
    }
    text += "\n## Formats that are written\n\n| extension | content | clips in a file | not written |\n| --- | --- | --- | --- |\n";
    for f in export::FORMATS {
        let clips = if f.several { "several" } else { "one" };
        let _ = writeln!(text, "| `.{}` | {} | {clips} | {} |", f.name, prose(f.about), prose(f.loses));
    }
    text
}

fn measures(folder: &Path) -> String {
    let help = String::from_utf8(posemill(folder, &["measure", "--help"])).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::from("\n## Measures\n\nSymbols are explained in `posemill measure --help`. ");
    text += "A clip is good if no measure exceeds its limit.\n\n| measure | unit | limit | formula |\n| --- | --- | --- | --- |\n";
    for m in MEASURES {
        let line = format!(" {} [{}]: {}.", m.name, m.unit, m.formula);
        let (_, after) = help.split_once(&line).unwrap_or_else(|| panic!("help lacks{line}"));
        let limit =
            after.strip_prefix(" Good: at most ").map_or("", |limit| limit.split(". ").next().unwrap());
        assert_eq!(limit.is_empty(), m.at_most.is_none(), "{}", m.name);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            m.name,
            m.unit,
            limit.trim_end_matches('.'),
            prose(m.formula)
        );
    }
    text
}

fn posemill(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).current_dir(folder).output().unwrap().stdout
}

fn exit_codes(folder: &Path) -> String {
    let help = String::from_utf8(posemill(folder, &["--help"])).unwrap();
    let (_, codes) = help.split_once("Exit codes:\n").expect("help lists the exit codes");
    let mut text = String::from("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for line in codes.lines().map(str::trim) {
        match line.split_once("  ") {
            Some((code, meaning)) => {
                let _ = write!(
                    text,
                    "{}| {code} | {}",
                    if text.ends_with('\n') { "" } else { " |\n" },
                    cell(meaning)
                );
            }
            // The rest of a line that was too long.
            None => text += &format!(" {}", cell(line)),
        }
    }
    text += " |\n";
    text
}

/// Members of a document in their order, each with the types that it has.
#[derive(Default)]
struct Members {
    order: Vec<String>,
    types: HashSet<(String, &'static str)>,
}

impl Members {
    fn add(&mut self, path: &str, value: &Value) {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !self.order.iter().any(|p| p == path) {
            self.order.push(path.to_owned());
        }
        self.types.insert((path.to_owned(), kind));
        match value {
            Value::Array(all) => all.iter().for_each(|one| self.add(&format!("{path}[]"), one)),
            Value::Object(all) => {
                for (name, one) in all {
                    let dot = if path.is_empty() { "" } else { "." };
                    match NAMED.contains(&path) {
                        true if path == "measures" => self.add(&format!("{path}.NAME"), one),
                        true => {}
                        false => self.add(&format!("{path}{dot}{name}"), one),
                    }
                }
            }
            _ => {}
        }
    }

    fn table(&self) -> String {
        let mut text = String::from("| member | type |\n| --- | --- |\n");
        for path in self.order.iter().filter(|p| !p.is_empty()) {
            let of = |(p, kind): &(String, &'static str)| (p == path).then_some(*kind);
            let kinds: Vec<&str> =
                self.types.iter().filter_map(of).collect::<BTreeSet<_>>().into_iter().collect();
            let _ = writeln!(text, "| `{path}` | {} |", kinds.join(" or "));
        }
        text
    }
}

fn documents(folder: &Path) -> (String, BTreeSet<String>) {
    let mut text = String::from("\n## JSON documents\n\n");
    text += "Their members, as found in documents made from the repository's data: `[]` is each item of an array. Members can be added\n\
             in later versions; the number in `schema` changes where one is removed or renamed. `retarget` and `convert` print the\n\
             document of `run`, and several files of `inspect` are an array of documents.\n\
             Where nothing could start, the document has the member `error` alone.\n";
    let mut schemas = BTreeSet::new();
    for (title, commands) in DOCUMENTS {
        let mut members = Members::default();
        for command in *commands {
            let printed = if command.is_empty() {
                fs::read(folder.join("out/report.json")).unwrap()
            } else {
                posemill(folder, command)
            };
            let values: Vec<Value> = serde_json::Deserializer::from_slice(&printed)
                .into_iter()
                .collect::<Result<_, _>>()
                .unwrap_or_else(|e| panic!("{command:?}: {e}"));
            assert!(!values.is_empty(), "{command:?} prints nothing");
            for value in values {
                assert!(value.get("error").is_none(), "{command:?}: {value}");
                schemas.extend(value["schema"].as_str().map(str::to_owned));
                members.add("", &value);
            }
        }
        let _ = writeln!(text, "\n### {title}\n\n{}", members.table().trim_end());
    }
    (text, schemas)
}

/// The names of documents in the program's text.
fn named(folder: &Path, found: &mut BTreeSet<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            named(&path, found);
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let after = text
                .split("\"posemill.")
                .skip(1)
                .filter_map(|rest| rest.split_once("/1\\\"").or_else(|| rest.split_once("/1\"")));
            found.extend(after.map(|(name, _)| format!("posemill.{name}/1")).filter(|name| name.len() < 30));
        }
    }
}

#[test]
fn the_page_of_tables_is_what_the_program_has() {
    let folder = TempDir::new().unwrap();
    for below in ["data", "data/damaged", "pipelines"] {
        fs::create_dir_all(folder.path().join(below)).unwrap();
        for path in fs::read_dir(root(below))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
        {
            fs::copy(&path, folder.path().join(below).join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::write(folder.path().join("pipeline.toml"), PIPELINE).unwrap();
    let (documents, schemas) = documents(folder.path());
    let mut known = BTreeSet::new();
    named(&root("src"), &mut known);
    // `{command}` is a command with outputs.
    if known.remove("posemill.{command}/1") {
        known.insert("posemill.run/1".to_owned());
    }
    assert_eq!(schemas, known, "DOCUMENTS has every document that the program names");
    let page =
        [HEAD.to_owned(), formats(), measures(folder.path()), exit_codes(folder.path()), documents].concat();
    let path = root("docs/tables.md");
    if std::env::var_os("POSEMILL_UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(kept.lines()).find(|(new, old)| new != old);
    assert!(
        page == kept,
        "docs/tables.md differs from the program (POSEMILL_UPDATE=1 writes it anew): {differs:?}"
    );
}
