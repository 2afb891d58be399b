//! The joints of a Skeleton prim with their rest and bind transforms. Units and axes: the file's.

use super::usd_error::UsdError;
use super::usda_layer::Prim;
use crate::math::Mat4;
use std::collections::HashMap;

/// A skeleton as written.
pub(super) struct UsdSkeleton {
    /// The path of each joint within the skeleton.
    pub(super) joints: Vec<String>,
    /// Their names.
    pub(super) names: Vec<String>,
    /// The joint above each.
    pub(super) parents: Vec<Option<usize>>,
    /// Rest transforms, in the joint above.
    pub(super) rest: Vec<Mat4<f64>>,
    /// Bind transforms, in the skeleton's space.
    pub(super) bind: Vec<Mat4<f64>>,
}

/// Matrices of row vectors, as written, for column vectors: the same sixteen numbers column by column.
pub(super) fn matrices(numbers: &[f64]) -> Vec<Mat4<f64>> {
    numbers.chunks_exact(16).map(Mat4::from_column_slice).collect()
}

impl UsdSkeleton {
    /// # Errors
    /// A [`UsdError`] for a skeleton without joints, and for lists of other lengths.
    pub(super) fn read(prim: &Prim) -> Result<Self, UsdError> {
        let fault = |reason: String| UsdError::Prim { prim: prim.path.clone(), reason };
        let joints = prim.words("joints").to_vec();
        let count = joints.len();
        if count == 0 {
            return Err(fault("the skeleton has no joints".to_owned()));
        }
        let index: HashMap<&str, usize> =
            joints.iter().enumerate().map(|(k, path)| (path.as_str(), k)).collect();
        if index.len() < count {
            return Err(fault("two joints have the same path".to_owned()));
        }
        let above = |path: &str| {
            let mut ancestors =
                std::iter::successors(path.rsplit_once('/'), |(front, _)| front.rsplit_once('/'));
            ancestors.find_map(|(front, _)| index.get(front).copied())
        };
        let parents: Vec<Option<usize>> = joints.iter().map(|path| above(path)).collect();
        // Parents have shorter paths.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&k| joints[k].len());
        let list = |name: &str| {
            let list = matrices(prim.numbers(name));
            match list.len() {
                0 => Ok(None),
                n if n == count => Ok(Some(list)),
                n => Err(fault(format!("`{name}` has {n} matrices, the skeleton has {count} joints"))),
            }
        };
        let (rest, bind) = match (list("restTransforms")?, list("bindTransforms")?) {
            (Some(rest), Some(bind)) => (rest, bind),
            (Some(rest), None) => {
                let mut bind = rest.clone();
                for &k in &order {
                    bind[k] = parents[k].map_or(rest[k], |p| bind[p] * rest[k]);
                }
                (rest, bind)
            }
            (None, Some(bind)) => {
                let inverse = |p: usize| bind[p].try_inverse().unwrap_or_else(Mat4::identity);
                let rest = (0..count).map(|k| parents[k].map_or(bind[k], |p| inverse(p) * bind[k])).collect();
                (rest, bind)
            }
            (None, None) => {
                return Err(fault("it has neither `restTransforms` nor `bindTransforms`".to_owned()));
            }
        };
        let names = prim.words("jointNames");
        let last = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
        let names = if names.len() == count { names.to_vec() } else { joints.iter().map(last).collect() };
        Ok(Self { joints, names, parents, rest, bind })
    }

    /// The joint of each path in another order, for animations and meshes; `None` for paths of other skeletons. Without paths the
    /// joints of the skeleton.
    pub(super) fn order(&self, paths: &[String]) -> Vec<Option<usize>> {
        if paths.is_empty() {
            return (0..self.joints.len()).map(Some).collect();
        }
        let index: HashMap<&str, usize> =
            self.joints.iter().enumerate().map(|(k, path)| (path.as_str(), k)).collect();
        paths.iter().map(|path| index.get(path.as_str()).copied()).collect()
    }
}
