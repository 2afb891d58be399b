//! What a clip moves beside joints: morph weights, and nodes that are none, by name, frame by frame as the clip itself.
//!
//! Stages pass it on and do not look into it; it is written where the character's document has a node of the name. Space and
//! units: those of the file it came from.

/// A property of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CarriedProperty {
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
pub struct Carried {
    /// The name of the node, as the file has it.
    pub node: String,
    /// What of it moves.
    pub property: CarriedProperty,
    /// The numbers of a frame; at least one.
    pub width: usize,
    /// `frames x width` numbers, frame-major, finite.
    pub values: Vec<f32>,
}

impl Carried {
    /// The numbers of one frame; those of the last where there is none.
    pub fn frame(&self, frame: usize) -> &[f32] {
        let last = (self.values.len() / self.width.max(1)).saturating_sub(1);
        self.values.get(frame.min(last) * self.width..).and_then(|v| v.get(..self.width)).unwrap_or_default()
    }

    /// The same with these frames in place of its own.
    pub fn picked(&self, frames: impl Iterator<Item = usize>) -> Self {
        let values = frames.flat_map(|f| self.frame(f)).copied().collect();
        Self { values, node: self.node.clone(), ..*self }
    }

    /// The same at these places between frames, along straight lines; rotations of unit length.
    pub fn between(&self, places: impl Iterator<Item = f64>) -> Self {
        let mut values = Vec::new();
        for place in places {
            let part = place.fract() as f32;
            let (a, b) = (self.frame(place as usize), self.frame(place as usize + 1));
            let turned = self.property == CarriedProperty::Rotation;
            let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            let sign = if turned && dot < 0.0 { -1.0 } else { 1.0 };
            let start = values.len();
            values.extend(a.iter().zip(b).map(|(x, y)| x * (1.0 - part) + sign * y * part));
            let length = values[start..].iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
            if turned && length > 0.0 {
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
    fn frames_are_picked_and_mixed() {
        let face = Carried {
            node: "Face".into(),
            property: CarriedProperty::Weights,
            width: 2,
            values: vec![0.0, 1.0, 1.0, 3.0],
        };
        assert_eq!(face.picked([1, 9].into_iter()).values, [1.0, 3.0, 1.0, 3.0]);
        assert_eq!(face.between([0.0, 0.5, 1.0].into_iter()).values, [0.0, 1.0, 0.5, 2.0, 1.0, 3.0]);
        let turn = Carried { property: CarriedProperty::Rotation, width: 4, ..face.clone() };
        let turn = Carried { values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0], ..turn };
        assert_eq!(turn.between([0.5].into_iter()).values, [0.0, 0.0, 0.0, 1.0]);
    }
}
