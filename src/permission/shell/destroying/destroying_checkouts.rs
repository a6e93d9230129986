//! Commands of version control that overwrite or remove what is in a folder of the system or in a home.

use super::destroying_programs::has_any;
use crate::permission::places::{Place, is_protected_file};
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::git::git_commands::after_options;
use crate::permission::shell::git::git_pathspecs::pattern_of;
use crate::permission::shell::word::{Word, without_options};
use crate::util::words::has_word;

/// Options of `git` whose value is no file.
const VALUED: &str = "-s --source -e --exclude -m --message";

/// Options of other programs that name the folder they act in.
const FOLDERS: &str = "-R --repository --cwd";

/// All of their options whose value is no file that they change.
const VALUED_BY_OTHERS: &str =
    "-R --repository --cwd -r --rev --from --to -f -t --changes-in -c -I -X";

/// Returns the files of which `git` removes or overwrites changes, none for all of them; `None` if it keeps them.
fn changed_by_git<'w>(name: &str, rest: &'w [Word]) -> Option<Vec<&'w Word>> {
    let has = |names: &str| has_any(rest, names);
    let has_letter = |letter: char| rest.iter().any(|word| word.has_letter(letter));
    let end = rest.iter().position(|word| word.text == "--").unwrap_or(rest.len());
    let behind: Vec<&Word> = rest.iter().skip(end + 1).collect();
    let mut named: Vec<&Word> = without_options(&rest[..end], VALUED).collect();
    let changes = match name {
        "clean" => (has_letter('f') || has("--force")) && !has("-n --dry-run"),
        "rm" => has_letter('r') && !has("--cached -n --dry-run"),
        "restore" => !has("--staged -S") || has("--worktree -W"),
        "checkout" | "switch" => {
            named.retain(|word| word.text.starts_with(['.', '/', ':', '*']));
            has_letter('f')
                || has("--force --discard-changes")
                || !named.is_empty()
                || !behind.is_empty()
        }
        // They change all files, or those after `--`.
        "read-tree" | "reset" | "stash" => {
            const KEEP: &str = "list show drop clear apply pop branch create store export import";
            named.clear();
            match name {
                "read-tree" => has("--reset") && has("-u"),
                "reset" => has("--hard --merge --keep"),
                _ => !rest.first().is_some_and(|verb| has_word(KEEP, &verb.text)),
            }
        }
        _ => false,
    };
    named.extend(behind);
    changes.then_some(named)
}

impl Walker<'_> {
    /// Returns true if `git` puts what it has recorded in the place of what is in a folder of the system, or removes it, or
    /// removes what it has not recorded in a home.
    pub(super) fn changes_work_tree(&self, rest: &[Word]) -> bool {
        let (options, command) = rest.split_at(after_options(rest));
        let Some((name, arguments)) = command.split_first() else { return false };
        let is_clean = name.text == "clean";
        changed_by_git(&name.text, arguments).is_some_and(|files| {
            self.work_trees(options).iter().any(|tree| self.holds_system(tree, &files, is_clean))
        })
    }

    /// Returns the folders with the files that `git` changes, given its own options.
    fn work_trees(&self, options: &[Word]) -> Vec<String> {
        let options = [&self.given_options(options).0, options].concat();
        let mut places = self.places.clone();
        let mut trees = Vec::new();
        for (at, word) in options.iter().enumerate() {
            let next = || options.get(at + 1).map_or("", |next| next.text.as_str());
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, next()));
            match name {
                "-C" => places = self.below(&places, value),
                "--work-tree" => trees.push(value),
                "-c" => trees.extend(value.split_once('=').and_then(|(key, path)| {
                    key.eq_ignore_ascii_case("core.worktree").then_some(path)
                })),
                _ => {}
            }
        }
        match trees.is_empty() {
            true => places,
            false => trees.into_iter().flat_map(|tree| self.below(&places, tree)).collect(),
        }
    }

    fn below(&self, places: &[String], path: &str) -> Vec<String> {
        let below =
            |place: &String| self.folders.absolute(path, place).unwrap_or_else(|| path.to_owned());
        places.iter().map(below).collect()
    }

    /// Returns true if another program for versions removes or overwrites what is in a folder of the system.
    pub(super) fn empties_checkout(&self, base: &str, rest: &[Word]) -> bool {
        // `-R` of `svn` has no value.
        let valued = if base == "svn" { "-r --revision" } else { VALUED_BY_OTHERS };
        let mut places = self.places.clone();
        for (at, word) in rest.iter().enumerate().filter(|_| base != "svn") {
            let next = || rest.get(at + 1).map_or("", |next| next.text.as_str());
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, next()));
            if has_word(FOLDERS, name) {
                places = self.below(&places, value);
            }
        }
        let mut named = without_options(rest, valued);
        let removes = named.next().is_some_and(|verb| match &*verb.text {
            "cleanup" => has_any(rest, "--remove-unversioned --remove-ignored"),
            verb => has_word("purge clean restore abandon revert", verb),
        });
        let named = named.filter(|_| !has_any(rest, "abandon --all")).collect::<Vec<_>>();
        removes && places.iter().any(|place| self.holds_system(place, &named, false))
    }

    /// Returns true if one of these files of a folder is one of the system, or holds some. None stand for all of them.
    fn holds_system(&self, folder: &str, files: &[&Word], with_homes: bool) -> bool {
        let is_of_system = |path: &str, glob: bool| match self.place(path, glob, true) {
            Some(_) if with_homes => true,
            Some((Place::Root | Place::System | Place::Homes, _)) => path != self.folders.vault,
            _ => false,
        };
        let is_named = |word: &&Word| match pattern_of(word, false) {
            Some(file) => self.folders.absolute(&file.text, folder).is_some_and(|path| {
                is_of_system(&path, file.glob) || is_protected_file(&path).is_some()
            }),
            None => is_of_system(folder, false),
        };
        match files.is_empty() {
            true => is_of_system(folder, false),
            false => files.iter().any(is_named),
        }
    }
}
