//! Size of a figure, to which import and export scale their tolerances. Units: metres.

use crate::math::Vec3;
use crate::model::Skeleton;

/// The diagonal of the bounding box of the joints in the rest pose, in metres; 1 m if they all rest in one point.
pub fn figure_size(skeleton: &Skeleton) -> f64 {
    let pose = skeleton.rest_model_pose();
    let mut low = Vec3::repeat(f64::INFINITY);
    let mut high = Vec3::repeat(f64::NEG_INFINITY);
    for t in pose.joints() {
        low = low.inf(&t.translation);
        high = high.sup(&t.translation);
    }
    let size = (high - low).norm();
    // Joints that all rest in one point give no scale.
    if size > 1e-6 { size } else { 1.0 }
}
