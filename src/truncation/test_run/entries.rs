//! The failures of one runner, looked up by name.

use std::collections::{HashMap, HashSet};

use super::report::Failure;
use super::{MAX_FAILURES, WITHIN};

/// Maximum number of failures of the same last name that an abbreviated name is compared with.
const MAX_ALIKE: usize = 256;

/// A failure with the blocks of lines that name and explain it.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub failure: Failure,
    pub blocks: Vec<u32>,
    pub is_explained: bool,
    /// True if it turned out to be none.
    pub is_void: bool,
    /// True if no line that says why is known to belong to it.
    pub is_bare: bool,
    scope: String,
}

#[derive(Debug, Clone)]
pub(super) struct Entries {
    pub all: Vec<Entry>,
    /// True if the same failure is also named without the first parts of its name.
    abbreviates: bool,
    /// Indices by scope and name.
    by_id: HashMap<(String, String), usize>,
    /// Indices by the last part of the name, if names are abbreviated.
    by_last: HashMap<String, Vec<usize>>,
}

impl Entries {
    pub(crate) fn new(abbreviates: bool) -> Self {
        let (by_id, by_last) = (HashMap::new(), HashMap::new());
        Entries { all: Vec::new(), abbreviates, by_id, by_last }
    }

    /// Returns the failure with a name. A name above an explanation is that of a failure without one.
    pub(crate) fn find(&self, scope: &str, id: &str, is_explained: bool) -> Option<usize> {
        let exact = self.by_id.get(&(scope.to_owned(), id.to_owned())).copied();
        if !self.abbreviates {
            return exact;
        }
        let is_open = |at: &usize| {
            self.all.get(*at).is_some_and(|entry| !(is_explained && entry.is_explained))
        };
        exact.filter(is_open).or_else(|| {
            let parts = parts(id);
            let alike = self.by_last.get(last(&parts))?;
            let is_same = |at: &usize| {
                let entry = self.all.get(*at);
                entry.is_some_and(|entry| is_abbreviated(&parts, &self::parts(&entry.failure.id)))
            };
            alike.iter().copied().filter(is_open).take(MAX_ALIKE).find(is_same)
        })
    }

    /// Returns the failure without an explanation that has this name, followed by its message or by nothing.
    pub(crate) fn named(&self, id: &str) -> Option<usize> {
        self.all.iter().position(|entry| {
            let rest = entry.failure.id.strip_prefix(id);
            !entry.is_explained && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }

    /// Adds a failure, if there are not too many.
    pub(crate) fn insert(&mut self, scope: &str, id: &str, blocks: Vec<u32>) -> Option<usize> {
        let at = self.all.len();
        if at >= MAX_FAILURES {
            return None;
        }
        let failure = Failure { id: id.to_owned(), ..Failure::default() };
        self.by_id.insert((scope.to_owned(), id.to_owned()), at);
        let scope = scope.to_owned();
        self.all.push(Entry { failure, blocks, scope, ..Entry::default() });
        if self.abbreviates {
            self.by_last.entry(last(&parts(id)).to_owned()).or_default().push(at);
        }
        Some(at)
    }

    /// Gives a failure a name that has more parts than the one it has.
    pub(crate) fn complete_name(&mut self, at: usize, id: &str) {
        let Some(entry) = self.all.get_mut(at).filter(|entry| entry.failure.id.len() < id.len())
        else {
            return;
        };
        id.clone_into(&mut entry.failure.id);
        self.by_id.insert((entry.scope.clone(), id.to_owned()), at);
    }

    /// Removes tests that failed because a subtest did: `TestEmpty` beside `TestEmpty/no_total`.
    pub(crate) fn drop_parents(&mut self) {
        let parents_of = |id: &str| -> Vec<String> {
            id.match_indices('/').filter_map(|(at, _)| id.get(..at).map(str::to_owned)).collect()
        };
        let parents: HashSet<String> =
            self.all.iter().flat_map(|entry| parents_of(&entry.failure.id)).collect();
        self.all.retain(|entry| !parents.contains(&entry.failure.id));
    }
}

/// Returns a name with one kind of separator between its parts.
fn parts(id: &str) -> String {
    id.replace("::", ".").replace(WITHIN, ".")
}

fn last(parts: &str) -> &str {
    parts.rsplit('.').next().unwrap_or(parts)
}

/// Returns true if one of two different names is the other one without its first parts.
fn is_abbreviated(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'))
}
