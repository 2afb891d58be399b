//! Ways over the ground become a map seen from above: one metre is the same along both axes.
//!
//! Space: model space; ahead (Z) is drawn to the right and the figure's left (X) upwards, as it looks from above. Units:
//! metres.

use super::quantity::Unit;
use super::scale::step;
use super::text::Text;
use super::time_plot::{Who, path, thinned};
use std::fmt::Write as _;

const WIDTH: f64 = 440.0;
const TALLEST: f64 = 300.0;
const LEAST: f64 = 120.0;
const MARGIN: f64 = 16.0;
/// More points of a way than this cannot be told apart on the map.
const POINTS: usize = 600;
/// Ways of less than this are drawn at the scale of this much, metres.
const SPAN: f64 = 0.5;

/// A way over the ground: x and z for every frame.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) name: String,
    pub(super) who: Who,
    pub(super) points: Vec<[f64; 2]>,
}

/// The map of these ways; nothing where no way has two points.
pub(super) fn path_plot(ways: &[Way]) -> String {
    let finite = |p: &&[f64; 2]| p.iter().all(|c| c.is_finite());
    let all = || ways.iter().flat_map(|w| &w.points).filter(finite);
    if !ways.iter().any(|w| w.points.len() > 1) || all().next().is_none() {
        return String::new();
    }
    let extent = |k: usize| {
        all().map(|p| p[k]).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)))
    };
    let (x, z) = (extent(0), extent(1));
    let (tall, wide) = ((x.1 - x.0).max(1e-6), (z.1 - z.0).max(SPAN));
    let scale = ((WIDTH - 2.0 * MARGIN) / wide).min((TALLEST - 2.0 * MARGIN) / tall);
    let height = (tall * scale + 2.0 * MARGIN).max(LEAST);
    let (cx, cz) = (0.5 * (x.0 + x.1), 0.5 * (z.0 + z.1));
    let place = |p: &[f64; 2]| [0.5 * WIDTH + (p[1] - cz) * scale, 0.5 * height - (p[0] - cx) * scale];

    let grid = step(WIDTH / scale / 9.0);
    let mut svg = String::new();
    for k in -30..=30 {
        let k = f64::from(k);
        let [px, py] = place(&[((cx / grid).round() + k) * grid, ((cz / grid).round() + k) * grid]);
        if (0.0..=WIDTH).contains(&px) {
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{px:.1}\" x2=\"{px:.1}\" y1=\"0\" y2=\"{height:.1}\"/>"
            );
        }
        if (0.0..=height).contains(&py) {
            let _ =
                write!(svg, "<line class=\"grid\" y1=\"{py:.1}\" y2=\"{py:.1}\" x1=\"0\" x2=\"{WIDTH}\"/>");
        }
    }
    let (mut said, mut legend) = (String::new(), String::new());
    for way in ways {
        let class = way.who.class();
        let stride = way.points.len().div_ceil(POINTS).max(1);
        let last = way.points.last().filter(|_| !(way.points.len() - 1).is_multiple_of(stride));
        let points = way.points.iter().step_by(stride).chain(last).filter(finite);
        let points = thinned(&points.map(place).collect::<Vec<_>>());
        let _ = write!(svg, "<path class=\"line {class}\" d=\"{}\"/>", path(points));
        if let Some(first) = way.points.first().filter(finite) {
            let [px, py] = place(first);
            let _ = write!(svg, "<circle class=\"start {class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"4\"/>");
        }
        let pairs = way.points.windows(2);
        let length: f64 = pairs.map(|p| libm::hypot(p[1][0] - p[0][0], p[1][1] - p[0][1])).sum();
        let text = Unit::of("m", length.max(1.0)).text(length);
        let _ = write!(said, "{} goes {text}. ", way.name);
        let _ = write!(legend, "<span class=\"key {class}\">{}, {text}</span> ", Text(&way.name));
    }
    let side = Unit::of("m", grid).text(grid);
    format!(
        "<figure class=\"plot map\"><figcaption><strong>Way of the hips from above</strong> <span class=\"note\">A square is \
         {side} wide, the dot is the start, ahead is right.</span><span class=\"legend\">{legend}</span></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"Way from above. {}\">{svg}</svg></figure>",
        Text(said.trim())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_is_right_and_left_is_up() {
        let way =
            Way { name: "walk".into(), who: Who::Main, points: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]] };
        let html = path_plot(&[way]);
        assert!(html.contains("walk goes 3 m"), "{html}");
        let data = html.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
        let ways: Vec<&str> = data.split('l').collect();
        assert!(ways.len() == 3 && ways[1].starts_with("0-") && !ways[2].starts_with('-'), "{data}");
        assert_eq!(path_plot(&[]), "");
    }
}
