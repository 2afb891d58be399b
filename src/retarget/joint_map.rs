//! Two characters become the table of which joint drives which.

use crate::model::Character;

/// Which joint of the source drives which joint of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMap {
    rows: Vec<(String, String, String)>,
}

/// The map by shared roles.
pub fn map(source: &Character, target: &Character) -> JointMap {
    let name = |c: &Character, id| c.skeleton().joint(id).name.clone();
    let row = |(role, a): (crate::model::Role, &crate::model::Assignment)| {
        let other = target.rig.joint(role)?;
        Some((role.to_string(), name(source, a.joint), name(target, other)))
    };
    JointMap { rows: source.rig.assignments().filter_map(row).collect() }
}

impl JointMap {
    /// The map as text for people to edit.
    pub fn to_toml(&self) -> String {
        let rows = self.rows.iter().map(|(r, s, t)| format!("{r} = {{ source = {s:?}, target = {t:?} }}\n"));
        rows.collect()
    }
}
