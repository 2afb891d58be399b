//! Mobility of joints by role: published ranges of motion, and overrides by the user in anatomical terms.
//!
//! Degrees after the American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording (1965),
//! as tabulated in Norkin and White, Measurement of Joint Motion; the clavicle after Neumann, Kinesiology of the
//! Musculoskeletal System; dorsiflexion under the body's weight, about twice that of a hanging foot, after Rabin,
//! Kozol, Spitzer and Finestone (2015), Journal of Athletic Training 50:30. Where a rig has one joint for several of
//! anatomy (a hand that also rotates the forearm), the mobility is that of all of them; where it has several for one (a
//! spine), each has up to twice an even share, because vertebrae differ as much: the first joint of the neck has half
//! of its rotation (White and Panjabi 1990, Clinical Biomechanics of the Spine). Units: degrees for people, radians
//! inside.

use crate::model::{Finger, Mobility, Rig, Role};

/// Extension and flexion, adduction and abduction, twist in both directions, in degrees.
fn degrees(extension: f64, flexion: f64, adduction: f64, abduction: f64, twist: f64) -> Mobility {
    let pair = |least: f64, greatest: f64| [-least.to_radians(), greatest.to_radians()];
    Mobility { bend: pair(extension, flexion), side: pair(adduction, abduction), twist: pair(twist, twist) }
}

/// The published mobility of a role; `None` for roles that have none (the root, tails).
fn published(role: Role) -> Option<Mobility> {
    Some(match role {
        Role::Hips | Role::Tail(_) => return None,
        // The whole thoracolumbar spine.
        Role::Spine(_) => degrees(25.0, 80.0, 35.0, 35.0, 45.0),
        // The whole cervical spine, the head included.
        Role::Neck(_) | Role::Head => degrees(45.0, 45.0, 45.0, 45.0, 60.0),
        // Retraction and protraction; depression and elevation; it rotates about its length as the arm goes up.
        Role::Clavicle(_) => degrees(30.0, 30.0, 10.0, 45.0, 50.0),
        // From the arm held out sideways: backwards and forwards across the body; down past the body's side, and up.
        // Held out it goes back by 45, but the hanging arm by 60, and the ellipse through that ends at 84.
        Role::UpperArm(_) => degrees(84.0, 135.0, 120.0, 90.0, 90.0),
        // Some hyperextension; the carrying angle; pronation and supination.
        Role::LowerArm(_) => degrees(10.0, 150.0, 10.0, 10.0, 80.0),
        // Pronation and supination that the rig puts into the wrist are added to the wrist's own few degrees.
        Role::Hand(_) => degrees(70.0, 80.0, 30.0, 20.0, 90.0),
        Role::Finger(_, Finger::Thumb, 0) => degrees(30.0, 70.0, 50.0, 70.0, 40.0),
        Role::Finger(_, Finger::Thumb, _) => degrees(20.0, 80.0, 10.0, 10.0, 10.0),
        Role::Finger(_, _, 0) => degrees(45.0, 90.0, 20.0, 20.0, 10.0),
        Role::Finger(_, _, 1) => degrees(10.0, 100.0, 5.0, 5.0, 5.0),
        Role::Finger(..) => degrees(10.0, 90.0, 5.0, 5.0, 5.0),
        Role::UpperLeg(_) => degrees(30.0, 120.0, 30.0, 45.0, 45.0),
        // Some hyperextension; the flexed knee lets the shin rotate a little.
        Role::LowerLeg(_) => degrees(10.0, 135.0, 10.0, 10.0, 40.0),
        // Plantar flexion and dorsiflexion; the toes inwards and outwards; inversion and eversion.
        // The 20 degrees of dorsiflexion in the tables are those of a hanging foot; a planted one bears the body.
        Role::Foot(_) => degrees(50.0, 40.0, 35.0, 35.0, 35.0),
        Role::Toes(_) => degrees(45.0, 70.0, 15.0, 15.0, 10.0),
    })
}

/// The mobility of the joint of a role: the override of this rig, else the published one; `None` for the root and for tails.
pub fn mobility(rig: &Rig, role: Role) -> Option<Mobility> {
    if let Some(own) = rig.mobility_override(role) {
        return Some(*own);
    }
    let whole = published(role)?;
    let part = (2.0 / joints_of_one(rig, role)).min(1.0);
    let share = |angles: [f64; 2]| angles.map(|a| a * part);
    Some(Mobility { bend: share(whole.bend), side: share(whole.side), twist: share(whole.twist) })
}

/// How many joints of the rig share the mobility of one of anatomy.
fn joints_of_one(rig: &Rig, role: Role) -> f64 {
    let count = match role {
        Role::Spine(_) => rig.chain(Role::Spine).len(),
        Role::Neck(_) | Role::Head => rig.chain(Role::Neck).len() + 1,
        _ => 1,
    };
    count.max(1) as f64
}

/// An anatomical term: which angle, which end of it, and the offset of its zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AngleTerm {
    Extension,
    Flexion,
    /// Both ends of the sideways angle.
    Sideways,
    Adduction,
    Abduction,
    /// As people count them with the arm hanging, 90 degrees from the arm held out.
    HangingAdduction,
    HangingAbduction,
    Twist,
}

/// The words for the mobility of a role.
fn words(role: Role) -> &'static [(&'static str, AngleTerm)] {
    use AngleTerm::*;
    match role {
        Role::Hips | Role::Tail(_) => &[],
        Role::Spine(_) | Role::Neck(_) | Role::Head => &[
            ("flexion", Flexion),
            ("extension", Extension),
            ("lateral_flexion", Sideways),
            ("rotation", Twist),
        ],
        Role::Clavicle(_) => &[
            ("protraction", Flexion),
            ("retraction", Extension),
            ("elevation", Abduction),
            ("depression", Adduction),
            ("rotation", Twist),
        ],
        Role::UpperArm(_) => &[
            ("horizontal_flexion", Flexion),
            ("horizontal_extension", Extension),
            ("abduction", HangingAbduction),
            ("adduction", HangingAdduction),
            ("rotation", Twist),
        ],
        Role::Hand(_) => &[
            ("flexion", Flexion),
            ("extension", Extension),
            ("radial_deviation", Abduction),
            ("ulnar_deviation", Adduction),
            ("rotation", Twist),
        ],
        Role::Foot(_) => &[
            ("dorsiflexion", Flexion),
            ("plantar_flexion", Extension),
            ("abduction", Abduction),
            ("adduction", Adduction),
            // About the foot's length.
            ("inversion_eversion", Twist),
        ],
        _ => &[
            ("flexion", Flexion),
            ("extension", Extension),
            ("abduction", Abduction),
            ("adduction", Adduction),
            ("rotation", Twist),
        ],
    }
}

/// Why a mobility override is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MobilityError {
    /// The role has no mobility.
    #[error("`{0}` has no range of motion")]
    None(Role),
    /// The role has no such word.
    #[error("`{role}` has no `{word}`, allowed are {allowed}")]
    Word {
        /// The role.
        role: Role,
        /// The word.
        word: String,
        /// The words of the role.
        allowed: String,
    },
    /// The angle is none.
    #[error("`{word}` of `{role}` is {degrees}, allowed is {low} to {high} degrees")]
    Angle {
        /// The role.
        role: Role,
        /// The word.
        word: &'static str,
        /// The angle given.
        degrees: f64,
        /// The least that is allowed.
        low: f64,
        /// The most that is allowed.
        high: f64,
    },
}

/// An override of the mobility of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct MobilityOverride {
    role: Role,
    angles: Vec<(AngleTerm, f64)>,
}

impl MobilityOverride {
    /// Reads angles in degrees by their anatomical terms.
    ///
    /// # Errors
    /// A [`MobilityError`] and the position of the word that it is about.
    pub fn read<'w>(
        role: Role,
        angles_by_term: impl IntoIterator<Item = (&'w str, f64)>,
    ) -> Result<Self, (usize, MobilityError)> {
        let known = words(role);
        if known.is_empty() {
            return Err((0, MobilityError::None(role)));
        }
        let mut angles = Vec::new();
        for (at, (word, degrees)) in angles_by_term.into_iter().enumerate() {
            let Some((word, says)) = known.iter().find(|(w, _)| *w == word) else {
                let allowed = known.iter().map(|(w, _)| format!("`{w}`")).collect::<Vec<_>>().join(", ");
                return Err((at, MobilityError::Word { role, word: word.to_owned(), allowed }));
            };
            let (low, high) = match says {
                AngleTerm::HangingAbduction => (90.0, 180.0),
                AngleTerm::HangingAdduction => (0.0, 90.0),
                _ => (0.0, 180.0),
            };
            if !(low..=high).contains(&degrees) {
                return Err((at, MobilityError::Angle { role, word, degrees, low, high }));
            }
            angles.push((*says, degrees.to_radians()));
        }
        Ok(Self { role, angles })
    }

    /// The rig with this override; angles that it does not name stay.
    pub fn on(&self, rig: Rig) -> Rig {
        let Some(mut made) = mobility(&rig, self.role) else { return rig };
        let right = std::f64::consts::FRAC_PI_2;
        for &(says, angle) in &self.angles {
            match says {
                AngleTerm::Extension => made.bend[0] = -angle,
                AngleTerm::Flexion => made.bend[1] = angle,
                AngleTerm::Sideways => made.side = [-angle, angle],
                AngleTerm::Adduction => made.side[0] = -angle,
                AngleTerm::Abduction => made.side[1] = angle,
                AngleTerm::HangingAdduction => made.side[0] = -angle - right,
                AngleTerm::HangingAbduction => made.side[1] = angle - right,
                AngleTerm::Twist => made.twist = [-angle, angle],
            }
        }
        rig.with_mobility(self.role, made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::{Joint, Side, Skeleton};

    fn rig() -> Rig {
        Rig::new(Skeleton::new(vec![Joint::new("a", None, Transform::identity())]).unwrap(), [])
    }

    /// Every role with a mobility.
    fn roles() -> Vec<Role> {
        let limbs = |s| {
            let fingers =
                Finger::ALL.into_iter().flat_map(move |f| (0..3).map(move |n| Role::Finger(s, f, n)));
            [Role::Clavicle(s), Role::UpperArm(s), Role::LowerArm(s), Role::Hand(s)]
                .into_iter()
                .chain([Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s), Role::Toes(s)])
                .chain(fingers)
        };
        [Role::Spine(0), Role::Neck(0), Role::Head]
            .into_iter()
            .chain(Side::BOTH.into_iter().flat_map(limbs))
            .collect()
    }

    #[test]
    fn every_word_of_every_role_moves_one_angle_and_zero_stays_inside() {
        for role in roles() {
            let before = mobility(&rig(), role).unwrap();
            for (word, says) in words(role) {
                let degrees = if matches!(says, AngleTerm::HangingAbduction) { 123.0 } else { 7.0 };
                let given = MobilityOverride::read(role, [(*word, degrees)]).unwrap();
                let after = mobility(&given.on(rig()), role).unwrap();
                let ends = |m: &Mobility| [m.bend, m.side, m.twist];
                let changed = ends(&before).iter().zip(ends(&after)).filter(|(a, b)| **a != *b).count();
                assert_eq!(changed, 1, "{role} {word}");
                assert!(ends(&after).iter().all(|[low, high]| *low <= 0.0 && *high >= 0.0), "{role} {word}");
            }
        }
    }

    #[test]
    fn an_arm_is_counted_hanging_as_people_do() {
        let arm = Role::UpperArm(Side::Left);
        let given = MobilityOverride::read(arm, [("abduction", 180.0), ("adduction", 30.0)]).unwrap();
        let given = mobility(&given.on(rig()), arm).unwrap();
        let published = mobility(&rig(), arm).unwrap();
        assert!((given.side[0] - published.side[0]).abs() < 1e-12);
        assert!((given.side[1] - published.side[1]).abs() < 1e-12);
    }

    #[test]
    fn faults_name_what_is_allowed() {
        let fault =
            |role, word, degrees| MobilityOverride::read(role, [(word, degrees)]).unwrap_err().1.to_string();
        assert_eq!(
            fault(Role::LowerLeg(Side::Left), "bend", 5.0),
            "`left_lower_leg` has no `bend`, allowed are `flexion`, `extension`, `abduction`, `adduction`, `rotation`"
        );
        assert_eq!(
            fault(Role::Head, "flexion", 200.0),
            "`flexion` of `head` is 200, allowed is 0 to 180 degrees"
        );
        assert_eq!(
            fault(Role::UpperArm(Side::Right), "abduction", f64::NAN),
            "`abduction` of `right_upper_arm` is NaN, allowed is 90 to 180 degrees"
        );
        assert_eq!(fault(Role::Hips, "flexion", 5.0), "`hips` has no range of motion");
    }
}
