//! The body of one character, measured once and shared by legs, hands, measures and retargeting.
//!
//! Every part is computed when it is first asked for and then kept, so a part that nobody needs costs nothing. The
//! character is measured in its reference pose (bind pose, else rest pose). Space: model space, Y up. Units: metres.

use super::arms::ArmMeasures;
use super::body_surface::BodySurface;
use super::capsules::{Capsule, capsules_in};
use super::contact_points::contact_points;
use super::height::height;
use super::landmarks::Landmarks;
use super::point_masses::{PointMass, point_masses};
use super::support_points::{SupportPoints, foot_support};
use crate::anatomy::Figure;
use crate::math::Vec3;
use crate::model::{Character, ContactPoint, JointId, ModelPose, Rig, Side};
use crate::parallel;
use std::sync::{Arc, OnceLock};

/// A character with the roles of one rig, and what is measured on it.
///
/// Not to be confused with [`crate::dynamics::Body`], a single rigid body.
#[derive(Clone, Debug)]
pub struct CharacterBody {
    character: Arc<Character>,
    /// The rig where it is not the character's own.
    other_rig: Option<Rig>,
    reference_pose: ModelPose,
    figure: Option<Figure>,
    capsules: OnceLock<Vec<Capsule>>,
    arms: OnceLock<Option<ArmMeasures>>,
    landmarks: OnceLock<Option<Landmarks>>,
    surface: OnceLock<Option<BodySurface>>,
    contact_points: OnceLock<Vec<ContactPoint>>,
    feet: OnceLock<[Vec<(JointId, Vec3)>; 2]>,
    support_points: OnceLock<SupportPoints>,
    point_masses: OnceLock<Vec<PointMass>>,
}

// Nothing below may use the thread pool inside of `get_or_init`: a thread that waits there could wait for its own work.
impl CharacterBody {
    /// The body of `character` with the roles of its own rig.
    pub fn new(character: &Arc<Character>) -> Self {
        Self::of(character, &character.rig)
    }

    /// The body of `character` with the roles of `rig`, which is of the same skeleton.
    pub fn of(character: &Arc<Character>, rig: &Rig) -> Self {
        let reference_pose = character.reference_pose();
        Self {
            character: Arc::clone(character),
            other_rig: (!std::ptr::eq(rig, &character.rig) && *rig != character.rig).then(|| rig.clone()),
            figure: Figure::of(rig, &reference_pose),
            reference_pose,
            capsules: OnceLock::new(),
            arms: OnceLock::new(),
            landmarks: OnceLock::new(),
            surface: OnceLock::new(),
            contact_points: OnceLock::new(),
            feet: OnceLock::new(),
            support_points: OnceLock::new(),
            point_masses: OnceLock::new(),
        }
    }

    /// The same, with the parts that take longest computed now, on two threads.
    pub(crate) fn prepare(&self) -> &Self {
        parallel::join(|| self.capsules(), || (self.support_points(), self.surface()));
        self
    }

    /// The character.
    pub fn character(&self) -> &Arc<Character> {
        &self.character
    }

    /// The roles of its joints.
    pub fn rig(&self) -> &Rig {
        self.other_rig.as_ref().unwrap_or(&self.character.rig)
    }

    /// The reference pose, in which everything is measured.
    pub(crate) fn reference_pose(&self) -> &ModelPose {
        &self.reference_pose
    }

    /// Leg length, up, left and the height of the soles; `None` without two thighs.
    pub fn figure(&self) -> Option<&Figure> {
        self.figure.as_ref()
    }

    /// The height from the soles to the top of the head; without legs the extent of the skeleton. At least a micrometre.
    pub fn height(&self) -> f64 {
        height(self.capsules(), self.figure(), &self.reference_pose)
    }

    /// The capsules in the order of [`BodyPart`](super::BodyPart); none for a body without legs.
    pub fn capsules(&self) -> &[Capsule] {
        self.capsules.get_or_init(|| match &self.figure {
            Some(figure) => capsules_in(&self.character, self.rig(), &self.reference_pose, *figure),
            None => Vec::new(),
        })
    }

    /// The arms; `None` for a body without arms or on four legs.
    pub(crate) fn arms(&self) -> Option<&ArmMeasures> {
        let arms = || ArmMeasures::of(self.rig(), &self.reference_pose, self.figure()?);
        self.arms.get_or_init(arms).as_ref()
    }

    /// The joints that arms are placed by; `None` for a body without arms, legs or a head, or on four legs.
    pub(crate) fn landmarks(&self) -> Option<&Landmarks> {
        let landmarks = || Landmarks::of(self.rig(), &self.reference_pose, self.figure()?);
        self.landmarks.get_or_init(landmarks).as_ref()
    }

    /// The skin as arms meet it; `None` for a body without landmarks or without skin.
    pub(crate) fn surface(&self) -> Option<&BodySurface> {
        let surface = || {
            let (figure, landmarks) = (self.figure()?, self.landmarks()?);
            BodySurface::of(&self.character, self.rig(), &self.reference_pose, figure, landmarks)
        };
        self.surface.get_or_init(surface).as_ref()
    }

    /// The points that can rest on something, in the order of [`ContactPart`](crate::model::ContactPart); none for a body
    /// without legs.
    pub fn contact_points(&self) -> &[ContactPoint] {
        self.contact_points.get_or_init(|| match &self.figure {
            Some(figure) => contact_points(&self.character, self.rig(), &self.reference_pose, figure),
            None => Vec::new(),
        })
    }

    /// The contact points of the feet.
    pub(crate) fn sole_points(&self) -> impl Iterator<Item = &ContactPoint> {
        self.contact_points().iter().filter(|point| point.part.of_foot())
    }

    /// The height of the lowest surface of the feet in the reference pose; `None` without feet.
    pub(crate) fn sole_height(&self) -> Option<f64> {
        let surface = |p: &ContactPoint| self.reference_pose.joint(p.joint).point(&p.at).y - p.radius;
        self.sole_points().map(surface).min_by(f64::total_cmp)
    }

    /// The points of one foot that can be its lowest, in the spaces of its joints: of the skin, else heel, ball and tip.
    pub(crate) fn foot_support(&self, side: Side) -> &[(JointId, Vec3)] {
        let feet = || foot_support(&self.character, self.rig(), &self.reference_pose, self.contact_points());
        &self.feet.get_or_init(feet)[side.index()]
    }

    /// The points of trunk, thighs and hands that can be the lowest; empty for a body without skin.
    pub(crate) fn support_points(&self) -> &SupportPoints {
        let points = || SupportPoints::of(&self.character, self.rig(), &self.reference_pose);
        self.support_points.get_or_init(points)
    }

    /// The point masses that stand for its segments; none for a body that does not walk on two legs.
    pub(crate) fn point_masses(&self) -> &[PointMass] {
        let masses = || {
            let figure = self.figure()?;
            point_masses(self.rig(), &self.reference_pose, figure, self.height())
        };
        self.point_masses.get_or_init(|| masses().unwrap_or_default())
    }
}
