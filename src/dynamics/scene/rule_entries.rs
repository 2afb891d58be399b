//! Reads the `[[sensor]]` and `[[rule]]` entries of a scene file.
//!
//! Units: those of the motors that the rules set.

use super::reader::{NameList, SceneReader};
use super::scene_entries::{SceneFile, SensorEntry, SetPointEntry};
use super::scene_error::{SceneError, SceneFault};
use crate::dynamics::condition::Condition;
use crate::dynamics::controller::{Rule, SetPoint};
use crate::dynamics::sensor::Sensor;
use toml::Spanned;

impl SceneReader<'_> {
    pub(super) fn sensors(&self, file: &SceneFile, bodies: &[String]) -> Result<Vec<Sensor>, SceneError> {
        self.names(file.sensors.iter().map(|s| &s.name))?;
        let list = |names: &[Spanned<String>]| -> Result<Vec<usize>, SceneError> {
            names.iter().map(|n| self.find((bodies, "body"), n.get_ref(), self.line(n))).collect()
        };
        let sensor = |entry: &SensorEntry| {
            Ok(Sensor {
                name: entry.name.get_ref().clone(),
                bodies: list(&entry.bodies)?,
                with: list(&entry.with)?,
                margin: self.not_negative("margin", &entry.margin, 2e-4)?,
                on: false,
                first_touch: None,
            })
        };
        file.sensors.iter().map(sensor).collect()
    }

    pub(super) fn rules(
        &self,
        file: &SceneFile,
        sensors: &[Sensor],
        constraints: &[String],
        motors: NameList,
    ) -> Result<Vec<Rule>, SceneError> {
        let sensors: Vec<String> = sensors.iter().map(|s| s.name.clone()).collect();
        let mut rules = Vec::new();
        for rule in &file.rules {
            let when = Condition::parse(rule.when.get_ref(), &sensors, constraints)
                .or_else(|error| SceneFault::Condition(error).on(self.line(&rule.when)))?;
            let mut then = Vec::new();
            for set in &rule.then {
                let SetPointEntry { motor, speed, limit } = set.get_ref();
                let bad = |x: &Option<f64>| x.is_some_and(|x| !x.is_finite());
                if bad(speed) || bad(limit) || limit.is_some_and(|l| l < 0.0) {
                    let number = |key, x: &Option<f64>| x.map_or(String::new(), |x| format!(", {key} = {x}"));
                    let shown = format!(
                        "{{ motor = \"{motor}\"{}{} }}",
                        number("speed", speed),
                        number("limit", limit)
                    );
                    return self.value("then", set, shown, "finite, its limit zero or above");
                }
                let motor = self.find(motors, motor, self.line(set))?;
                then.push(SetPoint { motor, speed: *speed, limit: *limit });
            }
            rules.push(Rule::new(when, then, rule.latch));
        }
        Ok(rules)
    }
}
