//! A block of frames whose rotations and translations are written together, joint after joint.

use crate::math::{Quat, RawQuat, Vec3};
use crate::model::FARTHEST;

/// Frames per tile, computed joint by joint: the keys of a joint are adjacent in the file, and a tile of 60 joints fits in the
/// first-level cache.
pub(super) const TILE: usize = 16;

/// A block of frames that is filled joint by joint.
pub(super) struct Tile<'a> {
    /// The number of joints in a row of rotations.
    pub(super) joints: usize,
    /// The rotations of the previous frame, if there is one in the block.
    pub(super) before: Option<&'a [Quat]>,
    pub(super) rotations: &'a mut [Quat],
    /// The joints of a row of translations, ascending.
    pub(super) loose: &'a [usize],
    pub(super) translations: &'a mut [Vec3],
    /// The first frame in which the transform of a joint is not finite.
    pub(super) lost: Option<usize>,
}

impl Tile<'_> {
    pub(super) fn frames(&self) -> usize {
        self.rotations.len() / self.joints
    }

    /// Sets the rotations of a joint, arrays of `x, y, z, w`, each in the hemisphere of the previous one.
    #[inline(always)]
    pub(super) fn set_rotations(&mut self, joint: usize, c: [[f64; TILE]; 4]) {
        let mut sides = [0.0; TILE];
        for n in 1..TILE {
            let m = n - 1;
            sides[n] = c[0][n] * c[0][m] + c[1][n] * c[1][m] + c[2][n] * c[2][m] + c[3][n] * c[3][m];
        }
        if let Some(q) = self.before.map(|row| &row[joint]) {
            sides[0] = c[0][0] * q.i + c[1][0] * q.j + c[2][0] * q.k + c[3][0] * q.w;
        }
        let mut sign = 1.0;
        for (n, q) in self.rotations[joint..].iter_mut().step_by(self.joints).enumerate() {
            sign = if sides[n] * sign < 0.0 { -1.0 } else { 1.0 };
            let [x, y, z, w] = [c[0][n] * sign, c[1][n] * sign, c[2][n] * sign, c[3][n] * sign];
            *q = Quat::new_unchecked(RawQuat::new(w, x, y, z));
        }
    }

    /// Sets the translations of a joint; they are constant unless it is in `loose`.
    #[inline(always)]
    pub(super) fn set_translations(&mut self, joint: usize, value: impl Fn(usize) -> Vec3) {
        // A NaN fails the comparison.
        let near = |t: &Vec3| t.iter().all(|x| x.abs() <= FARTHEST);
        let Ok(place) = self.loose.binary_search(&joint) else { return self.check(0, near(&value(0))) };
        for frame in 0..self.frames() {
            let t = value(frame);
            self.translations[frame * self.loose.len() + place] = t;
            self.check(frame, near(&t));
        }
    }

    pub(super) fn check(&mut self, frame: usize, somewhere: bool) {
        if !somewhere {
            self.lost = Some(self.lost.map_or(frame, |lost| lost.min(frame)));
        }
    }
}

/// The rotations of a tile's frames, `x, y, z, w`.
#[inline(always)]
pub(super) fn side_by_side(of_frame: impl Fn(usize) -> Quat) -> [[f64; TILE]; 4] {
    let [mut x, mut y, mut z, mut w] = [[0.0; TILE]; 4];
    for n in 0..TILE {
        let q = of_frame(n);
        [x[n], y[n], z[n], w[n]] = [q.i, q.j, q.k, q.w];
    }
    [x, y, z, w]
}
