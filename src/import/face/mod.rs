//! Reads weights of morph targets per frame, as face capture writes them: tables of Live Link Face (`.csv`) and JSON.

mod face_error;
mod known_shapes;
mod face_weights;
mod csv_weights;
mod json_weights;
mod face_format;

pub use face_error::FaceError;
pub use face_format::FORMAT;
