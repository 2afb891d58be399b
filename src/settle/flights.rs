//! Corrects jumps and landings so that flight phases are ballistic and standing bodies touch the ground.
//!
//! Missing flight phases become parabolas and floating bodies are lowered; forces not explained by contacts are reported,
//! not changed. Where none of this is found, the motion is returned unchanged, bit for bit; poses, contact labels and feet
//! relative to the body never change. Space: model space, Y up. Units: SI.

use super::floating::{FootClearance, GAP};
use super::gravity::{Gravity, agreed_gravity, gravity};
use super::missing_flights::{lifts, missing_flights};
use super::unexplained_force::{self, unexplained_force};
use super::whole_body_dynamics::WholeBodyDynamics;
use crate::kinematics::GRAVITY;
use crate::legs::shifted;
use crate::math::Vec3;
use crate::model::{Contacts, Motion};
use crate::repair::LEG;
use crate::report::{Finding, Metric};

/// The least share of frames with labelled soles from which their level is measured.
const KNOWN: f64 = 0.2;

/// Flights that fall by this factor faster or slower than others are no matter of the body's build: people have legs of 0.7 to 1 m, and
/// 24 frames a second played as 30 fall 1.56 times as fast.
const UNUSUAL: f64 = 1.35;

/// Frame rates of film, video and motion capture.
const USUAL_RATES: [f64; 8] = [24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0, 240.0];

/// The rate that a fall tells may be wrong by this factor: people's legs of 0.7 to 1 m make 0.9 to 1.08.
const UNSURE: f64 = 1.1;

/// A corrected motion and the findings.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The motion; `None` where it is unchanged.
    pub motion: Option<Motion>,
    /// Faults, fixed and left.
    pub findings: Vec<Finding>,
    /// Gravity, the largest gap and the largest unexplained force of the result, with their limits.
    pub metrics: Vec<Metric>,
    /// The unexplained force of every frame of the result, over the weight.
    pub unexplained: Vec<f64>,
}

/// Corrects flights and landings of a motion with these contact labels; `None` for bodies that do not walk on two legs with
/// feet.
pub fn settle_flights(motion: &Motion, contacts: &Contacts) -> Option<Settled> {
    let mut body = WholeBodyDynamics::of(motion, contacts)?;
    let mut findings = Vec::new();
    let lost = missing_flights(&body, gravity(&body));
    let mut settled: Option<Motion> = None;
    if !lost.is_empty() {
        findings.extend(lost.iter().map(|flight| {
            let most = flight.lift.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
            fixed("lost_flight", [flight.frames.start, flight.frames.end], most / body.scale)
        }));
        let lifted = moved(motion.clone(), &lifts(body.frames(), &lost), body.scale);
        body = WholeBodyDynamics::of(&lifted, contacts)?;
        settled = Some(lifted);
    }
    let fell = gravity(&body);
    findings.extend(wrong_rate(&body));
    let mut clearance = FootClearance::of(&body, fell).filter(|_| body.known() >= KNOWN);
    if let Some(before) = &clearance {
        let mut offsets = vec![Vec3::zeros(); body.frames()];
        for floating in before.floating_spans(&body) {
            let frames = [floating.frames.start, floating.frames.end];
            let mut finding = fixed("hover", frames, floating.gap / body.scale);
            match before.down(&body, &floating) {
                Some(down) => {
                    offsets.iter_mut().zip(down).for_each(|(offset, down)| offset.y = offset.y.min(down.y))
                }
                None => {
                    finding.after = finding.before;
                    finding.left = Some("higher ground explains it as well".into());
                }
            }
            findings.push(finding);
        }
        if offsets.iter().any(|offset| *offset != Vec3::zeros()) {
            let lowered = moved(settled.unwrap_or_else(|| motion.clone()), &offsets, body.scale);
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

/// The finding that several flights agree about a gravity that no body of common legs has.
fn wrong_rate(body: &WholeBodyDynamics) -> Option<Finding> {
    let usual = GRAVITY / UNUSUAL..GRAVITY * UNUSUAL;
    let value = agreed_gravity(body).filter(|value| !usual.contains(value))?;
    let rate = body.rate * (GRAVITY / value).sqrt();
    let mut left = format!(
        "its flights fall with {value:.1} m/s^2 where legs are {LEG} m: right for a recording of {rate:.0} frames a second, not {:.0}",
        body.rate
    );
    let near = |usual: &&f64| *usual / UNSURE < rate && rate < *usual * UNSURE;
    let usual: Vec<String> = USUAL_RATES.iter().filter(near).map(f64::to_string).collect();
    if !usual.is_empty() {
        left += &format!(" (usual: {})", usual.join(", "));
    }
    let frames = [0, body.frames()];
    Some(Finding {
        fault: "gravity",
        joint: None,
        frames,
        unit: "m/s^2",
        before: value,
        after: value,
        left: Some(left),
    })
}

fn fixed(fault: &'static str, frames: [usize; 2], metres: f64) -> Finding {
    Finding { fault, joint: None, frames, unit: "m", before: metres, after: 0.0, left: None }
}

/// The motion with its body displaced by these offsets, in metres of the common leg.
fn moved(motion: Motion, offsets: &[Vec3], scale: f64) -> Motion {
    shifted(motion, &offsets.iter().map(|offset| offset / scale).collect::<Vec<_>>())
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
        at_most,
        ..Metric::default()
    };
    let mut found = Vec::new();
    if fell.known {
        found.push(metric("flight_gravity", fell.value / body.scale, "m/s^2", None));
    }
    if let Some(clearance) = clearance {
        found.push(metric("flight_hover", clearance.largest(body) / body.scale, "m", Some(GAP / body.scale)));
    }
    let most = over.iter().copied().fold(0.0, f64::max);
    found.push(metric("unexplained_force", most, "1", Some(unexplained_force::LIMIT)));
    found
}
