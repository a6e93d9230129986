//! Commands that were read lately. Of the commands of real agents a fifth is one of the 64 before it, and one call is asked about
//! more than once: by whoever guards it, by who asks the user, and by who shows why.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::Reading;

/// So many are kept.
const MOST: usize = 64;

/// Longer ones are not: what they are read into can be many times as long.
const MAX_BYTES: usize = 512;

/// What was made of the last commands, each with the folder it runs in. All else that a reading depends on must stay the same.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<Entry>>);

#[derive(Debug)]
struct Entry {
    command: String,
    cwd: String,
    reading: Arc<Reading>,
}

impl Recent {
    /// What was made of a command, or is made of it now.
    pub fn reading(
        &self,
        command: &str,
        cwd: &str,
        read: impl FnOnce() -> Reading,
    ) -> Arc<Reading> {
        if command.len() > MAX_BYTES || cwd.len() > MAX_BYTES {
            return Arc::new(read());
        }
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.iter().rposition(|one| one.command == command && one.cwd == cwd);
        let entry = known.and_then(|at| entries.remove(at)).unwrap_or_else(|| Entry {
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            reading: Arc::new(read()),
        });
        let reading = Arc::clone(&entry.reading);
        entries.push_back(entry);
        if entries.len() > MOST {
            entries.pop_front();
        }
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::shell::Simple;

    fn told(text: &str) -> Reading {
        let command = Simple { text: text.to_owned(), ..Simple::default() };
        Reading { commands: vec![command], ..Reading::default() }
    }

    #[test]
    fn a_command_is_read_once_for_each_folder() {
        let recent = Recent::default();
        let first = recent.reading("ls", "/a", || told("first"));
        assert_eq!(recent.reading("ls", "/a", || unreachable!()), first);
        assert_ne!(recent.reading("ls", "/b", || told("another folder")), first);
        assert_eq!(recent.reading("ls", "/a", || unreachable!()), first);
    }

    #[test]
    fn the_oldest_is_forgotten_and_a_long_one_at_once() {
        let recent = Recent::default();
        recent.reading("ls", "/", || told("old"));
        for n in 0..MOST {
            recent.reading(&n.to_string(), "/", || told("new"));
        }
        assert_eq!(*recent.reading("ls", "/", || told("again")), told("again"));
        let long = "x".repeat(MAX_BYTES + 1);
        recent.reading(&long, "/", || told("long"));
        assert_eq!(*recent.reading(&long, "/", || told("again")), told("again"));
    }
}
