//! The size of a file becomes what reading it may take of memory, and every decode draws from that before it sets anything
//! aside.
//!
//! Formats let a few bytes ask for gigabytes: lists without bytes, many views of the same bytes, joints that cost a row
//! nothing, packed zeros, keys that lie days apart. One sum over all of them holds, where a limit for each would let the
//! next one through. What is charged is what lists of numbers take; it is an estimate, and passes add to it. Units: bytes.

use std::cell::Cell;
use std::fmt;

/// What any file may take: two thirds of what is left of a machine of 8 GB for one take. Twenty minutes of sixty joints at
/// 120 Hz take a tenth of it.
pub const CEILING: u64 = 4_000_000_000;

/// What the smallest file may take: ten minutes of sixty joints at 60 Hz from two keys a joint. At half of it such clips are
/// refused, at double a batch on eight threads may take 2 GB for files of a few bytes.
const LEAST: u64 = 128_000_000;

/// What each byte of a file may turn into. Text and numbers as captures have them give 10, packed archives 30, a rig of
/// hundreds of nodes of which few move 60.
const PER_BYTE: u64 = 128;

/// What reading one file may take of memory.
#[derive(Debug)]
pub struct Allowance {
    told: bool,
    whole: Cell<u64>,
    left: Cell<u64>,
}

/// More than one file may take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} would take {}, and of the {} that {} may take {} are left (`input.memory`)\n  hint: {}",
    Bytes(*needed), Bytes(*whole), if *told { "a file" } else { "a file of this size" }, Bytes(*left), self.hint()
)]
pub struct OverAllowance {
    /// What asked for it: a path in the file, or a few words.
    pub what: String,
    /// What it asked for.
    pub needed: u64,
    /// What was left of the allowance.
    pub left: u64,
    /// The whole allowance.
    pub whole: u64,
    /// Whether the user told the allowance.
    pub told: bool,
}

/// Beyond this no key helps: a number in the file is damaged.
const ABSURD: u64 = 1_000_000_000_000;

impl OverAllowance {
    fn hint(&self) -> String {
        if self.needed > ABSURD {
            return "a number in the file is damaged; export it again".to_owned();
        }
        // Twice what would have been taken so far: more will follow.
        let enough = 2 * ((self.whole - self.left.min(self.whole)) + self.needed);
        format!("if the file can be trusted, `--set input.memory={}` lets it", Bytes(enough).word())
    }
}

impl Allowance {
    /// The allowance of a file of `bytes` bytes, or the one that the user told.
    pub fn new(bytes: u64, told: Option<u64>) -> Self {
        let whole = told.unwrap_or_else(|| LEAST.saturating_add(bytes.saturating_mul(PER_BYTE)).min(CEILING));
        Self { told: told.is_some(), whole: Cell::new(whole), left: Cell::new(whole) }
    }

    /// Adds what another file of `bytes` bytes, which belongs to this one, may turn into.
    pub fn grow(&self, bytes: u64) {
        if self.told {
            return;
        }
        let grown = self.whole.get().saturating_add(bytes.saturating_mul(PER_BYTE)).min(CEILING);
        let more = grown - self.whole.get();
        self.whole.set(grown);
        self.left.set(self.left.get() + more);
    }

    /// Takes `bytes` for what `what` says.
    ///
    /// # Errors
    /// `OverAllowance` where that is more than is left.
    pub fn take(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), OverAllowance> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(OverAllowance {
                what: what(),
                needed: bytes,
                left: self.left.get(),
                whole: self.whole.get(),
                told: self.told,
            }),
        }
    }

    /// Takes what `count` values of a type fill.
    ///
    /// # Errors
    /// As `Allowance::take`.
    pub fn take_list<T>(&self, count: u64, what: impl FnOnce() -> String) -> Result<(), OverAllowance> {
        self.take(count.saturating_mul(size_of::<T>() as u64), what)
    }

    /// What may still be taken.
    #[cfg(any(feature = "cli", feature = "fbx"))]
    pub fn left(&self) -> u64 {
        self.left.get()
    }
}

/// A number of bytes for people.
struct Bytes(u64);

/// Units with how many bytes they are, the largest first.
const UNITS: [(f64, &str); 3] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];

impl Bytes {
    /// A value for `input.memory`: whole units, rounded up.
    fn word(&self) -> String {
        let (size, unit) = UNITS[usize::from(self.0 < 1_000_000_000)];
        format!("{:.0}{unit}", (self.0 as f64 / size).ceil())
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0 as f64;
        match UNITS.iter().find(|(unit, _)| size >= *unit) {
            // Counts that a damaged number asks for have no end.
            Some((unit, name)) if size / unit > 1e6 => write!(f, "{:.1e} {name}", size / unit),
            Some((unit, name)) if size / unit < 10.0 => write!(f, "{:.1} {name}", size / unit),
            Some((unit, name)) => write!(f, "{:.0} {name}", size / unit),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone_and_never_more_than_there_was() {
        let allowance = Allowance::new(0, Some(100));
        assert_eq!(allowance.take(60, String::new), Ok(()));
        assert!(allowance.take(41, || "a list".into()).is_err());
        assert_eq!(allowance.take_list::<u64>(5, String::new), Ok(()));
        assert!(allowance.take_list::<u64>(u64::MAX, String::new).is_err());
        assert_eq!(allowance.left(), 0);
    }

    #[test]
    fn it_grows_with_the_file_up_to_a_ceiling() {
        let of = |bytes| Allowance::new(bytes, None).left();
        assert!(of(0) == LEAST && of(1_000_000) == LEAST + 1_000_000 * PER_BYTE);
        assert!(of(u64::MAX) == CEILING && of(100_000_000) == CEILING);
        let allowance = Allowance::new(10, None);
        allowance.grow(90);
        assert_eq!(allowance.left(), of(100));
        allowance.grow(u64::MAX);
        assert_eq!(allowance.left(), CEILING);
        let told = Allowance::new(10, Some(5));
        told.grow(90);
        assert_eq!(told.left(), 5);
    }

    #[test]
    fn the_message_names_the_key_and_a_value_that_is_enough() {
        let allowance = Allowance::new(0, None);
        let error = allowance.take(3_000_000_000, || "`accessors[3]`".into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`accessors[3]` would take 3.0 GB, and of the 128 MB that a file of this size may take 128 MB are left \
             (`input.memory`)\n  hint: if the file can be trusted, `--set input.memory=6GB` lets it"
        );
        let endless = Allowance::new(0, Some(10)).take(u64::MAX, || "a clip".into()).unwrap_err();
        assert!(endless.to_string().contains("1.8e10 GB"), "{endless}");
    }
}
