//! What a robot needs of a take: joint positions and calibrated frames of pelvis, chest, feet and hands.
//!
//! Space: X front, Y left, Z up. Units: metres of the take, seconds.

use crate::math::{Quat, Transform, Vec3, arc, from_columns, median, median_of, percentile};
use crate::model::{Assignment, Character, JointId, Motion, Role, Side, model_from_world};
use crate::parallel;
use crate::robot_body::RobotBody;

/// A foot without toes has its ball this far before the ankle and this far below it, in lengths of the leg (Winter 2009).
const BALL: [f64; 2] = [0.16, 0.07];
/// Toes nearer to the ankle than this are none, in lengths of the leg.
const SHORTEST_FOOT: f64 = 0.05;
/// A point of the foot is low below this share of its heights, percent, plus this many lengths of the leg.
const LOW: (f64, f64) = (3.0, 0.02);
/// If fewer frames than this have a flat foot, the lowest tenth is taken.
const FEWEST_FLAT: usize = 3;
/// A foot whose toes are more than 72 degrees (this cosine) from where the pelvis faces is read off the pelvis: of 20 takes
/// one foot pointed backwards without this rule.
const FACING: f64 = 0.3;
/// A foot that is tilted by more than 35 degrees (this cosine) where it seems to be flat, against a reference pose that stands, is flat in
/// no frame: it kneels, lies or swings. Whole takes differ from their reference pose by 1 to 26 degrees, parts of them by 0 to 100.
const TILTED: f64 = 0.82;
/// The same, 12 degrees, for a foot that stays above the other one.
const TILTED_ABOVE: f64 = 0.978;
/// A foot stays above the other one if it never comes as low by this many lengths of the leg.
const ABOVE_OTHER: f64 = 0.03;
/// In a reference pose that lies, the line from hips to shoulders is more than 45 degrees (this cosine) from up.
const LIES: f64 = 0.7;
/// In a reference pose that stands, thighs and shins are within 45 degrees (this cosine) of down.
const STANDS: f64 = 0.7;
/// In a reference pose that stands, the toes are below the ankle by less than this share of their distance from it: 50 degrees.
const TOES_DOWN: f64 = 0.77;
/// In a take without a flat foot, flat ankles are at most this many lengths of the leg above the lowest joint: wrists and knees that bear
/// the body are 0.05 above the floor, ankles 0.11.
const ABOVE_LOWEST: f64 = 0.06;

/// A joint of the take over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub(super) at: Vec<Vec3>,
    rotations: Vec<Quat>,
    /// Its rotation in the reference pose.
    rest: Quat,
    rest_at: Vec3,
}

/// A foot over time.
#[derive(Clone, Debug)]
pub(super) struct FootPath {
    /// The sole's frame: X to the front, Z up.
    pub(super) sole: Vec<Quat>,
    pub(super) ankle: Vec<Vec3>,
    pub(super) ball: Vec<Vec3>,
    /// Whether the foot is flat on the ground.
    pub(super) flat: Vec<bool>,
    /// If it never is: how much higher the ankle of the flat foot is than its ball.
    pub(super) rise: Option<f64>,
}

impl FootPath {
    /// The height of the ankle where the foot is flat; `None` if it never is.
    pub(super) fn level(&self) -> Option<f64> {
        let flat = self.ankle.iter().zip(&self.flat).filter(|(_, flat)| **flat);
        self.rise.is_none().then(|| median(flat.map(|(p, _)| p.z).collect()))
    }

    /// The height of the ankle if the foot were flat where its heel or ball is lowest.
    pub(super) fn lowest_level(&self) -> f64 {
        let rise = self.rise.unwrap_or(0.0);
        self.ankle
            .iter()
            .zip(&self.ball)
            .map(|(ankle, ball)| ankle.z.min(ball.z + rise))
            .fold(f64::MAX, f64::min)
    }
}

/// A limb over time: where it begins, bends and ends.
#[derive(Clone, Debug)]
pub(super) struct LimbPath {
    pub(super) root: Path,
    pub(super) middle: Path,
    pub(super) end: Path,
}

/// The body of a take.
#[derive(Clone, Debug)]
pub(super) struct TakeBody {
    pub(super) frames: usize,
    /// Mean length of thigh and shin together.
    pub(super) leg_length: f64,
    /// Left and right.
    pub(super) legs: [LimbPath; 2],
    pub(super) arms: [Option<LimbPath>; 2],
    pub(super) feet: [FootPath; 2],
    /// Frames of pelvis and chest: X to their front, Y to their left.
    pub(super) pelvis: Vec<Quat>,
    pub(super) chest: Vec<Quat>,
    /// From the middle of the hips to that of the shoulders; `None` of a body without both arms.
    pub(super) trunk_line: Option<Vec<Vec3>>,
    /// Frames of the hands: X along the fingers, Y out of the left hand's back and the right hand's palm.
    pub(super) hands: [Option<Vec<Quat>>; 2],
}

impl TakeBody {
    /// The body of a take that is rotated by `levels`.
    ///
    /// # Errors
    /// The role of the first leg joint that is missing.
    pub(super) fn of(motion: &Motion, levels: &Quat) -> Result<Self, Role> {
        let character = &motion.character;
        let joint = |role: Role| character.rig.joint(role);
        let mut wanted = Vec::new();
        let leg = |side| [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)];
        for role in Side::BOTH.into_iter().flat_map(leg) {
            wanted.push(joint(role).ok_or(role)?);
        }
        for (k, side) in Side::BOTH.into_iter().enumerate() {
            // Control bones of a rig have names of legs too.
            let upper = Role::UpperLeg(side);
            let guess = character.rig.assignment(upper).is_some_and(|a| a.confidence < Assignment::SURE);
            if guess && !character.skeleton().is_ancestor(wanted[3 * k], wanted[3 * k + 1]) {
                return Err(upper);
            }
        }
        let arm = |side: Side| {
            let [upper, lower] = [Role::UpperArm(side), Role::LowerArm(side)].map(joint);
            let end =
                joint(Role::Hand(side)).or_else(|| character.skeleton().children(lower?).first().copied());
            Some([upper?, lower?, end?])
        };
        let arms = Side::BOTH.map(arm);
        let toes = Side::BOTH.map(|side| joint(Role::Toes(side)));
        let hips = common(character, wanted[0], wanted[3]);
        let chest = match (arms[0], arms[1]) {
            (Some(left), Some(right)) => common(character, left[0], right[0]),
            _ => hips,
        };
        wanted.extend(arms.iter().flatten().flatten().chain(toes.iter().flatten()).chain([&hips, &chest]));
        let paths = paths(motion, &wanted, levels);
        let path = |id: JointId| paths[wanted.iter().position(|w| *w == id).expect("a wanted joint")].clone();
        let limb = |[root, middle, end]: [JointId; 3]| LimbPath {
            root: path(root),
            middle: path(middle),
            end: path(end),
        };
        let legs = [0, 3].map(|k| limb([wanted[k], wanted[k + 1], wanted[k + 2]]));
        let arms = arms.map(|arm| arm.map(limb));
        let lengths = legs.iter().map(|leg| {
            let apart =
                |a: &Path, b: &Path| median(a.at.iter().zip(&b.at).map(|(a, b)| (a - b).norm()).collect());
            apart(&leg.root, &leg.middle) + apart(&leg.middle, &leg.end)
        });
        let leg_length = lengths.sum::<f64>() / 2.0;
        let hip_joints = legs.each_ref().map(|leg| &leg.root);
        let shoulders = match &arms {
            [Some(left), Some(right)] => Some([&left.root, &right.root]),
            _ => None,
        };
        let [pelvis, chest] = trunk_frames([&path(hips), &path(chest)], hip_joints, shoulders);
        let line = |shoulders: [&Path; 2], f: usize| {
            middle(shoulders.map(|path| path.at[f])) - middle(hip_joints.map(|path| path.at[f]))
        };
        let trunk_line =
            shoulders.map(|shoulders| (0..motion.clip.frames()).map(|f| line(shoulders, f)).collect());
        let feet = feet(&legs, toes.map(|toes| toes.map(&path)), &pelvis, leg_length);
        // A robot has no T-pose: its hands' frames are those of its zero pose.
        let robot = character.robot.as_ref().and_then(|robot| RobotBody::of(robot).ok());
        let hands = [0, 1].map(|k| {
            let arm = arms[k].as_ref().filter(|_| joint(Role::Hand(Side::BOTH[k])).is_some())?;
            let at_rest = match &robot {
                Some(robot) => robot.hand_at_zero(k)?,
                None => hand_at_rest(arm, Side::BOTH[k].sign()),
            };
            let joint_from_hand = arm.end.rest.inverse() * at_rest;
            Some(arm.end.rotations.iter().map(|rotation| rotation * joint_from_hand).collect())
        });
        Ok(Self {
            frames: motion.clip.frames(),
            leg_length,
            legs,
            arms,
            feet,
            pelvis,
            chest,
            trunk_line,
            hands,
        })
    }

    /// The height that ankles of flat feet would have in a take that shows none: by the feet or, where other joints are lower (a
    /// handstand), by these.
    pub(super) fn assumed_level(&self) -> f64 {
        let feet = self.feet.iter().map(FootPath::lowest_level).fold(f64::MAX, f64::min);
        let limbs = self.legs.iter().chain(self.arms.iter().flatten());
        let joints = limbs.flat_map(|limb| [&limb.root, &limb.middle, &limb.end]).flat_map(|path| &path.at);
        let lowest = joints.map(|place| place.z).fold(f64::MAX, f64::min);
        feet.min(lowest + ABOVE_LOWEST * self.leg_length)
    }
}

/// The nearest joint that both are below.
fn common(character: &Character, a: JointId, b: JointId) -> JointId {
    let skeleton = character.skeleton();
    let shared = skeleton.path_to_root(a).find(|&above| skeleton.is_ancestor(above, b));
    shared.unwrap_or(JointId::new(0))
}

fn paths(motion: &Motion, wanted: &[JointId], levels: &Quat) -> Vec<Path> {
    let world_from_model = Transform::from_rotation(model_from_world().inverse());
    let levelled_from_model = Transform::from_rotation(*levels) * world_from_model;
    let rest = motion.character.reference_pose();
    let frames: Vec<Vec<Transform>> = parallel::map(motion.clip.frames(), 1, |frame| {
        let pose = motion.model_pose(frame);
        wanted.iter().map(|&id| levelled_from_model * *pose.joint(id)).collect()
    });
    let path = |(k, id): (usize, &JointId)| {
        let rest = world_from_model * *rest.joint(*id);
        Path {
            at: frames.iter().map(|frame| frame[k].translation).collect(),
            rotations: frames.iter().map(|frame| frame[k].rotation).collect(),
            rest: rest.rotation,
            rest_at: rest.translation,
        }
    };
    wanted.iter().enumerate().map(path).collect()
}

impl Path {
    /// A vector of the world in the joint's space, at one frame.
    fn inside(&self, frame: usize, v: Vec3) -> Vec3 {
        self.rotations[frame].inverse() * v
    }
}

/// The frames of pelvis and chest.
fn trunk_frames(
    [pelvis, chest]: [&Path; 2],
    hips: [&Path; 2],
    shoulders: Option<[&Path; 2]>,
) -> [Vec<Quat>; 2] {
    let Some(shoulders) = shoulders else {
        let pelvis = trunk(pelvis, hips, Vec3::z());
        return [pelvis.clone(), pelvis];
    };
    let line = middle(shoulders.map(|path| path.rest_at)) - middle(hips.map(|path| path.rest_at));
    // A reference pose that lies does not show what is up.
    let up = if line.z > LIES * line.norm() { Vec3::z() } else { line };
    [trunk(pelvis, hips, up), trunk(chest, shoulders, up)]
}

/// The frame of pelvis or chest: its left is the line of hips or shoulders, its up that of the reference pose.
fn trunk(path: &Path, [left, right]: [&Path; 2], up: Vec3) -> Vec<Quat> {
    let line = median_of((0..path.at.len()).map(|f| path.inside(f, left.at[f] - right.at[f])));
    let up = path.rest.inverse() * up;
    let y = line.try_normalize(1e-9).unwrap_or_else(|| path.rest.inverse() * Vec3::y());
    let x = y.cross(&up).try_normalize(1e-9).unwrap_or_else(|| path.rest.inverse() * Vec3::x());
    let joint_from_trunk = from_columns(&x, &y, &x.cross(&y));
    path.rotations.iter().map(|rotation| rotation * joint_from_trunk).collect()
}

fn middle([left, right]: [Vec3; 2]) -> Vec3 {
    (left + right) / 2.0
}

/// Both feet.
fn feet(legs: &[LimbPath; 2], toes: [Option<Path>; 2], pelvis: &[Quat], leg_length: f64) -> [FootPath; 2] {
    let of = |k: usize, tilted: f64| foot(&legs[k], toes[k].as_ref(), pelvis, leg_length, tilted);
    let mut feet = [0, 1].map(|k| of(k, TILTED));
    if let [Some(left), Some(right)] = feet.each_ref().map(FootPath::level) {
        let higher = usize::from(right > left);
        if (right - left).abs() > ABOVE_OTHER * leg_length {
            feet[higher] = of(higher, TILTED_ABOVE);
        }
    }
    feet
}

/// A foot, whose sole is level where ankle and ball are lowest; if it is `tilted` (cosine) there, where it is in the reference pose.
fn foot(leg: &LimbPath, toes: Option<&Path>, pelvis: &[Quat], leg_length: f64, tilted: f64) -> FootPath {
    let ankle = &leg.end;
    let frames = ankle.at.len();
    let rigid = |forward: Vec3, up: Vec3| -> Vec<Vec3> {
        let offset = (forward * BALL[0] - up * BALL[1]) * leg_length;
        (0..frames).map(|f| ankle.at[f] + ankle.rotations[f] * offset).collect()
    };
    let long = |toes: &&Path| {
        median((0..frames).map(|f| (toes.at[f] - ankle.at[f]).norm()).collect()) > SHORTEST_FOOT * leg_length
    };
    let toes = toes.filter(long);
    let in_rest = |v: Vec3| ankle.rest.inverse() * v;
    let mut ball = toes.map_or_else(|| rigid(in_rest(Vec3::x()), in_rest(Vec3::z())), |toes| toes.at.clone());
    let flat = flat(&ankle.at, &ball, leg_length);
    let median_in = |of: &dyn Fn(usize) -> Vec3| {
        median_of((0..frames).filter(|f| flat[*f]).map(|f| ankle.inside(f, of(f))))
    };
    let seen = median_in(&|_| Vec3::z()).try_normalize(1e-9);
    let tilted = seen.is_some_and(|up| up.dot(&in_rest(Vec3::z())) < tilted) && stands_at_rest(leg, toes);
    let up = seen.filter(|_| !tilted).unwrap_or_else(|| in_rest(Vec3::z()));
    let across = |v: Vec3| (v - up * up.dot(&v)).try_normalize(1e-9);
    let body = if tilted { None } else { across(median_in(&|f| pelvis[f] * Vec3::x())) };
    let body = body.unwrap_or_else(|| in_rest(Vec3::x()));
    let mut forward = across(median_in(&|f| ball[f] - ankle.at[f])).unwrap_or(body);
    if forward.dot(&body) < FACING {
        forward = body;
        ball = rigid(body, up);
    }
    let joint_from_sole = from_columns(&forward, &up.cross(&forward), &up);
    let sole = ankle.rotations.iter().map(|rotation| rotation * joint_from_sole).collect();
    let rise = tilted.then(|| -up.dot(&ankle.inside(0, ball[0] - ankle.at[0])));
    FootPath { sole, ankle: ankle.at.clone(), ball, flat, rise }
}

/// Whether the reference pose of a leg is one of a person who stands: straight down, toes not far below the ankle.
fn stands_at_rest(leg: &LimbPath, toes: Option<&Path>) -> bool {
    let along = |a: &Path, b: &Path| (b.rest_at - a.rest_at).try_normalize(1e-9).unwrap_or_default();
    let down = [along(&leg.root, &leg.middle), along(&leg.middle, &leg.end)];
    let slope = toes.map_or(0.0, |toes| -along(&leg.end, toes).z);
    down.iter().all(|segment| -segment.z > STANDS) && (0.0..TOES_DOWN).contains(&slope)
}

/// The frames in which ankle and ball are both low.
fn flat(ankle: &[Vec3], ball: &[Vec3], leg_length: f64) -> Vec<bool> {
    let below = |path: &[Vec3], percent: f64, more: f64| {
        let heights: Vec<f64> = path.iter().map(|p| p.z).collect();
        percentile(&heights, percent / 100.0) + more
    };
    let [a, b] = [ankle, ball].map(|path| below(path, LOW.0, LOW.1 * leg_length));
    let flat: Vec<bool> = ankle.iter().zip(ball).map(|(p, q)| p.z < a && q.z < b).collect();
    if flat.iter().filter(|f| **f).count() >= FEWEST_FLAT {
        return flat;
    }
    let lowest = below(ankle, 10.0, 0.0);
    ankle.iter().map(|p| p.z <= lowest).collect()
}

/// The frame of a hand in the reference pose: palm down in a T-pose, rotated by the shortest arc to where the forearm points.
fn hand_at_rest(arm: &LimbPath, sign: f64) -> Quat {
    let side = Vec3::y() * sign;
    let forearm = arm.end.rest_at - arm.middle.rest_at;
    let swing = arc(&side, &forearm, &Vec3::x());
    swing * from_columns(&side, &(Vec3::z() * sign), &Vec3::x())
}
