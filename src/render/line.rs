//! Draws a line with round ends between projected points; the caller decides the colour of each pixel.

use super::picture::Picture;
use super::vector::V3;

/// Projected coordinates beyond this are not drawn, pixels: the ends are next to the camera.
const FARTHEST: f32 = 1e6;

/// A line `half` pixels to each side. `ink` is the colour and the opacity of a pixel (column, row) at a share of the line from
/// the first end to the second.
pub(super) fn line(
    [a, b]: [V3; 2],
    half: f32,
    picture: &mut Picture,
    ink: impl Fn(usize, usize, f32) -> ([u8; 3], f32),
) {
    if !(a[2] > 0.0 && b[2] > 0.0 && a.iter().chain(&b).all(|c| c.abs() < FARTHEST)) {
        return;
    }
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let squared = (dx * dx + dy * dy).max(1e-6);
    let bound = |k: usize, n: usize| {
        let low = (a[k].min(b[k]) - half - 1.0).clamp(0.0, n as f32) as usize;
        let high = (a[k].max(b[k]) + half + 2.0).clamp(0.0, n as f32) as usize;
        low..high
    };
    for y in bound(1, picture.height) {
        for x in bound(0, picture.width) {
            let (px, py) = (x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]);
            let along = ((px * dx + py * dy) / squared).clamp(0.0, 1.0);
            let (ox, oy) = (px - along * dx, py - along * dy);
            let cover = (half + 0.5 - (ox * ox + oy * oy).sqrt()).clamp(0.0, 1.0);
            if cover <= 0.0 {
                continue;
            }
            let (color, opacity) = ink(x, y, along);
            picture.blend(x as i64, y as i64, color, cover * opacity);
        }
    }
}
