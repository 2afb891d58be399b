//! Writes positions of points of the body as a NumPy array (`.npy`), in the order of a motion model or tracker.
//!
//! Joints are those of the roles; spine joints that the character lacks are shared out between hips and neck, and landmarks (face, knuckles,
//! heels) are fixed to their bone at an adult's places. Space: the layout's axes. Units: metres. Rate: the layout's usual one, unless
//! another is asked for. The features of HumanML3D are `humanml3d_features`.

pub use super::export_options::{ArrayRate, ArrayRateWord, PointArrayOptions};
use super::file_rate::at_file_rate;
use super::humanml_features::{FEATURES, features};
use super::numpy_arrays::npy;
use super::save::{ExportError, Format, one_each};
use crate::anatomy::{ArrayAxes, BodyPoint, PointsLayout, TPose, on_four_legs};
use crate::math::{Quat, Vec3};
use crate::model::{Finger, JointId, ModelPose, Motion, Rig, Role, Side};
use crate::report::{Warnings, shortened};

/// Arrays of positions.
pub const FORMAT: Format = Format {
    name: "npy",
    about: "NumPy array: positions of points of the body, in the layout of a model or tracker",
    loses: "everything but the positions of the layout's points; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        one_each("npy", motions, options, |motion, warnings| write(motion, &options.points, warnings))
    },
};

/// The leg of an adult whose landmarks these are, metres.
const ADULT_LEG: f64 = 0.85;
/// Places of landmarks on an adult from their joint, metres: left (for the left one of a pair), up and ahead, in the T-pose.
const LANDMARKS: [(&str, Bone, [f64; 3]); 16] = [
    ("head_centre", Bone::Head, [0.0, 0.1, 0.02]),
    ("head_top", Bone::Head, [0.0, 0.2, 0.02]),
    // The nose is 10.3 degrees below the ears.
    ("nose", Bone::Head, [0.0, 0.082, 0.12]),
    ("ear", Bone::Head, [0.075, 0.1, 0.02]),
    ("eye", Bone::Head, [0.032, 0.115, 0.095]),
    ("eye_inner", Bone::Head, [0.017, 0.115, 0.1]),
    ("eye_outer", Bone::Head, [0.047, 0.115, 0.085]),
    ("mouth", Bone::Head, [0.025, 0.045, 0.1]),
    ("hand", Bone::Hand, [0.09, 0.0, 0.0]),
    ("hand_tip", Bone::Hand, [0.18, 0.0, 0.0]),
    ("index", Bone::Hand, [0.09, 0.0, 0.025]),
    ("pinky", Bone::Hand, [0.08, 0.0, -0.035]),
    ("thumb", Bone::Hand, [0.05, -0.01, 0.05]),
    ("heel", Bone::Foot, [0.0, -0.06, -0.05]),
    ("foot_tip", Bone::Foot, [0.0, -0.06, 0.18]),
    ("big_toe", Bone::Foot, [-0.02, -0.06, 0.18]),
];
/// The little toe, next to the big one.
const SMALL_TOE: [f64; 3] = [0.045, -0.06, 0.14];
/// The ball of the foot of characters without toes.
const BALL: [f64; 3] = [0.0, -0.06, 0.13];
/// Heights of spine joints that a character lacks, as shares of the line from the hips to the neck.
const SPINE: [f64; 3] = [0.2, 0.45, 0.7];
/// Clavicles that a character lacks, as a share of the line from the neck to the shoulder.
const COLLAR: f64 = 0.15;

/// The bone to which a landmark is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bone {
    Head,
    Hand,
    Foot,
}

/// The array of a motion as the bytes of a `.npy` file.
///
/// # Errors
/// A layout that does not exist, and characters without the joints of a body.
pub fn write(
    motion: &Motion,
    options: &PointArrayOptions,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, ExportError> {
    let is_features = options.layout == FEATURES;
    let name = if is_features { "humanml3d" } else { options.layout.as_str() };
    let order = PointsLayout::named(name).ok_or_else(|| ExportError::PointLayout {
        layout: shortened(&options.layout),
        known: format!("{}, {FEATURES}", PointsLayout::names().join(", ")),
    })?;
    let wanted = match options.rate {
        ArrayRate::Word(ArrayRateWord::Layout) => order.rate,
        ArrayRate::Word(ArrayRateWord::Take) => None,
        ArrayRate::Hz(rate) => Some(rate),
    };
    let at_rate = wanted.and_then(|rate| Some((rate, at_file_rate(motion, rate)?)));
    if let (Some((rate, _)), ArrayRate::Word(_)) = (&at_rate, options.rate) {
        let own = motion.clip.sample_rate;
        let said = format!(
            "the array is at the layout's {rate} frames per second, the clip at {own} (`output.points.rate=take` keeps that)"
        );
        warnings.guess("points-rate-written", said, "the array");
    }
    let motion = at_rate.as_ref().map_or(motion, |(_, made)| made);
    let places = BodyPlaces::new(motion)?;
    if on_four_legs(places.rig, &places.rest) {
        let said = "the layout is that of a body on two legs, the character goes on four: its front legs are written as arms";
        warnings.add("points-four-legs", said, "the array");
    }
    let axes = if is_features { ArrayAxes::YUp } else { order.axes }.to_y_up().inverse();
    let row = |frame: usize| -> Vec<Vec3> {
        let pose = motion.model_pose(frame);
        let at = |point: &Option<BodyPoint>| match point {
            Some(point) => axes * places.at(&pose, *point),
            // Columns that are not used.
            None => axes * pose.position(places.hips),
        };
        order.points.iter().map(at).collect()
    };
    let frames: Vec<Vec<Vec3>> = (0..motion.clip.frames()).map(row).collect();
    if order.points.iter().any(Option::is_none) {
        let said = "columns of the layout that posemill does not know are at the hips";
        warnings.add("points-unused", said, "the array");
    }
    let points = order.points.len();
    let numbers = |values: &mut dyn Iterator<Item = f64>| {
        values.flat_map(|x| (x as f32).to_le_bytes()).collect::<Vec<u8>>()
    };
    if is_features {
        let rows = features(&frames).ok_or(ExportError::FewFrames { layout: FEATURES })?;
        let shape = [rows.len(), rows[0].len()];
        return Ok(npy("", "<f4", &shape, &numbers(&mut rows.into_iter().flatten())).bytes);
    }
    let coordinates = &mut frames.iter().flatten().flat_map(|p| [p.x, p.y, p.z]);
    Ok(npy("", "<f4", &[frames.len(), points, 3], &numbers(coordinates)).bytes)
}

/// Where the points of a body are in its poses.
struct BodyPlaces<'a> {
    rig: &'a Rig,
    /// The reference pose.
    rest: ModelPose,
    /// The rotations from the T-pose to the joints of the bones that have landmarks.
    joint_from_t: Vec<(Role, Quat)>,
    hips: JointId,
    spine: Vec<JointId>,
    /// The size of the body relative to the adult of the landmarks.
    size: f64,
}

impl<'a> BodyPlaces<'a> {
    fn new(motion: &'a Motion) -> Result<Self, ExportError> {
        let rig = &motion.character.rig;
        let needed = [Role::Hips, Role::Head].into_iter().chain(Side::BOTH.into_iter().flat_map(|side| {
            [
                Role::UpperLeg(side),
                Role::LowerLeg(side),
                Role::Foot(side),
                Role::UpperArm(side),
                Role::LowerArm(side),
                Role::Hand(side),
            ]
        }));
        let missing: Vec<String> =
            needed.filter(|role| rig.joint(*role).is_none()).map(|r| r.to_string()).collect();
        let Some(hips) = rig.joint(Role::Hips).filter(|_| missing.is_empty()) else {
            return Err(ExportError::PointRoles { missing: missing.join(", ") });
        };
        let rest = motion.character.reference_pose();
        let at = |role| rig.joint(role).map_or_else(Vec3::zeros, |id| rest.position(id));
        let leg = (at(Role::UpperLeg(Side::Left)) - at(Role::LowerLeg(Side::Left))).norm()
            + (at(Role::LowerLeg(Side::Left)) - at(Role::Foot(Side::Left))).norm();
        let t_pose = TPose::of(&motion.character, &rest);
        let joint_from_t = |role: Role| {
            let t = t_pose.as_ref().map_or_else(Quat::identity, |t| t.rotation(role));
            Some((role, (t * rest.joint(rig.joint(role)?).rotation).inverse()))
        };
        let bones = Side::BOTH.into_iter().flat_map(|side| [Role::Hand(side), Role::Foot(side)]);
        let joint_from_t = bones.chain([Role::Head]).filter_map(joint_from_t).collect();
        let size = leg / ADULT_LEG;
        Ok(Self { rig, hips, spine: rig.chain(Role::Spine), size, joint_from_t, rest })
    }

    fn joint(&self, pose: &ModelPose, role: Role) -> Option<Vec3> {
        self.rig.joint(role).map(|id| pose.position(id))
    }

    fn neck(&self, pose: &ModelPose) -> Vec3 {
        let shoulder = |side| self.joint(pose, Role::UpperArm(side)).unwrap_or_else(Vec3::zeros);
        let middle = || (shoulder(Side::Left) + shoulder(Side::Right)) * 0.5;
        self.joint(pose, Role::Neck(0)).unwrap_or_else(middle)
    }

    /// A joint of the spine, of three: the character's first, middle and last one.
    fn spine(&self, pose: &ModelPose, k: usize) -> Vec3 {
        let (low, high) = (pose.position(self.hips), self.neck(pose));
        match self.spine[..] {
            [] => low + (high - low) * SPINE[k],
            // Joints at one place would have no direction.
            [one] => pose.position(one).lerp(&high, k as f64 / 3.0),
            [first, last] => match k {
                0 => pose.position(first),
                1 => (pose.position(first) + pose.position(last)) * 0.5,
                _ => pose.position(last),
            },
            _ => pose.position(self.spine[k * (self.spine.len() - 1) / 2]),
        }
    }

    /// A place fixed to a bone, given in the T-pose.
    fn on(&self, pose: &ModelPose, role: Role, place: [f64; 3]) -> Vec3 {
        let bone = self.joint_from_t.iter().find(|(bone, _)| *bone == role);
        let Some((id, (_, joint_from_t))) = self.rig.joint(role).zip(bone) else { return Vec3::zeros() };
        pose.position(id) + pose.joint(id).rotation * (joint_from_t * Vec3::from(place)) * self.size
    }

    fn at(&self, pose: &ModelPose, point: BodyPoint) -> Vec3 {
        let side = point.side.unwrap_or(Side::Left);
        let joint = |role| self.joint(pose, role);
        let finger = |finger, n| joint(Role::Finger(side, finger, n));
        // A knuckle of the character and a landmark of an adult together would rotate the hand.
        let knuckles = finger(Finger::Index, 0).is_some() && finger(Finger::Little, 0).is_some();
        let found = match point.part {
            "pelvis" => joint(Role::Hips),
            "spine1" => Some(self.spine(pose, 0)),
            "spine2" | "spine_mid" => Some(self.spine(pose, 1)),
            "spine3" => Some(self.spine(pose, 2)),
            "neck" => Some(self.neck(pose)),
            "head" => joint(Role::Head),
            "hip" => joint(Role::UpperLeg(side)),
            "knee" => joint(Role::LowerLeg(side)),
            "ankle" => joint(Role::Foot(side)),
            "toe" => Some(joint(Role::Toes(side)).unwrap_or_else(|| self.on(pose, Role::Foot(side), BALL))),
            "collar" => joint(Role::Clavicle(side)).or_else(|| {
                let neck = self.neck(pose);
                Some(neck + (joint(Role::UpperArm(side))? - neck) * COLLAR)
            }),
            "shoulder" => joint(Role::UpperArm(side)),
            "elbow" => joint(Role::LowerArm(side)),
            "wrist" => joint(Role::Hand(side)),
            "index" if knuckles => finger(Finger::Index, 0),
            "pinky" if knuckles => finger(Finger::Little, 0),
            "thumb" => finger(Finger::Thumb, 1),
            _ => None,
        };
        found.unwrap_or_else(|| self.landmark(pose, point.part, side, point.side.is_some()))
    }

    fn landmark(&self, pose: &ModelPose, part: &str, side: Side, sided: bool) -> Vec3 {
        let listed = LANDMARKS.iter().find(|(name, ..)| *name == part);
        let (bone, [left, up, ahead]) =
            listed.map_or((Bone::Foot, SMALL_TOE), |(_, bone, place)| (*bone, *place));
        let place = [if sided { left * side.sign() } else { left }, up, ahead];
        let role = match bone {
            Bone::Head => Role::Head,
            Bone::Hand => Role::Hand(side),
            Bone::Foot => Role::Foot(side),
        };
        self.on(pose, role, place)
    }
}
