//! Shards: disjoint shares of the takes for several machines.

use super::file_times::key;
use super::take_patterns::TakesError;
use crate::pipeline::{TakeFile, slashed};
use std::fmt;

/// One of several shares of the takes. The share of a take depends on its name alone, so that it stays the same when other
/// takes are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the share, from 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// Whether the take belongs to the share.
    pub fn contains(self, take: &TakeFile) -> bool {
        let hash = key(&[slashed(&take.relative).as_bytes()]);
        hash % u128::from(self.of) == u128::from(self.number - 1)
    }
}

impl std::str::FromStr for Shard {
    type Err = TakesError;

    fn from_str(text: &str) -> Result<Self, TakesError> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(TakesError::Shard(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn every_take_belongs_to_exactly_one_share_whatever_the_others_are() {
        let take = |k: usize| TakeFile { path: PathBuf::new(), relative: format!("day/{k}.bvh").into() };
        let mut sizes = [0; 4];
        for k in 0..400 {
            let holders: Vec<u64> =
                (1..=4).filter(|&number| Shard { number, of: 4 }.contains(&take(k))).collect();
            assert_eq!(holders.len(), 1);
            sizes[holders[0] as usize - 1] += 1;
        }
        assert!(sizes.iter().all(|n| (60..140).contains(n)), "{sizes:?}");
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for text in ["0/4", "5/4", "1", "a/b", "1/0"] {
            assert_eq!(text.parse::<Shard>(), Err(TakesError::Shard(text.to_owned())));
        }
    }
}
