//! Decimal text becomes `f64`, rounded as `str::parse` rounds it.
//!
//! Up to seven digits before and after the point are read eight bytes at a time: a multiply-shift tree over the
//! digits of one machine word (Lemire 2021, "Number parsing at a gigabyte per second", section 3). Mantissa and
//! power of ten are then both exact in `f64`, so their one division rounds once, and rounds right (Clinger
//! 1990). Everything else goes to `fast-float2`.

/// The bytes that the short path looks at: sign, 8, point, 8, and what ends the number.
const WINDOW: usize = 19;

const POWERS: [(u64, f64); 8] = [
    (1, 1.0),
    (10, 1e1),
    (100, 1e2),
    (1_000, 1e3),
    (10_000, 1e4),
    (100_000, 1e5),
    (1_000_000, 1e6),
    (10_000_000, 1e7),
];

/// The number at the start of `text` and its length in bytes; `None` where no number starts there.
///
/// May be infinite (`1e400`, `inf`) or not a number (`nan`). What follows the number is not looked at.
#[inline(always)]
pub(super) fn number(text: &[u8]) -> Option<(f64, usize)> {
    if let Some(window) = text.first_chunk::<WINDOW>()
        && let Some(short) = short(window)
    {
        return Some(short);
    }
    general(text)
}

#[inline(never)]
fn general(text: &[u8]) -> Option<(f64, usize)> {
    fast_float2::parse_partial::<f64, _>(text).ok().filter(|&(_, n)| n > 0)
}

/// At most seven digits, a point and at most seven digits, up to white space.
#[inline(always)]
fn short(text: &[u8; WINDOW]) -> Option<(f64, usize)> {
    let negative = text[0] == b'-';
    let start = usize::from(negative);
    let (whole, n) = digits(text[start..start + 8].try_into().ok()?);
    if n == 8 {
        return None;
    }
    let mut end = start + n;
    let (mut mantissa, mut places) = (whole, 0);
    if text[end] == b'.' {
        let (fraction, m) = digits(text[end + 1..end + 9].try_into().ok()?);
        if m == 8 || n + m == 0 {
            return None;
        }
        (mantissa, places) = (whole * POWERS[m & 7].0 + fraction, m);
        end += 1 + m;
    } else if n == 0 {
        return None;
    }
    if text[end] > b' ' {
        return None;
    }
    let value = mantissa as f64 / POWERS[places & 7].1;
    Some((f64::from_bits(value.to_bits() | u64::from(negative) << 63), end))
}

/// The value and the number of the digits that start these eight bytes.
#[inline(always)]
fn digits(bytes: [u8; 8]) -> (u64, usize) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let t = u64::from_le_bytes(bytes) ^ (ONES * 0x30);
    // A byte above 9 carries into its top bit. Only the lowest such byte counts, and below it nothing carries.
    let beyond = (t.wrapping_add(ONES * 0x76) | t) & (ONES * 0x80);
    let count = beyond.trailing_zeros() / 8;
    // Two half shifts: a shift by 64, for no digits at all, has to give zero.
    let half = 4 * (8 - count);
    let t = (t << half) << half;
    let pairs = t.wrapping_mul(10).wrapping_add(t >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let value = (pairs & MASK)
        .wrapping_mul(0x000f_4240_0000_0064)
        .wrapping_add(((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001))
        >> 32;
    (value, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        for tail in ["", " ", "\n", " 12345678901234567890", "\t-1.5 7.25 0.0 11 12 13 14"] {
            let whole = format!("{text}{tail}");
            let (value, n) = number(whole.as_bytes()).unwrap();
            assert_eq!((value.to_bits(), n), (expected.to_bits(), text.len()), "{whole:?}");
        }
    }

    proptest! {
        #[test]
        fn numbers_round_as_the_standard_library_rounds(
            negative in any::<bool>(), whole in 0u64..100_000_000_000, cut in 0usize..12, places in 0usize..18,
            fraction in any::<u64>()
        ) {
            let whole = &whole.to_string()[..(1 + cut).min(whole.to_string().len())];
            let digits = format!("{fraction:020}");
            let sign = if negative { "-" } else { "" };
            check(&format!("{sign}{whole}.{}", &digits[..places]));
            check(&format!("{sign}{whole}"));
        }

        #[test]
        fn any_bits_survive_their_shortest_text(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            check(&format!("{value:e}"));
        }
    }

    #[test]
    fn all_forms_of_real_files_are_numbers() {
        for text in [
            "+.5",
            "-.25",
            "1.",
            "1E+02",
            "-1.5e-003",
            "00012.50",
            "-0.000000",
            "0",
            "-0",
            ".0083333",
            "1.2e-007",
            "9999999.9999999",
            "99999999.99999999",
        ] {
            check(text);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["", " 1", "-", ".", "-.", "abc", "}", "-- 1 2 3 4 5 6 7 8 9 10", ". 1 2 3 4 5 6 7 8 9 10 11"]
        {
            assert_eq!(number(text.as_bytes()), None, "{text:?}");
        }
        assert!(number(b"1e400").unwrap().0.is_infinite());
    }
}
