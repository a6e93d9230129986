//! Searches that destroy what they find: `find` and `fd` with their own options, and with the commands that they run.

use super::destroyed_places::{expanded_word, selects};
use super::destroyer_names::{REMOVERS, RIGHTS};
use super::destroying_commands::{KEYWORDS, MAX_TAILS, REMOVES_ROOT, WRITES_SYSTEM};
use super::destroying_programs::has_any;
use crate::permission::places::Place;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::code::code_text::tokens;
use crate::permission::shell::program_names::base;
use crate::permission::shell::programs;
use crate::permission::shell::shells::runs_texts;
use crate::permission::shell::word::Word;
use crate::util::words::has_word;

/// Returns true for a program that searches for files and can run commands for them.
pub(super) fn is_search(base: &str) -> bool {
    matches!(base, "find" | "gfind" | "bfs" | "fd" | "fdfind")
}

/// Returns true for an option that a command follows.
fn runs(word: &Word) -> bool {
    matches!(
        word.text.as_str(),
        "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
    )
}

/// Returns what follows each redirection of the output in a script of a shell.
fn redirections(script: &str) -> Vec<&str> {
    let mut open = None;
    let mut found = Vec::new();
    let mut letters = script.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (open, letter) {
            (None | Some('"'), '\\') => {
                letters.next();
            }
            (None, '"' | '\'') => open = Some(letter),
            (Some(quote), _) if quote == letter => open = None,
            (None, '>') if !script[at + 1..].starts_with('>') => {
                found.push(script[at + 1..].trim_start_matches(['|', ' ', '"', '\'']));
            }
            _ => {}
        }
    }
    found
}

/// Returns true if a script writes to the files that are its arguments, or removes them.
fn changes_given(script: &str, is_of_shell: bool) -> bool {
    const REMOVE: &str = "unlink unlinkSync remove rm shred truncate rmSync rmtree";
    let gives = ["$", "argv", "ARGV"].iter().any(|given| script.contains(given));
    gives
        && (is_of_shell && redirections(script).iter().any(|file| file.starts_with('$'))
            || tokens(script, false).iter().any(|token| has_word(REMOVE, token)))
}

/// Returns the folders that a search begins in.
fn roots<'w>(base: &str, rest: &'w [Word]) -> Vec<&'w Word> {
    let is_fd = base.starts_with("fd");
    let end = rest.iter().position(runs).unwrap_or(rest.len());
    let roots = rest[..end].iter().take_while(|word| {
        is_fd
            || !word.text.starts_with(['(', '!'])
                && (!word.text.starts_with('-') || word.text.len() == 2)
    });
    roots.filter(|word| !word.text.starts_with('-')).collect()
}

/// Returns true if a command removes its arguments, also one that runs another or the text of a shell.
fn runs_remover(command: &[Word]) -> bool {
    let runs_others = command.first().is_some_and(|name| {
        programs::find(&base(&name.text)).is_none_or(|program| program.kind.runs_arguments())
    });
    let count = if runs_others { MAX_TAILS } else { 1 };
    command.iter().take(count).any(|word| {
        has_word(REMOVERS, &base(&word.text))
            || word.text.contains(' ') && tokens(&word.text, false).contains(&"rm")
    })
}

impl Walker<'_> {
    /// Returns what the commands destroy that `find` runs, whatever it finds.
    pub(super) fn destroys_found(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let starts = (0..rest.len()).filter(|at| runs(&rest[*at])).take(MAX_TAILS);
        // The arguments of the command after the tests select nothing.
        let tests = &rest[..rest.iter().position(runs).unwrap_or(rest.len())];
        let found = roots(base, rest).into_iter().filter(|_| !selects(tests));
        let everything = found
            .map(|root| expanded_word(&format!("{}/*", root.text.trim_end_matches('/'))))
            .take(MAX_TAILS);
        let everything: Vec<Word> = everything.collect();
        let root = everything.iter().find(|all| self.any_place(all).is_some());
        let root = root.or(everything.first());
        starts.filter_map(|at| rest.get(at + 1..)).find_map(|inner| {
            let is_end = |word: &Word| matches!(word.text.as_str(), ";" | "+");
            let end = inner.iter().position(is_end).unwrap_or(inner.len()).max(1);
            let name = self::base(&inner.first()?.text);
            // The commands that a search within a search runs are among the starts.
            if is_search(&name) {
                return self.finds_and_removes(&name, &inner[1..end]).then_some(REMOVES_ROOT);
            }
            let given = |word: &Word| match (word.text.contains("{}"), root) {
                (true, Some(root)) => expanded_word(&word.text.replace("{}", &root.text)),
                _ => word.clone(),
            };
            let mut words: Vec<Word> = inner[..end].iter().map(given).collect();
            // `fd` puts what it finds behind the command.
            if base.starts_with("fd") && !inner[..end].iter().any(|word| word.text.contains("{}")) {
                words.extend(root.cloned());
            }
            self.destroys_by(&name, &words, false)
                .or_else(|| self.script_changes_given(&words))
                .or_else(|| {
                    let scripts = inner[1..end].iter().filter(|word| word.text.contains(' '));
                    let root = root.filter(|root| self.any_place(root).is_some())?;
                    scripts.into_iter().find_map(|word| self.script_destroys(&word.text, root))
                })
        })
    }

    /// Returns what a script of a shell destroys where what a search found stands for `{}` and for its parameters.
    fn script_destroys(&self, script: &str, found: &Word) -> Option<&'static str> {
        let is_written = |file: &&str| {
            file.strip_prefix("{}").is_some_and(|rest| {
                !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '.')
            })
        };
        if redirections(script).iter().any(is_written) {
            return Some(WRITES_SYSTEM);
        }
        let is_home = matches!(self.any_place(found), Some((Place::Home | Place::Homes, _)));
        let pieces = script.split([';', '&', '|', '\n', '(', ')']).take(MAX_TAILS);
        pieces.into_iter().find_map(|piece| {
            let words = piece.split_whitespace().skip_while(|word| has_word(KEYWORDS, word));
            let words = words.map(|word| word.trim_matches(['"', '\''])).take(MAX_TAILS);
            let words: Vec<&str> = words.collect();
            // It only gets a longer name: `mv "$1" "$1.bak"`.
            if let ["mv", .., from, to] = *words
                && is_home
                && to.starts_with(from)
                && !from.is_empty()
            {
                return None;
            }
            let words = words.into_iter().map(|word| match word == "{}" || word.starts_with('$') {
                true => found.clone(),
                false => expanded_word(word),
            });
            let words: Vec<Word> = words.collect();
            self.destroys_by(&base(&words.first()?.text), &words, false)
        })
    }

    /// Returns what a script destroys, of a shell or another language, that writes to or removes what it is given.
    pub(super) fn script_changes_given(&self, words: &[Word]) -> Option<&'static str> {
        let is_of_shell = words.iter().any(|word| runs_texts(&base(&word.text)));
        let changes = |word: &Word| changes_given(&word.text, is_of_shell);
        let on_root = || words.iter().skip(1).any(|word| self.any_place(word).is_some());
        (words.iter().any(changes) && on_root()).then_some(WRITES_SYSTEM)
    }

    /// Returns true if `find` removes everything in a protected place.
    pub(super) fn finds_and_removes(&self, base: &str, rest: &[Word]) -> bool {
        let removes = rest.iter().any(|word| word.text == "-delete")
            || rest
                .iter()
                .enumerate()
                .any(|(at, word)| runs(word) && runs_remover(&rest[at + 1..]));
        if !removes {
            return false;
        }
        let selects = selects(rest);
        let roots = roots(base, rest);
        let here = Word::plain(".");
        let roots = if roots.is_empty() { vec![&here] } else { roots };
        // Links in a home are easily made again; the system needs its own.
        let end = rest.iter().position(|word| word.text == "-delete").unwrap_or(rest.len());
        let only_links = !has_any(rest, "! -not -o -or , -L -follow")
            && rest[..end].windows(2).any(|pair| pair[0].text == "-type" && pair[1].text == "l");
        roots.into_iter().any(|root| match self.any_place(root) {
            Some((Place::Root, _)) => true,
            Some((Place::Home | Place::Homes, _)) if only_links => false,
            Some(_) => !selects,
            None => false,
        })
    }

    /// Returns true if `find` changes permissions of everything in a protected place.
    pub(super) fn finds_and_changes(&self, rest: &[Word]) -> bool {
        let Some(at) = rest.iter().position(runs) else { return false };
        let inner = base(rest.get(at + 1).map_or("", |word| word.text.as_str()));
        if !has_word(RIGHTS, &inner) || selects(rest) {
            return false;
        }
        let given = |word: &Word| match word.text.as_str() {
            "{}" => expanded_word(&format!("{}/*", rest[0].text.trim_end_matches('/'))),
            _ => word.clone(),
        };
        let words: Vec<Word> = rest[at + 2..].iter().map(given).collect();
        self.changes_rights(&inner, &words)
    }
}
