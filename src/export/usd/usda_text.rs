//! Writes a layer as the text of a `.usda` file.
//!
//! Numbers have the fewest digits that read back as the same 32 bits (matrices: 64 bits). Source: the text format of Pixar's USD, 1.0.

use super::usd_layer::{
    DOCUMENTATION, LayerPrim, LayerProperty, PrimItem, PropertyContent, UsdLayer, UsdValue,
};
use crate::math::Mat4;
use std::fmt::{self, Write};

/// The text of a layer.
pub(super) fn text(layer: &UsdLayer) -> String {
    let mut text = UsdaText { out: "#usda 1.0\n".to_owned(), depth: 0 };
    text.line("(");
    let metadata = [
        r#"defaultPrim = "Root""#.to_owned(),
        format!("doc = \"{DOCUMENTATION}\""),
        "metersPerUnit = 1".to_owned(),
        r#"upAxis = "Y""#.to_owned(),
        format!("timeCodesPerSecond = {}", layer.rate),
        format!("framesPerSecond = {}", layer.rate),
        "startTimeCode = 0".to_owned(),
        format!("endTimeCode = {}", layer.end),
    ];
    text.within(|text| metadata.iter().for_each(|line| text.line(line)));
    text.line(")\n");
    layer.prims().iter().for_each(|item| text.item(item));
    text.out
}

/// Text under construction.
struct UsdaText {
    out: String,
    depth: usize,
}

impl UsdaText {
    fn line(&mut self, line: &str) {
        self.out.extend(std::iter::repeat_n("    ", self.depth));
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn within(&mut self, inner: impl FnOnce(&mut Self)) {
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    fn item(&mut self, item: &PrimItem) {
        match item {
            PrimItem::Property(property) => self.property(property),
            PrimItem::Prim(prim) => self.prim(prim),
        }
    }

    fn prim(&mut self, prim: &LayerPrim) {
        let head = format!("def {} \"{}\"", prim.kind, prim.name);
        let mut metadata = Vec::new();
        if prim.component {
            metadata.push(r#"kind = "component""#.to_owned());
        }
        if !prim.display_name.is_empty() {
            metadata.push(format!("displayName = {}", quoted(&prim.display_name)));
        }
        if !prim.schemas.is_empty() {
            metadata.push(format!("prepend apiSchemas = {}", tokens(prim.schemas)));
        }
        match metadata.is_empty() {
            true => self.line(&head),
            false => {
                self.line(&format!("{head} ("));
                self.within(|text| metadata.iter().for_each(|line| text.line(line)));
                self.line(")");
            }
        }
        self.line("{");
        self.within(|text| prim.items.iter().for_each(|item| text.item(item)));
        self.line("}");
    }

    fn property(&mut self, property: &LayerProperty) {
        let LayerProperty { kind, name, .. } = property;
        let head = format!("{}{kind} {name}", if property.uniform { "uniform " } else { "" });
        let line = match &property.content {
            PropertyContent::Declared => head,
            PropertyContent::Value(own) => format!("{head} = {}", value(own)),
            PropertyContent::Connection(path) => format!("{head}.connect = <{path}>"),
            PropertyContent::Target(path) => format!("{head} = <{path}>"),
            PropertyContent::Targets(paths) => {
                format!("{head} = {}", list(paths.iter().map(|path| format!("<{path}>"))))
            }
            PropertyContent::Samples(samples) => {
                self.line(&format!("{head}.timeSamples = {{"));
                self.within(|text| {
                    samples.iter().for_each(|(time, own)| text.line(&format!("{time}: {},", value(own))));
                });
                "}".to_owned()
            }
        };
        match property.per_vertex {
            None => self.line(&line),
            Some(size) => {
                self.line(&format!("{line} ("));
                self.within(|text| {
                    if let Some(size) = size {
                        text.line(&format!("elementSize = {size}"));
                    }
                    text.line(r#"interpolation = "vertex""#);
                });
                self.line(")");
            }
        }
    }
}

fn value(value: &UsdValue) -> String {
    match value {
        UsdValue::Bool(yes) => u8::from(*yes).to_string(),
        UsdValue::Token(text) | UsdValue::Text(text) => quoted(text),
        UsdValue::Asset(path) if path.contains('@') => format!("@@@{}@@@", path.replace("@@@", "\\@@@")),
        UsdValue::Asset(path) => format!("@{path}@"),
        UsdValue::Single(x) => SingleNumber(*x).to_string(),
        UsdValue::Triple(x) => tuple(*x),
        UsdValue::Quadruple(x) => tuple(*x),
        UsdValue::Matrix(m) => matrix(m),
        UsdValue::Tokens(words) => tokens(words),
        UsdValue::Integers(numbers) => list(numbers),
        UsdValue::Singles(numbers) => list(numbers.iter().map(|x| SingleNumber(*x))),
        UsdValue::Pairs(all) => tuples(all.iter().copied()),
        UsdValue::Triples(all) => tuples(all.iter().copied()),
        UsdValue::Quaternions(all) => tuples(all.iter().copied()),
        UsdValue::Matrices(all) => list(all.iter().map(matrix)),
        UsdValue::UnitScales(count) => tuples(std::iter::repeat_n([1.0; 3], *count)),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A 32-bit number.
struct SingleNumber(f32);

impl fmt::Display for SingleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Below this, scientific notation is shorter.
        const SMALL: f32 = 1e-3;
        match self.0 {
            0.0 => f.write_str("0"),
            x if x.abs() < SMALL => write!(f, "{x:e}"),
            x => write!(f, "{x}"),
        }
    }
}

/// `[1, 2]`.
fn list<T: fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    let mut text = "[".to_owned();
    for (k, value) in values.into_iter().enumerate() {
        let _ = write!(text, "{}{value}", if k > 0 { ", " } else { "" });
    }
    text.push(']');
    text
}

/// `(1, 2, 3)`.
fn tuple<const N: usize>(values: [f32; N]) -> String {
    let mut text = "(".to_owned();
    for (k, value) in values.into_iter().enumerate() {
        let _ = write!(text, "{}{}", if k > 0 { ", " } else { "" }, SingleNumber(value));
    }
    text.push(')');
    text
}

/// `[(1, 2), (3, 4)]`.
fn tuples<const N: usize>(values: impl IntoIterator<Item = [f32; N]>) -> String {
    list(values.into_iter().map(tuple))
}

/// `["a", "b"]`.
fn tokens<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    list(values.into_iter().map(|v| quoted(v.as_ref())))
}

/// A matrix in the row-vector convention of USD: the transpose.
fn matrix(m: &Mat4<f64>) -> String {
    // Adding 0 removes the sign of a negative zero.
    let row = |c: usize| {
        format!("({}, {}, {}, {})", m[(0, c)] + 0.0, m[(1, c)] + 0.0, m[(2, c)] + 0.0, m[(3, c)] + 0.0)
    };
    format!("({}, {}, {}, {})", row(0), row(1), row(2), row(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for x in [0.0, -0.0, 1.0, -0.1, 1e-9, 3.4e38, f32::MIN_POSITIVE, 0.333_333_34] {
            assert_eq!(SingleNumber(x).to_string().parse::<f32>().unwrap(), x);
        }
        assert_eq!(tuples([[1.0, -0.0], [0.5, 1e-7]]), "[(1, 0), (0.5, 1e-7)]");
        assert_eq!(tokens(["a\"b\\"]), r#"["a\"b\\"]"#);
    }
}
