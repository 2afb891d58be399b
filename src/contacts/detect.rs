//! The story of a detection: points, their ways, the floor, thresholds that fit the clip, labels, holds.
//!
//! Height alone is not enough (jogging, tiptoe) and speed alone is not (the apex of a swing): both are required.
//! Space: model space, Y up. Units: metres and metres per second at a leg of 0.9 m, scaled with the leg; seconds.

use super::floor::{self, Floor, quantile};
use super::hysteresis::{self, Thresholds};
use super::spans::{mended, spans};
use super::track::{Track, tracks};
use crate::anatomy::{Figure, contact_points};
use crate::model::{ContactPart, ContactPoint, Contacts, Hold, Motion};
use std::ops::Range;

/// How heights and speeds become labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    /// Two pairs of thresholds.
    #[default]
    Hysteresis,
}

/// How contacts are found. Lengths and speeds are those of a body with legs of 0.9 m.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// By which method.
    pub detector: Detector,
    /// The parts to look at; empty: all that can be labelled.
    pub parts: Vec<ContactPart>,
    /// The height of the ground in model space, metres, not scaled; `None` finds it.
    pub ground: Option<f64>,
    /// A contact begins below this height, metres; `None` fits it to the clip.
    pub height_on: Option<f64>,
    /// A contact ends above this height, metres; `None`: 2 cm above where it begins.
    pub height_off: Option<f64>,
    /// A contact begins below this speed, metres per second; `None` fits it to the clip.
    pub speed_on: Option<f64>,
    /// A contact ends above this speed, metres per second; `None`: twice the one it begins below.
    pub speed_off: Option<f64>,
    /// The shortest contact and the shortest gap, seconds.
    pub shortest: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            detector: Detector::Hysteresis,
            parts: Vec::new(),
            ground: None,
            height_on: None,
            height_off: None,
            speed_on: None,
            speed_off: None,
            shortest: SHORTEST,
        }
    }
}

/// The leg that lengths are given for, metres.
const LEG: f64 = 0.9;
/// The shortest contact, seconds: walking and running feet stay for longer than twice this.
const SHORTEST: f64 = 0.08;
/// A change counts once it lasted this long, seconds.
const SETTLED: f64 = 1.0 / 15.0;
/// How far from the floor the surface of a part at rest may be, metres: soles are known well, other skin is not.
const SOLE_TOLERANCE: f64 = 0.05;
const SKIN_TOLERANCE: f64 = 0.08;
/// A point slower than this may rest.
const SLOW: f64 = 0.15;

/// The contacts of a motion; none at all for a body without legs.
pub fn detect(motion: &Motion, options: &Options) -> Contacts {
    let character = &motion.character;
    let mut points = contact_points(character, &character.rig);
    let wanted = |part: ContactPart| {
        let labelled = !matches!(part, ContactPart::Toe(_));
        labelled && (options.parts.is_empty() || options.parts.contains(&part))
    };
    points.retain(|p| p.part.of_foot() || p.part == ContactPart::Pelvis || wanted(p.part));
    let scale = scale(motion);
    let ways = tracks(motion, &points);
    let height = options.ground.or_else(|| floor::height(&ways, scale));
    let Some(height) = height else {
        return Contacts::new(0.0, points.iter().map(|p| p.part).filter(|&p| wanted(p)));
    };
    let rate = motion.clip.sample_rate;
    let pelvis = ways.iter().find(|t| t.part == ContactPart::Pelvis);
    let floor = Floor::plane(height).with_plateaus(&ways, pelvis, scale, rate);

    let feet_speed = fastest(&ways, scale);
    let frames = motion.clip.frames();
    let shortest = (options.shortest * rate).round().max(1.0) as usize;
    let mut contacts = Contacts::new(height, points.iter().map(|p| p.part).filter(|&p| wanted(p)));
    for way in ways.iter().filter(|w| wanted(w.part)) {
        let raw: Vec<f64> = way.at.iter().enumerate().map(|(f, p)| p.y - floor.under(way.part, f)).collect();
        let fit = Fit::of(way, &raw, scale);
        let above: Vec<f64> = raw.iter().map(|z| z - fit.level).collect();
        let on = options.height_on.map_or(fit.height_on, |h| h * scale);
        let speed_on =
            options.speed_on.map_or((0.15 * feet_speed).clamp(0.1 * scale, 0.3 * scale), |s| s * scale);
        let thresholds = Thresholds {
            height_on: on,
            height_off: options.height_off.map_or(on + 0.02 * scale, |h| h * scale),
            speed_on,
            speed_off: options.speed_off.map_or(2.0 * speed_on, |s| s * scale),
            frames: (SETTLED * rate).round().max(1.0) as usize,
        };
        let labels = hysteresis::labels(&above, &way.speed, &thresholds);
        let spans = mended(spans(labels), shortest, frames);
        contacts.set(way.part, spans.into_iter().map(|s| hold(s, way, &floor)).collect());
    }
    contacts
}

/// The height of the ground under a motion, model space, metres; `None` for a body without feet or a clip without
/// frames.
pub fn ground(motion: &Motion) -> Option<f64> {
    let points = contact_points(&motion.character, &motion.character.rig);
    let soles: Vec<ContactPoint> = points.into_iter().filter(|p| p.part.of_foot()).collect();
    floor::height(&tracks(motion, &soles), scale(motion))
}

/// By how much the legs are longer than [`LEG`].
fn scale(motion: &Motion) -> f64 {
    let character = &motion.character;
    let bind = character.bind.clone().unwrap_or_else(|| character.skeleton().rest_model_pose());
    Figure::of(&character.rig, &bind).map_or(1.0, |figure| figure.leg / LEG)
}

/// The 95th percentile of the speed of the feet.
fn fastest(ways: &[Track], scale: f64) -> f64 {
    let feet = ways.iter().filter(|w| w.part.of_foot());
    let mut speeds: Vec<f64> = feet.flat_map(|w| w.speed.iter().copied()).collect();
    quantile(&mut speeds, 0.95).unwrap_or(scale)
}

/// What a part looks like at rest.
struct Fit {
    /// How far its point is above the floor.
    level: f64,
    /// Below this height above the level a contact may begin.
    height_on: f64,
}

impl Fit {
    fn of(way: &Track, raw: &[f64], scale: f64) -> Fit {
        let sole = way.part.of_foot();
        let tolerance = scale * if sole { SOLE_TOLERANCE } else { SKIN_TOLERANCE };
        let rests = |(z, s): (&f64, &f64)| (*s < SLOW * scale && z.abs() < tolerance).then_some(*z);
        let mut resting: Vec<f64> = raw.iter().zip(&way.speed).filter_map(rests).collect();
        // A heel that is about to rise is slow as well: the lower half are the ones that carry.
        let level = quantile(&mut resting, 0.3).unwrap_or(0.0);
        let mut off: Vec<f64> = resting.iter().map(|z| (z - level).abs()).collect();
        let spread = quantile(&mut off, 0.5).unwrap_or(0.0);
        Fit { level, height_on: (2.5 * spread).clamp(0.02 * scale, 0.5 * tolerance.max(0.06 * scale)) }
    }
}

/// A hold over these frames.
fn hold(frames: Range<usize>, way: &Track, floor: &Floor) -> Hold {
    let middle = (frames.start + frames.end) / 2;
    Hold { height: floor.under(way.part, middle), frames }
}
