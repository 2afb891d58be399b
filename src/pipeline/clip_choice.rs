//! Chooses the clip of a file, and detects a take and a character that are swapped.

use crate::model::Asset;
use crate::report::{nearest, one_line};

/// Most clips that a message lists, so that the list stays readable.
const MOST_LISTED: usize = 12;

/// The number of the clip with this name, otherwise of the clip with this number from 0.
///
/// # Errors
/// A sentence with a hint that lists the clips.
pub fn find_clip(asset: &Asset, wanted: &str) -> Result<usize, String> {
    let by_name = asset.clips.iter().position(|c| c.name == wanted);
    let by_number = || wanted.parse::<usize>().ok().filter(|&k| k < asset.clips.len());
    if let Some(clip) = by_name.or_else(by_number) {
        return Ok(clip);
    }
    let names = || asset.clips.iter().map(|c| c.name.as_str());
    let hint = match (asset.clips.len(), nearest(wanted, names())) {
        (0, _) => "name another file: this one holds no motion".to_owned(),
        (_, Some(near)) => format!("did you mean `{}`?", one_line(near)),
        (1, None) => format!("its clip is {}, or 0", clip_list(names())),
        (n, None) => format!("its clips are {}, or 0 to {}", clip_list(names()), n - 1),
    };
    Err(format!("there is no clip `{}`\n  hint: {hint}", one_line(wanted)))
}

/// The names in backticks; of many only the first.
pub fn clip_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|n| format!("`{}`", one_line(n))).collect();
    match names.len() {
        n if n > MOST_LISTED => format!("{} and {} more", names[..MOST_LISTED].join(", "), n - MOST_LISTED),
        _ => names.join(", "),
    }
}

/// Whether the file has a skin or a skeleton that was bound to one.
pub fn is_skinned(asset: &Asset) -> bool {
    !asset.character.meshes.is_empty() || asset.character.bind.is_some()
}

/// Whether the file is like a take: motion and no skin.
pub fn is_bare_take(asset: &Asset) -> bool {
    !asset.clips.is_empty() && !is_skinned(asset)
}
