//! Paths as arguments give them: a tool may change one before it opens it.

use std::borrow::Cow;

use super::{Extent, Reader, is_url};
use crate::permission::Domain;
use crate::permission::targets::is_expanded;

impl Reader<'_> {
    /// Adds a path as an argument gives it, in each of its spellings.
    pub(super) fn given(&mut self, domain: Domain, text: &str, extent: Extent) {
        for text in spellings(text) {
            self.spelled(domain, &text, extent);
        }
    }

    fn spelled(&mut self, domain: Domain, text: &str, extent: Extent) {
        if is_url(text) {
            return self.blind.push(format!("{text:?} can be a path or an address"));
        }
        if text.starts_with(char::is_whitespace) {
            self.blind.push(format!("{text:?} is another path to who takes the space away"));
        }
        if is_expanded(text) {
            self.blind.push(format!("{text:?} is another path to a tool that expands it"));
        }
        match self.folders.written(text, &self.folders.cwd) {
            Some(written) => self.written(domain, &written, extent),
            None => self.blind.push(format!("{text:?} is not a path")),
        }
    }
}

/// Returns a path as it is, and as some agents open it: without the `@` by which people refer to files, and with plain
/// spaces in place of other ones.
pub(super) fn spellings(text: &str) -> Vec<Cow<'_, str>> {
    let mut all = vec![Cow::Borrowed(text)];
    if text.contains(is_other_space) {
        all.push(text.replace(is_other_space, " ").into());
    }
    for at in 0..all.len() {
        match all[at].strip_prefix('@') {
            None => {}
            Some("") => all.push(".".into()),
            Some(rest) => all.push(rest.to_owned().into()),
        }
    }
    all
}

fn is_other_space(letter: char) -> bool {
    matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}
