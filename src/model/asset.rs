//! Result of an import: one character and any number of clips, in normal form.

use super::{Character, Clip, Motion, ObservedPoints};
use crate::report::Warnings;
use std::sync::Arc;

/// The content of one imported file in normal form, with warnings about every change the import made.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// The character: its skeleton at least.
    pub character: Arc<Character>,
    /// The clips that play on it, in file order; may be empty.
    pub clips: Vec<Clip>,
    /// The default clip: the first that posemill added to the file, else the first.
    pub meant: usize,
    /// Changes that the import made, and damage it found.
    pub warnings: Warnings,
    /// Sidecar files in the same folder that were read with it, except [`Document::resources`]: name and content.
    ///
    /// [`Document::resources`]: super::Document::resources
    pub companions: Vec<(String, Arc<[u8]>)>,
    /// The points or markers that the file states instead of rotations, for previews.
    pub observed: Option<ObservedPoints>,
}

impl Asset {
    /// A character with the clips that play on it.
    pub fn new(character: Character, clips: Vec<Clip>, warnings: Warnings) -> Self {
        let character = Arc::new(character);
        Self { character, clips, meant: 0, warnings, companions: Vec::new(), observed: None }
    }

    /// One clip of the asset as a motion.
    pub fn motion(&self, clip: usize) -> Option<Motion> {
        let clip = self.clips.get(clip)?.clone();
        Some(Motion::new(Arc::clone(&self.character), clip))
    }

    /// As [`Asset::motion`] without a copy: leaves an empty clip behind.
    pub fn take_motion(&mut self, clip: usize) -> Option<Motion> {
        let clip = self.clips.get_mut(clip)?;
        let none = Clip::new("", clip.sample_rate, clip.joints(), Vec::new(), Vec::new(), Vec::new());
        let clip = std::mem::replace(clip, none);
        Some(Motion::new(Arc::clone(&self.character), clip))
    }
}
