//! The floor plan of `src/`, which is a table of `docs/ARCHITECTURE.md`, held against every `crate::` path in it.

use std::fs;
use std::path::{Path, PathBuf};

/// The page that has the plan.
fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ARCHITECTURE.md")).unwrap()
}

/// Every module and its floor: the rows `| floor | module | what |` of the page.
fn floors() -> Vec<(String, u32)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let floor = cells.get(1)?.parse().ok()?;
        let said = cells.get(3).filter(|what| !what.is_empty());
        said.unwrap_or_else(|| panic!("the page does not say what this holds: {line}"));
        Some((cells.get(2)?.trim_matches('`').to_owned(), floor))
    };
    page().lines().filter_map(row).collect()
}

/// The files of the library; tests stand on all floors.
fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
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

fn floor(floors: &[(String, u32)], module: &str) -> Option<u32> {
    floors.iter().find(|f| f.0 == module).map(|f| f.1)
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
    let (mut faults, floors) = (Vec::new(), floors());
    for (module, file, text) in sources() {
        let Some(here) = floor(&floors, &module) else { continue };
        for (line, name) in imports(&text) {
            match floor(&floors, &name) {
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
    let mut planned: Vec<String> = floors().into_iter().map(|f| f.0).collect();
    planned.sort();
    assert_eq!(modules, planned);
}

#[test]
fn every_path_that_the_pages_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contributing = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let pages = page() + &contributing;
    let code = pages.split('`').skip(1).step_by(2);
    let tops = ["src/", "tests/", "docs/", "examples/", "pipelines/", "data/", ".ci/"];
    let named: Vec<&str> =
        code.filter(|c| tops.iter().any(|t| c.starts_with(t)) && !c.contains([' ', '*'])).collect();
    assert!(named.len() > 15, "{named:?}");
    for path in named.iter().filter(|path| !path.contains("NAME")) {
        assert!(root.join(path).exists(), "{path} is named and is not there");
    }
}

#[test]
fn only_math_names_the_linear_algebra_crate() {
    for (module, file, text) in sources() {
        let named = text.contains("nalgebra::") || text.contains("simba::");
        assert!(module == "math" || !named, "{file} names the linear-algebra crate");
    }
}

/// A system's own sines and logarithms have other last bits on other processors; its roots and powers of whole numbers
/// have not.
#[test]
fn sines_and_logarithms_are_the_same_on_every_processor() {
    let own = "sin cos tan asin acos atan atan2 sin_cos sinh cosh tanh exp exp2 exp_m1 ln ln_1p log log2 log10 powf \
               cbrt hypot";
    let mut faults = Vec::new();
    for (_, file, text) in sources() {
        let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in shipped.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            for name in own.split_whitespace() {
                if line.contains(&format!(".{name}(")) || line.contains(&format!("f64::{name}")) {
                    faults.push(format!(
                        "{file}:{}: `{name}` is the system's; call that of `libm`",
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
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

/// What a stage does follows from its input and its keys alone, whatever is in the environment.
#[test]
fn only_the_command_line_reads_the_environment() {
    for (module, file, text) in sources() {
        let reads = text.contains("env::var");
        assert!(module == "cli" || module == "main" || !reads, "{file} reads an environment variable");
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
