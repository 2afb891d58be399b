//! Takes on ramps.

use super::*;
use crate::math::arc;
use crate::model::model_from_world;
use crate::robot_retarget::uneven_ground;

/// The height of the lowest corner of the soles above a ramp of this slope to the front, in each frame, at right angles to it.
fn above(made: &RobotMotion, slope: f64) -> Vec<f64> {
    let body = RobotBody::of(&robot()).unwrap();
    let up = model_from_world().inverse() * Vec3::new(0.0, 1.0, -slope).normalize();
    let low = |frame: usize| {
        let links = body.robot.links_in_world(made.base[frame], made.values(frame));
        let corners = body.soles.iter().flat_map(|sole| sole.corners.map(|c| links[sole.link].point(&c)));
        corners.map(|corner| corner.dot(&up)).fold(f64::MAX, f64::min)
    };
    (0..made.frames()).map(low).collect()
}

#[test]
fn a_robot_stands_on_the_ramp_of_a_take_as_on_level_ground() {
    let walk = slow("walk.bvh", 105);
    let level = above(&performed(&walk), 0.0);
    for slope in [0.14, -0.14] {
        let tilt = Transform::from_rotation(arc(&Vec3::y(), &Vec3::new(0.0, 1.0, -slope), &Vec3::x()));
        let mut ramp = walk.clone();
        for f in 0..ramp.clip.frames() {
            let root = tilt * Transform::new(ramp.clip.rotations(f)[0], ramp.clip.translations(f)[0]);
            ramp.clip.rotations_mut(f)[0] = root.rotation;
            ramp.clip.translations_mut(f)[0] = root.translation;
        }
        let made = performed(&ramp);
        let climbed = made.base[made.frames() - 1].translation.z - made.base[0].translation.z;
        assert!(climbed / slope > 0.5, "{slope}: {climbed} m");
        let off = above(&made, slope).iter().zip(&level).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 0.01, "{slope}: {off} m");
        assert!(uneven_ground(&ramp).is_some_and(|ground| ground.plane().is_some()));
        assert!(uneven_ground(&walk).is_none_or(|ground| ground.plane().is_some()));
    }
}
