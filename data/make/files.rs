//! The list of everything that is made: a name and the bytes of each file.

use super::{damaged, glb, humanoid, jump, mannequin, reach, robot, squat, turn, walk, wave};

/// The name and the content of every file that the generator writes.
pub fn every_file() -> Vec<(&'static str, Vec<u8>)> {
    let [walk, contacts] = walk::walk();
    let damaged = damaged::damaged(&walk);
    vec![
        ("mannequin.glb", glb::write(&mannequin::mannequin())),
        ("tailed.glb", glb::write(&mannequin::tailed())),
        ("robot.glb", glb::write(&robot::robot())),
        ("humanoid.xml", humanoid::file()),
        ("walk.bvh", walk.into_bytes()),
        ("damaged/walk.bvh", damaged.into_bytes()),
        ("walk.contacts.csv", contacts.into_bytes()),
        ("wave.bvh", wave::wave().into_bytes()),
        ("squat.bvh", squat::squat().into_bytes()),
        ("jump.bvh", jump::jump().into_bytes()),
        ("turn.bvh", turn::turn().into_bytes()),
        ("reach.csv", reach::reach().into_bytes()),
    ]
}
