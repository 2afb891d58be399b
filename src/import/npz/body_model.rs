//! Joint positions of a user-supplied SMPL body model for one body shape.
//!
//! `J = R (v + S b)`: the regressor times the mean body plus its shape directions times the coefficients of the take. Space:
//! the model's rest frame, Y up, facing +Z. Units: metres. Source: Loper et al. 2015, equations 8 and 10.

use super::npy_array::{NpyArray, shape};
use super::npz_archive::NpzArchive;
use super::npz_error::{BodyModelError, NpzError};
use super::smpl_joints;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;
use crate::regular_file::read_regular;
use std::path::Path;

/// Largest body model file, bytes: the largest known have 200 MB.
const MAX_BYTES: u64 = 1 << 30;
/// Largest distance of a joint from the model's origin at rest, metres: larger values are damaged.
const FARTHEST: f64 = 100.0;

/// The joints of the model in `path` for the body shape `betas`: name and position.
pub(super) fn rest(
    path: &Path,
    betas: &[f64],
    memory: Option<u64>,
) -> Result<Vec<(&'static str, Vec3)>, BodyModelError> {
    let bytes = read_regular(path, MAX_BYTES).map_err(|error| BodyModelError::Read(error.to_string()))?;
    joints(&bytes, betas, &MemoryBudget::new(bytes.len() as u64, memory))
}

fn joints(
    bytes: &[u8],
    betas: &[f64],
    budget: &MemoryBudget,
) -> Result<Vec<(&'static str, Vec3)>, BodyModelError> {
    // Pickles start with their protocol number, or are text in the old protocol; scipy and chumpy models are pickles.
    if !bytes.starts_with(b"PK") {
        return Err(BodyModelError::Pickle);
    }
    let mut archive = NpzArchive::open(bytes, budget)?;
    let regressor = archive.array("J_regressor")?;
    let template = archive.array("v_template")?;
    let directions = if betas.iter().any(|b| *b != 0.0) { Some(archive.array("shapedirs")?) } else { None };
    let bad = |array: &str, expected: String, found: &NpyArray| {
        let found = shape(&found.shape);
        BodyModelError::Arrays(NpzError::Shape { array: array.to_owned(), expected, found })
    };
    let vertices = match template.shape[..] {
        [n, 3] if n > 0 => n,
        _ => return Err(bad("v_template", "(vertices, 3)".into(), &template)),
    };
    let count = match regressor.shape[..] {
        [count, n] if n == vertices => count,
        _ => return Err(bad("J_regressor", format!("(joints, {vertices})"), &regressor)),
    };
    let names = smpl_joints::joints(count).ok_or(BodyModelError::Joints { found: count })?;
    let mut body = template.values;
    if let Some(directions) = directions {
        let width = match directions.shape[..] {
            [n, 3, width] if n == vertices && width > 0 => width,
            _ => return Err(bad("shapedirs", format!("({vertices}, 3, shapes)"), &directions)),
        };
        for (x, row) in body.iter_mut().zip(directions.values.chunks_exact(width)) {
            *x += row.iter().zip(betas).map(|(s, b)| s * b).sum::<f64>();
        }
    }
    let mut rest = Vec::with_capacity(count);
    for (row, (name, weights)) in names.into_iter().zip(regressor.values.chunks_exact(vertices)).enumerate() {
        let place: Vec3 =
            weights.iter().zip(body.chunks_exact(3)).map(|(w, v)| Vec3::new(v[0], v[1], v[2]) * *w).sum();
        if place.norm().is_nan() || place.norm() > FARTHEST {
            return Err(NpzError::NotFinite { array: "J_regressor".into(), row }.into());
        }
        rest.push((name, place));
    }
    Ok(rest)
}
