//! The skin of a motion, vertex by vertex: morph targets and all influences, in 64 bits.

use posemill::math::Vec3;
use posemill::model::{AnimatedProperty, Mesh, Motion};

/// The vertices of a mesh in a frame, model space, metres.
pub fn moved(mesh: &Mesh, motion: &Motion, frame: usize) -> Vec<Vec3> {
    let pose = motion.model_pose(frame);
    let weights = |k: usize| {
        let tracks = &motion.clip.property_tracks;
        let track = tracks.iter().find(|t| t.property == AnimatedProperty::Weights && t.node == mesh.node);
        f64::from(track.map_or(mesh.morphs[k].weight, |t| t.values[frame * t.width + k]))
    };
    let double = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let place = |v: usize| {
        let offsets = mesh.morphs.iter().enumerate().map(|(k, m)| double(m.offsets[v]) * weights(k));
        let position = double(mesh.positions[v]) + offsets.sum::<Vec3>();
        let by = |b: u16| {
            let binding = &mesh.bindings[usize::from(b)];
            let joint = pose.joints()[binding.joint.index()].to_matrix();
            (joint * binding.joint_from_mesh).transform_point(&position.into()).coords
        };
        let rest: f64 = mesh
            .further_influences
            .iter()
            .filter(|f| f.vertex as usize == v)
            .map(|f| f64::from(f.weight))
            .sum();
        let four =
            mesh.joints[v].iter().zip(mesh.weights[v]).map(|(b, w)| by(*b) * (f64::from(w) * (1.0 - rest)));
        let further = mesh.further_influences.iter().filter(|f| f.vertex as usize == v);
        four.sum::<Vec3>() + further.map(|f| by(f.binding) * f64::from(f.weight)).sum::<Vec3>()
    };
    (0..mesh.positions.len()).map(place).collect()
}
