//! The features of HumanML3D: rows of 263 numbers from positions of its 22 joints at 20 Hz.
//!
//! Half the rotation of the heading, velocity of the root in the next heading, its height, positions of 21 joints in the heading,
//! rotations, velocities of 22 joints in the heading, contacts of ankles and toes. The figure begins at the origin, facing +Z, and its
//! lowest point is on the floor; it keeps its own lengths, where the data set brings all to those of one person. Rotations are the
//! shortest arcs from one bone to the next, of positions alone; the data set's own are computed otherwise, and readers do not use
//! them. Source: Guo et al. 2022, Generating diverse and natural 3D human motions from text. Units: metres and radians per frame.

use crate::math::{Quat, UnitVec3, Vec3, arc};

/// The name of the layout.
pub(super) const FEATURES: &str = "humanml3d_features";
/// Joints of a frame.
const JOINTS: usize = 22;
/// Joints across the body: right and left hip, right and left shoulder.
const ACROSS: [usize; 4] = [2, 1, 17, 16];
/// Ankle and toe, left and right.
const FEET: [[usize; 2]; 2] = [[7, 10], [8, 11]];
/// Squared movement of a foot in contact in a frame, square metres: that of the data set, 4.5 cm.
const CONTACT: f64 = 0.002;
/// Deviation of the Gaussian that smooths the heading, frames, and where it is cut off, in deviations: those of the data set.
const SMOOTHED: (f64, f64) = (20.0, 4.0);
/// The chains of joints, from the root.
const CHAINS: [&[usize]; 5] =
    [&[0, 2, 5, 8, 11], &[0, 1, 4, 7, 10], &[0, 3, 6, 9, 12, 15], &[9, 14, 17, 19, 21], &[9, 13, 16, 18, 20]];

/// The rows of a motion: one for every frame but the last; `None` for fewer than two frames.
pub(super) fn features(frames: &[Vec<Vec3>]) -> Option<Vec<Vec<f64>>> {
    if frames.len() < 2 {
        return None;
    }
    let floor = frames.iter().flatten().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let start = Vec3::new(frames[0][0].x, floor, frames[0][0].z);
    // From the world to the first heading, and from there to each.
    let headings = headings(frames);
    let first = to_front(&headings[0]);
    let placed: Vec<Vec<Vec3>> =
        frames.iter().map(|frame| frame.iter().map(|p| first * (p - start)).collect()).collect();
    let facings: Vec<Quat> = headings.iter().map(|heading| to_front(&(first * heading))).collect();
    Some((0..frames.len() - 1).map(|f| row(&placed[f], &placed[f + 1], facings[f], facings[f + 1])).collect())
}

/// The direction in which a figure looks, along the floor.
fn facing(frame: &[Vec3]) -> Vec3 {
    let [right_hip, left_hip, right, left] = ACROSS.map(|k| frame[k]);
    let ahead = Vec3::y().cross(&((right_hip - left_hip) + (right - left)));
    Vec3::new(ahead.x, 0.0, ahead.z).try_normalize(1e-9).unwrap_or_else(Vec3::z)
}

/// The facing directions, smoothed.
fn headings(frames: &[Vec<Vec3>]) -> Vec<Vec3> {
    let ahead: Vec<Vec3> = frames.iter().map(|frame| facing(frame)).collect();
    let reach = (SMOOTHED.0 * SMOOTHED.1) as isize;
    let weight = |k: isize| libm::exp(-0.5 * (k as f64 / SMOOTHED.0).powi(2));
    let last = ahead.len() as isize - 1;
    let one = |f: isize| {
        let sum: Vec3 = (-reach..=reach).map(|k| ahead[(f + k).clamp(0, last) as usize] * weight(k)).sum();
        sum.try_normalize(1e-9).unwrap_or(ahead[f as usize])
    };
    (0..=last).map(one).collect()
}

/// The rotation about Y that brings a direction to +Z.
fn to_front(direction: &Vec3) -> Quat {
    Quat::from_axis_angle(&UnitVec3::new_unchecked(Vec3::y()), -libm::atan2(direction.x, direction.z))
}

fn row(now: &[Vec3], next: &[Vec3], facing: Quat, next_facing: Quat) -> Vec<f64> {
    let mut row = Vec::with_capacity(263);
    let change = next_facing * facing.inverse();
    let half = libm::asin((change.j * change.w.signum()).clamp(-1.0, 1.0));
    let velocity = next_facing * (next[0] - now[0]);
    row.extend([half, velocity.x, velocity.z, now[0].y]);
    let root = Vec3::new(now[0].x, 0.0, now[0].z);
    let mut push = |v: Vec3| row.extend([v.x, v.y, v.z]);
    now[1..].iter().for_each(|p| push(facing * (p - root)));
    for rotation in rotations(now, facing) {
        push(rotation * Vec3::x());
        push(rotation * Vec3::y());
    }
    now.iter().zip(next).for_each(|(now, next)| push(facing * (next - now)));
    for foot in FEET {
        row.extend(foot.map(|k| f64::from(u8::from((next[k] - now[k]).norm_squared() < CONTACT))));
    }
    row
}

/// The directions of bones in the data set's rest pose: left, right, up or down along one axis, ahead for the toes.
fn rest(joint: usize) -> Vec3 {
    match joint {
        1 | 13 | 16 | 18 | 20 => Vec3::x(),
        2 | 14 | 17 | 19 | 21 => -Vec3::x(),
        4 | 5 | 7 | 8 => -Vec3::y(),
        10 | 11 => Vec3::z(),
        _ => Vec3::y(),
    }
}

/// The rotations of joints 1 to 21 relative to the one before, which bring the rest pose's bones to these.
fn rotations(frame: &[Vec3], facing: Quat) -> Vec<Quat> {
    let mut local = vec![Quat::identity(); JOINTS];
    for chain in CHAINS {
        let mut world = facing.inverse();
        for pair in chain.windows(2) {
            let bone = (frame[pair[1]] - frame[pair[0]])
                .try_normalize(1e-9)
                .unwrap_or_else(|| world * rest(pair[1]));
            let needed = arc(&rest(pair[1]), &world.inverse_transform_vector(&bone), &Vec3::z());
            local[pair[1]] = needed;
            world *= needed;
        }
    }
    local.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    /// The published way back from rows to positions.
    fn recovered(rows: &[Vec<f64>]) -> Vec<Vec<Vec3>> {
        let (mut angle, mut at) = (0.0, Vec3::zeros());
        let mut frames = Vec::new();
        for (f, row) in rows.iter().enumerate() {
            if f > 0 {
                angle += rows[f - 1][0];
            }
            // The quaternion (cos, 0, sin, 0) of the sum, inverted.
            let back = exp(&(Vec3::y() * (-2.0 * angle)));
            if f > 0 {
                at += back * Vec3::new(rows[f - 1][1], 0.0, rows[f - 1][2]);
            }
            let mut frame = vec![Vec3::new(at.x, row[3], at.z)];
            let joints = row[4..67].chunks_exact(3);
            frame.extend(joints.map(|v| back * Vec3::new(v[0], v[1], v[2]) + Vec3::new(at.x, 0.0, at.z)));
            frames.push(frame);
        }
        frames
    }

    /// A figure of 22 points that walks along a circle of two metres and rotates with it, by `step` radians a frame.
    fn circle(step: f64, swing: f64) -> Vec<Vec<Vec3>> {
        let frame = |f: usize| {
            let facing = exp(&(Vec3::y() * (2.0 + step * f as f64)));
            let at = facing * Vec3::new(-2.0, 0.9, 0.0) + Vec3::new(3.0, 0.4, -7.0);
            let side = |k: usize| if [1, 4, 7, 10, 13, 16, 18, 20].contains(&k) { 0.2 } else { -0.2 };
            let place = |k: usize| {
                let swing = swing * (0.3 * (f + k) as f64).sin();
                Vec3::new(
                    if [0, 3, 6, 9, 12, 15].contains(&k) { 0.0 } else { side(k) },
                    0.05 * k as f64 - 0.5,
                    swing,
                )
            };
            (0..JOINTS).map(|k| if k == 0 { at } else { at + facing * place(k) }).collect()
        };
        (0..60).map(frame).collect()
    }

    #[test]
    fn positions_come_back_from_the_rows() {
        let frames = circle(0.05, 0.1);
        let rows = features(&frames).unwrap();
        assert!(
            rows.len() == 59 && rows.iter().all(|row| row.len() == 263 && row.iter().all(|x| x.is_finite()))
        );
        let found = recovered(&rows);
        let lowest = found.iter().flatten().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(lowest.abs() < 1e-9 && found[0][0].xz().norm() < 1e-9);
        let shift = frames[0][0].y - found[0][0].y;
        for (found_frame, frame) in found.iter().zip(&frames) {
            for (mine, its) in found_frame.iter().zip(frame) {
                assert!((mine.y + shift - its.y).abs() < 1e-9);
                let (near, far) = (mine - found[0][0], its - frames[0][0]);
                assert!((near.norm() - far.norm()).abs() < 1e-9);
            }
            // Not mirrored.
            let volume = |p: &[Vec3]| (p[1] - p[0]).cross(&(p[12] - p[0])).dot(&(p[18] - p[5]));
            assert!((volume(found_frame) - volume(frame)).abs() < 1e-9);
        }
        assert!(features(&frames[..1]).is_none());
    }

    #[test]
    fn a_figure_begins_facing_z() {
        let found = recovered(&features(&circle(0.0, 0.0)).unwrap());
        let left = found[0][1] - found[0][2];
        assert!(left.z.abs() < 1e-9 && left.x > 0.39, "{left}");
    }

    #[test]
    fn feet_that_rest_are_in_contact() {
        let mut frames = circle(0.05, 0.1);
        let still = frames[0][7];
        frames.iter_mut().for_each(|frame| frame[7] = still);
        let rows = features(&frames).unwrap();
        assert!(rows.iter().all(|row| row[259] == 1.0));
        assert!(
            rows.iter().all(|row| row[261] == 0.0),
            "an ankle that moves by ten centimetres a frame rests"
        );
    }
}
