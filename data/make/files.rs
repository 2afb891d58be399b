//! The list of everything that is made: a name and the bytes of each file.

use super::{glb, mannequin, walk};

/// The name and the content of every file that the generator writes.
pub fn every_file() -> Vec<(&'static str, Vec<u8>)> {
    let [walk, contacts] = walk::walk();
    vec![
        ("mannequin.glb", glb::write(&mannequin::mannequin())),
        ("walk.bvh", walk.into_bytes()),
        ("walk.contacts.csv", contacts.into_bytes()),
    ]
}
