//! Picture of a skeleton with its roles in colours: front and side view with a legend, for people who check a joint map.
//!
//! The skin or the stand-in figure is drawn pale behind the joints, in the reference pose. Joints with a role of the body have a
//! number that the legend explains; a joint without a role is grey.

use super::actor::Actor;
use super::camera::{Camera, View};
use super::framing::{Follow, Framing};
use super::line::line;
use super::options::{RenderError, Subject};
use super::picture::Picture;
use super::sheet::{INK, PALE_INK};
use super::studio::Studio;
use super::text;
use crate::math::single;
use crate::model::{Character, Clip, Finger, JointId, Motion, Role, Side};
use std::sync::Arc;

/// Size of one view, pixels: a number of 12 dots fits between the joints of a hand and a forearm.
const VIEW: (u32, u32) = (640, 840);
/// Widest column of the legend, pixels: forty characters of the font.
const COLUMN: usize = 500;
/// Share of white over the body behind the joints: it is to be seen and not to compete with the colours.
const VEIL: f32 = 0.62;
/// Half width of a bone, pixels.
const BONE: f32 = 3.0;
/// Radius of a joint, pixels.
const DOT: f32 = 5.0;
/// Dot size of text.
const SCALE: usize = 2;
/// sRGB colour of the background.
const PAPER: [u8; 3] = [255; 3];
/// sRGB colour of joints and bones without a role.
pub(super) const NONE: [u8; 3] = [150, 150, 150];
/// sRGB colour of a doubtful role's text.
pub(super) const DOUBT: [u8; 3] = [196, 30, 30];

/// The picture of a character's roles.
pub(crate) struct RolePicture(pub(super) Picture);

impl RolePicture {
    /// Draws the roles of a character; `label` is the name of the file.
    ///
    /// # Errors
    /// A [`RenderError`] if the reference pose cannot be drawn.
    pub(crate) fn of(character: &Arc<Character>, label: &str) -> Result<Self, RenderError> {
        let skeleton = character.skeleton();
        let pose = character.reference_pose().to_local(skeleton);
        let motion = Motion::new(Arc::clone(character), Clip::from_poses("", 1.0, skeleton, &[pose]));
        motion.check().map_err(|e| RenderError::Motion { label: label.to_owned(), reason: e.to_string() })?;
        let subject = Subject { motion: &motion, label: label.to_owned(), marks: Vec::new(), observed: None };
        let actors = [Actor::new(&subject, 256)];
        let views = [View::Front, View::Side].map(|view| body_view(&actors, view));
        Ok(Self(joined(character, label, &views)))
    }

    /// The picture as PNG.
    ///
    /// # Errors
    /// A [`RenderError`] if the picture cannot be encoded.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>, RenderError> {
        self.0.to_png()
    }

    /// The picture as JPEG.
    ///
    /// # Errors
    /// A [`RenderError`] if the picture cannot be encoded.
    pub(crate) fn to_jpeg(&self) -> Result<Vec<u8>, RenderError> {
        self.0.to_jpeg()
    }
}

/// One view: the pale body, bones and joints in colours, and numbers in the front view.
fn body_view(actors: &[Actor; 1], view: View) -> Picture {
    let (width, height) = VIEW;
    let shot = Framing::new(actors, view, Follow::Exactly, &[0.0], VIEW, (0.06, 0.06));
    let studio = Studio::new(&actors[0], &shot, 0, VIEW, false, false);
    let mut picture = studio.draw(0.0, &mut studio.easel());
    for y in 0..i64::from(height) {
        for x in 0..i64::from(width) {
            picture.blend(x, y, PAPER, VEIL);
        }
    }
    let character = &actors[0].motion().character;
    let camera = shot.camera(0, 0.0, width, height);
    draw_joints(character, &camera, &mut picture);
    if view == View::Front {
        draw_numbers(character, &camera, &mut picture);
    }
    let title = if view == View::Front { "front: its left is on the right" } else { "side: it faces right" };
    text::draw(
        &mut picture,
        4 * SCALE,
        height as usize - text::line_height(SCALE) - 4 * SCALE,
        title,
        SCALE,
        PALE_INK,
    );
    picture
}

/// Bones from each joint to its children, and the joints; those with a role over those without.
fn draw_joints(character: &Character, camera: &Camera, picture: &mut Picture) {
    let skeleton = character.skeleton();
    let pose = character.reference_pose();
    let at = |id: JointId| camera.project(single(&pose.position(id)));
    for with_role in [false, true] {
        for id in skeleton.ids() {
            let role = character.rig.role(id);
            if role.is_some() != with_role {
                continue;
            }
            let thin = if with_role { 1.0 } else { 0.4 };
            for &child in skeleton.children(id) {
                // A bone to a helper is thin, so that a limb is one line.
                let share = if character.rig.role(child).is_some() { thin } else { 0.4 };
                line([at(id), at(child)], BONE * share, picture, |_, _, _| (color(role), 1.0));
            }
            if skeleton.joint(id).file_name.is_some() {
                line([at(id), at(id)], DOT * thin.max(0.5), picture, |_, _, _| (color(role), 1.0));
            }
        }
    }
}

/// The number of each role of the body at its joint, moved aside from the figure's middle.
fn draw_numbers(character: &Character, camera: &Camera, picture: &mut Picture) {
    let pose = character.reference_pose();
    for (number, role, joint, _) in numbered(character) {
        if matches!(role, Role::Finger(..)) {
            continue;
        }
        let [x, y, _] = camera.project(single(&pose.position(joint)));
        let digits = number.to_string();
        let (wide, high) = (text::width(&digits, SCALE), text::line_height(SCALE));
        if !(x.is_finite() && y.is_finite()) {
            continue;
        }
        let left = (x as usize + 8).min(picture.width.saturating_sub(wide + 4));
        let top = (y as usize).saturating_sub(high).min(picture.height.saturating_sub(high));
        picture.fill(left.saturating_sub(2), top.saturating_sub(2), wide + 4, high + 2, PAPER);
        text::draw(picture, left, top, &digits, SCALE, INK);
    }
}

/// Every role with its number in the legend, its joint and whether it is doubtful.
fn numbered(character: &Character) -> Vec<(usize, Role, JointId, bool)> {
    let roles = character.rig.assignments().zip(1..);
    roles.map(|((role, a), number)| (number, role, a.joint, a.is_doubtful())).collect()
}

/// The views side by side under a title, and the legend next to them.
fn joined(character: &Character, label: &str, views: &[Picture; 2]) -> Picture {
    let (width, height) = (VIEW.0 as usize, VIEW.1 as usize);
    let row = text::line_height(SCALE) + 2 * SCALE;
    let header = row + 4 * SCALE;
    let entries = legend(character);
    let rows = height / row;
    let columns: Vec<&[_]> = entries.chunks(rows).collect();
    let wide = entries.iter().map(|e| text::width(&e.0, SCALE)).max().unwrap_or(0).min(COLUMN);
    let column = wide + row + 8 * SCALE;
    let mut picture = Picture::new(2 * width + columns.len().max(1) * column, height + header, PAPER);
    let title = text::fitted(label, SCALE, picture.width - 8 * SCALE);
    text::draw(&mut picture, 4 * SCALE, 4 * SCALE, &title, SCALE, INK);
    for (k, view) in views.iter().enumerate() {
        picture.put(k * width, header, view);
    }
    for (k, entries) in columns.into_iter().enumerate() {
        for (line, (words, mark, ink)) in entries.iter().enumerate() {
            let (x, y) = (2 * width + k * column + 4 * SCALE, header + line * row);
            picture.fill(x, y, row - 2 * SCALE, row - 2 * SCALE, *mark);
            text::draw(&mut picture, x + row, y + SCALE, &text::fitted(words, SCALE, wide), SCALE, *ink);
        }
    }
    picture
}

/// The lines of the legend: text, colour of the role, colour of the text.
fn legend(character: &Character) -> Vec<(String, [u8; 3], [u8; 3])> {
    let skeleton = character.skeleton();
    let line = |(number, role, joint, doubtful): (usize, Role, JointId, bool)| {
        let doubt = if doubtful { " (a guess)" } else { "" };
        let words = format!("{number} {role}: {}{doubt}", skeleton.joint(joint).name);
        (words, color(Some(role)), if doubtful { DOUBT } else { INK })
    };
    let mut all: Vec<_> = numbered(character).into_iter().map(line).collect();
    let without = skeleton.ids().filter(|&id| character.rig.role(id).is_none()).count();
    if without > 0 {
        all.push((format!("{without} joints without a role"), NONE, PALE_INK));
    }
    all
}

/// sRGB colour of a role: the trunk is purple, the left limbs are blue and green, the right ones orange and yellow, darker
/// outwards; red is kept for doubts. Each finger has the same colour on both hands.
pub(super) fn color(role: Option<Role>) -> [u8; 3] {
    let Some(role) = role else { return NONE };
    let of = |side: Side, left: [u8; 3], right: [u8; 3]| if side == Side::Left { left } else { right };
    match role {
        Role::Hips => [92, 40, 140],
        Role::Spine(n) if n % 2 == 0 => [140, 86, 190],
        Role::Spine(_) => [172, 128, 214],
        Role::Neck(_) => [206, 110, 190],
        Role::Head => [150, 40, 150],
        Role::Tail(_) => [120, 90, 60],
        Role::Clavicle(s) => of(s, [140, 194, 236], [246, 190, 130]),
        Role::UpperArm(s) => of(s, [66, 146, 214], [238, 142, 58]),
        Role::LowerArm(s) => of(s, [28, 100, 176], [204, 102, 24]),
        Role::Hand(s) => of(s, [12, 56, 116], [134, 64, 10]),
        Role::UpperLeg(s) => of(s, [80, 190, 160], [226, 196, 84]),
        Role::LowerLeg(s) => of(s, [30, 148, 120], [190, 156, 30]),
        Role::Foot(s) => of(s, [12, 104, 84], [138, 110, 10]),
        Role::Toes(s) => of(s, [6, 66, 54], [92, 72, 4]),
        Role::Finger(_, finger, _) => match finger {
            Finger::Thumb => [0, 160, 180],
            Finger::Index => [240, 150, 20],
            Finger::Middle => [190, 180, 20],
            Finger::Ring => [50, 170, 70],
            Finger::Little => [60, 90, 220],
        },
    }
}
