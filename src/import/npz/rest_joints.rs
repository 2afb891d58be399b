//! Rest positions of the joints of an SMPL body: from its body model, else from a neutral figure.
//!
//! The neutral figure is our own and derived from no body model: heights and lengths as fractions of the stature after
//! Drillis and Contini 1966 (in Winter, Biomechanics and Motor Control of Human Movement, figure 4.1); what these omit (the
//! parts of the trunk, fingers, the distance of the hip joints) is our own. A T-pose, palms down.
//!
//! Space: Y up, facing +Z. Units: fractions of the stature, converted to metres.

use super::body_model;
use super::npz_error::NpzError;
use crate::math::Vec3;
use crate::report::Warnings;
use std::path::Path;

/// The stature of the neutral figure, metres: the mean of women and men.
const STATURE: f64 = 1.70;
/// Rest position of the pelvis of SMPL bodies relative to the origin of their models, metres: `trans` refers to that origin, so
/// without it the figure would float by as much. The published joints of the three mean bodies lie within 0.02.
const PELVIS: [f64; 3] = [0.0, -0.23, 0.03];

/// The left half and the middle of the neutral figure: shares of the stature, from the ground.
#[rustfmt::skip]
const NEUTRAL: [(&str, [f64; 3]); 32] = [
    ("pelvis", [0.0, 0.550, 0.0]),
    ("spine1", [0.0, 0.605, -0.005]), ("spine2", [0.0, 0.680, -0.010]), ("spine3", [0.0, 0.715, -0.005]),
    ("neck", [0.0, 0.835, -0.012]), ("head", [0.0, 0.890, 0.005]), ("jaw", [0.0, 0.893, 0.010]),
    ("left_hip", [0.045, 0.530, 0.0]), ("left_knee", [0.050, 0.285, 0.0]), ("left_ankle", [0.050, 0.039, -0.010]),
    ("left_foot", [0.055, 0.012, 0.065]),
    ("left_collar", [0.030, 0.800, -0.005]), ("left_shoulder", [0.110, 0.818, -0.010]),
    ("left_elbow", [0.296, 0.818, -0.010]), ("left_wrist", [0.442, 0.818, -0.010]), ("left_hand", [0.490, 0.818, -0.010]),
    ("left_eye", [0.019, 0.936, 0.050]),
    ("left_index1", [0.497, 0.818, 0.004]), ("left_index2", [0.518, 0.818, 0.006]), ("left_index3", [0.532, 0.818, 0.007]),
    ("left_middle1", [0.498, 0.818, -0.008]), ("left_middle2", [0.521, 0.818, -0.008]), ("left_middle3", [0.536, 0.818, -0.008]),
    ("left_pinky1", [0.490, 0.818, -0.030]), ("left_pinky2", [0.505, 0.818, -0.033]), ("left_pinky3", [0.516, 0.818, -0.034]),
    ("left_ring1", [0.495, 0.818, -0.020]), ("left_ring2", [0.516, 0.818, -0.022]), ("left_ring3", [0.530, 0.818, -0.022]),
    ("left_thumb1", [0.455, 0.813, 0.010]), ("left_thumb2", [0.475, 0.809, 0.022]), ("left_thumb3", [0.493, 0.808, 0.028]),
];

/// Positions of joints by name, in the rest frame of the body model.
pub(super) struct RestJoints {
    known: Vec<(&'static str, Vec3)>,
}

impl RestJoints {
    /// The rest positions of the body of shape `betas`: of the body model in the file `model`, else of the neutral figure.
    ///
    /// # Errors
    /// A body model that cannot be used.
    pub(super) fn read(
        model: Option<&Path>,
        betas: &[f64],
        memory: Option<u64>,
        warnings: &mut Warnings,
    ) -> Result<Self, NpzError> {
        if let Some(path) = model {
            let known = body_model::rest(path, betas, memory)
                .map_err(|error| NpzError::BodyModel { path: path.to_owned(), error: Box::new(error) })?;
            return Ok(Self { known });
        }
        let said = format!(
            "the take says nothing of lengths without its body model: they are those of a neutral figure of {STATURE} m \
             (`input.body_model`, such as `SMPLH_NEUTRAL.npz` from the model's makers, gives those of the body)"
        );
        warnings.add("smpl-neutral", said, "the arrays");
        Ok(Self::neutral())
    }

    fn neutral() -> Self {
        let ground = Vec3::from(PELVIS) - Vec3::from(NEUTRAL[0].1) * STATURE;
        let places = NEUTRAL.iter().map(|&(name, share)| (name, Vec3::from(share)));
        let both = places.flat_map(|(name, v)| {
            let right = name.strip_prefix("left_").map(|part| (other_side(part), Vec3::new(-v.x, v.y, v.z)));
            std::iter::once((name, v)).chain(right)
        });
        Self { known: both.map(|(name, share)| (name, ground + share * STATURE)).collect() }
    }

    /// The rest position of a joint; `None` if the body has none of that name.
    pub(super) fn place(&self, joint: &str) -> Option<Vec3> {
        self.known.iter().find(|(name, _)| *name == joint).map(|(_, place)| *place)
    }
}

/// The name of the right joint for the left joint `left_` + `part`.
fn other_side(part: &str) -> &'static str {
    let all = super::smpl_joints::BODY.iter().chain(&super::smpl_joints::HANDS);
    let mut all = all.chain(&super::smpl_joints::FACE).chain(&super::smpl_joints::FINGERS);
    all.find(|name| name.strip_prefix("right_") == Some(part)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::smpl_joints as names;
    use super::*;

    #[test]
    fn the_neutral_figure_has_all_joints_and_stands() {
        let rest = RestJoints::neutral();
        for name in names::BODY.iter().chain(&names::HANDS).chain(&names::FACE).chain(&names::FINGERS) {
            let place = rest.place(name).unwrap_or_else(|| panic!("{name}"));
            let part = name.strip_prefix("left_").or(name.strip_prefix("right_"));
            assert_eq!(place.x > 0.0, name.starts_with("left_"), "{name}");
            assert_eq!(part.is_none(), place.x == 0.0, "{name}");
        }
        let length = |a: &str, b: &str| (rest.place(a).unwrap() - rest.place(b).unwrap()).norm() / STATURE;
        // Drillis and Contini: thigh 0.245, shank 0.246, upper arm 0.186, forearm 0.146 of the stature.
        assert!((length("left_hip", "left_knee") - 0.245).abs() < 1e-3);
        assert!((length("left_knee", "left_ankle") - 0.246).abs() < 1e-3);
        assert!((length("right_shoulder", "right_elbow") - 0.186).abs() < 1e-9);
        assert!((length("right_elbow", "right_wrist") - 0.146).abs() < 1e-9);
        assert_eq!(rest.place("tail"), None);
    }
}
