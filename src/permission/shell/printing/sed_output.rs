//! The output of `sed` for a known input, so that a text which it makes on the way to a shell is examined as the shell
//! reads it. Addresses are left out: a replacement that may happen is taken to happen, since this only adds denials.

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::permission::shell::decode;
use crate::permission::shell::word::Word;

/// Maximum number of commands of a script that are followed.
const MAX_COMMANDS: usize = 16;
/// Maximum length in bytes of a text, of a script and of a pattern. A longer script is not followed: looking for the end
/// of each of its commands takes time that grows with its square.
const MAX_TEXT: usize = 4096;
const MAX_SCRIPT: usize = 4096;
const MAX_PATTERN: usize = 256;
/// Maximum size of a compiled pattern in bytes.
const MAX_COMPILED: usize = 64 * 1024;

/// Returns what the words of a `sed` command make of a text.
pub(super) fn output(words: &[Word], text: String) -> String {
    let is_extended = words.iter().any(|word| {
        matches!(word.text.as_str(), "-E" | "-r" | "--regexp-extended" | "-nE" | "-En" | "-nr")
    });
    let mut text = text;
    let mut left = MAX_COMMANDS;
    for script in scripts(words) {
        let mut rest = script;
        while left > 0 && text.len() <= MAX_TEXT {
            let Some((command, after)) = next_command(rest) else { break };
            rest = after;
            left -= 1;
            text = command.apply(text, is_extended);
        }
    }
    text
}

/// Returns the texts that a script has a shell run: replacements with the flag `e`, and the command `e`.
pub(crate) fn run_texts(words: &[Word]) -> Vec<String> {
    let mut found = Vec::new();
    for script in scripts(words) {
        // An `e` alone runs the line as the script made it.
        let runs_lines = script.split([';', '\n', '{', '}']).any(|command| {
            let command = command.trim().trim_start_matches(|letter: char| {
                letter.is_ascii_digit() || matches!(letter, '$' | ',' | '!')
            });
            command.trim() == "e"
        });
        let mut rest = script;
        while let Some((command, after)) = next_command(rest).filter(|_| found.len() < MAX_COMMANDS)
        {
            rest = after;
            if command.letter == 's' && (command.flags.contains('e') || runs_lines) {
                found.push(command.to);
            }
        }
        found.extend(script.lines().flat_map(commands_of_e).take(MAX_COMMANDS));
    }
    found
}

/// Returns what may follow the command `e` in a line of a script: `1e date`, `/x/{e date`.
fn commands_of_e(line: &str) -> impl Iterator<Item = String> {
    line.match_indices('e').filter_map(|(at, _)| {
        let before = line[..at].trim_end().chars().next_back();
        let is_command =
            before.is_none_or(|letter| letter.is_ascii_digit() || "$,/;{!".contains(letter));
        let text = line[at + 1..].trim();
        (is_command && !text.is_empty()).then(|| text.to_owned())
    })
}

/// Returns the files that a script may write to: what follows `w` to the end of its line. `rest` begins after the name
/// of the program.
pub(crate) fn files_written(rest: &[Word]) -> Vec<&str> {
    let lines = scripts_among(rest).into_iter().flat_map(str::lines).take(MAX_COMMANDS);
    lines
        .flat_map(|line| {
            line.match_indices(['w', 'W']).filter_map(|(at, _)| {
                let path = line[at + 1..].trim();
                let before = line[..at].chars().next_back();
                // `s/a/b/gw x` has further flags before it.
                let is_command = !before.is_some_and(char::is_alphabetic) && !path.is_empty();
                (is_command || path.starts_with(['/', '.', '~'])).then_some(path)
            })
        })
        .take(MAX_COMMANDS)
        .collect()
}

/// Returns the files that scripts may read or write: what follows `r` or `w` to the end of its line.
pub(crate) fn files_named(words: &[Word]) -> Vec<&str> {
    let lines = scripts(words).into_iter().flat_map(str::lines).take(MAX_COMMANDS);
    lines
        .flat_map(|line| {
            line.match_indices(['r', 'R', 'w', 'W']).filter_map(|(at, _)| {
                let before = line[..at].chars().next_back();
                let path = line[at + 1..].trim();
                (!before.is_some_and(char::is_alphabetic) && !path.is_empty()).then_some(path)
            })
        })
        .take(MAX_COMMANDS)
        .collect()
}

/// Returns the scripts among the words of a `sed` command.
pub(crate) fn scripts(words: &[Word]) -> Vec<&str> {
    scripts_among(words.get(1..).unwrap_or_default())
}

fn scripts_among(words: &[Word]) -> Vec<&str> {
    let mut scripts = Vec::new();
    let mut first = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if let Some(script) = text.strip_prefix("--expression=") {
            scripts.push(script);
        } else if text.starts_with('-') && !text.starts_with("--") && text.ends_with('e') {
            scripts.extend(rest.next().map(|word| word.text.as_str()));
        } else if let Some(script) = text.strip_prefix("-e") {
            scripts.push(script);
        } else if !text.starts_with('-') {
            first = first.or(Some(text));
        }
    }
    if scripts.is_empty() {
        scripts.extend(first);
    }
    scripts.retain(|script| script.len() <= MAX_SCRIPT);
    scripts
}

struct Command<'s> {
    letter: char,
    from: String,
    to: String,
    flags: &'s str,
}

/// Returns the next `s` or `y` command of a script, and the text after it.
fn next_command(script: &str) -> Option<(Command<'_>, &str)> {
    let mut at = 0;
    loop {
        let start = at + script[at..].find(['s', 'y'])?;
        at = start + 1;
        let before = script[..start].trim_end().chars().next_back();
        // A command is at the start, after a separator, or after an address.
        if before.is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '\\') {
            continue;
        }
        let delimiter = script[at..].chars().next()?;
        if delimiter.is_ascii_alphanumeric() || matches!(delimiter, '\\' | '\n' | ' ' | ';') {
            continue;
        }
        let body = &script[at + delimiter.len_utf8()..];
        let Some((from, rest)) = part(body, delimiter) else { continue };
        let Some((to, rest)) = part(rest, delimiter) else { continue };
        let end = rest.find([';', '\n', '}']).unwrap_or(rest.len());
        let letter = script[start..].chars().next()?;
        return Some((Command { letter, from, to, flags: &rest[..end] }, &rest[end..]));
    }
}

/// Splits a text at the first delimiter that has no backslash before it.
fn part(text: &str, delimiter: char) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == delimiter {
            return Some((found, &text[at + letter.len_utf8()..]));
        }
        if letter == '\\' {
            let (_, next) = letters.next()?;
            if next != delimiter {
                found.push('\\');
            }
            found.push(next);
        } else {
            found.push(letter);
        }
    }
    None
}

impl Command<'_> {
    fn apply(&self, text: String, is_extended: bool) -> String {
        if self.letter == 'y' {
            return decode::translated(&text, &self.from, &self.to);
        }
        let ignores_case = self.flags.contains(['i', 'I']);
        let Some(pattern) = compiled(&self.from, is_extended, ignores_case) else { return text };
        let limit = if self.flags.contains('g') { usize::MAX } else { 1 };
        let mut made = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if at > 0 {
                made.push(b'\n');
            }
            let line = line.as_bytes();
            let mut end = 0;
            for found in pattern.captures_iter(line).take(limit) {
                let Some(whole) = found.get(0) else { break };
                made.extend_from_slice(line.get(end..whole.start()).unwrap_or_default());
                fill(&mut made, &self.to, &found);
                end = whole.end();
                // Each match may add a replacement as long as the script.
                if made.len() > MAX_TEXT {
                    break;
                }
            }
            made.extend_from_slice(line.get(end..).unwrap_or_default());
        }
        String::from_utf8_lossy(&made).into_owned()
    }
}

/// Adds a replacement with `&` and `\1` filled in, as far as there is room.
fn fill(made: &mut Vec<u8>, to: &str, found: &Captures) {
    let group = |at: usize| found.get(at).map_or(&b""[..], |one| one.as_bytes());
    let mut letters = to.chars();
    while let Some(letter) = letters.next() {
        if made.len() > 2 * MAX_TEXT {
            return;
        }
        match letter {
            '&' => made.extend_from_slice(group(0)),
            '\\' => match letters.next() {
                Some(digit @ '0'..='9') => {
                    made.extend_from_slice(group(digit as usize - '0' as usize))
                }
                Some('n') => made.push(b'\n'),
                Some('t') => made.push(b'\t'),
                Some(other) => made.extend_from_slice(other.to_string().as_bytes()),
                None => {}
            },
            other => made.extend_from_slice(other.to_string().as_bytes()),
        }
    }
}

/// Returns a pattern of `sed`. In a basic one, the operators have a backslash, and stand for themselves without it.
fn compiled(pattern: &str, is_extended: bool, ignores_case: bool) -> Option<Regex> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return None;
    }
    let mut made = String::new();
    let mut letters = pattern.chars();
    let mut in_list = false;
    while let Some(letter) = letters.next() {
        match letter {
            ']' if in_list => {
                in_list = false;
                made.push(letter);
            }
            _ if in_list => made.push(letter),
            '[' => {
                in_list = true;
                made.push(letter);
            }
            '\\' => match letters.next()? {
                operator @ ('(' | ')' | '{' | '}' | '+' | '?' | '|') if !is_extended => {
                    made.push(operator)
                }
                other => made.extend(['\\', other]),
            },
            '(' | ')' | '{' | '}' | '+' | '?' | '|' if !is_extended => made.extend(['\\', letter]),
            other => made.push(other),
        }
    }
    let mut builder = RegexBuilder::new(&made);
    builder.unicode(false).size_limit(MAX_COMPILED).case_insensitive(ignores_case);
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_applied() {
        let made = |words: &[&str], text: &str| {
            let words: Vec<Word> =
                ["sed"].iter().chain(words).map(|word| Word::plain(word)).collect();
            output(&words, text.to_owned())
        };
        for (words, text, expected) in [
            (&["s/X/m/"][..], "rX -rf /", "rm -rf /"),
            (&["s/X//g"], "rXm -rXf /", "rm -rf /"),
            (&["-e", "s|A|r|", "-e", "s|B|m|"], "AB -rf /", "rm -rf /"),
            (&["s,a,r,;s,b,m,"], "ab -rf /", "rm -rf /"),
            (&["y/xy/rm/"], "xy -rf /", "rm -rf /"),
            (&["s/^# //"], "# rm -rf /", "rm -rf /"),
            (&["-n", "s/^# \\(.*\\)/\\1/p"], "# rm -rf /", "rm -rf /"),
            (&["-E", "s/(x)+/rm/"], "xxx -rf /", "rm -rf /"),
            (&["s/.*/rm & \\//"], "-rf", "rm -rf /"),
            (&["1s/x/rm/I"], "X -rf /", "rm -rf /"),
            (&["/x/s/x/rm/"], "x -rf /", "rm -rf /"),
            (&["s#\\#x#rm#"], "#x -rf /", "rm -rf /"),
            (&["p"], "ls", "ls"),
            (&["s/(/x/"], "(", "x"),
            (&["s/[/x/"], "a", "a"),
            (&["s"], "a", "a"),
        ] {
            assert_eq!(made(words, text), expected, "{words:?}");
        }
    }

    #[test]
    fn long_scripts_and_texts_stay_small() {
        let made = |script: &str, text: &str| {
            let words = ["sed", script].map(Word::plain);
            output(&words, text.to_owned()).len()
        };
        let text = "x".repeat(MAX_TEXT);
        for to in ["&".repeat(4000), "y".repeat(4000), "&&&&;s/x/&&&&/g;s/x/&&&&/g".to_owned()] {
            assert!(made(&format!("s/x/{to}/g"), &text) <= 4 * MAX_TEXT, "{}", to.len());
            assert!(made(&format!("s/x*/{to}/g"), &text) <= 4 * MAX_TEXT, "{}", to.len());
        }
        // Each command has a delimiter of its own, and no end.
        let open: String = ('\u{4e00}'..).take(20_000).flat_map(|mark| ['s', mark]).collect();
        assert_eq!(made(&open, "x"), 1);
    }
}
