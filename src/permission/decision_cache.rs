//! Answers to calls that come again: a fifth of the commands of real agents is one of the 64 before it, and one call is judged more
//! than once on its way. Such an answer takes a quarter of the time of a new one. An answer depends on the policy, on the call, and on where the file system says that
//! paths lead: whoever asks the same while that is the same gets the same answer. One that depends on what is in a folder
//! is judged anew each time.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::paths::{RealPaths, Repository};

/// So many are kept.
const MOST: usize = 64;

/// Longer calls and answers are not: they rarely come again.
const MAX_BYTES: usize = 2048;

/// What was answered lately. It must be [forgotten](Self::forget) when the policy changes.
#[derive(Debug, Default)]
pub(super) struct Repeated(VecDeque<Entry>);

#[derive(Debug)]
struct Entry {
    asked: String,
    led: Vec<Led>,
    repositories: Vec<(String, Repository)>,
    answer: String,
}

/// Where a path led.
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
    /// The answer that was given, if every path that it depends on still leads where it led.
    pub fn answer(&mut self, asked: &str, real: &dyn RealPaths) -> Option<String> {
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

    /// Keeps an answer and what it depends on.
    pub fn keep(&mut self, asked: &str, noted: Noted<'_>, answer: &str) {
        if noted.has_looked.get() || asked.len() > MAX_BYTES || answer.len() > MAX_BYTES {
            return;
        }
        let (asked, answer) = (asked.to_owned(), answer.to_owned());
        let (led, repositories) = (noted.led.into_inner(), noted.repositories.into_inner());
        self.0.push_back(Entry { asked, led, repositories, answer });
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Keeps nothing of what was answered before.
    pub fn forget(&mut self) {
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

/// Asks, and notes every answer.
pub(super) struct Noted<'a> {
    real: &'a dyn RealPaths,
    led: RefCell<Vec<Led>>,
    repositories: RefCell<Vec<(String, Repository)>>,
    /// Somebody wanted to know what is in a folder.
    has_looked: Cell<bool>,
}

impl<'a> Noted<'a> {
    pub fn new(real: &'a dyn RealPaths) -> Self {
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

    fn names(&self, folder: &str, most: usize) -> Vec<(String, bool)> {
        self.has_looked.set(true);
        self.real.names(folder, most)
    }
}
