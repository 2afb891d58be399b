//! Captured takes through markers and back: centres, angles, gaps, exchanged labels.

use super::super::exchanged_markers::put_right;
use super::c3d_writer::INTEL;
use super::virtual_markers::{MarkedTake, Truth};
use crate::development_data::data;
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

/// A linear congruential generator (Knuth, MMIX).
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

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
            *p += Vec3::new(chance.normal(), chance.normal(), chance.normal()) * deviation;
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
        let frame =
            |f: usize| self.tracks.iter().map(|t| Vec3::new(t[f].x, -t[f].z, t[f].y) * per_metre).collect();
        let frames: Vec<Vec<Vec3>> = (0..self.tracks[0].len()).map(frame).collect();
        let labels: Vec<String> = self.labels.iter().map(|label| format!("Anna:{label}")).collect();
        let bytes = INTEL.file(&labels, &frames, self.rate as f32);
        let asset = from_bytes(&bytes, "take", Some("c3d"), None, &ImportOptions::default()).unwrap();
        asset.motion(0).unwrap().check().unwrap();
        asset
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

/// The pass marks: joint angles within 3 degrees (median) and centres within 1.5 cm, at 2 mm of noise with 10 % gaps.
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
