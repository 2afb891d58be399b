//! Trees of bodies that rest on each other sleep: their step is skipped until something touches or moves them.
//!
//! Trees that contacts join form an island. It sleeps where all of its bodies have hardly moved for a while, nothing drives them,
//! and at least one contact holds them: a pendulum that hangs still, or is balanced, goes on. Units: metres, seconds.

use super::contact_point::Contact;
use super::impulse_rows::CONTACT_KEYS;
use super::rigid_body::BodyState;
use super::world::{RowKey, World};

/// Bodies slower than this rest, m/s and rad/s: what creeps at this speed moves by 2 cm a minute.
const STILL: f64 = 3e-4;
/// How long before they sleep, seconds: a thrown body stands still for less at its highest point.
const STILL_FOR: f64 = 0.5;

impl World {
    /// Finds the trees that sleep in the next step of `h` seconds: by the contacts of the last search.
    pub(super) fn find_resting(&mut self, h: f64) {
        for (tree, links) in self.trees.iter().enumerate() {
            let still =
                |state: &BodyState| state.velocity.norm() < STILL && state.angular_velocity.norm() < STILL;
            let rests = links.clone().all(|k| still(&self.states[self.articulation.links()[k].body]));
            self.calm[tree] = if rests { self.calm[tree] + h } else { 0.0 };
        }
        let mut awake: Vec<bool> = self.calm.iter().map(|calm| *calm < STILL_FOR).collect();
        for constraint in self.driven() {
            let c = &self.articulation.constraints()[constraint];
            c.a.into_iter().chain(c.b).for_each(|body| awake[self.tree_of_body(body)] = true);
        }
        let pulled = self.pulls.iter().flat_map(|pull| std::iter::once(pull.body).chain(pull.against));
        let supported = self.supports.iter().flat_map(|support| support.bodies.iter().map(|held| held.0));
        pulled.chain(supported).for_each(|body| awake[self.tree_of_body(body)] = true);
        let ends: Vec<Vec<usize>> = self.contacts().iter().map(|c| self.trees_of(c)).collect();
        // Who has lost a contact, or found one, or has none, is awake.
        let mut touching: Vec<Vec<[usize; 2]>> = vec![Vec::new(); awake.len()];
        for (contact, trees) in self.contacts().iter().zip(&ends) {
            for tree in trees {
                let pair = [contact.first, contact.second];
                if !touching[*tree].contains(&pair) {
                    touching[*tree].push(pair);
                }
            }
        }
        for (tree, awake) in awake.iter_mut().enumerate() {
            if touching[tree] != self.touching[tree] || touching[tree].is_empty() {
                (*awake, self.calm[tree]) = (true, 0.0);
            }
        }
        self.touching = touching;
        // Whoever touches somebody awake is awake.
        let mut changed = true;
        while changed {
            changed = false;
            for ends in &ends {
                if ends.iter().any(|tree| awake[*tree]) && ends.iter().any(|tree| !awake[*tree]) {
                    ends.iter().for_each(|tree| awake[*tree] = true);
                    changed = true;
                }
            }
        }
        self.asleep = awake.into_iter().map(|awake| !awake).collect();
    }

    /// Whether a contact holds bodies that sleep.
    pub(super) fn sleeps(&self, contact: &Contact) -> bool {
        self.trees_of(contact).iter().any(|tree| self.asleep[*tree])
    }

    /// Forgets the impulses of the last step but those that hold bodies that sleep: they are needed when these wake.
    pub(super) fn forget_awake(&mut self) {
        let asleep = |collider: usize| {
            let body = self.colliders.get(collider).and_then(|c| c.body);
            body.is_some_and(|body| self.asleep[self.tree_of_body(body)])
        };
        let kept = |key: &RowKey| CONTACT_KEYS.contains(&key.0) && (asleep(key.1) || asleep(key.2));
        let memory = self.memory.iter().filter(|(key, _)| kept(key)).map(|(key, x)| (*key, *x)).collect();
        self.memory = memory;
    }

    /// The trees of the bodies of a contact.
    fn trees_of(&self, contact: &Contact) -> Vec<usize> {
        let bodies = [contact.first, contact.second].into_iter().filter_map(|k| self.colliders[k].body);
        bodies.map(|body| self.tree_of_body(body)).collect()
    }

    fn tree_of_body(&self, body: usize) -> usize {
        self.tree_of[self.articulation.link_of(body)]
    }

    /// The constraints that motors, springs and drives act on.
    fn driven(&self) -> Vec<usize> {
        let motors = self.motors.iter().map(|motor| motor.constraint);
        let springs = self.springs.iter().map(|spring| spring.constraint);
        motors.chain(springs).chain(self.drives.iter().map(|drive| drive.constraint)).collect()
    }
}
