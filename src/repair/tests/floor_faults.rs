//! Errors of the height and steps of the root, its noise, and what the floor shows: what the build of a body or its motion would
//! explain is left.

use super::{HARM, data, repaired, take, walk, words};
use crate::damages::{Damage, Dice, damaged, distance, held, moved};
use posemill::math::Vec3;

#[test]
fn a_height_that_bodies_explain_is_reported_and_left() {
    // The walk's own toes and ankles are 3 cm lower than those of most bodies.
    let bad = damaged(&walk(), Damage::Raise(0.075));
    let found = repaired(&bad);
    assert!(found.motion == bad, "{:?}", words(&found));
    let level = found.findings.iter().find(|f| f.fault == "level").expect("it is reported");
    assert!(level.left.is_some() && (0.03..0.06).contains(&level.before), "{level:?}");
    assert!(repaired(&walk()).findings.is_empty());
}

#[test]
fn feet_of_another_build_hide_a_height_and_are_not_moved_farther() {
    let Some(folder) = data() else { return };
    // Clean, their toes and ankles are up to 7 cm above and below those of most bodies, by amounts that differ.
    for (name, by) in
        [("bvh/bvh-toolbox/walk01.bvh", [0.04, 0.05]), ("bvh/xia/angry_13_000.bvh", [-0.03, -0.05])]
    {
        let truth = take(&folder.join(name));
        assert!(repaired(&truth).findings.iter().all(|f| f.fault != "level"), "{name}");
        for by in by {
            let bad = damaged(&truth, Damage::Raise(by));
            let found = repaired(&bad);
            let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
            assert!(is <= was + HARM, "{name} by {by}: {was} cm to {is} cm: {:?}", words(&found));
            assert!(found.findings.iter().any(|f| f.fault == "level"), "{name} by {by} is reported");
        }
        // A large error is certain.
        let bad = damaged(&truth, Damage::Raise(2.2 * by[1]));
        let [was, is] = [&bad, &repaired(&bad).motion].map(|motion| distance(&truth, motion));
        assert!(is < 0.6 * was, "{name}: {was} cm to {is} cm");
    }
}

#[test]
fn a_jump_of_the_whole_body_is_no_step_of_the_root_where_an_arm_jitters() {
    for frames in 5..10 {
        let truth = damaged(&walk(), Damage::Drop(frames));
        assert!(repaired(&truth).motion == truth, "{frames} frames");
        let bad = damaged(&truth, Damage::Jitter(10.0));
        let found = repaired(&bad);
        assert!(found.findings.iter().all(|f| f.fault != "root_step"), "{frames}: {:?}", words(&found));
        let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
        assert!(is <= was + HARM, "{frames} frames: {was} cm to {is} cm");
    }
}

#[test]
fn noise_of_the_height_alone_is_filtered_by_its_own_size() {
    let mut takes = vec![("walk.bvh", walk())];
    if let Some(folder) = data() {
        let real = ["bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh", "bvh/mocapbank/test_mocapbank.bvh"];
        takes.extend(real.map(|name| (name, take(&folder.join(name)))));
    }
    // Of 2.4 mm, the noise of all three coordinates together says nothing.
    for (name, truth) in takes {
        for (size, least) in [(0.004 * 3f64.sqrt(), 0.7), (0.0042, 0.8)] {
            let mut dice = Dice::new(5);
            let heights: Vec<f64> = (0..truth.clip.frames()).map(|_| size * dice.normal().y).collect();
            let bad = moved(&truth, |f| Vec3::y() * heights[f]);
            let found = repaired(&bad);
            let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
            println!("{name}: {was} cm to {is} cm: {:?}", words(&found));
            assert!(is < least * was, "{name}: {was} cm to {is} cm: {:?}", words(&found));
        }
    }
}

/// Frames that were held for a second leave few stances, in which feet that roll looked like a scaled path.
#[test]
fn a_scale_of_the_path_that_one_stance_decides_is_left() {
    let Some(folder) = data() else { return };
    let truth = take(&folder.join("bvh/assimp/Boxing_Toes.bvh")).part(1500..2100);
    let mut bad = truth.clone();
    held(&mut bad, 400, 100);
    let found = repaired(&bad);
    let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
    assert!(is <= was + HARM, "{was} cm to {is} cm: {:?}", words(&found));
}
