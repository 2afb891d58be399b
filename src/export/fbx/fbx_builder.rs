//! Assembles a new FBX file: header, settings, definitions, objects, connections, takes.
//!
//! Space: right-handed, Y up, +Z front. Units: centimetres (`UnitScaleFactor` 1, which other programs assume), degrees, ticks.
//! Time stamps and ids are constant, so that equal input gives equal bytes; the first bytes of the footer are derived from the
//! time stamp. Source: files written by version 7.4 of Autodesk's FBX SDK.

use super::animation_stack::{self, AnimationStack, StackRecords};
use super::record_properties::{int_row, object, properties, row, time_row, triple_row};
use super::records::{FbxFile, FbxRecord, FbxRecordError};
use super::templates;
use super::ticks;

/// Version of new files: 7.4, with 32-bit offsets.
const VERSION: u32 = 7400;
/// Version of files that are too large for 32-bit offsets: 7.5.
const LARGE_VERSION: u32 = 7500;
/// Size above which [`LARGE_VERSION`] is written, bytes: some readers take 32-bit offsets as signed.
const LARGE: usize = i32::MAX as usize;
/// Creation time in every file.
const CREATED: &str = "1970-01-01 10:00:00:000";
/// File ID in every file.
const FILE_ID: [u8; 16] =
    [0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2, 0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1];
/// First bytes of the footer, which are derived from [`CREATED`] and [`FILE_ID`].
const CODE: [u8; 16] =
    [0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66, 0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e];
/// Name of the program in the header.
const CREATOR: &str = "posemill";
/// Object ids start above this.
const FIRST_ID: i64 = 1_000_000;
/// Id of the scene, to which top-level objects are connected.
pub(super) const SCENE: i64 = 0;
/// Metres in one unit of a new file.
pub(super) const METRES_PER_UNIT: f64 = 0.01;

/// The name of a set of texture coordinates.
pub(super) fn uv_set(set: usize) -> String {
    if set == 0 { "UVMap".to_owned() } else { format!("UVMap_{}", set + 1) }
}

/// A new file under construction.
#[derive(Default)]
pub(super) struct FbxBuilder {
    /// The number of ids in use.
    ids: i64,
    objects: Vec<FbxRecord<'static>>,
    connections: Vec<FbxRecord<'static>>,
    takes: Vec<FbxRecord<'static>>,
    /// The name and rate of the first animation stack, which is the active one.
    active: Option<(String, f64)>,
    /// The time span of all stacks, ticks.
    span: Option<(i64, i64)>,
}

impl FbxBuilder {
    /// A new id.
    pub(super) fn id(&mut self) -> i64 {
        self.ids += 1;
        FIRST_ID + self.ids
    }

    /// An object record; its content is added by the caller.
    pub(super) fn object(
        kind: &'static str,
        id: i64,
        name: &str,
        class: &str,
        sort: &str,
    ) -> FbxRecord<'static> {
        FbxRecord::new(kind).long(id).string(&object(name, class)).string(sort)
    }

    /// Adds a scene node (`Model`) with these properties.
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
                .add(FbxRecord::new("Shading").boolean(true))
                .add(FbxRecord::new("Culling").string("CullingOff")),
        );
    }

    /// Adds an object.
    pub(super) fn add(&mut self, object: FbxRecord<'static>) {
        self.objects.push(object);
    }

    /// Connects an object to its owner.
    pub(super) fn connect(&mut self, from: i64, to: i64) {
        self.connections.push(animation_stack::connection(from, to));
    }

    /// Connects an object to a property of another.
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
        self.active.get_or_insert_with(|| (stack.name.clone(), stack.rate));
        let ends = stack.ticks.first().copied().zip(stack.ticks.last().copied());
        self.span = match (self.span, ends) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    /// The bytes of the file.
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
                .add(FbxRecord::new("Current").string(self.active.as_ref().map_or("", |(name, _)| name)))
                .all(self.takes),
        ];
        FbxFile { version, records, code: CODE }.to_bytes()
    }

    /// The record `GlobalSettings`.
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
        let rate = self.active.as_ref().map_or(30.0, |(_, rate)| *rate);
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

    /// The record `Documents`.
    fn documents(&self, id: i64) -> FbxRecord<'static> {
        let active = self.active.as_ref().map_or("", |(name, _)| name);
        let rows = [
            row("SourceObject", "object", "", ""),
            row("ActiveAnimStackName", "KString", "", "").string(active),
        ];
        let document = FbxRecord::new("Document").long(id).string("Scene").string("Scene");
        let document = document.add(properties(rows)).add(FbxRecord::new("RootNode").long(SCENE));
        FbxRecord::new("Documents").add(FbxRecord::new("Count").int(1)).add(document)
    }
}

/// The record `FBXHeaderExtension`.
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
