//! A cache of answers: a fifth of the commands of real agents equals one of the 64 before it, and one call is evaluated
//! more than once on its way. A cached answer takes a quarter of the time of a new one. An answer depends on the
//! policy, on the call, and on where paths lead in the file system; an equal call gets the cached answer as long as
//! none of these changes. An answer that depends on the content of a directory is not cached.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::paths::{RealPaths, Repository};

/// Maximum number of answers kept.
const MAX: usize = 64;

/// Maximum length of a call and its answer; longer ones rarely come again.
const MAX_BYTES: usize = 2048;

/// The most recent answers. Must be [cleared](Self::forget) when the policy changes.
#[derive(Debug, Default)]
pub(super) struct Repeated(VecDeque<Entry>);

#[derive(Debug)]
struct Entry {
    asked: String,
    led: Vec<Led>,
    repositories: Vec<(String, Repository)>,
    answer: String,
}

/// A resolved path.
#[derive(Debug)]
struct Led {
    path: String,
    to: To,
}

#[derive(Debug, PartialEq, Eq)]
enum To {
    Itself,
    Elsewhere(String),
    Unknown,
}

impl Repeated {
    /// Returns the cached answer, if every path that it depends on still leads to the same place.
    pub(crate) fn answer(&mut self, asked: &str, real: &dyn RealPaths) -> Option<String> {
        let at = self.0.iter().rposition(|entry| entry.asked == asked)?;
        let entry = self.0.remove(at)?;
        let is_known = |(folder, known): &(String, Repository)| real.repository(folder) == *known;
        if !entry.led.iter().all(|led| led.is_so(real)) || !entry.repositories.iter().all(is_known)
        {
            return None;
        }
        let answer = entry.answer.clone();
        self.0.push_back(entry);
        Some(answer)
    }

    /// Stores an answer and the paths that it depends on.
    pub(crate) fn keep(&mut self, asked: &str, noted: Noted<'_>, answer: &str) {
        if noted.has_looked.get() || asked.len() > MAX_BYTES || answer.len() > MAX_BYTES {
            return;
        }
        let (asked, answer) = (asked.to_owned(), answer.to_owned());
        let (led, repositories) = (noted.led.into_inner(), noted.repositories.into_inner());
        self.0.push_back(Entry { asked, led, repositories, answer });
        if self.0.len() > MAX {
            self.0.pop_front();
        }
    }

    /// Removes all answers.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

impl Led {
    fn is_so(&self, real: &dyn RealPaths) -> bool {
        match (real.real(&self.path), &self.to) {
            (Some(path), To::Itself) => path == self.path,
            (Some(path), To::Elsewhere(known)) => path == *known,
            (None, To::Unknown) => true,
            _ => false,
        }
    }
}

/// Resolves paths, and records every result.
pub(super) struct Noted<'a> {
    real: &'a dyn RealPaths,
    led: RefCell<Vec<Led>>,
    repositories: RefCell<Vec<(String, Repository)>>,
    /// True if the content of a directory was read.
    has_looked: Cell<bool>,
}

impl<'a> Noted<'a> {
    pub(crate) fn new(real: &'a dyn RealPaths) -> Self {
        Noted {
            real,
            led: RefCell::default(),
            repositories: RefCell::default(),
            has_looked: Cell::new(false),
        }
    }
}

impl RealPaths for Noted<'_> {
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let real = self.real.real(path);
        let to = match &real {
            Some(real) if *real == path => To::Itself,
            Some(real) => To::Elsewhere(real.to_string()),
            None => To::Unknown,
        };
        self.led.borrow_mut().push(Led { path: path.to_owned(), to });
        real
    }

    fn repository(&self, folder: &str) -> Repository {
        let found = self.real.repository(folder);
        self.repositories.borrow_mut().push((folder.to_owned(), found.clone()));
        found
    }

    fn is_folder(&self, path: &str) -> bool {
        self.has_looked.set(true);
        self.real.is_folder(path)
    }

    fn names(&self, folder: &str, max: usize) -> Vec<(String, bool)> {
        self.has_looked.set(true);
        self.real.names(folder, max)
    }
}
