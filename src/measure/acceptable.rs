//! The limits of a good clip, each with its source or with what it was chosen from.
//!
//! A limit says what can be seen, not what a solver can reach. Lengths and speeds are those of the figure scaled to 1.75 m;
//! angles are radians. "Seen" is what the good ones of the sixty results of `tests/verdicts.txt`, which were judged by eye,
//! reach where their take does not excuse them, and where the faulty ones over the limit begin.

use crate::math::DEGREE;

/// Speed of a planted foot, m/s. Chosen: a third of the speed of a static foot of HuMoR (Rempe et al. 2021: 0.5 cm a frame at 30 Hz);
/// in half a second it goes 2.5 cm, the width of a finger.
pub const SLIDE: f64 = 0.05;
/// Difference between the speeds of a planted foot and of the take's, m/s. Chosen: a third above the speed of a static foot of
/// HuMoR (0.15), since the take's may have that speed itself. Seen: good 0.18, faults 0.26.
pub const SLIP: f64 = 0.2;
/// Depth of the feet, metres. Source: the tolerance of Holosoma's evaluation (`penetration_tolerance` of `eval_retargeting.py`).
pub const FOOT_DEPTH: f64 = 0.01;
/// Depth of the skin of the body, metres. Chosen: about how far soft flesh yields under a sitting body, which no mesh does.
/// Seen: good 0.01, faults 0.034.
pub const SKIN_DEPTH: f64 = 0.03;
/// Share of the time of contact in which the body floats. Chosen: labels end by whole frames, and two of 30 Hz are a tenth of a
/// stance of 0.65 s. Seen: faults 0.23.
pub const FLOATING: f64 = 0.1;
/// Angle by which a joint goes further out of its range than in the direct transfer. Chosen: twice the largest standard
/// deviation of ranges of motion between people, which is that of the shoulder's extension, 9.5 degrees (Boone and Azen 1979);
/// less may be the range of this person. Seen: good 8 degrees, faults 21.
pub const OUT_OF_RANGE: f64 = 20.0 * DEGREE;
/// Relative change of a bone's length. Chosen: a millimetre in a metre cannot be seen, and single precision keeps 1e-7.
pub const STRETCHED_BONE: f64 = 1e-3;
/// Jerk over the direct transfer's. Chosen: at twice that, three quarters of the squares were added. Seen: good 1.4, faults 2.01.
pub const SHAKING: f64 = 2.0;
/// The largest rotation per frame over that of the direct transfer. Chosen: half as much again is faster than anything in it. Seen:
/// good 1.1, faults 1.6.
pub const TURNING: f64 = 1.5;
/// Angle between a limb and the direct transfer's, at its 95th percentile. Chosen: twice what separates readings of one joint
/// by two people with a goniometer, 5 degrees in arms and 6 in legs (Boone et al. 1978), since proportions differ besides.
/// Seen: good 4.5 degrees, faults 11.
pub const LIMB: f64 = 10.0 * DEGREE;
/// Difference from the bend of the direct transfer's knee at its greatest. Chosen: a single frame may differ by half more than
/// [`LIMB`]. Seen: good 10.6 degrees, faults 15.5.
pub const KNEE: f64 = 15.0 * DEGREE;
/// Bend of a leg that is straight in the direct transfer. Chosen: a flexed knee is seen first where it should be straight; by 3
/// degrees it leaves the line between hip and ankle by 1 cm. Seen: good 0.7 degrees.
pub const STRAIGHT_LEG: f64 = 3.0 * DEGREE;
/// Height of a planted joint against the take's, metres. Chosen: about the thickness of a sole. Seen: good 0.02, faults 0.022.
pub const CLEARANCE: f64 = 0.02;
/// Angle between first and last frame of a loop. Chosen: a hitch of 3 degrees in a frame of 30 Hz is 90 degrees a second, a limb in
/// slow motion.
pub const SEAM: f64 = 3.0 * DEGREE;
/// Lean of the trunk against the take's in the mean. Chosen: as little as separates readings of two people with a goniometer (Boone
/// et al. 1978: 5 degrees in arms). Seen: good 2.2 degrees, faults 13.
pub const TRUNK: f64 = 5.0 * DEGREE;
/// Error of gravity in flight, a share. Chosen: captures reach 0.36 in short flights (a dance of the development data), because
/// contacts end by whole frames; at half of gravity a body floats.
pub const FALL: f64 = 0.5;
/// Height above the floor, while nothing rests, that the take does not have, metres. Chosen: a jump of a figure with short legs on
/// an adult, who tucks up longer ones, reaches 0.2; a body that rolls in the air is higher by more than its own thickness. Seen:
/// good 0.09, faults 0.54.
pub const FLIGHT_HEIGHT: f64 = 0.3;
/// Angle between a foot in the air and the direct transfer's, at its 95th percentile. Chosen: as of a [`LIMB`]. Seen: good 7
/// degrees, faults
/// 29.
pub const FOOT: f64 = 10.0 * DEGREE;
/// Slope of soles that stand, in the median. Chosen: a quarter more than that of a foot that was captured on its edge (a walk, 13.7
/// degrees). Seen: good 10 degrees, faults 17.9 to 41 (reference poses of takes that are rolled by 30).
pub const SOLE: f64 = 17.0 * DEGREE;
/// Angle between head or neck and the direct transfer's, and between a finger's joint and the direct transfer's, at the 95th
/// percentile. Chosen: as of a [`LIMB`]; nothing that retargeting corrects rotates them.
pub const HEAD_AND_FINGERS: f64 = 10.0 * DEGREE;
/// Angle between a free hand and the direct transfer's, at its 95th percentile. Chosen: as of a [`LIMB`]; the readings of
/// people that its source compares are of wrists too.
pub const HAND: f64 = 10.0 * DEGREE;
/// Growth of a limb's rotation in one frame. Chosen: in a frame of 30 Hz it is 150 degrees a second more than the take has around
/// it. Seen: good 4.0 degrees, faults 5.3.
pub const POP: f64 = 5.0 * DEGREE;
/// Share of touches lost. Chosen: what is demanded of retargeting here is four of five. Seen: good 0, faults 0.46.
pub const TOUCHES_LOST: f64 = 0.2;
/// Share of the arms' skin inside of the body. Chosen: four of the 96 vertices that are looked at, a fingertip. Seen: good 0.017,
/// faults 0.042.
pub const ARM_IN_BODY: f64 = 0.04;
/// Share of the arms' skin deep inside of the body at one moment. Chosen: a quarter of one hand, whose vertices are two fifths of those
/// of both arms on characters with fingers; less is fingertips in cheeks and elbows beside broad hips. Seen: good 0.08, faults 0.117
/// (hands in a head, a forearm in a helmet).
pub const ARM_THROUGH_BODY: f64 = 0.1;
/// Length of an edge of the skin over that at rest. Chosen: twice what good results reach with raised arms; skin that stays behind
/// with another joint is stretched many times that. Seen: good 4.1.
pub const TORN: f64 = 8.0;
/// Share of frames in which an effector misses its target. Chosen: as of measures that are judged at their 95th percentile.
pub const MISSED_TARGETS: f64 = 0.05;
/// Depth of a robot's sole or other part, metres. Source: PHUMA (arXiv 2510.26236), whose frames with a sole deeper are penetration.
pub const SOLE_DEPTH: f64 = 0.01;
/// How far a robot's hinge is beyond the middle 98 % of its range. Chosen: that share is PHUMA's (arXiv 2510.26236), which allows
/// nothing; a tenth of a degree is the resolution of files with three digits.
pub const BEYOND_RANGE: f64 = 0.1 * DEGREE;
/// Speed of a robot's hinge, rad/s. Source: ProtoMotions, which leaves out faster motions. A limb that flips exceeds it in one frame.
pub const HINGE_SPEED: f64 = 40.0;
/// Speed of a robot's hinge over the highest that its file states. Source: the file. Chosen: one percent more is the rounding of files with
/// six digits at 120 Hz, for a hinge of 0.02 rad/s.
pub const HINGE_SPEED_RATIO: f64 = 1.01;
/// Time in which a robot hovers above the floor, seconds. Source: ProtoMotions, which leaves out motions that are 0.1 m above it for
/// longer.
pub const OFF_FLOOR: f64 = 0.6;
/// Rotation of a robot's base against the take's hips and trunk in the mean. Chosen: half of a right angle, beyond which a body that
/// stands has become one that lies, or that faces aside. Seen: good 19 degrees.
pub const ROBOT_BASE: f64 = 45.0 * DEGREE;
/// Error of a robot's path as a share of it. Chosen: what is lost of a path in the motions below is sway of the hips about it, and
/// twice as much is a shorter path. Seen: good 0.08 (a boxer on a spot), faults 0.36 (hinges of 0.5 rad/s).
pub const ROBOT_PATH: f64 = 0.15;
/// Angle between a limb of a robot and the direct transfer's, at its 95th percentile. Chosen: three times [`LIMB`], since
/// hinges reach fewer directions than joints of people. Seen: good 11 degrees, faults 40.
pub const ROBOT_LIMB: f64 = 30.0 * DEGREE;
/// Lean of a robot's trunk against the take's in the mean. Chosen: a little less than [`ROBOT_LIMB`]; a robot that bends so far more than
/// the take does is about to fall. Seen: good 22 degrees (a kneel by hips that bend to 90), faults 82.
pub const ROBOT_TRUNK: f64 = 25.0 * DEGREE;
/// Speed at which the planted feet of a robot go away from the take's, m/s. Source: PHUMA (arXiv 2510.26236), whose feet skate from that
/// speed on. Seen: good 0.03, faults 0.28.
pub const ROBOT_DRIFT: f64 = 0.1;
/// Share of the contact of a robot's feet in which they are off the floor. Chosen: feet of robots are flat, so that they leave the floor
/// while a heel or the toes of the take still rest; a robot that floats has all of it. Seen: good 0.22, faults 1.
pub const ROBOT_FLOATING: f64 = 0.3;

#[cfg(test)]
mod tests {
    #[test]
    fn every_limit_has_a_source_or_says_what_it_was_chosen_from() {
        let (limits, _) = include_str!("acceptable.rs").split_once("#[cfg(test)]").unwrap();
        let (mut reason, mut seen) = (String::new(), 0);
        for line in limits.lines() {
            if let Some(text) = line.strip_prefix("///") {
                reason += text;
            } else if line.starts_with("pub const ") {
                assert!(["Source: ", "Chosen: "].iter().any(|word| reason.contains(word)), "{line}");
                seen += 1;
            }
            if !line.starts_with("///") {
                reason.clear();
            }
        }
        let limited = crate::measure::MEASURES.iter().filter(|m| m.at_most.is_some()).count();
        assert!(seen > 0 && seen <= limited);
    }
}
