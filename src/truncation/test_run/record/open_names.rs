//! Names that are open: those of groups and titles above the tests, and names that continue in the next lines.

use super::super::report::bounded;
use super::super::rules::Then;
use super::super::{MAX_ID, WITHIN};
use super::{Found, Mark, Record, Role};

/// Maximum number of nested groups.
const MAX_GROUPS: usize = 64;

/// A group of tests that is open.
#[derive(Debug, Clone)]
pub(super) struct Group {
    indent: usize,
    name: String,
    entries_before: usize,
    /// The block of the line that names it.
    block: u32,
}

impl Record {
    pub(super) fn group(&mut self, found: &Found<'_>, next_block: &mut u32) -> Mark {
        self.close();
        self.groups.retain(|group| group.indent < found.indent);
        self.title = (String::new(), 0);
        let ((name, block), mark) = heading(found, next_block);
        if self.groups.len() < MAX_GROUPS {
            let entries_before = self.entries.all.len();
            self.groups.push(Group { indent: found.indent, name, entries_before, block });
        }
        mark
    }

    pub(super) fn continue_name(
        &mut self,
        found: &Found<'_>,
        next_block: &mut u32,
    ) -> Option<Mark> {
        let (parts, block) = self.name.as_mut()?;
        let part = found.id.strip_suffix(':');
        parts.push(bounded(part.unwrap_or(found.id), MAX_ID));
        if part.is_none() && parts.len() < MAX_GROUPS {
            return Some(Mark { role: Role::Heading, block: *block, depth: 0 });
        }
        let (parts, block) = self.name.take()?;
        let id = parts.join(WITHIN);
        let mark =
            self.fails(&Found { id: &id, ..Found::default() }, Then::MessageFirst, next_block);
        let entry = self.block.as_ref().and_then(|block| block.entry);
        if let Some(entry) = entry.and_then(|entry| self.entries.all.get_mut(entry)) {
            entry.blocks.push(block);
        }
        mark
    }

    /// Takes the name of a failure above its explanation.
    pub(super) fn heading(&mut self, found: &Found<'_>, next_block: &mut u32) -> Option<Mark> {
        let at = self.entries.named(found.id)?;
        self.close();
        if let Some(entry) = self.entries.all.get_mut(at) {
            let message = entry.failure.id.split_off(found.id.len());
            entry.failure.message = message.trim().to_owned();
        }
        self.open(at, Then::Explanation, next_block)
    }

    /// Returns a name with those of its groups, or `None` if the line ends a group whose tests failed.
    pub(super) fn full_name(&mut self, found: &Found<'_>) -> Option<String> {
        self.groups.retain(|group| group.indent <= found.indent);
        if let Some(group) = self.groups.pop_if(|group| group.indent == found.indent)
            && group.name == found.id
            && self.entries.all.len() > group.entries_before
        {
            return None;
        }
        let groups = self.groups.iter().map(|group| group.name.as_str());
        let title =
            Some(self.title.0.as_str()).filter(|title| !title.is_empty() && self.groups.is_empty());
        let parts: Vec<&str> = groups.chain(title).chain([found.id]).collect();
        Some(bounded(parts.join(WITHIN).trim(), MAX_ID))
    }

    /// Adds a failure below the headings that are open.
    pub(super) fn insert(&mut self, id: &str) -> Option<usize> {
        let headings =
            self.groups.iter().map(|group| group.block).chain([self.title.1, self.scope.1]);
        let blocks = headings.filter(|block| *block > 0).collect();
        self.entries.insert(&self.scope.0, id, blocks)
    }
}

/// Returns a name on a line of its own, with the block of its line.
pub(super) fn heading(found: &Found<'_>, next_block: &mut u32) -> ((String, u32), Mark) {
    *next_block += 1;
    let mark = Mark { role: Role::Heading, block: *next_block, depth: 0 };
    ((bounded(found.id, MAX_ID), *next_block), mark)
}
