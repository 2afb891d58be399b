//! SIMD kernel of linear blend skinning: sixteen vertices at once, with the registers of the processor.
//!
//! Vertices are the lanes, so that the matrix of a joint is loaded once for all of them. No operation is fused or
//! reordered: every processor gives the same bits. All functions are inlined into one, compiled for each register width.
//! Space and units as in [`super::LinearBlend`].

use crate::math::{cross, dot};
use pulp::{Arch, Scalar128b, Simd, WithSimd};
use std::ops::{Add, Div, Mul, Range, Sub};

/// Vertices per block: the `f32` lanes of one AVX-512 register, or of two AVX2 registers, whose long latencies of roots and
/// quotients then overlap. In real meshes sixteen neighbours have 1.0 to 1.3 times as many joints as eight.
pub(super) const WIDTH: usize = 16;

/// One number for each vertex of a block.
pub(super) type Lanes = [f32; WIDTH];

/// Three coordinates for each vertex of a block.
pub(super) type Vertices = [[f32; 3]; WIDTH];

/// Model space from mesh space: three columns of the linear part, then the translation.
pub(super) type Columns = [[f32; 3]; 4];

/// A block of vertices in mesh space.
#[derive(Clone, Debug)]
pub(super) struct VertexBlock {
    /// The range of the block's entries in the [`Influence`]s of the mesh.
    pub(super) influences: Range<usize>,
    pub(super) positions: [Lanes; 3],
    pub(super) normals: [Lanes; 3],
}

/// The weights of one binding for the vertices of a block.
#[derive(Clone, Debug)]
pub(super) struct Influence {
    pub(super) binding: u16,
    pub(super) weights: Lanes,
}

/// Skins all blocks: `positions` has one entry per block, `normals` as many or none.
pub(super) fn blend(
    blocks: &[VertexBlock],
    influences: &[Influence],
    bindings: &[Columns],
    positions: &mut [Vertices],
    normals: &mut [Vertices],
) {
    let task = BlendTask { blocks, influences, bindings, positions, normals };
    match Arch::new() {
        // Four lanes even without SIMD instructions: single numbers would be a third as fast.
        Arch::Scalar => Scalar128b.vectorize(task),
        arch => arch.dispatch(task),
    }
}

struct BlendTask<'a> {
    blocks: &'a [VertexBlock],
    influences: &'a [Influence],
    bindings: &'a [Columns],
    positions: &'a mut [Vertices],
    normals: &'a mut [Vertices],
}

impl WithSimd for BlendTask<'_> {
    type Output = ();

    // No closures here: they would be separate functions, not compiled for the wide registers.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const { assert!(WIDTH.is_multiple_of(S::F32_LANES), "registers divide a block") };
        let mut normals = self.normals.iter_mut();
        for (block, positions) in self.blocks.iter().zip(self.positions) {
            let influences = &self.influences[block.influences.clone()];
            let (mut moved, mut rotated) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
            let normals = normals.next();
            for at in 0..WIDTH / S::F32_LANES {
                let m = blended(simd, influences, self.bindings, at);
                store(point(&m, &load(simd, &block.positions, at)), &mut moved, at);
                if normals.is_some() {
                    store(normal(&m, &load(simd, &block.normals, at)), &mut rotated, at);
                }
            }
            *positions = by_vertex(&moved);
            if let Some(normals) = normals {
                *normals = by_vertex(&rotated);
            }
        }
    }
}

/// The numbers in one register.
#[derive(Clone, Copy)]
struct Register<S: Simd> {
    simd: S,
    lanes: S::f32s,
}

macro_rules! by_lane {
    ($operation:ident, $function:ident, $instruction:ident) => {
        impl<S: Simd> $operation for Register<S> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                Self { simd: self.simd, lanes: self.simd.$instruction(self.lanes, other.lanes) }
            }
        }
    };
}

by_lane!(Add, add, add_f32s);
by_lane!(Sub, sub, sub_f32s);
by_lane!(Mul, mul, mul_f32s);
by_lane!(Div, div, div_f32s);

type RegisterTriple<S> = [Register<S>; 3];

#[inline(always)]
fn splat<S: Simd>(simd: S, x: f32) -> Register<S> {
    Register { simd, lanes: simd.splat_f32s(x) }
}

/// Register `at` of the lanes of a block.
#[inline(always)]
fn part<S: Simd>(simd: S, lanes: &Lanes, at: usize) -> Register<S> {
    Register { simd, lanes: S::as_simd_f32s(lanes).0[at] }
}

#[inline(always)]
fn load<S: Simd>(simd: S, all: &[Lanes; 3], at: usize) -> RegisterTriple<S> {
    [part(simd, &all[0], at), part(simd, &all[1], at), part(simd, &all[2], at)]
}

#[inline(always)]
fn store<S: Simd>(from: RegisterTriple<S>, to: &mut [Lanes; 3], at: usize) {
    for (from, to) in from.iter().zip(to) {
        S::as_mut_simd_f32s(to).0[at] = from.lanes;
    }
}

#[inline(always)]
fn by_vertex([x, y, z]: &[Lanes; 3]) -> Vertices {
    let mut vertices = [[0.0; 3]; WIDTH];
    for (lane, vertex) in vertices.iter_mut().enumerate() {
        *vertex = [x[lane], y[lane], z[lane]];
    }
    vertices
}

#[inline(always)]
fn blended<S: Simd>(
    simd: S,
    influences: &[Influence],
    bindings: &[Columns],
    at: usize,
) -> [RegisterTriple<S>; 4] {
    let mut sum = [[splat(simd, 0.0); 3]; 4];
    for influence in influences {
        let weight = part(simd, &influence.weights, at);
        for (sum, column) in sum.iter_mut().zip(&bindings[usize::from(influence.binding)]) {
            for (sum, &x) in sum.iter_mut().zip(column) {
                *sum = *sum + splat(simd, x) * weight;
            }
        }
    }
    sum
}

#[inline(always)]
fn point<S: Simd>(m: &[RegisterTriple<S>; 4], p: &RegisterTriple<S>) -> RegisterTriple<S> {
    let [x, y, z] = combined(m[0], m[1], m[2], p);
    [x + m[3][0], y + m[3][1], z + m[3][2]]
}

#[inline(always)]
fn combined<S: Simd>(
    a: RegisterTriple<S>,
    b: RegisterTriple<S>,
    c: RegisterTriple<S>,
    by: &RegisterTriple<S>,
) -> RegisterTriple<S> {
    [
        a[0] * by[0] + b[0] * by[1] + c[0] * by[2],
        a[1] * by[0] + b[1] * by[1] + c[1] * by[2],
        a[2] * by[0] + b[2] * by[1] + c[2] * by[2],
    ]
}

/// The normal transformed by the cofactors of the matrix, which are its inverse transpose times the determinant. Where the
/// matrix is singular the normal is unchanged.
#[inline(always)]
fn normal<S: Simd>(m: &[RegisterTriple<S>; 4], n: &RegisterTriple<S>) -> RegisterTriple<S> {
    let [a, b, c, _] = *m;
    let bc = cross(b, c);
    let rotated = combined(bc, cross(c, a), cross(a, b), n);
    let simd = n[0].simd;
    let length = simd.sqrt_f32s(dot(rotated, rotated).lanes);
    let sign = simd.and_f32s(dot(bc, a).lanes, simd.splat_f32s(-0.0));
    let upright = simd.greater_than_f32s(length, simd.splat_f32s(f32::MIN_POSITIVE));
    let length = Register { simd, lanes: simd.or_f32s(length, sign) };
    // One quotient and three products: a quotient costs as much as eight products.
    let shrink = splat(simd, 1.0) / length;
    let mut unit = *n;
    for (unit, rotated) in unit.iter_mut().zip(rotated) {
        unit.lanes = simd.select_f32s(upright, (rotated * shrink).lanes, unit.lanes);
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_of_registers_gives_the_same_bits() {
        let number = |k: usize| (k as f32 * 1.7).sin();
        let lanes = |from: usize| -> Lanes { std::array::from_fn(|k| number(from + k)) };
        let triple = |from: usize| [lanes(from), lanes(from + 100), lanes(from + 200)];
        let block = |i: usize| VertexBlock {
            influences: 4 * i..4 * i + 4,
            positions: triple(i),
            normals: triple(i + 50),
        };
        let blocks: Vec<VertexBlock> = (0..5).map(block).collect();
        let influence = |i: usize| Influence { binding: (i % 7) as u16, weights: lanes(300 + i) };
        let influences: Vec<Influence> = (0..20).map(influence).collect();
        let binding = |i: usize| std::array::from_fn(|c| [0, 1, 2].map(|r| number(12 * i + 3 * c + r)));
        let bindings: Vec<Columns> = (0..7).map(binding).collect();
        let moved = |run: fn(BlendTask<'_>)| {
            let mut moved = [(); 2].map(|()| vec![[[0.0; 3]; WIDTH]; 5]);
            let [positions, normals] = &mut moved;
            run(BlendTask {
                blocks: &blocks,
                influences: &influences,
                bindings: &bindings,
                positions,
                normals,
            });
            moved
        };
        let narrow = moved(|task| Scalar128b.vectorize(task));

        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if pulp::x86::V3::is_available() {
            let wide = |task: BlendTask<'_>| Simd::vectorize(pulp::x86::V3::try_new().unwrap(), task);
            assert_eq!(moved(wide), narrow);
        }
        assert_eq!(moved(|task| Arch::new().dispatch(task)), narrow);
    }
}
