//! FBX files as text, of a few lines each.

#![allow(dead_code, reason = "each test uses a part")]

use base64::prelude::{BASE64_STANDARD, Engine};
use std::fmt::Write;

/// Ticks of FBX in one second.
const SECOND: i64 = 46_186_158_000;

/// Most points of a face; further corners go around them again.
const POINTS: usize = 100;

/// Objects and their connections.
#[derive(Default)]
pub struct TextFbx {
    objects: String,
    connections: String,
    next: u32,
}

/// Numbers with commas.
pub fn list<T: ToString>(numbers: impl IntoIterator<Item = T>) -> String {
    numbers.into_iter().map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

impl TextFbx {
    /// Adds an object with these fields; returns its number.
    pub fn object(&mut self, kind: &str, class: &str, fields: &str) -> u32 {
        self.next += 1;
        let id = self.next;
        writeln!(self.objects, "{kind}: {id}, \"{kind}::o{id}\", \"{class}\" {{\n{fields}}}").unwrap();
        id
    }

    /// Connects `from` to `to`: to the object, or to its `property`.
    pub fn connect(&mut self, from: u32, to: u32, property: Option<&str>) {
        match property {
            None => writeln!(self.connections, "C: \"OO\",{from},{to}").unwrap(),
            Some(name) => writeln!(self.connections, "C: \"OP\",{from},{to}, \"{name}\"").unwrap(),
        }
    }

    /// A node below another or the root, 0.
    pub fn node(&mut self, class: &str, parent: u32) -> u32 {
        let id = self.object("Model", class, "Version: 232\n");
        self.connect(id, parent, None);
        id
    }

    /// A mesh of one face with these corners on a node; returns both.
    pub fn face(&mut self, parent: u32, corners: usize) -> (u32, u32) {
        let points = corners.min(POINTS);
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / points as f64;
        let point =
            |k: usize| [format!("{:.4}", angle(k).cos()), format!("{:.4}", angle(k).sin()), "0".into()];
        let vertices = list((0..points).flat_map(point));
        let mut indices: Vec<i64> = (0..corners).map(|k| (k % points) as i64).collect();
        indices[corners - 1] = -indices[corners - 1] - 1;
        let fields = format!(
            "Vertices: *{} {{\na: {vertices}\n}}\nPolygonVertexIndex: *{corners} {{\na: {}\n}}\n\
            LayerElementMaterial: 0 {{\nVersion: 101\nMappingInformationType: \"AllSame\"\n\
            ReferenceInformationType: \"IndexToDirect\"\nMaterials: *1 {{\na: 0\n}}\n}}\n\
            Layer: 0 {{\nVersion: 100\nLayerElement: {{\nType: \"LayerElementMaterial\"\nTypedIndex: 0\n}}\n}}\n",
            3 * points,
            list(indices)
        );
        let mesh = self.object("Geometry", "Mesh", &fields);
        let node = self.node("Mesh", parent);
        self.connect(mesh, node, None);
        (node, mesh)
    }

    /// A material with a texture of this file name on a node; returns the texture.
    pub fn texture(&mut self, node: u32, file: &str) -> u32 {
        let material = self.object("Material", "", "ShadingModel: \"phong\"\n");
        self.connect(material, node, None);
        let texture = self.object(
            "Texture",
            "",
            &format!("Type: \"TextureVideoClip\"\nRelativeFilename: \"{file}\"\n"),
        );
        self.connect(texture, material, Some("DiffuseColor"));
        texture
    }

    /// An embedded picture of several textures.
    pub fn picture(&mut self, textures: &[u32], bytes: &[u8]) {
        let packed = BASE64_STANDARD.encode(bytes);
        let fields = format!("Type: \"Clip\"\nRelativeFilename: \"a.png\"\nContent: , \"{packed}\"\n");
        let video = self.object("Video", "Clip", &fields);
        textures.iter().for_each(|texture| self.connect(video, *texture, None));
    }

    /// A stack of this length in seconds; returns it.
    pub fn stack(&mut self, seconds: f64) -> u32 {
        let end = (seconds * SECOND as f64) as i64;
        let fields = format!(
            "Properties70: {{\nP: \"LocalStart\", \"KTime\", \"Time\", \"\",0\nP: \"LocalStop\", \"KTime\", \"Time\", \"\",{end}\n}}\n"
        );
        self.object("AnimationStack", "", &fields)
    }

    /// A layer of a stack.
    pub fn layer(&mut self, stack: u32) -> u32 {
        let layer = self.object("AnimationLayer", "", "");
        self.connect(layer, stack, None);
        layer
    }

    /// Animates a property of an object in a layer from one value to another in a second.
    pub fn animate(&mut self, layer: u32, object: u32, property: &str, component: &str, values: [f64; 2]) {
        let curve = self.object(
            "AnimationCurve",
            "",
            &format!(
                "Default: 0\nKeyVer: 4008\nKeyTime: *2 {{\na: 0,{SECOND}\n}}\nKeyValueFloat: *2 {{\na: {}\n}}\n\
                KeyAttrFlags: *1 {{\na: 4\n}}\nKeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: 2\n}}\n",
                list(values)
            ),
        );
        let node = self.object("AnimationCurveNode", "", "");
        self.connect(node, layer, None);
        self.connect(node, object, Some(property));
        self.connect(curve, node, Some(component));
    }

    /// Morph targets of a mesh with one vertex each; returns their channels.
    pub fn morphs(&mut self, mesh: u32, count: usize) -> Vec<u32> {
        let deformer = self.object("Deformer", "BlendShape", "");
        self.connect(deformer, mesh, None);
        let fields = "Indexes: *1 {\na: 0\n}\nVertices: *3 {\na: 0,0,1\n}\n";
        let channel = |fbx: &mut Self| {
            let channel = fbx.object(
                "Deformer",
                "BlendShapeChannel",
                "DeformPercent: 0\nFullWeights: *1 {\na: 100\n}\n",
            );
            let shape = fbx.object("Geometry", "Shape", fields);
            fbx.connect(channel, deformer, None);
            fbx.connect(shape, channel, None);
            channel
        };
        (0..count).map(|_| channel(self)).collect()
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        format!(
            "; FBX 7.4.0 project file\nFBXHeaderExtension:  {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\n\
            GlobalSettings:  {{\nVersion: 1000\nProperties70:  {{\nP: \"UpAxis\", \"int\", \"Integer\", \"\",1\n\
            P: \"TimeMode\", \"enum\", \"\", \"\",6\n}}\n}}\nObjects:  {{\n{}}}\nConnections:  {{\n{}}}\n",
            self.objects, self.connections
        )
        .into_bytes()
    }
}
