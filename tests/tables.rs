//! Holds `docs/tables.md` to the program: formats, measures, exit codes, and the members of each JSON document.
//!
//! `POSEMILL_UPDATE=1` writes the page anew.

mod member_table;

use member_table::{Members, cell, prose};
use posemill::measure::MEASURES;
use posemill::{export, import};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A JSON document: its name in `posemill schema`, and commands that print one with as many of its members as possible. No words are
/// the report of the first command.
type Document = (&'static str, &'static [&'static [&'static str]]);

/// Every JSON document of the program, in the order in which its commands can be run.
const DOCUMENTS: &[Document] = &[
    (
        "run",
        &[
            &["run", "pipeline.toml", "--json"],
            &["run", "pipeline.toml", "--json"],
            &["run", "pipeline.toml", "--input", "data/damaged/*", "-o", "repaired", "--json"],
            &["run", "pipeline.toml", "--input", "*.toml", "-o", "failed", "--json"],
            &["retarget", "data/walk.bvh", "--onto", "data/robot.glb", "-o", "one/", "--dry-run", "--json"],
            &["convert", "data/*.bvh", "-o", "converted/", "--json"],
            &["convert", "data/wave.bvh", "-o", "out/walk.glb", "--json"],
        ],
    ),
    (
        "inspect",
        &[
            &["inspect", "data/robot.glb", "--json"],
            &["inspect", "data/jump.bvh", "--json"],
            &["inspect", "data/damaged/walk.bvh", "--json"],
            &["inspect", "data/humanoid.xml", "--json"],
            &["inspect", "out/walk.glb", "data/tailed.glb", "pipeline.toml", "--json"],
        ],
    ),
    ("doctor", &[&["doctor", "data", "pipelines", "repaired", "pipeline.toml", "nothing.bvh", "--json"]]),
    (
        "map",
        &[
            &["map", "data/walk.bvh", "data/robot.glb", "--json"],
            &["map", "data/walk.bvh", "data/tailed.glb", "--json"],
            &["map", "data/humanoid.xml", "data/robot.glb", "--json"],
        ],
    ),
    (
        "joints",
        &[&["joints", "data/walk.bvh", "--frames", "0", "--json"], &["joints", "data/robot.glb", "--json"]],
    ),
    ("calibrate", &[&["calibrate", "data/walk.bvh", "-o", "pose.bvh", "--json"]]),
    ("preview", &[&["preview", "data/jump.bvh", "data/robot.glb", "-o", "jump.png", "--json"]]),
    ("report", &[&[]]),
    ("table", &[&["table", "out"], &["table", "repaired", "--time"], &["table", "converted"]]),
    (
        "measure",
        &[
            &[
                "measure",
                "out/walk.glb",
                "--source",
                "data/walk.bvh",
                "--json",
                "--fail-on",
                "foot_skate_p95>0cm/s",
            ],
            &["measure", "data/walk.bvh", "data/turn.bvh", "--json", "--fail-on", "hands_error>1%"],
            &["measure", "out/walk.glb", "--source", "data/squat.bvh", "--json"],
        ],
    ),
    ("simulate", &[&["simulate", "pipelines/chain.toml", "-o", "chain.glb", "--json"]]),
    ("stages", &[&["stages", "--json"], &["stages", "resample", "--json"]]),
    ("formats", &[&["formats", "--json"]]),
    ("error", &[&["inspect", "nothing.bvh", "--json"], &["run", "data/README.md", "--json"]]),
];

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
Stages and their keys: `posemill stages --reference`, and as JSON Schema for editors, `posemill stages --schema`. JSON documents as
JSON Schema: `posemill schema`.
";

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
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

/// Allows no members that are not described.
fn make_strict(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        assert_ne!(object.get("additionalProperties"), Some(&Value::Bool(false)), "members can be added");
        if object.get("properties").is_some_and(Value::is_object) {
            object.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        object.values_mut().for_each(make_strict);
    }
    schema.as_array_mut().into_iter().flatten().for_each(make_strict);
}

/// The documents that a command prints.
fn printed(folder: &Path, command: &[&str]) -> Vec<Value> {
    let text = match command {
        [] => ["out", "repaired", "failed"]
            .map(|f| fs::read(folder.join(f).join("report.json")).unwrap())
            .concat(),
        command => posemill(folder, command),
    };
    let values = serde_json::Deserializer::from_slice(&text).into_iter();
    let values: Vec<Value> = values.collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(!values.is_empty(), "{command:?} prints nothing");
    values
}

fn documents(folder: &Path) -> (String, BTreeSet<String>) {
    let mut text = String::from("\n## JSON documents\n\n");
    text += "`posemill schema NAME` prints the JSON Schema of a document, from which this is made: `[]` is each item of an array, `NAME` a\n\
             name that depends on the input. Members can be added in later versions; the number in `schema` changes where one is removed\n\
             or renamed. Where nothing could start, the document is `error`.\n";
    let mut schemas = BTreeSet::new();
    let list = String::from_utf8(posemill(folder, &["schema"])).unwrap();
    let abouts: BTreeMap<&str, &str> = list.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let known: BTreeSet<&str> = DOCUMENTS.iter().map(|d| d.0).collect();
    assert_eq!(known, abouts.keys().copied().collect(), "DOCUMENTS has every document of `posemill schema`");
    for (name, commands) in DOCUMENTS {
        let schema: Value = serde_json::from_slice(&posemill(folder, &["schema", name])).unwrap();
        let mut strict = schema.clone();
        make_strict(&mut strict);
        let validator = jsonschema::draft202012::new(&strict).unwrap();
        for command in *commands {
            for value in printed(folder, command) {
                let faults: Vec<String> =
                    validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
                assert!(faults.is_empty(), "{name}, {command:?}: {faults:#?}");
            }
        }
        let (members, versions) = Members::of(&schema);
        schemas.extend(versions);
        let about = abouts[name].trim();
        let head = "| member | type | meaning |\n| --- | --- | --- |\n";
        let _ = writeln!(text, "\n### {name}: {}\n\n{head}{}", cell(about), members.trim_end());
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
    known.remove("posemill.{command}/1");
    assert_eq!(schemas, known, "every document that the program names has a schema");
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
