//! Decimal text becomes `f64`, rounded as `str::parse` rounds it.
//!
//! Numbers of at most 15 characters, which is nearly all that motion files hold, are read as one integer of 16
//! bytes: sign, point and end are found by arithmetic on all bytes at once, and a tree of multiplications adds
//! up the digits (Lemire 2021, "Number parsing at a gigabyte per second", section 3). Mantissa and power of ten
//! are then both exact in `f64`, so their one division rounds once, and rounds right (Clinger 1990). Everything
//! else goes to `fast-float2`.

/// The bytes that the short path looks at: a number and what ends it.
const WINDOW: usize = 16;

/// Powers of ten, all exact.
const POWERS: [f64; WINDOW] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

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

/// A number in plain decimals, up to white space.
#[inline(always)]
fn short(text: &[u8; WINDOW]) -> Option<(f64, usize)> {
    const ONES: u128 = u128::MAX / 0xff;
    let negative = text[0] == b'-';
    // Digits become 0 to 9; a minus becomes a leading zero.
    let t = (u128::from_le_bytes(*text) ^ (ONES * 0x30)) & !(u128::from(negative) * 0xff);
    // A byte above 9 carries into its top bit. Bytes from 0xba on carry further, into bytes behind them, where
    // a digit may then look like an end; but no digit passes for white space below.
    let beyond = (t.wrapping_add(ONES * 0x76) | t) & (ONES * 0x80);
    let first = (beyond.trailing_zeros() / 8) as usize;
    let second = ((beyond & beyond.wrapping_sub(1)).trailing_zeros() / 8) as usize;
    if second >= WINDOW {
        return None;
    }
    let point = text[first] == b'.';
    let end = if point { second } else { first };
    if text[end] > b' ' || end == usize::from(negative) + usize::from(point) {
        return None;
    }
    // The digits before the point move up by one, over it; then all move to the end of the sixteen.
    let (digits, places) = if point {
        let below = (1u128 << (8 * first)) - 1;
        (((t & below) << 8) | (t & !below & !(0xff << (8 * first))), end - first - 1)
    } else {
        (t, 0)
    };
    let digits = digits << (8 * (WINDOW - end));
    let mantissa = eight(digits as u64) * 100_000_000 + eight((digits >> 64) as u64);
    let value = mantissa as f64 / POWERS[places];
    Some((f64::from_bits(value.to_bits() | u64::from(negative) << 63), end))
}

/// The value of eight decimal digits, the first in the lowest byte.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    (pairs & MASK)
        .wrapping_mul(0x000f_4240_0000_0064)
        .wrapping_add(((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001))
        >> 32
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
