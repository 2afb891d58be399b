//! Feet that stand through all of a take.

use super::*;
use crate::development_data::data;

/// Whoever kneels down and gets up again stands on the left foot, whose hip and ankle reach the ends of their ranges on a robot.
#[test]
fn the_foot_that_bears_a_kneel_stands_still() {
    let Some(data) = data() else { return };
    let robot = load(data.join("dcc/robots/mjlab_g1.xml"), &ImportOptions::default()).unwrap();
    let robot = robot.character.robot.clone().unwrap();
    let kneel = data.join("bvh/mocapbank/test_mocapbank.bvh");
    let kneel = load(kneel, &ImportOptions::default()).unwrap().motion(0).unwrap();
    let made = performed_on(&robot, &kneel);
    let sole = &RobotBody::of(&robot).unwrap().soles[0];
    let ball = |frame: usize| {
        robot.links_in_world(made.base[frame], made.values(frame))[sole.link].point(&sole.ball)
    };
    let balls: Vec<Vec3> = (0..made.frames()).map(ball).collect();
    let mut speeds: Vec<f64> =
        balls.windows(3).map(|p| (p[2] - p[0]).xy().norm() * made.rate / 2.0).collect();
    speeds.sort_unstable_by(f64::total_cmp);
    let fast = speeds[speeds.len() * 95 / 100];
    assert!(fast < 0.02, "it moves by {fast} m/s");
}
