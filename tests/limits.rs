//! How far joints turn, told for one character: by the pipeline, by a joint map, and what is said where it is wrong.

use posemill::import::{ImportOptions, load};
use posemill::math::angle_between;
use posemill::model::{Motion, Role, Side};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A pipeline in a folder of its own: the squat onto both characters, `input` and `stages` as told.
fn run(folder: &Path, input: &str, retarget: &str) -> Output {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let text = format!(
        "[input]\nmotion = [{:?}]\ncharacter = [{:?}, {:?}]\n{input}\n\
         [[stage]]\nuse = \"retarget\"\n{retarget}\n[[stage]]\nuse = \"limits\"\n",
        data.join("squat.bvh"),
        data.join("robot.glb"),
        data.join("mannequin.glb"),
    );
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    let program = env!("CARGO_BIN_EXE_posemill");
    Command::new(program).arg("run").arg(folder.join("pipeline.toml")).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How far the left knee bends at most, in degrees.
fn most_bent(file: &Path) -> f64 {
    let motion: Motion = load(file, &ImportOptions::default()).unwrap().motion(0).unwrap();
    let rig = &motion.character.rig;
    let joint = |role: fn(Side) -> Role| rig.joint(role(Side::Left)).unwrap();
    let [hip, knee, ankle] = [joint(Role::UpperLeg), joint(Role::LowerLeg), joint(Role::Foot)];
    let bent = |frame| {
        let model = motion.model_pose(frame);
        let [a, b, c] = [hip, knee, ankle].map(|j| model.position(j));
        angle_between(&(b - a), &(c - b)).to_degrees()
    };
    (0..motion.clip.frames()).map(bent).fold(0.0, f64::max)
}

#[test]
fn a_character_turns_as_far_as_the_pipeline_tells_and_the_other_as_people_do() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "[input.limits.robot.left_lower_leg]\nflexion = 40\n", "");
    assert!(output.status.success(), "{}", said(&output));
    let out = folder.path().join("out");
    let robot = most_bent(&out.join("robot/squat.glb"));
    assert!((39.9..40.1).contains(&robot), "{robot} degrees");
    let other = most_bent(&out.join("mannequin/squat.glb"));
    assert!(other > 60.0, "{other} degrees");
}

#[test]
fn a_joint_map_tells_limits_and_roles_to_the_stages_after_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("map.toml"), "limits.left_lower_leg = { flexion = 40 }\n").unwrap();
    let output = run(folder.path(), "", "map = \"map.toml\"\n");
    assert!(output.status.success(), "{}", said(&output));
    for character in ["robot", "mannequin"] {
        let bent = most_bent(&folder.path().join("out").join(character).join("squat.glb"));
        assert!((39.9..40.1).contains(&bent), "{character}: {bent} degrees");
    }
}

#[test]
fn faults_are_shown_where_they_stand_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |input: &str| {
        let output = run(folder.path(), input, "");
        assert_eq!(output.status.code(), Some(2));
        said(&output)
    };
    let said = fault("[input.limits.robot.left_lower_leg]\nflexion = 40\nbend = 3\n");
    assert!(said.contains("`left_lower_leg` has no `bend`, allowed are `flexion`, `extension`"), "{said}");
    assert!(said.contains("pipeline.toml:6:1"), "{said}");
    let said = fault("[input.limits.robot.left_lower_leg]\nflexion = 400\n");
    assert!(said.contains("`flexion` of `left_lower_leg` is 400, allowed is 0 to 180 degrees"), "{said}");
    let said = fault("[input.limits.robot.left_knee]\nflexion = 40\n");
    assert!(said.contains("`left_knee` is no role"), "{said}");
    let said = fault("[input.limits.robbot.left_lower_leg]\nflexion = 40\n");
    assert!(said.contains("`limits` names no character of this pipeline: `robbot`"), "{said}");
    assert!(said.contains("pipeline.toml:4"), "{said}");
}
