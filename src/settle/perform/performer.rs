//! One body that performs a clip step by step.
//!
//! Each step finds the accelerations that bring a deviation back (critically damped, backward Euler, about the clip's own),
//! the contact forces that pay for them at the root, the help that is given beyond these, and the torques of the joints; then
//! an implicit velocity step with tissue, stops and a floor that only pushes ([`super::step_contacts`]). Every term is zero at
//! zero deviation. Units: as `perform`.

use super::contact_forces::{Edges, Explanation, LoadPoint, Pyramid, stacked};
use super::feed_forward::{ARM, FeedForward, gravity};
use super::load_points::LoadTracks;
use super::performing_body::PerformingBody;
use super::reference::Reference;
use super::step_contacts::{FloorRows, Terms};
use super::touching_parts::{CapsulesApart, PartContact, touching};
use crate::dynamics::{BallTree, JointState, JointVector, Placement};
use crate::math::{Mat6, Vec3, exp};

/// The time of recovery for which the rates of [`super::part_kind`] hold, seconds: 6.5 over the rate of the legs.
pub const RECOVER: f64 = 0.8;

/// A joint is stopped this far from the clip, radians; knees would fold backwards in heavy falls.
const STOP: f64 = std::f64::consts::FRAC_PI_3;
/// Stiffness of the stop, N m/rad per kilogram of the body: stops a falling thigh within 10 degrees.
const STOP_STIFFNESS: f64 = 3.0;
/// Its damping, N m s/rad per kilogram of the body.
const STOP_DAMPING: f64 = 0.1;

/// A muscle at its largest torque resists lengthening with twice that torque at this rate, rad/s. Without it a body of 0.7
/// times the strength explodes: a cut torque has no reason to stop a folding knee.
const LENGTHENING: f64 = 4.0;

/// A sole this much above its height in the clip, metres, can pay half as much; twice as much, nothing.
const LIFTED: f64 = 0.02;

/// How a clip is performed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controls {
    /// The largest help, body weights; infinite: any.
    pub assist: f64,
    /// The share of the clip's own unexplained wrench that is given.
    pub residual: f64,
    /// Strength of the muscles, 1: a person of that mass; infinite: unbounded.
    pub strength: f64,
    /// Time of recovery, seconds.
    pub recover: f64,
    /// What acts.
    pub terms: Terms,
}

impl Default for Controls {
    fn default() -> Self {
        let terms =
            Terms { explain: true, tissue: true, stops: true, floor: true, compliance: true, touch: true };
        // Help: none moves the pelvis, which looks pinned; with 0.2 body weights 100 N s fell everybody.
        Self { assist: 0.5, residual: 1.0, strength: f64::INFINITY, recover: RECOVER, terms }
    }
}

/// What acted in a step.
#[derive(Clone, Debug)]
pub struct StepForces {
    /// The help that was given to the root: force (world axes) and torque (the root's axes).
    pub given: [Vec3; 2],
    /// Force and torques that acted, without contacts and hits: muscles, tissue, help, the clip's own unexplained wrench.
    #[cfg_attr(not(test), expect(dead_code, reason = "the laws account for every force"))]
    pub force: JointVector,
    /// The impulse at each point that may bear, N s, world.
    pub contacts: Vec<Vec3>,
    /// The impulses between touching parts: body, position, N s, world.
    #[cfg_attr(not(test), expect(dead_code, reason = "the laws account for every force"))]
    pub touches: Vec<(usize, Vec3, Vec3)>,
    /// The strength that the muscles wanted, 1 as a person of that mass.
    pub wanted: f64,
    /// Whether a joint reached the bound of its strength.
    pub bounded: bool,
    /// How fast each point that may bear moved against the clip, horizontally, m/s.
    pub slip: Vec<f64>,
}

/// The state of a performance.
#[derive(Clone, Debug)]
pub struct Performer<'a> {
    body: &'a PerformingBody,
    pub(super) points: &'a [LoadPoint],
    pairs: &'a [CapsulesApart],
    pub(super) reference: &'a Reference,
    tracks: &'a LoadTracks,
    pub(super) controls: Controls,
    pub(super) tree: BallTree,
    pub(super) pyramid: Pyramid,
    /// The step that has been reached.
    pub step: usize,
    /// Where the body is.
    pub state: JointState,
    /// How it moves.
    pub rates: JointVector,
}

impl<'a> Performer<'a> {
    /// A body on the clip at a step of the reference.
    pub fn new(
        body: &'a PerformingBody,
        (points, pairs): (&'a [LoadPoint], &'a [CapsulesApart]),
        reference: &'a Reference,
        tracks: &'a LoadTracks,
        controls: Controls,
        step: usize,
    ) -> Self {
        let (state, rates) = (reference.states[step].clone(), reference.rates[step].clone());
        let pyramid = body.pyramid;
        Self {
            body,
            points,
            pairs,
            reference,
            tracks,
            controls,
            tree: body.tree.clone(),
            pyramid,
            step,
            state,
            rates,
        }
    }

    /// The deviation from the clip.
    pub fn deviation(&self) -> JointVector {
        self.state.minus(&self.reference.states[self.step])
    }

    /// The velocity of a point of a body, and that of one newton second at it along `n`: for masses that are thrown.
    pub fn response_at(&mut self, body: usize, at: &Vec3, n: &Vec3) -> (Vec3, f64) {
        let placed = self.tree.place(&self.state);
        let point = placed.point(body, at);
        let still = JointVector::zeros(self.rates.angular.len());
        self.tree.step(&placed, &vec![0.0; self.rates.angular.len()], &still);
        self.tree.respond(&placed, std::iter::once((body, point, *n)));
        let response = self.tree.velocity_at(&placed, body, &point).dot(n);
        (self.tree.point_velocities(&placed, &self.rates, &[(body, point)])[0], response)
    }

    /// One step, with impulses (body, place in its axes, newton seconds) on the way.
    pub fn advance(&mut self, hits: &[(usize, Vec3, Vec3)]) -> StepForces {
        let (k, h, terms) = (self.step, self.reference.h, self.controls.terms);
        let clip = FeedForward::at(k, self.body, self.points, self.reference, self.tracks, terms.explain);
        let e = self.deviation();
        let [now, next] = [k, k + 1].map(|s| aligned(&e, &self.reference.rates[s]));
        let acceleration = self.acceleration(&e, &now, &next);
        let placed = self.tree.place(&self.state);
        let still = JointVector::zeros(e.angular.len());
        let bias = self.tree.inverse_dynamics(&placed, &self.rates, &still, &gravity());
        let mut wanted = self.tree.inverse_dynamics(&placed, &still, &acceleration, &Vec3::zeros());
        wanted.add_scaled(&bias, 1.0);
        let own = [clip.force.linear, clip.force.angular[0]].map(|w| w * self.controls.residual);
        let (mut active, along, given) = self.paid(&placed, &clip, wanted, own);

        let (stiffness, mut damping, push) = self.passive(&e);
        let wanted = self.bound(&mut active, &mut damping);
        let gains: Vec<f64> = stiffness.iter().zip(&damping).map(|(k, d)| h * d + h * h * k).collect();
        let mut impulse = active.zip(&bias, |f, b| (f - b) * h);
        for (b, own) in impulse.angular.iter_mut().enumerate() {
            let lag = self.rates.angular[b] - next.angular[b];
            *own += (push[b] - e.angular[b] * stiffness[b]) * h - lag * gains[b];
        }
        let of_hit = |(body, at, p): &(usize, Vec3, Vec3)| (*body, placed.point(*body, at), *p);
        let struck: Vec<_> = hits.iter().map(of_hit).collect();
        impulse.add_scaled(&self.tree.of_forces(&placed, &struck), 1.0);

        let at: Vec<(usize, Vec3)> = self.points.iter().map(|p| (p.body, p.place(&placed))).collect();
        let moving = self.tree.point_velocities(&placed, &self.rates, &at);
        let rows = FloorRows::near((self.points, &self.pyramid), (&at, &moving), &clip, &along, h);
        impulse.add_scaled(&self.tree.of_forces(&placed, &rows.expected(h)), 1.0);
        let mut rates = self.tree.step(&placed, &gains, &impulse);
        rates.add_scaled(&self.rates, 1.0);
        let parts = if terms.touch { self.touching(&clip.placed, &placed, &rates) } else { Vec::new() };
        let (contacts, pushes) = rows.solve(&mut self.tree, &placed, &mut rates, (terms, &parts), h);
        let on_both =
            |(t, push): (&PartContact, &Vec3)| [(t.bodies[0], t.at[0], *push), (t.bodies[1], t.at[1], -push)];
        let touches = parts.iter().zip(&pushes).flat_map(on_both).collect();

        let mut force = active;
        for (b, own) in force.angular.iter_mut().enumerate() {
            let lag = rates.angular[b] - next.angular[b];
            *own += push[b] - e.angular[b] * stiffness[b] - lag * (gains[b] / h);
        }
        let at: Vec<(usize, Vec3)> = self.points.iter().map(|p| (p.body, p.place(&placed))).collect();
        let moving = self.tree.point_velocities(&placed, &rates, &at);
        let against = |(v, u): (&Vec3, &Vec3)| libm::hypot(v.x - u.x, v.z - u.z);
        let slip = moving.iter().zip(&clip.velocities).map(against).collect();
        self.state = self.state.moved(&rates, h);
        self.rates = rates;
        self.step += 1;
        let bounded = wanted > self.controls.strength;
        StepForces { given, force, contacts, touches, wanted, bounded, slip }
    }

    /// The parts that would touch each other in this step with these rates, given where the clip has them.
    fn touching(&self, clip: &Placement, placed: &Placement, rates: &JointVector) -> Vec<PartContact> {
        let of_clip = (clip, &self.reference.rates[self.step + 1]);
        touching(self.pairs, &self.tree, (placed, rates), of_clip, self.reference.h)
    }

    /// The accelerations of the clip with a critically damped return of the deviation `e`.
    fn acceleration(&self, e: &JointVector, now: &JointVector, next: &JointVector) -> JointVector {
        let h = self.reference.h;
        let faster = RECOVER / self.controls.recover;
        let back = |rate: f64, e: &Vec3, de: &Vec3| {
            (e * (rate * rate) + de * (h * rate * rate + 2.0 * rate)) / (1.0 + h * rate).powi(2)
        };
        let mut a = next.zip(now, |b, a| (b - a) / h);
        a.linear -= back(self.body.kind(0).rate * faster, &e.linear, &(self.rates.linear - now.linear));
        for (b, a) in a.angular.iter_mut().enumerate() {
            let de = self.rates.angular[b] - now.angular[b];
            *a -= de.cross(&now.angular[b]) + back(self.body.kind(b).rate * faster, &e.angular[b], &de);
        }
        a
    }

    /// Who pays for the wanted force: contacts, the clip's own unexplained wrench, help; the joints keep their accelerations
    /// where the root does not get all of it. The active force, the forces along the edges of the contacts, the help.
    fn paid(
        &mut self,
        placed: &Placement,
        clip: &FeedForward,
        wanted: JointVector,
        own: [Vec3; 2],
    ) -> (JointVector, Vec<Edges>, [Vec3; 2]) {
        let at: Vec<(usize, Vec3)> = self.points.iter().map(|p| (p.body, p.place(placed))).collect();
        let lifted = |p: usize| (at[p].1.y - clip.places[p].y).max(0.0);
        let capacity: Vec<f64> =
            (0..at.len()).map(|p| clip.capacity[p] * (1.5 - lifted(p) / LIFTED).clamp(0.0, 1.0)).collect();
        let inertia = self.tree.root_inertia(placed);
        let explanation = Explanation {
            points: self.points,
            pyramid: &self.body.pyramid,
            placed,
            inertia: &inertia,
            mass: self.body.mass,
            capacity: &capacity,
        };
        let (force_wanted, torque_wanted) = (wanted.linear - own[0], wanted.angular[0] - own[1]);
        let along =
            explanation.forces(&stacked(&force_wanted, &(placed.rotation[0] * torque_wanted)), &clip.along);
        let pushing =
            |(p, (body, at)): (usize, &(usize, Vec3))| (*body, *at, self.body.pyramid.force(&along[p]));
        let contacts = self.tree.of_forces(placed, &at.iter().enumerate().map(pushing).collect::<Vec<_>>());
        let mut active = wanted;
        active.add_scaled(&contacts, -1.0);
        let short = [active.linear - own[0], active.angular[0] - own[1]];
        let weight = self.controls.assist * self.body.weight();
        let given = [limited(&short[0], weight), limited(&short[1], weight * ARM)];
        let missing = [short[0] - given[0], short[1] - given[1]];
        if missing.iter().any(|m| *m != Vec3::zeros()) {
            let fall = self.unpaid(placed, &inertia, &missing);
            active.add_scaled(&fall, -1.0);
        }
        (active.linear, active.angular[0]) = (own[0] + given[0], own[1] + given[1]);
        (active, along, given)
    }

    /// The generalised force of the acceleration that the root lacks.
    fn unpaid(&self, placed: &Placement, inertia: &Mat6<f64>, missing: &[Vec3; 2]) -> JointVector {
        let mut fall = JointVector::zeros(self.rates.angular.len());
        let wrench = stacked(&missing[0], &(placed.rotation[0] * missing[1]));
        let Some(inverse) = inertia.cholesky() else { return fall };
        let a = inverse.solve(&wrench);
        fall.linear = Vec3::new(a[0], a[1], a[2]);
        fall.angular[0] = placed.rotation[0].tr_mul(&Vec3::new(a[3], a[4], a[5]));
        let still = JointVector::zeros(self.rates.angular.len());
        self.tree.inverse_dynamics(placed, &still, &fall, &Vec3::zeros())
    }

    /// Stiffness and damping of tissue and stops, and the push of the stops, by body.
    fn passive(&self, e: &JointVector) -> (Vec<f64>, Vec<f64>, Vec<Vec3>) {
        let (terms, mass) = (self.controls.terms, self.body.mass);
        let n = e.angular.len();
        let (mut stiffness, mut damping, mut push) = (vec![0.0; n], vec![0.0; n], vec![Vec3::zeros(); n]);
        for b in 1..n {
            let kind = self.body.kind(b);
            if terms.tissue {
                (stiffness[b], damping[b]) = (kind.stiffness * mass, kind.damping * mass);
            }
            let size = e.angular[b].norm();
            if terms.stops && size > STOP {
                stiffness[b] += STOP_STIFFNESS * mass;
                damping[b] += STOP_DAMPING * mass;
                push[b] = e.angular[b] * (STOP_STIFFNESS * mass * STOP / size);
            }
        }
        (stiffness, damping, push)
    }

    /// Cuts torques to the strength of the muscles, which then resist lengthening; the strength that they wanted.
    fn bound(&self, active: &mut JointVector, damping: &mut [f64]) -> f64 {
        let mut wanted = 0.0_f64;
        for (b, (torque, damping)) in active.angular.iter_mut().zip(damping).enumerate().skip(1) {
            let person = self.body.kind(b).torque * self.body.mass;
            let most = self.controls.strength * person;
            let size = torque.norm();
            wanted = wanted.max(size / person);
            if size > most {
                *torque *= most / size;
                *damping += most / LENGTHENING;
            }
        }
        wanted
    }
}

/// The clip's rates in the axes of where the body is.
fn aligned(e: &JointVector, rates: &JointVector) -> JointVector {
    let of_body = |(e, w): (&Vec3, &Vec3)| exp(e).inverse() * w;
    JointVector { linear: rates.linear, angular: e.angular.iter().zip(&rates.angular).map(of_body).collect() }
}

/// The vector, at most so long.
fn limited(v: &Vec3, most: f64) -> Vec3 {
    let size = v.norm();
    if size > most { v * (most / size) } else { *v }
}
