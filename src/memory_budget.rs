//! Limit on the memory and the work that reading one file may use, scaled to the size of the file.
//!
//! Every decoder reserves its memory from one budget before it allocates. Formats let a few bytes ask for gigabytes: lists
//! without bytes of their own, many views of the same bytes, joints that add nothing to a row, compressed zeros, keys days
//! apart. One sum covers all of them; with a limit for each, the next one would pass. Only the numbers in lists are counted:
//! it is an estimate, and later passes use more. Units: bytes.
//!
//! Work whose amount is a product of numbers in the file (layers x frames x nodes, corners of one face squared) is charged in
//! steps before it is done. A budget of memory has a step for every [`BYTES_PER_STEP`] bytes, so one key raises both.

use std::cell::Cell;
use std::fmt;

/// Default upper limit for a file of any size, bytes: two thirds of what a machine of 8 GB has left for one take. Twenty
/// minutes of sixty joints at 120 Hz need a tenth of it.
pub const MAX_MEMORY: u64 = 4_000_000_000;

/// Budget of the smallest file, bytes: ten minutes of sixty joints at 60 Hz from two keys a joint. With half of it such clips
/// are refused; with double, a batch on eight threads may use 2 GB for files of a few bytes.
const LEAST: u64 = 128_000_000;

/// Bytes of memory for each byte of a file. Text and numbers of typical captures need 10, compressed archives 30, a rig of
/// hundreds of nodes of which few move 60.
const PER_BYTE: u64 = 128;

/// Bytes of a budget for each step of work. A step takes at most about a microsecond, so that a small file is read within ten
/// seconds. With half of it twice that; with double, an FBX of 5 MB with twenty minutes of a hundred nodes at 60 Hz is refused.
const BYTES_PER_STEP: u64 = 16;

/// The memory and the work that reading one file may still use.
#[derive(Debug)]
pub struct MemoryBudget {
    user_specified: bool,
    whole: Cell<u64>,
    left: Cell<u64>,
    /// Steps of work done so far.
    steps: Cell<u64>,
}

/// Work that exceeds the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} needs {needed} steps of work, and {left} are left of those that {} may use (`input.memory`)\n  hint: {}",
    if *user_specified { "a file" } else { "a file of this size" }, self.hint()
)]
pub struct OverWork {
    /// What needs the work: a path in the file, or a few words.
    pub what: String,
    /// The steps requested.
    pub needed: u64,
    /// The steps that were left.
    pub left: u64,
    /// The whole budget, bytes.
    pub whole: u64,
    /// Whether the user set the budget.
    pub user_specified: bool,
}

impl OverWork {
    fn hint(&self) -> String {
        let done = (self.whole / BYTES_PER_STEP).saturating_sub(self.left);
        let enough = done.saturating_add(self.needed).saturating_mul(2 * BYTES_PER_STEP);
        match enough > ABSURD {
            true => "a number in the file is damaged; export it again".to_owned(),
            false => format!(
                "allow it with `--set input.memory={}` if you trust the file",
                ByteCount(enough).word()
            ),
        }
    }
}

/// A request that exceeds the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} needs {}, and {} are left of the {} that {} may use (`input.memory`)\n  hint: {}",
    ByteCount(*needed), ByteCount(*left), ByteCount(*whole),
    if *user_specified { "a file" } else { "a file of this size" }, self.hint()
)]
pub struct OverBudget {
    /// What needs the memory: a path in the file, or a few words.
    pub what: String,
    /// The bytes requested.
    pub needed: u64,
    /// The bytes that were left.
    pub left: u64,
    /// The whole budget.
    pub whole: u64,
    /// Whether the user set the budget.
    pub user_specified: bool,
}

/// Requests above this come from a damaged number in the file; no larger budget would help. Bytes.
const ABSURD: u64 = 1_000_000_000_000;

impl OverBudget {
    fn hint(&self) -> String {
        if self.needed > ABSURD {
            return "a number in the file is damaged; export it again".to_owned();
        }
        // Four times what has been requested so far: more will follow, also of this kind.
        let enough = 4 * ((self.whole - self.left.min(self.whole)) + self.needed);
        format!("allow it with `--set input.memory={}` if you trust the file", ByteCount(enough).word())
    }
}

impl MemoryBudget {
    /// The budget of a file of `bytes` bytes, or the `user_specified` one.
    pub fn new(bytes: u64, user_specified: Option<u64>) -> Self {
        let whole = user_specified
            .unwrap_or_else(|| LEAST.saturating_add(bytes.saturating_mul(PER_BYTE)).min(MAX_MEMORY));
        Self {
            user_specified: user_specified.is_some(),
            whole: Cell::new(whole),
            left: Cell::new(whole),
            steps: Cell::new(0),
        }
    }

    /// Adds the budget of another file of `bytes` bytes that belongs to this one.
    pub fn grow(&self, bytes: u64) {
        if self.user_specified {
            return;
        }
        let grown = self.whole.get().saturating_add(bytes.saturating_mul(PER_BYTE)).min(MAX_MEMORY);
        let more = grown - self.whole.get();
        self.whole.set(grown);
        self.left.set(self.left.get() + more);
    }

    /// Reserves `bytes`; `what` names what they are for.
    ///
    /// # Errors
    /// `OverBudget` if that exceeds what is left.
    pub fn reserve(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), OverBudget> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(OverBudget {
                what: what(),
                needed: bytes,
                left: self.left.get(),
                whole: self.whole.get(),
                user_specified: self.user_specified,
            }),
        }
    }

    /// Reserves the memory of `count` values of a type.
    ///
    /// # Errors
    /// As `MemoryBudget::reserve`.
    pub fn reserve_list<T>(&self, count: u64, what: impl FnOnce() -> String) -> Result<(), OverBudget> {
        self.reserve(count.saturating_mul(size_of::<T>() as u64), what)
    }

    /// Reserves the memory of JSON text that is parsed to a [`serde_json::Value`], at most: a value of two bytes takes 160.
    pub(crate) fn reserve_json(&self, text: &[u8]) -> Result<(), OverBudget> {
        /// A value, bytes.
        const VALUE: u64 = size_of::<serde_json::Value>() as u64;
        /// What a member of an object has besides, bytes: its name and its hash.
        const MEMBER: u64 = size_of::<(String, u64)>() as u64;
        // Lists and objects begin with room for four, and double it; an object has a table of hashes, a string its allocation.
        let of = |byte: &u8| match byte {
            b'[' => 4 * VALUE,
            b'{' => 4 * (VALUE + MEMBER) + 64,
            b',' => 2 * VALUE,
            b':' => 2 * MEMBER + 16,
            b'"' => 16,
            _ => 0,
        };
        let bytes = text.iter().map(of).sum::<u64>() + text.len() as u64;
        self.reserve(bytes, || "the JSON".to_owned())
    }

    /// Counts `steps` of work, each at most about a microsecond; `what` names what they are for.
    ///
    /// # Errors
    /// `OverWork` if that exceeds what the budget allows.
    pub fn work(&self, steps: u64, what: impl FnOnce() -> String) -> Result<(), OverWork> {
        let left = (self.whole.get() / BYTES_PER_STEP).saturating_sub(self.steps.get());
        if steps > left {
            let (whole, user_specified) = (self.whole.get(), self.user_specified);
            return Err(OverWork { what: what(), needed: steps, left, whole, user_specified });
        }
        self.steps.set(self.steps.get() + steps);
        Ok(())
    }

    /// The bytes that are left.
    pub fn left(&self) -> u64 {
        self.left.get()
    }
}

/// A number of bytes, displayed for people.
struct ByteCount(u64);

/// Units and their size in bytes, the largest first.
const UNITS: [(f64, &str); 3] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];

impl ByteCount {
    /// A value for `input.memory`: whole units, rounded up.
    fn word(&self) -> String {
        let (size, unit) = UNITS[usize::from(self.0 < 1_000_000_000)];
        format!("{:.0}{unit}", (self.0 as f64 / size).ceil())
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0 as f64;
        match UNITS.iter().find(|(unit, _)| size >= *unit) {
            // Damaged numbers ask for any count.
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
    fn reserved_bytes_are_gone_and_never_exceed_the_budget() {
        let budget = MemoryBudget::new(0, Some(100));
        assert_eq!(budget.reserve(60, String::new), Ok(()));
        assert!(budget.reserve(41, || "a list".into()).is_err());
        assert_eq!(budget.reserve_list::<u64>(5, String::new), Ok(()));
        assert!(budget.reserve_list::<u64>(u64::MAX, String::new).is_err());
        assert_eq!(budget.left(), 0);
    }

    #[test]
    fn json_is_reserved_by_what_its_values_take() {
        let taken = |text: &str| {
            let budget = MemoryBudget::new(0, Some(1_000_000));
            budget.reserve_json(text.as_bytes()).unwrap();
            1_000_000 - budget.left()
        };
        let value = size_of::<serde_json::Value>() as u64;
        // A list of one number has room for four, a list of many for twice as many.
        assert!(
            taken("[[0],[0],[0]]") >= 4 * 4 * value
                && taken(&format!("[{}0]", "0,".repeat(999))) >= 1999 * value
        );
        assert!(taken("[{\"a\":0}]") >= 8 * value + 4 * 32);
        assert!(MemoryBudget::new(0, Some(100)).reserve_json(b"[]").is_err());
    }

    #[test]
    fn work_grows_with_the_budget_and_never_exceeds_it() {
        let budget = MemoryBudget::new(0, Some(100 * BYTES_PER_STEP));
        assert_eq!(budget.work(60, String::new), Ok(()));
        assert!(budget.work(41, String::new).is_err() && budget.work(u64::MAX, String::new).is_err());
        assert_eq!(budget.work(40, String::new), Ok(()));
        let error = MemoryBudget::new(0, None).work(10_000_000, || "the take `a`".into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the take `a` needs 10000000 steps of work, and 8000000 are left of those that a file of this size may use \
             (`input.memory`)\n  hint: allow it with `--set input.memory=320MB` if you trust the file"
        );
    }

    #[test]
    fn the_budget_grows_with_the_file_up_to_the_maximum() {
        let of = |bytes| MemoryBudget::new(bytes, None).left();
        assert!(of(0) == LEAST && of(1_000_000) == LEAST + 1_000_000 * PER_BYTE);
        assert!(of(u64::MAX) == MAX_MEMORY && of(100_000_000) == MAX_MEMORY);
        let budget = MemoryBudget::new(10, None);
        budget.grow(90);
        assert_eq!(budget.left(), of(100));
        budget.grow(u64::MAX);
        assert_eq!(budget.left(), MAX_MEMORY);
        let fixed = MemoryBudget::new(10, Some(5));
        fixed.grow(90);
        assert_eq!(fixed.left(), 5);
    }

    #[test]
    fn the_message_names_the_key_and_a_value_that_is_enough() {
        let budget = MemoryBudget::new(0, None);
        let error = budget.reserve(3_000_000_000, || "`accessors[3]`".into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`accessors[3]` needs 3.0 GB, and 128 MB are left of the 128 MB that a file of this size may use \
             (`input.memory`)\n  hint: allow it with `--set input.memory=12GB` if you trust the file"
        );
        let endless = MemoryBudget::new(0, Some(10)).reserve(u64::MAX, || "a clip".into()).unwrap_err();
        assert!(endless.to_string().contains("1.8e10 GB"), "{endless}");
    }
}
