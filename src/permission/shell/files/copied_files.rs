//! Files that a command copies, moves or links into a folder: `cp x/a d` writes `d/a` if `d` is a folder.

use crate::permission::Domain;
use crate::permission::shell::FileUse;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::git::git_commands;
use crate::permission::shell::programs::{Kind, Program};
use crate::permission::shell::word::Word;

/// Maximum number of words of a command of which the names in their folder are judged.
const MAX_SOURCES: usize = 1000;

/// A file that a command puts into a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CopiedFile {
    /// Normalized path of what is copied; with wildcards if its name has some.
    pub from: String,
    /// Normalized path of the destination.
    pub folder: String,
    /// The file in that folder.
    pub file: FileUse,
    /// True if the destination must be a folder for the command to work.
    pub is_folder: bool,
}

/// Sources and destination of a command that copies.
struct Copy<'w> {
    sources: Vec<&'w Word>,
    folder: Word,
    is_folder: bool,
    /// True if the path of a source is kept below the folder.
    keeps_path: bool,
    /// True if a slash at the end of a source means all that is in it.
    slash_is_content: bool,
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
        let Some(copy) = copy_of(base, program, words, operands) else { return };
        if !copy.folder.known || copy.folder.glob {
            return;
        }
        let into = copy.folder.text.trim_end_matches('/');
        for source in copy.sources.iter().take(MAX_SOURCES).filter(|source| source.known) {
            let is_content = is_content(&source.text, copy.slash_is_content);
            let name = name_in_folder(&source.text, copy.keeps_path);
            let (from, name) = match is_content {
                true => (Word { text: format!("{}/*", source.text), ..(*source).clone() }, "*"),
                false => ((*source).clone(), name),
            };
            let glob = source.glob || is_content;
            let to = Word { text: format!("{into}/{name}"), glob, ..copy.folder.clone() };
            let sources = self.paths_of(&from);
            let folders = self.paths_of(&copy.folder);
            let files = self.paths_of(&to);
            for (at, (folder, file)) in folders.into_iter().zip(files).enumerate() {
                let Some(from) = sources.get(at).or(sources.last()) else { continue };
                let is_below =
                    |one: &FileUse| one.domain == Domain::Edit && is_in(&one.path, &folder.path);
                let is_folder = copy.is_folder || self.out.files.iter().any(is_below);
                let from = from.path.clone();
                self.out.copied.push(CopiedFile { from, folder: folder.path, file, is_folder });
            }
        }
    }

    /// Returns the files that a word may denote, in the order of the folders in which the command may run.
    fn paths_of(&mut self, word: &Word) -> Vec<FileUse> {
        let before = self.files_len();
        let _ = self.file(Domain::Edit, word);
        self.out.files.drain(before..).collect()
    }
}

/// Returns true if a path is a folder or something in it.
pub(crate) fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true if not a source itself is copied, but all that is in it.
fn is_content(source: &str, slash_is_content: bool) -> bool {
    let last = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    matches!(last, "" | "." | "..") || slash_is_content && source.ends_with('/')
}

/// Returns the name that a source gets in the folder.
fn name_in_folder(source: &str, keeps_path: bool) -> &str {
    let trimmed = source.trim_end_matches('/');
    match keeps_path {
        true => trimmed.trim_start_matches('/'),
        false => trimmed.rsplit('/').next().unwrap_or_default(),
    }
}

fn copy_of<'w>(
    base: &str,
    program: Option<&Program>,
    words: &'w [Word],
    operands: &[usize],
) -> Option<Copy<'w>> {
    let program = program?;
    let rest = words.get(1..)?;
    let has = |long: &str| rest.iter().any(|word| word.text == long);
    match program.kind {
        Kind::Copier | Kind::Mover => {
            if has("--no-target-directory") || rest.iter().any(|word| word.has_letter('T')) {
                return None;
            }
            let (mut sources, told) = operands_of_copy(base, rest);
            let (folder, is_folder) = match told {
                Some(folder) => (folder, true),
                // A link gets the name of its target.
                None if base == "ln" && sources.len() == 1 => (Word::plain("."), true),
                None => last_of(&mut sources)?,
            };
            Some(Copy {
                sources,
                folder,
                is_folder,
                keeps_path: has("--parents"),
                slash_is_content: false,
            })
        }
        Kind::Git => {
            let at = git_commands::command_at(words);
            if words.get(at)?.text != "mv" {
                return None;
            }
            let is_operand = |word: &&Word| !word.text.starts_with('-');
            let mut sources: Vec<&Word> = words[at + 1..].iter().filter(is_operand).collect();
            let (folder, is_folder) = last_of(&mut sources)?;
            Some(Copy { sources, folder, is_folder, keeps_path: false, slash_is_content: false })
        }
        _ if program.copies => {
            let mut sources: Vec<&Word> = operands.iter().map(|at| &words[*at]).collect();
            let (folder, is_folder) = last_of(&mut sources)?;
            let is_rsync = base == "rsync";
            let keeps_path =
                is_rsync && (has("--relative") || rest.iter().any(|word| word.has_letter('R')));
            Some(Copy { sources, folder, is_folder, keeps_path, slash_is_content: is_rsync })
        }
        _ => None,
    }
}

/// Takes the destination from the operands of a command, and returns whether it must be a folder.
fn last_of(operands: &mut Vec<&Word>) -> Option<(Word, bool)> {
    let folder = operands.pop().filter(|_| !operands.is_empty())?.clone();
    let name = folder.text.rsplit('/').next().unwrap_or_default();
    let is_folder = operands.len() > 1 || matches!(name, "" | "." | ".." | "~");
    Some((folder, is_folder))
}

/// Returns the operands of a program that copies, without the values of its options, and the folder that an option names.
pub(crate) fn operands_of_copy<'w>(base: &str, words: &'w [Word]) -> (Vec<&'w Word>, Option<Word>) {
    let valued = if base == "install" { "tSmog" } else { "tS" };
    let is_valued = |long: &str| matches!(long, "mode" | "owner" | "group" | "suffix");
    let mut operands = Vec::new();
    let mut folder = None;
    let mut rest = words.iter();
    let mut has_options = true;
    while let Some(word) = rest.next() {
        let is_option = has_options && word.text.len() > 1 && word.text.starts_with('-');
        if !is_option {
            operands.push(word);
            continue;
        }
        if word.text == "--" {
            has_options = false;
            continue;
        }
        let (is_folder, value) = match word.text.strip_prefix("--") {
            Some(long) => {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let is_folder = name.starts_with('t') && "target-directory".starts_with(name);
                if !is_folder && !is_valued(name) {
                    continue;
                }
                (is_folder, value)
            }
            None => {
                let (letters, value) = word.option_letters(valued);
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
            folder = value;
        }
    }
    (operands, folder)
}
