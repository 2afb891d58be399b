//! Writes a layer as a crate (`.usdc`), the binary form of USD.
//!
//! A value that occurs again is written once, so that a pose that is held costs the eight bytes of its sample. Version 0.8 is the one
//! that usd-core 26 writes; it warns of older ones. Source: Pixar's USD, `sdf/crateFile` and
//! `sdf/crateDataTypes`.

use super::crate_sections::{CrateSections, packed_integers};
use super::usd_layer::{
    DOCUMENTATION, LayerPrim, LayerProperty, PrimItem, PropertyContent, UsdLayer, UsdValue,
};
use crate::export::save::ExportError;
use crate::math::Mat4;
use crate::usd_document::{COMPRESSED, COMPRESSED_FROM, INLINE, LIST, TYPE_SHIFT, kind, spec};
use std::collections::HashMap;

/// Values begin at multiples of this, so that readers may use them where they are, bytes.
const ALIGNMENT: usize = 8;
/// A number of 16 bits that is 1.
const HALF_ONE: u16 = 0x3C00;

/// Header of an edited list whose items are given (`SdfListOp`).
const GIVEN: u8 = 3;
/// Header of one whose items are prepended.
const PREPENDED: u8 = 32;

/// The bytes of a crate.
///
/// # Errors
/// [`ExportError::Usd`] for a path that leads nowhere, and tables beyond 4 billion rows.
pub(super) fn bytes(layer: &UsdLayer) -> Result<Vec<u8>, ExportError> {
    let mut tables = CrateSections::default();
    tables.path("", "", false, !layer.prims().is_empty());
    paths(&mut tables, "", layer.prims());
    let mut crate_ = CrateWriter { bytes: vec![0; CrateSections::HEADER], tables, values: HashMap::new() };
    crate_.stage(layer)?;
    Ok(crate_.tables.finish(crate_.bytes))
}

/// Lists the paths of prims and properties below `above`, depth first: properties before prims.
fn paths(tables: &mut CrateSections, above: &str, items: &[PrimItem]) {
    let properties = items.iter().filter(|item| matches!(item, PrimItem::Property(_)));
    let prims = items.iter().filter(|item| matches!(item, PrimItem::Prim(_)));
    let all: Vec<&PrimItem> = properties.chain(prims).collect();
    for (k, item) in all.iter().enumerate() {
        let followed = k + 1 < all.len();
        match item {
            PrimItem::Property(property) => {
                let path = format!("{above}.{}", property.name);
                tables.path(&path, &property.name, true, false).followed = followed;
            }
            PrimItem::Prim(prim) => {
                let path = format!("{above}/{}", prim.name);
                let row = tables.path(&path, &prim.name, false, !prim.items.is_empty());
                row.followed = followed;
                let own = tables.paths();
                paths(tables, &path, &prim.items);
                tables.end_path(own);
            }
        }
    }
}

/// A crate under construction.
struct CrateWriter {
    bytes: Vec<u8>,
    tables: CrateSections,
    /// Where values are, by their type and a digest of their bytes.
    values: HashMap<(u8, blake3::Hash), u64>,
}

impl CrateWriter {
    /// The representation of a value that is written, unless it is there already.
    fn stored(&mut self, kind: u8, bytes: &[u8]) -> u64 {
        let known = self.values.entry((kind, blake3::hash(bytes)));
        let at = *known.or_insert_with(|| {
            self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
            let at = self.bytes.len() as u64;
            self.bytes.extend(bytes);
            at
        });
        of_kind(kind) | at
    }

    /// A list of values whose bytes are given.
    fn list(&mut self, kind: u8, length: usize, values: impl Iterator<Item = u8>) -> u64 {
        if length == 0 {
            return of_kind(kind) | LIST;
        }
        let bytes: Vec<u8> = (length as u64).to_le_bytes().into_iter().chain(values).collect();
        self.stored(kind, &bytes) | LIST
    }

    fn singles<const N: usize>(&mut self, kind: u8, values: &[[f32; N]]) -> u64 {
        self.list(kind, values.len(), values.as_flattened().iter().flat_map(|x| plain(*x).to_le_bytes()))
    }

    fn token(&mut self, text: &str) -> u64 {
        of_kind(kind::TOKEN) | INLINE | u64::from(self.tables.token(text))
    }

    fn tokens<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
        let indices: Vec<u32> = texts.map(|text| self.tables.token(text)).collect();
        let count = (indices.len() as u64).to_le_bytes();
        count.into_iter().chain(indices.into_iter().flat_map(u32::to_le_bytes)).collect()
    }

    fn token_vector<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> u64 {
        let bytes = self.tokens(texts);
        self.stored(kind::TOKEN_VECTOR, &bytes)
    }

    fn double(&mut self, x: f64) -> u64 {
        let single = x as f32;
        match f64::from(single) == x {
            true => of_kind(kind::DOUBLE) | INLINE | u64::from(single.to_bits()),
            false => self.stored(kind::DOUBLE, &x.to_le_bytes()),
        }
    }

    /// Paths as the items of an edited list.
    fn targets(&mut self, paths: &[&str]) -> Result<u64, ExportError> {
        let mut bytes = vec![GIVEN];
        bytes.extend((paths.len() as u64).to_le_bytes());
        for path in paths {
            let index = self
                .tables
                .index_of(path)
                .ok_or_else(|| ExportError::Usd { reason: format!("the path {path} leads nowhere") })?;
            bytes.extend(index.to_le_bytes());
        }
        Ok(self.stored(kind::PATH_LIST_OP, &bytes))
    }

    fn value(&mut self, value: &UsdValue) -> u64 {
        match value {
            UsdValue::Bool(yes) => of_kind(kind::BOOL) | INLINE | u64::from(*yes),
            UsdValue::Token(text) => self.token(text),
            UsdValue::Text(text) => of_kind(kind::STRING) | INLINE | u64::from(self.tables.string(text)),
            UsdValue::Asset(path) => of_kind(kind::ASSET_PATH) | INLINE | u64::from(self.tables.token(path)),
            UsdValue::Single(x) => of_kind(kind::FLOAT) | INLINE | u64::from(plain(*x).to_bits()),
            UsdValue::Triple(x) => self.stored(kind::VEC3F, &x.map(|x| plain(x).to_le_bytes()).concat()),
            UsdValue::Quadruple(x) => self.stored(kind::VEC4F, &x.map(|x| plain(x).to_le_bytes()).concat()),
            UsdValue::Matrix(m) => {
                let bytes: Vec<u8> = matrix(m).collect();
                self.stored(kind::MATRIX4D, &bytes)
            }
            UsdValue::Tokens(words) if words.is_empty() => of_kind(kind::TOKEN) | LIST,
            UsdValue::Tokens(words) => {
                let bytes = self.tokens(words.iter().map(String::as_str));
                self.stored(kind::TOKEN, &bytes) | LIST
            }
            UsdValue::Integers(numbers) if numbers.len() < COMPRESSED_FROM => {
                self.list(kind::INT, numbers.len(), numbers.iter().flat_map(|n| n.to_le_bytes()))
            }
            UsdValue::Integers(numbers) => {
                let packed = packed_integers(numbers);
                self.list(kind::INT, numbers.len(), packed.into_iter()) | COMPRESSED
            }
            UsdValue::Singles(numbers) => self.singles(kind::FLOAT, numbers.as_chunks::<1>().0),
            UsdValue::Pairs(all) => self.singles(kind::VEC2F, all),
            UsdValue::Triples(all) => self.singles(kind::VEC3F, all),
            UsdValue::Quaternions(all) => {
                let stored: Vec<[f32; 4]> = all.iter().map(|[w, x, y, z]| [*x, *y, *z, *w]).collect();
                self.singles(kind::QUATF, &stored)
            }
            UsdValue::Matrices(all) => self.list(kind::MATRIX4D, all.len(), all.iter().flat_map(matrix)),
            UsdValue::UnitScales(count) => {
                self.list(kind::VEC3H, *count, HALF_ONE.to_le_bytes().into_iter().cycle().take(6 * count))
            }
        }
    }

    /// Values over time: where the times are, and the representation of each value.
    fn samples(&mut self, samples: &[(f64, UsdValue)]) -> u64 {
        /// Distance from a number to what follows it, bytes.
        const NEXT: u64 = 8;
        let count = samples.len() as u64;
        let times = samples.iter().flat_map(|(time, _)| time.to_le_bytes());
        let times: Vec<u8> = count.to_le_bytes().into_iter().chain(times).collect();
        let times = self.stored(kind::DOUBLE_VECTOR, &times);
        let values: Vec<u64> = samples.iter().map(|(_, value)| self.value(value)).collect();
        let rows = [NEXT, times, NEXT, count].into_iter().chain(values);
        let bytes: Vec<u8> = rows.flat_map(u64::to_le_bytes).collect();
        self.stored(kind::TIME_SAMPLES, &bytes)
    }

    /// Writes the layer: its metadata and its prims.
    fn stage(&mut self, layer: &UsdLayer) -> Result<(), ExportError> {
        let documentation = self.value(&UsdValue::Text(DOCUMENTATION.to_owned()));
        let fields = vec![
            ("defaultPrim", self.token("Root")),
            ("documentation", documentation),
            ("metersPerUnit", self.double(1.0)),
            ("upAxis", self.token("Y")),
            ("timeCodesPerSecond", self.double(layer.rate)),
            ("framesPerSecond", self.double(layer.rate)),
            ("startTimeCode", self.double(0.0)),
            ("endTimeCode", self.double(layer.end as f64)),
        ];
        self.spec("", spec::PSEUDO_ROOT, fields, layer.prims());
        self.items("", layer.prims())
    }

    /// Adds a spec with its fields and the names of what is below it.
    fn spec(&mut self, path: &str, kind: u32, mut fields: Vec<(&str, u64)>, items: &[PrimItem]) {
        let (mut properties, mut prims) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                PrimItem::Property(LayerProperty { name, .. }) => properties.push(name.as_str()),
                PrimItem::Prim(LayerPrim { name, .. }) => prims.push(name.as_str()),
            }
        }
        for (field, names) in [("properties", properties), ("primChildren", prims)] {
            if !names.is_empty() {
                fields.push((field, self.token_vector(names.into_iter())));
            }
        }
        self.tables.spec(path, kind, &fields);
    }

    fn items(&mut self, above: &str, items: &[PrimItem]) -> Result<(), ExportError> {
        for item in items {
            match item {
                PrimItem::Property(property) => {
                    self.property(&format!("{above}.{}", property.name), property)?
                }
                PrimItem::Prim(prim) => {
                    let path = format!("{above}/{}", prim.name);
                    self.prim(&path, prim);
                    self.items(&path, &prim.items)?;
                }
            }
        }
        Ok(())
    }

    fn prim(&mut self, path: &str, prim: &LayerPrim) {
        // 0 is a definition.
        let mut fields =
            vec![("specifier", of_kind(kind::SPECIFIER) | INLINE), ("typeName", self.token(prim.kind))];
        if prim.component {
            fields.push(("kind", self.token("component")));
        }
        if !prim.display_name.is_empty() {
            fields.push(("displayName", self.value(&UsdValue::Text(prim.display_name.clone()))));
        }
        if !prim.schemas.is_empty() {
            let mut bytes = vec![PREPENDED];
            bytes.extend(self.tokens(prim.schemas.iter().copied()));
            fields.push(("apiSchemas", self.stored(kind::TOKEN_LIST_OP, &bytes)));
        }
        self.spec(path, spec::PRIM, fields, &prim.items);
    }

    fn property(&mut self, path: &str, property: &LayerProperty) -> Result<(), ExportError> {
        let relates = matches!(property.content, PropertyContent::Target(_) | PropertyContent::Targets(_));
        let mut fields = Vec::new();
        if !relates {
            fields.push(("typeName", self.token(&property.kind)));
        }
        if property.uniform || relates {
            fields.push(("variability", of_kind(kind::VARIABILITY) | INLINE | 1));
        }
        match &property.content {
            PropertyContent::Declared => {}
            PropertyContent::Value(value) => fields.push(("default", self.value(value))),
            PropertyContent::Samples(samples) => fields.push(("timeSamples", self.samples(samples))),
            PropertyContent::Connection(path) => fields.push(("connectionPaths", self.targets(&[path])?)),
            PropertyContent::Target(path) => fields.push(("targetPaths", self.targets(&[path])?)),
            PropertyContent::Targets(paths) => {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                fields.push(("targetPaths", self.targets(&paths)?));
            }
        }
        if let Some(size) = property.per_vertex {
            if let Some(size) = size {
                fields.push(("elementSize", of_kind(kind::INT) | INLINE | size as u64));
            }
            fields.push(("interpolation", self.token("vertex")));
        }
        self.spec(path, if relates { spec::RELATIONSHIP } else { spec::ATTRIBUTE }, fields, &[]);
        Ok(())
    }
}

/// The bits of a type.
fn of_kind(kind: u8) -> u64 {
    u64::from(kind) << TYPE_SHIFT
}

/// A number without the sign of a zero, as in text.
fn plain(x: f32) -> f32 {
    x + 0.0
}

/// A matrix in the row-vector convention of USD: the transpose, row by row.
fn matrix(m: &Mat4<f64>) -> impl Iterator<Item = u8> {
    m.iter().flat_map(|x| (x + 0.0).to_le_bytes())
}
