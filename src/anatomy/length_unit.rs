//! Guesses the unit of length of a file from the leg length of its figure.

/// A unit of length of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthUnit {
    /// Its usual name.
    pub name: &'static str,
    /// Metres per unit.
    pub metres: f64,
    /// Whether the figure's size fits a common unit; otherwise the unit is chosen so that the figure is an adult.
    pub usual: bool,
}

/// Leg length of an adult from hip joint to sole, metres: 0.53 of 1.65 m (Winter's segment lengths). Other modules have
/// reference legs of their own: thigh and shin only, or the mean of characters.
const ADULT_LEG: f64 = 0.87;

/// The most likely unit of a body with this leg length.
pub fn guess_unit(leg: f64) -> LengthUnit {
    // Natural logarithm of the largest ratio to the adult leg: wide for metric units, which characters of any build use,
    // narrow for the others, which only captures of people use.
    let units = [
        ("metres", 1.0, 0.55),
        ("centimetres", 0.01, 0.55),
        ("millimetres", 0.001, 0.55),
        ("decimetres", 0.1, 0.2),
        ("inches", 0.0254, 0.2),
        ("CMU units (1/0.45 inch)", 0.0254 / 0.45, 0.2),
    ];
    let miss = |metres: f64| libm::log(leg * metres / ADULT_LEG).abs();
    let best = units.iter().filter(|u| miss(u.1) < u.2).min_by(|a, b| miss(a.1).total_cmp(&miss(b.1)));
    match best {
        Some(&(name, metres, _)) => LengthUnit { name, metres, usual: true },
        None => LengthUnit { name: "units of no usual length", metres: ADULT_LEG / leg, usual: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_guessed_from_the_leg() {
        assert_eq!(guess_unit(0.9).name, "metres");
        assert_eq!(guess_unit(87.0).name, "centimetres");
        assert_eq!(guess_unit(33.7).name, "inches");
        assert_eq!(guess_unit(15.4).name, "CMU units (1/0.45 inch)");
        let odd = guess_unit(23.2);
        assert!(!odd.usual && (odd.metres * 23.2 - ADULT_LEG).abs() < 1e-12);
    }
}
