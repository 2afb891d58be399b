//! Fills gaps of markers on one bone (pelvis, chest, head) from the others on it.
//!
//! The shape of the group is the mean over the frames in which all are seen; where at least three are seen, it is fitted to
//! them. Units: metres.

use crate::math::{RigidFit, Vec3};

/// Fewest seen markers that give a rotation.
const FEWEST: usize = 3;
/// Markers this near to one line give no rotation about it: the distance of the third one, metres.
const APART: f64 = 0.03;

/// The largest distance of a point from the line through the first and the one that is farthest from it.
fn spread(points: &[Vec3]) -> f64 {
    let longest = points.iter().map(|p| p - points[0]).max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let Some(axis) = longest.and_then(|v| v.try_normalize(1e-9)) else { return 0.0 };
    points.iter().map(|p| (p - points[0]).cross(&axis).norm()).fold(0.0, f64::max)
}

/// Fills the gaps of a group; returns the number of frames in which one was filled.
pub(super) fn fill(tracks: &mut [&mut Vec<Vec3>]) -> usize {
    let frames = tracks.iter().map(|t| t.len()).min().unwrap_or(0);
    let at = |tracks: &[&mut Vec<Vec3>], f: usize| -> Vec<Vec3> { tracks.iter().map(|t| t[f]).collect() };
    let known = |p: &Vec3| p.iter().all(|x| x.is_finite());
    let whole: Vec<usize> = (0..frames).filter(|f| at(tracks, *f).iter().all(known)).collect();
    let Some(first) = whole.get(whole.len() / 2).filter(|_| tracks.len() > FEWEST) else { return 0 };
    let template = at(tracks, *first);
    let mut rest = vec![Vec3::zeros(); template.len()];
    for f in &whole {
        let seen = at(tracks, *f);
        let fit = RigidFit::of(seen.iter().zip(&template).map(|(p, rest)| (*p, *rest, 1.0)));
        let shift = fit.translation();
        rest.iter_mut()
            .zip(&seen)
            .for_each(|(sum, p)| *sum += (fit.rotation * p + shift) / whole.len() as f64);
    }
    let mut filled = 0;
    for f in 0..frames {
        let seen = at(tracks, f);
        let pairs = || rest.iter().zip(&seen).filter(|(_, p)| known(p));
        let from: Vec<Vec3> = pairs().map(|(rest, _)| *rest).collect();
        if from.len() < FEWEST || from.len() == rest.len() || spread(&from) < APART {
            continue;
        }
        let fit = RigidFit::of(pairs().map(|(rest, p)| (*rest, *p, 1.0)));
        for (track, (rest, p)) in tracks.iter_mut().zip(rest.iter().zip(&seen)) {
            if !known(p) {
                track[f] = fit.rotation * rest + fit.translation();
            }
        }
        filled += 1;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    #[test]
    fn a_missing_corner_is_where_the_others_say() {
        let rest = [Vec3::zeros(), Vec3::x() * 0.3, Vec3::z() * 0.2, Vec3::new(0.3, 0.05, 0.2)];
        let place =
            |f: usize| (exp(&(Vec3::new(0.1, 0.3, 0.2) * f as f64)), Vec3::new(0.1, 1.0, 0.2) * f as f64);
        let mut tracks: Vec<Vec<Vec3>> =
            rest.iter().map(|p| (0..30).map(|f| place(f).0 * p + place(f).1).collect()).collect();
        let truth = tracks.clone();
        for (k, f) in [(0, 3), (1, 4), (2, 5), (3, 6), (0, 7), (1, 7)] {
            tracks[k][f] = Vec3::repeat(f64::NAN);
        }
        assert_eq!(fill(&mut tracks.iter_mut().collect::<Vec<_>>()), 4);
        for (found, truth) in tracks.iter().flatten().zip(truth.iter().flatten()) {
            assert!(found.x.is_nan() || (found - truth).norm() < 1e-9);
        }
        // Two of four are not enough.
        assert_eq!(tracks.iter().flatten().filter(|p| p.x.is_nan()).count(), 2);
    }
}
