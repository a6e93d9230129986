//! Collects the totals and failures of one runner.

mod open_names;
mod running;

use std::collections::HashSet;

use self::open_names::{Group, heading};
use self::running::Waiting;
use super::counts;
use super::entries::{Entries, Entry};
use super::report::{Counts, bounded};
use super::rules::{LineEvent, Rule, Runner, Then};
use super::{MAX_ID, MAX_MESSAGE, WITHIN};

/// The named parts of a line.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub id: &'a str,
    /// The file or program of this test, if the line names it.
    pub scope: &'a str,
    pub message: &'a str,
    pub file: &'a str,
    pub line: &'a str,
    pub indent: usize,
}

impl Found<'_> {
    fn place(&self) -> String {
        match self.file {
            file if file.is_empty() || file.contains("node_modules/") => String::new(),
            file => bounded(&format!("{file}:{}", self.line), MAX_ID),
        }
    }
}

/// The role of a line, most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Totals,
    Name,
    /// A part of the name on a line of its own: a group, a file.
    Heading,
    Message,
    Explanation,
}

/// The part of a line in a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub role: Role,
    /// The block of lines that the line belongs to; 0 for totals.
    pub block: u32,
    /// Number of lines of the block before it.
    pub depth: u32,
}

/// Lines that explain a failure, or what a running test prints.
#[derive(Debug, Clone, Default)]
struct Block {
    number: u32,
    /// Index of the failure; `None` as long as the test runs.
    entry: Option<usize>,
    id: String,
    message: String,
    place: String,
    awaits_message: bool,
    /// The failure was not known before.
    is_new: bool,
    lines: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Record {
    runner: &'static Runner,
    section: u8,
    /// The scope and the title of the next tests, with the blocks of their lines.
    scope: (String, u32),
    title: (String, u32),
    groups: Vec<Group>,
    /// Parts of a name that is not complete yet, and the block of their lines.
    name: Option<(Vec<String>, u32)>,
    entries: Entries,
    block: Option<Block>,
    running: Vec<Block>,
    /// Tests that have no result yet, and those that had none at the totals or when their process was over.
    waiting: Vec<Waiting>,
    left: Vec<Waiting>,
    /// True as long as totals are to come.
    is_open: bool,
    is_interrupted: bool,
    held_place: String,
    held_message: String,
    totals: Option<Counts>,
    /// Totals of a part, which those of a larger part replace.
    part: Option<Counts>,
    cases: Counts,
    /// Scopes with failures whose processes are not over.
    failed_scopes: HashSet<String>,
    has_sign: bool,
}

impl Record {
    pub(crate) fn new(runner: &'static Runner) -> Self {
        Record {
            runner,
            section: 0,
            scope: (String::new(), 0),
            title: (String::new(), 0),
            groups: Vec::new(),
            name: None,
            entries: Entries::new(runner.abbreviates),
            block: None,
            running: Vec::new(),
            waiting: Vec::new(),
            left: Vec::new(),
            is_open: false,
            is_interrupted: false,
            held_place: String::new(),
            held_message: String::new(),
            totals: None,
            part: None,
            failed_scopes: HashSet::new(),
            cases: Counts::default(),
            has_sign: false,
        }
    }

    /// Returns the result if this runner has been at work, and whether its run is unfinished.
    pub(crate) fn finish(mut self) -> Option<(&'static Runner, Counts, Vec<Entry>, bool)> {
        self.close();
        self.add_part();
        if self.is_interrupted {
            self.waiting.append(&mut self.left);
        }
        let is_unfinished = self.is_open || self.is_interrupted || !self.waiting.is_empty();
        for test in std::mem::take(&mut self.waiting) {
            self.add_unfinished(test);
        }
        let is_at_work = self.has_sign || self.totals.is_some() || !self.runner.needs_sign;
        self.entries.all.retain(|entry| !entry.is_void);
        let has_run = self.totals.is_some()
            || is_unfinished
            || !self.entries.all.is_empty()
            || self.cases != Counts::default();
        if !is_at_work || !has_run {
            return None;
        }
        if self.runner.has_subtests {
            self.entries.drop_parents();
        }
        let mut counts =
            self.totals.unwrap_or(Counts { failed: self.entries.all.len() as u64, ..self.cases });
        // Totals that leave a number out are completed by what was printed of each test.
        if counts.skipped == 0 {
            counts.skipped = self.cases.skipped;
        }
        if counts.total.is_none() {
            counts.passed = counts.passed.or(self.cases.passed);
        }
        if self.runner.lists_all {
            counts.failed = counts.failed.max(self.entries.all.len() as u64);
        }
        Some((self.runner, counts, self.entries.all, is_unfinished))
    }

    /// Returns true if a rule says something at this point of the output.
    pub(crate) fn can_apply(&self, rule: &Rule, id: &str) -> bool {
        let is_section = rule.section.is_none_or(|section| section == self.section);
        is_section
            && match rule.event {
                LineEvent::NameContinues => self.name.is_some(),
                LineEvent::Panics => self.block.is_none(),
                LineEvent::ScopeFails => !self.scope.0.is_empty(),
                LineEvent::Heading => self.entries.named(id).is_some(),
                LineEvent::Place
                | LineEvent::LastPlace
                | LineEvent::Message
                | LineEvent::MessageFollows => self.block.is_some(),
                _ => true,
            }
    }

    /// Takes a line that a rule recognized. Returns its part in a preview, if it has one.
    pub(crate) fn apply(
        &mut self,
        event: LineEvent,
        line: &str,
        found: &Found<'_>,
        next_block: &mut u32,
    ) -> Option<Mark> {
        if !found.scope.is_empty() {
            self.scope = (bounded(found.scope, MAX_ID), 0);
        }
        match event {
            LineEvent::Starts | LineEvent::Announces => {
                self.has_sign = true;
                self.is_open = event == LineEvent::Announces;
                self.close();
                None
            }
            LineEvent::Settles => {
                self.settle(found.id);
                self.close();
                None
            }
            LineEvent::Concludes => {
                self.waiting.retain(|test| test.scope != self.scope.0);
                self.close();
                None
            }
            LineEvent::Stops => self.stops(found, next_block),
            LineEvent::Panics => {
                self.runs("", next_block);
                self.explains(LineEvent::Message, found)
            }
            LineEvent::Interrupts => {
                self.is_interrupted = true;
                None
            }
            LineEvent::Section(section) => {
                self.close();
                self.section = section;
                self.held_message = bounded(found.message, MAX_MESSAGE);
                None
            }
            LineEvent::Totals(form) => {
                self.close();
                self.is_open = false;
                self.left.append(&mut self.waiting);
                let counts = counts::read(line, form);
                self.totals.get_or_insert_default().add(counts);
                Some(Mark { role: Role::Totals, block: 0, depth: 0 })
            }
            LineEvent::Subtotals(form) => {
                self.part = Some(counts::read(line, form));
                let part = self.block.take().filter(|block| block.is_new);
                let part = part.and_then(|block| self.entries.all.get_mut(block.entry?));
                if let Some(part) = part {
                    let itself = self.runner.fails_itself;
                    part.is_void = itself.is_none_or(|text| !part.failure.message.contains(text));
                }
                Some(Mark { role: Role::Totals, block: 0, depth: 0 })
            }
            LineEvent::TotalsEnd => {
                self.close();
                self.is_open = false;
                self.add_part();
                None
            }
            LineEvent::Passed => self.passed(found.id),
            LineEvent::Finishes => {
                let is_running = self.waiting.iter().any(|test| test.is(found.id, &self.scope.0));
                if is_running { self.passed(found.id) } else { None }
            }
            LineEvent::Recovers => {
                let at = self.entries.find(&self.scope.0, found.id, false);
                if let Some(entry) = at.and_then(|at| self.entries.all.get_mut(at)) {
                    entry.is_void = true;
                }
                None
            }
            LineEvent::Skipped => {
                self.cases.skipped += 1;
                self.settle(found.id);
                self.close();
                None
            }
            LineEvent::Runs => {
                self.runs(found.id, next_block);
                None
            }
            LineEvent::Prints => {
                self.runs(found.id, next_block);
                self.mark(Role::Heading)
            }
            LineEvent::Begins | LineEvent::BeginsNext => {
                if event == LineEvent::BeginsNext {
                    self.settle("");
                }
                self.runs(found.id, next_block);
                self.begins(found, next_block)
            }
            LineEvent::Group => Some(self.group(found, next_block)),
            LineEvent::Scope => {
                self.close();
                self.has_sign = true;
                let (scope, mark) = heading(found, next_block);
                self.scope = scope;
                Some(mark)
            }
            LineEvent::ScopeContinues => {
                let joint = if found.indent > 0 { WITHIN } else { " " };
                let whole = format!("{}{joint}{}", self.scope.0, found.id);
                self.scope.0 = bounded(&whole, MAX_ID);
                Some(Mark { role: Role::Heading, block: self.scope.1, depth: 0 })
            }
            LineEvent::Title => {
                let (title, mark) = heading(found, next_block);
                self.title = title;
                Some(mark)
            }
            LineEvent::NameBegins => {
                self.close();
                *next_block += 1;
                self.name = Some((Vec::new(), *next_block));
                self.continue_name(found, next_block)
            }
            LineEvent::NameContinues => self.continue_name(found, next_block),
            LineEvent::Heading => self.heading(found, next_block),
            LineEvent::Fails(then) => self.fails(found, then, next_block),
            LineEvent::ScopeFails => {
                let id = self.scope.0.clone();
                self.fails(&Found { id: &id, ..*found }, Then::MessageFirst, next_block)
            }
            LineEvent::Aborts => {
                self.has_sign = true;
                self.is_open = true;
                self.fails(found, Then::MessageFirst, next_block)
            }
            LineEvent::NextPlace => {
                self.held_place = found.place();
                None
            }
            LineEvent::Place
            | LineEvent::LastPlace
            | LineEvent::Message
            | LineEvent::MessageFollows => self.explains(event, found),
            LineEvent::Ends => {
                self.close();
                None
            }
        }
    }

    fn passed(&mut self, id: &str) -> Option<Mark> {
        self.cases.passed = Some(self.cases.passed.unwrap_or(0) + 1);
        self.settle(id);
        self.close();
        None
    }

    fn add_part(&mut self) {
        if let Some(part) = self.part.take() {
            self.totals.get_or_insert_default().add(part);
        }
    }

    /// Takes a line that no rule recognized.
    pub(crate) fn go_on(&mut self, line: &str) -> Option<Mark> {
        let block = self.block.as_mut()?;
        let text = line.trim();
        let is_message = block.awaits_message && !text.is_empty();
        if is_message {
            let message = match self.message_of_block() {
                Some(first) if !first.is_empty() => format!("{first} {text}"),
                _ => text.to_owned(),
            };
            // A message such as `ArgumentError:` continues in the next line.
            let is_complete = !message.ends_with(':') || message.len() > text.len();
            self.set_message(&message);
            self.block.as_mut()?.awaits_message = !is_complete;
        }
        let role = if is_message { Role::Message } else { Role::Explanation };
        self.mark(role)
    }

    fn mark(&mut self, role: Role) -> Option<Mark> {
        let block = self.block.as_mut()?;
        let mark = Mark { role, block: block.number, depth: block.lines };
        block.lines = block.lines.saturating_add(1);
        Some(mark)
    }

    fn message_of_block(&self) -> Option<&str> {
        let block = self.block.as_ref()?;
        match block.entry {
            Some(entry) => self.entries.all.get(entry).map(|entry| entry.failure.message.as_str()),
            None => Some(&block.message),
        }
    }

    fn set_message(&mut self, message: &str) {
        let message = bounded(message.trim(), MAX_MESSAGE);
        let Some(block) = &mut self.block else { return };
        match block.entry.and_then(|entry| self.entries.all.get_mut(entry)) {
            Some(entry) => entry.failure.message = message,
            None => block.message = message,
        }
    }

    /// Takes a line with a part of the explanation.
    fn explains(&mut self, event: LineEvent, found: &Found<'_>) -> Option<Mark> {
        let has_message = !self.message_of_block()?.is_empty();
        let place = found.place();
        let block = self.block.as_mut()?;
        let held = match block.entry.and_then(|entry| self.entries.all.get_mut(entry)) {
            Some(entry) => &mut entry.failure.place,
            None => &mut block.place,
        };
        let is_new = if event == LineEvent::LastPlace { !has_message } else { held.is_empty() };
        if is_new && !place.is_empty() {
            *held = place;
        }
        if event == LineEvent::MessageFollows {
            block.awaits_message = !has_message;
        }
        let is_message = !has_message && !found.message.is_empty();
        if is_message {
            self.set_message(found.message);
            self.block.as_mut()?.awaits_message = false;
        }
        self.mark(if is_message { Role::Message } else { Role::Explanation })
    }

    fn fails(&mut self, found: &Found<'_>, then: Then, next_block: &mut u32) -> Option<Mark> {
        self.failed_entry(found, then, next_block).map(|(_, mark)| mark)
    }

    /// Adds a failure, or what a line says about a known one. Returns its index with the part of the line in a preview.
    fn failed_entry(
        &mut self,
        found: &Found<'_>,
        then: Then,
        next_block: &mut u32,
    ) -> Option<(usize, Mark)> {
        let latest = self.block.as_ref().map(|block| block.id.clone()).unwrap_or_default();
        let id = if found.id.is_empty() { latest.as_str() } else { found.id };
        let found = &Found { id, ..*found };
        let running = self.running_block(found.id);
        self.settle(found.id);
        self.close();
        let id = self.full_name(found)?;
        let known = self.entries.find(&self.scope.0, &id, then != Then::Nothing);
        let at = known.or_else(|| self.insert(&id))?;
        self.failed_scopes.insert(self.scope.0.clone());
        self.entries.complete_name(at, &id);
        let entry = self.entries.all.get_mut(at)?;
        let held = (std::mem::take(&mut self.held_message), std::mem::take(&mut self.held_place));
        let printed = running.map(|block| {
            entry.blocks.push(block.number);
            (block.message, block.place)
        });
        let found = (bounded(found.message.trim(), MAX_MESSAGE), found.place());
        for (message, place) in [Some(found), Some(held), printed].into_iter().flatten() {
            if entry.failure.message.is_empty() {
                entry.failure.message = message;
            }
            if entry.failure.place.is_empty() {
                entry.failure.place = place;
            }
        }
        let mark = self.open(at, then, next_block);
        if let Some(block) = &mut self.block {
            block.is_new = known.is_none();
        }
        mark.map(|mark| (at, mark))
    }

    /// Opens a block for the line that names a failure, and for what follows it.
    fn open(&mut self, at: usize, then: Then, next_block: &mut u32) -> Option<Mark> {
        *next_block += 1;
        let entry = self.entries.all.get_mut(at)?;
        entry.blocks.push(*next_block);
        let mark = Mark { role: Role::Name, block: *next_block, depth: 0 };
        if then != Then::Nothing {
            entry.is_explained = true;
            let awaits_message = then == Then::MessageFirst && entry.failure.message.is_empty();
            let (number, id) = (*next_block, entry.failure.id.clone());
            self.block = Some(Block {
                number,
                entry: Some(at),
                id,
                awaits_message,
                lines: 1,
                ..Block::default()
            });
        }
        Some(mark)
    }
}
