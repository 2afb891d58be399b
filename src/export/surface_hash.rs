//! Hashes of materials and images, so that thousands of them are not all compared with each other.

use crate::model::{AlphaMode, Material, Texture, TextureMap, TextureWrap};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;

/// Hashes of equal values are equal within one of these. The bytes of an image are read once, however many materials show it.
#[derive(Default)]
pub(super) struct SurfaceHashes<'a> {
    state: RandomState,
    /// By address and length. The images outlive this.
    images: HashMap<(usize, usize), u64>,
    of: PhantomData<&'a Texture>,
}

impl<'a> SurfaceHashes<'a> {
    /// The hash of an image.
    pub(super) fn image(&mut self, texture: &'a Texture) -> u64 {
        let bytes = &*texture.bytes;
        let place = (bytes.as_ptr() as usize, bytes.len());
        *self.images.entry(place).or_insert_with(|| self.state.hash_one(bytes))
    }

    /// The hash of a material.
    pub(super) fn material(&mut self, material: &'a Material) -> u64 {
        let Material {
            name,
            base_color,
            texture,
            texture_wrap,
            alpha_mode,
            metallic,
            roughness,
            emissive,
            metallic_roughness_map,
            normal_map,
            emissive_map,
            occlusion_map,
            double_sided,
        } = material;
        let alpha = match alpha_mode {
            AlphaMode::Opaque => (0, 0),
            AlphaMode::Mask(least) => (1, bits(*least)),
            AlphaMode::Blend => (2, 0),
        };
        let base = texture.as_ref().map(|texture| self.image(texture));
        let maps = [metallic_roughness_map, normal_map, emissive_map, occlusion_map]
            .map(|map| map.as_ref().map(|map| self.map(map)));
        let numbers = (base_color.map(bits), emissive.map(bits), bits(*metallic), bits(*roughness));
        self.state.hash_one((name, numbers, alpha, double_sided, base, wrap(*texture_wrap), maps))
    }

    fn map(&mut self, map: &'a TextureMap) -> (u64, usize, [u8; 2]) {
        (self.image(&map.texture), map.set, wrap(map.wrap))
    }
}

/// The number of each wrap mode, for hashes.
pub(super) fn wrap(modes: [TextureWrap; 2]) -> [u8; 2] {
    modes.map(|mode| mode as u8)
}

/// Zeros of both signs are equal.
fn bits(x: f32) -> u32 {
    (x + 0.0).to_bits()
}

/// Different materials, numbered in order of first appearance.
#[derive(Default)]
pub(super) struct MaterialNumbers<'a> {
    by_hash: HashMap<u64, Vec<(&'a Material, usize)>>,
    pub(super) found: Vec<&'a Material>,
}

impl<'a> MaterialNumbers<'a> {
    /// The number of a material.
    pub(super) fn of(&mut self, material: &'a Material, hashes: &mut SurfaceHashes<'a>) -> usize {
        let alike = self.by_hash.entry(hashes.material(material)).or_default();
        if let Some((_, number)) = alike.iter().find(|(known, _)| *known == material) {
            return *number;
        }
        let number = self.found.len();
        alike.push((material, number));
        self.found.push(material);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(byte: u8, set: usize) -> Option<TextureMap> {
        let texture = Texture { bytes: vec![byte; 3].into() };
        Some(TextureMap { texture, set, wrap: [TextureWrap::Repeat; 2] })
    }

    #[test]
    fn materials_that_differ_in_anything_are_not_compared() {
        let plain = || Material { name: "skin".into(), ..Material::default() };
        let clamped = [TextureWrap::Repeat, TextureWrap::Clamp];
        let texture = |byte: u8| Some(Texture { bytes: vec![byte; 3].into() });
        let mut all = vec![
            plain(),
            Material { name: "hair".into(), ..plain() },
            Material { base_color: [0.8, 0.8, 0.8, 0.5], ..plain() },
            Material { texture: texture(1), ..plain() },
            Material { texture: texture(2), ..plain() },
            Material { texture_wrap: clamped, ..plain() },
            Material { alpha_mode: AlphaMode::Mask(0.5), ..plain() },
            Material { alpha_mode: AlphaMode::Mask(0.6), ..plain() },
            Material { alpha_mode: AlphaMode::Blend, ..plain() },
            Material { metallic: 0.5, ..plain() },
            Material { emissive: [0.0, 0.0, 1.0], ..plain() },
            Material { metallic_roughness_map: map(1, 0), ..plain() },
            Material { normal_map: map(1, 0), ..plain() },
            Material { normal_map: map(1, 1), ..plain() },
            Material { normal_map: map(2, 0), ..plain() },
            Material { emissive_map: map(1, 0), ..plain() },
            Material { occlusion_map: map(1, 0), ..plain() },
            Material { double_sided: true, ..plain() },
        ];
        // Many equal in name and colour.
        all.extend((0..1000).map(|k| Material { roughness: k as f32 / 2000.0, ..plain() }));
        let mut hashes = SurfaceHashes::default();
        let mut numbers = MaterialNumbers::default();
        for (number, material) in all.iter().enumerate() {
            assert_eq!(numbers.of(material, &mut hashes), number);
        }
        assert!(numbers.by_hash.values().all(|alike| alike.len() == 1));
        // Equal ones are found: also with another copy of the image, and a zero of the other sign.
        let copy = Material { texture: texture(2), ..plain() };
        assert_eq!(numbers.of(&copy, &mut hashes), 4);
        let zero = Material { metallic: -0.0, ..plain() };
        assert_eq!(numbers.of(&zero, &mut hashes), 0);
        assert_eq!(numbers.found.len(), all.len());
    }
}
