//! The output of commands, as far as their text determines it. It only adds denials, so that a guess may be wrong.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IoRedirect,
    Pipeline, SimpleCommand,
};

use super::analyzer::Walker;
use super::decode;
use super::destroyed_places::selects;
use super::expand::{Expander, decoded_all};
use super::programs::{self, Kind};
use super::sed_output;
use super::word::{self, Word};

/// Programs whose output is known without their input.
const PRINTERS: [&str; 8] = ["echo", "printf", "yes", "pwd", "ls", "dir", "find", "gfind"];

impl Walker<'_> {
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

    pub(super) fn simple_prints(&mut self, simple: &SimpleCommand) -> Option<String> {
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
