//! A robot's motion with what layouts derive from it: order of links and hinges, places of links, velocities.

use crate::math::{Quat, Transform, Vec3, log};
use crate::model::{Robot, RobotField, RobotLayout, RobotMotion, RotationForm};
use crate::parallel;

/// A motion in the order of a layout.
#[derive(Debug)]
pub(super) struct RobotTrack<'a> {
    robot: &'a Robot,
    motion: &'a RobotMotion,
    /// Links and hinges in the layout's order.
    pub(super) links: Vec<usize>,
    pub(super) hinges: Vec<usize>,
    /// World from link, per frame, in the robot's own order.
    places: Vec<Vec<Transform>>,
}

/// The numbers of one frame after the other.
pub(super) struct FieldValues {
    /// The shape of a frame.
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

impl<'a> RobotTrack<'a> {
    /// The motion of a robot for a layout.
    pub(super) fn new(robot: &'a Robot, motion: &'a RobotMotion, layout: &RobotLayout) -> Self {
        let links = robot.links_of(layout, robot.merges(layout));
        let hinges = links.iter().flat_map(|&link| robot.hinges_of(link).map(|(hinge, _)| hinge)).collect();
        let place = |frame: usize| robot.links_in_world(motion.base[frame], motion.values(frame));
        let needs = layout.fields.iter().any(|(_, field)| {
            use RobotField::{LinkAngularVelocities, LinkPlaces, LinkRotations, LinkVelocities};
            matches!(field, LinkPlaces | LinkRotations | LinkVelocities | LinkAngularVelocities)
        });
        let frames = if needs { motion.frames() } else { 0 };
        let places = parallel::map(frames, 1, place);
        Self { robot, motion, links, hinges, places }
    }

    /// The number of frames.
    pub(super) fn frames(&self) -> usize {
        self.motion.frames()
    }

    /// Frames per second.
    pub(super) fn rate(&self) -> f64 {
        self.motion.rate
    }

    /// The names of the hinges in the layout's order.
    pub(super) fn hinge_names(&self) -> Vec<&'a str> {
        self.hinges.iter().map(|&hinge| self.robot.hinges[hinge].name.as_str()).collect()
    }

    /// The names of the joints: the floating base, then the hinges in the layout's order.
    #[cfg(feature = "formats")]
    pub(super) fn joint_names(&self) -> Vec<String> {
        /// The name of the floating base's joint in LocoMuJoCo's own robots.
        const FREE_JOINT: &str = "root";
        let mut free = FREE_JOINT.to_owned();
        while self.robot.hinges.iter().any(|hinge| hinge.name == free) {
            free.push('_');
        }
        std::iter::once(free).chain(self.hinge_names().into_iter().map(str::to_owned)).collect()
    }

    /// The names of the links in the layout's order.
    #[cfg(feature = "formats")]
    pub(super) fn link_names(&self) -> Vec<&'a str> {
        self.links.iter().map(|&link| self.robot.links[link].name.as_str()).collect()
    }

    /// MuJoCo's types of the joints.
    #[cfg(feature = "formats")]
    pub(super) fn joint_types(&self) -> Vec<i32> {
        /// MuJoCo's numbers of a free joint, a slide and a hinge.
        const TYPES: [i32; 3] = [0, 2, 3];
        let of = |&hinge: &usize| TYPES[if self.robot.hinges[hinge].slides { 1 } else { 2 }];
        std::iter::once(TYPES[0]).chain(self.hinges.iter().map(of)).collect()
    }

    /// The numbers of a field that has some in every frame.
    pub(super) fn numbers(&self, field: RobotField) -> Option<FieldValues> {
        let base = |frame: usize| self.motion.base[frame];
        let hinge = |frame: usize, scale: f64| {
            self.hinges.iter().map(move |&hinge| self.motion.values(frame)[hinge] * scale)
        };
        let speed = |frame: usize| self.hinges.iter().map(move |&hinge| self.hinge_speed(frame, hinge));
        let vector = |v: Vec3| [v.x, v.y, v.z];
        let (links, hinges) = (self.links.len(), self.hinges.len());
        let of_frames = |shape: &[usize], of: &dyn Fn(usize, &mut Vec<f64>)| {
            let mut values = Vec::with_capacity(self.frames() * shape.iter().product::<usize>());
            (0..self.frames()).for_each(|frame| of(frame, &mut values));
            Some(FieldValues { shape: shape.to_vec(), values })
        };
        let wxyz = |q: Quat| [q.w, q.i, q.j, q.k];
        match field {
            RobotField::Frame => of_frames(&[1], &|f, to| to.push(f as f64)),
            RobotField::BasePlace(scale) => {
                of_frames(&[3], &|f, to| to.extend(vector(base(f).translation * scale)))
            }
            RobotField::BaseRotation(form) => {
                let width = if form == RotationForm::FixedXyzDegrees { 3 } else { 4 };
                of_frames(&[width], &|f, to| to.extend(rotation(base(f).rotation, form)))
            }
            RobotField::Hinges(scale) => of_frames(&[hinges], &|f, to| to.extend(hinge(f, scale))),
            RobotField::HingeSpeeds => of_frames(&[hinges], &|f, to| to.extend(speed(f))),
            RobotField::Positions => of_frames(&[7 + hinges], &|f, to| {
                to.extend(vector(base(f).translation));
                to.extend(wxyz(base(f).rotation));
                to.extend(hinge(f, 1.0));
            }),
            RobotField::Velocities => of_frames(&[6 + hinges], &|f, to| {
                to.extend(vector(self.velocity(f, &|f| base(f).translation)));
                let angular = self.angular_velocity(f, &|f| base(f).rotation);
                to.extend(vector(base(f).rotation.inverse() * angular));
                to.extend(speed(f));
            }),
            RobotField::PlaceVectorHinges => of_frames(&[6 + hinges], &|f, to| {
                to.extend(vector(base(f).translation));
                to.extend(vector(log(&base(f).rotation)));
                to.extend(hinge(f, 1.0));
            }),
            RobotField::LinkPlaces => of_frames(&[links, 3], &|f, to| {
                self.links.iter().for_each(|&link| to.extend(vector(self.places[f][link].translation)));
            }),
            RobotField::LinkRotations => of_frames(&[links, 4], &|f, to| {
                for &link in &self.links {
                    to.extend(wxyz(self.places[f][link].rotation));
                }
            }),
            RobotField::LinkVelocities => of_frames(&[links, 3], &|f, to| {
                for &link in &self.links {
                    to.extend(vector(self.velocity(f, &|f| self.places[f][link].translation)));
                }
            }),
            RobotField::LinkAngularVelocities => of_frames(&[links, 3], &|f, to| {
                for &link in &self.links {
                    to.extend(vector(self.angular_velocity(f, &|f| self.places[f][link].rotation)));
                }
            }),
            _ => None,
        }
    }

    /// The frames before and after one, and the rate of their difference; `None` for a single frame.
    fn neighbours(&self, frame: usize) -> Option<(usize, usize, f64)> {
        let (a, b) = (frame.saturating_sub(1), (frame + 1).min(self.frames() - 1));
        (a < b).then(|| (a, b, self.motion.rate / (b - a) as f64))
    }

    fn hinge_speed(&self, frame: usize, hinge: usize) -> f64 {
        let value = |frame: usize| self.motion.values(frame)[hinge];
        self.neighbours(frame).map_or(0.0, |(a, b, rate)| (value(b) - value(a)) * rate)
    }

    /// Central differences, one-sided at the ends.
    fn velocity(&self, frame: usize, at: &dyn Fn(usize) -> Vec3) -> Vec3 {
        self.neighbours(frame).map_or_else(Vec3::zeros, |(a, b, rate)| (at(b) - at(a)) * rate)
    }

    /// Central differences of rotations in the world; the ends repeat their neighbours (BeyondMimic).
    fn angular_velocity(&self, frame: usize, at: &dyn Fn(usize) -> Quat) -> Vec3 {
        let inner = if self.frames() > 2 { frame.clamp(1, self.frames() - 2) } else { frame };
        let by = |(a, b, rate): (usize, usize, f64)| log(&(at(b) * at(a).inverse())) * rate;
        self.neighbours(inner).map_or_else(Vec3::zeros, by)
    }
}

fn rotation(q: Quat, form: RotationForm) -> Vec<f64> {
    match form {
        RotationForm::Xyzw => vec![q.i, q.j, q.k, q.w],
        RotationForm::Wxyz => vec![q.w, q.i, q.j, q.k],
        RotationForm::FixedXyzDegrees => {
            let m = q.to_rotation_matrix().into_inner();
            // q = Rz(c) Ry(b) Rx(a).
            let b = libm::asin((-m[(2, 0)]).clamp(-1.0, 1.0));
            let (a, c) = if m[(2, 0)].abs() < POLE {
                (libm::atan2(m[(2, 1)], m[(2, 2)]), libm::atan2(m[(1, 0)], m[(0, 0)]))
            } else {
                (0.0, libm::atan2(-m[(0, 1)], m[(1, 1)]))
            };
            [a, b, c].map(f64::to_degrees).to_vec()
        }
    }
}

/// Beyond this sine of the second angle the first and the third are one: 0.08 degrees from the pole.
const POLE: f64 = 1.0 - 1e-6;
