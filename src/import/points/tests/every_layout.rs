//! Captured takes in every layout with noise: errors of rotations, and limbs that are where their points are after the way through a BVH file.

use super::arrayed_takes::{ArrayedTake, fitted_parts, takes};
use super::figure::poses;
use super::own_error::row;
use crate::anatomy::PointsLayout;
use crate::export::bvh::{BvhWriteOptions, write};
use crate::import::{ImportOptions, from_bytes};
use crate::math::median;
use crate::model::{Role, Side};

/// Distance beyond the noise within which the joints of limbs are, metres: the pass mark of the method.
const WITHIN: f64 = 0.005;

#[test]
fn every_layout_has_the_errors_of_the_method() {
    for layout in PointsLayout::names() {
        let noisy: Vec<ArrayedTake> = takes(layout).into_iter().map(|take| take.noisy(0.01)).collect();
        if noisy.is_empty() {
            return;
        }
        let found = row(&noisy, |take| fitted_parts(&take.fitted()));
        found.print(layout);
        // Those of the method's own table: feet with toes or without.
        let feet = if ["coco17", "h36m17"].contains(&layout) { (11.5, 26.0) } else { (6.3, 13.5) };
        let limits = [(4.3, 8.0), (4.5, 7.3), (5.2, 12.5), (6.5, 16.0), (3.5, 7.6), (3.9, 9.0), feet];
        found.within(limits, layout);
        assert_eq!(found.jumps, [0.0; 2], "{layout}");
    }
}

#[test]
fn limbs_are_where_their_points_are_after_a_bvh_file() {
    const NOISE: f64 = 0.005;
    for layout in PointsLayout::names() {
        let mut off = Vec::new();
        for take in takes(layout) {
            let asset = take.clone().noisy(NOISE).fitted();
            let bytes = write(&asset.motion(0).unwrap(), &BvhWriteOptions::default());
            let back = from_bytes(&bytes, "take", Some("bvh"), None, &ImportOptions::default()).unwrap();
            let (motion, poses) = poses(&back);
            for side in Side::BOTH {
                for (role, part) in [
                    (Role::LowerArm(side), "elbow"),
                    (Role::Hand(side), "wrist"),
                    (Role::LowerLeg(side), "knee"),
                    (Role::Foot(side), "ankle"),
                ] {
                    let id = motion.character.rig.joint(role).unwrap();
                    let truth = take.true_track(Some(side), part).unwrap();
                    off.extend(poses.iter().zip(&truth).map(|(pose, p)| (pose.position(id) - p).norm()));
                }
            }
        }
        let off = median(off);
        eprintln!("{layout}: {:.1} mm", off * 1e3);
        assert!(off < WITHIN + NOISE, "{layout}: {off}");
    }
}
