//! Samples of a skinned surface by area, in lists by the joint that moves it most, and the widths measured on them.
//!
//! Sampling by area treats all skin alike: a face of ten thousand triangles counts no more than its area, and the large
//! triangles of a low-poly model are sampled as densely as small ones. Space: model space of the pose in which
//! the skin was attached. Units: metres.

use crate::math::{Vec3, any_perpendicular};
use crate::model::{Character, Mesh, ModelPose};

/// A piece of skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SkinSample {
    /// Its position in model space, metres.
    pub at: Vec3,
    /// The area that it stands for, square metres.
    pub area: f64,
}

/// The most triangles of one mesh that are sampled; of larger meshes every n-th is taken.
const MOST: usize = 30_000;
/// The most samples of a character, about: with more they are further apart. A file may show one mesh thousands of times.
const MOST_SAMPLES: usize = 1_000_000;

/// The samples of all meshes, about `spacing` apart, in the pose in which the skin was attached: for each list the skin
/// that is nearest to vertices whose joint has that list, by its number; joints may have none. Vertices that `omitted` has, by mesh, have
/// none either.
pub(super) fn samples(
    character: &Character,
    reference_pose: &ModelPose,
    spacing: f64,
    list_of_joint: &[Option<usize>],
    omitted: &[Vec<bool>],
) -> Vec<Vec<SkinSample>> {
    let triangles = |(k, mesh): (usize, &Mesh)| -> (usize, Vec<[SkinCorner; 3]>) {
        let omitted = omitted.get(k).map_or(&[][..], Vec::as_slice);
        let placed: Vec<Option<SkinCorner>> = (0..mesh.positions.len())
            .map(|v| attached(mesh, reference_pose, v, list_of_joint))
            .enumerate()
            .map(|(v, corner)| corner.filter(|_| !omitted.get(v).copied().unwrap_or_default()))
            .collect();
        let step = mesh.triangles.len().div_ceil(MOST).max(1);
        let corners = mesh.triangles.iter().step_by(step).filter_map(|corners| {
            let [a, b, c] = corners.map(|v| placed[v as usize]);
            Some([a?, b?, c?])
        });
        (step, corners.filter(|corners| corners.iter().any(|(_, list)| list.is_some())).collect())
    };
    let sampled: Vec<(usize, Vec<[SkinCorner; 3]>)> =
        character.meshes.iter().enumerate().map(triangles).collect();
    let all = || sampled.iter().flat_map(|(step, corners)| corners.iter().map(|corners| (*step, corners)));
    let wanted: usize = all().map(|(_, corners)| divisions(corners, spacing).pow(2)).sum();
    let spacing = spacing * (wanted as f64 / MOST_SAMPLES as f64).max(1.0).sqrt();
    let mut found = vec![Vec::new(); list_of_joint.iter().flatten().max().map_or(0, |last| last + 1)];
    all().for_each(|(step, corners)| divide(corners, spacing, step as f64, &mut found));
    found
}

/// A vertex in model space, and the list that the skin around it goes into.
pub(super) type SkinCorner = (Vec3, Option<usize>);

/// A vertex by the joint that moves it most: in the bind pose all its joints agree where it is.
pub(super) fn attached(
    mesh: &Mesh,
    reference_pose: &ModelPose,
    vertex: usize,
    lists: &[Option<usize>],
) -> Option<SkinCorner> {
    let (joint, inside) = mesh.in_heaviest_joint(vertex)?;
    Some((reference_pose.joint(joint).point(&inside), lists[joint.index()]))
}

/// Into how many parts each edge of a triangle is cut.
fn divisions(corners: &[SkinCorner; 3], spacing: f64) -> usize {
    let [a, b, c] = [0, 1, 2].map(|k| corners[k].0);
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    if spacing > 0.0 { (longest / spacing).ceil().clamp(1.0, 16.0) as usize } else { 1 }
}

/// Cuts a triangle into `n x n` of its shape and adds their centres.
fn divide(corners: &[SkinCorner; 3], spacing: f64, stands_for: f64, found: &mut [Vec<SkinSample>]) {
    let [a, b, c] = [0, 1, 2].map(|k| corners[k].0);
    let n = divisions(corners, spacing);
    let area = 0.5 * (b - a).cross(&(c - a)).norm() * stands_for / (n * n) as f64;
    if !(area.is_finite() && area > 0.0) {
        return;
    }
    for i in 0..n {
        for j in 0..n - i {
            // Upright small triangles, and the inverted ones between them.
            for third in [1.0, 2.0].into_iter().take(if i + j + 1 < n { 2 } else { 1 }) {
                let u = (i as f64 + third / 3.0) / n as f64;
                let v = (j as f64 + third / 3.0) / n as f64;
                let shares = [1.0 - u - v, u, v];
                let nearest = (0..3).max_by(|&x, &y| shares[x].total_cmp(&shares[y])).unwrap_or(0);
                if let Some(list) = corners[nearest].1 {
                    found[list].push(SkinSample { at: a * shares[0] + b * u + c * v, area });
                }
            }
        }
    }
}

/// The number of histogram bins between the least value and the greatest.
const STEPS: usize = 256;

/// The values below which these `shares` of the total weight lie; `None` without values.
///
/// Weights are summed in a histogram, and only the values of the bin that contains a quantile are sorted.
fn quantiles<const N: usize>(values: &[(f64, f64)], shares: [f64; N]) -> Option<[f64; N]> {
    let ends = |(low, high): (f64, f64), v: &(f64, f64)| (low.min(v.0), high.max(v.0));
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let per_step = STEPS as f64 / (high - low);
    let step = |value: f64| (((value - low) * per_step) as usize).min(STEPS - 1);
    let (mut weights, mut total) = ([0.0; STEPS], 0.0);
    for (value, weight) in values {
        weights[step(*value)] += weight;
        total += weight;
    }
    let quantile = |share: f64| {
        let (mut below, mut last) = (0.0, 0);
        for (k, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            last = k;
            if below + weight >= share * total {
                break;
            }
            below += weight;
        }
        let mut near: Vec<(f64, f64)> = values.iter().copied().filter(|v| step(v.0) == last).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reached = near.iter().find(|(_, weight)| {
            below += weight;
            below >= share * total
        });
        reached.or(near.last()).map(|v| v.0)
    };
    let found = shares.map(quantile);
    found.iter().all(Option::is_some).then(|| found.map(Option::unwrap_or_default))
}

/// The fewest samples that a width is measured on.
const FEW: usize = 12;

fn along(skin: &[&SkinSample], at: &Vec3, axis: &Vec3) -> Option<Vec<(f64, f64)>> {
    (skin.len() >= FEW).then(|| skin.iter().map(|s| ((s.at - at).dot(axis), s.area)).collect())
}

/// The middle and half the width of the middle 90 % of the skin along an axis.
pub(super) fn spread(skin: &[&SkinSample], at: &Vec3, axis: &Vec3) -> Option<(f64, f64)> {
    let [low, high] = quantiles(&along(skin, at, axis)?, [0.05, 0.95])?;
    Some((0.5 * (low + high), 0.5 * (high - low)))
}

/// The ends of all but the outermost skin along an axis.
pub(super) fn range(skin: &[&SkinSample], at: &Vec3, axis: &Vec3) -> Option<[f64; 2]> {
    quantiles(&along(skin, at, axis)?, [0.02, 0.98])
}

/// The two directions across `axis` in which skin, places with areas, is widest and narrowest; with the axis they are right-handed.
pub(super) fn principal(skin: impl Iterator<Item = (Vec3, f64)>, axis: &Vec3) -> [Vec3; 2] {
    let p = any_perpendicular(axis);
    let q = axis.cross(&p);
    let (mut total, mut mean, mut square) = (0.0, [0.0; 2], [0.0; 3]);
    for (at, area) in skin {
        let (x, y) = (at.dot(&p), at.dot(&q));
        total += area;
        mean = [mean[0] + area * x, mean[1] + area * y];
        square = [square[0] + area * x * x, square[1] + area * x * y, square[2] + area * y * y];
    }
    let [x, y] = mean.map(|m| m / total);
    let [xx, xy, yy] = square.map(|m| m / total);
    let (sin, cos) = libm::sincos(0.5 * libm::atan2(2.0 * (xy - x * y), (xx - x * x) - (yy - y * y)));
    [p * cos + q * sin, q * cos - p * sin]
}

/// How far the middle of the skin lies off a line through `at`, and the 80th percentile of the distance from it.
pub(super) fn around(skin: &[&SkinSample], at: &Vec3, axis: &Vec3) -> Option<(Vec3, f64)> {
    (skin.len() >= FEW).then_some(())?;
    let [p, q] = principal(skin.iter().map(|s| (s.at - at, s.area)), axis);
    let shift = p * spread(skin, at, &p)?.0 + q * spread(skin, at, &q)?.0;
    let distance = |s: &&SkinSample| {
        let off = s.at - at - shift;
        ((off - axis * off.dot(axis)).norm(), s.area)
    };
    let values: Vec<(f64, f64)> = skin.iter().map(distance).collect();
    let [radius] = quantiles(&values, [0.8])?;
    Some((shift, radius))
}

/// As [`around`] for what is flat: the geometric mean of half its width and half its thickness.
pub(super) fn flat(skin: &[&SkinSample], at: &Vec3, axis: &Vec3) -> Option<(Vec3, f64)> {
    (skin.len() >= FEW).then_some(())?;
    let [p, q] = principal(skin.iter().map(|s| (s.at - at, s.area)), axis);
    let ((a, wide), (b, thick)) = (spread(skin, at, &p)?, spread(skin, at, &q)?);
    Some((p * a + q * b, (wide * thick).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_large_triangle_gives_many_samples_that_share_its_area() {
        let corner = |x: f64, y: f64, list: usize| (Vec3::new(x, y, 0.0), Some(list));
        let mut lists = vec![Vec::new(); 3];
        divide(&[corner(0.0, 0.0, 0), corner(1.0, 0.0, 1), corner(0.0, 1.0, 2)], 0.3, 1.0, &mut lists);
        assert!(!lists[1].is_empty() && lists[1].iter().all(|s| s.at.x > 0.3));
        let found = lists.concat();
        assert_eq!(found.len(), 25);
        assert!((found.iter().map(|s| s.area).sum::<f64>() - 0.5).abs() < 1e-12);
        let middle = found.iter().fold(Vec3::zeros(), |m, s| m + s.at * s.area) / 0.5;
        assert!((middle - Vec3::new(1.0, 1.0, 0.0) / 3.0).norm() < 1e-12);
    }

    /// Found by putting all values in order.
    fn plainly(values: &[(f64, f64)], share: f64) -> Option<f64> {
        let mut values = values.to_vec();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = values.iter().map(|v| v.1).sum();
        let mut below = 0.0;
        let reached = values.iter().find(|(_, weight)| {
            below += weight;
            below >= share * total
        });
        reached.or(values.last()).map(|v| v.0)
    }

    proptest! {
        /// Weights are whole numbers, so that sums in any order are the same.
        #[test]
        fn quantiles_are_those_of_all_values_in_order(
            values in proptest::collection::vec((-1.0..1.0f64, 1..9u8), 0..400), far in 1.0..1e6f64, share in 0.0..1.0f64,
        ) {
            let mut values: Vec<(f64, f64)> = values.into_iter().map(|(v, w)| (v, f64::from(w))).collect();
            // What lies far out leaves one step for the rest.
            values.extend((far > 10.0).then_some((far, 1.0)));
            let shares = [share, 0.05];
            let plain = shares.map(|s| plainly(&values, s));
            prop_assert_eq!(quantiles(&values, shares).map_or([None; 2], |q| q.map(Some)), plain);
        }
    }

    #[test]
    fn quantiles_follow_the_weights() {
        let values = [(3.0, 1.0), (1.0, 8.0), (2.0, 1.0)];
        assert_eq!(quantiles(&values, [0.8, 0.9]), Some([1.0, 2.0]));
        assert_eq!(quantiles(&[(2.0, 1.0); 9], [0.5]), Some([2.0]));
        assert_eq!(quantiles(&[], [0.5]), None);
    }
}
