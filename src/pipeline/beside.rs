//! The table of contact labels that lies beside an output.

use crate::contacts;
use crate::model::{Contacts, Motion};
use crate::report::Warnings;
use std::path::{Path, PathBuf};

/// The ending of tables of contact labels.
pub(super) const LABELS: &str = "contacts.csv";

/// The tables of contact labels beside `path`: `NAME.contacts.csv`, for several motions with their numbers from 1.
pub(super) fn labels(motions: &[Motion], path: &Path, warnings: &mut Warnings) -> Vec<(PathBuf, Vec<u8>)> {
    let labelled: Vec<_> =
        motions.iter().enumerate().filter_map(|(k, m)| Some((k, m, m.contacts.as_ref()?))).collect();
    if labelled.is_empty() {
        let message = "no motion carries contact labels: the stage `contacts` finds or reads them";
        warnings.add("contacts", message, path.file_stem().unwrap_or_default().to_string_lossy());
    }
    let table = |(k, motion, contacts): (usize, &Motion, &Contacts)| {
        let number = if motions.len() > 1 { format!("{}.", k + 1) } else { String::new() };
        let text = contacts::write(contacts, motion.clip.frames());
        (path.with_extension(format!("{number}{LABELS}")), text.into_bytes())
    };
    labelled.into_iter().map(table).collect()
}
