//! Reads a crate (`.usdc`) as a layer, the same that the text of it gives.
//!
//! Prims are found from the root by the names of their children, so that variants are skipped as in text.

use super::crate_tables::{CrateSpec, CrateTables};
use super::crate_values::inline;
use super::usd_error::UsdError;
use super::usda_layer::{DEEPEST, Layer, PROPERTY, Prim, USUAL_RATE, UsdProperty, Value, positive};
use crate::memory_budget::MemoryBudget;
use crate::usd_document::spec;
use std::collections::HashMap;

/// The specifier of a definition.
const DEF: u64 = 0;
/// Bytes of a row of the map of paths, with its free places.
const ROW: u64 = 64;

/// The specs of a crate by their paths.
struct SpecsByPath<'t> {
    tables: &'t CrateTables<'t>,
    /// By the path above, whether it is a property, and the name.
    of_names: HashMap<(u32, bool, &'t str), &'t CrateSpec>,
    root: Option<&'t CrateSpec>,
}

/// What is to be read: a prim, the one above it, and how deep it is.
struct Waiting<'t> {
    spec: &'t CrateSpec,
    parent: Option<usize>,
    name: String,
    depth: usize,
}

/// Reads a crate.
pub(super) fn read(bytes: &[u8], budget: &MemoryBudget) -> Result<Layer, UsdError> {
    let tables = CrateTables::read(bytes, budget)?;
    let specs = SpecsByPath::of(&tables, budget)?;
    let mut layer = Layer { metres_per_unit: 0.01, ..Layer::default() };
    let mut waiting = Vec::new();
    if let Some(root) = specs.root {
        let children = stage(&mut layer, &tables, root)?;
        specs.await_children(&mut waiting, root, None, children, 0)?;
    }
    while let Some(next) = waiting.pop() {
        if next.depth > DEEPEST {
            let reason = format!("prims are nested deeper than {DEEPEST} (`DEEPEST`)");
            return Err(tables.bytes.fault(reason));
        }
        specs.prim(&mut layer, next, &mut waiting, budget)?;
    }
    Ok(layer)
}

/// Reads units and rate of the stage, and returns the names of its top prims.
fn stage(layer: &mut Layer, tables: &CrateTables, root: &CrateSpec) -> Result<Vec<String>, UsdError> {
    // As in text, frames have the default of 24.
    let (mut children, mut frame_rate) = (Vec::new(), USUAL_RATE);
    for (name, value) in tables.fields(root)? {
        let known = [
            "metersPerUnit",
            "upAxis",
            "timeCodesPerSecond",
            "framesPerSecond",
            "startTimeCode",
            "endTimeCode",
            "primChildren",
        ];
        layer.refers |= name == "subLayers";
        if !known.contains(&name) {
            continue;
        }
        match (name, tables.value(value)?) {
            ("framesPerSecond", Value::Numbers(n)) => positive(&n, &mut frame_rate),
            ("primChildren", Value::Words(words)) => children = words,
            (name, value) => layer.set(name, &value),
        }
    }
    if layer.rate == 0.0 {
        layer.rate = frame_rate;
    }
    Ok(children)
}

impl<'t> SpecsByPath<'t> {
    fn of(tables: &'t CrateTables<'t>, budget: &MemoryBudget) -> Result<Self, UsdError> {
        budget.reserve(ROW * tables.specs.len() as u64, || "the paths of specs".to_owned())?;
        let mut found = Self { tables, of_names: HashMap::new(), root: None };
        for spec in &tables.specs {
            let path = tables.path(spec.path)?;
            match path.parent {
                None => found.root = Some(spec),
                Some(parent) => {
                    let name = tables.token(path.token)?;
                    if found.of_names.insert((parent, path.property, name), spec).is_some() {
                        let reason = format!("two specs have the path {}", tables.path_text(spec.path)?);
                        return Err(tables.bytes.fault(reason));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Adds the children of a prim to what waits, the first on top.
    fn await_children(
        &self,
        waiting: &mut Vec<Waiting<'t>>,
        of: &CrateSpec,
        parent: Option<usize>,
        names: Vec<String>,
        depth: usize,
    ) -> Result<(), UsdError> {
        let first = waiting.len();
        let mut seen = std::collections::HashSet::new();
        for name in &names {
            if !seen.insert(name) {
                return Err(self.tables.bytes.fault(format!("the child `{name}` is listed twice")));
            }
        }
        for name in names {
            if let Some(spec) =
                self.of_names.get(&(of.path, false, name.as_str())).filter(|s| s.kind == spec::PRIM)
            {
                waiting.push(Waiting { spec, parent, name, depth });
            }
        }
        waiting[first..].reverse();
        Ok(())
    }

    /// Reads a prim with its properties.
    fn prim(
        &self,
        layer: &mut Layer,
        Waiting { spec, parent, name, depth }: Waiting<'t>,
        waiting: &mut Vec<Waiting<'t>>,
        budget: &MemoryBudget,
    ) -> Result<(), UsdError> {
        let above = parent.map_or("", |p| layer.prims[p].path.as_str());
        let path = format!("{above}/{name}");
        // Siblings below long names have long paths.
        budget.reserve((size_of::<Prim>() + path.len()) as u64, || "the prims".to_owned())?;
        let unused = parent.is_some_and(|p| layer.prims[p].unused);
        let mut prim = Prim { path, unused, parent, ..Prim::default() };
        let (mut children, mut properties) = (Vec::new(), Vec::new());
        for (name, value) in self.tables.fields(spec)? {
            layer.refers |= ["references", "payload", "inheritPaths"].contains(&name);
            prim.unused |=
                name == "specifier" && inline(value) != DEF || name == "active" && inline(value) == 0;
            if !["typeName", "displayName", "primChildren", "properties", "variantSetNames"].contains(&name) {
                continue;
            }
            match (name, self.tables.value(value)?) {
                ("primChildren", Value::Words(words)) => children = words,
                ("properties", Value::Words(words)) => properties = words,
                ("variantSetNames", Value::Words(words)) => layer.variants.extend(words),
                (name, value) => prim.set(name, &value),
            }
        }
        for name in properties {
            if let Some(property) = self.of_names.get(&(spec.path, true, name.as_str())) {
                budget.reserve((PROPERTY + name.len()) as u64, || "the properties".to_owned())?;
                let property = self.property(property).map_err(|fault| named(fault, &prim.path, &name))?;
                prim.properties.insert(name, property);
            }
        }
        let own = layer.prims.len();
        layer.prims.push(prim);
        self.await_children(waiting, spec, Some(own), children, depth + 1)
    }

    /// Reads an attribute or a relationship.
    fn property(&self, spec: &CrateSpec) -> Result<UsdProperty, UsdError> {
        let mut property = UsdProperty::default();
        for (name, value) in self.tables.fields(spec)? {
            match name {
                "default" | "targetPaths" => {
                    property.value = Some(self.tables.value(value)?).filter(|value| *value != Value::Other);
                }
                "timeSamples" => property.samples = self.tables.samples(value)?,
                "interpolation" | "elementSize" => property.set(name, &self.tables.value(value)?),
                _ => {}
            }
        }
        let values = property.value.iter().chain(property.samples.iter().map(|sample| &sample.1));
        let finite = |value: &Value| match value {
            Value::Numbers(numbers) => numbers.iter().all(|n| n.is_finite()),
            _ => true,
        };
        let (timed, known) =
            (property.samples.iter().all(|s| s.0.is_finite()), values.into_iter().all(finite));
        match timed && known {
            true => Ok(property),
            false => Err(self.tables.bytes.fault("a number is not finite")),
        }
    }
}

/// A fault of a value, with the property that has it.
fn named(fault: UsdError, prim: &str, name: &str) -> UsdError {
    match fault {
        UsdError::Crate { reason, .. } => {
            UsdError::Prim { prim: prim.to_owned(), reason: format!("`{name}`: {reason}") }
        }
        other => other,
    }
}
