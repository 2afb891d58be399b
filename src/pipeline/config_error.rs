//! Faults of a pipeline file, shown at their position in the text.

use crate::report::split_hint;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// A text that keys were read from: the pipeline file, or one `--set`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigSource {
    /// Its name in messages: the path as the user wrote it, or `--set`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One fault.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFault {
    /// One sentence: the key, the value, what is allowed.
    pub message: String,
    /// The number of the source and the span in it, bytes; `None` for a fault of something that is not written.
    pub place: Option<(usize, Range<usize>)>,
    /// Another file that contains the fault, with the span in it, shown instead of the place where that file is named.
    pub inside: Option<Box<(ConfigSource, Range<usize>)>>,
    /// Short advice at the position.
    pub label: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ConfigFault {
    /// A fault at a position in one of the sources.
    pub fn at(source: usize, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: Some((source, span)), inside: None, label: None, hint: None }
    }

    /// A fault of the pipeline file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, inside: None, label: None, hint: None }
    }

    /// The fault of an error, whose message may have a hint.
    pub(crate) fn from_error(place: Option<(usize, Range<usize>)>, error: &str) -> Self {
        let (message, hint) = split_hint(error);
        Self { message: message.to_owned(), place, inside: None, label: None, hint: hint.map(str::to_owned) }
    }

    /// Adds short advice at the position.
    pub fn label(mut self, label: Option<impl Into<String>>) -> Self {
        self.label = label.map(Into::into);
        self
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into);
        self
    }
}

/// Most faults that are shown: more push the first one off the screen, from which the others often follow.
const MOST_SHOWN: usize = 20;

/// Every fault of a pipeline file and of what was set on top of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    /// The texts; the pipeline file first.
    pub sources: Vec<ConfigSource>,
    /// The faults in the order of the text; not empty.
    pub faults: Vec<ConfigFault>,
}

impl ConfigError {
    /// Adds faults, sorted in the order of the text, without duplicates.
    pub fn and(mut self, more: Vec<ConfigFault>) -> Self {
        self.faults.extend(more);
        self.faults.sort_by_key(|f| f.place.as_ref().map(|(source, span)| (*source, span.start)));
        self.faults.dedup();
        self
    }

    /// The faults as text, each with its line of the source; with colours for a terminal.
    pub fn render(&self, colors: bool) -> String {
        let renderer = if colors { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let mut shown: Vec<String> =
            self.faults.iter().take(MOST_SHOWN).map(|f| self.render_one(f, &renderer)).collect();
        let more = self.faults.len().saturating_sub(MOST_SHOWN);
        shown.extend((more > 0).then(|| format!("and {more} more")));
        shown.join("\n\n")
    }

    fn render_one(&self, fault: &ConfigFault, renderer: &Renderer) -> String {
        let mut message = fault.message.clone();
        let own = fault.place.as_ref().map(|(source, span)| (&self.sources[*source], span));
        let place = fault.inside.as_deref().map(|(source, span)| (source, span)).or(own);
        if place.is_none() {
            message = format!("{}: {message}", self.sources[0].name);
        }
        let mut group = Group::with_title(Level::ERROR.primary_title(message));
        if let Some((source, span)) = place {
            let mark = AnnotationKind::Primary.span(span.clone()).label(fault.label.as_deref());
            group = group.element(Snippet::source(&source.text).path(&source.name).annotation(mark));
        }
        if let Some(hint) = &fault.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ConfigError {}
