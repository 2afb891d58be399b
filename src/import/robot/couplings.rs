//! Couplings of hinges as the solve needs them: each to a hinge that follows none.

use crate::model::{Coupling, Hinge};
use crate::report::{Warnings, shortened};

/// Resolves couplings: a hinge that follows a follower gets the coupling to the first of them, one that is coupled to itself is locked
/// at its constant. What cannot be resolved is reported, and its hinge moves freely.
pub(super) fn resolve(hinges: &mut [Hinge], file: &str, warnings: &mut Warnings) {
    lock(hinges, file, warnings);
    let mut free = |hinge: &mut Hinge, reason: &str| {
        hinge.follows = None;
        let message = format!("the coupling of `{}` {reason}: it moves freely", shortened(&hinge.name));
        warnings.add("robot-coupling", message, file);
    };
    for k in 0..hinges.len() {
        let leader = |at: &usize| hinges[*at].follows.as_ref().map(|follows| follows.hinge);
        let mut chain = std::iter::successors(leader(&k), leader).take(hinges.len());
        if chain.any(|at| at == k) {
            free(&mut hinges[k], "goes round in a circle");
        }
    }
    for k in 0..hinges.len() {
        while let Some(own) = hinges[k].follows.clone() {
            let Some(next) = hinges[own.hinge].follows.clone() else { break };
            match composed(&own.coefficients, &next.coefficients) {
                Some(coefficients) => hinges[k].follows = Some(Coupling { hinge: next.hinge, coefficients }),
                None => free(&mut hinges[k], "to another that is coupled has a degree above 4"),
            }
        }
    }
}

/// Couples each hinge that is coupled to itself to a free one, with its constant alone: it stays where it is locked.
fn lock(hinges: &mut [Hinge], file: &str, warnings: &mut Warnings) {
    for k in 0..hinges.len() {
        let Some(constant) =
            hinges[k].follows.as_ref().filter(|own| own.hinge == k).map(|own| own.coefficients[0])
        else {
            continue;
        };
        // The nearest before it: most often one of the same limb.
        let other = (0..k).rev().chain(k + 1..hinges.len()).find(|&other| hinges[other].follows.is_none());
        hinges[k].follows =
            other.map(|hinge| Coupling { hinge, coefficients: [constant, 0.0, 0.0, 0.0, 0.0] });
        if other.is_none() {
            let message =
                format!("`{}` is locked, and no hinge is free: it moves freely", shortened(&hinges[k].name));
            warnings.add("robot-coupling", message, file);
        }
    }
}

/// The polynomial `outer(inner(x))`; `None` if its degree is above 4.
fn composed(outer: &[f64; 5], inner: &[f64; 5]) -> Option<[f64; 5]> {
    let mut sum = vec![0.0];
    for coefficient in outer.iter().rev() {
        let mut product = vec![0.0; sum.len() + inner.len() - 1];
        for (a, x) in sum.iter().enumerate() {
            inner.iter().enumerate().for_each(|(b, y)| product[a + b] += x * y);
        }
        product[0] += coefficient;
        sum = product;
    }
    let (low, high) = sum.split_at(5);
    high.iter().all(|x| *x == 0.0).then(|| low.try_into().expect("five coefficients"))
}
