//! Points or markers as a file states them, to which a clip was fitted.

use crate::math::Vec3;

/// Observed points over time, in model space. Units: metres, hertz.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedPoints {
    /// Frames per second.
    pub rate: f64,
    /// The positions of each point; `None` where it was not seen. All tracks have the same length.
    pub tracks: Vec<Vec<Option<[f32; 3]>>>,
}

impl ObservedPoints {
    /// The points that are seen at a time in seconds, interpolated between frames; after the last frame they stay.
    pub fn at(&self, time: f64) -> impl Iterator<Item = Vec3> {
        let place = (time * self.rate).max(0.0);
        let one = move |track: &Vec<Option<[f32; 3]>>| {
            let last = track.len().checked_sub(1)?;
            let place = place.min(last as f64);
            // Times that are rounded are those of their frame.
            let place = if (place - place.round()).abs() < 1e-3 { place.round() } else { place };
            let (frame, between) = (place as usize, place.fract());
            let known = |f: usize| track[f].map(|p| Vec3::from(p.map(f64::from)));
            if between == 0.0 { known(frame) } else { Some(known(frame)?.lerp(&known(frame + 1)?, between)) }
        };
        self.tracks.iter().filter_map(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_move_between_frames_and_gaps_stay_gaps() {
        let track = vec![Some([0.0; 3]), Some([1.0, 0.0, 0.0]), None];
        let points = ObservedPoints { rate: 10.0, tracks: vec![track, Vec::new()] };
        let x = |time: f64| points.at(time).map(|p| p.x).collect::<Vec<_>>();
        assert_eq!(x(0.0), [0.0]);
        assert!((x(0.05)[0] - 0.5).abs() < 1e-9);
        assert_eq!(x(0.1), [1.0]);
        assert_eq!((x(0.15).len(), x(0.2).len(), x(9.0).len()), (0, 0, 0));
    }
}
