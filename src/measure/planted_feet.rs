//! Slip and height of planted feet against those of the scaled source.
//!
//! Planted feet are found on the scaled source by the thresholds of HuMoR (Rempe et al. 2021), and by nothing that retargeting
//! itself uses: a rule shared with `legs` would not see what `legs` overlooks. Units: metres of the common height, seconds.

use super::limb_comparison::{FEWEST, LimbComparison, MetricsAndSeries, both_sides, with_direct};
use super::limb_frame::{ANKLE, LimbFrame, TOES};
use crate::math::{SlopeFit, Vec3, percentile, percentile_in_place};
use crate::model::Side;

/// An ankle or toe joint slower than this is static, m/s: 0.5 cm a frame at 30 Hz (HuMoR, contact labels).
const STATIC_SPEED: f64 = 0.15;
/// A static joint is planted up to this height above its level, metres: the height of toes in contact (HuMoR).
const PLANTED_HEIGHT: f64 = 0.04;
/// The level of a joint is this quantile of its heights in static frames: HuMoR takes the lowest cluster of static toes.
/// The joint's own level stands for the floor, since ankles and toe joints of rigs differ in height.
const LEVEL_QUANTILE: f64 = 0.1;
/// Time at both ends of a stance that is left out, seconds: two bodies land and take off within a frame of 30 Hz of each other.
const LANDING: f64 = 0.03;
/// From this slope on a floor is a ramp, metres per metre; a slighter tilt is a fault of the capture, which a result may have or not.
/// Source: 1 in 20 is the limit of building codes.
const RAMP: f64 = 0.05;
/// Frames below which a clip is brief: a second at 30 Hz, in which feet may be planted for less than [`FEWEST`] frames. A run has as
/// few in a whole take, where the slip of these says nothing about the rest.
const BRIEF: usize = 30;
/// The spread of a path across its direction, over that along it (squares), below which a slope across is not seen. Chosen: planted
/// feet of a straight walk are 0.2 m apart over 7 m.
const ACROSS: f64 = 1e-3;

impl LimbComparison {
    /// By frame, the joint of a foot (ankle or toes) that is planted in the scaled source, the slower one of two; `None`
    /// where none is. `scale` leads to metres of the common height.
    fn planted(&self, side: usize, scale: f64) -> Vec<Option<usize>> {
        let source = &self.source;
        let at = |p: usize, f: usize| source[f].legs[side][p] * scale;
        let height =
            |p: usize, f: usize| at(p, f).y - self.ground_under(side, f, &source[f].legs[side][p]) * scale;
        let speeds = |p: usize| -> Vec<f64> {
            (0..self.frames).map(|f| (at(p, f) - at(p, f.saturating_sub(1))).norm() * self.rate).collect()
        };
        // Only where both bodies have toe joints do those compare.
        let toes =
            source.iter().zip(&self.result).all(|(source, result)| source.toes[side] && result.toes[side]);
        let joints = if toes { &[ANKLE, TOES][..] } else { &[ANKLE] };
        let tracks: Vec<(usize, Vec<f64>, f64)> = joints
            .iter()
            .map(|&p| {
                let speeds = speeds(p);
                let mut heights: Vec<f64> =
                    (1..self.frames).filter(|f| speeds[*f] < STATIC_SPEED).map(|f| height(p, f)).collect();
                (p, speeds, percentile_in_place(&mut heights, LEVEL_QUANTILE))
            })
            .collect();
        let planted = |f: usize| {
            let still = tracks.iter().filter(|(p, speeds, level)| {
                f > 0 && speeds[f] < STATIC_SPEED && height(*p, f) - level < PLANTED_HEIGHT
            });
            still.min_by(|a, b| a.1[f].total_cmp(&b.1[f])).map(|(p, ..)| *p)
        };
        (0..self.frames).map(planted).collect()
    }

    /// The height of ground that is not level at a point under the foot of a side; 0 for level ground.
    fn ground_under(&self, side: usize, frame: usize, at: &Vec3) -> f64 {
        self.ground.as_ref().map_or(0.0, |ground| ground.height(Side::BOTH[side], frame, at))
    }

    /// Slip and height of feet against those of the scaled source, where it plants them; `scale` leads to metres of the
    /// common height.
    pub(super) fn planted_feet(&self, scale: f64) -> MetricsAndSeries {
        let planted: Vec<PlantedJoint> =
            [0, 1].into_iter().flat_map(|side| self.stances(side, scale)).collect();
        let tracks = [&self.result, &self.direct];
        let slips = tracks.map(|track| self.slips(track, &planted, scale));
        let mut metrics = Vec::new();
        // Time series by side: NaN where the foot is not planted.
        let over_time = |values: &[Vec<f64>]| {
            let mut series = [vec![f64::NAN; self.frames], vec![f64::NAN; self.frames]];
            for (stance, values) in planted.iter().zip(values) {
                stance.frames.iter().zip(values).for_each(|(f, value)| series[stance.side][*f] = *value);
            }
            series
        };
        let p95 = |values: &[Vec<f64>]| percentile(&values.concat(), 0.95);
        let tilt = self.floor_tilt(&planted);
        let clear = tracks.map(|track| {
            let all = [[0.0; 2], tilt].map(|tilt| self.clearances(track, &planted, tilt, scale));
            all.into_iter().min_by(|a, b| p95(a).total_cmp(&p95(b))).unwrap_or_default()
        });
        let frames = planted.iter().map(|stance| stance.frames.len()).sum::<usize>();
        // Of a brief clip even one planted frame says more than points of the sole.
        if frames >= FEWEST || (frames > 0 && self.frames < BRIEF) {
            let [result, direct] = slips.each_ref().map(|s| p95(s));
            metrics.push(with_direct("rest_slip_p95", result, direct));
        }
        if frames >= FEWEST {
            let [result, direct] = tracks.map(|track| self.drift(track, &planted, scale));
            metrics.push(with_direct("rest_drift", result, direct));
            let [result, direct] = clear.each_ref().map(|s| p95(s));
            metrics.push(with_direct("clearance_error_p95", result, direct));
        }
        let series = [
            both_sides("rest_slip", "m/s", over_time(&slips[0])),
            both_sides("clearance_error", "m", over_time(&clear[0])),
        ];
        (metrics, series.concat())
    }

    /// The frames of the stances of a foot in which its ankle is the planted joint, and those in which its toes are.
    fn stances(&self, side: usize, scale: f64) -> [PlantedJoint; 2] {
        let planted = within(&self.planted(side, scale), (LANDING * self.rate).round() as usize);
        [ANKLE, TOES].map(|joint| {
            let frames = (0..self.frames).filter(|f| planted[*f] == Some(joint)).collect();
            PlantedJoint { side, joint, frames }
        })
    }

    /// The speeds of planted joints against the source's, by stance and frame.
    fn slips(&self, track: &[LimbFrame], planted: &[PlantedJoint], scale: f64) -> Vec<Vec<f64>> {
        let of = |stance: &PlantedJoint| {
            let step = |track: &[LimbFrame], f: usize| stance.at(track, f) - stance.at(track, f - 1);
            let slip = |f: &usize| (step(track, *f) - step(&self.source, *f)).norm() * (scale * self.rate);
            stance.frames.iter().map(slip).collect()
        };
        planted.iter().map(of).collect()
    }

    /// The speed at which stances wander off along the floor: what noise and rolling leave is gone between the ends of a stance, but
    /// not a steady slide, which [`SLIP`](super::acceptable::SLIP) allows.
    fn drift(&self, track: &[LimbFrame], planted: &[PlantedJoint], scale: f64) -> f64 {
        let (mut path, mut steps) = (0.0, 0);
        for stance in planted {
            for stay in stance.frames.chunk_by(|a, b| a + 1 == *b) {
                let (first, last) = (stay[0] - 1, stay[stay.len() - 1]);
                let moved = |track: &[LimbFrame]| stance.at(track, last) - stance.at(track, first);
                let beyond = (moved(track) - moved(&self.source)) * scale;
                path += libm::hypot(beyond.x, beyond.z);
                steps += stay.len();
            }
        }
        path * self.rate / steps.max(1) as f64
    }

    /// The heights of planted joints above the ground less those of the source, and less their median, by stance and frame. `tilt` is
    /// the slope of the source's floor along X and Z that the result does not have.
    fn clearances(
        &self,
        track: &[LimbFrame],
        planted: &[PlantedJoint],
        tilt: [f64; 2],
        scale: f64,
    ) -> Vec<Vec<f64>> {
        let of = |stance: &PlantedJoint| {
            let away = |f: &usize| {
                let (from, at) = (stance.at(&self.source, *f), stance.at(track, *f));
                let [source_height, height] =
                    [&from, &at].map(|p| p.y - self.ground_under(stance.side, *f, p));
                (height - source_height + tilt[0] * from.x + tilt[1] * from.z) * scale
            };
            let away: Vec<f64> = stance.frames.iter().map(away).collect();
            let middle = percentile(&away, 0.5);
            away.into_iter().map(|away| (away - middle).abs()).collect()
        };
        planted.iter().map(of).collect()
    }

    /// The slope along X and Z of the plane through the planted joints of the source, each at a height of its own, by least
    /// squares; none for a ramp.
    fn floor_tilt(&self, planted: &[PlantedJoint]) -> [f64; 2] {
        let mut fit = SlopeFit::default();
        for stance in planted.iter().filter(|stance| !stance.frames.is_empty()) {
            fit.add(stance.frames.iter().map(|f| (stance.at(&self.source, *f), 1.0)));
        }
        let slope = fit.slope(ACROSS);
        if libm::hypot(slope[0], slope[1]) < RAMP { slope } else { [0.0; 2] }
    }
}

/// The frames in which a joint of a foot is planted in the source.
struct PlantedJoint {
    side: usize,
    /// [`ANKLE`] or [`TOES`].
    joint: usize,
    frames: Vec<usize>,
}

impl PlantedJoint {
    /// Its position in a frame.
    fn at(&self, track: &[LimbFrame], frame: usize) -> Vec3 {
        track[frame].legs[self.side][self.joint]
    }
}

/// The stances without so many frames at both ends; the ends of the clip are none.
fn within(planted: &[Option<usize>], margin: usize) -> Vec<Option<usize>> {
    let near = |f: usize| f.saturating_sub(margin).max(1)..planted.len().min(f + margin + 1);
    (0..planted.len()).map(|f| planted[f].filter(|_| near(f).all(|g| planted[g].is_some()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use crate::model::{GroundPlane, UnevenGround};

    /// A still body with straight legs of 0.9 m, whose left foot is at this position.
    fn frame(foot: Vec3) -> LimbFrame {
        let leg = |x: f64, foot: Vec3| {
            [Vec3::new(x, 0.95, 0.0), Vec3::new(x, 0.5, 0.02), foot, foot + Vec3::new(0.0, -0.05, 0.12)]
        };
        LimbFrame {
            legs: [leg(0.1, foot), leg(-0.1, Vec3::new(-0.1, 0.08, 0.0))],
            arms: Default::default(),
            shoulders: None,
            hips: Quat::identity(),
            feet: [Quat::identity(); 2],
            hands: [Quat::identity(); 2],
            toes: [true; 2],
        }
    }

    /// A result beside its take on level ground, which is its own direct transfer.
    fn comparison(source: &[LimbFrame], result: Vec<LimbFrame>, rate: f64) -> LimbComparison {
        let frames = source.len();
        LimbComparison {
            cuts: Vec::new(),
            source: source.to_vec(),
            ground: None,
            direct: source.to_vec(),
            result,
            frames,
            rate,
            leg_length: 0.9,
        }
    }

    #[test]
    fn a_slip_is_measured_where_the_rule_of_retargeting_sees_no_contact() {
        // The foot stands on a step 3.5 cm high after a fifth of the clip on the ground: above 0.03
        // leg lengths the rule of `legs` takes it for a foot in the air.
        let level = |f: usize| if f < 24 { 0.08 } else { 0.115 };
        let slide = |f: usize| 0.3 * f.saturating_sub(40) as f64 / 60.0;
        let source: Vec<_> = (0..120).map(|f| frame(Vec3::new(0.1, level(f), 0.0))).collect();
        let result = (0..120).map(|f| frame(Vec3::new(0.1, level(f), slide(f)))).collect();
        let limbs = comparison(&source, result, 60.0);
        assert!(0.035 > 0.03 * limbs.leg_length, "the rule of `legs` sees no contact here");
        let (metrics, _) = limbs.planted_feet(1.0);
        let slip = metrics.iter().find(|m| m.name == "rest_slip_p95").unwrap();
        assert!((slip.value - 0.3).abs() < 1e-9 && slip.direct == Some(0.0), "{slip:?}");
    }

    #[test]
    fn a_clip_of_two_frames_is_judged_by_the_slip_of_its_planted_foot() {
        let still = vec![frame(Vec3::new(0.1, 0.08, 0.0)); 2];
        let slip = |step: f64| {
            let result = vec![still[0], frame(Vec3::new(0.1, 0.08, step))];
            let (metrics, _) = comparison(&still, result, 30.0).planted_feet(1.0);
            let names: Vec<&str> = metrics.iter().map(|m| m.name.as_str()).collect();
            assert_eq!(names, ["rest_slip_p95"]);
            crate::measure::Reading::from(&metrics[0]).over()
        };
        // 12 cm/s, as points of a sole that rolls have, and 60.
        assert!(!slip(0.004) && slip(0.02));
    }

    #[test]
    fn a_foot_that_takes_off_a_frame_early_does_not_slip() {
        // Steps of six frames of rest and four of 10 cm each, at 30 Hz; the result is a frame ahead.
        let along = |f: usize| 0.1 * (4 * (f / 10) + (f % 10).saturating_sub(6)) as f64;
        let at = |f: usize| frame(Vec3::new(0.1, 0.08, along(f)));
        let source: Vec<_> = (0..120).map(at).collect();
        let slip = |result: Vec<LimbFrame>| {
            let (metrics, _) = comparison(&source, result, 30.0).planted_feet(1.0);
            metrics.iter().find(|m| m.name == "rest_slip_p95").unwrap().value
        };
        assert!(slip((1..121).map(at).collect()) < 1e-9);
        // One that glides within its stances does.
        let glides = |f: usize| frame(Vec3::new(0.1, 0.08, along(f) + 0.01 * f as f64));
        assert!((slip((0..120).map(glides).collect()) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn a_floor_that_was_tilted_by_the_capture_may_be_level_in_the_result_and_a_ramp_may_not() {
        // Ten short steps along Z of one foot, so that its heights stay within those of planted feet.
        let clearance = |slope: f64, left: f64| {
            let along = |f: usize| 0.05 * (f / 12) as f64;
            let at = |f: usize, slope: f64| frame(Vec3::new(0.1, 0.08 + slope * along(f), along(f)));
            let source: Vec<_> = (0..120).map(|f| at(f, slope)).collect();
            let result = (0..120).map(|f| at(f, left)).collect();
            let (metrics, _) = comparison(&source, result, 30.0).planted_feet(1.0);
            metrics.iter().find(|m| m.name == "clearance_error_p95").unwrap().value
        };
        assert!(clearance(0.04, 0.0) < 1e-4 && clearance(0.04, 0.04) < 1e-9);
        // A result that sinks along its path on a level floor, and one that levels a ramp.
        assert!(clearance(0.0, -0.04) > 0.007 && clearance(0.08, 0.0) > 0.014);
    }

    #[test]
    fn feet_are_planted_and_judged_by_the_ground_under_them_on_a_ramp() {
        // Ten steps along Z of one foot, on a ramp of 1 in 5; the result slides in the last four, or leaves the ground.
        let (slope, last) = ([0.0, 0.2], 72);
        let at = |f: usize, beyond: Vec3| {
            let along = 0.3 * (f / 12) as f64;
            frame(Vec3::new(0.1, 0.08 + 0.2 * (along + beyond.z), along) + beyond)
        };
        let judged = |beyond: &dyn Fn(usize) -> Vec3| {
            let plane = GroundPlane { through: Vec3::zeros(), slope };
            let source: Vec<_> = (0..120).map(|f| at(f, Vec3::zeros())).collect();
            let result = (0..120).map(|f| at(f, beyond(f))).collect();
            let limbs = LimbComparison {
                ground: UnevenGround::new([vec![(0..120, plane)], vec![(0..120, plane)]], 0.0, 0.0, 0.0),
                ..comparison(&source, result, 30.0)
            };
            let (metrics, _) = limbs.planted_feet(1.0);
            let value = |name: &str| metrics.iter().find(|m| m.name == name).unwrap().value;
            [value("rest_slip_p95"), value("clearance_error_p95")]
        };
        assert_eq!(judged(&|_| Vec3::zeros()), [0.0; 2]);
        // Every step is farther up the ramp: the feet are on it.
        assert!(judged(&|f| Vec3::z() * (0.01 * (f / 12) as f64)).iter().all(|value| *value < 1e-9));
        let within = |f: usize| f.saturating_sub(last) as f64;
        assert!(judged(&|f| Vec3::z() * (0.01 * within(f)))[0] > 0.25);
        assert!(judged(&|f| Vec3::y() * (0.005 * within(f)))[1] > 0.02);
    }

    #[test]
    fn feet_that_move_or_are_raised_are_not_planted() {
        let at = |f: usize| match f {
            // Planted, then moving, then still in the air.
            0..40 => Vec3::new(0.1, 0.08, 0.0),
            40..80 => Vec3::new(0.1, 0.08, 0.02 * (f - 39) as f64),
            _ => Vec3::new(0.1, 0.3, 0.8),
        };
        let source: Vec<_> = (0..120).map(|f| frame(at(f))).collect();
        let planted = comparison(&source, source.clone(), 60.0).planted(0, 1.0);
        assert!((0..120).all(|f| planted[f].is_some() == (1..40).contains(&f)), "{planted:?}");
    }
}
