//! Widths and weights of the equations, each with what was seen at other values (20 takes on a robot of 29 hinges).
//!
//! A residual's weight is one over the square of its width. Lengths are in lengths of the robot's leg, unless in metres.

/// Widths of the goals' residuals.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolveSettings {
    /// Directions of thigh and shin: with 0.05 their error at p95 is 9 instead of 7 degrees in dances.
    pub(super) leg: f64,
    /// Directions of upper arm and forearm: with 0.06 a dance keeps 4 percent more frames within 10 degrees, and jumps 7
    /// instead of 4 times.
    pub(super) arm: f64,
    /// Rotation of the torso and of the pelvis, radians: as far as people lean in place of a waist that robots lack.
    pub(super) torso: f64,
    pub(super) pelvis: f64,
    /// Pitch and yaw of a sole, radians; a third of what is seen of a foot that is flat.
    pub(super) sole: f64,
    /// Roll of a sole, radians. With 0.06 ankles whose roll is at its limit pull the legs: key points 8.2 instead of 3.7 cm.
    pub(super) roll: f64,
    /// Rotation of a hand, radians: wrists of robots reach less than people's.
    pub(super) hand: f64,
    /// Place of the middle of the hips, and of the ankles. Half and double of either change hinges by up to 1.0 degree (95th percentile,
    /// 7 takes on that robot), and no measure by more than a hundredth.
    pub(super) root: f64,
    pub(super) ankle: f64,
    /// Weight of resting points. With half hinges change by 2.2 degrees (95th percentile, 7 takes), and measures hardly.
    pub(super) rest: f64,
    /// Speed of a resting point that is as good as none, per second. With 0.02 planted feet of a kneel move by 2.0 instead of 1.7 cm/s
    /// (95th percentile); with 0.01 by 1.1, and it is 4 instead of 1 mm from itself at other rates.
    pub(super) rest_speed: f64,
    /// Height of a point of the sole that is on the floor, metres. With 0.003 a kneeling robot's rear foot is 2 cm above the floor (13 % of
    /// the take's contacts, here none); with 0.0015 resting soles of walks are up to 7 percent faster.
    pub(super) ground: f64,
    /// How deep soles may be in the floor, metres: a fifth of what counts as penetration (1 cm, PHUMA).
    pub(super) floor: f64,
    /// How deep parts may be in each other, or in the floor if they are no soles, metres; no other value was tried.
    pub(super) collision: f64,
    /// Factor of the width of a speed's excess.
    pub(super) speed: f64,
}

impl SolveSettings {
    /// The widths of the last round, in which the result is found.
    pub(super) const FINAL: SolveSettings = SolveSettings {
        leg: 0.035,
        arm: 0.08,
        torso: 0.10,
        pelvis: 0.15,
        sole: 0.06,
        roll: 0.15,
        hand: 0.35,
        root: 0.10,
        ankle: 0.15,
        rest: 4.0,
        rest_speed: 0.016,
        ground: 0.002,
        floor: 0.002,
        collision: 0.004,
        speed: 1.0,
    };

    /// The same with contacts that are softer by a factor.
    pub(super) fn softened(self, factor: f64) -> Self {
        Self {
            rest_speed: self.rest_speed * factor,
            ground: self.ground * factor,
            floor: self.floor * factor,
            collision: self.collision * factor,
            ..self
        }
    }
}

/// A round of the solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Frequency up to which the motion is free, hertz.
    pub(super) cutoff: f64,
    /// How much softer contacts are.
    pub(super) softness: f64,
    /// Most steps.
    pub(super) steps: usize,
    /// A step that lowers the cost by a smaller share is the last; one that is foretold to is not taken.
    pub(super) enough: f64,
    /// The highest damping of its first step, as a share of the diagonal.
    pub(super) damping: f64,
    /// Its first step rotates nothing farther than this, radians.
    pub(super) longest: f64,
}

/// The early rounds. Without soft contacts at first, resting feet hold the solve in a curved valley: 20 steps were not enough.
pub(super) const EARLY_ROUNDS: [Round; 2] = [
    Round { cutoff: 2.0, softness: 8.0, steps: 5, enough: 1e-2, damping: 0.03, longest: 0.7 },
    Round { cutoff: 3.0, softness: 3.0, steps: 5, enough: 1e-2, damping: 0.03, longest: f64::INFINITY },
];
/// The round in which the result is found. A cutoff of 5 Hz gives 34 jumps instead of 6, one of 6 Hz twice as many. With 2e-4 as the
/// share planted feet of a dance move by 0.73 instead of 0.57 cm/s (95th percentile).
pub(super) const LAST_ROUND: Round =
    Round { cutoff: 4.0, softness: 1.0, steps: 10, enough: 1e-4, damping: 1e-3, longest: f64::INFINITY };
/// Factors of the width of a speed's excess in further rounds, each as the last one, while a hinge is faster than its file allows: where
/// all of a take is too fast, limbs pull hinges of 2 rad/s to 2.4 at the factor 1.
pub(super) const SLOWER: [f64; 3] = [0.3, 0.1, 0.03];

/// A sole whose yaw is off by more than this pulls the leg no harder, radians. In a kneel the yaw of the front foot is off by 0.6, and without
/// this limit its thigh by 10 to 15 degrees. With 0.10 soles of a dance are off by 22 instead of 20 degrees (95th percentile), with 0.20 the
/// kneeling thigh by more than 10 degrees in 1.8 instead of 0.7 % of the frames.
pub(super) const YAW_PULL: f64 = 0.15;
/// A point of a sole below this rests, the less the higher.
pub(super) const NEAR: f64 = 0.03;
/// A point of a sole slower than this rests, the less the faster, per second. With 0.12 skate is 8.7 instead of 6.3 cm/s at p95.
pub(super) const SLOW: f64 = 0.2;
/// A point of a sole counts as the one on the ground if it is not this much above the lower one.
pub(super) const LOWER: f64 = 0.01;
/// Soles stay this far above the floor, metres: half of the width, so that none is below 0 by much.
pub(super) const FLOOR_MARGIN: f64 = 0.001;
/// Parts stay this far from each other, metres: the corners that stick out of the capsules; no other value was tried.
pub(super) const COLLISION_MARGIN: f64 = 0.008;
/// Width of hinges about zero, radians: it only decides what nothing else does.
pub(super) const POSTURE: f64 = 2.0;
/// Share of a hinge's range that is used: the field counts hinges beyond 98 percent as violations (PHUMA, 2510.26236).
pub(super) const RANGE: f64 = 0.98;
/// Share of a hinge's highest speed above which it is slowed down: a tenth is left for the tracker.
pub(super) const SPEED_SHARE: f64 = 0.9;
/// Width of the excess of a speed, radians per second.
pub(super) const SPEED_WIDTH: f64 = 0.5;
/// The same as a share of the highest speed, for hinges slower than 10 rad/s.
pub(super) const SPEED_WIDTH_SHARE: f64 = 0.05;
/// Highest speed of a hinge whose file states none, radians per second. Motors of common humanoids reach 20 to 37; with 0.9 of 16 none
/// moves by 0.5 rad within 1/30 s, which counts as a jump (NMR, 2603.22201).
pub(super) const USUAL_SPEED: f64 = 16.0;
/// Width of smoothness at the cutoff, radians.
pub(super) const SMOOTH: f64 = 0.1;
/// Factors of that width for the base's place, in lengths of the leg: along the floor, and up. Contacts that begin and end push a base
/// that is free along the floor: with 0.3 the wrench that no contact explains is 9.3 instead of 7.9 % of the weight (MuJoCo's inverse
/// dynamics, 11 takes on that robot). With 0.1 for the height too, jumps are a tenth lower than the take's.
pub(super) const SMOOTH_BASE: [f64; 3] = [0.1, 0.1, 0.3];
/// The rate at which all of this was found, Hz; at others every term is multiplied so that its integral over time is the same.
pub(super) const RATE: f64 = 30.0;
