//! Reads the `[[constraint]]` entries of a scene file: constraints with their motors, limits and springs.
//!
//! Space: anchors and axes in world coordinates of the initial state. Units: SI.

use super::reader::{NameList, SceneReader};
use super::scene_entries::ConstraintEntry;
use super::scene_error::SceneError;
use crate::dynamics::constraint::{Constraint, ConstraintKind, of};
use crate::dynamics::drive::{CoordinateLimit, Motor, Spring};
use crate::dynamics::rigid_body::BodyState;
use crate::math::Vec3;
use std::f64::consts::PI;
use toml::Spanned;

/// Motors, limits and springs of a scene.
#[derive(Default)]
pub(super) struct Drives {
    pub(super) motors: Vec<Motor>,
    pub(super) limits: Vec<CoordinateLimit>,
    pub(super) springs: Vec<Spring>,
    /// For each motor the name of its constraint.
    pub(super) motor_names: Vec<String>,
}

impl SceneReader<'_> {
    pub(super) fn constraint(
        &self,
        entry: &ConstraintEntry,
        bodies: NameList,
        states: &[BodyState],
    ) -> Result<Constraint, SceneError> {
        let kind = match entry.kind.get_ref().as_str() {
            "ball" => ConstraintKind::Ball,
            "hinge" => ConstraintKind::Hinge,
            "universal" => ConstraintKind::Universal,
            "slider" => ConstraintKind::Slider,
            "fixed" => ConstraintKind::Fixed,
            other => {
                let must = "`ball`, `hinge`, `universal`, `slider` or `fixed`";
                return self.value("kind", &entry.kind, format!("`{other}`"), must);
            }
        };
        let end = |name: &Spanned<String>| {
            let word = name.get_ref().as_str();
            if word == "world" {
                return Ok(None);
            }
            self.find(bodies, word, self.line(name)).map(Some)
        };
        let (a, b) = (end(&entry.a)?, end(&entry.b)?);
        let axis = |key, value: &Option<Spanned<[f64; 3]>>, needed: bool| match value {
            Some(v) => self.direction(key, v),
            None if needed => self.value(key, &entry.kind, "missing", "given for this kind"),
            None => Ok(Vec3::zeros()),
        };
        let single = matches!(kind, ConstraintKind::Hinge | ConstraintKind::Slider);
        let universal = kind == ConstraintKind::Universal;
        let first = axis("axis", &entry.axis, single || universal)?;
        let second = axis("second_axis", &entry.second_axis, universal)?;
        if universal && first.dot(&second).abs() > 1e-6 {
            return self.value("second_axis", &entry.kind, "oblique", "perpendicular to `axis`");
        }
        let anchor = self.vector("anchor", &entry.anchor)?;
        let name = entry.name.get_ref().clone();
        let (sa, sb) = (of(states, a), of(states, b));
        let mut c = Constraint::in_pose(name, kind, (a, &sa), (b, &sb), &anchor, &first, &second);
        c.friction = self.not_negative("friction", &entry.friction, 0.0)?;
        if let Some(torque) = &entry.torque {
            c.motor = self.number("torque", torque, |_| true, "a finite number")?;
        }
        Ok(c)
    }

    /// Adds motor, limits and spring of constraint `k`.
    pub(super) fn drives(
        &self,
        (k, kind): (usize, ConstraintKind),
        entry: &ConstraintEntry,
        drives: &mut Drives,
    ) -> Result<(), SceneError> {
        let single = matches!(kind, ConstraintKind::Hinge | ConstraintKind::Slider);
        let of_kind = || format!("given for a `{}`", entry.kind.get_ref());
        if let Some(motor) = &entry.motor {
            let m = motor.get_ref();
            if !single {
                return self.value("motor", motor, of_kind(), "that of a `hinge` or a `slider`");
            }
            if !(m.speed.is_finite() && m.limit.is_finite() && m.limit >= 0.0) {
                let shown = format!("{{ speed = {}, limit = {} }}", m.speed, m.limit);
                return self.value("motor", motor, shown, "finite, its limit zero or above");
            }
            drives.motors.push(Motor { constraint: k, speed: m.speed, limit: m.limit });
            drives.motor_names.push(entry.name.get_ref().clone());
        }
        if let Some(pair) = &entry.limits {
            let [low, high] = *pair.get_ref();
            if !single {
                return self.value("limits", pair, of_kind(), "those of a `hinge` or a `slider`");
            }
            if kind == ConstraintKind::Hinge && low.abs().max(high.abs()) > PI {
                let must = "radians within -pi and pi, from the first instant";
                return self.value("limits", pair, format!("[{low}, {high}]"), must);
            }
            if !(low.is_finite() && high.is_finite() && low <= high) {
                return self.value("limits", pair, format!("[{low}, {high}]"), "finite and ascending");
            }
            drives.limits.push(CoordinateLimit { constraint: k, low, high });
        }
        if let Some(spring) = &entry.spring {
            let p = *spring.get_ref();
            if !single && kind != ConstraintKind::Ball {
                let must = "that of a `ball`, a `hinge` or a `slider`";
                return self.value("spring", spring, of_kind(), must);
            }
            let finite = [p.stiffness, p.damping, p.target, p.rate].iter().all(|x| x.is_finite());
            if !(finite && p.stiffness >= 0.0 && p.damping >= 0.0) {
                let shown = format!("{{ stiffness = {}, damping = {} }}", p.stiffness, p.damping);
                return self.value("spring", spring, shown, "finite, zero or above");
            }
            drives.springs.push(Spring {
                constraint: k,
                stiffness: p.stiffness,
                damping: p.damping,
                target: p.target,
                rate: p.rate,
            });
        }
        Ok(())
    }
}
