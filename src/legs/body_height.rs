//! Height of the body above the floor, from the soles of feet that are flat or planted: one constant for the whole clip.
//!
//! A constant changes no knee. Space: model space, Y up. Units: metres.

use super::equations::FrameSolution;
use super::leg_pair::{LegPair, leg_ratio};
use super::limb_pose::{LimbPose, LimbPositions};
use super::soles::SourceFeet;
use super::toes::{SoleHeights, toe_skin};
use crate::math::{Vec3, median, percentile};
use crate::parallel;

/// Share of the frames with flat feet in which the feet are not in the floor. At 0.5, capture noise lifts
/// the feet: the median error of contact heights is 3.2 mm (90th percentile 8.8) instead of 1.3 (4.5), and bodies stand 3 to
/// 10 mm lower. At 0.75 it is 2.1 mm (6.1); at 0.95 nothing improves.
const OUT_OF_FLOOR_SHARE: f64 = 0.9;
/// The height of a clip is this quantile of the heights of its planted soles. Of 148 pairs 15 then float by more than a centimetre
/// (median of planted soles), 49 without the correction; feet are 2.8 instead of 2.7 mm in the floor at most, which
/// raises single feet: contact heights are off by 2.1 mm (90th percentile 19) instead of 0.9 (15). At 0.25 contact heights are
/// off by 1.7 mm, and half as many clips again float.
const HEIGHT_QUANTILE: f64 = 0.35;
/// Heights, leg lengths, between which a clip floats: below (5 mm for a person) a correction would only trade floating for
/// penetration, and what is higher (4 cm) is a posture.
const FLOATING_RANGE: [f64; 2] = [0.006, 0.05];
/// Fewest planted soles, counted by frame, that determine a height.
const FEWEST: usize = 3;

/// The height by which the scaled source is raised so that the target's soles are on the floor while the source's are flat;
/// if they never are, the height of the direct transfer. A quadruped on paws of their own, whose soles are not known in motion,
/// stands as high above height 0 as the source, scaled.
pub fn source_raise(
    pairs: &[LegPair],
    feet: &SourceFeet,
    source_poses: &[Vec<LimbPositions>],
    direct_poses: &[Vec<LimbPose>],
    soles: &[Vec<SoleHeights>],
    toe_up: &[Option<Vec3>],
) -> f64 {
    if let Some(ratio) = leg_ratio(pairs).filter(|_| pairs.iter().any(|pair| pair.paw > 0.0)) {
        let ankle_difference = |pair: &LegPair| pair.target.ankle - ratio * pair.source.ankle;
        return pairs.iter().map(ankle_difference).sum::<f64>() / pairs.len() as f64;
    }
    let ankle = |leg_index: usize, f: usize| source_poses[leg_index][f].ankle.y;
    let mut needed = sole_heights(pairs, &feet.flat, soles, toe_up, ankle);
    needed.iter_mut().for_each(|height| *height = -*height);
    if !needed.is_empty() {
        return percentile(&needed, OUT_OF_FLOOR_SHARE);
    }
    let ankle_difference = |f: usize| {
        let direct = direct_poses.iter().map(|s| s[f].foot.translation.y).fold(f64::INFINITY, f64::min);
        direct - source_poses.iter().map(|s| s[f].ankle.y).fold(f64::INFINITY, f64::min)
    };
    let frames: Vec<usize> = (0..source_poses[0].len()).collect();
    median(feet.distinct(&frames).map(|f| ankle_difference(*f)).collect())
}

/// The height of an ankle by leg and frame.
type AnkleHeight<'a> = dyn Fn(usize, usize) -> f64 + Sync + 'a;

/// The height by which the solved clip floats as a whole: that of its soles in the frames in which the source's are planted;
/// 0 if it does not. `ankle` is the height of an ankle above the ground, `solution` what the solve adds. A body whose lowest point,
/// `lowest_body` above the floor, mostly sits on it in these frames is not lowered into it. A body that stands for most of the clip
/// is lowered even if it lies down for a while; it is raised out of the floor there.
pub fn floating_height(
    pairs: &[LegPair],
    planted: &[Vec<bool>],
    soles: &[Vec<SoleHeights>],
    toe_up: &[Option<Vec3>],
    (ankle, lowest_body, solution): (&AnkleHeight<'_>, &[f64], &[FrameSolution]),
    leg_length: f64,
) -> f64 {
    let body_height_at = |f: usize| lowest_body.get(f).map_or(f64::MAX, |low| low + solution[f][0].y);
    let heights = sole_heights(pairs, planted, soles, toe_up, ankle);
    if heights.len() < FEWEST || pairs.iter().any(|pair| pair.paw > 0.0) {
        return 0.0;
    }
    let floating = percentile(&heights, HEIGHT_QUANTILE);
    if !(FLOATING_RANGE[0] * leg_length..FLOATING_RANGE[1] * leg_length).contains(&floating) {
        return 0.0;
    }
    let frames = planted.iter().map(Vec::len).max().unwrap_or(0);
    let any_planted = |f: &usize| planted.iter().any(|planted| planted.get(*f) == Some(&true));
    let lowest_body_heights: Vec<f64> = (0..frames).filter(any_planted).map(body_height_at).collect();
    floating.min(percentile(&lowest_body_heights, HEIGHT_QUANTILE).max(0.0))
}

/// The height by which a body floats whose hands, head or trunk are on the floor throughout and whose feet are not: that of its
/// lowest point, `lowest_body`, in the direct transfer displaced by `base`; 0 if it does not.
pub fn floating_height_of_body(feet: &SourceFeet, lowest_body: &[f64], base: &[Vec3]) -> f64 {
    let heights = feet.distinct(lowest_body).zip(feet.distinct(base)).map(|(low, base)| low + base.y);
    percentile(&heights.collect::<Vec<f64>>(), HEIGHT_QUANTILE).max(0.0)
}

/// The heights of the soles in these frames of each leg. Toes count as level, because they bend before the body is raised.
fn sole_heights(
    pairs: &[LegPair],
    frames: &[Vec<bool>],
    soles: &[Vec<SoleHeights>],
    toe_up: &[Option<Vec3>],
    ankle: impl Fn(usize, usize) -> f64 + Sync,
) -> Vec<f64> {
    let mut heights = Vec::new();
    for (leg_index, pair) in pairs.iter().enumerate() {
        let skin = toe_skin(pair);
        let toe_up = toe_up[leg_index].filter(|_| !skin.is_empty());
        let lowest =
            |sole: &SoleHeights| toe_up.map_or(sole.lowest(), |up| sole.lowest_with_level_toes(&skin, &up));
        let lowest_below_ankle = |f: usize| soles[leg_index].get(f).map_or(-pair.target.ankle, lowest);
        let height = |f: usize| frames[leg_index][f].then(|| ankle(leg_index, f) + lowest_below_ankle(f));
        heights.extend(parallel::map(frames[leg_index].len(), 64, height).into_iter().flatten());
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legs::LimbChain;
    use crate::model::{JointId, Side};

    /// The floating height of one leg of 0.9 m without skin, whose ankle is 8 cm above its sole, with these heights of its sole.
    fn floating_height_of(soles: &[f64], planted: &[bool], seat: f64) -> f64 {
        floating_height_over(soles, planted, |_| seat)
    }

    /// The same with this height of its seat, by frame.
    fn floating_height_over(soles: &[f64], planted: &[bool], seat: impl Fn(usize) -> f64) -> f64 {
        let [upper, lower, foot] = [0, 1, 2].map(JointId::new);
        let chain = LimbChain {
            side: Side::Left,
            upper,
            lower,
            foot,
            shin_end: None,
            toes: None,
            bones: [0.45, 0.45],
            ankle: 0.08,
            forefoot: 0.0,
            foot_up: Vec3::y(),
            soles: Vec::new(),
        };
        let pair = LegPair {
            source: chain.clone(),
            target: chain,
            skin: Vec::new(),
            shin: Vec::new(),
            paw: 0.0,
            lying_toes: None,
        };
        let ankle = |_: usize, f: usize| soles[f] + 0.08;
        let (seats, still) =
            ((0..soles.len()).map(seat).collect::<Vec<f64>>(), vec![[Vec3::zeros(); 3]; soles.len()]);
        floating_height(&[pair], &[planted.to_vec()], &[Vec::new()], &[None], (&ankle, &seats, &still), 0.9)
    }

    #[test]
    fn a_clip_that_floats_is_lowered_by_a_constant() {
        assert!((floating_height_of(&[0.017; 40], &[true; 40], 0.5) - 0.017).abs() < 1e-12);
        // A jump does not count, whatever its height and duration.
        let jump = |f: usize| (10..70).contains(&f);
        let soles: Vec<f64> = (0..80).map(|f| if jump(f) { 0.5 } else { 0.017 }).collect();
        let planted: Vec<bool> = (0..80).map(|f| !jump(f)).collect();
        assert!((floating_height_of(&soles, &planted, 0.5) - 0.017).abs() < 1e-12);
    }

    #[test]
    fn what_stands_sinks_or_has_no_planted_foot_keeps_its_height() {
        for height in [0.0, 0.003, -0.02, 0.3] {
            assert_eq!(floating_height_of(&[height; 40], &[true; 40], 0.5), 0.0, "{height}");
        }
        assert_eq!(floating_height_of(&[0.02; 40], &[false; 40], 0.5), 0.0, "in the air throughout");
        assert_eq!(
            floating_height_of(&[0.02; 40], &[true; 40], -0.1),
            0.0,
            "the body lies or sits on the floor"
        );
        // One that stands, and lies down for a while, is lowered all the same.
        let lies = |f: usize| if (20..28).contains(&f) { -0.1 } else { 0.5 };
        assert!((floating_height_over(&[0.02; 40], &[true; 40], lies) - 0.02).abs() < 1e-12);
        // A foot that stands in half of the frames is on the floor.
        let soles: Vec<f64> = (0..40).map(|f| if f < 20 { 0.0 } else { 0.03 }).collect();
        assert_eq!(floating_height_of(&soles, &[true; 40], 0.5), 0.0);
    }
}
