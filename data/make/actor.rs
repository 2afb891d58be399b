//! The person who performs the takes: a skeleton of 24 joints and fingers, and legs that reach for the ground.
//!
//! Space: Y up, facing +Z, left towards +X; metres; every joint rests with the axes of the world in a T-pose, so
//! a local rotation is what a BVH file stores. Segment lengths follow Drillis and Contini (1966) as quoted by
//! Winter: thigh 0.245 and shank 0.246 of the stature. Leg inverse kinematics is the law of cosines.

use posemill::math::{Quat, Transform, Vec3, exp, from_columns};
use posemill::model::{Joint, JointId, Pose, Skeleton};

/// Left or right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Side {
    /// Towards +X.
    Left,
    /// Towards -X.
    Right,
}

impl Side {
    /// Both, left first.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// `+1` for left, `-1` for right.
    pub fn sign(self) -> f64 {
        if self == Side::Left { 1.0 } else { -1.0 }
    }

    /// The actor's own name of a joint of this side.
    pub fn named(self, joint: &str) -> String {
        format!("{joint}_{}", if self == Side::Left { "l" } else { "r" })
    }
}

/// The ankle above the sole, for a stature of 1.75 m.
const ANKLE: f64 = 0.068;
/// The ball of the foot (joint `toes`) from the ankle.
const BALL: [f64; 3] = [0.005, -0.05, 0.13];
/// The lowest point of the heel from the ankle.
const HEEL: [f64; 3] = [0.0, -ANKLE, -0.35 * BALL[2]];
const THIGH: f64 = 0.245 * 1.75;
const SHANK: f64 = 0.246 * 1.75;
const HIP_HEIGHT: f64 = ANKLE + SHANK + THIGH;

/// Joint, parent and offset from the parent, for a stature of 1.75 m.
const MIDDLE: &[(&str, &str, [f64; 3])] = &[
    ("hips", "", [0.0, HIP_HEIGHT + 0.03, 0.0]),
    ("spine_1", "hips", [0.0, 0.1, 0.0]),
    ("spine_2", "spine_1", [0.0, 0.13, -0.01]),
    ("spine_3", "spine_2", [0.0, 0.13, 0.0]),
    ("neck", "spine_3", [0.0, 0.18, 0.01]),
    ("head", "neck", [0.0, 0.09, 0.01]),
];
const SIDE: &[(&str, &str, [f64; 3])] = &[
    ("clavicle", "spine_3", [0.03, 0.13, 0.0]),
    ("upper_arm", "clavicle", [0.14, 0.0, -0.01]),
    ("forearm", "upper_arm", [0.28, 0.0, 0.0]),
    ("hand", "forearm", [0.25, 0.0, 0.0]),
    ("thumb_1", "hand", [0.03, -0.01, 0.03]),
    ("thumb_2", "thumb_1", [0.03, 0.0, 0.03]),
    ("fingers_1", "hand", [0.09, 0.0, 0.01]),
    ("fingers_2", "fingers_1", [0.045, 0.0, 0.0]),
    ("thigh", "hips", [0.09, -0.03, 0.0]),
    ("shank", "thigh", [0.0, -THIGH, 0.0]),
    ("foot", "shank", [0.0, -SHANK, 0.0]),
    ("toes", "foot", BALL),
];
/// Where the last bones end, from their joint.
const TIPS: &[(&str, [f64; 3])] = &[
    ("head", [0.0, 0.17, 0.0]),
    ("thumb_2", [0.03, 0.0, 0.02]),
    ("fingers_2", [0.045, 0.0, 0.0]),
    ("hand", [0.09, 0.0, 0.0]),
    ("toes", [0.0, -0.018, 0.07]),
    ("foot", [0.0, -0.05, 0.15]),
];

/// A skeleton of some stature, and what is known about its feet.
pub struct Actor {
    /// The joints.
    pub skeleton: Skeleton,
    /// All lengths over those of 1.75 m.
    pub scale: f64,
}

impl Actor {
    /// A person of this stature in metres.
    pub fn new(stature: f64) -> Self {
        let scale = stature / 1.75;
        let mut joints: Vec<Joint> = Vec::new();
        let mut push = |name: String, parent: String, offset: Vec3, tip: Option<Vec3>| {
            let parent = joints.iter().position(|j| j.name == parent).map(JointId::new);
            let mut joint = Joint::new(name, parent, Transform::from_translation(offset * scale));
            joint.tip = tip.map(|t| t * scale);
            joints.push(joint);
        };
        let tip = |name: &str| TIPS.iter().find(|t| t.0 == name).map(|t| Vec3::from(t.1));
        for (name, parent, offset) in MIDDLE {
            push((*name).to_owned(), (*parent).to_owned(), Vec3::from(*offset), tip(name));
        }
        for side in Side::BOTH {
            let mirror = |v: Vec3| Vec3::new(v.x * side.sign(), v.y, v.z);
            for (name, parent, offset) in SIDE {
                let own = SIDE.iter().any(|s| s.0 == *parent);
                let parent = if own { side.named(parent) } else { (*parent).to_owned() };
                push(side.named(name), parent, mirror(Vec3::from(*offset)), tip(name).map(mirror));
            }
        }
        Self { skeleton: Skeleton::new(joints).expect("parents stand first in the tables"), scale }
    }

    /// The joint of this name.
    pub fn joint(&self, name: &str) -> JointId {
        self.skeleton.find(name).expect("the tables name it")
    }

    /// The height of the hips in the rest pose.
    pub fn hips_height(&self) -> f64 {
        self.skeleton.joint(self.joint("hips")).rest.translation.y
    }

    /// The height of the ankle above the ground.
    pub fn ankle_height(&self) -> f64 {
        ANKLE * self.scale
    }

    /// The length of thigh and shank.
    pub fn leg(&self) -> [f64; 2] {
        [THIGH * self.scale, SHANK * self.scale]
    }

    /// The lowest point of a heel, from the ankle, in the axes of the foot.
    pub fn heel(&self) -> Vec3 {
        Vec3::from(HEEL) * self.scale
    }

    /// The ball of a foot, from the ankle, in the axes of the foot.
    pub fn ball(&self, side: Side) -> Vec3 {
        Vec3::new(BALL[0] * side.sign(), BALL[1], BALL[2]) * self.scale
    }

    /// A performance that starts from the rest pose with the arms hanging.
    pub fn stand(&self) -> Acting<'_> {
        let mut acting = Acting { actor: self, pose: self.skeleton.rest_pose() };
        for side in Side::BOTH {
            acting.arm(side, [0.0, 8.0], 12.0);
        }
        acting
    }
}

/// One pose in the making. Angles are in degrees, named as anatomy names them.
pub struct Acting<'a> {
    actor: &'a Actor,
    /// The pose so far.
    pub pose: Pose,
}

/// The rotation by these degrees about X, Y and Z, X applied first.
pub fn turned(x: f64, y: f64, z: f64) -> Quat {
    let axis = |v: Vec3, degrees: f64| exp(&(v * degrees.to_radians()));
    axis(Vec3::z(), z) * axis(Vec3::y(), y) * axis(Vec3::x(), x)
}

impl Acting<'_> {
    /// Turns a joint to this local rotation.
    pub fn turn(&mut self, joint: &str, rotation: Quat) {
        let id = self.actor.joint(joint);
        self.pose.local_mut()[id.index()].rotation = rotation;
    }

    /// Puts the hips somewhere, in model space.
    pub fn hips(&mut self, at: Transform) {
        self.pose.local_mut()[0] = at;
    }

    /// Stands a foot flat on the ground with its ankle at `x`, `z`, turned out or in by `yaw` degrees.
    pub fn plant(&mut self, side: Side, [x, z]: [f64; 2], lift: f64, yaw: f64) {
        let rotation = turned(0.0, yaw, 0.0);
        let at = Vec3::new(x, self.actor.ankle_height() + lift, z);
        self.leg(side, Transform::new(rotation, at), rotation * Vec3::z(), rotation);
    }

    /// Lets an arm hang, swung `forward` and `out` to the side, the elbow bent by `elbow`.
    pub fn arm(&mut self, side: Side, [forward, out]: [f64; 2], elbow: f64) {
        let down = (90.0 - out) * side.sign();
        self.turn(&side.named("upper_arm"), turned(-forward, 0.0, 0.0) * turned(0.0, 0.0, -down));
        self.turn(&side.named("forearm"), turned(0.0, -elbow * side.sign(), 0.0));
    }

    /// Bends a leg so that its foot stands at `model_from_foot`, the knee pointing where `knee` points, and
    /// keeps the toes at `model_from_toes`.
    ///
    /// The thigh is `a` long, the shank `b`, hip and ankle are `d` apart (at most `a + b`):
    /// `cos(hip) = (a^2 + d^2 - b^2) / 2ad`.
    pub fn leg(&mut self, side: Side, model_from_foot: Transform, knee: Vec3, model_from_toes: Quat) {
        let [a, b] = self.actor.leg();
        let model_from_hips = self.pose.local()[0];
        let socket = self.actor.skeleton.joint(self.actor.joint(&side.named("thigh"))).rest.translation;
        let hip = model_from_hips.point(&socket);
        let reach = model_from_foot.translation - hip;
        let d = reach.norm().min(a + b);
        let cos = ((a * a + d * d - b * b) / (2.0 * a * d)).clamp(-1.0, 1.0);
        let down = reach.normalize();
        let ahead = (knee - down * knee.dot(&down)).normalize();
        let at_knee = hip + (down * cos + ahead * (1.0 - cos * cos).sqrt()) * a;
        let lateral = ahead.cross(&down).normalize();
        let bone = |from: Vec3, to: Vec3| {
            let y = (from - to).normalize();
            from_columns(&lateral, &y, &lateral.cross(&y))
        };
        let (thigh, shank) = (bone(hip, at_knee), bone(at_knee, model_from_foot.translation));
        self.turn(&side.named("thigh"), model_from_hips.rotation.inverse() * thigh);
        self.turn(&side.named("shank"), thigh.inverse() * shank);
        self.turn(&side.named("foot"), shank.inverse() * model_from_foot.rotation);
        self.turn(&side.named("toes"), model_from_foot.rotation.inverse() * model_from_toes);
    }
}
