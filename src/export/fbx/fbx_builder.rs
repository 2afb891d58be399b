//! Objects and connections become a whole new file: header, settings, definitions, objects, connections, takes.
//!
//! Space: right-handed, Y up, +Z front. Units: centimetres (`UnitScaleFactor` 1, what other programs take for granted),
//! degrees, ticks. Time stamps and ids are always the same, so that equal input gives equal bytes; the first bytes of the
//! footer are those that belong to these stamps. Source: files of the vendor's library of version 7.4.

use super::animation_stack::{self, AnimationStack, StackRecords};
use super::record_properties::{int_row, object, properties, row, time_row, triple_row};
use super::records::{FbxFile, FbxRecord, FbxRecordError};
use super::templates;
use super::ticks;

/// The version of new files, and the one for those that are too large for its numbers.
const VERSION: u32 = 7400;
const LARGE_VERSION: u32 = 7500;
/// What is written with 64-bit numbers: other readers take the 32-bit ones as signed.
const LARGE: usize = i32::MAX as usize;
const CREATED: &str = "1970-01-01 10:00:00:000";
const FILE_ID: [u8; 16] =
    [0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2, 0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1];
/// What belongs to [`CREATED`] and [`FILE_ID`].
const CODE: [u8; 16] =
    [0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66, 0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e];
const CREATOR: &str = "posemill";
/// The id of the first object.
const FIRST_ID: i64 = 1_000_000;
/// The id of the scene itself, which objects at the top are connected to.
pub(super) const SCENE: i64 = 0;
/// Metres in one unit of a new file.
pub(super) const METRES_PER_UNIT: f64 = 0.01;

/// A file in the making.
#[derive(Default)]
pub(super) struct FbxBuilder {
    ids: i64,
    objects: Vec<FbxRecord<'static>>,
    connections: Vec<FbxRecord<'static>>,
    takes: Vec<FbxRecord<'static>>,
    /// The name of the first stack, its rate, and the span of all.
    shown: Option<(String, f64)>,
    span: Option<(i64, i64)>,
}

impl FbxBuilder {
    /// An id that no object has.
    pub(super) fn id(&mut self) -> i64 {
        self.ids += 1;
        FIRST_ID + self.ids
    }

    /// An object, its details to be added.
    pub(super) fn object(
        kind: &'static str,
        id: i64,
        name: &str,
        class: &str,
        sort: &str,
    ) -> FbxRecord<'static> {
        FbxRecord::new(kind).long(id).string(&object(name, class)).string(sort)
    }

    /// Adds a thing of the scene with these properties.
    pub(super) fn add_model(
        &mut self,
        id: i64,
        name: &str,
        sort: &str,
        rows: impl IntoIterator<Item = FbxRecord<'static>>,
    ) {
        self.add(
            Self::object("Model", id, name, "Model", sort)
                .add(FbxRecord::new("Version").int(232))
                .add(properties(rows))
                .add(FbxRecord::new("Shading").truth(true))
                .add(FbxRecord::new("Culling").string("CullingOff")),
        );
    }

    /// Adds an object.
    pub(super) fn add(&mut self, object: FbxRecord<'static>) {
        self.objects.push(object);
    }

    /// Connects an object with the one it belongs to.
    pub(super) fn connect(&mut self, from: i64, to: i64) {
        self.connections.push(animation_stack::connection(from, to));
    }

    /// Connects an object with a property of another.
    pub(super) fn connect_property(&mut self, from: i64, to: i64, property: &str) {
        self.connections.push(animation_stack::property_connection(from, to, property));
    }

    /// Adds a clip.
    pub(super) fn add_stack(&mut self, stack: &AnimationStack) {
        let StackRecords { objects, connections, take } =
            animation_stack::write(stack, &mut || self.id(), METRES_PER_UNIT);
        self.objects.extend(objects);
        self.connections.extend(connections);
        self.takes.push(take);
        self.shown.get_or_insert_with(|| (stack.name.clone(), stack.rate));
        let ends = stack.ticks.first().copied().zip(stack.ticks.last().copied());
        self.span = match (self.span, ends) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`FbxRecordError::Large`].
    pub(super) fn into_bytes(mut self, file_name: &str) -> Result<Vec<u8>, FbxRecordError> {
        let size: usize = self.objects.iter().map(|o| o.size(false)).sum();
        let version = if size > LARGE { LARGE_VERSION } else { VERSION };
        let document = self.id();
        let records = vec![
            header(version, file_name),
            FbxRecord::new("FileId").raw(&FILE_ID),
            FbxRecord::new("CreationTime").string(CREATED),
            FbxRecord::new("Creator").string(CREATOR),
            self.settings(),
            self.documents(document),
            FbxRecord::new("References").block(),
            templates::definitions(&self.objects),
            FbxRecord::new("Objects").all(self.objects),
            FbxRecord::new("Connections").all(self.connections),
            FbxRecord::new("Takes")
                .add(FbxRecord::new("Current").string(self.shown.as_ref().map_or("", |(name, _)| name)))
                .all(self.takes),
        ];
        FbxFile { version, records, code: CODE }.to_bytes()
    }

    fn settings(&self) -> FbxRecord<'static> {
        let axes = [
            ("UpAxis", 1),
            ("UpAxisSign", 1),
            ("FrontAxis", 2),
            ("FrontAxisSign", 1),
            ("CoordAxis", 0),
            ("CoordAxisSign", 1),
            ("OriginalUpAxis", 1),
            ("OriginalUpAxisSign", 1),
        ];
        let rate = self.shown.as_ref().map_or(30.0, |(_, rate)| *rate);
        let mode = ticks::mode(rate);
        let (start, stop) = self.span.unwrap_or_default();
        let number = |name, value| row(name, "double", "Number", "").double(value);
        let choice = |name, value| int_row(name, "enum", "", value);
        let rows = axes.map(|(name, value)| int_row(name, "int", "Integer", value));
        let rows = rows.into_iter().chain([
            number("UnitScaleFactor", 1.0),
            number("OriginalUnitScaleFactor", 1.0),
            triple_row("AmbientColor", "ColorRGB", "Color", "", [0.0; 3]),
            row("DefaultCamera", "KString", "", "").string("Producer Perspective"),
            choice("TimeMode", mode),
            choice("TimeProtocol", 2),
            choice("SnapOnFrameMode", 0),
            time_row("TimeSpanStart", start),
            time_row("TimeSpanStop", stop),
            number("CustomFrameRate", if mode == ticks::CUSTOM { rate } else { -1.0 }),
        ]);
        FbxRecord::new("GlobalSettings").add(FbxRecord::new("Version").int(1000)).add(properties(rows))
    }

    fn documents(&self, id: i64) -> FbxRecord<'static> {
        let shown = self.shown.as_ref().map_or("", |(name, _)| name);
        let rows = [
            row("SourceObject", "object", "", ""),
            row("ActiveAnimStackName", "KString", "", "").string(shown),
        ];
        let document = FbxRecord::new("Document").long(id).string("Scene").string("Scene");
        let document = document.add(properties(rows)).add(FbxRecord::new("RootNode").long(SCENE));
        FbxRecord::new("Documents").add(FbxRecord::new("Count").int(1)).add(document)
    }
}

fn header(version: u32, file_name: &str) -> FbxRecord<'static> {
    let stamp = [("Year", 1970), ("Month", 1), ("Day", 1), ("Hour", 10), ("Minute", 0), ("Second", 0)];
    let stamp = stamp.map(|(name, value)| FbxRecord::new(name).int(value));
    let words = ["Title", "Subject", "Author", "Keywords", "Revision", "Comment"];
    let text = |name, value: &str| row(name, "KString", "", "").string(value);
    let info = FbxRecord::new("SceneInfo")
        .string(&object("GlobalInfo", "SceneInfo"))
        .string("UserData")
        .add(FbxRecord::new("Type").string("UserData"))
        .add(FbxRecord::new("Version").int(100))
        .add(
            FbxRecord::new("MetaData")
                .add(FbxRecord::new("Version").int(100))
                .all(words.map(|word| FbxRecord::new(word).string(""))),
        )
        .add(properties([
            row("DocumentUrl", "KString", "Url", "").string(file_name),
            row("SrcDocumentUrl", "KString", "Url", "").string(file_name),
            row("Original", "Compound", "", ""),
            text("Original|ApplicationName", CREATOR),
            row("LastSaved", "Compound", "", ""),
            text("LastSaved|ApplicationName", CREATOR),
        ]));
    FbxRecord::new("FBXHeaderExtension")
        .add(FbxRecord::new("FBXHeaderVersion").int(1003))
        .add(FbxRecord::new("FBXVersion").int(version as i32))
        .add(FbxRecord::new("EncryptionType").int(0))
        .add(
            FbxRecord::new("CreationTimeStamp")
                .add(FbxRecord::new("Version").int(1000))
                .all(stamp)
                .add(FbxRecord::new("Millisecond").int(0)),
        )
        .add(FbxRecord::new("Creator").string(CREATOR))
        .add(info)
}
