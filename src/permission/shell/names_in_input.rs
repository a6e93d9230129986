//! Names of files and arguments that a program reads from its input or from a list.

use super::analyzer::Walker;
use super::destroying::destroying_commands::MAX_TAILS;
use super::program_names::base;
use super::word::Word;
use super::{AnalyzedCommand, Concern};
use crate::permission::Domain;

impl Walker<'_> {
    /// Judges the files whose names a program reads from its input: `tar -T -`, `cpio -o`.
    pub(super) fn names_in_input(
        &mut self,
        texts: &[String],
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        let name = base(&words[0].text);
        if reads_list(&name, words) {
            command.concerns.push(Concern::always("further arguments come from what it reads"));
        }
        if !self.has_input || !reads_names(&name, words) {
            return;
        }
        let texts: Vec<String> = texts.iter().chain(&self.piped).cloned().collect();
        // A list of what is in a folder has wildcards. `parallel` may run a program that reads no files.
        if (texts.is_empty() && name != "parallel") || texts.iter().any(|text| text.contains('*')) {
            command
                .concerns
                .push(Concern::always("names of further files come from what it reads"));
        }
        // Git is given names of objects: `HEAD:x`, with a command before them or without.
        let is_git = name == "git";
        for name in texts.iter().flat_map(|text| text.split(['\n', '\0'])) {
            let name =
                if is_git { name.rsplit([':', ' ']).next().unwrap_or_default() } else { name };
            if !name.is_empty() {
                command.concerns.extend(self.file(Domain::Read, &Word::plain(name)));
            }
        }
    }
}

/// Returns true if a program reads the names of its files from its input.
fn reads_names(name: &str, words: &[Word]) -> bool {
    let mut before = "";
    words[1..].iter().take(MAX_TAILS).any(|word| {
        let text = word.text.as_str();
        let is_input = matches!(text, "-" | "/dev/stdin");
        let last = std::mem::replace(&mut before, text);
        match name {
            "cpio" | "pax" => {
                text.starts_with("-o")
                    || text.starts_with("-p")
                    || text.starts_with("-w")
                    || matches!(text, "--create" | "--pass-through")
            }
            "tar" | "bsdtar" | "gtar" => {
                matches!(
                    text,
                    "-T-" | "--files-from=-" | "--files-from=/dev/stdin" | "-T/dev/stdin"
                ) || (is_input
                    && (last == "--files-from" || (!last.starts_with("--") && last.ends_with('T'))))
            }
            "rsync" => text == "--files-from=-" || (is_input && last == "--files-from"),
            "zip" => text == "-@",
            "git" => {
                matches!(
                    text,
                    "--batch" | "--batch-command" | "--stdin-paths" | "--pathspec-from-file=-"
                ) || ["--batch=", "--batch-command="].iter().any(|start| text.starts_with(start))
                    || (is_input && last == "--pathspec-from-file")
            }
            "parallel" => {
                !words.iter().any(|word| word.text.starts_with(":::") || word.text == "-a")
            }
            _ => text == "@/dev/stdin",
        }
    })
}

/// Returns true if the arguments of the command that a program runs come from a file: `xargs -a x`.
fn reads_list(name: &str, words: &[Word]) -> bool {
    let is_value = |text: &str| text == "{}" || text.bytes().all(|byte| byte.is_ascii_digit());
    let texts = words[1..].iter().map(|word| word.text.as_str());
    let is_list = |(at, text): (usize, &str)| {
        let is_input = |value: &str| matches!(value, "-" | "/dev/stdin" | "");
        let next = words.get(at + 2).map_or("-", |next| next.text.as_str());
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match text.strip_prefix("--files-from") {
            Some("") => !is_input(next),
            Some(value) => !is_input(value.trim_start_matches('=')),
            None => letters
                .filter(|_| name != "rsync")
                .and_then(|letters| letters.split_once('T'))
                .is_some_and(|(_, value)| !is_input(if value.is_empty() { next } else { value })),
        }
    };
    if matches!(name, "sort" | "wc" | "du") {
        return words[1..].iter().any(|word| word.text.starts_with("--files0-from"));
    }
    if matches!(name, "tar" | "gtar" | "bsdtar" | "rsync") {
        return texts.enumerate().take(MAX_TAILS).any(is_list);
    }
    let mut own = words[1..].iter().map(|word| word.text.as_str());
    let mut own = own.by_ref().take_while(|text| text.starts_with('-') || is_value(text));
    matches!(name, "xargs" | "gxargs" | "parallel")
        && own.any(|text| {
            text.starts_with("--arg-file") || (text.starts_with("-a") && !text.starts_with("--"))
        })
}
