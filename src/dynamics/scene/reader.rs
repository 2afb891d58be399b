//! Checks and converts the values of a scene file: numbers, vectors, names. Every error has its line.
//!
//! Units: those of the keys.

use super::scene_error::{SceneError, SceneFault};
use crate::math::Vec3;
use std::ops::Range;
use toml::Spanned;

pub(super) fn line(text: &str, span: &Range<usize>) -> usize {
    1 + text.bytes().take(span.start).filter(|b| *b == b'\n').count()
}

/// The text of a scene file; spans of its values index into it.
pub(super) struct SceneReader<'a> {
    pub(super) text: &'a str,
}

/// The names of a list, and what they are names of (`body`, `motor`).
pub(super) type NameList<'a> = (&'a [String], &'static str);

impl SceneReader<'_> {
    pub(super) fn line<T>(&self, value: &Spanned<T>) -> usize {
        line(self.text, &value.span())
    }

    pub(super) fn value<T, R>(
        &self,
        key: &'static str,
        value: &Spanned<T>,
        shown: impl ToString,
        must: &'static str,
    ) -> Result<R, SceneError> {
        SceneFault::Value { key, value: shown.to_string(), must }.on(self.line(value))
    }

    pub(super) fn number(
        &self,
        key: &'static str,
        value: &Spanned<f64>,
        allowed: impl Fn(f64) -> bool,
        must: &'static str,
    ) -> Result<f64, SceneError> {
        let x = *value.get_ref();
        if x.is_finite() && allowed(x) { Ok(x) } else { self.value(key, value, x, must) }
    }

    pub(super) fn positive(&self, key: &'static str, value: &Spanned<f64>) -> Result<f64, SceneError> {
        self.number(key, value, |x| x > 0.0, "a finite number above zero")
    }

    pub(super) fn not_negative(
        &self,
        key: &'static str,
        value: &Option<Spanned<f64>>,
        otherwise: f64,
    ) -> Result<f64, SceneError> {
        value
            .as_ref()
            .map_or(Ok(otherwise), |v| self.number(key, v, |x| x >= 0.0, "a finite number, zero or above"))
    }

    pub(super) fn vector(&self, key: &'static str, value: &Spanned<[f64; 3]>) -> Result<Vec3, SceneError> {
        let v = Vec3::from(*value.get_ref());
        if v.iter().all(|x| x.is_finite()) {
            Ok(v)
        } else {
            self.value(key, value, format!("{:?}", value.get_ref()), "three finite numbers")
        }
    }

    pub(super) fn vector_or_zero(
        &self,
        key: &'static str,
        value: &Option<Spanned<[f64; 3]>>,
    ) -> Result<Vec3, SceneError> {
        value.as_ref().map_or(Ok(Vec3::zeros()), |v| self.vector(key, v))
    }

    pub(super) fn direction(&self, key: &'static str, value: &Spanned<[f64; 3]>) -> Result<Vec3, SceneError> {
        let v = self.vector(key, value)?;
        match v.try_normalize(1e-12) {
            Some(unit) => Ok(unit),
            None => self.value(key, value, format!("{:?}", value.get_ref()), "a direction"),
        }
    }

    pub(super) fn find(&self, (names, what): NameList, name: &str, line: usize) -> Result<usize, SceneError> {
        names.iter().position(|n| n == name).map_or_else(
            || {
                let score = |n: &&String| strsim::jaro_winkler(n, name);
                let nearest = names.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
                let nearest = nearest.filter(|n| score(n) > 0.7).cloned();
                SceneFault::Unknown { what, name: name.to_owned(), nearest }.on(line)
            },
            Ok,
        )
    }

    pub(super) fn names<'n>(
        &self,
        names: impl Iterator<Item = &'n Spanned<String>>,
    ) -> Result<Vec<String>, SceneError> {
        let mut found: Vec<String> = Vec::new();
        for name in names {
            if name.get_ref().is_empty() {
                return self.value("name", name, "empty", "a word");
            }
            if found.contains(name.get_ref()) || name.get_ref() == "world" {
                return SceneFault::Taken(name.get_ref().clone()).on(self.line(name));
            }
            found.push(name.get_ref().clone());
        }
        Ok(found)
    }
}
