//! Joint roles: the anatomical slots through which source and target are matched.

use std::fmt;
use std::str::FromStr;

/// The side of the body, from the character's own point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// The character's left: +X in normal form.
    Left,
    /// The character's right: -X in normal form.
    Right,
}

impl Side {
    /// Both sides.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// The word of the side in names of roles.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Side::Left => "left",
            Side::Right => "right",
        }
    }

    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// 0 for left, 1 for right: the index in arrays by side.
    pub(crate) fn index(self) -> usize {
        usize::from(self == Side::Right)
    }

    /// +1 for left, -1 for right: the sign of the side along +X in normal form.
    pub fn sign(self) -> f64 {
        match self {
            Side::Left => 1.0,
            Side::Right => -1.0,
        }
    }
}

/// A finger of the hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Finger {
    /// The thumb.
    Thumb,
    /// The index finger.
    Index,
    /// The middle finger.
    Middle,
    /// The ring finger.
    Ring,
    /// The little finger.
    Little,
}

impl Finger {
    /// All fingers, thumb first.
    pub const ALL: [Finger; 5] = [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
}

/// The role of a joint. Chains count from the body outwards, starting at 0.
///
/// The front legs of a quadruped are its arms: `UpperArm`, `LowerArm`, `Hand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Role {
    /// The pelvis, which has the root motion.
    Hips,
    /// A joint of the spine; 0 is the lowest.
    Spine(u8),
    /// A joint of the neck; 0 is the lowest.
    Neck(u8),
    /// The head.
    Head,
    /// The collar bone, or the shoulder blade of a quadruped.
    Clavicle(Side),
    /// The upper arm; rotates at the shoulder.
    UpperArm(Side),
    /// The forearm; rotates at the elbow.
    LowerArm(Side),
    /// The hand; rotates at the wrist.
    Hand(Side),
    /// A finger joint; 0 is the knuckle nearest to the wrist that bends.
    Finger(Side, Finger, u8),
    /// The thigh; rotates at the hip.
    UpperLeg(Side),
    /// The shin, turning at the knee.
    LowerLeg(Side),
    /// The foot, turning at the ankle.
    Foot(Side),
    /// The toes, turning at the ball of the foot.
    Toes(Side),
    /// A joint of the tail; 0 is at the body.
    Tail(u8),
}

impl Role {
    /// The side, for roles that have one.
    pub fn side(self) -> Option<Side> {
        match self {
            Role::Clavicle(s)
            | Role::UpperArm(s)
            | Role::LowerArm(s)
            | Role::Hand(s)
            | Role::Finger(s, _, _)
            | Role::UpperLeg(s)
            | Role::LowerLeg(s)
            | Role::Foot(s)
            | Role::Toes(s) => Some(s),
            Role::Hips | Role::Spine(_) | Role::Neck(_) | Role::Head | Role::Tail(_) => None,
        }
    }

    /// The next role of a numbered chain (spine, neck, tail, finger); `None` behind the last number, and of other roles.
    pub(crate) fn next(self) -> Option<Role> {
        match self {
            Role::Spine(n) => n.checked_add(1).map(Role::Spine),
            Role::Neck(n) => n.checked_add(1).map(Role::Neck),
            Role::Tail(n) => n.checked_add(1).map(Role::Tail),
            Role::Finger(side, finger, n) => n.checked_add(1).map(|n| Role::Finger(side, finger, n)),
            _ => None,
        }
    }

    /// The same role on the other side; roles without a side are unchanged.
    pub fn mirrored(self) -> Role {
        match self {
            Role::Clavicle(s) => Role::Clavicle(s.other()),
            Role::UpperArm(s) => Role::UpperArm(s.other()),
            Role::LowerArm(s) => Role::LowerArm(s.other()),
            Role::Hand(s) => Role::Hand(s.other()),
            Role::Finger(s, f, n) => Role::Finger(s.other(), f, n),
            Role::UpperLeg(s) => Role::UpperLeg(s.other()),
            Role::LowerLeg(s) => Role::LowerLeg(s.other()),
            Role::Foot(s) => Role::Foot(s.other()),
            Role::Toes(s) => Role::Toes(s.other()),
            middle => middle,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Role::Hips => write!(f, "hips"),
            Role::Spine(n) => write!(f, "spine_{n}"),
            Role::Neck(n) => write!(f, "neck_{n}"),
            Role::Head => write!(f, "head"),
            Role::Clavicle(s) => write!(f, "{}_clavicle", s.word()),
            Role::UpperArm(s) => write!(f, "{}_upper_arm", s.word()),
            Role::LowerArm(s) => write!(f, "{}_lower_arm", s.word()),
            Role::Hand(s) => write!(f, "{}_hand", s.word()),
            Role::Finger(s, finger, n) => {
                let finger = match finger {
                    Finger::Thumb => "thumb",
                    Finger::Index => "index",
                    Finger::Middle => "middle",
                    Finger::Ring => "ring",
                    Finger::Little => "little",
                };
                write!(f, "{}_{finger}_{n}", s.word())
            }
            Role::UpperLeg(s) => write!(f, "{}_upper_leg", s.word()),
            Role::LowerLeg(s) => write!(f, "{}_lower_leg", s.word()),
            Role::Foot(s) => write!(f, "{}_foot", s.word()),
            Role::Toes(s) => write!(f, "{}_toes", s.word()),
            Role::Tail(n) => write!(f, "tail_{n}"),
        }
    }
}

impl Role {
    /// The names of all roles, for messages; numbers may be increased.
    pub const WORDS: &str = "`hips`, `spine_0`, `neck_0`, `head`, `tail_0`, and with `left_` or `right_` before them \
                             `clavicle`, `upper_arm`, `lower_arm`, `hand`, `upper_leg`, `lower_leg`, `foot`, `toes`, \
                             `thumb_0`, `index_0`, `middle_0`, `ring_0`, `little_0`";

    /// The names in [`Role::WORDS`], those of limbs with both sides.
    pub fn words() -> Vec<String> {
        let with_sides = |word: &str| ["", "left_", "right_"].map(|side| format!("{side}{word}"));
        let words = Role::WORDS.split('`').flat_map(with_sides);
        words.filter(|word| word.parse::<Role>().is_ok()).collect()
    }
}

impl FromStr for Role {
    type Err = String;

    /// Parses the `Display` form.
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no role");
        let number = |n: &str| n.parse::<u8>().map_err(|_| unknown());
        let sided = text
            .split_once('_')
            .and_then(|(word, rest)| Some((Side::BOTH.into_iter().find(|side| side.word() == word)?, rest)));
        let (side, rest) = match sided {
            Some(sided) => sided,
            None => {
                return match text.split_once('_') {
                    None if text == "hips" => Ok(Role::Hips),
                    None if text == "head" => Ok(Role::Head),
                    Some(("spine", n)) => Ok(Role::Spine(number(n)?)),
                    Some(("neck", n)) => Ok(Role::Neck(number(n)?)),
                    Some(("tail", n)) => Ok(Role::Tail(number(n)?)),
                    _ => Err(unknown()),
                };
            }
        };
        let finger = |f: Finger, n: &str| Ok(Role::Finger(side, f, number(n)?));
        match (rest, rest.split_once('_')) {
            ("clavicle", _) => Ok(Role::Clavicle(side)),
            ("upper_arm", _) => Ok(Role::UpperArm(side)),
            ("lower_arm", _) => Ok(Role::LowerArm(side)),
            ("hand", _) => Ok(Role::Hand(side)),
            ("upper_leg", _) => Ok(Role::UpperLeg(side)),
            ("lower_leg", _) => Ok(Role::LowerLeg(side)),
            ("foot", _) => Ok(Role::Foot(side)),
            ("toes", _) => Ok(Role::Toes(side)),
            (_, Some(("thumb", n))) => finger(Finger::Thumb, n),
            (_, Some(("index", n))) => finger(Finger::Index, n),
            (_, Some(("middle", n))) => finger(Finger::Middle, n),
            (_, Some(("ring", n))) => finger(Finger::Ring, n),
            (_, Some(("little", n))) => finger(Finger::Little, n),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_ends_at_its_last_number() {
        assert_eq!(Role::Spine(254).next(), Some(Role::Spine(255)));
        let left = |n| Role::Finger(Side::Left, Finger::Thumb, n);
        assert_eq!(left(0).next(), Some(left(1)));
        for last in [Role::Spine(255), Role::Neck(255), Role::Tail(255), left(255), Role::Hips] {
            assert_eq!(last.next(), None);
        }
    }

    #[test]
    fn every_role_reads_back_and_mirrors_back() {
        let mut roles = vec![Role::Hips, Role::Spine(3), Role::Neck(0), Role::Head, Role::Tail(7)];
        for s in Side::BOTH {
            roles.extend([Role::Clavicle(s), Role::UpperArm(s), Role::LowerArm(s), Role::Hand(s)]);
            roles.extend([Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s), Role::Toes(s)]);
            roles.extend(Finger::ALL.map(|f| Role::Finger(s, f, 2)));
        }
        for role in roles {
            let word = role.to_string().replace(|c: char| c.is_ascii_digit(), "0");
            let word = word.trim_start_matches("left_").trim_start_matches("right_");
            assert!(Role::WORDS.contains(&format!("`{word}`")), "{word}");
            assert_eq!(role.to_string().parse(), Ok(role));
            assert_eq!(role.mirrored().mirrored(), role);
            assert_eq!(role.side().is_some(), role.mirrored() != role);
        }
        assert_eq!("left_wing".parse::<Role>(), Err("`left_wing` is no role".into()));
    }
}
