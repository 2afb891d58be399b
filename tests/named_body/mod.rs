//! One human body under the names and in the tree of a convention, as GLB and BVH, with the truth of every joint.
//!
//! A convention is a piece of text. A line is a joint, its depth the indentation, its children the lines below it:
//!
//! ```text
//! [Name of it | Left Right | T]         the words for the sides, and how the arms rest: T or A
//! [Another name | Name of it | ^=hero: | $=_jnt | Left=L_ | lower]  the same with other names: `^` is their
//!                                       beginning, `$` their end
//! Hips = hips                           the name, and its role
//!   Spine{,1,2} = spine_0               Spine, Spine1 and Spine2, one below the other; roles count on
//!   *UpLeg = upper_leg > *Leg = lower_leg     `*` is the side: a joint for each; `>` is a child on the same line
//!     *Twist                            without a role: must not get one
//!     *Thumb ? thumb_0                  may have this role or none
//!     *Gun @ grip                       without a role, and where it lies
//! ```
//!
//! A joint without role and place lies between those above and below that have one, or along the bone above it.

#![allow(dead_code, reason = "every test takes what it needs")]

mod body;

pub use body::{Body, Bone, Rest};
use posemill::export::{self, Format};
use posemill::math::{Quat, Transform, Vec3, arc};
use posemill::model::{Character, Clip, Joint, JointId, Motion, Rig, Skeleton};
use std::fmt::Write;
use std::sync::Arc;

/// One joint and the truth about it.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: String,
    pub parent: Option<usize>,
    /// The role as `Role` prints it.
    pub role: Option<String>,
    /// Whether no role is as good as `role`.
    pub optional: bool,
    /// In model space, metres.
    pub at: Vec3,
    /// Where its bone ends on the body, as seen from `at`; `None` for a joint that the body does not have.
    pub way: Option<Vec3>,
}

/// A body under a convention: joints with the parents first.
#[derive(Clone, Debug)]
pub struct Convention {
    pub name: String,
    pub joints: Vec<Named>,
}

/// A line of the tree, before sides are filled in.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    parent: Option<usize>,
    role: Option<String>,
    optional: bool,
    place: Option<String>,
}

/// What stands between two headings.
#[derive(Clone)]
struct Text {
    name: String,
    sides: [String; 2],
    rest: Rest,
    lines: Vec<Line>,
}

/// The conventions of a text, in its order.
pub fn conventions(text: &str) -> Vec<Convention> {
    let mut texts: Vec<Text> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[') {
            texts.push(heading(head.trim_end_matches(']'), &texts));
            open.clear();
            continue;
        }
        let lines = &mut texts.last_mut().expect("a heading comes first").lines;
        let depth = line.len() - line.trim_start().len();
        open.retain(|o| o.0 < depth);
        let mut parent = open.last().map(|o| o.1);
        for word in line.trim().split(" > ") {
            for made in chain(word) {
                lines.push(Line { parent, ..made });
                parent = Some(lines.len() - 1);
            }
        }
        open.push((depth, lines.len() - 1));
    }
    texts.iter().map(Text::build).collect()
}

fn heading(head: &str, before: &[Text]) -> Text {
    let mut parts = head.split(" | ");
    let name = parts.next().expect("a name").to_owned();
    let second = parts.next().expect("sides, or the name of a convention above");
    if let Some(like) = before.iter().find(|t| t.name == second) {
        let mut text = Text { name, ..like.clone() };
        let Text { lines, sides, .. } = &mut text;
        let mut names: Vec<&mut String> = lines.iter_mut().map(|l| &mut l.name).collect();
        let own = names.len();
        names.extend(sides);
        for part in parts {
            for (k, name) in names.iter_mut().enumerate() {
                **name = match part.split_once('=') {
                    None => name.to_lowercase(),
                    Some(("^", to)) if k < own => format!("{to}{name}"),
                    Some(("$", to)) => format!("{name}{}", if k < own { to } else { "" }),
                    Some((from, to)) => name.replace(from, to),
                };
            }
        }
        return text;
    }
    let (left, right) = second.split_once(' ').expect("two words for the sides");
    let rest = if parts.next() == Some("A") { Rest::A } else { Rest::T };
    Text { name, sides: [left.into(), right.into()], rest, lines: Vec::new() }
}

/// `name{,1,2} = role_0` as a chain of joints.
fn chain(word: &str) -> Vec<Line> {
    let cut = |text: &str, mark: &str| match text.split_once(mark) {
        Some((a, b)) => (a.trim().to_owned(), Some(b.trim().to_owned())),
        None => (text.trim().to_owned(), None),
    };
    let (word, place) = cut(word, " @ ");
    let (word, maybe) = cut(&word, " ? ");
    let (names, role) = cut(&word, " = ");
    let (optional, role) = (maybe.is_some(), maybe.or(role));
    let names: Vec<String> = match (names.find('{'), names.find('}')) {
        (Some(a), Some(b)) => {
            names[a + 1..b].split(',').map(|n| format!("{}{n}{}", &names[..a], &names[b + 1..])).collect()
        }
        _ => vec![names],
    };
    let counted = role.as_ref().and_then(|r| r.rsplit_once('_')?.1.parse::<usize>().ok());
    let nth = |k: usize| match (&role, counted) {
        (Some(role), Some(n)) => Some(format!("{}_{}", role.rsplit_once('_')?.0, n + k)),
        (role, _) => role.clone().filter(|_| k == 0),
    };
    let line = |(k, name)| Line { name, parent: None, role: nth(k), optional, place: place.clone() };
    names.into_iter().enumerate().map(line).collect()
}

/// A joint that is being laid out: its bone where that is known.
struct Laid {
    line: usize,
    side: Option<usize>,
    parent: Option<usize>,
    bone: Option<Bone>,
}

impl Text {
    fn count(&self, role: &str) -> usize {
        self.lines.iter().filter(|l| l.role.as_ref().is_some_and(|r| r.starts_with(role))).count()
    }

    fn build(&self) -> Convention {
        let body = Body { rest: self.rest, spine: self.count("spine_"), neck: self.count("neck_") };
        let mut laid = Vec::new();
        for root in (0..self.lines.len()).filter(|&l| self.lines[l].parent.is_none()) {
            self.lay(&body, root, None, None, &mut laid);
        }
        let mut at: Vec<Vec3> = Vec::with_capacity(laid.len());
        for k in 0..laid.len() {
            let place = match laid[k].bone {
                Some(bone) => bone.at,
                None => between(&laid, &at, k),
            };
            at.push(place);
        }
        let joint = |(l, at): (&Laid, Vec3)| {
            let line = &self.lines[l.line];
            let name = l.side.map_or(line.name.clone(), |s| line.name.replace('*', &self.sides[s]));
            let role = line.role.as_ref().map(|r| sided(r, l.side));
            let way = l.bone.map(|b| b.end - b.at);
            Named { name, parent: l.parent, role, optional: line.optional, at, way }
        };
        Convention { name: self.name.clone(), joints: laid.iter().zip(at).map(joint).collect() }
    }

    /// Adds a line and all below it, once for each side where it has one.
    fn lay(
        &self,
        body: &Body,
        line: usize,
        parent: Option<usize>,
        side: Option<usize>,
        laid: &mut Vec<Laid>,
    ) {
        let here = &self.lines[line];
        let sides = match side {
            None if here.name.contains('*') => vec![Some(0), Some(1)],
            side => vec![side],
        };
        for side in sides {
            let word = here.place.as_ref().or(here.role.as_ref());
            let bone = word.map(|w| {
                body.bone(&sided(w, side)).unwrap_or_else(|| panic!("`{w}` of {} is no place", self.name))
            });
            laid.push(Laid { line, side, parent, bone });
            let me = laid.len() - 1;
            for child in (0..self.lines.len()).filter(|&c| self.lines[c].parent == Some(line)) {
                self.lay(body, child, Some(me), side, laid);
            }
        }
    }
}

fn sided(word: &str, side: Option<usize>) -> String {
    side.map_or(word.to_owned(), |s| format!("{}_{word}", ["left", "right"][s]))
}

/// The place of joint `k`, which has none of its own: on the way from the one above to the first one below that has
/// one; a leaf along the bone above, behind its siblings of the same kind.
fn between(laid: &[Laid], at: &[Vec3], k: usize) -> Vec3 {
    let Some(parent) = laid[k].parent else { return Vec3::zeros() };
    let below = |a: usize, b: usize| {
        std::iter::successors(Some(b), |&x| laid[x].parent).take_while(|&x| x >= a).any(|x| x == a)
    };
    let placed = (k..laid.len()).find(|&b| laid[b].bone.is_some() && below(k, b));
    if let Some((found, bone)) = placed.and_then(|b| Some((b, laid[b].bone?))) {
        let steps =
            std::iter::successors(Some(found), |&x| laid[x].parent).take_while(|&x| x != parent).count();
        let mut place = at[parent].lerp(&bone.at, 1.0 / steps as f64);
        if laid[k].side.is_none() {
            place.x = 0.0;
        }
        return place;
    }
    let above = std::iter::successors(Some(parent), |&x| laid[x].parent).find_map(|x| laid[x].bone);
    let Some(above) = above else { return at[parent] };
    let way = above.end - above.at;
    if laid[parent].bone.is_none() {
        return at[parent] + way.normalize() * 0.03;
    }
    let open = |s: usize| laid[s].parent == Some(parent) && laid[s].bone.is_none();
    let carries = (0..laid.len()).any(|s| {
        laid[s].parent == Some(parent) && (laid[s].bone.is_some_and(|b| (b.at - above.end).norm() < 0.02))
    });
    let (nth, all) = ((0..=k).filter(|&s| open(s)).count(), (0..laid.len()).filter(|&s| open(s)).count());
    above.at + way * (nth as f64 / (all + usize::from(carries)) as f64)
}

impl Convention {
    /// The GLB: joints turned so that their Y points along the bone, one solid for each bone as skin.
    pub fn glb(&self) -> Vec<u8> {
        let mut model: Vec<Transform> = Vec::new();
        for (k, joint) in self.joints.iter().enumerate() {
            let child = self.joints.iter().find(|j| j.parent == Some(k) && (j.at - joint.at).norm() > 1e-6);
            let turn = match (child.map(|c| c.at - joint.at).or(joint.way), joint.parent) {
                (Some(way), _) => arc(&Vec3::y(), &way, &Vec3::x()),
                (None, Some(parent)) => model[parent].rotation,
                (None, None) => Quat::identity(),
            };
            model.push(Transform::new(turn, joint.at));
        }
        let joints = self.joints.iter().enumerate().map(|(k, joint)| {
            let local = joint.parent.map_or(model[k], |p| model[p].inverse() * model[k]);
            Joint::new(joint.name.clone(), joint.parent.map(JointId::new), local)
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let clip = Clip::from_poses("rest", 30.0, &skeleton, &[skeleton.rest_pose(), skeleton.rest_pose()]);
        let rig = Rig::new(skeleton, []);
        let character = Character::new(&self.name, rig);
        let motion = Motion::new(Arc::new(character), clip);
        let options = export::ExportOptions { stem: "body".into(), ..export::ExportOptions::default() };
        export::save(&[motion], Format::GLB, &options).unwrap().0.swap_remove(0).bytes
    }

    /// The BVH: offsets in centimetres, no joint turned, two frames at rest.
    pub fn bvh(&self) -> Vec<u8> {
        let mut text = String::from("HIERARCHY\n");
        let at = self.joints[0].at * 100.0;
        self.write_joint(0, 0, &mut text);
        text += "MOTION\nFrames: 2\nFrame Time: 0.0333333\n";
        let row = format!("{:.4} {:.4} {:.4}", at.x, at.y, at.z) + &" 0".repeat(3 * self.joints.len());
        writeln!(text, "{row}\n{row}").unwrap();
        text.into_bytes()
    }

    fn write_joint(&self, k: usize, depth: usize, text: &mut String) {
        let joint = &self.joints[k];
        let pad = "\t".repeat(depth);
        let origin = joint.parent.map_or(joint.at, |p| self.joints[p].at);
        let offset = (joint.at - origin) * 100.0;
        let (kind, place) =
            if depth == 0 { ("ROOT", "6 Xposition Yposition Zposition") } else { ("JOINT", "3") };
        writeln!(text, "{pad}{kind} {}\n{pad}{{", joint.name).unwrap();
        writeln!(text, "{pad}\tOFFSET {:.4} {:.4} {:.4}", offset.x, offset.y, offset.z).unwrap();
        writeln!(text, "{pad}\tCHANNELS {place} Zrotation Xrotation Yrotation").unwrap();
        let children: Vec<usize> =
            (0..self.joints.len()).filter(|&c| self.joints[c].parent == Some(k)).collect();
        for &child in &children {
            self.write_joint(child, depth + 1, text);
        }
        if children.is_empty() {
            let end = joint.way.map_or(Vec3::y() * 3.0, |way| way * 100.0);
            writeln!(
                text,
                "{pad}\tEnd Site\n{pad}\t{{\n{pad}\t\tOFFSET {:.4} {:.4} {:.4}",
                end.x, end.y, end.z
            )
            .unwrap();
            writeln!(text, "{pad}\t}}").unwrap();
        }
        writeln!(text, "{pad}}}").unwrap();
    }
}
