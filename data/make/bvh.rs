//! Poses of an actor become the text of a BVH file in some convention.
//!
//! A convention chooses the joints and their names, the rest pose, the unit, the up axis, the rotation orders,
//! which joints have position channels and what those mean, the decimals and the line ends. A change of rest
//! pose leaves every model-space position as it was: with `A` the model rotations of the new rest pose and `R`
//! those of the motion over the T-pose, the file's model rotations are `R A^-1`.

use super::actor::{Actor, Side};
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{ModelPose, Pose};
use std::fmt::Write;

/// A take before it is written.
pub struct Take {
    /// Who performs it.
    pub actor: Actor,
    /// One pose per frame.
    pub poses: Vec<Pose>,
}

/// What the numbers of the position channels are.
#[derive(Clone, Copy, PartialEq)]
pub enum Positions {
    /// On the root only; they take the place of its OFFSET, which is zero.
    RootFromOrigin,
    /// On the root only; they take the place of its OFFSET, which is the rest height.
    RootAbsolute,
    /// On every joint, rotations first; they are added to the OFFSET, and are zero except for the root.
    EveryJointAdded,
}

/// How a file is to be written.
pub struct Convention {
    /// The actor's joint, the name in the file, and the rotation order, parents first.
    pub joints: Vec<(String, String, &'static str)>,
    /// The rest pose of the file, as a pose of the actor.
    pub rest: Pose,
    /// File units per metre.
    pub units_per_metre: f64,
    /// Whether +Z is up and the figure faces -Y, instead of Y up and +Z.
    pub z_up: bool,
    /// The position channels.
    pub positions: Positions,
    /// Decimals of lengths and of angles in degrees.
    pub decimals: [usize; 2],
    /// The frame time as the file spells it.
    pub frame_time: &'static str,
    /// The line end.
    pub line_end: &'static str,
}

/// The joints of a convention which has one rotation order: pairs of the actor's joint and the file's name, which
/// `spell` completes for each side.
pub fn named(
    order: &'static str,
    middle: &[[&str; 2]],
    sides: &[[&str; 2]],
    spell: impl Fn(Side, &str) -> String,
) -> Vec<(String, String, &'static str)> {
    let own = |[joint, name]: &[&str; 2]| ((*joint).to_owned(), (*name).to_owned(), order);
    let mut joints: Vec<_> = middle.iter().map(own).collect();
    for side in Side::BOTH {
        joints.extend(sides.iter().map(|[joint, name]| (side.named(joint), spell(side, name), order)));
    }
    joints
}

/// One joint of the file: the actor's joint and where it hangs.
struct Row {
    actor: usize,
    parent: Option<usize>,
    children: Vec<usize>,
    offset: Vec3,
    rest: Quat,
    tip: Vec3,
}

/// The text of the file.
pub fn write(take: &Take, how: &Convention) -> String {
    let rows = rows(take, how);
    let mut text = String::from("HIERARCHY\n");
    hierarchy(&mut text, &rows, how, 0, 0);
    let _ = write!(text, "MOTION\nFrames: {}\nFrame Time: {}\n", take.poses.len(), how.frame_time);
    let order = file_order(&rows);
    let mut before = vec![[0.0; 3]; rows.len()];
    for pose in &take.poses {
        let model = ModelPose::of(&take.actor.skeleton, pose);
        let turned = |row: &Row| model.joints()[row.actor].rotation * row.rest.inverse();
        let mut numbers = Vec::new();
        for &i in &order {
            let row = &rows[i];
            let local = match row.parent {
                Some(p) => turned(&rows[p]).inverse() * turned(row),
                None => turned(row),
            };
            let angles = euler(&in_axes(how, &local), how.joints[i].2, before[i]);
            before[i] = angles;
            let angles = angles.map(|a| fixed(a.to_degrees(), how.decimals[1]));
            let mut place = Vec3::zeros();
            if row.parent.is_none() {
                place = vector_in_axes(how, &model.joints()[row.actor].translation);
                if how.positions == Positions::EveryJointAdded {
                    place -= row.offset;
                }
            }
            let place = [place.x, place.y, place.z].map(|x| fixed(x, how.decimals[0]));
            match how.positions {
                Positions::EveryJointAdded => numbers.extend(angles.into_iter().chain(place)),
                _ if row.parent.is_none() => numbers.extend(place.into_iter().chain(angles)),
                _ => numbers.extend(angles),
            }
        }
        text.push_str(&numbers.join(" "));
        text.push('\n');
    }
    text.replace('\n', how.line_end)
}

fn rows(take: &Take, how: &Convention) -> Vec<Row> {
    let skeleton = &take.actor.skeleton;
    let rest: Vec<Transform> = ModelPose::of(skeleton, &how.rest).joints().to_vec();
    let ids: Vec<_> = how.joints.iter().map(|j| take.actor.joint(&j.0)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (i, &id) in ids.iter().enumerate() {
        // A joint that the convention leaves out passes its children on to its parent.
        let parent = skeleton.path_to_root(id).skip(1).find_map(|a| ids.iter().position(|&b| b == a));
        let at = rest[id.index()].translation;
        let offset = match (parent, how.positions) {
            (Some(p), _) => vector_in_axes(how, &(at - rest[ids[p].index()].translation)),
            (None, Positions::RootFromOrigin) => Vec3::zeros(),
            (None, _) => vector_in_axes(how, &at),
        };
        let tip = skeleton.joint(id).tip.unwrap_or(Vec3::new(0.0, 0.05, 0.0));
        let turn = rest[id.index()].rotation;
        let row = Row {
            actor: id.index(),
            parent,
            children: Vec::new(),
            offset,
            rest: turn,
            tip: vector_in_axes(how, &(turn * tip)),
        };
        if let Some(p) = parent {
            rows[p].children.push(i);
        }
        rows.push(row);
    }
    rows
}

/// The rows in the order of the hierarchy, depth first, which is that of the channels.
fn file_order(rows: &[Row]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut open = vec![0];
    while let Some(i) = open.pop() {
        order.push(i);
        open.extend(rows[i].children.iter().rev());
    }
    order
}

fn hierarchy(text: &mut String, rows: &[Row], how: &Convention, i: usize, depth: usize) {
    let row = &rows[i];
    let tab = "\t".repeat(depth);
    let offset = |v: &Vec3| [v.x, v.y, v.z].map(|x| fixed(x, how.decimals[0])).join(" ");
    let kind = if depth == 0 { "ROOT" } else { "JOINT" };
    let (_, name, order) = &how.joints[i];
    let turns = order.chars().map(|c| format!("{c}rotation")).collect::<Vec<_>>().join(" ");
    let moves = "Xposition Yposition Zposition";
    let channels = match how.positions {
        Positions::EveryJointAdded => format!("6 {turns} {moves}"),
        _ if depth == 0 => format!("6 {moves} {turns}"),
        _ => format!("3 {turns}"),
    };
    let _ = write!(
        text,
        "{tab}{kind} {name}\n{tab}{{\n{tab}\tOFFSET {}\n{tab}\tCHANNELS {channels}\n",
        offset(&row.offset)
    );
    for &child in &row.children {
        hierarchy(text, rows, how, child, depth + 1);
    }
    if row.children.is_empty() {
        let _ = write!(text, "{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\tOFFSET {}\n{tab}\t}}\n", offset(&row.tip));
    }
    let _ = writeln!(text, "{tab}}}");
}

/// A number with so many decimals, without trailing zeros and never a negative zero.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// From Y up to the axes of the file: +90 degrees about X takes Y to Z and Z to -Y.
fn axes(how: &Convention) -> Quat {
    if how.z_up { exp(&(Vec3::x() * std::f64::consts::FRAC_PI_2)) } else { Quat::identity() }
}

fn in_axes(how: &Convention, q: &Quat) -> Quat {
    axes(how) * q * axes(how).inverse()
}

fn vector_in_axes(how: &Convention, v: &Vec3) -> Vec3 {
    axes(how) * v * how.units_per_metre
}

/// The angles in radians with `q = R_1(a) R_2(b) R_3(c)` about the axes of `order`, each within half a turn of
/// its value `before`.
///
/// With `i, j, k` the axes and `s` the sign of their permutation: `sin b = s m_ik`,
/// `tan a = -s m_jk / m_kk`, `tan c = -s m_ij / m_ii`.
fn euler(q: &Quat, order: &str, before: [f64; 3]) -> [f64; 3] {
    let m = q.to_rotation_matrix().into_inner();
    let mut index = order.bytes().map(|c| usize::from(c - b'X'));
    let mut next = || index.next().expect("an order has three axes");
    let (i, j, k) = (next(), next(), next());
    let s = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
    let first = [
        (-s * m[(j, k)]).atan2(m[(k, k)]),
        (s * m[(i, k)]).clamp(-1.0, 1.0).asin(),
        (-s * m[(i, j)]).atan2(m[(i, i)]),
    ];
    // The same rotation the other way round; a motion that passes the middle angle's pole needs it.
    let pi = std::f64::consts::PI;
    let second = [first[0] + pi, pi - first[1], first[2] + pi];
    let near = |angles: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|n| {
            let turns = ((before[n] - angles[n]) / std::f64::consts::TAU).round();
            angles[n] + turns * std::f64::consts::TAU
        })
    };
    let far = |angles: &[f64; 3]| -> f64 { angles.iter().zip(before).map(|(a, b)| (a - b).abs()).sum() };
    let (first, second) = (near(first), near(second));
    if far(&second) + 1e-6 < far(&first) { second } else { first }
}
