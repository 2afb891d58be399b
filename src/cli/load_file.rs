//! Loads a file that the command line names.

use super::exit::Failure;
use super::pipe::{spooled, temporary_folder};
use crate::import;
use crate::model::{Asset, Clip};
use crate::pipeline::{PipelineConfig, PlanError, find_clip};
use crate::regular_file::{is_there, similar_file};
use crate::report::Shown;
use std::path::Path;

/// The asset in `path`, read with the overrides `sets` (`input.units=cm`, ...); `-` is standard input.
pub fn load(path: &Path, sets: &[String]) -> Result<Asset, Failure> {
    load_and_name(path, sets).map(|(asset, _)| asset)
}

/// As [`load`], with the name of the format.
///
/// # Errors
/// As [`load`].
pub fn load_and_name(path: &Path, sets: &[String]) -> Result<(Asset, &'static str), Failure> {
    if path.as_os_str() == "-" {
        let folder = temporary_folder()?;
        return load_file(&spooled(folder.path())?, "standard input", sets);
    }
    load_file(path, &path.shown(), sets)
}

fn load_file(path: &Path, name: &str, sets: &[String]) -> Result<(Asset, &'static str), Failure> {
    let config = PipelineConfig::parse("--set", "", sets, &[]).map_err(PlanError::Config)?;
    if path.is_dir() {
        return Err(Failure::Argument(format!("`{}` is a folder, not a file", path.shown())));
    }
    if !path.exists() && !is_there(path) {
        let near = similar_file(path, path);
        return Err(Failure::Argument(format!("the file `{}` does not exist{near}", path.shown())));
    }
    let asset = import::load(path, &config.input.options(Path::new("")))
        .map_err(|error| Failure::Import { path: name.to_owned(), error })?;
    Ok((asset, import::format_name(path).unwrap_or("unknown")))
}

/// Keeps only the wanted clip, if one is asked for.
pub fn only(mut asset: Asset, wanted: Option<&str>) -> Result<Asset, Failure> {
    if let Some(wanted) = wanted {
        let found = find_clip(&asset, wanted).map_err(Failure::Argument)?;
        asset.clips = vec![asset.clips.swap_remove(found)];
        asset.meant = 0;
    }
    Ok(asset)
}

/// The clip of this name or number; [`Asset::meant`] if none is asked for, `None` if the asset has none.
pub fn clip<'a>(asset: &'a Asset, wanted: Option<&str>) -> Result<Option<&'a Clip>, Failure> {
    let Some(wanted) = wanted else { return Ok(asset.clips.get(asset.meant)) };
    let found = find_clip(asset, wanted).map_err(Failure::Argument)?;
    Ok(asset.clips.get(found))
}
