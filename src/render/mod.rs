//! Software renderer for previews, contact sheets and animations.
//!
//! It uses no GPU, no clock and no sum that depends on threads, so the same motions and options give the same bytes on any
//! number of threads. Several motions are drawn side by side, synchronised by clip time. Space: model space, Y up, metres.

mod actor;
mod animation;
mod camera;
mod figure;
mod film;
mod framing;
mod ground;
mod line;
mod marks;
mod options;
mod palette;
mod picture;
mod preview;
mod raster;
#[cfg(any(feature = "cli", test))]
mod role_picture;
mod shade;
mod shadow;
mod sheet;
mod studio;
mod text;
mod texture;
mod timing;
mod vector;

pub(crate) use actor::surfaces;
pub use camera::View;
pub(crate) use figure::figure;
pub use options::{PreviewOptions, RenderError, Size, Subject};
pub use preview::{PictureFormat, preview};
#[cfg(feature = "cli")]
pub(crate) use role_picture::RolePicture;
pub(crate) use texture::small_jpeg;

#[cfg(test)]
mod tests;
