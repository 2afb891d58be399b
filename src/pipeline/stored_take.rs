//! A long take while stages change it: in a temporary file, so that the take and its result are not both in memory. Parts of it
//! are read back for the measures, bit for bit.
//!
//! The file has no name; the system removes it when the process ends.

use crate::contacts::{ContactOptions, detect};
use crate::math::{Quat, RawQuat, Vec3};
use crate::model::{Clip, Motion};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes of rotations from which a take is stored: a minute of 60 joints at 240 Hz stays in memory. With double, twice that is
/// held next to a result; with half, takes of half a minute are written to the disk and read again.
const LONG: usize = 32 << 20;

/// The frames of a take in a file, and the rest of it.
#[derive(Debug)]
pub(super) struct StoredTake {
    file: File,
    /// The take without frames, with the contacts of all.
    bare: Motion,
    frames: usize,
}

impl StoredTake {
    /// Whether a motion is so long that it is stored.
    pub(super) fn is_long(motion: &Motion) -> bool {
        size_of_val(motion.clip.all_rotations()) > LONG
    }

    /// Stores a motion, with its contacts as [`super::reference_motion::comparable`] detects them.
    pub(super) fn new(motion: &Motion) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
        let clip = &motion.clip;
        for frame in 0..clip.frames() {
            let rotations = clip.rotations(frame).iter().flat_map(|q| q.coords.iter());
            let translations = clip.translations(frame).iter().flat_map(|t| t.iter());
            for number in rotations.chain(translations) {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        let file = out.into_inner()?;
        let contacts = Some(detect(motion, &ContactOptions::default()));
        Ok(Self { file, bare: Motion { contacts, ..motion.part(0..0) }, frames: clip.frames() })
    }

    /// The take without its frames, with the contacts of all of them.
    pub(super) fn bare(&self) -> &Motion {
        &self.bare
    }

    /// The number of frames.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Some frames, without property tracks, as [`Motion::part`].
    pub(super) fn part(&self, frames: Range<usize>) -> io::Result<Motion> {
        let bare = &self.bare.clip;
        let (joints, translated) = (bare.joints(), bare.translated().len());
        let width = 4 * joints + 3 * translated;
        let mut file = BufReader::with_capacity(BUFFER, &self.file);
        file.seek(SeekFrom::Start((8 * width * frames.start) as u64))?;
        let mut bytes = vec![0; 8 * width];
        let mut rotations = Vec::with_capacity(joints * frames.len());
        let mut translations = Vec::with_capacity(translated * frames.len());
        for _ in frames.clone() {
            file.read_exact(&mut bytes)?;
            let (numbers, _) = bytes.as_chunks::<8>();
            let number = |k: usize| f64::from_le_bytes(numbers[k]);
            // They were unit quaternions, and come back bit for bit.
            let quat = |k: usize| RawQuat::new(number(k + 3), number(k), number(k + 1), number(k + 2));
            rotations.extend((0..4 * joints).step_by(4).map(|k| Quat::new_unchecked(quat(k))));
            let position = |k: usize| Vec3::new(number(k), number(k + 1), number(k + 2));
            translations.extend((4 * joints..width).step_by(3).map(position));
        }
        let mut clip = Clip::new(
            bare.name.clone(),
            bare.sample_rate,
            joints,
            rotations,
            bare.translated().to_vec(),
            translations,
        );
        (clip.start, clip.tolerance) = (bare.start, bare.tolerance);
        let inside = |frame: usize| frame.clamp(frames.start, frames.end) - frames.start;
        let contacts = self.bare.contacts.as_ref().map(|c| c.changed(inside, |height| height));
        Ok(Motion { character: self.bare.character.clone(), clip, contacts })
    }
}

/// Bytes that are written or read at once.
const BUFFER: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, ImportOptions};

    #[test]
    fn parts_come_back_bit_for_bit() {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh");
        let mut motion = import::load(data, &ImportOptions::default()).unwrap().motion(0).unwrap();
        let stored = StoredTake::new(&motion).unwrap();
        motion.contacts = Some(detect(&motion, &ContactOptions::default()));
        let frames = motion.clip.frames();
        assert_eq!(stored.frames(), frames);
        for range in [frames - 3..frames, 0..frames, 5..6, 7..7] {
            assert_eq!(stored.part(range.clone()).unwrap(), motion.part(range));
        }
        assert_eq!(stored.bare().contacts, motion.contacts);
        assert!(stored.part(0..frames + 1).is_err());
        assert!(!StoredTake::is_long(&motion));
    }
}
