//! What settling knows of a body and its floor, and the kinematic result that stands on it.
//!
//! Space: model space. Units: SI.

use super::criteria::{Criteria, Judge};
use super::flight::{Flight, flights, joined_flights, plausible};
use super::floor::Floor;
use super::kinematic::Passes;
use super::ragdoll::Ragdoll;
use super::track::Moment;
use crate::anatomy::contact_points;
use crate::ik::Mechanism;
use crate::limits::{self, keep};
use crate::model::{Character, ContactPoint, Contacts, JointId, ModelPose, Motion, Pose, Role};

/// A body over a floor.
#[derive(Clone, Debug)]
pub struct Stand {
    /// The bodies.
    pub ragdoll: Ragdoll,
    /// The ranges of the joints.
    pub mechanism: Mechanism,
    /// The joints that have one, but for legs: one that is turned takes its foot off its place.
    joints: Vec<JointId>,
    /// The points that may touch.
    points: Vec<ContactPoint>,
    /// The floor.
    pub floor: Floor,
    /// Where the body flies.
    pub air: Vec<Flight>,
    /// The part of it in which that is beyond doubt.
    flights: Vec<Flight>,
    /// Flights that stay as they came.
    pub left: Vec<Flight>,
    /// Frames per second.
    pub rate: f64,
}

/// A body of which no point ever is higher than this does not fly, metres.
const CLEAR: f64 = 0.01;

/// Rounds in which flights are looked for again.
const FLIGHT_ROUNDS: usize = 3;

impl Stand {
    /// The body of a motion, whose poses are `input`, over the floor that `contacts` speak of; nothing for a body that
    /// no ragdoll can be made of.
    pub fn of(motion: &Motion, contacts: Contacts, input: &[Pose]) -> Option<Self> {
        let character = &*motion.character;
        let mechanism = ranges(motion);
        let mut stand = Self {
            ragdoll: Ragdoll::of(character)?,
            joints: mechanism.joints_with_limits().filter(|id| !of_leg(character, *id)).collect(),
            mechanism,
            points: contact_points(character, &character.rig),
            floor: Floor::new(contacts),
            air: Vec::new(),
            flights: Vec::new(),
            left: Vec::new(),
            rate: motion.clip.sample_rate,
        };
        [stand.air, stand.flights] = stand.flights_of(input, &stand.floor);
        Some(stand)
    }

    /// The flights of these poses between what rests, and the part of them that is beyond doubt.
    fn flights_of(&self, poses: &[Pose], floor: &Floor) -> [Vec<Flight>; 2] {
        let skeleton = self.mechanism.skeleton();
        let lowest = |f: usize| {
            let model = ModelPose::of(skeleton, &poses[f]);
            self.points.iter().map(|p| floor.clearance(p, &model, f)).fold(f64::INFINITY, f64::min)
        };
        let mut gaps = flights(floor, poses.len(), self.rate);
        gaps.retain(|gap| gap.frames.clone().any(|f| lowest(f) > CLEAR));
        plausible((&self.ragdoll, skeleton), poses, &gaps, self.rate)
    }

    /// The kinematic result of a motion whose poses are `input`; from here on the floor is what it stands on.
    ///
    /// A clip that would shake where its flights become those of bodies (S9) keeps the flights that it came with.
    pub fn clean(&mut self, motion: &Motion, input: &[Pose]) -> Motion {
        let arriving = Motion { contacts: Some(self.floor.contacts().clone()), ..motion.clone() };
        let mut kinematic = self.flown(&arriving);
        if !self.air.is_empty() && self.shakes(&kinematic, input) {
            let left = Self { air: Vec::new(), left: self.air.clone(), ..self.clone() };
            let smooth = left.passes().clean(&arriving);
            if !left.shakes(&smooth, input) {
                *self = left;
                kinematic = smooth;
            }
        }
        self.stand_on(&kinematic);
        kinematic
    }

    /// The kinematic result with the flights of bodies.
    fn flown(&mut self, arriving: &Motion) -> Motion {
        let mut kinematic = self.passes().clean(arriving);
        // What has become a flight, or a longer one, is one: a clip that is settled again finds the same.
        for _ in 0..FLIGHT_ROUNDS {
            let floor = kinematic.contacts.clone().map_or(self.floor.clone(), Floor::new);
            let [air, sure] = self.flights_of(&kinematic.poses(), &floor);
            // What fell as it came in is judged, whatever became of it.
            self.flights = joined_flights(&self.flights, &sure);
            let joined = joined_flights(&self.air, &air);
            if joined == self.air {
                break;
            }
            self.air = joined;
            kinematic = self.passes().finish(kinematic);
        }
        kinematic
    }

    /// Whether a motion shakes or pops (S9) against `input`.
    fn shakes(&self, motion: &Motion, input: &[Pose]) -> bool {
        self.judged(&self.floor).shakes(&motion.poses(), input)
    }

    /// The floor is what a motion rests on.
    fn stand_on(&mut self, motion: &Motion) {
        if let Some(contacts) = &motion.contacts {
            self.floor = Floor::new(contacts.clone());
        }
    }

    /// The kinematic passes.
    pub fn passes(&self) -> Passes<'_> {
        Passes {
            ragdoll: &self.ragdoll,
            mechanism: &self.mechanism,
            joints: &self.joints,
            flights: &self.air,
        }
    }

    /// What `poses` keep to: see [`Judge::judge`].
    pub fn judge(&self, poses: &[Pose], reference: &[Pose], input: &[Pose], moments: &[Moment]) -> Criteria {
        self.judged(&self.floor).judge(poses, reference, input, moments)
    }

    /// What is judged against, on this floor.
    pub fn judged<'a>(&'a self, floor: &'a Floor) -> Judge<'a> {
        Judge {
            ragdoll: &self.ragdoll,
            mechanism: &self.mechanism,
            points: &self.points,
            floor,
            flights: &self.flights,
            rate: self.rate,
        }
    }
}

fn of_leg(character: &Character, id: JointId) -> bool {
    use Role::{Foot, LowerLeg, Toes, UpperLeg};
    character.rig.role(id).is_some_and(|role| matches!(role, UpperLeg(_) | LowerLeg(_) | Foot(_) | Toes(_)))
}

/// The ranges of the joints of a body, but for limbs that the motion takes where no person's go: those are left.
fn ranges(motion: &Motion) -> Mechanism {
    let character = &*motion.character;
    let all = Mechanism::humanoid(&character.rig, &character.calibration_pose());
    let joints: Vec<JointId> = all.joints_with_limits().collect();
    let (_, kept) = keep(motion.clone(), &all, &joints, &limits::Options::default());
    kept.left.into_iter().fold(all, |ranges, id| {
        let freedom = ranges.freedom(id);
        ranges.with_freedom(id, freedom)
    })
}
