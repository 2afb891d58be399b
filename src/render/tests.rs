//! Laws of drawing: projection, rasterisation, ground, patches, palettes and timing, on random scenes with fixed seeds.

mod figure;
mod role_picture;

use super::camera::{Camera, CameraAxes, View, slopes};
use super::ground::{Ground, grid_for};
use super::palette::{Palette, UNCHANGED};
use super::picture::Picture;
use super::raster::{NOTHING, Raster};
use super::{marks, text, timing, vector};
use crate::math::{Transform, Vec3, exp, single};
use crate::model::{Mark, MarkKind};
use crate::perturbed::Noise;
use crate::seeds::{below, for_seeds};

fn camera(noise: &mut Noise, distance: f64) -> (CameraAxes, Camera) {
    let axes = CameraAxes::new(noise.normal(), 0.05 + noise.even());
    let camera = Camera::new(&axes, &(axes.back * distance), 320, 240);
    (axes, camera)
}

fn color(noise: &mut Noise) -> [u8; 3] {
    std::array::from_fn(|_| (noise.even() * 256.0) as u8)
}

fn picture(noise: &mut Noise, width: usize, height: usize) -> Picture {
    let mut picture = Picture::new(width, height, [0; 3]);
    picture.pixels.iter_mut().for_each(|p| *p = color(noise));
    picture
}

#[test]
fn camera_axes_are_orthonormal_and_the_camera_does_not_roll() {
    for_seeds(50, |noise| {
        let (axes, _) = camera(noise, 5.0);
        for a in [axes.right, axes.up, axes.back, axes.level] {
            assert!((a.norm() - 1.0).abs() < 1e-12);
        }
        assert!(axes.right.dot(&axes.up).abs() < 1e-12 && axes.up.dot(&axes.back).abs() < 1e-12);
        assert!((axes.right.cross(&axes.up) - axes.back).norm() < 1e-12);
        assert!(axes.right.y.abs() < 1e-12 && axes.level.y.abs() < 1e-12 && axes.up.y > 0.0);
    });
    for view in View::ALL {
        assert_eq!(view.to_string().parse(), Ok(view));
    }
}

#[test]
fn the_middle_of_the_picture_is_straight_ahead_and_similar_scenes_look_alike() {
    for_seeds(80, |noise| {
        let distance = 4.0 + noise.even();
        let (axes, camera) = camera(noise, distance);
        let [x, y, near] = camera.project([0.0; 3]);
        assert!((x - 160.0).abs() < 1e-2 && (y - 120.0).abs() < 1e-2);
        assert!((f64::from(near) * distance - 1.0).abs() < 1e-5);
        let p = noise.vector(0.4);
        let at = camera.project(single(&p));
        // The same scene twice as large, seen from twice as far.
        let far = Camera::new(&axes, &(axes.back * (2.0 * distance)), 320, 240);
        let twice = far.project(single(&(p * 2.0)));
        assert!((at[0] - twice[0]).abs() < 1e-2 && (at[1] - twice[1]).abs() < 1e-2);
        assert!((at[2] - 2.0 * twice[2]).abs() < 1e-4);
        // Moving right moves right in the picture, moving up moves up, coming nearer raises the inverse depth.
        let moved = |v: Vec3| camera.project(single(&(p + v * 0.05)));
        assert!(moved(axes.right)[0] > at[0] && moved(axes.up)[1] < at[1] && moved(axes.back)[2] > at[2]);
    });
}

#[test]
fn slopes_keep_the_shorter_side_and_the_proportions() {
    for (width, height) in [(100, 100), (320, 240), (240, 320), (1920, 80)] {
        let (right, top) = slopes(width, height);
        assert!((right / top - f64::from(width) / f64::from(height)).abs() < 1e-12);
        assert!((right.min(top) - slopes(50, 50).0).abs() < 1e-12);
    }
}

/// Projected corners of a triangle that faces the camera.
fn triangle(noise: &mut Noise, side: f32) -> [[f32; 3]; 3] {
    let mut corner = || {
        let [x, y] = [noise.even() as f32 * side, noise.even() as f32 * side];
        [x, y, 0.2 + noise.even() as f32]
    };
    let [a, b, c] = [corner(), corner(), corner()];
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if area < 0.0 { [a, b, c] } else { [a, c, b] }
}

#[test]
fn a_raster_agrees_with_trying_every_sample_of_every_triangle() {
    const SIDE: usize = 12;
    for_seeds(60, |noise| {
        // Corners on the grid of sixteenths of a sample, on which coverage is exact.
        let on_grid =
            |t: [[f32; 3]; 3]| t.map(|[x, y, z]| [(x * 32.0).round() / 32.0, (y * 32.0).round() / 32.0, z]);
        let all: Vec<[[f32; 3]; 3]> = (0..5).map(|_| on_grid(triangle(noise, SIDE as f32))).collect();
        let mut raster = Raster::new(SIDE, SIDE);
        all.iter().enumerate().for_each(|(id, &t)| raster.triangle(t, id as u32, false));
        let mut wrong = 0;
        for y in 0..SIDE {
            for x in 0..SIDE {
                for (k, found) in raster.samples(x, y).into_iter().enumerate() {
                    let at = [x as f32 + 0.25 + 0.5 * (k % 2) as f32, y as f32 + 0.25 + 0.5 * (k / 2) as f32];
                    let depths = all.iter().map(|t| depth(t, at));
                    let best = depths
                        .enumerate()
                        .filter_map(|(id, d)| Some((id as u32, d?)))
                        .max_by(|a, b| a.1.total_cmp(&b.1));
                    wrong += usize::from(best.map_or(NOTHING, |b| b.0) != found);
                }
            }
        }
        // Samples on an edge or where two triangles cross may belong to either.
        assert!(wrong <= 6, "{wrong} of {} samples", 4 * SIDE * SIDE);
    });
}

/// Inverse depth of a triangle at a point of the picture; `None` outside.
fn depth(t: &[[f32; 3]; 3], p: [f32; 2]) -> Option<f64> {
    let edge = |a: [f32; 3], b: [f32; 3]| {
        let [ax, ay, bx, by] = [a[0], a[1], b[0], b[1]].map(f64::from);
        (bx - ax) * (f64::from(p[1]) - ay) - (by - ay) * (f64::from(p[0]) - ax)
    };
    let w = [edge(t[1], t[2]), edge(t[2], t[0]), edge(t[0], t[1])];
    let area: f64 = w.iter().sum();
    let inside = area != 0.0 && w.iter().all(|e| e * area >= 0.0);
    inside.then(|| (0..3).map(|k| f64::from(t[k][2]) * w[k] / area).sum())
}

#[test]
fn a_cleared_raster_is_a_new_one_and_nothing_is_drawn_outside_the_touched_box() {
    for_seeds(40, |noise| {
        let mut raster = Raster::new(20, 14);
        for id in 0..3 {
            raster.triangle(triangle(noise, 20.0), id, true);
        }
        let (columns, rows) = raster.touched();
        for y in 0..14 {
            for x in 0..20 {
                let drawn = raster.samples(x, y).iter().any(|&id| id != NOTHING);
                assert!(!drawn || (columns.contains(&x) && rows.contains(&y)));
                assert_eq!(drawn, raster.nearness(x, y) > 0.0);
            }
        }
        raster.clear();
        let empty = (0..14).all(|y| (0..20).all(|x| raster.samples(x, y) == [NOTHING; 4]));
        assert!(empty && raster.touched().0.is_empty());
    });
}

#[test]
fn a_row_of_pixels_is_where_the_projection_of_its_ground_is() {
    for_seeds(60, |noise| {
        let (_, camera) = camera(noise, 6.0);
        let ground = Ground::new(&camera, -0.5, [0.0; 2], 3.0, 1.0);
        for y in (0..240).step_by(13) {
            let Some(row) = ground.row(y) else { continue };
            for x in (0..320).step_by(41) {
                let [gx, gz] = row.at(x);
                let [px, py, near] = camera.project([gx, -0.5, gz]);
                if near > 0.01 {
                    assert!((px - x as f32 - 0.5).abs() < 0.05 && (py - y as f32 - 0.5).abs() < 0.05);
                }
            }
            let low = [noise.normal() as f32, noise.normal() as f32];
            let high = low.map(|l| l + noise.even() as f32);
            let may = row.within(low, high, 320);
            for x in 0..320 {
                let at = row.at(x);
                let inside = (0..2).all(|k| (low[k]..=high[k]).contains(&at[k]));
                assert!(!inside || may.contains(&x), "pixel {x} is in the box, outside of {may:?}");
            }
        }
    });
}

#[test]
fn grids_are_powers_of_ten_of_the_size_of_the_figure() {
    for k in -20..30 {
        let size = 1.7 * 1.6_f64.powi(k);
        let grid = grid_for(size);
        let power = grid.log10();
        assert!((power - power.round()).abs() < 1e-9, "{grid}");
        assert!(grid_for(2.0 * size) >= grid);
        if (1e-3..1e6).contains(&size) {
            assert!(grid <= 3.0 * size && size <= 12.0 * grid * (1.0 + 1e-9), "{size} {grid}");
        }
    }
    assert_eq!(grid_for(1.7), 1.0);
}

#[test]
fn patches_put_onto_the_frame_before_give_the_frame() {
    for_seeds(80, |noise| {
        let (width, height) = (1 + below(noise, 12), 1 + below(noise, 9));
        let mut now: Vec<u8> = (0..width * height).map(|_| below(noise, 4) as u8).collect();
        let mut shown: Option<Vec<u8>> = None;
        for _ in 0..4 {
            let patch = super::film::Patch::between(shown.as_deref(), &now, width);
            assert_eq!(patch.indices.len(), patch.width * patch.height);
            let mut frame = shown.unwrap_or_else(|| vec![UNCHANGED; now.len()]);
            for (k, &index) in patch.indices.iter().enumerate() {
                let at = (patch.top + k / patch.width) * width + patch.left + k % patch.width;
                if index != UNCHANGED {
                    frame[at] = index;
                }
            }
            assert_eq!(frame, now);
            shown = Some(frame);
            for _ in 0..below(noise, 5) {
                let at = below(noise, now.len());
                now[at] = below(noise, 4) as u8;
            }
        }
    });
}

#[test]
fn palettes_hold_few_colours_and_do_not_depend_on_the_order_of_pixels() {
    for_seeds(6, |noise| {
        let all = picture(noise, 40, 30);
        let mut shuffled = all.clone();
        shuffled.pixels.reverse();
        let (a, b) = (Palette::of(std::slice::from_ref(&all)), Palette::of(std::slice::from_ref(&shuffled)));
        assert_eq!(a.colors, b.colors);
        assert!(a.colors.len() <= 255 && a.bytes().len() == 3 * a.colors.len());
        let indices = a.indices(&all);
        assert_eq!(indices.len(), all.pixels.len());
        assert!(indices.iter().all(|&k| usize::from(k) < a.colors.len() && k != UNCHANGED));
        assert_eq!(a.indices(&all), indices);
    });
}

#[test]
fn filling_blending_and_putting_stay_inside_the_picture() {
    for_seeds(80, |noise| {
        let (width, height) = (1 + below(noise, 12), 1 + below(noise, 12));
        let before = picture(noise, width, height);
        let c = color(noise);
        let (x, y, w, h) = (below(noise, 15), below(noise, 15), below(noise, 15), below(noise, 15));
        let mut filled = before.clone();
        filled.fill(x, y, w, h, c);
        for (k, (new, old)) in filled.pixels.iter().zip(&before.pixels).enumerate() {
            let inside = (x..x + w).contains(&(k % width)) && (y..y + h).contains(&(k / width));
            assert_eq!(*new, if inside { c } else { *old });
        }
        let mut blended = before.clone();
        let (px, py) = (below(noise, 30) as i64 - 9, below(noise, 30) as i64 - 9);
        blended.blend(px, py, c, noise.even() as f32);
        let changed = blended.pixels.iter().zip(&before.pixels).filter(|(a, b)| a != b).count();
        assert!(changed <= 1);
        blended = before.clone();
        blended.blend(px, py, c, 0.0);
        assert_eq!(blended, before);
        blended.blend(0, 0, c, 1.0);
        assert_eq!(blended.pixels[0], c);
        let (part_width, part_height) = (1 + below(noise, width), 1 + below(noise, height));
        let part = picture(noise, part_width, part_height);
        let (px, py) = (below(noise, width - part.width + 1), below(noise, height - part.height + 1));
        let mut whole = before.clone();
        whole.put(px, py, &part);
        for k in 0..part.pixels.len() {
            let at = (py + k / part.width) * width + px + k % part.width;
            assert_eq!(whole.pixels[at], part.pixels[k]);
        }
    });
}

#[test]
fn a_png_gives_the_pixels_back() {
    for_seeds(12, |noise| {
        let (width, height) = (1 + below(noise, 40), 1 + below(noise, 30));
        let picture = picture(noise, width, height);
        let read = image::load_from_memory(&picture.to_png().unwrap()).unwrap().to_rgb8();
        assert_eq!((read.width() as usize, read.height() as usize), (width, height));
        assert!(read.as_raw().as_slice() == picture.pixels.as_flattened());
        let jpeg = image::load_from_memory(&picture.to_jpeg().unwrap()).unwrap();
        assert_eq!((jpeg.width() as usize, jpeg.height() as usize), (width, height));
    });
}

#[test]
fn labels_fit_their_room_and_keep_both_ends() {
    for_seeds(200, |noise| {
        let count = below(noise, 40);
        let label: String = (0..count).map(|_| char::from(b'a' + below(noise, 26) as u8)).collect();
        let (scale, most) = (1 + below(noise, 3), below(noise, 400));
        let fitted = text::fitted(&label, scale, most);
        assert!(text::width(&fitted, scale) <= most, "{fitted:?} is wider than {most}");
        assert!(fitted == label || text::width(&label, scale) > most - most % scale);
        if let Some((start, end)) = fitted.split_once("..") {
            assert!(label.starts_with(start) && label.ends_with(end));
        } else {
            assert!(label.starts_with(&fitted));
        }
    });
}

#[test]
fn frame_times_are_even_and_poses_reach_both_ends() {
    for_seeds(100, |noise| {
        let (duration, count) = (noise.even() * 20.0, 1 + below(noise, 60));
        let times = timing::times(duration, count);
        let step = duration / count as f64;
        assert!(times.windows(2).all(|w| (w[1] - w[0] - step).abs() < 1e-9));
        assert!(times[0] == 0.0 && (times[count - 1] + step - duration).abs() < 1e-9);
        let poses = timing::poses(duration, count);
        assert!(poses[0] == 0.0 && (count == 1 || (poses[count - 1] - duration).abs() < 1e-9));
        assert!(poses.is_sorted() && poses.len() == count);
    });
}

#[test]
fn marks_move_with_the_point_and_scale_with_the_figure() {
    for kind in [MarkKind::Contact, MarkKind::Target] {
        for_seeds(20, |noise| {
            let (at, ground) = (noise.vector(1.0), noise.normal());
            let flats = |at: Vec3, ground: f64, size: f64| {
                let mut flats = Vec::new();
                marks::mark(&Mark { kind, at, from: 0.5, to: 2.0 }, ground, size, &mut flats);
                flats
            };
            let plain = flats(at, ground, 1.7);
            let shift = Vec3::new(noise.normal(), noise.normal(), noise.normal());
            let moved = flats(at + shift, ground + shift.y, 1.7);
            let larger = flats(at * 2.0, ground * 2.0, 3.4);
            assert!(!plain.is_empty() && plain.iter().all(|f| (f.from, f.to) == (0.5, 2.0)));
            for ((a, b), c) in plain.iter().zip(&moved).zip(&larger) {
                for k in 0..3 {
                    let d = vector::sub(vector::sub(b.corners[k], a.corners[k]), single(&shift));
                    assert!(vector::dot(d, d) < 1e-10);
                    let d = vector::sub(c.corners[k], vector::scale(a.corners[k], 2.0));
                    assert!(vector::dot(d, d) < 1e-10);
                }
            }
        });
    }
}

#[test]
fn a_path_is_a_ribbon_of_its_width_on_the_ground() {
    for_seeds(40, |noise| {
        let mut at = noise.vector(1.0);
        let points: Vec<Vec3> = (0..20)
            .map(|_| {
                at += Vec3::new(0.1 + 0.1 * noise.even(), 0.3 * noise.normal(), 0.05 * noise.normal());
                at
            })
            .collect();
        let mut flats = Vec::new();
        marks::path(&points, 0.25, 0.02, &mut flats);
        assert_eq!(flats.len(), 2 * (points.len() - 1));
        for corner in flats.iter().flat_map(|f| f.corners) {
            assert!((corner[1] - 0.252).abs() < 1e-6);
            let nearest = points
                .iter()
                .map(|p| libm::hypot(p.x - f64::from(corner[0]), p.z - f64::from(corner[2])))
                .fold(f64::INFINITY, f64::min);
            assert!((nearest - 0.01).abs() < 1e-5, "{nearest}");
        }
        let mut still = Vec::new();
        marks::path(&[at; 9], 0.25, 0.02, &mut still);
        assert!(still.is_empty());
    });
}

#[test]
fn vectors_of_pixels_compute_what_vectors_do() {
    for_seeds(60, |noise| {
        let (a, b, s) = (noise.vector(1.0), noise.vector(1.0), noise.even());
        let near = |x: [f32; 3], y: Vec3| (Vec3::from(x.map(f64::from)) - y).norm() < 1e-5;
        let (x, y) = (single(&a), single(&b));
        assert!(near(vector::add(x, y), a + b) && near(vector::sub(x, y), a - b));
        assert!(near(vector::cross(x, y), a.cross(&b)) && near(vector::unit(x), a.normalize()));
        assert!(near(vector::mix(x, y, s as f32), a.lerp(&b, s)));
        assert!((f64::from(vector::dot(x, y)) - a.dot(&b)).abs() < 1e-5);
        let turn = Transform::from_rotation(exp(&a));
        let turned = vector::dot(single(&turn.vector(&a)), single(&turn.vector(&b)));
        assert!((turned - vector::dot(x, y)).abs() < 1e-5);
    });
    assert_eq!(vector::unit([0.0; 3]), [0.0, 1.0, 0.0]);
    let rising: Vec<f32> = (-5..15).map(|k| vector::smooth(0.2, 0.8, k as f32 * 0.1)).collect();
    assert!(rising.is_sorted() && rising[0] == 0.0 && rising[19] == 1.0);
}
