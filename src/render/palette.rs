//! Quantises true-colour pictures to one shared palette.
//!
//! The palette is made by median cut over sampled pictures (Heckbert 1982), with each colour weighted by the square
//! root of its count so that the backdrop does not use up the palette. Ordered dithering with a fixed pattern hides the
//! steps and leaves unchanged pixels unchanged.

use super::picture::Picture;

/// Colours of a palette; the last index of a byte means "unchanged".
pub(super) const COLORS: usize = 255;
/// The index that keeps the pixel of the frame before.
pub(super) const UNCHANGED: u8 = 255;
/// Bits of each channel that are distinguished.
const BITS: usize = 6;
/// Levels per channel.
const LEVELS: usize = 1 << BITS;
/// Bits dropped from a byte to get a level.
const SHIFT: usize = 8 - BITS;

/// At most 255 colours, and the nearest of them for every colour.
#[derive(Clone, Debug)]
pub(super) struct Palette {
    pub(super) colors: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

fn cell(c: [i32; 3]) -> usize {
    let level = |x: i32| (x.clamp(0, 255) as usize) >> SHIFT;
    (level(c[0]) * LEVELS + level(c[1])) * LEVELS + level(c[2])
}

/// A set of colours: level of each channel and weight.
struct Group {
    members: Vec<([u8; 3], f64)>,
}

impl Group {
    /// The channel of the greatest weighted variance, and that variance.
    ///
    /// Exactly 0 for a single colour, in spite of rounding.
    fn spread(&self) -> (usize, f64) {
        if self.members.len() < 2 {
            return (0, 0.0);
        }
        let weight: f64 = self.members.iter().map(|m| m.1).sum();
        let variance = |k: usize| {
            let mean = self.members.iter().map(|m| f64::from(m.0[k]) * m.1).sum::<f64>() / weight;
            self.members.iter().map(|m| (f64::from(m.0[k]) - mean).powi(2) * m.1).sum::<f64>()
        };
        let all = [variance(0), variance(1), variance(2)];
        let k = if all[1] >= all[0] && all[1] >= all[2] {
            1
        } else if all[0] >= all[2] {
            0
        } else {
            2
        };
        (k, all[k])
    }

    fn mean(&self) -> [u8; 3] {
        let weight: f64 = self.members.iter().map(|m| m.1).sum();
        std::array::from_fn(|k| {
            let mean = self.members.iter().map(|m| f64::from(m.0[k]) * m.1).sum::<f64>() / weight;
            mean.round() as u8
        })
    }
}

impl Palette {
    /// The palette of these pictures.
    pub(super) fn of(pictures: &[Picture]) -> Self {
        // Full colours are averaged inside each cell, so that smooth backdrops keep their shades.
        let mut counts = vec![([0u64; 3], 0u64); LEVELS * LEVELS * LEVELS];
        for pixel in pictures.iter().flat_map(|p| &p.pixels) {
            let slot = &mut counts[cell(pixel.map(i32::from))];
            for (sum, c) in slot.0.iter_mut().zip(pixel) {
                *sum += u64::from(*c);
            }
            slot.1 += 1;
        }
        let member = |&(sum, n): &([u64; 3], u64)| {
            (n > 0).then(|| (sum.map(|s| ((s + n / 2) / n) as u8), (n as f64).sqrt()))
        };
        let members: Vec<_> = counts.iter().filter_map(member).collect();
        Self::with_colors(cut(members))
    }

    fn with_colors(colors: Vec<[u8; 3]>) -> Self {
        let distance = |a: [i32; 3], b: [u8; 3]| -> i32 {
            // Weights near those of brightness: green counts most.
            let d = [a[0] - i32::from(b[0]), a[1] - i32::from(b[1]), a[2] - i32::from(b[2])];
            3 * d[0] * d[0] + 5 * d[1] * d[1] + 2 * d[2] * d[2]
        };
        let mut nearest = vec![0; LEVELS * LEVELS * LEVELS];
        // In blocks: only colours that can be nearest to some cell of a block are tried for its cells.
        let block: usize = 4;
        for start in (0..LEVELS.pow(3) / block.pow(3)).map(|k| {
            let n = LEVELS / block;
            [k / (n * n) * block, k / n % n * block, k % n * block]
        }) {
            let middle = start.map(|s| ((s << SHIFT) + (block << SHIFT) / 2) as i32);
            let least = colors.iter().map(|&c| distance(middle, c)).min().unwrap_or(0);
            // From the middle of a block to its corner is at most `r`; a candidate is within two of them.
            let r = (10.0 * f64::from((block << SHIFT) as i32 / 2).powi(2)).sqrt();
            let reach = (f64::from(least).sqrt() + 2.0 * r).powi(2);
            let near = |&k: &usize| f64::from(distance(middle, colors[k])) <= reach;
            let candidates: Vec<usize> = (0..colors.len()).filter(near).collect();
            for k in 0..block.pow(3) {
                let level = [k / (block * block), k / block % block, k % block];
                let at: [i32; 3] =
                    std::array::from_fn(|i| (((start[i] + level[i]) << SHIFT) + (1 << SHIFT) / 2) as i32);
                let best = candidates.iter().min_by_key(|&&c| (distance(at, colors[c]), c));
                nearest[cell(at)] = best.map_or(0, |&c| c as u8);
            }
        }
        Self { colors, nearest }
    }

    /// The indices of a picture.
    pub(super) fn indices(&self, picture: &Picture) -> Vec<u8> {
        let mut indices = Vec::with_capacity(picture.pixels.len());
        for (y, row) in picture.pixels.chunks(picture.width.max(1)).enumerate() {
            let pattern = &PATTERN[y % 4];
            indices.extend(row.iter().enumerate().map(|(x, p)| {
                let push = pattern[x % 4];
                self.nearest[cell(p.map(|c| i32::from(c) + push))]
            }));
        }
        indices
    }

    /// Red, green and blue of every colour, in a row.
    pub(super) fn bytes(&self) -> &[u8] {
        self.colors.as_flattened()
    }
}

/// Bayer's (1973) pattern of order 4, from -2 to 2 levels.
const PATTERN: [[i32; 4]; 4] = [[-2, 0, -1, 1], [1, -1, 2, 0], [-1, 1, -2, 0], [2, 0, 1, -1]];

fn cut(members: Vec<([u8; 3], f64)>) -> Vec<[u8; 3]> {
    if members.is_empty() {
        return vec![[0; 3]];
    }
    let first = Group { members };
    let spread = first.spread();
    let mut groups = vec![(first, spread)];
    while groups.len() < COLORS {
        let widest =
            (0..groups.len()).max_by(|&a, &b| groups[a].1.1.total_cmp(&groups[b].1.1).then(b.cmp(&a)));
        let Some(widest) = widest.filter(|&w| groups[w].1.1 > 0.0) else { break };
        let (mut group, (channel, _)) = groups.swap_remove(widest);
        group.members.sort_by_key(|m| (m.0[channel], m.0));
        let half = group.members.iter().map(|m| m.1).sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let split = group.members.iter().position(|m| {
            sum += m.1;
            sum >= half
        });
        let split = split.map_or(1, |k| k + 1).clamp(1, group.members.len() - 1);
        let rest = Group { members: group.members.split_off(split) };
        for part in [group, rest] {
            let spread = part.spread();
            groups.push((part, spread));
        }
    }
    groups.iter().map(|g| g.0.mean()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(color: impl Fn(usize) -> [u8; 3]) -> Picture {
        Picture { width: 64, height: 64, pixels: (0..64 * 64).map(color).collect() }
    }

    #[test]
    fn few_colours_are_kept_and_many_come_close() {
        let few = picture(|k| [[250, 10, 10], [10, 250, 10], [10, 10, 250]][k % 3]);
        let palette = Palette::of(std::slice::from_ref(&few));
        assert_eq!(palette.colors.len(), 3);
        let shown = palette.indices(&few).iter().map(|&i| palette.colors[usize::from(i)]).collect::<Vec<_>>();
        assert_eq!(shown, few.pixels);

        let many = picture(|k| [(k % 64 * 4) as u8, (k / 64 * 4) as u8, 128]);
        let palette = Palette::of(std::slice::from_ref(&many));
        assert_eq!(palette.colors.len(), COLORS);
        for (p, i) in many.pixels.iter().zip(palette.indices(&many)) {
            let c = palette.colors[usize::from(i)];
            assert!((0..3).all(|k| p[k].abs_diff(c[k]) < 24), "{p:?} became {c:?}");
        }
    }

    #[test]
    fn the_nearest_colour_is_found_as_by_trying_all() {
        let many = picture(|k| [(k * 37 % 256) as u8, (k * 91 % 256) as u8, (k * 13 % 256) as u8]);
        let palette = Palette::of(std::slice::from_ref(&many));
        for k in 0..4000 {
            let level = |n: i32| (k * n % 64) * 4 + 2;
            let at = [level(7), level(11), level(29)];
            let distance = |c: &[u8; 3]| {
                let d: [i32; 3] = std::array::from_fn(|i| at[i] - i32::from(c[i]));
                3 * d[0] * d[0] + 5 * d[1] * d[1] + 2 * d[2] * d[2]
            };
            let best = palette.colors.iter().map(distance).min().unwrap();
            let found = palette.colors[usize::from(palette.nearest[cell(at)])];
            assert_eq!(distance(&found), best);
        }
    }
}
