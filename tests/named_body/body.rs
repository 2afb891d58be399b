//! Where the parts of one standing human lie: 1.75 m tall, facing +Z, in metres.

use posemill::math::Vec3;

/// How the arms rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Level.
    T,
    /// 45 degrees below level.
    A,
}

/// A place, and where the bone that begins there ends.
#[derive(Clone, Copy, Debug)]
pub struct Bone {
    pub at: Vec3,
    pub end: Vec3,
}

/// The word of a place, where its bone begins, and where it ends; those with a side are of the left one.
const BONES: &[(&str, [f64; 3], [f64; 3])] = &[
    ("floor", [0.0, 0.0, 0.0], [0.0, 0.0, 0.1]),
    ("hips", [0.0, 0.98, 0.0], [0.0, 1.06, -0.01]),
    ("upper_leg", [0.09, 0.92, 0.0], [0.095, 0.5, 0.01]),
    ("lower_leg", [0.095, 0.5, 0.01], [0.1, 0.08, -0.02]),
    ("foot", [0.1, 0.08, -0.02], [0.105, 0.02, 0.11]),
    ("toes", [0.105, 0.02, 0.11], [0.105, 0.015, 0.18]),
    ("clavicle", [0.03, 1.42, 0.0], [0.17, 1.42, -0.01]),
    ("upper_arm", [0.17, 1.42, -0.01], [0.44, 1.42, -0.02]),
    ("lower_arm", [0.44, 1.42, -0.02], [0.69, 1.42, -0.01]),
    ("hand", [0.69, 1.42, -0.01], [0.78, 1.42, 0.0]),
    ("head", [0.0, 1.57, 0.0], [0.0, 1.75, 0.0]),
    ("eye", [0.03, 1.64, 0.08], [0.03, 1.64, 0.1]),
    ("jaw", [0.0, 1.59, 0.02], [0.0, 1.56, 0.09]),
    ("hair", [0.0, 1.7, -0.08], [0.0, 1.6, -0.12]),
    ("breast", [0.08, 1.28, 0.08], [0.08, 1.26, 0.13]),
    ("skirt", [0.12, 0.95, 0.04], [0.16, 0.8, 0.06]),
    ("heel", [0.1, 0.02, -0.06], [0.1, 0.0, -0.06]),
    ("grip", [0.77, 1.39, 0.02], [0.77, 1.39, 0.1]),
];

/// The fingers: the first joint, the way they point, and the lengths of their three bones.
const FINGERS: &[(&str, [[f64; 3]; 3])] = &[
    ("thumb", [[0.715, 1.4, 0.025], [0.75, -0.2, 0.63], [0.045, 0.032, 0.026]]),
    ("index", [[0.785, 1.42, 0.03], [1.0, 0.0, 0.05], [0.042, 0.025, 0.021]]),
    ("middle", [[0.788, 1.423, 0.008], [1.0, 0.0, 0.0], [0.046, 0.029, 0.022]]),
    ("ring", [[0.783, 1.42, -0.014], [1.0, 0.0, -0.04], [0.042, 0.027, 0.022]]),
    ("little", [[0.775, 1.413, -0.034], [1.0, 0.0, -0.1], [0.033, 0.02, 0.019]]),
];

/// The bones of a body with so many joints in spine and neck.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub rest: Rest,
    pub spine: usize,
    pub neck: usize,
}

impl Body {
    /// The bone of a place: a role, or one of the words above; `left_` or `right_` stand before those with a side.
    pub fn bone(&self, word: &str) -> Option<Bone> {
        let (sign, word) = match (word.strip_prefix("left_"), word.strip_prefix("right_")) {
            (Some(rest), _) => (1.0, rest),
            (_, Some(rest)) => (-1.0, rest),
            _ => (1.0, word),
        };
        let bone = self.left(word)?;
        let turn = |p: Vec3| {
            // Arms and all that hangs on them turn about the shoulder.
            let p = if self.rest == Rest::A && p.x > 0.17 && p.y > 1.3 {
                let (arm, h) = (p - Vec3::new(0.17, 1.42, 0.0), std::f64::consts::FRAC_1_SQRT_2);
                Vec3::new(0.17 + h * (arm.x + arm.y), 1.42 + h * (arm.y - arm.x), p.z)
            } else {
                p
            };
            Vec3::new(sign * p.x, p.y, p.z)
        };
        Some(Bone { at: turn(bone.at), end: turn(bone.end) })
    }

    fn left(&self, word: &str) -> Option<Bone> {
        if let Some((_, at, end)) = BONES.iter().find(|b| b.0 == word) {
            return Some(Bone { at: (*at).into(), end: (*end).into() });
        }
        let (word, n) = word.rsplit_once('_')?;
        let n: usize = n.parse().ok()?;
        let along = |a: [f64; 3], b: [f64; 3], t: f64| Vec3::from(a).lerp(&b.into(), t);
        // The last joint of the spine carries the arms; a spine of one lies low.
        let spine = |k: usize| {
            let t = if self.spine == 1 { 0.3 } else { k as f64 / (self.spine - 1) as f64 };
            along([0.0, 1.06, -0.01], [0.0, 1.34, -0.02], t)
        };
        let neck = |k: usize| along([0.0, 1.47, -0.02], [0.0, 1.57, 0.0], k as f64 / self.neck as f64);
        match word {
            "spine" if n + 1 < self.spine => return Some(Bone { at: spine(n), end: spine(n + 1) }),
            "spine" if n < self.spine => {
                return Some(Bone { at: spine(n), end: Vec3::new(0.0, 1.47, -0.02) });
            }
            "neck" if n < self.neck => return Some(Bone { at: neck(n), end: neck(n + 1) }),
            _ => {}
        }
        let (_, [knuckle, way, lengths]) = FINGERS.iter().find(|f| f.0 == word).filter(|_| n < 3)?;
        let reach =
            |k: usize| Vec3::from(*knuckle) + Vec3::from(*way).normalize() * lengths[..k].iter().sum::<f64>();
        Some(Bone { at: reach(n), end: reach(n + 1) })
    }
}
