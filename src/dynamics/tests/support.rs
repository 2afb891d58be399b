//! The reference files of the dynamics, and random trees.
#![allow(dead_code)]

pub use crate::development_data::data;
use posemill::dynamics::*;
use posemill::math::{Mat3, Quat, Vec3, from_columns};
use serde_json::Value;

pub struct Reference {
    pub name: String,
    pub articulation: Articulation,
    pub rank: usize,
    pub linear: Vec<Vec3>,
    pub angular: Vec<Vec3>,
    pub joint_forces: Option<(Vec<Vec3>, Vec<Vec3>)>,
    /// The matrix, row by row, and the right-hand side of the note's (6), in the cases of three bodies.
    pub system: Option<(Vec<Vec<f64>>, Vec<f64>)>,
    pub times: Vec<f64>,
    pub states: Vec<Vec<BodyState>>,
    pub estimates: Vec<f64>,
}

pub fn vector(v: &Value) -> Vec3 {
    let x = |i: usize| v[i].as_f64().unwrap();
    Vec3::new(x(0), x(1), x(2))
}

fn vectors(v: &Value) -> Vec<Vec3> {
    v.as_array().unwrap().iter().map(vector).collect()
}

fn matrix(v: &Value) -> Mat3<f64> {
    Mat3::from_rows(&[vector(&v[0]).transpose(), vector(&v[1]).transpose(), vector(&v[2]).transpose()])
}

fn rotation(v: &Value) -> Quat {
    let m = matrix(v);
    let column = |i: usize| m.column(i).into_owned();
    from_columns(&column(0), &column(1), &column(2))
}

fn body_index(v: &Value) -> Option<usize> {
    usize::try_from(v.as_i64().unwrap()).ok()
}

fn constraint(k: usize, v: &Value) -> Constraint {
    let kind = match v["kind"].as_str().unwrap() {
        "hinge" => ConstraintKind::Hinge,
        "ball" => ConstraintKind::Ball,
        "universal" => ConstraintKind::Universal,
        "slider" => ConstraintKind::Slider,
        "fixed" => ConstraintKind::Fixed,
        other => panic!("{other}"),
    };
    Constraint {
        name: format!("c{k}"),
        kind,
        a: body_index(&v["a"]),
        b: body_index(&v["b"]),
        anchor_a: vector(&v["l_a"]),
        anchor_b: vector(&v["l_b"]),
        axis_a: vector(&v["z_a"]),
        axis_b: vector(&v["z_b"]),
        a_from_b: if v["Q_ab"].is_null() { Quat::identity() } else { rotation(&v["Q_ab"]) },
        friction: v["mu"].as_f64().unwrap(),
        motor: v["beta"].as_f64().unwrap(),
    }
}

fn states(v: &Value) -> Vec<BodyState> {
    (0..v["p"].as_array().unwrap().len())
        .map(|i| BodyState {
            position: vector(&v["p"][i]),
            orientation: rotation(&v["R"][i]),
            velocity: vector(&v["v"][i]),
            angular_velocity: vector(&v["omega"][i]),
        })
        .collect()
}

pub fn reference_files() -> Vec<Reference> {
    let Some(data) = data() else {
        println!("skipped: no shared data");
        return Vec::new();
    };
    let folder = data.join("reference/dynamics");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "json"));
    paths.sort();
    assert_eq!(paths.len(), 16);
    paths
        .iter()
        .map(|path| {
            let v: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let list = |v: &Value| v.as_array().unwrap().clone();
            let body = |b: &Value| {
                let name = b["name"].as_str().unwrap();
                Body::new(name, b["mass"].as_f64().unwrap(), matrix(&b["inertia"])).unwrap()
            };
            let bodies = list(&v["bodies"]).iter().map(body).collect();
            let constraints = list(&v["joints"]).iter().enumerate().map(|(k, j)| constraint(k, j)).collect();
            let first = &v["initial_solution"];
            let numbers = |v: &Value| list(v).iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
            Reference {
                name: v["name"].as_str().unwrap().to_owned(),
                articulation: Articulation::new(bodies, constraints, vector(&v["gravity"])).unwrap(),
                rank: v["rank"].as_u64().unwrap() as usize,
                linear: vectors(&first["a"]),
                angular: vectors(&first["omega_dot"]),
                joint_forces: first.get("c").map(|c| (vectors(c), vectors(&first["d"]))),
                system: first
                    .get("matrix")
                    .map(|m| (list(m).iter().map(numbers).collect(), numbers(&first["rhs"]))),
                times: numbers(&v["times"]),
                states: list(&v["states"]).iter().map(states).collect(),
                estimates: numbers(&v["reference"]["error_estimate_vs_rtol_1e_12"]),
            }
        })
        .collect()
}

/// The largest difference of any coordinate.
pub fn worst(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max)
}

/// The largest difference over positions, rotation entries and velocities, over max(1, largest of the state).
pub fn difference(found: &[BodyState], wanted: &[BodyState]) -> f64 {
    let mut scale: f64 = 1.0;
    let mut error: f64 = 0.0;
    for (f, w) in found.iter().zip(wanted) {
        let axes = |s: &BodyState| s.orientation.to_rotation_matrix().into_inner();
        for v in [&w.position, &w.velocity, &w.angular_velocity] {
            scale = scale.max(v.amax());
        }
        error = error
            .max((f.position - w.position).amax())
            .max((f.velocity - w.velocity).amax())
            .max((f.angular_velocity - w.angular_velocity).amax())
            .max((axes(f) - axes(w)).amax());
    }
    error / scale
}

impl Reference {
    /// The bodies after steps of `h` up to the time `until`.
    pub fn run(&self, h: f64, until: f64, integrator: Integrator, how: Stabilization) -> Vec<BodyState> {
        let mut states = self.states[0].clone();
        let mut stepper = Stepper::new(&self.articulation, &states, integrator, how);
        for _ in 0..(until / h).round() as usize {
            stepper.step(&self.articulation, &mut states, h);
        }
        states
    }

    pub fn index_of(&self, time: f64) -> usize {
        self.times.iter().position(|t| (t - time).abs() < 1e-12).unwrap()
    }

    pub fn error_at(&self, states: &[BodyState], time: f64) -> f64 {
        difference(states, &self.states[self.index_of(time)])
    }
}

/// A small generator of its own (SplitMix64), so that trees are the same on every machine.
pub struct Random(u64);

pub struct Tree {
    pub articulation: Articulation,
    pub states: Vec<BodyState>,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - Vec3::repeat(1.0)
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if v.norm() > 0.1 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        posemill::math::exp(&(self.direction() * (self.unit() * 3.0)))
    }

    pub fn shuffle(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    /// A tree whose constraints hold in position and velocity, with friction and motors up to `drive`.
    pub fn tree(&mut self, n: usize, kinds: &[ConstraintKind], drive: f64, pinned: bool) -> Tree {
        let size = 0.3;
        let bodies: Vec<Body> = (0..n)
            .map(|i| {
                let mass = 0.5 + 2.5 * self.unit();
                let half = (self.vector() * 0.6).abs() * size + Vec3::repeat(0.3 * size);
                let axes = self.rotation().to_rotation_matrix().into_inner();
                Body::new(format!("b{i}"), mass, axes * solid::cuboid(mass, &half) * axes.transpose())
                    .unwrap()
            })
            .collect();
        let mut states: Vec<BodyState> =
            (0..n).map(|_| BodyState::at_rest(self.vector(), self.rotation())).collect();
        let world = BodyState::at_rest(Vec3::zeros(), Quat::identity());
        let mut constraints = Vec::new();
        for i in 0..n {
            if i == 0 && !pinned {
                continue;
            }
            let parent = if i == 0 { None } else { Some(self.below(i)) };
            let above = parent.map_or(world, |p| states[p]);
            let kind = kinds[i % kinds.len()];
            let (arm, own) = (self.vector() * (size * 0.8), self.vector() * (size * 0.8));
            let anchor = above.point(&arm);
            states[i].position = anchor - states[i].orientation * own;
            let axis = self.direction();
            let second = axis.cross(&self.direction()).normalize();
            let sides = ((parent, &above), (Some(i), &states[i]));
            let sides = if self.unit() < 0.5 { sides } else { (sides.1, sides.0) };
            let mut c = Constraint::in_pose(format!("c{i}"), kind, sides.0, sides.1, &anchor, &axis, &second);
            c.friction = 0.1 * drive * self.unit();
            c.motor = drive * (2.0 * self.unit() - 1.0);
            constraints.push(c);
        }
        let order = self.shuffle(constraints.len());
        let constraints = order.iter().map(|&k| constraints[k].clone()).collect();
        let gravity = if pinned { Vec3::new(0.0, -9.81, 0.0) } else { Vec3::zeros() };
        let articulation = Articulation::new(bodies, constraints, gravity).unwrap();
        for s in &mut states {
            s.velocity = self.vector() * 2.0;
            s.angular_velocity = self.vector() * 4.0;
        }
        // The nearest velocities that part no constraint.
        project_velocities(&mut ArticulationSolver::new(&articulation), &articulation, &mut states);
        Tree { articulation, states }
    }
}

/// The largest speed of any body, m/s and rad/s.
pub fn largest_speed(states: &[BodyState]) -> f64 {
    states.iter().fold(0.0, |m, s| m.max(s.velocity.norm()).max(s.angular_velocity.norm()))
}
