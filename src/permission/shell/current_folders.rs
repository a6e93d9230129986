//! The folders in which a command can run, as far as preceding `cd` and similar commands determine them.

use super::Concern;
use super::analyzer::Walker;
use super::word::Word;
use crate::permission::Domain;
use crate::permission::places::protected;

/// Maximum number of changes of directory, and maximum length of its path, after which it is unknown.
const MAX_ENTERED: usize = 64;
const MAX_PLACE: usize = 4096;
/// Maximum number of directories that a relative path may be in, after which it is unknown.
const MAX_FOLDERS: usize = 4;

const UNKNOWN: &str = "the folder is not known beforehand";
const TOO_OFTEN: &str = "the folder is changed too often to be known";

impl Walker<'_> {
    /// Changes the directory for the next command, if this one succeeds.
    pub(crate) fn enter(&mut self, word: Option<&Word>) -> Option<Concern> {
        let home;
        let word = match (word, self.home) {
            (Some(word), _) => word,
            (None, Some(path)) => {
                home = Word::plain(path);
                &home
            }
            (None, None) => return Some(self.lost("the home folder is not known")),
        };
        if !word.known || word.glob || word.text == "-" || self.repeats > 0 {
            let protected = self.protected_folder(word);
            let concern = self.lost(UNKNOWN);
            let left = if word.known { None } else { self.place_without_unset(&word.text) };
            let left = left.and_then(|left| self.folders.absolute(&left, "/"));
            if let Some(folder) = protected.or(left) {
                self.next_places = Some(vec![folder.clone()]);
                self.places = vec![folder];
            }
            return Some(concern);
        }
        self.entered += 1;
        if self.entered > MAX_ENTERED || self.places.iter().any(|place| place.len() > MAX_PLACE) {
            return Some(self.lost(TOO_OFTEN));
        }
        let before = self.places.clone();
        if before.is_empty() && !word.text.starts_with(['/', '~']) {
            return Some(self.lost(UNKNOWN));
        }
        let concern = self.file(Domain::Read, word);
        let root = vec![String::from("/")];
        let from = if before.is_empty() { &root } else { &before };
        let mut names = self.places_through_links(&word.text);
        names.push(word.text.clone());
        let mut next: Vec<String> = Vec::new();
        for name in &names {
            next.extend(from.iter().filter_map(|place| self.folders.absolute(name, place)));
        }
        next.extend(self.by_search_path(&word.text, from));
        // Keeps the protected folders if there are too many, so that a command that destroys them is denied.
        next.sort_by_cached_key(|place| protected(place, self.folders).is_none());
        next.truncate(2 * MAX_FOLDERS);
        self.next_places = Some(next);
        concern
    }

    /// Returns the directories that `cd` may find by a `CDPATH` that the command sets.
    pub(super) fn by_search_path(&self, text: &str, from: &[String]) -> Vec<String> {
        let first = text.split('/').next().unwrap_or_default();
        if matches!(first, "" | "." | "..") || first.starts_with('~') {
            return Vec::new();
        }
        let values = self.values_of("CDPATH").chain(self.values_of("cdpath"));
        let folders = values.flat_map(|value| value.split([':', ' ']));
        let mut found = Vec::new();
        for folder in folders.filter(|folder| !folder.is_empty()).take(MAX_FOLDERS) {
            let folder = [folder.trim_end_matches('/'), "/", text].concat();
            found.extend(from.iter().filter_map(|place| self.folders.absolute(&folder, place)));
        }
        found.truncate(MAX_FOLDERS);
        found
    }

    /// Changes the directory for one command.
    pub(crate) fn within(&mut self, word: &Word) -> Option<Concern> {
        let concern = self.file(Domain::Read, word);
        let root = vec![String::from("/")];
        let from = if word.text.starts_with(['/', '~']) { &root } else { &self.places };
        let places = from.iter().filter_map(|place| self.folders.absolute(&word.text, place));
        self.places = places.collect();
        concern
    }

    pub(crate) fn lost(&mut self, reason: &str) -> Concern {
        self.places.clear();
        self.next_places = None;
        Concern::always(reason)
    }

    pub(super) fn settle(&mut self, went_well: bool) {
        let Some(next) = self.next_places.take() else { return };
        if went_well {
            self.places = next;
        } else {
            self.add_possible_folders(next);
        }
    }

    /// Adds directories that commands may run in. If they are too many, or the directory was unknown before, it keeps only protected
    /// ones, so that a command that destroys them is denied.
    pub(super) fn add_possible_folders(&mut self, places: Vec<String>) {
        let was_known = !self.places.is_empty();
        for place in places {
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
        if was_known && self.places.len() <= MAX_FOLDERS {
            return;
        }
        let folders = self.folders;
        self.places.retain(|place| protected(place, folders).is_some());
        self.places.truncate(MAX_FOLDERS);
        if !self.places.is_empty() {
            self.concern("cd", if was_known { TOO_OFTEN } else { UNKNOWN });
        }
    }
}
