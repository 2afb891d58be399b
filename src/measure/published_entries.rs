//! Entries of the catalogue for measures of publications, as these define them; words and scale as in [`MEASURES`](super::MEASURES).

use super::measure_entry::{Measure, measure};

pub(super) const PUBLISHED: &[Measure] = &[
    measure(
        "gmd_skating_ratio",
        "1",
        "share of frames in which a ball of the foot is below 5 cm before and after, and faster than 0.5 m/s in the frame and on \
         average over 0.25 s (Karunratanakul et al. 2023; five frames at their 20 Hz)",
    ),
    measure(
        "holosoma_sliding",
        "1",
        "share of frames with a labelled ball in which one moves more than 1 cm in 1/30 s (Holosoma's evaluation, which \
         counts a frame; 30 Hz assumed)",
    ),
    measure("holosoma_penetration", "1", "share of frames with a point deeper than 1 cm (as above)"),
    measure("holosoma_penetration_max", "m", "greatest depth in these frames"),
    measure(
        "physdiff_penetrate",
        "m",
        "mean over f of the depth of the lowest point where it is above 5 mm, else 0 (Yuan et al. 2023; points stand for mesh vertices)",
    ),
    measure(
        "physdiff_float",
        "m",
        "mean over f of the height of the lowest point where it is above 5 mm, else 0",
    ),
    measure(
        "physdiff_skate",
        "m",
        "mean over f of the mean horizontal displacement in 1/20 s of the points of the feet at or below 5 mm in f and f-1",
    ),
    measure("physdiff_error", "m", "physdiff_penetrate + physdiff_float + physdiff_skate"),
];
