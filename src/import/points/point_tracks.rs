//! The observed points of a body over time.
//!
//! Units: metres; missing observations are NaN until `repair_points` has filled them.

use crate::anatomy::BodyPoint;
use crate::math::Vec3;
use crate::model::Side;

/// Points without which no motion is fitted.
pub(super) const INDISPENSABLE: [&str; 6] = ["hip", "knee", "ankle", "shoulder", "elbow", "wrist"];

/// The position of each point in each frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PointTracks {
    pub(super) frames: usize,
    pub(super) tracks: Vec<(BodyPoint, Vec<Vec3>)>,
}

impl PointTracks {
    /// A point in the middle of the body.
    pub(super) fn middle(&self, part: &str) -> Option<&[Vec3]> {
        self.find(None, part)
    }

    /// A point of one side.
    pub(super) fn of(&self, side: Side, part: &str) -> Option<&[Vec3]> {
        self.find(Some(side), part)
    }

    /// A point of [`INDISPENSABLE`], which `repair_points` guarantees.
    pub(super) fn joint(&self, side: Side, part: &str) -> &[Vec3] {
        self.of(side, part).unwrap_or(&[])
    }

    fn find(&self, side: Option<Side>, part: &str) -> Option<&[Vec3]> {
        self.tracks.iter().find(|(p, _)| p.side == side && p.part == part).map(|(_, track)| &track[..])
    }

    /// The middle between both sides.
    pub(super) fn between(&self, part: &str) -> Option<Vec<Vec3>> {
        let (left, right) = (self.of(Side::Left, part)?, self.of(Side::Right, part)?);
        Some(left.iter().zip(right).map(|(a, b)| (a + b) * 0.5).collect())
    }

    /// The middle of the hips.
    pub(super) fn mid_hips(&self) -> Vec<Vec3> {
        self.between("hip").unwrap_or_default()
    }

    /// The base of the neck: the point if there is one, else the middle of the shoulders.
    pub(super) fn neck(&self) -> Vec<Vec3> {
        self.middle("neck").map_or_else(|| self.between("shoulder").unwrap_or_default(), <[Vec3]>::to_vec)
    }

    /// The tip of the foot: the ball of the toes, else the tip, else the middle of the outer toes.
    pub(super) fn toes(&self, side: Side) -> Option<Vec<Vec3>> {
        let big = |part| self.of(side, part).map(<[Vec3]>::to_vec);
        let outer = || -> Option<Vec<Vec3>> {
            let (a, b) = (self.of(side, "big_toe")?, self.of(side, "small_toe")?);
            Some(a.iter().zip(b).map(|(a, b)| (a + b) * 0.5).collect())
        };
        big("toe").or_else(|| big("foot_tip")).or_else(outer).or_else(|| big("big_toe"))
    }

    /// The positions for previews: `None` where a point is not seen.
    pub(super) fn observed(&self) -> Vec<Vec<Option<[f32; 3]>>> {
        let seen = |p: &Vec3| p.iter().all(|x| x.is_finite()).then(|| [p.x as f32, p.y as f32, p.z as f32]);
        self.tracks.iter().map(|(_, track)| track.iter().map(seen).collect()).collect()
    }

    /// Every point moved by the displacement of its frame.
    pub(super) fn moved(mut self, by: &[Vec3]) -> Self {
        for (_, track) in &mut self.tracks {
            track.iter_mut().zip(by).for_each(|(p, by)| *p += by);
        }
        self
    }
}

/// The speed of a track by central differences, one-sided at the ends.
pub(super) fn velocities(track: &[Vec3], dt: f64) -> Vec<Vec3> {
    let last = track.len() - 1;
    let one = |f: usize| {
        let (a, b) = (f.saturating_sub(1), (f + 1).min(last));
        if a == b { Vec3::zeros() } else { (track[b] - track[a]) / ((b - a) as f64 * dt) }
    };
    (0..track.len()).map(one).collect()
}
