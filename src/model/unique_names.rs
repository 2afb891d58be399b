//! Makes names unique by appending numbers.

use std::collections::HashMap;

/// The names in use, and the number to try next for each; names are never released.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueNames(HashMap<String, usize>);

impl UniqueNames {
    /// With `names` in use.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(|name| (name, 2)).collect())
    }

    /// `name`, or `name_2`, `name_3`, ... with the lowest number that makes it new; it is in use from then on.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        while self.0.contains_key(&found) {
            let next = self.0.get_mut(name).expect("a numbered name follows its plain one");
            found = format!("{name}_{next}");
            *next += 1;
        }
        self.0.insert(found.clone(), 2);
        found
    }
}
