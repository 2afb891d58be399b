//! Adds clips to a binary FBX file; the bytes of every existing record are preserved.
//!
//! Objects, connections and takes are appended, and the counts in `Definitions` increased. Autodesk's FBX SDK silently loses
//! animations unless two more conditions hold: the first bytes of the footer, which are derived from the file's own `FileId`
//! and `CreationTime`, are kept; and new ids are above every id of the file, including those in `Documents`.
//!
//! Space: each joint in its parent, as in the file. Units: those of the file, degrees, ticks.

use super::animation_stack::{self, AnimationStack, StackRecords};
use super::record_properties::{Property, row};
use super::records::{self, FbxFile, FbxRecord, FbxRecordError};
use super::templates;
use crate::model::UniqueNames;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Object types of animations.
const ANIMATIONS: [&[u8]; 4] =
    [b"AnimationStack", b"AnimationLayer", b"AnimationCurveNode", b"AnimationCurve"];
/// Ids that must be free above those of the file: more than any file has objects.
const IDS: i64 = 1 << 40;
/// Lower bound of new ids.
const FIRST_ID: i64 = 1_000_000;

/// Why clips cannot be added to a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum FbxSpliceError {
    #[error(transparent)]
    Records(#[from] FbxRecordError),
    #[error("the file has no record `{0}`")]
    Missing(&'static str),
    #[error("the ids of the file leave no room for new ones")]
    Ids,
}

/// A file to which clips are added.
pub(super) struct FbxSplice<'a> {
    file: FbxFile<'a>,
    last_id: i64,
    /// The names of all animation stacks.
    names: UniqueNames,
    /// Whether the existing clips were removed and no new one has become the active one yet.
    replaced: bool,
}

impl<'a> FbxSplice<'a> {
    /// Opens a file; with `replace`, its clips are removed.
    pub(super) fn open(bytes: &'a [u8], replace: bool) -> Result<Self, FbxSpliceError> {
        let file = records::parse(bytes)?;
        let mut splice = Self { file, last_id: FIRST_ID, names: UniqueNames::default(), replaced: replace };
        for needed in ["Objects", "Connections", "Definitions"] {
            splice.top(needed)?;
        }
        let lists = splice
            .file
            .records
            .iter()
            .filter(|r| matches!(&*r.name, b"Objects" | b"Documents" | b"Connections"));
        let numbers = lists.flat_map(|list| &list.children).flat_map(|r| (0..3).filter_map(|k| r.get_int(k)));
        splice.last_id = numbers.max().unwrap_or_default().max(FIRST_ID);
        if splice.last_id > i64::MAX - IDS {
            return Err(FbxSpliceError::Ids);
        }
        if replace {
            splice.remove_animations()?;
        } else {
            let stacks = splice.top("Objects")?.children.iter().filter(|o| *o.name == *ANIMATIONS[0]);
            let names = stacks.filter_map(|stack| stack.get_text(1));
            let bare =
                |name: &[u8]| name.split(|b| *b == 0).next().map(|n| String::from_utf8_lossy(n).into_owned());
            splice.names = UniqueNames::new(names.filter_map(bare));
        }
        Ok(splice)
    }

    /// The top-level record of this name.
    fn top(&mut self, name: &'static str) -> Result<&mut FbxRecord<'a>, FbxSpliceError> {
        let found = self.file.records.iter_mut().find(|r| *r.name == *name.as_bytes());
        found.ok_or(FbxSpliceError::Missing(name))
    }

    fn remove_animations(&mut self) -> Result<(), FbxSpliceError> {
        let mut removed = BTreeSet::new();
        let mut counts = [0; ANIMATIONS.len()];
        self.top("Objects")?.children.retain(|object| {
            let Some(kind) = ANIMATIONS.iter().position(|kind| *object.name == **kind) else { return true };
            counts[kind] -= 1;
            removed.extend(object.get_int(0));
            false
        });
        let refers =
            |record: &FbxRecord, place| record.get_int(place).is_some_and(|id| removed.contains(&id));
        self.top("Connections")?.children.retain(|c| !refers(c, 1) && !refers(c, 2));
        if let Ok(takes) = self.top("Takes") {
            takes.children.retain(|take| *take.name != *b"Take");
        }
        for (kind, count) in ANIMATIONS.into_iter().zip(counts) {
            self.count(kind, count)?;
        }
        Ok(())
    }

    /// Changes the number of objects of a type in `Definitions`.
    fn count(&mut self, kind: &[u8], more: i32) -> Result<(), FbxSpliceError> {
        if more == 0 {
            return Ok(());
        }
        let definitions = self.top("Definitions")?;
        if let Some(all) = definitions.child_mut(b"Count") {
            raise(all, more);
        }
        let mut kinds = definitions.children.iter_mut().filter(|c| *c.name == *b"ObjectType");
        match kinds.find(|c| c.get_text(0) == Some(kind)) {
            Some(known) => known.child_mut(b"Count").map(|count| raise(count, more)).unwrap_or_default(),
            None => {
                definitions
                    .children
                    .push(templates::object_type(&String::from_utf8_lossy(kind), more.max(0)));
                definitions.block = true;
            }
        }
        Ok(())
    }

    /// A unique name for a clip; it is reserved.
    pub(super) fn free_name(&mut self, name: &str) -> String {
        animation_stack::free_name(name, &mut self.names)
    }

    /// Adds a clip.
    ///
    /// # Errors
    /// A [`FbxSpliceError`], which does not occur for a file that could be opened.
    pub(super) fn add(&mut self, stack: &AnimationStack, metres_per_unit: f64) -> Result<(), FbxSpliceError> {
        let mut last = self.last_id;
        let mut new = || {
            last += 1;
            last
        };
        let StackRecords { objects, connections, take } =
            animation_stack::write(stack, &mut new, metres_per_unit);
        self.last_id = last;
        for kind in ANIMATIONS {
            let added = objects.iter().filter(|o| *o.name == *kind).count();
            self.count(kind, i32::try_from(added).unwrap_or(i32::MAX))?;
        }
        for (list, records) in [("Objects", objects), ("Connections", connections), ("Takes", vec![take])] {
            match self.top(list) {
                Ok(list) => {
                    list.children.extend(records);
                    list.block = true;
                }
                // Files without takes are valid; the stack has the same information.
                Err(_) if list == "Takes" => {}
                Err(missing) => return Err(missing),
            }
        }
        if std::mem::take(&mut self.replaced) {
            self.activate(&stack.name);
        }
        Ok(())
    }

    /// Makes a clip the active one, instead of a removed one.
    fn activate(&mut self, name: &str) {
        if let Some(current) = self.top("Takes").ok().and_then(|takes| takes.child_mut(b"Current")) {
            *current = FbxRecord::new("Current").string(name);
        }
        let Ok(documents) = self.top("Documents") else { return };
        for document in &mut documents.children {
            let rows = document.child_mut(b"Properties70").into_iter().flat_map(|p| &mut p.children);
            for active in rows.filter(|r| r.get(0) == Some(Property::Text(b"ActiveAnimStackName"))) {
                *active = row("ActiveAnimStackName", "KString", "", "").string(name);
            }
        }
    }

    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, FbxSpliceError> {
        Ok(self.file.to_bytes()?)
    }
}

/// Increases the count in a record.
fn raise(count: &mut FbxRecord, more: i32) {
    let now = count.get_int(0).and_then(|n| i32::try_from(n).ok()).unwrap_or_default();
    let raised = FbxRecord::new("Count").int(now.saturating_add(more).max(0));
    count.count = raised.count;
    count.properties = Cow::Owned(raised.properties.into_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::fbx::fbx_builder::FbxBuilder;

    fn stack(name: &str) -> AnimationStack {
        AnimationStack {
            name: name.into(),
            rate: 30.0,
            ticks: vec![0, 1000],
            tracks: Vec::new(),
            morphs: Vec::new(),
            cuts: Vec::new(),
            tolerance: 0.0,
        }
    }

    fn file(stacks: &[&str]) -> Vec<u8> {
        let mut document = FbxBuilder::default();
        let id = document.id();
        document.add(FbxBuilder::object("Model", id, "hips", "Model", "LimbNode"));
        stacks.iter().for_each(|name| document.add_stack(&stack(name)));
        document.into_bytes("x").unwrap()
    }

    fn counted(bytes: &[u8], kind: &[u8]) -> Option<i64> {
        let file = records::parse(bytes).unwrap();
        let definitions = file.records.iter().find(|r| *r.name == *b"Definitions")?.clone();
        let of_kind = definitions.children.iter().find(|c| c.get_text(0) == Some(kind))?.clone();
        of_kind.child(b"Count")?.get_int(0)
    }

    #[test]
    fn files_that_cannot_take_a_clip_are_refused_with_the_reason() {
        let message = |bytes: &[u8]| FbxSplice::open(bytes, false).err().unwrap().to_string();
        assert_eq!(message(b"Kaydara"), "the file is not a binary FBX of version 7");
        let bytes = file(&[]);
        let mut parsed = records::parse(&bytes).unwrap();
        parsed.records.retain(|r| *r.name != *b"Connections");
        assert_eq!(message(&parsed.to_bytes().unwrap()), "the file has no record `Connections`");
        let mut document = FbxBuilder::default();
        document.add(FbxBuilder::object("Model", i64::MAX, "hips", "Model", "LimbNode"));
        let bytes = document.into_bytes("x").unwrap();
        assert_eq!(message(&bytes), "the ids of the file leave no room for new ones");
    }

    #[test]
    fn added_clips_are_counted_and_have_unique_names() {
        let bytes = file(&["walk"]);
        let mut splice = FbxSplice::open(&bytes, false).unwrap();
        let name = splice.free_name("walk");
        assert_eq!(name, "walk_2");
        splice.add(&stack(&name), 0.01).unwrap();
        let added = splice.to_bytes().unwrap();
        assert_eq!(counted(&added, b"AnimationStack"), Some(2));
        assert_eq!(counted(&added, b"Model"), Some(1));
        let (before, after) = (records::parse(&bytes).unwrap(), records::parse(&added).unwrap());
        assert_eq!((before.version, before.code), (after.version, after.code));
        for (old, new) in
            before.records.iter().zip(&after.records).filter(|(o, _)| *o.name != *b"Definitions")
        {
            assert_eq!(old.children[..], new.children[..old.children.len()]);
        }
    }

    #[test]
    fn a_replaced_clip_leaves_no_trace() {
        let bytes = file(&["a", "b"]);
        let mut splice = FbxSplice::open(&bytes, true).unwrap();
        splice.add(&stack("c"), 0.01).unwrap();
        let replaced = splice.to_bytes().unwrap();
        assert_eq!(replaced.len(), file(&["c"]).len());
        assert_eq!(counted(&replaced, b"AnimationStack"), Some(1));
        assert!(!replaced.windows(13).any(|w| w == b"a\0\x01AnimStack\0"));
    }

    #[test]
    fn a_file_without_objects_is_refused() {
        let bytes = FbxFile { version: 7400, records: vec![FbxRecord::new("Definitions")], code: [0; 16] }
            .to_bytes()
            .unwrap();
        assert_eq!(FbxSplice::open(&bytes, false).err(), Some(FbxSpliceError::Missing("Objects")));
    }
}
