//! The table of scenes that every solver runs, in tests and in the bench.

#![allow(dead_code, reason = "every test takes what it needs")]

use posemill::ik::*;
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Joint, JointId, ModelPose, Pose, Skeleton};

/// A small deterministic random source (xorshift), numbers from -1 to 1.
pub struct Random(pub u64);

impl Random {
    /// From -1 to 1.
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    /// Every coordinate within `size` of 0.
    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number()) * size
    }
}

/// The joint of this index.
pub fn id(j: usize) -> JointId {
    JointId::new(j)
}

/// Joints by parent and offset.
pub fn skeleton_of(joints: &[(Option<usize>, Vec3)]) -> Skeleton {
    let joint = |(i, (parent, offset)): (usize, &(Option<usize>, Vec3))| {
        Joint::new(format!("j{i}"), parent.map(JointId::new), Transform::from_translation(*offset))
    };
    Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap()
}

/// Links along X.
pub fn chain(lengths: &[f64]) -> Skeleton {
    let mut joints = vec![(None, Vec3::zeros())];
    joints.extend(lengths.iter().enumerate().map(|(i, l)| (Some(i), Vec3::x() * *l)));
    skeleton_of(&joints)
}

/// A made body of pelvis, spine, head, arms and legs, with fingers or without, and its effectors.
pub fn body(fingers: bool) -> (Skeleton, Vec<usize>) {
    let mut joints = vec![(None, Vec3::new(0.0, 0.9, 0.0))];
    let mut add = |parent: usize, x: f64, y: f64, z: f64| {
        joints.push((Some(parent), Vec3::new(x, y, z)));
        joints.len() - 1
    };
    let mut spine = 0;
    for _ in 0..3 {
        spine = add(spine, 0.0, 0.13, 0.0);
    }
    let neck = add(spine, 0.0, 0.1, 0.0);
    let mut effectors = vec![add(neck, 0.0, 0.12, 0.0)];
    for side in [1.0, -1.0] {
        let clavicle = add(spine, 0.05 * side, 0.05, 0.0);
        let shoulder = add(clavicle, 0.13 * side, 0.0, 0.0);
        let elbow = add(shoulder, 0.28 * side, 0.0, 0.0);
        let wrist = add(elbow, 0.26 * side, 0.0, 0.0);
        effectors.push(wrist);
        if fingers {
            for f in 0..5 {
                let mut knuckle = wrist;
                for k in 0..3 {
                    let (reach, spread) = if k == 0 { (0.09, 0.02 * (f as f64 - 2.0)) } else { (0.03, 0.0) };
                    knuckle = add(knuckle, reach * side, 0.0, spread);
                }
                effectors.push(knuckle);
            }
        }
        let hip = add(0, 0.1 * side, -0.05, 0.0);
        let knee = add(hip, 0.0, -0.42, 0.0);
        let ankle = add(knee, 0.0, -0.42, 0.0);
        let toes = add(ankle, 0.0, -0.06, 0.14);
        effectors.extend([ankle, toes]);
        if fingers {
            effectors.extend([elbow, knee]);
        }
    }
    (skeleton_of(&joints), effectors)
}

/// The rest pose with every joint turned at random.
pub fn shaken(skeleton: &Skeleton, size: f64, random: &mut Random) -> Pose {
    let mut pose = skeleton.rest_pose();
    for local in pose.local_mut() {
        local.rotation *= exp(&random.vector(size));
    }
    pose
}

/// One question of the table.
pub struct Scene {
    /// What people call it.
    pub name: &'static str,
    /// What moves.
    pub mechanism: Mechanism,
    /// Where it starts.
    pub start: Pose,
    /// What is asked.
    pub tasks: Vec<Task>,
    /// Whether there is an answer within every tolerance.
    pub solvable: bool,
}

fn place(skeleton: &Skeleton, pose: &Pose, j: usize) -> Vec3 {
    ModelPose::of(skeleton, pose).position(id(j))
}

/// An arm of seven limited hinges.
pub fn arm7() -> Mechanism {
    let skeleton = chain(&[0.1, 0.15, 0.2, 0.15, 0.2, 0.1, 0.1]);
    let axes = [Vec3::z(), Vec3::y(), Vec3::x()];
    let hinges = (0..7).map(|k| Freedom::Hinge(axes[k % 3])).chain([Freedom::Fixed]);
    let mechanism = Mechanism::new(&skeleton, hinges);
    (0..7).fold(mechanism, |m, k| m.with_limit(id(k), Limit::Range(Range::new(-2.2, 2.2))))
}

/// All scenes, the same ones every time.
pub fn scenes() -> Vec<Scene> {
    let mut random = Random(4_242_424_242);
    let mut all = Vec::new();
    let mut add = |name, mechanism: &Mechanism, start: &Pose, tasks: Vec<Task>, solvable| {
        all.push(Scene { name, mechanism: mechanism.clone(), start: start.clone(), tasks, solvable });
    };

    let two = chain(&[1.0, 0.8]);
    let planar = Mechanism::new(&two, [Freedom::Hinge(Vec3::z()), Freedom::Hinge(Vec3::z()), Freedom::Fixed]);
    let mut bent = two.rest_pose();
    bent.local_mut()[1].rotation = exp(&(Vec3::z() * 0.6));
    let reach = |t: Vec3| vec![Task::position(id(2), t)];
    add("planar two links", &planar, &bent, reach(Vec3::new(0.9, 0.7, 0.0)), true);
    add("planar, out of reach", &planar, &bent, reach(Vec3::new(2.0, 1.5, 0.0)), false);
    add("planar, target at the root", &planar, &bent, reach(Vec3::zeros()), false);
    add("planar, straight start", &planar, &two.rest_pose(), reach(Vec3::new(0.9, 0.7, 0.0)), true);
    add("planar, straight towards the target", &planar, &two.rest_pose(), reach(Vec3::x() * 1.2), true);

    let arm = arm7();
    let mut start = arm.skeleton().rest_pose();
    let model = arm.skeleton().rest_model_pose();
    let bend: Vec<f64> = (0..7).map(|k| if k % 2 == 0 { 0.4 } else { -0.5 }).collect();
    arm.step(&mut start, &model, &bend);
    let mut goal = start.clone();
    let turn: Vec<f64> = (0..7).map(|_| 0.5 * random.number()).collect();
    arm.step(&mut goal, &ModelPose::of(arm.skeleton(), &start), &turn);
    let at = *ModelPose::of(arm.skeleton(), &goal).joint(id(7));
    let pose7 = vec![Task::position(id(7), at.translation), Task::orientation(id(7), at.rotation).weigh(0.1)];
    add("arm of 7 hinges, position", &arm, &start, pose7[..1].to_vec(), true);
    add("arm of 7 hinges, position and orientation", &arm, &start, pose7, true);
    add("arm of 7 hinges, out of reach", &arm, &start, vec![Task::position(id(7), Vec3::y() * 3.0)], false);

    let rope = chain(&[0.1; 20]);
    let balls = Mechanism::anchored(&rope);
    let start = shaken(&rope, 0.1, &mut random);
    let tip = |t: Vec3| vec![Task::position(id(20), t)];
    add("chain of 20 balls", &balls, &start, tip(Vec3::new(0.7, 0.9, 0.3)), true);
    add("chain of 20 balls, target at the root", &balls, &start, tip(Vec3::zeros()), true);
    add("chain of 20 balls, out of reach", &balls, &start, tip(Vec3::new(3.0, 1.0, 0.0)), false);
    let two_places = vec![Task::position(id(20), Vec3::y()), Task::position(id(20), -Vec3::y())];
    add("chain of 20 balls, conflicting targets", &balls, &start, two_places, false);

    for (name, fingers, count) in
        [("humanoid, 5 effectors", false, 5), ("humanoid with fingers, 21 effectors", true, 21)]
    {
        let (skeleton, effectors) = body(fingers);
        let mechanism = Mechanism::floating(&skeleton);
        let start = skeleton.rest_pose();
        let goal = shaken(&skeleton, 0.15, &mut random);
        let tasks = effectors.iter().take(count).map(|&e| Task::position(id(e), place(&skeleton, &goal, e)));
        add(name, &mechanism, &start, tasks.collect(), true);
    }
    all
}

/// Every solver of the library.
pub fn solvers() -> Vec<Box<dyn Solver>> {
    let mut all: Vec<Box<dyn Solver>> = vec![
        Box::new(TreeSolver::default()),
        Box::new(Boxed::default()),
        Box::new(TwoBone::default()),
        Box::new(Ccd::default()),
        Box::new(Fabrik),
    ];
    all.extend(Jacobian::all().map(|s| Box::new(s) as Box<dyn Solver>));
    all
}

/// What the table says of a solver on a scene before and behind the time: scene, solver, tasks reached, iterations and
/// residual; why it misses.
pub fn cells(scene: &Scene, solver: &dyn Solver, outcome: &Outcome) -> ([String; 5], &'static str) {
    let reached = outcome.effectors.iter().filter(|e| e.reach == Reach::Reached).count();
    let why = match (outcome.converged, scene.solvable) {
        (true, _) => "",
        (false, false) => "no solution exists",
        (false, true) => reason(solver.name(), scene.name).unwrap_or("unknown"),
    };
    let reached = format!("{reached}/{}", scene.tasks.len());
    let (iterations, residual) = (outcome.iterations.to_string(), format!("{:.1e}", outcome.residual));
    ([scene.name.into(), solver.name().into(), reached, iterations, residual], why)
}

/// Why a solver of this name may miss a scene that has an answer.
pub fn reason(solver: &str, scene: &str) -> Option<&'static str> {
    let (arm, body) = (scene.starts_with("arm"), scene.starts_with("humanoid"));
    match solver {
        "two-bone" if !scene.starts_with("planar") => Some("solves limbs of two bones only"),
        "transpose" if arm || body => Some("gradient descent converges slowly near the target"),
        "ccd" if scene.contains("orientation") => {
            Some("rotating a hinge for the position undoes the orientation")
        }
        "fabrik" if arm => Some("proposed positions leave the hinges' planes"),
        "ccd" | "fabrik" if body => {
            Some("shared joints move to the mean of their effectors: slow convergence")
        }
        _ => None,
    }
}
