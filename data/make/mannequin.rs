//! `mannequin.glb`: a slender figure of 1.75 m in T-pose, 52 joints with the axes of the world; `tailed.glb`: the same
//! with a tail of eight joints.
//!
//! Space: Y up, facing +Z, its left towards +X; metres.

use super::glb::{Figure, Joint, Part, Weights};
use super::loft::{Border, Chain, Key, Shape, Surface, key};
use posemill::math::{Transform, Vec3};

/// Name, parent and rest position of the joints of the middle and of the left side.
const LEFT: &[(&str, &str, [f64; 3])] = &[
    ("clavicle", "spine_03", [0.03, 1.44, 0.0]),
    ("upper_arm", "clavicle", [0.175, 1.43, -0.01]),
    ("lower_arm", "upper_arm", [0.455, 1.43, -0.015]),
    ("hand", "lower_arm", [0.71, 1.43, -0.005]),
    ("thumb_01", "hand", [0.735, 1.42, 0.024]),
    ("thumb_02", "thumb_01", [0.765, 1.416, 0.054]),
    ("thumb_03", "thumb_02", [0.787, 1.413, 0.076]),
    ("index_01", "hand", [0.8, 1.43, 0.032]),
    ("index_02", "index_01", [0.842, 1.43, 0.034]),
    ("index_03", "index_02", [0.869, 1.43, 0.0355]),
    ("middle_01", "hand", [0.805, 1.432, 0.0095]),
    ("middle_02", "middle_01", [0.851, 1.432, 0.01]),
    ("middle_03", "middle_02", [0.881, 1.432, 0.0105]),
    ("ring_01", "hand", [0.8, 1.43, -0.0125]),
    ("ring_02", "ring_01", [0.842, 1.43, -0.0135]),
    ("ring_03", "ring_02", [0.87, 1.43, -0.0145]),
    ("pinky_01", "hand", [0.79, 1.427, -0.0335]),
    ("pinky_02", "pinky_01", [0.823, 1.427, -0.0355]),
    ("pinky_03", "pinky_02", [0.844, 1.427, -0.037]),
    ("thigh", "hips", [0.095, 0.93, 0.0]),
    ("calf", "thigh", [0.1, 0.505, 0.005]),
    ("foot", "calf", [0.1, 0.08, -0.02]),
    ("toes", "foot", [0.105, 0.02, 0.115]),
];

const MIDDLE: &[(&str, &str, [f64; 3])] = &[
    ("hips", "", [0.0, 0.96, 0.0]),
    ("spine_01", "hips", [0.0, 1.06, -0.005]),
    ("spine_02", "spine_01", [0.0, 1.18, -0.01]),
    ("spine_03", "spine_02", [0.0, 1.31, -0.01]),
    ("neck", "spine_03", [0.0, 1.49, -0.01]),
    ("head", "neck", [0.0, 1.57, 0.005]),
];

/// The joints with their positions in model space.
struct Joints(Vec<(String, Option<usize>, Vec3)>);

impl Joints {
    fn new() -> Self {
        let mut joints = Self(Vec::new());
        for (name, parent, at) in MIDDLE {
            joints.push((*name).to_owned(), parent, Vec3::from(*at));
        }
        for (suffix, side) in [("_l", 1.0), ("_r", -1.0)] {
            for (name, parent, [x, y, z]) in LEFT {
                let own = LEFT.iter().any(|l| l.0 == *parent);
                let parent = if own { format!("{parent}{suffix}") } else { (*parent).to_owned() };
                joints.push(format!("{name}{suffix}"), &parent, Vec3::new(x * side, *y, *z));
            }
        }
        joints
    }

    fn push(&mut self, name: String, parent: &str, at: Vec3) {
        let parent = self.0.iter().position(|j| j.0 == parent);
        self.0.push((name, parent, at));
    }

    fn index(&self, name: &str) -> usize {
        self.0.iter().position(|j| j.0 == name).expect("the tables above have it")
    }

    /// A chain from `first` through borders at the joints `(name, half_width)`, each facing its own bone.
    fn chain(&self, first: &str, borders: &[(String, f64)]) -> Chain {
        let border = |(name, half_width): &(String, f64)| {
            let joint = self.index(name);
            let at = self.0[joint].2;
            let child = self.0.iter().find(|j| j.1 == Some(joint));
            let before = self.0[self.0[joint].1.expect("a border has a parent")].2;
            let towards = (at - before).normalize()
                + child.map_or((at - before).normalize(), |c| (c.2 - at).normalize());
            Border { joint, at, towards: towards.normalize(), half_width: *half_width }
        };
        Chain { first: self.index(first), borders: borders.iter().map(border).collect() }
    }

    fn file_joints(&self) -> Vec<Joint> {
        let joint = |(name, parent, at): &(String, Option<usize>, Vec3)| {
            let from = parent.map_or(Vec3::zeros(), |p| self.0[p].2);
            Joint {
                name: name.clone(),
                parent: *parent,
                parent_from_joint: Transform::from_translation(at - from),
            }
        };
        self.0.iter().map(joint).collect()
    }
}

const ROUND: Shape = Shape {
    lateral: Vec3::new(1.0, 0.0, 0.0),
    sides: 16,
    steps: 2,
    exponent: 2.0,
    bulge: 0.7,
    texture: None,
};

/// The joints of the tail, and its thickness there: down behind the legs, and up again at the tip.
const TAIL: &[([f64; 3], f64)] = &[
    ([0.0, 0.95, -0.09], 0.034),
    ([0.0, 0.9, -0.17], 0.032),
    ([0.0, 0.82, -0.24], 0.03),
    ([0.0, 0.72, -0.29], 0.028),
    ([0.0, 0.62, -0.34], 0.026),
    ([0.0, 0.53, -0.4], 0.024),
    ([0.0, 0.46, -0.48], 0.022),
    ([0.0, 0.42, -0.57], 0.02),
];

/// The whole character.
pub fn mannequin() -> Figure {
    figure("mannequin", &Joints::new())
}

/// The character with a tail.
pub fn tailed() -> Figure {
    let mut joints = Joints::new();
    for (k, (at, _)) in TAIL.iter().enumerate() {
        let parent = if k == 0 { "hips".to_owned() } else { format!("tail_{k:02}") };
        joints.push(format!("tail_{:02}", k + 1), &parent, Vec3::from(*at));
    }
    let borders: Vec<(String, f64)> = (0..TAIL.len()).map(|k| (format!("tail_{:02}", k + 1), 0.03)).collect();
    let chain = joints.chain("hips", &borders);
    let mut keys: Vec<Key> = TAIL.iter().map(|(at, r)| key(*at, *r, *r)).collect();
    keys.push(key([0.0, 0.41, -0.67], 0.016, 0.016));
    let mut tail = Surface::default();
    tail.loft(&keys, Shape { sides: 12, ..ROUND }, &chain);
    let mut figure = figure("tailed", &joints);
    figure.parts.push(Part {
        material: "tail",
        colour: [0.12, 0.10, 0.09],
        finish: [0.0, 0.6],
        surface: tail,
    });
    figure
}

fn figure(name: &'static str, joints: &Joints) -> Figure {
    let (mut skin, mut seams, mut shoes) = (Surface::default(), Surface::default(), Surface::default());
    torso_and_head(joints, &mut skin, &mut seams);
    for (suffix, side) in [("_l", 1.0), ("_r", -1.0)] {
        arm(joints, suffix, side, &mut skin, &mut seams);
        hand(joints, suffix, side, &mut skin);
        leg(joints, suffix, side, &mut skin, &mut seams, &mut shoes);
    }
    let part =
        |material, colour, roughness, surface| Part { material, colour, finish: [0.0, roughness], surface };
    Figure {
        name,
        armature: None,
        joints: joints.file_joints(),
        parts: vec![
            part("body", [0.72, 0.55, 0.38], 0.6, skin),
            part("seams", [0.12, 0.10, 0.09], 0.4, seams),
            part("shoes", [0.05, 0.14, 0.30], 0.5, shoes),
        ],
        weights: Weights::Float,
        texture: None,
    }
}

fn torso_and_head(joints: &Joints, skin: &mut Surface, seams: &mut Surface) {
    let spine = [("spine_01", 0.06), ("spine_02", 0.06), ("spine_03", 0.06), ("neck", 0.035), ("head", 0.03)];
    let chain = joints.chain("hips", &spine.map(|(n, w)| (n.to_owned(), w)));
    let keys = [
        key([0.0, 0.875, 0.0], 0.105, 0.075),
        key([0.0, 0.93, -0.005], 0.152, 0.105),
        key([0.0, 1.0, -0.005], 0.155, 0.106),
        key([0.0, 1.1, 0.0], 0.128, 0.092),
        key([0.0, 1.19, 0.0], 0.134, 0.098),
        key([0.0, 1.3, 0.002], 0.162, 0.114),
        key([0.0, 1.38, -0.005], 0.166, 0.105),
        key([0.0, 1.44, -0.012], 0.12, 0.078),
        key([0.0, 1.48, -0.01], 0.06, 0.058),
        key([0.0, 1.56, 0.0], 0.047, 0.052),
    ];
    skin.loft(&keys, Shape { sides: 22, exponent: 2.3, ..ROUND }, &chain);
    let belt = [key([0.0, 1.035, -0.003], 0.151, 0.107), key([0.0, 1.065, -0.002], 0.145, 0.104)];
    seams.loft(&belt, Shape { sides: 24, exponent: 2.3, steps: 1, bulge: 0.05, ..ROUND }, &chain);
    let head = Chain::rigid(joints.index("head"));
    let keys = [
        key([0.0, 1.545, 0.04], 0.035, 0.04),
        key([0.0, 1.585, 0.024], 0.061, 0.078),
        key([0.0, 1.645, 0.012], 0.073, 0.094),
        key([0.0, 1.695, 0.005], 0.069, 0.087),
        key([0.0, 1.722, 0.002], 0.057, 0.071),
    ];
    skin.loft(&keys, Shape { sides: 20, steps: 3, bulge: 0.5, ..ROUND }, &head);
    skin.ellipsoid([0.0, 1.628, 0.106], [0.012, 0.022, 0.016], Shape { sides: 8, ..ROUND }, &head);
    for x in [0.03, -0.03] {
        seams.ellipsoid([x, 1.655, 0.0885], [0.012, 0.008, 0.008], Shape { sides: 8, ..ROUND }, &head);
    }
}

fn arm(joints: &Joints, suffix: &str, side: f64, skin: &mut Surface, seams: &mut Surface) {
    let names = [("upper_arm", 0.05), ("lower_arm", 0.04), ("hand", 0.025)];
    let chain = joints.chain(&format!("clavicle{suffix}"), &names.map(|(n, w)| (format!("{n}{suffix}"), w)));
    let at = |x: f64, z: f64, r: f64, s: f64| key([x * side, 1.43, z], r, s);
    let keys = [
        at(0.125, -0.01, 0.052, 0.055),
        at(0.185, -0.01, 0.056, 0.058),
        at(0.28, -0.01, 0.046, 0.049),
        at(0.4, -0.014, 0.039, 0.04),
        at(0.455, -0.015, 0.036, 0.038),
        at(0.53, -0.013, 0.039, 0.041),
        at(0.62, -0.009, 0.032, 0.033),
        at(0.705, -0.005, 0.022, 0.028),
    ];
    let shape = Shape { lateral: Vec3::y(), ..ROUND };
    skin.loft(&keys, shape, &chain);
    let band = Shape { steps: 3, bulge: 0.05, ..shape };
    seams.loft(&[at(0.44, -0.0148, 0.0385, 0.0405), at(0.47, -0.0148, 0.0385, 0.0405)], band, &chain);
    seams.loft(&[at(0.69, -0.006, 0.026, 0.031), at(0.712, -0.005, 0.0245, 0.03)], band, &chain);
}

fn hand(joints: &Joints, suffix: &str, side: f64, skin: &mut Surface) {
    let shape = Shape { lateral: Vec3::y(), sides: 12, ..ROUND };
    let at = |x: f64, z: f64, r: f64, s: f64| key([x * side, 1.43, z], r, s);
    let palm =
        [at(0.718, -0.003, 0.0165, 0.0255), at(0.745, -0.001, 0.0165, 0.038), at(0.79, 0.0, 0.013, 0.0425)];
    let named = |n: &str| format!("{n}{suffix}");
    let chain = joints.chain(&named("lower_arm"), &[(named("hand"), 0.025)]);
    skin.loft(&palm, Shape { exponent: 2.6, bulge: 0.8, ..shape }, &chain);
    for (finger, tip, r) in [
        ("thumb", [0.803, 1.411, 0.092], 0.0105),
        ("index", [0.891, 1.43, 0.0365], 0.0088),
        ("middle", [0.904, 1.432, 0.011], 0.009),
        ("ring", [0.892, 1.43, -0.0155], 0.0085),
        ("pinky", [0.863, 1.427, -0.0385], 0.0075),
    ] {
        let joint = |k: usize| named(&format!("{finger}_0{k}"));
        let place = |k: usize| joints.0[joints.index(&joint(k))].2;
        let centre = |p: Vec3, r: f64| key(p.into(), r, r);
        let root = place(1) - (place(2) - place(1)).normalize() * 0.016;
        let tip = Vec3::new(tip[0] * side, tip[1], tip[2]);
        let keys: [Key; 5] = [
            centre(root, r * 1.05),
            centre(place(1), r * 1.1),
            centre(place(2), r),
            centre(place(3), r * 0.9),
            centre(tip - (tip - place(3)).normalize() * r * 0.7, r * 0.72),
        ];
        let chain = joints.chain(&named("hand"), &[(joint(1), 0.01), (joint(2), 0.008), (joint(3), 0.007)]);
        skin.loft(&keys, Shape { sides: 8, steps: 1, bulge: 0.9, ..shape }, &chain);
    }
}

fn leg(
    joints: &Joints,
    suffix: &str,
    side: f64,
    skin: &mut Surface,
    seams: &mut Surface,
    shoes: &mut Surface,
) {
    let names = [("thigh", 0.06), ("calf", 0.05), ("foot", 0.03)];
    let chain = joints.chain("hips", &names.map(|(n, w)| (format!("{n}{suffix}"), w)));
    let at = |x: f64, y: f64, z: f64, r: f64, s: f64| key([x * side, y, z], r, s);
    let keys = [
        at(0.085, 0.95, 0.0, 0.064, 0.075),
        at(0.09, 0.87, 0.0, 0.081, 0.088),
        at(0.096, 0.75, 0.004, 0.074, 0.082),
        at(0.099, 0.62, 0.006, 0.06, 0.066),
        at(0.1, 0.505, 0.006, 0.05, 0.054),
        at(0.1, 0.44, -0.002, 0.049, 0.053),
        at(0.1, 0.37, -0.01, 0.052, 0.057),
        at(0.1, 0.26, -0.012, 0.043, 0.047),
        at(0.1, 0.14, -0.018, 0.032, 0.036),
        at(0.1, 0.07, -0.02, 0.032, 0.037),
    ];
    skin.loft(&keys, ROUND, &chain);
    let band = Shape { steps: 3, bulge: 0.05, ..ROUND };
    seams.loft(&[at(0.1, 0.525, 0.006, 0.0545, 0.0585), at(0.1, 0.488, 0.005, 0.0535, 0.0575)], band, &chain);
    seams.loft(&[at(0.1, 0.118, -0.0185, 0.036, 0.04), at(0.1, 0.095, -0.0195, 0.0365, 0.041)], band, &chain);
    let toes = joints.index(&format!("toes{suffix}"));
    let border =
        Border { joint: toes, at: Vec3::new(0.0, 0.0, 0.115), towards: Vec3::z(), half_width: 0.025 };
    let chain = Chain { first: joints.index(&format!("foot{suffix}")), borders: vec![border] };
    let keys = [
        at(0.1, 0.042, -0.062, 0.026, 0.036),
        at(0.1, 0.05, -0.025, 0.036, 0.049),
        at(0.102, 0.043, 0.04, 0.039, 0.042),
        at(0.106, 0.029, 0.105, 0.045, 0.028),
        at(0.108, 0.023, 0.15, 0.041, 0.021),
        at(0.108, 0.0195, 0.18, 0.027, 0.015),
    ];
    shoes.loft(&keys, Shape { sides: 16, exponent: 2.6, steps: 2, ..ROUND }, &chain);
}
