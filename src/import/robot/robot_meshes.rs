//! Meshes of a robot as shapes: the outermost points of their files, in the box around them.

use super::mesh_files::{MeshFiles, Unread};
use super::robot_parts::FoundRobot;
use crate::import::import_error::ImportError;
use crate::math::{Quat, Transform, UnitVec3, Vec3};
use crate::model::{CollisionShape, Form};
use crate::report::shortened;
use std::sync::Arc;

/// A mesh of a link, as the robot's file refers to it.
#[derive(Clone, Debug)]
pub(super) struct MeshUse {
    pub(super) link: usize,
    /// Whether the file lets it collide.
    pub(super) collides: bool,
    /// The name of its file as written, after the folder that is named for meshes.
    pub(super) file: String,
    /// Factors along its axes, after `moved`.
    pub(super) scale: Vec3,
    /// The place of the file's own origin: that of MuJoCo's `refpos` and `refquat`.
    pub(super) moved: Transform,
    pub(super) link_from_mesh: Transform,
}

impl FoundRobot {
    /// Adds the meshes of links that have no other shapes: those that collide, else those that are drawn.
    ///
    /// # Errors
    /// More memory or work than the file may use.
    pub(super) fn add_meshes(&mut self, files: &mut MeshFiles<'_>, file: &str) -> Result<(), ImportError> {
        let links = &mut self.robot.links;
        let bare: Vec<bool> = links.iter().map(|link| link.shapes.is_empty()).collect();
        let mut collide = vec![false; links.len()];
        self.meshes.iter().filter(|mesh| mesh.collides).for_each(|mesh| collide[mesh.link] = true);
        let (mut unread, mut first) = (self.unread, None);
        for mesh in &self.meshes {
            let wanted = bare[mesh.link] && mesh.collides == collide[mesh.link];
            let found = if wanted { files.points(&mesh.file)? } else { Err(Unread::Elsewhere) };
            match found {
                Ok(points) => links[mesh.link].shapes.push(mesh.shape(&points)),
                // What is only drawn need not be there.
                Err(reason) if mesh.collides || reason == Unread::Damaged => {
                    unread += 1;
                    first.get_or_insert(&mesh.file);
                }
                Err(_) => {}
            }
        }
        if unread > 0 {
            let message = format!(
                "{unread} shapes are meshes that are not read, as they are beside other shapes, damaged, or no STL, OBJ or (Z up) DAE file in the \
                 robot's package: collisions are those of the other shapes, and of the links where there are none"
            );
            self.warnings.add(
                "robot-meshes",
                message,
                first.map_or_else(|| file.to_owned(), |f| shortened(f)),
            );
        }
        Ok(())
    }
}

impl MeshUse {
    fn shape(&self, points: &[Vec3]) -> CollisionShape {
        let points: Vec<Vec3> =
            points.iter().map(|p| self.moved.point(p).component_mul(&self.scale)).collect();
        let rotation = box_rotation(&points);
        let (low, high) = extent(&points, &rotation);
        let mesh_from_box = Transform::new(rotation, rotation * ((low + high) / 2.0));
        let box_from_mesh = mesh_from_box.inverse();
        let points: Arc<[Vec3]> = points.iter().map(|p| box_from_mesh.point(p)).collect();
        CollisionShape { form: Form::Mesh { points }, link_from_shape: self.link_from_mesh * mesh_from_box }
    }
}

/// Angles about each axis that are tried to find the smallest box, to either side: up to 45 degrees.
const TRIED: i32 = 15;
/// Difference of two of them, radians.
const STEP: f64 = std::f64::consts::FRAC_PI_4 / TRIED as f64;
/// Times that all three axes are tried: the box of a limb that is oblique has settled after two.
const ROUNDS: usize = 3;
/// A rotated box is smaller by this share, else the axes of the file are kept.
const SMALLER: f64 = 0.02;

/// The rotation of a box of small surface around some points, from its axes to those of the points.
fn box_rotation(points: &[Vec3]) -> Quat {
    let surface = |rotation: &Quat| {
        let (low, high) = extent(points, rotation);
        let side = high - low;
        side.x * side.y + side.y * side.z + side.z * side.x
    };
    let mut best = Quat::identity();
    let mut least = surface(&best);
    for _ in 0..ROUNDS {
        for axis in 0..3 {
            let about = UnitVec3::new_unchecked(Vec3::ith(axis, 1.0));
            let tried = (-TRIED..=TRIED).map(|k| best * Quat::from_axis_angle(&about, f64::from(k) * STEP));
            let smallest = tried.map(|r| (surface(&r), r)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((found, rotation)) = smallest.filter(|(found, _)| *found < least * (1.0 - SMALLER)) {
                (least, best) = (found, rotation);
            }
        }
    }
    best
}

/// Lowest and highest coordinates of some points along rotated axes.
fn extent(points: &[Vec3], rotation: &Quat) -> (Vec3, Vec3) {
    let own = rotation.inverse();
    let first = (Vec3::repeat(f64::MAX), Vec3::repeat(f64::MIN));
    points.iter().map(|p| own * p).fold(first, |(low, high), p| (low.inf(&p), high.sup(&p)))
}
