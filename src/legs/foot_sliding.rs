//! Removes foot sliding during labelled contacts, as far as the take itself does not slide.
//!
//! The same linear system as for retargeting, of a body onto itself: the goals of pelvis and legs are their own motion, and
//! the goal of every labelled point is its position without the sliding that was added to the take's ([`with_slides`]).
//! Feet keep their rotations and heights. Space: model space, Y up. Units: metres, radians, frames.

use super::equations::{Equations, LegTerms, stiffness};
use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, LimbPositions, limb_poses, limb_positions};
use super::settings::Settings;
use super::soft_knee::{knee_directions, solve_limbs};
use super::soles::SourceFeet;
use super::timeline::{TOGETHER, Timeline};
use super::write_clip::{SolvedFrames, write};
use crate::body::{CharacterBody, follow, loose_on_roles};
use crate::contacts::Footing;
use crate::math::{Quat, Vec3, horizontal, percentile};
use crate::model::{ContactPart, Contacts, Hold, JointId, Motion, Side};
use crate::parallel;
use std::ops::Range;

/// A contact whose 90th percentile speed exceeds the take's by less than this does not slide, leg lengths per second: 1 cm/s
/// for a person, the limit of the measure `foot_skate_p95`. Half also takes the noise of captures for sliding.
const SLIDE_TOLERANCE: f64 = 0.011;
/// A contact whose mean velocity exceeds this slides or steps on purpose, leg lengths per second: two thirds of the speed up
/// to which a foot counts as planted.
const SLIDES: f64 = 0.1;
/// Displacements below this are not applied, metres.
const STILL: f64 = 1e-6;
/// Largest bend that a knee may be given, radians: no knee is flexed further than it is to correct a position on the ground.
const KEEP_BEND: f64 = 0.0;

/// The correction of a foot.
#[derive(Clone, Debug, PartialEq)]
pub struct FootCorrection {
    /// The side of the body.
    pub side: Side,
    /// The ankle joint.
    pub joint: JointId,
    /// Number of steps from one frame to the next in which heel or ball slid and is pinned.
    pub pinned: usize,
    /// Largest displacement of the ankle in metres.
    pub largest_move: f64,
    /// The frame of it.
    pub largest_move_frame: usize,
    /// Mean displacement of the ankle.
    pub mean: f64,
}

/// Largest number of rounds. Each removes nine tenths; sliding below [`SLIDE_TOLERANCE`] is accepted.
const ROUNDS: usize = 4;

/// Removes the sliding of labelled feet beyond [`Hold::slide`]. Returns the motion, the correction of each foot and the
/// displacement of the pelvis in every frame. A motion without sliding is returned unchanged, bit for bit.
pub fn remove_foot_sliding(
    mut motion: Motion,
    settings: &Settings,
) -> (Motion, Vec<FootCorrection>, Vec<f64>) {
    let legs = legs_of(&motion);
    let legs: Vec<&LimbChain> = legs.iter().collect();
    if legs.is_empty() || motion.contacts.is_none() || motion.clip.frames() < 2 {
        return (motion, Vec::new(), Vec::new());
    }
    let time = Timeline::of(&motion);
    let before = limb_positions(&motion, &legs);
    let mut pinned = vec![vec![false; time.frames - 1]; legs.len()];
    let mut pelvis = vec![Vec3::zeros(); time.frames];
    for round in 0..ROUNDS {
        let found;
        (motion, found) = removed_once(motion, &legs, &time, settings);
        match found {
            Some(more) => {
                pinned
                    .iter_mut()
                    .flatten()
                    .zip(more.pinned.iter().flatten())
                    .for_each(|(own, more)| *own |= more);
                pelvis.iter_mut().zip(more.pelvis).for_each(|(own, more)| *own += more);
            }
            None if round == 0 => return (motion, Vec::new(), Vec::new()),
            None => break,
        }
    }
    let after = limb_positions(&motion, &legs);
    let corrections =
        (0..legs.len()).map(|k| correction(legs[k], &before[k], &after[k], &pinned[k])).collect();
    (motion, corrections, pelvis.iter().map(|offset| offset.norm()).collect())
}

/// The legs of a motion's character.
fn legs_of(motion: &Motion) -> Vec<LimbChain> {
    let body = CharacterBody::new(&motion.character);
    Side::BOTH.into_iter().filter_map(|side| LimbChain::of(&body, side)).collect()
}

/// What was removed at once.
struct Removed {
    /// Whether a point of the sole was pinned, by leg and edge (step from one frame to the next).
    pinned: Vec<Vec<bool>>,
    /// The displacement of the pelvis.
    pelvis: Vec<Vec3>,
}

/// Removes most of the sliding; `None` if nothing slides.
fn removed_once(
    motion: Motion,
    legs: &[&LimbChain],
    time: &Timeline,
    settings: &Settings,
) -> (Motion, Option<Removed>) {
    let leg_length = legs.iter().map(|l| l.length()).sum::<f64>() / legs.len() as f64;
    let of_legs = limb_poses(&motion, legs);
    let slides: Vec<Vec<Sliding>> =
        parallel::map(legs.len(), 1, |k| sliding(&motion, legs[k], &of_legs[k], time, leg_length, settings));
    if !slides.iter().flatten().any(|d| d.pinned.contains(&true)) {
        return (motion, None);
    }
    let source = limb_positions(&motion, legs);
    let lies = |k: usize, f: usize| of_legs[k][f].foot_lies(legs[k]);
    let feet = SourceFeet::of(time, &source, (legs, &lies), &Footing::default(), leg_length, settings);
    let terms: Vec<LegTerms> = (0..legs.len())
        .map(|k| {
            let ends = ((&source[k][..], legs[k]), (&of_legs[k][..], legs[k]));
            let (mut points, _) = feet.points(k, time, ends.0, ends.1, (1.0, leg_length), settings);
            for (point, slide) in points.iter_mut().zip(&slides[k]) {
                let mut slid = Vec3::zeros();
                for edge in 0..slide.pinned.len() {
                    if slide.pinned[edge] {
                        slid += slide.offset[edge];
                        point.speed[edge] = slide.speed[edge].min(settings.held_speed);
                    }
                    point.misfit[edge + 1] = slid;
                }
            }
            LegTerms {
                direct_offset: vec![Vec3::zeros(); time.frames],
                stiffness: parallel::map_each(&of_legs[k], 64, |s| {
                    stiffness(s.hip_knee_ankle(), settings.stiffness_cap)
                }),
                weight: vec![1.0; time.frames],
                points,
            }
        })
        .collect();
    let knee_directions = knee_directions(&of_legs);
    // The equations of a long take are large: what can be computed again is freed before, and their terms right after.
    drop((of_legs, source, feet));
    let any = |slides: &Vec<Sliding>| -> Vec<bool> {
        (0..time.frames - 1).map(|e| slides.iter().any(|slide| slide.pinned[e])).collect()
    };
    let pinned = slides.iter().map(any).collect();
    drop(slides);
    let solution = Equations::new(time, &terms, leg_length, settings).solve(None);
    drop(terms);
    let mut poses = limb_poses(&motion, legs);
    let still = |f: usize| solution[f].iter().all(|offset| offset.norm() < STILL);
    let ends = |k: usize, f: usize, pose: &LimbPose| {
        let [hip, _, ankle] = pose.hip_knee_ankle();
        (!still(f)).then(|| [hip + solution[f][0], ankle + solution[f][k + 1]])
    };
    solve_limbs(legs, &mut poses, &knee_directions, KEEP_BEND, settings, ends);
    let body: Vec<(Vec3, Quat)> = solution.iter().map(|a| (a[0], Quat::identity())).collect();
    let loose = loose_on_roles(&motion.character);
    let before = (!loose.is_empty()).then(|| motion.clip.clone());
    let planted = write(motion, &SolvedFrames { legs, poses: &poses, body: &body, still: &still });
    let planted = follow(planted, &loose, before.as_ref());
    let pelvis = solution.iter().map(|a| a[0]).collect();
    (planted, Some(Removed { pinned, pelvis }))
}

/// The contacts of a motion with the speeds at which its feet slide in them, which a stage that follows does not remove. Holds
/// that may not slide keep their zero.
pub fn with_slides(motion: &Motion, contacts: Contacts, time: &Timeline) -> Contacts {
    let legs = legs_of(motion);
    if legs.is_empty() || motion.clip.frames() < 2 {
        return contacts;
    }
    let settings = Settings::default();
    let leg_length = legs.iter().map(LimbChain::length).sum::<f64>() / legs.len() as f64;
    let chains: Vec<&LimbChain> = legs.iter().collect();
    let of_legs = limb_poses(motion, &chains);
    let paths: Vec<SolePath> = legs
        .iter()
        .zip(&of_legs)
        .flat_map(|(chain, poses)| SolePath::of_leg(chain, poses, time, leg_length, &settings))
        .collect();
    contacts.sliding(|part, hold| {
        let path = paths.iter().find(|path| path.part == part && hold.slide > 0.0);
        path.map_or(0.0, |path| path.slide(&path.edges(hold)))
    })
}

/// The horizontal path of a sole point.
struct SolePath {
    part: ContactPart,
    at: Vec<Vec3>,
    /// Its speed over every edge, leg lengths per second.
    speed: Vec<f64>,
}

impl SolePath {
    /// The paths of heel and ball, as far as they are known.
    fn of_leg(
        chain: &LimbChain,
        poses: &[LimbPose],
        time: &Timeline,
        leg_length: f64,
        settings: &Settings,
    ) -> Vec<SolePath> {
        let path = |part: ContactPart| {
            let (_, joint, at) = chain.soles.iter().find(|s| s.0 == part)?;
            let at = parallel::map_each(poses, TOGETHER, |pose| horizontal(&pose.sole(chain, *joint, at)));
            let mut speed = time.speeds(|f| at[f], settings.speed_window);
            speed.iter_mut().for_each(|v| *v /= leg_length);
            Some(SolePath { part, at, speed })
        };
        [ContactPart::Heel(chain.side), ContactPart::Ball(chain.side)].into_iter().filter_map(path).collect()
    }

    /// The edges within a hold.
    fn edges(&self, hold: &Hold) -> Range<usize> {
        let end = hold.frames.end.min(self.at.len()).saturating_sub(1);
        hold.frames.start..end.max(hold.frames.start)
    }

    /// The speed at which it slides over these edges: the 90th percentile.
    fn slide(&self, edges: &Range<usize>) -> f64 {
        percentile(self.speed.get(edges.clone()).unwrap_or(&[]), 0.9)
    }
}

/// The sliding of a labelled point.
struct Sliding {
    /// Whether the sliding over an edge (between two frames) is removed.
    pinned: Vec<bool>,
    /// The horizontal displacement over every edge that is removed.
    offset: Vec<Vec3>,
    /// Its speed, leg lengths per second.
    speed: Vec<f64>,
}

/// The sliding of heel and ball.
fn sliding(
    motion: &Motion,
    chain: &LimbChain,
    poses: &[LimbPose],
    time: &Timeline,
    leg_length: f64,
    settings: &Settings,
) -> Vec<Sliding> {
    let Some(contacts) = &motion.contacts else { return Vec::new() };
    let of_path = |path: SolePath| {
        let mut offset: Vec<Vec3> = path.at.windows(2).map(|w| w[1] - w[0]).collect();
        let mut pinned = vec![false; time.frames - 1];
        for hold in contacts.holds(path.part) {
            let edges = path.edges(hold);
            let slide = path.slide(&edges);
            let ends = [edges.start, edges.end].map(|f| path.at[f.min(time.frames - 1)]);
            let goes = (ends[1] - ends[0]).norm() / (leg_length * time.dt * edges.len().max(1) as f64);
            if slide > hold.slide + SLIDE_TOLERANCE && goes < SLIDES {
                let added = 1.0 - hold.slide / slide;
                edges
                    .filter(|e| !time.is_cut[*e])
                    .for_each(|e| (pinned[e], offset[e]) = (true, offset[e] * added));
            }
        }
        Sliding { pinned, offset, speed: path.speed }
    };
    let mut slides: Vec<Sliding> =
        SolePath::of_leg(chain, poses, time, leg_length, settings).into_iter().map(of_path).collect();
    // A foot that rotates about one of the two cannot have both planted: the slower one is pinned.
    if let [heel, ball] = &mut slides[..] {
        for e in 0..time.frames - 1 {
            let heel_slower = heel.speed[e] < ball.speed[e];
            (heel.pinned[e], ball.pinned[e]) = (
                heel.pinned[e] && (heel_slower || !ball.pinned[e]),
                ball.pinned[e] && !(heel_slower && heel.pinned[e]),
            );
        }
    }
    slides
}

/// The correction of a foot; `pinned` is by edge.
fn correction(
    chain: &LimbChain,
    before: &[LimbPositions],
    after: &[LimbPositions],
    pinned: &[bool],
) -> FootCorrection {
    let moved = |f: usize| (after[f].ankle - before[f].ankle).norm();
    let furthest = (0..before.len()).map(|f| (moved(f), f)).max_by(|a, b| a.0.total_cmp(&b.0));
    let (largest_move, largest_move_frame) = furthest.unwrap_or_default();
    FootCorrection {
        side: chain.side,
        joint: chain.foot,
        pinned: pinned.iter().filter(|pinned| **pinned).count(),
        largest_move,
        largest_move_frame,
        mean: (0..before.len()).map(moved).sum::<f64>() / before.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use posemill::import::{ImportOptions, load};
    use posemill::math::Quat;
    use posemill::model::{Motion, Role, Side};
    use posemill::pipeline::Pipeline;
    use std::path::{Path, PathBuf};

    fn data(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
    }

    fn take(name: &str) -> Motion {
        load(data(name), &ImportOptions::default()).unwrap().motion(0).unwrap()
    }

    #[test]
    fn a_result_is_its_own_result() {
        for (name, character) in
            [("walk.bvh", "robot.glb"), ("jump.bvh", "robot.glb"), ("walk.bvh", "mannequin.glb")]
        {
            let pipeline = Pipeline::standard(data(character)).unwrap();
            let once = pipeline.apply(take(name)).unwrap().0;
            let twice = pipeline.apply(Motion { contacts: None, ..once.clone() }).unwrap().0;
            let turn = |(a, b): (&Quat, &Quat)| a.angle_to(b).to_degrees();
            let most = once
                .clip
                .all_rotations()
                .iter()
                .zip(&twice.clip.all_rotations())
                .map(turn)
                .fold(0.0, f64::max);
            assert!(most < 0.1, "{name} on {character}: {most} degrees");
        }
    }

    /// Speeds (root mean square of the horizontal ones while a foot is in contact, m/s) and jerks of both ankles.
    fn feet(motion: &Motion, labels: &Motion) -> [f64; 2] {
        let contacts = labels.contacts.as_ref().unwrap();
        let (mut slip, mut edges, mut jerk) = (0.0, 0.0, 0.0);
        for side in Side::BOTH {
            let joint = motion.character.rig.joint(Role::Foot(side)).unwrap();
            let at: Vec<_> =
                (0..motion.clip.frames()).map(|f| motion.model_pose(f).position(joint)).collect();
            let heel = posemill::model::ContactPart::Heel(side);
            for f in (1..at.len()).filter(|f| contacts.rests(heel, *f) && contacts.rests(heel, f - 1)) {
                slip += (at[f] - at[f - 1]).xz().norm_squared() * motion.clip.sample_rate.powi(2);
                edges += 1.0;
            }
            jerk +=
                at.windows(4).map(|w| (w[3] - w[2] * 3.0 + w[1] * 3.0 - w[0]).norm_squared()).sum::<f64>();
        }
        [(slip / f64::max(edges, 1.0)).sqrt(), jerk.sqrt()]
    }

    #[test]
    fn feet_slide_and_jerk_no_more_than_without_the_stage() {
        let off = ["stage.foot_lock.enabled=false".to_owned()];
        for (name, character) in [("walk.bvh", "robot.glb"), ("jump.bvh", "mannequin.glb")] {
            let with = Pipeline::standard(data(character)).unwrap().apply(take(name)).unwrap().0;
            let without = Pipeline::standard_with(data(character), &off).unwrap();
            let without = without.apply(take(name)).unwrap().0;
            let [pinned, free] = [&with, &without].map(|motion| feet(motion, &with));
            assert!(
                pinned[0] < 1.02 * free[0],
                "{name} on {character}: slips by {} instead of {}",
                pinned[0],
                free[0]
            );
            assert!(
                pinned[1] < 1.02 * free[1],
                "{name} on {character}: jerks by {} instead of {}",
                pinned[1],
                free[1]
            );
        }
    }
}
