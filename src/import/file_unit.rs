//! Metres per unit of a file that does not state it, and warnings of units that give implausible sizes.

use crate::anatomy::{Figure, guess_unit};
use crate::model::{Character, ModelPose, Rig};
use crate::report::Warnings;

/// Plausible leg lengths, metres: longer than the lower bound for a toddler, shorter than the upper for a giant. Wrong units are
/// off by a factor of 2.5 or more.
const LEGS: std::ops::RangeInclusive<f64> = 0.2..=2.5;

/// Warns of a user-specified unit that gives implausible leg lengths.
pub(super) fn check_unit(metres_per_unit: f64, rig: &Rig, upright: &ModelPose, warnings: &mut Warnings) {
    let Some(figure) =
        Figure::of(rig, upright).filter(|f| !LEGS.contains(&(metres_per_unit * f.leg_to_sole)))
    else {
        return;
    };
    let unit = guess_unit(figure.leg_to_sole);
    let (user_leg, leg) = (metres_per_unit * figure.leg_to_sole, unit.metres * figure.leg_to_sole);
    let message = format!(
        "by `input.units` the legs are {user_leg:.3} m long: {} would make them {leg:.2} m",
        unit.name
    );
    warnings.add("bvh-unit-told", message, "HIERARCHY");
}

/// Plausible leg lengths of characters, metres, from a toy to a giant. A file in centimetres that states metres, or the reverse
/// round, is off by 100 and outside for every build.
const ANY_LEGS: std::ops::RangeInclusive<f64> = 0.05..=10.0;

/// Warns of a figure whose stated unit makes it a giant or a mite.
pub(super) fn warn_of_size(character: &Character, warnings: &mut Warnings) {
    let figure = Figure::of(&character.rig, &character.reference_pose());
    let Some(leg) = figure.map(|f| f.leg_to_sole).filter(|leg| !ANY_LEGS.contains(leg)) else { return };
    let unit = guess_unit(leg);
    let message = format!(
        "the legs are {leg:.4} m long: the file is probably in {}, and not in the unit that it states or that its format has (export it in \
         metres, or with its scale applied)",
        unit.name
    );
    warnings.add("size-odd", message, "the file");
}

/// Metres per unit, by the leg length of an upright body, or by its size if it has no legs.
pub(super) fn estimate_unit(rig: &Rig, upright: &ModelPose, place: &str, warnings: &mut Warnings) -> f64 {
    match Figure::of(rig, upright) {
        Some(figure) => {
            let unit = guess_unit(figure.leg_to_sole);
            let why = match unit.usual {
                true => "guessed from the length of the legs",
                false => "the legs fit no usual unit and are taken to be those of an adult",
            };
            // Five digits are enough: a CMU unit is 1/45 inch, a periodic decimal.
            let metres: f64 = format!("{:.4e}", unit.metres).parse().unwrap_or(unit.metres);
            let message = format!("units are {} ({metres} m each): {why}", unit.name);
            match unit.usual {
                true => warnings.guess("bvh-unit", message, place),
                false => warnings.add("bvh-unit-odd", message, place),
            }
            unit.metres
        }
        None => {
            let size =
                upright.joints().iter().map(|t| (t.translation - upright.joints()[0].translation).norm());
            let metres = if size.fold(0.0, f64::max) > 10.0 { 0.01 } else { 1.0 };
            let message = format!("units are assumed to be {metres} m each: no legs were detected");
            warnings.add("bvh-unit", message, place);
            metres
        }
    }
}
