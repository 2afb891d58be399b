//! The sidecar file of contact labels next to an output.

use super::file_names::CONTACT_TABLE;
use crate::contacts;
use crate::model::{Contacts, Motion};
use crate::report::Warnings;
use std::path::{Path, PathBuf};

/// The tables of contact labels next to `path`: `NAME.contacts.csv`, with numbers from 1 if there are several motions.
pub(super) fn contact_tables(
    motions: &[Motion],
    path: &Path,
    warnings: &mut Warnings,
) -> Vec<(PathBuf, Vec<u8>)> {
    let labelled: Vec<_> =
        motions.iter().enumerate().filter_map(|(k, m)| Some((k, m, m.contacts.as_ref()?))).collect();
    if labelled.is_empty() {
        let message = "no motion has contact labels: the stage `contacts` detects or reads them";
        warnings.add("contacts", message, path.file_stem().unwrap_or_default().to_string_lossy());
    }
    let table = |(k, motion, contacts): (usize, &Motion, &Contacts)| {
        let number = if motions.len() > 1 { format!("{}.", k + 1) } else { String::new() };
        let text = contacts::write(contacts, motion.clip.frames());
        (path.with_extension(format!("{number}{CONTACT_TABLE}")), text.into_bytes())
    };
    labelled.into_iter().map(table).collect()
}
