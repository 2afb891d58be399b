//! Laws on a figure made in code.

use super::figure::{Figure, Points, largest_step, poses, rotations};
use crate::math::{Quat, Vec3, exp};
use crate::model::{Asset, Role, Side};

const LEFT_ARM: Role = Role::UpperArm(Side::Left);

fn walk() -> Figure {
    Figure { frames: 90, rate: 30.0, yaw: |_| 0.0, elbow: |_| 1.0 }
}

/// The largest angle between the same joints of two motions, degrees.
fn apart(a: &Asset, b: &Asset) -> f64 {
    let ((_, a), (_, b)) = (poses(a), poses(b));
    let angles = a.iter().zip(&b).flat_map(|(a, b)| {
        a.joints().iter().zip(b.joints()).map(|(a, b)| a.rotation.angle_to(&b.rotation).to_degrees())
    });
    angles.fold(0.0, f64::max)
}

#[test]
fn arms_that_bend_have_their_rotation_and_joints_lie_on_their_points() {
    let points = walk().points();
    let asset = points.fitted();
    let found = rotations(&asset, LEFT_ARM);
    for (found, truth) in found.iter().zip(&points.upper_arm) {
        assert!(found.angle_to(truth).to_degrees() < 1.0, "{}", found.angle_to(truth).to_degrees());
    }
    let (motion, poses) = poses(&asset);
    let roles = [
        (Role::Hand(Side::Left), 20),
        (Role::Foot(Side::Right), 8),
        (Role::Head, 15),
        (Role::Toes(Side::Left), 10),
    ];
    for (role, k) in roles {
        let id = motion.character.rig.joint(role).unwrap();
        for (pose, frame) in poses.iter().zip(&points.frames) {
            let off = (pose.position(id) - frame[k]).norm();
            assert!(off < 2e-3, "{role}: {off}");
        }
    }
}

#[test]
fn an_elbow_that_passes_straight_does_not_flip() {
    // From 48 degrees through straight to -8 degrees for a second, and back.
    let elbow = |time: f64| (0.35 + 0.49 * (1.5 * time).cos()).max(-0.14);
    let points = Figure { frames: 150, elbow, ..walk() }.points();
    let arm = rotations(&points.fitted(), LEFT_ARM);
    assert!(largest_step(&arm) < 5.0, "{}", largest_step(&arm));
    for (f, (found, truth)) in arm.iter().zip(&points.upper_arm).enumerate() {
        let (off, bend) = (found.angle_to(truth).to_degrees(), elbow(f as f64 / 30.0).to_degrees());
        assert!(off < if bend > 30.0 { 2.0 } else { 20.0 }, "frame {f}: {off} at a bend of {bend}");
    }
    // The plane of the bend in each frame, which others use, flips in the same array.
    let naive: Vec<Quat> = (points.frames.iter())
        .map(|p| {
            let (u, v) = (p[18] - p[16], p[20] - p[18]);
            let (x, z) = (u.normalize(), -u.cross(&v).normalize());
            crate::math::from_columns(&x, &z, &x.cross(&z))
        })
        .collect();
    assert!(largest_step(&naive) > 90.0);
}

#[test]
fn arms_do_not_know_that_the_person_turns_round() {
    let turning = Figure { yaw: |time| time * std::f64::consts::TAU / 3.0, ..walk() };
    let (still, turning) = (walk().points().fitted(), turning.points().fitted());
    let local = |asset: &Asset| -> Vec<Quat> {
        let (arm, chest) = (rotations(asset, LEFT_ARM), rotations(asset, Role::Spine(2)));
        chest.iter().zip(&arm).map(|(c, a)| c.inverse() * a).collect()
    };
    for (a, b) in local(&still).iter().zip(&local(&turning)) {
        assert!(a.angle_to(b).to_degrees() < 0.5);
    }
}

#[test]
fn a_rotated_and_shifted_array_gives_the_motion_rotated_and_shifted() {
    let (by, shift) = (exp(&(Vec3::y() * 2.4)), Vec3::new(3.0, 0.0, -5.0));
    let (a, b) = (walk().points(), walk().points().mapped(|_, _, p| by * p + shift));
    let (a, b) = (a.fitted(), b.fitted());
    for role in [Role::Hips, LEFT_ARM, Role::LowerLeg(Side::Right), Role::Foot(Side::Left), Role::Head] {
        for (a, b) in rotations(&a, role).iter().zip(&rotations(&b, role)) {
            assert!((by * a).angle_to(b).to_degrees() < 0.65, "{role}");
        }
    }
}

#[test]
fn twice_the_rate_gives_the_same_rotations() {
    let (slow, fast) =
        (walk().points().fitted(), Figure { frames: 179, rate: 60.0, ..walk() }.points().fitted());
    for role in [LEFT_ARM, Role::UpperLeg(Side::Left), Role::Foot(Side::Right), Role::Hips] {
        for (k, slow) in rotations(&slow, role).iter().enumerate() {
            let fast = &rotations(&fast, role)[2 * k];
            assert!(
                slow.angle_to(fast).to_degrees() < 2.0,
                "{role} {k}: {}",
                slow.angle_to(fast).to_degrees()
            );
        }
    }
}

#[test]
fn noise_makes_no_jumps() {
    let points = Figure { frames: 300, ..walk() }.points().with_noise(0.01);
    let asset = points.fitted();
    for role in [LEFT_ARM, Role::UpperArm(Side::Right), Role::UpperLeg(Side::Left)] {
        let truth = largest_step(&points.upper_arm);
        assert!(largest_step(&rotations(&asset, role)) < 15.0 + truth, "{role}");
    }
    let off = rotations(&asset, LEFT_ARM);
    let off: Vec<f64> = off.iter().zip(&points.upper_arm).map(|(a, b)| a.angle_to(b).to_degrees()).collect();
    assert!(crate::math::percentile(&off, 0.9) < 10.0, "{}", crate::math::percentile(&off, 0.9));
}

/// The points with left and right exchanged in these frames.
fn exchanged(points: Points, frames: std::ops::Range<usize>, pairs: &[usize]) -> Points {
    let before = points.frames.clone();
    points.mapped(|f, k, p| match pairs.iter().find(|l| **l == k || **l + 1 == k) {
        Some(l) if frames.contains(&f) => before[f][2 * l + 1 - k],
        _ => p,
    })
}

#[test]
fn exchanged_sides_are_put_right_and_reported() {
    let whole = walk().points().fitted();
    assert!(!whole.warnings.has("points-swap-legs") && !whole.warnings.has("points-sides"));
    let legs = exchanged(walk().points(), 40..45, &[1, 4, 7, 10]).fitted();
    assert!(legs.warnings.has("points-swap-legs") && apart(&whole, &legs) < 1e-6);
    let arms = exchanged(walk().points(), 0..7, &[13, 16, 18, 20]).fitted();
    assert!(arms.warnings.has("points-swap-arms") && apart(&whole, &arms) < 1e-6);
    let all = exchanged(walk().points(), 0..90, &[1, 4, 7, 10, 13, 16, 18, 20]).fitted();
    assert!(all.warnings.has("points-sides") && !all.warnings.has("points-swap-legs"));
}

#[test]
fn sides_that_are_exchanged_throughout_are_put_right_and_named() {
    // Limbs sway sideways by 3 cm.
    let swaying = || {
        let sway = |f: usize| Vec3::x() * (0.03 * (f as f64 * 0.17).sin());
        walk().points().mapped(|f, k, p| match k {
            4 | 5 | 7 | 8 | 10 | 11 | 18..=21 => p + sway(f),
            _ => p,
        })
    };
    let whole = swaying().fitted();
    assert!(!whole.warnings.has("points-swap-throughout") && !whole.warnings.has("points-sides-unsure"));
    for (pairs, said) in [
        (&[13, 16, 18, 20][..], "shoulder"),
        (&[16, 18, 20], "shoulder"),
        (&[18, 20], "elbow"),
        (&[20], "wrist"),
        (&[1, 4, 7, 10], "hip"),
        (&[4, 7, 10], "knee"),
        (&[4], "knee"),
        (&[7, 10], "ankle"),
        (&[10], "toe"),
    ] {
        let found = exchanged(swaying(), 0..90, pairs).fitted();
        let warning = found.warnings.iter().find(|w| w.code == "points-swap-throughout");
        let warning = warning.unwrap_or_else(|| panic!("{pairs:?}: {:?}", found.warnings));
        assert!(!warning.sure && warning.message.contains(said), "{pairs:?}: {}", warning.message);
        assert!(
            !found.warnings.has("points-sides") && !found.warnings.has("points-sides-unsure"),
            "{pairs:?}"
        );
        assert!(apart(&whole, &found) < 1e-6, "{pairs:?}: {}", apart(&whole, &found));
    }
    // Without the sway the bones of the other side do not vary: that is told, not changed.
    let unsure = exchanged(walk().points(), 0..90, &[4, 7, 10]).fitted();
    let warning = unsure.warnings.iter().find(|w| w.code == "points-sides-unsure").unwrap();
    assert!(!warning.sure && warning.message.contains("knee"), "{}", warning.message);
    assert!(!unsure.warnings.has("points-swap-throughout"));
}

#[test]
fn limbs_that_are_crossed_throughout_stay_as_they_are() {
    let before = walk().points().frames;
    // Shins and forearms of constant length, ankles and wrists on the other side of the body.
    let crossed = walk().points().mapped(|f, k, p| {
        let left = [4, 7, 10, 18, 20].contains(&k);
        let side = if left { 1.0 } else { -1.0 };
        let [hip, shoulder] = [1, 16].map(|joint| before[f][if left { joint } else { joint + 1 }]);
        let open = 0.9 + 0.1 * (f as f64 * 0.13).sin();
        let knee = hip + Vec3::new(side * open.cos(), 0.0, open.sin()) * 0.42;
        let ankle = knee + Vec3::new(-0.95 * side, -0.1, -0.296) * 0.43;
        let elbow = shoulder + Vec3::new(0.07 * side, -0.9, 0.4) * 0.28;
        match k {
            4 | 5 => knee,
            7 | 8 => ankle,
            10 | 11 => ankle + Vec3::new(0.0, -0.05, 0.14),
            18 | 19 => elbow,
            20 | 21 => elbow + Vec3::new(-0.97 * side, 0.05, 0.2) * 0.25,
            _ => p,
        }
    });
    let nearer = |p: &[Vec3; 22], base: usize, end: usize| {
        let own = (p[base] - p[end]).norm() + (p[base + 1] - p[end + 1]).norm();
        (p[base] - p[end + 1]).norm() + (p[base + 1] - p[end]).norm() < own
    };
    assert!(crossed.frames.iter().all(|p| nearer(p, 4, 7) && nearer(p, 18, 20)));
    let told = crossed.fitted().warnings;
    assert!(!told.has("points-swap-throughout") && !told.has("points-sides-unsure"), "{told:?}");
}

#[test]
fn gaps_are_filled_and_reported() {
    let whole = walk().points().fitted();
    let holes = |gap: Vec3| {
        walk()
            .points()
            .mapped(|f, k, p| if k == 20 && (30..38).contains(&f) || k == 5 && f < 4 { gap } else { p })
    };
    for gap in [Vec3::repeat(f64::NAN), Vec3::zeros()] {
        let filled = holes(gap).fitted();
        let said = &filled.warnings.iter().find(|w| w.code == "points-gap").unwrap().message;
        assert!(said.contains("left_wrist: 8 frames") && said.contains("right_knee: 4 frames"), "{said}");
        assert!(apart(&whole, &filled) < 25.0, "{}", apart(&whole, &filled));
    }
    let headless = walk().points().mapped(|_, k, p| if k == 15 { p * f64::NAN } else { p }).fitted();
    assert!(headless.warnings.has("points-left-out"));
    assert!(headless.character.rig.joint(Role::Head).is_none());
    let unseen = walk().points().mapped(|_, k, p| if k == 10 { Vec3::zeros() } else { p }).fitted();
    assert!(unseen.warnings.has("points-left-out"), "a point of a side that is zero throughout");
    assert!(unseen.character.rig.joint(Role::Toes(Side::Left)).is_none());
}

/// In some skeletons two joints of the spine, or neck and head, are at one place: noise gives their bone any direction.
#[test]
fn joints_of_the_trunk_that_coincide_do_not_spin() {
    let plain = Figure { frames: 120, ..walk() }.points();
    for (joint, other, role) in [(6, 3, Role::Spine(0)), (15, 12, Role::Neck(0))] {
        let before = plain.frames.clone();
        let same = Figure { frames: 120, ..walk() }.points();
        let same = same.mapped(|f, k, p| if k == joint { before[f][other] } else { p });
        let step = largest_step(&rotations(&same.with_noise(0.005).fitted(), role));
        assert!(step < 10.0, "{role}: {step}");
    }
}

#[test]
fn few_frames_are_enough() {
    for frames in [1, 2, 3, 5, 9] {
        let points = Figure { frames, ..walk() }.points();
        let off = rotations(&points.fitted(), LEFT_ARM)[0].angle_to(&points.upper_arm[0]).to_degrees();
        assert!(off < 3.0, "{frames}: {off}");
    }
}

#[test]
fn a_pelvis_at_the_origin_gets_its_path_from_the_feet() {
    // The feet stand, the right one on the ground, and the body sways over them by 20 cm.
    let points = Figure { frames: 60, ..walk() }.points();
    let first = points.frames[0];
    let feet = [7, 8, 10, 11];
    let sway = |f: usize, k: usize| if feet.contains(&k) { 0.0 } else { 0.1 * (f as f64 * 0.1).sin() };
    let standing = points.mapped(|f, k, _| first[k] + Vec3::x() * sway(f, k));
    let hips = standing.frames.iter().map(|p| (p[1] + p[2]) * 0.5).collect::<Vec<_>>();
    let local = standing.mapped(|f, _, p| p - hips[f]).fitted();
    assert!(local.warnings.has("points-path"));
    let (motion, poses) = poses(&local);
    let foot = motion.character.rig.joint(Role::Foot(Side::Right)).unwrap();
    let at = |f: usize| poses[f].position(foot);
    let drift = (0..60).map(|f| (at(f) - at(0)).xz().norm()).fold(0.0, f64::max);
    assert!(drift < 0.03, "{drift}");
    let low = (0..60).map(|f| at(f).y).fold(f64::INFINITY, f64::min);
    assert!((0.0..0.12).contains(&low), "{low}");
}

#[test]
fn a_pelvis_that_rests_elsewhere_or_for_a_moment_has_no_path_to_be_found() {
    let seated = |frames: usize, at: Vec3| {
        let points = Figure { frames, ..walk() }.points();
        let hips: Vec<Vec3> = points.frames.iter().map(|p| (p[1] + p[2]) * 0.5).collect();
        points.mapped(|f, _, p| p - hips[f] + at).fitted()
    };
    let told = |asset: &Asset| asset.warnings.has("points-path");
    let still = seated(60, Vec3::new(0.3, 0.95, 1.0));
    assert!(!told(&still));
    let (motion, poses) = poses(&still);
    let hips = motion.character.rig.joint(Role::Hips).unwrap();
    let travel = |pose: &crate::model::ModelPose| (pose.position(hips) - poses[0].position(hips)).norm();
    assert!(poses.iter().map(travel).fold(0.0, f64::max) < 0.01);
    assert!(told(&seated(60, Vec3::zeros())));
    assert!(!told(&seated(10, Vec3::zeros())));
}
