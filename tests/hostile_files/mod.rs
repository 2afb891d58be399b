//! Files of less than a megabyte that ask for more than anybody has, each by another mechanism.

mod documents;
mod archives;
mod texts;
#[cfg(feature = "fbx")]
mod scenes;

pub use archives::glb;

/// What the program has to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exit 1, and a message with these words.
    Refused(&'static str),
    /// Exit 0: it is large or odd, and no more than that.
    Read,
}

/// How a file is given to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// `inspect FILE`.
    Inspect,
    /// `convert FILE -o out/x.glb`.
    Convert,
    /// `preview FILE -o out/x.png`.
    Preview,
    /// `retarget FILE --onto robot.glb -o out/x.glb`.
    Take,
    /// `retarget walk.bvh --onto FILE -o out/x.glb`.
    Character,
}

/// One file.
#[derive(Clone)]
pub struct Hostile {
    /// Its name, which says what it does.
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub uses: &'static [Use],
    pub answer: Answer,
}

/// A file that every command refuses for the memory that it asks for.
pub const MEMORY: Answer = Answer::Refused("`input.memory`");

/// All of them.
pub fn hostile_files() -> Vec<Hostile> {
    let mut files = [documents::documents(), texts::texts(), archives::archives()].concat();
    #[cfg(feature = "fbx")]
    files.extend(scenes::scenes());
    files
}

/// `count` copies of a text, with a separator between.
pub fn many(count: usize, separator: &str, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(separator)
}
