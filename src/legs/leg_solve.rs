//! Corrects the legs of the direct transfer so that its feet follow the source's feet.
//!
//! The source is scaled by one factor, the ratio of leg lengths. The trajectories of its ankles and soles are goals for the
//! target, the bends of its knees as well, and the equations balance the two. Contact labels are not used. Space: model
//! space, Y up. Units: metres, seconds, radians.

use super::body_height::{floating_height, floating_height_of_body, source_raise};
use super::continuation::Continuation;
use super::equations::{FrameSolution, LegTerms, leg_terms, solved_ankles};
use super::foot_tilt::{LongFoot, foot_deltas};
use super::hip_tilt::hip_tilt;
use super::leg_pair::{LegPair, leg_ratio, mean_length, source_legs};
use super::leg_trajectories::LegTrajectories;
use super::level_feet::{
    GroundUnderFoot, above_ground, displace, level_feet, levelled, lowered, on_level_ground, tilt_feet_back,
    tilt_toes_back,
};
use super::limb_pose::{FootDelta, LimbPose, LimbPositions, rotate_foot, tilt_hips, translate};
use super::out_of_floor::out_of_floor;
use super::raise_shots::onto_one_floor;
use super::settings::Settings;
use super::soft_knee::knee_direction;
use super::soles::SourceFeet;
use super::timeline::{TOGETHER, Timeline};
use super::toe_rest::lie_toes;
use super::toes::{SoleHeights, toe_rotations};
use crate::contacts::Footing;
use crate::math::{Quat, Vec3, median};
use crate::parallel;

/// Solves for the trajectories of legs and body: the legs of the direct transfer follow the source's, the body stands on height
/// 0, feet and body are out of the floor. `source_poses` and `direct_poses` are the legs of source and direct transfer, by leg and
/// frame; `lowest_body` is the height of the lowest point that the pelvis has to be raised for, by frame; `footing` says in which
/// frames the source's feet can stand. `path_scale` scales the horizontal path; by default it is [`leg_ratio`]. `None` without
/// legs.
pub fn solve_legs(
    time: &Timeline,
    (mut source_poses, mut direct_poses): (Vec<Vec<LimbPositions>>, Vec<Vec<LimbPose>>),
    (lowest_body, footing): (&[f64], &Footing),
    (pairs, path_scale): (&[LegPair], f64),
    settings: &Settings,
) -> Option<LegTrajectories> {
    let ratio = leg_ratio(pairs).filter(|_| time.frames > 0)?;
    let leg_length = mean_length(pairs);
    source_poses.iter_mut().flatten().for_each(|pose| *pose = pose.scaled(ratio));
    let poses = (&mut source_poses[..], &mut direct_poses[..]);
    let prepared =
        PreparedLegs::of(time, poses, (lowest_body, footing), (pairs, ratio, path_scale), settings);
    let PreparedLegs { tilts, ground, mut level_source, source_feet, toe_rests, mut foot_deltas, .. } =
        prepared;
    let PreparedLegs { mut soles, toe_up, raise, mut base, path_stretch, .. } = prepared;
    let continuation = Continuation::of(time, &source_poses, leg_length);
    let (mut goals, mut knee_directions, mut planted, mut long_feet) =
        <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    let mut terms: Vec<LegTerms> = Vec::new();
    for (leg_index, pair) in pairs.iter().enumerate() {
        // The legs of a long take are large: each is freed when its terms are known.
        let source_poses = std::mem::take(&mut source_poses[leg_index]);
        let direct_poses = std::mem::take(&mut direct_poses[leg_index]);
        let LegPair { source, target, .. } = pair;
        let on_level = level_source.as_mut().map(|level| std::mem::take(&mut level[leg_index]));
        let ends = ((on_level.as_deref().unwrap_or(&source_poses[..]), source), (&direct_poses[..], target));
        let (mut points, contact) =
            source_feet.points(leg_index, time, ends.0, ends.1, (ratio, leg_length), settings);
        points.iter_mut().for_each(|point| displace(&ground[leg_index], &path_stretch, &mut point.misfit));
        let goal = |(pose, stretch): (&LimbPositions, &Vec3)| pose.ankle + stretch + Vec3::y() * raise;
        let ankle_goals: Vec<Vec3> = source_poses.iter().zip(&path_stretch).map(goal).collect();
        let length = source.length() * ratio;
        terms.push(leg_terms(points, &source_poses, &direct_poses, &ankle_goals, length, settings));
        goals.push(ankle_goals);
        planted.push(contact.planted);
        knee_directions.push(knee_direction(&direct_poses));
        let foot = LongFoot { pair, poses: direct_poses, touching: contact.touching, leg_length };
        long_feet.push((!foot_deltas[leg_index].is_empty() && foot.pair.paw == 0.0).then_some(foot));
    }
    let mut lowest_body: Vec<f64> = lowest_body.iter().zip(&base).map(|(low, base)| low + base.y).collect();
    // The matrix of a long take is large: what is no longer needed is freed before it.
    drop((source_feet, path_stretch));
    let solve = continuation.equations(&mut terms, leg_length, settings);
    let solution = solve(None);
    let height = |leg_index: usize, f: usize, goals: &[Vec<Vec3>], solution: &[FrameSolution]| {
        above_ground(&ground[leg_index], f, &(goals[leg_index][f] + solution[f][leg_index + 1]))
    };
    let ankle = &|leg_index: usize, f: usize| height(leg_index, f, &goals, &solution);
    let floating =
        floating_height(pairs, &planted, &soles, &toe_up, (ankle, &lowest_body, &solution), leg_length);
    lowest_body.iter_mut().for_each(|low| *low -= floating);
    base.iter_mut().chain(goals.iter_mut().flatten()).for_each(|position: &mut Vec3| position.y -= floating);
    let ankle = |leg_index: usize, f: usize| height(leg_index, f, &goals, &solution);
    let mut toe_deltas = all_toe_rotations(time, pairs, &mut soles, &toe_up, ankle, settings);
    let lowest_feet = SoleHeights::lowest_of_all(soles);
    let (lowest, shares) = ((&lowest_feet[..], &lowest_body[..]), shares_of_raise(footing, time, pairs));
    let before_raise: Vec<f64> = solution.iter().map(|frame| frame[0].y).collect();
    let ankle = |k: usize, f: usize, solution: &[FrameSolution]| height(k, f, &goals, solution);
    let (solution, foot_raises) =
        out_of_floor((&solve, solution), time, &ankle, lowest, &shares, leg_length, settings);
    drop(solve);
    drop((terms, lowest_feet));
    let ankles = solved_ankles(goals, &solution, &foot_raises);
    let deltas = (&mut foot_deltas[..], &mut toe_deltas[..]);
    restore_tilts(long_feet, time, &ground, (&ankles, &toe_up), deltas, settings);
    Some(LegTrajectories {
        settings: *settings,
        knee_directions,
        base,
        tilts,
        toe_rests,
        feet: foot_deltas,
        toes: toe_deltas,
        further: solution.iter().map(|frame| frame[0]).collect(),
        raise: solution.iter().zip(before_raise).map(|(frame, before)| frame[0].y - before).collect(),
        ankles,
        forelegs: None,
    })
}

/// Both bodies prepared for the solve: see [`PreparedLegs::of`].
struct PreparedLegs {
    /// Delta rotation of the target's pelvis, by frame.
    tilts: Vec<Quat>,
    /// The ground under each foot, by leg and frame; empty if it is level.
    ground: Vec<Vec<GroundUnderFoot>>,
    /// The scaled source as if the ground were level; `None` on level ground.
    level_source: Option<Vec<Vec<LimbPositions>>>,
    /// Contacts of the source's feet.
    source_feet: SourceFeet,
    /// The rotation of the toes of each leg in their own space.
    toe_rests: Vec<Option<Quat>>,
    /// The delta rotations of each foot that is longer than the source's; empty for other feet.
    foot_deltas: Vec<Vec<FootDelta>>,
    /// Heights of the target's soles, by leg and frame.
    soles: Vec<Vec<SoleHeights>>,
    /// Up in the space of the toes while the foot is flat, by leg.
    toe_up: Vec<Option<Vec3>>,
    /// The height by which the scaled source is raised.
    raise: f64,
    /// Displacement of the direct transfer, by frame.
    base: Vec<Vec3>,
    /// The part of it that makes the path longer.
    path_stretch: Vec<Vec3>,
}

impl PreparedLegs {
    /// Prepares both bodies for the solve: moves sunk shots of the scaled source to one floor, gives the direct transfer's pelvis the
    /// source's tilt, rotates its feet as if the ground were level, and moves it onto the scaled path.
    fn of(
        time: &Timeline,
        (source_poses, direct_poses): (&mut [Vec<LimbPositions>], &mut [Vec<LimbPose>]),
        (lowest_body, footing): (&[f64], &Footing),
        (pairs, ratio, path_scale): (&[LegPair], f64, f64),
        settings: &Settings,
    ) -> PreparedLegs {
        let leg_length = mean_length(pairs);
        let sunk_shots = onto_one_floor(time, source_poses, leg_length, settings);
        let tilts = pelvis_tilts(source_poses, direct_poses);
        tilt_hips(direct_poses, &tilts);
        let mut ground = GroundUnderFoot::of_all(footing, pairs, source_poses, ratio);
        let level_source = levelled(&ground, source_poses);
        level_feet(&ground, direct_poses);
        let on_level = level_source.as_deref().unwrap_or(&*source_poses);
        let is_foot_lying =
            |leg_index: usize, f: usize| direct_poses[leg_index][f].foot_lies(&pairs[leg_index].target);
        let legs = source_legs(pairs);
        let source_feet =
            SourceFeet::of(time, on_level, (&legs, &is_foot_lying), footing, leg_length, settings);
        let source_feet = source_feet.without(&sunk_shots).lowered(lowered(&ground, source_poses));
        let toe_rests = lie_toes(&source_feet, direct_poses, pairs);
        let foot_deltas = foot_deltas(&source_feet, direct_poses, pairs, ratio);
        direct_poses.iter_mut().zip(&foot_deltas).for_each(|(poses, deltas)| rotate_foot(poses, deltas));
        let soles = SoleHeights::of_all(pairs, direct_poses);
        let toe_up = toe_up_directions(&source_feet, direct_poses, pairs);
        let on_level = level_source.as_deref().unwrap_or(&*source_poses);
        let mut raise = source_raise(pairs, &source_feet, on_level, direct_poses, &soles, &toe_up);
        let (mut base, path_stretch) =
            base_displacement(time, source_poses, direct_poses, path_scale / ratio - 1.0, raise);
        raise -= lower_onto_floor(footing, &source_feet, lowest_body, &mut base);
        direct_poses.iter_mut().for_each(|poses| translate(poses, &base));
        for ground in &mut ground {
            ground.iter_mut().zip(&path_stretch).for_each(|(ground, stretch)| ground.at += stretch);
        }
        PreparedLegs {
            tilts,
            ground,
            level_source,
            source_feet,
            toe_rests,
            foot_deltas,
            soles,
            toe_up,
            raise,
            base,
            path_stretch,
        }
    }
}

/// Gives long feet their tilt back where they are clear of the ground, and rotates what was found on level ground back to it.
fn restore_tilts(
    long_feet: Vec<Option<LongFoot<'_>>>,
    time: &Timeline,
    ground: &[Vec<GroundUnderFoot>],
    (ankles, toe_up): (&[Vec<Vec3>], &[Option<Vec3>]),
    (foot_deltas, toe_deltas): (&mut [Vec<FootDelta>], &mut [Vec<Quat>]),
    settings: &Settings,
) {
    let long_feet = long_feet.into_iter().enumerate();
    for (leg_index, foot) in long_feet.filter_map(|(leg_index, foot)| Some((leg_index, foot?))) {
        let ankles = on_level_ground(&ground[leg_index], &ankles[leg_index]);
        toe_deltas[leg_index] =
            foot.give_back(&mut foot_deltas[leg_index], time, &ankles, toe_up[leg_index], settings);
    }
    tilt_feet_back(ground, foot_deltas);
    tilt_toes_back(ground, toe_deltas);
}

/// Lowers a body that lies onto the floor; returns by how much.
fn lower_onto_floor(
    footing: &Footing,
    source_feet: &SourceFeet,
    lowest_body: &[f64],
    base: &mut [Vec3],
) -> f64 {
    let floating = match footing.lies_on_floor {
        true => floating_height_of_body(source_feet, lowest_body, base),
        false => 0.0,
    };
    base.iter_mut().for_each(|position| position.y -= floating);
    floating
}

/// The share of the body's raise by which each foot is raised, by leg and frame: [`Footing::raised_with_body`].
fn shares_of_raise(footing: &Footing, time: &Timeline, pairs: &[LegPair]) -> Vec<Vec<f64>> {
    let of_leg =
        |pair: &LegPair| (0..time.frames).map(|f| footing.raised_with_body(pair.source.side, f)).collect();
    pairs.iter().map(of_leg).collect()
}

/// For each leg, up in toe space while the foot is flat; if it never is, up in the reference pose; `None` if neither is known.
fn toe_up_directions(
    source_feet: &SourceFeet,
    direct_poses: &[Vec<LimbPose>],
    pairs: &[LegPair],
) -> Vec<Option<Vec3>> {
    let toe_up = |(leg_index, poses): (usize, &Vec<LimbPose>)| {
        let in_reference_pose = pairs[leg_index].lying_toes.map(|[up, _]| up);
        let rotations = poses.iter().map(|pose| pose.toes.rotation);
        source_feet.up_while_flat(leg_index, rotations).or(in_reference_pose)
    };
    direct_poses.iter().enumerate().map(toe_up).collect()
}

/// The delta rotations of the toes, by leg and frame; empty for legs without toes or flat feet. `ankle` is the height of an
/// ankle by leg and frame.
fn all_toe_rotations(
    time: &Timeline,
    pairs: &[LegPair],
    soles: &mut [Vec<SoleHeights>],
    toe_up: &[Option<Vec3>],
    ankle: impl Fn(usize, usize) -> f64 + Sync,
    settings: &Settings,
) -> Vec<Vec<Quat>> {
    let leg_length = mean_length(pairs);
    let mut toe_deltas = vec![Vec::new(); pairs.len()];
    for (leg_index, (toe_up, pair)) in toe_up.iter().zip(pairs).enumerate() {
        let soles = &mut soles[leg_index];
        let Some(up) = toe_up.filter(|_| !soles.is_empty() && pair.target.toes.is_some()) else {
            continue;
        };
        let ankle = |f: usize| ankle(leg_index, f);
        toe_deltas[leg_index] = toe_rotations(time, pair, soles, &up, ankle, leg_length, settings);
    }
    toe_deltas
}

/// For each frame: the displacement that moves the direct transfer onto the scaled path and up by `raise`, and the part of it that
/// makes the path longer by the factor `1 + path_stretch_share`.
fn base_displacement(
    time: &Timeline,
    source_poses: &[Vec<LimbPositions>],
    direct_poses: &[Vec<LimbPose>],
    path_stretch_share: f64,
    raise: f64,
) -> (Vec<Vec3>, Vec<Vec3>) {
    let source_hips =
        |f: usize| source_poses.iter().map(|pose| pose[f].hip).sum::<Vec3>() / source_poses.len() as f64;
    let direct_hips = |f: usize| {
        direct_poses.iter().map(|pose| pose[f].upper.translation).sum::<Vec3>() / direct_poses.len() as f64
    };
    let factors = Vec3::new(path_stretch_share, 0.0, path_stretch_share);
    let path_stretch = parallel::map(time.frames, TOGETHER, |f| source_hips(f).component_mul(&factors));
    let base = |f: usize| source_hips(f) + path_stretch[f] + Vec3::y() * raise - direct_hips(f);
    (parallel::map(time.frames, TOGETHER, base), path_stretch)
}

/// The delta rotations of the pelvis that make hip joints rise and fall as the source's do: see [`hip_tilt`].
fn pelvis_tilts(source_poses: &[Vec<LimbPositions>], direct_poses: &[Vec<LimbPose>]) -> Vec<Quat> {
    let [left, right] = direct_poses else { return vec![Quat::identity(); direct_poses[0].len()] };
    let hip_line = |f: usize| left[f].upper.translation - right[f].upper.translation;
    let of_source = source_poses[0].iter().zip(&source_poses[1]);
    let hip_widths = [
        median(of_source.map(|(left, right)| (left.hip - right.hip).norm()).collect()),
        median((0..left.len()).map(|f| hip_line(f).norm()).collect()),
    ];
    let hip_width_ratio = hip_widths[0] / hip_widths[1].max(1e-9);
    parallel::map(left.len(), 64, |f| hip_tilt(&hip_line(f), hip_width_ratio))
}
