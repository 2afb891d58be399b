//! Writes small models and motions, without anything of the reader.

use encoding_rs::SHIFT_JIS;

/// A bone: its name, the names of others, and its place in units.
#[derive(Clone)]
pub struct Bone {
    pub name: &'static str,
    pub parent: Option<&'static str>,
    pub at: [f32; 3],
    pub copies: Option<(&'static str, f32)>,
    /// The bone that reaches, and whether each bone that rotates is a knee.
    pub chain: Option<(&'static str, Vec<(&'static str, bool)>)>,
}

/// A model of a triangle at its head.
#[derive(Clone)]
pub struct Model {
    pub utf8: bool,
    pub bones: Vec<Bone>,
}

fn bone(name: &'static str, parent: &'static str, at: [f32; 3]) -> Bone {
    let parent = (!parent.is_empty()).then_some(parent);
    Bone { name, parent, at, copies: None, chain: None }
}

impl Model {
    /// A body with the bones of a semi-standard model.
    pub fn body() -> Self {
        let copy = |bone: Bone, of, ratio| Bone { copies: Some((of, ratio)), ..bone };
        let mut bones = vec![
            bone("センター", "", [0.0, 8.0, 0.0]),
            bone("腰", "センター", [0.0, 10.8, 0.0]),
            bone("下半身", "腰", [0.0, 11.5, 0.0]),
            bone("上半身", "腰", [0.0, 11.5, 0.0]),
            bone("首", "上半身", [0.0, 16.0, 0.0]),
            bone("頭", "首", [0.0, 17.0, 0.0]),
            Bone { copies: Some(("両目", 0.5)), ..bone("左目", "頭", [0.3, 17.8, -0.5]) },
            bone("両目", "頭", [0.0, 19.0, 0.0]),
            bone("左腕", "上半身", [1.5, 15.5, 0.0]),
            bone("左ひじ", "左腕", [4.0, 13.6, 0.0]),
            bone("左手首", "左ひじ", [6.0, 12.1, 0.0]),
            bone("右腕", "上半身", [-1.5, 15.5, 0.0]),
            bone("右ひじ", "右腕", [-4.0, 13.6, 0.0]),
            bone("右手首", "右ひじ", [-6.0, 12.1, 0.0]),
            copy(bone("腰キャンセル", "下半身", [0.0, 10.8, 0.0]), "腰", -1.0),
        ];
        let leg = |names: [&'static str; 4], x: f32| {
            let [thigh, knee, ankle, ik] = names;
            [
                bone(thigh, "腰キャンセル", [x, 10.0, 0.0]),
                bone(knee, thigh, [x, 5.5, -0.2]),
                bone(ankle, knee, [x, 1.0, 0.0]),
                Bone {
                    chain: Some((ankle, vec![(knee, true), (thigh, false)])),
                    ..bone(ik, "", [x, 1.0, 0.0])
                },
            ]
        };
        bones.extend(leg(["左足", "左ひざ", "左足首", "左足ＩＫ"], 1.0));
        bones.extend(leg(["右足", "右ひざ", "右足首", "右足ＩＫ"], -1.0));
        bones.extend([
            copy(bone("左足D", "腰キャンセル", [1.0, 10.0, 0.0]), "左足", 1.0),
            copy(bone("左ひざD", "左足D", [1.0, 5.5, -0.2]), "左ひざ", 1.0),
            copy(bone("左足首D", "左ひざD", [1.0, 1.0, 0.0]), "左足首", 1.0),
        ]);
        Self { utf8: false, bones }
    }

    fn text(&self, out: &mut Vec<u8>, text: &str) {
        let bytes: Vec<u8> = match self.utf8 {
            true => text.bytes().collect(),
            false => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        };
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"PMX ".to_vec();
        numbers(&mut out, &[2.0]);
        // Eight fields: encoding, texture coordinates, and the bytes of six indices.
        out.extend([8, u8::from(self.utf8), 0, 1, 1, 1, 2, 1, 1]);
        (0..4).for_each(|_| self.text(&mut out, "試験"));
        self.surface(&mut out);
        int(&mut out, self.bones.len() as i32);
        for bone in &self.bones {
            self.bone(&mut out, bone);
        }
        // A target, and a group that moves it by half.
        int(&mut out, 2);
        self.text(&mut out, "あ");
        self.text(&mut out, "a");
        out.extend([3, 1]);
        int(&mut out, 1);
        out.push(2);
        numbers(&mut out, &[0.0, 1.0, 2.0]);
        self.text(&mut out, "両方");
        self.text(&mut out, "both");
        out.extend([4, 0]);
        int(&mut out, 1);
        out.push(0);
        numbers(&mut out, &[0.5]);
        // Groups of the editor, rigid bodies, joints.
        (0..3).for_each(|_| int(&mut out, 0));
        out
    }

    fn surface(&self, out: &mut Vec<u8>) {
        int(out, 3);
        // Clockwise for a viewer in front of the model, who looks along +Z.
        for [x, y] in [[0.0, 17.0], [0.0, 18.0], [1.0, 17.0]] {
            numbers(out, &[x, y, -1.0, 0.0, 0.0, -1.0, 0.5, 0.5]);
            out.extend([0, 0, 0]);
            numbers(out, &[1.0]);
        }
        int(out, 3);
        out.extend([0, 1, 2]);
        int(out, 0);
        int(out, 1);
        self.text(out, "肌");
        self.text(out, "");
        numbers(out, &[1.0; 11]);
        out.push(0);
        numbers(out, &[1.0; 5]);
        out.extend([255, 255, 0, 1, 0]);
        self.text(out, "");
        int(out, 3);
    }

    fn bone(&self, out: &mut Vec<u8>, bone: &Bone) {
        let index = |name: &str| self.bones.iter().position(|b| b.name == name).map_or(-1, |k| k as i16);
        self.text(out, bone.name);
        self.text(out, "");
        numbers(out, &bone.at);
        out.extend(bone.parent.map_or(-1, index).to_le_bytes());
        int(out, i32::from(bone.name.ends_with('D')));
        let flags = 0x1e
            | if bone.copies.is_some() { 0x100 } else { 0 }
            | if bone.chain.is_some() { 0x20 } else { 0 };
        out.extend(u16::to_le_bytes(flags));
        numbers(out, &[0.0, 1.0, 0.0]);
        if let Some((source, ratio)) = bone.copies {
            out.extend(index(source).to_le_bytes());
            numbers(out, &[ratio]);
        }
        if let Some((target, links)) = &bone.chain {
            out.extend(index(target).to_le_bytes());
            int(out, 40);
            numbers(out, &[2.0]);
            int(out, links.len() as i32);
            for (link, is_knee) in links {
                out.extend(index(link).to_le_bytes());
                out.push(u8::from(*is_knee));
                if *is_knee {
                    numbers(out, &[-std::f32::consts::PI, 0.0, 0.0, -0.0087266, 0.0, 0.0]);
                }
            }
        }
    }
}

/// The bytes of a key's curves: of X, Y, Z and the rotation.
type Curves = [[u8; 4]; 4];

/// A motion.
#[derive(Clone, Default)]
pub struct MotionFile {
    keys: Vec<u8>,
    count: u32,
    pub weights: Vec<(&'static str, u32, f32)>,
    pub chains: Vec<(u32, Vec<(&'static str, bool)>)>,
}

impl MotionFile {
    pub fn straight(&mut self, bone: &str, frame: u32, at: [f32; 3], rotation: [f32; 4]) {
        self.key(bone, frame, at, rotation, [[20, 20, 107, 107]; 4]);
    }

    pub fn key(&mut self, bone: &str, frame: u32, at: [f32; 3], rotation: [f32; 4], curves: Curves) {
        let out = &mut self.keys;
        name(out, bone, 15);
        out.extend(frame.to_le_bytes());
        numbers(out, &at);
        numbers(out, &rotation);
        // x1 of the four channels, y1 of them, x2, y2; then the same from the second, third and fourth byte on.
        let bytes: Vec<u8> = (0..4).flat_map(|point| curves.map(|curve| curve[point])).collect();
        for skipped in 0..4 {
            out.extend(&bytes[skipped..]);
            out.extend(vec![0; skipped]);
        }
        self.count += 1;
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        name(&mut out, "Vocaloid Motion Data 0002", 30);
        name(&mut out, "試験", 20);
        out.extend(self.count.to_le_bytes());
        out.extend(&self.keys);
        int(&mut out, self.weights.len() as i32);
        for (target, frame, weight) in &self.weights {
            name(&mut out, target, 15);
            out.extend(frame.to_le_bytes());
            numbers(&mut out, &[*weight]);
        }
        (0..3).for_each(|_| int(&mut out, 0));
        int(&mut out, self.chains.len() as i32);
        for (frame, chains) in &self.chains {
            out.extend(frame.to_le_bytes());
            out.push(1);
            int(&mut out, chains.len() as i32);
            for (chain, on) in chains {
                name(&mut out, chain, 20);
                out.push(u8::from(*on));
            }
        }
        out
    }
}

fn name(out: &mut Vec<u8>, text: &str, length: usize) {
    let bytes = SHIFT_JIS.encode(text).0;
    out.extend(&*bytes);
    out.extend(vec![0; length - bytes.len()]);
}

fn numbers(out: &mut Vec<u8>, numbers: &[f32]) {
    numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
}

fn int(out: &mut Vec<u8>, number: i32) {
    out.extend(number.to_le_bytes());
}
