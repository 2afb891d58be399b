//! A skinned surface becomes samples of its area, each with the joint that moves it most, and samples become widths.
//!
//! Samples stand for equal treatment of all skin: a face of ten thousand triangles weighs no more than its area, and the
//! large triangles of a low-poly model are as dense in samples as small ones. Space: model space of the pose in which
//! the skin was attached. Units: metres.

use crate::math::Vec3;
use crate::model::{Character, JointId, Mesh, ModelPose};

/// A piece of skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Where it is, in model space.
    pub at: Vec3,
    /// How much skin it stands for, in square metres.
    pub area: f64,
    /// The joint that moves the nearest vertex most.
    pub joint: JointId,
}

/// Triangles of one mesh that are looked at, at most: more are passed over evenly, for models of millions.
const MOST: usize = 30_000;

/// The samples of all meshes, about `spacing` apart, in the pose in which the skin was attached.
pub(super) fn samples(character: &Character, bind: &ModelPose, spacing: f64) -> Vec<Sample> {
    let mut found = Vec::new();
    for mesh in &character.meshes {
        let placed: Vec<Option<(Vec3, JointId)>> =
            (0..mesh.positions.len()).map(|v| attached(mesh, bind, v)).collect();
        let step = mesh.triangles.len().div_ceil(MOST).max(1);
        for corners in mesh.triangles.iter().step_by(step) {
            let [Some(a), Some(b), Some(c)] = corners.map(|v| placed[v as usize]) else { continue };
            divide(&[a, b, c], spacing, step as f64, &mut found);
        }
    }
    found
}

/// A vertex in model space, with the joint that moves it most: in the bind pose all its joints agree where it is.
fn attached(mesh: &Mesh, bind: &ModelPose, vertex: usize) -> Option<(Vec3, JointId)> {
    let (joints, weights) = (mesh.joints[vertex], mesh.weights[vertex]);
    let heaviest = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
    let binding = mesh.bindings.get(usize::from(joints[heaviest]))?;
    let p = mesh.positions[vertex];
    let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
    let inside = binding.joint_from_mesh.transform_point(&p.into()).coords;
    Some((bind.joint(binding.joint).point(&inside), binding.joint))
}

/// Cuts a triangle into `n x n` of its shape and adds their centres.
fn divide(corners: &[(Vec3, JointId); 3], spacing: f64, stands_for: f64, found: &mut Vec<Sample>) {
    let [a, b, c] = [0, 1, 2].map(|k| corners[k].0);
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    let n = if spacing > 0.0 { (longest / spacing).ceil().clamp(1.0, 16.0) as usize } else { 1 };
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
                found.push(Sample { at: a * shares[0] + b * u + c * v, area, joint: corners[nearest].1 });
            }
        }
    }
}

/// The value below which `share` of the total weight lies; `None` of nothing.
fn quantile(values: &mut [(f64, f64)], share: f64) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    for (value, weight) in values.iter() {
        below += weight;
        if below >= share * total {
            return Some(*value);
        }
    }
    values.last().map(|v| v.0)
}

/// Fewer samples than this are no skin to measure.
const FEW: usize = 12;

fn along(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> Option<Vec<(f64, f64)>> {
    (skin.len() >= FEW).then(|| skin.iter().map(|s| ((s.at - at).dot(axis), s.area)).collect())
}

/// The middle and half the width of the middle 90 % of the skin along an axis.
pub(super) fn spread(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> Option<(f64, f64)> {
    let mut values = along(skin, at, axis)?;
    let (low, high) = (quantile(&mut values, 0.05)?, quantile(&mut values, 0.95)?);
    Some((0.5 * (low + high), 0.5 * (high - low)))
}

/// The ends of all but the outermost skin along an axis.
pub(super) fn range(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> Option<[f64; 2]> {
    let mut values = along(skin, at, axis)?;
    Some([quantile(&mut values, 0.02)?, quantile(&mut values, 0.98)?])
}

/// The two directions across `axis` in which the skin is widest and narrowest.
fn principal(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> [Vec3; 2] {
    let p = axis.cross(&Vec3::ith(axis.iamin(), 1.0)).normalize();
    let q = axis.cross(&p);
    let (mut total, mut mean, mut square) = (0.0, [0.0; 2], [0.0; 3]);
    for s in skin {
        let (x, y) = ((s.at - at).dot(&p), (s.at - at).dot(&q));
        total += s.area;
        mean = [mean[0] + s.area * x, mean[1] + s.area * y];
        square = [square[0] + s.area * x * x, square[1] + s.area * x * y, square[2] + s.area * y * y];
    }
    let [x, y] = mean.map(|m| m / total);
    let [xx, xy, yy] = square.map(|m| m / total);
    let (sin, cos) = (0.5 * (2.0 * (xy - x * y)).atan2((xx - x * x) - (yy - y * y))).sin_cos();
    [p * cos + q * sin, q * cos - p * sin]
}

/// How far the middle of the skin lies off a line through `at`, and the 80th percentile of the distance from it.
pub(super) fn around(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> Option<(Vec3, f64)> {
    (skin.len() >= FEW).then_some(())?;
    let [p, q] = principal(skin, at, axis);
    let shift = p * spread(skin, at, &p)?.0 + q * spread(skin, at, &q)?.0;
    let distance = |s: &&Sample| {
        let off = s.at - at - shift;
        ((off - axis * off.dot(axis)).norm(), s.area)
    };
    let mut values: Vec<(f64, f64)> = skin.iter().map(distance).collect();
    Some((shift, quantile(&mut values, 0.8)?))
}

/// As [`around`] for what is flat: the geometric mean of half its width and half its thickness.
pub(super) fn flat(skin: &[&Sample], at: &Vec3, axis: &Vec3) -> Option<(Vec3, f64)> {
    (skin.len() >= FEW).then_some(())?;
    let [p, q] = principal(skin, at, axis);
    let ((a, wide), (b, thick)) = (spread(skin, at, &p)?, spread(skin, at, &q)?);
    Some((p * a + q * b, (wide * thick).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_triangle_gives_many_samples_that_share_its_area() {
        let corner = |x: f64, y: f64, j: usize| (Vec3::new(x, y, 0.0), JointId::new(j));
        let mut found = Vec::new();
        divide(&[corner(0.0, 0.0, 0), corner(1.0, 0.0, 1), corner(0.0, 1.0, 2)], 0.3, 1.0, &mut found);
        assert_eq!(found.len(), 25);
        assert!((found.iter().map(|s| s.area).sum::<f64>() - 0.5).abs() < 1e-12);
        let middle = found.iter().fold(Vec3::zeros(), |m, s| m + s.at * s.area) / 0.5;
        assert!((middle - Vec3::new(1.0, 1.0, 0.0) / 3.0).norm() < 1e-12);
        assert!(found.iter().filter(|s| s.joint == JointId::new(1)).all(|s| s.at.x > 0.3));
    }

    #[test]
    fn quantiles_follow_the_weights() {
        let mut values = vec![(3.0, 1.0), (1.0, 8.0), (2.0, 1.0)];
        assert_eq!(quantile(&mut values, 0.8), Some(1.0));
        assert_eq!(quantile(&mut values, 0.9), Some(2.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
