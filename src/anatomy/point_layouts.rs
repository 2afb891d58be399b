//! Layouts of point arrays: which column is which point of the body, axes, unit and rate.
//!
//! Units: metres per unit, hertz.

use super::body_points::BodyPoint;
use crate::math::{Quat, Vec3};
use std::borrow::Cow;

/// The axes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayAxes {
    /// Y up.
    YUp,
    /// Z up.
    ZUp,
    /// A camera's: x to the right, y down, z away from it.
    Camera,
    /// A depth sensor's: x to its left, y up, z away from it.
    Sensor,
}

impl ArrayAxes {
    /// The axes of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "y_up" => Some(Self::YUp),
            "z_up" => Some(Self::ZUp),
            "camera" => Some(Self::Camera),
            "sensor" => Some(Self::Sensor),
            _ => None,
        }
    }

    /// The rotation to Y up.
    pub(crate) fn to_y_up(self) -> Quat {
        let columns = |x: Vec3, y: Vec3, z: Vec3| crate::math::from_columns(&x, &y, &z);
        match self {
            Self::YUp => Quat::identity(),
            Self::ZUp => columns(Vec3::x(), -Vec3::z(), Vec3::y()),
            Self::Camera => columns(Vec3::x(), -Vec3::y(), -Vec3::z()),
            Self::Sensor => columns(-Vec3::x(), Vec3::y(), -Vec3::z()),
        }
    }
}

/// One layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointsLayout {
    pub(crate) name: Cow<'static, str>,
    /// The point of each column; `None` if it is not used.
    pub(crate) points: Vec<Option<BodyPoint>>,
    pub(crate) axes: ArrayAxes,
    /// Metres per unit; `None`: by the length of the legs.
    pub(crate) unit: Option<f64>,
    /// The usual rate of its producers, Hz.
    pub(crate) rate: Option<f64>,
}

/// A layout as it is listed: points by name in the producers' order, `L.` and `R.` for the sides, `-` for unused ones.
struct Listed {
    name: &'static str,
    points: &'static str,
    axes: ArrayAxes,
    rate: Option<f64>,
}

/// The first 22 joints of the SMPL family.
macro_rules! smpl22 {
    () => {
        "pelvis L.hip R.hip spine1 L.knee R.knee spine2 L.ankle R.ankle spine3 L.toe R.toe neck L.collar R.collar head \
         L.shoulder R.shoulder L.elbow R.elbow L.wrist R.wrist"
    };
}

/// The built-in layouts. Sources: EricGuo5513/HumanML3D (22 joints, 20 Hz); Loper et al. 2015 and Romero et al. 2017 with
/// their published joint lists (SMPL, SMPL+H); nv-tlabs/kimodo, `skeleton/definitions.py` (SOMA 77); the documents of
/// COCO keypoints, OpenPose BODY_25, MediaPipe Pose, Kinect for Windows v2 and Azure Kinect, and Human3.6M in the order of
/// VideoPose3D. Checked on arrays that were made from takes in these orders; files of the producers were not at hand.
const LISTED: [Listed; 10] = [
    Listed { name: "humanml3d", points: smpl22!(), axes: ArrayAxes::YUp, rate: Some(20.0) },
    Listed { name: "smpl24", points: concat!(smpl22!(), " L.hand R.hand"), axes: ArrayAxes::YUp, rate: None },
    Listed {
        name: "smplh52",
        points: concat!(
            smpl22!(),
            " L.index - - - - - L.pinky - - - - - L.thumb - - R.index - - - - - R.pinky - - - - - R.thumb - -"
        ),
        axes: ArrayAxes::YUp,
        rate: None,
    },
    Listed {
        name: "soma77",
        points: "pelvis spine1 spine2 spine3 neck - head head_top - L.eye R.eye L.collar L.shoulder L.elbow L.wrist \
                 - L.thumb - - - L.index - - - - - - - - - - - - - - L.pinky - - - R.collar R.shoulder R.elbow R.wrist \
                 - R.thumb - - - R.index - - - - - - - - - - - - - - R.pinky - - - L.hip L.knee L.ankle L.toe - R.hip \
                 R.knee R.ankle R.toe -",
        axes: ArrayAxes::YUp,
        rate: Some(30.0),
    },
    Listed {
        name: "coco17",
        points: "nose L.eye R.eye L.ear R.ear L.shoulder R.shoulder L.elbow R.elbow L.wrist R.wrist L.hip R.hip L.knee \
                 R.knee L.ankle R.ankle",
        axes: ArrayAxes::Camera,
        rate: None,
    },
    Listed {
        name: "h36m17",
        points: "pelvis R.hip R.knee R.ankle L.hip L.knee L.ankle spine_mid neck nose head_top L.shoulder L.elbow \
                 L.wrist R.shoulder R.elbow R.wrist",
        axes: ArrayAxes::Camera,
        rate: Some(50.0),
    },
    Listed {
        name: "body25",
        points: "nose neck R.shoulder R.elbow R.wrist L.shoulder L.elbow L.wrist - R.hip R.knee R.ankle L.hip L.knee \
                 L.ankle R.eye L.eye R.ear L.ear L.big_toe L.small_toe L.heel R.big_toe R.small_toe R.heel",
        axes: ArrayAxes::Camera,
        rate: None,
    },
    Listed {
        name: "mediapipe33",
        points: "nose L.eye_inner L.eye L.eye_outer R.eye_inner R.eye R.eye_outer L.ear R.ear L.mouth R.mouth \
                 L.shoulder R.shoulder L.elbow R.elbow L.wrist R.wrist L.pinky R.pinky L.index R.index L.thumb R.thumb \
                 L.hip R.hip L.knee R.knee L.ankle R.ankle L.heel R.heel L.foot_tip R.foot_tip",
        axes: ArrayAxes::Camera,
        rate: Some(30.0),
    },
    Listed {
        name: "kinect25",
        points: "pelvis spine_mid - head_centre L.shoulder L.elbow L.wrist L.hand R.shoulder R.elbow R.wrist R.hand \
                 L.hip L.knee L.ankle L.foot_tip R.hip R.knee R.ankle R.foot_tip neck L.hand_tip L.thumb R.hand_tip \
                 R.thumb",
        axes: ArrayAxes::Sensor,
        rate: Some(30.0),
    },
    Listed {
        name: "azure32",
        points: "pelvis spine1 spine3 neck L.collar L.shoulder L.elbow L.wrist L.hand L.hand_tip L.thumb R.collar \
                 R.shoulder R.elbow R.wrist R.hand R.hand_tip R.thumb L.hip L.knee L.ankle L.foot_tip R.hip R.knee \
                 R.ankle R.foot_tip head nose L.eye L.ear R.eye R.ear",
        axes: ArrayAxes::Camera,
        rate: Some(30.0),
    },
];

impl Listed {
    fn layout(&self) -> PointsLayout {
        let full = |word: &str| word.replace("L.", "left_").replace("R.", "right_");
        let points = self.points.split_whitespace().map(|word| BodyPoint::named(&full(word))).collect();
        PointsLayout { name: self.name.into(), points, axes: self.axes, unit: None, rate: self.rate }
    }
}

impl PointsLayout {
    /// The names of the built-in layouts.
    pub(crate) fn names() -> Vec<&'static str> {
        LISTED.iter().map(|listed| listed.name).collect()
    }

    /// The built-in layout of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        LISTED.iter().find(|listed| listed.name == name).map(Listed::layout)
    }

    /// The built-in layouts of this number of points.
    pub(crate) fn of_size(points: usize) -> Vec<Self> {
        LISTED.iter().map(Listed::layout).filter(|layout| layout.points.len() == points).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_word_is_a_point_and_every_layout_has_the_limbs() {
        let sizes = [22, 24, 52, 77, 17, 17, 25, 33, 25, 32];
        for (listed, size) in LISTED.iter().zip(sizes) {
            let layout = listed.layout();
            let unused = listed.points.split_whitespace().filter(|word| *word == "-").count();
            let known: Vec<BodyPoint> = layout.points.iter().flatten().copied().collect();
            assert_eq!((layout.points.len(), known.len() + unused), (size, size), "{}", listed.name);
            for (k, point) in known.iter().enumerate() {
                assert!(!known[..k].contains(point), "{} {point}", listed.name);
                let other = point.side.map(|side| BodyPoint { side: Some(side.other()), ..*point });
                assert!(other.is_none_or(|other| known.contains(&other)), "{} {point}", listed.name);
            }
            for part in ["hip", "knee", "ankle", "shoulder", "elbow", "wrist"] {
                assert!(known.iter().any(|p| p.part == part), "{} {part}", listed.name);
            }
        }
    }

    #[test]
    fn axes_have_their_up_direction() {
        let up = |axes: ArrayAxes, v: Vec3| (axes.to_y_up() * v - Vec3::y()).norm() < 1e-12;
        assert!(up(ArrayAxes::YUp, Vec3::y()) && up(ArrayAxes::ZUp, Vec3::z()));
        assert!(up(ArrayAxes::Camera, -Vec3::y()) && up(ArrayAxes::Sensor, Vec3::y()));
        // A person whose left is on the right of the picture faces the camera: their front is towards it.
        let camera = ArrayAxes::Camera.to_y_up();
        assert!(((camera * Vec3::x()).cross(&(camera * -Vec3::y())) - camera * -Vec3::z()).norm() < 1e-12);
    }
}
