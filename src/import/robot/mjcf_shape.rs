//! The shapes of an MJCF file: `geom`.

use super::mjcf_defaults::MjcfDefaults;
use super::robot_error::RobotError;
use super::xml_element::Element;
use crate::math::{Quat, Transform, Vec3, arc};
use crate::model::{CollisionShape, Form};

/// A `geom`.
#[derive(Debug)]
pub(super) enum Geom<'d> {
    /// A shape, and whether the file lets it collide.
    Shape(CollisionShape, bool),
    /// The name of a mesh, its place, and whether it collides.
    Mesh(&'d str, Transform, bool),
    /// Nothing that a link can collide with.
    Other,
}

/// Reads a `geom` at `link_from_frame`, the place of the `frame` elements around it.
///
/// # Errors
/// Sizes that are missing.
pub(super) fn read<'d>(
    defaults: &MjcfDefaults<'_>,
    geom: &Element<'d, '_>,
    link_from_frame: Transform,
) -> Result<Geom<'d>, RobotError> {
    let collides = ["contype", "conaffinity"].iter().any(|key| geom.text(key).is_none_or(|mask| mask != "0"));
    let mut at = place(defaults, geom)?;
    if let Some(mesh) = geom.text("mesh") {
        return Ok(Geom::Mesh(mesh, link_from_frame * at, collides));
    }
    let size = geom.numbers("size")?.unwrap_or_default();
    let kind = geom.text("type").unwrap_or("sphere");
    let mut half = size.get(1).copied();
    if let Some(ends) = geom.array::<6>("fromto")? {
        let (a, b) = (Vec3::from_column_slice(&ends[..3]), Vec3::from_column_slice(&ends[3..]));
        // MuJoCo's z points from the second end to the first.
        at = Transform::new(arc(&Vec3::z(), &(a - b), &Vec3::x()), (a + b) / 2.0);
        half = Some((b - a).norm() / 2.0);
    }
    let missing = |what: &str| geom.fault(format!("{} has no {what}", geom.shown()), "write its `size`");
    let radius = size.first().copied().filter(|r| *r > 0.0);
    let round = || radius.ok_or_else(|| missing("radius"));
    let long = || half.ok_or_else(|| missing("length"));
    let form = match kind {
        "sphere" => Form::Sphere { radius: round()? },
        "capsule" => Form::Capsule { radius: round()?, half: long()? },
        "cylinder" => Form::Cylinder { radius: round()?, half: long()? },
        "box" | "ellipsoid" => {
            let x = round()?;
            let sides = match (size.len(), half) {
                // With `fromto`, one or two numbers are the sides across, and the length is along z.
                (1 | 2, Some(half)) => Vec3::new(x, *size.last().unwrap_or(&x), half),
                (n, _) if n >= 3 => Vec3::new(size[0], size[1], size[2]),
                _ => return Err(missing("sides")),
            };
            Form::Box { half: sides }
        }
        _ => return Ok(Geom::Other),
    };
    Ok(Geom::Shape(CollisionShape { form, link_from_shape: link_from_frame * at }, collides))
}

/// The place of a `frame`, `body` or `geom` in what is around it.
///
/// # Errors
/// Numbers that are missing or none.
pub(super) fn place(defaults: &MjcfDefaults<'_>, element: &Element<'_, '_>) -> Result<Transform, RobotError> {
    let rotation: Quat = defaults.rotation(element)?;
    Ok(Transform::new(rotation, element.vector("pos", Vec3::zeros())?))
}
