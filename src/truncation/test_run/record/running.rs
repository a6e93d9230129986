//! Tests that run: what they print, and those that get no result.

use super::super::report::bounded;
use super::super::rules::Then;
use super::super::{MAX_ID, MAX_MESSAGE};
use super::{Block, Found, Mark, Record, Role};

/// Maximum number of tests whose output is kept apart while they run.
const MAX_RUNNING: usize = 256;

/// A test that has no result yet.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub scope: String,
    id: String,
    message: String,
    /// The block of the line that names it.
    block: u32,
}

impl Waiting {
    pub(super) fn is(&self, id: &str, scope: &str) -> bool {
        self.id == bounded(id, MAX_ID) && self.scope == scope
    }
}

impl Record {
    /// Notes that a process ended in failure.
    pub(super) fn stops(&mut self, found: &Found<'_>, next_block: &mut u32) -> Option<Mark> {
        let own = self.waiting.extract_if(.., |test| test.scope == self.scope.0);
        let before = self.left.len();
        self.left.extend(own);
        self.is_interrupted |= !self.left.is_empty();
        let is_explained = self.failed_scopes.remove(&self.scope.0) || self.left.len() > before;
        if is_explained {
            self.close();
            return None;
        }
        // Its last words, and all that follows them, explain why.
        if let Some(block) = self.block.as_mut().filter(|block| block.id.is_empty()) {
            block.id = bounded(found.id, MAX_ID);
        }
        let failed = self.failed_entry(found, Then::Nothing, next_block);
        self.failed_scopes.remove(&self.scope.0);
        let (at, mark) = failed?;
        if let Some(entry) = self.entries.all.get_mut(at) {
            entry.is_bare = entry.failure.message.is_empty();
        }
        Some(mark)
    }

    /// Takes the place of a line in a stream of events, which name the program and the test of each line.
    pub(crate) fn at(&mut self, program: &str, test: &str, next_block: &mut u32) {
        self.scope = (bounded(program, MAX_ID), 0);
        if !test.is_empty() && self.block.as_ref().is_none_or(|block| block.id != test) {
            self.runs(test, next_block);
        }
    }

    pub(super) fn runs(&mut self, id: &str, next_block: &mut u32) {
        self.has_sign = true;
        self.close();
        let known = self.running.iter().position(|block| block.id == id);
        let block = match known {
            Some(at) => self.running.remove(at),
            None => {
                *next_block += 1;
                Block { number: *next_block, id: bounded(id, MAX_ID), ..Block::default() }
            }
        };
        self.block = Some(block);
    }

    pub(super) fn begins(&mut self, found: &Found<'_>, next_block: &mut u32) -> Option<Mark> {
        let id = bounded(found.id, MAX_ID);
        if self.waiting.len() >= MAX_RUNNING
            || self.waiting.iter().any(|test| test.is(&id, &self.scope.0))
        {
            return None;
        }
        *next_block += 1;
        self.waiting.push(Waiting {
            scope: self.scope.0.clone(),
            id,
            message: bounded(found.message.trim_matches(['+', ' ']), MAX_MESSAGE),
            block: *next_block,
        });
        Some(Mark { role: Role::Explanation, block: *next_block, depth: 0 })
    }

    /// Notes that a test, or the latest without a name, has a result.
    pub(super) fn settle(&mut self, id: &str) {
        let own = bounded(id, MAX_ID);
        let is_it = |test: &Waiting| id.is_empty() || test.is(&own, &self.scope.0);
        if let Some(at) = self.waiting.iter().rposition(is_it) {
            self.waiting.remove(at);
        }
    }

    /// Adds a test without a result to the failures, unless it is one of them.
    pub(super) fn add_unfinished(&mut self, test: Waiting) {
        let Waiting { scope, id, message, block } = test;
        let known = self.entries.find(&scope, &id, false);
        let Some(at) = known.or_else(|| self.entries.insert(&scope, &id, vec![block])) else {
            return;
        };
        let printed = self.running.iter().find(|block| block.id == id);
        let Some(entry) = self.entries.all.get_mut(at) else { return };
        if entry.failure.message.is_empty() {
            entry.failure.message = message;
        }
        let Some(printed) = printed else { return };
        entry.blocks.push(printed.number);
        if entry.failure.message.is_empty() {
            entry.failure.message.clone_from(&printed.message);
        }
        if entry.failure.place.is_empty() {
            entry.failure.place.clone_from(&printed.place);
        }
    }

    /// Removes what a test printed while it ran.
    pub(super) fn running_block(&mut self, id: &str) -> Option<Block> {
        if self.block.as_ref().is_some_and(|block| block.entry.is_none() && block.id == id) {
            return self.block.take();
        }
        let at = self.running.iter().position(|block| block.id == id)?;
        Some(self.running.remove(at))
    }

    /// Ends the current block. The output of a running test is kept until its result is known.
    pub(super) fn close(&mut self) {
        self.name = None;
        let Some(block) = self.block.take() else { return };
        if block.entry.is_some() || block.lines == 0 {
            return;
        }
        if self.running.len() == MAX_RUNNING {
            self.running.remove(0);
        }
        self.running.push(block);
    }
}
