//! Converts a motion to a value of the crate `bvh_anim`.

use super::bvh_writer::BvhWriteOptions;
use super::bvh_writer::{BvhWriter, name};
use crate::model::{Joint, Motion, Skeleton};

/// Why a motion cannot be represented in the `bvh_anim` crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhAnimError {
    /// A root without children, whose offset the crate loses.
    #[error("the root `{root}` has no joints below it, which `bvh_anim` cannot hold")]
    RootAlone {
        /// The root's name.
        root: String,
    },
    /// More than one root; the crate reads only one.
    #[error("the motion has {roots} roots, `bvh_anim` holds one")]
    SeveralRoots {
        /// The number of roots.
        roots: usize,
    },
    /// The crate rejects the text.
    #[error("`bvh_anim` refuses the motion: {reason}")]
    Refused {
        /// The crate's message.
        reason: String,
    },
}

impl TryFrom<&Motion> for bvh_anim::Bvh {
    type Error = BvhAnimError;

    /// Converts the motion, in centimetres. Colons and white space in names are replaced by underscores, because the crate
    /// ends names there.
    ///
    /// # Errors
    /// If the crate cannot represent the motion.
    fn try_from(motion: &Motion) -> Result<Self, BvhAnimError> {
        let joints = motion.character.skeleton().joints().iter().cloned();
        let renamed = joints.map(|joint| {
            let file_name = Some(name(&joint).replace(|c: char| c == ':' || c.is_whitespace(), "_"));
            Joint { file_name, ..joint }
        });
        let skeleton = Skeleton::new(renamed.collect()).expect("names of the file may be anything");
        let options = BvhWriteOptions::default();
        let writer = BvhWriter::new(&skeleton, motion.character.bind.as_ref(), &motion.clip, &options);
        let roots = writer.order.iter().filter(|(_, depth)| *depth == 0).count();
        if roots > 1 {
            return Err(BvhAnimError::SeveralRoots { roots });
        }
        if skeleton.len() == 1 {
            return Err(BvhAnimError::RootAlone { root: skeleton.joints()[0].name.clone() });
        }
        let mut text = Vec::new();
        writer.hierarchy(&mut text);
        writer.rows(&mut text);
        bvh_anim::from_bytes(text).map_err(|error| BvhAnimError::Refused { reason: error.to_string() })
    }
}
