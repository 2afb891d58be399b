//! Detection by shape alone, on bodies made in code whose joints are named by numbers, with accessories.

use posemill::anatomy::{JointNames, ShapeEvidence, Vocabulary, detect_roles, detect_roles_from};
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{Clip, Joint, JointId, ModelPose, Pose, Role, Side, Skeleton};
use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Instant;

/// A figure as joint positions in model space: what a joint is (for the test), its parent, and where it is.
#[derive(Clone, Default)]
pub(super) struct Made(pub(super) Vec<(String, Option<usize>, Vec3)>);

impl Made {
    pub(super) fn add(&mut self, what: &str, parent: Option<&str>, at: [f64; 3]) {
        let above = parent.map(|p| self.0.iter().position(|j| j.0 == p).unwrap());
        self.0.push((what.to_owned(), above, Vec3::from(at)));
    }

    /// A chain below `parent`, named after its first word and numbers.
    pub(super) fn chain(&mut self, what: &str, parent: &str, places: &[[f64; 3]]) {
        let mut above = parent.to_owned();
        for (k, at) in places.iter().enumerate() {
            let name = format!("{what}{k}");
            self.add(&name, Some(&above), *at);
            above = name;
        }
    }

    /// The same chain on both sides.
    pub(super) fn chains(&mut self, what: &str, parents: [&str; 2], places: &[[f64; 3]]) {
        for (side, parent, sign) in [("l", parents[0], 1.0), ("r", parents[1], -1.0)] {
            let mirrored: Vec<[f64; 3]> = places.iter().map(|p| [sign * p[0], p[1], p[2]]).collect();
            self.chain(&format!("{side}_{what}"), parent, &mirrored);
        }
    }

    fn rotated(mut self, rotation: Quat) -> Self {
        for joint in &mut self.0 {
            joint.2 = rotation * joint.2;
        }
        self
    }

    pub(super) fn skeleton(&self, name: impl Fn(usize, &str) -> String) -> Skeleton {
        let joints = self.0.iter().enumerate().map(|(n, (what, above, at))| {
            let origin = above.map_or(Vec3::zeros(), |a| self.0[a].2);
            Joint::new(name(n, what), above.map(JointId::new), Transform::from_translation(at - origin))
        });
        Skeleton::new(joints.collect()).unwrap()
    }

    /// What plays each role, the joints being named by numbers.
    pub(super) fn read(&self) -> Vec<(Role, String)> {
        let skeleton = self.skeleton(|n, _| format!("b{n:04}"));
        let rest = skeleton.rest_model_pose();
        let rig = detect_roles(skeleton, &rest, &[]);
        rig.assignments().map(|(role, a)| (role, self.0[a.joint.index()].0.clone())).collect()
    }
}

/// A person: T-pose, facing +Z, with collar bones, toes and five fingers.
pub(super) fn person() -> Made {
    let mut m = without_extremities(4);
    for (k, z) in [(1, 0.03), (2, 0.01), (3, -0.01), (4, -0.03)] {
        let finger = [[0.79, 1.45, z], [0.82, 1.45, z], [0.845, 1.45, z]];
        m.chains(&format!("finger{k}_"), ["l_arm3", "r_arm3"], &finger);
    }
    m.chains("thumb", ["l_arm3", "r_arm3"], &[[0.72, 1.43, 0.02], [0.74, 1.42, 0.05], [0.76, 1.41, 0.07]]);
    m
}

/// The same without fingers, and as many joints of the legs as asked for: the third is the foot.
pub(super) fn without_extremities(leg_joints: usize) -> Made {
    let mut m = Made::default();
    m.add("hips", None, [0.0, 1.0, 0.0]);
    m.chain("spine", "hips", &[[0.0, 1.1, 0.0], [0.0, 1.25, -0.02], [0.0, 1.4, -0.02]]);
    m.chain("neck", "spine2", &[[0.0, 1.52, 0.0], [0.0, 1.62, 0.02]]);
    let leg = [[0.1, 0.95, 0.0], [0.1, 0.52, 0.01], [0.1, 0.09, -0.02], [0.1, 0.02, 0.12]];
    m.chains("leg", ["hips", "hips"], &leg[..leg_joints]);
    let arm = [[0.04, 1.45, 0.0], [0.18, 1.45, -0.02], [0.45, 1.45, -0.03], [0.7, 1.45, -0.02]];
    m.chains("arm", ["spine2", "spine2"], &arm);
    m
}

/// All roles of `person` that the shape must give.
pub(super) fn expect_person(m: &Made, case: &str) {
    let found = m.read();
    let says = |role: Role, what: &str| {
        let joint = found.iter().find(|f| f.0 == role).map(|f| f.1.as_str());
        assert_eq!(joint, Some(what), "{case}: {role} in {found:?}");
    };
    says(Role::Hips, "hips");
    says(Role::Spine(2), "spine2");
    says(Role::Neck(0), "neck0");
    says(Role::Head, "neck1");
    for (side, s) in [(Side::Left, "l"), (Side::Right, "r")] {
        for (k, role) in [Role::UpperLeg, Role::LowerLeg, Role::Foot, Role::Toes].into_iter().enumerate() {
            says(role(side), &format!("{s}_leg{k}"));
        }
        for (k, role) in [Role::Clavicle, Role::UpperArm, Role::LowerArm, Role::Hand].into_iter().enumerate()
        {
            says(role(side), &format!("{s}_arm{k}"));
        }
        for (f, finger) in posemill::model::Finger::ALL.into_iter().enumerate() {
            for k in 0..3 {
                let what = if f == 0 { format!("{s}_thumb{k}") } else { format!("{s}_finger{f}_{k}") };
                says(Role::Finger(side, finger, k), &what);
            }
        }
    }
}

#[test]
fn a_person_is_detected_in_any_direction() {
    for quarter in 0..8 {
        let rotation = exp(&(Vec3::y() * (f64::from(quarter) * PI / 4.0)));
        expect_person(&person().rotated(rotation), &format!("rotated by {} degrees", 45 * quarter));
    }
    expect_person(&person().rotated(exp(&(Vec3::x() * FRAC_PI_2))), "Z up");
}

#[test]
fn accessories_are_no_body_parts() {
    let mut winged = person();
    winged.chains(
        "wing",
        ["spine2", "spine2"],
        &[[0.08, 1.45, -0.1], [0.4, 1.7, -0.2], [0.8, 1.9, -0.3], [1.2, 2.0, -0.4]],
    );
    expect_person(&winged, "wings");

    let mut caped = person();
    for x in [0.05, 0.15] {
        let cape: Vec<[f64; 3]> = (0..6).map(|k| [x, 1.4 - 0.2 * f64::from(k), -0.12]).collect();
        caped.chains(&format!("cape{x}_"), ["spine2", "spine2"], &cape);
    }
    expect_person(&caped, "a cape");

    let mut skirted = person();
    for angle in [0.3, 1.2, 2.0, 2.8] {
        let (x, z) = (0.2 * f64::sin(angle), 0.2 * f64::cos(angle));
        let skirt: Vec<[f64; 3]> = (0..4).map(|k| [x, 0.95 - 0.12 * f64::from(k), z]).collect();
        skirted.chains(&format!("skirt{angle}_"), ["hips", "hips"], &skirt);
    }
    expect_person(&skirted, "a skirt");

    let mut haired = person();
    for x in [0.04, 0.08] {
        let hair: Vec<[f64; 3]> = (0..6).map(|k| [x, 1.72 - 0.1 * f64::from(k), -0.1]).collect();
        haired.chains(&format!("hair{x}_"), ["neck1", "neck1"], &hair);
    }
    expect_person(&haired, "hair");

    let mut armed = person();
    armed.chain("sword", "r_arm3", &[[-0.75, 1.45, 0.05], [-0.75, 1.45, 0.5], [-0.75, 1.45, 1.0]]);
    expect_person(&armed, "a sword");

    let mut tailed = person();
    let tail: Vec<[f64; 3]> =
        (1..7).map(|k| [0.0, 1.0 - 0.05 * f64::from(k), -0.15 * f64::from(k)]).collect();
    tailed.chain("tail", "hips", &tail);
    expect_person(&tailed, "a tail");
    assert!(tailed.read().contains(&(Role::Tail(0), "tail0".into())));
}

#[test]
fn a_person_who_rests_in_a_stride_has_arms() {
    let mut m = person();
    for (side, angle) in [("l", 0.6), ("r", -0.6)] {
        let hip = m.0.iter().find(|j| j.0 == format!("{side}_leg0")).unwrap().2;
        let rotation = exp(&(Vec3::x() * angle));
        let leg = m.0.iter_mut().filter(|j| j.0.starts_with(&format!("{side}_leg")));
        leg.for_each(|j| j.2 = hip + rotation * (j.2 - hip));
    }
    expect_person(&m, "a stride");
}

#[test]
fn feet_of_bent_legs_point_ahead_of_their_shins() {
    let mut m = without_extremities(4);
    for (joint, y, z) in [("leg1", 0.75, 0.38), ("leg2", 0.68, -0.04), ("leg3", 0.58, -0.12)] {
        for j in m.0.iter_mut().filter(|j| j.0.ends_with(joint)) {
            j.2 = Vec3::new(j.2.x, y, z);
        }
    }
    // The format shows the other front.
    let found = m.rotated(exp(&(Vec3::y() * PI))).read();
    assert!(found.contains(&(Role::LowerLeg(Side::Left), "l_leg1".into())), "{found:?}");
}

/// An animal on four legs, with neck and tail.
pub(super) fn animal() -> Made {
    let mut m = Made::default();
    m.add("hips", None, [0.0, 1.0, -0.6]);
    m.chain("spine", "hips", &[[0.0, 1.05, -0.3], [0.0, 1.05, 0.0], [0.0, 1.05, 0.3]]);
    m.chain("neck", "spine2", &[[0.0, 1.2, 0.5], [0.0, 1.4, 0.7], [0.0, 1.5, 0.8]]);
    m.chains("ear", ["neck2", "neck2"], &[[0.05, 1.6, 0.78], [0.06, 1.65, 0.78]]);
    let hind = [[0.15, 0.95, -0.55], [0.15, 0.6, -0.4], [0.15, 0.25, -0.65], [0.15, 0.03, -0.55]];
    m.chains("hind", ["hips", "hips"], &hind);
    let fore =
        [[0.12, 1.05, 0.32], [0.15, 0.85, 0.45], [0.15, 0.5, 0.3], [0.15, 0.15, 0.3], [0.15, 0.03, 0.38]];
    m.chains("fore", ["spine2", "spine2"], &fore);
    m.chain("tail", "hips", &[[0.0, 1.0, -0.7], [0.0, 0.95, -0.9], [0.0, 0.9, -1.1], [0.0, 0.85, -1.3]]);
    m
}

#[test]
fn an_animal_has_four_legs_a_neck_and_a_tail() {
    for quarter in 0..4 {
        let m = animal().rotated(exp(&(Vec3::y() * (f64::from(quarter) * FRAC_PI_2))));
        let found = m.read();
        for (role, what) in [
            (Role::Hips, "hips"),
            (Role::Spine(2), "spine2"),
            (Role::Head, "neck2"),
            (Role::UpperLeg(Side::Left), "l_hind0"),
            (Role::Foot(Side::Right), "r_hind2"),
            (Role::UpperArm(Side::Left), "l_fore1"),
            (Role::Hand(Side::Right), "r_fore3"),
            (Role::Tail(3), "tail3"),
        ] {
            assert!(found.contains(&(role, what.to_owned())), "{role} is not {what}: {found:?}");
        }
    }
}

#[test]
fn a_spider_a_chain_and_a_heap_are_no_bodies() {
    let mut spider = Made::default();
    spider.add("body", None, [0.0, 0.5, 0.0]);
    for z in [-0.3, -0.1, 0.1, 0.3] {
        let leg = [[0.1, 0.5, z], [0.5, 0.8, 1.5 * z], [0.9, 0.4, 2.0 * z], [1.1, 0.0, 2.2 * z]];
        spider.chains(&format!("leg{z}_"), ["body", "body"], &leg);
    }
    assert!(spider.read().is_empty(), "{:?}", spider.read());

    let mut chain = Made::default();
    chain.add("a", None, [0.0; 3]);
    chain.chain("link", "a", &(1..40).map(|k| [0.0, -f64::from(k), 0.0]).collect::<Vec<_>>());
    assert!(chain.read().is_empty());
}

#[test]
fn gaps_that_names_leave_are_filled_with_less_confidence() {
    let words = |n: usize, what: &str| match what {
        "hips" => "pelvis".into(),
        "spine2" => "chest".into(),
        "l_leg0" => "thigh_l".into(),
        "l_leg1" => "shin_l".into(),
        "l_leg2" => "foot_l".into(),
        "r_leg0" => "thigh_r".into(),
        "r_leg1" => "shin_r".into(),
        "l_arm1" => "upperarm_l".into(),
        "l_arm3" => "hand_l".into(),
        "r_arm1" => "upperarm_r".into(),
        "r_arm2" => "forearm_r".into(),
        _ => format!("b{n:04}"),
    };
    let m = person();
    let skeleton = m.skeleton(words);
    let rest = skeleton.rest_model_pose();
    let rig = detect_roles(skeleton, &rest, &[]);
    let what = |role| rig.assignment(role).map(|a| (m.0[a.joint.index()].0.as_str(), a.confidence < 0.7));
    assert_eq!(what(Role::LowerArm(Side::Left)), Some(("l_arm2", true)));
    assert_eq!(what(Role::LowerArm(Side::Right)), Some(("r_arm2", false)));
    assert_eq!(what(Role::Foot(Side::Right)), Some(("r_leg2", true)));
    assert_eq!(what(Role::Hand(Side::Right)), Some(("r_arm3", true)));
    assert_eq!(what(Role::Hips).map(|h| h.0), Some("hips"));
    assert_eq!(what(Role::Head).map(|h| h.0), Some("neck1"));
}

/// A figure without toes or fingers, whose front only its knees show, and a clip in which they bend.
fn crouching() -> (Made, Clip) {
    let mut m = without_extremities(3);
    for joint in &mut m.0 {
        joint.2.z = 0.0;
    }
    let skeleton = m.skeleton(|_, what| what.to_owned());
    let poses: Vec<Pose> = (0..40)
        .map(|frame| {
            let mut pose = skeleton.rest_pose();
            for knee in ["l_leg1", "r_leg1"] {
                let id = skeleton.find(knee).unwrap();
                // A knee bends backwards: about +X, the left, while the figure faces +Z.
                pose.local_mut()[id.index()].rotation = exp(&(Vec3::x() * (f64::from(frame) * 0.03)));
            }
            pose
        })
        .collect();
    let clip = Clip::from_poses("crouch", 30.0, &skeleton, &poses);
    (m, clip)
}

#[test]
fn knees_that_bend_backwards_show_that_the_sides_are_swapped() {
    let (m, clip) = crouching();
    let named = |swap: bool| {
        m.skeleton(|n, what| {
            let side = if what.starts_with("l_") != swap { "left" } else { "right" };
            match what.split_once('_').map_or(what, |w| w.1) {
                "leg0" => format!("{side}_thigh"),
                "leg1" => format!("{side}_shin"),
                "leg2" => format!("{side}_foot"),
                "arm1" => format!("{side}_upper_arm"),
                "arm2" => format!("{side}_forearm"),
                "arm3" => format!("{side}_hand"),
                _ => format!("b{n:04}"),
            }
        })
    };
    for swap in [false, true] {
        let skeleton = named(swap);
        let rest = skeleton.rest_model_pose();
        let evidence = ShapeEvidence { mass: None, clip: Some(&clip), ..Default::default() };
        let detected = detect_roles_from(
            &JointNames::of(&skeleton, Vocabulary::built_in()),
            skeleton,
            &rest,
            &[],
            Some(&evidence),
        );
        assert_eq!(detected.warnings.has("sides-swapped"), swap);
        let left = detected.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
        assert_eq!(m.0[left.index()].0, "l_leg1", "swapped: {swap}");
    }
}

#[test]
fn ten_thousand_joints_take_no_time() {
    // A person with a heap of loose joints, long chains, and many branches.
    let mut m = person();
    for k in 0..3000 {
        let a = f64::from(k);
        m.0.push((format!("loose{k}"), Some(0), Vec3::new(a.sin(), 1.0 + a.cos(), (0.7 * a).sin())));
    }
    let mut above = m.0.iter().position(|j| j.0 == "neck1").unwrap();
    for k in 0..3500 {
        m.0.push((format!("hair{k}"), Some(above), Vec3::new(0.0, 1.7, -0.001 * f64::from(k))));
        above = m.0.len() - 1;
        m.0.push((format!("twig{k}"), Some(above), Vec3::new(0.01, 1.7, -0.001 * f64::from(k))));
    }
    let skeleton = m.skeleton(|n, _| format!("b{n:05}"));
    let rest: ModelPose = skeleton.rest_model_pose();
    let (joints, copy) = (skeleton.len(), skeleton.clone());
    let start = Instant::now();
    let rig = detect_roles(copy, &rest, &[]);
    let took = start.elapsed().as_secs_f64();
    println!("{joints} joints in {:.1} ms", took * 1e3);
    let most = if cfg!(debug_assertions) { 2.0 } else { 0.05 };
    assert!(joints > 10_000 && took < most, "{took} s");
    assert_eq!(rig.joint(Role::Hips), Some(JointId::new(0)));
}
