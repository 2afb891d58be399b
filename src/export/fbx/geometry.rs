//! Writes the geometry of a mesh in its bind pose, and of its morph targets.
//!
//! Space: model space. Units: centimetres. Normals, colours and texture coordinates are stored per face corner.

use super::bound_mesh::BoundMesh;
use super::fbx_builder::{FbxBuilder, METRES_PER_UNIT, uv_set};
use super::records::FbxRecord;
use crate::math::{Vec3, srgb_of_linear};
use crate::model::MorphTarget;

/// Morph displacements below this are left out, metres: 32-bit positions of a person do not resolve them.
const NO_MOVE: f64 = 1e-7;

fn vector(v: &[f32; 3]) -> Vec3 {
    Vec3::from(v.map(f64::from))
}

/// A geometry under construction, with the list of its layer elements.
struct GeometryLayers {
    geometry: FbxRecord<'static>,
    /// The records `Layer`: the first has one element of each kind, the others further texture coordinates.
    layers: Vec<FbxRecord<'static>>,
}

impl GeometryLayers {
    /// Adds the element `index` of a kind to the layer of this number.
    fn element(
        &mut self,
        kind: &'static str,
        index: usize,
        name: &str,
        (mapping, reference): (&str, &str),
        lists: Vec<FbxRecord<'static>>,
    ) {
        let number = index as i32;
        while self.layers.len() <= index {
            let layer = FbxRecord::new("Layer").int(self.layers.len() as i32);
            self.layers.push(layer.add(FbxRecord::new("Version").int(100)));
        }
        self.geometry.children.push(
            FbxRecord::new(kind)
                .int(number)
                .add(FbxRecord::new("Version").int(101))
                .add(FbxRecord::new("Name").string(name))
                .add(FbxRecord::new("MappingInformationType").string(mapping))
                .add(FbxRecord::new("ReferenceInformationType").string(reference))
                .all(lists),
        );
        self.layers[index].children.push(
            FbxRecord::new("LayerElement")
                .add(FbxRecord::new("Type").string(kind))
                .add(FbxRecord::new("TypedIndex").int(number)),
        );
    }
}

/// The geometry of a mesh.
pub(super) fn mesh(bound: &BoundMesh, id: i64, name: &str) -> FbxRecord<'static> {
    const PER_CORNER: &str = "ByPolygonVertex";
    let mesh = &*bound.mesh;
    let place = |&vertex: &usize| -> [f64; 3] {
        let position = bound.model_from_mesh.transform_point(&vector(&mesh.positions[vertex]).into());
        (position.coords / METRES_PER_UNIT).into()
    };
    let vertices: Vec<f64> = bound.firsts.iter().flat_map(place).collect();
    let polygon = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|vertex| bound.points[vertex as usize] as i32);
        [a, b, -1 - c]
    };
    let polygons: Vec<i32> = bound.triangles.iter().flat_map(polygon).collect();
    let corners = || bound.triangles.iter().flatten().map(|vertex| *vertex as usize);
    let indices: Vec<i32> = corners().map(|vertex| vertex as i32).collect();
    let geometry = FbxBuilder::object("Geometry", id, name, "Geometry", "Mesh")
        .add(FbxRecord::new("Vertices").doubles(&vertices))
        .add(FbxRecord::new("PolygonVertexIndex").ints(&polygons))
        .add(FbxRecord::new("GeometryVersion").int(124));
    let mut layers = GeometryLayers { geometry, layers: Vec::new() };
    if !mesh.normals.is_empty() {
        // Normals are transformed by the inverse transpose.
        let normal_matrix = bound.mesh_from_model.fixed_view::<3, 3>(0, 0).transpose();
        let normal = |vertex: usize| -> [f64; 3] {
            let transformed = normal_matrix * vector(&mesh.normals[vertex]);
            transformed.try_normalize(1e-12).unwrap_or(Vec3::y()).into()
        };
        let normals: Vec<f64> = corners().flat_map(normal).collect();
        let list = vec![FbxRecord::new("Normals").doubles(&normals)];
        layers.element("LayerElementNormal", 0, "", (PER_CORNER, "Direct"), list);
    }
    if !mesh.colors.is_empty() {
        // Blender writes colours of vertices as sRGB.
        let encoded = |[r, g, b, a]: &[f32; 4]| {
            let srgb = |c: &f32| srgb_of_linear(f64::from(*c));
            [srgb(r), srgb(g), srgb(b), f64::from(*a)]
        };
        let colors: Vec<f64> = mesh.colors.iter().flat_map(encoded).collect();
        let lists =
            vec![FbxRecord::new("Colors").doubles(&colors), FbxRecord::new("ColorIndex").ints(&indices)];
        layers.element("LayerElementColor", 0, "Color", (PER_CORNER, "IndexToDirect"), lists);
    }
    let sets = std::iter::once(&mesh.texcoords).chain(&mesh.further_texcoords);
    for (set, texcoords) in sets.enumerate().filter(|(_, list)| !list.is_empty()) {
        let coordinates: Vec<f64> =
            texcoords.iter().flat_map(|[u, v]| [f64::from(*u), 1.0 - f64::from(*v)]).collect();
        let lists =
            vec![FbxRecord::new("UV").doubles(&coordinates), FbxRecord::new("UVIndex").ints(&indices)];
        layers.element("LayerElementUV", set, &uv_set(set), (PER_CORNER, "IndexToDirect"), lists);
    }
    let (mapping, materials): (_, Vec<i32>) = match bound.whole.materials().len() {
        1 => ("AllSame", vec![0]),
        _ => ("ByPolygon", bound.whole.material_of_triangles().into_iter().map(|m| m as i32).collect()),
    };
    let list = vec![FbxRecord::new("Materials").ints(&materials)];
    layers.element("LayerElementMaterial", 0, "", (mapping, "IndexToDirect"), list);
    layers.geometry.all(layers.layers)
}

/// The geometry of a morph target: the displacements of the points that it moves.
pub(super) fn shape(bound: &BoundMesh, id: i64, morph: &MorphTarget) -> FbxRecord<'static> {
    let linear = bound.model_from_mesh.fixed_view::<3, 3>(0, 0).into_owned();
    let moves = bound.firsts.iter().enumerate().filter_map(|(point, &vertex)| {
        let by = linear * vector(&morph.offsets[vertex]);
        (by.amax() > NO_MOVE).then(|| (point as i32, <[f64; 3]>::from(by / METRES_PER_UNIT)))
    });
    let (mut indices, mut offsets): (Vec<i32>, Vec<[f64; 3]>) = moves.unzip();
    if indices.is_empty() {
        // Readers expect at least one point.
        (indices, offsets) = (vec![0], vec![[0.0; 3]]);
    }
    FbxBuilder::object("Geometry", id, &morph.name, "Geometry", "Shape")
        .add(FbxRecord::new("Version").int(100))
        .add(FbxRecord::new("Indexes").ints(&indices))
        .add(FbxRecord::new("Vertices").doubles(offsets.as_flattened()))
}
