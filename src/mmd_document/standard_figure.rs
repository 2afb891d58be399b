//! The usual bones of a model, and a figure that has them, for motions without a model.
//!
//! The figure is 20 units (1.6 m) tall and stands with its arms 37 degrees below the horizontal, as models do (measured: 35 to 40
//! degrees). Lengths are shares of the body height (Winter 2009, table 4.1). Positions: units of the files, left-handed, facing -Z.

use super::mmd_bones::{IkChain, IkLink, MmdBone, attach};
use super::mmd_space::point_from_mmd;
use crate::math::{DEGREE, Vec3};
use std::f64::consts::PI;

/// The sine of the angle of the arms below the horizontal, whose cosine is 0.8: 36.9 degrees.
const ARM_SINE: f64 = 0.6;
/// Sine and cosine of that angle.
pub const ARM_SLOPE: [f64; 2] = [ARM_SINE, 0.8];
/// The least flexion of a knee, radians: 0.5 degrees, so that chains know where it bends (PMX Editor's standard bones).
const KNEE_LEAST: f64 = 0.5 * DEGREE;
/// Passes over a leg and over a foot, and the largest rotation of each in a pass, radians (the same).
const LEG_PASSES: (u32, f64) = (40, 2.0);
/// The same of the toes.
const TOE_PASSES: (u32, f64) = (3, 4.0);

/// Bones of the middle: name, bone above, height and depth in units. The hips are at 0.53, the shoulders at 0.818 of the height.
const MIDDLE: &[(&str, &str, [f32; 2])] = &[
    ("全ての親", "", [0.0, 0.0]),
    ("センター", "全ての親", [8.0, 0.0]),
    ("グルーブ", "センター", [8.2, 0.0]),
    ("腰", "グルーブ", [10.6, 0.0]),
    ("下半身", "腰", [11.4, 0.0]),
    ("上半身", "腰", [11.4, 0.0]),
    ("上半身2", "上半身", [13.0, 0.0]),
    ("首", "上半身2", [16.4, 0.0]),
    ("頭", "首", [17.4, 0.0]),
];

/// Bones of the left side without `左`: name, bone above (`*` on the same side), position in units. Hip joints at 0.53, knees at
/// 0.285, ankles at 0.039 of the height.
const LEFT: &[(&str, &str, [f32; 3])] = &[
    ("肩", "上半身2", [0.4, 16.1, 0.0]),
    ("足", "下半身", [0.95, 10.6, 0.0]),
    ("ひざ", "*足", [0.95, 5.7, -0.1]),
    ("足首", "*ひざ", [0.95, 0.8, 0.2]),
    ("つま先", "*足首", [0.95, 0.0, -1.3]),
    ("足IK親", "全ての親", [0.95, 0.0, 0.2]),
    ("足ＩＫ", "*足IK親", [0.95, 0.8, 0.2]),
    ("つま先ＩＫ", "*足ＩＫ", [0.95, 0.0, -1.3]),
];

/// The shoulder joint of the left arm, units.
const SHOULDER: [f64; 3] = [1.6, 16.0, 0.0];
/// Bones of the left arm: name, bone above, distance from the shoulder joint in units, and depth. The upper arm is 0.186 of the height
/// long, the forearm 0.146, the hand 0.108; twist bones are in the middle, fingers along the hand.
const ARM: &[(&str, &str, [f64; 2])] = &[
    ("腕", "*肩", [0.0, 0.0]),
    ("腕捩", "*腕", [1.86, 0.0]),
    ("ひじ", "*腕捩", [3.72, 0.0]),
    ("手捩", "*ひじ", [5.18, 0.0]),
    ("手首", "*手捩", [6.64, 0.0]),
    ("親指０", "*手首", [6.9, -0.3]),
    ("親指１", "*親指０", [7.2, -0.6]),
    ("親指２", "*親指１", [7.6, -0.9]),
    ("人指１", "*手首", [7.7, -0.35]),
    ("人指２", "*人指１", [8.15, -0.38]),
    ("人指３", "*人指２", [8.5, -0.4]),
    ("中指１", "*手首", [7.75, -0.05]),
    ("中指２", "*中指１", [8.25, -0.05]),
    ("中指３", "*中指２", [8.6, -0.05]),
    ("薬指１", "*手首", [7.7, 0.2]),
    ("薬指２", "*薬指１", [8.15, 0.22]),
    ("薬指３", "*薬指２", [8.5, 0.24]),
    ("小指１", "*手首", [7.6, 0.45]),
    ("小指２", "*小指１", [7.9, 0.48]),
    ("小指３", "*小指２", [8.15, 0.5]),
];

/// The figure's bones.
pub fn standard_bones() -> Vec<MmdBone> {
    let mut bones: Vec<MmdBone> = Vec::new();
    let mut add = |name: String, above: &str, at: [f32; 3]| {
        let parent = bones.iter().position(|bone| bone.name == above);
        bones.push(MmdBone { name, parent, position: point_from_mmd(at), ..MmdBone::default() });
    };
    for (name, above, [y, z]) in MIDDLE {
        add((*name).to_owned(), above, [0.0, *y, *z]);
    }
    let along = |[far, z]: [f64; 2]| {
        let [x, y, depth] = SHOULDER;
        let [sine, cosine] = ARM_SLOPE;
        [x + far * cosine, y - far * sine, depth + z].map(|x| x as f32)
    };
    let arm = ARM.iter().map(|(name, above, at)| (*name, *above, along(*at)));
    for (side, sign) in [("左", 1.0), ("右", -1.0)] {
        for (name, above, [x, y, z]) in LEFT.iter().copied().chain(arm.clone()) {
            add(format!("{side}{name}"), &above.replace('*', side), [x * sign, y, z]);
        }
    }
    for side in ["左", "右"] {
        chains(&mut bones, side);
    }
    attach(&mut bones);
    bones
}

/// Adds the chains of a leg.
fn chains(bones: &mut [MmdBone], side: &str) {
    let index = |bones: &[MmdBone], name: &str| bones.iter().position(|b| b.name == format!("{side}{name}"));
    let mut add = |ik: &str, target: &str, links: &[&str], (loops, step): (u32, f64)| {
        let limit =
            |name: &str| (name == "ひざ").then(|| [Vec3::new(KNEE_LEAST, 0.0, 0.0), Vec3::new(PI, 0.0, 0.0)]);
        let link = |name: &&str| Some(IkLink { bone: index(bones, name)?, limit: limit(name) });
        let links = links.iter().filter_map(link).collect();
        if let (Some(ik), Some(target)) = (index(bones, ik), index(bones, target)) {
            bones[ik].ik = Some(IkChain { target, loops, step, links });
        }
    };
    add("足ＩＫ", "足首", &["ひざ", "足"], LEG_PASSES);
    add("つま先ＩＫ", "つま先", &["足首"], TOE_PASSES);
}

/// Bones of the trunk and their names in the VRM humanoid; of several the first that is there.
const TRUNK: &[(&str, &[&str])] = &[
    ("hips", &["下半身", "腰", "グルーブ", "センター"]),
    ("spine", &["上半身"]),
    ("chest", &["上半身2"]),
    ("upperChest", &["上半身3"]),
    ("neck", &["首"]),
    ("head", &["頭"]),
];

/// Bones of a limb without `左` and `右`, and their names in the VRM humanoid without `left` and `right`.
const LIMBS: &[(&str, &str)] = &[
    ("Shoulder", "肩"),
    ("UpperArm", "腕"),
    ("LowerArm", "ひじ"),
    ("Hand", "手首"),
    ("UpperLeg", "足"),
    ("LowerLeg", "ひざ"),
    ("Foot", "足首"),
    ("Toes", "足先EX"),
    ("Toes", "つま先"),
    ("ThumbMetacarpal", "親指０"),
    ("ThumbProximal", "親指１"),
    ("ThumbDistal", "親指２"),
    ("IndexProximal", "人指１"),
    ("IndexIntermediate", "人指２"),
    ("IndexDistal", "人指３"),
    ("MiddleProximal", "中指１"),
    ("MiddleIntermediate", "中指２"),
    ("MiddleDistal", "中指３"),
    ("RingProximal", "薬指１"),
    ("RingIntermediate", "薬指２"),
    ("RingDistal", "薬指３"),
    ("LittleProximal", "小指１"),
    ("LittleIntermediate", "小指２"),
    ("LittleDistal", "小指３"),
];

/// The names of the VRM humanoid and the bones that have the usual names; empty where the bones of hips, head, arms and legs have
/// others.
pub fn humanoid_bones(bones: &[MmdBone]) -> Vec<(String, usize)> {
    let find = |name: &str| bones.iter().position(|bone| bone.name == name);
    let mut found: Vec<(String, usize)> = Vec::new();
    let trunk = TRUNK
        .iter()
        .filter_map(|(word, names)| Some(((*word).to_owned(), names.iter().find_map(|name| find(name))?)));
    found.extend(trunk);
    for (side, english) in [("左", "left"), ("右", "right")] {
        for (word, name) in LIMBS {
            let word = format!("{english}{word}");
            if let Some(bone) = find(&format!("{side}{name}"))
                && found.iter().all(|(known, _)| *known != word)
            {
                found.push((word, bone));
            }
        }
    }
    let needed = ["hips", "spine", "head", "leftUpperArm", "rightUpperArm", "leftUpperLeg", "rightUpperLeg"];
    let complete = needed.iter().all(|word| found.iter().any(|(known, _)| known == word));
    if complete { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_has_every_bone_of_the_humanoid_and_is_symmetric() {
        let bones = standard_bones();
        assert!(bones.iter().skip(1).all(|b| b.parent.is_some()), "every bone above is there, earlier");
        assert_eq!(humanoid_bones(&bones).len(), 5 + 2 * (LIMBS.len() - 1));
        for left in bones.iter().filter(|b| b.name.starts_with('左')) {
            let name = left.name.replace('左', "右");
            let right = bones.iter().find(|b| b.name == name).unwrap();
            assert_eq!(right.position, Vec3::new(-left.position.x, left.position.y, left.position.z));
        }
        assert_eq!(bones.iter().filter(|b| b.ik.is_some()).count(), 4);
        assert!(humanoid_bones(&bones[..9]).is_empty());
    }
}
