//! The joints of a Skeleton prim with their rest and bind transforms. Units and axes: the file's.

use super::usd_error::UsdError;
use super::usda_layer::Prim;
use crate::math::Mat4;
use std::cell::OnceCell;
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
    /// The joint of each path, once it is asked for: by every animation and mesh.
    by_path: OnceCell<HashMap<String, usize>>,
}

/// Matrices of row vectors, as written, for column vectors: the same sixteen numbers column by column.
pub(super) fn matrices(numbers: &[f64]) -> Vec<Mat4<f64>> {
    numbers.chunks_exact(16).map(Mat4::from_column_slice).collect()
}

/// The nearest joint above each path, in one pass whatever their lengths; `None` if two paths are the same.
fn parents(joints: &[String]) -> Option<Vec<Option<usize>>> {
    // In this order everything below a joint follows it: no character is before the slash.
    let key = |k: usize| joints[k].bytes().map(|byte| if byte == b'/' { 0 } else { byte });
    let mut order: Vec<usize> = (0..joints.len()).collect();
    order.sort_by(|&a, &b| key(a).cmp(key(b)));
    if order.windows(2).any(|pair| joints[pair[0]] == joints[pair[1]]) {
        return None;
    }
    let below = |k: usize, top: usize| {
        joints[k].strip_prefix(joints[top].as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    let (mut parents, mut above) = (vec![None; joints.len()], Vec::<usize>::new());
    for k in order {
        while above.last().is_some_and(|&top| !below(k, top)) {
            above.pop();
        }
        parents[k] = above.last().copied();
        above.push(k);
    }
    Some(parents)
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
        let parents = parents(&joints).ok_or_else(|| fault("two joints have the same path".to_owned()))?;
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
        Ok(Self { joints, names, parents, rest, bind, by_path: OnceCell::new() })
    }

    /// The joint of each path in another order, for animations and meshes; `None` for paths of other skeletons. Without paths the
    /// joints of the skeleton.
    pub(super) fn order(&self, paths: &[String]) -> Vec<Option<usize>> {
        if paths.is_empty() {
            return (0..self.joints.len()).map(Some).collect();
        }
        let by_path = self
            .by_path
            .get_or_init(|| self.joints.iter().enumerate().map(|(k, path)| (path.clone(), k)).collect());
        paths.iter().map(|path| by_path.get(path).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_joint_above_is_the_parent_whatever_the_path() {
        let of = |paths: &[&str]| parents(&paths.iter().map(|path| path.to_string()).collect::<Vec<_>>());
        let found = of(&["a/b/c/d", "a-b", "a", "a/b", "a/b-c", "b/x/y", "/a", "a-b/c"]);
        assert_eq!(found, Some(vec![Some(3), None, None, Some(2), Some(2), None, None, Some(1)]));
        assert_eq!(of(&["a", "b", "a"]), None);
        // A path of a million parts, and thousands below one another.
        assert_eq!(of(&["a", &"/".repeat(1_000_000)]), Some(vec![None, None]));
        let chain: Vec<String> = (1..3000).map(|n| vec!["a"; n].join("/")).collect();
        assert!(parents(&chain).unwrap().iter().skip(1).enumerate().all(|(k, parent)| *parent == Some(k)));
    }
}
