//! Resampling of a clip to another rate.
//!
//! Positions: cubic Hermite with Catmull-Rom tangents (one-sided at the ends), optionally after a low-pass at 0.45 of
//! the new rate if that is lower. Rotations: squad (Shoemake 1987) with
//! `s_i = q_i exp(-(log q_i^-1 q_i+1 + log q_i^-1 q_i-1) / 4)`, or slerp. A new frame at the time of an
//! old one has exactly its rotation. Nothing is interpolated across a cut: a new frame there is a copy of the nearer old
//! one. Times are ratios of whole numbers and do not drift. Units: hertz, metres.

use super::{Butterworth, Rate, fix_hemispheres, smooth_positions};
use crate::math::{Quat, Vec3, exp, log, same_hemisphere, slerp};
use crate::model::{Clip, RotationRows};

/// Interpolation between two rotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationInterpolation {
    /// Squad: the angular velocity is continuous.
    #[default]
    Smooth,
    /// Slerp: the shortest arc at constant speed, as in most players.
    Linear,
}

/// Resampling settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Interpolation between two rotations.
    pub rotations: RotationInterpolation,
    /// Whether positions are low-pass filtered at 0.45 of the new rate if that is lower.
    pub band_limit: bool,
    /// Whether the last frame stays the last, as in a loop: the duration may change by up to half a new frame for that.
    pub closes: bool,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { rotations: RotationInterpolation::default(), band_limit: true, closes: false }
    }
}

/// Cutoff for positions as a share of a lower new rate: just below the Nyquist frequency at 0.5.
const BAND: f64 = 0.45;

impl Resampling {
    /// The number of frames at the rate `to` of a clip of `frames` at the rate `from`.
    pub fn count(self, frames: usize, from: Rate, to: Rate) -> usize {
        match frames.checked_sub(1).filter(|last| self.closes && *last > 0) {
            Some(last) => (last as f64 * to.hz() / from.hz()).round().max(1.0) as usize + 1,
            None => to.count(frames, from),
        }
    }
}

/// Resamples `clip` to the rate `to` over the same duration: the last frame may be up to one new frame before the old end, and
/// beyond it by rounding alone ([`Rate::count`]), unless the clip [`closes`](Resampling::closes).
/// `cuts` are the frames that follow a cut, ascending.
///
/// A clip that already has the rate, as [`Rate::of_clip`] reads it, keeps its frames; one whose own rate is outside the range of
/// [`Rate`] is returned unchanged.
pub fn resample(clip: &Clip, to: Rate, how: Resampling, cuts: &[usize]) -> Clip {
    let Some(from) = Rate::of_clip(clip.sample_rate) else { return clip.clone() };
    if from == to {
        let mut same = clip.clone();
        same.sample_rate = to.hz();
        return same;
    }
    let frames = how.count(clip.frames(), from, to);
    let (joints, tracks) = (clip.joints(), clip.translated().len());
    let mut rotations = RotationRows::new(joints);
    rotations.reserve(frames);
    let mut row = Vec::with_capacity(joints);
    let mut translations = Vec::with_capacity(frames * tracks);
    let source = positions(clip, from, to, how, cuts);
    // The last frame of one that closes is the last.
    let closed = |k: usize| {
        let (at, of) = (k * (clip.frames() - 1), frames - 1);
        (at / of, (at % of) as f64 / of as f64)
    };
    let position = |k: usize| if how.closes && frames > 1 { closed(k) } else { to.locate(k, from) };
    // The old frame before a new one, and the fraction to the next.
    let locate = |k: usize| match position(k) {
        // The last one may lie beyond the end by rounding: see `Rate::count`.
        (frame, _) if frame + 1 >= clip.frames() => (clip.frames() - 1, 0.0),
        (frame, part) if part > 0.0 && cuts.binary_search(&(frame + 1)).is_ok() => {
            (if part < 0.5 { frame } else { frame + 1 }, 0.0)
        }
        other => other,
    };
    for k in 0..frames {
        let (frame, part) = locate(k);
        if part == 0.0 {
            rotations.extend(&clip.rotations(frame));
            translations.extend_from_slice(&source[frame * tracks..][..tracks]);
            continue;
        }
        let next_cut = cuts.partition_point(|cut| *cut <= frame);
        let first = next_cut.checked_sub(1).map_or(0, |k| cuts[k]);
        let last = cuts.get(next_cut).copied().unwrap_or(clip.frames()) - 1;
        let around = [frame.max(first + 1) - 1, frame, frame + 1, (frame + 2).min(last)];
        let rows = around.map(|f| clip.rotations(f));
        row.clear();
        row.extend((0..joints).map(|j| between(&rows.each_ref().map(|row| row[j]), part, how.rotations)));
        rotations.extend(&row);
        translations.extend((0..tracks).map(|t| {
            let [p0, p1, p2, p3] = around.map(|f| source[f * tracks + t]);
            let start = if frame == first { p2 - p1 } else { (p2 - p0) * 0.5 };
            let end = if frame + 2 > last { p2 - p1 } else { (p3 - p1) * 0.5 };
            hermite(&p1, &start, &p2, &end, part)
        }));
    }
    let translated = clip.translated().to_vec();
    let mut new = Clip::of_rows(clip.name.clone(), to.hz(), rotations, translated, translations);
    new.start = clip.start;
    new.tolerance = clip.tolerance;
    let times = || (0..frames).map(|k| (locate(k).0 as f64) + locate(k).1);
    new.property_tracks = clip.property_tracks.iter().map(|c| c.between(times())).collect();
    fix_hemispheres(&mut new);
    new
}

/// The translations to sample from: those of the clip, low-pass filtered if the new rate is lower.
fn positions(clip: &Clip, from: Rate, to: Rate, how: Resampling, cuts: &[usize]) -> Vec<Vec3> {
    let mut all = clip.all_translations().to_vec();
    let going_down = to.hz() < from.hz();
    let filter = Butterworth::new(BAND * to.hz(), from.hz()).filter(|_| how.band_limit && going_down);
    let tracks = clip.translated().len();
    let Some(filter) = filter else { return all };
    let bounds: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([clip.frames()]).collect();
    for track in 0..tracks {
        let mut one: Vec<Vec3> = all.iter().skip(track).step_by(tracks).copied().collect();
        for part in bounds.windows(2) {
            smooth_positions(&mut one[part[0]..part[1]], |channel| filter.apply(channel));
        }
        all.iter_mut().skip(track).step_by(tracks).zip(one).for_each(|(to, from)| *to = from);
    }
    all
}

/// The cubic Hermite curve from `p1` to `p2` with the tangents `start` and `end`, at `t` from 0 to 1.
pub fn hermite(p1: &Vec3, start: &Vec3, p2: &Vec3, end: &Vec3, t: f64) -> Vec3 {
    let (t2, t3) = (t * t, t * t * t);
    p1 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + start * (t3 - 2.0 * t2 + t)
        + p2 * (3.0 * t2 - 2.0 * t3)
        + end * (t3 - t2)
}

/// Interpolates between the second and third of four consecutive rotations.
fn between(q: &[Quat; 4], t: f64, how: RotationInterpolation) -> Quat {
    match how {
        RotationInterpolation::Linear => slerp(&q[1], &q[2], t),
        RotationInterpolation::Smooth => {
            let q2 = same_hemisphere(q[2], &q[1]);
            let control = |before: &Quat, at: &Quat, after: &Quat| {
                at * exp(&((log(&(at.inverse() * after)) + log(&(at.inverse() * before))) * -0.25))
            };
            let (s1, s2) = (control(&q[0], &q[1], &q2), control(&q[1], &q2, &q[3]));
            slerp(&slerp(&q[1], &q2, t), &slerp(&s1, &s2, t), 2.0 * t * (1.0 - t))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JointId;

    fn turn(time: f64) -> Quat {
        exp(&Vec3::new((1.1 * time).sin(), 0.7 * (0.9 * time).cos(), 0.4 * time))
    }

    fn place(time: f64) -> Vec3 {
        Vec3::new(time.sin(), (1.3 * time).cos(), 0.5 * time)
    }

    fn clip(rate: f64, frames: usize) -> Clip {
        let time = |f: usize| f as f64 / rate;
        let rotations = (0..frames).map(|f| turn(time(f))).collect();
        let places = (0..frames).map(|f| place(time(f))).collect();
        let mut clip = Clip::new("c", rate, 1, rotations, vec![JointId::new(0)], places);
        clip.start = 0.25;
        fix_hemispheres(&mut clip);
        clip
    }

    fn rate(hz: f64) -> Rate {
        Rate::from_hz(hz).unwrap()
    }

    #[test]
    fn the_same_rate_changes_nothing_and_twice_equals_once() {
        let clip = clip(30.0, 50);
        assert_eq!(resample(&clip, rate(30.0), Resampling::default(), &[]), clip);
        let once = resample(&clip, rate(48.0), Resampling::default(), &[]);
        assert_eq!(resample(&once, rate(48.0), Resampling::default(), &[]), once);
    }

    #[test]
    fn a_rate_that_was_rounded_loses_no_frame() {
        let rounded = clip(1.0 / 0.03333, 3000);
        let new = resample(&rounded, rate(30.0), Resampling::default(), &[]);
        let mut expected = rounded.clone();
        expected.sample_rate = 30.0;
        assert_eq!(new, expected);
        let twice = resample(&rounded, rate(60.0), Resampling::default(), &[]);
        assert_eq!((twice.frames(), twice.rotations(5998)), (5999, rounded.rotations(2999)));
    }

    #[test]
    fn frames_that_coincide_are_kept_bit_by_bit() {
        for rotations in [RotationInterpolation::Smooth, RotationInterpolation::Linear] {
            let how = Resampling { rotations, band_limit: false, closes: false };
            let clip = clip(30.0, 61);
            let up = resample(&clip, rate(90.0), how, &[]);
            assert_eq!((up.frames(), up.start, up.sample_rate), (181, 0.25, 90.0));
            assert!((0..61).all(|f| up.rotations(3 * f) == clip.rotations(f)));
            assert_eq!(resample(&up, rate(30.0), how, &[]), clip);
        }
    }

    #[test]
    fn between_the_samples_the_curve_is_followed() {
        let how = |rotations| Resampling { rotations, band_limit: true, closes: false };
        let worst = |how: Resampling| {
            let new = resample(&clip(30.0, 120), rate(59.94), how, &[]);
            let time = |f: usize| f as f64 / new.sample_rate;
            let inner = 2..new.frames() - 3;
            let turn_error = inner.clone().map(|f| new.rotations(f)[0].angle_to(&turn(time(f))));
            let place_error = inner.map(|f| (new.translations(f)[0] - place(time(f))).norm());
            (turn_error.fold(0.0, f64::max), place_error.fold(0.0, f64::max))
        };
        let smooth = worst(how(RotationInterpolation::Smooth));
        let linear = worst(how(RotationInterpolation::Linear));
        assert!(smooth.0 < 1e-4 && smooth.1 < 1e-5, "{smooth:?}");
        assert!(linear.0 < 5e-4 && smooth.0 < linear.0, "{linear:?}");
    }

    #[test]
    fn going_down_removes_what_the_new_rate_cannot_carry() {
        let rotations = vec![Quat::identity(); 400];
        let shake = |f: usize| Vec3::new((f as f64 * 2.4).sin(), 0.0, 0.0);
        let clip = Clip::new("", 120.0, 1, rotations, vec![JointId::new(0)], (0..400).map(shake).collect());
        let loudest = |band_limit| {
            let new = resample(&clip, rate(30.0), Resampling { band_limit, ..Resampling::default() }, &[]);
            (20..80).map(|f| new.translations(f)[0].x.abs()).fold(0.0, f64::max)
        };
        assert!(loudest(true) < 0.1 && loudest(false) > 0.9, "{} {}", loudest(true), loudest(false));
    }

    #[test]
    fn both_sides_of_a_cut_are_what_they_are_alone() {
        let whole = clip(30.0, 80);
        let part = |frames: std::ops::Range<usize>| {
            let rows = frames.clone().flat_map(|f| whole.rotations(f).to_vec()).collect();
            let places = frames.flat_map(|f| whole.translations(f).to_vec()).collect();
            Clip::new("c", 30.0, 1, rows, vec![JointId::new(0)], places)
        };
        // Two parts that have nothing to do with each other, the second from an odd frame on.
        let (first, second) = (part(0..31), part(50..80));
        let joined = |a: &Clip, b: &Clip| {
            let rows = [a.all_rotations(), b.all_rotations()].concat();
            let places = [a.all_translations(), b.all_translations()].concat();
            let mut both = Clip::new("c", 30.0, 1, rows, vec![JointId::new(0)], places);
            fix_hemispheres(&mut both);
            both
        };
        for hz in [60.0, 15.0] {
            let new = resample(&joined(&first, &second), rate(hz), Resampling::default(), &[31]);
            let alone = resample(&first, rate(hz), Resampling::default(), &[]);
            for f in 0..alone.frames() {
                assert_eq!(new.translations(f), alone.translations(f), "{hz} Hz, frame {f}");
                assert!(new.rotations(f)[0].angle_to(&alone.rotations(f)[0]) < 1e-12);
            }
            let behind = (f64::from(31) * hz / 30.0).ceil() as usize;
            let after = resample(&second, rate(hz), Resampling::default(), &[]);
            // At twice the rate the second part begins on a frame, at half of it half a frame off.
            if hz > 30.0 {
                for f in 0..after.frames() {
                    assert_eq!(new.translations(behind + f), after.translations(f), "{hz} Hz, frame {f}");
                }
            }
            let mixed = &new.all_translations()[alone.frames()..behind];
            assert!(mixed.iter().all(|p| p == &first.translations(30)[0] || p == &second.translations(0)[0]));
        }
    }

    #[test]
    fn no_frame_and_one_frame_stay() {
        for frames in [0, 1] {
            for hz in [15.0, 30.0, 47.0] {
                let new = resample(&clip(30.0, frames), rate(hz), Resampling::default(), &[]);
                assert_eq!((new.frames(), new.sample_rate), (frames, hz));
            }
        }
    }
}
