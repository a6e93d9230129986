//! Expands words as far as the command itself determines their values. Expansions only add denials, so that a guess may
//! be wrong.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, SimpleCommand,
};

use super::analyzer::Walker;
use super::decode;
use super::destroyed_places::selects;
use super::destroyers::WRITTEN;
use super::programs::{self, Kind};
use super::sed_output;
use super::word::{self, Word};
use crate::permission::glob_overlap::can_meet;

/// Maximum number of values of one word.
const MAX_TEXTS: usize = 8;
/// Maximum length of a value in bytes.
const MAX_BYTES: usize = 4096;
/// Maximum number of variables.
const MAX_VARIABLES: usize = 64;

/// Programs whose output is known without their input.
const PRINTERS: [&str; 8] = ["echo", "printf", "yes", "pwd", "ls", "dir", "find", "gfind"];

/// Expands raw words.
pub(super) struct Expander<'w, 'a> {
    walker: &'w mut Walker<'a>,
    found: Vec<String>,
}

impl<'w, 'a> Expander<'w, 'a> {
    pub fn new(walker: &'w mut Walker<'a>) -> Self {
        Expander { walker, found: Vec::new() }
    }

    /// Returns the possible values of a raw word; none if it is unknown.
    pub fn texts(mut self, raw: &str) -> Vec<String> {
        if raw.len() > MAX_BYTES || self.walker.depth > 5 {
            return Vec::new();
        }
        if raw.is_empty() {
            return vec![String::new()];
        }
        for raw in braces(raw) {
            let values = self.word(&raw);
            self.found.extend(values);
        }
        self.found.truncate(MAX_TEXTS * 2);
        self.found
    }

    fn word(&mut self, raw: &str) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut rest = raw;
        let mut in_quotes = false;
        let put = |texts: &mut Vec<String>, text: &str| {
            texts.iter_mut().for_each(|one| one.push_str(text))
        };
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            rest = match letter {
                '"' => {
                    in_quotes = !in_quotes;
                    after
                }
                '\'' if !in_quotes => {
                    let end = after.find('\'').unwrap_or(after.len());
                    put(&mut texts, &after[..end]);
                    after.get(end + 1..).unwrap_or_default()
                }
                '\\' => {
                    let Some(next) = after.chars().next() else { return texts };
                    put(&mut texts, next.encode_utf8(&mut [0; 4]));
                    &after[next.len_utf8()..]
                }
                '$' if after.starts_with('\'') && !in_quotes => {
                    let (text, rest) = decoded(&after[1..]);
                    put(&mut texts, &text);
                    rest
                }
                '$' | '`' => {
                    let Some((values, behind)) = self.value(letter, after) else {
                        return Vec::new();
                    };
                    texts = texts
                        .iter()
                        .flat_map(|text| {
                            values.iter().map(move |value| [text, value.as_str()].concat())
                        })
                        .filter(|text| text.len() <= MAX_BYTES)
                        .take(MAX_TEXTS)
                        .collect();
                    behind
                }
                _ => {
                    put(&mut texts, letter.encode_utf8(&mut [0; 4]));
                    after
                }
            };
        }
        texts
    }

    /// Returns the values of the expansion after a dollar or a backquote, and the rest. `None` if they are unknown.
    fn value<'r>(&mut self, opener: char, after: &'r str) -> Option<(Vec<String>, &'r str)> {
        if opener == '`' {
            let end = after.find('`')?;
            let values = self.output(&after[..end])?;
            return Some((values, &after[end + 1..]));
        }
        if let Some(inner) = after.strip_prefix('(').filter(|inner| !inner.starts_with('(')) {
            let end = closing(inner, '(', ')')?;
            let values = self.output(&inner[..end])?;
            return Some((values, &inner[end + 1..]));
        }
        if let Some(inner) = after.strip_prefix('{') {
            let end = closing(inner, '{', '}')?;
            return Some((self.parameter(&inner[..end])?, &inner[end + 1..]));
        }
        let length = after
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(after.len());
        let first = after.chars().next()?;
        let length = match first {
            '0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-' => 1,
            _ if length == 0 => return Some((vec!["$".to_owned()], after)),
            _ => length,
        };
        let (name, rest) = after.split_at(length);
        Some((self.variable(name)?, rest))
    }

    /// Returns the values of the content of `${…}`.
    fn parameter(&mut self, inner: &str) -> Option<Vec<String>> {
        let inner = inner.strip_prefix('!').unwrap_or(inner);
        let length = inner
            .find(|letter: char| {
                !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '@' | '*')
            })
            .unwrap_or(inner.len());
        let (name, rest) = inner.split_at(length);
        let known = self.variable(name);
        let rest = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((_, rest)) => rest,
            None => rest,
        };
        if rest.is_empty() {
            return known;
        }
        let other = rest.strip_prefix(':').unwrap_or(rest);
        if let Some(value) = other.strip_prefix(['-', '=', '+']) {
            let mut all = known.unwrap_or_default();
            all.extend(self.word(value));
            return Some(all);
        }
        // The first character of a path.
        if rest == ":0:1" && matches!(name, "HOME" | "PWD" | "PATH" | "SHELL" | "OLDPWD" | "BASH") {
            return Some(vec!["/".to_owned()]);
        }
        let is_cut = rest.starts_with(['%', '#', ':', '/', ',', '^', '@']);
        known.filter(|_| is_cut)
    }

    fn variable(&self, name: &str) -> Option<Vec<String>> {
        let known: Vec<String> = self
            .walker
            .variables
            .iter()
            .filter(|(own, _)| own == name)
            .map(|(_, value)| value.clone())
            .collect();
        if !known.is_empty() {
            return Some(known);
        }
        match name {
            "HOME" => {
                Some(vec![self.walker.folders.home.clone().unwrap_or_else(|| "~".to_owned())])
            }
            "PWD" => Some(self.walker.places.clone()),
            _ => None,
        }
    }

    /// Returns the output of a command that only prints its arguments.
    fn output(&mut self, text: &str) -> Option<Vec<String>> {
        self.walker.left = self.walker.left.checked_sub(text.len())?;
        let program = self.walker.parse(text).ok()?;
        let outer = self.walker.piped.take();
        self.walker.depth += 1;
        let found = program
            .complete_commands
            .iter()
            .filter_map(|list| self.walker.printed(list))
            .collect::<Vec<_>>();
        self.walker.depth -= 1;
        self.walker.piped = outer;
        (!found.is_empty()).then(|| vec![found.join(" ").trim_end().to_owned()])
    }
}

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
                        for value in text.split_whitespace().take(MAX_TEXTS) {
                            self.remember_value(&word.text, value);
                        }
                    }
                }
            }
            "printf" if words.get(1).is_some_and(|word| word.text == "-v") => {
                let value = words.get(4).or(words.get(3)).map_or("", |word| word.text.as_str());
                if let Some(name) = words.get(2) {
                    self.remember_value(&name.text.clone(), value);
                }
            }
            "set" => self.remember_parameters(&words[1..], true),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => {
                let at = words
                    .iter()
                    .position(|word| word.text.starts_with('-') && word.text.ends_with('c'));
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

    /// Records a known value.
    pub(super) fn remember_value(&mut self, name: &str, value: &str) {
        if self.variables.len() < MAX_VARIABLES && value.len() <= MAX_BYTES {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Returns the output of a list of commands.
    pub(super) fn printed(&mut self, list: &CompoundList) -> Option<String> {
        let mut all = Vec::new();
        for item in &list.0 {
            let others = item.0.additional.iter().map(|next| match next {
                AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
            });
            let pipelines: Vec<&Pipeline> = std::iter::once(&item.0.first).chain(others).collect();
            for pipeline in pipelines {
                let outer = self.piped.clone();
                for command in &pipeline.seq {
                    self.piped = self.prints(command);
                }
                let printed = std::mem::replace(&mut self.piped, outer);
                all.extend(printed);
            }
        }
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Returns the output of a command, including input that it passes on.
    pub(super) fn prints(&mut self, command: &Command) -> Option<String> {
        match command {
            Command::Simple(simple) => self.simple_prints(simple),
            Command::Compound(CompoundCommand::BraceGroup(group), _) => self.printed(&group.list),
            Command::Compound(CompoundCommand::Subshell(shell), _) => self.printed(&shell.list),
            _ => None,
        }
    }

    fn simple_prints(&mut self, simple: &SimpleCommand) -> Option<String> {
        let raw = simple.word_or_name.as_ref()?.value.clone();
        // The output of most commands is unknown: their words need not be read again.
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let has_redirect = simple
            .suffix
            .iter()
            .flat_map(|suffix| &suffix.0)
            .any(|item| matches!(item, Item::IoRedirect(_) | Item::ProcessSubstitution(..)));
        let can_print = PRINTERS.contains(&raw.as_str()) || !raw.chars().all(is_name);
        if !can_print && !has_redirect && self.piped.is_none() {
            return None;
        }
        let mut words = vec![raw];
        let mut read = None;
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::Word(raw) | Item::AssignmentWord(_, raw) => words.push(raw.value.clone()),
                Item::IoRedirect(redirect) => read = self.read_by(redirect).or(read),
                Item::ProcessSubstitution(_, shell) => read = self.printed(&shell.list).or(read),
            }
        }
        let words: Vec<Word> = words
            .iter()
            .map(|raw| word::read(raw, self.home, &self.constants, &self.options))
            .collect();
        let words = self.expanded(&words);
        let name = words.first()?.text.rsplit('/').next().unwrap_or_default().to_owned();
        let texts = |from: usize| {
            let texts: Vec<&str> =
                words[from.min(words.len())..].iter().map(|word| word.text.as_str()).collect();
            texts.join(" ")
        };
        let read = read.or_else(|| self.piped.clone());
        match name.as_str() {
            "echo" => {
                let from = 1 + words[1..]
                    .iter()
                    .take_while(|word| {
                        matches!(word.text.as_str(), "-e" | "-n" | "-E" | "-en" | "-ne")
                    })
                    .count();
                Some(decoded_all(&texts(from)))
            }
            "printf" => {
                let from = if words.get(1).is_some_and(|word| word.text == "--") { 2 } else { 1 };
                let format = decoded_all(&words.get(from)?.text);
                let mut text = String::new();
                let mut given = words[from + 1..].iter();
                let mut pieces = format.split('%');
                text.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    let value = given.next().map_or("", |word| word.text.as_str());
                    text.push_str(value);
                    text.push_str(piece.get(1..).unwrap_or_default());
                }
                for word in given {
                    text.push(' ');
                    text.push_str(&word.text);
                }
                Some(text)
            }
            "yes" => Some(texts(1)),
            "pwd" => self.places.first().cloned(),
            "ls" | "dir" => {
                let is_names =
                    words.iter().any(|word| word.text.starts_with('-') && word.text.contains('d'));
                let operands: Vec<&Word> =
                    words[1..].iter().filter(|word| !word.text.starts_with('-')).collect();
                match is_names {
                    true => Some(
                        operands
                            .iter()
                            .map(|word| word.text.as_str())
                            .collect::<Vec<_>>()
                            .join(" "),
                    ),
                    false => Some("*".to_owned()),
                }
            }
            "find" | "gfind" => {
                if selects(&words) {
                    return None;
                }
                let roots: Vec<String> = words[1..]
                    .iter()
                    .take_while(|word| {
                        !word.text.starts_with(['(', '!'])
                            && (!word.text.starts_with('-') || word.text.len() == 2)
                    })
                    .filter(|word| !word.text.starts_with('-'))
                    .map(|word| format!("{0} {0}/*", word.text.trim_end_matches('/')))
                    .map(|roots| if roots.starts_with(' ') { format!("/{roots}") } else { roots })
                    .collect();
                Some(if roots.is_empty() { ". ./*".to_owned() } else { roots.join(" ") })
            }
            "cat" | "tee" => read,
            "rev" => read.map(|text| text.lines().map(reversed).collect::<Vec<_>>().join("\n")),
            "tac" => read.map(|text| text.lines().rev().collect::<Vec<_>>().join("\n")),
            "base64" | "gbase64" | "base32" | "basenc" | "openssl" | "xxd" => {
                let read = read?;
                let has =
                    |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
                let short = |letter: char| {
                    words.iter().any(|word| {
                        word.text.starts_with('-')
                            && !word.text.starts_with("--")
                            && word.text.contains(letter)
                    })
                };
                let is_long = || words.iter().any(|word| word.text.starts_with("--d"));
                match name.as_str() {
                    "xxd" => short('r').then(|| decode::hex(&read)).flatten(),
                    _ if !(short('d') || short('D') || is_long()) => None,
                    "base32" => decode::base32(&read),
                    "basenc" if has(&["--base16"]) => decode::hex(&read),
                    "basenc" if has(&["--base32"]) => decode::base32(&read),
                    _ => decode::base64(&read),
                }
            }
            "tr" => {
                let text = read?;
                let mut sets = words[1..]
                    .iter()
                    .map(|word| word.text.as_str())
                    .filter(|set| !set.starts_with('-'));
                match (sets.next(), sets.next()) {
                    (Some(from), Some(to)) => Some(decode::translated(&text, from, to)),
                    (Some(left_out), None) => {
                        let is_left_out = |letter: char| left_out.contains(letter);
                        Some(text.replace(is_left_out, ""))
                    }
                    _ => Some(text),
                }
            }
            "grep" | "egrep" | "fgrep" | "rg" | "head" | "tail" | "awk" => {
                read.filter(|text| !text.contains('*'))
            }
            "sed" | "gsed" => {
                read.map(|text| sed_output::output(&words, text)).filter(|text| !text.contains('*'))
            }
            _ => {
                let program = programs::find(&name)?;
                read.filter(|_| matches!(program.kind, Kind::Inert | Kind::Reader | Kind::Writer))
            }
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
            self.remember_value(&[WRITTEN, &file].concat(), &text);
        }
    }

    /// Returns the text of a here-document or a here-string.
    pub(super) fn read_by(&mut self, redirect: &IoRedirect) -> Option<String> {
        match redirect {
            IoRedirect::HereDocument(_, document) => Some(document.doc.value.clone()),
            IoRedirect::HereString(_, raw) => {
                Expander::new(self).texts(&raw.value).into_iter().next()
            }
            _ => None,
        }
    }
}

/// A line from its end to its beginning.
fn reversed(line: &str) -> String {
    line.chars().rev().collect()
}

/// Returns true if a glob can match a name.
pub(super) fn can_be_name(glob: &str, name: &str) -> bool {
    can_meet(glob, false, name)
}

/// Returns the offset of the closing bracket for one that was opened before.
pub(super) fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == open) - i32::from(letter == close);
        (depth == 0).then_some(at)
    })
}

/// Expands braces with commas.
fn braces(raw: &str) -> Vec<String> {
    let mut words = vec![raw.to_owned()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for word in &words {
            // Not the braces of a variable.
            let open = word
                .char_indices()
                .find(|(at, letter)| *letter == '{' && !word[..*at].ends_with('$'))
                .map(|(at, _)| at);
            let group = open.and_then(|open| {
                let end = closing(&word[open + 1..], '{', '}')?;
                let group = &word[open + 1..open + 1 + end];
                group.contains(',').then_some((&word[..open], group, &word[open + end + 2..]))
            });
            match group {
                Some((before, group, behind)) => {
                    next.extend(group.split(',').map(|one| [before, one, behind].concat()));
                }
                None => next.push(word.clone()),
            }
        }
        next.truncate(32);
        words = next;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Decodes `$'…'` after its opening quote, and returns the rest.
fn decoded(text: &str) -> (String, &str) {
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != b'\'' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    let end = at.min(text.len());
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (decoded_all(&text[..end]), text.get(end + 1..).unwrap_or_default())
}

/// Decodes the escapes of a text.
fn decoded_all(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let number = |digits: &str, radix: u32, most: usize| {
            let length =
                digits.chars().take(most).take_while(|letter| letter.is_digit(radix)).count();
            let letter =
                u32::from_str_radix(&digits[..length], radix).ok().and_then(char::from_u32);
            letter.map(|letter| (letter, length))
        };
        let first = after.chars().next();
        rest = match first {
            Some('n' | 'r' | 'f' | 'v') => {
                out.push('\n');
                &after[1..]
            }
            Some('t') => {
                out.push('\t');
                &after[1..]
            }
            Some(kind @ ('x' | 'u' | 'U')) => {
                match number(&after[1..], 16, if kind == 'x' { 2 } else { 8 }) {
                    Some((letter, length)) => {
                        out.push(letter);
                        &after[1 + length..]
                    }
                    None => &after[1..],
                }
            }
            Some('0'..='7') => match number(after, 8, 4) {
                Some((letter, length)) => {
                    out.push(if letter == '\0' { '\n' } else { letter });
                    &after[length..]
                }
                None => &after[1..],
            },
            Some(letter) => {
                out.push(letter);
                &after[letter.len_utf8()..]
            }
            None => "",
        };
    }
    out.push_str(rest);
    out
}
