//! What the library shows is a list that is kept: every name behind `pub use`, module by module.
//!
//! `POSEMILL_UPDATE=1` writes the list anew; say why in the message of the commit. Names that nothing outside needs are
//! `pub(crate)`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The names behind the `pub use` of a face.
fn shown(face: &str) -> Vec<String> {
    let code: Vec<&str> = face.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join(" ");
    let mut names = Vec::new();
    for part in code.split("pub use ").skip(1) {
        let body = part.split(';').next().unwrap();
        let list = body.split_once('{').map_or(body, |(_, list)| list.trim_end().trim_end_matches('}'));
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let name = item.rsplit([' ', ':']).next().unwrap();
            names.push(name.to_owned());
        }
    }
    names.sort();
    names
}

#[test]
fn the_public_surface_is_the_list_that_is_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = fs::read_to_string(root.join("src/lib.rs")).unwrap();
    let own = shown(&library);
    let (mut list, mut count) = (format!("posemill: {}\n", own.join(" ")), own.len());
    for module in library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
        let face = root.join("src").join(module).join("mod.rs");
        let names = fs::read_to_string(face).map_or(Vec::new(), |face| shown(&face));
        count += names.len();
        let _ = writeln!(list, "{module}: {}", names.join(" "));
    }
    let _ = writeln!(list, "{count} names");
    let kept = root.join("tests/surface.txt");
    if std::env::var_os("POSEMILL_UPDATE").is_some() {
        fs::write(&kept, &list).unwrap();
    }
    let before = fs::read_to_string(&kept).unwrap_or_default();
    let gone_or_new: Vec<&str> = list.lines().filter(|line| !before.lines().any(|l| l == *line)).collect();
    assert!(list == before, "the public surface changed:\n{}", gone_or_new.join("\n"));
}
