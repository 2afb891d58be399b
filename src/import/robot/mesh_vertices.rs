//! Vertices of mesh files: STL, binary and as text, and OBJ.
//!
//! Shapes need the outermost points only, therefore faces, normals and materials are skipped. Sources: the StereoLithography interface
//! specification (3D Systems, 1989); Wavefront's appendix B1 on object files.

use crate::math::Vec3;
use crate::model::FARTHEST;

/// Bytes of a binary STL before its triangles: a title of 80, and their number.
const STL_HEAD: usize = 84;
/// Bytes of a triangle of a binary STL: a normal, three corners, two of attributes.
const STL_TRIANGLE: usize = 50;
/// Bytes of the normal before the corners.
const STL_NORMAL: usize = 12;

/// The vertices of an STL file as written; `None` of a file that is damaged or incomplete.
pub(super) fn stl(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let count = bytes.get(STL_HEAD - 4..STL_HEAD).map(number);
    let whole = count.and_then(|count| (count as usize).checked_mul(STL_TRIANGLE)?.checked_add(STL_HEAD));
    // The title of a binary file may begin with `solid` too.
    if whole != Some(bytes.len()) {
        return text_stl(bytes);
    }
    let corner = |at: &[u8]| {
        let [x, y, z] = [0, 4, 8].map(|k| f64::from(f32::from_bits(number(&at[k..k + 4]))));
        finite([x, y, z])
    };
    let triangles = bytes[STL_HEAD..].chunks_exact(STL_TRIANGLE);
    triangles.flat_map(|triangle| triangle[STL_NORMAL..].chunks_exact(12).map(corner)).collect()
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn text_stl(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let mut lines = bytes.trim_ascii_start().split(|&byte| byte == b'\n');
    if !lines.next()?.to_ascii_lowercase().starts_with(b"solid") {
        return None;
    }
    let (mut points, mut ended) = (Vec::new(), false);
    for line in lines {
        let mut words = words(line);
        match words.next().map(<[u8]>::to_ascii_lowercase).as_deref() {
            Some(b"vertex") => points.push(point(words)?),
            Some(b"endsolid") => ended = true,
            _ => {}
        }
    }
    (ended && points.len() % 3 == 0).then_some(points)
}

/// The vertices of an OBJ file as written; `None` of a file that is damaged, or without faces, which follow the vertices.
pub(super) fn obj(bytes: &[u8]) -> Option<Vec<Vec3>> {
    let (mut points, mut faces) = (Vec::new(), false);
    for line in bytes.split(|&byte| byte == b'\n') {
        let mut words = words(line);
        match words.next() {
            Some(b"v") => points.push(point(words)?),
            Some(b"f") => faces = true,
            _ => {}
        }
    }
    faces.then_some(points)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Three numbers.
fn point<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Option<Vec3> {
    let mut next = || fast_float2::parse::<f64, _>(words.next()?).ok();
    finite([next()?, next()?, next()?])
}

fn finite(numbers: [f64; 3]) -> Option<Vec3> {
    numbers.iter().all(|x| x.abs() < FARTHEST).then(|| numbers.into())
}
