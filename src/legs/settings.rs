//! Tuned parameters of leg retargeting, each with its measured effect.

use crate::math::DEGREE;

/// Weights and thresholds of the solve. Lengths are in leg lengths (thigh plus shin of the target), speeds in leg lengths per
/// second.
///
/// Effects were measured on 84 pairs of takes and bodies unless a field names another number; values are median (90th percentile).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Error of a limb's direction that has cost 1, radians. Half and double trade limb errors of 2.0 to 2.6 degrees for
    /// slips of 1.8 to 1.3 cm/s.
    pub limb_direction: f64,
    /// Weight of the contact terms relative to the shape terms. A quarter slips by a third more; four times as much gains
    /// nothing.
    pub contact_weight: f64,
    /// Speed below which the contact weight hardly grows: the noise of captures. A quarter gives the same results.
    pub rest_speed: f64,
    /// Upper bound of the stiffness of a straight leg: how much more a change along the leg costs than one across. With 5
    /// straight legs bend by 0.65 (2.9) degrees instead of 0.18 (0.74); with 25 by 0.04 (0.2), but limbs rotate by 4 to
    /// 10 % more.
    pub stiffness_cap: f64,
    /// Height error of a sole near the ground that has cost 1. Without the term heights are 13 mm off, with it 1.5; half and
    /// double give the same.
    pub contact_height: f64,
    /// Width of the band above the ground in which that term acts. At half limbs rotate by 2.1 (5.4) degrees instead of 2.3
    /// (5.5), but knees of walks on the spot at 30 Hz bend by up to 17 degrees more instead of 13, because their feet come
    /// down within a frame. At double limbs rotate by 2.6 (7.1), because descending feet are attracted too early. With 0.02 the
    /// jerk of feet and the largest knee error are 1.31 times the take's and 7.8 degrees (p90 of 274 pairs), with 0.03 1.29 and
    /// 7.5.
    pub ground_band: f64,
    /// Scale of the weight of the higher one of heel and ball: its height above the lower one that reduces the weight.
    pub sole_band: f64,
    /// Displacement of the pelvis from the scaled path that has cost 1. Half slips more; 5 times as much lets paths grow by
    /// 30 %.
    pub root_displacement: f64,
    /// Cutoff frequency of the pelvis' displacement, and approximately of the ankles' offsets, hertz. Double shakes both: the
    /// jerk of feet is 1.01 (1.30) times the source's instead of 1.00 (1.16), and 1.01 (1.39) without the term of the ankles.
    /// Half bends straight legs by 0.21 (1.24) degrees instead of 0.11 (0.79).
    pub cutoff: f64,
    /// Change of a knee's bend, radians, that costs as much as a foot error of `foot_compliance`. Without it (exact IK) straight legs
    /// bend by 1.6 (4.2) degrees and the jerk of knees is 5.5 times the source's. With 4 degrees instead of 2.8 the p90 of the
    /// largest knee errors is 8.0 instead of 7.6 degrees and straight legs bend by 1.6 instead of 1.2 (70 pairs).
    pub knee_bend: f64,
    /// Compliance of the foot: its error that costs as much as a change of the knee's bend by `knee_bend`.
    pub foot_compliance: f64,
    /// Error of the foot at which its cost grows twice as fast as by its compliance alone: distant goals are reached, while knees
    /// hardly change for near ones. Without it a goal 0.1 away is missed by 0.027 instead of 0.013. With 0.007, and 3.3 degrees of
    /// `knee_bend`, the p90 of the largest knee errors is 7.9 degrees instead of 7.6 (70 pairs).
    pub foot_stiffening: f64,
    /// Cost of an error of the foot over the ground relative to one of its height, where a soft knee leaves an error: the former is a
    /// slip. With 1, an error along the leg, planted feet slip by 1.75 cm/s in the median of 70 pairs and by 18.3 at most instead
    /// of 1.65 and 16.5; with 10 by 1.65 and 16.2, and the jerk of knees of a boxer with short legs is 1.74 times the take's instead of 1.71.
    pub slip_weight: f64,
    /// Half-width of the window over which speeds of sole points are measured, seconds.
    pub speed_window: f64,
    /// A foot is flat while ankle and ball are both less than this above their low percentile (3 %) over the clip.
    pub flat_band: f64,
    /// A source leg is stretched if the distance from hip to ankle exceeds this multiple of thigh plus shin.
    pub stretch_onset: f64,
    /// Scale of that excess (as a multiple of thigh plus shin) over which the target's foot changes from following the source
    /// to following the direct transfer.
    pub stretch_scale: f64,
    /// Upper bound of the speed of a labelled point in its contact weight while its sliding is removed. Half gains nothing.
    pub held_speed: f64,
    /// Penetration of the skin into the floor that is tolerated before toes bend or the foot is raised: for a person the
    /// remaining penetration is 2.7 (5.3) mm. With 0.0015 contact heights are off by 1.7 (6.0) mm; with 0.006 by 1.2 (6.0),
    /// and penetration is 5.0 (7.0) mm. With 0.003 the feet of 10 % of results are 5.9 mm deep instead of 5.5.
    pub penetration: f64,
    /// Time over which a body is raised because its seat or its back is in the floor, and an arm because its hand is, seconds.
    /// With a quarter arms rotate by up to 30 degrees per frame (zombie on raylib's robot) instead of 14. With double the jerk
    /// of knees is a tenth higher in the worst tenth of takes and penetration is no smaller.
    pub body_raise_time: f64,
    /// Time over which a foot is raised, seconds. Contact heights are off by 1.3 (3.3) mm; with double by 1.4 (4.5), and
    /// penetration is no smaller.
    pub foot_raise_time: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limb_direction: 0.05,
            contact_weight: 4.0,
            rest_speed: 0.02,
            stiffness_cap: 12.0,
            contact_height: 0.003,
            ground_band: 0.024,
            sole_band: 0.01,
            root_displacement: 0.1,
            cutoff: 3.0,
            knee_bend: 2.8 * DEGREE,
            foot_compliance: 0.004,
            foot_stiffening: 0.012,
            slip_weight: 5.0,
            speed_window: 0.025,
            flat_band: 0.02,
            stretch_onset: 1.01,
            stretch_scale: 0.03,
            held_speed: 0.03,
            penetration: 0.0025,
            body_raise_time: 0.1,
            foot_raise_time: 0.025,
        }
    }
}
