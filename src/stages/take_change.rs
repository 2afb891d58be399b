//! Trims, repairs or mirrors the take as a pipeline did with the result, so that both stay comparable.

use super::{MirrorConfig, RepairConfig, Setting, StageConfig, TrimConfig};
use crate::model::Motion;
use crate::report::{Report, TakeChange};
use std::sync::Arc;

/// The take with one change; as it is where the change cannot be made on its body.
pub fn changed_take(take: Motion, change: TakeChange) -> Motion {
    let setting = Setting::new(Arc::clone(&take.character), "");
    let stage = match change {
        TakeChange::Retargeted => return take,
        TakeChange::Part { from_s, to_s } => {
            TrimConfig { start_s: Some(from_s), end_s: to_s, ..TrimConfig::default() }.resolve(&setting)
        }
        TakeChange::Repaired { signal, floor, legs } => {
            RepairConfig { signal, floor, legs }.resolve(&setting)
        }
        TakeChange::Mirrored => MirrorConfig::default().resolve(&setting),
    };
    match stage.and_then(|stage| stage.apply(take.clone(), &mut Report::default())) {
        Ok(changed) => changed,
        Err(_) => take,
    }
}
