//! Laws of the plots of a page: axes, envelopes and thinned lines, on random values with fixed seeds; the frames that it links to.

#[cfg(feature = "meshopt")]
mod thinned;
mod track;

use super::html_text::Text;
use super::quantity::Unit;
use super::scale::Scale;
use super::time_plot::{Line, TimePlot, Who, envelope, highest, thinned};
use super::{ClipPage, ShownClip, clip_page};
use crate::made_bodies::{ADULT, bones};
use crate::math::{Vec3, exp};
use crate::model::{Clip, Motion, Role, Side};
use crate::perturbed::Noise;
use crate::report::Report;
use crate::seeds::{below, for_seeds};
use std::sync::Arc;

fn numbers(noise: &mut Noise, count: usize) -> Vec<f64> {
    (0..count).map(|_| noise.normal()).collect()
}

#[test]
fn an_axis_covers_its_values_in_order_and_follows_shifts_and_scales() {
    for_seeds(100, |noise| {
        let count = 1 + below(noise, 20);
        let values = numbers(noise, count);
        let axis = Scale::around(values.iter().copied(), 10.0, 110.0);
        for v in &values {
            assert!((10.0..=110.0).contains(&axis.at(*v)));
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.iter().map(|v| axis.at(*v)).is_sorted());
        assert!((axis.at(axis.low) - 10.0).abs() < 1e-9 && (axis.at(axis.high) - 110.0).abs() < 1e-9);
        if count > 1 {
            let (shift, scale) = (noise.normal(), 0.5 + noise.even());
            let changed = Scale::around(values.iter().map(|v| scale * v + shift), 10.0, 110.0);
            assert!((changed.at(scale * values[0] + shift) - axis.at(values[0])).abs() < 1e-6);
        }
        // Values that are not finite change nothing.
        let odd = values.iter().copied().chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(Scale::around(odd, 10.0, 110.0), axis);
    });
}

#[test]
fn ticks_are_evenly_spaced_round_values() {
    for_seeds(100, |noise| {
        let low = noise.normal() * 100.0;
        let axis = Scale { low, high: low + 0.01 + noise.even() * 300.0, from: 0.0, to: 1.0 };
        let ticks = axis.ticks(2 + below(noise, 6));
        for pair in ticks.windows(3) {
            assert!((pair[2] - pair[1] - (pair[1] - pair[0])).abs() < 1e-9);
        }
        if let [a, b, ..] = ticks.as_slice() {
            let step = b - a;
            let digit = step / 10f64.powf((step.log10() + 1e-9).floor());
            assert!([1.0, 2.0, 5.0, 10.0].iter().any(|d| (digit - d).abs() < 1e-6), "{step}");
            assert!((a / step - (a / step).round()).abs() < 1e-6);
        }
    });
}

#[test]
fn an_envelope_keeps_the_least_and_the_greatest_of_every_part() {
    for_seeds(60, |noise| {
        let (count, pixels) = (1 + below(noise, 3000), 1 + below(noise, 300));
        let values = numbers(noise, count);
        let points = envelope(&values, pixels);
        assert!(points.len() <= (2 * pixels).max(count.min(2 * pixels)));
        assert!(points.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(points.iter().all(|&(f, v)| values[f] == v));
        let most = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::NEG_INFINITY, f64::max);
        let least = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::INFINITY, f64::min);
        assert_eq!(most(&mut points.iter().map(|p| p.1)), most(&mut values.iter().copied()));
        assert_eq!(least(&mut points.iter().map(|p| p.1)), least(&mut values.iter().copied()));
        let (frame, value) = highest(&values).unwrap();
        assert!(values[..frame].iter().all(|&v| v < value) && values.iter().all(|&v| v <= value));
    });
}

#[test]
fn thinning_keeps_the_ends_and_only_given_points_and_is_idempotent_on_straight_lines() {
    for_seeds(60, |noise| {
        let count = 2 + below(noise, 80);
        let points: Vec<[f64; 2]> = (0..count).map(|k| [k as f64 * 3.0, 4.0 * noise.normal()]).collect();
        let thin = thinned(&points);
        assert_eq!((thin[0], thin[thin.len() - 1]), (points[0], points[count - 1]));
        assert!(thin.iter().all(|p| points.contains(p)) && thin.windows(2).all(|w| w[0][0] < w[1][0]));
        let (slope, offset) = (noise.normal(), noise.normal());
        let line: Vec<[f64; 2]> = (0..count).map(|k| [k as f64, slope * k as f64 + offset]).collect();
        assert_eq!(thinned(&line).len(), 2);
        let mirrored: Vec<[f64; 2]> = points.iter().map(|p| [p[0], -p[1]]).collect();
        assert_eq!(thinned(&mirrored).len(), thin.len());
    });
}

#[test]
fn a_plot_has_a_line_for_each_and_only_finite_coordinates() {
    for_seeds(30, |noise| {
        let frames = 2 + below(noise, 900);
        let mut values = numbers(noise, frames);
        if noise.even() < 0.3 {
            values[0] = f64::NAN;
        }
        let (start, end) = (below(noise, frames), frames);
        let resting = [[start, end]];
        let lines = [Who::Left, Who::Right, Who::Take].map(|who| Line {
            name: format!("<{}>", who.class()),
            who,
            values: &values,
            resting: &resting,
        });
        let plot = TimePlot {
            title: "a & b".into(),
            note: String::new(),
            unit: "m",
            rate: 30.0,
            lines: lines.to_vec(),
            allowed: Some([-1.0, 1.0]),
        };
        let html = plot.html();
        assert_eq!(html.matches("class=\"rests ").count(), 3);
        assert_eq!(html.matches("class=\"key ").count(), 3);
        assert!(!html.contains("NaN") && !html.contains("inf\"") && !html.contains("<left>"));
        assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
        let single = TimePlot { lines: vec![Line { values: &values[..1], ..lines[0].clone() }], ..plot };
        assert_eq!(single.html(), "");
    });
}

#[test]
fn units_show_a_number_that_reads_back_to_three_digits() {
    for_seeds(200, |noise| {
        let value = noise.normal() * 10f64.powf(noise.even() * 4.0 - 1.5);
        for of in ["m", "m/s", "rad", "s", "m2", "deg", "1"] {
            let unit = Unit::of(of, value);
            let text = unit.number(value).replace('\u{2212}', "-");
            let shown: f64 = text.parse().unwrap();
            let exact = value * unit.factor;
            assert!((shown - exact).abs() <= 0.0055 * exact.abs() + 5.1e-4, "{of}: {exact} shows as {text}");
            assert_eq!(Unit::of(of, -value), unit);
            let opposite = unit.number(-value).replace('\u{2212}', "-");
            assert!(opposite == "0" || opposite.parse::<f64>().unwrap() == -shown);
        }
    });
}

#[test]
fn escaped_text_reads_back() {
    for_seeds(100, |noise| {
        let letters = ['a', '&', '<', '>', '"', '\'', ';', 'ß', '漢'];
        let text: String = (0..below(noise, 30)).map(|_| letters[below(noise, letters.len())]).collect();
        let shown = Text(&text).to_string();
        let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        let back = pairs.iter().fold(shown, |s, (code, c)| s.replace(code, c));
        assert_eq!(back, text);
    });
}

#[test]
fn a_joint_that_is_out_of_range_in_the_take_too_is_no_place_to_look_at() {
    let body = Arc::new(bones(&ADULT));
    let bent = |degrees: f64| {
        let mut pose = body.skeleton().rest_pose();
        let knee = body.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
        pose.local_mut()[knee.index()].rotation = exp(&(Vec3::x() * -degrees.to_radians()));
        Motion::new(Arc::clone(&body), Clip::from_poses("bent", 30.0, body.skeleton(), &[pose]))
    };
    let look = |source: Option<&Motion>, result: &Motion| {
        let html = clip_page(&ClipPage {
            title: "bent".into(),
            inputs: Vec::new(),
            clips: vec![ShownClip { source, result, unperformed: None }],
            report: &Report::default(),
            picture: None,
            batch: None,
        });
        html.split("Where to look").nth(1).map(|rest| rest.split("</section>").next().unwrap().to_owned())
    };
    let [some, more] = [bent(60.0), bent(80.0)];
    let alone = look(None, &some).unwrap();
    assert!(alone.contains("outside its range of motion</li>"), "{alone}");
    assert_eq!(look(Some(&some), &some), None);
    let further = look(Some(&some), &more).unwrap();
    assert!(further.contains("outside its range of motion (take "), "{further}");
}
