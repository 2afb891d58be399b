//! The skin around a segment as a table of radii: 16 cells along it, caps included, by 16 around it.
//!
//! Units: metres; positions along the segment are shares of its length.

use crate::math::Vec3;

/// Cells along a segment and around it: on a trunk as large as a palm.
const CELLS: usize = 16;
/// The exponent of the mean of the radii in a cell: near the outermost skin, but no single point decides.
const OUTER: i32 = 6;
/// The fewest samples that say something about a part.
const FEW: usize = 12;
/// Rounds in which empty cells take the mean of their neighbours: as many as reach across the table several times.
const ROUNDS: usize = 200;

/// Radii around a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct RadiusTable {
    cells: [[f64; CELLS]; CELLS],
    largest: f64,
}

/// A point of the skin around a segment.
#[derive(Clone, Copy, Debug)]
pub struct RadiusSample {
    /// The position along the segment, from -1 (below the start) to 2 (above the end).
    pub along: f64,
    /// The direction from the segment, to its left and to its front.
    pub around: [f64; 2],
    /// The distance from the segment, metres.
    pub radius: f64,
    /// The area that it stands for.
    pub area: f64,
}

/// The position of a direction around a segment, 0 to 4, by a diamond in place of a circle: as good for the cells of a
/// table as an angle, without an arc tangent. 0 is the front, 1 the left; mirroring left and right mirrors the cells.
fn around(left: f64, front: f64) -> f64 {
    let size = left.abs() + front.abs();
    if size < 1e-12 {
        return 0.0;
    }
    let share = left / size;
    // What the remainder by 4 would be, which takes forty times as long.
    let at = share + 4.0;
    match front >= 0.0 {
        true if at < 4.0 => at,
        true => at - 4.0,
        false => 2.0 - share,
    }
}

/// The lower of two neighbouring cells and how far a position, which is not below 0, is between their middles.
fn between(position: f64) -> (usize, f64) {
    let below = position as usize;
    (below, position - below as f64)
}

impl RadiusTable {
    /// The table of a body without this part.
    pub fn none() -> RadiusTable {
        RadiusTable { cells: [[0.0; CELLS]; CELLS], largest: 0.0 }
    }

    /// A part that is as thick everywhere.
    pub fn round(radius: f64) -> RadiusTable {
        RadiusTable { cells: [[radius; CELLS]; CELLS], largest: radius }
    }

    /// The table of these samples.
    pub fn of(samples: &[RadiusSample]) -> RadiusTable {
        if samples.len() < FEW {
            return Self::none();
        }
        let mut sums = [[(0.0, 0.0); CELLS]; CELLS];
        for sample in samples {
            let row = ((sample.along + 1.0) / 3.0 * CELLS as f64).clamp(0.0, CELLS as f64 - 1.0) as usize;
            let [left, front] = sample.around;
            let column = (around(left, front) / 4.0 * CELLS as f64) as usize % CELLS;
            let (sum, area) = &mut sums[row][column];
            *sum += sample.area * sample.radius.powi(OUTER);
            *area += sample.area;
        }
        let mean =
            |(sum, area): (f64, f64)| (area > 0.0).then(|| libm::pow(sum / area, 1.0 / f64::from(OUTER)));
        let known = sums.map(|row| row.map(mean));
        let middle = crate::math::median(known.iter().flatten().flatten().copied().collect());
        let mut cells = known.map(|row| row.map(|cell| cell.unwrap_or(middle)));
        for _ in 0..ROUNDS {
            let near = neighbours(&cells);
            for (row, (known, near)) in cells.iter_mut().zip(known.iter().zip(&near)) {
                for (cell, (known, near)) in row.iter_mut().zip(known.iter().zip(near)) {
                    *cell = known.unwrap_or(*near);
                }
            }
        }
        let near = neighbours(&cells);
        Self::from(|row, column| 0.5 * (cells[row][column] + near[row][column]))
    }

    fn from(of: impl Fn(usize, usize) -> f64) -> RadiusTable {
        let cells: [[f64; CELLS]; CELLS] =
            std::array::from_fn(|row| std::array::from_fn(|column| of(row, column)));
        RadiusTable { cells, largest: cells.iter().flatten().fold(0.0, |m: f64, r| m.max(*r)) }
    }

    /// The largest difference from another table, metres. A sample between two cells is in either of them, by rounding: a radius
    /// differs by as much as it is outside of the range that the other table has in the cell and those around it.
    pub fn apart(&self, other: &RadiusTable) -> f64 {
        let outside = |own: &RadiusTable, other: &RadiusTable, row: usize, column: usize| {
            let rows = row.saturating_sub(1)..=(row + 1).min(CELLS - 1);
            let near = rows.flat_map(|r| [CELLS - 1, 0, 1].map(|c| other.cells[r][(column + c) % CELLS]));
            let [low, high] = near.fold([f64::INFINITY, 0.0], |[low, high], r| [r.min(low), r.max(high)]);
            let radius = own.cells[row][column];
            (low - radius).max(radius - high)
        };
        let cells = (0..CELLS).flat_map(|row| (0..CELLS).map(move |column| (row, column)));
        let both = cells.map(|(r, c)| outside(self, other, r, c).max(outside(other, self, r, c)));
        both.fold(0.0, f64::max)
    }

    /// With every radius changed.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> RadiusTable {
        Self::from(|row, column| of(self.cells[row][column]))
    }

    /// The largest radius, metres; 0 for a part that is not there.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The radius in a direction, whose components are left, along the segment and front, from the point of the segment at
    /// `share`.
    pub fn radius(&self, share: f64, direction: &Vec3) -> f64 {
        let row = (share + direction.y + 1.0) / 3.0 * CELLS as f64 - 0.5;
        let (row, up) = between(row.clamp(0.0, CELLS as f64 - 1.000001));
        let column = around(direction.x, direction.z) / 4.0 * CELLS as f64 - 0.5;
        let (column, side) = between(if column < 0.0 { column + CELLS as f64 } else { column });
        let (column, next) = (column % CELLS, (column + 1) % CELLS);
        let mix = |row: &[f64; CELLS]| row[column] * (1.0 - side) + row[next] * side;
        mix(&self.cells[row]) * (1.0 - up) + mix(&self.cells[row + 1]) * up
    }
}

/// The mean of the four neighbours of every cell; the table is closed around the segment, and ends repeat themselves.
fn neighbours(cells: &[[f64; CELLS]; CELLS]) -> [[f64; CELLS]; CELLS] {
    std::array::from_fn(|row| {
        let (below, above) = (row.saturating_sub(1), (row + 1).min(CELLS - 1));
        std::array::from_fn(|column| {
            let (left, right) = ((column + CELLS - 1) % CELLS, (column + 1) % CELLS);
            0.25 * ((cells[row][left] + cells[row][right]) + (cells[below][column] + cells[above][column]))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn direction() -> impl Strategy<Value = Vec3> {
        (-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64)
            .prop_map(|(x, y, z)| Vec3::new(x, y, z))
            .prop_filter_map("not zero", |v| v.try_normalize(1e-3))
    }

    #[test]
    fn a_sample_between_two_cells_is_in_either_and_thicker_skin_is_another() {
        // The direction at a place around a segment, from 0 to 4: the inverse of `around`.
        let direction = |at: f64| match at {
            at if at < 1.0 => [at, 1.0 - at],
            at if at < 3.0 => [2.0 - at, (2.0 - at).abs() - 1.0],
            at => [at - 4.0, at - 3.0],
        };
        let table = |beside: f64, thicker: f64| {
            let cells = (0..CELLS).flat_map(|row| (0..CELLS).map(move |column| (row, column)));
            let sample = |row: usize, at: f64, radius: f64| {
                let along = (row as f64 + 0.5) / CELLS as f64 * 3.0 - 1.0;
                RadiusSample { along, around: direction(at), radius: radius + thicker, area: 1.0 }
            };
            let even = cells.map(|(row, column)| sample(row, (column as f64 + 0.5) / 4.0, 0.1));
            let hump = (0..3).map(|_| sample(8, 1.25 + beside, 0.2));
            RadiusTable::of(&even.chain(hump).collect::<Vec<_>>())
        };
        let own = table(-1e-9, 0.0);
        assert!(own.apart(&table(1e-9, 0.0)) < 1e-9);
        assert!(own.apart(&table(-1e-9, 0.01)) > 0.009);
    }

    proptest! {
        /// The radius is continuous, within those of the samples, and mirrored for a mirrored body.
        #[test]
        fn tables_are_smooth_bounded_and_mirrored(
            samples in proptest::collection::vec((direction(), 0.0..1.0f64, 0.1..0.3f64), 20..200),
            at in direction(), share in 0.0..1.0f64,
        ) {
            let sample = |sign: f64| {
                move |(d, share, radius): &(Vec3, f64, f64)| RadiusSample {
                    along: share + d.y, around: [sign * d.x, d.z], radius: *radius, area: 1.0,
                }
            };
            let [table, mirrored] =
                [1.0, -1.0].map(|sign| RadiusTable::of(&samples.iter().map(sample(sign)).collect::<Vec<_>>()));
            let radius = table.radius(share, &at);
            prop_assert!((0.1 - 1e-9..0.3 + 1e-9).contains(&radius) && radius <= table.largest());
            let other = mirrored.radius(share, &Vec3::new(-at.x, at.y, at.z));
            prop_assert!((radius - other).abs() < 1e-9, "{radius} {other}");
            if at.x.abs() + at.z.abs() > 0.1 {
                let near = (at + Vec3::new(1e-6, -1e-6, 1e-6)).normalize();
                prop_assert!((table.radius(share, &near) - radius).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn a_tube_has_its_radius_and_a_few_samples_are_none() {
        let ring = |k: usize| {
            let (sin, cos) = libm::sincos(0.37 * k as f64);
            RadiusSample { along: (k % 16) as f64 / 16.0, around: [sin, cos], radius: 0.12, area: 1.0 }
        };
        let tube = RadiusTable::of(&(0..300).map(ring).collect::<Vec<_>>());
        assert!((tube.radius(0.5, &Vec3::x()) - 0.12).abs() < 1e-12);
        assert_eq!(RadiusTable::of(&(0..5).map(ring).collect::<Vec<_>>()), RadiusTable::none());
    }
}
