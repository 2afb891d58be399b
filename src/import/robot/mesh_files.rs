//! The mesh files of a robot, which are in its package: the folders that its file may open, and the outermost points of each mesh.

use super::collada::dae;
use super::mesh_vertices::{obj, stl};
use crate::body::outermost;
use crate::import::import_error::ImportError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;
use crate::regular_file::{named_folder, read_regular, regular_inside};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Most bytes of all meshes of a robot: five times those of a detailed one. What is beyond is not read.
const MAX_MESH_BYTES: u64 = 1 << 29;
/// Fewest points that are a shape.
const FEWEST: usize = 3;
/// Bytes of vertices for each byte of a file, at most: those of an OBJ of lines such as `v 0 0 0`, and a copy in order.
const VERTICES: u64 = 6;
/// Folders of a package in which its robots are, beside that of their meshes.
const OF_ROBOTS: [&str; 5] = ["urdf", "robots", "mjcf", "xml", "model"];

/// Why there are no points of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unread {
    /// Of another format, or no such file in the package.
    Elsewhere,
    /// The file is damaged, empty, or too large.
    Damaged,
}

/// The meshes of a robot.
#[derive(Debug)]
pub(super) struct MeshFiles<'a> {
    /// The folder of the robot's file, after symbolic links are resolved.
    folder: Option<PathBuf>,
    budget: &'a MemoryBudget,
    bytes: u64,
    read: HashMap<PathBuf, Result<Arc<[Vec3]>, Unread>>,
}

impl<'a> MeshFiles<'a> {
    /// The meshes of a robot in `folder`.
    pub(super) fn new(folder: Option<&Path>, budget: &'a MemoryBudget) -> Self {
        let folder = folder.and_then(|folder| std::fs::canonicalize(named_folder(folder)).ok());
        Self { folder, budget, bytes: 0, read: HashMap::new() }
    }

    /// The outermost points of the mesh that the robot's file calls `name`, as written.
    ///
    /// # Errors
    /// More memory or work than the file may use.
    pub(super) fn points(&mut self, name: &str) -> Result<Result<Arc<[Vec3]>, Unread>, ImportError> {
        let suffix = Path::new(name).extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let suffix = suffix.to_ascii_lowercase();
        let known = ["stl", "obj", "dae"].contains(&suffix.as_str());
        let path = self.folder.as_deref().filter(|_| known).and_then(|folder| inside_package(folder, name));
        let Some(path) = path else { return Ok(Err(Unread::Elsewhere)) };
        if let Some(known) = self.read.get(&path) {
            return Ok(known.clone());
        }
        let found = match read_regular(&path, MAX_MESH_BYTES - self.bytes) {
            Ok(bytes) => self.outermost(&bytes, &suffix)?.ok_or(Unread::Damaged),
            Err(_) => Err(Unread::Damaged),
        };
        self.read.insert(path, found.clone());
        Ok(found)
    }

    fn outermost(&mut self, bytes: &[u8], suffix: &str) -> Result<Option<Arc<[Vec3]>>, ImportError> {
        let size = bytes.len() as u64;
        self.bytes += size;
        self.budget.grow(size);
        self.budget.reserve(size.saturating_mul(VERTICES), || "a mesh".to_owned())?;
        let vertices = match suffix {
            "stl" => stl(bytes),
            "obj" => obj(bytes),
            _ => dae(bytes, self.budget, reduced)?,
        };
        let Some(vertices) = vertices else { return Ok(None) };
        self.budget.work(vertices.len() as u64, || "a mesh".to_owned())?;
        let points = reduced(vertices);
        Ok((points.len() >= FEWEST).then(|| points.into()))
    }

    /// The points of all meshes as bytes, each with the name of its file, in the order of their paths.
    pub(super) fn contents(self) -> Vec<(String, Arc<[u8]>)> {
        let mut read: Vec<_> = self.read.into_iter().collect();
        read.sort_by(|a, b| a.0.cmp(&b.0));
        let content = |(path, points): (PathBuf, Result<Arc<[Vec3]>, Unread>)| {
            let numbers = points.ok()?;
            let bytes: Vec<u8> =
                numbers.iter().flat_map(|p| p.iter()).flat_map(|x| x.to_le_bytes()).collect();
            Some((path.file_name()?.to_string_lossy().into_owned(), bytes.into()))
        };
        read.into_iter().filter_map(content).collect()
    }
}

/// The outermost of some points, in order and each once: triangles share their corners.
fn reduced(mut points: Vec<Vec3>) -> Vec<Vec3> {
    let order = |a: &Vec3, b: &Vec3| {
        a.x.total_cmp(&b.x).then_with(|| a.y.total_cmp(&b.y)).then_with(|| a.z.total_cmp(&b.z))
    };
    points.sort_unstable_by(order);
    points.dedup();
    outermost(&points)
}

/// The file that is called `name`: `package://NAME/REST` is in the nearest folder from the robot's upwards that is called NAME or holds
/// such a folder; other names are relative to the robot's folder, and in its package.
fn inside_package(folder: &Path, name: &str) -> Option<PathBuf> {
    if let Some(inside) = name.strip_prefix("package://").or_else(|| name.strip_prefix("model://")) {
        let (package, rest) = inside.trim_start_matches('/').split_once('/')?;
        let mut parts = Path::new(package).components();
        let (Some(Component::Normal(package)), None) = (parts.next(), parts.next()) else { return None };
        let root = folder.ancestors().find_map(|above| {
            let root = if above.file_name() == Some(package) { above.into() } else { above.join(package) };
            root.is_dir().then_some(root)
        })?;
        // A folder that is a link leads elsewhere.
        let own = std::fs::canonicalize(&root).is_ok_and(|found| found == root);
        return regular_inside(&root, Path::new(rest)).filter(|_| own);
    }
    let path = folder.join(name.strip_prefix("file://").unwrap_or(name));
    regular_inside(package_of(folder), &path)
}

/// The folder of a robot's package: the nearest with a `package.xml`, as ROS has it, else the one around `urdf` or the like, else that of
/// the robot itself.
fn package_of(folder: &Path) -> &Path {
    let named = folder.ancestors().find(|above| above.join("package.xml").is_file());
    let of_robots = folder.file_name().is_some_and(|name| OF_ROBOTS.iter().any(|known| name == *known));
    named.or_else(|| folder.parent().filter(|_| of_robots)).unwrap_or(folder)
}
