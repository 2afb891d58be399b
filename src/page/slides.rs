//! Foot sliding per frame: the speed of planted feet.

use crate::report::Series;

/// `left_foot_skate` and `right_foot_skate`: the largest speed of the contact points of a foot in a frame; NaN in frames
/// without contact. Nothing for sides that are never in contact.
pub(super) fn slides(series: &[Series]) -> Vec<Series> {
    let mut found = Vec::new();
    for side in ["left", "right"] {
        let of_foot = |s: &&Series| {
            let point = s.name.strip_prefix(side).and_then(|r| r.strip_prefix('_'));
            s.unit == "m/s" && matches!(point, Some("heel_speed" | "ball_speed"))
        };
        let points: Vec<&Series> = series.iter().filter(of_foot).collect();
        let frames = points.iter().map(|s| s.values.len()).max().unwrap_or(0);
        let mut values = vec![f64::NAN; frames];
        for point in points {
            for [from, to] in &point.resting {
                // The speed of a frame is measured since the frame before, so the first frame of a contact still includes the landing.
                let rest = values.iter_mut().zip(&point.values).take(*to).skip(from + 1);
                rest.for_each(|(slide, speed)| *slide = slide.max(*speed));
            }
        }
        if values.iter().any(|v| v.is_finite()) {
            let name = format!("{side}_foot_skate");
            found.push(Series { name, unit: "m/s", values, resting: Vec::new() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resting_feet_slide() {
        let series = |name: &str, values: [f64; 4], resting| Series {
            name: name.into(),
            unit: "m/s",
            values: values.to_vec(),
            resting,
        };
        let all = [
            series("left_heel_speed", [9.0, 0.1, 0.2, 9.0], vec![[0, 3]]),
            series("left_ball_speed", [9.0, 9.0, 0.4, 0.3], vec![[1, 4]]),
            series("right_heel_speed", [9.0; 4], Vec::new()),
        ];
        let found = slides(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "left_foot_skate");
        assert!(found[0].values[0].is_nan());
        assert_eq!(found[0].values[1..], [0.1, 0.4, 0.3]);
    }
}
