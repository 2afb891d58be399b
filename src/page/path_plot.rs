//! Map of paths over the ground, seen from above, with equal scales on both axes.
//!
//! Space: model space; forward (Z) is drawn to the right and the figure's left (X) upwards. Units:
//! metres.

use super::html_text::Text;
use super::quantity::Unit;
use super::scale::step;
use super::time_plot::{Who, path, thinned};
use std::fmt::Write as _;

/// Width of the map, pixels.
const WIDTH: f64 = 440.0;
/// Largest height of the map, pixels.
const TALLEST: f64 = 300.0;
/// Smallest height of the map, pixels.
const LEAST: f64 = 120.0;
/// Margin around the paths, pixels.
const MARGIN: f64 = 16.0;
/// Most points of a path: more cannot be distinguished on the map.
const POINTS: usize = 600;
/// Smallest extent of the map, metres: shorter paths are not enlarged further.
const SPAN: f64 = 0.5;

/// A path over the ground: x and z for every frame.
#[derive(Clone, Debug)]
pub(super) struct PlottedPath {
    pub(super) name: String,
    pub(super) who: Who,
    pub(super) points: Vec<[f64; 2]>,
}

/// The map of these paths; nothing if no path has two points.
pub(super) fn path_plot(paths: &[PlottedPath]) -> String {
    let finite = |p: &&[f64; 2]| p.iter().all(|c| c.is_finite());
    let all = || paths.iter().flat_map(|w| &w.points).filter(finite);
    if !paths.iter().any(|w| w.points.len() > 1) || all().next().is_none() {
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
    for plotted in paths {
        let class = plotted.who.class();
        let stride = plotted.points.len().div_ceil(POINTS).max(1);
        let last = plotted.points.last().filter(|_| !(plotted.points.len() - 1).is_multiple_of(stride));
        let points = plotted.points.iter().step_by(stride).chain(last).filter(finite);
        let points = thinned(&points.map(place).collect::<Vec<_>>());
        let _ = write!(svg, "<path class=\"line {class}\" d=\"{}\"/>", path(points));
        if let Some(first) = plotted.points.first().filter(finite) {
            let [px, py] = place(first);
            let _ = write!(svg, "<circle class=\"start {class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"4\"/>");
        }
        let pairs = plotted.points.windows(2);
        let length: f64 = pairs.map(|p| libm::hypot(p[1][0] - p[0][0], p[1][1] - p[0][1])).sum();
        let text = Unit::of("m", length.max(1.0)).text(length);
        let _ = write!(said, "{} goes {text}. ", plotted.name);
        let _ = write!(legend, "<span class=\"key {class}\">{}, {text}</span> ", Text(&plotted.name));
    }
    let side = Unit::of("m", grid).text(grid);
    format!(
        "<figure class=\"plot map\"><figcaption><strong>Path of the hips from above</strong> <span class=\"note\">A square is \
         {side} wide, the dot is the start, ahead is right.</span><span class=\"legend\">{legend}</span></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"Path from above. {}\">{svg}</svg></figure>",
        Text(said.trim())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_is_right_and_left_is_up() {
        let path = PlottedPath {
            name: "walk".into(),
            who: Who::Main,
            points: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]],
        };
        let html = path_plot(&[path]);
        assert!(html.contains("walk goes 3 m"), "{html}");
        let data = html.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
        let steps: Vec<&str> = data.split('l').collect();
        assert!(steps.len() == 3 && steps[1].starts_with("0-") && !steps[2].starts_with('-'), "{data}");
        assert_eq!(path_plot(&[]), "");
    }
}
