//! Marks drawn in the scene: the path over the ground, contacts and targets.
//!
//! They are flat triangles in plain colours, so that depth hides them as it should. Space: model space, metres.

use super::texture::linear;
use super::vector::V3;
use crate::body::CharacterBody;
use crate::math::{Vec3, single};
use crate::model::{Mark, MarkKind, Motion};

/// Linear colour of the path.
const PATH: [u8; 3] = [122, 134, 205];
/// Linear colour of a contact.
const CONTACT: [u8; 3] = [46, 158, 107];
/// Linear colour of a target.
const TARGET: [u8; 3] = [214, 64, 92];

/// A mark for every contact of the motion, at the position of the body part in the middle of the contact.
pub(super) fn contact_marks(motion: &Motion) -> Vec<Mark> {
    let Some(contacts) = &motion.contacts else { return Vec::new() };
    let clip = &motion.clip;
    let mut marks = Vec::new();
    for point in CharacterBody::new(&motion.character).contact_points() {
        for hold in contacts.holds(point.part) {
            let middle = (hold.frames.start + hold.frames.end) / 2;
            let pose = motion.model_pose(middle);
            marks.push(Mark {
                kind: MarkKind::Contact,
                at: pose.joint(point.joint).point(&point.at),
                from: hold.frames.start as f64 / clip.sample_rate,
                to: (hold.frames.end - 1) as f64 / clip.sample_rate,
            });
        }
    }
    marks
}

/// A flat triangle in a plain colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat {
    pub(super) corners: [V3; 3],
    pub(super) color: V3,
    pub(super) from: f64,
    pub(super) to: f64,
}

fn quad(corners: [Vec3; 4], color: [u8; 3], from: f64, to: f64, flats: &mut Vec<Flat>) {
    let [a, b, c, d] = corners.map(|v| single(&v));
    for corners in [[a, b, c], [a, c, d]] {
        flats.push(Flat { corners, color: linear(color), from, to });
    }
}

/// The path through these points as a ribbon on the ground at height `ground`.
pub(super) fn path(points: &[Vec3], ground: f64, width: f64, flats: &mut Vec<Flat>) {
    let height = ground + 0.1 * width;
    let mut last: Option<Vec3> = None;
    let flat = |p: &Vec3| Vec3::new(p.x, height, p.z);
    let mut edges: Option<[Vec3; 2]> = None;
    for point in points.iter().map(flat) {
        let Some(from) = last else {
            last = Some(point);
            continue;
        };
        // Points closer together than the ribbon is wide would make it zigzag.
        let Some(along) = (point - from).try_normalize(1.5 * width) else { continue };
        let aside = Vec3::new(along.z, 0.0, -along.x) * (0.5 * width);
        let start = edges.unwrap_or([from - aside, from + aside]);
        let end = [point - aside, point + aside];
        quad([start[0], start[1], end[1], end[0]], PATH, f64::NEG_INFINITY, f64::INFINITY, flats);
        edges = Some(end);
        last = Some(point);
    }
}

/// The triangles of a mark; `size` is that of the figure.
pub(super) fn mark(mark: &Mark, ground: f64, size: f64, flats: &mut Vec<Flat>) {
    let (from, to) = (mark.from, mark.to);
    match mark.kind {
        MarkKind::Contact => {
            let middle = Vec3::new(mark.at.x, ground + 0.002 * size, mark.at.z);
            let on = |k: usize, radius: f64| {
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / 24.0);
                middle + Vec3::new(cos, 0.0, sin) * (radius * size)
            };
            for k in 0..24 {
                let ring = [on(k, 0.05), on(k, 0.065), on(k + 1, 0.065), on(k + 1, 0.05)];
                quad(ring, CONTACT, from, to, flats);
            }
        }
        MarkKind::Target => {
            let r = 0.025 * size;
            let axes = [Vec3::x(), Vec3::z(), -Vec3::x(), -Vec3::z()];
            for k in 0..4 {
                for pole in [Vec3::y(), -Vec3::y()] {
                    let corners = [axes[k], axes[(k + 1) % 4], pole].map(|v| single(&(mark.at + v * r)));
                    let shade = if pole.y > 0.0 { TARGET } else { TARGET.map(|c| c / 4 * 3) };
                    flats.push(Flat { corners, color: linear(shade), from, to });
                }
            }
        }
    }
}
