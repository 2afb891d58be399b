//! Sets a robot upright, with its front along X, and reports what of it is not clear.
//!
//! A file has the robot as its author liked: with Y up, lying, or rotated about the vertical. Legs reach down from the hips and arms
//! begin above them; feet reach farther to the front than to the back, knees bend shins to the back, and names know left and right.
//! Only the base's rotation in the world changes, which a floating base has anyway: the base's own axes stay those of the file.

use super::hinge_chains::LimbChains;
use super::robot_limbs::Limbs;
use super::robot_names::LinkNames;
use super::sole::Sole;
use super::zero_pose::ZeroPose;
use crate::math::{DEGREE, Quat, Vec3, arc, exp};
use crate::model::{Robot, Side};
use crate::report::{Warnings, counted, shortened};
use std::f64::consts::PI;

/// A front within this angle of X is left as it is, radians: 3 degrees are within the tolerances of models.
const FRONT: f64 = 3.0 * DEGREE;
/// A foot reaches farther to one side of the ankle than to the other by this share of its length, else it has no front.
const LONGER: f64 = 0.1;
/// The middle of a knee's range is off its zero by this share of half the range, else it has no direction.
const ONE_SIDED: f64 = 0.2;
/// Hinges that a message lists; more are counted.
const LISTED: usize = 4;

/// Sets a robot upright, its front along X. `file` is its file's name, for warnings.
pub(crate) fn stand(robot: &mut Robot, file: &str) -> Warnings {
    let mut warnings = Warnings::new();
    set_upright(robot, file, &mut warnings);
    if let Err(reason) = Limbs::of(robot, &ZeroPose::of(robot)) {
        let message = format!(
            "a robot with {} and {} is no humanoid, takes cannot be retargeted onto it: {reason}",
            counted(robot.links.len(), "link"),
            counted(robot.hinges.len(), "hinge")
        );
        warnings.add("robot-no-humanoid", message, file);
    }
    warnings
}

fn set_upright(robot: &mut Robot, file: &str, warnings: &mut Warnings) {
    let Some(names) = LinkNames::of(robot) else { return };
    let Some(up) = up(robot, &names) else { return };
    if up != Vec3::z() {
        rotate(robot, arc(&up, &Vec3::z(), &Vec3::x()));
        let message = "the robot does not stand upright in the pose of the file: it is set upright, the base keeps its own axes";
        warnings.add("robot-upright", message, file);
    }
    let Ok(chains) = LimbChains::of(robot, &ZeroPose::of(robot)) else { return };
    let across = chains.across();
    let side = Vec3::new(across.x, across.y, 0.0);
    let front = side.cross(&Vec3::z());
    let front = if front.x < 0.0 { -front } else { front };
    let yaw = libm::atan2(front.y, front.x);
    let kept = if yaw.abs() < FRONT { 0.0 } else { yaw };
    let before = robot.links[0].parent_from_link.rotation;
    if kept != 0.0 {
        rotate(robot, exp(&(Vec3::z() * -kept)));
    }
    let Ok(witnesses) = Witnesses::of(robot, &names) else { return };
    let back = witnesses.sum() < 0;
    if back {
        robot.links[0].parent_from_link.rotation = before;
        rotate(robot, exp(&(Vec3::z() * (PI - kept))));
    }
    let angle = if back { kept - PI * kept.signum() } else { kept };
    if angle != 0.0 && up == Vec3::z() {
        let message = format!(
            "the robot's front is {:.0} degrees from X in the pose of the file: it is rotated to X, the base keeps its own axes",
            angle.abs().to_degrees()
        );
        warnings.add("robot-front", message, file);
    }
    if let Some(message) = witnesses.contradiction(back) {
        warnings.add("robot-sides", message, file);
    }
    if let Ok(limbs) = Limbs::of(robot, &ZeroPose::of(robot)) {
        report_names(robot, &limbs, &names, file, warnings);
        report_undriven(robot, &limbs, file, warnings);
    }
}

/// Rotates a robot in the world.
fn rotate(robot: &mut Robot, rotation: Quat) {
    let base = &mut robot.links[0].parent_from_link.rotation;
    *base = Quat::new_normalize((rotation * *base).into_inner());
}

/// The direction that is up: the first of +Z, the axes of its base and those of the world in which the robot stands on two legs and has
/// two arms. For all but +Z the arms are shorter than the legs: upside down or lying, a robot may stand on its arms.
fn up(robot: &Robot, names: &LinkNames) -> Option<Vec3> {
    let base = robot.links.first()?.parent_from_link.rotation;
    let axes = [Vec3::z(), Vec3::y(), Vec3::x()];
    let own = axes.into_iter().flat_map(|axis| [base * axis, -(base * axis)]);
    let worlds = axes.into_iter().flat_map(|axis| [axis, -axis]);
    let (mut armless, mut doubtful) = (None, None);
    for up in [Vec3::z()].into_iter().chain(own).chain(worlds) {
        let mut rotated = robot.clone();
        if up != Vec3::z() {
            rotate(&mut rotated, arc(&up, &Vec3::z(), &Vec3::x()));
        }
        let zero = ZeroPose::of(&rotated);
        let Ok(chains) = LimbChains::of(&rotated, &zero) else { continue };
        // With the legs left and right of X.
        let across = chains.across();
        rotate(&mut rotated, arc(&Vec3::new(across.x, across.y, 0.0), &Vec3::y(), &Vec3::z()));
        let Ok(limbs) = Limbs::of(&rotated, &ZeroPose::of(&rotated)) else { continue };
        if limbs.legs.iter().all(|leg| names.contradict(&rotated, &leg.hinges, true)) {
            // Reversed, a robot whose legs have no knees would go on its arms: names are believed against that.
            doubtful = doubtful.or((up == Vec3::z()).then_some(up));
            continue;
        }
        let arms: Vec<f64> = limbs.arms.iter().flatten().map(|arm| arm.lengths.iter().sum()).collect();
        let shorter = arms.iter().sum::<f64>() < 2.0 * limbs.leg_length();
        if arms.len() == 2 && (shorter || up == Vec3::z()) {
            return Some(up);
        }
        armless = armless.or(Some(up));
    }
    armless.or(doubtful)
}

/// What says that the front is X (1) or its opposite (-1); 0 where it says nothing.
struct Witnesses {
    feet: i32,
    knees: i32,
    names: i32,
}

impl Witnesses {
    /// Of a robot whose legs are left and right of X.
    fn of(robot: &Robot, names: &LinkNames) -> Result<Self, &'static str> {
        let zero = ZeroPose::of(robot);
        let limbs = Limbs::of(robot, &zero)?;
        let mut found = Self { feet: 0, knees: 0, names: 0 };
        let sign = |x: f64, least: f64| i32::from(x > least) - i32::from(x < -least);
        for leg in &limbs.legs {
            let sole = Sole::of(robot, &zero, leg, limbs.leg_length());
            // A foot that is one sphere has no front.
            if sole.measured && sole.ball != sole.heel {
                let long = (sole.ball - sole.heel).norm();
                found.feet += sign(2.0 * sole.back + long, LONGER * long);
            }
            let knee = &robot.hinges[leg.middle];
            let moved = zero.axes[leg.middle].cross(&(leg.tip - zero.anchors[leg.middle])).x;
            if let Some([low, high]) = knee.range {
                let middle = (low + high) / 2.0 - knee.zero;
                // A shin that moves sideways says nothing.
                found.knees -=
                    sign(middle, ONE_SIDED * (high - low) / 2.0) * sign(moved, LONGER * leg.lengths[1]);
            }
            let agrees = |side: Side| if side == leg.side { 1 } else { -1 };
            found.names += names.side(robot, &leg.hinges).map_or(0, agrees);
        }
        found.feet = found.feet.signum();
        found.knees = found.knees.signum();
        found.names = found.names.signum();
        Ok(found)
    }

    fn sum(&self) -> i32 {
        self.feet + self.knees + self.names
    }

    /// What contradicts the front that was chosen, or each other.
    fn contradiction(&self, back: bool) -> Option<String> {
        let all = [
            ("the feet", self.feet),
            ("the bend of the knees", self.knees),
            ("the sides in names", self.names),
        ];
        let with = |sign: i32| {
            let those = all.iter().filter(|(_, vote)| *vote == sign).map(|(name, _)| *name);
            those.collect::<Vec<_>>().join(" and ")
        };
        let sign = if back { -1 } else { 1 };
        let (with, against) = (with(sign), with(-sign));
        (!with.is_empty() && !against.is_empty()).then(|| {
            format!("which side is the front is not clear: it is taken as {with} have it, against {against}")
        })
    }
}

/// Adds a warning for limbs that are named as other parts of the body.
fn report_names(robot: &Robot, limbs: &Limbs, names: &LinkNames, file: &str, warnings: &mut Warnings) {
    let legs = limbs.legs.iter().map(|leg| (leg, true));
    for (limb, is_leg) in legs.chain(limbs.arms.iter().flatten().map(|arm| (arm, false))) {
        if names.contradict(robot, &limb.hinges, is_leg) {
            let message = format!(
                "the limb up to `{}` is taken as {} by its shape, against the names of its links",
                shortened(&robot.links[limb.end].name),
                if is_leg { "a leg" } else { "an arm" }
            );
            warnings.add("robot-names", message, file);
        }
    }
}

/// Adds warnings for arms that were not found and hinges that no take drives.
fn report_undriven(robot: &Robot, limbs: &Limbs, file: &str, warnings: &mut Warnings) {
    let arms: Vec<_> = limbs.arms.iter().flatten().collect();
    if arms.len() < 2 {
        let found = arms.first().map_or("no arms were found", |arm| match arm.side {
            Side::Left => "only the left arm was found",
            Side::Right => "only the right arm was found",
        });
        warnings.add("robot-no-arms", format!("{found}: a take's arms move nothing else"), file);
    }
    let zero = ZeroPose::of(robot);
    let trunk = [limbs.pelvis(), limbs.torso()].map(|link| &zero.chains[link]);
    let driven = |hinge: usize| {
        let limb = limbs.legs.iter().chain(arms.iter().copied()).any(|limb| limb.hinges.contains(&hinge));
        limb || trunk.iter().any(|chain| chain.contains(&hinge)) || robot.hinges[hinge].follows.is_some()
    };
    let undriven: Vec<usize> = (0..robot.hinges.len()).filter(|&hinge| !driven(hinge)).collect();
    if undriven.is_empty() {
        return;
    }
    let beyond = |hinge: usize, limb: &&super::RobotLimb| zero.is_beyond(robot.hinges[hinge].link, limb.end);
    let fingers = |hinge: &usize| arms.iter().any(|arm| beyond(*hinge, arm));
    let toes = |hinge: &usize| limbs.legs.iter().any(|leg| beyond(*hinge, &leg));
    let of = |count: usize, part: &str| (count > 0).then(|| format!("{count} of {part}"));
    let others: Vec<usize> =
        undriven.iter().copied().filter(|hinge| !fingers(hinge) && !toes(hinge)).collect();
    let listed = others.iter().take(LISTED).map(|&k| format!("`{}`", shortened(&robot.hinges[k].name)));
    let more = others.len().saturating_sub(LISTED);
    let parts: Vec<String> = of(undriven.iter().filter(|hinge| fingers(hinge)).count(), "fingers")
        .into_iter()
        .chain(of(undriven.iter().filter(|hinge| toes(hinge)).count(), "toes"))
        .chain(listed)
        .chain((more > 0).then(|| format!("{more} more")))
        .collect();
    let message =
        format!("{} hinges follow no take and stay near their zero: {}", undriven.len(), parts.join(", "));
    warnings.add("robot-undriven", message, file);
}
