//! A free chain of hinges or balls.

use posemill::dynamics::{Articulation, Body, BodyState, Constraint, ConstraintKind};
use posemill::math::{Mat3, Quat, Vec3};

/// n joints, n + 1 links of 0.3 m and 1 kg, fixed joint rates at the start; hinges alternate z and y.
pub fn chain(n: usize, kind: ConstraintKind) -> (Articulation, Vec<BodyState>) {
    let (length, mass, radius) = (0.3, 1.0, 0.04);
    let across = mass * (length * length / 12.0 + radius * radius / 4.0);
    let inertia = Mat3::from_diagonal(&Vec3::new(mass * radius * radius / 2.0, across, across));
    let body = |i| Body::new(format!("b{i}"), mass, inertia).expect("a cylinder is a body");
    let at = |i: usize| BodyState::at_rest(Vec3::new(length * (i as f64 + 0.5), 0.0, 0.0), Quat::identity());
    let mut states: Vec<BodyState> = (0..=n).map(at).collect();
    let half = Vec3::new(length / 2.0, 0.0, 0.0);
    let mut constraints = Vec::new();
    for i in 1..=n {
        let f = i as f64;
        let axis = if i % 2 == 1 { Vec3::z() } else { Vec3::y() };
        let rate = match kind {
            ConstraintKind::Hinge => axis * (0.5 * (f + 1.0).sin()),
            _ => Vec3::new((f + 1.0).sin(), (2.0 * f).cos(), (3.0 * f).sin()) * 0.5,
        };
        let (before, w) = (states[i - 1], states[i - 1].angular_velocity + rate);
        states[i].angular_velocity = w;
        states[i].velocity = before.velocity + before.angular_velocity.cross(&half) + w.cross(&half);
        let sides = ((Some(i - 1), &states[i - 1]), (Some(i), &states[i]));
        let anchor = Vec3::new(length * f, 0.0, 0.0);
        let name = format!("c{i}");
        constraints.push(Constraint::in_pose(name, kind, sides.0, sides.1, &anchor, &axis, &axis));
    }
    let bodies = (0..=n).map(body).collect();
    (Articulation::new(bodies, constraints, Vec3::zeros()).expect("a chain is a tree"), states)
}
