//! Catalogue of all measures: name, unit, limit of a good clip, exact formula.
//!
//! Lengths and speeds are scaled to a body height of 1.75 m, so that one threshold fits every character; `momentum_residual` and
//! the flight measures use unscaled metres, because gravity does not scale. `f` is the frame, `dt` the time between two frames,
//! `x_c` the lowest position of the contact point `c`, `v` its horizontal speed since the previous frame, `z` its height above
//! its support while it is labelled, else above the lower of the ground and its supports before and after; `H` is the body
//! height. The direct transfer has the rotations of the take before legs, arms and floor are corrected; `x_direct` are its positions.

use super::acceptable;
use super::measure_entry::{Measure, limited, measure, share};
use super::published_entries::PUBLISHED;
use super::robot_entries::ROBOTS;
use crate::report::Metric;

/// All measures, in the order in which they are shown.
pub const MEASURES: &[Measure] =
    &joined::<{ OWN.len() + PUBLISHED.len() + ROBOTS.len() }>([OWN, PUBLISHED, ROBOTS]);

const OWN: &[Measure] = &[
    measure(
        "height",
        "m",
        "height of the character in its reference pose, soles to top of head (fitted head capsule); not scaled",
    ),
    measure(
        "rest_height",
        "m",
        "height of the lowest sole above the origin in the reference pose, negative if the root's offset is 0: a property of the \
         file, not of the motion",
    ),
    // Contacts.
    measure("foot_skate", "m/s", "mean of v over the points of the feet that are labelled in f and f-1"),
    measure(
        "foot_skate_p95",
        "m/s",
        "95th percentile of v over the points of the feet that are labelled in f and f-1",
    ),
    limited(
        "foot_slide_p95",
        "m/s",
        acceptable::SLIDE,
        "95th percentile over feet and frames with a labelled point of the smallest v of the points of the foot: a foot that rolls \
         has a point at rest; with --source, rest_slip_p95 is judged instead",
    ),
    measure("foot_skate_max", "m/s", "max of v over the points of the feet that are labelled in f and f-1"),
    measure(
        "foot_skate_weighted",
        "m/s",
        "mean over the points of the feet with z < h of v (2 - 2^(z/h)), h = 2.5 cm, z at least 0 \
         (Zhang, Starke, Komura and Saito 2018)",
    ),
    measure("contact_slide_p95", "m/s", "foot_skate_p95 over all labelled points, hands included"),
    limited(
        "penetration_max",
        "m",
        acceptable::FOOT_DEPTH,
        "max over f of d(f) = max(0, -min z) over the points of the feet",
    ),
    measure("penetration_mean", "m", "mean over f of d(f)"),
    measure("penetration_share", "1", "share of frames with d(f) above 1 mm"),
    measure("body_penetration_max", "m", "penetration_max over all other points, less their thickness"),
    limited(
        "body_skin_below_floor",
        "m",
        acceptable::SKIN_DEPTH,
        "greatest depth below the ground of the skin of the whole body, ten times a second; but for the feet less its depth below \
         the soles in the reference pose",
    ),
    measure(
        "float_max",
        "m",
        "max over frames with a labelled point of the lowest labelled z, at least 0; all points of a labelled foot count",
    ),
    limited(
        "float_share",
        "1",
        acceptable::FLOATING,
        "share of frames with a labelled point whose lowest labelled z is above 3 cm",
    ),
    share("contact_precision", "share of labels found on the result that the take has too"),
    share("contact_recall", "share of the take's labels that are found on the result"),
    share("contact_f1", "harmonic mean of precision and recall"),
    // The pose by itself.
    measure("limit_violation_max", "rad", "greatest angle from a joint to its range of motion"),
    measure(
        "limit_violation_mean",
        "rad",
        "mean over f and joints with a range of the angle to it, 0 inside",
    ),
    limited(
        "limit_violation_added",
        "rad",
        acceptable::OUT_OF_RANGE,
        "max over f of the greatest angle from a joint to its range of motion, minus that of the direct transfer",
    ),
    limited(
        "bone_stretch",
        "1",
        acceptable::STRETCHED_BONE,
        "max over f and joints below the hips of | |x_j - x_parent| / rest length - 1 |, less the rounding of 32-bit translations \
         further than 64 m from the origin",
    ),
    measure(
        "skin_penetration",
        "1",
        "share of arm vertices deeper than 1 % of H in the capsules of trunk, head and thighs, those inside at rest left out",
    ),
    limited(
        "arm_in_body",
        "1",
        acceptable::ARM_IN_BODY,
        "mean over a few frames of the share of the vertices of forearms and hands whose points 1 % of H below the skin have a \
         winding number above 0.5 in the skin of trunk, head and thighs (Jacobson et al. 2013), those inside at rest left out",
    ),
    limited(
        "arm_through_body",
        "1",
        acceptable::ARM_THROUGH_BODY,
        "max over ten frames a second, the 48 with most vertices in the capsules of the body, of the share of the same vertices whose \
         points 3 % of H below the skin are inside",
    ),
    limited(
        "skin_stretch",
        "1",
        acceptable::TORN,
        "max over the frames of arm_in_body and the edges of the skin longer than 2 % of H of length / length at rest, without the ten most \
         stretched edges",
    ),
    // Smoothness.
    measure(
        "jerk",
        "m/s^3",
        "RMS over f and end joints (hands, feet, head) of |x(f+2) - 3x(f+1) + 3x(f) - x(f-1)| / dt^3",
    ),
    limited(
        "jerk_ratio",
        "1",
        acceptable::SHAKING,
        "jerk / jerk of the direct transfer, the latter at least 1e-5 m / dt^3, and at least that of the rounding of 32-bit \
         translations",
    ),
    measure("turn_max", "rad", "greatest change of a local rotation from one frame to the next"),
    limited(
        "turn_ratio",
        "1",
        acceptable::TURNING,
        "turn_max / turn_max of the direct transfer, the latter at least 1e-3 rad",
    ),
    measure(
        "correction_roughness",
        "m/s^2",
        "RMS over f and end joints of the second difference of (result - direct transfer) / dt^2",
    ),
    // Against the direct transfer.
    measure(
        "mpjpe",
        "m",
        "mean over f and joints with a role of |x - x_direct|, the distance from the direct transfer",
    ),
    measure("mpjpe_root", "m", "mpjpe after subtracting the position of the hips from both"),
    measure(
        "mpjpe_pa",
        "m",
        "mpjpe after the best similarity transform of every frame (Procrustes; Horn 1987)",
    ),
    measure(
        "rotation_error",
        "rad",
        "mean over f and joints with a role of the angle between local rotations",
    ),
    measure(
        "rotation_error_global",
        "rad",
        "mean over f and joints with a role of the angle between rotations in model space",
    ),
    measure("end_effector_error", "1", "mean over f and end joints of |x - x_direct| / H"),
    measure(
        "san_error",
        "1",
        "mean over f, joints with a role and axes of (x - x_direct)^2 / H^2 (Aberman et al. 2020, as in their get_error.py)",
    ),
    measure(
        "san_error_local",
        "1",
        "san_error after subtracting the position of the hips (Zhang et al. 2023, R2ET: local MSE)",
    ),
    limited(
        "head_orientation_p95",
        "rad",
        acceptable::HEAD_AND_FINGERS,
        "95th percentile of the greatest angle between the rotations of head and neck in model space and the direct transfer's",
    ),
    limited(
        "finger_error_p95",
        "rad",
        acceptable::HEAD_AND_FINGERS,
        "95th percentile of the greatest angle between the local rotations of the fingers' joints and the direct transfer's",
    ),
    measure(
        "hands_error",
        "1",
        "mean over f and hands, each weighted by how near it is to the body in the take, of its distance from its \
         target, over H (formula: `HandTargets` in the library)",
    ),
    // Against the take; contact labels are used for feet and hands only.
    limited(
        "self_contact_lost",
        "1",
        acceptable::TOUCHES_LOST,
        "share of the touches of the take (a hand within 4 cm of head, trunk, other hand and forearm, or of hips and thighs unless \
         the arm hangs; capsules of both bodies; fifteen times a second) that are wider by more than 5 cm in the result",
    ),
    limited(
        "sole_tilt_p50",
        "rad",
        acceptable::SOLE,
        "median angle from up (on a ramp its normal) of a foot's up axis in the reference pose; heel and ball labelled, shin within 60 degrees of vertical; worse foot",
    ),
    limited(
        "foot_orientation_p95",
        "rad",
        acceptable::FOOT,
        "95th percentile of the angle between the rotations of a foot in model space and of the direct transfer's, where neither heel nor ball \
         is labelled within 0.05 s; or that of the angle about the vertical in the other frames, if it is greater",
    ),
    limited(
        "hand_orientation_p95",
        "rad",
        acceptable::HAND,
        "95th percentile of the angle between the rotations of a hand in model space and of the direct transfer's, in all frames but those in \
         which hand or elbow lean on the floor",
    ),
    limited(
        "elbow_pop",
        "rad",
        acceptable::POP,
        "max over f but after cuts, upper arms and forearms of the rotation since f-1 minus the direct transfer's greatest in f-1 to f+1",
    ),
    limited(
        "knee_pop",
        "rad",
        acceptable::POP,
        "max over f but after cuts, thighs and shins of the rotation since f-1 minus the direct transfer's greatest in f-1 to f+1",
    ),
    limited(
        "limb_error_p95",
        "rad",
        acceptable::LIMB,
        "95th percentile over f and thighs, shins, upper arms and forearms of the angle between the limb and the direct transfer's; arms are \
         left out while their hand or elbow is labelled, their hand is within 9 cm of the body in the take and no farther from it in \
         the result than in the direct transfer, or hand or forearm are in the body in the direct transfer; legs while their knee is \
         labelled; labels count 0.4 s before and after as well",
    ),
    limited("knee_error_max", "rad", acceptable::KNEE, "max of |bend of a knee - the direct transfer's|"),
    limited(
        "straight_leg_bend_p90",
        "rad",
        acceptable::STRAIGHT_LEG,
        "90th percentile, over legs that the direct transfer bends by less than 10 degrees, of bend - bend of the direct transfer",
    ),
    limited(
        "rest_slip_p95",
        "m/s",
        acceptable::SLIP,
        "95th percentile of the speed difference between result and leg-scaled take, at the ankle or toe joint (the one that is \
         slower in the take), over frames in which that joint is planted in the take: slower than 0.15 m/s, and within 4 cm of \
         the 0.1 quantile of its heights at such speeds, for 0.03 s before and after too",
    ),
    limited(
        "rest_drift",
        "m/s",
        acceptable::SLIDE,
        "length of (horizontal displacement of a planted joint over a stance - that in the leg-scaled take), summed over the stances, \
         / their total duration",
    ),
    limited(
        "clearance_error_p95",
        "m",
        acceptable::CLEARANCE,
        "95th percentile over the frames of rest_slip_p95 of |d - median of d of the joint|, d = height of the joint - height in the \
         leg-scaled take; or, if smaller, with the take's heights above the plane through its planted joints, unless its slope is \
         over 1 in 20",
    ),
    limited(
        "knee_jerk_ratio",
        "1",
        acceptable::SHAKING,
        "RMS of the third differences of the knees / that of the leg-scaled take; not measured if the latter is below 1e-5 of the leg",
    ),
    limited(
        "foot_jerk_ratio",
        "1",
        acceptable::SHAKING,
        "RMS of the third differences of the ankles / that of the leg-scaled take; not measured if the latter is below 1e-5 of the leg",
    ),
    limited(
        "loop_seam",
        "rad",
        acceptable::SEAM,
        "for looping takes: max over joints of the angle between the first and the last frame, minus the same in the take",
    ),
    limited(
        "trunk_error",
        "rad",
        acceptable::TRUNK,
        "mean over f of the angle between the trunk (centre of the hip joints to centre of the shoulders) and the direction that \
         follows from the rotation of the take's trunk relative to its reference pose; of a robot, the take's own direction, less its \
         lean in the zero pose",
    ),
    limited(
        "ik_missed",
        "1",
        acceptable::MISSED_TARGETS,
        "share of frames in which `ik` leaves an effector at full weight more than 5 cm or 10 degrees from its target; measured by the \
         stage only",
    ),
    // Plausible forces.
    measure(
        "momentum_residual",
        "1",
        "RMS over f of |(F, N/H) - G phi| / (m g), F = m (c'' - g) and N = dL/dt low-passed at 8 Hz, phi >= 0 the forces \
         along four edges of a friction pyramid (0.8) at every labelled point",
    ),
    measure(
        "momentum_residual_p95",
        "1",
        "95th percentile over f of |(F, N/H) - G phi| / (m g), as in momentum_residual",
    ),
    limited(
        "flight_error",
        "1",
        acceptable::FALL,
        "RMS over frames of flight (no label for 80 ms or more) of |a - k g| / (k g), a the acceleration of the parabola fitted to \
         the centre of mass of each flight, k the ratio of leg lengths; not measured if in no flight, of the result or of the take, all \
         contact points are higher than 0.03 leg lengths",
    ),
    limited(
        "flight_height_p95",
        "m",
        acceptable::FLIGHT_HEIGHT,
        "95th percentile over frames without a label of the height above the ground of the lowest of soles and capsules, minus the \
         scaled take's, at least 0",
    ),
    measure(
        "flight_spin_drift",
        "1",
        "RMS over flights of |L - mean L| / RMS of L, L the angular momentum about the centre of mass",
    ),
];

/// The entries of lists with `N` in all.
const fn joined<const N: usize>(lists: [&[Measure]; 3]) -> [Measure; N] {
    let (mut all, mut k, mut list) = ([lists[0][0]; N], 0, 0);
    while list < lists.len() {
        let mut entry = 0;
        while entry < lists[list].len() {
            all[k] = lists[list][entry];
            (k, entry) = (k + 1, entry + 1);
        }
        list += 1;
    }
    all
}

/// The measure of this name.
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|m| m.name == name)
}

/// A value of the measure of this name.
///
/// # Panics
/// Where the list has no such name.
pub fn metric(name: &str, value: f64) -> Metric {
    let measure = find(name).expect("the list has every name that is measured");
    Metric { name: name.to_owned(), value, unit: measure.unit, at_most: measure.at_most, ..Metric::default() }
}

/// All names, the nearest to `name` first.
pub fn names_near(name: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = MEASURES.iter().map(|m| m.name).collect();
    // A name that starts alike, or holds the word, is nearer than one that needs many changes.
    names.sort_by_key(|other| ((1.0 - strsim::jaro_winkler(name, other)) * 1e6) as u64);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_nearest_comes_first() {
        for (k, measure) in MEASURES.iter().enumerate() {
            assert!(MEASURES[..k].iter().all(|m| m.name != measure.name), "{}", measure.name);
            assert_eq!(names_near(measure.name)[0], measure.name);
        }
        assert_eq!(names_near("foot_skates")[0], "foot_skate");
        assert_eq!(names_near("penetraton_max")[0], "penetration_max");
    }
}
