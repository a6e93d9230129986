//! Repositories of git that a command or a file may have made.

use super::Reader;
use crate::permission::paths::Repository;
use crate::permission::sensitive::{is_of_git, is_setting_of_git};
use crate::permission::shell::Concern;

impl Reader<'_> {
    /// Returns the reason to ask about git in a directory of the vault: it contains a repository whose settings the
    /// rules for `.git` do not cover, so that an edit that was allowed may have set a program for git to run.
    pub(super) fn planted_in(&mut self, folder: &str) -> Option<Concern> {
        let real = self.real(folder)?.into_owned();
        let vault = self.placed(&real);
        let mut below = vault.strip_prefix("vault:/")?.trim_end_matches('/').to_owned();
        let top = real.strip_suffix(below.as_str())?.trim_end_matches('/').to_owned();
        loop {
            let at = if below.is_empty() { top.clone() } else { [&top, "/", &below].concat() };
            let at = if at.is_empty() { "/".to_owned() } else { at };
            match self.real.repository(&at) {
                Repository::None => {}
                Repository::Own => return None,
                Repository::Linked(to) if is_of_git(&to, false) => return None,
                // Nothing below it is written without a question.
                Repository::Bare if is_of_git(&at, false) => return None,
                Repository::Linked(_) | Repository::Bare => {
                    return Some(Concern::always(format!(
                        "git takes {at} for a repository and runs what is set in it"
                    )));
                }
            }
            if below.is_empty() {
                return None;
            }
            below.truncate(below.rfind('/').unwrap_or(0));
        }
    }

    /// Returns true if a directory itself is a repository that may have been planted.
    pub(super) fn is_repository(&self, folder: &str) -> bool {
        !is_of_git(folder, false) && self.real.repository(folder) == Repository::Bare
    }

    /// Returns true if a file is a setting of git in a directory that git takes for a repository.
    pub(super) fn is_setting(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        is_setting_of_git(path) && self.real.repository(folder) == Repository::Bare
    }
}
