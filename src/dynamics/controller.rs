//! Rules that set motors from contact sensors: grasping without keyframes.
//!
//! Source: K. Durikovic and K. Numata, "Human Hand Model based on Rigid Body Dynamics", 2004, section IV: "at each time
//! step, the sensor checks whether the bodies are in contact; based on the sensor signals, the hand model switches
//! the desired velocities of the constraints". Units: seconds, and those of [`Motor`].

use super::condition::Condition;
use super::drive::Motor;
use super::sensor::{Sensor, feels};
use super::world::World;

/// A set-point that a rule gives to a motor; `None` leaves a value unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetPoint {
    /// The index of the motor in the world.
    pub motor: usize,
    /// The target velocity.
    pub speed: Option<f64>,
    /// The largest torque or force.
    pub limit: Option<f64>,
}

/// Applies set-points to motors while a condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The condition.
    pub when: Condition,
    /// The set-points.
    pub then: Vec<SetPoint>,
    /// Whether the rule stays active once its condition has held.
    pub latch: bool,
    held: bool,
}

impl Rule {
    /// A rule whose condition has not yet held.
    pub fn new(when: Condition, then: Vec<SetPoint>, latch: bool) -> Self {
        Self { when, then, latch, held: false }
    }
}

/// Sensors and rules of a scene. In every step the motors start from their initial set-points, then the active rules
/// apply in order; later rules override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Controller {
    /// The sensors.
    pub sensors: Vec<Sensor>,
    rules: Vec<Rule>,
    written: Vec<Motor>,
}

impl Controller {
    /// A controller; `written` are the initial set-points of the motors.
    pub fn new(sensors: Vec<Sensor>, rules: Vec<Rule>, written: Vec<Motor>) -> Self {
        Self { sensors, rules, written }
    }

    /// Reads the sensors from the contacts of the world and sets its motors.
    pub fn act(&mut self, world: &mut World) {
        let time = world.time;
        for sensor in &mut self.sensors {
            sensor.on = world.contacts().iter().any(|c| feels(sensor, world, c));
            if sensor.on && sensor.first_touch.is_none() {
                sensor.first_touch = Some(time);
            }
        }
        if self.rules.is_empty() {
            return;
        }
        let mut motors = self.written.clone();
        for rule in &mut self.rules {
            rule.held = rule.when.holds(world, &self.sensors) || (rule.latch && rule.held);
            if rule.held {
                for set in &rule.then {
                    let motor = &mut motors[set.motor];
                    motor.speed = set.speed.unwrap_or(motor.speed);
                    motor.limit = set.limit.unwrap_or(motor.limit);
                }
            }
        }
        world.motors = motors;
    }
}
