//! Draws one figure at one time: ground, shadow, figure, marks, and the skeleton as lines and observed points on top.
//!
//! Every picture is drawn by one thread and depends only on its figure and time.

use super::actor::{Actor, Posed};
use super::camera::Camera;
use super::framing::{Follow, Framing};
use super::ground::Ground;
use super::line::line;
use super::marks::{self, Flat};
use super::picture::Picture;
use super::raster::{NOTHING, Raster, SAMPLES};
use super::shade::{Lights, flat, shadowed};
use super::shadow::Shadow;
use super::text;
use super::texture::encode;
use super::vector::{V3, add, scale};
use crate::math::single;
use crate::model::ModelPose;

/// sRGB colour of skeleton lines.
const BONE: [u8; 3] = [36, 74, 160];
/// Opacity of skeleton lines and of points where the figure hides them.
const HIDDEN: f32 = 0.5;
/// sRGB colour of observed points.
const POINT: [u8; 3] = [196, 32, 84];
/// Radius of an observed point, as a share of the shorter side of a picture: 2 pixels of 240.
const POINT_RADIUS: f32 = 0.008;
/// Triangles so near to the ground, as a share of the picture's size, are the ground: a floor of a scene would hide the shadow.
const IN_GROUND: f32 = 1e-3;

/// Everything that is constant over the pictures of one figure.
#[derive(Debug)]
pub(super) struct Studio<'a> {
    actor: &'a Actor<'a>,
    shot: &'a Framing,
    figure: usize,
    flats: Vec<Flat>,
    skeleton: bool,
    width: u32,
    height: u32,
    /// The empty background, if the camera does not move.
    backdrop: Option<Backdrop>,
}

/// The empty studio: linear colours and their bytes.
#[derive(Debug)]
struct Backdrop {
    colors: Vec<V3>,
    picture: Picture,
}

/// Buffers for one picture, kept by the caller so that a clip allocates once.
#[derive(Debug)]
pub(super) struct Easel {
    posed: Posed,
    raster: Raster,
    seen: Vec<V3>,
    shadow: Shadow,
}

impl<'a> Studio<'a> {
    /// A studio for figure number `figure` of the shot.
    pub(super) fn new(
        actor: &'a Actor<'a>,
        shot: &'a Framing,
        figure: usize,
        (width, height): (u32, u32),
        skeleton: bool,
        path: bool,
    ) -> Self {
        let place = &shot.places[figure];
        let mut flats = Vec::new();
        if path {
            marks::path(&place.path(), place.ground, 0.010 * shot.size, &mut flats);
        }
        for mark in &actor.subject.marks {
            marks::mark(mark, place.ground, shot.size, &mut flats);
        }
        let mut studio = Self { actor, shot, figure, flats, skeleton, width, height, backdrop: None };
        if shot.follow == Follow::No {
            studio.backdrop = Some(studio.empty());
        }
        studio
    }

    /// Buffers for pictures of this studio.
    pub(super) fn easel(&self) -> Easel {
        Easel {
            posed: self.actor.posed(),
            raster: Raster::new(self.width as usize, self.height as usize),
            seen: Vec::new(),
            shadow: Shadow::new(),
        }
    }

    fn ground(&self, camera: &Camera, time: f64) -> Ground {
        let height = self.shot.places[self.figure].ground as f32;
        let focus = self.shot.focus(self.figure, time);
        Ground::new(camera, height, focus, self.shot.span as f32, self.shot.grid as f32)
    }

    fn empty(&self) -> Backdrop {
        let (width, height) = (self.width as usize, self.height as usize);
        let camera = self.shot.camera(self.figure, 0.0, self.width, self.height);
        let ground = self.ground(&camera, 0.0);
        let mut colors = vec![[0.0; 3]; width * height];
        for (y, colors) in colors.chunks_mut(width).enumerate() {
            match ground.row(y) {
                Some(row) => ground.floors(&row, colors),
                None => colors.fill(ground.wall(y)),
            }
        }
        let pixels = colors.iter().map(|&c| encode(c)).collect();
        Backdrop { colors, picture: Picture { width, height, pixels } }
    }

    /// Draws the figure at `time`.
    pub(super) fn draw(&self, time: f64, easel: &mut Easel) -> Picture {
        let Easel { posed, raster, seen, shadow } = easel;
        self.actor.move_skin(time, posed);
        let camera = self.shot.camera(self.figure, time, self.width, self.height);
        let light = single(&self.shot.light());
        let triangles = &self.actor.triangles;

        seen.clear();
        seen.extend(posed.positions.iter().map(|&p| camera.project(p)));
        raster.clear();
        let ground_height = self.shot.places[self.figure].ground as f32;
        let above = |k: u32| (posed.positions[k as usize][1] - ground_height).abs();
        let in_ground =
            |corners: &[u32; 3]| corners.iter().all(|&k| above(k) < IN_GROUND * self.shot.size as f32);
        for (id, &(corners, look)) in triangles.iter().enumerate() {
            if in_ground(&corners) {
                continue;
            }
            let both = self.actor.looks[usize::from(look)].both;
            raster.triangle(corners.map(|k| seen[k as usize]), id as u32, both);
        }
        let short = raster.is_short();
        let first_flat = triangles.len() as u32;
        for (k, f) in self.flats.iter().enumerate().filter(|(_, f)| f.from <= time && time <= f.to) {
            raster.triangle(f.corners.map(|p| camera.project(p)), first_flat + k as u32, true);
        }

        let place = &self.shot.places[self.figure];
        let under = place.figure(time);
        let reach = 1.1 * self.shot.size as f32;
        // The shadow falls away from the light, so its square is shifted.
        let shift = 0.35 * reach;
        let middle =
            [under.x as f32 - shift * light[0] / light[1], under.z as f32 - shift * light[2] / light[1]];
        let casting = triangles[..if short { 0 } else { triangles.len() }].iter().map(|t| t.0);
        let casting = casting.filter(|corners| !in_ground(corners));
        shadow.cast(&posed.positions, casting, light, ground_height, middle, reach);

        let lights = Lights { key: light, eye: scale(camera.ahead, -1.0) };
        let painter = Painter { studio: self, posed, raster, seen, lights };
        let mut picture = painter.paint(&self.ground(&camera, time), shadow);
        if self.skeleton {
            self.bones(&posed.model, &camera, raster, &mut picture);
        }
        self.points(time, &camera, raster, &mut picture);
        if short {
            let low = picture.height.saturating_sub(3 * text::line_height(1));
            text::draw(&mut picture, 4, low, "a part of the triangles is not drawn", 1, BONE);
        }
        picture
    }

    /// Observed points as dots, paler where the figure hides them.
    fn points(&self, time: f64, camera: &Camera, raster: &Raster, picture: &mut Picture) {
        let radius = POINT_RADIUS * self.width.min(self.height) as f32;
        for point in self.actor.subject.observed.iter().flat_map(|points| points.at(time)) {
            let at = camera.project(single(&point));
            line([at, at], radius, picture, |x, y, _| {
                let hidden = raster.nearness(x, y) > at[2] * 1.001;
                (POINT, if hidden { HIDDEN } else { 1.0 })
            });
        }
    }

    /// Lines between joints, paler where the figure hides them.
    fn bones(&self, model: &ModelPose, camera: &Camera, raster: &Raster, picture: &mut Picture) {
        let skeleton = self.actor.motion().character.skeleton();
        let half = (self.width.min(self.height) as f32 / 300.0).max(0.8);
        for id in skeleton.ids() {
            let Some(parent) = skeleton.parent(id) else { continue };
            let ends = [parent, id].map(|j| camera.project(single(&model.position(j))));
            line(ends, half, picture, |x, y, along| {
                let near = ends[0][2] + (ends[1][2] - ends[0][2]) * along;
                let hidden = raster.nearness(x, y) > near * 1.001;
                (BONE, if hidden { HIDDEN } else { 1.0 })
            });
        }
    }
}

/// The second half of drawing: covered samples become colours.
struct Painter<'a> {
    studio: &'a Studio<'a>,
    posed: &'a Posed,
    raster: &'a Raster,
    seen: &'a [V3],
    lights: Lights,
}

impl Painter<'_> {
    fn paint(&self, ground: &Ground, shadow: &Shadow) -> Picture {
        let (width, height) = (self.studio.width as usize, self.studio.height as usize);
        let backdrop = self.studio.backdrop.as_ref();
        let mut picture = match backdrop {
            Some(backdrop) => backdrop.picture.clone(),
            None => Picture::new(width, height, [0; 3]),
        };
        let (columns, rows) = self.raster.touched();
        let mut room = vec![[0.0; 3]; if backdrop.is_some() { 0 } else { width }];
        for (y, pixels) in picture.pixels.chunks_mut(width).enumerate() {
            let row = ground.row(y);
            let drawn = if rows.contains(&y) { columns.clone() } else { 0..0 };
            let dim = row.as_ref().map_or(0..0, |row| shadow.span(row, width));
            let busy = match (drawn.is_empty(), dim.is_empty()) {
                (true, _) => dim,
                (_, true) => drawn.clone(),
                _ => drawn.start.min(dim.start)..drawn.end.max(dim.end),
            };
            let empty: &[V3] = match backdrop {
                Some(backdrop) => &backdrop.colors[y * width..][..width],
                None => {
                    match &row {
                        Some(row) => ground.floors(row, &mut room),
                        None => room.fill(ground.wall(y)),
                    }
                    for x in (0..busy.start).chain(busy.end..width) {
                        pixels[x] = encode(room[x]);
                    }
                    &room
                }
            };
            for x in busy {
                let dark = row.as_ref().map_or(0.0, |row| {
                    let [gx, gz] = row.at(x);
                    shadow.at(gx, gz)
                });
                let samples = match drawn.contains(&x) {
                    true => self.raster.samples(x, y),
                    false => [NOTHING; SAMPLES * SAMPLES],
                };
                let free = samples.iter().filter(|&&id| id == NOTHING).count();
                if free == samples.len() && dark <= 0.0 {
                    if backdrop.is_none() {
                        pixels[x] = encode(empty[x]);
                    }
                    continue;
                }
                let mut color = [0.0; 3];
                if free > 0 {
                    color = scale(shadowed(empty[x], dark), free as f32 / samples.len() as f32);
                }
                if free < samples.len() {
                    color = add(color, self.surfaces(x, y, samples));
                }
                pixels[x] = encode(color);
            }
        }
        picture
    }

    /// The sum over the covered samples of a pixel: each triangle is shaded once, at the mean of its samples.
    fn surfaces(&self, x: usize, y: usize, samples: [u32; SAMPLES * SAMPLES]) -> V3 {
        let mut sum = [0.0; 3];
        for (k, &id) in samples.iter().enumerate() {
            if id == NOTHING || samples[..k].contains(&id) {
                continue;
            }
            let (mut count, mut at) = (0.0, [0.0; 2]);
            for (place, _) in samples.iter().enumerate().filter(|(_, other)| **other == id) {
                count += 1.0;
                at[0] += (place % SAMPLES) as f32;
                at[1] += (place / SAMPLES) as f32;
            }
            let side = SAMPLES as f32;
            let at = [x as f32 + (at[0] / count + 0.5) / side, y as f32 + (at[1] / count + 0.5) / side];
            sum = add(sum, scale(self.surface(id, at), count / (side * side)));
        }
        sum
    }

    /// The colour of a triangle at a point of the picture.
    fn surface(&self, id: u32, at: [f32; 2]) -> V3 {
        let actor = self.studio.actor;
        let Some((corners, look)) = actor.triangles.get(id as usize) else {
            return flat(self.studio.flats[id as usize - actor.triangles.len()].color);
        };
        let [a, b, c] = corners.map(|k| k as usize);
        let (pa, pb, pc) = (self.seen[a], self.seen[b], self.seen[c]);
        // Areas towards the other two corners, weighted by inverse depth (perspective-correct).
        let part = |p: V3, q: V3| (p[0] - at[0]) * (q[1] - at[1]) - (p[1] - at[1]) * (q[0] - at[0]);
        let (mut wa, mut wb, mut wc) = (part(pb, pc), part(pc, pa), part(pa, pb));
        let area = wa + wb + wc;
        let sign = if area < 0.0 { -1.0 } else { 1.0 };
        wa = (wa * sign).max(0.0) * pa[2];
        wb = (wb * sign).max(0.0) * pb[2];
        wc = (wc * sign).max(0.0) * pc[2];
        let sum = wa + wb + wc;
        let (wa, wb, wc) = if sum > 0.0 { (wa / sum, wb / sum, wc / sum) } else { (1.0, 0.0, 0.0) };
        let blend = |list: &[V3]| -> V3 {
            std::array::from_fn(|k| list[a][k] * wa + list[b][k] * wb + list[c][k] * wc)
        };
        let mut color = blend(&actor.colors);
        let look = &actor.looks[usize::from(*look)];
        if let Some(image) = &look.image {
            let t = |k: usize| {
                let list = &actor.texcoords;
                list[a][k] * wa + list[b][k] * wb + list[c][k] * wc
            };
            let texel = image.sample([t(0), t(1)]);
            color = std::array::from_fn(|k| color[k] * texel[k]);
        }
        let mut normal = blend(&self.posed.normals);
        // The back of a double-sided surface is lit with the flipped normal.
        if look.both && area > 0.0 {
            normal = scale(normal, -1.0);
        }
        self.lights.shade(color, normal)
    }
}
