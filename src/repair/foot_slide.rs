//! Detects single stances that slide further than any clean take's, and plants them.
//!
//! Uses the leg solver ([`crate::legs::remove_foot_sliding`]) with these stances as its only contact labels. Units: metres of 0.86
//! m legs.

use super::fault_log::{FaultLog, all, own};
use super::robust_statistics::geometric_median;
use super::stances::{FootTrajectories, PointKind, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::legs::{Settings, remove_foot_sliding};
use crate::math::{Vec3, horizontal, median, percentile};
use crate::model::{ContactPart, Contacts, Hold};
use crate::parallel;

/// Least slide of a stance, metres: at 2.5 cm ten of 13 clean takes are changed, at 5 cm one.
const SLIDE: f64 = 0.065;
/// Least slide as a multiple of the median slide of the take...
const TIMES: f64 = 3.0;
/// ... which needs more stances than this: where everything slides, it is intended.
const FEWEST: usize = 4;
/// Largest share of a slide in a third of the stance: a foot that moves by most of it at once, and rests before and after, makes a
/// small step.
const AT_ONCE: f64 = 0.7;
/// Corrections below this are not applied, metres.
const LEAST: f64 = 1e-3;

/// Plants sliding stances.
pub(super) fn slides(take: &mut WorkingTake, feet: &FootTrajectories, log: &mut FaultLog) {
    let stances = feet.stances(SLOW);
    let distances: Vec<f64> = parallel::map_each(&stances, 1, |s| slide(feet, s));
    let usual = if stances.len() > FEWEST { median(distances.clone()) } else { f64::INFINITY };
    let share = |slide: f64| all(&[slide / SLIDE, slide / (TIMES * usual).max(1e-9)]);
    let slid: Vec<(&Stance, f64)> =
        stances.iter().zip(distances).filter(|s| log.test("slide", share(s.1))).collect();
    let (small_steps, slid): (Vec<_>, Vec<_>) =
        slid.into_iter().partition(|(stance, _)| is_step(feet, stance));
    for (stance, slide) in &small_steps {
        let why = "the foot moves at once and rests before and after: a small step, or a slide";
        log.record_unfixed("slide", stance.frames.clone(), "m", own(take, *slide), why);
    }
    if slid.is_empty() {
        if !small_steps.is_empty() {
            log.refute("slide");
        }
        return;
    }
    let part = |s: &Stance| match feet.points[s.point].kind {
        PointKind::Ankle => ContactPart::Heel(feet.points[s.point].side),
        PointKind::Ball => ContactPart::Ball(feet.points[s.point].side),
    };
    let mut labels = Contacts::new(0.0, slid.iter().map(|(s, _)| part(s)));
    for (k, _) in feet.points.iter().enumerate() {
        let own: Vec<&Stance> = slid.iter().map(|s| s.0).filter(|s| s.point == k).collect();
        if let Some(first) = own.first() {
            let hold = |s: &&Stance| Hold { frames: s.frames.clone(), height: 0.0, slide: 0.0 };
            labels.set(part(first), own.iter().map(hold).collect());
        }
    }
    let contacts = take.motion.contacts.replace(labels);
    let (mut repaired, done, _) = remove_foot_sliding(take.motion.clone(), &Settings::default());
    repaired.contacts = contacts.clone();
    take.motion.contacts = contacts;
    let most = done.iter().map(|d| d.largest_move).fold(0.0, f64::max) * take.scale;
    let sizes: Vec<_> = slid.iter().map(|(s, slide)| ((*s).clone(), *slide)).collect();
    if most < LEAST {
        for (stance, slide) in sizes {
            log.record_unfixed("slide", stance.frames, "m", own(take, slide), "the leg cannot follow");
        }
        return;
    }
    take.replace(repaired);
    let Some(after) = FootTrajectories::of(take, feet.cuts()) else { return };
    for (stance, before) in sizes {
        let side = feet.points[stance.point].side;
        let leg = take.legs.iter().flatten().find(|leg| leg.side == side);
        let joint = leg.map(|leg| take.name(leg.foot.index()));
        let sizes = [before, slide(&after, &stance)].map(|s| own(take, s));
        log.record_fixed("slide", joint, stance.frames, "m", sizes);
    }
}

/// Spread of the foot positions over a stance, at the foot point that moves least: a foot that rotates about its ball
/// or its heel does not slide.
fn slide(feet: &FootTrajectories, stance: &Stance) -> f64 {
    let side = feet.points[stance.point].side;
    let of_foot = feet.points.iter().filter(|t| t.side == side);
    of_foot.map(|t| spread(&t.at[stance.frames.clone()])).fold(f64::INFINITY, f64::min)
}

/// Whether the foot moves by most of its slide within a third of the stance.
fn is_step(feet: &FootTrajectories, stance: &Stance) -> bool {
    let side = feet.points[stance.point].side;
    let of_foot = feet.points.iter().filter(|t| t.side == side).map(|t| &t.at[stance.frames.clone()]);
    let Some(at) = of_foot.min_by(|a, b| spread(a).total_cmp(&spread(b))) else { return false };
    let third = (at.len() / 3).max(1);
    let level = |a: &Vec3, b: &Vec3| libm::hypot(b.x - a.x, b.z - a.z);
    let most = (third..at.len()).map(|f| level(&at[f - third], &at[f])).fold(0.0, f64::max);
    let whole = at.iter().map(|p| level(&at[0], p)).fold(0.0, f64::max);
    most > AT_ONCE * whole
}

/// Horizontal spread of positions, without the ends of the stance.
fn spread(at: &[Vec3]) -> f64 {
    let ends = at.len() / 6;
    let level: Vec<Vec3> = at[ends..at.len() - ends].iter().map(horizontal).collect();
    let centre = geometric_median(&level);
    let away: Vec<f64> = level.iter().map(|p| (p - centre).norm()).collect();
    2.0 * percentile(&away, 0.95)
}
