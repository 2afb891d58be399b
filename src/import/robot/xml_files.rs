//! A robot's file and the files that it includes, which are in its folder or below.

use super::robot_error::RobotError;
use crate::import::format::SourceFile;
use crate::regular_file::{read_regular, regular_inside};
use crate::report::{io_reason, shortened};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Most files that are included; models of robots have up to ten.
const MAX_INCLUDES: usize = 64;
/// Most bytes of a model with the files that it includes: a hundred times a large model without its meshes.
const MAX_BYTES: usize = 1 << 24;
/// Most elements and texts of one file: a hundred times a large model.
const MAX_NODES: u32 = 1_000_000;
/// Most elements inside of each other, across includes. A robot's limb has 30; the readers use the stack.
const MAX_DEPTH: usize = 256;
/// Most attributes of an element; those of MuJoCo have up to 50. The parser compares each with each.
const MAX_ATTRIBUTES: usize = 256;

/// The texts, the robot's own file first.
#[derive(Debug)]
pub(super) struct XmlFiles {
    files: Vec<XmlFile>,
}

#[derive(Debug)]
struct XmlFile {
    /// As it is written in the `include`, for messages and to find it again.
    name: String,
    text: String,
    /// Elements around its `include`, across files.
    around: usize,
}

/// An `include` as written.
struct Include {
    file: String,
    /// Where it is in the text, bytes.
    at: usize,
    /// Elements around it, across files.
    around: usize,
}

impl XmlFiles {
    /// Reads the includes of `source`.
    ///
    /// # Errors
    /// A file that is no XML, that is too large, that is missing or outside of the folder, or included twice.
    pub(super) fn read(source: &SourceFile) -> Result<Self, RobotError> {
        let extension = if source.extension.is_empty() { "xml" } else { source.extension };
        let own = format!("{}.{extension}", source.name);
        let mut files = vec![XmlFile { text: checked_text(&own, source.bytes, 0)?, name: own, around: 0 }];
        let mut open: VecDeque<usize> = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let document = parse(&files[at])?;
            let include = |node: Node| {
                let around = files[at].around + node.ancestors().skip(1).filter(Node::is_element).count();
                Some(Include { file: node.attribute("file")?.to_owned(), at: node.range().start, around })
            };
            let includes: Vec<Include> = (document.descendants())
                .filter(|node| node.has_tag_name("include"))
                .filter_map(include)
                .take(MAX_INCLUDES + 1)
                .collect();
            drop(document);
            for Include { file: name, at: position, around } in includes {
                let fault = |reason: String, hint| RobotError::Element {
                    file: files[at].name.clone(),
                    line: 1 + files[at].text[..position].matches('\n').count(),
                    reason: format!("`{}`: {reason}", shortened(&name)),
                    hint,
                };
                if files.iter().any(|file| file.name == name) {
                    let reason = "it is included a second time".to_owned();
                    return Err(fault(reason, "include each file once, and no file in itself"));
                }
                let inside = source.folder.and_then(|folder| regular_inside(folder, Path::new(&name)));
                let Some(path) = inside else {
                    let reason = "there is no such file in the robot's folder".to_owned();
                    return Err(fault(
                        reason,
                        "put it beside the robot's file; files elsewhere are not opened",
                    ));
                };
                let bytes = read_regular(&path, MAX_BYTES as u64)
                    .map_err(|error| fault(io_reason(&error), "make it readable"))?;
                if files.len() > MAX_INCLUDES {
                    let (what, file) = ("included files", files[0].name.clone());
                    return Err(RobotError::Limit { file, what, limit: MAX_INCLUDES, name: "MAX_INCLUDES" });
                }
                let before: usize = files.iter().map(|file| file.text.len()).sum();
                if before + bytes.len() > MAX_BYTES {
                    let (what, file) = ("bytes with its includes", files[0].name.clone());
                    return Err(RobotError::Limit { file, what, limit: MAX_BYTES, name: "MAX_BYTES" });
                }
                files.push(XmlFile { text: checked_text(&name, &bytes, around)?, name, around });
                open.push_back(files.len() - 1);
            }
        }
        Ok(Self { files })
    }

    /// The documents of all files.
    ///
    /// # Errors
    /// A file that is no XML.
    pub(super) fn parse(&self) -> Result<XmlTree<'_>, RobotError> {
        let documents = self.files.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(XmlTree { names: self.files.iter().map(|file| file.name.as_str()).collect(), documents })
    }

    /// Name and content of the included files.
    pub(super) fn included(self) -> Vec<(String, Arc<[u8]>)> {
        self.files.into_iter().skip(1).map(|f| (f.name, Arc::from(f.text.into_bytes()))).collect()
    }
}

/// The documents of a robot's files.
#[derive(Debug)]
pub(super) struct XmlTree<'t> {
    names: Vec<&'t str>,
    documents: Vec<Document<'t>>,
}

impl<'t> XmlTree<'t> {
    /// The name of the robot's own file.
    pub(super) fn file(&self) -> &'t str {
        self.names[0]
    }

    /// The element around everything.
    pub(super) fn root(&self) -> Node<'_, 't> {
        self.documents[0].root_element()
    }

    /// The elements inside of one, with those of included files in the place of each `include`.
    pub(super) fn children<'d>(&'d self, node: Node<'d, 't>) -> Vec<Node<'d, 't>> {
        let mut found = Vec::new();
        for child in node.children().filter(Node::is_element) {
            let included = child.attribute("file").filter(|_| child.has_tag_name("include"));
            match included.and_then(|name| self.names.iter().position(|known| *known == name)) {
                Some(at) => found.extend(self.children(self.documents[at].root_element())),
                None => found.push(child),
            }
        }
        found
    }

    /// The name of the file of a node.
    pub(super) fn file_of(&self, node: &Node<'_, 't>) -> &'t str {
        let is_own = |document: &Document| std::ptr::eq(document.input_text(), node.document().input_text());
        self.names[self.documents.iter().position(is_own).unwrap_or(0)]
    }
}

/// The line of a node, from 1.
pub(super) fn line(node: &Node) -> usize {
    node.document().text_pos_at(node.range().start).row as usize
}

/// The text of a file whose `include` is inside of `around` elements.
pub(super) fn checked_text(file: &str, bytes: &[u8], around: usize) -> Result<String, RobotError> {
    let limit = |what, limit, name| Err(RobotError::Limit { file: file.to_owned(), what, limit, name });
    if bytes.len() > MAX_BYTES {
        return limit("bytes", MAX_BYTES, "MAX_BYTES");
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(RobotError::Xml { file: file.to_owned(), reason: "it is not UTF-8 text".to_owned() });
    };
    // Programs in C may write the end of their text as well: Bullet's files have it.
    let text = text.trim_end_matches('\0');
    let extent = Extent::of(text);
    if around + extent.depth > MAX_DEPTH {
        return limit("elements inside of each other", MAX_DEPTH, "MAX_DEPTH");
    }
    if extent.attributes > MAX_ATTRIBUTES {
        return limit("attributes of an element", MAX_ATTRIBUTES, "MAX_ATTRIBUTES");
    }
    Ok(text.to_owned())
}

/// Parts of a text in which `<` does not begin an element: what is around them.
const OPAQUE: [[&str; 2]; 3] = [["!--", "-->"], ["![CDATA[", "]]>"], ["?", "?>"]];

/// How deep the elements of a text are nested, and the most attributes of one: exact for every text that is XML.
#[derive(Debug, Default)]
struct Extent {
    depth: usize,
    attributes: usize,
}

impl Extent {
    /// Found without a stack, before the text is parsed.
    fn of(text: &str) -> Self {
        let (mut found, mut open) = (Self::default(), 0usize);
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let opaque = OPAQUE.iter().find_map(|[start, end]| Some((rest.strip_prefix(start)?, end)));
            if let Some((inside, end)) = opaque {
                rest = inside.find(end).map_or("", |at| &inside[at..]);
            } else if rest.starts_with('/') {
                open = open.saturating_sub(1);
            } else if !rest.starts_with('!') {
                let (tag, attributes) = tag(rest);
                found.attributes = found.attributes.max(attributes);
                found.depth = found.depth.max(open + 1);
                open += usize::from(!tag.ends_with('/'));
                rest = &rest[tag.len()..];
            }
        }
        found
    }
}

/// A tag up to its `>`, and the number of its attributes: `>` and `/` may be in their values.
fn tag(text: &str) -> (&str, usize) {
    let (mut quote, mut attributes) = (None, 0);
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if byte == b'>' => return (&text[..at], attributes),
            None if byte == b'"' || byte == b'\'' => (quote, attributes) = (Some(byte), attributes + 1),
            _ => {}
        }
    }
    (text, attributes)
}

fn parse(file: &XmlFile) -> Result<Document<'_>, RobotError> {
    parse_text(&file.text)
        .map_err(|error| RobotError::Xml { file: file.name.clone(), reason: error.to_string() })
}

/// The document of a text that was checked.
pub(super) fn parse_text(text: &str) -> Result<Document<'_>, roxmltree::Error> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
}
