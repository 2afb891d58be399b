//! Single frames in which a limb rotates faster than the take's, and the orientation of feet in the air and of hands.
//!
//! Compared with the direct transfer, whose limbs, feet and hands rotate as those of the take. Units: radians.

use super::arm_contacts::ArmContacts;
use super::limb_comparison::{LimbComparison, MetricsAndSeries, both_sides, with_direct};
use super::limb_frame::{ANKLE, KNEE, LimbFrame};
use crate::anatomy::on_four_legs;
use crate::math::{Vec3, angle_between, percentile_in_place, twist_angle};
use crate::model::{Character, ContactPart, Contacts, Side};

/// How far from the label of a contact a foot still takes off or lands, seconds: labels of two bodies differ by so much.
const LANDING: f64 = 0.05;
/// Cosine of the angle of a shin from vertical (60 degrees) from which its foot does not stand: shins of deep squats lean by 45.
const STANDING_SHIN: f64 = 0.5;
/// The fewest values that a percentile is taken of.
const FEWEST: usize = 5;

/// The greatest rotation of an arm or leg bone from one frame to the next, minus the direct transfer's greatest in these frames. Over a
/// cut of the take limbs jump as far as it does, by another angle on a body of other proportions.
pub fn pops(limbs: &LimbComparison) -> MetricsAndSeries {
    // The rotation of a bone into each frame; none into the first.
    let rotations = |track: &[LimbFrame], k: usize| -> Vec<f64> {
        let bones: Vec<Vec3> = track.iter().map(|frame| frame.limbs()[k]).collect();
        let into = |pair: &[Vec3]| {
            let moves = pair[0].norm() > 0.0 && pair[1].norm() > 0.0;
            if moves { angle_between(&pair[0], &pair[1]) } else { 0.0 }
        };
        std::iter::once(0.0).chain(bones.windows(2).map(into)).collect()
    };
    let (mut metrics, mut series) = (Vec::new(), Vec::new());
    for (name, first) in [("knee_pop", 0), ("elbow_pop", 4)] {
        let of_side = |side: usize| -> Vec<f64> {
            let of_bones = [0, 1].map(|k| first + 2 * side + k);
            let [result, direct] =
                [&limbs.result, &limbs.direct].map(|track| of_bones.map(|k| rotations(track, k)));
            let growth = |f: usize| {
                let of_bone = |k: usize| {
                    let around = f.saturating_sub(1).max(1)..(f + 2).min(limbs.frames);
                    result[k][f] - direct[k][around].iter().copied().fold(0.0, f64::max)
                };
                of_bone(0).max(of_bone(1)).max(0.0)
            };
            let counts = |f: usize| f > 0 && limbs.cuts.binary_search(&f).is_err();
            (0..limbs.frames).map(|f| if counts(f) { growth(f) } else { 0.0 }).collect()
        };
        let sides = [of_side(0), of_side(1)];
        let most = sides.iter().flatten().copied().fold(0.0, f64::max);
        if limbs.frames > 1 {
            metrics.push(with_direct(name, most, 0.0));
            series.extend(both_sides(name, "rad", sides));
        }
    }
    (metrics, series)
}

/// The angle between a foot and the direct transfer's where no part of it is labelled as in contact, and about the vertical where one is: a
/// foot on the floor rolls and lies as its sole needs, but faces where the take's does.
pub fn foot_orientation(limbs: &LimbComparison, contacts: Option<&Contacts>) -> MetricsAndSeries {
    let Some(contacts) = contacts else { return Default::default() };
    let landing = (LANDING * limbs.rate).ceil() as usize;
    let (mut in_air, mut on_floor) = (Vec::new(), Vec::new());
    let sides = Side::BOTH.map(|side| {
        let mut touches = vec![false; limbs.frames];
        for part in [ContactPart::Heel(side), ContactPart::Ball(side)] {
            for hold in contacts.holds(part) {
                let end = (hold.frames.end + landing).min(limbs.frames);
                let start = hold.frames.start.saturating_sub(landing).min(end);
                touches[start..end].fill(true);
            }
        }
        let k = side.index();
        let angle = |f: usize| {
            let (result, direct) = (&limbs.result[f].feet[k], &limbs.direct[f].feet[k]);
            match touches[f] {
                true => twist_angle(&(result * direct.inverse()), &Vec3::y()).abs(),
                false => result.angle_to(direct),
            }
        };
        let angles: Vec<f64> = (0..limbs.frames).map(angle).collect();
        for (angle, touches) in angles.iter().zip(touches) {
            if touches { on_floor.push(*angle) } else { in_air.push(*angle) }
        }
        angles
    });
    let enough = [in_air, on_floor].into_iter().filter(|all| all.len() >= FEWEST);
    let Some(most) = enough.map(|mut all| percentile_in_place(&mut all, 0.95)).reduce(f64::max) else {
        return Default::default();
    };
    let worst = with_direct("foot_orientation_p95", most, 0.0);
    (vec![worst], both_sides("foot_orientation", "rad", sides))
}

/// The angle of soles from the ground while heel and ball are on it. Judged absolutely, because a tilted reference pose tilts the
/// direct transfer as well. None for bodies on four legs, whose paws roll.
pub fn sole_tilt(
    limbs: &LimbComparison,
    character: &Character,
    contacts: Option<&Contacts>,
) -> MetricsAndSeries {
    let (rig, reference_pose) = (&character.rig, character.reference_pose());
    let (Some(contacts), Some(reference_frame), false) =
        (contacts, LimbFrame::read(rig, &reference_pose), on_four_legs(rig, &reference_pose))
    else {
        return Default::default();
    };
    let tilts = |track: &[LimbFrame]| {
        Side::BOTH.map(|side| {
            let k = side.index();
            let up = reference_frame.feet[k].inverse() * Vec3::y();
            let parts = [ContactPart::Heel(side), ContactPart::Ball(side)];
            // The feet of who kneels or lies touch the floor with their insteps and sides.
            let stands = |f: usize| {
                let leg = &limbs.source[f].legs[k];
                let shin = leg[KNEE] - leg[ANKLE];
                shin.y > STANDING_SHIN * shin.norm()
                    && parts.iter().all(|part| contacts.hold(*part, f).is_some())
            };
            let tilt = |f: usize| match stands(f) {
                true => angle_between(&(track[f].feet[k] * up), &contacts.up_under(side, f)),
                false => f64::NAN,
            };
            (0..limbs.frames).map(tilt).collect::<Vec<f64>>()
        })
    };
    let result = tilts(&limbs.result);
    // The foot that is tilted most.
    let of = |sides: &[Vec<f64>; 2]| {
        let middle = |angles: &Vec<f64>| {
            let mut seen: Vec<f64> = angles.iter().copied().filter(|a| a.is_finite()).collect();
            (seen.len() >= FEWEST).then(|| percentile_in_place(&mut seen, 0.5))
        };
        sides.iter().filter_map(middle).reduce(f64::max)
    };
    let (Some(most), Some(direct)) = (of(&result), of(&tilts(&limbs.direct))) else {
        return Default::default();
    };
    (vec![with_direct("sole_tilt_p50", most, direct)], both_sides("sole_tilt", "rad", result))
}

/// The angle between a hand and the direct transfer's, unless its arm leans on the floor: then it lies on that.
pub fn hand_orientation(limbs: &LimbComparison, arms: &ArmContacts) -> MetricsAndSeries {
    let mut free = Vec::new();
    let sides = [0, 1].map(|side| {
        let angle = |f: usize| {
            let (result, direct) = (&limbs.result[f], &limbs.direct[f]);
            let counts = direct.arms[side] != [Vec3::zeros(); 3] && !arms.leans(side, f);
            if counts { result.hands[side].angle_to(&direct.hands[side]) } else { f64::NAN }
        };
        let angles: Vec<f64> = (0..limbs.frames).map(angle).collect();
        free.extend(angles.iter().filter(|angle| angle.is_finite()));
        angles
    });
    if free.len() < FEWEST {
        return Default::default();
    }
    let most = percentile_in_place(&mut free, 0.95);
    (vec![with_direct("hand_orientation_p95", most, 0.0)], both_sides("hand_orientation", "rad", sides))
}
