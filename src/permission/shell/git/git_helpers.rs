//! Finds the commands that git runs: by its settings, by options of its commands, and by addresses.

use super::git_commands::{command_at, is_text};
use crate::permission::shell::word::Word;

/// Commands of git that run a text among their words.
const RUN_TEXTS: [&str; 21] = [
    "archive",
    "bisect",
    "clone",
    "config",
    "difftool",
    "fetch",
    "filter-branch",
    "for-each-repo",
    "grep",
    "instaweb",
    "ls-remote",
    "merge-index",
    "mergetool",
    "pull",
    "push",
    "rebase",
    "remote",
    "send-email",
    "shell",
    "submodule",
    "web--browse",
];

/// Returns true for a command of git that runs some of its words.
pub(crate) fn runs_words(name: &str) -> bool {
    RUN_TEXTS.contains(&name)
}

/// Returns the texts among the words of a git command that it may run.
pub(crate) fn run_texts(words: &[Word]) -> Vec<String> {
    let at = command_at(words);
    let name = words.get(at).map_or("", |word| word.text.as_str());
    let runs = runs_words(name);
    let is_run = |place: usize, text: &str| {
        // The words of a search are patterns and files.
        let is_option = name != "grep" || text.starts_with('-');
        place < at
            || text.contains("=!")
            || (runs && place > at && is_option && !is_text(words, place))
    };
    let texts = words.iter().enumerate().skip(1).map(|(place, word)| (place, word.text.as_str()));
    texts.filter(|(place, text)| is_run(*place, text)).map(|(_, text)| as_run(text)).collect()
}

/// Returns the value of a setting that git may run: that of `-c core.pager=x`, or a whole text.
pub(crate) fn run_value(text: &str) -> &str {
    let value = text.split_once('=').filter(|(key, _)| !key.contains(' '));
    value.map_or(text, |(_, value)| value.trim_start_matches('!'))
}

/// Returns a text as it is run: without the mark of an alias and that of a transport whose address is a command, in which
/// a space is written with a percent sign.
fn as_run(text: &str) -> String {
    match text.strip_prefix("ext::") {
        Some(command) => command.replace("% ", " "),
        None => text.trim_start_matches('!').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_found_and_what_is_said_is_not() {
        let found = |words: &[&str]| {
            let words: Vec<Word> = words.iter().map(|word| Word::plain(word)).collect();
            run_texts(&words)
        };
        assert_eq!(found(&["git", "-c", "a.b=x y", "log", "x y"]), ["-c", "a.b=x y"]);
        assert_eq!(found(&["git", "config", "a.b", "!x y"]), ["a.b", "x y"]);
        assert_eq!(found(&["git", "fetch", "ext::x% y"]), ["x y"]);
        assert_eq!(found(&["git", "grep", "-Ox y", "z z"]), ["-Ox y"]);
        assert!(found(&["git", "commit", "-m", "x y"]).is_empty());
    }
}
