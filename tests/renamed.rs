//! The judge of shape: every development file with roles is loaded as it is, then with its joints renamed to numbers and
//! its children shuffled, and what the shape alone says is held against what names and maps said.

mod development_data;

use development_data::data;
use posemill::export::{self, ExportOptions, Format};
use posemill::import::{self, ImportOptions};
use posemill::model::{Asset, Finger, Role, Side};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A generator of numbers that look random and are always the same (Lehmer, 1951; Park and Miller, 1988).
struct Dice(u64);

impl Dice {
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for k in (1..list.len()).rev() {
            self.0 = self.0 * 48_271 % 0x7fff_ffff;
            list.swap(k, self.0 as usize % (k + 1));
        }
    }
}

/// The name of each joint as the rewritten file has it, by the name of the joint before.
type Names = BTreeMap<String, String>;

fn files() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if path.is_dir() && !path.ends_with("corpus") {
                walk(&path, found);
            } else if ["bvh", "glb", "gltf", "vrm", "vrma", "fbx", "amc", "npz"].contains(&extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    if let Some(folder) = data() {
        walk(&folder, &mut found);
    }
    found
}

fn load(bytes: &[u8], path: &Path) -> Option<Asset> {
    import::from_file(bytes, path, &ImportOptions::default()).ok()
}

/// Confidence of a role below which names only guess, as the program warns: the shape cannot be held against that.
const GUESS: f64 = 0.5;

/// Every file that can be read, in a format whose joints can be renamed: FBX as glTF, takes of other formats as BVH.
fn characters() -> Vec<(PathBuf, Vec<u8>, Asset)> {
    let rewritable = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let asset = load(&bytes, &path)?;
        match &asset.character.document {
            Some(document) if document.fbx.is_some() => {
                let bytes = document.bytes.to_vec();
                Some((path.with_extension("gltf"), bytes, asset))
            }
            Some(_) => Some((path, bytes, asset)),
            None if path.extension()? == "bvh" => Some((path, bytes, asset)),
            None => {
                let (written, _) =
                    export::save(&[asset.motion(0)?], Format::BVH, &ExportOptions::default()).unwrap();
                let path = path.with_extension("bvh");
                let asset = load(&written[0].bytes, &path)?;
                Some((path, written[0].bytes.clone(), asset))
            }
        }
    };
    files().into_iter().filter_map(rewritable).collect()
}

/// The joints of an asset by role, as the file has their names.
fn roles(asset: &Asset) -> BTreeMap<Role, (String, f64)> {
    let rig = &asset.character.rig;
    let name = |a: &posemill::model::Assignment| rig.skeleton().joint(a.joint).name.clone();
    rig.assignments().map(|(role, a)| (role, (name(a), a.confidence))).collect()
}

/// The file with its joints named by `rename`, which is asked with the name of the joint in the asset, and without its
/// humanoid map. Children are shuffled where that is asked for and the format allows it.
fn rewritten(asset: &Asset, bytes: &[u8], rename: &Names, dice: Option<&mut Dice>) -> Vec<u8> {
    let skeleton = asset.character.skeleton();
    let Some(document) = &asset.character.document else { return rewritten_bvh(asset, bytes, rename) };
    let is_glb = bytes.starts_with(b"glTF");
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let json = if is_glb { &bytes[20..20 + length(12)] } else { bytes };
    let mut json: Value = serde_json::from_slice(json).unwrap();
    // Nodes that were no joints keep names that say as little; without its map the file has them as joints.
    if dice.is_some() {
        for (n, node) in json["nodes"].as_array_mut().unwrap().iter_mut().enumerate() {
            node["name"] = format!("n{n:04}").into();
        }
    }
    for (joint, node) in skeleton.joints().iter().zip(&document.nodes) {
        if let Some(node) = node {
            json["nodes"][*node]["name"] = rename[&joint.name].clone().into();
        }
    }
    if let Some(dice) = dice {
        for node in json["nodes"].as_array_mut().unwrap() {
            if let Some(children) = node.get_mut("children").and_then(Value::as_array_mut) {
                dice.shuffle(children);
            }
        }
    }
    for list in ["extensionsUsed", "extensionsRequired"] {
        if let Some(list) = json.get_mut(list).and_then(Value::as_array_mut) {
            list.retain(|e| !e.as_str().unwrap_or_default().starts_with("VRM"));
        }
    }
    if let Some(extensions) = json.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.retain(|name, _| !name.starts_with("VRM"));
    }
    let mut text = serde_json::to_vec(&json).unwrap();
    if !is_glb {
        return text;
    }
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &bytes[20 + length(12)..];
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(u32::try_from(20 + text.len() + rest.len()).unwrap().to_le_bytes());
    out.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend(rest);
    out
}

/// The joints of a BVH stand in the file in joint order.
fn rewritten_bvh(asset: &Asset, bytes: &[u8], rename: &Names) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut joints = asset.character.skeleton().joints().iter().filter(|j| j.file_name.is_some());
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [kind @ ("ROOT" | "JOINT"), ..] = words[..] {
            out += &format!("{kind} {}\n", rename[&joints.next().unwrap().name]);
        } else {
            out += line;
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// Numbers that say nothing of the order.
fn numbers(asset: &Asset, dice: &mut Dice) -> Names {
    let names = asset.character.skeleton().joints().iter().map(|j| j.name.clone());
    let mut names: Vec<String> = names.collect();
    dice.shuffle(&mut names);
    names.into_iter().enumerate().map(|(n, name)| (name, format!("b{n:04}"))).collect()
}

fn finger(role: Role) -> Option<(Side, Finger)> {
    match role {
        Role::Finger(side, finger, _) => Some((side, finger)),
        _ => None,
    }
}

/// What one file shows.
#[derive(Default)]
struct Row {
    core: [usize; 2],
    fingers: [usize; 2],
    missing: Vec<String>,
    wrong: Vec<String>,
    /// Wrong, and neither a warning nor a low confidence says so.
    unsaid: usize,
}

fn judge(truth: &BTreeMap<Role, (String, f64)>, names: &Names, seen: &Asset) -> Row {
    let found = roles(seen);
    let was: BTreeMap<&String, Role> = truth.iter().map(|(role, (name, _))| (&names[name], *role)).collect();
    let of: BTreeMap<&String, Role> = found.iter().map(|(role, (name, _))| (name, *role)).collect();
    let mut row = Row::default();
    for (role, (name, _)) in truth {
        let here = of.get(&names[name]).copied();
        // The first of four joints of a finger may or may not count: the finger has to be right.
        match finger(*role) {
            Some(of) => {
                row.fingers[1] += 1;
                row.fingers[0] += usize::from(here.and_then(finger) == Some(of));
            }
            None => {
                row.core[1] += 1;
                row.core[0] += usize::from(here == Some(*role));
                if here != Some(*role) {
                    row.missing.push(role.to_string());
                }
            }
        }
    }
    let warned = seen.warnings.has("sides-guessed");
    for (role, (name, confidence)) in &found {
        let before = was.get(name).copied();
        let same = before == Some(*role)
            || before.is_some_and(|b| finger(b).is_some() && finger(b) == finger(*role));
        let taken = finger(*role).is_none() && truth.contains_key(role);
        if !same && (before.is_some() || taken) {
            row.wrong.push(format!("{role}: {}", before.map_or("nothing".into(), |b| b.to_string())));
            row.unsaid += usize::from(!warned && *confidence >= 0.5);
        }
    }
    row
}

#[test]
fn bodies_without_names_are_read_by_their_shape() {
    let mut dice = Dice(15);
    let (mut files_with_roles, mut whole, mut fingers, mut unsaid) = (0, 0, [0, 0], Vec::new());
    for (path, bytes, asset) in characters() {
        let truth = roles(&asset);
        let names = numbers(&asset, &mut dice);
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let blind = rewritten(&asset, &bytes, &names, Some(&mut dice));
        let Some(seen) = load(&blind, &path) else { panic!("{file} cannot be read with other names") };
        // The shape has no roles for a body without limbs.
        if !truth.contains_key(&Role::Hips) {
            let false_body = roles(&seen);
            assert!(false_body.is_empty(), "{file} is no body: {false_body:?}");
            continue;
        }
        if truth.values().any(|(_, confidence)| *confidence < GUESS) {
            assert!(asset.warnings.has("roles-doubtful"), "{file} is guessed without a word");
            println!("{file:36} is no truth");
            continue;
        }
        let row = judge(&truth, &names, &seen);
        files_with_roles += 1;
        whole += usize::from(row.core[0] == row.core[1]);
        fingers = [fingers[0] + row.fingers[0], fingers[1] + row.fingers[1]];
        let [[c, of], [f, all]] = [row.core, row.fingers];
        println!(
            "{file:36} core {c:2} of {of:2}  fingers {f:2} of {all:2}  wrong {} (unsaid {}) {:?} missing {:?}",
            row.wrong.len(),
            row.unsaid,
            row.wrong,
            row.missing
        );
        if row.unsaid > 0 {
            unsaid.push(file);
        }
    }
    if files_with_roles == 0 {
        return;
    }
    println!(
        "core whole on {whole} of {files_with_roles} files, fingers right {} of {}",
        fingers[0], fingers[1]
    );
    assert!(whole * 100 >= files_with_roles * 95);
    assert!(fingers[0] * 10 >= fingers[1] * 9);
    assert!(unsaid.is_empty(), "wrong without a word: {unsaid:?}");
}

/// Lower bounds of confidence, and the share of the joints told with so much that must be right.
const CURVE: [(f64, f64); 4] = [(0.9, 0.9), (0.7, 0.7), (0.5, 0.5), (0.0, 0.0)];

/// Confidence is a probability: of bodies whose names are all, half or a tenth known, as many joints are right as it says.
#[test]
fn of_the_joints_told_with_a_confidence_so_many_are_right() {
    let mut dice = Dice(34);
    let mut curve = [[0_usize; 2]; CURVE.len()];
    for (path, bytes, asset) in characters() {
        let truth = roles(&asset);
        for known in [0, 1, 5] {
            let mut names = numbers(&asset, &mut dice);
            let mut kept: Vec<String> = names.keys().cloned().collect();
            dice.shuffle(&mut kept);
            for name in &kept[..kept.len() * known / 10] {
                names.insert(name.clone(), name.clone());
            }
            let Some(seen) = load(&rewritten(&asset, &bytes, &names, Some(&mut dice)), &path) else {
                continue;
            };
            if seen.warnings.has("sides-guessed") {
                continue;
            }
            for (role, (name, confidence)) in roles(&seen) {
                let Some((joint, _)) = truth.get(&role) else { continue };
                let same = |other: Role| finger(other).is_some() && finger(other) == finger(role);
                let right =
                    names[joint] == name || truth.iter().any(|(r, (j, _))| same(*r) && names[j] == name);
                let band = CURVE.iter().position(|c| confidence >= c.0).unwrap();
                curve[band][0] += usize::from(right);
                curve[band][1] += 1;
            }
        }
    }
    println!("confidence from  right of all");
    for ((least, share), [right, all]) in CURVE.into_iter().zip(curve) {
        println!("{least:>15} {right:>6} {all:>6}  {:.3}", right as f64 / all.max(1) as f64);
        assert!(right as f64 >= share * all as f64, "{right} of {all} with {least} or more");
    }
}

/// A name with its sides exchanged, as far as they are words of their own.
fn other_side(name: &str) -> String {
    let pairs =
        [("Left", "Right"), ("left", "right"), (".L", ".R"), ("_L", "_R"), (".l", ".r"), ("_l", "_r")];
    let swap = |a: &str, b: &str| name.contains(a).then(|| name.replacen(a, b, 1));
    pairs.iter().find_map(|(a, b)| swap(a, b).or_else(|| swap(b, a))).unwrap_or_else(|| name.into())
}

#[test]
fn names_on_the_wrong_side_are_told_and_lose() {
    let (mut told, mut right, mut all) = (0, 0, 0);
    for (path, bytes, asset) in characters() {
        let truth = roles(&asset);
        if !truth.contains_key(&Role::LowerLeg(Side::Left))
            || !truth.contains_key(&Role::LowerArm(Side::Left))
        {
            continue;
        }
        assert!(!asset.warnings.has("sides-swapped"), "{}: a false alarm", path.display());
        let all_names = asset.character.skeleton().joints().iter().map(|j| &j.name);
        let mut names: Names = all_names.map(|name| (name.clone(), other_side(name))).collect();
        for (role, (name, _)) in &truth {
            if let Some((other, _)) = truth.get(&role.mirrored()) {
                names.insert(name.clone(), other.clone());
            }
        }
        let swapped = rewritten(&asset, &bytes, &names, None);
        let Some(seen) = load(&swapped, &path) else { panic!("{} cannot be read", path.display()) };
        // Names that say no side cannot be on the wrong one.
        if seen
            .character
            .rig
            .assignment(Role::LowerLeg(Side::Left))
            .is_some_and(|a| a.reason.contains("shape"))
        {
            continue;
        }
        let found = roles(&seen);
        let limb = |r: &&Role| r.side().is_some() && finger(**r).is_none();
        let mended = truth
            .keys()
            .filter(limb)
            .all(|r| found.get(r).map(|f| &f.0) == truth.get(r).map(|t| &names[&t.0]));
        let warned = seen.warnings.has("sides-swapped");
        println!("{:36} told {warned} mended {mended}", path.file_name().unwrap().to_string_lossy());
        all += 1;
        told += usize::from(warned);
        right += usize::from(mended);
    }
    println!("{told} of {all} told, {right} mended");
    assert!(all == 0 || told * 10 >= all * 7 && right * 10 >= all * 7);
}
