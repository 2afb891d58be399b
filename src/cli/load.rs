//! One file named on the command line becomes an asset.

use super::exit::Failure;
use crate::import;
use crate::model::{Asset, Clip};
use crate::pipeline::{PipelineConfig, PlanError};
use crate::stages::keys::{listed, nearest};
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
    let by_name = asset.clips.iter().find(|c| c.name == wanted);
    let by_number = || wanted.parse::<usize>().ok().and_then(|k| asset.clips.get(k));
    if let Some(clip) = by_name.or_else(by_number) {
        return Ok(Some(clip));
    }
    let names = || asset.clips.iter().map(|c| c.name.as_str());
    let hint = match (asset.clips.is_empty(), nearest(wanted, names())) {
        (true, _) => "the file holds no clips".to_owned(),
        (false, Some(near)) => format!("did you mean `{near}`?"),
        (false, None) => {
            format!("its clips are {}, or 0 to {}", listed(names()), asset.clips.len() - 1)
        }
    };
    Err(Failure::Argument(format!("there is no clip `{wanted}`\n{hint}")))
}
