//! The stages `ik` and `limits` on a made body.

use crate::made_figure::figure;
use posemill::math::{Vec3, exp};
use posemill::model::{Character, Clip, Motion, Rig, Role, Side, Skeleton};
use posemill::report::Report;
use posemill::stages::{IkConfig, LimitsConfig, Setting, StageConfig};
use proptest::prelude::*;
use std::sync::Arc;
use tempfile::TempDir;

fn character() -> Arc<Character> {
    let name = "made".to_owned();
    Arc::new(Character::new(name, figure()))
}

/// Two seconds in which the knees bend and the arms swing.
fn motion(character: &Arc<Character>) -> Motion {
    let skeleton = character.skeleton();
    let pose = |frame: usize| {
        let t = frame as f64 / 30.0;
        let mut pose = skeleton.rest_pose();
        let mut turn = |role: Role, v: Vec3| {
            let joint = character.rig.joint(role).unwrap();
            pose.local_mut()[joint.index()].rotation = exp(&v);
        };
        for side in Side::BOTH {
            let bend = 0.4 + 0.1 * (3.0 * t).sin();
            turn(Role::UpperLeg(side), Vec3::x() * -bend);
            turn(Role::LowerLeg(side), Vec3::x() * (2.0 * bend));
            turn(
                Role::UpperArm(side),
                Vec3::new(0.0, -0.4 * side.sign(), -0.9 * side.sign() + 0.2 * (2.0 * t).sin()),
            );
            turn(Role::LowerArm(side), Vec3::y() * (-0.5 * side.sign()));
        }
        pose
    };
    let poses: Vec<_> = (0..60).map(pose).collect();
    Motion::new(Arc::clone(character), Clip::from_poses("made", 30.0, skeleton, &poses))
}

fn setting(arriving: &Arc<Character>) -> Setting {
    Setting::new(Arc::clone(arriving), "")
}

fn value(report: &Report, name: &str) -> f64 {
    report.metrics.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
}

fn place(motion: &Motion, frame: usize, role: Role) -> Vec3 {
    let model = motion.model_pose(frame);
    model.position(motion.character.rig.joint(role).unwrap())
}

const REACH: &str = r#"
    [[effectors]]
    joint = "right_hand"
    keys = [[0.0, -0.3, 1.2, 0.3], [2.0, -0.1, 1.5, 0.4]]
    [[effectors]]
    joint = "left_foot"
    goal = "hold"
    hard = true
    [[effectors]]
    joint = "RightFoot"
    goal = "hold"
    hard = true
"#;

#[test]
fn a_hand_follows_its_keys_while_the_feet_stay() {
    let character = character();
    let config: IkConfig = toml::from_str(REACH).unwrap();
    config.validate().unwrap();
    let before = motion(&character);
    let mut report = Report::default();
    let after = config.resolve(&setting(&character)).unwrap().apply(before.clone(), &mut report).unwrap();
    after.check().unwrap();
    for frame in 0..60 {
        let key = Vec3::new(-0.3, 1.2, 0.3).lerp(&Vec3::new(-0.1, 1.5, 0.4), frame as f64 / 60.0);
        assert!((place(&after, frame, Role::Hand(Side::Right)) - key).norm() < 2e-3, "frame {frame}");
        for side in Side::BOTH {
            let [a, b] = [&before, &after].map(|m| place(m, frame, Role::Foot(side)));
            assert!((a - b).norm() < 1e-3, "frame {frame}: {:e}", (a - b).norm());
        }
    }
    assert_eq!(value(&report, "ik_reached_right_hand"), 1.0);
    assert!(value(&report, "ik_max_residual_left_foot") < 1e-3);
    assert!(value(&report, "ik_mean_iterations") < 12.0);
}

/// The pelvis is lowered by 5 cm; feet and hands keep their places: nothing jumps.
#[test]
fn hands_and_feet_keep_their_places_under_a_lowered_pelvis() {
    let character = character();
    let before = motion(&character);
    let mut lowered = before.clone();
    let mut pose_list = Vec::new();
    for frame in 0..60 {
        let mut pose = lowered.clip.pose(character.skeleton(), frame);
        pose.local_mut()[0].translation.y -= 0.05;
        pose_list.push(pose);
    }
    lowered.clip = Clip::from_poses("made", 30.0, character.skeleton(), &pose_list);
    let ends =
        [Role::Hand(Side::Left), Role::Hand(Side::Right), Role::Foot(Side::Left), Role::Foot(Side::Right)];
    let text: String = ends
        .iter()
        .map(|role| {
            format!(
                "[[effectors]]\njoint = \"{role}\"\ngoal = \"hold\"\ntarget = [0.0, 0.05, 0.0]\nchain = 3\n"
            )
        })
        .collect();
    let config: IkConfig = toml::from_str(&text).unwrap();
    config.validate().unwrap();
    let mut report = Report::default();
    let after = config.resolve(&setting(&character)).unwrap().apply(lowered.clone(), &mut report).unwrap();
    for role in ends {
        let mut misses: Vec<f64> =
            (0..60).map(|f| (place(&after, f, role) - place(&before, f, role)).norm()).collect();
        misses.sort_by(f64::total_cmp);
        assert!(misses[30] < 1e-3, "{role}: {:e}", misses[30]);
    }
    let jump = |m: &Motion| {
        let turns = |f: usize| {
            m.clip
                .rotations(f)
                .iter()
                .zip(m.clip.rotations(f - 1).iter())
                .map(|(a, b)| a.angle_to(b))
                .fold(0.0, f64::max)
        };
        (1..60).map(turns).fold(0.0, f64::max)
    };
    assert!(jump(&after) < 1.5 * jump(&before), "{} against {}", jump(&after), jump(&before));
}

#[test]
fn every_solver_word_runs_and_reports() {
    let character = character();
    for word in [
        "tree",
        "two_bone",
        "ccd",
        "fabrik",
        "transpose",
        "pseudoinverse",
        "damped",
        "selectively_damped",
        "sugihara",
        "boxed",
    ] {
        let text = format!(
            "solver = \"{word}\"\nlimits = true\n[[effectors]]\njoint = \"left_hand\"\nfollow = \"right_hand\"\ntarget = [0.3, 0.0, 0.1]\nchain = 2\n"
        );
        let config: IkConfig = toml::from_str(&text).unwrap();
        let mut report = Report::default();
        let mut short = motion(&character);
        let poses = [short.clip.pose(character.skeleton(), 0)];
        short.clip = Clip::from_poses("one", 30.0, character.skeleton(), &poses);
        let after = config.resolve(&setting(&character)).unwrap().apply(short, &mut report).unwrap();
        after.check().unwrap();
        assert!(value(&report, "ik_mean_residual_left_hand").is_finite(), "{word}");
    }
}

#[test]
fn effectors_blend_in_and_out() {
    let character = character();
    let text = "[[effectors]]\njoint = \"left_hand\"\ntarget = [0.4, 1.3, 0.3]\nfrom_s = 0.5\nuntil_s = 1.5\nblend_s = 0.2\n";
    let config: IkConfig = toml::from_str(text).unwrap();
    let before = motion(&character);
    let after =
        config.resolve(&setting(&character)).unwrap().apply(before.clone(), &mut Report::default()).unwrap();
    let hand = Role::Hand(Side::Left);
    for frame in [0, 10, 50, 59] {
        for (a, b) in after.clip.rotations(frame).iter().zip(before.clip.rotations(frame).iter()) {
            assert!(a.angle_to(b) < 1e-7, "frame {frame} changed outside the effector's time");
        }
    }
    let here = |frame| (place(&after, frame, hand) - place(&before, frame, hand)).norm();
    assert!(here(18) > 1e-2 && here(18) < here(21), "it blends in");
    assert!((place(&after, 30, hand) - Vec3::new(0.4, 1.3, 0.3)).norm() < 2e-3);
}

#[test]
fn faults_of_the_configuration_are_named() {
    let character = character();
    let bad: IkConfig =
        toml::from_str("iterations = 0\n[[effectors]]\njoint = \"left_hand\"\nweight = -1.0\nfrom_s = nan\n")
            .unwrap();
    let faults: Vec<String> = bad.validate().unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "`iterations` is 0, allowed is 1 and more",
            "`weight` of effector `left_hand` is -1, allowed is above 0",
            "`from_s` of effector `left_hand` is NaN, allowed is a finite number",
            "effector `left_hand` needs exactly one of `target`, `keys`, `follow` and `csv`; the goal `hold` takes `target` only",
        ]
    );
    let unknown: IkConfig =
        toml::from_str("[[effectors]]\njoint = \"LeftHnd\"\ntarget = [0, 1, 0]\n").unwrap();
    let fault = unknown.resolve(&setting(&character)).unwrap_err().to_string();
    assert_eq!(
        fault,
        "`LeftHnd` is neither a role nor a joint of `made`\n  hint: the nearest name is `LeftHand`"
    );
}

#[test]
fn limits_bring_a_backward_knee_home_and_leave_the_rest() {
    let character = character();
    let knee = character.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
    let mut broken = motion(&character);
    for frame in 0..60 {
        broken.clip.rotations_mut(frame)[knee.index()] = exp(&(Vec3::x() * -0.8));
    }
    let stage = LimitsConfig::default().resolve(&setting(&character)).unwrap();
    let mut report = Report::default();
    let after = stage.apply(broken.clone(), &mut report).unwrap();
    after.check().unwrap();
    let turned = after.clip.rotations(7)[knee.index()];
    assert!(turned.angle_to(&exp(&(Vec3::x() * -10f64.to_radians()))) < 1e-9);
    assert_eq!(value(&report, "limits_joints_outside"), 1.0);
    assert_eq!(value(&report, "limits_frames_outside"), 60.0);
    let mut again = Report::default();
    stage.apply(after, &mut again).unwrap();
    assert!(value(&again, "limits_worst_excess") < 1e-9);
    let except = LimitsConfig { except: vec!["left_lower_leg".into()], ..LimitsConfig::default() };
    let untouched = except.resolve(&setting(&character)).unwrap().apply(broken.clone(), &mut report).unwrap();
    assert_eq!(untouched.clip, broken.clip);
}

/// The stage made of this text, applied to the made motion.
fn applied(text: &str) -> (Motion, Report) {
    let character = character();
    let config: IkConfig = toml::from_str(text).unwrap();
    config.validate().unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let mut report = Report::default();
    let after = config.resolve(&setting(&character)).unwrap().apply(motion(&character), &mut report).unwrap();
    after.check().unwrap();
    (after, report)
}

/// A file of targets.
fn targets(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name).with_extension("csv");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A constant, keys, another joint and a file that say the same place lead to the same place.
#[test]
fn targets_come_from_four_sources() {
    let folder = tempfile::tempdir().unwrap();
    let place_at = Vec3::new(0.3, 1.3, 0.35);
    let csv = targets(&folder, "steady", "\u{feff}time,x,y,z\n0,0.3,1.3,0.35\n\n2,0.3,1.3,0.35\n");
    let moving = targets(&folder, "moving", "0,0.3,1.2,0.35\n1.0,0.3,1.4,0.35\n");
    let body = character();
    let root = place(&motion(&body), 7, Role::Hips);
    let offset = place_at - root;
    for source in [
        "target = [0.3, 1.3, 0.35]".to_owned(),
        "keys = [[0.5, 0.3, 1.3, 0.35]]".to_owned(),
        format!("csv = {csv:?}"),
        format!("follow = \"hips\"\ntarget = [{}, {}, {}]", offset.x, offset.y, offset.z),
    ] {
        let (after, _) = applied(&format!("[[effectors]]\njoint = \"left_hand\"\nchain = 3\n{source}\n"));
        let there = place(&after, 7, Role::Hand(Side::Left));
        assert!((there - place_at).norm() < 2e-3, "{source}: {there}");
    }
    let (after, _) = applied(&format!("[[effectors]]\njoint = \"left_hand\"\nchain = 3\ncsv = {moving:?}\n"));
    for (frame, y) in [(0, 1.2), (15, 1.3), (30, 1.4), (59, 1.4)] {
        let there = place(&after, frame, Role::Hand(Side::Left));
        assert!((there - Vec3::new(0.3, y, 0.35)).norm() < 2e-3, "frame {frame}: {there}");
    }
}

/// Only the joints of the chain turn; one of any length lets the trunk help an arm that is too short.
#[test]
fn a_chain_is_as_long_as_told() {
    let before = motion(&character());
    let turned = |chain: u64| -> usize {
        let text =
            format!("[[effectors]]\njoint = \"left_hand\"\ntarget = [0.5, 1.4, 0.6]\nchain = {chain}\n");
        let (after, _) = applied(&text);
        before
            .clip
            .rotations(9)
            .iter()
            .zip(after.clip.rotations(9).iter())
            .filter(|(a, b)| a.angle_to(b) > 1e-6)
            .count()
    };
    assert!((1..=3).contains(&turned(2)), "{}", turned(2));
    assert!(turned(0) > turned(2));
    assert_eq!(turned(0), turned(i64::MAX as u64));
}

/// Where two effectors cannot both be served, the heavier one is nearer its target, and a hard one is there.
#[test]
fn weights_and_pins_decide_between_effectors() {
    let residuals = |hand: &str, elbow: &str| {
        let (_, report) = applied(&format!(
            "iterations = 60\n[[effectors]]\njoint = \"left_hand\"\ntarget = [0.3, 1.2, 0.6]\nchain = 2\n{hand}\n\
             [[effectors]]\njoint = \"left_lower_arm\"\ntarget = [0.3, 1.5, -0.1]\nchain = 1\n{elbow}\n"
        ));
        ["left_hand", "left_lower_arm"].map(|joint| value(&report, &format!("ik_mean_residual_{joint}")))
    };
    let (even, hand, elbow) =
        (residuals("", ""), residuals("weight = 20.0", ""), residuals("", "weight = 20.0"));
    assert!(hand[0] < even[0] && hand[1] > even[1] && elbow[1] < even[1] && elbow[0] > even[0]);
    let pinned = residuals("hard = true", "weight = 20.0");
    assert!(pinned[0] < even[0], "{pinned:?} {even:?}");
}

/// A head that looks at a place, and a warm start that comes to where the cold one does.
#[test]
fn heads_look_and_frames_may_start_from_the_one_before() {
    let look = "[[effectors]]\njoint = \"head\"\ngoal = \"aim\"\ntarget = [1.0, 1.7, 2.0]\nchain = 2\n";
    let (after, report) = applied(look);
    assert_eq!(value(&report, "ik_reached_head"), 1.0);
    let head = *after.model_pose(30).joint(after.character.rig.joint(Role::Head).unwrap());
    let ahead = head.rotation * Vec3::z();
    assert!(ahead.angle(&(Vec3::new(1.0, 1.7, 2.0) - head.translation)) < 2e-2, "{ahead}");
    let (_, both) =
        applied(&format!("{look}[[effectors]]\njoint = \"head\"\ntarget = [0.0, 9.0, 0.0]\nchain = 2\n"));
    assert!(value(&both, "ik_reached_head_2") < 1.0 && value(&both, "ik_max_residual_head_2") > 1.0);
    for warm in [false, true] {
        let (after, _) = applied(&format!("warm_start = {warm}\n{REACH}"));
        let key = Vec3::new(-0.3, 1.2, 0.3).lerp(&Vec3::new(-0.1, 1.5, 0.4), 0.5);
        assert!((place(&after, 30, Role::Hand(Side::Right)) - key).norm() < 2e-3, "{warm}");
    }
}

/// A character whose lengths are `factor` times as long.
fn large(factor: f64) -> Arc<Character> {
    let made = character();
    let mut joints = made.skeleton().joints().to_vec();
    joints.iter_mut().for_each(|joint| joint.rest.translation *= factor);
    let roles: Vec<_> = made.rig.assignments().map(|(role, how)| (role, how.clone())).collect();
    Arc::new(Character::new("large", Rig::new(Skeleton::new(joints).unwrap(), roles)))
}

/// The classic solvers damp and clamp lengths of a person, whatever the character's are.
#[test]
fn every_solver_reaches_on_characters_of_any_size() {
    for factor in [100.0, 1.0, 0.01] {
        let character = large(factor);
        let mut report = Report::default();
        for solver in ["transpose", "pseudoinverse", "damped", "selectively_damped", "sugihara", "boxed"] {
            let text = format!(
                "solver = \"{solver}\"\niterations = 200\ntolerance_m = {}\n[[effectors]]\njoint = \"right_hand\"\n\
                 target = [{}, {}, {}]\nchain = 3\n",
                1e-2 * factor,
                -0.3 * factor,
                1.2 * factor,
                0.3 * factor
            );
            let config: IkConfig = toml::from_str(&text).unwrap();
            let before = motion(&character).part(0..3);
            let stage = config.resolve(&setting(&character)).unwrap();
            let after = stage.apply(before, &mut report).unwrap();
            let target = Vec3::new(-0.3, 1.2, 0.3);
            let off = (place(&after, 2, Role::Hand(Side::Right)) / factor - target).norm();
            assert!(off < 2e-2, "{solver} on {factor}: {off}");
        }
        assert!(report.warnings.is_empty());
    }
}

#[test]
fn a_target_out_of_reach_is_reported() {
    let (_, report) = applied("[[effectors]]\njoint = \"right_hand\"\ntarget = [0.0, 9.0, 0.0]\nchain = 3\n");
    let codes: Vec<_> =
        report.warnings.iter().map(|warning| (warning.code, warning.message.clone())).collect();
    assert!(codes.len() == 1 && codes[0].0 == "ik-target-missed", "{codes:?}");
    assert!(codes[0].1.contains("in 60 of 60 frames"), "{codes:?}");
}

/// The share of frames in which an effector is far off: where it acts in full, by the size of the figure, and by angles too.
#[test]
fn targets_far_off_are_counted_where_an_effector_acts_in_full() {
    let above = "[[effectors]]\njoint = \"right_hand\"\nchain = 3\ntarget = [0.0, 9.0, 0.0]\n";
    let missed = |text: &str| value(&applied(text).1, "ik_missed");
    assert_eq!(missed(above), 1.0);
    // From 0.7 to 1.3 s, after and before a blend.
    let part = missed(&format!("{above}from_s = 0.5\nuntil_s = 1.5\nblend_s = 0.2\n"));
    assert!((part - 19.0 / 60.0).abs() < 1.5 / 60.0, "{part}");
    let aim = |far: f64| {
        format!("[[effectors]]\njoint = \"head\"\ngoal = \"aim\"\ntarget = [0.0, 1.7, {far:?}]\nchain = 1\n")
    };
    // No head looks forwards and backwards.
    assert_eq!(missed(&format!("{}hard = true\n{}", aim(9.0), aim(-9.0))), 1.0);
    // Two centimetres are far for a figure of two.
    let small = large(0.01);
    let config: IkConfig = toml::from_str(&above.replace("9.0", "0.04")).unwrap();
    let mut report = Report::default();
    config.resolve(&setting(&small)).unwrap().apply(motion(&small), &mut report).unwrap();
    assert_eq!(value(&report, "ik_missed"), 1.0);
}

#[test]
fn faults_of_a_file_of_targets_name_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let character = character();
    for (name, text, fault) in [
        ("nan", "0,nan,1,2\n", "line 1: `0,nan,1,2` is not four finite numbers: time, x, y, z"),
        ("short", "time,x,y,z\n0,1,2,3\n1,2\n", "line 3: `1,2` is not four finite numbers: time, x, y, z"),
        ("huge", "0,1e999,1,2\n", "line 1: `0,1e999,1,2` is not four finite numbers: time, x, y, z"),
        (
            "long",
            &format!("0,\u{1b}[2J{}\n", "9".repeat(100_000)),
            &format!(
                "line 1: `0,\\u{{1b}}[2J{}...` is not four finite numbers: time, x, y, z",
                "9".repeat(54)
            ),
        ),
        ("back", "1,0,0,0\n0.5,0,0,0\n", "line 2: the time does not ascend"),
        ("words", "time,x,y,z\n", "it has no line of numbers"),
        ("empty", "", "it has no line of numbers"),
    ] {
        let file = targets(&folder, name, text);
        let config: IkConfig =
            toml::from_str(&format!("[[effectors]]\njoint = \"left_hand\"\ncsv = {file:?}\n")).unwrap();
        config.validate().unwrap();
        let said = config.resolve(&setting(&character)).unwrap_err().to_string();
        assert!(said.contains(&file) && said.ends_with(fault), "{said}");
    }
    let gone: IkConfig =
        toml::from_str("[[effectors]]\njoint = \"left_hand\"\ncsv = \"gone.csv\"\n").unwrap();
    assert!(gone.resolve(&setting(&character)).unwrap_err().to_string().contains("gone.csv"));
}

/// One frame of the made motion with its hand told to be somewhere, the feet held or not told.
fn told(target: &Vec3, feet: bool) -> (Motion, Motion) {
    let character = character();
    let mut motion = motion(&character);
    let pose = motion.clip.pose(character.skeleton(), 20);
    motion.clip = Clip::from_poses("one", 30.0, character.skeleton(), &[pose]);
    let [x, y, z] = [target.x, target.y, target.z];
    let mut text = format!("[[effectors]]\njoint = \"left_hand\"\ntarget = [{x}, {y}, {z}]\n");
    for foot in ["left_foot", "right_foot"].iter().filter(|_| feet) {
        text += &format!("[[effectors]]\njoint = \"{foot}\"\ngoal = \"hold\"\nhard = true\n");
    }
    let config: IkConfig = toml::from_str(&text).unwrap();
    let stage = config.resolve(&setting(&character)).unwrap();
    let after = stage.apply(motion.clone(), &mut Report::default()).unwrap();
    (motion, after)
}

/// Where the left arm starts in the frame of [`told`], and how long it is.
const SHOULDER: Vec3 = Vec3::new(0.2, 1.5, 0.0);
const ARM: f64 = 0.54;

prop_compose! {
    /// A way from the shoulder to a target: ahead, beside, above or below, near or far, not right at the shoulder.
    fn way()(x in -0.6..1.0f64, y in -1.0..1.0f64, z in -0.3..1.0f64, far in 0.3..6.0f64) -> Vec3 {
        Vec3::new(x, y, z).try_normalize(0.2).unwrap_or_else(Vec3::z) * (far * ARM)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A step of the target turns no joint by more than so much for each metre, across the border of reach too.
    #[test]
    fn answers_vary_smoothly_with_the_target(
        way in way(), step in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], feet: bool,
    ) {
        let target = SHOULDER + way;
        let step = Vec3::from(step) * 1e-3;
        let [(_, a), (_, b)] = [target, target + step].map(|t| told(&t, feet));
        for (p, q) in a.clip.rotations(0).iter().zip(b.clip.rotations(0).iter()) {
            prop_assert!(p.angle_to(q) < 40.0 * step.norm() + 1e-4, "{} for {}", p.angle_to(q), step.norm());
        }
    }

    /// A target in reach is reached by the arm alone; one too far is pointed at with a straight arm, whose shoulder
    /// comes along a little; nobody else is asked.
    #[test]
    fn near_targets_are_reached_and_far_ones_pointed_at(way in way(), feet: bool) {
        let target = SHOULDER + way;
        let (before, after) = told(&target, feet);
        let hand = place(&after, 0, Role::Hand(Side::Left));
        let shoulder = place(&after, 0, Role::UpperArm(Side::Left));
        let moved = |role: Role| (place(&after, 0, role) - place(&before, 0, role)).norm();
        if way.norm() < 0.96 * ARM {
            prop_assert!((hand - target).norm() < 1e-3);
            prop_assert!(moved(Role::Hand(Side::Right)) < 1e-6 && moved(Role::Head) < 1e-6);
        }
        if way.norm() > 1.5 * ARM {
            prop_assert!((hand - shoulder).angle(&(target - shoulder)) < 1e-3);
            prop_assert!((hand - shoulder).norm() > 0.99 * ARM);
        }
        // A body leans for what it can reach, and hardly for what is farther.
        let most = if way.norm() < 3.0 * ARM { 0.4 } else { 0.2 } * ARM;
        prop_assert!(moved(Role::UpperArm(Side::Left)) < most);
        prop_assert!(moved(Role::Hand(Side::Right)) < 1.7 * most && moved(Role::Head) < 1.7 * most);
        prop_assert!(moved(Role::Foot(Side::Left)) < 1e-3 && moved(Role::Foot(Side::Right)) < 1e-3);
    }
}
