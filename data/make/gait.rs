//! Joint angles of natural walking over one stride, and where the foot touches the ground.
//!
//! Source of the table: D. A. Winter, "Biomechanics and Motor Control of Human Movement" (1990; 4th edition
//! 2009) and "The Biomechanics and Motor Control of Human Gait" (1991): mean sagittal angles of hip, knee and
//! ankle at natural cadence (about 105 steps per minute). The figures are
//! approximate, set down every 5 % of the stride after the shape and the landmarks of the published mean
//! curves and not copied from the printed tables: good to a few degrees. Degrees; hip and knee flexion and ankle dorsiflexion
//! are positive; 0 % is heel contact of the same foot.

use super::curve::hermite;

/// Hip flexion, knee flexion and ankle dorsiflexion in degrees, every 5 % of the stride.
pub const WINTER: [[f64; 3]; 20] = [
    [19.5, 4.0, -0.5],
    [18.5, 10.0, -4.5],
    [16.0, 16.0, -4.5],
    [12.5, 19.0, -1.0],
    [8.5, 18.5, 2.0],
    [4.5, 16.0, 4.0],
    [0.5, 12.5, 5.5],
    [-3.0, 9.0, 7.0],
    [-6.5, 6.5, 8.5],
    [-9.5, 6.5, 9.5],
    [-11.0, 10.0, 7.5],
    [-9.5, 19.0, -3.0],
    [-4.0, 34.0, -16.5],
    [4.5, 50.0, -18.0],
    [12.0, 61.0, -10.0],
    [17.5, 64.0, -3.5],
    [20.5, 57.0, -0.5],
    [21.5, 41.5, 1.5],
    [21.0, 21.5, 1.5],
    [20.0, 6.0, 0.5],
];

/// Steps per minute come to 105.9 with this many frames per stride at 120 Hz.
pub const FRAMES_PER_STRIDE: usize = 136;
/// Metres from one heel contact to the next of the same foot.
pub const STRIDE: f64 = 1.36;

/// Share of the stride at which the sole lies flat.
pub const FLAT: f64 = 0.08;
/// Share of the stride at which the heel leaves the ground.
pub const HEEL_OFF: f64 = 0.4;
/// Share of the stride at which the toes leave the ground.
pub const TOE_OFF: f64 = 0.6;

/// The table at any phase, by a periodic Catmull-Rom spline.
pub fn angles(phase: f64) -> [f64; 3] {
    let n = WINTER.len();
    let x = phase.rem_euclid(1.0) * n as f64;
    let (i, t) = (x.floor() as usize, x - x.floor());
    let row = |k: usize| WINTER[(i + n + k - 1) % n];
    let (t2, t3) = (t * t, t * t * t);
    std::array::from_fn(|c| {
        let [a, b, d, e] = [row(0)[c], row(1)[c], row(2)[c], row(3)[c]];
        b + 0.5 * (t * (d - a) + t2 * (2.0 * a - 5.0 * b + 4.0 * d - e) + t3 * (3.0 * (b - d) + e - a))
    })
}

/// The pitch of the foot in space in degrees, toes up positive: it falls from the heel, lies flat, rises on
/// the ball, and swings through.
pub fn foot_pitch(phase: f64) -> f64 {
    let p = phase.rem_euclid(1.0);
    // Knots: phase, pitch, slope in degrees per stride.
    let knots = [
        [0.0, 18.0, -280.0],
        [FLAT, 0.0, 0.0],
        [HEEL_OFF, 0.0, 0.0],
        [0.51, -17.0, -330.0],
        [TOE_OFF, -54.0, -320.0],
        [0.65, -63.0, 0.0],
        [0.7, -59.0, 160.0],
        [0.75, -49.0, 230.0],
        [0.8, -36.0, 300.0],
        [0.85, -18.0, 380.0],
        [0.9, 1.0, 330.0],
        [0.95, 15.0, 170.0],
        [0.98, 19.0, 0.0],
        [1.0, 18.0, -280.0],
    ];
    let i = knots.windows(2).position(|w| p < w[1][0]).unwrap_or(knots.len() - 2);
    let (a, b) = (knots[i], knots[i + 1]);
    let span = b[0] - a[0];
    hermite((p - a[0]) / span, [a[1], a[2] * span], [b[1], b[2] * span])
}

/// Whether heel and ball touch the ground.
pub fn contact(phase: f64) -> [bool; 2] {
    let p = phase.rem_euclid(1.0);
    [p < HEEL_OFF, (FLAT..TOE_OFF).contains(&p)]
}
