//! The output of commands, as far as their text determines it. It only adds denials, so that a guess may be wrong.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    IoFileRedirectKind, IoFileRedirectTarget as Target, IoRedirect, Pipeline, SimpleCommand,
};

use super::listed_names::{ALL_PROCESSES, LISTERS, everything, listed, prints_fields, programs};
use super::sed_output;
use crate::permission::places::Place;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::decode;
use crate::permission::shell::destroying::destroyed_places::selects;
use crate::permission::shell::destroying::destroying_code::commands_in;
use crate::permission::shell::destroying::destroying_commands::MAX_TAILS;
use crate::permission::shell::destroying::windows_programs;
use crate::permission::shell::expand::{Expander, decoded_all};
use crate::permission::shell::program_names::base;
use crate::permission::shell::programs::{Kind, find};
use crate::permission::shell::word::{self, Word};
use crate::util::words::has_word;

/// Programs whose output is known without their input.
const PRINTERS: &str = "\
    echo printf yes pwd cd ls dir vdir exa eza lsd find gfind bfs which type command basename dirname realpath readlink stat gls";

impl Walker<'_> {
    /// Returns the output of a list of commands.
    pub(crate) fn printed(&mut self, list: &CompoundList) -> Option<String> {
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
        (!all.is_empty()).then(|| all.concat())
    }

    /// Returns the output of a command, including input that it passes on.
    pub(crate) fn prints(&mut self, command: &Command) -> Option<String> {
        match command {
            Command::Simple(simple) => self.simple_prints(simple),
            Command::Compound(CompoundCommand::BraceGroup(group), _) => self.printed(&group.list),
            Command::Compound(CompoundCommand::Subshell(shell), _) => self.printed(&shell.list),
            _ => None,
        }
    }

    pub(crate) fn simple_prints(&mut self, simple: &SimpleCommand) -> Option<String> {
        let name = simple.word_or_name.as_ref()?.value.as_str();
        let mut raw = vec![name];
        let mut read = None;
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::Word(word) | Item::AssignmentWord(_, word) => raw.push(&word.value),
                Item::IoRedirect(redirect) => read = self.read_by(redirect).or(read),
                Item::ProcessSubstitution(_, shell) => {
                    let printed = self.printed(&shell.list);
                    read = read.into_iter().chain(printed).reduce(|all, text| all + &text);
                }
            }
        }
        let of_files = |raw: &&str| self.written_texts(raw).next().map(str::to_owned);
        let read = read
            .or_else(|| raw[1..].iter().take(MAX_TAILS).find_map(of_files))
            .or_else(|| self.piped.clone());
        // The output of most commands is unknown: their words need not be read again.
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let has_text = raw.iter().any(|raw| raw.contains([' ', '\\']));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=".contains(&byte);
        // It lists files with one of its commands only.
        let is_other_git =
            name == "git" && raw.iter().all(|raw| *raw != "ls-files" && raw.bytes().all(is_plain));
        let can_print = has_text
            || has_word(PRINTERS, name)
            || (has_word(LISTERS, name) && !is_other_git)
            || !name.chars().all(is_name);
        if !can_print && read.is_none() {
            return None;
        }
        let words: Vec<Word> = raw
            .iter()
            .map(|raw| word::read(raw, self.home, &self.constants, &self.options))
            .collect();
        let words = self.expanded(&words);
        let name = &*base(&words.first()?.text);
        let printed = self.prints_with(name, &words, read)?;
        Some(match name {
            "echo" | "printf" | "tr" => printed,
            _ => ended(printed),
        })
    }

    /// Returns the output of a program for its words and its input.
    fn prints_with(&mut self, name: &str, words: &[Word], read: Option<String>) -> Option<String> {
        let operands = || words[1..].iter().filter(|word| !word.text.starts_with('-'));
        if let Some(listed) = windows_programs::listed(name, words) {
            return Some(listed);
        }
        match name {
            "echo" => Some(echoed(words)),
            "printf" => Some(formatted(&words[1..])),
            "yes" => Some(joined(words[1..].iter())),
            "pwd" => self.places.first().cloned(),
            "cd" => {
                let place = self.places.first()?.clone();
                self.places = vec![self.folders.absolute(&operands().next()?.text, &place)?];
                None
            }
            // With the paths of all folders.
            "ls" | "gls" | "dir" | "vdir" | "exa" | "eza" | "lsd" => {
                if words.iter().any(is_recursive) {
                    return Some(everything(operands().map(|word| word.text.as_str())));
                }
                let is_names =
                    words.iter().any(|word| word.text.starts_with('-') && word.text.contains('d'));
                Some(if is_names { joined(operands()) } else { self.names_in(operands()) })
            }
            "stat" => {
                let told = self.may_print(name, words, None);
                Some(told.into_iter().chain([joined(operands())]).collect::<Vec<_>>().join("\n"))
            }
            "find" | "gfind" | "bfs" if !selects(words) && !prints_text(words) => {
                Some(found(words))
            }
            // The first process has files open in all of them.
            "lsof" if operands().any(|word| self.any_place(word).is_some()) => {
                Some(ALL_PROCESSES.to_owned())
            }
            "which" => Some(programs(operands().map(|word| word.text.as_str()))),
            "type" | "command" if words.iter().any(asks_for_path) => {
                Some(programs(operands().map(|word| word.text.as_str())))
            }
            "basename" | "realpath" | "readlink" if operands().any(|word| word.glob) => {
                Some(joined(operands()))
            }
            "type" | "command" | "basename" | "realpath" | "readlink" => {
                Some(operands().next_back()?.text.clone())
            }
            "dirname" => {
                let path = operands().next_back()?.text.trim_end_matches('/');
                let above = path.rsplit_once('/').map_or(".", |(above, _)| above);
                Some(if above.is_empty() { "/".to_owned() } else { above.to_owned() })
            }
            "rev" => read.map(|text| text.lines().map(reversed).collect::<Vec<_>>().join("\n")),
            "tac" => read.map(|text| text.lines().rev().collect::<Vec<_>>().join("\n")),
            "base64" | "gbase64" | "base32" | "basenc" | "openssl" | "xxd" => {
                read.map(|text| decoded_by(name, words, &text).unwrap_or(text))
            }
            "tr" => Some(replaced(words, read?)),
            "paste" => read.map(|text| text.lines().collect::<Vec<_>>().join(" ")),
            "rg" if read.is_none() => {
                listed(name, words).or_else(|| self.may_print(name, words, None))
            }
            "tail" if words.iter().any(|word| word.text.starts_with('+')) => read,
            "grep" | "egrep" | "fgrep" | "rg" | "head" | "tail" => {
                read.filter(|text| !text.contains('*'))
            }
            name if has_word(LISTERS, name) => {
                listed(name, words).or_else(|| self.may_print(name, words, read))
            }
            "python" | "python3" if is_decoder(words) => {
                read.map(|text| decode::base64(&text).unwrap_or(text))
            }
            "awk" | "gawk" | "mawk" => of_awk(words, read.or_else(|| listed("cut", words))),
            "sed" | "gsed" => {
                let Some(text) = read else { return self.may_print(name, words, None) };
                let printed = sed_output::output(words, text.clone());
                // The lines of a list that are left are unknown.
                (printed != text || !text.contains('*')).then_some(printed)
            }
            _ => self.may_print(name, words, read),
        }
    }

    /// Returns the names that `ls` prints: of what is in its folder, and, as if their paths were put in front, of what
    /// is in a place that the machine or its users cannot do without.
    fn names_in<'w>(&self, operands: impl Iterator<Item = &'w Word>) -> String {
        let mut printed = String::from("*");
        for word in operands {
            if word.glob {
                printed.push_str(&format!(" {}", word.text));
            } else if self.any_place(word).is_some_and(|(place, _)| place != Place::Shared) {
                printed.push_str(&format!(" {}/*", word.text.trim_end_matches('/')));
            }
        }
        printed
    }

    /// Returns what a program may print of which nothing is known: what it reads, and what its arguments say if that destroys
    /// something.
    fn may_print(&mut self, name: &str, words: &[Word], read: Option<String>) -> Option<String> {
        let kind = find(name).map(|program| program.kind);
        if matches!(kind, Some(Kind::Shell | Kind::Lister)) {
            return None;
        }
        let told = words[1..].iter().flat_map(|word| commands_in(&word.text)).take(MAX_TAILS);
        let made = words[1..].iter().map(|word| word.text.as_str()).chain(read.as_deref());
        let made: Vec<String> = made.flat_map(commands_within).take(MAX_TAILS).collect();
        let told: Vec<String> =
            told.chain(made).filter(|text| !self.text_destroys(text).is_empty()).collect();
        match (read, told.is_empty()) {
            (read, true) => read,
            (read, false) => Some(read.into_iter().chain(told).collect::<Vec<_>>().join("\n")),
        }
    }

    /// Returns the text of a here-document or a here-string.
    pub(crate) fn read_by(&mut self, redirect: &IoRedirect) -> Option<String> {
        match redirect {
            IoRedirect::HereDocument(_, document) => Some(document.doc.value.clone()),
            IoRedirect::HereString(_, raw) => {
                Expander::new(self).texts(&raw.value).into_iter().next()
            }
            IoRedirect::File(
                _,
                IoFileRedirectKind::Read,
                Target::ProcessSubstitution(_, shell),
            ) => self.printed(&shell.list),
            IoRedirect::File(_, IoFileRedirectKind::Read, Target::Filename(raw)) => {
                self.written_texts(&raw.value).next().map(str::to_owned)
            }
            _ => None,
        }
    }
}

/// Returns the commands that may be left of a text if a program takes away what is around them, as `cut` does, or
/// replaces what is put in, as `date` does: from each name of a program that destroys to the end, and to the next mark.
fn commands_within(text: &str) -> Vec<String> {
    const NAMES: [&str; 9] =
        ["rm ", "dd ", "mkfs", "mv ", "shred ", "chmod ", "wipefs ", "find ", "blkdiscard "];
    let mut found = Vec::new();
    // Most words are neither.
    if !text.contains(' ') && !text.contains("mkfs") {
        return found;
    }
    for (at, _) in NAMES.iter().flat_map(|name| text.match_indices(name)).take(MAX_TAILS) {
        if at == 0 {
            continue;
        }
        let rest = &text[at..];
        let end = rest.find(['%', '"', '\'', ']', '\\', '\n']).unwrap_or(rest.len());
        found.push(rest[..end].to_owned());
    }
    found
}

/// Ends the last line of a text.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn joined<'w>(words: impl Iterator<Item = &'w Word>) -> String {
    words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn echoed(words: &[Word]) -> String {
    let is_option = |word: &&Word| {
        word.text.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|letter| b"enE".contains(&letter))
        })
    };
    let options = words[1..].iter().take_while(is_option);
    let (count, is_open) = options
        .fold((0, false), |(count, is_open), word| (count + 1, is_open || word.text.contains('n')));
    let text = decoded_all(&joined(words[1 + count..].iter()));
    if is_open { text } else { text + "\n" }
}

/// Returns the output of `printf`, whose first word is the format.
pub(crate) fn formatted(words: &[Word]) -> String {
    let words = match words {
        [first, rest @ ..] if first.text == "--" => rest,
        words => words,
    };
    let Some((format, values)) = words.split_first() else { return String::new() };
    let format = decoded_all(&format.text);
    let mut values = values.iter();
    let mut pieces = format.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let conversion =
            piece.trim_start_matches(|c: char| c.is_ascii_digit() || "-+# .".contains(c));
        let mut letters = conversion.chars();
        let value = values.next().map_or("", |word| word.text.as_str());
        match letters.next() {
            Some('b') => text.push_str(&decoded_all(value)),
            _ => text.push_str(value),
        }
        text.push_str(letters.as_str());
    }
    // The format is used again for what is left.
    for word in values {
        text.push(' ');
        text.push_str(&word.text);
    }
    text
}

/// Returns the paths that `find` prints, as far as they are known: its roots, and everything in them.
fn found(words: &[Word]) -> String {
    let is_root = |word: &&Word| {
        !word.text.starts_with(['(', '!']) && (!word.text.starts_with('-') || word.text.len() == 2)
    };
    let roots = words[1..].iter().take_while(is_root).filter(|word| !word.text.starts_with('-'));
    everything(roots.map(|word| word.text.as_str()))
}

/// Returns true for an option with which a shell prints the path of a program: `command -v`, `type -P`.
fn asks_for_path(word: &Word) -> bool {
    matches!(word.text.as_str(), "-v" | "-V" | "-P" | "-p" | "-a" | "-ap")
}

fn is_recursive(word: &Word) -> bool {
    match word.text.strip_prefix("--") {
        Some(long) => long == "recursive",
        None => word.text.starts_with('-') && word.text.contains('R'),
    }
}

/// Returns true if `find` prints a text of its own.
fn prints_text(words: &[Word]) -> bool {
    words.iter().any(|word| word.text == "-printf")
}

/// Returns the output of a program that decodes, if its options say so.
fn decoded_by(name: &str, words: &[Word], text: &str) -> Option<String> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
    let has_letter = |letter: char| {
        let is_it = |word: &Word| !word.text.starts_with("--") && word.text.contains(letter);
        words.iter().any(|word| word.text.starts_with('-') && is_it(word))
    };
    let decodes = match name {
        "xxd" => has_letter('r'),
        _ => {
            has_letter('d') || has_letter('D') || words.iter().any(|it| it.text.starts_with("--d"))
        }
    };
    match name {
        _ if !decodes => None,
        "xxd" => decode::hex(text),
        "base32" => decode::base32(text),
        "basenc" if has(&["--base16"]) => decode::hex(text),
        "basenc" if has(&["--base32"]) => decode::base32(text),
        _ => decode::base64(text),
    }
}

/// Returns true if Python decodes its input: `python3 -m base64 -d`.
fn is_decoder(words: &[Word]) -> bool {
    let is = |text: &'static str| words.iter().any(|word| word.text == text);
    is("-m") && is("base64") && (is("-d") || is("-u"))
}

/// Returns the output of `tr`.
fn replaced(words: &[Word], text: String) -> String {
    let mut sets = words[1..].iter().filter(|word| !word.text.starts_with('-'));
    let mut next = || sets.next().map(|word| decoded_all(&word.text));
    match (next(), next()) {
        (Some(from), Some(to)) => decode::translated(&text, &from, &to),
        (Some(set), None) => text.replace(|letter: char| set.contains(letter), ""),
        _ => text,
    }
}

/// Returns what `awk` may print: its input, its strings, and each of its strings with the input after it.
pub(crate) fn of_awk(words: &[Word], read: Option<String>) -> Option<String> {
    let read = read.filter(|text| {
        let has_strings = || words[1..].iter().any(|word| word.text.contains('"'));
        !text.contains('*') || has_strings() || prints_fields(words)
    });
    let mut all: Vec<String> = read.iter().cloned().collect();
    for text in words[1..].iter().flat_map(|word| word.text.split('"').skip(1).step_by(2)) {
        let text = decoded_all(text);
        all.extend(read.iter().map(|read| [&text, read.trim_end()].concat()));
        all.push(text);
    }
    // Strings that are put together, and a format with its values.
    let strings: Vec<String> = words[1..]
        .iter()
        .flat_map(|word| word.text.split('"').skip(1).step_by(2).map(decoded_all))
        .collect();
    if strings.len() > 1 {
        let as_words: Vec<Word> = strings.iter().map(|text| Word::plain(text)).collect();
        all.push(formatted(&as_words));
        all.push(strings.concat());
    }
    (!all.is_empty()).then(|| all.join("\n"))
}

/// A line from its end to its beginning.
fn reversed(line: &str) -> String {
    line.chars().rev().collect()
}
