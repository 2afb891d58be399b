//! Where on the body a marker is: the built-in labels, and the vocabulary of a user's table.

use crate::anatomy::BodyPoint;

/// Sites in the middle of the body.
const MIDDLE: [&str; 7] = ["crown", "forehead", "c7", "t10", "clavicle", "sternum", "sacrum"];
/// Sites on both sides; their names begin with `left_` or `right_`.
const SIDED: [&str; 22] = [
    "temple",
    "head_back",
    "acromion",
    "upper_arm_side",
    "elbow_lateral",
    "elbow_medial",
    "forearm_side",
    "wrist_thumb",
    "wrist_little",
    "knuckle",
    "asis",
    "psis",
    "thigh_side",
    "knee_lateral",
    "knee_medial",
    "shin_side",
    "ankle_lateral",
    "ankle_medial",
    "heel_back",
    "toe_top",
    "toe_medial",
    "toe_lateral",
];

/// A set of labels; `*` stands for the side.
struct LabelSet {
    name: &'static str,
    /// The letters of left and right.
    sides: [&'static str; 2],
    /// Label and site in turn.
    labels: &'static str,
}

/// The built-in sets. Sources: the Plug-in Gait reference guide of Vicon (full body, with the medial markers of its later model); the marker
/// placement guide of the CMU motion capture database; Kadaba et al. 1990 in the names of Motion Analysis and OpenSim (Helen Hayes); the
/// Baseline sets of OptiTrack Motive with 37 and 41 markers. Labels were collected from files of users; producers' own files were not at hand.
const SETS: [LabelSet; 4] = [
    LabelSet {
        name: "Plug-in Gait",
        sides: ["L", "R"],
        labels: "*FHD temple *BHD head_back C7 c7 T10 t10 CLAV clavicle STRN sternum *SHO acromion *UPA upper_arm_side \
                 *ELB elbow_lateral *MEL elbow_medial *FRM forearm_side *FRA forearm_side *WRA wrist_thumb *WRB wrist_little *FIN knuckle \
                 *ASI asis *PSI psis SACR sacrum *THI thigh_side *KNE knee_lateral *KNM knee_medial *MKNE knee_medial *TIB shin_side \
                 *ANK ankle_lateral *MED ankle_medial *MMA ankle_medial *HEE heel_back *TOE toe_top",
    },
    LabelSet {
        name: "CMU",
        sides: ["L", "R"],
        labels: "*FHD temple *BHD head_back C7 c7 T10 t10 CLAV clavicle STRN sternum *SHO acromion *UPA upper_arm_side \
                 *ELB elbow_lateral *FRM forearm_side *WRA wrist_thumb *WRB wrist_little *FIN knuckle *FWT asis *BWT psis \
                 *THI thigh_side *KNE knee_lateral *SHN shin_side *ANK ankle_lateral *HEE heel_back *TOE toe_top *MT5 toe_lateral",
    },
    LabelSet {
        name: "Helen Hayes",
        sides: ["L.", "R."],
        labels: "TOP.HEAD crown FRONT.HEAD forehead STERNUM sternum *SHOULDER acromion *ACROMIUM acromion *ELBOW elbow_lateral \
                 *ELBOW.LAT elbow_lateral *ELBOW.MEDIAL elbow_medial *ELBOW.MED elbow_medial *WRIST wrist_thumb *WRIST.LAT wrist_thumb \
                 *WRIST.MED wrist_little *ASIS asis *PSIS psis V.SACRAL sacrum *THIGH thigh_side *THIGH.UPPER thigh_side *KNEE knee_lateral \
                 *KNEE.LAT knee_lateral *KNEE.MEDIAL knee_medial *KNEE.MED knee_medial *SHANK shin_side *SHANK.UPPER shin_side *ANKLE ankle_lateral \
                 *ANKLE.LAT ankle_lateral *ANKLE.MEDIAL ankle_medial *ANKLE.MED ankle_medial *HEEL heel_back *TOE toe_top *TOE.TIP toe_top",
    },
    LabelSet {
        name: "OptiTrack Baseline",
        sides: ["L", "R"],
        labels: "HEADTOP crown HEADFRONT forehead HEADL left_temple HEADR right_temple BACKTOP c7 SPINETOP c7 CHEST sternum CHESTTOP clavicle \
                 CHESTLOW sternum *SHOULDERTOP acromion *UARMHIGH upper_arm_side *ARM upper_arm_side *ELBOWOUT elbow_lateral \
                 *ELBOWIN elbow_medial *WRISTOUT wrist_little *WRISTIN wrist_thumb *HANDOUT knuckle WAISTLFRONT left_asis WAISTRFRONT right_asis \
                 WAISTLBACK left_psis WAISTRBACK right_psis *THIGH thigh_side *KNEEOUT knee_lateral *KNEEIN knee_medial *SHIN shin_side \
                 *ANKLEOUT ankle_lateral *ANKLEIN ankle_medial *HEEL heel_back *HEELBACK heel_back *TOEIN toe_medial *TOEOUT toe_lateral \
                 *FOREFOOTIN toe_medial *FOREFOOTOUT toe_lateral",
    },
];

/// The site of this name: of the lists above, or a joint or landmark of the body (`left_knee`).
pub(super) fn site(name: &str) -> Option<BodyPoint> {
    BodyPoint::of_lists(name, &MIDDLE, &SIDED).or_else(|| BodyPoint::named(name))
}

/// All names of sites, for messages.
pub(super) fn site_names() -> String {
    format!(
        "{}, with `left_` or `right_` {}, and the points of the body",
        MIDDLE.join(", "),
        SIDED.join(", ")
    )
}

/// Labels with their sites: the built-in ones of a set, or the user's.
pub(super) struct SiteTable {
    pub(super) name: String,
    sites: Vec<(String, BodyPoint)>,
}

impl SiteTable {
    pub(super) fn new(name: String, sites: Vec<(String, BodyPoint)>) -> Self {
        let sites = sites.into_iter().map(|(label, site)| (label.to_ascii_uppercase(), site)).collect();
        Self { name, sites }
    }

    /// The site of a label, without the subject's name before a colon or an underscore.
    pub(super) fn site_of(&self, label: &str) -> Option<BodyPoint> {
        let label = label.trim().to_ascii_uppercase();
        let find = |label: &str| self.sites.iter().find(|(known, _)| known == label).map(|(_, site)| *site);
        let after = |sign| label.rsplit_once(sign).and_then(|(_, rest)| find(rest));
        find(&label).or_else(|| after(':')).or_else(|| after('_'))
    }
}

/// The built-in set that has most of the labels; the first of equals.
pub(super) fn nearest_set(labels: &[String]) -> SiteTable {
    let tables = SETS.iter().map(LabelSet::table);
    let known = |table: &SiteTable| labels.iter().filter(|label| table.site_of(label).is_some()).count();
    let (mut best, mut most) = (SETS[0].table(), 0);
    for table in tables {
        let count = known(&table);
        if count > most {
            (best, most) = (table, count);
        }
    }
    best
}

/// The built-in set of this name, in any case.
pub(super) fn set_named(name: &str) -> Option<SiteTable> {
    SETS.iter().find(|set| set.name.eq_ignore_ascii_case(name)).map(LabelSet::table)
}

/// The names of the built-in sets.
pub(super) fn set_names() -> String {
    SETS.map(|set| set.name).join(", ")
}

impl LabelSet {
    fn table(&self) -> SiteTable {
        let words: Vec<&str> = self.labels.split_whitespace().collect();
        let mut sites = Vec::new();
        for pair in words.chunks_exact(2) {
            if !pair[0].contains('*') {
                sites.extend(site(pair[1]).map(|site| (pair[0].to_owned(), site)));
                continue;
            }
            for (letter, side) in self.sides.iter().zip(["left", "right"]) {
                let site = site(&format!("{side}_{}", pair[1]));
                sites.extend(site.map(|site| (pair[0].replace('*', letter), site)));
            }
        }
        SiteTable::new(self.name.to_owned(), sites)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_has_a_site_and_every_set_what_a_motion_needs() {
        for set in &SETS {
            let words: Vec<&str> = set.labels.split_whitespace().collect();
            assert!(words.len().is_multiple_of(2), "{}", set.name);
            let sides: usize = words.chunks(2).map(|w| if w[0].contains('*') { 2 } else { 1 }).sum();
            let table = set.table();
            assert_eq!(table.sites.len(), sides, "{}", set.name);
            for (k, (label, _)) in table.sites.iter().enumerate() {
                assert!(table.sites[..k].iter().all(|(other, _)| other != label), "{}: {label}", set.name);
            }
            for part in ["asis", "knee_lateral", "ankle_lateral", "acromion", "elbow_lateral", "wrist_thumb"]
            {
                assert_eq!(table.sites.iter().filter(|(_, s)| s.part == part).count() % 2, 0, "{part}");
                assert!(table.sites.iter().any(|(_, s)| s.part == part), "{}: {part}", set.name);
            }
        }
    }

    #[test]
    fn labels_are_found_behind_the_name_of_a_subject() {
        let table = nearest_set(&["Anna:LASI".into(), "Anna:lkne".into(), "*12".into()]);
        assert_eq!(table.name, "Plug-in Gait");
        assert_eq!(table.site_of("Anna:LASI"), site("left_asis"));
        assert_eq!(table.site_of("Anna_rank"), site("right_ankle_lateral"));
        assert_eq!((table.site_of("*12"), table.site_of("")), (None, None));
        assert_eq!(nearest_set(&["R.Knee.Lat".into(), "V.Sacral".into()]).name, "Helen Hayes");
        assert_eq!(nearest_set(&["LFWT".into(), "C7".into()]).name, "CMU");
        assert_eq!(nearest_set(&["Skeleton:WaistLFront".into()]).name, "OptiTrack Baseline");
    }
}
