//! Orders a surface so that it packs well: triangles over shared edges, points and vertices by first use.
//!
//! A point is a position with its joints and weights, and belongs to several vertices where normals or colours break. Each
//! point that a neighbouring triangle adds is predicted as the fourth corner of a parallelogram (Touma and Gotsman 1998).

use std::collections::HashMap;

/// What follows over an edge, or as a corner of the first triangle of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Corner {
    /// No triangle that was not visited before.
    Nothing = 0,
    /// The next new point.
    New = 1,
    /// A point of an earlier triangle.
    Known = 2,
}

/// A point in the order of the surface.
#[derive(Clone, Debug)]
pub(super) struct PlacedPoint {
    /// The number of the point before.
    pub(super) point: usize,
    /// The position less its prediction, steps.
    pub(super) residual: [i32; 3],
    /// The place in the order of the point that it resembles, if there is one.
    pub(super) parent: Option<usize>,
}

/// A surface in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedSurface {
    pub(super) corners: Vec<Corner>,
    /// For each [`Corner::Known`] how many points back it is.
    pub(super) back: Vec<i32>,
    pub(super) points: Vec<PlacedPoint>,
    /// For each use of a known point: 0 the vertex of its last use, 1 a new one, k + 1 the k-th before the last.
    pub(super) uses: Vec<i32>,
    /// The vertices, as numbers of the vertices before, in the order of their first use.
    pub(super) vertices: Vec<usize>,
}

/// The directed edges of triangles, each with its triangles and the number of its first corner.
type TrianglesOfEdges = HashMap<[usize; 2], Vec<(usize, usize)>>;

/// Walks over a surface.
struct Walk<'a> {
    codes: &'a [[i32; 3]],
    /// The place of each point in the order.
    place: HashMap<usize, usize>,
    out: PackedSurface,
}

impl PackedSurface {
    /// The order of `triangles`, whose corners are vertices; `point_of` each vertex's point, and `codes` the points' positions in
    /// steps.
    pub(super) fn of(triangles: &[[usize; 3]], point_of: &[usize], codes: &[[i32; 3]]) -> Self {
        let mut edges = TrianglesOfEdges::new();
        for (t, corners) in triangles.iter().enumerate() {
            let points = corners.map(|v| point_of[v]);
            for k in 0..3 {
                edges.entry([points[k], points[(k + 1) % 3]]).or_default().push((t, k));
            }
        }
        let mut walk = Walk { codes, place: HashMap::new(), out: Self::default() };
        let mut visited = vec![false; triangles.len()];
        let mut order = Vec::with_capacity(3 * triangles.len());
        for first in 0..triangles.len() {
            if std::mem::replace(&mut visited[first], true) {
                continue;
            }
            order.extend(triangles[first]);
            let [a, b, c] = triangles[first].map(|v| point_of[v]);
            for point in [a, b, c] {
                let last = walk.out.points.last().map(|p| p.point);
                walk.corner(point, last.map_or([0; 3], |p| codes[p]), last);
            }
            // TrianglesOfEdges to cross: from, to, and the corner on this side.
            let mut open = vec![[b, a, c], [c, b, a], [a, c, b]];
            while let Some([a, b, behind]) = open.pop() {
                let all = edges.get_mut(&[a, b]);
                let next = all.and_then(|all| std::iter::from_fn(|| all.pop()).find(|e| !visited[e.0]));
                let Some((t, k)) = next else {
                    walk.out.corners.push(Corner::Nothing);
                    continue;
                };
                visited[t] = true;
                let turned = [0, 1, 2].map(|i| triangles[t][(k + i) % 3]);
                order.extend(turned);
                let c = point_of[turned[2]];
                let fourth = [0, 1, 2].map(|i| codes[a][i] + codes[b][i] - codes[behind][i]);
                walk.corner(c, fourth, Some(a));
                open.extend([[c, b, a], [a, c, b]]);
            }
        }
        walk.out.use_vertices(&order, point_of);
        walk.out
    }

    /// The vertices of the corners in `order`.
    fn use_vertices(&mut self, order: &[usize], point_of: &[usize]) {
        // The vertices of each point, the last used first.
        let mut used: HashMap<usize, Vec<usize>> = HashMap::new();
        for &vertex in order {
            let own = used.entry(point_of[vertex]).or_default();
            let known = own.iter().position(|&v| v == vertex);
            match known {
                None if own.is_empty() => {}
                None => self.uses.push(1),
                Some(0) => self.uses.push(0),
                Some(k) => self.uses.push(k as i32 + 1),
            }
            match known {
                Some(k) => own[..=k].rotate_right(1),
                None => {
                    own.insert(0, vertex);
                    self.vertices.push(vertex);
                }
            }
        }
    }
}

impl Walk<'_> {
    fn corner(&mut self, point: usize, predicted: [i32; 3], parent: Option<usize>) {
        let out = &mut self.out;
        if let Some(known) = self.place.get(&point) {
            out.corners.push(Corner::Known);
            out.back.push((out.points.len() - 1 - known) as i32);
            return;
        }
        out.corners.push(Corner::New);
        self.place.insert(point, out.points.len());
        let residual = [0, 1, 2].map(|i| self.codes[point][i] - predicted[i]);
        out.points.push(PlacedPoint { point, residual, parent: parent.map(|p| self.place[&p]) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The triangles of a surface as positions of vertices, as the player unpacks them, each with its least corner first.
    fn unpacked(surface: &PackedSurface) -> Vec<[(usize, [i32; 3]); 3]> {
        let (mut codes, mut order): (Vec<[i32; 3]>, Vec<usize>) = Default::default();
        let (mut corners, mut back) = (surface.corners.iter(), surface.back.iter());
        let next = |corner: Corner,
                    predicted: [i32; 3],
                    codes: &mut Vec<[i32; 3]>,
                    back: &mut std::slice::Iter<i32>| {
            if corner == Corner::Known {
                return codes.len() - 1 - *back.next().unwrap() as usize;
            }
            let residual = surface.points[codes.len()].residual;
            codes.push([0, 1, 2].map(|i| predicted[i] + residual[i]));
            codes.len() - 1
        };
        while let Some(&first) = corners.next() {
            let mut seed = [0; 3];
            for (k, place) in seed.iter_mut().enumerate() {
                let corner = if k == 0 { first } else { *corners.next().unwrap() };
                let last = codes.last().copied().unwrap_or_default();
                *place = next(corner, last, &mut codes, &mut back);
            }
            let [a, b, c] = seed;
            order.extend(seed);
            let mut open = vec![[b, a, c], [c, b, a], [a, c, b]];
            while let Some([a, b, behind]) = open.pop() {
                let corner = *corners.next().unwrap();
                if corner == Corner::Nothing {
                    continue;
                }
                let fourth = [0, 1, 2].map(|i| codes[a][i] + codes[b][i] - codes[behind][i]);
                let c = next(corner, fourth, &mut codes, &mut back);
                order.extend([a, b, c]);
                open.extend([[c, b, a], [a, c, b]]);
            }
        }
        let mut used: Vec<Vec<usize>> = vec![Vec::new(); codes.len()];
        let (mut uses, mut count) = (surface.uses.iter(), 0);
        let vertex = |&p: &usize| {
            let own = &mut used[p];
            match if own.is_empty() { 1 } else { *uses.next().unwrap() } {
                1 => {
                    own.insert(0, count);
                    count += 1;
                }
                k => own[..=(k as usize).saturating_sub(1)].rotate_right(1),
            }
            (surface.vertices[own[0]], codes[p])
        };
        let all: Vec<_> = order.iter().map(vertex).collect();
        let triangles = all.chunks(3).map(|t| [t[0], t[1], t[2]]);
        sorted(triangles.collect())
    }

    fn sorted(mut triangles: Vec<[(usize, [i32; 3]); 3]>) -> Vec<[(usize, [i32; 3]); 3]> {
        for t in &mut triangles {
            let least = (0..3).min_by_key(|&k| [t[k].0, t[(k + 1) % 3].0, t[(k + 2) % 3].0]).unwrap();
            t.rotate_left(least);
        }
        triangles.sort_unstable();
        triangles
    }

    proptest! {
        #[test]
        fn any_triangles_come_back_with_their_vertices_positions_and_winding(
            codes in prop::collection::vec(prop::array::uniform3(0..4096_i32), 1..13),
            points in prop::collection::vec(0..12_usize, 1..31),
            corners in prop::collection::vec(prop::array::uniform3(0..30_usize), 0..60),
        ) {
            let point_of: Vec<usize> = points.iter().map(|p| p % codes.len()).collect();
            // TrianglesOfEdges with many triangles, triangles without area, and the same triangle twice are among them.
            let triangles: Vec<[usize; 3]> = corners.iter().map(|t| t.map(|v| v % point_of.len())).collect();
            let surface = PackedSurface::of(&triangles, &point_of, &codes);
            let expected = triangles.iter().map(|t| t.map(|v| (v, codes[point_of[v]]))).collect();
            prop_assert_eq!(unpacked(&surface), sorted(expected));
        }
    }

    #[test]
    fn a_flat_grid_is_predicted_exactly() {
        let side = 20;
        let at = |x: usize, y: usize| y * side + x;
        let codes: Vec<[i32; 3]> =
            (0..side * side).map(|k| [(k % side) as i32 * 7, (k / side) as i32 * 5, 3]).collect();
        let cells = (0..(side - 1) * (side - 1)).map(|k| (k % (side - 1), k / (side - 1)));
        let triangles: Vec<[usize; 3]> = cells
            .flat_map(|(x, y)| {
                [[at(x, y), at(x + 1, y), at(x, y + 1)], [at(x, y + 1), at(x + 1, y), at(x + 1, y + 1)]]
            })
            .collect();
        let same: Vec<usize> = (0..side * side).collect();
        let surface = PackedSurface::of(&triangles, &same, &codes);
        assert_eq!(surface.points.iter().filter(|p| p.residual != [0; 3]).count(), 3);
        assert!(surface.uses.iter().all(|&u| u == 0));
    }
}
