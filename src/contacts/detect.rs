//! Detects contacts: paths of the contact points, floor, thresholds fitted to the clip, labels, spans.
//!
//! Height alone is not enough (jogging, tiptoe) and speed alone is not (the apex of a swing): both are required.
//!
//! Constants of the detectors are settled on takes with hand labels (`hand_labels_are_found_again`); what is stated of half and double
//! a value is the change of the mean F1 score of these nine takes, 0.953 by thresholds and 0.961 by the hidden Markov model.
//! Space: model space, Y up. Units: metres and metres per second at a leg of 0.9 m, scaled with the leg; seconds.

use super::clean_spans::cleaned;
use super::floor::{self, Floor, LEG, SLOW};
use super::footing::{Footing, FootingJoints};
use super::hidden_markov::Model;
use super::hysteresis::{self, Thresholds};
use super::point_track::{PointTrack, tracks};
use crate::body::CharacterBody;
use crate::kinematics::shots;
use crate::math::{Vec3, nearest_rank};
use crate::model::{ContactPart, Contacts, Hold, Motion, UnevenGround};
use crate::parallel;
use crate::signal::spans;
use std::ops::Range;

/// The method that labels heights and speeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    /// Two pairs of thresholds.
    #[default]
    Hysteresis,
    /// A hidden Markov model of two states, fitted to the clip.
    Hmm,
}

/// How contacts are found. Lengths and speeds are those of a body with legs of 0.9 m.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactOptions {
    /// The method.
    pub detector: Detector,
    /// The parts to label; empty for all that can be labelled.
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

impl Default for ContactOptions {
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

/// The shortest contact, seconds: walking and running feet stay for longer than twice this. With double F1 is 0.018 lower.
const SHORTEST: f64 = 0.08;
/// The largest distance of a sole in contact from the floor, metres. With half F1 is 0.107 lower, with double 0.005 higher.
const SOLE_TOLERANCE: f64 = 0.05;
/// The same of other parts, whose surface is known less well, metres. No take with hand labels depends on it within half and double.
const SKIN_TOLERANCE: f64 = 0.06;
/// The inner height over the median deviation of the frames that may be in contact; parts other than soles take twice it. F1 changes by
/// less than 0.003 within half and double.
const HEIGHT_SPREADS: f64 = 2.5;
/// Least and greatest inner height, metres. F1 changes by less than 0.002 with half the least, or double the greatest.
const HEIGHT_ON: (f64, f64) = (0.025, 0.035);
/// The outer height above the inner one, metres. Half and double label the same.
const HEIGHT_MORE: f64 = 0.02;
/// The inner speed as a share of the 95th percentile of the speeds of feet. With half F1 is 0.014 lower, with double 0.004 higher.
const SPEED_SHARE: f64 = 0.2;
/// Least and greatest inner speed, m/s. Half and double the least label the same; with half the greatest F1 is 0.053 lower, with double
/// 0.023.
const SPEED_ON: (f64, f64) = (0.1, 0.3);
/// The outer speed over the inner one. With 1 F1 is 0.002 higher, but contacts that waver come apart; with 4 it is 0.011 lower.
const SPEED_MORE: f64 = 2.0;
/// Height and speed over the inner thresholds above which the hidden Markov model never labels a contact. F1 changes by less than 0.003
/// within half and double.
const POSSIBLE: (f64, f64) = (2.5, 3.0);
/// The level of a part in contact is measured at this interval, seconds: floors of capture halls tilt, and takes drift. F1 changes by
/// less than 0.001 within half and double.
const LEVEL_STEP: f64 = 0.25;
/// Half the width of the window around each, seconds. F1 changes by less than 0.004 within half and double.
const LEVEL_HALF_WINDOW: f64 = 1.5;
/// The shortest time of contact within the window, seconds. F1 changes by less than 0.001 within half and double.
const LEVEL_REST: f64 = 0.1;
/// The quantile of the heights of a part in contact that is its level: below the middle, since heels and toes that lift count as well.
/// With 0.2 F1 is 0.002 lower, with 0.8 0.008 lower by the hidden Markov model.
const LEVEL_QUANTILE: f64 = 0.4;

/// The contacts of a motion; none at all for a body without legs.
pub fn detect(motion: &Motion, options: &ContactOptions) -> Contacts {
    detect_on(&CharacterBody::new(&motion.character), motion, options)
}

/// As [`detect`], with the body of the motion's character.
pub(crate) fn detect_on(body: &CharacterBody, motion: &Motion, options: &ContactOptions) -> Contacts {
    let mut points = body.contact_points().to_vec();
    let wanted = |part: ContactPart| {
        let labelled = !matches!(part, ContactPart::Toe(_));
        labelled && (options.parts.is_empty() || options.parts.contains(&part))
    };
    points.retain(|p| p.part.of_foot() || p.part == ContactPart::Pelvis || wanted(p.part));
    let parts = points.iter().map(|p| p.part).filter(|part| wanted(*part));
    let scale = scale(body);
    let shots = shots(motion);
    let mut tracks = tracks(motion, &points, &shots);
    let footing = match options.ground {
        Some(_) => Footing::default(),
        None => FootingJoints::of(body).footing(motion, &shots),
    };
    // Found as on level ground, whose heights are given back below.
    let uneven = footing.uneven.as_ref();
    uneven.iter().for_each(|ground| level(&mut tracks, ground));
    let rate = motion.clip.sample_rate;
    let found = || floor::height(&tracks, &footing, &shots, scale, rate);
    let Some(height) = options.ground.or_else(found) else {
        return Contacts::new(0.0, parts);
    };
    let pelvis = tracks.iter().find(|t| t.part == ContactPart::Pelvis);
    let floor = Floor::plane(height);
    // A body that never comes near a floor that is given hovers over it: its soles do not make stairs of the air.
    let hovers = match options.ground {
        Some(_) => !floor.is_reached(&tracks, scale),
        None => footing.floor().is_some(),
    };
    let floor = if hovers { floor } else { floor.with_plateaus(&tracks, pelvis, scale, rate) };
    let speeds = speeds(options, &tracks, scale);
    let named: Vec<&PointTrack> = tracks.iter().filter(|t| wanted(t.part)).collect();
    let signals = parallel::map_each(&named, 1, |t| Signal::of(t, &floor, scale, rate));
    let shortest = (options.shortest * rate).round().max(1.0) as usize;
    let mut resting = Vec::with_capacity(signals.len());
    // Both sides share a model, and stand side by side.
    let mut fitted: Option<(ContactPart, Model)> = None;
    for signal in &signals {
        let on = options.height_on.unwrap_or(signal.height_on);
        let thresholds = Thresholds {
            height_on: on,
            height_off: options.height_off.unwrap_or(on + HEIGHT_MORE),
            speed_on: speeds.0,
            speed_off: speeds.1,
        };
        let labels = match options.detector {
            Detector::Hysteresis => hysteresis::labels(&signal.height, &signal.speed, &thresholds),
            Detector::Hmm => {
                let known = fitted.filter(|(part, _)| part.mirrored() == signal.part);
                let model = known.map_or_else(|| model(signal.part, &signals, &thresholds), |(_, m)| m);
                fitted = Some((signal.part, model));
                let possible = |z: f64, s: f64| z < POSSIBLE.0 * on && s < POSSIBLE.1 * speeds.0;
                model.labels(&signal.pairs(), possible, shortest, rate)
            }
        };
        resting.push((signal.part, labelled(&shots, &labels, shortest)));
    }
    let floor = match options.ground {
        None if !hovers => {
            let height = sole_height(&tracks, &resting, &floor).unwrap_or(height);
            floor.with_height(height)
        }
        _ => floor,
    };
    let base = uneven.map_or(0.0, |ground| ground.base);
    let mut contacts = Contacts::new(floor.height + base, parts).on(footing.uneven.clone());
    for (part, spans) in resting {
        let track = tracks.iter().find(|track| track.part == part);
        let hold = |frames: Range<usize>| {
            let middle = (frames.start + frames.end) / 2;
            let at = track.and_then(|track| track.at.get(middle));
            let ground =
                uneven.zip(at).map_or(0.0, |(ground, at)| ground.base + ground.under(part, middle, at));
            Hold { height: floor.under(part, middle) + ground, frames, slide: 0.0 }
        };
        contacts.set(part, spans.into_iter().map(hold).collect());
    }
    contacts
}

/// Displaces paths by the height of uneven ground under them.
fn level(tracks: &mut [PointTrack], ground: &UnevenGround) {
    for track in tracks {
        for frame in 0..track.at.len() {
            let at = track.at[frame];
            track.at[frame].y -= ground.base + ground.under(track.part, frame, &at);
        }
    }
}

/// The labelled spans, cleaned; a contact ends at a cut.
fn labelled(shots: &[Range<usize>], labels: &[bool], shortest: usize) -> Vec<Range<usize>> {
    let of = |shot: &Range<usize>| {
        let start = shot.start;
        let own = spans(0..shot.len(), |f| labels[start + f]);
        cleaned(own, shortest, shot.len()).into_iter().map(move |s| s.start + start..s.end + start)
    };
    shots.iter().flat_map(of).collect()
}

/// The height at which soles rest on the plane of the floor: the median over all frames of all their contacts, since
/// points of a sole measured on a skeleton lie a little above or below each other.
fn sole_height(
    tracks: &[PointTrack],
    resting: &[(ContactPart, Vec<Range<usize>>)],
    floor: &Floor,
) -> Option<f64> {
    let mut heights = Vec::new();
    for (part, spans) in resting.iter().filter(|(part, _)| part.of_foot()) {
        let Some(track) = tracks.iter().find(|t| t.part == *part) else { continue };
        let frames = spans.iter().flat_map(Range::clone).filter(|&f| floor.under(*part, f) == floor.height);
        heights.extend(frames.filter_map(|f| track.at.get(f)).map(|p| p.y));
    }
    nearest_rank(&mut heights, 0.5)
}

/// The height of the ground under a motion whose contacts are known, model space, metres: where its soles rest, else
/// where the lowest of them are; 0 for a body without feet or a clip without frames.
pub fn ground(motion: &Motion, contacts: &Contacts) -> f64 {
    let body = CharacterBody::new(&motion.character);
    let shots = shots(motion);
    let footing = FootingJoints::of(&body).footing(motion, &shots);
    if let Some(height) = footing.floor() {
        return height;
    }
    let points: Vec<_> = body.sole_points().copied().collect();
    let tracks = tracks(motion, &points, &shots);
    let rate = motion.clip.sample_rate;
    let Some(height) = floor::height(&tracks, &footing, &shots, scale(&body), rate) else { return 0.0 };
    let frames = |part| contacts.holds(part).iter().map(|h| h.frames.clone()).collect();
    let resting: Vec<_> = contacts.parts().map(|part| (part, frames(part))).collect();
    sole_height(&tracks, &resting, &Floor::plane(height)).unwrap_or(height)
}

/// By how much the legs are longer than [`LEG`].
fn scale(body: &CharacterBody) -> f64 {
    body.figure().map_or(1.0, |figure| figure.leg_to_sole / LEG)
}

/// The inner and the outer speed, at a leg of [`LEG`].
fn speeds(options: &ContactOptions, tracks: &[PointTrack], scale: f64) -> (f64, f64) {
    let feet = tracks.iter().filter(|t| t.part.of_foot());
    let mut speeds: Vec<f64> = feet.flat_map(|t| t.speed.iter().map(|s| s / scale)).collect();
    let fastest = nearest_rank(&mut speeds, 0.95).unwrap_or(1.0);
    let on = options.speed_on.unwrap_or((SPEED_SHARE * fastest).clamp(SPEED_ON.0, SPEED_ON.1));
    (on, options.speed_off.unwrap_or(SPEED_MORE * on))
}

/// What a detector sees of a part, at a leg of [`LEG`].
struct Signal {
    part: ContactPart,
    /// The height above where it rests.
    height: Vec<f64>,
    speed: Vec<f64>,
    /// Below this height a contact may begin.
    height_on: f64,
}

impl Signal {
    fn of(track: &PointTrack, floor: &Floor, scale: f64, rate: f64) -> Self {
        let speed: Vec<f64> = track.speed.iter().map(|s| s / scale).collect();
        let above = |(f, p): (usize, &Vec3)| (p.y - floor.under(track.part, f)) / scale;
        let mut height: Vec<f64> = track.at.iter().enumerate().map(above).collect();
        let (tolerance, many) =
            if track.part.of_foot() { (SOLE_TOLERANCE, 1.0) } else { (SKIN_TOLERANCE, 2.0) };
        let rests = |(f, (z, s)): (usize, (&f64, &f64))| (*s < SLOW && z.abs() < tolerance).then_some(f);
        let resting: Vec<usize> = height.iter().zip(&speed).enumerate().filter_map(rests).collect();
        let level = resting_level(&height, &resting, rate);
        height.iter_mut().enumerate().for_each(|(f, z)| *z -= level(f));
        let mut off: Vec<f64> = resting.iter().map(|&f| height[f].abs()).collect();
        let spread = HEIGHT_SPREADS * nearest_rank(&mut off, 0.5).unwrap_or(0.0);
        let height_on = many * spread.clamp(HEIGHT_ON.0, HEIGHT_ON.1);
        Self { part: track.part, height, speed, height_on }
    }

    /// Height and speed of every frame.
    fn pairs(&self) -> Vec<(f64, f64)> {
        self.height.iter().copied().zip(self.speed.iter().copied()).collect()
    }
}

/// The height at which a part rests around a frame: a quantile of its heights in resting frames nearby, linear between
/// steps.
fn resting_level(height: &[f64], resting: &[usize], rate: f64) -> impl Fn(usize) -> f64 + use<> {
    let step = (LEVEL_STEP * rate).max(1.0);
    let quantile = |frames: &[usize]| {
        nearest_rank(&mut frames.iter().map(|&f| height[f]).collect::<Vec<_>>(), LEVEL_QUANTILE)
    };
    let all = quantile(resting).unwrap_or(0.0);
    let around = |k: usize| {
        let reach = |seconds: f64| (k as f64 * step + seconds * rate).max(0.0) as usize;
        let from = resting.partition_point(|&f| f < reach(-LEVEL_HALF_WINDOW));
        let to = resting.partition_point(|&f| f <= reach(LEVEL_HALF_WINDOW));
        let near = &resting[from..to];
        let enough = (LEVEL_REST * rate).max(3.0);
        if near.len() as f64 >= enough { quantile(near).unwrap_or(all) } else { all }
    };
    let steps: Vec<f64> = (0..(height.len() as f64 / step) as usize + 2).map(around).collect();
    move |f| {
        let (k, part) = ((f as f64 / step) as usize, (f as f64 / step).fract());
        steps[k] + (steps[k + 1] - steps[k]) * part
    }
}

/// The hidden Markov model of a part, fitted to both of its sides.
fn model(part: ContactPart, signals: &[Signal], t: &Thresholds) -> Model {
    let of_kind = signals.iter().filter(|s| s.part == part || s.part == part.mirrored());
    let both: Vec<(f64, f64)> = of_kind.flat_map(Signal::pairs).collect();
    Model::fit(&both, |z, s| z < t.height_on && s < t.speed_on)
}
