//! Programs that pass their standard input on to an interpreter elsewhere: on another machine, in a container, as
//! another user, or line by line. The code in that input is outside of the command, so that it cannot be judged.

use super::program_names;
use super::programs::{self, Kind, Program};
use super::script_safety::{awk_is_harmless, sed_is_harmless};
use super::shells::{has_known_options, is_shell};
use super::word::Word;
use super::{AnalyzedCommand, Concern};
use crate::util::words::has_word;

/// Maximum number of words that are examined.
const MAX_WORDS: usize = 64;

/// Adds a question if a command passes input that cannot be judged to an interpreter.
pub(super) fn ask(
    base: &str,
    program: Option<&Program>,
    words: &[Word],
    has_input: bool,
    command: &mut AnalyzedCommand,
) {
    let input = program.map_or("", |program| program.input);
    if input == "lines" {
        if !names_command(words) {
            add(command, format!("{base} runs the lines of its input"));
        }
        return;
    }
    if !has_input {
        return;
    }
    if passes(program, words) {
        add(command, format!("{base} passes its input to a program that may run it"));
        return;
    }
    let words = &words[1..words.len().min(MAX_WORDS)];
    // Interpreters take their own words for a script and its arguments; their input is judged with their options.
    let may_run = program
        .is_none_or(|program| program.kind.runs_arguments() && !program.script && !program.sql);
    let names_interpreter = |word: &Word| word.text.split_whitespace().any(is_interpreter);
    if may_run && words.iter().any(names_interpreter) {
        add(command, format!("{base} can pass its input to an interpreter"));
    }
}

/// Returns true if a program passes its input to another one that may run it.
pub(super) fn passes(program: Option<&Program>, words: &[Word]) -> bool {
    let input = program.map_or("", |program| program.input);
    let connects = |word: &Word| input.split(',').any(|one| one == word.text);
    let words = &words[1..words.len().min(MAX_WORDS)];
    input == "*" || (!input.is_empty() && words.iter().any(connects))
}

/// Programs that send their input away or draw it where a word says that they read it: `-`, `@-`.
const SENDERS: &str = "curl gh glab http https xh";

/// Words with which they take settings, or a command for elsewhere, from it.
const RUNNING: &str = "alias codespace cs extension extensions ext";

/// Commands of `gh` and `glab` that send their input: another word can be an alias, or a program that extends them.
const HUB: &str =
    "api pr mr issue release gist snippet repo run workflow secret variable label incident";

/// Returns true if a program only changes or sends the text in its input.
pub(super) fn is_text(base: &str, kind: Option<Kind>, words: &[Word]) -> bool {
    let rest = &words[1..];
    let are_known = || rest.iter().all(|word| word.known);
    match kind {
        Some(Kind::Sed) => {
            let is_plain = |word: &Word| match word.text.strip_prefix('-') {
                Some(option) => {
                    let letters = option.strip_suffix('e').unwrap_or(option);
                    letters.chars().all(|letter| "nErsuz".contains(letter))
                }
                None => sed_is_harmless(&word.text),
            };
            are_known() && rest.iter().all(is_plain)
        }
        Some(Kind::Awk) => {
            let is_plain = |word: &Word| match word.text.strip_prefix('-') {
                Some(option) => option.starts_with(['F', 'v']),
                None => awk_is_harmless(&word.text),
            };
            are_known() && rest.iter().all(is_plain)
        }
        _ => {
            has_word(SENDERS, base)
                && are_known()
                && rest.iter().any(|word| word.text == "-" || word.text.ends_with("@-"))
                && !rest.iter().any(|word| may_run(base, word))
                && (!is_hub(base) || rest.first().is_some_and(|word| has_word(HUB, &word.text)))
        }
    }
}

fn is_hub(base: &str) -> bool {
    matches!(base, "gh" | "glab")
}

/// Returns true for a word with which the input is settings or a command, or is written into a file.
fn may_run(base: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    let is_setting = match text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            ["--conf", "--wri", "--url"].iter().any(|name| text.starts_with(name))
        }
        Some(letters) => letters.contains(['K', 'w']),
        None => false,
    };
    has_word(RUNNING, text)
        || (!is_hub(base) && is_setting)
        || text.to_ascii_lowercase().contains("file:")
}

/// Adds a question if a shell, or a program that starts one, runs its input.
pub(super) fn ask_shell(base: &str, words: &[Word], command: &mut AnalyzedCommand) {
    const VALUED: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next().filter(|_| has_known_options(base)) {
        let text = word.text.as_str();
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        if letters.is_some_and(|letters| letters.is_empty() || letters.contains('s')) {
            break;
        }
        if VALUED.contains(&text) {
            rest.next();
        } else if !text.starts_with(['-', '+']) && !text.starts_with("/dev/") {
            // A script; the input is its own.
            return;
        }
    }
    add(command, format!("{base} can run its input"));
}

fn add(command: &mut AnalyzedCommand, reason: String) {
    command.concerns.push(Concern::of_input(reason));
}

/// Returns true if `parallel` is given a command, so that its input is only arguments.
fn names_command(words: &[Word]) -> bool {
    const VALUED: [&str; 12] =
        ["-a", "-I", "-N", "-n", "-L", "-s", "-d", "-E", "-C", "-P", "-j", "-S"];
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if VALUED.contains(&text)
            || matches!(text, "--arg-file" | "--jobs" | "--delimiter" | "--colsep")
        {
            rest.next();
        } else if text.starts_with(":::") {
            return false;
        } else if !text.starts_with('-') {
            // The command itself comes from the input: `parallel {}`.
            return !text.starts_with('{');
        }
    }
    words.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help" | "-V" | "-h"))
}

/// Returns true for the name of a program that runs its input, also as the name of an image: `library/python:3`.
fn is_interpreter(word: &str) -> bool {
    let name = program_names::base(word);
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    is_shell(name)
        || (name.len() > 2
            && programs::find(name).is_some_and(|program| program.script || program.stdin))
}
