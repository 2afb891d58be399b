//! Names in Shift-JIS, as `.vmd` files have them: fields of a fixed length, filled up after a zero.

use encoding_rs::SHIFT_JIS;

/// Bytes of a bone's or a morph target's name in a `.vmd` file; longer names are cut, also within a character.
pub const NAME_BYTES: usize = 15;

/// The bytes of a field before the first zero: what follows is arbitrary.
pub fn without_padding(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The text of a field.
pub fn decoded(field: &[u8]) -> String {
    SHIFT_JIS.decode_without_bom_handling(without_padding(field)).0.into_owned()
}

/// A name as bytes of a field of at most `most` bytes, cut where it is longer; `None` if Shift-JIS has no such characters.
pub fn encoded(name: &str, most: usize) -> Option<Vec<u8>> {
    let (bytes, _, lossy) = SHIFT_JIS.encode(name);
    (!lossy && !bytes.is_empty()).then(|| bytes[..bytes.len().min(most)].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_files() {
        // As MikuMikuDance writes it: full-width letters, zeros or anything behind.
        let bytes = [0x8d, 0xb6, 0x91, 0xab, 0x82, 0x68, 0x82, 0x6a];
        assert_eq!(encoded("左足ＩＫ", NAME_BYTES).unwrap(), bytes);
        assert_eq!(decoded(&[&bytes[..], &[0, 0xfd, 0xfd]].concat()), "左足ＩＫ");
        // Seven characters of two bytes and half of another.
        assert_eq!(encoded("とても長いボーン名", NAME_BYTES).unwrap().len(), NAME_BYTES);
        assert_eq!(encoded("бедро😀", NAME_BYTES), None);
    }
}
