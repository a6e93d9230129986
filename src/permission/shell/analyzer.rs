//! Walks the syntax tree of a command.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use brush_parser::ast::{
    CommandPrefixOrSuffixItem as Item, FunctionDefinition, Program, SimpleCommand,
};
use brush_parser::{Parser, ParserOptions};

use super::constants::Constants;
use super::constructs::passes_output;
use super::destroying::destroying_commands::FORKS;
use super::destroying::fork_bombs::text_starts_itself;
use super::known_values::Fact;
use super::possible_commands::Guess;
use super::redirect::{Fed, HERE_DOCUMENT};
use super::word::{self, Word};
use super::{
    AnalyzedCommand, Concern, Reading, RuleKinds, dialects, fast_path, preflight,
    printing::printed_environment, unset_variables,
};
use crate::permission::paths::Folders;
use crate::permission::sensitive::SensitiveNames;

/// Maximum nesting of commands in commands.
const MAX_DEPTH: usize = 6;
/// Maximum number of programs that run each other.
const MAX_NESTED: usize = 8;
/// Maximum number of words examined, each counted as often as it is part of a command in another. A command counts for
/// a few.
const MAX_WORDS: usize = 16_000;
const WORDS_OF_COMMAND: usize = 8;
/// Additional words for the end of a command that exceeds the limit.
pub(super) const RESERVE: usize = 2048;
/// The reason for not reading the rest of a command.
pub(super) const TOO_MUCH: &str = "the command does too much to be read";
/// Maximum number of pieces of an unparsed text that deny rules are compared with.
pub(super) const MAX_PIECES: usize = 256;
/// Maximum number of bytes that are read again to find what they destroy; each text counts at least `MIN_REREAD`.
const MAX_REREAD: usize = 64 * 1024;
pub(super) const MIN_REREAD: usize = 256;
/// The reason for not reading a text at all.
const NOT_PARSED: &str = "the command cannot be parsed";

pub(super) struct Walker<'a> {
    pub folders: &'a Folders,
    pub sensitive: &'a SensitiveNames,
    /// True if arguments that may be names of files are collected.
    pub with_named: bool,
    /// True if files that may be changed are collected.
    pub with_edit_rules: bool,
    /// True if the commands in code are collected.
    pub with_code: bool,
    /// True if it is asked which commands only read.
    pub wants_read_only: bool,
    pub options: ParserOptions,
    /// Directories that a command may run in; empty if unknown.
    pub places: Vec<String>,
    /// Directories of the next command if the previous one succeeded.
    pub next_places: Option<Vec<String>>,
    pub home: Option<&'a str>,
    /// The current text, if it has a here-document.
    pub text: String,
    /// The input of the current command.
    pub fed: Fed,
    /// Nesting of constructs that may run several times, or later.
    pub(super) repeats: usize,
    pub depth: usize,
    /// Values, aliases, links and files that the command itself makes known.
    pub facts: Vec<(Fact, String)>,
    /// The piped input of the current command, if known.
    pub piped: Option<String>,
    /// The output of the current command, if it is known and a redirection may pass it to another command.
    pub output: Option<String>,
    /// True if the input of the current command comes from a pipe or a file.
    pub has_input: bool,
    /// Functions that the command defines.
    pub functions: Vec<Rc<FunctionDefinition>>,
    /// Set if the command defines more variables and functions than are recorded.
    pub is_overfull: bool,
    /// Remaining bytes that may be read again to find what they destroy.
    pub left: usize,
    /// The same for the pieces of texts that were not understood, which must not use up what is left for the others.
    pub pieces_left: usize,
    /// The whole command, if it has variables.
    pub whole: Rc<str>,
    /// Variables to which it gives the value of one that holds a secret.
    pub copies: Rc<[String]>,
    /// Remaining number of searches of it for a name.
    pub(super) searches_left: usize,
    /// True if the text is read only to find what it destroys, perhaps with arguments that are not known.
    pub(super) is_shadow: bool,
    /// Variables with known values.
    pub constants: Constants,
    /// Number of times that the bodies of loops were read.
    pub(super) unrolled: usize,
    /// True if the next text is read by the same shell.
    is_inner: bool,
    /// Number of programs around the current command that run programs.
    pub nested: usize,
    /// Number of changes of directory.
    pub(super) entered: usize,
    is_reserve_taken: bool,
    /// Remaining words that may be examined.
    words_left: usize,
    /// How many tokens the parser may still read.
    tokens_left: usize,
    /// Set together with the concern that says so: no further command is read.
    is_spent: bool,
    /// Set if it is unknown whether the current text runs.
    pub guess: Option<Guess>,
    /// True if all other commands that may run are examined elsewhere.
    pub is_flat: bool,
    /// Concerns about commands that may run.
    pub kept: Vec<Concern>,
    /// Fingerprints of the command substitutions that were read.
    pub substituted: Vec<u64>,
    pub(super) out: Reading,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(
        folders: &'a Folders,
        cwd: &str,
        sensitive: &'a SensitiveNames,
        kinds: RuleKinds,
    ) -> Self {
        Walker {
            folders,
            sensitive,
            with_named: kinds.files,
            with_edit_rules: kinds.edits,
            with_code: kinds.programs,
            wants_read_only: kinds.read_only,
            options: ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() },
            places: vec![cwd.to_owned()],
            next_places: None,
            home: folders.home.as_deref(),
            text: String::new(),
            fed: Fed::default(),
            repeats: 0,
            depth: 0,
            facts: Vec::new(),
            piped: None,
            output: None,
            has_input: false,
            functions: Vec::new(),
            is_overfull: false,
            left: MAX_REREAD,
            pieces_left: MAX_REREAD,
            whole: Rc::from(""),
            copies: Rc::from([]),
            searches_left: unset_variables::MAX_SEARCHES,
            is_shadow: false,
            constants: Constants::default(),
            unrolled: 1,
            is_inner: false,
            nested: 0,
            entered: 0,
            is_reserve_taken: false,
            words_left: MAX_WORDS,
            tokens_left: preflight::MAX_TOKENS,
            is_spent: false,
            guess: None,
            is_flat: false,
            kept: Vec::new(),
            substituted: Vec::new(),
            out: Reading::default(),
        }
    }

    /// Creates a walker that reads a text in the same place only to find what it destroys. `None` if a limit is
    /// reached.
    pub(crate) fn shadow(&mut self, text: &str) -> Option<Walker<'a>> {
        if self.depth >= MAX_DEPTH || self.left < text.len() + MIN_REREAD {
            return None;
        }
        Some(Walker {
            places: self.places.clone(),
            home: self.home,
            depth: self.depth + 1,
            facts: self.facts.clone(),
            has_input: self.has_input,
            piped: self.piped.clone(),
            functions: self.functions.clone(),
            whole: Rc::clone(&self.whole),
            copies: Rc::clone(&self.copies),
            searches_left: self.searches_left,
            is_shadow: true,
            left: self.left - text.len() - MIN_REREAD,
            pieces_left: self.pieces_left,
            tokens_left: self.tokens_left,
            ..Walker::new(self.folders, "/", self.sensitive, RuleKinds::default())
        })
    }

    /// Takes over what a [shadow](Self::shadow) read, and how much it left to be read.
    pub(crate) fn end_shadow(&mut self, inner: Walker<'_>) -> Reading {
        (self.left, self.pieces_left, self.tokens_left, self.searches_left) =
            (inner.left, inner.pieces_left, inner.tokens_left, inner.searches_left);
        self.is_overfull |= inner.is_overfull;
        inner.out
    }

    /// Parses a text, as far as what is read of a call is not too much.
    pub(crate) fn parse(&mut self, text: &str) -> Result<Program, &'static str> {
        let plain = fast_path::program(text);
        // A short one has nothing that is refused.
        let is_short = text.len() <= preflight::MAX_OPENERS;
        if !(is_short && plain.is_some())
            && let Some(reason) = preflight::refuse(text)
        {
            return Err(reason);
        }
        if let Some(program) = plain {
            return Ok(program);
        }
        let left = self.tokens_left.checked_sub(preflight::tokens(text));
        self.tokens_left = left.ok_or(TOO_MUCH)?;
        let text = with_condition(text);
        Parser::new(text.as_bytes(), &self.options).parse_program().map_err(|_| NOT_PARSED)
    }

    /// Returns the result for a command that is not read at all.
    pub(crate) fn refuse(mut self, text: &str) -> Reading {
        self.unread(text, NOT_PARSED);
        self.out
    }

    pub(crate) fn finish(mut self) -> Reading {
        if self.is_overfull {
            self.add_concern("variables and functions", Concern::unread(TOO_MUCH));
        }
        self.out
    }

    /// Reads a whole text for a shell.
    pub(crate) fn source(&mut self, text: &str) {
        if self.depth >= MAX_DEPTH {
            return self.unread(text, "commands in commands are nested too deeply to be read");
        }
        if text.contains("HOME=") {
            self.home = None;
        }
        if self.depth == 0 && text.contains('$') {
            // Escapes of `$'…'` separate words.
            self.whole = match text.contains("$'") {
                true => Rc::from(text.replace("\\n", "\n").replace("\\t", " ")),
                false => Rc::from(text),
            };
            self.copies = Rc::from(printed_environment::secret_copies(text));
        }
        if !std::mem::take(&mut self.is_inner) {
            // With other separators, which `eval` inherits, a value is split elsewhere.
            let constants = match self.separators().is_empty() {
                true => Constants::of(text),
                false => Constants::default(),
            };
            let outer = std::mem::replace(&mut self.constants, constants);
            self.read_source(text);
            // Those within a hidden one are among those of the whole.
            let is_whole = self.depth == 0 && self.guess.is_none();
            if is_whole && self.out.commands.iter().any(|one| !one.concerns.is_empty()) {
                self.guess_hidden(text);
            }
            self.constants = outer;
            return;
        }
        self.read_source(text);
    }

    /// Reads a command substitution, in a shell that has the current state.
    pub(crate) fn substitution(&mut self, text: &str) {
        self.substituted.push(super::possible_commands::fingerprint(text));
        self.apart(|walker| {
            walker.is_inner = true;
            walker.source(text);
        });
    }

    fn read_source(&mut self, text: &str) {
        let parsed = catch_unwind(AssertUnwindSafe(|| self.parse(text)));
        let program = match parsed.unwrap_or(Err(NOT_PARSED)) {
            Ok(program) => program,
            Err(reason) => return self.unread(text, reason),
        };
        let names_itself = text.contains('$') && text_starts_itself(&program);
        let text = if text.contains("<<") { text.to_owned() } else { String::new() };
        let outer = (std::mem::replace(&mut self.text, text), std::mem::take(&mut self.is_flat));
        self.depth += 1;
        if names_itself {
            let others = vec![FORKS.to_owned()];
            self.push(AnalyzedCommand { text: "$0".into(), others, ..AnalyzedCommand::default() });
        }
        for list in &program.complete_commands {
            self.list(list);
        }
        self.depth -= 1;
        (self.text, self.is_flat) = outer;
    }

    /// Adds a text that was not understood. Deny rules are compared with its pieces.
    fn unread(&mut self, text: &str, reason: &str) {
        let mut others: Vec<String> = pieces(text).collect();
        // A text in the syntax of another shell is read by its pieces.
        let mut concerns = match reason {
            NOT_PARSED => vec![Concern::always(reason)],
            _ => vec![Concern::unread(reason)],
        };
        if others.len() == MAX_PIECES {
            concerns.push(Concern::unread(TOO_MUCH));
        }
        let is_strange = reason == preflight::STRANGE;
        if !is_strange {
            others.extend(self.pieces_destroy(text));
        }
        let mut command = AnalyzedCommand {
            text: text.to_owned(),
            others,
            concerns,
            ..AnalyzedCommand::default()
        };
        if is_strange {
            self.guess_values(&[&preflight::without_strange(text)], &mut command);
        }
        self.push(command);
    }

    /// Returns true if the maximum number of programs that run each other is reached.
    pub(crate) fn is_nested(&self) -> bool {
        self.nested > MAX_NESTED
    }

    /// Allows a few more words once, and no further nesting; returns the current nesting.
    pub(crate) fn take_reserve(&mut self) -> Option<usize> {
        if std::mem::replace(&mut self.is_reserve_taken, true) {
            return None;
        }
        self.words_left = RESERVE;
        self.is_spent = false;
        Some(std::mem::replace(&mut self.nested, MAX_NESTED + 1))
    }

    pub(crate) fn end_reserve(&mut self, nested: usize) {
        self.nested = nested;
        self.words_left = 0;
        self.is_spent = true;
    }

    /// Returns true if no more may be read.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_spent
    }

    /// Takes `cost` from the remaining budget; returns `false` if it is insufficient.
    pub(crate) fn spend(&mut self, cost: usize) -> bool {
        let cost = cost + WORDS_OF_COMMAND;
        let is_enough = self.words_left >= cost;
        self.words_left = if is_enough { self.words_left - cost } else { 0 };
        self.is_spent |= !is_enough;
        is_enough
    }

    pub(crate) fn push(&mut self, mut command: AnalyzedCommand) {
        self.as_guess(&mut command);
        self.out.commands.push(command);
    }

    /// Adds a concern about the whole text to the command `about`.
    pub(crate) fn concern(&mut self, about: &str, reason: impl Into<String>) {
        self.add_concern(about, Concern::always(reason));
    }

    pub(super) fn add_concern(&mut self, about: &str, concern: Concern) {
        self.push(AnalyzedCommand {
            text: about.to_owned(),
            concerns: vec![concern],
            ..AnalyzedCommand::default()
        });
    }

    /// Reads a word that is examined and not run.
    pub(super) fn value(&mut self, raw: &str, about: &str) -> Word {
        let word = self.word(raw);
        for concern in &word.concerns {
            self.concern(about, *concern);
        }
        word
    }

    /// Reads a word, and the commands in it.
    pub(crate) fn word(&mut self, raw: &str) -> Word {
        let mut word = word::read(raw, self.home, &self.constants, &self.options);
        // The parser can lose the end of a document that contains a parenthesis.
        if word.inner.iter().any(|inner| inner.contains("<<")) && !self.text.contains(raw) {
            word.concerns.push("part of it cannot be parsed");
        }
        let before = self.out.commands.len();
        for inner in &word.inner {
            self.substitution(inner);
        }
        // A document that a shell ends sooner is followed by commands that the parser took for its text.
        let is_open = |one: &AnalyzedCommand| {
            one.concerns.iter().any(|concern| concern.reason == HERE_DOCUMENT)
        };
        if self.out.commands[before..].iter().any(is_open) && raw.contains("<<") {
            let others = self.pieces_destroy(raw);
            self.push(AnalyzedCommand {
                text: "<<".into(),
                others,
                quiet: true,
                ..AnalyzedCommand::default()
            });
        }
        word
    }

    pub(super) fn simple(&mut self, simple: &SimpleCommand) {
        // The concern was added already.
        if self.is_spent {
            return;
        }
        let outer = std::mem::take(&mut self.fed);
        let outer_output = match passes_output(simple) {
            true => {
                let printed = self.simple_prints(simple);
                std::mem::replace(&mut self.output, printed)
            }
            false => self.output.take(),
        };
        let mut assignments = Vec::new();
        let mut words = Vec::new();
        let mut concerns = Vec::new();
        let items = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in items {
            match item {
                Item::AssignmentWord(assignment, raw) => {
                    assignments
                        .push(super::variables::Assigned::read(self, assignment, &raw.value));
                }
                other => self.item(other, &mut words, &mut concerns),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(&name.value));
        }
        // `time -- x`: the parser takes the end of the options of `time` for the command.
        let is_end = words.pop_if(|word| word.text == "--").is_some();
        let suffix = simple.suffix.as_ref().map_or(&[][..], |suffix| &suffix.0);
        for item in suffix {
            match item {
                Item::AssignmentWord(assignment, raw) if is_end && words.is_empty() => {
                    assignments
                        .push(super::variables::Assigned::read(self, assignment, &raw.value));
                }
                other => self.item(other, &mut words, &mut concerns),
            }
        }
        if dialects::ends_sooner(suffix) {
            concerns.push(Concern::always(dialects::ENDS_SOONER));
        }
        let had_input = self.has_input;
        self.has_input |=
            simple.prefix.iter().flat_map(|prefix| &prefix.0).chain(suffix).any(
                |item| matches!(item, Item::IoRedirect(one) if super::redirect::gives_input(one)),
            );
        self.run(assignments, words, concerns);
        self.has_input = had_input;
        self.remember_file(simple);
        self.output = outer_output;
        self.fed = outer;
    }

    fn item(&mut self, item: &Item, words: &mut Vec<Word>, concerns: &mut Vec<Concern>) {
        match item {
            Item::Word(raw) => match word::alternatives(&raw.value) {
                Some(all) => words.extend(all.iter().map(|raw| self.word(raw))),
                None => words.push(self.word(&raw.value)),
            },
            Item::AssignmentWord(_, raw) => words.push(self.word(&raw.value)),
            Item::IoRedirect(redirect) => concerns.extend(self.redirect(redirect)),
            Item::ProcessSubstitution(_, shell) => {
                self.apart(|walker| walker.list(&shell.list));
                let printed = self.printed(&shell.list);
                self.fed.texts.extend(printed);
                words.push(Word::plain("/dev/fd/63"));
            }
        }
    }
}

/// Writes the condition of loops that have none, which the parser takes for the end of a `case`: `for ((;;))`.
fn with_condition(text: &str) -> Cow<'_, str> {
    if !text.contains("((") || !text.contains(";;") {
        return Cow::Borrowed(text);
    }
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("((") {
        made.push_str(before);
        made.push_str("((");
        let is_loop = before.trim_end().ends_with("for");
        let end = if is_loop { after.find("))").unwrap_or(0) } else { 0 };
        made.push_str(&after[..end].replacen(";;", ";1;", 1));
        rest = &after[end..];
    }
    made.push_str(rest);
    Cow::Owned(made)
}

/// Splits a text into the commands that it may contain, however it is parsed.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = String> {
    let pieces = text.split(|letter: char| ";&|()`{}\"'\n\r".contains(letter) || letter == '$');
    let pieces = pieces.map(str::trim).filter(|piece| !piece.is_empty()).take(MAX_PIECES);
    pieces.map(|piece| format!("shell:{}", joined(piece)))
}

/// Collapses white space to single spaces.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
