//! Ground that is not one level: the plane of a ramp, or the heights of single steps, from the stances of a take.
//!
//! Two witnesses make a ramp: stances lie on a plane that is not level, and the feet that stand on it tilt as it does. Where
//! they climb without that, they stand on stairs, each step level. What has a third shape (a ramp that begins on the way) has the
//! slope of the stances around. A take that neither climbs nor has a slope has no uneven ground, whatever its feet do otherwise.
//! Space: model space, Y up. Units: metres; lengths in leg lengths, slopes in metres per metre.

use super::standing_foot::StandingFoot;
use crate::math::{SlopeFit, Vec3, median, percentile};
use crate::model::{GroundPlane, Side, UnevenGround};

/// The slope from which a floor is a ramp: 1 in 20, the limit of building codes. A slighter tilt is a fault of the capture.
const RAMP: f64 = 0.05;
/// The rise from one stance to the next that climbs: two steps of 0.6 m on a slope of 1 in 20 are twice that. Stances of captures
/// differ by 0.02.
const RISE: f64 = 0.03;
/// How far a stance may go back while the body climbs.
const BACK: f64 = 0.03;
/// The fewest rises in a row that are a climb: up onto a box and down again is none.
const RISES: usize = 3;
/// The least height that they climb.
const CLIMB: f64 = 0.12;
/// The least difference of the heights of stances: feet 0.12 m apart across a slope of 12 degrees. Ankles of one height on soles of
/// different ones differ by less.
const DIFFERS: f64 = 0.022;
/// The largest share of that spread that may remain about a plane.
const REMAINS: f64 = 0.5;
/// The largest deviation (90th percentile) of stances from the plane of a ramp, and how much more for a slope of one in one: the
/// place of a foot that rolls is known to a tenth of a leg.
const UNEVEN: [f64; 2] = [0.03, 0.1];
/// The least share of a slope by which feet tilt that stand on it: at half, as likely level as along it.
const FOLLOWS: f64 = 0.5;
/// Standard deviations of the height of a stance, and of the slope of a foot in it: a centimetre, and 4 degrees. With half of
/// the second, the slope along a path is that of feet whose joints are not level in the reference pose.
const NOISE: [f64; 2] = [0.011, 0.07];
/// Scale of the Cauchy weights of a fit: a stance that deviates more is none, as a foot that is held up.
const OUTLIER: f64 = 0.02;
/// Rounds of reweighting: the slope changes by less than a hundredth after five.
const ROUNDS: usize = 5;
/// Stances that a local slope is fitted to.
const AROUND: usize = 5;
/// The largest height of the ground at the origin, or of a level step, that is an error of the take's floor, which becomes height 0:
/// as for takes whose feet may be in the air throughout.
const NEAR_ZERO: f64 = 0.15;
/// How far below the last step of a foot the next one may be: two steps of stairs are 0.4.
const BEYOND: f64 = 0.5;
/// How far from height 0 ground may end that is there: the step before the first stance.
const STEP: f64 = 0.25;

/// Whether stances differ in height by as much as on such ground.
pub(super) fn can_be_uneven(stances: &[StandingFoot], leg_length: f64) -> bool {
    let heights = || stances.iter().map(|stance| stance.at.y);
    heights().fold(f64::NEG_INFINITY, f64::max) - heights().fold(f64::INFINITY, f64::min)
        > DIFFERS * leg_length
}

/// The ground under these stances, in the order of time; `None` if it is level. `leg_length` is the length of the legs, `sole` the
/// height of a stance's joint above its sole.
pub(super) fn uneven_ground(stances: &[StandingFoot], leg_length: f64, sole: f64) -> Option<UnevenGround> {
    let all: Vec<&StandingFoot> = stances.iter().collect();
    let climbs = climbs(stances, leg_length);
    let plane = fitted(&all, leg_length, true);
    let ramp = steep(&plane.slope)
        && is_plane(stances, &plane, leg_length)
        && follows(&all, &vec![plane.slope; all.len()]);
    let mut planes: Vec<GroundPlane> = match (ramp, climbs) {
        (true, _) => vec![plane; stances.len()],
        (false, true) => steps(&all, leg_length),
        (false, false) => return None,
    };
    // From the joints down to the soles.
    planes.iter_mut().for_each(|plane| plane.through.y -= sole);
    let heights: Vec<f64> =
        planes.iter().zip(stances).map(|(plane, stance)| plane.height(&stance.at)).collect();
    let zero = zero(&heights, &planes, ramp, leg_length);
    let of_side = |side: Side| {
        let own = stances.iter().zip(&planes).filter(|(stance, _)| stance.side == side);
        own.map(|(stance, plane)| (stance.frames.clone(), *plane)).collect::<Vec<_>>()
    };
    let base = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let beyond = if ramp { 0.0 } else { BEYOND * leg_length };
    UnevenGround::new(Side::BOTH.map(of_side), base, zero, beyond)
}

fn dot(a: &[f64; 2], b: &[f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn steep(slope: &[f64; 2]) -> bool {
    libm::hypot(slope[0], slope[1]) >= RAMP
}

/// Whether stances rise, or fall, several times in a row, and by more than a tilted floor does over that distance.
fn climbs(stances: &[StandingFoot], leg_length: f64) -> bool {
    [1.0, -1.0].into_iter().any(|sign| {
        let (mut start, mut top, mut rises) = (None, f64::INFINITY, 0);
        stances.iter().any(|stance| {
            let height = sign * stance.at.y / leg_length;
            let (from, bottom) = match start.filter(|_| height > top - BACK) {
                Some(start) => start,
                None => {
                    (top, rises) = (height, 0);
                    *start.insert((stance.at, height))
                }
            };
            rises += usize::from(height > top + RISE);
            top = top.max(height);
            let (climbed, along) = (top - bottom, (stance.at - from).xz().norm() / leg_length);
            rises >= RISES && climbed >= CLIMB && climbed >= RAMP * along
        })
    })
}

/// Whether stances lie on a plane that gives them much of their different heights.
fn is_plane(stances: &[StandingFoot], plane: &GroundPlane, leg_length: f64) -> bool {
    let spread = |of: &dyn Fn(&StandingFoot) -> f64| {
        let values: Vec<f64> = stances.iter().map(of).collect();
        (percentile(&values, 0.9) - percentile(&values, 0.1)) / leg_length
    };
    let away = |stance: &StandingFoot| stance.at.y - plane.height(&stance.at);
    let off: Vec<f64> = stances.iter().map(|stance| away(stance).abs() / leg_length).collect();
    stances.len() > RISES
        && spread(&away) < REMAINS * spread(&|stance| stance.at.y)
        && percentile(&off, 0.9) < UNEVEN[0] + UNEVEN[1] * libm::hypot(plane.slope[0], plane.slope[1])
}

/// Whether feet tilt with the ground of these slopes under their stances: the mean of both sides, since feet that are not level in the
/// reference pose tilt apart.
fn follows(stances: &[&StandingFoot], slopes: &[[f64; 2]]) -> bool {
    let share = |side: Side| {
        let own = stances.iter().zip(slopes).filter(|(stance, ground)| stance.side == side && steep(ground));
        let shares = own.map(|(stance, ground)| dot(&stance.slope, ground) / dot(ground, ground));
        let shares: Vec<f64> = shares.collect();
        (!shares.is_empty()).then(|| median(shares))
    };
    let shares: Vec<f64> = Side::BOTH.into_iter().filter_map(share).collect();
    !shares.is_empty() && shares.iter().sum::<f64>() >= FOLLOWS * shares.len() as f64
}

/// The planes under stances that climb: of the slope around each if feet tilt with it, else level.
fn steps(stances: &[&StandingFoot], leg_length: f64) -> Vec<GroundPlane> {
    let count = AROUND.min(stances.len());
    // The neighbours that are nearest to a plane are on the same side of an edge.
    let local = |k: usize| {
        let first = (k + 1).saturating_sub(count)..=k.min(stances.len() - count);
        let fits = first.map(|first| {
            let near = &stances[first..first + count];
            let plane = fitted(near, leg_length, false);
            let off = near.iter().map(|stance| (stance.at.y - plane.height(&stance.at)).powi(2)).sum::<f64>();
            (off, plane.slope)
        });
        fits.min_by(|a, b| a.0.total_cmp(&b.0)).map_or([0.0; 2], |(_, slope)| slope)
    };
    let slopes: Vec<[f64; 2]> = (0..stances.len()).map(local).collect();
    let tilted = follows(stances, &slopes);
    let plane = |(stance, slope): (&&StandingFoot, &[f64; 2])| {
        let slope = if tilted && steep(slope) { *slope } else { [0.0; 2] };
        GroundPlane { through: stance.at, slope }
    };
    stances.iter().zip(&slopes).map(plane).collect()
}

/// The height of the take that other bodies have at height 0: its own 0, if the ground is there at all, else that of its lowest
/// stance. What the ground is off by at the origin, or where it is level, is an error of the capture.
fn zero(heights: &[f64], planes: &[GroundPlane], ramp: bool, leg_length: f64) -> f64 {
    let range = |(low, high): (f64, f64), y: &f64| (low.min(*y), high.max(*y));
    let (low, high) = heights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    if low > STEP * leg_length || high < -STEP * leg_length {
        return low;
    }
    let near = |height: &f64| height.abs() < NEAR_ZERO * leg_length;
    if ramp {
        return planes.first().map(|plane| plane.height(&Vec3::zeros())).filter(near).unwrap_or(0.0);
    }
    let level = heights.iter().zip(planes).filter(|(_, plane)| !steep(&plane.slope)).map(|(y, _)| *y);
    let level: Vec<f64> = level.filter(near).collect();
    let nearest = level.iter().copied().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
    median(level.into_iter().filter(|height| (height - nearest).abs() < RISE * leg_length).collect())
}

/// The plane through stances: least squares with Cauchy weights of their heights and of the slopes of their feet, or, if those are not
/// to be trusted one by one, of level ones.
fn fitted(stances: &[&StandingFoot], leg_length: f64, by_slopes: bool) -> GroundPlane {
    let by_feet = (NOISE[0] * leg_length / NOISE[1]).powi(2);
    let mut plane = GroundPlane {
        through: Vec3::new(0.0, median(stances.iter().map(|s| s.at.y).collect()), 0.0),
        slope: [0.0; 2],
    };
    for round in 0..ROUNDS {
        let weight = |stance: &StandingFoot| match round {
            0 => 1.0,
            _ => 1.0 / (1.0 + ((stance.at.y - plane.height(&stance.at)) / (OUTLIER * leg_length)).powi(2)),
        };
        let mut fit = SlopeFit::default();
        let through = fit.add(stances.iter().map(|stance| (stance.at, weight(stance))));
        for stance in stances {
            let slope = if by_slopes { stance.slope } else { [0.0; 2] };
            fit.add_slope(slope, weight(stance) * by_feet);
        }
        plane = GroundPlane { through, slope: fit.slope(0.0) };
    }
    plane
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve steps of 0.7 m along Z, on ground of this height and under feet that tilt by this share of its slope along Z.
    fn ground(height: impl Fn(f64) -> f64, tilts: f64) -> Option<UnevenGround> {
        let step = |k: usize| {
            let z = 0.7 * k as f64;
            let side = Side::BOTH[k % 2];
            let noise = 0.006 * f64::from(k as u32 * 7 % 5) - 0.012;
            let slope = (height(z + 0.01) - height(z - 0.01)) / 0.02;
            StandingFoot {
                side,
                frames: 30 * k..30 * k + 20,
                at: Vec3::new(if k.is_multiple_of(2) { 0.1 } else { -0.1 }, height(z) + 0.02 + noise, z),
                slope: [0.0, tilts * slope],
            }
        };
        uneven_ground(&(0..12).map(step).collect::<Vec<_>>(), 0.9, 0.02)
    }

    /// The height of the ground under the foot that takes a step, and its slope along Z.
    fn under(ground: &UnevenGround, k: usize) -> [f64; 2] {
        let (side, frame, at) = (Side::BOTH[k % 2], 30 * k + 10, Vec3::z() * (0.7 * k as f64));
        let up = ground.up(side, frame);
        [ground.height(side, frame, &at) + ground.base, -up.z / up.y]
    }

    #[test]
    fn level_ground_a_slight_tilt_and_a_box_are_no_uneven_ground() {
        assert!(ground(|_| 0.0, 1.0).is_none());
        assert!(ground(|z| 0.03 * z, 1.0).is_none());
        assert!(ground(|z| if (2.0..4.0).contains(&z) { 0.4 } else { 0.0 }, 1.0).is_none());
        assert!(ground(|z| if z > 2.0 { -0.3 } else { 0.0 }, 1.0).is_none());
    }

    #[test]
    fn a_ramp_is_a_plane_and_stairs_are_level() {
        for slope in [0.09, -0.36] {
            let ramp = ground(|z| slope * z, 1.0).unwrap();
            assert!((0..12).all(|k| (under(&ramp, k)[1] - slope).abs() < 0.01), "{slope}");
            assert!((0..12).all(|k| (under(&ramp, k)[0] - slope * 0.7 * k as f64).abs() < 0.02), "{slope}");
            // The ground of the first step is at height 0, and stays there.
            assert!((ramp.lowest - (slope * 7.7).min(0.0)).abs() < 0.02, "{}", ramp.lowest);
            let stairs = ground(|z| slope * z, 0.0).unwrap();
            assert!((0..12).all(|k| under(&stairs, k)[1] == 0.0), "{slope}");
            assert!(
                (0..12).all(|k| (under(&stairs, k)[0] - slope * 0.7 * k as f64).abs() < 0.013),
                "{slope}"
            );
        }
    }

    #[test]
    fn a_ramp_that_begins_on_the_way_has_an_edge() {
        let mid = ground(|z| 0.2 * (z - 4.0).max(0.0), 1.0).unwrap();
        assert!((0..4).all(|k| under(&mid, k)[1] == 0.0));
        assert!((7..12).all(|k| (under(&mid, k)[1] - 0.2).abs() < 0.03));
        assert!(mid.lowest.abs() < 0.013, "the level part is at height 0: {}", mid.lowest);
    }
}
