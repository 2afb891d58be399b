//! A VMD file as it is: keys of bones and morph targets, and which chains are on.

use super::byte_cursor::ByteCursor;
use super::ease_curve::EaseCurve;
use super::mmd_error::MmdError;
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::{NAME_BYTES, decoded, without_padding};
use crate::report::Warnings;
use std::collections::BTreeMap;

/// The first bytes of a file; older programs write the second one, with a shorter name of the model behind it.
pub(super) const SIGNATURES: [&[u8]; 2] = [b"Vocaloid Motion Data 0002", b"Vocaloid Motion Data file"];
/// Bytes of the signature with what fills it up.
const SIGNATURE_BYTES: usize = 30;
/// Bytes of the name of the model, for each signature.
const MODEL_BYTES: [usize; 2] = [20, 10];
/// Bytes of a key of a bone.
const BONE_KEY: usize = 111;
/// The same of a morph target.
const MORPH_KEY: usize = 23;
/// The same of the camera.
const CAMERA_KEY: usize = 61;
/// The same of the light.
const LIGHT_KEY: usize = 28;
/// The same of the shadow.
const SHADOW_KEY: usize = 9;
/// Bytes of a name of a chain, and of an entry.
const CHAIN_NAME: usize = 20;

/// A key of a bone, in the space and units of the file.
#[derive(Clone, Debug)]
pub(super) struct VmdKey {
    pub(super) frame: u32,
    pub(super) translation: [f32; 3],
    pub(super) rotation: [f32; 4],
    /// How X, Y, Z and the rotation go from the key before to this one.
    pub(super) curves: [EaseCurve; 4],
}

/// The keys of a motion, by the bytes of names, ascending in time.
#[derive(Clone, Debug, Default)]
pub(super) struct VmdKeys {
    pub(super) bones: BTreeMap<Vec<u8>, Vec<VmdKey>>,
    pub(super) morphs: BTreeMap<Vec<u8>, Vec<(u32, f32)>>,
    /// For each chain that is switched: frames, and whether it is on from there.
    pub(super) chains: BTreeMap<Vec<u8>, Vec<(u32, bool)>>,
    /// The last frame that has a key of a bone or a morph target.
    pub(super) last: u32,
}

impl VmdKeys {
    /// Reads a file.
    pub(super) fn read(
        bytes: &[u8],
        budget: &MemoryBudget,
        warnings: &mut Warnings,
    ) -> Result<Self, ImportError> {
        let mut cursor = ByteCursor::new(bytes);
        let cursor = &mut cursor;
        let head = cursor.take(SIGNATURE_BYTES, "the header")?;
        let signature = SIGNATURES.iter().position(|signature| head.starts_with(signature));
        let signature = signature
            .ok_or_else(|| MmdError::Value { offset: 0, reason: "no VMD file begins here".to_owned() })?;
        cursor.take(MODEL_BYTES[signature], "the name of the model")?;
        let mut keys = Self::default();
        let count = cursor.count(BONE_KEY, "the keys of bones")?;
        budget.reserve_list::<VmdKey>(2 * count as u64, || "the keys of bones".to_owned())?;
        for _ in 0..count {
            let name = without_padding(cursor.take(NAME_BYTES, "the keys of bones")?).to_vec();
            let key = VmdKey::read(cursor)?;
            keys.last = keys.last.max(key.frame);
            keys.bones.entry(name).or_default().push(key);
        }
        let count = cursor.count(MORPH_KEY, "the keys of morph targets")?;
        budget.reserve_list::<(u32, f32)>(2 * count as u64, || "the keys of morph targets".to_owned())?;
        for _ in 0..count {
            let what = "the keys of morph targets";
            let name = without_padding(cursor.take(NAME_BYTES, what)?).to_vec();
            let key = (cursor.unsigned(what)?, cursor.number(what)?);
            keys.last = keys.last.max(key.0);
            keys.morphs.entry(name).or_default().push(key);
        }
        let cameras = keys.rest(cursor, warnings)?;
        if keys.bones.is_empty() && keys.morphs.is_empty() {
            return Err(MmdError::NoKeys { cameras }.into());
        }
        // Of two keys at one frame the later one counts.
        keys.bones.values_mut().for_each(|list| in_order(list, |key| key.frame));
        keys.morphs.values_mut().for_each(|list| in_order(list, |key| key.0));
        keys.chains.values_mut().for_each(|list| in_order(list, |key| key.0));
        if let Some((count, first)) = cursor.odd {
            let said = format!("{count} numbers are not finite and were read as 0");
            warnings.add("mmd-not-finite", said, format!("byte {first}"));
        }
        Ok(keys)
    }

    /// Reads what comes after the keys of morph targets, and returns the number of keys of a camera. Older programs write less.
    fn rest(&mut self, cursor: &mut ByteCursor, warnings: &mut Warnings) -> Result<usize, MmdError> {
        let mut cameras = 0;
        let skipped = [
            (CAMERA_KEY, "the keys of the camera"),
            (LIGHT_KEY, "the keys of the light"),
            (SHADOW_KEY, "the keys of the shadow"),
        ];
        for (k, (size, what)) in skipped.into_iter().enumerate() {
            if cursor.left() == 0 {
                let said = format!("the file ends before {what}, as those of older programs do");
                warnings.add("vmd-short", said, format!("byte {}", cursor.offset));
                return Ok(cameras);
            }
            let count = cursor.count(size, what)?;
            cursor.take(count * size, what)?;
            if k == 0 {
                cameras = count;
            }
        }
        if cursor.left() == 0 {
            return Ok(cameras);
        }
        let what = "the keys of visibility and chains";
        // A frame, a byte and the length of a list.
        for _ in 0..cursor.count(9, what)? {
            let frame = cursor.unsigned(what)?;
            cursor.byte(what)?;
            for _ in 0..cursor.count(CHAIN_NAME + 1, what)? {
                let name = without_padding(cursor.take(CHAIN_NAME, what)?);
                let name = name[..name.len().min(NAME_BYTES)].to_vec();
                let on = cursor.byte(what)? != 0;
                self.chains.entry(name).or_default().push((frame, on));
            }
        }
        Ok(cameras)
    }

    /// The names of the morph targets.
    pub(super) fn morph_names(&self) -> impl Iterator<Item = String> {
        self.morphs.keys().map(|name| decoded(name))
    }
}

impl VmdKey {
    fn read(cursor: &mut ByteCursor) -> Result<Self, MmdError> {
        let what = "the keys of bones";
        let frame = cursor.unsigned(what)?;
        let (translation, rotation) = (cursor.numbers(what)?, cursor.numbers(what)?);
        let bytes = cursor.take(64, what)?;
        // A block of 16 bytes for each channel. The first one holds those of all channels, every fourth byte that of X, and two of
        // its bytes are a switch of the physics; in the block of channel n every fourth byte, from the first, is that of channel n.
        let curves = [0, 1, 2, 3].map(|channel| {
            let at = |k: usize| bytes[16 * channel + 4 * k];
            EaseCurve::of([at(0), at(1), at(2), at(3)])
        });
        Ok(Self { frame, translation, rotation, curves })
    }
}

/// Sorts keys by their frames; of several at one frame the last one is kept.
fn in_order<K>(keys: &mut Vec<K>, frame: impl Fn(&K) -> u32) {
    keys.sort_by_key(|key| frame(key));
    keys.reverse();
    keys.dedup_by_key(|key| frame(key));
    keys.reverse();
}
