//! A dictionary as a pickle that Python's `pickle.load` reads with any NumPy.
//!
//! Protocol 3 without NumPy's internals: an array is `numpy.array(numpy.ndarray(shape, type, bytes))`, so that it is a copy that can
//! be written to. Source: Python's `pickletools`. Pickles are written, never read: they can run code.

/// A pickle of one dictionary.
#[derive(Debug)]
pub(super) struct Pickle {
    bytes: Vec<u8>,
}

impl Pickle {
    /// An empty dictionary.
    pub(super) fn new() -> Self {
        // PROTO 3, EMPTY_DICT, MARK.
        Self { bytes: b"\x80\x03}(".to_vec() }
    }

    /// The bytes of the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        // SETITEMS, STOP.
        self.bytes.extend(b"u.");
        self.bytes
    }

    pub(super) fn none(&mut self, key: &str) {
        self.text(key);
        self.bytes.push(b'N');
    }

    pub(super) fn whole(&mut self, key: &str, number: i32) {
        self.text(key);
        self.integer(number);
    }

    /// A rate: a whole number if it is one.
    pub(super) fn number(&mut self, key: &str, number: f64) {
        self.text(key);
        if number == number.round() && number.abs() < f64::from(i32::MAX) {
            self.integer(number as i32);
        } else {
            self.bytes.push(b'G');
            self.bytes.extend(number.to_be_bytes());
        }
    }

    pub(super) fn array(&mut self, key: &str, shape: &[usize], values: &[f64]) {
        self.text(key);
        self.bytes.extend(b"cnumpy\narray\n(cnumpy\nndarray\n((");
        for side in shape {
            self.integer(i32::try_from(*side).unwrap_or(i32::MAX));
        }
        self.bytes.push(b't');
        self.text("<f8");
        self.bytes.push(b'B');
        self.bytes.extend(u32::try_from(size_of_val(values)).unwrap_or(u32::MAX).to_le_bytes());
        self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.bytes.extend(b"tRtR");
    }

    fn text(&mut self, text: &str) {
        self.bytes.push(b'X');
        self.bytes.extend((text.len() as u32).to_le_bytes());
        self.bytes.extend(text.as_bytes());
    }

    fn integer(&mut self, number: i32) {
        self.bytes.push(b'J');
        self.bytes.extend(number.to_le_bytes());
    }
}
