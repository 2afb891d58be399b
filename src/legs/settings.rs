//! What is tuned in the equations of legs, in one place, each with its effect.

/// The weights and thresholds of the solve. Lengths are parts of the target's thigh and shin, speeds those per second.
///
/// The effects are those measured on 84 pairs of takes and bodies, as median (and 90th percentile).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The error of a limb's direction that counts as much as one unit of the other terms, radians. Half and double trade
    /// limb errors of 2.0 to 2.6 degrees for slips of 1.8 to 1.3 cm/s.
    pub limb: f64,
    /// The weight of rest against shape. A quarter slips by a third more; four times as much gains nothing.
    pub rest: f64,
    /// The speed below which a foot is at rest as much as one can be: the noise of captures. A quarter is the same.
    pub still: f64,
    /// How much more a change along a straight leg counts than one across, at most. 5 instead bends straight legs by
    /// 0.65 (2.9) degrees instead of 0.18 (0.74), 25 by 0.04 (0.2) but turns limbs by 4 to 10 % more.
    pub stiffest: f64,
    /// The error of a sole's height near the ground that counts as much as one unit. Without the term heights are 13 mm
    /// wrong, with it 1.5; half and double are alike.
    pub height: f64,
    /// How far above the ground it still counts. At half limbs turn by 2.1 (5.4) degrees instead of 2.3 (5.5), but knees of walks
    /// on the spot at 30 Hz bend by up to 17 more instead of 13: their feet come down within a frame. At double limbs turn by
    /// 2.6 (7.1): feet that come down are seized from too far.
    pub near: f64,
    /// The higher one of heel and ball counts while it is no further than this above the lower one.
    pub lowest: f64,
    /// The way of the pelvis from the scaled path that counts as one unit. Half slips more; 5 times as much lets paths
    /// grow by 30 %.
    pub far: f64,
    /// The pelvis follows nothing faster than this, hertz, and the ankles' offsets hardly anything. Double shakes both: feet
    /// jerk 1.01 (1.30) times as much as the source's instead of 1.00 (1.16), 1.01 (1.39) where ankles may do as they like.
    /// Half bends straight legs by 0.21 (1.24) degrees instead of 0.11 (0.79).
    pub cutoff: f64,
    /// The bend of a knee, radians, that counts as much as `give` of the foot. Without it (a hard closure) straight legs
    /// bend by 1.6 (4.2) degrees and knees jerk 5.5 times as much as the source's.
    pub knee: f64,
    /// The way by which a foot gives, see `knee`.
    pub give: f64,
    /// Speeds of sole points are measured over so many seconds to either side.
    pub window: f64,
    /// A foot is flat where ankle and ball are both no further than this above their lowest twentieth.
    pub flat: f64,
    /// A source leg longer than this many times its bones is stretched...
    pub stretched: f64,
    /// ... and its foot goes with the rotation copy where that excess is well above this.
    pub stretch: f64,
    /// A labelled point counts as still up to this speed while its drift is taken away. Half gains nothing.
    pub pin: f64,
    /// How far the skin may be in the floor before toes turn or the foot is raised: of a person it is 2.7 (5.3) mm in it. Half
    /// errs by 1.7 (6.0) mm in the heights at rest, double by 1.2 (6.0), and is 5.0 (7.0) mm in the floor.
    pub depth: f64,
    /// How long a body takes to come up because its seat or its back is in the floor, and an arm because its hand is, seconds.
    /// Arms that take a quarter of it turn by up to 30 degrees a frame (zombie on raylib's robot) instead of 14. At double knees jerk by a tenth
    /// more in the worst tenth of takes and nothing is less deep.
    pub seat: f64,
    /// How long a foot takes to be raised, seconds. Heights at rest err by 1.3 (3.3) mm; at double by 1.4 (4.5) and nothing is
    /// less deep.
    pub ramp: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limb: 0.05,
            rest: 4.0,
            still: 0.02,
            stiffest: 12.0,
            height: 0.003,
            near: 0.02,
            lowest: 0.01,
            far: 0.1,
            cutoff: 3.0,
            knee: 4.0 * std::f64::consts::PI / 180.0,
            give: 0.004,
            window: 0.025,
            flat: 0.02,
            stretched: 1.01,
            stretch: 0.03,
            pin: 0.03,
            depth: 0.003,
            seat: 0.1,
            ramp: 0.025,
        }
    }
}
