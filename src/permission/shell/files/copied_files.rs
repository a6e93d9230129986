//! Files that a command copies, moves, links or downloads into a folder: `cp x/a d` writes `d/a` if `d` is a folder.

use std::collections::BTreeSet;

use crate::permission::Domain;
use crate::permission::glob_overlap::WILDCARDS;
use crate::permission::paths::is_in;
use crate::permission::shell::FileUse;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::container_paths::has_containers;
use crate::permission::shell::files::whole_folders::values_of;
use crate::permission::shell::git::git_commands;
use crate::permission::shell::options::is_local;
use crate::permission::shell::programs::{Kind, Program};
use crate::permission::shell::word::Word;
use crate::util::words::has_word;

/// A source of a command that copies, and the folder that it may be put into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    pub source: Source,
    /// Path of the destination with every `..` as written; with wildcards if `is_glob`.
    pub to: String,
    pub is_glob: bool,
    /// True if the destination must be a folder for the command to work.
    pub is_folder: bool,
    /// True if folders are copied with all that is in them.
    pub is_recursive: bool,
    /// Globs of what is left out.
    pub without: Vec<String>,
}

/// A source of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The name that a file gets in the folder, and where it is on this machine.
    Named { name: String, from: Option<String> },
    /// The names in a folder that a pattern matches; without one, all that is in it.
    Names { folder: String, pattern: Option<String> },
}

/// A command that copies.
struct Copying<'w> {
    sources: Vec<&'w Word>,
    folder: Word,
    is_folder: bool,
    /// True if the destination is the file itself, never a folder.
    is_file: bool,
    is_recursive: bool,
    /// True if the path of a source is kept below the folder.
    keeps_path: bool,
    /// True if a slash at the end of a source means all that is in it.
    slash_is_content: bool,
    /// True if sources can be on another machine: `host:path`.
    has_hosts: bool,
    without: Vec<String>,
}

impl<'w> Copying<'w> {
    /// Copies into the last operand.
    fn into_last(mut sources: Vec<&'w Word>) -> Option<Self> {
        let folder = sources.pop().filter(|_| !sources.is_empty())?;
        Some(Copying { is_folder: sources.len() > 1, ..Copying::into(sources, folder.clone()) })
    }

    fn into(sources: Vec<&'w Word>, folder: Word) -> Self {
        Copying {
            sources,
            folder,
            is_folder: true,
            is_file: false,
            is_recursive: true,
            keeps_path: false,
            slash_is_content: false,
            has_hosts: false,
            without: Vec::new(),
        }
    }
}

impl Walker<'_> {
    /// Adds the files that a command puts into a folder.
    pub(crate) fn copied_files(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        let Some(copying) = copying_of(base, program, words, operands) else { return };
        let is_container = has_containers(base) || has_word(OF_STORES, base);
        let is_elsewhere = |text: &str| !is_local(text) || is_container && text.contains(':');
        if !copying.folder.known || copying.has_hosts && is_elsewhere(&copying.folder.text) {
            return;
        }
        let is_dots = |text: &str| matches!(text.rsplit('/').next(), Some("" | "." | ".." | "~"));
        let mut is_folder = copying.is_folder || is_dots(&copying.folder.text);
        let folders = self.folders_of(&copying.folder);
        let mut sources: Vec<Source> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for word in &copying.sources {
            if seen.insert(&word.text) {
                self.add_sources(word, &copying, &mut sources);
            }
            is_folder |= copying.slash_is_content && word.text.ends_with('/');
        }
        for folder in folders {
            let is_below =
                |one: &FileUse| one.domain == Domain::Edit && is_in(&one.path, &folder.path);
            let is_folder = is_folder || self.out.files.iter().any(is_below);
            self.out.copied.extend(sources.iter().map(|source| Copied {
                source: source.clone(),
                to: folder.written.clone(),
                is_glob: folder.glob,
                is_folder: is_folder && !copying.is_file,
                is_recursive: copying.is_recursive,
                without: copying.without.clone(),
            }));
        }
    }

    /// Adds what a word of a command that copies denotes.
    fn add_sources(&mut self, word: &Word, copying: &Copying<'_>, found: &mut Vec<Source>) {
        let text = &*word.text;
        let remote = copying.has_hosts && !is_local(text);
        let path = if remote { text.rsplit(':').next().unwrap_or(text) } else { text };
        let trimmed = path.trim_end_matches('/');
        let (above, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
        let is_content = matches!(name, "" | "." | "..")
            || copying.slash_is_content && path.ends_with('/')
            || copying.is_file;
        let is_known = word.known && !remote;
        if !is_known && (!is_plain_name(name) || is_content) {
            return;
        }
        let at = |walker: &mut Self, text: &str| {
            let word = Word { text: text.to_owned(), ..word.clone() };
            if is_known { walker.folders_of(&word) } else { Vec::new() }
        };
        if is_content {
            for FileUse { written: folder, .. } in at(self, text) {
                found.push(Source::Names { folder, pattern: None });
            }
            return;
        }
        if copying.keeps_path {
            // The part before `/./` is left out.
            let kept = trimmed.rsplit("/./").next().unwrap_or(trimmed).trim_start_matches('/');
            found.push(Source::Named { name: kept.to_owned(), from: None });
        }
        if word.glob && name.contains(WILDCARDS) {
            let above = if above.is_empty() { "/" } else { above };
            for FileUse { written: folder, .. } in at(self, above) {
                found.push(Source::Names { folder, pattern: Some(name.to_owned()) });
            }
            return;
        }
        let from = at(self, text).pop().map(|file| file.written);
        found.push(Source::Named { name: name.to_owned(), from });
    }

    /// Returns the places that a word may denote, also through the links that the command itself makes.
    fn folders_of(&mut self, word: &Word) -> Vec<FileUse> {
        let before = self.files_len();
        let _ = self.file(Domain::Read, word);
        self.out.files.drain(before..).collect()
    }
}

/// Returns true for a name without anything that a shell may replace.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

/// Programs with `cp` or the like that bring files from other machines.
const OF_STORES: &str = "aws gsutil gcloud rclone s3cmd mc";

fn copying_of<'w>(
    base: &str,
    program: Option<&Program>,
    words: &'w [Word],
    operands: &[usize],
) -> Option<Copying<'w>> {
    let rest = words.get(1..)?;
    let has = |long: &str| rest.iter().any(|word| word.text == long);
    let own = || operands.iter().map(|at| &words[*at]);
    match program.map(|program| program.kind) {
        Some(Kind::Copier | Kind::Mover) => copying_of_coreutils(base, rest),
        Some(Kind::Git) => {
            let at = git_commands::command_at(words);
            let moves = words.get(at)?.text == "mv";
            let is_operand = |word: &&Word| !word.text.starts_with('-');
            moves
                .then(|| Copying::into_last(words[at + 1..].iter().filter(is_operand).collect()))?
        }
        _ if program.is_some_and(|program| program.copies) => {
            let copying = Copying::into_last(own().collect())?;
            if base != "rsync" {
                return Some(Copying { has_hosts: true, ..copying });
            }
            let Rsync { is_dry_run, without } = rsync(rest);
            if is_dry_run {
                return None;
            }
            let keeps_path = has("--relative") || rest.iter().any(|word| word.has_letter('R'));
            let (slash_is_content, has_hosts) = (true, true);
            Some(Copying { keeps_path, slash_is_content, has_hosts, without, ..copying })
        }
        _ if has_containers(base) || has_word(OF_STORES, base) => {
            let copies = |word: &Word| matches!(&*word.text, "cp" | "copy" | "copyto" | "get");
            let at = own().take(3).position(copies)?;
            let copying = Copying::into_last(own().skip(at + 1).collect())?;
            Some(Copying { has_hosts: true, ..copying })
        }
        _ if matches!(base, "curl" | "wget" | "wget2") => copying_of_download(base, rest),
        _ => None,
    }
}

/// Returns the files that a program downloads under the names in their addresses.
fn copying_of_download<'w>(base: &str, rest: &'w [Word]) -> Option<Copying<'w>> {
    let takes_name = |word: &Word| word.text.starts_with("--remote-name") || word.has_letter('O');
    if base == "curl" && !rest.iter().any(takes_name) {
        return None;
    }
    let option = if base == "curl" { "--output-dir" } else { "-P,--directory-prefix" };
    let folder = values_of(rest, option).pop().unwrap_or_else(|| Word::plain("."));
    let sources = rest.iter().filter(|word| word.text.contains("://")).collect();
    Some(Copying { has_hosts: true, is_recursive: false, ..Copying::into(sources, folder) })
}

/// Options of `rsync` that say what is copied.
#[derive(Default)]
struct Rsync {
    is_dry_run: bool,
    /// Globs of what is left out.
    without: Vec<String>,
}

/// Options of `rsync` without a value, beside those that begin with `--no-`.
const FLAGS_OF_RSYNC: &str = "--archive --verbose --recursive --relative --update --checksum --compress --delete --delete-before \
    --delete-during --delete-after --delete-excluded --stats --progress --partial --itemize-changes --human-readable --dry-run";

/// Reads the options of `rsync`. A word that may be the value of the option before it counts as none.
fn rsync(rest: &[Word]) -> Rsync {
    let mut found = Rsync::default();
    let mut has_filters = false;
    let mut before = "";
    for word in rest.iter().take_while(|word| word.text != "--") {
        let text = std::mem::take(&mut before);
        if text == "--exclude" {
            found.without.push(word.text.clone());
        }
        if !text.is_empty() {
            continue;
        }
        let text = &*word.text;
        let (letters, value) = word.option_letters("efTBM@");
        has_filters |= text.starts_with("--include")
            || text.starts_with("--filter")
            || letters.contains(['f', 'F', 'C']);
        if let Some(glob) = text.strip_prefix("--exclude=") {
            found.without.push(glob.to_owned());
        } else if text.starts_with("--no-") {
            found.is_dry_run &= !matches!(text, "--no-n" | "--no-dry-run");
        } else if text.starts_with("--") {
            found.is_dry_run |= text == "--dry-run";
            before = if text.contains('=') || has_word(FLAGS_OF_RSYNC, text) { "" } else { text };
        } else {
            found.is_dry_run |= letters.contains('n');
            before = if value == Some("") { text } else { "" };
        }
    }
    // The first of several rules for a name counts.
    if has_filters {
        found.without.clear();
    }
    found
}

fn copying_of_coreutils<'w>(base: &str, rest: &'w [Word]) -> Option<Copying<'w>> {
    let CopyOperands { operands, folder, is_file, letters, long } = operands_of_copy(base, rest);
    let base = base.strip_prefix('g').unwrap_or(base);
    let copying = match folder {
        Some(folder) => Copying::into(operands, folder),
        // A link gets the name of its target.
        None if base == "ln" && operands.len() == 1 => Copying::into(operands, Word::plain(".")),
        None => Copying::into_last(operands)?,
    };
    let is_recursive = match base {
        "mv" => true,
        "cp" => {
            letters.contains(['r', 'R', 'a'])
                || long.iter().any(|name| {
                    is_short_of(name, "recursive", 1) || is_short_of(name, "archive", 2)
                })
        }
        _ => false,
    };
    let keeps_path = base == "cp" && long.iter().any(|name| is_short_of(name, "parents", 2));
    // Without folders, the file that the destination names is judged by its name alone.
    (!is_file || is_recursive).then_some(Copying { is_file, is_recursive, keeps_path, ..copying })
}

/// Returns true if a long option is another, as short as it may be written.
fn is_short_of(name: &str, long: &str, min: usize) -> bool {
    name.len() >= min && long.starts_with(name)
}

/// The arguments of a program that copies.
#[derive(Debug, Default)]
pub(crate) struct CopyOperands<'w> {
    /// Those that are no options, and no values of options.
    pub operands: Vec<&'w Word>,
    /// The folder that an option names.
    folder: Option<Word>,
    /// True if an option says that the destination is no folder.
    is_file: bool,
    /// The letters of short options, and the long ones without their dashes.
    letters: String,
    long: Vec<&'w str>,
}

/// Returns the arguments of `cp`, `ln`, `install` or `mv`.
pub(crate) fn operands_of_copy<'w>(base: &str, words: &'w [Word]) -> CopyOperands<'w> {
    let valued = if base.ends_with("install") { "tSmog" } else { "tS" };
    let mut found = CopyOperands::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.text == "--" {
            found.operands.extend(rest);
            break;
        }
        if word.text.len() < 2 || !word.text.starts_with('-') {
            found.operands.push(word);
            continue;
        }
        let (is_folder, value) = match word.text.strip_prefix("--") {
            Some(long) => {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                found.is_file |= is_short_of(name, "no-target-directory", 4);
                found.long.push(name);
                let is_folder = is_short_of(name, "target-directory", 1);
                if !is_folder && !matches!(name, "mode" | "owner" | "group" | "suffix") {
                    continue;
                }
                (is_folder, value)
            }
            None => {
                let (letters, value) = word.option_letters(valued);
                found.is_file |= letters.contains('T');
                found.letters.push_str(letters);
                let Some(letter) = letters.chars().next_back().filter(|it| valued.contains(*it))
                else {
                    continue;
                };
                (letter == 't', value.filter(|value| !value.is_empty()))
            }
        };
        let value = match value {
            Some(value) => Some(Word { text: value.to_owned(), ..word.clone() }),
            None => rest.next().cloned(),
        };
        if is_folder {
            found.folder = value;
        }
    }
    found
}
