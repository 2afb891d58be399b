//! Draws labels with a bitmap font, `font.txt`, of the printable ASCII characters.
//!
//! Glyphs are five columns and nine rows, two of them below the line, in bands of sixteen; other characters
//! are drawn as `?`.

use super::picture::Picture;
use std::sync::LazyLock;

/// Width of a glyph, dots.
const COLUMNS: usize = 5;
/// Height of a glyph, dots, two of them below the baseline.
const ROWS: usize = 9;
/// Glyphs per band of the font file.
const BAND: usize = 16;
/// Horizontal advance from one character to the next, dots.
const ADVANCE: usize = COLUMNS + 1;

/// The rows of dots of every character, read from the font file.
static GLYPHS: LazyLock<Vec<[u8; ROWS]>> = LazyLock::new(|| {
    let lines: Vec<&[u8]> = include_str!("font.txt").lines().map(str::as_bytes).collect();
    let glyph = |k: usize| {
        std::array::from_fn(|row| {
            let line = lines[k / BAND * ROWS + row];
            let dots = &line[k % BAND * ADVANCE..][..COLUMNS];
            dots.iter().fold(0, |bits, &dot| bits << 1 | u8::from(dot == b'#'))
        })
    };
    (0..usize::from(b'~' - b' ') + 1).map(glyph).collect()
});

fn glyph(c: char) -> &'static [u8; ROWS] {
    let known = if (' '..='~').contains(&c) { c } else { '?' };
    &GLYPHS[known as usize - ' ' as usize]
}

/// The height of a line in pixels at `scale`, the part below the line included.
pub(super) fn line_height(scale: usize) -> usize {
    ROWS * scale
}

/// The width of a text in pixels at `scale`.
pub(super) fn width(text: &str, scale: usize) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(1) * scale
}

/// `text`, shortened in the middle if it is wider than `most` pixels.
pub(super) fn fitted(text: &str, scale: usize, most: usize) -> String {
    let room = (most / scale + 1) / ADVANCE;
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    if room < 5 {
        return text.chars().take(room).collect();
    }
    let head = (room - 2) / 2;
    let tail = room - 2 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}..{end}")
}

/// Writes `text` with its upper left corner at `x`, `y`, every dot `scale` pixels a side.
pub(super) fn draw(picture: &mut Picture, x: usize, y: usize, text: &str, scale: usize, color: [u8; 3]) {
    for (k, c) in text.chars().enumerate() {
        for (row, bits) in glyph(c).iter().enumerate() {
            for column in (0..COLUMNS).filter(|column| bits >> (COLUMNS - 1 - column) & 1 == 1) {
                let left = x + (k * ADVANCE + column) * scale;
                picture.fill(left, y + row * scale, scale, scale, color);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> String {
        let mut picture = Picture::new(width(text, 1), line_height(1), [255; 3]);
        draw(&mut picture, 0, 0, text, 1, [0; 3]);
        let dot = |p: &[u8; 3]| if p[0] == 0 { '#' } else { '.' };
        let line = |row: &[[u8; 3]]| row.iter().map(dot).collect::<String>();
        picture.pixels.chunks(picture.width).map(|row| line(row) + "\n").collect()
    }

    #[test]
    fn labels_can_be_read() {
        let expected = "\
            #...#.........##.\n\
            #...#........#..#\n\
            #...#.####...#...\n\
            #####.#...#.###..\n\
            #...#.#...#..#...\n\
            #...#.#...#..#...\n\
            #...#.####...#...\n\
            ......#..........\n\
            ......#..........\n";
        assert_eq!(drawn("Hpf"), expected);
    }

    #[test]
    fn every_character_has_its_own_shape() {
        for (i, a) in GLYPHS.iter().enumerate() {
            assert!(i == 0 || a.iter().any(|&row| row != 0));
            assert!(GLYPHS[..i].iter().all(|b| a != b), "{:?} looks like another", char::from(i as u8 + 32));
        }
        assert_eq!(drawn("\u{e9}"), drawn("?"));
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(fitted("short", 1, 100), "short");
        let text = fitted("a_very_long_motion_name_take_07", 2, 150);
        assert!(width(&text, 2) <= 150 && text.starts_with("a_v") && text.ends_with("07"), "{text}");
        assert_eq!(fitted("anything", 2, 0), "");
    }

    #[test]
    fn text_beyond_the_edge_is_cut_off() {
        let mut picture = Picture::new(8, 4, [255; 3]);
        draw(&mut picture, 3, 2, "W", 3, [0; 3]);
        draw(&mut picture, 300, 200, "W", 3, [0; 3]);
        assert!(picture.pixels.contains(&[0; 3]));
    }
}
