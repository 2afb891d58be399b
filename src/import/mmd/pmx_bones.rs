//! Bones of a PMX file.

use super::byte_cursor::ByteCursor;
use super::mmd_error::MmdError;
use super::pmx_text::PmxLayout;
use crate::math::Vec3;
use crate::mmd_document::{Append, IkChain, IkLink, MmdBone, point_from_mmd};

/// Bytes of a bone without texts and indices: position, layer and flags.
pub(super) const LEAST_BONE: usize = 26;
const WHAT: &str = "the bones";

/// Flags of a bone: the format's bits.
const TAIL_IS_BONE: u16 = 0x1;
const HAS_IK: u16 = 0x20;
const ROTATES: u16 = 0x100;
const MOVES: u16 = 0x200;
const FIXED_AXIS: u16 = 0x400;
const OWN_AXES: u16 = 0x800;
const AFTER_PHYSICS: u16 = 0x1000;
const OUTSIDE_PARENT: u16 = 0x2000;

/// Most passes of a chain; MikuMikuDance has no more.
const MOST_LOOPS: i32 = 256;
/// Largest number of bones that a chain may rotate; models have two for a leg, up to twenty for hair.
const MOST_LINKS: usize = 256;

/// Reads a bone. Indices are checked by [`checked`].
pub(super) fn bone(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<MmdBone, MmdError> {
    let name = layout.text(cursor, WHAT)?;
    let english = layout.text(cursor, WHAT)?;
    let name = if name.is_empty() { english } else { name };
    let position = point_from_mmd(cursor.numbers(WHAT)?);
    let index = |cursor: &mut ByteCursor| PmxLayout::index(cursor, layout.bone, WHAT);
    let parent = index(cursor)?;
    let layer = cursor.int(WHAT)?;
    let flags = cursor.short(WHAT)?;
    let has = |flag: u16| flags & flag != 0;
    if has(TAIL_IS_BONE) {
        index(cursor)?;
    } else {
        cursor.numbers::<3>(WHAT)?;
    }
    let mut append = None;
    if has(ROTATES) || has(MOVES) {
        let source = index(cursor)?;
        let ratio = f64::from(cursor.number(WHAT)?);
        append = source.map(|source| Append { source, ratio, rotates: has(ROTATES), moves: has(MOVES) });
    }
    if has(FIXED_AXIS) {
        cursor.numbers::<3>(WHAT)?;
    }
    if has(OWN_AXES) {
        cursor.numbers::<6>(WHAT)?;
    }
    if has(OUTSIDE_PARENT) {
        cursor.int(WHAT)?;
    }
    let ik = if has(HAS_IK) { chain(cursor, layout)? } else { None };
    Ok(MmdBone { name, parent, above: None, position, order: (has(AFTER_PHYSICS), layer), append, ik })
}

/// The chain of a bone; `None` if it names no target.
fn chain(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<Option<IkChain>, MmdError> {
    let target = PmxLayout::index(cursor, layout.bone, WHAT)?;
    let loops = cursor.int(WHAT)?.clamp(0, MOST_LOOPS) as u32;
    let step = f64::from(cursor.number(WHAT)?);
    let count = cursor.count(1 + usize::from(layout.bone), WHAT)?;
    let mut links = Vec::new();
    for _ in 0..count {
        let bone = PmxLayout::index(cursor, layout.bone, WHAT)?;
        let limit = match cursor.byte(WHAT)? {
            0 => None,
            _ => Some(limit([cursor.numbers(WHAT)?, cursor.numbers(WHAT)?])),
        };
        links.extend(bone.map(|bone| IkLink { bone, limit }));
    }
    Ok(target.map(|target| IkChain { target, loops, step, links }))
}

/// Angles about the axes in model space: the mirror image rotates oppositely about X and Y.
fn limit([low, high]: [[f32; 3]; 2]) -> [Vec3; 2] {
    let [low, high] = [low, high].map(|angles| Vec3::from(angles.map(f64::from)));
    let (a, b) = (Vec3::new(-high.x, -high.y, low.z), Vec3::new(-low.x, -low.y, high.z));
    [a.inf(&b), a.sup(&b)]
}

/// The bones without what names bones that are not there, with parents that form no circle.
///
/// # Errors
/// [`MmdError::Value`] for parents in a circle, at byte `offset`.
pub(super) fn checked(mut bones: Vec<MmdBone>, offset: usize) -> Result<Vec<MmdBone>, MmdError> {
    let count = bones.len();
    for (k, bone) in bones.iter_mut().enumerate() {
        bone.parent = bone.parent.filter(|p| *p < count);
        bone.append = bone.append.take().filter(|a| a.source < count && a.source != k);
        if let Some(chain) = &mut bone.ik {
            chain.links.retain(|link| link.bone < count);
            chain.links.truncate(MOST_LINKS);
        }
        bone.ik = bone.ik.take().filter(|chain| chain.target < count);
    }
    // 1 + the bones above each, 0 for unknown.
    let mut depths = vec![0_usize; count];
    for k in 0..count {
        let mut path = Vec::new();
        let mut at = Some(k);
        while let Some(b) = at.filter(|b| depths[*b] == 0) {
            path.push(b);
            if path.len() > count {
                let reason = format!("the parents of the bone `{}` form a circle", bones[k].name);
                return Err(MmdError::Value { offset, reason: crate::report::one_line(&reason) });
            }
            at = bones[b].parent;
        }
        let above = at.map_or(0, |b| depths[b]);
        for (n, b) in path.iter().rev().enumerate() {
            depths[*b] = above + n + 1;
        }
    }
    Ok(bones)
}
