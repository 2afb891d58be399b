//! A body beside its feet's locks becomes the way that it would have to go, frame by frame.
//!
//! Feet that all slide one way mean a root that slides: moving the body keeps the pose, bending the legs does not.
//! Space: model space, Y up. Units: metres.

use super::leg::{Leg, read};
use super::lock::{Held, Locks};
use crate::math::Vec3;
use crate::model::Motion;

/// The mean way from what rests of the feet to where it shall rest, for every frame; `None` where nothing rests.
pub fn astray(motion: &Motion) -> Vec<Option<Vec3>> {
    let mut sums = vec![(Vec3::zeros(), 0.0); motion.clip.frames()];
    let Some(contacts) = &motion.contacts else { return vec![None; sums.len()] };
    let legs = Leg::of(&motion.character);
    for (leg, steps) in legs.iter().zip(read(motion, &legs)) {
        let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
        let locks = Locks::of(leg, contacts, &soles);
        for ((sum, [heel, ball, _]), held) in sums.iter_mut().zip(&soles).zip(&locks.held) {
            let mut add = |way: Vec3| *sum = (sum.0 + way, sum.1 + 1.0);
            if let Held::Heel(i) | Held::Flat(i, _) = *held {
                add(locks.heel[i].at - heel);
            }
            if let Held::Ball(k) | Held::Flat(_, k) = *held {
                add(locks.ball[k].at - ball);
            }
        }
    }
    sums.into_iter().map(|(sum, n)| (n > 0.0).then(|| sum / n)).collect()
}
