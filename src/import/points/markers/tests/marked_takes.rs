//! Captured takes through markers and back: centres, angles, gaps, exchanged labels.

use super::super::exchanged_markers::put_right;
use super::c3d_writer::INTEL;
use super::virtual_markers::{MarkedTake, Truth};
use crate::development_data::data;
use crate::import::points::tests::chance::Chance;
use crate::import::points::tests::figure::walking;
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Quat, Vec3, angle_between, mean_rotation, median, percentile};
use crate::model::{Asset, Role, Side};

/// Takes of six studios.
const TAKES: [&str; 6] = [
    "bvh/fair1/dab.bvh",
    "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
    "bvh/cmu/jumping_jacks.bvh",
    "bvh/mocapbank/test_mocapbank.bvh",
    "bvh/assimp/Boxing_Toes.bvh",
    "bvh/xia/angry_13_000.bvh",
];
/// Frames of a take that are used.
const FRAMES: usize = 400;

/// The takes that are there, with their joints.
fn takes() -> Vec<(&'static str, Truth)> {
    let Some(folder) = data() else { return Vec::new() };
    let read = |name: &'static str| {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        let asset = from_bytes(&bytes, "take", Some("bvh"), None, &ImportOptions::default()).unwrap();
        let mut truth = Truth::new(asset);
        truth.frames = truth.frames.min(FRAMES);
        Some((name, truth))
    };
    TAKES.into_iter().filter_map(read).collect()
}

impl MarkedTake {
    fn noisy(mut self, deviation: f64, chance: &mut Chance) -> Self {
        for p in self.tracks.iter_mut().flatten() {
            *p += chance.vector() * deviation;
        }
        self
    }

    /// With a share of every marker's frames missing, in gaps of up to a third of a second.
    fn with_gaps(mut self, share: f64, chance: &mut Chance) -> Self {
        for track in &mut self.tracks {
            let mut missing = (share * track.len() as f64) as usize;
            while missing > 0 {
                let length = (1 + chance.below((self.rate / 3.0) as usize)).min(missing);
                let start = chance.below(track.len() - length);
                track[start..start + length].fill(Vec3::repeat(f64::NAN));
                missing -= length;
            }
        }
        self
    }

    fn exchange(&mut self, a: &str, b: &str, from: usize, to: usize) {
        let column = |label: &str| self.labels.iter().position(|l| l == label).unwrap();
        let (a, b) = (column(a), column(b));
        for f in from..to {
            let at = self.tracks[a][f];
            self.tracks[a][f] = self.tracks[b][f];
            self.tracks[b][f] = at;
        }
    }

    /// As a C3D file, Z up, in millimetres.
    fn read(&self) -> Asset {
        self.read_in(1000.0)
    }

    /// As a C3D file whose header says millimetres, with so many units per metre.
    fn read_in(&self, per_metre: f64) -> Asset {
        let bytes = self.bytes(per_metre);
        let asset = from_bytes(&bytes, "take", Some("c3d"), None, &ImportOptions::default()).unwrap();
        asset.motion(0).unwrap().check().unwrap();
        asset
    }

    fn bytes(&self, per_metre: f64) -> Vec<u8> {
        let frame =
            |f: usize| self.tracks.iter().map(|t| Vec3::new(t[f].x, -t[f].z, t[f].y) * per_metre).collect();
        let frames: Vec<Vec<Vec3>> = (0..self.tracks[0].len()).map(frame).collect();
        let labels: Vec<String> = self.labels.iter().map(|label| format!("Anna:{label}")).collect();
        INTEL.file(&labels, &frames, self.rate as f32)
    }

    /// With these labels exchanged in every frame.
    fn exchanged(mut self, pairs: &[[&str; 2]]) -> Self {
        let frames = self.tracks[0].len();
        pairs.iter().for_each(|[a, b]| self.exchange(a, b, 0, frames));
        self
    }

    fn unseen(mut self, label: &str) -> Self {
        let column = self.labels.iter().position(|l| l == label).unwrap();
        self.tracks[column].fill(Vec3::repeat(f64::NAN));
        self
    }
}

/// Medians over the frames of one take: centres in metres by role, angles in degrees.
struct Errors {
    centres: Vec<(String, f64)>,
    angles: Vec<(String, f64)>,
}

fn errors(truth: &Truth, found: Asset) -> Errors {
    let motion = found.motion(0).unwrap();
    let poses: Vec<_> = (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect();
    let id = |role| motion.character.rig.joint(role).unwrap();
    let frames = truth.frames.min(poses.len());
    let position = |role, f: usize| poses[f].position(id(role));
    let (mut centres, mut angles) = (Vec::new(), Vec::new());
    let mut turned = vec![(Role::Hips, Role::Hips)];
    for side in Side::BOTH {
        for role in [Role::UpperLeg, Role::LowerLeg, Role::Foot, Role::UpperArm, Role::LowerArm, Role::Hand] {
            let off = (0..frames).map(|f| (position(role(side), f) - truth.position(role(side), f)).norm());
            centres.push((role(side).to_string(), median(off.collect())));
        }
        turned.extend([Role::UpperLeg(side), Role::LowerLeg(side), Role::UpperArm(side)].map(|r| (r, r)));
        for [a, b, c] in [
            [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)],
            [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)],
        ] {
            let bend =
                |at: &dyn Fn(Role) -> Vec3| angle_between(&(at(b) - at(a)), &(at(c) - at(b))).to_degrees();
            let off =
                (0..frames).map(|f| (bend(&|r| position(r, f)) - bend(&|r| truth.position(r, f))).abs());
            angles.push((format!("bend of {b}"), median(off.collect())));
        }
    }
    let spine = (0..9).rev().map(Role::Spine).find(|r| motion.character.rig.joint(*r).is_some()).unwrap();
    turned.push((spine, truth.chest()));
    for (mine, its) in turned {
        let apart: Vec<Quat> = (0..frames)
            .map(|f| poses[f].joint(id(mine)).rotation.inverse() * truth.rotation(its, f))
            .collect();
        // A rest pose is a convention: the one constant rotation between both is taken off.
        let rest = mean_rotation(&apart, &vec![1.0; apart.len()]);
        angles
            .push((mine.to_string(), median(apart.iter().map(|q| q.angle_to(&rest).to_degrees()).collect())));
    }
    Errors { centres, angles }
}

/// The pass marks: medians of 3 degrees for joint angles and 1.5 cm for centres (2 cm at the 90th percentile), at 2 mm of noise with 10 % gaps.
#[test]
fn centres_and_angles_are_those_of_the_takes() {
    let takes = takes();
    for inner in [true, false] {
        let (mut centres, mut angles) = (Vec::new(), Vec::new());
        for (name, truth) in &takes {
            let mut chance = Chance(11);
            let marked = truth.markers(inner).noisy(0.002, &mut chance).with_gaps(0.1, &mut chance);
            let found = errors(truth, marked.read());
            eprintln!("{name} inner {inner}");
            for (what, off) in &found.centres {
                eprintln!("  {what}: {:.1} mm", off * 1e3);
            }
            for (what, off) in &found.angles {
                eprintln!("  {what}: {off:.1} degrees");
            }
            centres.extend(found.centres.into_iter().map(|c| c.1));
            angles.extend(found.angles.into_iter().map(|a| a.1));
        }
        if takes.is_empty() {
            continue;
        }
        let (centre, angle) = (percentile(&centres, 0.5), percentile(&angles, 0.5));
        eprintln!(
            "inner {inner}: centres {:.1} mm, worst {:.1}; angles {angle:.2}, worst {:.2}",
            centre * 1e3,
            1e3 * percentile(&centres, 1.0),
            percentile(&angles, 1.0)
        );
        assert!(centre < 0.015, "inner {inner}: {centre}");
        // Hips are those of another regression on skeletons whose pelvis is no real one.
        assert!(percentile(&centres, 0.9) < 0.02, "inner {inner}: {centres:?}");
        assert!(angle < 3.0, "inner {inner}: {angle}");
    }
}

#[test]
fn exchanged_labels_are_found_and_nothing_else_is_touched() {
    for (name, truth) in takes() {
        let mut chance = Chance(5);
        let clean = truth.markers(true).noisy(0.002, &mut chance);
        let mut untouched = clean.tracks.clone();
        assert_eq!(put_right(&mut untouched), [], "{name}");
        let gaps = truth.markers(true).noisy(0.002, &mut chance).with_gaps(0.1, &mut chance);
        let mut untouched = gaps.tracks.clone();
        let found = put_right(&mut untouched);
        assert!(found.is_empty(), "{name}: {found:?}");
        let mut exchanged = truth.markers(true).noisy(0.002, &mut Chance(5));
        let third = truth.frames / 3;
        for (a, b, from, to) in [
            ("LKNE", "RKNE", third / 4, third / 2),
            ("LWRA", "LWRB", third, third + third / 4),
            ("LASI", "LPSI", 3 * third / 2, 2 * third),
            ("RANK", "RHEE", third / 8, third / 4),
            ("LFHD", "RFHD", 2 * third, 3 * third),
        ] {
            if exchanged.labels.iter().any(|label| label == a) {
                exchanged.exchange(a, b, from, to);
            }
        }
        let found = put_right(&mut exchanged.tracks);
        let wrong: usize = (exchanged.tracks.iter().zip(&clean.tracks))
            .map(|(a, b)| a.iter().zip(b).filter(|(a, b)| a != b).count())
            .sum();
        assert_eq!(wrong, 0, "{name}: {found:?}");
    }
}

#[test]
fn a_stated_unit_that_no_shin_has_gives_way_to_the_one_that_fits() {
    let Some((name, mut truth)) = takes().into_iter().next() else { return };
    truth.frames = truth.frames.min(60);
    let take = truth.markers(true);
    let told = |asset: &Asset| asset.warnings.iter().any(|w| w.code == "points-unit");
    let (right, wrong) = (take.read(), take.read_in(1.0));
    assert!(!told(&right) && told(&wrong), "{name}: {:?}", wrong.warnings);
    let height = |asset: &Asset| {
        let pose = asset.motion(0).unwrap().model_pose(0);
        pose.joints().iter().map(|joint| joint.translation.y).fold(0.0, f64::max)
    };
    assert!((height(&right) - height(&wrong)).abs() < 1e-3, "{} and {}", height(&right), height(&wrong));
}

/// The message of a warning; empty without one.
fn told(asset: &Asset, code: &str) -> String {
    asset.warnings.iter().find(|w| w.code == code && !w.sure).map(|w| w.message.clone()).unwrap_or_default()
}

/// The largest distance between the same joints of two motions, metres.
fn apart(a: &Asset, b: &Asset) -> f64 {
    let (a, b) = (a.motion(0).unwrap(), b.motion(0).unwrap());
    let frame = |f: usize| {
        let (a, b) = (a.model_pose(f), b.model_pose(f));
        let off = a.joints().iter().zip(b.joints()).map(|(a, b)| (a.translation - b.translation).norm());
        off.fold(0.0, f64::max)
    };
    (0..a.clip.frames()).map(frame).fold(0.0, f64::max)
}

/// What is said of labels that are exchanged throughout.
const THROUGHOUT: [&str; 4] =
    ["points-marker-swap-throughout", "points-marker-sides-unsure", "points-marker-uneven", "points-sides"];

const LEG: [[&str; 2]; 4] = [["LKNE", "RKNE"], ["LANK", "RANK"], ["LHEE", "RHEE"], ["LTOE", "RTOE"]];
const ARM: [[&str; 2]; 5] =
    [["LSHO", "RSHO"], ["LELB", "RELB"], ["LWRA", "RWRA"], ["LWRB", "RWRB"], ["LFIN", "RFIN"]];

#[test]
fn labels_of_both_sides_that_are_exchanged_throughout_are_put_right_and_named() {
    let truth = Truth::new(walking());
    // Legs and arms sway sideways by 3 cm: those of the made walk stay in planes.
    let take = || {
        let mut take = truth.markers(false);
        for (label, track) in take.labels.iter().zip(&mut take.tracks) {
            if LEG.iter().chain(&ARM[1..]).flatten().any(|known| known == label) {
                let sway = |f: usize| Vec3::x() * (0.03 * (f as f64 * 0.17).sin());
                track.iter_mut().enumerate().for_each(|(f, p)| *p += sway(f));
            }
        }
        take
    };
    let clean = take().read();
    for code in THROUGHOUT {
        assert_eq!(told(&clean, code), "");
    }
    let cases = [
        &LEG[..],
        &LEG[..1],
        &LEG[1..2],
        &LEG[2..3],
        &ARM,
        &ARM[..1],
        &ARM[1..2],
        &ARM[4..],
        &[["LASI", "RASI"]],
        &[["LFHD", "RFHD"]],
    ];
    for pairs in cases {
        let found = take().exchanged(pairs).read();
        let said = told(&found, THROUGHOUT[0]);
        for [left, right] in pairs {
            assert!(
                said.contains(&format!("Anna:{left} and Anna:{right}")),
                "{pairs:?}: {said}, {:?}",
                found.warnings
            );
        }
        assert_eq!(said.matches(" and ").count(), pairs.len(), "{said}");
        assert!(apart(&clean, &found) < 1e-6, "{pairs:?}: {}", apart(&clean, &found));
    }
}

#[test]
fn labels_of_one_side_that_are_exchanged_throughout_are_named() {
    let truth = Truth::new(walking());
    for pair in [["LASI", "LPSI"], ["LSHO", "LELB"], ["LFHD", "LBHD"], ["RANK", "RKNE"]] {
        let found = truth.markers(false).exchanged(&[pair]).read();
        let (said, [a, b]) = (told(&found, "points-marker-uneven"), pair);
        assert!(said.contains(a) && said.contains(b), "{pair:?}: {said}");
    }
}

#[test]
fn nothing_is_said_of_the_labels_of_captured_takes() {
    for (name, truth) in takes() {
        for inner in [true, false] {
            let take = truth.markers(inner).noisy(0.002, &mut Chance(3)).read();
            for code in THROUGHOUT {
                assert_eq!(told(&take, code), "", "{name}, inner {inner}");
            }
            for pairs in [&LEG[..], &LEG[..1], &ARM, &ARM[..1], &ARM[1..]] {
                let found = truth.markers(inner).noisy(0.002, &mut Chance(3)).exchanged(pairs).read();
                assert!(THROUGHOUT.iter().any(|code| !told(&found, code).is_empty()), "{name}: {pairs:?}");
            }
        }
    }
}

#[test]
fn a_marker_that_is_never_seen_is_named() {
    let truth = Truth::new(walking());
    let bytes = truth.markers(false).unseen("LPSI").bytes(1000.0);
    let refused = from_bytes(&bytes, "take", Some("c3d"), None, &ImportOptions::default());
    let said = refused.unwrap_err().to_string();
    assert!(said.contains(": Anna:LPSI (left or right)"), "{said}");
    let headless = truth.markers(false).unseen("LFHD").read();
    let said = told(&headless, "points-marker-head");
    assert!(said.contains("RFHD") && said.contains("RBHD") && !said.contains("LFHD"), "{said}");
    assert_eq!(told(&truth.markers(false).read(), "points-marker-head"), "");
}
