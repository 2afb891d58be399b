//! Whether a point is inside of a skin: generalised winding number, exact near the point and by dipoles far from it.
//!
//! Jacobson, Kavan and Sorkine-Hornung, Robust inside-outside segmentation using generalized winding numbers (2013); clusters
//! with one dipole each after Barill et al., Fast winding numbers for soups and clouds (2018). Skins are open where arms and
//! shins begin, and made of overlapping pieces: the number is then a fraction. Units: any length.

use crate::math::Vec3;

/// The most triangles of a cluster: fewer make more dipoles, more make near ones dearer.
const CLUSTER: usize = 48;
/// A cluster is far beyond this many of its radii (Barill et al. 2018: 2 for points, which errs by some thousandths).
const FAR: f64 = 2.0;
/// Above this a point is inside: midway between 0 outside and 1 inside.
const INSIDE: f64 = 0.5;

/// Triangles of a skin, in clusters; corners are indices of vertices.
#[derive(Clone, Debug, Default)]
pub struct Clusters(Vec<Vec<[u32; 3]>>);

impl Clusters {
    /// Divides `triangles` by position, where vertices are at `at` as the skin is bound.
    pub fn new(mut triangles: Vec<[u32; 3]>, at: &[Vec3]) -> Self {
        let mut found = Vec::new();
        divide(&mut triangles, at, &mut found);
        Self(found)
    }

    /// Whether there is no triangle.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The skin with its vertices at `at`.
    pub fn posed(&self, at: &[Vec3]) -> PosedSkin {
        let posed = |triangles: &Vec<[u32; 3]>| {
            let triangles: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(|v| at[v as usize])).collect();
            let middle = |[a, b, c]: &[Vec3; 3]| (a + b + c) / 3.0;
            let centre = triangles.iter().map(middle).sum::<Vec3>() / triangles.len().max(1) as f64;
            let radius = triangles.iter().flatten().map(|p| (p - centre).norm()).fold(0.0, f64::max);
            let dipole = triangles.iter().map(|[a, b, c]| (b - a).cross(&(c - a)) * 0.5).sum();
            PosedCluster { triangles, centre, radius, dipole }
        };
        PosedSkin(self.0.iter().map(posed).collect())
    }
}

/// Halves along the longest side until clusters are small.
fn divide(triangles: &mut [[u32; 3]], at: &[Vec3], found: &mut Vec<Vec<[u32; 3]>>) {
    if triangles.len() <= CLUSTER {
        if !triangles.is_empty() {
            found.push(triangles.to_vec());
        }
        return;
    }
    let middle = |t: &[u32; 3]| t.iter().map(|v| at[*v as usize]).sum::<Vec3>();
    let mut low = Vec3::repeat(f64::INFINITY);
    let mut high = -low;
    for m in triangles.iter().map(middle) {
        (low, high) = (low.inf(&m), high.sup(&m));
    }
    let axis = (high - low).imax();
    let half = triangles.len() / 2;
    triangles.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(b)));
    let (left, right) = triangles.split_at_mut(half);
    divide(left, at, found);
    divide(right, at, found);
}

#[derive(Clone, Debug)]
struct PosedCluster {
    triangles: Vec<[Vec3; 3]>,
    centre: Vec3,
    radius: f64,
    /// The sum of the triangles' normals times their areas.
    dipole: Vec3,
}

/// A skin in one pose.
#[derive(Clone, Debug)]
pub struct PosedSkin(Vec<PosedCluster>);

impl PosedSkin {
    /// Whether `p` is inside.
    pub fn contains(&self, p: &Vec3) -> bool {
        self.winding_number(p) > INSIDE
    }

    /// The number of times that the skin encloses `p`.
    fn winding_number(&self, p: &Vec3) -> f64 {
        let of = |cluster: &PosedCluster| {
            let away = cluster.centre - p;
            let distance = away.norm();
            if distance > FAR * cluster.radius {
                return cluster.dipole.dot(&away) / (distance * distance * distance);
            }
            cluster.triangles.iter().map(|t| solid_angle(t, p)).sum()
        };
        self.0.iter().map(of).sum::<f64>() / (4.0 * std::f64::consts::PI)
    }
}

/// The solid angle of a triangle seen from `p` (van Oosterom and Strackee 1983), positive from inside.
fn solid_angle(triangle: &[Vec3; 3], p: &Vec3) -> f64 {
    let [a, b, c] = triangle.map(|corner| corner - p);
    let (x, y, z) = (a.norm(), b.norm(), c.norm());
    let volume = a.dot(&b.cross(&c));
    let below = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
    2.0 * libm::atan2(volume, below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A sphere of radius 1 as rings of triangles, those above `open` of its height left out.
    fn sphere(rings: usize, open: f64) -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let around = 2 * rings;
        let at = |i: usize, j: usize| {
            let (a, b) = (
                std::f64::consts::PI * i as f64 / rings as f64,
                std::f64::consts::TAU * (j % around) as f64 / around as f64,
            );
            Vec3::new(libm::sin(a) * libm::cos(b), libm::cos(a), libm::sin(a) * libm::sin(b))
        };
        let points = (0..=rings).flat_map(|i| (0..around).map(move |j| at(i, j))).collect::<Vec<_>>();
        let index = |i: usize, j: usize| (i * around + j % around) as u32;
        let quads = (0..rings).flat_map(|i| (0..around).map(move |j| (i, j)));
        let both = quads.flat_map(|(i, j)| {
            let [a, b, c, d] = [index(i, j), index(i, j + 1), index(i + 1, j + 1), index(i + 1, j)];
            [[a, b, c], [a, c, d]]
        });
        let kept: Vec<[u32; 3]> = both.filter(|t| t.iter().all(|v| points[*v as usize].y <= open)).collect();
        (kept, points)
    }

    proptest! {
        #[test]
        fn points_are_inside_of_a_sphere_where_they_are_nearer_than_its_radius(
            p in proptest::array::uniform3(-2.0..2.0f64),
        ) {
            let p = Vec3::from(p);
            let (triangles, at) = sphere(24, 2.0);
            let skin = Clusters::new(triangles, &at).posed(&at);
            prop_assume!((p.norm() - 1.0).abs() > 0.02);
            prop_assert_eq!(skin.contains(&p), p.norm() < 1.0, "{}", skin.winding_number(&p));
        }
    }

    #[test]
    fn a_skin_that_is_open_at_its_top_still_has_an_inside() {
        let (triangles, at) = sphere(24, 0.8);
        let skin = Clusters::new(triangles, &at).posed(&at);
        assert!(skin.contains(&Vec3::zeros()) && !skin.contains(&Vec3::new(0.0, 1.1, 0.0)));
        assert!(!skin.contains(&Vec3::new(1.1, 0.0, 0.0)));
    }
}
