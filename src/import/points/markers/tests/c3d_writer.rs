//! Writes C3D files of all processors and both forms, independent of the reader.

use crate::math::Vec3;

/// What a file is written as.
#[derive(Clone, Copy, Debug)]
pub(super) struct C3dForm {
    /// 84: Intel, 85: DEC, 86: MIPS.
    pub(super) processor: u8,
    pub(super) floats: bool,
    /// Units per step of an integer.
    pub(super) scale: f32,
    /// Analog samples of a frame.
    pub(super) analog: u16,
}

pub(super) const INTEL: C3dForm = C3dForm { processor: 84, floats: true, scale: 0.1, analog: 3 };

impl C3dForm {
    fn word(self, value: u16) -> [u8; 2] {
        if self.processor == 86 { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn float(self, value: f32) -> [u8; 4] {
        match self.processor {
            84 => value.to_le_bytes(),
            86 => value.to_be_bytes(),
            // Four times the value has the exponent of a VAX; its words are exchanged.
            _ => {
                let [a, b, c, d] = (value * 4.0).to_be_bytes();
                [b, a, d, c]
            }
        }
    }

    fn entry(self, name: &str, group: i8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![name.len() as u8, group as u8];
        bytes.extend(name.as_bytes());
        bytes.extend(self.word(content.len() as u16 + 2));
        bytes.extend(content);
        bytes
    }

    fn parameter(self, name: &str, kind: i8, sizes: &[u8], values: &[u8]) -> Vec<u8> {
        let mut content = vec![kind as u8, sizes.len() as u8];
        content.extend(sizes);
        content.extend(values);
        content.push(0);
        self.entry(name, 1, &content)
    }

    /// A file of points in millimetres, frame by frame; NaN is a gap.
    pub(super) fn file(self, labels: &[String], frames: &[Vec<Vec3>], rate: f32) -> Vec<u8> {
        let scale = if self.floats { -self.scale } else { self.scale };
        let points = labels.len() as u16;
        let mut section = vec![1, 0x50, 0, self.processor];
        section.extend(self.entry("POINT", -1, &[0]));
        section.extend(self.parameter("USED", 2, &[], &self.word(points)));
        section.extend(self.parameter("SCALE", 4, &[], &self.float(scale)));
        section.extend(self.parameter("RATE", 4, &[], &self.float(rate)));
        section.extend(self.parameter("UNITS", -1, &[4], b"mm  "));
        for (k, part) in labels.chunks(255).enumerate() {
            let name = if k == 0 { "LABELS".to_owned() } else { format!("LABELS{}", k + 1) };
            let width = part.iter().map(String::len).max().unwrap_or(1);
            let text: String = part.iter().map(|label| format!("{label:<width$}")).collect();
            section.extend(self.parameter(&name, -1, &[width as u8, part.len() as u8], text.as_bytes()));
        }
        let blocks = (section.len() + 2 + 10).div_ceil(512);
        let data = 2 + blocks as u16;
        section.extend(self.parameter("DATA_START", 2, &[], &self.word(data)));
        section.resize(blocks * 512, 0);
        section[2] = blocks as u8;
        let mut bytes = vec![2, 0x50];
        for word in [points, self.analog, 1, frames.len() as u16, 10] {
            bytes.extend(self.word(word));
        }
        bytes.extend(self.float(scale));
        bytes.extend(self.word(data));
        bytes.extend(self.word(self.analog));
        bytes.extend(self.float(rate));
        bytes.resize(512, 0);
        bytes.extend(section);
        for frame in frames {
            for p in frame {
                let seen = p.x.is_finite();
                let values = [p.x, p.y, p.z].map(|x| if seen { x as f32 } else { 0.0 });
                let residual = if seen { 1.0 } else { -1.0 };
                for x in values {
                    self.push(&mut bytes, if self.floats { x } else { (x / self.scale).round() });
                }
                self.push(&mut bytes, residual);
            }
            (0..self.analog).for_each(|k| self.push(&mut bytes, f32::from(k) * 100.0));
        }
        bytes
    }

    fn push(self, bytes: &mut Vec<u8>, value: f32) {
        match self.floats {
            true => bytes.extend(self.float(value)),
            false => bytes.extend(self.word(value as i16 as u16)),
        }
    }
}
