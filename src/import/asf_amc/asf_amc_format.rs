//! ASF and AMC as import formats: an ASF file alone, or an AMC file with its ASF file.
//!
//! CMU's library names an AMC by subject and take (`01_01.amc`) and the ASF by the subject (`01.asf`). Other files share the
//! whole name, or a part of it that ends before a `_`.

use super::asf_error::AsfError;
use super::{amc_motion, asf_skeleton};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::import::known_axes::{KnownAxesFile, MotionUp};
use crate::model::{Asset, Clip, JointId, Skeleton};
use crate::regular_file::{is_there, read_regular};
use crate::report::{Warnings, io_reason};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Acclaim skeletons.
pub const ASF: ReadFormat = ReadFormat {
    name: "asf",
    suffixes: &["asf"],
    about: "Acclaim skeleton: a character without skin",
    loses: "masses, limits of joints",
    recognise: |head| first_key(head).is_some_and(|key| ASF_KEYS.contains(&key.as_str())),
    read: |source, options| {
        let mut warnings = Warnings::new();
        let file = format!("{}.asf", source.name);
        let bones = asf_skeleton::read(&String::from_utf8_lossy(source.bytes), &file, &mut warnings)?;
        let skeleton = amc_motion::skeleton(&bones)?;
        let clip = Clip::new("", USUAL_RATE, skeleton.len(), Vec::new(), vec![JointId::new(0)], Vec::new());
        let metres_per_unit = options.units.or(bones.metres_per_unit);
        known_axes(skeleton, clip, metres_per_unit, warnings).asset(source.name, options)
    },
};

/// What an Acclaim skeleton states of its axes and units.
fn known_axes(
    skeleton: Skeleton,
    clip: Clip,
    metres_per_unit: Option<f64>,
    warnings: Warnings,
) -> KnownAxesFile {
    KnownAxesFile {
        skeleton,
        clip,
        motion_up: MotionUp::Y,
        states_rest: true,
        metres_per_unit,
        place: "the skeleton",
        warnings,
    }
}

/// Acclaim motions.
pub const AMC: ReadFormat = ReadFormat {
    name: "amc",
    suffixes: &["amc"],
    about: "Acclaim motion, with its skeleton (ASF) in the same folder: takes",
    loses: "lengths of bones that change",
    recognise: |head| first_key(head).is_some_and(|key| AMC_KEYS.contains(&key.as_str())),
    read: |source, options| import(source, options),
};

/// Possible first keys of an ASF file.
const ASF_KEYS: &[&str] =
    &[":version", ":name", ":units", ":documentation", ":root", ":bonedata", ":hierarchy"];
/// Possible first keys of an AMC file.
const AMC_KEYS: &[&str] = &[":fully-specified", ":degrees", ":radians", ":samples-per-second"];

/// The rate of CMU's library, Hz; no AMC states one.
const USUAL_RATE: f64 = 120.0;
/// Largest skeleton file that is read, bytes; real ones have 10 kB.
const MAX_SKELETON: u64 = 1 << 24;

fn first_key(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let (_, words) = asf_skeleton::lines(&head).next()?;
    Some(words.first()?.to_ascii_lowercase())
}

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let mut warnings = Warnings::new();
    let path = match &options.skeleton {
        Some(path) => path.clone(),
        None => find_asf(source)?,
    };
    let unreadable = |reason: String| AsfError::Skeleton { path: path.clone(), reason };
    let bytes = read_regular(&path, MAX_SKELETON).map_err(|e| unreadable(io_reason(&e)))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bones = asf_skeleton::read(&String::from_utf8_lossy(&bytes), &name, &mut warnings)?;
    let rate = options.rate.unwrap_or(USUAL_RATE);
    if options.rate.is_none() {
        let said =
            format!("AMC files state no rate: {rate} frames per second were assumed (`input.rate` sets it)");
        warnings.add("amc-rate", said, "the file");
    }
    options.warn_of_stated_up(&mut warnings);
    let skeleton = amc_motion::skeleton(&bones)?;
    let text = String::from_utf8_lossy(source.bytes);
    let budget = options.budget(source.bytes);
    let clip =
        amc_motion::read(&text, &format!("{}.amc", source.name), &bones, rate, &budget, &mut warnings)?;
    let metres_per_unit = options.units.or(bones.metres_per_unit);
    let mut asset = known_axes(skeleton, clip, metres_per_unit, warnings).asset(source.name, options)?;
    if options.skeleton.is_none() {
        asset.companions.push((name, Arc::from(bytes)));
    }
    Ok(asset)
}

/// The ASF file in the folder of an AMC: with its whole name, else the longest part before a `_` for which one exists.
fn find_asf(source: &SourceFile) -> Result<PathBuf, AsfError> {
    let stems =
        std::iter::successors(Some(source.name), |stem| stem.rsplit_once('_').map(|(front, _)| front));
    let names: Vec<String> = stems.flat_map(|stem| [format!("{stem}.asf"), format!("{stem}.ASF")]).collect();
    let folder = source.folder.unwrap_or(Path::new(""));
    let found = names.iter().map(|name| folder.join(name)).find(|path| is_there(path));
    found.filter(|_| source.folder.is_some()).ok_or_else(|| {
        let looked: Vec<String> = names.iter().step_by(2).map(|name| format!("`{name}`")).collect();
        AsfError::NoSkeleton { looked: looked.join(", ") }
    })
}
