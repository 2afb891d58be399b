//! The robot with every hinge at its zero.

use crate::math::{Transform, Vec3};
use crate::model::Robot;

/// Links and hinges in the world, and which hinges move each link.
#[derive(Clone, Debug)]
pub(crate) struct ZeroPose {
    /// World from link.
    pub(crate) links: Vec<Transform>,
    /// A point on the axis of each hinge.
    pub(crate) anchors: Vec<Vec3>,
    /// The direction of each axis.
    pub(crate) axes: Vec<Vec3>,
    /// The hinges from the base to each link, in order.
    pub(crate) chains: Vec<Vec<usize>>,
}

impl ZeroPose {
    /// The pose of a robot, with the base's rotation as in the file and its position at the origin.
    pub(crate) fn of(robot: &Robot) -> Self {
        let zeros: Vec<f64> = robot.hinges.iter().map(|hinge| hinge.zero).collect();
        let base = robot.links.first().map_or_else(Transform::identity, |link| link.parent_from_link);
        let links = robot.links_in_world(Transform::from_rotation(base.rotation), &zeros);
        let mut chains: Vec<Vec<usize>> = Vec::with_capacity(links.len());
        for (k, link) in robot.links.iter().enumerate() {
            let mut chain = link.parent.map_or_else(Vec::new, |parent| chains[parent].clone());
            chain.extend(robot.hinges_of(k).map(|(hinge, _)| hinge));
            chains.push(chain);
        }
        let anchors = robot.hinges.iter().map(|hinge| links[hinge.link].point(&hinge.anchor)).collect();
        let axes = robot.hinges.iter().map(|hinge| links[hinge.link].vector(&hinge.axis)).collect();
        Self { links, anchors, axes, chains }
    }

    /// Whether a link moves with another: it hangs on the other, or no hinge moves one against the other.
    pub(crate) fn is_beyond(&self, link: usize, other: usize) -> bool {
        self.chains[link].starts_with(&self.chains[other])
    }
}
