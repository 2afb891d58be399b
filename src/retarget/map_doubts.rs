//! Finds roles that are doubtful or contradicted by the joint's name, exchanged sides, and hands and feet whose joints were not
//! recognised, each with the lines of a map file that settle it.

use super::candidates::{names_another_part, names_the_part};
use super::digit_order::digit_order;
use super::map_gaps::{Gap, MapEnd, Pairing, line, swap_key};
use crate::anatomy::JointLabel;
use crate::model::{Assignment, Finger, JointId, Role, Side};
use crate::report::one_line;

/// Number of joints below a hand or foot from which they are fingers or toes; fewer are ends of bones.
const DIGITS: usize = 3;
/// Fewest joints whose names have a side from which sides can be judged as exchanged: one limb has three.
const SIDED: usize = 4;

/// Whether a doubt has no consequence worth a warning: a collar bone with the name of one, which the shape cannot confirm
/// because bodies have it or not. The upper arm's direction is transferred by itself.
fn harmless(role: Role, found: &Assignment) -> bool {
    matches!(role, Role::Clavicle(_)) && found.is_sure() && found.runner_up.is_none()
}

impl Pairing<'_> {
    /// The joints of `role` that are doubtful or contradicted, with alternatives.
    pub(super) fn doubts(&self, role: Role) -> Vec<Gap> {
        let of = |end: MapEnd| {
            let found = self.of(end).0.rig.assignment(role)?;
            match found.is_doubtful() && !harmless(role, found) {
                true => Some(self.doubt(role, end, found)),
                false => self.contradiction(role, end),
            }
        };
        [MapEnd::Source, MapEnd::Target].into_iter().filter_map(of).collect()
    }

    /// Doubtful roles of both bodies that are not in `reported`; the fingers of a hand are reported as one.
    pub(super) fn other_doubts(&self, reported: &[Role]) -> Vec<Gap> {
        let mut found = Vec::new();
        for end in [MapEnd::Source, MapEnd::Target] {
            let (own, other) = self.of(end);
            let doubtful: Vec<(Role, &Assignment)> = (own.rig.assignments())
                .filter(|(role, a)| {
                    a.is_doubtful() && !reported.contains(role) && other.rig.joint(*role).is_some()
                })
                .collect();
            let finger = |role: &Role| matches!(role, Role::Finger(..));
            found.extend(
                doubtful.iter().filter(|(role, _)| !finger(role)).map(|(role, a)| self.doubt(*role, end, a)),
            );
            for side in Side::BOTH {
                let hand: Vec<_> =
                    doubtful.iter().filter(|(role, _)| finger(role) && role.side() == Some(side)).collect();
                found.extend(self.doubtful_fingers(end, side, &hand));
            }
        }
        found
    }

    fn doubtful_fingers(&self, end: MapEnd, side: Side, fingers: &[&(Role, &Assignment)]) -> Option<Gap> {
        let (own, _) = self.of(end);
        let (role, least) = fingers.iter().min_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence))?;
        let message = format!(
            "{} joints are only a guess for the fingers of `{}` of `{}`, confidence {:.2} of at least {:.2}: {}",
            fingers.len(),
            Role::Hand(side),
            one_line(&own.character.name),
            least.confidence,
            Assignment::DOUBTFUL,
            least.reason
        );
        let lines: Vec<String> = fingers.iter().map(|(r, a)| line(end, *r, own.name(a.joint))).collect();
        let guess = Some((*least).clone());
        Some(Gap { role: *role, end, guess, candidates: Vec::new(), message, fix: Some(lines.join("\n")) })
    }

    /// A doubtful role, with the second-best joint or the line that confirms it.
    pub(super) fn doubt(&self, role: Role, end: MapEnd, guess: &Assignment) -> Gap {
        let (own, _) = self.of(end);
        let second = guess.runner_up.map(|r| r.0);
        let candidates = second.map_or_else(|| self.candidates(role, end), |id| vec![id]);
        let alternative = match (candidates.first(), guess.runner_up) {
            (Some(&id), Some((_, c))) => format!("; the second-best is `{}` with {c:.2}", own.name(id)),
            (Some(&id), None) => format!("; the second-best is `{}`", own.name(id)),
            (None, _) => String::new(),
        };
        let least = if guess.is_sure() { Assignment::DOUBTFUL } else { Assignment::SURE };
        let message = format!(
            "`{}` is only a guess for `{role}` of `{}`, confidence {:.2} of at least {least:.2}: {}{alternative}",
            own.name(guess.joint),
            one_line(&own.character.name),
            guess.confidence,
            guess.reason
        );
        // A doubtful joint is confirmed, a mere guess is replaced.
        let settled = candidates.first().filter(|_| !guess.is_sure()).unwrap_or(&guess.joint);
        let fix = Some(line(end, role, own.name(*settled)));
        Gap { role, end, guess: Some(guess.clone()), candidates, message, fix }
    }

    /// A role found by other evidence than its name, on a joint whose name means another part of the body.
    fn contradiction(&self, role: Role, end: MapEnd) -> Option<Gap> {
        let (own, other) = self.of(end);
        let found = own.rig.assignment(role)?;
        let name = own.name(found.joint);
        let label = JointLabel::of(name);
        // A trunk is often numbered from hips to head under one name, and is read by its order.
        let numbered = match role {
            Role::Hips | Role::Spine(_) | Role::Neck(_) | Role::Tail(_) => true,
            Role::Head => label.words.iter().any(|word| word == "spine"),
            _ => false,
        };
        // The user's word and names that were read as this role contradict nothing.
        if numbered || found.confidence >= 1.0 || !names_another_part(&label, role) {
            return None;
        }
        let candidates = self.candidates(role, end);
        let message = format!(
            "`{name}` is taken for `{role}` of `{}` ({}), but its name means another part",
            one_line(&own.character.name),
            found.reason
        );
        let mut lines = vec![line(end, role, own.name(*candidates.first().unwrap_or(&found.joint)))];
        if !candidates.is_empty() {
            // The joint is then free for the part that its name means.
            let missing = other.rig.assignments().map(|(r, _)| r).filter(|r| own.rig.joint(*r).is_none());
            let meant = missing.filter(|r| names_the_part(&label, *r)).find(|r| r.side() == label.side);
            lines.extend(meant.map(|meant| line(end, meant, name)));
        }
        let fix = Some(lines.join("\n"));
        Some(Gap { role, end, guess: Some(found.clone()), candidates, message, fix })
    }

    /// One gap if the names of almost all joints with a side name the other one; those of a half of the body have a warning of their own.
    pub(super) fn exchanged_sides(&self, end: MapEnd) -> Option<Gap> {
        let (own, _) = self.of(end);
        let sided = own.rig.assignments().filter_map(|(role, a)| {
            let said = JointLabel::of(own.name(a.joint)).side?;
            Some((role.side()? != said, a))
        });
        let sided: Vec<(bool, &Assignment)> = sided.collect();
        let exchanged = sided.iter().filter(|s| s.0).count();
        if sided.len() < SIDED || exchanged * 4 <= sided.len() * 3 {
            return None;
        }
        let first = sided.iter().find(|s| s.0)?.1;
        let message = format!(
            "left and right of `{}` are exchanged in {exchanged} of {} joint names, e.g. `{}`: the sides of the shape are \
             used; if the names are right, swap the sides",
            one_line(&own.character.name),
            sided.len(),
            own.name(first.joint)
        );
        let fix = Some(format!("{} = true", swap_key(end)));
        let role = own.rig.role(first.joint)?;
        Some(Gap { role, end, guess: None, candidates: Vec::new(), message, fix })
    }

    /// One gap with the lines that exchange arms and legs, if the shape alone told them apart and not clearly.
    pub(super) fn exchanged_limbs(&self, end: MapEnd) -> Option<Gap> {
        let (own, _) = self.of(end);
        let limbs = |side| {
            let upper = [Role::UpperLeg(side), Role::UpperArm(side)];
            [upper, [Role::LowerLeg(side), Role::LowerArm(side)], [Role::Foot(side), Role::Hand(side)]]
        };
        let doubtful = |role: Role| own.rig.assignment(role).is_some_and(Assignment::is_doubtful);
        if !Side::BOTH.into_iter().all(|side| limbs(side)[0].into_iter().all(doubtful)) {
            return None;
        }
        let mut lines = Vec::new();
        let mut exchange = |roles: &[Role]| {
            for (role, other) in roles.iter().zip(roles.iter().rev()) {
                lines.extend(own.rig.joint(*other).map(|id| line(end, *role, own.name(id))));
            }
        };
        for side in Side::BOTH {
            limbs(side).iter().for_each(|pair| exchange(pair));
        }
        // The trunk is read from the other end.
        let spine = (0..=u8::MAX).map(Role::Spine).take(own.rig.chain(Role::Spine).len());
        exchange(&[Role::Hips].into_iter().chain(spine).collect::<Vec<_>>());
        let role = Role::UpperLeg(Side::Left);
        let found = own.rig.assignment(role)?;
        let message = format!(
            "arms and legs of `{}` are told apart with confidence {:.2} only: if they are exchanged, these lines exchange them",
            one_line(&own.character.name),
            found.confidence
        );
        let fix = Some(lines.join("\n"));
        Some(Gap { role, end, guess: Some(found.clone()), candidates: Vec::new(), message, fix })
    }

    /// One gap for the fingers and toes that `end` lacks although it has joints for them.
    pub(super) fn digits(&self, end: MapEnd) -> Option<Gap> {
        let (own, other) = self.of(end);
        let skeleton = own.rig.skeleton();
        let fingers = |side: Side| {
            let of = |b: &super::candidates::CandidateBody<'_>| {
                b.rig.assignments().filter(|(r, _)| matches!(r, Role::Finger(s, ..) if *s == side)).count()
            };
            [of(own), of(other)]
        };
        let toes = |side: Side| [own, other].map(|b| usize::from(b.rig.joint(Role::Toes(side)).is_some()));
        let mut parts: Vec<(Role, &str, usize)> = Vec::new();
        let mut lines = Vec::new();
        for side in Side::BOTH {
            for (role, what, counts) in [
                (Role::Finger(side, Finger::Index, 0), "fingers", fingers(side)),
                (Role::Toes(side), "toes", toes(side)),
            ] {
                let holder = if what == "fingers" { Role::Hand(side) } else { Role::Foot(side) };
                let Some(joint) = own.rig.joint(holder).filter(|_| counts[0] < counts[1]) else { continue };
                let free = |id: JointId| own.rig.role(id).is_none() && !self.moves(end, id);
                let below = skeleton.ids().filter(|&id| skeleton.is_ancestor(joint, id) && free(id)).count();
                if below < DIGITS {
                    continue;
                }
                parts.push((role, what, below));
                if what == "fingers" {
                    lines.extend(self.finger_lines(end, side, joint, &free));
                } else if let Some(&toes) = self.candidates(role, end).first() {
                    lines.push(line(end, role, own.name(toes)));
                }
            }
        }
        let role = parts.first()?.0;
        let joints: usize = parts.iter().map(|p| p.2).sum();
        let has = |what: &str| parts.iter().any(|p| p.1 == what);
        let (holders, words) = match (has("fingers"), has("toes")) {
            (true, true) => ("hands and feet", "fingers and toes"),
            (true, false) => ("hands", "fingers"),
            _ => ("feet", "toes"),
        };
        let message = format!(
            "`{}` has {joints} joints below its {holders} that were not recognised as {words}, which `{}` has",
            one_line(&own.character.name),
            one_line(&other.character.name),
        );
        let fix = (!lines.is_empty()).then(|| lines.join("\n"));
        Some(Gap { role, end, guess: None, candidates: Vec::new(), message, fix })
    }

    /// The lines that assign the unrecognised fingers of a hand.
    fn finger_lines(
        &self,
        end: MapEnd,
        side: Side,
        hand: JointId,
        free: &dyn Fn(JointId) -> bool,
    ) -> Vec<String> {
        let (own, _) = self.of(end);
        let named: Vec<Finger> =
            Finger::ALL.into_iter().filter(|f| own.rig.joint(Role::Finger(side, *f, 0)).is_some()).collect();
        let order = digit_order(own.rig.skeleton(), own.pose(), hand, free, &named);
        let joints = order.iter().flat_map(|(finger, chain)| {
            chain.iter().zip(0_u8..).map(|(id, n)| line(end, Role::Finger(side, *finger, n), own.name(*id)))
        });
        joints.collect()
    }
}
