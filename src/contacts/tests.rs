//! Contact detection against labels made by hand, against a made walk whose contacts are known, and its promises.

use crate::development_data::data;
use crate::perturbed::{Noise, scaled};
use posemill::anatomy::Figure;
use posemill::body::CharacterBody;
use posemill::contacts::{self, ContactOptions, Detector, Labels, detect};
use posemill::import;
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Character, Clip, ContactPart, Contacts, Joint, Motion, Rig, Side, Skeleton};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const DETECTORS: [Detector; 2] = [Detector::Hysteresis, Detector::Hmm];

fn load(path: &Path) -> Motion {
    import::load(path, &import::ImportOptions::default()).unwrap().motion(0).unwrap()
}

fn made(name: &str) -> Motion {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name))
}

fn found(motion: &Motion, detector: Detector) -> Contacts {
    let contacts = detect(motion, &ContactOptions { detector, ..ContactOptions::default() });
    let labelled = Motion { contacts: Some(contacts.clone()), ..motion.clone() };
    labelled.check().unwrap();
    assert!(contacts.ground.is_finite());
    assert!(contacts.parts().flat_map(|p| contacts.holds(p)).all(|h| h.height.is_finite()));
    contacts
}

/// The harmonic mean of precision and recall over the frames and parts of the labels; `frame` maps frames of the
/// labels to frames of what was found.
fn f1(labels: &Labels, found: &Contacts, frame: impl Fn(usize) -> usize) -> f64 {
    let (mut both, mut either) = (0.0, 0.0);
    for part in labels.contacts.parts() {
        for f in labels.first..labels.first + labels.frames {
            let pair = [labels.contacts.rests(part, f), found.rests(part, frame(f))];
            both += 2.0 * f64::from(u8::from(pair[0] && pair[1]));
            either += pair.iter().filter(|p| **p).count() as f64;
        }
    }
    both / either
}

/// The takes under `bvh/` that were labelled by hand.
const LABELLED: [&str; 7] = [
    "bvh-toolbox/walk01",
    "cmu/01_01",
    "cmu/jumping_jacks",
    "fair1/zombie",
    "mixamo-names/test_freebvh",
    "pymo/AV_8Walk_Meredith_HVHA_Rep1",
    "xia/angry_13_000",
];

/// Takes that were labelled after the constants of the detectors had been settled, and that nothing was fitted to.
const HELD_OUT: [&str; 2] = ["assimp/Boxing_Toes", "fair1/dab"];

#[test]
fn hand_labels_are_found_again() {
    let Some(folder) = data() else { return };
    let labels = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/contacts");
    for take in LABELLED.into_iter().chain(HELD_OUT) {
        let motion = load(&folder.join(format!("bvh/{take}.bvh")));
        let name = Path::new(take).file_name().unwrap();
        let labels = labels.join(name).with_extension("csv");
        let labels = contacts::read(&fs::read_to_string(labels).unwrap()).unwrap();
        let scores = DETECTORS.map(|detector| f1(&labels, &found(&motion, detector), |f| f));
        println!("{take}: F1 {:.3} by hysteresis, {:.3} by the hidden Markov model", scores[0], scores[1]);
        assert!(scores.iter().all(|score| *score >= 0.9), "{take}: {scores:?}");
    }
}

/// Every `step`-th frame.
fn thinned(motion: &Motion, step: usize) -> Motion {
    let clip = &motion.clip;
    let frames = || (0..clip.frames()).step_by(step);
    let rotations = frames().flat_map(|f| clip.rotations(f).to_vec()).collect();
    let translations = frames().flat_map(|f| clip.translations(f).to_vec()).collect();
    let rate = clip.sample_rate / step as f64;
    let translated = clip.translated().to_vec();
    let thin = Clip::new(clip.name.clone(), rate, clip.joints(), rotations, translated, translations);
    Motion::new(Arc::clone(&motion.character), thin)
}

fn walk_labels() -> Labels {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.contacts.csv");
    contacts::read(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn a_walk_with_noise_drift_another_scale_and_a_floor_offset_is_found_again() {
    let (walk, labels) = (made("walk.bvh"), walk_labels());
    let frames = walk.clip.frames();
    let mut worst = [1.0f64; 2];
    for seed in 0..8 {
        let mut noise = Noise(seed);
        let scale = [0.6, 1.0, 1.7][seed as usize % 3];
        let mut motion = scaled(&walk, scale);
        let drift = Vec3::new(0.1 * noise.normal(), 0.02 * (2.0 * noise.even() - 1.0), 0.1 * noise.normal());
        for f in 0..frames {
            for q in motion.clip.rotations_mut(f) {
                *q *= exp(&noise.vector(0.15f64.to_radians()));
            }
            let root = &mut motion.clip.translations_mut(f)[0];
            *root += (drift * (f as f64 / frames as f64) + noise.vector(0.002)) * scale;
            root.y += 0.03;
        }
        for (detector, worst) in DETECTORS.into_iter().zip(&mut worst) {
            let score = f1(&labels, &found(&motion, detector), |f| f);
            *worst = worst.min(score);
            assert!(score >= 0.95, "seed {seed}, {detector:?}: {score}");
        }
    }
    println!(
        "worst F1 of eight seeds {:.3} by hysteresis, {:.3} by the hidden Markov model",
        worst[0], worst[1]
    );
}

#[test]
fn the_rate_of_the_clip_does_not_matter() {
    let (walk, labels) = (made("walk.bvh"), walk_labels());
    for step in [1, 2, 4] {
        let thin = thinned(&walk, step);
        let last = thin.clip.frames() - 1;
        for detector in DETECTORS {
            let score = f1(&labels, &found(&thin, detector), |f| {
                ((f as f64 / step as f64).round() as usize).min(last)
            });
            assert!(score >= 0.93, "every {step}th frame, {detector:?}: {score}");
        }
    }
}

#[test]
fn the_size_and_the_place_of_a_body_change_nothing() {
    let walk = made("walk.bvh");
    for detector in DETECTORS {
        let there = found(&walk, detector);
        let mut far = scaled(&walk, 2.0);
        far.clip.all_translations_mut().iter_mut().for_each(|t| *t += Vec3::new(3.0, -1.5, -2.0));
        let here = found(&far, detector);
        assert!((here.ground - (2.0 * there.ground - 1.5)).abs() < 1e-3);
        for part in there.parts() {
            let [a, b] = [&there, &here].map(|c| c.holds(part));
            assert_eq!(a.len(), b.len(), "{part}");
            let near = |(a, b): (&posemill::model::Hold, &posemill::model::Hold)| {
                a.frames.start.abs_diff(b.frames.start) <= 1 && a.frames.end.abs_diff(b.frames.end) <= 1
            };
            assert!(a.iter().zip(b).all(near), "{part}: {a:?} {b:?}");
        }
    }
}

#[test]
fn clips_of_any_length_and_bodies_without_legs_are_answered() {
    let walk = made("walk.bvh");
    for frames in 0..12 {
        let n = walk.clip.joints();
        let (rotations, path) = (walk.clip.all_rotations(), walk.clip.all_translations());
        let tracks = walk.clip.translated().len();
        let clip = Clip::new(
            "short",
            240.0,
            n,
            rotations[..frames * n].to_vec(),
            walk.clip.translated().to_vec(),
            path[..frames * tracks].to_vec(),
        );
        for detector in DETECTORS {
            found(&Motion::new(Arc::clone(&walk.character), clip.clone()), detector);
        }
    }
    let joints = vec![Joint::new("only", None, Transform::identity())];
    let rig = Rig::new(Skeleton::new(joints).unwrap(), []);
    let character = Character::new("stick", rig);
    let clip = Clip::new("", 30.0, 1, vec![exp(&Vec3::zeros()); 5], vec![], vec![]);
    let contacts = found(&Motion::new(Arc::new(character), clip), Detector::Hysteresis);
    assert_eq!(contacts.parts().count(), 0);
}

#[test]
fn hands_knees_and_the_seat_of_people_on_their_feet_do_not_rest() {
    for name in ["walk.bvh", "jump.bvh", "squat.bvh", "turn.bvh", "wave.bvh"] {
        for detector in DETECTORS {
            let contacts = found(&made(name), detector);
            let resting: Vec<String> =
                contacts.parts().filter(|p| !contacts.holds(*p).is_empty()).map(|p| p.to_string()).collect();
            assert_eq!(
                resting,
                ["left_heel", "right_heel", "left_ball", "right_ball"],
                "{name}, {detector:?}"
            );
        }
    }
}

#[test]
fn nothing_rests_in_the_flight_of_a_jump() {
    let jump = made("jump.bvh");
    for detector in DETECTORS {
        let contacts = found(&jump, detector);
        for side in Side::BOTH {
            let ball = contacts.holds(ContactPart::Ball(side));
            assert_eq!(ball.len(), 2, "{ball:?}");
            let flight = (ball[1].frames.start - ball[0].frames.end) as f64 / jump.clip.sample_rate;
            assert!((0.3..0.8).contains(&flight), "{flight} s");
        }
    }
}

#[test]
fn heel_ball_and_toe_tip_lie_in_a_row_on_the_sole() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut files: Vec<_> =
        ["mannequin.glb", "robot.glb", "walk.bvh", "squat.bvh"].map(|f| here.join(f)).to_vec();
    if let Some(folder) = data() {
        let more = [
            "gltf/quaternius/Casual_man.glb",
            "gltf/quaternius/KnightCharacter.glb",
            "gltf/raylib/robot.glb",
            "gltf/kaykit/manny_med_mod.gltf",
            "gltf/gdquest/mannequiny-0.3.0.glb",
            "gltf/khronos/cesium_man.gltf",
            "derived/casual-man-mixamo-names.glb",
            "derived/makehuman-base-default-rig.glb",
            "derived/rigify-human-deform.glb",
            "bvh/cmu/01_01.bvh",
            "bvh/fair1/dab.bvh",
            "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
            "bvh/xia/angry_13_000.bvh",
        ];
        files.extend(more.map(|f| folder.join(f)));
    }
    for file in files {
        let character = import::load(&file, &import::ImportOptions::default()).unwrap().character;
        let bind = character.reference_pose();
        let body = CharacterBody::new(&character);
        let points = body.contact_points();
        let leg = Figure::of(&character.rig, &bind).unwrap().leg_to_sole;
        let at = |part: ContactPart| {
            let point =
                points.iter().find(|p| p.part == part).unwrap_or_else(|| panic!("{file:?}: no {part}"));
            bind.joint(point.joint).point(&point.at)
        };
        for side in Side::BOTH {
            let [heel, ball, toe] =
                [ContactPart::Heel(side), ContactPart::Ball(side), ContactPart::Toe(side)].map(at);
            let length = (toe - heel).norm();
            assert!((0.12 * leg..0.8 * leg).contains(&length), "{file:?}: {length} m of {leg} m");
            let along = (ball - heel).dot(&(toe - heel)) / length.powi(2);
            assert!((0.35..=1.0 + 1e-9).contains(&along), "{file:?}: the ball {along} on the way to the toe");
            let heights = [heel, ball, toe].map(|p| p.y);
            let uneven = heights.iter().fold(0.0, |most: f64, y| most.max((y - heights[0]).abs()));
            assert!(uneven < 0.15 * length, "{file:?}: {heights:?}");
        }
    }
}

#[test]
fn a_boxer_on_the_floor_rests_on_hands_and_seat() {
    let Some(folder) = data() else { return };
    let motion = load(&folder.join("bvh/assimp/Boxing_Toes.bvh"));
    for detector in DETECTORS {
        let contacts = found(&motion, detector);
        // By the look of it: he sits from 24.5 s to 27.4 s, his left hand behind him, and stands before.
        let share = |part, frames: std::ops::Range<usize>| {
            frames.clone().filter(|&f| contacts.rests(part, f)).count() as f64 / frames.len() as f64
        };
        assert!(share(ContactPart::Pelvis, 2460..2730) > 0.9, "{detector:?}");
        assert!(share(ContactPart::Hand(Side::Left), 2450..2740) > 0.9, "{detector:?}");
        for part in contacts.parts().filter(|p| !p.of_foot()) {
            assert_eq!(share(part, 0..2400), 0.0, "{detector:?}, {part}");
        }
    }
}
