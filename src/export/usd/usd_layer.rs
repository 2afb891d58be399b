//! A layer in memory: prims with typed values, written as text or as a crate.

use crate::math::Mat4;
use crate::report::one_line;

/// The prim that holds skeletons and meshes.
pub(super) const ROOT: &str = "/Root/Character";

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum UsdValue {
    Bool(bool),
    Token(String),
    Text(String),
    /// The path of a file.
    Asset(String),
    Single(f32),
    Triple([f32; 3]),
    Quadruple([f32; 4]),
    Matrix(Mat4<f64>),
    Tokens(Vec<String>),
    Integers(Vec<i32>),
    Singles(Vec<f32>),
    Pairs(Vec<[f32; 2]>),
    Triples(Vec<[f32; 3]>),
    /// w, x, y, z.
    Quaternions(Vec<[f32; 4]>),
    Matrices(Vec<Mat4<f64>>),
    /// As many scales of 1, in numbers of 16 bits.
    UnitScales(usize),
}

/// What an attribute or a relationship has.
#[derive(Debug, PartialEq)]
pub(super) enum PropertyContent {
    /// An attribute without a value.
    Declared,
    Value(UsdValue),
    /// Values at time codes.
    Samples(Vec<(f64, UsdValue)>),
    /// The path of the attribute that gives the value.
    Connection(String),
    /// The path of a relationship.
    Target(String),
    /// Paths of a relationship.
    Targets(Vec<String>),
}

/// An attribute or a relationship.
#[derive(Debug)]
pub(super) struct LayerProperty {
    pub(super) uniform: bool,
    /// The type of an attribute, such as `float3[]`; `rel` for a relationship.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) content: PropertyContent,
    /// Whether there is a value for each vertex, and of how many parts if not of one.
    pub(super) per_vertex: Option<Option<usize>>,
}

/// A line of a prim, in the order of the text.
#[derive(Debug)]
pub(super) enum PrimItem {
    Property(LayerProperty),
    Prim(LayerPrim),
}

/// A prim.
#[derive(Debug, Default)]
pub(super) struct LayerPrim {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// The name for people (`displayName`), where `name` cannot be it; empty otherwise.
    pub(super) display_name: String,
    /// The schemas that are applied to it.
    pub(super) schemas: &'static [&'static str],
    /// Whether it is the model of the file (`kind = "component"`).
    pub(super) component: bool,
    pub(super) items: Vec<PrimItem>,
}

/// A layer under construction.
pub(super) struct UsdLayer {
    /// Time codes per second.
    pub(super) rate: f64,
    /// The last time code.
    pub(super) end: usize,
    /// The prims that are open, outermost first; the first stands for the layer.
    open: Vec<LayerPrim>,
}

/// Who wrote the file.
pub(super) const DOCUMENTATION: &str = concat!("written by posemill ", env!("CARGO_PKG_VERSION"));

impl UsdLayer {
    pub(super) fn new(rate: f64, end: usize) -> Self {
        Self { rate, end, open: vec![LayerPrim::default()] }
    }

    /// The prims at the top.
    pub(super) fn prims(&self) -> &[PrimItem] {
        self.open.first().map_or(&[], |top| &top.items)
    }

    fn items(&mut self) -> &mut Vec<PrimItem> {
        if self.open.is_empty() {
            self.open.push(LayerPrim::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last].items
    }

    /// Begins a prim.
    pub(super) fn open(&mut self, kind: &'static str, name: &str, schemas: &'static [&'static str]) {
        self.open.push(LayerPrim { kind, name: name.to_owned(), schemas, ..LayerPrim::default() });
    }

    /// States the name that the thing has where it is from, unless the prim that is open has the same.
    pub(super) fn display_name(&mut self, name: &str) {
        if let Some(prim) = self.open.last_mut().filter(|prim| prim.name != name) {
            prim.display_name = one_line(name);
        }
    }

    /// Begins the prim of the model.
    pub(super) fn open_component(&mut self, kind: &'static str, name: &str) {
        self.open.push(LayerPrim { kind, name: name.to_owned(), component: true, ..LayerPrim::default() });
    }

    /// Ends a prim.
    pub(super) fn close(&mut self) {
        if self.open.len() > 1
            && let Some(prim) = self.open.pop()
        {
            self.items().push(PrimItem::Prim(prim));
        }
    }

    fn property(&mut self, declaration: &str, content: PropertyContent, per_vertex: Option<Option<usize>>) {
        let (uniform, rest) = match declaration.strip_prefix("uniform ") {
            Some(rest) => (true, rest),
            None => (false, declaration),
        };
        let (kind, name) = rest.split_once(' ').unwrap_or((rest, ""));
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.items().push(PrimItem::Property(LayerProperty { uniform, kind, name, content, per_vertex }));
    }

    /// Adds an attribute with a value, declared as in text: `uniform token[] joints`.
    pub(super) fn attribute(&mut self, declaration: &str, value: UsdValue) {
        self.property(declaration, PropertyContent::Value(value), None);
    }

    /// Adds an attribute with values per vertex; `size` is the number of values per vertex if it is not one.
    pub(super) fn per_vertex(&mut self, declaration: &str, value: UsdValue, size: Option<usize>) {
        self.property(declaration, PropertyContent::Value(value), Some(size));
    }

    /// Adds an attribute with a value at each of these time codes.
    pub(super) fn samples(&mut self, declaration: &str, samples: impl Iterator<Item = (f64, UsdValue)>) {
        self.property(declaration, PropertyContent::Samples(samples.collect()), None);
    }

    /// Adds an attribute without a value.
    pub(super) fn declared(&mut self, declaration: &str) {
        self.property(declaration, PropertyContent::Declared, None);
    }

    /// Adds an attribute whose value is that of another.
    pub(super) fn connected(&mut self, declaration: &str, path: String) {
        self.property(declaration, PropertyContent::Connection(path), None);
    }

    /// Adds a relationship with another prim.
    pub(super) fn relationship(&mut self, name: &str, path: String) {
        self.property(&format!("rel {name}"), PropertyContent::Target(path), None);
    }

    /// Adds a relationship with other prims.
    pub(super) fn relationships(&mut self, name: &str, paths: Vec<String>) {
        self.property(&format!("rel {name}"), PropertyContent::Targets(paths), None);
    }
}
