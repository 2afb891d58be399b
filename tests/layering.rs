//! The floor plan of `src/`, held against every `crate::` path in it.
//!
//! A module imports only what stands on a lower floor; modules of one floor never import each other: they meet
//! in `stages`, or better, in the user's pipeline file. When data would flow more naturally another way, move
//! the walls and this table in the same change, and say why.

use std::fs;
use std::path::{Path, PathBuf};

/// Every module and its floor, the ground first.
const FLOORS: &[(&str, u32, &str)] = &[
    ("math", 1, "vectors, rotations, transforms: the only module that names the linear-algebra crate"),
    ("report", 1, "warnings and measurements as values"),
    ("model", 2, "the nouns: skeleton pose clip role rig mesh character motion asset document"),
    ("kinematics", 3, "forward kinematics, one pose and many; Jacobians"),
    ("anatomy", 3, "a skeleton becomes a rig: roles from names, topology and geometry; up, facing, size"),
    ("signal", 3, "filters and resampling of positions and rotations"),
    ("scene", 3, "a glTF file opened: chunks, JSON text, node tree; for import and export alike"),
    ("import", 4, "bytes to asset, in normal form"),
    ("export", 4, "motion to bytes"),
    ("skinning", 4, "linear blend, dual quaternion"),
    ("contacts", 4, "which parts of a body rest when; the ground"),
    ("ik", 4, "inverse kinematics: the classic solvers and the tree solver"),
    ("dynamics", 4, "bodies, constraints, contacts, worlds; knows no skeletons"),
    ("legs", 5, "legs of one body perform what those of another do; drift, ground"),
    ("measure", 5, "quality metrics with published formulas"),
    ("limits", 5, "joints brought into their ranges of motion, smoothly over time"),
    ("placement", 5, "hands relative to the body, bodies out of themselves"),
    ("visible", 5, "a recording of bodies becomes a motion of visible solids"),
    ("render", 5, "software pictures of motions"),
    ("retarget", 6, "joint map, rest alignment, transfer"),
    ("repair", 6, "faults of a recording found by a test each, and mended or told"),
    ("page", 6, "plots, the report page, the player"),
    ("settle", 7, "flights and landings of a clip; a ragdoll from a rig, and the way back"),
    ("stages", 8, "the steps of a pipeline, one file each, and their registry"),
    ("pipeline", 9, "the file as written, the plan as understood, the run"),
    ("cli", 10, "one file per command; the only place that prints"),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(String, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&src, &mut files);
    let read = |path: PathBuf| {
        let inside = path.strip_prefix(&src).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        (module, inside.display().to_string(), fs::read_to_string(&path).unwrap())
    };
    files.into_iter().map(read).collect()
}

fn floor(module: &str) -> Option<u32> {
    FLOORS.iter().find(|f| f.0 == module).map(|f| f.1)
}

/// The modules behind every `crate::` of a text, `crate::{a, b::c}` included, with their lines.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            let word =
                |s: &str| -> String { s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
            match rest.strip_prefix('{') {
                None => found.push((number + 1, word(rest))),
                Some(group) => {
                    let mut depth = 0;
                    let mut start = true;
                    for (i, c) in group.char_indices() {
                        if start && c.is_alphabetic() {
                            found.push((number + 1, word(&group[i..])));
                            start = false;
                        }
                        match c {
                            '{' => depth += 1,
                            '}' if depth == 0 => break,
                            '}' => depth -= 1,
                            ',' if depth == 0 => start = true,
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    found
}

#[test]
fn modules_import_only_from_lower_floors() {
    let mut faults = Vec::new();
    for (module, file, text) in sources() {
        let Some(here) = floor(&module) else { continue };
        for (line, name) in imports(&text) {
            match floor(&name) {
                Some(there) if there < here || name == module => {}
                Some(there) => {
                    faults.push(format!(
                        "{file}:{line}: `{module}` (floor {here}) imports `{name}` (floor {there})"
                    ));
                }
                None => faults.push(format!("{file}:{line}: `{name}` is not in the floor plan")),
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_module_is_in_the_plan_and_the_plan_in_the_tree() {
    let mut modules: Vec<String> = sources().into_iter().map(|s| s.0).collect();
    modules.dedup();
    modules.retain(|m| m != "lib" && m != "main");
    let mut planned: Vec<String> = FLOORS.iter().map(|f| f.0.to_owned()).collect();
    planned.sort();
    assert_eq!(modules, planned);
}

#[test]
fn only_math_names_the_linear_algebra_crate() {
    for (module, file, text) in sources() {
        let named = text.contains("nalgebra::") || text.contains("simba::");
        assert!(module == "math" || !named, "{file} names the linear-algebra crate");
    }
}

#[test]
fn only_the_command_line_prints() {
    for (module, file, text) in sources() {
        let prints = ["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!("];
        let found = prints
            .iter()
            .find(|p| text.lines().any(|l| !l.trim_start().starts_with("//") && l.contains(**p)));
        assert!(module == "cli" || module == "main" || found.is_none(), "{file} prints: {found:?}");
    }
}

#[test]
fn every_module_says_what_it_is() {
    for (_, file, text) in sources() {
        assert!(text.starts_with("//!"), "{file} does not open with a sentence of what it is");
    }
}

#[test]
fn a_face_defines_nothing() {
    for (_, file, text) in sources() {
        if file.ends_with("mod.rs") && !file.starts_with("math/") {
            let defined = ["fn ", "struct ", "enum ", "impl ", "trait ", "const "];
            let found = text.lines().find(|l| {
                let l = l.trim_start().trim_start_matches("pub ");
                defined.iter().any(|d| l.starts_with(d))
            });
            assert!(found.is_none(), "{file} is a face and defines `{}`", found.unwrap());
        }
    }
}
