//! Two bodies whose arms are compared: surfaces measured alike, and points of their arms in a frame.
//!
//! Space: model space; both bodies face the same direction. Units: metres.

use super::direct_arm::{DirectArm, PALM, POINTS, WRIST};
use crate::body::{
    AroundSegment, BodyLengths, BodySurface, FOREARM_POINTS, LandmarkPose, PartLine, PartSegment,
    TOUCHED_PARTS, TouchedPart,
};
use crate::math::{Vec3, percentile_in_place, smoothstep};

/// Difference of two skeletons (see [`BodySurface::onto`]): below the first value a body without skin is taken for the other body,
/// above the second its girths are estimated.
const SAME_SKELETON: [f64; 2] = [0.01, 0.05];
/// Guessed parts are thinned until at most this share of frames and points of the arms is deeper inside them than the skin is thick.
const ALLOWED_SHARE_INSIDE: f64 = 0.005;
/// The part of a point's own radius that stays outside there: soft parts touch.
const FIRM_SHARE_OF_RADIUS: f64 = 0.7;
/// Least radius of a guessed part, over its guess.
const LEAST_GIRTH_FACTOR: f64 = 0.6;

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
        Self::with_hand_offsets(pose, &offsets)
    }

    /// The same with offsets in model space.
    fn with_hand_offsets(pose: LandmarkPose, offsets: &[[Vec3; 2]; 2]) -> BodyFrame {
        let points = [0, 1].map(|side| {
            let [_, elbow, wrist] = pose.arms[side];
            let [a, b, c, d] = FOREARM_POINTS.map(|share| elbow + (wrist - elbow) * share);
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
    source_has_no_skin: bool,
    /// Weight of depths inside the source's skin: 1 for a skin that is known, less for a guessed one.
    depth_weight: f64,
}

impl SurfacePair {
    /// The pair of two known surfaces, of which the source's was guessed if `source_has_no_skin`.
    pub fn of(
        source: BodySurface,
        target: BodySurface,
        source_has_no_skin: bool,
        skeleton_difference: f64,
    ) -> SurfacePair {
        let guess_weight =
            smoothstep((skeleton_difference - SAME_SKELETON[0]) / (SAME_SKELETON[1] - SAME_SKELETON[0]));
        let ratio = target.lengths.arm() / source.lengths.arm();
        SurfacePair {
            source,
            target,
            ratio,
            source_has_no_skin,
            depth_weight: if source_has_no_skin { 1.0 - guess_weight } else { 1.0 },
        }
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
                let (source, skeleton_difference) = target.onto(lengths);
                Some(Self::of(source, target.clone(), true, skeleton_difference))
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
        if !self.source_has_no_skin {
            return BodyFrame::of(*pose, &self.source.hand_points);
        }
        let offset = |side: usize, point: usize| {
            (target.points[side][point] - target.points[side][WRIST]) / self.ratio
        };
        let offsets = [0, 1].map(|side| [offset(side, PALM), offset(side, PALM + 1)]);
        let LandmarkPose { head_axes, thigh_left, hands, .. } = target.pose;
        let pose = LandmarkPose { head_axes, thigh_left, hands, ..*pose };
        BodyFrame::with_hand_offsets(pose, &offsets)
    }

    /// The target in a frame.
    pub fn target_frame(&self, pose: &LandmarkPose) -> BodyFrame {
        BodyFrame::of(*pose, &self.target.hand_points)
    }

    /// Whether the source's girths are guesses that the take itself can correct.
    pub fn is_guessed(&self) -> bool {
        self.source_has_no_skin && self.depth_weight < 1.0
    }

    /// Makes the guessed parts of the source as thin as the take, in these frames, needs them to be possible.
    pub fn fit_girths(&mut self, frames: &[LandmarkPose]) {
        let guess_weight = 1.0 - self.depth_weight;
        let hand_lengths = self.source.hand_points.map(|hand| hand.map(|offset| offset.norm()));
        let mut ratios: [Vec<f64>; 7] = Default::default();
        for pose in frames {
            let hands = [0, 1].map(|side| {
                let [_, elbow, wrist] = pose.arms[side];
                let forearm = (wrist - elbow) / (wrist - elbow).norm().max(1e-12);
                hand_lengths[side].map(|hand_length| forearm * hand_length)
            });
            let frame = BodyFrame::with_hand_offsets(*pose, &hands);
            for part in TOUCHED_PARTS {
                let segment = PartSegment::of(part, pose, &self.source.lengths);
                let largest = self.source.tables[part.index()].largest();
                if largest <= 0.0 {
                    continue;
                }
                for side in 0..2 {
                    // The elbow hangs from the trunk.
                    for point in 1..POINTS {
                        let position_on_part = segment.around(&frame.points[side][point]);
                        let free_radius = position_on_part.distance
                            - FIRM_SHARE_OF_RADIUS * self.source.arm[point.min(WRIST)];
                        // Most points are outside of any skin that the part has; how far is not asked.
                        let radius = match free_radius < largest {
                            true => self.source_radius(part, &segment, &position_on_part),
                            false => free_radius,
                        };
                        if radius > 1e-9 {
                            ratios[part.index()].push(free_radius / radius);
                        }
                    }
                }
            }
        }
        for (table, ratios) in self.source.tables.iter_mut().zip(&mut ratios) {
            if !ratios.is_empty() {
                let least_ratio =
                    percentile_in_place(ratios, ALLOWED_SHARE_INSIDE).clamp(LEAST_GIRTH_FACTOR, 1.0);
                let girth_factor = libm::pow(least_ratio, guess_weight);
                *table = table.map(|table_radius| table_radius * girth_factor);
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

    /// The gap wanted on the target: the source's gap (distance less both radii) times the ratio of arm lengths. Depths inside a guessed
    /// body are scaled down.
    pub fn target_gap(&self, around: &AroundSegment, part_radius: f64, point_radius: f64) -> f64 {
        let gap = around.distance - part_radius - point_radius;
        self.ratio * if gap < 0.0 { gap * self.depth_weight } else { gap }
    }
}

/// Where the skin about a point of an arm at `position` comes nearest to the line of a part, and its thickness there: a thumb that
/// passes beside a thigh is not in it, however far it reaches.
pub fn skin_around(
    surface: &BodySurface,
    pose: &LandmarkPose,
    (side, point): (usize, usize),
    position: &Vec3,
    part_line: &PartLine,
) -> (AroundSegment, f64) {
    match surface.arm.get(point) {
        Some(radius) => (part_line.around(position), *radius),
        None => {
            let hand = &surface.hands[side];
            let skin = hand.outermost(point - PALM).iter().map(|offset| position + pose.hands[side] * offset);
            (part_line.nearest(*position, skin), hand.radius())
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
