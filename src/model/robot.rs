//! A robot: links, hinges with their ranges, collision shapes, and the skeleton that moves as it does.
//!
//! A link with several hinges has a joint of the skeleton for each of them, so that every joint rotates about one axis or
//! slides along one. A joint is on the axis of its hinge, therefore joints move by rotation alone.
//!
//! Space: the robot's world has X to the front, Y to the left and Z up; a link's space is that of its file. The skeleton is
//! in model space, Y up and facing +Z, from its root on. Units: metres, radians.

use super::{Joint, JointId, RobotField, RobotLayout, Skeleton, SkeletonError};
use crate::math::{Quat, RawQuat, Transform, Vec3};
use std::sync::Arc;

/// Model space (Y up, facing +Z) from the robot's world (Z up, facing +X): a third of a circle about (1, 1, 1), exactly.
pub(crate) fn model_from_world() -> Quat {
    Quat::new_unchecked(RawQuat::new(0.5, -0.5, -0.5, -0.5))
}

/// A robot with a floating base.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Robot {
    /// The name of the model.
    pub name: String,
    /// Its links, parents first, in the depth-first order of the file; the first is the floating base.
    pub links: Vec<Link>,
    /// Its hinges and slides in the order of the file, which is MuJoCo's.
    pub hinges: Vec<Hinge>,
    /// Whether simulators merge links that no hinge moves into their parents: those of URDF files, by default Isaac Lab
    /// (`merge_fixed_joints`) and MuJoCo (`fusestatic`).
    #[cfg_attr(feature = "serialize", serde(default))]
    pub merges_fixed: bool,
}

/// A rigid part.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// Its name, unique.
    pub name: String,
    /// The index of the link that it is attached to; `None` for the first.
    pub parent: Option<usize>,
    /// Its frame in that of the parent with every hinge at its zero; for the first link in the world.
    pub parent_from_link: Transform,
    /// Its shapes for collisions.
    pub shapes: Vec<CollisionShape>,
    /// The centre of its mass in its frame, where the file states it.
    pub centre: Option<Vec3>,
}

/// A hinge or a slide between a link and its parent.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Hinge {
    /// Its name, unique.
    pub name: String,
    /// The index of the link that it moves.
    pub link: usize,
    /// Whether it slides along its axis (metres) instead of rotating about it (radians).
    pub slides: bool,
    /// Its axis in the link's space, of length one.
    pub axis: Vec3,
    /// A point on its axis in the link's space.
    pub anchor: Vec3,
    /// The point on its axis, in the link's space, at which the joint of the skeleton is: the anchor, or the centre of a shoulder or
    /// hip whose last hinge is farther down the limb.
    pub joint: Vec3,
    /// The value in the pose of the file: MuJoCo's `ref`.
    pub zero: f64,
    /// Lowest and highest value; `None` if it is not limited.
    pub range: Option<[f64; 2]>,
    /// The highest speed per second, if the file states one.
    pub speed: Option<f64>,
    /// The other hinge that determines this one, if it is coupled.
    pub follows: Option<Coupling>,
}

/// A value that is a polynomial of another hinge's value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Coupling {
    /// The index of the other hinge.
    pub hinge: usize,
    /// Coefficients of the powers 0 to 4 of the other's distance from its zero; the result is the distance from this one's.
    pub coefficients: [f64; 5],
}

/// A shape for collisions, fixed to its link.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct CollisionShape {
    /// Its form, centred at the origin of its space.
    pub form: Form,
    /// The link's space from the shape's.
    pub link_from_shape: Transform,
}

/// The form of a shape, along z where it has an axis. Lengths are half lengths, metres.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Form {
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder with half balls at its ends.
    Capsule {
        /// Its radius.
        radius: f64,
        /// Half the length of the cylinder.
        half: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Half its length.
        half: f64,
    },
    /// A box.
    Box {
        /// Half its sides.
        half: Vec3,
    },
    /// The convex hull of a mesh.
    Mesh {
        /// Its outermost points; the box around them is centred at the origin.
        points: Arc<[Vec3]>,
    },
}

impl CollisionShape {
    /// The point of the shape that lies furthest in a direction, both in the link's space.
    pub fn furthest(&self, direction: &Vec3) -> Vec3 {
        let along = self.link_from_shape.rotation.inverse() * direction;
        let ball = |radius: f64| along.try_normalize(0.0).unwrap_or_default() * radius;
        let end = |half: f64| Vec3::z() * half.copysign(along.z);
        let across = Vec3::new(along.x, along.y, 0.0).try_normalize(0.0).unwrap_or_default();
        let at = match &self.form {
            Form::Sphere { radius } => ball(*radius),
            Form::Capsule { radius, half } => end(*half) + ball(*radius),
            Form::Cylinder { radius, half } => end(*half) + across * *radius,
            Form::Box { half } => half.zip_map(&along, f64::copysign),
            Form::Mesh { points } => {
                let further = |a: &&Vec3, b: &&Vec3| a.dot(&along).total_cmp(&b.dot(&along));
                points.iter().max_by(further).copied().unwrap_or_default()
            }
        };
        self.link_from_shape.point(&at)
    }
}

impl Robot {
    /// The hinges of a link, first to last as they are applied.
    pub fn hinges_of(&self, link: usize) -> impl Iterator<Item = (usize, &Hinge)> {
        self.hinges.iter().enumerate().filter(move |(_, hinge)| hinge.link == link)
    }

    /// The links that a file of a layout has, in its order; `merged` leaves out those that simulators merge into their parents.
    pub(crate) fn links_of(&self, layout: &RobotLayout, merged: bool) -> Vec<usize> {
        let kept = |link: usize| !merged || link == 0 || self.hinges_of(link).next().is_some();
        if !layout.breadth_first {
            return (0..self.links.len()).filter(|&link| kept(link)).collect();
        }
        // As PhysX orders them: those of one depth before the next, children in the order of their parents.
        let above = |link: usize| {
            let mut parents = std::iter::successors(self.links[link].parent, |&link| self.links[link].parent);
            parents.find(|&link| kept(link))
        };
        let mut order = vec![0];
        let mut next = 0;
        while next < order.len() {
            let parent = order[next];
            order.extend((0..self.links.len()).filter(|&link| kept(link) && above(link) == Some(parent)));
            next += 1;
        }
        order
    }

    /// Whether files of a layout leave out links that no hinge moves: readers of files without names count those of their simulator.
    pub(crate) fn merges(&self, layout: &RobotLayout) -> bool {
        self.merges_fixed && !layout.fields.iter().any(|(_, field)| *field == RobotField::LinkNames)
    }

    /// The joint of the skeleton that each hinge moves, and the joint to which each link is fixed.
    pub(crate) fn joints(&self) -> (Vec<JointId>, Vec<JointId>) {
        let (mut of_hinges, mut of_links) = (Vec::new(), Vec::new());
        let mut joints = 0;
        for link in 0..self.links.len() {
            let count = self.hinges_of(link).count();
            of_hinges.extend((0..count).map(|k| JointId::new(joints + k)));
            joints += count.max(1);
            of_links.push(JointId::new(joints - 1));
        }
        (of_hinges, of_links)
    }

    /// The point of a link, in its space, at which the joint is that it is fixed to.
    pub(crate) fn joint_in_link(&self, link: usize) -> Vec3 {
        self.hinges_of(link).last().map_or_else(Vec3::zeros, |(_, hinge)| hinge.joint)
    }

    /// The skeleton in model space; at rest every hinge is at its zero and the base is where the file puts it. A joint is
    /// named after its link; those of the earlier hinges of a link with several after their hinges.
    ///
    /// # Errors
    /// Names that are not unique, numbers that are not finite.
    pub fn skeleton(&self) -> Result<Skeleton, SkeletonError> {
        let (_, of_links) = self.joints();
        let mut joints: Vec<Joint> = Vec::new();
        for (k, link) in self.links.iter().enumerate() {
            let above = link.parent.map(|parent| (of_links[parent], self.joint_in_link(parent)));
            let mut rest = link.parent_from_link;
            rest.translation -= above.map_or_else(Vec3::zeros, |(_, at)| at);
            if link.parent.is_none() {
                rest = Transform::from_rotation(model_from_world()) * rest;
            }
            let hinges: Vec<&Hinge> = self.hinges_of(k).map(|(_, hinge)| hinge).collect();
            let mut parent = above.map(|(joint, _)| joint);
            let mut at = Vec3::zeros();
            for (i, hinge) in hinges.iter().enumerate() {
                let name = if i + 1 == hinges.len() { &link.name } else { &hinge.name };
                let offset = Transform::from_translation(hinge.joint - at);
                let rest = if i == 0 { rest * offset } else { offset };
                joints.push(Joint::new(name.clone(), parent, rest));
                (parent, at) = (Some(JointId::new(joints.len() - 1)), hinge.joint);
            }
            if hinges.is_empty() {
                joints.push(Joint::new(link.name.clone(), parent, rest));
            }
        }
        Skeleton::new(joints)
    }

    /// Every link in the world, for a place of the base and a value for every hinge.
    ///
    /// # Panics
    /// If the number of values differs from that of hinges.
    pub fn links_in_world(&self, world_from_base: Transform, values: &[f64]) -> Vec<Transform> {
        assert_eq!(values.len(), self.hinges.len(), "a value for every hinge");
        let mut links: Vec<Transform> = Vec::with_capacity(self.links.len());
        let mut hinges = self.hinges.iter().zip(values).peekable();
        for (k, link) in self.links.iter().enumerate() {
            let mut at = link.parent.map_or(world_from_base, |parent| links[parent] * link.parent_from_link);
            while let Some((hinge, value)) = hinges.next_if(|(hinge, _)| hinge.link == k) {
                at = hinge.moving(at, *value);
            }
            links.push(at);
        }
        links
    }
}

impl Hinge {
    /// Where the link's space is, seen from where it is at zero, if the hinge has this value.
    pub fn moved(&self, value: f64) -> Transform {
        if self.slides {
            return Transform::from_translation(self.axis * (value - self.zero));
        }
        let rotation = self.rotation(value);
        Transform::new(rotation, self.anchor - rotation * self.anchor)
    }

    /// Where the link's space is if it is `at` at zero, and the hinge has this value.
    pub(crate) fn moving(&self, at: Transform, value: f64) -> Transform {
        if self.slides || self.anchor != Vec3::zeros() {
            return at * self.moved(value);
        }
        Transform { rotation: at.rotation * self.rotation(value), ..at }
    }

    /// The rotation from zero to this value.
    pub(crate) fn rotation(&self, value: f64) -> Quat {
        let (sin, cos) = libm::sincos((value - self.zero) / 2.0);
        Quat::new_unchecked(RawQuat::from_parts(cos, self.axis * sin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A base, a link fixed to it, one that a hinge moves against that, and one that a hinge moves against the base.
    #[test]
    fn links_that_no_hinge_moves_are_merged_into_their_parents() {
        let link = |name: &str, parent: Option<usize>| Link {
            name: name.into(),
            parent,
            parent_from_link: Transform::identity(),
            shapes: Vec::new(),
            centre: None,
        };
        let hinge = |link: usize| Hinge {
            name: format!("hinge_{link}"),
            link,
            slides: false,
            axis: Vec3::x(),
            anchor: Vec3::zeros(),
            joint: Vec3::zeros(),
            zero: 0.0,
            range: None,
            speed: None,
            follows: None,
        };
        let robot = Robot {
            name: "r".into(),
            links: vec![
                link("base", None),
                link("fixed", Some(0)),
                link("hand", Some(1)),
                link("leg", Some(0)),
            ],
            hinges: vec![hinge(2), hinge(3)],
            merges_fixed: true,
        };
        let order = |name: &str, robot: &Robot| {
            let layout = RobotLayout::of(name).unwrap();
            robot.links_of(layout, robot.merges(layout))
        };
        assert_eq!(order("mjlab", &robot), [0, 2, 3]);
        assert_eq!(order("beyondmimic", &robot), [0, 2, 3]);
        // Readers of files with names find theirs.
        assert_eq!(order("holosoma", &robot), [0, 1, 2, 3]);
        assert_eq!(order("isaaclab_amp", &robot), [0, 1, 3, 2]);
        let whole = Robot { merges_fixed: false, ..robot };
        assert_eq!(order("beyondmimic", &whole), [0, 1, 3, 2]);
    }
}
