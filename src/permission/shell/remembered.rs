//! Records for the later parts of a command the values of variables and the content of files that it writes.

use brush_parser::ast::{
    CommandPrefixOrSuffixItem as Item, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
    SimpleCommand,
};

use super::Simple;
use super::analyzer::Walker;
use super::destroyers::{ALIAS, LINK, LOCAL_WRAPPERS, MAX_TAILS, WRITTEN};
use super::expand::{Expander, MAX_BYTES, MAX_TEXTS};
use super::printed::formatted;
use super::word::Word;
use crate::permission::sensitive::is_startup;

/// Maximum number of variables.
const MAX_VARIABLES: usize = 64;

impl Walker<'_> {
    /// Records an assignment with its raw value.
    pub(super) fn remember(&mut self, name: &str, raw: &str) {
        if self.variables.len() >= MAX_VARIABLES {
            return;
        }
        let list = raw.strip_prefix('(').and_then(|raw| raw.strip_suffix(')'));
        let mut texts = Expander::new(self).texts(list.unwrap_or(raw));
        if let Some(name) = name.strip_suffix('+') {
            let before: Vec<String> = self
                .variables
                .iter()
                .filter(|(own, _)| own == name)
                .map(|(_, value)| value.clone())
                .collect();
            texts = before
                .iter()
                .flat_map(|before| texts.iter().map(move |text| [before.as_str(), text].concat()))
                .collect();
            texts.truncate(MAX_TEXTS);
            self.variables.extend(texts.into_iter().map(|text| (name.to_owned(), text)));
            return;
        }
        self.variables.extend(texts.into_iter().map(|text| (name.to_owned(), text)));
    }

    /// Records the assignments of a command: `export X=/`, `read x`, `set -- /`, `printf -v x /`, `sh -c '…' _ /`, and
    /// the arguments of a function that was defined before.
    pub(super) fn remember_words(&mut self, words: &[Word], read: &[String]) {
        let mut words = words;
        for _ in 0..MAX_TAILS {
            self.remember_command(words, read);
            // The same for the command behind `sudo` and the like.
            words = match words {
                [name, rest @ ..] if LOCAL_WRAPPERS.contains(&name.text.as_str()) => rest,
                _ => return,
            };
        }
    }

    fn remember_command(&mut self, words: &[Word], read: &[String]) {
        let Some(name) = words.first() else { return };
        let base = name.text.rsplit('/').next().unwrap_or_default();
        let is_function = self.functions.iter().any(|function| function.fname.value == name.text);
        match base {
            "env" | "export" | "declare" | "typeset" | "local" | "readonly" | "sudo" => {
                for word in &words[1..] {
                    if let Some((name, value)) = word.text.split_once('=') {
                        match word.known {
                            true => self.remember_value(name, value),
                            false => self.remember(name, value),
                        }
                    }
                }
            }
            "read" => {
                let texts: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
                for word in words[1..].iter().filter(|word| !word.text.starts_with('-')) {
                    for text in &texts {
                        self.remember_value(&word.text, text.trim_end());
                        for value in text.split_whitespace().take(MAX_TEXTS) {
                            self.remember_value(&word.text, value);
                        }
                    }
                }
            }
            "printf" if words.len() > 3 && words[1].text == "-v" => {
                let value = formatted(&words[3..]);
                self.remember_value(&words[2].text, &value);
            }
            "alias" => {
                for (name, value) in words[1..].iter().filter_map(|word| word.text.split_once('='))
                {
                    self.remember_value(&[ALIAS, name].concat(), value);
                }
            }
            "ln" => {
                let operands = words[1..].iter().filter(|word| !word.text.starts_with('-'));
                if let [target, name] = operands.collect::<Vec<_>>()[..] {
                    self.remember_value(&[LINK, &name.text].concat(), &target.text);
                }
            }
            "tee" => {
                let texts = read.iter().chain(&self.piped).cloned().collect::<Vec<_>>().concat();
                for word in words[1..].iter().filter(|word| !word.text.starts_with('-')) {
                    self.remember_written(&word.text, &texts);
                }
            }
            "set" => self.remember_parameters(&words[1..], true),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => {
                let at = words
                    .iter()
                    .position(|word| word.text.starts_with('-') && word.text.ends_with('c'));
                if let Some(name) = at.and_then(|at| words.get(at + 2)) {
                    self.remember_value("0", &name.text);
                }
                if let Some(at) = at.filter(|at| words.len() > at + 3) {
                    self.remember_parameters(&words[at + 3..], false);
                }
            }
            _ if is_function => self.remember_parameters(&words[1..], false),
            _ => {}
        }
    }

    fn remember_parameters(&mut self, words: &[Word], is_set: bool) {
        let words = self.expanded(words);
        let words: Vec<&Word> =
            words.iter().skip_while(|word| is_set && word.text.starts_with('-')).collect();
        for (at, word) in words.iter().enumerate().take(9) {
            self.remember_value(&(at + 1).to_string(), &word.text);
        }
        let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        for name in ["@", "*"] {
            self.remember_value(name, &all);
        }
    }

    /// Returns the values that the command gives a variable.
    pub(super) fn values_of(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_it = self.variables.iter().filter(move |(own, _)| own == name);
        of_it.map(|(_, value)| value.as_str())
    }

    /// Records a known value.
    pub(super) fn remember_value(&mut self, name: &str, value: &str) {
        if self.variables.len() < MAX_VARIABLES && value.len() <= MAX_BYTES {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Records the content that a command writes into a file, which may be run later.
    pub(super) fn remember_file(&mut self, simple: &SimpleCommand) {
        let files: Vec<String> = simple
            .suffix
            .iter()
            .flat_map(|suffix| &suffix.0)
            .filter_map(|item| match item {
                Item::IoRedirect(IoRedirect::File(
                    _,
                    IoFileRedirectKind::Write | IoFileRedirectKind::Append,
                    IoFileRedirectTarget::Filename(raw),
                )) => Some(raw.value.clone()),
                _ => None,
            })
            .collect();
        if files.is_empty() {
            return;
        }
        let Some(text) = self.simple_prints(simple) else { return };
        for file in files {
            self.remember_written(&file, &text);
        }
    }

    /// Records the content of a file, and reads it as a command if a shell, a login or a clock starts it.
    fn remember_written(&mut self, path: &str, text: &str) {
        self.remember_value(&[WRITTEN, path].concat(), text);
        if is_startup(path, false) || path.contains("/etc/cron") || path.contains("/etc/profile") {
            // A line of a crontab begins with the times and the name of a user.
            let found: Vec<&'static str> =
                text.lines().flat_map(|line| self.line_destroys(line)).collect();
            if !found.is_empty() {
                let others = found.into_iter().map(str::to_owned).collect();
                self.push(Simple { text: format!("> {path}"), others, ..Simple::default() });
            }
        }
    }

    fn line_destroys(&mut self, line: &str) -> Vec<&'static str> {
        let without_times = line.split_whitespace().skip(6).collect::<Vec<_>>().join(" ");
        let mut found = self.text_destroys(line);
        found.extend(self.text_destroys(&without_times));
        found
    }
}
