//! The limits of a good clip, each with its source or its reason.
//!
//! A limit says what can be seen, not what a solver can reach. Lengths and speeds are those of the figure scaled to 1.75 m;
//! angles are radians.

/// A degree, in radians.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Speed of a planted foot, m/s: a third of HuMoR's speed of a static foot (Rempe et al. 2021: 0.5 cm a frame at 30 Hz); half a
/// second of it is a finger's breadth.
pub const SLIDE: f64 = 0.05;
/// Difference between the speeds of a planted foot and of the take's, m/s: a third above HuMoR's speed of a static foot (0.15),
/// since the frames count in which a foot lands and leaves at that speed.
pub const SLIP: f64 = 0.2;
/// Depth of the feet, metres: Holosoma's evaluation counts what is deeper.
pub const FOOT_DEPTH: f64 = 0.01;
/// Depth of the skin of the body, metres: the flesh of a seated or lying body yields by so much.
pub const SKIN_DEPTH: f64 = 0.03;
/// Share of the time of contact in which the body floats: labels of contacts end some frames after a foot has left, which in a
/// walk of 30 Hz is a tenth of the stance.
pub const FLOATING: f64 = 0.1;
/// Angle by which a joint goes further out of its range than in the take: twice the standard deviation of ranges of motion between
/// people, which is up to 9 degrees (Boone and Azen 1979); less may be the range of this person.
pub const OUT_OF_RANGE: f64 = 20.0 * DEGREE;
/// Relative change of a bone's length: a millimetre in a metre, some hundred times the precision of files.
pub const STRETCHED_BONE: f64 = 1e-3;
/// Jerk over the take's: three quarters of the square are then the result's own.
pub const SHAKING: f64 = 2.0;
/// The largest rotation per frame over that of the take: half as much again is faster than anything in the take.
pub const TURNING: f64 = 1.5;
/// Angle between a limb and the take's, at its 95th percentile: readings of one joint by two people with a goniometer differ by 5 to
/// 6 degrees (Boone et al. 1978), and proportions differ besides; twice that is a different pose.
pub const LIMB: f64 = 10.0 * DEGREE;
/// Difference from the bend of the take's knee at its greatest: a single frame may differ by half more than [`LIMB`].
pub const KNEE: f64 = 15.0 * DEGREE;
/// Bend of a leg that is straight in the take: a bent knee is seen first where it should be straight; 3 degrees are a knee 6 mm
/// from the line between hip and ankle.
pub const STRAIGHT_LEG: f64 = 3.0 * DEGREE;
/// Height of a planted joint against the take's, metres: what floats or sinks by less is within the depth of a sole.
pub const CLEARANCE: f64 = 0.02;
/// Angle between first and last frame of a loop: a hitch of 3 degrees a frame is a tenth of a fast limb's turn at 30 Hz.
pub const SEAM: f64 = 3.0 * DEGREE;
/// Lean of the trunk against the take's in the mean: what two people with a goniometer differ by (Boone et al. 1978).
pub const TRUNK: f64 = 5.0 * DEGREE;
/// Error of gravity in flight, a share: captures themselves reach 0.36 in short flights, because contacts end by whole frames and
/// late. At half of gravity a body floats.
pub const FALL: f64 = 0.5;
/// Angle between a foot in the air and the take's, at its 95th percentile: as of a [`LIMB`].
pub const FOOT: f64 = 10.0 * DEGREE;
/// Growth of a limb's turn in one frame: what a limb turns in a frame of 30 Hz in slow motion (150 degrees a second).
pub const POP: f64 = 5.0 * DEGREE;
/// Share of touches lost: a fifth of them are brushes that nobody misses.
pub const TOUCHES_LOST: f64 = 0.2;
/// Share of the arms' skin inside of the body: four of the vertices that are looked at, a fingertip.
pub const ARM_IN_BODY: f64 = 0.04;
/// Length of an edge of the skin over that at rest: the armpits of dense meshes reach five times in a take with raised arms, skin
/// that stays behind with another joint many times that.
pub const TORN: f64 = 8.0;
