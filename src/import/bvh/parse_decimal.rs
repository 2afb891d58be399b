//! Parses decimal text to `f64` with the rounding of `str::parse`.
//!
//! Numbers of at most seven characters before the point and eight after it, which is nearly all that motion files contain,
//! are read as two integers of eight bytes: point and end are found by arithmetic on all bytes at once, and a tree of
//! multiplications adds up the digits (Lemire 2021, "Number parsing at a gigabyte per second", section 3). Mantissa and power
//! of ten are then both exact in `f64`, so their one division rounds once and correctly (Clinger 1990). Everything else goes
//! to `fast-float2`.
//!
//! The end of the number is the first blank, which is found independently of the point, so that the next number can be
//! parsed in parallel.

/// Number of bytes that the fast path reads: a number, its separator, and eight bytes after the point, wherever that is.
const WINDOW: usize = 16;

/// Powers of ten, all exact.
const POWERS: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The number at the start of `text` and its length in bytes; `None` if it is not a number.
///
/// May be infinite (`1e400`, `inf`) or not a number (`nan`). What follows the number is not checked.
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
    let [head, tail] = [0, 8].map(|at| word(text, at));
    let end = match (first(blanks(head)), first(blanks(tail))) {
        (8, in_tail) => 8 + in_tail,
        (in_head, _) => in_head,
    };
    let negative = text[0] == b'-';
    // Digits become 0 to 9; a minus becomes a leading zero.
    let whole = (head ^ ZEROS) & !(u64::from(negative) * 0xff);
    let point = first(beyond_digits(whole));
    if point > 7 || end > 15 {
        return None;
    }
    // Without a point there are no decimals.
    let places = end.saturating_sub(point + 1);
    let part = word(text, point + 1) ^ ZEROS;
    let digits = first(beyond_digits(part)) >= places && places <= 8;
    let ends_here = point == end || text[point] == b'.';
    if !(digits && ends_here) || end == usize::from(negative) + usize::from(point < end) {
        return None;
    }
    // The digits move to the end of the eight; by up to 64 bits, of which a shift knows 63.
    let last = |digits: u64, n: usize| eight(digits << (4 * (8 - n)) << (4 * (8 - n)));
    let mantissa = last(whole, point) as f64 * POWERS[places] + last(part, places) as f64;
    let value = mantissa / POWERS[places];
    Some((f64::from_bits(value.to_bits() | u64::from(negative) << 63), end))
}

/// The lowest bit of every byte.
const ONES: u64 = u64::MAX / 0xff;
/// The character `0` in every byte.
const ZEROS: u64 = ONES * 0x30;
/// The highest bit of every byte.
const TOPS: u64 = ONES * 0x80;

/// Eight bytes of `text`, the first in the lowest.
#[inline(always)]
fn word(text: &[u8; WINDOW], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&text[at..at + 8]);
    u64::from_le_bytes(eight)
}

/// The top bits of bytes up to a blank; exact up to the first one, whose borrow reaches those behind it.
#[inline(always)]
fn blanks(text: u64) -> u64 {
    text.wrapping_sub(ONES * 0x21) & !text & TOPS
}

/// The top bits of bytes above 9; exact up to the first one: bytes from 0x8a on overflow into the next ones.
#[inline(always)]
fn beyond_digits(digits: u64) -> u64 {
    (digits.wrapping_add(ONES * 0x76) | digits) & TOPS
}

/// The index of the first byte whose top bit is set, 8 if there is none.
#[inline(always)]
fn first(tops: u64) -> usize {
    (tops.trailing_zeros() / 8) as usize
}

/// The value of eight decimal digits, the first in the lowest byte.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    /// Bytes 0 and 4: every second pair of digits.
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
