//! Corrects the legs of the direct transfer so that its feet follow the source's feet.
//!
//! The source is scaled by one factor, the ratio of leg lengths. The trajectories of its ankles and soles are goals for the
//! target, the bends of its knees as well, and the equations balance the two. Contact labels are not used. Space: model
//! space, Y up. Units: metres, seconds, radians.

use super::body_height::{hover, hover_of_body, rise};
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
use super::soft_knee::knee_side;
use super::soles::SourceFeet;
use super::timeline::{TOGETHER, Timeline};
use super::toe_rest::lie_toes;
use super::toes::{SoleHeights, toe_rotations};
use crate::contacts::Footing;
use crate::math::{Quat, Vec3, median};
use crate::parallel;

/// Solves for the trajectories of legs and body: the legs of the direct transfer follow the source's, the body stands on height
/// 0, feet and seat are out of the floor. `scaled` and `direct_poses` are the legs of source and direct transfer, by leg and
/// frame; `seat` is the lowest height of the direct transfer's trunk and thighs; `footing` tells when the source's feet can
/// stand; `across` is the scale of the path over the ground, by default [`leg_ratio`]. `None` without legs.
pub fn solve_legs(
    time: &Timeline,
    (mut scaled, mut direct_poses): (Vec<Vec<LimbPositions>>, Vec<Vec<LimbPose>>),
    (seat, footing): (&[f64], &Footing),
    (pairs, across): (&[LegPair], f64),
    settings: &Settings,
) -> Option<LegTrajectories> {
    let ratio = leg_ratio(pairs).filter(|_| time.frames > 0)?;
    let leg_length = mean_length(pairs);
    scaled.iter_mut().flatten().for_each(|pose| *pose = pose.scaled(ratio));
    let (tilts, mut under, mut level_source, feet) =
        source_feet(time, (&mut scaled, &mut direct_poses), footing, (pairs, ratio), settings);
    let toe_rests = lie_toes(&feet, &mut direct_poses, pairs);
    let mut foot_deltas = foot_deltas(&feet, &direct_poses, pairs, ratio);
    direct_poses.iter_mut().zip(&foot_deltas).for_each(|(poses, deltas)| rotate_foot(poses, deltas));
    let (mut soles, level) =
        (SoleHeights::of_all(pairs, &direct_poses), toe_levels(&feet, &direct_poses, pairs));
    let mut rise =
        rise(pairs, &feet, level_source.as_ref().unwrap_or(&scaled), &direct_poses, &soles, &level);
    let (mut base, aside) = base_offsets(time, &scaled, &direct_poses, across / ratio - 1.0, rise);
    rise -= lowered_where_it_lies(footing, &feet, seat, &mut base);
    direct_poses.iter_mut().for_each(|poses| translate(poses, &base));
    under.iter_mut().for_each(|own| own.iter_mut().zip(&aside).for_each(|(own, aside)| own.at += aside));
    let ends = Continuation::of(time, &scaled, leg_length);
    let (mut goals, mut sides, mut planted, mut long) = <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    let mut terms: Vec<LegTerms> = (0..pairs.len())
        .map(|k| {
            // The legs of a long take are large: each is freed when its terms are known.
            let (scaled, direct_poses) =
                (std::mem::take(&mut scaled[k]), std::mem::take(&mut direct_poses[k]));
            let LegPair { source, target, .. } = &pairs[k];
            let seen = level_source.as_mut().map(|level| std::mem::take(&mut level[k]));
            let ends = ((seen.as_deref().unwrap_or(&scaled[..]), source), (&direct_poses[..], target));
            let (mut points, contact) = feet.points(k, time, ends.0, ends.1, (ratio, leg_length), settings);
            points.iter_mut().for_each(|point| displace(&under[k], &aside, &mut point.misfit));
            let goal = |(s, aside): (&LimbPositions, &Vec3)| s.ankle + aside + Vec3::y() * rise;
            let own: Vec<Vec3> = scaled.iter().zip(&aside).map(goal).collect();
            let terms = leg_terms(points, &scaled, &direct_poses, &own, source.length() * ratio, settings);
            goals.push(own);
            planted.push(contact.planted);
            sides.push(knee_side(&direct_poses));
            let foot =
                LongFoot { pair: &pairs[k], poses: direct_poses, touching: contact.touching, leg_length };
            long.push((!foot_deltas[k].is_empty() && foot.pair.paw == 0.0).then_some(foot));
            terms
        })
        .collect();
    let mut seat: Vec<f64> = seat.iter().zip(&base).map(|(low, base)| low + base.y).collect();
    // The matrix of a long take is large: what is no longer needed is freed before it.
    drop((feet, aside));
    let solve = ends.equations(&mut terms, leg_length, settings);
    let solution = solve(None);
    let height = |k: usize, f: usize, goals: &[Vec<Vec3>], solution: &[FrameSolution]| {
        above_ground(&under[k], f, &(goals[k][f] + solution[f][k + 1]))
    };
    let ankle = &|k: usize, f: usize| height(k, f, &goals, &solution);
    let hover = hover(pairs, &planted, &soles, &level, (ankle, &seat, &solution), leg_length);
    seat.iter_mut().for_each(|low| *low -= hover);
    base.iter_mut().chain(goals.iter_mut().flatten()).for_each(|at: &mut Vec3| at.y -= hover);
    let ankle = |k: usize, f: usize| height(k, f, &goals, &solution);
    let mut toes = all_toe_rotations(time, pairs, &mut soles, &level, ankle, settings);
    let lowest = SoleHeights::lowest_of_all(soles);
    let (places, shares) = ((&lowest[..], &seat[..]), shares_of_raise(footing, time, pairs));
    let before: Vec<f64> = solution.iter().map(|frame| frame[0].y).collect();
    let ankle = |k: usize, f: usize, solution: &[FrameSolution]| height(k, f, &goals, solution);
    let (solution, raised) =
        out_of_floor((&solve, solution), time, &ankle, places, &shares, leg_length, settings);
    drop(solve);
    drop((terms, lowest));
    let ankles = solved_ankles(goals, &solution, &raised);
    give_tilts_back(long, time, &under, (&ankles, &level), (&mut foot_deltas, &mut toes), settings);
    Some(LegTrajectories {
        settings: *settings,
        sides,
        base,
        tilts,
        toe_rests,
        feet: foot_deltas,
        toes,
        further: solution.iter().map(|frame| frame[0]).collect(),
        raise: solution.iter().zip(before).map(|(frame, before)| frame[0].y - before).collect(),
        ankles,
        forelegs: None,
    })
}

/// The scaled source on level ground, `None` if it is there anyway.
type LevelSource = Option<Vec<Vec<LimbPositions>>>;

/// Puts the scaled source on one floor, tilts the hips of the direct transfer as its hips, and rotates feet as if the ground were level.
/// Returns the tilts, the ground, the source on level ground, and its feet.
fn source_feet(
    time: &Timeline,
    (scaled, direct_poses): (&mut [Vec<LimbPositions>], &mut [Vec<LimbPose>]),
    footing: &Footing,
    (pairs, ratio): (&[LegPair], f64),
    settings: &Settings,
) -> (Vec<Quat>, Vec<Vec<GroundUnderFoot>>, LevelSource, SourceFeet) {
    let leg_length = mean_length(pairs);
    let sunk = onto_one_floor(time, scaled, leg_length, settings);
    let tilts = tilts(scaled, direct_poses);
    tilt_hips(direct_poses, &tilts);
    let under = GroundUnderFoot::of_all(footing, pairs, scaled, ratio);
    let level_source = levelled(&under, scaled);
    level_feet(&under, direct_poses);
    let seen = level_source.as_deref().unwrap_or(&*scaled);
    let lies = |k: usize, f: usize| direct_poses[k][f].foot_lies(&pairs[k].target);
    let feet = SourceFeet::of(time, seen, (&source_legs(pairs), &lies), footing, leg_length, settings);
    let feet = feet.without(&sunk).lowered(lowered(&under, scaled));
    (tilts, under, level_source, feet)
}

/// Gives long feet their tilt back where they are clear of the ground, and rotates what was found on level ground back to it.
fn give_tilts_back(
    long: Vec<Option<LongFoot<'_>>>,
    time: &Timeline,
    under: &[Vec<GroundUnderFoot>],
    (ankles, level): (&[Vec<Vec3>], &[Option<Vec3>]),
    (feet, toes): (&mut [Vec<FootDelta>], &mut [Vec<Quat>]),
    settings: &Settings,
) {
    for (k, foot) in long.into_iter().enumerate().filter_map(|(k, foot)| Some((k, foot?))) {
        let ankles = on_level_ground(&under[k], &ankles[k]);
        toes[k] = foot.give_back(&mut feet[k], time, &ankles, level[k], settings);
    }
    tilt_feet_back(under, feet);
    tilt_toes_back(under, toes);
}

/// Lowers a body that lies onto the floor; returns by how much.
fn lowered_where_it_lies(footing: &Footing, feet: &SourceFeet, seat: &[f64], base: &mut [Vec3]) -> f64 {
    let above = if footing.lies_on_floor { hover_of_body(feet, seat, base) } else { 0.0 };
    base.iter_mut().for_each(|at| at.y -= above);
    above
}

/// The share of the body's raise by which each foot is raised, by leg and frame: [`Footing::raised_with_body`].
fn shares_of_raise(footing: &Footing, time: &Timeline, pairs: &[LegPair]) -> Vec<Vec<f64>> {
    let of_leg =
        |pair: &LegPair| (0..time.frames).map(|f| footing.raised_with_body(pair.source.side, f)).collect();
    pairs.iter().map(of_leg).collect()
}

/// The up direction in the space of the toes of each leg while its foot is flat, of a foot that never is while it stands in the
/// reference pose; `None` if neither is known.
fn toe_levels(feet: &SourceFeet, direct_poses: &[Vec<LimbPose>], pairs: &[LegPair]) -> Vec<Option<Vec3>> {
    let level = |(k, poses): (usize, &Vec<LimbPose>)| {
        let at_rest = pairs[k].lying_toes.map(|[up, _]| up);
        feet.level(k, poses.iter().map(|pose| pose.toes.rotation)).or(at_rest)
    };
    direct_poses.iter().enumerate().map(level).collect()
}

/// The delta rotations of the toes, by leg and frame; empty for legs without toes or flat feet. `ankle` is the height of an
/// ankle by leg and frame.
fn all_toe_rotations(
    time: &Timeline,
    pairs: &[LegPair],
    soles: &mut [Vec<SoleHeights>],
    level: &[Option<Vec3>],
    ankle: impl Fn(usize, usize) -> f64 + Sync,
    settings: &Settings,
) -> Vec<Vec<Quat>> {
    let leg_length = mean_length(pairs);
    let mut toes = vec![Vec::new(); pairs.len()];
    for (k, level) in level.iter().enumerate() {
        let Some(level) = level.filter(|_| !soles[k].is_empty() && pairs[k].target.toes.is_some()) else {
            continue;
        };
        toes[k] =
            toe_rotations(time, &pairs[k], &mut soles[k], &level, |f| ankle(k, f), leg_length, settings);
    }
    toes
}

/// The displacement of the direct transfer to the scaled path, raised by `rise`, in every frame, and the horizontal part of it that
/// lengthens the scaled path by the share `longer`.
fn base_offsets(
    time: &Timeline,
    scaled: &[Vec<LimbPositions>],
    direct_poses: &[Vec<LimbPose>],
    longer: f64,
    rise: f64,
) -> (Vec<Vec3>, Vec<Vec3>) {
    let middle = |f: usize| scaled.iter().map(|s| s[f].hip).sum::<Vec3>() / scaled.len() as f64;
    let own = |f: usize| {
        direct_poses.iter().map(|s| s[f].upper.translation).sum::<Vec3>() / direct_poses.len() as f64
    };
    let further = Vec3::new(longer, 0.0, longer);
    let aside = parallel::map(time.frames, TOGETHER, |f| middle(f).component_mul(&further));
    let base = |f: usize| middle(f) + aside[f] + Vec3::y() * rise - own(f);
    (parallel::map(time.frames, TOGETHER, base), aside)
}

/// The delta rotations of the pelvis that make hip joints rise and fall as the source's do: see [`hip_tilt`].
fn tilts(scaled: &[Vec<LimbPositions>], direct_poses: &[Vec<LimbPose>]) -> Vec<Quat> {
    let [left, right] = direct_poses else { return vec![Quat::identity(); direct_poses[0].len()] };
    let across = |f: usize| left[f].upper.translation - right[f].upper.translation;
    let widths = [
        median(scaled[0].iter().zip(&scaled[1]).map(|(a, b)| (a.hip - b.hip).norm()).collect()),
        median((0..left.len()).map(|f| across(f).norm()).collect()),
    ];
    let share = widths[0] / widths[1].max(1e-9);
    parallel::map(left.len(), 64, |f| hip_tilt(&across(f), share))
}
