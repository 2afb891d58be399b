//! Textures of a PMX file: pictures in its folder. PNG and JPEG are kept as they are, BMP and TGA are converted to PNG.

use crate::gltf_document::GlbBuilder;
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::regular_file::{read_regular, regular_inside};
use crate::report::{Warnings, one_line};
use image::{ImageFormat, ImageReader, Limits};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::{Component, Path};

/// Largest picture file that is read, bytes.
const MOST_BYTES: u64 = 1 << 28;
/// Copies of a picture while the GLB is built: in its binary chunk, and in the file.
const COPIES: u64 = 2;
/// Largest side of a picture that is converted, pixels: that of GPUs.
const MOST_PIXELS: u32 = 16384;

/// The pictures of a model.
#[derive(Default)]
pub(super) struct PmxTextures {
    pub(super) images: Vec<Value>,
    pub(super) textures: Vec<Value>,
    /// For each texture of the file the index in `textures`, and whether its picture has an opacity.
    pub(super) index: Vec<Option<(usize, bool)>>,
}

/// A picture as glTF may have it.
struct DecodedTexture {
    bytes: Vec<u8>,
    kind: &'static str,
    /// Whether it has an opacity.
    alpha: bool,
}

impl PmxTextures {
    /// The pictures of the `names` that materials use.
    pub(super) fn read(
        names: &[String],
        used: &[bool],
        folder: Option<&Path>,
        binary: &mut GlbBuilder,
        budget: &MemoryBudget,
        warnings: &mut Warnings,
    ) -> Result<Self, ImportError> {
        let mut made = Self::default();
        for (name, used) in names.iter().zip(used) {
            let picture = match folder.filter(|_| *used) {
                Some(folder) => picture(folder, name, budget)?,
                None => None,
            };
            if picture.is_none() && *used {
                let said = "textures are missing in the model's folder, or neither PNG, JPEG, BMP nor TGA";
                warnings.add("mmd-texture", said, one_line(name));
            }
            made.index.push(match picture {
                Some(picture) => {
                    budget.reserve(COPIES * picture.bytes.len() as u64, || "a texture".to_owned())?;
                    let view = binary.view(&picture.bytes, None);
                    made.images.push(json!({"bufferView": view, "mimeType": picture.kind}));
                    made.textures.push(json!({"source": made.images.len() - 1}));
                    Some((made.textures.len() - 1, picture.alpha))
                }
                None => None,
            });
        }
        Ok(made)
    }
}

/// The picture at a path of the file, which is inside of the folder.
fn picture(folder: &Path, name: &str, budget: &MemoryBudget) -> Result<Option<DecodedTexture>, ImportError> {
    let name = name.replace('\\', "/");
    let path = Path::new(&name);
    if !path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Ok(None);
    }
    let Some(path) = regular_inside(folder, path) else { return Ok(None) };
    let Ok(bytes) = read_regular(&path, MOST_BYTES) else { return Ok(None) };
    budget.grow(bytes.len() as u64);
    // The colour types of PNG with an opacity are 4 and 6 (its header, byte 25).
    let alpha = matches!(bytes.get(25), Some(4 | 6));
    let kind = match &*bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => return Ok(Some(DecodedTexture { bytes, kind: "image/jpeg", alpha: false })),
        [b'B', b'M', ..] => return Ok(converted(&bytes, ImageFormat::Bmp, budget)),
        _ if name.to_ascii_lowercase().ends_with(".tga") => {
            return Ok(converted(&bytes, ImageFormat::Tga, budget));
        }
        _ => return Ok(None),
    };
    Ok(Some(DecodedTexture { bytes, kind, alpha }))
}

/// A picture of another format as PNG; `None` if it cannot be decoded within the memory limit.
fn converted(bytes: &[u8], format: ImageFormat, budget: &MemoryBudget) -> Option<DecodedTexture> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MOST_PIXELS), Some(MOST_PIXELS));
    limits.max_alloc = Some(budget.left() / COPIES);
    reader.limits(limits);
    let picture = reader.decode().ok()?;
    budget.reserve(picture.as_bytes().len() as u64, || "a texture".to_owned()).ok()?;
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).ok()?;
    let alpha = picture.color().has_alpha();
    Some(DecodedTexture { bytes: png.into_inner(), kind: "image/png", alpha })
}
