//! FBX files as an independent reader sees them: nodes, skinned corners, and records byte for byte.

#![allow(dead_code, reason = "each test file needs some of it")]

use posemill::math::Vec3;
use ufbx::{
    CoordinateAxes, EvaluateOpts, GeometryTransformHandling, LoadOpts, Matrix, SceneRoot, SpaceConversion,
};

/// The scene in metres, Y up, with the file's own local transforms.
pub fn open(bytes: &[u8]) -> SceneRoot {
    let how = LoadOpts {
        target_axes: CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: SpaceConversion::TransformRoot,
        geometry_transform_handling: GeometryTransformHandling::Preserve,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, how).unwrap_or_else(|error| panic!("{} {}", error.description, error.info()))
}

/// The scene in a frame of a stack.
pub fn at(scene: &SceneRoot, stack: usize, time: f64) -> SceneRoot {
    let how = EvaluateOpts { evaluate_skinning: true, ..EvaluateOpts::default() };
    ufbx::evaluate_scene(scene, &scene.anim_stacks[stack].anim, time, how).unwrap()
}

pub fn point(m: &Matrix, p: &ufbx::Vec3) -> Vec3 {
    Vec3::new(
        m.m00 * p.x + m.m01 * p.y + m.m02 * p.z + m.m03,
        m.m10 * p.x + m.m11 * p.y + m.m12 * p.z + m.m13,
        m.m20 * p.x + m.m21 * p.y + m.m22 * p.z + m.m23,
    )
}

pub fn place(m: &Matrix) -> Vec3 {
    Vec3::new(m.m03, m.m13, m.m23)
}

/// Where the corners of a mesh's triangles are, three by three.
pub fn corners(scene: &SceneRoot, mesh: usize) -> Vec<[Vec3; 3]> {
    let mesh = &scene.meshes[mesh];
    let node = mesh.element.instances.iter().next().expect("every mesh is seen");
    let places: Vec<Vec3> = mesh
        .skinned_position
        .values
        .iter()
        .map(|p| match mesh.skinned_is_local {
            true => point(&node.geometry_to_world, p),
            false => Vec3::new(p.x, p.y, p.z),
        })
        .collect();
    let corner = |k: u32| places[mesh.vertex_indices[k as usize] as usize];
    mesh.faces
        .iter()
        .map(|f| [corner(f.index_begin), corner(f.index_begin + 1), corner(f.index_begin + 2)])
        .collect()
}

/// One record: its name, its properties, and how many bytes of the file it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    pub name: Vec<u8>,
    pub properties: Vec<u8>,
    pub children: Vec<Raw>,
}

impl Raw {
    pub fn child(&self, name: &str) -> Option<&Raw> {
        self.children.iter().find(|c| c.name == name.as_bytes())
    }

    /// The 64-bit integers among the first properties.
    pub fn ids(&self) -> Vec<i64> {
        let (mut rest, mut ids) = (&self.properties[..], Vec::new());
        while let Some((letter, value)) = rest.split_first() {
            match letter {
                b'L' => {
                    ids.push(i64::from_le_bytes(*value.first_chunk().unwrap()));
                    rest = &value[8..];
                }
                b'S' => rest = &value[4 + u32::from_le_bytes(*value.first_chunk().unwrap()) as usize..],
                _ => break,
            }
        }
        ids
    }
}

/// The records of a file, under one that stands for the file, and the first 16 bytes behind them.
pub fn records(bytes: &[u8]) -> (Raw, Vec<u8>) {
    let version = u32::from_le_bytes(bytes[23..27].try_into().unwrap());
    let width = if version < 7500 { 4 } else { 8 };
    let mut top = Raw { name: vec![], properties: vec![], children: vec![] };
    let mut place = 27;
    while let (Some(record), next) = record(bytes, place, width) {
        top.children.push(record);
        place = next;
    }
    place += 3 * width + 1;
    (top, bytes[place..place + 16].to_vec())
}

fn record(bytes: &[u8], at: usize, width: usize) -> (Option<Raw>, usize) {
    let number = |k: usize| {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(&bytes[at + k * width..][..width]);
        u64::from_le_bytes(wide) as usize
    };
    let (end, length, name) = (number(0), number(2), usize::from(bytes[at + 3 * width]));
    let start = at + 3 * width + 1;
    if end == 0 {
        return (None, start);
    }
    let mut place = start + name + length;
    let mut children = Vec::new();
    while place < end {
        let (child, next) = record(bytes, place, width);
        children.extend(child);
        place = next;
    }
    let (name, properties) = bytes[start..start + name + length].split_at(name);
    (Some(Raw { name: name.to_vec(), properties: properties.to_vec(), children }), end)
}
