//! Property tracks: animation of a clip that is not of joints, such as morph weights and nodes outside the skeleton.
//!
//! Sampled like the clip and addressed by node name. Stages pass the tracks on unchanged; export writes a track if the
//! character's document has a node of that name. Space and units: those of the source file.

/// An animated property of a node (the target path of a glTF channel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum AnimatedProperty {
    /// Three numbers, metres.
    Translation,
    /// Four numbers, a unit quaternion, X first.
    Rotation,
    /// Three numbers.
    Scale,
    /// One number for each morph target of the node's mesh.
    Weights,
}

/// One property of one node over the frames of a clip.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PropertyTrack {
    /// The name of the node in the file.
    pub node: String,
    /// The animated property.
    pub property: AnimatedProperty,
    /// Numbers per frame, at least one.
    pub width: usize,
    /// `frames x width` numbers, frame-major, finite.
    pub values: Vec<f32>,
}

impl PropertyTrack {
    /// The numbers of one frame; beyond the end those of the last.
    pub fn frame(&self, frame: usize) -> &[f32] {
        let last = (self.values.len() / self.width.max(1)).saturating_sub(1);
        self.values.get(frame.min(last) * self.width..).and_then(|v| v.get(..self.width)).unwrap_or_default()
    }

    /// The track at these frames.
    pub fn picked(&self, frames: impl Iterator<Item = usize>) -> Self {
        let values = frames.flat_map(|f| self.frame(f)).copied().collect();
        Self { values, node: self.node.clone(), ..*self }
    }

    /// The track at these fractional frames, interpolated linearly; rotations are normalised.
    pub fn between(&self, times: impl Iterator<Item = f64>) -> Self {
        let mut values = Vec::new();
        for time in times {
            let part = time.fract() as f32;
            let (a, b) = (self.frame(time as usize), self.frame(time as usize + 1));
            let is_rotation = self.property == AnimatedProperty::Rotation;
            let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            let sign = if is_rotation && dot < 0.0 { -1.0 } else { 1.0 };
            let start = values.len();
            values.extend(a.iter().zip(b).map(|(x, y)| x * (1.0 - part) + sign * y * part));
            let length = values[start..].iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
            if is_rotation && length > 0.0 {
                values[start..].iter_mut().for_each(|x| *x /= length);
            }
        }
        Self { values, node: self.node.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_selected_and_interpolated() {
        let face = PropertyTrack {
            node: "Face".into(),
            property: AnimatedProperty::Weights,
            width: 2,
            values: vec![0.0, 1.0, 1.0, 3.0],
        };
        assert_eq!(face.picked([1, 9].into_iter()).values, [1.0, 3.0, 1.0, 3.0]);
        assert_eq!(face.between([0.0, 0.5, 1.0].into_iter()).values, [0.0, 1.0, 0.5, 2.0, 1.0, 3.0]);
        let rotation = PropertyTrack { property: AnimatedProperty::Rotation, width: 4, ..face.clone() };
        let rotation = PropertyTrack { values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0], ..rotation };
        assert_eq!(rotation.between([0.5].into_iter()).values, [0.0, 0.0, 0.0, 1.0]);
    }
}
