//! Joint map: which joint of the source drives which joint of the target.

use crate::model::{Character, JointId, Rig, Role, Side};
use crate::report::{MappedJoint, Mapping, rounded};

/// A target joint and what drives it.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPair {
    /// The role of both; `None` for joints paired by name alone.
    pub role: Option<Role>,
    /// The joint of the source.
    pub source: JointId,
    /// A second joint of the source and its share from 0 to 1, for chains of different length.
    pub blend: Option<(JointId, f64)>,
    /// The joint of the target.
    pub target: JointId,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    /// The reason in words.
    pub reason: String,
}

/// A joint without a counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmapped {
    /// The joint.
    pub joint: JointId,
    /// Its role, if it has one.
    pub role: Option<Role>,
}

/// Every driven target joint, in joint order, and the unmapped joints of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMap {
    /// The pairs, ascending by target joint.
    pub pairs: Vec<JointPair>,
    /// Source joints that drive nothing.
    pub source_only: Vec<Unmapped>,
    /// Target joints that keep their local rest transform.
    pub target_only: Vec<Unmapped>,
}

/// Roles without which there is no root motion and no stride.
pub(super) const REQUIRED: [Role; 3] = [Role::Hips, Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right)];

impl JointMap {
    /// A map of these pairs; all other joints are unmapped.
    pub(super) fn of(mut pairs: Vec<JointPair>, s: &Rig, t: &Rig) -> JointMap {
        pairs.sort_by_key(|p| p.target);
        let rest = |rig: &Rig, used: &dyn Fn(&JointPair, JointId) -> bool| -> Vec<Unmapped> {
            let out = rig.skeleton().ids().filter(|&id| {
                rig.skeleton().joint(id).file_name.is_some() && !pairs.iter().any(|p| used(p, id))
            });
            out.map(|joint| Unmapped { joint, role: rig.role(joint) }).collect()
        };
        let source_only = rest(s, &|p, id| p.source == id || p.blend.is_some_and(|b| b.0 == id));
        let target_only = rest(t, &|p, id| p.target == id);
        JointMap { pairs, source_only, target_only }
    }

    /// The pair that drives `target`.
    pub fn driving(&self, target: JointId) -> Option<&JointPair> {
        let at = self.pairs.binary_search_by_key(&target, |p| p.target).ok()?;
        Some(&self.pairs[at])
    }

    /// The map with names instead of indices, for reports.
    pub fn mapping(&self, source: &Character, target: &Character) -> Mapping {
        let name = |character: &Character, id: JointId| character.skeleton().joint(id).name.clone();
        let joint = |pair: &JointPair| {
            let mut from = name(source, pair.source);
            if let Some((second, _)) = pair.blend {
                from = format!("{from} + {}", name(source, second));
            }
            MappedJoint {
                role: pair.role.map(|r| r.to_string()).unwrap_or_default(),
                source: from,
                target: name(target, pair.target),
                confidence: rounded(pair.confidence),
                reason: pair.reason.clone(),
            }
        };
        let names = |character: &Character, rest: &[Unmapped]| -> Vec<String> {
            rest.iter().map(|u| name(character, u.joint)).collect()
        };
        Mapping {
            source: source.name.clone(),
            target: target.name.clone(),
            joints: self.pairs.iter().map(joint).collect(),
            source_only: names(source, &self.source_only),
            target_only: names(target, &self.target_only),
        }
    }
}
