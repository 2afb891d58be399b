//! Precision, recall and F1 of contact labels against those detected on the motion.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use crate::contacts::{ContactOptions, detect_on};
use crate::model::{Contacts, Hold, Motion};
use crate::report::Metric;

/// How well the labels that are found on `motion` agree with `expected`, over all frames and the parts that both know.
///
/// The ground is that of `expected`, so that feet off that ground count as floating.
pub fn agreement(context: &MetricContext, motion: &Motion, expected: &Contacts) -> Vec<Metric> {
    let options = ContactOptions { ground: Some(expected.ground), ..ContactOptions::default() };
    let found = detect_on(&context.body, motion, &options);
    let (mut both, mut all_found, mut all_expected) = (0, 0, 0);
    let known: Vec<_> = found.parts().collect();
    for part in expected.parts().filter(|p| known.contains(p)) {
        let (own, theirs) = (found.holds(part), expected.holds(part));
        // Labels may be a frame longer than the motion.
        let whole = [Hold { frames: 0..motion.clip.frames(), height: 0.0, slide: 0.0 }];
        both += frames_in_both(own, theirs);
        all_found += frames_in_both(own, &whole);
        all_expected += frames_in_both(theirs, &whole);
    }
    let share = |of: usize| if of == 0 { 1.0 } else { both as f64 / of as f64 };
    let (precision, recall) = (share(all_found), share(all_expected));
    let sum = precision + recall;
    let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
    vec![metric("contact_precision", precision), metric("contact_recall", recall), metric("contact_f1", f1)]
}

/// The number of frames that are in a hold of both lists.
fn frames_in_both(a: &[Hold], b: &[Hold]) -> usize {
    let (mut a, mut b) = (a.iter().map(|h| &h.frames).peekable(), b.iter().map(|h| &h.frames).peekable());
    let mut count = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        count += x.end.min(y.end).saturating_sub(x.start.max(y.start));
        if x.end < y.end {
            a.next()
        } else {
            b.next()
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_both_are_those_that_are_in_a_hold_of_each() {
        let holds = |spans: &[[usize; 2]]| -> Vec<Hold> {
            spans.iter().map(|s| Hold { frames: s[0]..s[1], height: 0.0, slide: 0.0 }).collect()
        };
        let lists = [
            holds(&[]),
            holds(&[[0, 4]]),
            holds(&[[2, 3], [3, 7], [9, 12]]),
            holds(&[[0, 1], [4, 10], [11, 30]]),
        ];
        let is_in = |list: &[Hold], f: usize| list.iter().any(|h| h.frames.contains(&f));
        for a in &lists {
            for b in &lists {
                let counted = (0..40).filter(|f| is_in(a, *f) && is_in(b, *f)).count();
                assert_eq!(frames_in_both(a, b), counted, "{a:?} {b:?}");
            }
        }
    }
}
