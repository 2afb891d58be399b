//! The list of everything that is made: a name and the bytes of each file.

use super::{glb, mannequin};

/// The name and the content of every file that the generator writes.
pub fn every_file() -> Vec<(&'static str, Vec<u8>)> {
    vec![("mannequin.glb", glb::write(&mannequin::mannequin()))]
}
