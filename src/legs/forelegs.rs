//! Retargets the front legs of quadrupeds: paws are planted where the source's are, on the same floor.
//!
//! The equations are those of the hind legs, with a body that is already placed: only the paws are unknown. Space: model space,
//! Y up. Units: metres, seconds.

use super::body_height::source_raise;
use super::equations::{Equations, FrameSolution, LegTerms, leg_terms, solved_ankles};
use super::leg_pair::{LegPair, mean_length, source_legs};
use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, LimbPositions, limb_poses, translate};
use super::out_of_floor::out_of_floor;
use super::settings::Settings;
use super::soft_knee::{MAX_BEND, knee_directions, solve_limbs};
use super::soles::SourceFeet;
use super::timeline::{TOGETHER, Timeline};
use super::toes::SoleHeights;
use super::write_clip::{SolvedFrames, write_flipping};
use crate::contacts::Footing;
use crate::math::{Vec3, median};
use crate::model::Motion;
use crate::parallel;

/// Displacement of the body that costs 1, leg lengths: so little that the shoulders stay where the trunk has them.
const BODY_DISPLACEMENT: f64 = 1e-5;

/// Upper bound of the stiffness of a straight front leg: the trunk of another animal holds the shoulders higher or lower, and the
/// paws are on the floor all the same. With that of hind legs front paws float by up to 8 cm.
const STIFFNESS: f64 = 3.0;
/// Share of the height by which the front legs are too long or too short that the body is displaced by; both pairs of legs bend for
/// the rest.
const SHARED: f64 = 0.5;
/// Largest such displacement, leg lengths. With 0.15 the hind knees of Rigify's wolf are 19 degrees off the take's.
const MOST_SHARED: f64 = 0.08;

/// The trajectories of a target's front paws over a clip.
#[derive(Clone, Debug)]
pub struct ForelegTrajectories {
    /// The height by which the whole body is raised for them.
    pub lift: f64,
    /// The front legs.
    pub legs: Vec<LimbChain>,
    /// The direction of the elbow of each: see [`super::soft_knee::knee_direction`].
    pub knee_directions: Vec<Vec3>,
    /// The position of the paw of each leg, by frame.
    pub paws: Vec<Vec<Vec3>>,
}

impl ForelegTrajectories {
    /// Applies the trajectories to a part of the motion that starts at frame `first`, whose body and hind legs are already placed.
    pub fn apply(&self, part: Motion, first: usize, settings: &Settings) -> Motion {
        let legs: Vec<&LimbChain> = self.legs.iter().collect();
        let mut poses = limb_poses(&part, &legs);
        let ends =
            |k: usize, f: usize, pose: &LimbPose| Some([pose.upper.translation, self.paws[k][first + f]]);
        solve_limbs(&legs, &mut poses, &self.knee_directions, MAX_BEND, settings, ends);
        write_flipping(part, &SolvedFrames { legs: &legs, poses: &poses, body: &[], still: &|_| false })
    }
}

/// Solves for the trajectories of the front paws. `source` and `direct_poses` are the front legs of source and direct transfer,
/// by leg and frame, `ratio` is that of the hind legs, `moved` the displacement of the direct transfer's body.
pub fn solve_forelegs(
    time: &Timeline,
    (mut source, mut direct_poses): (Vec<Vec<LimbPositions>>, Vec<Vec<LimbPose>>),
    (pairs, ratio): (&[LegPair], f64),
    moved: &[Vec3],
    settings: &Settings,
) -> ForelegTrajectories {
    let leg_length = mean_length(pairs);
    // Front paws are raised out of the floor as slowly as hands.
    let foot_raise_time = settings.body_raise_time;
    let foreleg_settings = Settings {
        root_displacement: BODY_DISPLACEMENT,
        stiffness_cap: STIFFNESS,
        foot_raise_time,
        ..*settings
    };
    source.iter_mut().flatten().for_each(|pose| *pose = pose.scaled(ratio));
    direct_poses.iter_mut().for_each(|poses| translate(poses, moved));
    let legs = source_legs(pairs);
    let feet =
        SourceFeet::of(time, &source, (&legs, &|_, _| false), &Footing::default(), leg_length, settings);
    let soles = SoleHeights::of_all(pairs, &direct_poses);
    let source_raise = source_raise(pairs, &feet, &source, &direct_poses, &soles, &vec![None; pairs.len()]);
    // The body follows all four feet: by a constant, which changes no rhythm.
    let height_errors = |(source, direct): (&Vec<LimbPositions>, &Vec<LimbPose>)| -> Vec<f64> {
        let error = |(pose, direct_pose): (&LimbPositions, &LimbPose)| {
            pose.ankle.y + source_raise - direct_pose.foot.translation.y
        };
        source.iter().zip(direct).map(error).collect()
    };
    let height_errors: Vec<f64> = source.iter().zip(&direct_poses).flat_map(height_errors).collect();
    let lift = (SHARED * median(height_errors)).clamp(-MOST_SHARED * leg_length, MOST_SHARED * leg_length);
    direct_poses.iter_mut().for_each(|poses| translate(poses, &vec![Vec3::y() * lift; time.frames]));
    let (mut goals, mut terms) = (Vec::new(), Vec::<LegTerms>::new());
    for (leg_index, LegPair { source: from, target, .. }) in pairs.iter().enumerate() {
        let ends = ((&source[leg_index][..], from), (&direct_poses[leg_index][..], target));
        let (points, _) = feet.points(leg_index, time, ends.0, ends.1, (ratio, leg_length), settings);
        let goal = |pose: &LimbPositions| pose.ankle + Vec3::y() * source_raise;
        let ankle_goals: Vec<Vec3> = parallel::map_each(&source[leg_index], TOGETHER, goal);
        terms.push(leg_terms(
            points,
            &source[leg_index],
            &direct_poses[leg_index],
            &ankle_goals,
            from.length() * ratio,
            &foreleg_settings,
        ));
        goals.push(ankle_goals);
    }
    let equations = Equations::new(time, &terms, leg_length, &foreleg_settings);
    let solve = |raised: Option<&[Vec<f64>]>| equations.solve(raised);
    let solution = solve(None);
    let lowest_feet: Vec<Vec<f64>> =
        soles.iter().map(|sole| sole.iter().map(SoleHeights::lowest).collect()).collect();
    let shares = vec![vec![0.0; time.frames]; pairs.len()];
    let ankle = |leg_index: usize, f: usize, solution: &[FrameSolution]| {
        goals[leg_index][f].y + solution[f][leg_index + 1].y
    };
    let (solution, foot_raises) = out_of_floor(
        (&solve, solution),
        time,
        &ankle,
        (&lowest_feet, &[]),
        &shares,
        leg_length,
        &foreleg_settings,
    );
    ForelegTrajectories {
        lift,
        legs: pairs.iter().map(|pair| pair.target.clone()).collect(),
        knee_directions: knee_directions(&direct_poses),
        paws: solved_ankles(goals, &solution, &foot_raises),
    }
}
