//! A motion becomes one whose jumps fly and whose feet come down, as far as the laws of motion know it exactly.
//!
//! What is done: flights that were lost become parabolas, bodies that hover come down. What is told and left: forces
//! that no contact gives. Where nothing of this is found, the motion comes out as it came, bit for bit; poses, contact
//! labels and feet against the body are never changed. Space: model space, Y up. Units: SI.

use super::floating::{FootClearance, GAP};
use super::gravity::{Gravity, gravity};
use super::missing_flights::{lifts, missing_flights};
use super::unexplained_force::{self, unexplained_force};
use super::whole_body_dynamics::WholeBodyDynamics;
use crate::legs::shifted;
use crate::math::Vec3;
use crate::model::{Contacts, Motion};
use crate::report::{Finding, Metric};

/// Takes whose soles rest in less than this part of their frames tell no level.
const KNOWN: f64 = 0.2;

/// What became of a motion whose flights shall fly, and what was found.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The motion; nothing where it stays as it came.
    pub motion: Option<Motion>,
    /// Faults, mended and left.
    pub findings: Vec<Finding>,
    /// Gravity, the largest gap and the largest unexplained force of the result, with their limits.
    pub metrics: Vec<Metric>,
    /// The unexplained force of every frame of the result, over the weight.
    pub unexplained: Vec<f64>,
}

/// Settles flights and landings of a motion on which `contacts` say what rests; nothing for bodies that do not go on two
/// legs with feet.
pub fn settle_flights(motion: &Motion, contacts: &Contacts) -> Option<Settled> {
    let mut body = WholeBodyDynamics::of(motion, contacts)?;
    let mut findings = Vec::new();
    let lost = missing_flights(&body, gravity(&body));
    let mut settled: Option<Motion> = None;
    if !lost.is_empty() {
        findings.extend(lost.iter().map(|flight| {
            let most = flight.lift.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
            mended("lost_flight", [flight.frames.start, flight.frames.end], most / body.scale)
        }));
        let lifted = moved(motion.clone(), &lifts(body.frames(), &lost), body.scale);
        body = WholeBodyDynamics::of(&lifted, contacts)?;
        settled = Some(lifted);
    }
    let fell = gravity(&body);
    let mut clearance = FootClearance::of(&body, fell).filter(|_| body.known() >= KNOWN);
    if let Some(before) = &clearance {
        let mut ways = vec![Vec3::zeros(); body.frames()];
        for floating in before.floating_spans(&body) {
            let frames = [floating.frames.start, floating.frames.end];
            let mut finding = mended("hover", frames, floating.gap / body.scale);
            match before.down(&body, &floating) {
                Some(down) => ways.iter_mut().zip(down).for_each(|(way, down)| way.y = way.y.min(down.y)),
                None => {
                    finding.after = finding.before;
                    finding.left = Some("higher ground explains it as well".into());
                }
            }
            findings.push(finding);
        }
        if ways.iter().any(|way| *way != Vec3::zeros()) {
            let lowered = moved(settled.unwrap_or_else(|| motion.clone()), &ways, body.scale);
            body = WholeBodyDynamics::of(&lowered, contacts)?;
            settled = Some(lowered);
            clearance = FootClearance::of(&body, fell);
        }
    }
    let over = unexplained_force(&body, fell);
    findings.extend(unexplained_force::reported(&body, &over).into_iter().map(|frames| {
        let most = over[frames.clone()].iter().copied().fold(0.0, f64::max);
        Finding {
            fault: "unexplained_force",
            joint: None,
            frames: [frames.start, frames.end],
            unit: "1",
            before: most,
            after: most,
            left: Some("a wrong contact explains it as well as a wrong body".into()),
        }
    }));
    let metrics = metrics(&body, fell, clearance.as_ref(), &over);
    Some(Settled { motion: settled, findings, metrics, unexplained: over })
}

fn mended(fault: &'static str, frames: [usize; 2], metres: f64) -> Finding {
    Finding { fault, joint: None, frames, unit: "m", before: metres, after: 0.0, left: None }
}

/// The motion with its body moved by these ways, which are in metres of the common leg.
fn moved(motion: Motion, ways: &[Vec3], scale: f64) -> Motion {
    shifted(motion, &ways.iter().map(|way| way / scale).collect::<Vec<_>>())
}

fn metrics(
    body: &WholeBodyDynamics,
    fell: Gravity,
    clearance: Option<&FootClearance>,
    over: &[f64],
) -> Vec<Metric> {
    let metric = |name: &str, value, unit, at_most| Metric {
        name: name.into(),
        value,
        unit,
        copy: None,
        take: None,
        at_most,
    };
    let mut found = Vec::new();
    if fell.known {
        found.push(metric("settle_gravity", fell.value / body.scale, "m/s^2", None));
    }
    if let Some(clearance) = clearance {
        found.push(metric("settle_hover", clearance.largest(body) / body.scale, "m", Some(GAP / body.scale)));
    }
    let most = over.iter().copied().fold(0.0, f64::max);
    found.push(metric("settle_unexplained_force", most, "1", Some(unexplained_force::LIMIT)));
    found
}
