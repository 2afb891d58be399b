//! Meshes of robots are read as the points of their hulls, whole or not at all.

use super::*;
use crate::import::robot::mesh_vertices::{obj, stl};
use std::fmt::Write;

/// Half sides and middle of the box that the files hold.
const HALF: [f64; 3] = [0.1, 0.05, 0.02];
const MIDDLE: [f64; 3] = [0.03, 0.01, -0.04];

fn corner(k: usize) -> Vec3 {
    let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    Vec3::new(sign(0), sign(1), sign(2)).component_mul(&Vec3::from(HALF)) + Vec3::from(MIDDLE)
}

pub(super) fn corners() -> Vec<Vec3> {
    (0..8).map(corner).collect()
}

/// Its triangles, by corners.
const TRIANGLES: [[usize; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes[..5].copy_from_slice(b"solid");
    bytes.extend(12u32.to_le_bytes());
    for triangle in TRIANGLES {
        bytes.extend([0; 12]);
        let numbers = triangle.iter().flat_map(|&k| corner(k).iter().copied().collect::<Vec<_>>());
        bytes.extend(numbers.flat_map(|x| (x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl() -> Vec<u8> {
    let mut text = "solid foot\n".to_owned();
    for triangle in TRIANGLES {
        text += "facet normal 0 0 1\n outer loop\n";
        for p in triangle.map(corner) {
            writeln!(text, "  vertex {} {} {}", p.x, p.y, p.z).unwrap();
        }
        text += " endloop\nendfacet\n";
    }
    (text + "endsolid foot\n").into_bytes()
}

fn object() -> Vec<u8> {
    let mut text = "# a foot\r\no foot\r\n".to_owned();
    corners().iter().for_each(|p| write!(text, "v {} {} {}\r\n", p.x, p.y, p.z).unwrap());
    text += "vn 0 0 1\r\n";
    TRIANGLES
        .iter()
        .for_each(|t| write!(text, "f {}//1 {}//1 {}//1\r\n", t[0] + 1, t[1] + 1, t[2] + 1).unwrap());
    text.into_bytes()
}

/// In centimetres, a quarter of a turn about z away and back.
fn collada() -> Vec<u8> {
    let numbers: Vec<String> =
        corners().iter().map(|p| format!("{} {} {}", -100.0 * p.y, 100.0 * p.x, 100.0 * p.z)).collect();
    format!(
        "<COLLADA xmlns=\"x\"><asset><unit meter=\"0.01\"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id=\"g\"><mesh>\
         <source id=\"p\"><float_array id=\"a\" count=\"24\">{}</float_array></source>\
         <vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices></mesh></geometry></library_geometries>\
         <library_visual_scenes><visual_scene id=\"s\"><node><translate>0 0 100</translate><node><rotate>0 0 1 -90</rotate>\
         <matrix>1 0 0 0 0 1 0 0 0 0 1 -100 0 0 0 1</matrix><scale>1 1 1</scale><instance_geometry url=\"#g\"/></node></node>\
         </visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>",
        numbers.join(" ")
    )
    .into_bytes()
}

/// The box as files of every format.
pub(super) fn files() -> [(&'static str, Vec<u8>); 4] {
    [("a.stl", binary_stl()), ("b.STL", text_stl()), ("c.obj", object()), ("d.dae", collada())]
}

/// A robot of two links whose second has the mesh `name`.
pub(super) fn urdf(name: &str, more: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"><collision><origin xyz=\"0 0 1\"/><geometry><mesh filename=\"{name}\" \
         {more}/></geometry></collision></link><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>"
    )
}

/// The points of the shapes of a link, in its space.
pub(super) fn points(robot: &Robot, link: usize) -> Vec<Vec3> {
    let of = |shape: &crate::model::CollisionShape| match &shape.form {
        Form::Mesh { points } => points.iter().map(|p| shape.link_from_shape.point(p)).collect(),
        _ => Vec::new(),
    };
    robot.links[link].shapes.iter().flat_map(of).collect()
}

pub(super) fn same(found: &[Vec3], expected: &[Vec3]) -> bool {
    let near = |p: &Vec3, all: &[Vec3]| all.iter().any(|q| (p - q).norm() < 1e-7);
    !found.is_empty() && found.iter().all(|p| near(p, expected)) && expected.iter().all(|p| near(p, found))
}

#[test]
fn every_format_has_the_same_points() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        std::fs::write(folder.path().join("r.urdf"), urdf(name, "scale=\"1 -2 1\"")).unwrap();
        let (asset, robot) = read(&folder.path().join("r.urdf"));
        let expected: Vec<Vec3> = corners().iter().map(|p| Vec3::new(p.x, -2.0 * p.y, p.z + 1.0)).collect();
        assert!(same(&points(&robot, 1), &expected), "{name}: {:?}", points(&robot, 1));
        assert!(!asset.warnings.has("robot-meshes"), "{name}");
        assert_eq!(asset.companions.len(), 1, "what is read of a mesh belongs to the model");
    }
}

/// Points of MuJoCo 4.0, of this file.
#[test]
fn a_mesh_of_mjcf_is_where_mujoco_has_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("m")).unwrap();
    std::fs::write(folder.path().join("m/foot.obj"), object()).unwrap();
    let text = "<mujoco><compiler angle=\"radian\" meshdir=\"m\"/><default><mesh scale=\"2 1 -0.5\"/></default>\
                <asset><mesh file=\"foot.obj\" refpos=\".01 .02 .03\" refquat=\".8 .1 .5 -.2\"/></asset><worldbody><body><freejoint/>\
                <body><joint axis=\"0 1 0\"/><geom type=\"mesh\" mesh=\"foot\" pos=\".1 .2 .3\" euler=\".1 .2 .3\"/></body></body>\
                </worldbody></mujoco>";
    std::fs::write(folder.path().join("r.xml"), text).unwrap();
    let (asset, robot) = read(&folder.path().join("r.xml"));
    let expected = [
        [0.2524364, 0.1551468, 0.3064444],
        [0.3539241, 0.2954254, 0.2169337],
        [0.1865324, 0.2230427, 0.3463197],
        [0.2880201, 0.3633214, 0.256809],
        [0.184219, 0.1320375, 0.3088599],
        [0.2857068, 0.2723162, 0.2193491],
        [0.118315, 0.1999335, 0.3487351],
        [0.2198028, 0.3402121, 0.2592244],
    ];
    assert!(same(&points(&robot, 1), &expected.map(Vec3::from)), "{:?}", points(&robot, 1));
    assert!(!asset.warnings.has("robot-meshes"));
}

#[test]
fn a_mesh_that_is_cut_anywhere_is_refused_or_whole() {
    for (name, bytes) in files() {
        let whole = corners();
        let (mut refused, folder) = (0, tempfile::tempdir().unwrap());
        for cut in 0..bytes.len() {
            let found = match name {
                "c.obj" => obj(&bytes[..cut]),
                "d.dae" => continue,
                _ => stl(&bytes[..cut]),
            };
            refused += usize::from(found.is_none());
            assert!(found.is_none_or(|points| same(&points, &whole)), "{name} cut at {cut}");
        }
        // Every tenth cut as a file: the last bytes of texts are names and faces.
        std::fs::write(folder.path().join("r.urdf"), urdf(name, "")).unwrap();
        let cuts = (0..bytes.len() - if name == "c.obj" { 300 } else { 20 }).step_by(97);
        for cut in cuts {
            std::fs::write(folder.path().join(name), &bytes[..cut]).unwrap();
            let (asset, robot) = read(&folder.path().join("r.urdf"));
            assert!(
                robot.links[1].shapes.is_empty() && asset.warnings.has("robot-meshes"),
                "{name} cut at {cut}"
            );
        }
        assert!(name == "d.dae" || refused > bytes.len() / 3, "{name}: {refused}");
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let mut bytes = binary_stl();
    bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(stl(&bytes).is_none(), "a claim of 2^32 triangles");
    for number in [f32::NAN, f32::INFINITY, 1e30] {
        let mut bytes = binary_stl();
        bytes[96..100].copy_from_slice(&number.to_le_bytes());
        assert!(stl(&bytes).is_none(), "{number}");
    }
    for text in ["v 1 2\nf 1 1 1", "v 1 2 nan\nf 1 1 1", "v 1 2 1e99\nf 1 1 1", "v 1 2 3\n", ""] {
        assert!(obj(text.as_bytes()).is_none(), "{text}");
    }
    for text in ["solid\nfacet\nvertex 1 2 3\nendsolid", "solid\nvertex 1 2\nendsolid", "solid"] {
        assert!(stl(text.as_bytes()).is_none(), "{text}");
    }
    // Without an extent there is no shape; which axis is up is read in two ways.
    let folder = tempfile::tempdir().unwrap();
    let y_up = String::from_utf8(collada()).unwrap().replace("Z_UP", "Y_UP");
    for (name, text) in [
        ("a.obj", "v 1 2 3\nv 1 2 3\nv 1 2 3\nf 1 2 3"),
        ("a.stl", "solid\nendsolid"),
        ("a.dae", y_up.as_str()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::write(folder.path().join("r.urdf"), urdf(name, "")).unwrap();
        let (asset, robot) = read(&folder.path().join("r.urdf"));
        assert!(robot.links[1].shapes.is_empty() && asset.warnings.has("robot-meshes"), "{name}");
    }
}

/// Other shapes are what the author wants to collide; meshes that are drawn are read where nothing collides.
#[test]
fn meshes_are_read_where_a_link_has_no_other_shapes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.stl"), binary_stl()).unwrap();
    let mesh =
        |tag: &str, name: &str| format!("<{tag}><geometry><mesh filename=\"{name}\"/></geometry></{tag}>");
    let ball = "<collision><geometry><sphere radius=\"0.1\"/></geometry></collision>";
    let (own, drawn, missing) =
        (mesh("collision", "a.stl"), mesh("visual", "a.stl"), mesh("visual", "no.stl"));
    let cases = [
        (format!("{ball}{drawn}"), 1, false),
        (format!("{ball}{own}"), 1, true),
        (format!("{own}{drawn}"), 1, false),
        (format!("{own}{own}"), 2, false),
        (drawn.clone(), 1, false),
        (missing, 0, false),
        (mesh("collision", "no.stl"), 0, true),
        (mesh("collision", "a.ply"), 0, true),
        (
            "<collision><geometry><mesh filename=\"a.stl\" scale=\"a b\"/></geometry></collision>".to_owned(),
            0,
            true,
        ),
    ];
    for (inside, shapes, warned) in cases {
        let text = format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\">{inside}</link><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/>\
             <child link=\"b\"/></joint></robot>"
        );
        std::fs::write(folder.path().join("r.urdf"), text).unwrap();
        let (asset, robot) = read(&folder.path().join("r.urdf"));
        assert_eq!(robot.links[1].shapes.len(), shapes, "{inside}");
        assert_eq!(asset.warnings.has("robot-meshes"), warned, "{inside}");
    }
}

#[test]
fn the_memory_of_a_mesh_is_that_of_its_robot() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.stl"), binary_stl()).unwrap();
    std::fs::write(folder.path().join("r.urdf"), urdf("a.stl", "")).unwrap();
    let options = ImportOptions { memory: Some(4000), ..ImportOptions::default() };
    let error = load(folder.path().join("r.urdf"), &options).unwrap_err().to_string();
    assert!(error.contains("a mesh needs") && error.contains("input.memory"), "{error}");
}
