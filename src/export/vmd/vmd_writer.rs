//! The bytes of a `.vmd` file. Layout: see the reader, `import/mmd/vmd_keys.rs`.

use crate::mmd_document::{NAME_BYTES, encoded};

/// The signature and its bytes.
const SIGNATURE: (&str, usize) = ("Vocaloid Motion Data 0002", 30);
/// Bytes of the name of the model.
const MODEL_BYTES: usize = 20;
/// Bytes of the name of a chain.
const CHAIN_BYTES: usize = 20;
/// The inner points of a straight line, as MikuMikuDance writes them: 20 / 127 and 107 / 127.
const STRAIGHT: [u8; 16] = [20, 20, 20, 20, 20, 20, 20, 20, 107, 107, 107, 107, 107, 107, 107, 107];

/// The values of a bone or a morph target in every frame.
pub(super) struct VmdTrack<const N: usize> {
    /// The name, in Shift-JIS.
    pub(super) name: Vec<u8>,
    pub(super) values: Vec<[f32; N]>,
    /// The frames that need keys within a tolerance, ascending; `None`: all that change something.
    pub(super) needed: Option<Vec<usize>>,
}

impl<const N: usize> VmdTrack<N> {
    /// The frames that need keys: the first, the last, which ends the motion for its readers, and all but those between two equal
    /// ones. None if every value is `rest`.
    fn keys(&self, rest: &[f32; N]) -> Vec<usize> {
        let v = &self.values;
        if v.iter().all(|value| value == rest) {
            return Vec::new();
        }
        if let Some(needed) = &self.needed {
            let last = v.len() - 1;
            return needed.iter().copied().filter(|k| *k < last).chain([last]).collect();
        }
        let needed = |&k: &usize| k == 0 || v[k] != v[k - 1] || v.get(k + 1).is_none_or(|next| *next != v[k]);
        (0..v.len()).filter(needed).collect()
    }
}

/// A bone's values: displacement in units, then the quaternion.
pub(super) type BoneTrack = VmdTrack<7>;
/// A morph target's weight.
pub(super) type WeightTrack = VmdTrack<1>;

/// The file of these tracks, with these chains switched off.
pub(super) fn bytes(model: &str, bones: &[BoneTrack], weights: &[WeightTrack], chains: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    field(&mut out, SIGNATURE.0.as_bytes(), SIGNATURE.1);
    field(&mut out, &encoded(model, MODEL_BYTES).unwrap_or_default(), MODEL_BYTES);
    let rest = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let keys: Vec<Vec<usize>> = bones.iter().map(|track| track.keys(&rest)).collect();
    count(&mut out, keys.iter().map(Vec::len).sum());
    for (track, keys) in bones.iter().zip(&keys) {
        for &frame in keys {
            field(&mut out, &track.name, NAME_BYTES);
            count(&mut out, frame);
            track.values[frame].iter().for_each(|x| out.extend(x.to_le_bytes()));
            // Four times the same 16 bytes, each time one later; a 1 and zeros fill up.
            for skipped in 0..4 {
                out.extend(&STRAIGHT[skipped..]);
                out.extend(&[1, 0, 0][..skipped]);
            }
        }
    }
    let keys: Vec<Vec<usize>> = weights.iter().map(|track| track.keys(&[0.0])).collect();
    count(&mut out, keys.iter().map(Vec::len).sum());
    for (track, keys) in weights.iter().zip(&keys) {
        for &frame in keys {
            field(&mut out, &track.name, NAME_BYTES);
            count(&mut out, frame);
            out.extend(track.values[frame][0].to_le_bytes());
        }
    }
    // Camera, light and shadow.
    (0..3).for_each(|_| count(&mut out, 0));
    // Visible from frame 0.
    count(&mut out, 1);
    count(&mut out, 0);
    out.push(1);
    let names: Vec<Vec<u8>> = chains.iter().filter_map(|name| encoded(name, CHAIN_BYTES)).collect();
    count(&mut out, names.len());
    for name in names {
        field(&mut out, &name, CHAIN_BYTES);
        out.push(0);
    }
    out
}

/// A field of fixed length, filled up with zeros.
fn field(out: &mut Vec<u8>, bytes: &[u8], length: usize) {
    let end = out.len() + length;
    out.extend(&bytes[..bytes.len().min(length)]);
    out.resize(end, 0);
}

fn count(out: &mut Vec<u8>, count: usize) {
    // A motion of 2^32 frames does not fit into memory.
    out.extend((count as u32).to_le_bytes());
}
