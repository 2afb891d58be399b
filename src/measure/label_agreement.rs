//! Precision, recall and F1 of contact labels against those detected on the motion.

use super::catalogue::metric;
use crate::contacts::{ContactOptions, detect};
use crate::model::{Contacts, Motion};
use crate::report::Metric;

/// How well the labels that are found on `motion` agree with `expected`, over all frames and the parts that both know.
///
/// The ground is that of `expected`, so that feet off that ground count as floating.
pub fn agreement(motion: &Motion, expected: &Contacts) -> Vec<Metric> {
    let options = ContactOptions { ground: Some(expected.ground), ..ContactOptions::default() };
    let found = detect(motion, &options);
    let (mut both, mut found_only, mut missed) = (0usize, 0usize, 0usize);
    let known: Vec<_> = found.parts().collect();
    for part in expected.parts().filter(|p| known.contains(p)) {
        for frame in 0..motion.clip.frames() {
            match (found.rests(part, frame), expected.rests(part, frame)) {
                (true, true) => both += 1,
                (true, false) => found_only += 1,
                (false, true) => missed += 1,
                (false, false) => {}
            }
        }
    }
    let share = |of: usize| if of == 0 { 1.0 } else { both as f64 / of as f64 };
    let (precision, recall) = (share(both + found_only), share(both + missed));
    let sum = precision + recall;
    let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
    vec![metric("contact_precision", precision), metric("contact_recall", recall), metric("contact_f1", f1)]
}
