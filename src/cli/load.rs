//! One file named on the command line becomes an asset.

use super::exit::Failure;
use crate::import;
use crate::model::{Asset, Clip};
use crate::pipeline::{PipelineConfig, PlanError, find_clip};
use std::path::Path;

/// The asset in `path`, read as `sets` (`input.units=cm`, ...) say.
///
/// # Errors
/// A [`Failure`]: the file is missing, or cannot be read.
pub fn load(path: &Path, sets: &[String]) -> Result<Asset, Failure> {
    let config = PipelineConfig::parse("--set", "", sets, &[]).map_err(PlanError::Config)?;
    if !path.exists() {
        return Err(Failure::Argument(format!("the file `{}` does not exist", path.display())));
    }
    if path.is_dir() {
        return Err(Failure::Argument(format!("`{}` is a folder, not a file", path.display())));
    }
    import::load(path, &config.input.options(Path::new("")))
        .map_err(|error| Failure::Import { path: path.display().to_string(), error })
}

/// The clip of this name or number; the one that is meant ([`Asset::meant`]) where none is asked for, `None` where the asset has none.
///
/// # Errors
/// A [`Failure`] that lists the clips.
pub fn clip<'a>(asset: &'a Asset, wanted: Option<&str>) -> Result<Option<&'a Clip>, Failure> {
    let Some(wanted) = wanted else { return Ok(asset.clips.get(asset.meant)) };
    let found = find_clip(asset, wanted).map_err(Failure::Argument)?;
    Ok(asset.clips.get(found))
}
