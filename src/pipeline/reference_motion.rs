//! Measures a finished motion, alone or in comparison with the take that it was made from.

use crate::contacts::{ContactOptions, detect};
use crate::kinematics::cuts;
use crate::measure::{Assessment, MetricContext, assess, assess_beside};
use crate::model::{Character, Motion};
use crate::retarget::{MapError, Retarget, RootScale, map};
use crate::signal::{Rate, Resampling, resample};
use std::sync::Arc;

/// The measures that compare contact labels with contact labels.
const AGREEMENT: [&str; 3] = ["contact_precision", "contact_recall", "contact_f1"];

/// A take at the rate of a result, with its contacts, and its direct rotation transfer to the result's character.
#[derive(Clone, Debug)]
pub struct ReferenceMotion {
    take: Motion,
    copy: Motion,
}

impl ReferenceMotion {
    /// The take that `result` was made from.
    ///
    /// # Errors
    /// A [`MapError`] if the two bodies have no joints in common.
    pub fn of(mut take: Motion, result: &Motion) -> Result<Self, MapError> {
        let (rate, wanted) = (take.clip.sample_rate, result.clip.sample_rate);
        if (rate - wanted).abs() > 1e-6 * wanted
            && let Some(rate) = Rate::from_hz(wanted)
        {
            take.clip = resample(&take.clip, rate, Resampling::default(), &cuts(&take));
        }
        take.clip.sample_rate = wanted;
        take.contacts = Some(detect(&take, &ContactOptions::default()));
        if alike(&take.character, &result.character) {
            let copy = Motion { character: Arc::clone(&result.character), ..take.clone() };
            return Ok(Self { take, copy });
        }
        let joint_map = map(&take.character, &result.character)?;
        let rigs = (&take.character.rig, &result.character.rig);
        let target = Arc::clone(&result.character);
        let ready = Retarget::new(&take.character, target, &joint_map, rigs, RootScale::Legs);
        let labels = take.contacts.as_ref().map(|contacts| ready.labels(contacts));
        let copy = Motion { contacts: labels, ..ready.copy(&take) };
        Ok(Self { take, copy })
    }

    /// Frames of the take at the rate of the result.
    pub fn frames(&self) -> usize {
        self.take.clip.frames()
    }

    /// Measures the result, which plays on the character of `context`, and the direct transfer beside it; the take says what should
    /// rest when.
    pub fn assess(&self, context: &MetricContext, result: &Motion) -> Assessment {
        assess_beside(context, result, self.copy.contacts.as_ref(), &self.take, &self.copy)
    }
}

/// Measures a result, which plays on the character of `context`, by contacts that are found on itself, over a floor of this
/// height in metres.
pub fn assess_alone(context: &MetricContext, result: &Motion, ground: f64) -> Assessment {
    let contacts = detect(result, &ContactOptions { ground: Some(ground), ..ContactOptions::default() });
    let mut made = assess(context, result, Some(&contacts), None);
    // The labels are those of the result: agreement would always be complete.
    made.metrics.retain(|m| !AGREEMENT.contains(&m.name.as_str()));
    made
}

/// Whether a clip has the same meaning on both characters: equal joints with equal rest transforms.
fn alike(a: &Character, b: &Character) -> bool {
    let (a, b) = (a.skeleton(), b.skeleton());
    let same = |id| {
        let (x, y) = (a.joint(id), b.joint(id));
        let near = (x.rest.translation - y.rest.translation).norm() < 1e-5
            && x.rest.rotation.angle_to(&y.rest.rotation) < 1e-5;
        x.name == y.name && near
    };
    a.len() == b.len() && a.parents() == b.parents() && a.ids().all(same)
}
