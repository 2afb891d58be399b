//! Parses and evaluates the conditions of rules.
//!
//! `time >= 0.2`, `touched(thumb)` (has touched at any time), `thumb` (touches now), `since(thumb) >= 0.25` (seconds since
//! the first touch; false before it), `position(palm) < 0.12`, `speed(palm) > 0` (coordinate and rate of a constraint),
//! combined by `and`, `or`, `not` and parentheses. Units: seconds, radians for hinges, metres for sliders.

use super::sensor::Sensor;
use super::world::World;

/// The condition of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// True where all conditions hold.
    All(Vec<Condition>),
    /// True where at least one condition holds.
    Any(Vec<Condition>),
    /// Negation.
    Not(Box<Condition>),
    /// The sensor touches now.
    On(usize),
    /// The sensor has touched at any time.
    Touched(usize),
    /// A quantity compared with a number.
    Compare(ConditionQuantity, Comparison, f64),
}

/// A quantity that can be compared with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionQuantity {
    /// Seconds since the start of the scene.
    Time,
    /// Seconds since the first touch of a sensor.
    Since(usize),
    /// The coordinate of a constraint.
    Position(usize),
    /// The rate of a constraint.
    Speed(usize),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// Why the text of a condition is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// A syntax error.
    #[error("expected {expected} at `{found}`")]
    Unexpected {
        /// What was expected.
        expected: &'static str,
        /// The start of the remaining text.
        found: String,
    },
    /// No sensor or constraint has this name.
    #[error("no {what} is called `{name}`")]
    Unknown {
        /// `sensor` or `constraint`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Parentheses or `not` are nested too deep.
    #[error("nested deeper than {limit} levels")]
    Deep {
        /// The largest allowed depth.
        limit: usize,
    },
}

/// The largest nesting depth: the parser recurses once per level, so that unlimited depth would overflow the stack.
const DEPTH_LIMIT: usize = 32;

impl Condition {
    /// Parses a condition; names are looked up among the sensors and the constraints.
    ///
    /// # Errors
    /// [`ConditionError`] where the text is not a condition or contains an unknown name.
    pub fn parse(text: &str, sensors: &[String], constraints: &[String]) -> Result<Self, ConditionError> {
        let mut parser = ConditionParser { rest: text.trim_start(), sensors, constraints, depth: 0 };
        let condition = parser.any()?;
        if parser.rest.is_empty() { Ok(condition) } else { Err(parser.unexpected("`and`, `or` or the end")) }
    }

    /// Whether the condition holds now.
    pub fn holds(&self, world: &World, sensors: &[Sensor]) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|c| c.holds(world, sensors)),
            Condition::Any(parts) => parts.iter().any(|c| c.holds(world, sensors)),
            Condition::Not(part) => !part.holds(world, sensors),
            Condition::On(s) => sensors[*s].on,
            Condition::Touched(s) => sensors[*s].first_touch.is_some(),
            Condition::Compare(quantity, comparison, limit) => {
                let constraints = world.articulation.constraints();
                // Before the first touch every comparison is false.
                let value = match quantity {
                    ConditionQuantity::Time => Some(world.time),
                    ConditionQuantity::Since(s) => sensors[*s].first_touch.map(|t| world.time - t),
                    ConditionQuantity::Position(k) => Some(constraints[*k].coordinate(&world.states)),
                    ConditionQuantity::Speed(k) => Some(constraints[*k].rate(&world.states)),
                };
                value.is_some_and(|v| match comparison {
                    Comparison::Less => v < *limit,
                    Comparison::AtMost => v <= *limit,
                    Comparison::Greater => v > *limit,
                    Comparison::AtLeast => v >= *limit,
                })
            }
        }
    }
}

struct ConditionParser<'a> {
    rest: &'a str,
    sensors: &'a [String],
    constraints: &'a [String],
    depth: usize,
}

impl<'a> ConditionParser<'a> {
    fn unexpected(&self, expected: &'static str) -> ConditionError {
        ConditionError::Unexpected { expected, found: self.rest.chars().take(24).collect() }
    }

    fn take(&mut self, symbol: &str) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// The next word, without consuming it.
    fn word(&self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '-'))
            .unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.word() == word && self.take(word)
    }

    fn any(&mut self) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.all()?];
        while self.take_word("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.one()?];
        while self.take_word("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self) -> Result<Condition, ConditionError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(ConditionError::Deep { limit: DEPTH_LIMIT });
        }
        let condition = if self.take_word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(self.unexpected("`)`"));
            }
            inner
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn atom(&mut self) -> Result<Condition, ConditionError> {
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected("a condition"));
        }
        self.take(word);
        let quantity = match word {
            "time" => ConditionQuantity::Time,
            "touched" => return Ok(Condition::Touched(self.argument("sensor")?)),
            "since" => ConditionQuantity::Since(self.argument("sensor")?),
            "position" => ConditionQuantity::Position(self.argument("constraint")?),
            "speed" => ConditionQuantity::Speed(self.argument("constraint")?),
            name => return Ok(Condition::On(self.find("sensor", name)?)),
        };
        let comparison = if self.take("<=") {
            Comparison::AtMost
        } else if self.take(">=") {
            Comparison::AtLeast
        } else if self.take("<") {
            Comparison::Less
        } else if self.take(">") {
            Comparison::Greater
        } else {
            return Err(self.unexpected("`<`, `<=`, `>` or `>=`"));
        };
        let number = self.word();
        match number.parse::<f64>() {
            Ok(limit) if limit.is_finite() => {
                self.take(number);
                Ok(Condition::Compare(quantity, comparison, limit))
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    fn argument(&mut self, what: &'static str) -> Result<usize, ConditionError> {
        if !self.take("(") {
            return Err(self.unexpected("`(`"));
        }
        let name = self.word();
        let index = self.find(what, name)?;
        self.take(name);
        if self.take(")") { Ok(index) } else { Err(self.unexpected("`)`")) }
    }

    fn find(&self, what: &'static str, name: &str) -> Result<usize, ConditionError> {
        let names = if what == "sensor" { self.sensors } else { self.constraints };
        let unknown = || ConditionError::Unknown { what, name: name.to_owned() };
        names.iter().position(|n| n == name).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Condition, ConditionError> {
        Condition::parse(text, &["thumb".into(), "index".into()], &["palm".into()])
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let time = |c, x| Condition::Compare(ConditionQuantity::Time, c, x);
        assert_eq!(
            parse("time >= 0.2 and thumb or not (touched(index) and time<1)").unwrap(),
            Condition::Any(vec![
                Condition::All(vec![time(Comparison::AtLeast, 0.2), Condition::On(0)]),
                Condition::Not(Box::new(Condition::All(vec![
                    Condition::Touched(1),
                    time(Comparison::Less, 1.0)
                ]))),
            ])
        );
        assert_eq!(
            parse("position(palm) < -0.12").unwrap(),
            Condition::Compare(ConditionQuantity::Position(0), Comparison::Less, -0.12)
        );
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(parse("ring").unwrap_err().to_string(), "no sensor is called `ring`");
        assert_eq!(parse("position(thumb) > 1").unwrap_err().to_string(), "no constraint is called `thumb`");
        assert_eq!(parse("time 3").unwrap_err().to_string(), "expected `<`, `<=`, `>` or `>=` at `3`");
        assert_eq!(parse("time > nan").unwrap_err().to_string(), "expected a number at `nan`");
        assert_eq!(
            parse("thumb thumb").unwrap_err().to_string(),
            "expected `and`, `or` or the end at `thumb`"
        );
        assert_eq!(parse("").unwrap_err().to_string(), "expected a condition at ``");
        let deep = format!("{}thumb", "(".repeat(100_000));
        assert_eq!(parse(&deep).unwrap_err().to_string(), "nested deeper than 32 levels");
    }
}
