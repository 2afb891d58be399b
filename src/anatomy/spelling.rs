//! Normalises the spelling of a joint name and splits it into runs of letters and runs of digits.
//!
//! Full-width letters and digits, half-width and full katakana, accents and capitals are mapped to one form each, as
//! Unicode NFKC does, for the few characters that occur in joint names. Words end at separators, at digits and where
//! the case changes (`LeftForeArm`).

use std::borrow::Cow;

/// A run of letters or of digits.
#[derive(Clone, Debug, PartialEq)]
pub struct CharRun {
    /// The whole run in normalised spelling.
    pub text: String,
    /// Its words, split where the case changes, in normalised spelling; a run of digits is one word.
    pub words: Vec<String>,
    /// Whether it consists of digits.
    pub digits: bool,
    /// Whether no separator lies between it and the run before it.
    pub glued: bool,
    /// Whether one letter precedes a word with a capital of its own: `LThigh`, `RUArm`, `lShin`.
    pub led: bool,
}

/// Half-width katakana from U+FF66 on, in the order of Unicode.
const HALF_WIDTH: &str = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";

/// Characters of a name that are read: more than any real joint name has.
const LONGEST_NAME: usize = 200;

/// The name with full-width, half-width and combining characters replaced by their usual forms; case is kept.
pub fn usual_width(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return name[..name.len().min(LONGEST_NAME)].into();
    }
    let mut out = String::new();
    for c in name.chars().take(LONGEST_NAME) {
        match c {
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(c as u32 - 0xfee0)),
            '\u{3000}' => out.push(' '),
            '\u{ff66}'..='\u{ff9d}' => out.extend(HALF_WIDTH.chars().nth(c as usize - 0xff66)),
            // The two voicing marks follow their kana; the voiced kana are the next code points in Unicode.
            '\u{3099}' | '\u{ff9e}' => voice(&mut out, 1),
            '\u{309a}' | '\u{ff9f}' => voice(&mut out, 2),
            // Combining accents.
            '\u{300}'..='\u{36f}' => {}
            _ => out.push(c),
        }
    }
    out.into()
}

fn voice(out: &mut String, by: u32) {
    if let Some(kana) = out.pop() {
        out.extend(char::from_u32(kana as u32 + by));
    }
}

/// Lower case, without accents, kana as hiragana.
pub fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' | 'ā' | 'ă' | 'ą' => out.push('a'),
            'è'..='ë' | 'ē' | 'ę' | 'ě' => out.push('e'),
            'ì'..='ï' | 'ī' | 'ı' => out.push('i'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => out.push('o'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'ś' | 'š' | 'ş' => out.push('s'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            'ł' => out.push('l'),
            'ř' => out.push('r'),
            'ğ' => out.push('g'),
            'ť' => out.push('t'),
            'ď' => out.push('d'),
            'ß' => out.push_str("ss"),
            'œ' => out.push_str("oe"),
            'æ' => out.push_str("ae"),
            'ё' => out.push('е'),
            'й' => out.push('и'),
            'ァ'..='ヶ' => out.extend(char::from_u32(c as u32 - 0x60)),
            '\u{300}'..='\u{36f}' => {}
            _ => out.push(c),
        }
    }
    out
}

/// [`plain`] of some characters.
fn plain_chars(chars: &[char]) -> String {
    if chars.iter().all(char::is_ascii) {
        return chars.iter().map(char::to_ascii_lowercase).collect();
    }
    plain(&chars.iter().collect::<String>())
}

#[derive(PartialEq, Clone, Copy)]
enum CharKind {
    Lower,
    Upper,
    Digit,
    Other,
}

fn char_kind(c: char) -> CharKind {
    match c {
        c if c.is_ascii_digit() => CharKind::Digit,
        c if c.is_uppercase() => CharKind::Upper,
        c if c.is_alphabetic() => CharKind::Lower,
        _ => CharKind::Other,
    }
}

/// Splits a name in [`usual_width`] into runs.
pub fn runs(name: &str) -> Vec<CharRun> {
    let chars: Vec<char> = name.chars().collect();
    let mut runs = Vec::new();
    let mut start = 0;
    while start < chars.len() {
        let first = char_kind(chars[start]);
        if first == CharKind::Other {
            start += 1;
            continue;
        }
        let digits = first == CharKind::Digit;
        let same = |c: &&char| {
            !matches!(char_kind(**c), CharKind::Other) && (char_kind(**c) == CharKind::Digit) == digits
        };
        let end = start + chars[start..].iter().take_while(same).count();
        let run = &chars[start..end];
        runs.push(CharRun {
            text: plain_chars(run),
            words: words(run),
            digits,
            glued: start > 0 && char_kind(chars[start - 1]) != CharKind::Other,
            led: run.len() > 2 && char_kind(run[1]) == CharKind::Upper,
        });
        start = end;
    }
    runs
}

/// Splits a run where the case changes.
fn words(run: &[char]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut from = 0;
    for at in 1..=run.len() {
        // `LHip` splits before `Hip`: a capital letter followed by a small one starts a word.
        let starts = at == run.len()
            || match (char_kind(run[at - 1]), char_kind(run[at])) {
                (CharKind::Lower, CharKind::Upper) => true,
                (CharKind::Upper, CharKind::Upper) => {
                    run.get(at + 1).is_some_and(|&c| char_kind(c) == CharKind::Lower)
                }
                _ => false,
            };
        if starts {
            words.push(plain_chars(&run[from..at]));
            from = at;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(name: &str) -> Vec<String> {
        runs(&usual_width(name)).into_iter().flat_map(|r| r.words).collect()
    }

    #[test]
    fn names_split_at_separators_digits_and_capitals() {
        assert_eq!(words_of("mixamorig_LeftForeArm1"), ["mixamorig", "left", "fore", "arm", "1"]);
        assert_eq!(words_of("LHipJoint"), ["l", "hip", "joint"]);
        assert_eq!(words_of("upper_arm.L.001"), ["upper", "arm", "l", "001"]);
        assert_eq!(words_of(""), [""; 0]);
        let led = |name: &str| runs(name)[0].led;
        assert!(led("LUArm") && led("lThigh") && led("ARM") && !led("Left") && !led("arm"));
    }

    #[test]
    fn characters_of_all_widths_are_equal() {
        assert_eq!(words_of("左人指１"), words_of("左人指1"));
        assert_eq!(words_of("足ＩＫ"), ["足", "ik"]);
        assert_eq!(words_of("ヒザ"), words_of("ひざ"));
        assert_eq!(words_of("ﾋｻﾞ"), words_of("ひざ"));
        assert_eq!(words_of("ひさ\u{3099}"), words_of("ひざ"));
        assert_eq!(words_of("Épaule"), ["epaule"]);
        assert_eq!(words_of("E\u{301}paule"), ["epaule"]);
        assert_eq!(words_of("Fuß"), ["fuss"]);
        assert_eq!(words_of("ЛеваяСтопа"), ["левая", "стопа"]);
    }
}
