//! `robot.glb`: a stout robot of 1.4 m in A-pose, 31 joints with their Y axes along the bones.
//!
//! It comes as a Blender export would by way of FBX: under an `Armature` that turns by -90 degrees about X and scales by
//! 0.01, so that joints and mesh are in centimetres with Z up; the mesh is brought back by its inverse bind
//! matrices alone. The tables below are in metres, Y up, facing +Z, its left towards +X.

use super::glb::{Figure, Joint, Part, Weights};
use super::loft::{Border, Chain, Shape, Surface, key};
use posemill::math::{Quat, Transform, Vec3, exp, from_columns};

/// Name, parent, head, tail; names that end in `.L` are mirrored.
const BONES: &[(&str, &str, [f64; 3], [f64; 3])] = &[
    ("Hips", "", [0.0, 0.6, 0.0], [0.0, 0.72, 0.0]),
    ("Spine", "Hips", [0.0, 0.72, 0.0], [0.0, 0.88, 0.0]),
    ("Chest", "Spine", [0.0, 0.88, 0.0], [0.0, 1.1, 0.0]),
    ("Neck", "Chest", [0.0, 1.1, 0.0], [0.0, 1.16, 0.0]),
    ("Head", "Neck", [0.0, 1.16, 0.0], [0.0, 1.38, 0.0]),
    ("UpperArm.L", "Chest", [0.27, 1.04, 0.0], [0.42, 0.89, 0.0]),
    ("LowerArm.L", "UpperArm.L", [0.42, 0.89, 0.0], [0.56, 0.75, 0.01]),
    ("Hand.L", "LowerArm.L", [0.56, 0.75, 0.01], [0.63, 0.68, 0.015]),
    ("Thumb1.L", "Hand.L", [0.575, 0.725, 0.055], [0.6, 0.7, 0.09]),
    ("Thumb2.L", "Thumb1.L", [0.6, 0.7, 0.09], [0.625, 0.675, 0.105]),
    ("Index1.L", "Hand.L", [0.635, 0.675, 0.045], [0.67, 0.64, 0.047]),
    ("Index2.L", "Index1.L", [0.67, 0.64, 0.047], [0.7, 0.61, 0.047]),
    ("Middle1.L", "Hand.L", [0.635, 0.675, -0.015], [0.67, 0.64, -0.017]),
    ("Middle2.L", "Middle1.L", [0.67, 0.64, -0.017], [0.7, 0.61, -0.017]),
    ("UpperLeg.L", "Hips", [0.13, 0.57, 0.0], [0.135, 0.33, 0.012]),
    ("LowerLeg.L", "UpperLeg.L", [0.135, 0.33, 0.012], [0.135, 0.1, -0.01]),
    ("Foot.L", "LowerLeg.L", [0.135, 0.1, -0.01], [0.14, 0.035, 0.11]),
    ("Toe.L", "Foot.L", [0.14, 0.035, 0.11], [0.14, 0.035, 0.2]),
];

struct Bone {
    name: String,
    parent: Option<usize>,
    head: Vec3,
    tail: Vec3,
}

fn bones() -> Vec<Bone> {
    let mut bones: Vec<Bone> = Vec::new();
    for side in [1.0, -1.0] {
        let renamed = |name: &str| if side < 0.0 { name.replace(".L", ".R") } else { name.to_owned() };
        for (name, parent, head, tail) in BONES {
            if side < 0.0 && !name.ends_with(".L") {
                continue;
            }
            let parent = bones.iter().position(|b| b.name == renamed(parent));
            let place = |[x, y, z]: [f64; 3]| Vec3::new(x * side, y, z);
            bones.push(Bone { name: renamed(name), parent, head: place(*head), tail: place(*tail) });
        }
    }
    bones
}

/// The rest orientation of a bone: Y towards the tail, Z as far forward as that allows (up, for a bone that
/// points forward itself).
fn orientation(bone: &Bone) -> Quat {
    let y = (bone.tail - bone.head).normalize();
    let hint = if y.z > 0.5 { Vec3::y() } else { Vec3::z() };
    let z = (hint - y * hint.dot(&y)).normalize();
    from_columns(&y.cross(&z), &y, &z)
}

/// From the tables' axes to those of the armature: Y up becomes Z up.
fn armature_from_model() -> Quat {
    exp(&(Vec3::x() * std::f64::consts::FRAC_PI_2))
}

const CENTIMETRES: f64 = 100.0;

fn file_joints(bones: &[Bone]) -> Vec<Joint> {
    let turn = armature_from_model();
    let placed: Vec<Transform> =
        bones.iter().map(|b| Transform::new(turn * orientation(b), turn * b.head * CENTIMETRES)).collect();
    let joint = |(i, bone): (usize, &Bone)| Joint {
        name: bone.name.clone(),
        parent: bone.parent,
        parent_from_joint: bone.parent.map_or(placed[i], |p| placed[p].inverse() * placed[i]),
    };
    bones.iter().enumerate().map(joint).collect()
}

/// Texture rectangles `[u0, v0, u1, v1]`, `v` upward along a loft.
const ORANGE: Option<[f64; 4]> = Some([0.02, 0.48, 0.48, 0.02]);
const GREY: Option<[f64; 4]> = Some([0.52, 0.48, 0.98, 0.02]);
const WHITE: Option<[f64; 4]> = Some([0.05, 0.95, 0.95, 0.55]);

const BOX: Shape = Shape {
    lateral: Vec3::new(1.0, 0.0, 0.0),
    sides: 16,
    steps: 1,
    exponent: 5.0,
    bulge: 0.25,
    texture: ORANGE,
};
const PIPE: Shape = Shape { sides: 12, steps: 2, exponent: 2.0, bulge: 0.3, texture: WHITE, ..BOX };

struct Builder {
    bones: Vec<Bone>,
    shell: Surface,
    rubber: Surface,
    light: Surface,
}

impl Builder {
    fn index(&self, name: &str) -> usize {
        self.bones.iter().position(|b| b.name == name).expect("the table has it")
    }

    fn rigid(&self, name: &str) -> Chain {
        Chain::rigid(self.index(name))
    }

    /// From `first` to `second`, over twice `half_width` about the head of `second`.
    fn bending(&self, first: &str, second: &str, half_width: f64) -> Chain {
        let joint = self.index(second);
        let bone = &self.bones[joint];
        let towards = (bone.tail - bone.head).normalize();
        Chain {
            first: self.index(first),
            borders: vec![Border { joint, at: bone.head, towards, half_width }],
        }
    }

    fn body(&mut self) {
        let hips = self.rigid("Hips");
        let pelvis = [key([0.0, 0.54, 0.0], 0.16, 0.12), key([0.0, 0.64, 0.0], 0.19, 0.14)];
        self.shell.loft(&pelvis, Shape { texture: GREY, ..BOX }, &hips);
        let mut spine = self.bending("Hips", "Spine", 0.05);
        spine.borders.extend(self.bending("Spine", "Chest", 0.05).borders);
        let belly = [
            key([0.0, 0.63, 0.0], 0.15, 0.11),
            key([0.0, 0.7, 0.0], 0.15, 0.115),
            key([0.0, 0.725, 0.0], 0.137, 0.102),
            key([0.0, 0.75, 0.0], 0.15, 0.115),
            key([0.0, 0.775, 0.0], 0.137, 0.102),
            key([0.0, 0.8, 0.0], 0.15, 0.115),
            key([0.0, 0.86, 0.0], 0.15, 0.11),
        ];
        self.rubber.loft(&belly, Shape { sides: 18, exponent: 3.0, ..PIPE }, &spine);
        let chest = self.bending("Spine", "Chest", 0.03);
        let keys = [
            key([0.0, 0.85, 0.0], 0.18, 0.135),
            key([0.0, 0.95, 0.0], 0.225, 0.165),
            key([0.0, 1.03, 0.0], 0.235, 0.165),
            key([0.0, 1.08, 0.0], 0.19, 0.135),
        ];
        self.shell.loft(&keys, Shape { steps: 2, ..BOX }, &chest);
        let chest_joint = self.index("Chest");
        self.light.ellipsoid(
            [0.0, 0.97, 0.158],
            [0.05, 0.05, 0.02],
            Shape { sides: 18, ..PIPE },
            &Chain::rigid(chest_joint),
        );
        let mut neck = self.bending("Chest", "Neck", 0.02);
        neck.borders.extend(self.bending("Neck", "Head", 0.02).borders);
        let keys = [
            key([0.0, 1.06, 0.0], 0.06, 0.06),
            key([0.0, 1.12, 0.0], 0.052, 0.052),
            key([0.0, 1.18, 0.0], 0.06, 0.06),
        ];
        self.rubber.loft(&keys, PIPE, &neck);
        let head = self.rigid("Head");
        let keys = [
            key([0.0, 1.17, 0.0], 0.115, 0.1),
            key([0.0, 1.21, 0.0], 0.145, 0.125),
            key([0.0, 1.3, 0.0], 0.14, 0.12),
            key([0.0, 1.345, 0.0], 0.1, 0.085),
        ];
        self.shell.loft(&keys, Shape { steps: 2, texture: GREY, ..BOX }, &head);
        let visor = [key([-0.085, 1.255, 0.112], 0.034, 0.02), key([0.085, 1.255, 0.112], 0.034, 0.02)];
        self.rubber.loft(&visor, Shape { lateral: Vec3::y(), steps: 3, exponent: 3.0, ..PIPE }, &head);
        for x in [-0.05, 0.05] {
            self.light.ellipsoid([x, 1.255, 0.13], [0.02, 0.02, 0.01], Shape { sides: 12, ..PIPE }, &head);
        }
        let antenna = [key([0.0, 1.35, 0.0], 0.008, 0.008), key([0.0, 1.385, 0.0], 0.006, 0.006)];
        self.rubber.loft(&antenna, Shape { sides: 8, ..PIPE }, &head);
        self.light.ellipsoid([0.0, 1.388, 0.0], [0.012; 3], Shape { sides: 10, ..PIPE }, &head);
    }

    /// A loft along the bone `name`, keys as `[share of the bone, lateral, other]`.
    fn along(&self, name: &str, keys: &[[f64; 3]]) -> Vec<super::loft::Key> {
        let bone = &self.bones[self.index(name)];
        keys.iter().map(|&[t, a, b]| key((bone.head + (bone.tail - bone.head) * t).into(), a, b)).collect()
    }

    fn limbs(&mut self, side: &str) {
        let named = |n: &str| format!("{n}.{side}");
        let forward = Shape { lateral: Vec3::z(), ..BOX };
        let pipe = Shape { lateral: Vec3::z(), ..PIPE };
        let ball = |s: &mut Self, at: &str, r: f64, chain: Chain| {
            let centre = s.bones[s.index(&named(at))].head;
            s.rubber.ellipsoid(centre.into(), [r; 3], PIPE, &chain);
        };
        let shoulder = self.bending("Chest", &named("UpperArm"), 0.04);
        ball(self, "UpperArm", 0.07, shoulder);
        let keys =
            self.along(&named("UpperArm"), &[[0.12, 0.062, 0.062], [0.5, 0.068, 0.066], [0.8, 0.056, 0.056]]);
        self.shell.loft(&keys, forward, &self.bending("Chest", &named("UpperArm"), 0.015));
        let elbow = self.bending(&named("UpperArm"), &named("LowerArm"), 0.03);
        ball(self, "LowerArm", 0.055, elbow);
        let keys = self.along(
            &named("LowerArm"),
            &[[0.15, 0.055, 0.055], [0.45, 0.075, 0.07], [0.8, 0.07, 0.066], [0.92, 0.058, 0.056]],
        );
        let forearm = self.bending(&named("UpperArm"), &named("LowerArm"), 0.015);
        self.shell.loft(&keys, Shape { texture: GREY, ..forward }, &forearm);
        let wrist = self.bending(&named("LowerArm"), &named("Hand"), 0.02);
        let keys = self.along(&named("Hand"), &[[-0.2, 0.036, 0.036], [0.2, 0.036, 0.036]]);
        self.rubber.loft(&keys, pipe, &wrist);
        let keys =
            self.along(&named("Hand"), &[[0.15, 0.05, 0.034], [0.5, 0.064, 0.038], [1.0, 0.058, 0.034]]);
        self.shell.loft(&keys, forward, &self.bending(&named("LowerArm"), &named("Hand"), 0.01));
        for (finger, r) in [("Thumb", 0.021), ("Index", 0.02), ("Middle", 0.02)] {
            let (first, second) = (named(&format!("{finger}1")), named(&format!("{finger}2")));
            let mut keys = self.along(&first, &[[-0.25, r, r], [0.5, r, r]]);
            keys.extend(
                self.along(&second, &[[0.0, r * 0.95, r * 0.95], [0.5, r, r], [0.9, r * 0.8, r * 0.8]]),
            );
            let mut chain = self.bending(&named("Hand"), &first, 0.01);
            chain.borders.extend(self.bending(&first, &second, 0.012).borders);
            self.rubber.loft(&keys, Shape { sides: 8, bulge: 0.7, ..pipe }, &chain);
        }

        let hip = self.bending("Hips", &named("UpperLeg"), 0.04);
        ball(self, "UpperLeg", 0.088, hip);
        let keys =
            self.along(&named("UpperLeg"), &[[0.15, 0.08, 0.085], [0.5, 0.085, 0.09], [0.82, 0.068, 0.072]]);
        self.shell.loft(&keys, BOX, &self.bending("Hips", &named("UpperLeg"), 0.02));
        let knee = self.bending(&named("UpperLeg"), &named("LowerLeg"), 0.035);
        ball(self, "LowerLeg", 0.068, knee);
        let keys = self.along(
            &named("LowerLeg"),
            &[[0.14, 0.068, 0.072], [0.4, 0.088, 0.095], [0.8, 0.092, 0.1], [0.9, 0.08, 0.088]],
        );
        let shin = self.bending(&named("UpperLeg"), &named("LowerLeg"), 0.015);
        self.shell.loft(&keys, Shape { texture: GREY, ..BOX }, &shin);
        let ankle = self.bending(&named("LowerLeg"), &named("Foot"), 0.03);
        ball(self, "Foot", 0.056, ankle);
        let sign = if side == "L" { 1.0 } else { -1.0 };
        let at = |y: f64, z: f64, a: f64, b: f64| key([0.138 * sign, y, z], a, b);
        let keys = [
            at(0.042, -0.085, 0.07, 0.036),
            at(0.05, 0.0, 0.085, 0.046),
            at(0.042, 0.09, 0.09, 0.038),
            at(0.036, 0.17, 0.08, 0.032),
        ];
        let mut foot = self.bending(&named("Foot"), &named("Toe"), 0.02);
        // The sole is level: the toe takes over at an upright plane.
        foot.borders[0].towards = Vec3::z();
        self.shell.loft(&keys, Shape { steps: 3, ..BOX }, &foot);
    }
}

/// The whole character.
pub fn robot() -> Figure {
    let bones = bones();
    let joints = file_joints(&bones);
    let mut builder =
        Builder { bones, shell: Surface::default(), rubber: Surface::default(), light: Surface::default() };
    builder.body();
    builder.limbs("L");
    builder.limbs("R");
    let turn = armature_from_model();
    let part = |material, colour, finish, mut surface: Surface| {
        surface.positions.iter_mut().for_each(|p| *p = turn * *p * CENTIMETRES);
        surface.normals.iter_mut().for_each(|n| *n = turn * *n);
        Part { material, colour, finish, surface }
    };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    Figure {
        name: "robot",
        armature: Some(("Armature", [-half, 0.0, 0.0, half], 0.01)),
        joints,
        parts: vec![
            part("shell", [1.0, 1.0, 1.0], [0.3, 0.45], builder.shell),
            part("rubber", [0.035, 0.035, 0.04], [0.0, 0.8], builder.rubber),
            part("light", [0.2, 0.9, 1.0], [0.0, 0.2], builder.light),
        ],
        weights: Weights::Byte,
        texture: Some(paint()),
    }
}

/// The base colour as a PNG of 64 x 64: orange and grey panels with seams above, white below.
fn paint() -> Vec<u8> {
    let pixel = |x: u32, y: u32| {
        if y >= 32 {
            return image::Rgb([255, 255, 255]);
        }
        let seam = y % 10 == 4 || (x % 32) % 8 == 2;
        let rivet = y % 10 == 7 && (x % 8) == 5;
        let base = if x < 32 { [232, 120, 32] } else { [196, 200, 204] };
        let share = if seam {
            45
        } else if rivet {
            65
        } else {
            100
        };
        image::Rgb(base.map(|c: u32| (c * share / 100) as u8))
    };
    let picture = image::RgbImage::from_fn(64, 64, pixel);
    let mut png = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut png, image::ImageFormat::Png).expect("a small picture in memory can be written");
    png.into_inner()
}
