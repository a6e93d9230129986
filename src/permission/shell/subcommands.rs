//! The command of a program after its own options, so that a deny rule for `git push` counts for `git --no-pager push`, too.

use super::analyzer::pieces;
use super::git::command_at;
use super::git_helpers;
use super::programs::{Kind, Program};
use super::simple_command::{tails, told};
use super::word::Word;

/// Number of words within which a command stands behind options.
const MAX_WORDS: usize = 8;

/// Number of words of a command after which options do not matter.
const MAX_NAMES: usize = 3;

/// Words of git before a command that it runs.
const BEFORE_COMMANDS: [&str; 4] = ["run", "foreach", "-x", "--exec"];

/// Returns the forms of a command without options in front of the words that say what it does.
pub(super) fn without_options(
    base: &str,
    program: Option<&Program>,
    words: &[Word],
) -> Vec<String> {
    match program.map(|program| program.kind) {
        Some(Kind::Git) => of_git(words),
        None if base.starts_with("git-") => {
            vec![["git ", &base[4..], &told(words)[words[0].told.len()..]].concat()]
        }
        None | Some(Kind::Code | Kind::Runner) => of_any(base, words),
        _ => Vec::new(),
    }
}

/// Returns the other forms of a git command: without git's own options, and what it runs by an alias or a setting.
fn of_git(words: &[Word]) -> Vec<String> {
    let at = command_at(words);
    let Some(name) = words.get(at) else { return Vec::new() };
    let mut found = Vec::new();
    if at > 1 {
        found.push(["git ", &told(&words[at..])].concat());
    }
    let rest = told(&words[at + 1..]);
    let mut alias = |setting: &str, value: &str, rest: &str| {
        if setting.trim_start_matches("-c").starts_with("alias.") {
            match value.strip_prefix('!') {
                Some(text) => found.extend(pieces(&[text, " ", rest].concat())),
                None => found.push(["git ", value, " ", rest].concat().trim_end().to_owned()),
            }
        }
    };
    for (setting, value) in words[1..at].iter().filter_map(|word| word.text.split_once('=')) {
        alias(setting, value, &rest);
    }
    if name.text == "config" {
        for pair in words[at..].windows(2) {
            alias(&pair[0].text, &pair[1].text, "");
        }
    }
    if git_helpers::runs_words(&name.text) {
        let before = words.iter().position(|word| BEFORE_COMMANDS.contains(&word.text.as_str()));
        found.extend(before.into_iter().flat_map(|before| tails(&words[before + 1..])));
    }
    let texts = git_helpers::run_texts(words);
    let values = texts.iter().filter(|text| text.contains(' ')).flat_map(|text| {
        [Some(text.as_str()), text.split_once('=').map(|(_, value)| value)].into_iter().flatten()
    });
    let is_of_user =
        name.text == "config" && words[at..].iter().any(|word| word.text.starts_with("user."));
    found.extend(values.filter(|_| !is_of_user).flat_map(|text| pieces(text).collect::<Vec<_>>()));
    found
}

/// Returns the forms of a command of which it is not known which options have a value in the next word.
fn of_any(base: &str, words: &[Word]) -> Vec<String> {
    let (first, rest) = words.split_at(words.len().min(MAX_WORDS));
    let is_option = |at: usize| first[at].text.starts_with('-') && first[at].text.len() > 1;
    let names = (1..first.len()).filter(|at| !is_option(*at)).take(MAX_NAMES);
    let Some(last) = names.last().filter(|last| (1..*last).any(is_option)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // No option has a value, all have one, or all but the first.
    for valued_from in [None, Some(1), Some(2)] {
        let has_value =
            |at: usize| valued_from.is_some_and(|from| at >= from) && !first[at].text.contains('=');
        let mut kept = vec![base.to_owned()];
        let mut at = 1;
        while at <= last {
            if !is_option(at) {
                kept.push(first[at].told.clone());
            } else if has_value(at) {
                at += usize::from(at < last && !is_option(at + 1));
            }
            at += 1;
        }
        kept.extend(first[at.min(first.len())..].iter().chain(rest).map(|word| word.told.clone()));
        found.push(kept.join(" "));
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<String> {
        let words: Vec<Word> = text.split(' ').map(Word::plain).collect();
        match words[0].text == "git" {
            true => of_git(&words),
            false => of_any(&words[0].text, &words),
        }
    }

    #[test]
    fn options_before_a_command_are_left_out() {
        for (text, expected) in [
            ("git --no-pager push x", "git push x"),
            ("git --git-dir a push", "git push"),
            ("git -c alias.x=push x y", "git push y"),
            ("git config alias.x push", "git push"),
            ("git bisect run rm x", "rm x"),
            ("kubectl -n x delete y", "kubectl delete y"),
            ("docker --debug compose -f x down", "docker compose down"),
            ("docker compose -f x down -v", "docker compose down -v"),
            ("npm --silent publish", "npm publish"),
            ("gh pr --repo=a/b merge 1", "gh pr merge 1"),
        ] {
            assert!(forms(text).iter().any(|form| form == expected), "{text}: {:?}", forms(text));
        }
        for text in
            ["git push", "npm test", "npm run x --silent", "docker compose up -d", "kubectl get"]
        {
            assert!(forms(text).is_empty(), "{text}: {:?}", forms(text));
        }
    }
}
