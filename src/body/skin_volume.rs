//! The volume inside the skin, by the joint that moves it: a second estimate of the masses of segments.
//!
//! Lines from back to front cross the skin; the sum of their signed crossings says where they are inside. Open tubes (sleeves, the
//! trunk below a shirt) are closed to such lines, skin inside of skin counts once, and a line whose crossings do not sum to zero
//! shows a hole. Space: model space of the reference pose, the character facing +Z. Units: metres.

use super::surface_samples::attached;
use crate::math::Vec3;
use crate::model::{Character, ModelPose};

/// Lines along the longer side of the figure: 1 cm apart for a person; 100 change the share of a hand by a tenth.
const LINES: usize = 180;

/// Largest share of lines that may meet a hole. Characters whose eyes or mouths are open have up to 0.02.
const OPEN: f64 = 0.04;

/// Crossings that are looked at, at most: a hundred for each line. Only damaged meshes have more.
const MOST: usize = 100 * LINES * LINES;

/// A crossing of a line with the skin.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    line: usize,
    /// Where, along the line.
    z: f64,
    /// 1 into the body, -1 out of it.
    into: i32,
    /// The joint that moves the skin there.
    joint: usize,
}

/// The volume inside the skin by joint, cubic metres; `None` without a skin that is closed.
pub fn skin_volume(character: &Character, pose: &ModelPose) -> Option<Vec<f64>> {
    let joints: Vec<Option<usize>> = (0..character.skeleton().len()).map(Some).collect();
    let mut triangles: Vec<[(Vec3, usize); 3]> = Vec::new();
    for mesh in &character.meshes {
        let corner = |v: usize| {
            let (at, joint) = attached(mesh, pose, v, &joints)?;
            Some((at, joint?)).filter(|(at, _)| at.iter().all(|x| x.is_finite()))
        };
        let corners: Vec<Option<(Vec3, usize)>> = (0..mesh.positions.len()).map(corner).collect();
        let triangle = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| corners[v as usize]);
            Some([a?, b?, c?])
        };
        triangles.extend(mesh.triangles.iter().filter_map(triangle));
    }
    let grid = LineGrid::around(&triangles)?;
    let mut crossings = Vec::new();
    for triangle in &triangles {
        grid.add(triangle, &mut crossings);
        if crossings.len() > MOST {
            return None;
        }
    }
    crossings.sort_by(|a, b| a.line.cmp(&b.line).then(a.z.total_cmp(&b.z)));
    let mut volumes = vec![0.0; joints.len()];
    let (mut lines, mut open) = (0, 0);
    for line in crossings.chunk_by(|a, b| a.line == b.line) {
        lines += 1;
        if line.iter().map(|c| c.into).sum::<i32>() != 0 {
            open += 1;
            continue;
        }
        let mut depth = 0;
        for pair in line.windows(2) {
            depth += pair[0].into;
            if depth != 0 {
                let half = 0.5 * (pair[1].z - pair[0].z) * grid.spacing * grid.spacing;
                volumes[pair[0].joint] += half;
                volumes[pair[1].joint] += half;
            }
        }
    }
    let closed = lines > 0 && f64::from(open) <= OPEN * f64::from(lines);
    (closed && volumes.iter().sum::<f64>() > 0.0).then_some(volumes)
}

/// Lines along Z through a square grid.
#[derive(Clone, Copy, Debug)]
struct LineGrid {
    low: [f64; 2],
    spacing: f64,
}

impl LineGrid {
    /// The grid around these triangles; `None` without any.
    fn around(triangles: &[[(Vec3, usize); 3]]) -> Option<Self> {
        let all = || triangles.iter().flatten().map(|(at, _)| at);
        let ends = |axis: usize| {
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), at| (a.min(at[axis]), b.max(at[axis])))
        };
        let (x, y) = (ends(0), ends(1));
        let size = (x.1 - x.0).max(y.1 - y.0);
        let spacing = size / LINES as f64;
        // A part of the spacing without a simple ratio to it: lines miss the edges of meshes on round numbers.
        let offset = 0.381_966 * spacing;
        (spacing.is_finite() && spacing > 0.0).then_some(Self { low: [x.0 - offset, y.0 - offset], spacing })
    }

    /// Adds the crossings of a triangle.
    fn add(&self, triangle: &[(Vec3, usize); 3], crossings: &mut Vec<Crossing>) {
        let [a, b, c] = triangle.map(|(at, _)| at);
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area == 0.0 {
            return;
        }
        let lines = |axis: usize| {
            let of = |x: f64| (x - self.low[axis]) / self.spacing;
            let (low, high) = (a[axis].min(b[axis]).min(c[axis]), a[axis].max(b[axis]).max(c[axis]));
            of(low).ceil() as usize..=of(high).floor() as usize
        };
        for i in lines(0) {
            for j in lines(1) {
                let x = self.low[0] + i as f64 * self.spacing;
                let y = self.low[1] + j as f64 * self.spacing;
                let share = |p: &Vec3, q: &Vec3| ((p.x - x) * (q.y - y) - (p.y - y) * (q.x - x)) / area;
                let shares = [share(&b, &c), share(&c, &a), share(&a, &b)];
                if shares.iter().any(|s| *s < 0.0) {
                    continue;
                }
                let nearest = (0..3).max_by(|&k, &l| shares[k].total_cmp(&shares[l])).unwrap_or(0);
                crossings.push(Crossing {
                    line: i * (LINES + 2) + j,
                    z: a.z * shares[0] + b.z * shares[1] + c.z * shares[2],
                    // Corners run counter-clockwise seen from outside: seen from the front, the front does.
                    into: if area < 0.0 { 1 } else { -1 },
                    joint: triangle[nearest].1,
                });
            }
        }
    }
}
