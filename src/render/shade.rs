//! Shading: the linear colour of a surface under the studio's lights.
//!
//! A wide key light from the upper left, light from sky and floor, a faint specular highlight and a paler rim. The figure
//! casts no shadow on itself. Source of the key light's soft edge: Mitchell, Francke and Eng (2007), "wrap" diffuse.

use super::vector::{V3, add, dot, scale, unit};

const SKY: V3 = [0.46, 0.48, 0.52];
const FLOOR: V3 = [0.30, 0.285, 0.27];
const KEY: V3 = [0.66, 0.64, 0.60];
/// Wrap of the key light: how far it reaches around the edge, as a cosine.
const WRAP: f32 = 0.25;
/// Strength of the specular highlight, as a share of the key light.
const SHEEN: f32 = 0.07;
/// Strength of the rim light.
const RIM: f32 = 0.14;
/// Values up to here are unchanged; brighter ones are compressed.
const KNEE: f32 = 0.75;

/// The lights of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lights {
    /// Towards the key light.
    pub(super) key: V3,
    /// Towards the camera.
    pub(super) eye: V3,
}

impl Lights {
    /// The colour of a surface of this colour and normal; the normal's length does not matter.
    pub(super) fn shade(&self, color: V3, normal: V3) -> V3 {
        let n = unit(normal);
        let up = 0.5 + 0.5 * n[1];
        let facing = ((dot(n, self.key) + WRAP) / (1.0 + WRAP)).max(0.0);
        let towards = dot(n, self.eye).clamp(0.0, 1.0);
        let half = unit(add(self.key, self.eye));
        let gloss = dot(n, half).max(0.0);
        let gloss = (gloss * gloss) * (gloss * gloss);
        let gloss = (gloss * gloss) * (gloss * gloss);
        let edge = (1.0 - towards) * (1.0 - towards) * (1.0 - towards);
        let extra = SHEEN * gloss + RIM * edge * (0.4 + 0.6 * up);
        std::array::from_fn(|k| {
            let light = FLOOR[k] + (SKY[k] - FLOOR[k]) * up + KEY[k] * facing;
            shoulder(color[k] * light + extra)
        })
    }
}

/// Keeps bright values below one without a hard edge.
fn shoulder(x: f32) -> f32 {
    if x <= KNEE {
        return x;
    }
    let over = (x - KNEE) / (1.0 - KNEE);
    KNEE + (1.0 - KNEE) * over / (1.0 + over)
}

/// `color` on the ground where the shadow is this dark.
pub(super) fn shadowed(color: V3, dark: f32) -> V3 {
    let keep = [1.0 - 0.56 * dark, 1.0 - 0.53 * dark, 1.0 - 0.47 * dark];
    [color[0] * keep[0], color[1] * keep[1], color[2] * keep[2]]
}

/// A little of the light that surfaces throw on their own colour; keeps flat marks readable next to shaded ones.
pub(super) fn flat(color: V3) -> V3 {
    scale(color, 0.95)
}
