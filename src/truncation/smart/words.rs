//! Reads the words of a line and the way it begins: what kinds of words it holds, whether it reports an exit or a count of
//! failures, and the shape of its start.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Longer lines are described by their start.
pub(super) const LOOKED_AT: usize = 400;

/// Words of errors.
const ERROR: usize = 0;
/// Words of failures.
const FAILURE: usize = 1;
/// Words of exceptions.
const EXCEPTION: usize = 2;
/// Words of an exit that is reported.
const EXIT: usize = 5;
/// Starts of a command that is echoed.
const COMMAND: usize = 9;

/// Words by their meaning; the index of the group is the bit in the line's mask.
pub(super) static GROUPS: [&[&str]; 10] = [
    &["error", "erreur", "fehler", "ошибка", "错误", "エラー", "fatal", "panic", "critical"],
    &["fail", "broken", "not ok", "✗", "✕", "✖", "❌"],
    &["exception", "traceback", "stack trace", "caused by", "backtrace", "raise", "throw"],
    &[
        "expected", "actual", "assert", "should ", "to be", "to equal", "got:", "wanted",
        "but was", "received", "mismatch", "+++", "---",
    ],
    &["warn", "deprecat", "notice"],
    &[
        "exited with",
        "exit code",
        "exit status",
        "returned non-zero",
        "elifecycle",
        "*** [",
        "aborted",
        "terminated",
        "killed",
        "exit 1",
        "return code",
        "gave up",
        "stopping",
    ],
    &[
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "unable",
        "not found",
        "undefined",
        "missing",
        "invalid",
        "unexpected",
        "denied",
        "no such",
        "unknown",
        "illegal",
        "does not",
        "doesn't",
        "didn't",
        "not in scope",
        "unresolved",
        "refused",
        "timed out",
        "timeout",
        "conflict",
        "incorrect",
        "must be",
        "too long",
        "too many",
        "violation",
    ],
    &["pass", "success", " ok", "✓", "done", "complete", "up to date", "up-to-date", "finished"],
    &[
        "install",
        "download",
        "fetch",
        "unpack",
        "setting up",
        "compiling",
        "building",
        "http://",
        "https://",
        "linking",
        "loading",
        "copying",
        "running ",
        "starting ",
        "creating",
        "generating",
        "using ",
    ],
    &["travis_", "$ ", "+ ", "make[", "entering directory", "leaving directory", "> "],
];

struct Words {
    automaton: AhoCorasick,
    groups: Vec<u8>,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let words = GROUPS.iter().flat_map(|group| group.iter().copied());
    let groups = (0u8..).zip(GROUPS).flat_map(|(group, words)| words.iter().map(move |_| group));
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()?;
    Some(Words { automaton, groups: groups.collect() })
});

/// A number that a line reports, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Report {
    #[default]
    None,
    /// An exit with 0, or no failures.
    Zero,
    /// Another exit, or failures.
    Other,
}

/// The words of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// A bit for each group that has a word in the line.
    pub groups: u16,
    /// The exit that the line reports.
    pub exit: Report,
    /// The count of failures that the line reports.
    pub failures: Report,
}

impl Meaning {
    /// Returns true if the line echoes a command.
    pub(crate) fn is_command(self) -> bool {
        self.groups & (1 << COMMAND) != 0
    }

    /// Returns true if the line reports any exit.
    pub(crate) fn is_exit(self) -> bool {
        self.groups & (1 << EXIT) != 0
    }

    /// Returns true if the line holds a word of an error, a failure or an exception.
    pub(crate) fn is_bad(self) -> bool {
        self.groups & (1 << ERROR | 1 << FAILURE | 1 << EXCEPTION) != 0
    }
}

/// Reads the words of a line.
pub(super) fn read(line: &[u8]) -> Meaning {
    let mut meaning = Meaning::default();
    let Some(words) = &*WORDS else { return meaning };
    let line = line.get(..LOOKED_AT).unwrap_or(line);
    for found in words.automaton.find_iter(line) {
        let group = words.groups.get(found.pattern().as_usize()).copied().unwrap_or_default();
        meaning.groups |= 1 << group;
        match usize::from(group) {
            EXIT => {
                let after = line.get(found.end()..).unwrap_or_default();
                let digit = after.iter().take(6).position(u8::is_ascii_digit);
                let is_zero = digit.is_some_and(|at| number_at(after, at) == 0);
                meaning.exit = meaning.exit.max(if is_zero { Report::Zero } else { Report::Other });
            }
            ERROR | FAILURE => {
                if let Some(count) = count_beside(line, found.start(), found.end()) {
                    let report = if count == 0 { Report::Zero } else { Report::Other };
                    meaning.failures = meaning.failures.max(report);
                }
            }
            _ => {}
        }
    }
    meaning
}

/// Returns the number that begins at an offset.
fn number_at(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).take(9);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Returns the number beside a word: `3 failed`, `failures: 3`, `errors=0`.
fn count_beside(text: &[u8], start: usize, end: usize) -> Option<u64> {
    if let Some((b' ', before)) = text.get(..start).and_then(<[u8]>::split_last) {
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let first = before.len() - digits;
        let is_separate = before
            .get(..first)
            .is_some_and(|rest| rest.last().is_none_or(|byte| b" ,(\t".contains(byte)));
        if (1..7).contains(&digits) && is_separate {
            return Some(number_at(before, first));
        }
    }
    let after = text.get(end..)?;
    let after = after.get(after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()..)?;
    let marks = after.iter().take(3).take_while(|byte| b":= ".contains(byte)).count();
    let is_marked = after.iter().take(marks).any(|byte| *byte != b' ');
    let is_number = after.get(marks).is_some_and(u8::is_ascii_digit);
    (is_marked && is_number).then(|| number_at(after, marks))
}

/// The way in which a line begins. The order is that of the learned table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Nothing,
    /// Four equal marks or more.
    Rule,
    /// A number and `)`: a failure in a list of them.
    Item,
    /// A number and `.`, `:` or `|`.
    Numbered,
    /// Another digit.
    Digit,
    /// A character that is not ASCII, such as a bullet.
    Symbol,
    /// `[`
    Bracket,
    /// A prompt, a trace of the shell or a comment.
    Prompt,
    /// `-`
    Dash,
    /// `*`
    Star,
    /// Braces and what closes others.
    Brace,
    /// An absolute or relative path.
    Path,
    /// A quote.
    Quote,
    /// Other punctuation.
    Mark,
    /// A name of a file with a colon.
    File,
    /// A name of a file.
    Name,
    /// A word and a colon.
    Label,
    /// A word in capitals.
    Capitals,
    /// A word with a capital.
    Capital,
    /// Another word.
    Word,
}

/// Returns the way in which a line begins.
pub(super) fn start(line: &[u8]) -> Start {
    let text = line.trim_ascii();
    let Some(first) = text.first().copied() else { return Start::Nothing };
    if first.is_ascii_punctuation() && text.iter().take_while(|byte| **byte == first).count() >= 4 {
        return Start::Rule;
    }
    match first {
        b'0'..=b'9' => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match text.get(digits) {
                Some(b')') => Start::Item,
                Some(b'.' | b':' | b'|') => Start::Numbered,
                _ => Start::Digit,
            }
        }
        b'[' => Start::Bracket,
        b'>' | b'$' | b'+' | b'#' => Start::Prompt,
        b'-' => Start::Dash,
        b'*' => Start::Star,
        b'}' | b')' | b']' | b'{' => Start::Brace,
        b'/' | b'.' => Start::Path,
        b'\'' | b'"' | b'`' => Start::Quote,
        _ if !first.is_ascii() => Start::Symbol,
        _ if first.is_ascii_punctuation() => Start::Mark,
        _ => start_of_word(text),
    }
}

fn start_of_word(text: &[u8]) -> Start {
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_dotted = |pair: &[u8]| matches!(pair, [b'.', letter] if letter.is_ascii_alphabetic());
    if word.contains(&b'/') || word.windows(2).any(is_dotted) {
        return if word.contains(&b':') { Start::File } else { Start::Name };
    }
    if word.last() == Some(&b':') {
        return Start::Label;
    }
    let letters =
        word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    if letters >= 3 && word.iter().take(letters).all(is_capital) {
        return Start::Capitals;
    }
    if word.first().is_some_and(u8::is_ascii_uppercase) { Start::Capital } else { Start::Word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_and_counts_of_failures_are_read() {
        let cases = [
            ("The command \"make\" exited with 2.", Report::Other, Report::None),
            ("Done. Your build exited with 0.", Report::Zero, Report::None),
            ("npm ERR! code ELIFECYCLE", Report::Other, Report::None),
            ("Process finished with exit code 10", Report::Other, Report::None),
            ("4373 runs, 764500 assertions, 5 failures, 0 errors", Report::None, Report::Other),
            ("53 runs, 94 assertions, 0 failures, 0 errors", Report::None, Report::Zero),
            ("Tests run: 3, Failures: 0, Errors: 1, Skipped: 0", Report::None, Report::Other),
            ("FAILED (failures=2)", Report::None, Report::Other),
            ("3 passed, 1 failed", Report::None, Report::Other),
            ("error: 5 lines are too long", Report::None, Report::Other),
            ("v1failed", Report::None, Report::None),
            ("failing since 2019", Report::None, Report::None),
        ];
        for (line, exit, failures) in cases {
            let meaning = read(line.as_bytes());
            assert_eq!((meaning.exit, meaning.failures), (exit, failures), "{line}");
        }
    }

    #[test]
    fn starts_of_lines_have_shapes() {
        let cases = [
            ("", Start::Nothing),
            ("   ", Start::Nothing),
            ("=====", Start::Rule),
            ("  1) adds", Start::Item),
            ("12: x", Start::Numbered),
            ("2 failed", Start::Digit),
            ("\u{25cf} adds", Start::Symbol),
            ("[ERROR] x", Start::Bracket),
            ("+ make", Start::Prompt),
            ("- x", Start::Dash),
            ("* x", Start::Star),
            ("}", Start::Brace),
            ("./a.c:1", Start::Path),
            ("'a'", Start::Quote),
            ("\u{e9}", Start::Symbol),
            ("|x", Start::Mark),
            ("src/a.c:1:2: error", Start::File),
            ("main.go", Start::Name),
            ("Failure:", Start::Label),
            ("FAIL x", Start::Capitals),
            ("Expected 1", Start::Capital),
            ("expected 1", Start::Word),
        ];
        for (line, shape) in cases {
            assert_eq!(start(line.as_bytes()), shape, "{line}");
        }
    }
}
