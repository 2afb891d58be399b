//! Contact points of pairs of shapes, in an order that depends only on the list of colliders.
//!
//! Sources: closest points of segments and boxes after C. Ericson, "Real-Time Collision Detection", 2005, chapter 5;
//! boxes against boxes by separating axes and face clipping (Gottschalk 1996; Sutherland, Hodgman 1974). Space:
//! world. Units: metres. A contact within the margin but not yet touching has a negative depth: it is speculative, and
//! lets the bodies approach until they touch, but not further.

use super::box_contact::cuboid_cuboid;
use super::contact_point::{Contact, Touch};
use super::shape::{Collider, Shape};
use crate::math::{Transform, Vec3, nearest_point_on_segment, nearest_points_of_segments};

/// Appends all contacts of `first` and `second`, given with their world transforms, whose distance is below `margin`.
pub fn contacts_of_pair(
    (first, a): (usize, (&Collider, &Transform)),
    (second, b): (usize, (&Collider, &Transform)),
    margin: f64,
    out: &mut Vec<Contact>,
) {
    let mut touches = Vec::new();
    let flipped = touch((&a.0.shape, a.1), (&b.0.shape, b.1), margin, &mut touches);
    for t in touches {
        let normal = if flipped { -t.normal } else { t.normal };
        out.push(Contact { first, second, feature: t.feature, point: t.point, normal, depth: t.depth });
    }
}

/// Appends the contacts to `out` with normals from the second shape to the first, or the reverse where it returns `true`.
fn touch(a: (&Shape, &Transform), b: (&Shape, &Transform), margin: f64, out: &mut Vec<Touch>) -> bool {
    let (ta, tb) = (a.1, b.1);
    match (a.0, b.0) {
        (Shape::Sphere { radius }, Shape::Plane) => {
            plane_points(tb, &[(ta.translation, *radius)], margin, out)
        }
        (Shape::Capsule { radius, length }, Shape::Plane) => {
            let ends = ends(ta, *length).map(|e| (e, *radius));
            plane_points(tb, &ends, margin, out);
        }
        (Shape::Cuboid { half }, Shape::Plane) => {
            let corners: Vec<(Vec3, f64)> = (0..8).map(|k| (ta.point(&corner(half, k)), 0.0)).collect();
            plane_points(tb, &corners, margin, out);
        }
        (Shape::Sphere { radius: r }, Shape::Sphere { radius: s }) => {
            balls(0, &ta.translation, *r, &tb.translation, *s, margin, out);
        }
        (Shape::Sphere { radius: r }, Shape::Capsule { radius: s, length }) => {
            let [p, q] = ends(tb, *length);
            balls(
                0,
                &ta.translation,
                *r,
                &nearest_point_on_segment(&[p, q], &ta.translation),
                *s,
                margin,
                out,
            );
        }
        (Shape::Sphere { radius }, Shape::Cuboid { half }) => {
            ball_cuboid(0, &ta.translation, *radius, tb, half, margin, out);
        }
        (Shape::Capsule { radius: r, length: l }, Shape::Capsule { radius: s, length: m }) => {
            capsules(&ends(ta, *l), *r, &ends(tb, *m), *s, margin, out);
        }
        (Shape::Capsule { radius, length }, Shape::Cuboid { half }) => {
            capsule_cuboid(&ends(ta, *length), *radius, tb, half, margin, out);
        }
        (Shape::Cuboid { half }, Shape::Cuboid { half: other }) => {
            cuboid_cuboid((ta, half), (tb, other), margin, out);
        }
        (Shape::Ellipsoid { .. }, _) | (_, Shape::Ellipsoid { .. }) | (Shape::Plane, Shape::Plane) => {}
        // The remaining pairs are those above in reverse order.
        _ => {
            touch(b, a, margin, out);
            return true;
        }
    }
    false
}

fn ends(t: &Transform, length: f64) -> [Vec3; 2] {
    let half = t.rotation * Vec3::new(0.0, 0.0, length / 2.0);
    [t.translation - half, t.translation + half]
}

/// Corner `k` of a box: bits 0, 1, 2 choose the positive side of x, y, z.
pub(super) fn corner(half: &Vec3, k: usize) -> Vec3 {
    let side = |bit: usize, h: f64| if k >> bit & 1 == 1 { h } else { -h };
    Vec3::new(side(0, half.x), side(1, half.y), side(2, half.z))
}

fn plane_points(plane: &Transform, points: &[(Vec3, f64)], margin: f64, out: &mut Vec<Touch>) {
    let normal = plane.rotation * Vec3::z();
    for (k, (point, radius)) in points.iter().enumerate() {
        let depth = radius - normal.dot(&(point - plane.translation));
        if depth > -margin {
            out.push(Touch { feature: k as u32, point: point - normal * *radius, normal, depth });
        }
    }
}

fn balls(feature: u32, p: &Vec3, r: f64, q: &Vec3, s: f64, margin: f64, out: &mut Vec<Touch>) {
    let apart = p - q;
    let distance = apart.norm();
    let depth = r + s - distance;
    if depth > -margin {
        // Concentric balls have no separating direction: any will do.
        let normal = if distance > 1e-12 { apart / distance } else { Vec3::z() };
        out.push(Touch { feature, point: q + normal * (s - depth / 2.0), normal, depth });
    }
}

fn ball_cuboid(
    feature: u32,
    centre: &Vec3,
    radius: f64,
    world_from_box: &Transform,
    half: &Vec3,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let p = world_from_box.inverse().point(centre);
    let nearest = p.zip_map(half, |x, h| x.clamp(-h, h));
    let apart = p - nearest;
    let distance = apart.norm();
    let (normal, surface, depth) = if distance > 1e-9 {
        (apart / distance, nearest, radius - distance)
    } else {
        // The centre is inside: push out through the nearest face.
        let room = half.zip_map(&p, |h, x| h - x.abs());
        let axis = room.imin();
        let mut normal = Vec3::zeros();
        normal[axis] = if p[axis] < 0.0 { -1.0 } else { 1.0 };
        (normal, p + normal * room[axis], radius + room[axis])
    };
    if depth > -margin {
        let normal = world_from_box.vector(&normal);
        let point = world_from_box.point(&surface) - normal * (depth / 2.0);
        out.push(Touch { feature, point, normal, depth });
    }
}

fn capsules(a: &[Vec3; 2], r: f64, b: &[Vec3; 2], s: f64, margin: f64, out: &mut Vec<Touch>) {
    let (d, e) = (a[1] - a[0], b[1] - b[0]);
    let (dd, ee) = (d.norm_squared(), e.norm_squared());
    if d.cross(&e).norm_squared() <= 1e-6 * dd * ee {
        // Nearly parallel: contacts at both ends of the overlap, so that one capsule can lie on the other.
        let along = d.try_normalize(1e-12).or_else(|| e.try_normalize(1e-12)).unwrap_or(Vec3::z());
        let at = |p: &Vec3| along.dot(p);
        let (a_low, a_high) = (at(&a[0]).min(at(&a[1])), at(&a[0]).max(at(&a[1])));
        let (b_low, b_high) = (at(&b[0]).min(at(&b[1])), at(&b[0]).max(at(&b[1])));
        let (low, high) = (a_low.max(b_low), a_high.min(b_high));
        if high - low > 1e-9 {
            for (k, t) in [low, high].into_iter().enumerate() {
                let p = nearest_point_on_segment(a, &(a[0] + along * (t - at(&a[0]))));
                balls(1 + k as u32, &p, r, &nearest_point_on_segment(b, &p), s, margin, out);
            }
            return;
        }
    }
    let [p, q] = nearest_points_of_segments(a, b);
    balls(0, &p, r, &q, s, margin, out);
}

fn capsule_cuboid(
    ends: &[Vec3; 2],
    radius: f64,
    world_from_box: &Transform,
    half: &Vec3,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    for (k, end) in ends.iter().enumerate() {
        ball_cuboid(k as u32, end, radius, world_from_box, half, margin, out);
    }
    // The distance to the box is convex along the segment: golden-section search for the interior minimum.
    let box_from_world = world_from_box.inverse();
    let at = |t: f64| ends[0] + (ends[1] - ends[0]) * t;
    let distance = |t: f64| {
        let p = box_from_world.point(&at(t));
        (p - p.zip_map(half, |x, h| x.clamp(-h, h))).norm()
    };
    /// The inverse of the golden ratio: each step keeps one of the two inner points.
    const RATIO: f64 = 0.618_033_988_749_895;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut t, mut u) = (1.0 - RATIO, RATIO);
    let (mut dt, mut du) = (distance(t), distance(u));
    for _ in 0..48 {
        if dt < du {
            (high, u, du) = (u, t, dt);
            t = high - RATIO * (high - low);
            dt = distance(t);
        } else {
            (low, t, dt) = (t, u, du);
            u = low + RATIO * (high - low);
            du = distance(u);
        }
    }
    let t = 0.5 * (low + high);
    // Only where the minimum is clearly nearer than both ends; otherwise it would repeat one of them.
    if (0.02..0.98).contains(&t) && distance(t) < distance(0.0).min(distance(1.0)) - 1e-6 {
        ball_cuboid(2, &at(t), radius, world_from_box, half, margin, out);
    }
}
