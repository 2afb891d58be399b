//! Positions and speeds of the contact points of a clip, frame by frame.
//!
//! Speeds are slopes of quadratics over five frames or a fifteenth of a second, whichever is longer (Savitzky and
//! Golay 1964): at high rates five frames would measure the jitter of the capture. No slope reaches across a cut.
//! Space: model space. Units: metres, metres per second.

use crate::kinematics::Forward;
use crate::math::{LANES, Vec3, splat_vec3};
use crate::model::{ContactPart, ContactPoint, Motion};
use crate::parallel;
use crate::signal::SavitzkyGolay;
use std::ops::Range;

/// Half the window of the slopes, seconds.
const HALF_WINDOW_S: f64 = 1.0 / 30.0;
/// Its fewest frames.
const HALF_WINDOW_FRAMES: usize = 2;
/// Its most frames, for rates beyond those of cameras.
const HALF_WINDOW_MOST: usize = 64;

/// The frames of one parallel task: whole blocks of lanes.
const PART: usize = 32 * LANES;

/// The path of one point.
#[derive(Clone, Debug)]
pub(super) struct PointTrack {
    pub part: ContactPart,
    /// The lowest point of the surface around it, for each frame.
    pub at: Vec<Vec3>,
    pub speed: Vec<f64>,
}

/// The paths of these points; `shots` are the spans of frames between cuts.
pub(super) fn tracks(motion: &Motion, points: &[ContactPoint], shots: &[Range<usize>]) -> Vec<PointTrack> {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    let mut paths: Vec<[Vec<f64>; 3]> =
        points.iter().map(|_| std::array::from_fn(|_| vec![0.0; clip.frames()])).collect();
    let local: Vec<_> = points.iter().map(|p| splat_vec3(&p.at)).collect();
    let forward = Forward::towards(skeleton, clip, points.iter().map(|p| p.joint));
    // The same frames of all paths go together.
    let mut parts: Vec<Vec<&mut [f64]>> = Vec::new();
    parts.resize_with(clip.frames().div_ceil(PART), Vec::new);
    for path in paths.iter_mut().flatten() {
        parts.iter_mut().zip(path.chunks_mut(PART)).for_each(|(part, path)| part.push(path));
    }
    let of_part = |number: usize, part: &mut Vec<&mut [f64]>| {
        let block = &mut forward.workspace();
        let frames = part.first().map_or(0, |path| path.len());
        for start in (0..frames).step_by(LANES) {
            forward.compute((number * PART + start) / LANES, block);
            for ((point, local), path) in points.iter().zip(&local).zip(part.chunks_exact_mut(3)) {
                let joint = &block.lanes()[point.joint.index()];
                let at = joint.point(*local);
                for (c, channel) in path.iter_mut().enumerate() {
                    let drop = if c == 1 { point.radius } else { 0.0 };
                    let own =
                        channel[start..].iter_mut().zip(<[f32; LANES]>::from(at[c])).take(block.frames());
                    own.for_each(|(channel, x)| *channel = f64::from(x) - drop);
                }
            }
        }
    };
    parallel::for_each(&mut parts, 1, of_part);
    let half = (clip.sample_rate * HALF_WINDOW_S).round() as usize;
    let half = half.clamp(HALF_WINDOW_FRAMES, HALF_WINDOW_MOST);
    let slope = SavitzkyGolay::new(2 * half + 1, 2).expect("five frames and more hold a quadratic");
    let track = |k: usize, path: &mut [Vec<f64>; 3]| {
        let (point, path) = (&points[k], std::mem::take(path));
        let [x, y, z] = path.each_ref().map(|channel| -> Vec<f64> {
            shots.iter().flat_map(|shot| slope.slopes(&channel[shot.clone()])).collect()
        });
        let speed = |((x, y), z): ((&f64, &f64), &f64)| Vec3::new(*x, *y, *z).norm() * clip.sample_rate;
        let speed = x.iter().zip(&y).zip(&z).map(speed).collect();
        let [x, y, z] = path;
        let at = x.into_iter().zip(y).zip(z).map(|((x, y), z)| Vec3::new(x, y, z)).collect();
        PointTrack { part: point.part, at, speed }
    };
    parallel::map_mut(&mut paths, 1, track)
}
