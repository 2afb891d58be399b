//! A motion with contact labels becomes one whose feet stay where they rest.
//!
//! Soles and legs of every frame are read, locks found, feet changed ([`changes`]), the pelvis placed ([`pelvis`]), the
//! knees bent ([`close`]); the joints that moved are written back. Nothing changes outside the influence of a contact,
//! but where a sole would be in the floor. Space: model space, Y up. Units: metres, radians.

use super::closure::{close, knee_direction};
use super::foot::{changes, floor_under};
use super::leg::{Change, Leg, Step};
use super::lock::{Held, Locks};
use super::pelvis::{Moved, pelvis};
use super::tops::tops;
use crate::kinematics::forward;
use crate::math::{Transform, Vec3, log, same_hemisphere};
use crate::model::{Clip, Contacts, JointId, Motion, Side};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;

/// How long a foot takes from where it arrives to its lock and back, seconds.
pub const TRANSITION: f64 = 0.1;

/// What was done to one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootWork {
    /// Which.
    pub side: Side,
    /// The joint at the ankle.
    pub joint: JointId,
    /// The largest way of the ankle in metres, and its frame.
    pub shift: (f64, usize),
    /// The mean way over all frames.
    pub mean_shift: f64,
    /// The largest turn of the foot in radians, and its frame.
    pub turn: (f64, usize),
    /// Frames in which the foot rests and falls short of its lock by more than a millimetre, and the first of them.
    pub unreached: (usize, usize),
    /// The most that it falls short.
    pub short: f64,
}

/// What was done to a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// To the feet.
    pub feet: Vec<FootWork>,
    /// The largest way of the pelvis in metres, and its frame.
    pub pelvis: (f64, usize),
    /// The mean way of the pelvis.
    pub mean_pelvis: f64,
}

/// The motion with its feet planted by its contacts, and what was done; the motion itself where the character has no
/// legs to plant or nothing is known about contacts.
pub fn plant(motion: &Motion) -> (Motion, Work) {
    let (legs, frames) = (Leg::of(&motion.character), motion.clip.frames());
    let Some(contacts) = motion.contacts.as_ref().filter(|_| frames > 0 && !legs.is_empty()) else {
        return (motion.clone(), Work::default());
    };
    let skeleton = motion.character.skeleton();
    let mut steps: Vec<Vec<Step>> = legs.iter().map(|_| Vec::with_capacity(frames)).collect();
    let (mut pose, mut model) = (skeleton.rest_pose(), skeleton.rest_model_pose());
    for frame in 0..frames {
        forward(skeleton, &motion.clip, frame, &mut pose, &mut model);
        legs.iter().zip(&mut steps).for_each(|(leg, steps)| steps.push(leg.step(&model)));
    }

    let reach = (TRANSITION * motion.clip.sample_rate).max(1.0);
    let mut helds: Vec<Vec<Held>> = Vec::new();
    let mut changed: Vec<Vec<Change>> = Vec::new();
    for (leg, steps) in legs.iter().zip(&steps) {
        let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
        let locks = Locks::of(leg, contacts, &soles);
        let floor = floor_under(&locks, contacts.ground);
        changed.push(changes(leg, steps, &locks, &floor, reach));
        helds.push(locks.held);
    }
    let moved: Vec<Moved<'_>> = (0..legs.len())
        .map(|k| Moved { leg: &legs[k], steps: &steps[k], changes: &changed[k], held: &helds[k] })
        .collect();
    let others = others_rest(contacts, frames);
    let offset = pelvis(&moved, &others, motion.clip.sample_rate, height(&legs), reach);

    let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
    for leg in &moved {
        let ahead = knee_direction(leg.leg, leg.steps);
        let one = |f: usize| close(leg.leg, &leg.steps[f], &leg.changes[f], &(Vec3::y() * offset[f]), &ahead);
        closed.push((0..frames).into_par_iter().map(one).collect());
    }
    let still = |f: usize| offset[f].abs() < 1e-12 && moved.iter().all(|m| m.changes[f] == Change::default());
    let clip = write(motion, &legs, &closed, &offset, still);
    let work = Work {
        feet: moved.iter().zip(&closed).map(|(m, c)| foot_work(m, c)).collect(),
        pelvis: largest(offset.iter().map(|d| d.abs())),
        mean_pelvis: mean(offset.iter().map(|d| d.abs())),
    };
    (Motion { clip, ..motion.clone() }, work)
}

/// The stature that belongs to these legs: legs are 0.53 of it (Winter's segment lengths).
fn height(legs: &[Leg]) -> f64 {
    mean(legs.iter().map(|l| l.reach)) / 0.49
}

/// The frames in which a part rests that is no foot.
fn others_rest(contacts: &Contacts, frames: usize) -> Vec<bool> {
    let mut rest = vec![false; frames];
    for part in contacts.parts().filter(|p| !p.of_foot()) {
        for hold in contacts.holds(part) {
            rest[hold.frames.start..hold.frames.end.min(frames)].fill(true);
        }
    }
    rest
}

/// The clip with the joints of the legs where they are `closed` and the pelvis moved up by `offset`.
fn write(
    motion: &Motion,
    legs: &[Leg],
    closed: &[Vec<(Step, f64)>],
    offset: &[f64],
    still: impl Fn(usize) -> bool + Sync,
) -> Clip {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let moves = offset.iter().any(|d| d.abs() >= 1e-12);
    let tops = tops(&motion.character.rig, clip);
    // A joint that its tree parent does not carry needs a translation of its own.
    let mut translated = clip.translated().to_vec();
    if moves {
        translated.extend(&tops);
    }
    for leg in legs {
        let chain = [Some(leg.upper), Some(leg.lower), Some(leg.foot), leg.toes];
        for pair in chain.windows(2) {
            if let [Some(above), Some(joint)] = *pair
                && !skeleton.is_ancestor(above, joint)
            {
                translated.push(joint);
            }
        }
    }
    translated.sort();
    translated.dedup();
    let (joints, width, frames) = (clip.joints(), translated.len(), clip.frames());
    let mut rotations = clip.all_rotations().to_vec();
    let mut translations = vec![Vec3::zeros(); frames * width];
    const BLOCK: usize = 64;
    rotations
        .par_chunks_mut(BLOCK * joints)
        .zip(translations.par_chunks_mut((BLOCK * width).max(1)))
        .enumerate()
        .for_each(|(block, (rotations, translations))| {
            let mut pose = skeleton.rest_pose();
            let mut model = skeleton.rest_model_pose();
            let mut new = vec![Transform::identity(); joints];
            let mut wanted: Vec<Option<Transform>> = vec![None; joints];
            for (n, row) in rotations.chunks_mut(joints).enumerate() {
                let f = block * BLOCK + n;
                clip.read_pose(f, &mut pose);
                if !still(f) {
                    model.set(skeleton, &pose);
                    let up = Transform::from_translation(Vec3::y() * offset[f]);
                    tops.iter().for_each(|&id| wanted[id.index()] = Some(up * *model.joint(id)));
                    for (leg, closed) in legs.iter().zip(closed) {
                        let step = &closed[f].0;
                        let placed =
                            [(leg.upper, step.upper), (leg.lower, step.lower), (leg.foot, step.foot)];
                        let toes = leg.toes.map(|t| (t, step.toes));
                        placed.into_iter().chain(toes).for_each(|(id, t)| wanted[id.index()] = Some(t));
                    }
                    for id in skeleton.ids() {
                        let parent = skeleton.parent(id).map(|p| new[p.index()]);
                        let local = pose.joint(id);
                        new[id.index()] = match wanted[id.index()] {
                            Some(model) => {
                                let local = parent.map_or(model, |p| p.inverse() * model);
                                pose.local_mut()[id.index()] = local;
                                row[id.index()] = same_hemisphere(local.rotation, &row[id.index()]);
                                model
                            }
                            None => parent.map_or(*local, |p| p * *local),
                        };
                    }
                }
                for (v, id) in translations[n * width..][..width].iter_mut().zip(&translated) {
                    *v = pose.joint(*id).translation;
                }
                // The next frame starts from the rest again: a joint without a channel has kept its own.
                if !still(f) {
                    for id in skeleton.ids() {
                        pose.local_mut()[id.index()].translation = skeleton.joint(id).rest.translation;
                    }
                }
            }
        });
    if width == 0 {
        translations.clear();
    }
    let mut result =
        Clip::new(clip.name.clone(), clip.sample_rate, joints, rotations, translated, translations);
    (result.start, result.tolerance) = (clip.start, clip.tolerance);
    fix_hemispheres(&mut result);
    result
}

/// What was done to a foot.
fn foot_work(moved: &Moved<'_>, closed: &[(Step, f64)]) -> FootWork {
    let ways =
        || moved.steps.iter().zip(closed).map(|(a, (b, _))| (b.foot.translation - a.foot.translation).norm());
    let turns = moved
        .steps
        .iter()
        .zip(closed)
        .map(|(a, (b, _))| log(&(b.foot.rotation * a.foot.rotation.inverse())).norm());
    let short = |f: &usize| moved.held[*f] != Held::Free && closed[*f].1 > 1e-3;
    let unreached: Vec<usize> = (0..closed.len()).filter(short).collect();
    FootWork {
        side: moved.leg.side,
        joint: moved.leg.foot,
        shift: largest(ways()),
        mean_shift: mean(ways()),
        turn: largest(turns),
        unreached: (unreached.len(), unreached.first().copied().unwrap_or(0)),
        short: unreached.iter().map(|&f| closed[f].1).fold(0.0, f64::max),
    }
}

/// The largest value and where it is.
fn largest(values: impl Iterator<Item = f64>) -> (f64, usize) {
    values.enumerate().fold((0.0, 0), |best, (f, x)| if x > best.0 { (x, f) } else { best })
}

/// The mean; 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, n), x| (sum + x, n + 1));
    sum / count.max(1) as f64
}
