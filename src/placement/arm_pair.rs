//! Two bodies whose arms are compared: surfaces measured alike, and points of their arms in a frame.
//!
//! Space: model space; both bodies face the same direction. Units: metres.

use super::direct_arm::{DirectArm, PALM, POINTS, WRIST};
use crate::body::{
    AroundSegment, BodyLengths, BodySurface, FOREARM_POINTS, LandmarkPose, PartLine, PartSegment,
    TOUCHED_PARTS, TouchedPart,
};
use crate::math::{Vec3, percentile_in_place, smoothstep};

/// The difference of two skeletons (see [`BodySurface::onto`]) up to which a body without skin is the other one, and from
/// which on its girths are guessed.
const SAME: [f64; 2] = [0.01, 0.05];
/// A take is possible on a guessed body: the share of its frames and points that may be deeper in it than the skin is thick.
const DEEPEST: f64 = 0.005;
/// The part of a point's own radius that stays outside there: soft parts touch.
const FIRM: f64 = 0.7;
/// The thinnest that a guessed part becomes for a take to be possible, over its guess.
const THINNEST: f64 = 0.6;

/// A body in one frame.
#[derive(Clone, Copy, Debug)]
pub struct BodyFrame {
    /// Its landmarks.
    pub pose: LandmarkPose,
    /// The points of its arms, left and right.
    pub points: [[Vec3; POINTS]; 2],
}

/// The target in one frame of the direct transfer.
#[derive(Clone, Copy, Debug)]
pub struct TargetFrame {
    /// Its body.
    pub body: BodyFrame,
    /// Its arms.
    pub arms: [DirectArm; 2],
}

impl BodyFrame {
    /// A body with palm and fingers at these offsets in the space of each hand.
    pub fn of(pose: LandmarkPose, hands: &[[Vec3; 2]; 2]) -> BodyFrame {
        let offsets = [0, 1].map(|side| hands[side].map(|offset| pose.hands[side] * offset));
        Self::with_hands(pose, &offsets)
    }

    /// The same with offsets in model space.
    fn with_hands(pose: LandmarkPose, offsets: &[[Vec3; 2]; 2]) -> BodyFrame {
        let points = [0, 1].map(|side| {
            let [_, elbow, wrist] = pose.arms[side];
            let [a, b, c, d] = FOREARM_POINTS.map(|s| elbow + (wrist - elbow) * s);
            let [palm, fingers] = offsets[side].map(|offset| wrist + offset);
            [a, b, c, d, palm, fingers]
        });
        BodyFrame { pose, points }
    }
}

/// The skin of the source and of the target.
#[derive(Clone, Debug)]
pub struct SurfacePair {
    /// The skin of the source, or the target's on its bones.
    pub source: BodySurface,
    /// The skin of the target, or the source's on its bones.
    pub target: BodySurface,
    /// The ratio of arm lengths, target to source.
    pub ratio: f64,
    /// Whether the source has no skin of its own, so that its hands and its head are those of the target.
    bare: bool,
    /// How far depths in the source's guessed skin count: 1 of a skin that is known.
    depth: f64,
}

impl SurfacePair {
    /// The pair of two known surfaces, of which the source's was guessed if `bare`.
    pub fn of(source: BodySurface, target: BodySurface, bare: bool, unlike: f64) -> SurfacePair {
        let guessed = smoothstep((unlike - SAME[0]) / (SAME[1] - SAME[0]));
        let ratio = target.lengths.arm() / source.lengths.arm();
        SurfacePair { source, target, ratio, bare, depth: if bare { 1.0 - guessed } else { 1.0 } }
    }

    /// Two bodies with these lengths and skins; `None` where neither has skin.
    pub fn between(
        source: (Option<&BodySurface>, &BodyLengths),
        target: (Option<&BodySurface>, &BodyLengths),
    ) -> Option<SurfacePair> {
        match (source, target) {
            ((Some(source), _), (Some(target), _)) => {
                Some(Self::of(source.clone(), target.clone(), false, 0.0))
            }
            ((None, lengths), (Some(target), _)) => {
                let (source, unlike) = target.onto(lengths);
                Some(Self::of(source, target.clone(), true, unlike))
            }
            ((Some(source), _), (None, lengths)) => {
                Some(Self::of(source.clone(), source.onto(lengths).0, false, 0.0))
            }
            ((None, _), (None, _)) => None,
        }
    }

    /// The source in a frame; without skin of its own its hands point, and its head and thighs are rotated, as those of
    /// `target`.
    pub fn source_frame(&self, pose: &LandmarkPose, target: &BodyFrame) -> BodyFrame {
        if !self.bare {
            return BodyFrame::of(*pose, &self.source.hand_points);
        }
        let offset =
            |side: usize, k: usize| (target.points[side][k] - target.points[side][WRIST]) / self.ratio;
        let offsets = [0, 1].map(|side| [offset(side, PALM), offset(side, PALM + 1)]);
        let LandmarkPose { head_axes, thigh_left, hands, .. } = target.pose;
        let pose = LandmarkPose { head_axes, thigh_left, hands, ..*pose };
        BodyFrame::with_hands(pose, &offsets)
    }

    /// The target in a frame.
    pub fn target_frame(&self, pose: &LandmarkPose) -> BodyFrame {
        BodyFrame::of(*pose, &self.target.hand_points)
    }

    /// Whether the source's girths are guesses that the take itself can correct.
    pub fn is_guessed(&self) -> bool {
        self.bare && self.depth < 1.0
    }

    /// Makes the guessed parts of the source as thin as the take, in these frames, needs them to be possible.
    pub fn fit_girths(&mut self, frames: &[LandmarkPose]) {
        let guessed = 1.0 - self.depth;
        let ahead = self.source.hand_points.map(|hand| hand.map(|p| p.norm()));
        let mut ratios: [Vec<f64>; 7] = Default::default();
        for pose in frames {
            let hands = [0, 1].map(|side| {
                let [_, elbow, wrist] = pose.arms[side];
                let forearm = (wrist - elbow) / (wrist - elbow).norm().max(1e-12);
                ahead[side].map(|far| forearm * far)
            });
            let frame = BodyFrame::with_hands(*pose, &hands);
            for part in TOUCHED_PARTS {
                let segment = PartSegment::of(part, pose, &self.source.lengths);
                let largest = self.source.tables[part.index()].largest();
                if largest <= 0.0 {
                    continue;
                }
                for side in 0..2 {
                    // The elbow hangs from the trunk.
                    for k in 1..POINTS {
                        let around = segment.around(&frame.points[side][k]);
                        let free = around.distance - FIRM * self.source.arm[k.min(WRIST)];
                        // Most points are outside of any skin that the part has; how far is not asked.
                        let radius = match free < largest {
                            true => self.source_radius(part, &segment, &around),
                            false => free,
                        };
                        if radius > 1e-9 {
                            ratios[part.index()].push(free / radius);
                        }
                    }
                }
            }
        }
        for (table, ratios) in self.source.tables.iter_mut().zip(&mut ratios) {
            if !ratios.is_empty() {
                let least = percentile_in_place(ratios, DEEPEST).clamp(THINNEST, 1.0);
                let factor = libm::pow(least, guessed);
                *table = table.map(|r| r * factor);
            }
        }
    }

    /// The radius of the source's skin at a part.
    pub fn source_radius(&self, part: TouchedPart, segment: &PartSegment, around: &AroundSegment) -> f64 {
        self.source.radius(part, around.share, &segment.components(&around.direction))
    }

    /// The radius of the target's skin at a part.
    pub fn target_radius(&self, part: TouchedPart, segment: &PartSegment, around: &AroundSegment) -> f64 {
        self.target.radius(part, around.share, &segment.components(&around.direction))
    }

    /// The distance on the target for a point of the source's arm, `own` thick, from its skin, `radius` thick there; what is in
    /// a guessed body counts less.
    pub fn wanted_gap(&self, around: &AroundSegment, radius: f64, own: f64) -> f64 {
        let gap = around.distance - radius - own;
        self.ratio * if gap < 0.0 { gap * self.depth } else { gap }
    }
}

/// Where the skin about a point of an arm at `at` comes nearest to the line of a part, and its thickness there: a thumb that
/// passes beside a thigh is not in it, however far it reaches.
pub fn skin_around(
    surface: &BodySurface,
    pose: &LandmarkPose,
    (side, point): (usize, usize),
    at: &Vec3,
    line: &PartLine,
) -> (AroundSegment, f64) {
    match surface.arm.get(point) {
        Some(radius) => (line.around(at), *radius),
        None => {
            let hand = &surface.hands[side];
            let skin = hand.outermost(point - PALM).iter().map(|p| at + pose.hands[side] * p);
            (line.nearest(*at, skin), hand.radius())
        }
    }
}

/// The extent of a point of an arm in a direction.
pub fn point_extent(
    surface: &BodySurface,
    pose: &LandmarkPose,
    (side, point): (usize, usize),
    direction: &Vec3,
) -> f64 {
    match surface.arm.get(point) {
        Some(radius) => *radius,
        None => surface.hands[side].extent(point - PALM, &(pose.hands[side].inverse() * direction)),
    }
}

/// At least the extent of a point of an arm in any direction.
pub fn largest_extent(surface: &BodySurface, (side, point): (usize, usize)) -> f64 {
    surface.arm.get(point).copied().unwrap_or_else(|| surface.hands[side].largest())
}
