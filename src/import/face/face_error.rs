//! Errors of face takes, each with its place and a hint.

/// Why a face take cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaceError {
    /// A table without a column of weights.
    #[error(
        "the first row names no morph target of a face (`jawOpen`, `viseme_aa`, `happy`)\n  hint: name the columns after ARKit blend shapes, VRM expressions or visemes, besides `Timecode`, `time` or `frame`"
    )]
    NoNames,
    /// A row of a table with another number of cells than the first.
    #[error("line {line}: {found} cells, the first row has {expected}\n  hint: export the table again")]
    Cells {
        /// The line, from 1.
        line: usize,
        /// Cells of the first row.
        expected: usize,
        /// Cells of this row.
        found: usize,
    },
    /// A cell that is no finite number, or no time.
    #[error("{place}: `{text}` is not {expected}\n  hint: export the take again")]
    Number {
        /// The line of the table, or the frame.
        place: String,
        /// The text, shortened.
        text: String,
        /// What is expected.
        expected: &'static str,
    },
    /// JSON of another layout.
    #[error(
        "the JSON holds neither positions of points nor weights of a face per frame: {reason}\n  hint: write points as `{{\"fps\": 30, \"frames\": [[[0, 1, 0], [0, 1.2, 0]]]}}`, weights as `{{\"fps\": 60, \"names\": [\"jawOpen\"], \"frames\": [[0.1]]}}`, or `{{\"frames\": [{{\"time\": 0, \"weights\": {{\"jawOpen\": 0.1}}}}]}}`"
    )]
    Json {
        /// What is missing or wrong.
        reason: String,
    },
    /// Frames in reverse.
    #[error(
        "the times fall from frame to frame, first from {first} s to {second} s: the take would play backwards\n  hint: export the take again, with its frames in the order of their times"
    )]
    Backwards {
        /// The time before the first fall, seconds.
        first: f64,
        /// The time after it, seconds.
        second: f64,
    },
    /// No frame has weights.
    #[error("no frame has weights\n  hint: export the take again")]
    Empty,
}
