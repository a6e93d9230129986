//! Expressions of tables.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// An expression without Unicode that is compiled when it is first asked: a program that shows one output asks few of a table.
#[derive(Debug)]
pub(super) struct LazyRegex {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    /// An expression that the test of its table compiles.
    pub(super) const fn new(source: &'static str) -> Self {
        LazyRegex { source, compiled: OnceLock::new() }
    }

    /// The expression; nothing if it does not compile.
    pub(super) fn get(&self) -> Option<&Regex> {
        let compile = || RegexBuilder::new(self.source).unicode(false).build().ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}
