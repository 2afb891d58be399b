//! Single stances that slide further than any clean take's become stances that rest, and their legs follow.
//!
//! The equations of legs ([`crate::legs::repair`]) with these stances as their only labels. Units: metres of 0.86 m legs.

use super::ledger::{Ledger, all, own};
use super::robust::middle;
use super::stances::{Feet, Kind, SLOW, Stance};
use super::take::Take;
use crate::legs::{Settings, repair};
use crate::math::{Vec3, median, percentile};
use crate::model::{ContactPart, Contacts, Hold};
use rayon::prelude::*;

/// A stance strays by at least this, metres: at 2.5 cm ten of 13 clean takes are changed, at 5 cm one.
const SLIDE: f64 = 0.065;
/// And by so many times what others of the take do...
const TIMES: f64 = 3.0;
/// ... of which there are at least so many: where everything slides, it is meant so.
const FEWEST: usize = 4;
/// Feet that move by less are left, metres.
const LEAST: f64 = 1e-3;

/// Brings stances that slide to rest.
pub(super) fn slides(take: &mut Take, feet: &Feet, ledger: &mut Ledger) {
    let stances = feet.stances(SLOW);
    let strays: Vec<f64> = stances.par_iter().map(|s| stray(feet, s)).collect();
    let usual = if stances.len() > FEWEST { median(strays.clone()) } else { f64::INFINITY };
    let slides = |stray: f64| all(&[stray / SLIDE, stray / (TIMES * usual).max(1e-9)]);
    let slid: Vec<(&Stance, f64)> =
        stances.iter().zip(strays).filter(|s| ledger.near("slide", slides(s.1))).collect();
    if slid.is_empty() {
        return;
    }
    let part = |s: &Stance| match feet.tracks[s.track].kind {
        Kind::Ankle => ContactPart::Heel(feet.tracks[s.track].side),
        Kind::Ball => ContactPart::Ball(feet.tracks[s.track].side),
    };
    let mut labels = Contacts::new(0.0, slid.iter().map(|(s, _)| part(s)));
    for (k, _) in feet.tracks.iter().enumerate() {
        let own: Vec<&Stance> = slid.iter().map(|s| s.0).filter(|s| s.track == k).collect();
        if let Some(first) = own.first() {
            let hold = |s: &&Stance| Hold { frames: s.frames.clone(), height: 0.0 };
            labels.set(part(first), own.iter().map(hold).collect());
        }
    }
    let contacts = take.motion.contacts.replace(labels);
    let (mut rested, done, _) = repair(take.motion.clone(), &Settings::default());
    rested.contacts = contacts.clone();
    take.motion.contacts = contacts;
    let most = done.iter().map(|d| d.moved.0).fold(0.0, f64::max) * take.scale;
    let sizes: Vec<_> = slid.iter().map(|(s, stray)| ((*s).clone(), *stray)).collect();
    if most < LEAST {
        for (stance, stray) in sizes {
            ledger.leave("slide", stance.frames, "m", own(take, stray), "the leg cannot follow");
        }
        return;
    }
    take.replace(rested);
    let Some(after) = Feet::of(take, feet.cuts()) else { return };
    for (stance, before) in sizes {
        let side = feet.tracks[stance.track].side;
        let leg = take.legs.iter().flatten().find(|leg| leg.side == side);
        let joint = leg.map(|leg| take.name(leg.foot.index()));
        let sizes = [before, stray(&after, &stance)].map(|s| own(take, s));
        ledger.mend("slide", joint, stance.frames, "m", sizes);
    }
}

/// How wide the places of a foot lie apart over a stance: of that point of it which strays least, since a foot that turns
/// about its ball or its heel slides nowhere.
fn stray(feet: &Feet, stance: &Stance) -> f64 {
    let side = feet.tracks[stance.track].side;
    let of_foot = feet.tracks.iter().filter(|t| t.side == side);
    of_foot.map(|t| spread(&t.at[stance.frames.clone()])).fold(f64::INFINITY, f64::min)
}

/// How wide places lie apart over the ground, their ends left out.
fn spread(at: &[Vec3]) -> f64 {
    let ends = at.len() / 6;
    let level: Vec<Vec3> = at[ends..at.len() - ends].iter().map(|p| Vec3::new(p.x, 0.0, p.z)).collect();
    let centre = middle(&level);
    let away: Vec<f64> = level.iter().map(|p| (p - centre).norm()).collect();
    2.0 * percentile(&away, 0.95)
}
