//! `reach.csv`: where a right hand shall be while its body squats: a lying eight in the air, once every three seconds.

use std::f64::consts::TAU;
use std::fmt::Write;

const RATE: u32 = 30;
const SECONDS: u32 = 6;
const ROUND: f64 = 3.0;

/// The text of the file: seconds and metres.
pub fn reach() -> String {
    let mut text = String::from("time,x,y,z\n");
    for row in 0..=RATE * SECONDS {
        let time = f64::from(row) / f64::from(RATE);
        let (across, twice) = ((TAU * time / ROUND).sin(), (2.0 * TAU * time / ROUND).sin());
        let _ =
            writeln!(text, "{time:.4},{:.4},{:.4},{:.4}", -0.15 + 0.25 * across, 1.1 + 0.18 * twice, 0.42);
    }
    text
}
