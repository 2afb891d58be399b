//! A layer of USD in memory: prims with their properties, as far as skeletons and meshes need them.

use std::collections::BTreeMap;

/// Deepest nesting of prims, lists and dictionaries; files of studios stay below 30.
pub(super) const DEEPEST: usize = 128;
/// Bytes of a property in its prim's map.
pub(super) const PROPERTY: usize = 2 * size_of::<UsdProperty>();
/// Bytes of a word in a list that has room for as many again.
pub(super) const WORD: u64 = 2 * size_of::<String>() as u64;
/// Bytes of a sample with the head of its list.
pub(super) const SAMPLE: u64 = 2 * size_of::<(f64, Value)>() as u64;

/// A value of a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Numbers of a list, of tuples or alone, in their order.
    Numbers(Vec<f64>),
    /// Strings, tokens and paths.
    Words(Vec<String>),
    /// `None`, dictionaries and assets.
    Other,
}

/// An attribute or a relationship.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UsdProperty {
    /// The value without time.
    pub(super) value: Option<Value>,
    /// Values by time code, in the order of the file.
    pub(super) samples: Vec<(f64, Value)>,
    /// `interpolation` of its metadata.
    pub(super) interpolation: String,
    /// `elementSize` of its metadata.
    pub(super) element_size: Option<usize>,
}

/// A prim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Prim {
    pub(super) kind: String,
    pub(super) path: String,
    /// Its name for people, where that has characters that paths do not have; empty if none is stated.
    pub(super) display_name: String,
    /// Whether the stage leaves it out: an inactive prim, an `over` or a `class`, or one below such a prim.
    pub(super) unused: bool,
    /// The index of the prim above it in [`Layer::prims`].
    pub(super) parent: Option<usize>,
    pub(super) properties: BTreeMap<String, UsdProperty>,
}

/// The prims of a file, parents first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layer {
    pub(super) prims: Vec<Prim>,
    /// `metersPerUnit`, 0.01 by default.
    pub(super) metres_per_unit: f64,
    /// `upAxis` is Z.
    pub(super) z_up: bool,
    /// `timeCodesPerSecond`, else `framesPerSecond`, 24 by default.
    pub(super) rate: f64,
    /// `startTimeCode` and `endTimeCode`, if the file has them.
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    /// Whether prims refer to other files.
    pub(super) refers: bool,
    /// The names of the sets of variants, which are not read.
    pub(super) variants: Vec<String>,
}

/// Frames per second of a layer that states none, as in OpenUSD.
pub(super) const USUAL_RATE: f64 = 24.0;

/// Sets a unit of the layer; one that is not above 0 is damaged, and the default stays.
pub(super) fn positive(numbers: &[f64], unit: &mut f64) {
    if let Some(number) = numbers.first().filter(|number| **number > 0.0) {
        *unit = *number;
    }
}

/// Whether a type has numbers of 32 bits: `float3[]`, `quatf`, `point3f[]`.
pub(super) fn is_single(kind: &str) -> bool {
    let kind = kind.trim_end_matches("[]");
    kind.starts_with("float") || kind.ends_with('f') && kind != "half"
}

/// Rounds decimal numbers to those of 32 bits that they stand for, as a binary file has them. Numbers that 32 bits cannot hold stay.
pub(super) fn round_to_single(value: &mut Value) {
    let Value::Numbers(numbers) = value else { return };
    for number in numbers {
        let single = f64::from(*number as f32);
        if single.is_finite() && single != 0.0 {
            *number = single;
        }
    }
}

impl Layer {
    /// Sets what a field of the stage says; others say nothing here.
    pub(super) fn set(&mut self, field: &str, value: &Value) {
        match (field, value) {
            ("metersPerUnit", Value::Numbers(n)) => positive(n, &mut self.metres_per_unit),
            ("timeCodesPerSecond", Value::Numbers(n)) => positive(n, &mut self.rate),
            ("startTimeCode", Value::Numbers(n)) => self.start = n.first().copied(),
            ("endTimeCode", Value::Numbers(n)) => self.end = n.first().copied(),
            ("upAxis", Value::Words(words)) => self.z_up = words.concat() == "Z",
            _ => {}
        }
    }
}

impl UsdProperty {
    /// Sets what a field of its metadata says; others say nothing here.
    pub(super) fn set(&mut self, field: &str, value: &Value) {
        match (field, value) {
            ("interpolation", Value::Words(words)) => self.interpolation = words.concat(),
            ("elementSize", Value::Numbers(n)) => self.element_size = n.first().map(|n| *n as usize),
            _ => {}
        }
    }
}

impl Prim {
    /// Sets what a field of its metadata says; others say nothing here.
    pub(super) fn set(&mut self, field: &str, value: &Value) {
        match (field, value) {
            ("active", Value::Numbers(n)) => self.unused |= *n == [0.0],
            ("displayName", Value::Words(words)) => self.display_name = words.concat(),
            ("typeName", Value::Words(words)) => self.kind = words.concat(),
            _ => {}
        }
    }

    /// The numbers of an attribute: its value without time, else its first sample; empty if it has none.
    pub(super) fn numbers(&self, name: &str) -> &[f64] {
        match self.first(name) {
            Some(Value::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The words of a property, likewise.
    pub(super) fn words(&self, name: &str) -> &[String] {
        match self.first(name) {
            Some(Value::Words(words)) => words,
            _ => &[],
        }
    }

    fn first(&self, name: &str) -> Option<&Value> {
        let property = self.properties.get(name)?;
        property.value.as_ref().or_else(|| property.samples.first().map(|sample| &sample.1))
    }

    /// Its name for people, else the last part of the path.
    pub(super) fn name(&self) -> &str {
        match self.display_name.as_str() {
            "" => self.path.rsplit('/').next().unwrap_or_default(),
            stated => stated,
        }
    }
}

impl Layer {
    /// Whether prims that the stage leaves out are read: where no other prim is a skeleton, and prims refer to others, which may be
    /// these.
    fn needs_unused(&self) -> bool {
        self.refers && !self.prims.iter().any(|prim| prim.kind == "Skeleton" && !prim.unused)
    }

    /// The prims of a kind, in the order of the file, without those that the stage leaves out.
    pub(super) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Prim> {
        let all = self.needs_unused();
        self.prims.iter().filter(move |prim| prim.kind == kind && (all || !prim.unused))
    }

    /// A prim and those above it, up to the root.
    pub(super) fn upwards<'a>(&'a self, prim: &'a Prim) -> impl Iterator<Item = &'a Prim> {
        std::iter::successors(Some(prim), |prim| self.prims.get(prim.parent?))
    }

    /// The first word of a property of a prim or of one above it, which it inherits.
    pub(super) fn inherited<'a>(&'a self, prim: &'a Prim, name: &str) -> Option<&'a str> {
        self.upwards(prim).find_map(|prim| prim.words(name).first()).map(String::as_str)
    }
}
