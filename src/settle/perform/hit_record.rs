//! The effect of a hit: largest deviation from the clip, time of return, slip and external force.
//!
//! Units: as `perform`.

use super::blow::Hit;
use super::foot_points::POINTS;
use super::performer::StepForces;

/// A joint nearer to the clip than this is back, metres.
pub const BACK: f64 = 0.01;

/// A sole with more capacity than this stands.
const STANDS: f64 = 0.5;

/// Help below this share of the weight is none.
const SOME_HELP: f64 = 0.005;

/// The record of one hit, up to the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HitRecord {
    /// When it began, seconds from the first frame.
    pub time: f64,
    /// The part that was hit.
    pub part: String,
    /// Its impulse, newton seconds.
    pub impulse: f64,
    /// The largest distance of a joint from the clip, metres of the performing body.
    pub peak: f64,
    /// The body whose joint that was.
    pub farthest: usize,
    /// When the last joint came nearer than 1 cm, seconds after the hit.
    pub back_after: f64,
    /// Whether every joint is nearer than that at the end.
    pub back: bool,
    /// How far a standing sole slid against the clip at most, metres.
    pub slip: f64,
    /// The largest help, body weights, and how long there was some, seconds.
    pub help: f64,
    /// See above.
    pub help_lasts: f64,
    /// The largest strength that the muscles wanted, 1 as a person of that mass.
    pub strength: f64,
    /// Whether the body fell.
    pub fell: bool,
    sliding: Vec<f64>,
}

impl HitRecord {
    /// Nothing yet.
    pub fn new(hit: &Hit, impulse: f64) -> Self {
        Self { time: hit.time, part: hit.part.clone(), impulse, back: true, ..Self::default() }
    }

    /// Adds a step of `h` seconds that ended `time` seconds from the first frame; `distances` of the joints from the clip by
    /// body, `capacity` of the sole points, `weight` of
    /// the body in newton.
    pub fn add(
        &mut self,
        time: f64,
        h: f64,
        distances: &[f64],
        forces: &StepForces,
        capacity: &[f64],
        weight: f64,
    ) {
        let most =
            |(body, far): (usize, f64), (b, d): (usize, &f64)| if *d > far { (b, *d) } else { (body, far) };
        let (body, far) = distances.iter().enumerate().fold((0, 0.0), most);
        if far > self.peak {
            (self.peak, self.farthest) = (far, body);
        }
        self.back = far <= BACK;
        if !self.back {
            self.back_after = time - self.time;
        }
        let help = forces.given[0].norm() / weight;
        self.help = self.help.max(help);
        self.strength = self.strength.max(forces.wanted);
        if help > SOME_HELP {
            self.help_lasts += h;
        }
        self.sliding.resize(capacity.len().div_ceil(POINTS), 0.0);
        for (foot, slid) in self.sliding.iter_mut().enumerate() {
            let own = foot * POINTS..((foot + 1) * POINTS).min(capacity.len());
            let standing = own.filter(|p| capacity[*p] > STANDS).map(|p| forces.slip[p]);
            // The point that slides least is where the foot stands; the others may pivot about it.
            *slid = standing.min_by(f64::total_cmp).map_or(0.0, |v| *slid + v * h);
            self.slip = self.slip.max(*slid);
        }
    }
}
