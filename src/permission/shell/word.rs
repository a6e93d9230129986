//! The value of a word: its text after quote removal, or unknown.

use std::borrow::Cow;

use brush_parser::ParserOptions;
use brush_parser::word::{self, Parameter, ParameterExpr, WordPiece, WordPieceWithSource};

use super::constants::Constants;
use super::{brief, preflight, revisions};
use crate::util::words::has_word;

/// Maximum number of words that one expands to.
const MAX_ALTERNATIVES: usize = 32;

/// A word of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    /// The text without quotes, or the raw text if it is unknown.
    pub text: String,
    /// The display form, quoted where a shell would need that.
    pub shown: String,
    /// True if the program receives exactly this text, wildcards aside.
    pub known: bool,
    /// True if the shell expands wildcards.
    pub glob: bool,
    /// True if it begins with a wildcard, or like an option that contains one, so that the name of a file can become an
    /// option.
    pub glob_start: bool,
    /// True if `~` at the beginning denotes a directory.
    pub tilde: bool,
    /// True if it is one word whatever its expansions are.
    pub one: bool,
    /// True if it is not known, but can only be the name of a commit, or nothing.
    pub revision: bool,
    /// Reasons why it is not understood.
    pub concerns: Vec<&'static str>,
    /// Commands whose output is substituted.
    pub inner: Vec<String>,
}

impl Word {
    /// Returns a word that needs no quotes and has none.
    pub(crate) fn plain(text: &str) -> Self {
        Word { text: text.to_owned(), shown: quoted(text), known: true, ..Word::default() }
    }

    /// Returns true if the word is a bundle of short options with a letter: `-rf`.
    pub(super) fn has_letter(&self, letter: char) -> bool {
        let letters = self.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(letter))
    }

    /// Returns the letters of a bundle of short options up to the first of `valued`, the letters with a value, and for that one
    /// what follows it: its value, or nothing if that is the next word.
    pub(super) fn option_letters(&self, valued: &str) -> (&str, Option<&str>) {
        let letters = self.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let letters = letters.unwrap_or_default();
        match letters.find(|letter| valued.contains(letter)) {
            Some(at) => letters
                .split_at_checked(at + 1)
                .map_or((letters, None), |(own, value)| (own, Some(value))),
            None => (letters, None),
        }
    }

    /// Adds a reason, once: a long word can have the same thousands of times.
    fn concern(&mut self, reason: &'static str) {
        if !self.concerns.contains(&reason) {
            self.concerns.push(reason);
        }
    }

    /// Returns the beginning of the display form for a sentence.
    pub(crate) fn brief(&self) -> Cow<'_, str> {
        brief(&self.shown)
    }

    /// Returns true if the word can be an option.
    pub(crate) fn can_be_option(&self) -> bool {
        self.text.starts_with('-') || !self.known || self.glob_start
    }
}

/// The concern about `$'…'` and `$"…"`.
const HIDES_TEXT: &str = "it is quoted in a way that hides its text";

/// Reads a raw word. `home` is the value of `$HOME`, if known, and `constants` those of other variables.
pub(super) fn read(
    raw: &str,
    home: Option<&str>,
    constants: &Constants,
    options: &ParserOptions,
) -> Word {
    if !raw.is_empty() && raw.bytes().all(is_plain) {
        return Word {
            text: raw.to_owned(),
            shown: raw.to_owned(),
            known: true,
            ..Word::default()
        };
    }
    if let Some(text) = super::expand::whole_decoded(raw) {
        let concerns = vec![HIDES_TEXT];
        return Word { shown: quoted(&text), text, known: true, concerns, ..Word::default() };
    }
    let word = Word { known: true, ..Word::default() };
    let mut scan = Scan { word, expands: false, has_revision: false, home, constants };
    scan.run(raw);
    let Scan { mut word, expands, has_revision, .. } = scan;
    if expands && preflight::has_many_expansions(raw) {
        word.concern("it has too much in it to be read");
    } else if expands {
        match word::parse(raw, options) {
            Ok(pieces) => {
                take_pieces(&pieces, &mut word);
                word.one = is_one(&pieces);
            }
            Err(_) => word.concern("part of it cannot be parsed"),
        }
    }
    let is_raw = !word.known || word.glob || word.tilde || has_revision;
    word.shown = if is_raw { raw.to_owned() } else { quoted(&word.text) };
    if !word.known {
        word.text = raw.to_owned();
    }
    word
}

/// Returns true if a word is quoted text with substitutions, so that it is one word.
fn is_one(pieces: &[WordPieceWithSource]) -> bool {
    use WordPiece::{CommandSubstitution, EscapeSequence, ParameterExpansion, Text};
    let [whole] = pieces else { return false };
    let WordPiece::DoubleQuotedSequence(inner) = &whole.piece else { return false };
    inner.iter().all(|piece| match &piece.piece {
        Text(_) | EscapeSequence(_) | CommandSubstitution(_) => true,
        ParameterExpansion(ParameterExpr::Parameter { parameter, indirect: false }) => {
            matches!(parameter, Parameter::Named(_))
        }
        _ => false,
    })
}

/// Expands a word with alternatives, such as `src/{a,b}`, if they are plain and few.
pub(super) fn alternatives(raw: &str) -> Option<Vec<String>> {
    let is_letter = |byte: u8| is_plain(byte) || matches!(byte, b'{' | b'}');
    if !raw.contains('{') || !raw.bytes().all(is_letter) {
        return None;
    }
    let mut words = vec![String::new()];
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('{') {
        let (group, behind) = after.split_once('}')?;
        if before.contains('}') || group.contains('{') || !group.contains(',') {
            return None;
        }
        words = words
            .iter()
            .flat_map(|word| group.split(',').map(move |one| [word, before, one].concat()))
            .take(MAX_ALTERNATIVES + 1)
            .collect();
        rest = behind;
    }
    if rest.contains('}') || words.len() > MAX_ALTERNATIVES {
        return None;
    }
    words.iter_mut().for_each(|word| word.push_str(rest));
    words.retain(|word| !word.is_empty());
    Some(words)
}

/// Returns true if braces from here on expand to several words, or may do so where quotes hide which ones match.
fn is_several(raw: &str, from: usize) -> bool {
    let mut depth = 0;
    let hidden = raw.contains(['"', '\'', '\\', '$', '`']);
    let end = raw[from..].char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        (depth == 0).then_some(from + at)
    });
    let group = if hidden { raw } else { &raw[from..end.unwrap_or(raw.len())] };
    group.contains(',') || group.contains("..")
}

/// Reads the commands in the body of a here-document.
pub(super) fn read_document(raw: &str, options: &ParserOptions) -> Word {
    let mut word = Word { known: false, ..Word::default() };
    if preflight::has_many_expansions(raw) {
        word.concern("it has too much in it to be read");
        return word;
    }
    match word::parse_heredoc(raw, options) {
        Ok(pieces) => take_pieces(&pieces, &mut word),
        Err(_) => word.concern("part of it cannot be parsed"),
    }
    word
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'=' | b',' | b'@' | b'%' | b'+')
}

/// Returns the words that are neither options nor the values of those that are `valued`.
pub(super) fn without_options<'w>(
    words: &'w [Word],
    valued: &str,
) -> impl Iterator<Item = &'w Word> {
    let mut is_value = false;
    words.iter().filter(move |word| {
        let was_value = std::mem::replace(&mut is_value, has_word(valued, &word.text));
        !was_value && !word.text.starts_with('-')
    })
}

/// Quotes a text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    let needs_none = |letter: char| {
        letter.is_alphanumeric()
            || matches!(
                letter,
                '_' | '-' | '.' | '/' | ':' | '=' | ',' | '@' | '%' | '+' | '^' | '~'
            )
    };
    // A bracket alone is the name of a program and its last word.
    if matches!(text, "[" | "]") {
        return text.to_owned();
    }
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(needs_none) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Characters that cannot be confused with those that shells interpret.
fn is_symbol(letter: char) -> bool {
    matches!(letter, '…' | '•' | '←'..='⇿' | '─'..='❗' | '❡'..='➿' | '\u{1f300}'..='\u{1faff}')
}

struct Scan<'a> {
    word: Word,
    /// True if there is an expansion that only the parser can take apart.
    expands: bool,
    /// True if the name of a commit is substituted.
    has_revision: bool,
    home: Option<&'a str>,
    constants: &'a Constants,
}

impl Scan<'_> {
    fn run(&mut self, raw: &str) {
        let mut rest = raw;
        if let Some(after) = rest.strip_prefix('~') {
            self.word.tilde = true;
            if !after.is_empty() && !after.starts_with('/') {
                self.unknown();
            }
        }
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            rest = match letter {
                '\'' => {
                    let Some(end) = after.find('\'') else {
                        return self.concern("a quote is not closed");
                    };
                    self.word.text.push_str(&after[..end]);
                    &after[end + 1..]
                }
                '"' => match self.double_quoted(after) {
                    Some(rest) => rest,
                    None => return self.concern("a quote is not closed"),
                },
                '\\' => match after.chars().next() {
                    Some('\n') => &after[1..],
                    Some(next) => {
                        self.word.text.push(next);
                        &after[next.len_utf8()..]
                    }
                    None => return self.concern("it ends in a backslash"),
                },
                '$' => self.dollar(after, false),
                '`' => {
                    self.unknown();
                    self.expands = true;
                    return;
                }
                _ => {
                    self.bare(letter, raw, raw.len() - rest.len());
                    after
                }
            };
            if self.expands {
                return;
            }
        }
    }

    fn bare(&mut self, letter: char, raw: &str, at: usize) {
        match letter {
            '*' | '?' | '[' if raw != "[" => {
                let text = self.word.text.as_str();
                let is_named = text.starts_with("--") && text.contains('=');
                self.word.glob_start |= text.is_empty() || (text.starts_with('-') && !is_named);
                self.word.glob = true;
            }
            '{' if is_several(raw, at) => {
                self.word.known = false;
                self.word.concern("braces stand for several words");
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | ' ' | '\t' | '\n' => {
                self.word.concern("it has an operator in it");
            }
            _ if !letter.is_ascii() && !letter.is_alphanumeric() && !is_symbol(letter) => {
                self.word.concern("it has letters that look like others");
            }
            _ => {}
        }
        self.word.text.push(letter);
    }

    /// Reads up to the closing quote, and returns the rest.
    fn double_quoted<'r>(&mut self, mut rest: &'r str) -> Option<&'r str> {
        loop {
            let letter = rest.chars().next()?;
            let after = &rest[letter.len_utf8()..];
            rest = match letter {
                '"' => return Some(after),
                '\\' => match after.chars().next()? {
                    '\n' => &after[1..],
                    next @ ('$' | '`' | '"' | '\\') => {
                        self.word.text.push(next);
                        &after[1..]
                    }
                    _ => {
                        self.word.text.push('\\');
                        after
                    }
                },
                '$' => self.dollar(after, true),
                '`' => {
                    self.unknown();
                    self.expands = true;
                    return Some("");
                }
                _ => {
                    self.word.text.push(letter);
                    after
                }
            };
            if self.expands {
                return Some("");
            }
        }
    }

    /// Reads an expansion; `after` is the text after the dollar. Returns the rest.
    fn dollar<'r>(&mut self, after: &'r str, in_quotes: bool) -> &'r str {
        let braced = after.strip_prefix('{');
        let named = braced.unwrap_or(after);
        let end = named
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(named.len());
        let (name, mut rest) = named.split_at(end);
        let closed = match braced {
            Some(_) => rest.strip_prefix('}'),
            None => Some(rest),
        };
        if let (Some(closed), false) =
            (closed, name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()))
        {
            rest = closed;
            match self.home {
                Some(home) if name == "HOME" && home.bytes().all(is_plain) => {
                    self.word.text.push_str(home)
                }
                // After a name without braces some shells read a modifier or an index that changes the value.
                _ if braced.is_none() && rest.starts_with([':', '[']) => self.unknown(),
                _ => self.constant(name, in_quotes),
            }
            return rest;
        }
        match after.chars().next() {
            None => {
                self.word.text.push('$');
                after
            }
            Some('"') if in_quotes => {
                self.word.text.push('$');
                after
            }
            Some('\'' | '"') if !in_quotes => {
                self.word.concern(HIDES_TEXT);
                self.unknown();
                self.expands = true;
                after
            }
            Some('(' | '{' | '[') => {
                if let Some((inner, rest)) = revisions::substitution(after) {
                    self.word.inner.push(inner.to_owned());
                    self.revision(in_quotes);
                    return rest;
                }
                self.unknown();
                self.expands = true;
                after
            }
            Some('~' | '=' | '^') if !in_quotes => {
                self.concern("some shells run what a variable holds there");
                after
            }
            Some(special) if special.is_ascii_digit() || "?#@*$!-".contains(special) => {
                self.unknown();
                &after[1..]
            }
            Some(_) => {
                self.word.text.push('$');
                after
            }
        }
    }

    /// Adds the value of a variable if it is known. Without quotes it must be one word after any splitting.
    fn constant(&mut self, name: &str, in_quotes: bool) {
        if self.constants.is_revision(name) {
            return self.revision(in_quotes);
        }
        let Some((text, glob)) = self.constants.get(name) else { return self.unknown() };
        if !in_quotes && (glob || text.is_empty() || !text.bytes().all(is_plain)) {
            return self.unknown();
        }
        if glob {
            let begins = self.word.text.is_empty() || self.word.text.starts_with('-');
            self.word.glob_start |= begins && text.starts_with(['*', '?', '[']);
            self.word.glob = true;
        }
        self.word.text.push_str(text);
    }

    /// Puts in the name of a commit. Without quotes it can be nothing, so that the words after it change.
    fn revision(&mut self, in_quotes: bool) {
        self.has_revision = true;
        match in_quotes {
            true => self.word.text.push_str(revisions::STANDS_FOR),
            false => {
                self.word.revision |= self.word.text.is_empty() && self.word.known;
                self.word.known = false;
            }
        }
    }

    fn unknown(&mut self) {
        self.word.known = false;
        self.word.revision = false;
    }

    fn concern(&mut self, reason: &'static str) {
        self.word.known = false;
        self.word.concern(reason);
    }
}

fn take_pieces(pieces: &[WordPieceWithSource], word: &mut Word) {
    for piece in pieces {
        match &piece.piece {
            // The parser takes an expansion without an end for text.
            WordPiece::Text(text)
                if text.ends_with('$')
                    || ["$(", "${", "`"].iter().any(|open| text.contains(open)) =>
            {
                word.concern("part of it cannot be parsed");
            }
            WordPiece::Text(_) | WordPiece::SingleQuotedText(_) | WordPiece::EscapeSequence(_) => {}
            WordPiece::TildeExpansion(_) => {}
            WordPiece::DoubleQuotedSequence(inner) => take_pieces(inner, word),
            WordPiece::AnsiCQuotedText(_) | WordPiece::GettextDoubleQuotedSequence(_) => {
                word.concern(HIDES_TEXT);
            }
            WordPiece::CommandSubstitution(command) => word.inner.push(command.clone()),
            WordPiece::BackquotedCommandSubstitution(command) => {
                // Backslashes have another meaning in there, twice.
                if command.contains('\\') {
                    word.concern("it has backslashes between backquotes");
                }
                word.inner.push(command.clone());
            }
            WordPiece::ParameterExpansion(ParameterExpr::Parameter {
                parameter,
                indirect: false,
            }) => {
                if !matches!(
                    parameter,
                    Parameter::Named(_) | Parameter::Positional(_) | Parameter::Special(_)
                ) {
                    word.concern("an index of an array can run commands");
                }
            }
            WordPiece::ParameterExpansion(_) => word.concern("it changes a variable on the way"),
            WordPiece::ArithmeticExpression(expression) => {
                let harmless =
                    |letter: char| letter.is_ascii_digit() || " +-*/%()<>=!&|^~?:".contains(letter);
                if !expression.value.chars().all(harmless) {
                    word.concern("arithmetic can run commands");
                }
            }
        }
    }
}
