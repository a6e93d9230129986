//! Finds what may be names of files in code: its strings, and their words.

use crate::util::words::has_word;

/// Maximum number of strings that are examined as names of files, and of further quotes.
pub(super) const MAX_STRINGS: usize = 1024;
const MAX_QUOTES: usize = 256;

/// Commands that change the files that they name.
const FILE_COMMANDS: &str = "rm rmdir mv cp ln tee touch truncate shred unlink rsync rimraf sed";

/// The language of code, as far as it matters for what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Commands of a shell.
    Shell,
    /// Names of files and commands are in quotes.
    Script,
    /// The same, of a program that changes only the text of its files: paths in it are mostly part of that text.
    Pattern,
    /// Names of files and commands are words of a line.
    Lines,
    /// The same, and files are those of this machine.
    Statements,
    /// The same of any language, with further signs between names.
    Expressions,
}

/// Returns what may be names of files in texts, each with the text that it is in.
pub(super) fn all_names(
    texts: &[String],
    language: Language,
    words_count: bool,
) -> impl Iterator<Item = (&str, &str)> {
    let of = move |text| names(text, language, words_count).map(move |name| (text, name));
    texts.iter().map(String::as_str).flat_map(of).take(MAX_STRINGS)
}

/// Returns what may be names of files in a text of code, with the words of its strings if they count.
pub(super) fn names(
    text: &str,
    language: Language,
    words_count: bool,
) -> impl Iterator<Item = &str> {
    let mut found: Vec<&str> = Vec::new();
    for quote in ['"', '\''] {
        found.extend(text.split(quote).skip(1).step_by(2));
    }
    // A template can hold another one.
    let step = if text.contains("${") { 1 } else { 2 };
    found.extend(text.split('`').skip(1).step_by(step));
    found.extend(in_operators(text));
    let words = match language {
        Language::Script | Language::Pattern => found.clone(),
        _ => vec![text],
    };
    let words = if words_count { words } else { Vec::new() };
    let further = if language == Language::Expressions { ":{}!" } else { "" };
    let is_end = move |letter: char| {
        letter.is_whitespace() || "\"'`()[]<>,;=|@".contains(letter) || further.contains(letter)
    };
    let parts = words.into_iter().filter(move |text| text.contains(is_end));
    let parts = parts.flat_map(move |text| {
        // All words of a command that changes files may be names.
        let is_command = text.split(is_end).any(|word| has_word(FILE_COMMANDS, word));
        text.split(is_end).filter(move |part| is_command || part.contains(['/', '.']))
    });
    found.retain(|text| !text.contains('\n'));
    found.into_iter().chain(parts)
}

/// Returns what is in the other quotes of Perl and Ruby, and each word of their lists: `q(x)`, `%q{x}`, `qw(x y)`, `%w[x y]`.
fn in_operators(text: &str) -> impl Iterator<Item = &str> {
    let opens = text.match_indices(['(', '[', '{']).filter_map(|(at, open)| {
        let name = text[..at].rsplit(|letter: char| !letter.is_ascii_alphabetic()).next()?;
        let is_of_ruby = text[..at - name.len()].ends_with('%');
        let is_quote = matches!(name, "q" | "qq" | "qw")
            || is_of_ruby && matches!(name, "" | "q" | "Q" | "w" | "W");
        let close = match open {
            "(" => ')',
            "[" => ']',
            _ => '}',
        };
        is_quote.then(|| text[at + 1..].split(close).next().unwrap_or_default())
    });
    opens.take(MAX_QUOTES).flat_map(|inner| std::iter::once(inner).chain(inner.split_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_quotes_or_words() {
        let found = |text, language| names(text, language, true).collect::<Vec<_>>();
        assert_eq!(found("f(\"a b/c\", x.y)", Language::Script), ["a b/c", "b/c"]);
        assert_eq!(found(".read x/y", Language::Lines), [".read", "x/y"]);
        assert!(found("print(x.key)", Language::Script).is_empty());
    }
}
