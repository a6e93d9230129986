//! Records for the later parts of a command the values of variables and the content of files that it writes.

use std::rc::Rc;

use brush_parser::ast::{
    CommandPrefixOrSuffixItem as Item, FunctionDefinition, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, SimpleCommand,
};

use super::AnalyzedCommand;
use super::analyzer::Walker;
use super::destroying::destroying_commands::{
    FORKS, LOCAL_WRAPPERS, MAX_TAILS, is_same_path, is_shell_text,
};
use super::destroying::fork_bombs::starts_shells_again;
use super::expand::{Expander, MAX_BYTES, MAX_TEXTS};
use super::files::copied_files::operands_of_copy;
use super::printing::printed_text::formatted;
use super::program_names::{base, name_in_system};
use super::shells::is_of_same_language;
use super::word::Word;
use super::wrappers::shell_text;
use crate::permission::sensitive::is_startup;
use crate::util::words::has_word;

/// Maximum number of known texts, and maximum length of all in bytes. They are copied for each text that is read again.
const MAX_KNOWN: usize = 256;
const MAX_KNOWN_BYTES: usize = 32 * 1024;

/// The meaning of a text that the command itself makes known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fact {
    /// A value of the variable.
    Value(String),
    /// A value of a variable whose name is unknown.
    ValueOfAny,
    /// The variable that this one is another name of, by `declare -n`.
    SameAs(String),
    /// The text of the alias, or the program that a name or a file is.
    Alias(String),
    /// The target of the symbolic link.
    Link(String),
    /// The content of the file that the command wrote.
    Written(String),
}

/// Maximum number of functions, and of those that are searched for calls of another one.
const MAX_FUNCTIONS: usize = 64;
const MAX_CALLERS: usize = 8;

impl Walker<'_> {
    /// Records an assignment with its raw value.
    pub(super) fn remember(&mut self, name: &str, raw: &str) {
        if let Some(inner) = raw.strip_prefix("<(").and_then(|raw| raw.strip_suffix(')')) {
            // The name of a file with the output of a command.
            for text in Expander::new(self).output(inner).into_iter().flatten() {
                self.remember_as(Fact::Written(raw.to_owned()), &text);
            }
            return self.remember_value(name, raw);
        }
        let list = raw.strip_prefix('(').and_then(|raw| raw.strip_suffix(')'));
        let mut texts = Expander::new(self).texts(list.unwrap_or(raw));
        if let Some(name) = name.strip_suffix('+') {
            let before: Vec<String> = self.values_of(name).map(str::to_owned).collect();
            if before.is_empty() {
                texts.iter().for_each(|text| self.remember_value(name, text));
            }
            texts = before
                .iter()
                .flat_map(|before| texts.iter().map(move |text| [before.as_str(), text].concat()))
                .collect();
            texts.truncate(MAX_TEXTS);
            texts.iter().for_each(|text| self.remember_value(name, text));
            return;
        }
        texts.iter().for_each(|text| self.remember_value(name, text));
    }

    /// Records the values that a loop gives a variable: the words that a raw word becomes.
    pub(super) fn remember_each(&mut self, name: &str, raw: &str) {
        if !raw.contains(['$', '`']) || (raw.starts_with('"') && !raw.contains('@')) {
            return self.remember(name, raw);
        }
        let marks = self.separators();
        let is_end = |letter: char| letter.is_whitespace() || marks.contains(letter);
        for text in Expander::new(self).texts(raw) {
            for value in text.split(is_end).filter(|value| !value.is_empty()).take(MAX_TEXTS) {
                self.remember_value(name, value);
            }
        }
    }

    /// Records the assignments of a command: `export X=/`, `read x`, `set -- /`, `printf -v x /`, `sh -c '…' _ /`, and
    /// the arguments of a function that was defined before.
    pub(super) fn remember_words(&mut self, words: &[Word], read: &[String]) {
        let mut words = words;
        for _ in 0..MAX_TAILS {
            self.remember_command(words, read);
            // The same for the command after `sudo` and the like.
            words = match words {
                [name, rest @ ..] if has_word(LOCAL_WRAPPERS, &name.text) => rest,
                _ => return,
            };
        }
    }

    fn remember_command(&mut self, words: &[Word], read: &[String]) {
        let Some(name) = words.first() else { return };
        let base = &*base(&name.text);
        let is_function = self.is_function(&name.text);
        match base {
            "env" | "export" | "declare" | "typeset" | "local" | "readonly" | "sudo" => {
                self.remember_assigned(base, words)
            }
            "read" | "mapfile" | "readarray" => {
                let texts: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
                let words = self.expanded(words);
                for word in words[1..].iter().filter(|word| !word.text.starts_with('-')) {
                    for text in &texts {
                        self.remember_value(&word.text, text.trim_end());
                        let marks = self.separators();
                        let is_end =
                            |letter: char| letter.is_whitespace() || marks.contains(letter);
                        for value in
                            text.split(is_end).filter(|text| !text.is_empty()).take(MAX_TEXTS)
                        {
                            self.remember_value(&word.text, value);
                        }
                    }
                }
            }
            "printf" if words.len() > 3 && words[1].text == "-v" => {
                let value = formatted(&words[3..]);
                let name = words[2].text.split('[').next().unwrap_or_default();
                self.remember_value(name, &value);
            }
            "shift" => {
                for at in 1..9 {
                    let next = (at + 1).to_string();
                    for value in self.values_of(&next).map(str::to_owned).collect::<Vec<_>>() {
                        self.remember_value(&at.to_string(), &value);
                    }
                }
            }
            "alias" => {
                for (name, value) in words[1..].iter().filter_map(|word| word.text.split_once('='))
                {
                    self.remember_as(Fact::Alias(name.to_owned()), value);
                }
            }
            "hash" if words.len() > 3 && words[1].text == "-p" => {
                for name in &words[3..] {
                    self.remember_as(Fact::Alias(name.text.clone()), &words[2].text);
                }
            }
            "ln" | "cp" | "install" | "mv" => {
                let words = self.expanded(words).into_owned();
                if let [target, name] = operands_of_copy(base, &words[1..]).operands[..] {
                    if base == "ln" {
                        self.remember_as(Fact::Link(name.text.clone()), &target.text);
                    }
                    self.remember_program(&name.text, &target.text);
                }
            }
            "tee" => {
                let texts = read.iter().chain(&self.piped).cloned().collect::<Vec<_>>().concat();
                let is_append = words[1..].iter().any(|word| word.text == "-a");
                for word in words[1..].iter().filter(|word| !word.text.starts_with('-')) {
                    if self.is_overfull {
                        break;
                    }
                    self.remember_written(&word.text, &texts, is_append);
                }
            }
            "eval" => self.remember_evaluated(words),
            "set" | "setenv" | "foreach" => {
                self.remember_parameters(&words[1..], true);
                self.remember_of_other_shells(&words[1..]);
            }
            _ if is_of_same_language(base) => {
                let text = shell_text(words, |_| true);
                if let Some(name) = text.and_then(|at| words.get(at + 1)) {
                    self.remember_value("0", &name.text);
                }
                if let Some(at) = text.filter(|at| words.len() > at + 2) {
                    self.remember_parameters(&words[at + 2..], false);
                }
            }
            _ if is_function => self.remember_parameters(&words[1..], false),
            _ => {}
        }
    }

    /// Records the values that a builtin or a wrapper gives to variables.
    fn remember_assigned(&mut self, base: &str, words: &[Word]) {
        let sets = |at: &usize| words[*at].text.contains('=');
        // The text of a shell that it runs sets its own variables.
        let is_own = |at: &usize| !is_shell_text(words, *at);
        let is_name = words[1..]
            .iter()
            .any(|word| word.text.strip_prefix('-').is_some_and(|letters| letters.contains('n')))
            && matches!(base, "declare" | "typeset" | "local");
        for word in (1..words.len()).filter(sets).filter(is_own).map(|at| &words[at]) {
            if let Some((name, value)) = word.text.split_once('=') {
                if is_name {
                    self.remember_as(Fact::SameAs(name.to_owned()), value);
                }
                let names = match name.contains('$') {
                    true => Expander::new(self).texts(name),
                    false => vec![name.to_owned()],
                };
                let is_text = word.known && !value.starts_with('(');
                for name in &names {
                    match is_text {
                        true => self.remember_value(name, value),
                        false => self.remember(name, value),
                    }
                }
            }
        }
    }

    /// Records the assignments in the text of `eval`, whose names may be values of others: `eval "$x=/"`.
    fn remember_evaluated(&mut self, words: &[Word]) {
        let is_quote = |letter: char| matches!(letter, '"' | '\'');
        for word in words[1..].iter().filter(|word| !word.known) {
            let raw = word.text.trim_matches(is_quote);
            let Some((variable, value)) = raw.split_once('=') else { continue };
            let value = value.trim_matches(is_quote);
            if !variable.starts_with('$') || value.contains(['$', '`', ' ', ';']) {
                continue;
            }
            let names = Expander::new(self).texts(variable);
            if names.is_empty() {
                self.remember_as(Fact::ValueOfAny, value);
            }
            names.iter().for_each(|name| self.remember_value(name, value));
        }
    }

    /// Records the values of `set x /` of fish, and of `set x = (/ a)`, `setenv x /` and `foreach x (/ a)` of csh. The brackets
    /// are gone.
    fn remember_of_other_shells(&mut self, words: &[Word]) {
        match words {
            [name, values @ ..] if name.known && !values.is_empty() && values.len() < MAX_TAILS => {
                for value in values.iter().filter(|value| value.text != "=") {
                    self.remember(&name.text, &value.text);
                }
            }
            [word] => {
                if let Some((name, value)) = word.text.split_once('=') {
                    self.remember(name, value);
                }
            }
            _ => {}
        }
    }

    fn remember_parameters(&mut self, words: &[Word], is_set: bool) {
        let words = self.expanded(words);
        let is_end = |word: &Word| word.text == "--";
        let skipped = match words.iter().position(is_end).filter(|_| is_set) {
            Some(end) => end + 1,
            None => words.iter().take_while(|word| is_set && word.text.starts_with('-')).count(),
        };
        let words: Vec<&Word> = words.iter().skip(skipped).collect();
        for (at, word) in words.iter().enumerate().take(9) {
            self.remember_value(&(at + 1).to_string(), &word.text);
        }
        let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        for name in ["@", "*"] {
            self.remember_value(name, &all);
        }
    }

    /// Returns the texts that the command wrote into a file.
    pub(super) fn written_texts<'t>(&'t self, path: &str) -> impl Iterator<Item = &'t str> {
        let absolute = |path: &str| {
            let place = self.places.first().map_or("/", String::as_str);
            self.folders.absolute(path, place)
        };
        let whole = path.starts_with(['/', '~']).then(|| absolute(path)).flatten();
        let is_it = move |name: &str| {
            is_same_path(name, path)
                || whole.as_ref().is_some_and(|whole| absolute(name).as_ref() == Some(whole))
        };
        let texts: Vec<&str> = self
            .facts
            .iter()
            .filter(|(own, _)| matches!(own, Fact::Written(name) if is_it(name)))
            .map(|(_, text)| text.as_str())
            .collect();
        texts.into_iter()
    }

    /// Returns true for a program of the system, or a file that the command wrote.
    fn is_program(&self, path: &str) -> bool {
        name_in_system(path).is_some() || self.written_texts(path).next().is_some()
    }

    /// Records that a file is a copy of a program of the system, or of one that the command wrote.
    fn remember_program(&mut self, path: &str, program: &str) {
        for text in self.written_texts(program).map(str::to_owned).collect::<Vec<_>>() {
            self.remember_as(Fact::Written(path.to_owned()), &text);
        }
        if name_in_system(program).is_some() {
            self.remember_as(Fact::Alias(path.to_owned()), program);
        }
    }

    /// Records a function.
    pub(super) fn remember_function(&mut self, function: &FunctionDefinition) {
        match self.functions.len() < MAX_FUNCTIONS {
            true => self.functions.push(Rc::new(function.clone())),
            false => self.is_overfull = true,
        }
    }

    /// Returns the names of a function and of those that were defined before and call it, as it calls them.
    pub(super) fn calling_each_other(&self, function: &FunctionDefinition) -> Vec<String> {
        let name = &function.fname.value;
        let calls = |function: &FunctionDefinition| {
            let text = function.body.0.to_string();
            text.match_indices(name.as_str()).any(|(at, _)| {
                let before = text[..at].trim_end_matches(' ');
                let is_end = |letter: char| letter.is_whitespace() || ";|&)}".contains(letter);
                before.ends_with([';', '{', '(', '|', '&', '\n'])
                    && text[at + name.len()..].starts_with(is_end)
            })
        };
        let others = self.functions.iter().rev().take(MAX_CALLERS).filter(|other| calls(other));
        std::iter::once(name.clone()).chain(others.map(|other| other.fname.value.clone())).collect()
    }

    /// Returns the separators that the command itself gives words.
    pub(super) fn separators(&self) -> String {
        self.values_of("IFS").collect()
    }

    /// Returns the values that the command gives a variable.
    pub(super) fn values_of(&self, name: &str) -> impl Iterator<Item = &str> {
        let is_of_it = move |own: &Fact| matches!(own, Fact::Value(own) if own == name);
        self.facts.iter().filter(move |(own, _)| is_of_it(own)).map(|(_, value)| value.as_str())
    }

    /// Returns the variables that are the same as another one by `declare -n`.
    pub(super) fn other_names(&self, name: &str) -> Vec<String> {
        let other = |(own, target): &(Fact, String)| match own {
            Fact::SameAs(own) if own == name => Some(target.clone()),
            Fact::SameAs(own) => (target == name).then(|| own.clone()),
            _ => None,
        };
        self.facts.iter().filter_map(other).collect()
    }

    /// Records a value of a variable.
    pub(super) fn remember_value(&mut self, name: &str, value: &str) {
        self.remember_as(Fact::Value(name.to_owned()), value);
    }

    fn remember_as(&mut self, meaning: Fact, text: &str) {
        let is_known = || self.facts.iter().any(|(own, known)| *own == meaning && known == text);
        if text.len() > MAX_BYTES || is_known() {
            return;
        }
        let length: usize = self.facts.iter().map(|(_, text)| text.len()).sum();
        if self.facts.len() >= MAX_KNOWN || length + text.len() > MAX_KNOWN_BYTES {
            self.is_overfull = true;
            return;
        }
        self.facts.push((meaning, text.to_owned()));
    }

    /// Returns true if the command itself defines a function.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.fname.value == name)
    }

    /// Records the content that a command writes into a file, which may be run later.
    pub(super) fn remember_file(&mut self, simple: &SimpleCommand) {
        let files: Vec<(String, bool)> = simple
            .suffix
            .iter()
            .flat_map(|suffix| &suffix.0)
            .filter_map(|item| match item {
                Item::IoRedirect(IoRedirect::File(
                    _,
                    kind @ (IoFileRedirectKind::Write
                    | IoFileRedirectKind::Append
                    | IoFileRedirectKind::Clobber),
                    IoFileRedirectTarget::Filename(raw),
                )) => Some((raw.value.clone(), matches!(kind, IoFileRedirectKind::Append))),
                _ => None,
            })
            .collect();
        if files.is_empty() {
            return;
        }
        let words = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let sources: Vec<String> = words
            .filter_map(|item| match item {
                Item::Word(word) | Item::AssignmentWord(_, word) => Some(word.value.clone()),
                _ => None,
            })
            .collect();
        let sources: Vec<String> =
            sources.into_iter().take(MAX_TAILS).filter(|source| self.is_program(source)).collect();
        for (file, _) in &files {
            for source in &sources {
                self.remember_program(file, source);
            }
        }
        let Some(text) = self.simple_prints(simple) else { return };
        for (file, is_append) in files {
            self.remember_written(&file, &text, is_append);
        }
    }

    /// Records the content of a file, and reads it as a command if a shell, a login or a clock starts it.
    fn remember_written(&mut self, path: &str, text: &str, is_append: bool) {
        let is_it = |(own, _): &&mut (Fact, String)| matches!(own, Fact::Written(known) if is_same_path(known, path));
        match self.facts.iter_mut().rev().find(is_it).filter(|_| is_append) {
            Some((_, before)) if before.len() + text.len() <= MAX_BYTES => before.push_str(text),
            _ => self.remember_as(Fact::Written(path.to_owned()), text),
        }
        let is_run_later = ["/etc/cron", "/etc/profile", "/systemd/", ".git/hooks/", ".husky/"];
        if is_startup(path, false) || is_run_later.iter().any(|part| path.contains(part)) {
            // A line of a crontab begins with the times and the name of a user.
            let found: Vec<&'static str> =
                text.lines().flat_map(|line| self.line_destroys(line)).collect();
            let found = if starts_shells_again(text) { vec![FORKS] } else { found };
            if !found.is_empty() {
                let others = found.into_iter().map(str::to_owned).collect();
                self.push(AnalyzedCommand {
                    text: format!("> {path}"),
                    others,
                    ..AnalyzedCommand::default()
                });
            }
        }
    }

    fn line_destroys(&mut self, line: &str) -> Vec<&'static str> {
        let without_times = line.split_whitespace().skip(6).collect::<Vec<_>>().join(" ");
        let mut found = self.text_destroys(line);
        // A setting of a service: `ExecStart=x`.
        let value = line.split_once('=').map_or("", |(_, value)| value);
        found.extend(self.text_destroys(value));
        found.extend(self.text_destroys(&without_times));
        found
    }
}
