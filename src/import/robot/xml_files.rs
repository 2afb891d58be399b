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
/// Largest file that is read, bytes: a hundred times a large model without its meshes.
const MAX_BYTES: usize = 1 << 24;
/// Most elements and texts of one file: a hundred times a large model.
const MAX_NODES: u32 = 1_000_000;
/// Most elements inside of each other. A robot's limb has 30; the parser uses the stack.
const MAX_DEPTH: usize = 256;

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
}

impl XmlFiles {
    /// Reads the includes of `source`.
    ///
    /// # Errors
    /// A file that is no XML, that is too large, that is missing or outside of the folder, or included twice.
    pub(super) fn read(source: &SourceFile) -> Result<Self, RobotError> {
        let own = format!("{}.xml", source.name);
        let mut files = vec![XmlFile { text: text(&own, source.bytes)?, name: own }];
        let mut open: VecDeque<usize> = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let document = parse(&files[at])?;
            let includes: Vec<(String, usize)> = (document.descendants())
                .filter(|node| node.has_tag_name("include"))
                .filter_map(|node| Some((node.attribute("file")?.to_owned(), line(&node))))
                .collect();
            drop(document);
            for (name, line) in includes {
                let fault = |reason: String, hint| RobotError::Element {
                    file: files[at].name.clone(),
                    line,
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
                files.push(XmlFile { text: text(&name, &bytes)?, name });
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

fn text(file: &str, bytes: &[u8]) -> Result<String, RobotError> {
    let fault = |reason: String| RobotError::Xml { file: file.to_owned(), reason };
    if bytes.len() > MAX_BYTES {
        let (what, file) = ("bytes", file.to_owned());
        return Err(RobotError::Limit { file, what, limit: MAX_BYTES, name: "MAX_BYTES" });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| fault("it is not UTF-8 text".to_owned()))?;
    if depth(text) > MAX_DEPTH {
        let (what, file) = ("elements inside of each other", file.to_owned());
        return Err(RobotError::Limit { file, what, limit: MAX_DEPTH, name: "MAX_DEPTH" });
    }
    Ok(text.to_owned())
}

/// An upper bound of how deep elements are nested, without a stack.
fn depth(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
        } else if rest.starts_with('/') {
            open = open.saturating_sub(1);
        } else if rest.starts_with(|c: char| !"!?".contains(c)) {
            let end = rest.find('>').unwrap_or(rest.len());
            open += usize::from(!rest[..end].ends_with('/'));
            deepest = deepest.max(open);
        }
    }
    deepest
}

fn parse(file: &XmlFile) -> Result<Document<'_>, RobotError> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(&file.text, options)
        .map_err(|error| RobotError::Xml { file: file.name.clone(), reason: error.to_string() })
}
