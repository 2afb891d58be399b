//! The gravity of the earth.

/// Its acceleration, m/s^2.
pub const GRAVITY: f64 = 9.81;
