//! Parses the text of a `.usda` layer: definitions of prims, attributes with time samples, relationships.
//!
//! Variants, references and other arcs of composition are skipped: a flattened layer has none. Recursion is bounded by
//! [`DEEPEST`]. Source: the text format of Pixar's USD, 1.0.

use super::usd_error::UsdError;
use super::usda_escapes::unescaped;
use super::usda_layer::{
    DEEPEST, Layer, PROPERTY, Prim, SAMPLE, USUAL_RATE, UsdProperty, Value, WORD, is_single, positive,
    round_to_single,
};
use crate::memory_budget::MemoryBudget;
use std::borrow::Cow;

/// Parses a layer.
pub(super) fn parse(text: &str, budget: &MemoryBudget) -> Result<Layer, UsdError> {
    let mut layer = Layer { metres_per_unit: 0.01, ..Layer::default() };
    let mut parser = Parser { text, at: 0, layer: &mut layer, frame_rate: USUAL_RATE, budget };
    parser.skip_space();
    if parser.peek() == Some(b'(') {
        parser.metadata(MetadataOf::Layer)?;
    }
    if parser.layer.rate == 0.0 {
        parser.layer.rate = parser.frame_rate;
    }
    parser.prims(None, 0)?;
    match parser.peek() {
        None => Ok(layer),
        Some(_) => Err(parser.fault("a definition of a prim was expected")),
    }
}

/// What metadata belong to.
enum MetadataOf<'p> {
    Layer,
    /// The prim with this index.
    Prim(usize),
    Property(&'p mut UsdProperty),
}

struct Parser<'a, 'l> {
    text: &'a str,
    at: usize,
    layer: &'l mut Layer,
    /// `framesPerSecond`, 24 by default: the rate of time codes that have none of their own.
    frame_rate: f64,
    budget: &'l MemoryBudget,
}

impl<'a> Parser<'a, '_> {
    fn fault(&self, reason: impl Into<String>) -> UsdError {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        UsdError::Syntax { line: 1 + before.iter().filter(|b| **b == b'\n').count(), reason: reason.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space, semicolons and comments.
    fn skip_space(&mut self) {
        while let Some(b) = self.peek() {
            match b {
                b'#' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                b if b.is_ascii_whitespace() || b == b';' => self.at += 1,
                _ => break,
            }
        }
    }

    /// Takes a character after white space.
    fn take(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Result<(), UsdError> {
        match self.take(wanted) {
            true => Ok(()),
            false => Err(self.fault(format!("`{}` was expected", char::from(wanted)))),
        }
    }

    /// A word of letters, digits and what names, types and numbers have besides; empty if there is none.
    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.at..];
        let within = |b: &u8| b.is_ascii_alphanumeric() || b"_:.+-[]".contains(b) || *b >= 0x80;
        let length = rest.iter().position(|b| !within(b)).unwrap_or(rest.len());
        let begin = self.at;
        self.at += length;
        &self.text[begin..self.at]
    }

    /// A string in quotes, of one or three, with its escapes resolved.
    fn string(&mut self) -> Result<Cow<'a, str>, UsdError> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let Some(quote) = quotes.into_iter().find(|q| rest.starts_with(q)) else {
            return Err(self.fault("a name in quotes was expected"));
        };
        let begin = self.at + quote.len();
        let bytes = self.text.as_bytes();
        let mut end = begin;
        while end < bytes.len() && !bytes[end..].starts_with(quote.as_bytes()) {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        // A backslash may skip into a character of several bytes, or past the end.
        let inner = self.text.get(begin..end).filter(|_| end < bytes.len());
        let inner = inner.ok_or_else(|| self.fault("a string has no end"))?;
        self.at = end + quote.len();
        Ok(unescaped(inner))
    }

    /// The text up to `end`, which is skipped.
    fn until(&mut self, end: &str) -> Result<&'a str, UsdError> {
        let rest = &self.text[self.at..];
        let length = rest.find(end).ok_or_else(|| self.fault(format!("`{end}` is missing")))?;
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// The prims up to the end of the file or a `}`, which stays.
    fn prims(&mut self, parent: Option<usize>, depth: usize) -> Result<(), UsdError> {
        loop {
            self.skip_space();
            match self.peek() {
                None => return Ok(()),
                Some(b'}') if parent.is_some() => return Ok(()),
                _ => self.statement(parent, depth)?,
            }
        }
    }

    /// A prim, a property, or what is skipped.
    fn statement(&mut self, parent: Option<usize>, depth: usize) -> Result<(), UsdError> {
        if depth > DEEPEST {
            return Err(self.fault(format!("prims are nested deeper than {DEEPEST} (`DEEPEST`)")));
        }
        match self.word() {
            "" => Err(self.fault("a prim or a property was expected")),
            specifier @ ("def" | "over" | "class") => self.prim(specifier, parent, depth),
            "variantSet" => {
                let name = self.string()?.into_owned();
                self.budget.reserve(name.len() as u64, || "the names of variants".to_owned())?;
                self.layer.variants.push(name);
                self.expect(b'=')?;
                self.value(0).map(drop)
            }
            "reorder" => {
                self.word();
                self.expect(b'=')?;
                self.value(0).map(drop)
            }
            first => match parent {
                Some(parent) => self.property(first, parent),
                None => Err(self.fault(format!("`{first}` is no definition of a prim"))),
            },
        }
    }

    fn prim(&mut self, specifier: &str, parent: Option<usize>, depth: usize) -> Result<(), UsdError> {
        self.skip_space();
        let kind = if matches!(self.peek(), Some(b'"' | b'\'')) { "" } else { self.word() };
        let name = self.string()?;
        let above = parent.map_or("", |p| self.layer.prims[p].path.as_str());
        let path = format!("{above}/{name}");
        // Siblings below long names have long paths.
        let room = size_of::<Prim>() + path.len();
        self.budget.reserve(room as u64, || "the prims".to_owned())?;
        let own = self.layer.prims.len();
        let unused = specifier != "def" || parent.is_some_and(|p| self.layer.prims[p].unused);
        self.layer.prims.push(Prim { kind: kind.to_owned(), path, unused, parent, ..Prim::default() });
        self.skip_space();
        if self.peek() == Some(b'(') {
            self.metadata(MetadataOf::Prim(own))?;
        }
        self.expect(b'{')?;
        self.prims(Some(own), depth + 1)?;
        self.expect(b'}')
    }

    /// A property whose first word was read.
    fn property(&mut self, first: &str, prim: usize) -> Result<(), UsdError> {
        let qualifiers =
            ["custom", "uniform", "varying", "config", "prepend", "append", "add", "delete", "reorder"];
        let mut kind = first.to_owned();
        while qualifiers.contains(&kind.as_str()) {
            kind = self.word().to_owned();
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.fault(format!("a name is missing after `{kind}`")));
        }
        self.budget.reserve((PROPERTY + name.len()) as u64, || "the properties".to_owned())?;
        let (name, sampled) = match name.strip_suffix(".timeSamples") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let mut property = UsdProperty::default();
        if self.take(b'=') {
            if sampled {
                property.samples = self.samples()?;
                if is_single(&kind) {
                    property.samples.iter_mut().for_each(|sample| round_to_single(&mut sample.1));
                }
            } else {
                let mut value = self.value(0)?;
                if is_single(&kind) {
                    round_to_single(&mut value);
                }
                property.value = Some(value).filter(|value| *value != Value::Other);
            }
        }
        self.skip_space();
        if self.peek() == Some(b'(') {
            self.metadata(MetadataOf::Property(&mut property))?;
        }
        let known = self.layer.prims[prim].properties.entry(name.to_owned()).or_default();
        known.value = property.value.or(known.value.take());
        if !property.samples.is_empty() {
            known.samples = property.samples;
        }
        if !property.interpolation.is_empty() {
            known.interpolation = property.interpolation;
        }
        known.element_size = property.element_size.or(known.element_size);
        Ok(())
    }

    /// `{ 0: value, 1: value }`.
    fn samples(&mut self) -> Result<Vec<(f64, Value)>, UsdError> {
        self.expect(b'{')?;
        let mut samples = Vec::new();
        while !self.take(b'}') {
            self.skip_space();
            let time: Option<f64> = self.until(":")?.trim().parse().ok();
            let time = time.filter(|t| t.is_finite()).ok_or_else(|| self.fault("a time was expected"))?;
            let value = self.value(0)?;
            self.budget.reserve(SAMPLE, || "the samples".to_owned())?;
            samples.push((time, value));
            self.take(b',');
        }
        Ok(samples)
    }

    /// What is in brackets after a prim or a property, or at the top of a layer.
    fn metadata(&mut self, mut of: MetadataOf) -> Result<(), UsdError> {
        self.expect(b'(')?;
        while !self.take(b')') {
            self.skip_space();
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                self.string()?;
                continue;
            }
            let mut key = self.word();
            if ["prepend", "append", "add", "delete", "reorder"].contains(&key) {
                key = self.word();
            }
            if key.is_empty() {
                return Err(self.fault("metadata were expected"));
            }
            if !self.take(b'=') {
                continue;
            }
            if ["references", "payload", "inherits", "subLayers"].contains(&key) {
                self.layer.refers = true;
            }
            let value = self.value(0)?;
            match (&mut of, &value) {
                (MetadataOf::Property(own), value) => own.set(key, value),
                (MetadataOf::Prim(own), value) => self.layer.prims[*own].set(key, value),
                (MetadataOf::Layer, Value::Numbers(n)) if key == "framesPerSecond" => {
                    positive(n, &mut self.frame_rate);
                }
                (MetadataOf::Layer, value) => self.layer.set(key, value),
            }
        }
        Ok(())
    }

    /// A value of any kind; lists and tuples are flattened.
    fn value(&mut self, depth: usize) -> Result<Value, UsdError> {
        let (mut numbers, mut words, mut other) = (Vec::new(), Vec::new(), false);
        self.read_list(&mut numbers, &mut words, &mut other, depth)?;
        Ok(match (other, numbers.is_empty(), words.is_empty()) {
            (true, _, _) | (_, false, false) => Value::Other,
            (_, _, false) => Value::Words(words),
            _ => Value::Numbers(numbers),
        })
    }

    fn read_list(
        &mut self,
        numbers: &mut Vec<f64>,
        words: &mut Vec<String>,
        other: &mut bool,
        depth: usize,
    ) -> Result<(), UsdError> {
        if depth > DEEPEST {
            return Err(self.fault(format!("lists are nested deeper than {DEEPEST} (`DEEPEST`)")));
        }
        self.skip_space();
        match self.peek() {
            Some(open @ (b'[' | b'(')) => {
                self.at += 1;
                let close = if open == b'[' { b']' } else { b')' };
                while !self.take(close) {
                    self.read_list(numbers, words, other, depth + 1)?;
                    self.take(b',');
                }
                Ok(())
            }
            Some(b'"' | b'\'') => self.string().and_then(|text| self.add(words, &text)),
            Some(b'<') => {
                self.at += 1;
                self.until(">").and_then(|path| self.add(words, path))
            }
            Some(b'@') => {
                *other = true;
                let end = if self.text[self.at..].starts_with("@@@") { "@@@" } else { "@" };
                self.at += end.len();
                self.until(end)?;
                // A path of a prim in the asset may follow, and an offset of its times.
                if self.peek() == Some(b'<') {
                    self.until(">")?;
                }
                self.skip_space();
                if self.peek() == Some(b'(') { self.skip_nested(*b"()") } else { Ok(()) }
            }
            Some(b'{') => {
                *other = true;
                self.skip_nested(*b"{}")
            }
            _ => self.scalar(numbers, other),
        }
    }

    /// Adds a word, of which a list may have one for every two bytes.
    fn add(&self, words: &mut Vec<String>, word: &str) -> Result<(), UsdError> {
        self.budget.reserve(WORD + word.len() as u64, || "the words".to_owned())?;
        words.push(word.to_owned());
        Ok(())
    }

    /// A number or a word without quotes.
    fn scalar(&mut self, numbers: &mut Vec<f64>, other: &mut bool) -> Result<(), UsdError> {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || b"_.+-".contains(b)))
            .unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        match (word, word.parse::<f64>()) {
            ("", _) => return Err(self.fault("a value was expected")),
            ("true", _) => numbers.push(1.0),
            ("false", _) => numbers.push(0.0),
            (_, Ok(number)) if number.is_finite() => numbers.push(number),
            (_, Ok(_)) => return Err(self.fault(format!("`{word}` is not a finite number"))),
            _ => *other = true,
        }
        self.at += length;
        Ok(())
    }

    /// Skips a dictionary, the body of variants, or what is in other brackets.
    fn skip_nested(&mut self, [open, close]: [u8; 2]) -> Result<(), UsdError> {
        let mut depth = 0_usize;
        loop {
            self.skip_space();
            let byte =
                self.peek().ok_or_else(|| self.fault(format!("`{}` is missing", char::from(close))))?;
            match byte {
                b'"' | b'\'' => _ = self.string()?,
                b'@' => {
                    self.at += 1;
                    self.until("@")?;
                }
                _ => {
                    depth = depth + usize::from(byte == open) - usize::from(byte == close);
                    // Characters of several bytes are outside of what is looked for.
                    self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                    if depth == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Layer, UsdError> {
        super::parse(text, &MemoryBudget::new(text.len() as u64, None))
    }

    #[test]
    fn escapes_in_lists_of_names_are_resolved() {
        let text = r#"#usda 1.0
def Skeleton "S" { uniform token[] joints = ["a\\b\"c"] }"#;
        let layer = parse(text).unwrap();
        assert!(format!("{layer:?}").contains(&format!("{:?}", "a\\b\"c")), "{layer:?}");
    }

    #[test]
    fn a_layer_is_read_with_its_units_samples_and_metadata() {
        let text = r#"#usda 1.0
(
    "a comment"
    customLayerData = { string a = "}" }
    metersPerUnit = 1
    timeCodesPerSecond = 30
    upAxis = "Z"
)
def Xform "Root" (
    kind = "component"
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    variantSet "look" = { "a" { def "X" { } } }
    def SkelAnimation "walk"
    {
        uniform token[] joints = ["a", "a/b"]
        quatf[] rotations.timeSamples = {
            0: [(1, 0, 0, 0), (1, 0, 0, 0)],
            1.5: [(0.5, 0.5, 0.5, 0.5), (1, 0, 0, 0)],
        }
        rel skel:animationSource = </Root/walk>
        asset file = @a.png@
        int[] primvars:skel:jointIndices = [0, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        float3 x = None
        custom double y
    }
}
over "Other" { }
"#;
        let layer = parse(text).unwrap();
        assert!(layer.z_up && layer.metres_per_unit == 1.0 && layer.rate == 30.0 && !layer.refers);
        let paths: Vec<&str> = layer.prims.iter().map(|prim| prim.path.as_str()).collect();
        assert_eq!(paths, ["/Root", "/Root/walk", "/Other"]);
        let walk = &layer.prims[1];
        assert_eq!(
            (walk.kind.as_str(), walk.name(), walk.words("joints")),
            ("SkelAnimation", "walk", &["a".into(), "a/b".into()][..])
        );
        let rate = |metadata: &str| parse(&format!("#usda 1.0\n({metadata})")).unwrap().rate;
        assert_eq!(rate(""), 24.0);
        assert_eq!(rate("framesPerSecond = 60"), 60.0);
        assert_eq!(rate("timeCodesPerSecond = 30 framesPerSecond = 60"), 30.0);
        let rotations = &walk.properties["rotations"].samples;
        assert_eq!((rotations.len(), rotations[1].0), (2, 1.5));
        assert_eq!(rotations[1].1, Value::Numbers(vec![0.5, 0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0]));
        assert_eq!(walk.words("skel:animationSource"), ["/Root/walk"]);
        let indices = &walk.properties["primvars:skel:jointIndices"];
        assert_eq!((indices.element_size, indices.interpolation.as_str()), (Some(2), "vertex"));
    }

    #[test]
    fn prims_that_the_stage_leaves_out_are_read_only_where_others_may_refer_to_them() {
        let body = "def Skeleton \"S\" { } ";
        let found = |text: &str| {
            let layer = parse(text).unwrap();
            layer.of_kind("Skeleton").map(|prim| prim.path.clone()).collect::<Vec<_>>()
        };
        for unused in ["def \"A\" (active = false)", "class \"A\"", "over \"A\""] {
            let both = format!("{unused} {{ {body} }} def \"B\" (active = true) {{ {body} }}");
            assert_eq!(found(&both), ["/B/S"], "{unused}");
            let alone = format!("{unused} {{ {body} }}");
            assert_eq!(found(&alone), [""; 0], "{unused}");
            assert_eq!(found(&format!("{alone} def \"C\" (inherits = </A>) {{ }}")), ["/A/S"], "{unused}");
        }
        assert_eq!(parse("def \"A\" { variantSet \"v\" = { \"a\" { } } }").unwrap().variants, ["v"]);
    }

    #[test]
    fn numbers_have_the_precision_of_their_type() {
        let text = "def \"a\" { float x = 0.1 point3f[] p = [(0.1, 0, 1e-50)] double d = 0.1 half h = 0.1\n quatf[] q.timeSamples = { 1: [(0.1, 0, 0, 1e300)] } }";
        let layer = parse(text).unwrap();
        let single = f64::from(0.1_f32);
        let prim = &layer.prims[0];
        assert_eq!((prim.numbers("x"), prim.numbers("p")), (&[single][..], &[single, 0.0, 1e-50][..]));
        assert_eq!((prim.numbers("d"), prim.numbers("h")), (&[0.1][..], &[0.1][..]));
        assert_eq!(prim.numbers("q"), [single, 0.0, 0.0, 1e300]);
    }

    #[test]
    fn faults_have_their_line() {
        for (text, line, said) in [
            ("#usda 1.0\ndef \"a\" {", 2, "`}` was expected"),
            ("#usda 1.0\nhello", 2, "`hello` is no definition"),
            ("def \"a\"\n{ float x = }", 2, "a value was expected"),
            ("def \"a\"\n{ float x = inf }", 2, "not a finite number"),
            ("def \"a", 1, "a string has no end"),
            ("def \"a\"\n{\n float[] x.timeSamples = { a: 1 } }", 3, "a time was expected"),
        ] {
            let UsdError::Syntax { line: found, reason } = parse(text).unwrap_err() else { panic!("{text}") };
            assert!(found == line && reason.contains(said), "{text}: {found} {reason}");
        }
        assert!(parse(&"def \"a\" { ".repeat(100_000)).is_err());
        // Many prims below a long name.
        let long = format!("def \"{}\" {{ {} }}", "a".repeat(1_000_000), "def \"b\" {} ".repeat(100_000));
        assert!(matches!(parse(&long), Err(UsdError::Memory(_))));
        assert!(parse(&format!("def \"a\" {{ float x = {} }}", "[".repeat(100_000))).is_err());
        // Empty paths of two bytes each.
        let paths = format!("def \"a\" {{ rel x = [{}] }}", "<>".repeat(10_000));
        let within = |bytes: u64| super::parse(&paths, &MemoryBudget::new(0, Some(bytes)));
        assert!(matches!(within(10_000 * WORD), Err(UsdError::Memory(_))) && within(11_000 * WORD).is_ok());
    }

    #[test]
    fn every_truncation_is_an_error_or_a_layer() {
        let text = "#usda 1.0\n(\n upAxis = \"Y\"\n)\ndef Mesh \"ä\" (kind = \"x\") { int[] a = [1, 2] (elementSize = 2)\n asset b = @é@\n}";
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let _ = parse(&text[..end]);
        }
    }
}
