//! Commands of version control that overwrite or remove what is in a folder of the system or in a home.

use super::analyzer::Walker;
use super::destroying_programs::has_any;
use super::word::Word;
use crate::permission::places::Place;

impl Walker<'_> {
    /// Returns true if `git clean` empties a protected place.
    pub(super) fn cleans_place(&self, rest: &[Word]) -> bool {
        let is_forced = |word: &Word| word.text.starts_with('-') && word.text.contains('f');
        let at = |path: &str| self.place(path, false, true).is_some();
        if !has_any(rest, "clean") || !rest.iter().any(is_forced) || has_any(rest, "-n --dry-run") {
            return false;
        }
        self.work_trees(rest).iter().chain(&self.places).any(|place| at(place))
    }

    /// Returns the folders that the options of `git` name as its own.
    fn work_trees(&self, rest: &[Word]) -> Vec<String> {
        let all = [&self.given_options(rest).0, rest].concat();
        let glued = all.iter().filter_map(|word| word.text.strip_prefix("--work-tree="));
        let named = all.windows(2).filter_map(|pair| match pair[0].text.as_str() {
            "-C" | "--work-tree" => Some(pair[1].text.as_str()),
            "-c" => {
                let (key, path) = pair[1].text.split_once('=')?;
                key.eq_ignore_ascii_case("core.worktree").then_some(path)
            }
            _ => None,
        });
        glued.chain(named).map(str::to_owned).collect()
    }

    /// Returns true if `git` puts what it has recorded in the place of what is in a folder of the system, or removes it.
    pub(super) fn resets_system(&self, rest: &[Word]) -> bool {
        let has = |names: &str| has_any(rest, names);
        let is_forced = || {
            rest.iter().any(|word| word.has_letter('f') || word.text == "--force")
                || has(". -- --discard-changes")
        };
        let verbs = ["checkout", "switch", "rm", "read-tree", "reset", "restore", "stash"];
        let verb = rest.iter().map(|word| word.text.as_str()).find(|word| verbs.contains(word));
        let removes = match verb {
            Some("checkout" | "switch") => is_forced(),
            Some("rm") => {
                rest.iter().any(|word| word.has_letter('r')) && !has("--cached -n --dry-run")
            }
            Some("read-tree") => has("--reset") && has("-u"),
            Some("reset") => has("--hard --merge --keep"),
            Some("restore") => !has("--staged -S") || has("--worktree -W"),
            Some("stash") => !has("list show drop clear apply pop branch create"),
            _ => false,
        };
        removes && self.is_of_system(&self.work_trees(rest))
    }

    /// Returns true if another program for versions removes or overwrites what is in a folder of the system.
    pub(super) fn empties_checkout(&self, rest: &[Word]) -> bool {
        const VERBS: &str =
            "purge clean --remove-unversioned --remove-ignored restore abandon revert";
        let named = rest.iter().map(|word| match word.text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => value.to_owned(),
            _ => word.text.clone(),
        });
        let named: Vec<String> = named.filter(|name| name.contains(['/', '~'])).collect();
        has_any(rest, VERBS) && self.is_of_system(&named)
    }

    /// Returns true if one of these folders, or the one that the command changed to, is one of the system.
    fn is_of_system(&self, named: &[String]) -> bool {
        let is_of_system = |path: &String| {
            matches!(
                self.place(path, false, true),
                Some((Place::Root | Place::System | Place::Homes, _))
            )
        };
        let changed = self.places.iter().filter(|place| **place != self.folders.vault);
        named.iter().chain(changed).any(is_of_system)
    }
}
