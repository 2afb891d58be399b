//! The scenes of `pipelines/`: the hand lifts the ball, the ragdoll comes to rest, and hostile scenes are refused
//! with the line.

use super::support::largest_speed;
use crate::dynamics::scene::SteppingMethod;
use posemill::dynamics::*;
use posemill::math::Vec3;
use std::path::Path;

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines").join(name)).unwrap()
}

fn scene(name: &str) -> Scene {
    Scene::parse(&text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn the_hand_lifts_the_ball_by_its_sensors() {
    let scene = scene("hand_grasp.toml");
    let recording = simulate(&scene).unwrap();
    let find = |name: &str| recording.names.iter().position(|n| n == name).unwrap();
    let (ball, palm) = (find("ball"), find("palm"));
    let (first, last) = (&recording.frames[0], recording.frames.last().unwrap());
    let at = |f: &Frame, body: usize| f.bodies[body].translation;
    let lift = at(last, ball).z - at(first, ball).z;
    // The hold starts when the palm has reached its target.
    let top = at(last, palm).z - 1e-3;
    let held: Vec<&Frame> = recording.frames.iter().filter(|f| at(f, palm).z >= top).collect();
    let relative = |f: &Frame| at(f, ball) - at(f, palm);
    let slip = held.iter().map(|f| (relative(f) - relative(held[0])).norm()).fold(0.0, f64::max);
    let off_axis = at(last, ball).xy().norm();
    println!(
        "lift {lift:.5} slip {slip:.5} deepest {:.6} joints {:.6} off axis {off_axis:.5} kinetic {:.1e} touches {:?}",
        recording.deepest_contact,
        recording.largest_constraint_error,
        last.kinetic_energy,
        recording.first_touches
    );
    assert!(lift >= 0.110 && slip <= 0.010 && off_axis <= 0.010);
    assert!(recording.deepest_contact <= 0.003 && recording.largest_constraint_error <= 0.001);
    assert!(last.kinetic_energy <= 1e-3);
    for (name, touch) in &recording.first_touches {
        assert!(touch.is_some_and(|t| (0.25..=0.45).contains(&t)), "{name}: {touch:?}");
    }
    // The lift of ODE's dWorldStep and of the prototype on the same scene.
    for reference in [0.12065, 0.12064] {
        assert!((lift / reference - 1.0).abs() < 0.02, "{lift}");
    }
    // By sensors: without them the hand stays closed around the ball and nothing rises.
    let mut blind = scene.clone();
    for sensor in &mut blind.controller.sensors {
        sensor.bodies.clear();
    }
    let still = simulate(&blind).unwrap();
    assert!(still.frames.last().unwrap().bodies[palm].translation.z < 0.14);
}

#[test]
fn the_ragdoll_comes_to_rest_on_the_plane_and_stays() {
    let mut scene = scene("ragdoll_drop.toml");
    assert_eq!(scene.world.articulation.bodies().len(), 30);
    scene.duration = 6.0;
    let recording = simulate(&scene).unwrap();
    let settled = largest_speed(&recording.last);
    let moved = {
        let (a, b) = (&recording.frames[recording.frames.len() - 60], recording.frames.last().unwrap());
        a.bodies
            .iter()
            .zip(&b.bodies)
            .map(|(a, b)| (a.translation - b.translation).norm())
            .fold(0.0, f64::max)
    };
    let lowest = recording.last.iter().map(|s| s.position.y).fold(f64::INFINITY, f64::min);
    println!(
        "speed {settled:.2e}, moved {moved:.2e} in the last second, deepest {:.5}",
        recording.deepest_contact
    );
    assert!(settled < 0.02 && moved < 2e-3 && lowest > 0.0);
    assert!(recording.deepest_contact < 0.01);
}

#[test]
fn the_three_bodies_keep_momenta_and_energy() {
    let recording = simulate(&scene("three_bodies.toml")).unwrap();
    let (first, last) = (&recording.frames[0], recording.frames.last().unwrap());
    assert!((last.kinetic_energy / first.kinetic_energy - 1.0).abs() < 1e-12);
    assert!((last.angular_momentum - first.angular_momentum).norm() < 1e-12 * first.angular_momentum.norm());
    assert!(recording.largest_constraint_error < 1e-12);
    assert_eq!(recording.frames.len(), 601);
    let csv = recording.to_csv();
    assert_eq!(csv.lines().count(), 602);
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|l| l.split(',').count() == columns));
    assert!(recording.geometry.iter().all(|g| matches!(g.shape, Shape::Ellipsoid { .. })));
}

#[test]
fn the_system_of_the_note_and_blocks_carry_a_scene_as_the_kernel_does() {
    let text = text("three_bodies.toml");
    let run = |integrator: &str| {
        let mut scene = Scene::parse_with(&text, Some(integrator)).unwrap();
        scene.duration = 1.0;
        simulate(&scene).unwrap()
    };
    let apart = |a: &Recording, b: &Recording| {
        let bodies = a.last.iter().zip(&b.last);
        bodies.map(|(x, y)| (x.position - y.position).norm()).fold(0.0, f64::max)
    };
    let kernel = run("rk4");
    let blocks = apart(&kernel, &run("blocks"));
    // The step of the note is of first order: close, and equal to the same step with the kernel.
    let mut by_kernel = Scene::parse_with(&text, Some("note")).unwrap();
    by_kernel.duration = 1.0;
    by_kernel.method = SteppingMethod::Stepper(Integrator::Note, System::Kernel, Stabilization::Restore);
    let note = run("note");
    let of_system = apart(&simulate(&by_kernel).unwrap(), &note);
    let of_step = apart(&kernel, &note);
    println!("blocks {blocks:.1e} m, the note's system {of_system:.1e} m, its step {of_step:.1e} m");
    assert!(blocks < 1e-9 && of_system < 1e-9 && (1e-6..0.1).contains(&of_step));
}

#[test]
fn the_note_knows_hinges_and_balls_only() {
    let slider = text("three_bodies.toml").replace("kind = \"hinge\"", "kind = \"slider\"");
    let message = Scene::parse_with(&slider, Some("note")).unwrap_err().to_string();
    assert!(message.contains("the integrator `note` knows no constraint but hinges and balls"), "{message}");
    assert!(Scene::parse_with(&slider, Some("blocks")).is_ok());
}

#[test]
fn the_chain_hangs_on_and_loses_energy() {
    let recording = simulate(&scene("chain.toml")).unwrap();
    let energy = |f: &Frame| f.kinetic_energy + f.potential_energy;
    assert!(recording.largest_constraint_error < 1e-10);
    for pair in recording.frames.windows(2) {
        assert!(energy(&pair[1]) <= energy(&pair[0]) + 1e-6, "{}", pair[1].time);
    }
}

#[test]
fn a_simulation_is_the_same_twice() {
    let mut scene = scene("hand_grasp.toml");
    scene.duration = 0.6;
    assert_eq!(simulate(&scene).unwrap().to_csv(), simulate(&scene).unwrap().to_csv());
}

const SMALL: &str = r#"
[simulation]
step = 0.01
duration = 1.0
integrator = "world"

[[body]]
name = "a"
mass = 1.0
position = [0.0, 1.0, 0.0]
sphere = 0.1

[[body]]
name = "b"
mass = 1.0
position = [0.0, 2.0, 0.0]
inertia = [0.1, 0.1, 0.1]

[[constraint]]
name = "hinge"
kind = "hinge"
a = "a"
b = "b"
anchor = [0.0, 1.5, 0.0]
axis = [0.0, 0.0, 1.0]
motor = { speed = 1.0, limit = 2.0 }

[[sensor]]
name = "feel"
bodies = ["a"]

[[rule]]
when = "feel and time > 0.5"
then = [{ motor = "hinge", speed = 0.0 }]
"#;

#[test]
fn hostile_scenes_are_refused_with_the_line() {
    assert!(Scene::parse(SMALL).is_ok());
    let second_tie = "\n[[constraint]]\nname = \"again\"\nkind = \"ball\"\na = \"b\"\nb = \"b\"\nanchor = [0.0, 0.0, 0.0]\n";
    let cases = [
        ("step = 0.01", "step = 0.0", "line 3: `step` is 0, it must be a finite number above zero"),
        ("step = 0.01", "step = nan", "line 3: `step` is NaN, it must be a finite number above zero"),
        (
            "step = 0.01",
            "step = 1e-12",
            "line 3: `step` is 0.000000000001, it must be at least a ten-millionth of the duration",
        ),
        (
            "\"world\"\n\n",
            "\"euler\"\n\n",
            "line 5: `integrator` is `euler`, it must be `world`, `rk4`, `variational`, `note` or `blocks`",
        ),
        (
            "\"world\"\n\n",
            "\"rk4\"\n\n",
            "line 5: the integrator `rk4` knows no motors with limits\n  hint: `world` does",
        ),
        (
            "\"world\"\n\n",
            "\"world\"\nstabilization = \"project\"\n\n",
            "line 6: the integrator `world` knows no `stabilization`\n  hint: `rk4`, `variational`, `note` and `blocks` do",
        ),
        (
            "mass = 1.0\nposition = [0.0, 1.0",
            "mass = 0.0\nposition = [0.0, 1.0",
            "line 9: the mass of body `a` is 0 kg\n  hint: write a finite number above 0",
        ),
        (
            "[0.1, 0.1, 0.1]",
            "[0.1, -0.1, 0.1]",
            "line 17: the inertia of body `b` has the principal moments [-0.1, 0.1, 0.1] kg m^2\n  hint: write a symmetric matrix with three moments above 0, none larger than the sum of the other two",
        ),
        (
            "[0.1, 0.1, 0.1]",
            "[0.1]",
            "line 17: `inertia` is [0.1], it must be three numbers, or six: xx, yy, zz, xy, xz, yz",
        ),
        (
            "[0.0, 1.5, 0.0]",
            "[0.0, nan, 0.0]",
            "line 24: `anchor` is [0.0, NaN, 0.0], it must be three finite numbers",
        ),
        (
            "axis = [0.0, 0.0, 1.0]",
            "axis = [0.0, 0.0, 0.0]",
            "line 25: `axis` is [0.0, 0.0, 0.0], it must be a direction",
        ),
        ("b = \"b\"", "b = \"bb\"", "line 23: no body is called `bb`\n  hint: did you mean `b`?"),
        ("name = \"b\"", "name = \"a\"", "line 14: the name `a` is taken"),
        (
            "kind = \"hinge\"",
            "kind = \"screw\"",
            "line 21: `kind` is `screw`, it must be `ball`, `hinge`, `universal`, `slider` or `fixed`",
        ),
        (
            "\n[[sensor]]",
            &format!("{second_tie}\n[[sensor]]"),
            "line 29: constraint `again` joins a body to itself\n  hint: name two different bodies, or `world` once",
        ),
        ("feel and time", "feal and time", "line 33: in the condition: no sensor is called `feal`"),
        (
            "motor = \"hinge\", speed = 0.0",
            "motor = \"hinge\", speed = inf",
            "line 34: `then` is { motor = \"hinge\", speed = inf }, it must be finite, its limit zero or above",
        ),
        ("sphere = 0.1", "sphere = 0.1\ncolour = 3", "line 12: unknown field `colour`"),
        (
            "mass = 1.0\nposition = [0.0, 1.0",
            "mass = \"1 kg\"\nposition = [0.0, 1.0",
            "line 9: invalid type: string \"1 kg\", expected a number\n  hint: `mass`: kilograms",
        ),
        (
            "sphere = 0.1",
            "rotation = [90.0, 0.0, 0.0]",
            "line 11: invalid length 3, expected four numbers\n  hint: `rotation`: a unit quaternion w, x, y, z",
        ),
        (
            "sphere = 0.1",
            "sphere = 0.1\nrestitution = 1.5",
            "line 12: `restitution` is 1.5, it must be a number from 0 to 1",
        ),
        (
            "motor = { speed",
            "limits = [-20.0, 130.0]\nmotor = { speed",
            "line 26: `limits` is [-20, 130], it must be radians within -pi and pi, from the first instant",
        ),
        (
            "kind = \"hinge\"",
            "kind = \"ball\"",
            "line 26: `motor` is given for a `ball`, it must be that of a `hinge` or a `slider`",
        ),
        ("[simulation]", "[simulation", "line 2: "),
    ];
    for (from, to, message) in cases {
        assert!(SMALL.contains(from), "{from}");
        let error = Scene::parse(&SMALL.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{to}:\n{error}\n{message}");
    }
    let slop = text("chain.toml").replacen("\"rk4\"\n", "\"rk4\"\nslop = 0.001\n", 1);
    let error = Scene::parse(&slop).unwrap_err().to_string();
    assert_eq!(error, "line 9: the integrator `rk4` knows no `slop`\n  hint: `world` does");
    // What would fall through its ground is not simulated at all.
    let ground = text("chain.toml") + "\n[[plane]]\nnormal = [0.0, 1.0, 0.0]\n";
    let error = Scene::parse(&ground).unwrap_err().to_string();
    assert_eq!(error, "line 8: the integrator `rk4` knows no contacts with planes\n  hint: `world` does");
}

#[test]
fn every_key_of_a_scene_is_explained() {
    for (section, keys) in SCENE_KEYS {
        // The fault of an unknown key lists those that are known.
        let stranger = "zzz = 1\n";
        let text = match section {
            "" => format!("{stranger}{SMALL}"),
            "[[plane]]" | "[[target]]" => format!("{SMALL}\n{section}\n{stranger}"),
            _ => SMALL.replacen(&format!("{section}\n"), &format!("{section}\n{stranger}"), 1),
        };
        let error = Scene::parse(&text).unwrap_err().to_string();
        let listed: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        let sections = ["simulation", "body", "constraint", "plane", "target", "sensor", "rule"];
        let listed: Vec<&str> =
            listed.into_iter().filter(|k| !(section.is_empty() && sections.contains(k))).collect();
        let explained: Vec<&str> = keys.iter().map(|k| k.0).collect();
        assert_eq!(listed, explained, "{section}: {error}");
    }
    let error = Scene::parse(&SMALL.replacen("mass", "masss", 1)).unwrap_err().to_string();
    assert!(error.ends_with("\n  hint: did you mean `mass`?"), "{error}");
}

#[test]
fn a_missing_key_is_named_with_all_that_its_section_needs() {
    for (section, needed) in [
        ("[simulation]", "`step`, `duration`"),
        ("[[body]]", "`name`, `mass`, `position`"),
        ("[[constraint]]", "`name`, `kind`, `a`, `b`, `anchor`"),
        ("[[plane]]", "`normal`"),
        ("[[target]]", "`body`, `motion`, `joint`, `force`, `torque`"),
        ("[[sensor]]", "`name`, `bodies`"),
        ("[[rule]]", "`when`, `then`"),
    ] {
        let text = match section {
            "[simulation]" => section.to_owned(),
            _ => format!("{SMALL}\n{section}\n"),
        };
        let error = Scene::parse(&text).unwrap_err().to_string();
        let first = needed.split(',').next().unwrap();
        assert!(error.ends_with(&format!(": {section} lacks {first}; it needs {needed}")), "{error}");
    }
    let motor = SMALL.replacen("speed = 1.0, ", "", 1);
    assert!(Scene::parse(&motor).unwrap_err().to_string().ends_with("the key `speed` is missing"));
}

#[test]
fn what_a_scene_may_not_have_meant_is_a_warning() {
    let two =
        "[[body]]\nname = \"c\"\nmass = 1.0\nposition = [0.0, 1.1, 0.0]\nsphere = 0.1\n\n[[constraint]]";
    let overlapping = Scene::parse(&SMALL.replacen("[[constraint]]", two, 1)).unwrap();
    let report = simulate(&overlapping).unwrap().report();
    let said: Vec<&str> = report.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(said, ["`a` and `c` overlap by 0.100 m at the start and are pushed apart"]);
    let mut coarse = scene("three_bodies.toml");
    assert!(simulate(&coarse).unwrap().report().warnings.is_empty());
    coarse.step = 0.5;
    assert!(simulate(&coarse).unwrap().report().warnings.has("energy-not-restored"));
}

#[test]
fn a_damaged_scene_never_panics() {
    for cut in (0..SMALL.len()).step_by(7) {
        let _ = Scene::parse(&SMALL[..cut]);
        let _ = Scene::parse(&SMALL.replacen(&SMALL[cut..=cut], "-", 1));
    }
}

#[test]
fn a_diverging_scene_says_where_and_when() {
    let mut scene = scene("chain.toml");
    scene.world.states[3].velocity = Vec3::new(1e200, 1e200, 0.0);
    scene.method = SteppingMethod::Stepper(Integrator::Note, System::Kernel, Stabilization::None);
    let error = simulate(&scene).unwrap_err();
    let SimulationError::Diverged { time, .. } = &error;
    assert!(*time > 0.0 && error.to_string().contains("left the finite numbers"));
}

#[test]
fn a_latched_rule_stays_in_force_and_later_rules_win() {
    let rules = |latch: bool, more: &str| {
        let text = format!(
            "[simulation]\nstep = 0.01\nduration = 1.0\nintegrator = \"world\"\ngravity = [0.0, 0.0, 0.0]\n\
             [[body]]\nname = \"rod\"\nmass = 1.0\nposition = [0.0, 0.0, 0.0]\nsphere = 0.1\n\
             [[constraint]]\nname = \"rail\"\nkind = \"slider\"\na = \"world\"\nb = \"rod\"\nanchor = [0.0, 0.0, 0.0]\n\
             axis = [1.0, 0.0, 0.0]\nmotor = {{ speed = 0.0, limit = 1e6 }}\n\
             [[rule]]\nwhen = \"time >= 0.2 and time < 0.5\"\nlatch = {latch}\nthen = [{{ motor = \"rail\", speed = 1.0 }}]\n\
             {more}"
        );
        let recording = simulate(&Scene::parse(&text).unwrap()).unwrap();
        recording.last[0].position.x
    };
    assert!((rules(false, "") - 0.3).abs() < 0.011);
    assert!((rules(true, "") - 0.8).abs() < 0.011);
    let stop = "[[rule]]\nwhen = \"position(rail) >= 0.1\"\nthen = [{ motor = \"rail\", speed = 0.0 }]\n";
    assert!((rules(true, stop) - 0.1).abs() < 0.011);
}
