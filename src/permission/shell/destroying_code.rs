//! Finds what code of other languages destroys: by the names of its calls, and by the commands in its strings.

use super::analyzer::Walker;
use super::decode;
use super::destroyers::{FORKS, MAX_TAILS, REMOVES_ROOT, WRITES_DISK, WRITES_SYSTEM};
use crate::permission::places::{Place, is_protected_file};

/// Calls of other languages that remove a directory.
const REMOVING_CALLS: &[&str] = &[
    "rmtree(",
    "rmSync(",
    "rmdirSync(",
    "rm_rf(",
    "rm_r(",
    "rm_rf ",
    "remove_entry(",
    "remove_tree(",
    "rmtree ",
    "rimraf(",
    "remove_dir_all(",
    "removeSync(",
    "emptyDirSync(",
    ".rm(",
    "Remove-Item ",
    "deltree(",
    "unlink glob",
];

impl Walker<'_> {
    /// Returns the targets that code of another language destroys, by its calls and by the commands in its strings.
    pub(super) fn code_runs(&mut self, text: &str) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = self.code_destroys(text).into_iter().collect();
        let texts = commands_in(text).into_iter().chain(decoded_parts(text));
        for text in texts.take(MAX_TAILS) {
            found.extend(self.text_destroys(&text));
        }
        found
    }

    /// Returns what a text in another language destroys, by the names of its calls.
    pub(super) fn code_destroys(&self, text: &str) -> Option<&'static str> {
        if !text.contains(['(', ' ']) {
            return None;
        }
        let forks = text.contains("fork")
            && ["while", "loop", "for ", "for(", "until"].iter().any(|word| text.contains(word));
        if forks && !text.contains("git") {
            return Some(FORKS);
        }
        let quoted = || {
            text.split(['"', '\'', '`', ',', '(', ')', ' '])
                .filter(|part| part.starts_with(['/', '~']))
        };
        if REMOVING_CALLS.iter().any(|call| text.contains(call)) {
            let is_it = |path: &str| self.place(path, path.contains('*'), true).is_some();
            if quoted().any(is_it) {
                return Some(REMOVES_ROOT);
            }
        }
        let writes = [
            "'w", "\"w", "write", "'r+", "\"r+", "'a", "\">", "'>", "copyfile", "copyFile",
            "truncate",
        ]
        .iter()
        .any(|way| text.contains(way));
        let place = quoted().find_map(is_protected_file).filter(|_| writes)?;
        Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
    }
}

/// Returns the commands that a word may contain: itself, the value of an option, quoted text, and the text after `!` or
/// `e`.
pub(super) fn commands_in(text: &str) -> Vec<String> {
    if !text.contains([' ', ';', '(', '\n', '|']) {
        return Vec::new();
    }
    let mut found = vec![text.to_owned()];
    for separator in ["=", "!", "e "] {
        found.extend(
            text.split_once(separator).map(|(_, rest)| rest.trim_start_matches('!').to_owned()),
        );
    }
    found.extend(text.match_indices('=').take(4).map(|(at, _)| text[at + 1..].to_owned()));
    for quote in ['"', '\'', '`'] {
        found.extend(text.split(quote).skip(1).step_by(2).map(str::to_owned));
    }
    found.retain(|text| text.contains([' ', '{', '>']));
    found.dedup();
    found
}

/// The texts that stand encoded in a text.
pub(super) fn decoded_parts(text: &str) -> Vec<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-".contains(letter);
    let parts = text.split(|letter: char| !is_letter(letter)).filter(|part| part.len() >= 8);
    let decoded =
        parts.take(MAX_TAILS).filter_map(|part| decode::base64(part).or_else(|| decode::hex(part)));
    decoded.collect()
}
