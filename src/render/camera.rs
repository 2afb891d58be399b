//! Camera: its position and axes, and the projection of points to pixels.
//!
//! The camera never rolls: its right axis is horizontal, so that a row of pixels meets the ground at one depth.
//! Space: model space in, pixels (right, down) and inverse depth out.

use super::vector::{V3, dot, sub};
use crate::math::{Vec3, single};
use std::fmt;
use std::str::FromStr;

/// Tangent of half the vertical field of view: a long lens, so that perspective does not distort proportions.
const HALF_OPENING: f64 = 0.24;

/// Position of the camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// In front, fixed.
    Front,
    /// At the figure's right, so that it faces right; fixed.
    Side,
    /// Between front and side, a little above; fixed.
    ThreeQuarter,
    /// Straight above, fixed.
    Top,
    /// As [`View::ThreeQuarter`], moving along with the figure.
    #[default]
    Follow,
}

impl View {
    /// All views, in the order in which they are listed.
    pub const ALL: [View; 5] = [View::Front, View::Side, View::ThreeQuarter, View::Top, View::Follow];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            View::Front => "front",
            View::Side => "side",
            View::ThreeQuarter => "three-quarter",
            View::Top => "top",
            View::Follow => "follow",
        }
    }

    /// The azimuth of the camera about Y from the figure's front, and its elevation, both in radians.
    pub(super) fn angles(self) -> (f64, f64) {
        match self {
            View::Front => (0.0, 0.14),
            View::Side => (-std::f64::consts::FRAC_PI_2, 0.14),
            View::ThreeQuarter | View::Follow => (-0.66, 0.22),
            View::Top => (0.0, std::f64::consts::FRAC_PI_2),
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = View::ALL.into_iter().find(|v| v.name() == word);
        known.ok_or_else(|| {
            format!("`{word}` is no view, allowed are front, side, three-quarter, top, follow")
        })
    }
}

/// The axes of a camera in model space, each of length one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CameraAxes {
    /// To the right of the picture; horizontal.
    pub(super) right: Vec3,
    /// To the top of the picture.
    pub(super) up: Vec3,
    /// From the picture towards the camera.
    pub(super) back: Vec3,
    /// The horizontal direction towards the camera.
    pub(super) level: Vec3,
}

impl CameraAxes {
    /// The axes of a camera at an azimuth about Y from +Z and an elevation, in radians.
    pub(super) fn new(azimuth: f64, elevation: f64) -> Self {
        let level = Vec3::new(libm::sin(azimuth), 0.0, libm::cos(azimuth));
        let right = Vec3::new(libm::cos(azimuth), 0.0, -libm::sin(azimuth));
        let back = level * libm::cos(elevation) + Vec3::y() * libm::sin(elevation);
        Self { right, up: back.cross(&right), back, level }
    }
}

/// The slopes to the right and to the upper edge of a picture of this size.
pub(super) fn slopes(width: u32, height: u32) -> (f64, f64) {
    let least = f64::from(width.min(height));
    (HALF_OPENING * f64::from(width) / least, HALF_OPENING * f64::from(height) / least)
}

/// A positioned camera, for pictures of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    pub(super) eye: V3,
    pub(super) right: V3,
    pub(super) up: V3,
    pub(super) ahead: V3,
    /// Pixels for a slope of one.
    pub(super) focal: f32,
    /// The middle of the picture in pixels.
    pub(super) middle: [f32; 2],
}

impl Camera {
    /// A camera at `eye`.
    pub(super) fn new(axes: &CameraAxes, eye: &Vec3, width: u32, height: u32) -> Self {
        Self {
            eye: single(eye),
            right: single(&axes.right),
            up: single(&axes.up),
            ahead: single(&-axes.back),
            focal: width.min(height) as f32 / (2.0 * HALF_OPENING as f32),
            middle: [width as f32 * 0.5, height as f32 * 0.5],
        }
    }

    /// Projection of a point: pixels from the left, pixels from the top, inverse depth. Not finite, or with negative inverse
    /// depth, for points level with or behind the camera.
    pub(super) fn project(&self, p: V3) -> V3 {
        let d = sub(p, self.eye);
        let near = 1.0 / dot(d, self.ahead);
        let scale = self.focal * near;
        [self.middle[0] + dot(d, self.right) * scale, self.middle[1] - dot(d, self.up) * scale, near]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_of_the_figure_is_right_in_the_front_view_and_it_faces_right_from_the_side() {
        let seen = |view: View, p: V3| {
            let (azimuth, elevation) = view.angles();
            let axes = CameraAxes::new(azimuth, elevation);
            Camera::new(&axes, &(axes.back * 5.0), 200, 100).project(p)
        };
        assert!(seen(View::Front, [0.5, 0.0, 0.0])[0] > 101.0);
        assert!(seen(View::Side, [0.0, 0.0, 0.5])[0] > 101.0);
        assert!(seen(View::ThreeQuarter, [0.0, 0.5, 0.0])[1] < 49.0);
        let front = seen(View::Top, [0.0, 0.0, 0.5]);
        assert!(front[1] > 51.0 && (front[0] - 100.0).abs() < 1e-3);
    }

    #[test]
    fn every_view_is_found_by_its_name() {
        for view in View::ALL {
            assert_eq!(view.name().parse(), Ok(view));
        }
        assert!("back".parse::<View>().is_err());
    }
}
