//! Vertices of Collada files (`.dae`), each where the scene puts its mesh.
//!
//! Files whose Y or X is up are not read: RViz ignores that, Gazebo rotates them, and models of robots are made for either. Source: Collada
//! 1.4.1 (Khronos).

use super::xml_files::{checked_text, parse_text};
use crate::math::{Mat4, Vec3};
use crate::memory_budget::{MemoryBudget, OverBudget};
use crate::model::FARTHEST;
use roxmltree::Node;
use std::collections::HashMap;

/// A node of the scene, and where it is.
type PlacedNode<'a, 't> = (Node<'a, 't>, Mat4<f64>);

/// The vertices of a file in metres; `None` of a file that is damaged, places no mesh, or has another axis up. `outermost` reduces
/// those of a mesh, which may be placed often.
///
/// # Errors
/// More memory than the file may use.
pub(super) fn dae(
    bytes: &[u8],
    budget: &MemoryBudget,
    outermost: impl Fn(Vec<Vec3>) -> Vec<Vec3>,
) -> Result<Option<Vec<Vec3>>, OverBudget> {
    let Ok(text) = checked_text("", bytes, 0) else { return Ok(None) };
    let Ok(document) = parse_text(&text) else { return Ok(None) };
    let root = document.root_element();
    let asset = child(root, "asset");
    let up = asset.and_then(|asset| child(asset, "up_axis")?.text());
    if up.map(str::trim) != Some("Z_UP") {
        return Ok(None);
    }
    let unit = asset.and_then(|asset| child(asset, "unit")?.attribute("meter"));
    let unit = unit.and_then(|meter| meter.trim().parse().ok()).filter(|unit| *unit > 0.0).unwrap_or(1.0);
    let mut meshes = HashMap::new();
    for geometry in within(root, "library_geometries").filter(|node| node.has_tag_name("geometry")) {
        let Some(points) = vertices(geometry) else { return Ok(None) };
        meshes.insert(geometry.attribute("id").unwrap_or_default(), outermost(points));
    }
    let scene =
        child(root, "scene").and_then(|scene| child(scene, "instance_visual_scene")?.attribute("url"));
    let scenes = within(root, "library_visual_scenes").filter(|node| node.has_tag_name("visual_scene"));
    let chosen =
        |node: &Node| scene.is_none_or(|url| node.attribute("id") == Some(url.trim_start_matches('#')));
    let scale = Mat4::new_scaling(unit);
    let mut open: Vec<PlacedNode<'_, '_>> = scenes.filter(chosen).map(|node| (node, scale)).collect();
    let mut found = Vec::new();
    while let Some((node, place)) = open.pop() {
        let Some(place) = moved(node, place) else { return Ok(None) };
        for inside in node.children() {
            if inside.has_tag_name("node") {
                open.push((inside, place));
            } else if inside.has_tag_name("instance_geometry") {
                let url = inside.attribute("url").unwrap_or_default().trim_start_matches('#');
                let Some(points) = meshes.get(url) else { return Ok(None) };
                budget.reserve_list::<Vec3>(points.len() as u64, || "a mesh".to_owned())?;
                found.extend(points.iter().map(|p| (place * p.push(1.0)).xyz()));
            }
        }
    }
    let near = found.iter().all(|p: &Vec3| p.iter().all(|x| x.abs() < FARTHEST));
    Ok((near && !found.is_empty()).then_some(found))
}

/// The vertices of one mesh.
fn vertices(geometry: Node) -> Option<Vec<Vec3>> {
    let mesh = child(geometry, "mesh")?;
    let mut inputs = child(mesh, "vertices")?.children().filter(|node| node.has_tag_name("input"));
    let source = inputs.find(|input| input.attribute("semantic") == Some("POSITION"))?.attribute("source")?;
    let source = mesh.children().find(|node| node.attribute("id") == source.strip_prefix('#'))?;
    let array = child(source, "float_array")?;
    let all = numbers(array)?;
    let whole = array.attribute("count").is_none_or(|count| count.trim().parse() == Ok(all.len()));
    (whole && all.len() % 3 == 0).then(|| all.chunks_exact(3).map(Vec3::from_column_slice).collect())
}

/// `place` with the transforms of a node.
fn moved(node: Node, mut place: Mat4<f64>) -> Option<Mat4<f64>> {
    for step in node.children() {
        let own = match step.tag_name().name() {
            "matrix" => Mat4::from_row_slice(numbers(step)?.get(..16)?),
            "translate" => Mat4::new_translation(&Vec3::from_column_slice(numbers(step)?.get(..3)?)),
            "scale" => Mat4::new_nonuniform_scaling(&Vec3::from_column_slice(numbers(step)?.get(..3)?)),
            "rotate" => {
                let all = numbers(step)?;
                let axis = Vec3::from_column_slice(all.get(..3)?).try_normalize(0.0);
                let angle = all.get(3)?.to_radians();
                axis.map_or_else(Mat4::identity, |axis| crate::math::exp(&(axis * angle)).to_homogeneous())
            }
            _ => continue,
        };
        place *= own;
    }
    Some(place)
}

fn numbers(node: Node) -> Option<Vec<f64>> {
    let number = |word: &str| fast_float2::parse(word).ok().filter(|x: &f64| x.is_finite());
    node.text().unwrap_or_default().split_ascii_whitespace().map(number).collect()
}

fn child<'a, 't>(node: Node<'a, 't>, tag: &str) -> Option<Node<'a, 't>> {
    node.children().find(|child| child.has_tag_name(tag))
}

/// What is inside of the elements `tag` of a node.
fn within<'a, 't>(node: Node<'a, 't>, tag: &'static str) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| child.has_tag_name(tag)).flat_map(|library| library.children())
}
