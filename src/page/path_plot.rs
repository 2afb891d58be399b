//! Ways over the ground become a map seen from above: one metre is the same along both axes.
//!
//! Space: model space, X to the figure's left and Z ahead; drawn with Z up and X to the left, as the figure sees it from
//! behind. Units: metres.

use super::quantity::Unit;
use super::scale::step;
use super::text::Text;
use super::time_plot::Who;
use std::fmt::Write as _;

const SIDE: f64 = 300.0;
const MARGIN: f64 = 14.0;
/// More points of a way than this cannot be told apart on the map.
const POINTS: usize = 600;

/// A way over the ground: x and z for every frame.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) name: String,
    pub(super) who: Who,
    pub(super) points: Vec<[f64; 2]>,
}

/// The map of these ways; nothing where no way has two points.
pub(super) fn path_plot(ways: &[Way]) -> String {
    let all = || ways.iter().flat_map(|w| &w.points).filter(|p| p.iter().all(|c| c.is_finite()));
    if !ways.iter().any(|w| w.points.len() > 1) || all().next().is_none() {
        return String::new();
    }
    let extent = |k: usize| {
        all().map(|p| p[k]).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)))
    };
    let (x, z) = (extent(0), extent(1));
    let span = (x.1 - x.0).max(z.1 - z.0).max(0.5) * 1.1;
    let (cx, cz) = (0.5 * (x.0 + x.1), 0.5 * (z.0 + z.1));
    let scale = (SIDE - 2.0 * MARGIN) / span;
    let place = |p: &[f64; 2]| [0.5 * SIDE - (p[0] - cx) * scale, 0.5 * SIDE - (p[1] - cz) * scale];

    let grid = step(span / 6.0);
    let mut svg = String::new();
    for k in -20..=20 {
        let (gx, gz) =
            (((cx / grid).round() + f64::from(k)) * grid, ((cz / grid).round() + f64::from(k)) * grid);
        let [px, pz] = place(&[gx, gz]);
        if (0.0..=SIDE).contains(&px) {
            let _ =
                write!(svg, "<line class=\"grid\" x1=\"{px:.1}\" x2=\"{px:.1}\" y1=\"0\" y2=\"{SIDE}\"/>");
        }
        if (0.0..=SIDE).contains(&pz) {
            let _ =
                write!(svg, "<line class=\"grid\" y1=\"{pz:.1}\" y2=\"{pz:.1}\" x1=\"0\" x2=\"{SIDE}\"/>");
        }
    }
    for way in ways {
        let stride = way.points.len().div_ceil(POINTS).max(1);
        let class = way.who.class();
        let _ = write!(svg, "<polyline class=\"line {class}\" points=\"");
        let last = way.points.last().filter(|_| (way.points.len() - 1) % stride != 0);
        for p in way.points.iter().step_by(stride).chain(last).filter(|p| p.iter().all(|c| c.is_finite())) {
            let [px, pz] = place(p);
            let _ = write!(svg, "{px:.1},{pz:.1} ");
        }
        svg.push_str("\"/>");
        if let Some(first) = way.points.first().filter(|p| p.iter().all(|c| c.is_finite())) {
            let [px, pz] = place(first);
            let _ = write!(svg, "<circle class=\"start {class}\" cx=\"{px:.1}\" cy=\"{pz:.1}\" r=\"4\"/>");
        }
    }
    let mut said = String::new();
    let mut legend = String::new();
    for way in ways {
        let pairs = way.points.windows(2);
        let length: f64 = pairs.map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum();
        let text = Unit::of("m", length.max(1.0)).text(length);
        let _ = write!(said, "{} goes {text}. ", way.name);
        let _ = write!(legend, "<span class=\"key {}\">{}, {text}</span> ", way.who.class(), Text(&way.name));
    }
    let side = Unit::of("m", grid).text(grid);
    format!(
        "<figure class=\"plot map\"><figcaption><strong>Way from above</strong> <span class=\"note\">A square is {side} \
         wide; the dot is the start, up is where the clip faces at rest.</span><span class=\"legend\">{legend}</span>\
         </figcaption><svg viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\" aria-label=\"Way from above. {}\">{svg}</svg></figure>",
        Text(said.trim())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_on_the_map_is_the_figures_left() {
        let way =
            Way { name: "walk".into(), who: Who::Main, points: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]] };
        let html = path_plot(&[way]);
        assert!(html.contains("walk goes 3 m"), "{html}");
        let points = html.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let at: Vec<f64> =
            points.split([',', ' ']).filter(|t| !t.is_empty()).map(|t| t.parse().unwrap()).collect();
        assert!(at[2] < at[0] && at[5] < at[3], "{points}");
        assert_eq!(path_plot(&[]), "");
    }
}
