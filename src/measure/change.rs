//! What a stage changed in a motion: the largest and the mean change of positions and rotations, with joint and frame.
//!
//! Space: positions in model space, rotations local. Units: the figure's own metres, degrees.

use crate::kinematics::forward;
use crate::model::Motion;
use crate::report::{Change, Largest};

/// What changed from `before` to `after`; `None` where the two cannot be compared frame by frame, joint by joint.
pub fn change(stage: &str, before: &Motion, after: &Motion) -> Option<Change> {
    let skeleton = after.character.skeleton();
    let frames = after.clip.frames();
    let same = before.clip.frames() == frames
        && before.clip.sample_rate == after.clip.sample_rate
        && (std::sync::Arc::ptr_eq(&before.character, &after.character)
            || before.character.skeleton() == skeleton);
    if !same || frames == 0 {
        return None;
    }
    let mut scratch = (skeleton.rest_pose(), skeleton.rest_pose());
    let mut model = (skeleton.rest_model_pose(), skeleton.rest_model_pose());
    let (mut moved, mut rotated) = (Extreme::default(), Extreme::default());
    for frame in 0..frames {
        if before.clip.rotations(frame) == after.clip.rotations(frame)
            && before.clip.translated() == after.clip.translated()
            && before.clip.translations(frame) == after.clip.translations(frame)
        {
            continue;
        }
        forward(skeleton, &before.clip, frame, &mut scratch.0, &mut model.0);
        forward(skeleton, &after.clip, frame, &mut scratch.1, &mut model.1);
        for id in skeleton.ids() {
            moved.see(frame, id.index(), (model.0.position(id) - model.1.position(id)).norm());
            let (a, b) = (scratch.0.joint(id).rotation, scratch.1.joint(id).rotation);
            rotated.see(frame, id.index(), if a == b { 0.0 } else { a.angle_to(&b).to_degrees() });
        }
    }
    let entries = (frames * skeleton.len()) as f64;
    let largest = |e: &Extreme| Largest {
        max: e.max,
        mean: e.sum / entries,
        joint: skeleton
            .joint(skeleton.ids().nth(e.joint).unwrap_or(crate::model::JointId::new(0)))
            .name
            .clone(),
        frame: e.frame,
    };
    Some(Change { stage: stage.to_owned(), metres: largest(&moved), degrees: largest(&rotated) })
}

/// The greatest of many numbers, where it was met first, and their sum.
#[derive(Default)]
struct Extreme {
    max: f64,
    sum: f64,
    joint: usize,
    frame: usize,
}

impl Extreme {
    fn see(&mut self, frame: usize, joint: usize, value: f64) {
        self.sum += value;
        if value > self.max {
            (self.max, self.joint, self.frame) = (value, joint, frame);
        }
    }
}
