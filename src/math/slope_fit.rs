//! Least-squares slope of heights over the ground plane.

use super::Vec3;

/// The normal equations of a plane `y = slope . (x, z) + height`, summed over groups of points, each at a height of its own.
#[derive(Default)]
pub struct SlopeFit {
    xx: f64,
    xz: f64,
    zz: f64,
    xy: f64,
    zy: f64,
}

impl SlopeFit {
    /// Adds a group of points with their weights; returns their weighted mean, which the plane of the group goes through.
    pub fn add(&mut self, points: impl Iterator<Item = (Vec3, f64)> + Clone) -> Vec3 {
        let (sum, all) =
            points.clone().fold((Vec3::zeros(), 0.0), |(sum, all), (p, w)| (sum + p * w, all + w));
        let middle = sum / all;
        for (p, w) in points {
            let d = p - middle;
            self.xx += w * d.x * d.x;
            self.xz += w * d.x * d.z;
            self.zz += w * d.z * d.z;
            self.xy += w * d.x * d.y;
            self.zy += w * d.z * d.y;
        }
        middle
    }

    /// Adds a slope that was observed directly. A weight is that of a point a metre away.
    pub fn add_slope(&mut self, slope: [f64; 2], weight: f64) {
        self.xx += weight;
        self.zz += weight;
        self.xy += weight * slope[0];
        self.zy += weight * slope[1];
    }

    /// The slope along X and Z, metres per metre. `across` is the weight, as a share of that of all points, with which it is level:
    /// the slope across a straight path is unknown.
    pub fn slope(&self, across: f64) -> [f64; 2] {
        let Self { xx, xz, zz, xy, zy } = *self;
        // Points within a micrometre have no slope.
        let level = across * (xx + zz) + 1e-12;
        let (xx, zz) = (xx + level, zz + level);
        let whole = xx * zz - xz * xz;
        [(xy * zz - zy * xz) / whole, (zy * xx - xy * xz) / whole]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_planes_of_one_slope_have_that_slope() {
        let at = |k: usize, y: f64| {
            let (x, z) = (0.3 * (k % 3) as f64, 0.7 * k as f64);
            (Vec3::new(x, y + 0.1 * x - 0.2 * z, z), 1.0 + k as f64)
        };
        let mut fit = SlopeFit::default();
        let middles = [0.0, 0.5].map(|y| fit.add((0..5).map(|k| at(k, y))));
        let [x, z] = fit.slope(0.0);
        assert!((x - 0.1).abs() < 1e-12 && (z + 0.2).abs() < 1e-12, "{x} {z}");
        assert!((middles[1].y - middles[0].y - 0.5).abs() < 1e-12);
        fit.add_slope([0.4, 0.4], 1e9);
        assert!(fit.slope(0.0).iter().all(|slope| (slope - 0.4).abs() < 1e-6));
    }

    #[test]
    fn the_slope_across_a_path_and_of_a_point_is_none() {
        let mut fit = SlopeFit::default();
        fit.add((0..5).map(|k| (Vec3::new(1e-9 * f64::from(k % 2), 0.1 * f64::from(k), f64::from(k)), 1.0)));
        let [x, z] = fit.slope(1e-3);
        assert!(x.abs() < 1e-5 && (z - 0.1).abs() < 1e-3, "{x} {z}");
        let mut point = SlopeFit::default();
        point.add(std::iter::once((Vec3::y(), 1.0)));
        assert_eq!(point.slope(1e-3), [0.0; 2]);
    }
}
