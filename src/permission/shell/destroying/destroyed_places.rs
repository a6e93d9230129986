//! The places that a word can name where they decide if a command destroys the machine: the root, homes, system folders,
//! disks.

use std::borrow::Cow;

use crate::permission::glob_overlap::{can_meet, literal};
use crate::permission::places::{
    Place, is_essential_program, is_protected_file, protected, protected_folders,
};
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::expand::Expander;
use crate::permission::shell::known_values::Fact;
use crate::permission::shell::name_letters::is_in_plain_name;
use crate::permission::shell::sed_awk_find::is_negation;
use crate::permission::shell::word::Word;
use crate::util::words::has_word;

/// Maximum number of paths that links of the command lead to. With more, they may lead anywhere.
const MAX_LINKS_FOLLOWED: usize = 64;

impl Walker<'_> {
    pub(super) fn file_places(&self, word: &Word) -> Vec<Place> {
        let root = [String::from("/")];
        let text = word.text.as_str();
        if text.is_empty() || text.starts_with('-') {
            return Vec::new();
        }
        let places = if text.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        places
            .iter()
            .filter_map(|place| {
                let path = self.folders.absolute(text, place)?;
                is_protected_file(&path)
                    .or_else(|| is_essential_program(&path).then_some(Place::File))
            })
            .collect()
    }

    /// Returns the protected place that a word denotes, and whether it denotes only its content.
    pub(crate) fn any_place(&self, word: &Word) -> Option<(Place, bool)> {
        self.place(&word.text, word.glob, word.tilde || !word.known)
    }

    pub(crate) fn place(&self, text: &str, glob: bool, tilde: bool) -> Option<(Place, bool)> {
        let (above, last) = text
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or((".", text.trim_end_matches('/')));
        let is_all = glob && stands_for_all(last);
        let folder = match is_all {
            true if above.is_empty() => "/",
            true => above,
            false => text,
        };
        if folder.starts_with('~') {
            if !tilde {
                return None;
            }
            let name = folder.trim_end_matches('/');
            // The home directory of any user.
            if name.len() == 1 || !name.contains('/') && name[1..].chars().all(is_in_plain_name) {
                return Some((Place::Home, is_all));
            }
        }
        // A link that is named itself is removed, and not what it leads to. If the folder is there already, no link is made in
        // its place, so that both readings count.
        let is_followed = is_all || text.ends_with('/') || text.contains("/.");
        let targets = if is_followed { self.places_through_links(folder) } else { Vec::new() };
        targets
            .iter()
            .find_map(|path| self.place_at(path, glob, is_all))
            .or_else(|| self.place_at(folder, glob, is_all))
    }

    fn place_at(&self, folder: &str, glob: bool, is_all: bool) -> Option<(Place, bool)> {
        let folder = &*of_current(folder);
        let root = [String::from("/")];
        let places = if folder.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        places.iter().find_map(|place| {
            let path = self.folders.absolute(folder, place)?;
            if let Some(found) = protected(&path, self.folders) {
                return Some((found, is_all));
            }
            (glob && path.contains(['*', '?', '[']))
                .then(|| {
                    protected_folders(self.folders).find(|(known, _)| can_meet(&path, false, known))
                })
                .flatten()
                .map(|(_, place)| (place, is_all))
        })
    }

    /// Returns what a path can be through symbolic links that the command made, and the root if they may lead anywhere.
    pub(crate) fn places_through_links(&self, path: &str) -> Vec<String> {
        let (mut targets, is_cut) = self.through_links(path, MAX_LINKS_FOLLOWED);
        targets.extend(is_cut.then(|| "/".to_owned()));
        targets
    }

    /// Returns what a path can be through symbolic links that the command made, the latest links first: at most `limit` paths, and
    /// whether there may be more. The links may lead to each other, and one name may be linked twice.
    pub(crate) fn through_links(&self, path: &str, limit: usize) -> (Vec<String>, bool) {
        let mut targets: Vec<String> = Vec::new();
        let mut next = 0;
        let mut name = path.to_owned();
        while targets.len() < limit {
            for target in self.targets_of(&name) {
                if targets.len() < limit && !targets.contains(&target) {
                    targets.push(target);
                }
            }
            let Some(target) = targets.get(next) else { break };
            name.clone_from(target);
            next += 1;
        }
        let is_cut = targets.len() >= limit;
        (targets, is_cut)
    }

    /// Returns a path with the target of each symbolic link that the command made in place of its name.
    fn targets_of<'p>(&'p self, path: &'p str) -> impl Iterator<Item = String> + 'p {
        let without_dot = |path: &'p str| path.trim_start_matches("./");
        self.facts.iter().rev().filter_map(move |(own, target)| {
            let Fact::Link(name) = own else { return None };
            let rest = without_dot(path).strip_prefix(without_dot(name))?;
            let joined = || [target.trim_end_matches('/'), rest].concat();
            let joined = (rest.is_empty() || rest.starts_with('/')).then(joined)?;
            Some(if joined.is_empty() { "/".to_owned() } else { joined })
        })
    }

    /// Returns a folder that a machine cannot do without, if a word can denote it whose text is not known beforehand.
    pub(crate) fn protected_folder(&mut self, word: &Word) -> Option<String> {
        let texts = match word.known {
            true => vec![word.text.clone()],
            false => Expander::new(self).texts(&word.text),
        };
        texts.iter().find_map(|text| self.protected_by(text, word))
    }

    fn protected_by(&self, text: &str, word: &Word) -> Option<String> {
        let is_tilde = text.starts_with('~') && (word.tilde || !word.known);
        if is_tilde && matches!(self.place(text, false, true), Some((Place::Home, false))) {
            return Some("/root".to_owned());
        }
        let root = [String::from("/")];
        let places = if text.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        places.iter().find_map(|place| {
            let path = self.folders.absolute(text, place)?;
            if protected(&path, self.folders).is_some() {
                return Some(path);
            }
            let is_glob = (word.glob || !word.known) && path.contains(['*', '?', '[']);
            let mut met = protected_folders(self.folders).filter(|_| is_glob);
            met.find(|(known, place)| *place != Place::Shared && can_meet(&path, false, known))
                .map(|(known, _)| known.to_owned())
        })
    }

    /// Returns what is left of a word without variables that nothing sets, if that is the root, a system folder or a home,
    /// or everything in one.
    pub(crate) fn place_without_unset(&mut self, raw: &str) -> Option<String> {
        if !raw.contains('/') {
            return None;
        }
        let texts = Expander::new(self).with_unset_empty().texts(raw);
        let is_place = |text: &String| {
            let place = self.place(text, text.contains('*'), true).map(|(place, _)| place);
            match place.filter(|_| text.starts_with(['/', '~'])) {
                Some(Place::Root) => true,
                // Folders such as `/opt`, and `$PREFIX/lib`, are too often those of a project.
                Some(Place::Shared) | None => false,
                Some(_) => {
                    let begin = raw.trim_start_matches('"');
                    ["/", "~", "$HOME", "${HOME}"].iter().any(|start| begin.starts_with(start))
                }
            }
        };
        texts.into_iter().find(is_place)
    }

    /// Expands words by the known values, possibly to more words.
    pub(crate) fn expanded<'w>(&mut self, words: &'w [Word]) -> Cow<'w, [Word]> {
        self.expanded_by(words, "")
    }

    /// Expands words, and splits what is not quoted at white space and at `marks`.
    pub(super) fn expanded_by<'w>(&mut self, words: &'w [Word], marks: &str) -> Cow<'w, [Word]> {
        if words.iter().all(|word| word.known) {
            return Cow::Borrowed(words);
        }
        let mut all = Vec::new();
        for word in words {
            if word.known {
                all.push(word.clone());
                continue;
            }
            let texts = Expander::new(self).texts(&word.text);
            if texts.is_empty() || word.text.contains('+') {
                let left = self.place_without_unset(&word.text);
                all.push(left.as_deref().map_or_else(|| word.clone(), expanded_word));
            }
            for text in texts {
                let is_quoted = word.text.starts_with('"')
                    || (word.text.starts_with("$'") && word.text.ends_with('\''));
                if !is_quoted || word.text.contains("[@]") || word.text.contains("$@") {
                    let is_end = |letter: char| letter.is_whitespace() || marks.contains(letter);
                    let parts = text.split(is_end).filter(|part| !part.is_empty());
                    all.extend(parts.map(expanded_word));
                } else {
                    all.push(expanded_word(&text));
                }
            }
        }
        Cow::Owned(all)
    }
}

/// Returns true if tests of `find` select only some of the files.
pub(crate) fn selects(words: &[Word]) -> bool {
    // Files that everything needs, as examples.
    const NEEDED: [&str; 6] =
        ["libc.so.6", "libc.so", "ld-linux-x86-64.so.2", "bash", "passwd", "shadow"];
    const FOLDERS_OF_NEEDED: &str = "usr lib lib64 usr/lib usr/lib64 bin usr/bin sbin usr/sbin etc";
    let is_folder_of_needed = |word: &Word| {
        word.text
            .strip_prefix('/')
            .is_some_and(|path| has_word(FOLDERS_OF_NEEDED, path.trim_matches('/')))
    };
    let searches_system =
        words.iter().take_while(|word| !word.text.starts_with('-')).any(is_folder_of_needed);
    let is_broad = |glob: &str| {
        glob.trim_matches(['*', '.', '/', '?']).is_empty()
            || searches_system
                && glob.contains(['*', '?'])
                && NEEDED.iter().any(|name| can_meet(glob, true, &literal(name)))
    };
    let is_negated = |at: usize| at > 0 && is_negation(&words[at - 1]);
    // Tests after the removal select nothing of it; with alternatives, the last one decides.
    let is_or = |word: &Word| matches!(word.text.as_str(), "-o" | "-or" | ",");
    let end = words.iter().position(|word| word.text == "-delete").unwrap_or(words.len());
    let begin = words[..end].iter().rposition(is_or).map_or(0, |at| at + 1);
    (begin..end).any(|at| {
        let test = words[at].text.as_str();
        let value = words.get(at + 1).map_or("", |word| word.text.as_str());
        let names = matches!(
            test,
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex"
        );
        let is_time = matches!(test, "-mtime" | "-atime" | "-ctime" | "-mmin" | "-amin" | "-newer");
        if is_time || is_negated(at) || (test == "-size" && value.starts_with("+0")) {
            return is_time;
        }
        (names && !is_broad(value))
            || matches!(
                test,
                "-inum"
                    | "-empty"
                    | "-samefile"
                    | "-size"
                    | "-user"
                    | "-nouser"
                    | "-nogroup"
                    | "-e"
                    | "--extension"
                    | "-xtype"
            )
    })
}

/// Returns a word as a shell expands it.
pub(crate) fn expanded_word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        shown: text.to_owned(),
        known: true,
        glob: text.contains(['*', '?', '[']),
        tilde: text.starts_with('~'),
        ..Word::default()
    }
}

/// Returns true if a glob matches nearly every name: it has a star, and no literal character.
fn stands_for_all(glob: &str) -> bool {
    // With a leading dot it matches all hidden files.
    let glob = glob.strip_prefix('.').unwrap_or(glob);
    let mut rest = glob;
    while let Some((before, list)) = rest.split_once('[') {
        let end = list.find(']').map_or(list.len(), |end| end + 1);
        if !before.bytes().all(|byte| matches!(byte, b'*' | b'?')) {
            return false;
        }
        rest = &list[end..];
    }
    glob.contains('*') && rest.bytes().all(|byte| matches!(byte, b'*' | b'?'))
}

/// Returns a path below the current folder without the name that `/proc` gives it: `/proc/self/cwd/..`.
fn of_current(path: &str) -> Cow<'_, str> {
    let rest = path.strip_prefix("/proc/").and_then(|rest| rest.split_once('/'));
    let rest = rest.and_then(|(_, rest)| rest.strip_prefix("cwd"));
    match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => Cow::Owned([".", rest].concat()),
        None => Cow::Borrowed(path),
    }
}
