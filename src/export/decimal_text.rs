//! Formats numbers as decimal text without exponents, which some BVH readers reject.
//!
//! Own code: `format!` takes three times as long, and writes `-0.000000` for small negative numbers.

/// The number of decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// This many after the decimal point, at most 15.
    Fixed(u8),
    /// The fewest digits that read back as the same `f64`.
    Shortest,
}

/// Powers of ten, exact in `f64`, by the number of decimals of [`Decimals::Fixed`].
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// 2^53: integers below this are exact in `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Space for any number written here, bytes: a sign, 16 digits and a point; a multiple of the widest vector registers.
const ROOM: usize = 32;

/// The integer nearest to `x`, which is not negative; halves are rounded up. Undefined from [`EXACT`] on.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    // Numbers this large have no fraction: adding it to a smaller number rounds, halves to even.
    const WHOLE: f64 = 0.5 * EXACT;
    let even = if x < WHOLE { (x + WHOLE) - WHOLE } else { x };
    even + if x - even >= 0.5 { 1.0 } else { 0.0 }
}

/// Appends the text of `value`, which is finite; never `-0`.
pub(super) fn push(out: &mut Vec<u8>, value: f64, decimals: Decimals) {
    let places = match decimals {
        Decimals::Fixed(places) => usize::from(places.min(15)),
        Decimals::Shortest => return push_text(out, &value.to_string()),
    };
    let scaled = value.abs() * POWERS[places];
    if scaled >= EXACT {
        return push_text(out, &format!("{value:.places$}"));
    }
    // Processors convert to signed integers in one instruction.
    let scaled = nearest(scaled) as i64 as u64;
    let unit = POWERS[places] as u64;
    let (whole, part) = (scaled / unit, scaled % unit);
    let sign = usize::from(value < 0.0 && scaled > 0);
    let point = sign
        + match whole {
            0..10 => 1,
            10..100 => 2,
            100..1000 => 3,
            _ => 1 + whole.ilog10() as usize,
        };
    let end = if places > 0 { point + 1 + places } else { point };
    // Appended with a fixed length and truncated at the end: no length checks between the digits.
    let start = out.len();
    out.extend_from_slice(&[b'-'; ROOM]);
    let text = &mut out[start..];
    digits(&mut text[sign..point], whole);
    if places > 0 {
        text[point] = b'.';
        digits(&mut text[point + 1..end], part);
    }
    out.truncate(start + end);
}

/// Fills `text` with the last digits of `number`.
#[inline(always)]
fn digits(text: &mut [u8], mut number: u64) {
    for pair in text.rchunks_mut(2) {
        let [ten, one] = PAIRS[(number % 100) as usize];
        match pair {
            [high, low] => [*high, *low] = [ten, one],
            [low] => *low = one,
            _ => {}
        }
        number /= 100;
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    out.extend_from_slice(text.strip_prefix('-').filter(|_| zero).unwrap_or(text).as_bytes());
}

/// The value of the text that [`push`] writes.
#[inline(always)]
pub(super) fn printed(value: f64, decimals: Decimals) -> f64 {
    match decimals {
        Decimals::Fixed(places) => {
            let power = POWERS[usize::from(places.min(15))];
            let scaled = value.abs() * power;
            let rounded = (nearest(scaled) / power).copysign(value);
            if scaled < EXACT { rounded } else { value }
        }
        Decimals::Shortest => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64, decimals: Decimals) -> String {
        let mut out = Vec::new();
        push(&mut out, value, decimals);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn fixed_decimals_are_within_half_a_unit_and_stable(value in -1e7..1e7f64, places in 0u8..9) {
            let decimals = Decimals::Fixed(places);
            let once = text(value, decimals);
            let back: f64 = once.parse().unwrap();
            // Scaling and reading back round once each, by half a unit in the last place of a number of this size.
            let rounding = value.abs() * f64::EPSILON;
            prop_assert!((back - value).abs() <= 0.5 * 0.1f64.powi(i32::from(places)) + rounding);
            prop_assert_eq!(back, printed(value, decimals));
            prop_assert_eq!(text(back, decimals), once);
        }

        #[test]
        fn the_shortest_text_gives_the_number_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let once = text(value, Decimals::Shortest);
            prop_assert_eq!(once.parse::<f64>().unwrap(), value);
            prop_assert!(!once.contains('e'));
        }
    }

    #[test]
    fn numbers_have_the_expected_form() {
        let six = |v| text(v, Decimals::Fixed(6));
        assert_eq!(six(0.0), "0.000000");
        assert_eq!(six(-1e-9), "0.000000");
        assert_eq!(six(-12.5), "-12.500000");
        assert_eq!(six(1e-6), "0.000001");
        assert_eq!(six(1e20), "100000000000000000000.000000");
        for (value, expected) in
            [(7.0, "7"), (2.5, "3"), (-0.5, "-1"), (0.49999999999999994, "0"), (4096.0, "4096")]
        {
            assert_eq!(text(value, Decimals::Fixed(0)), expected);
        }
        assert_eq!((six(99.9999996), six(-1000.25)), ("100.000000".into(), "-1000.250000".into()));
        assert_eq!(text(-0.0, Decimals::Shortest), "0");
        assert_eq!(text(1e-7, Decimals::Shortest), "0.0000001");
    }
}
