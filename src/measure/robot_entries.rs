//! Entries of the catalogue for robots, in their own metres.

use super::acceptable;
use super::measure_entry::{Measure, limited, measure, share};

pub(super) const ROBOTS: &[Measure] = &[
    share("robot_in_range", "share of frames with all hinges in the middle 98 % of their range (PHUMA)"),
    share("robot_above_floor", "share of frames with no corner of a sole more than 1 cm below 0 (PHUMA)"),
    share("robot_not_floating", "share of contact in which a corner of the sole is below 1 cm (PHUMA)"),
    limited(
        "robot_floating",
        "1",
        acceptable::ROBOT_FLOATING,
        "share of contact in which neither a corner of the sole nor another part is below 1 cm",
    ),
    share("robot_not_skating", "share of contact in which heel or ball slides slower than 10 cm/s (PHUMA)"),
    limited(
        "robot_out_of_range_max",
        "rad",
        acceptable::BEYOND_RANGE,
        "largest angle of a hinge beyond the middle 98 % of its range",
    ),
    limited(
        "robot_penetration_max",
        "m",
        acceptable::SOLE_DEPTH,
        "depth of the lowest corner of a sole, or of the capsule of another part, below 0",
    ),
    measure("robot_collides", "1", "share of frames with capsules that penetrate by over 1 mm (NMR)"),
    measure("robot_jumps", "1", "number of frames in which a hinge moves over 0.5 rad in 1/30 s (NMR)"),
    limited(
        "robot_hinge_speed_max",
        "rad/s",
        acceptable::HINGE_SPEED,
        "greatest speed of a hinge (ProtoMotions filters motions by it)",
    ),
    limited(
        "robot_speed_ratio_max",
        "1",
        acceptable::HINGE_SPEED_RATIO,
        "greatest speed of a hinge / its limit in the robot's file",
    ),
    limited(
        "robot_off_floor_max",
        "s",
        acceptable::OFF_FLOOR,
        "longest time in which all parts are over 10 cm above 0 and above what holds a part of the take, while the base falls with \
         less than a quarter of gravity (ProtoMotions)",
    ),
    limited(
        "robot_base_error",
        "rad",
        acceptable::ROBOT_BASE,
        "mean over f of the rotation from the frame of the take's hip joints and trunk to that of the base, which is upright and \
         faces the front in the zero pose",
    ),
    limited(
        "robot_path_error",
        "1",
        acceptable::ROBOT_PATH,
        "max over f of the horizontal distance between the displacements since f = 0 of the hip joints and of the leg-scaled take's / \
         the greatest such displacement of the take, at least the length of the legs",
    ),
];
