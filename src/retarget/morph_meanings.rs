//! Morph targets of MikuMikuDance by their usual Japanese names, and the targets of other faces with the same meaning.
//!
//! Names are compared as `morph_weights` compares them. Sources: the names of the models that come with MikuMikuDance; VRM 1.0 and
//! 0.x (expressions); VRoid Studio (`Fcl_...`, after any prefix); Oculus Lipsync (`viseme_...`); ARKit (blend shapes).

/// Japanese names of one target, and what plays it: the first set of which a mesh has every target.
type Meaning = (&'static [&'static str], &'static [&'static [&'static str]]);

const MEANINGS: &[Meaning] = &[
    (&["あ"], &[&["fclmtha"], &["aa"], &["a"], &["visemeaa"], &["jawopen"]]),
    (&["い"], &[&["fclmthi"], &["ih"], &["i"], &["visemei"], &["mouthstretchleft", "mouthstretchright"]]),
    (&["う"], &[&["fclmthu"], &["ou"], &["u"], &["visemeu"], &["mouthpucker"]]),
    (&["え"], &[&["fclmthe"], &["ee"], &["e"], &["visemee"]]),
    (&["お"], &[&["fclmtho"], &["oh"], &["o"], &["visemeo"], &["mouthfunnel"]]),
    (&["にやり", "口角上げ"], &[&["mouthsmileleft", "mouthsmileright"]]),
    (&["口角下げ"], &[&["mouthfrownleft", "mouthfrownright"]]),
    (&["ぺろっ", "べー"], &[&["tongueout"]]),
    (&["ぷくー"], &[&["cheekpuff"]]),
    (
        &["まばたき"],
        &[
            &["fcleyeclose"],
            &["blink"],
            &["eyeblinkleft", "eyeblinkright"],
            &["blinkleft", "blinkright"],
            &["blinkl", "blinkr"],
        ],
    ),
    // Without a side it is the left eye.
    (
        &["ウィンク", "ウィンク２", "ウィンク2", "ｳｨﾝｸ", "ｳｨﾝｸ２"],
        &[&["fcleyeclosel"], &["blinkleft"], &["blinkl"], &["eyeblinkleft"]],
    ),
    (
        &["ウィンク右", "ウィンク２右", "ウィンク2右", "ｳｨﾝｸ右", "ｳｨﾝｸ２右"],
        &[&["fcleyecloser"], &["blinkright"], &["blinkr"], &["eyeblinkright"]],
    ),
    (&["笑い"], &[&["fcleyejoy"], &["happy"], &["joy"], &["cheeksquintleft", "cheeksquintright"]]),
    (&["びっくり"], &[&["fcleyesurprised"], &["surprised"], &["eyewideleft", "eyewideright"]]),
    (&["じと目"], &[&["eyesquintleft", "eyesquintright"]]),
    (&["なごみ"], &[&["relaxed"], &["fun"]]),
    (&["怒り"], &[&["fclbrwangry"], &["angry"], &["browdownleft", "browdownright"]]),
    (&["困る", "悲しい"], &[&["fclbrwsorrow"], &["sad"], &["sorrow"], &["browinnerup"]]),
    (&["にこり"], &[&["fclbrwfun"]]),
    (&["上"], &[&["browouterupleft", "browouterupright"]]),
];

/// Which of the `targets` play a source of this name by its meaning; none where one of them has the name itself.
pub(super) fn by_meaning(source: &str, targets: &[String]) -> Vec<usize> {
    if targets.iter().any(|target| target == source) {
        return Vec::new();
    }
    let Some((_, sets)) = MEANINGS.iter().find(|(names, _)| names.contains(&source)) else {
        return Vec::new();
    };
    let place = |name: &&str| targets.iter().position(|target| is(target, name));
    let places = |set: &&[&str]| -> Option<Vec<usize>> { set.iter().map(place).collect() };
    sets.iter().find_map(places).unwrap_or_default()
}

/// Whether a target has a name of the table; those of VRoid Studio follow a prefix.
fn is(target: &str, name: &str) -> bool {
    target == name || name.starts_with("fcl") && target.ends_with(name)
}
