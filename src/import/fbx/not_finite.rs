//! Repairs numbers that are not finite, or too large for the 32-bit floats of glTF, and reports them: other programs refuse a
//! file with one of them, or draw nothing of the mesh.

use crate::report::{Warnings, one_line};

/// What was repaired in one mesh.
#[derive(Default)]
pub(super) struct Repaired {
    /// Triangles that were left out because the position of a corner is not finite.
    pub(super) triangles: usize,
    /// Texture coordinates, colours and displacements of morph targets that were replaced.
    attributes: usize,
}

/// Largest coordinate that is kept: no unit makes a length of it, and its square is no 32-bit float.
const LARGEST: f32 = 1e30;

/// Whether all values are finite and of a magnitude that a mesh can have.
pub(super) fn is_usable(values: &[f32]) -> bool {
    values.iter().all(|x| x.abs() <= LARGEST)
}

impl Repaired {
    /// The values, all of them `usual` if one is not finite.
    pub(super) fn finite<const N: usize>(&mut self, values: [f32; N], usual: f32) -> [f32; N] {
        if is_usable(&values) {
            return values;
        }
        self.attributes += 1;
        [usual; N]
    }

    /// Adds a warning of what was repaired, if anything was.
    pub(super) fn report(&self, mesh: &str, warnings: &mut Warnings) {
        let Self { triangles, attributes } = self;
        let said = match (triangles, attributes) {
            (0, 0) => return,
            (0, _) => format!("{attributes} texture coordinates, colours or displacements"),
            (_, 0) => format!("vertices of {triangles} triangles, which were left out,"),
            _ => {
                format!(
                    "vertices of {triangles} triangles, which were left out, and {attributes} other values"
                )
            }
        };
        let said = format!(
            "{said} are not finite numbers (or beyond 1e30); repair the mesh in the program that wrote it"
        );
        warnings.add("fbx-not-finite", said, one_line(mesh));
    }
}
