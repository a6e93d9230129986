//! The command of a program after its own options, so that a deny rule for `git push` counts for `git --no-pager push`, too.

use super::analyzer::pieces;
use super::commands_in_words::texts;
use super::destroying::destroying_commands::MAX_TAILS;
use super::git::git_commands::command_at;
use super::git::git_helpers;
use super::program_names::base;
use super::programs::{self, Kind, Program};
use super::simple_command::{shown, tails};
use super::word::Word;

/// Number of words within which a command follows options, and of options of which it is tried whether they have a value.
const MAX_WORDS: usize = 16;
const MAX_OPTIONS: u32 = 4;

/// Number of words of a command after which options do not matter.
const MAX_NAMES: usize = 3;

/// Other names of commands.
const OTHER_NAMES: [(&[&str], &[&str]); 4] = [
    (&["docker-compose"], &["docker", "compose"]),
    (&["docker", "compose"], &["docker-compose"]),
    (&["minikube", "kubectl"], &["kubectl"]),
    (&["microk8s.kubectl"], &["kubectl"]),
];

/// Programs that take the beginning of the name of a command for it, and those of their commands that change something elsewhere.
const ABBREVIATED: [(&str, &[&str]); 3] = [
    ("npm", &["publish", "unpublish", "deprecate", "dist-tag", "owner", "access", "token"]),
    ("hg", &["push", "commit", "rollback", "update", "strip", "rebase", "backout", "purge"]),
    ("svn", &["commit", "delete", "propset", "relocate"]),
];

/// Options whose value is a command for another machine.
const GIVE_COMMANDS: [&str; 4] = ["--command", "--commands", "--parameters", "--scripts"];

/// Commands of git that do the same as another one.
const SAME_AS_PUSH: [&str; 2] = ["send-pack", "http-push"];

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
            let whole = [Word::plain("git"), Word::plain(&base[4..])];
            let whole = [&whole, &words[1..]].concat();
            let mut found = of_git(&whole);
            found.push(shown(&whole));
            found
        }
        None | Some(Kind::Code | Kind::Runner | Kind::Fd) => of_any(base, words),
        _ => Vec::new(),
    }
}

/// Adds the forms of commands without options to texts that may be commands.
pub(super) fn add_forms(texts: &mut Vec<String>) {
    let given = texts.iter().filter(|text| text.contains(" -")).take(MAX_TAILS);
    let further: Vec<String> = given.flat_map(|text| of_text(text)).collect();
    texts.extend(further);
}

fn of_text(text: &str) -> Vec<String> {
    let text = text.strip_prefix("shell:").unwrap_or(text);
    let words: Vec<Word> = text.split_whitespace().take(2 * MAX_WORDS).map(Word::plain).collect();
    let Some(name) = words.first() else { return Vec::new() };
    let base = base(&name.text).into_owned();
    without_options(&base, programs::find(&base), &words)
}

/// Returns the other forms of a git command: without git's own options, and what it runs by an alias or a setting.
fn of_git(words: &[Word]) -> Vec<String> {
    let at = command_at(words);
    let Some(name) = words.get(at) else { return Vec::new() };
    let mut found = Vec::new();
    if at > 1 {
        found.push(["git ", &shown(&words[at..])].concat());
    }
    let rest = shown(&words[at + 1..]);
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
    let is_push = SAME_AS_PUSH.contains(&name.text.as_str())
        || (matches!(name.text.as_str(), "subtree" | "lfs")
            && words.get(at + 1).is_some_and(|word| word.text == "push"));
    if is_push {
        found.push(["git push ", &rest].concat());
    }
    if name.text == "for-each-repo" {
        let is_option = |place: &usize| {
            words[*place].text.starts_with('-') || words[*place - 1].text == "--config"
        };
        let from = (at + 1..words.len()).find(|place| !is_option(place));
        found.extend(from.map(|from| ["git ", &shown(&words[from..])].concat()));
    }
    let texts = git_helpers::run_texts(words);
    let values = texts.iter().filter(|text| !text.starts_with("user.")).flat_map(|text| {
        let value = git_helpers::run_value(text);
        let whole = Some(text.as_str()).filter(|text| text.contains(' '));
        [whole, Some(value).filter(|value| whole != Some(*value) && value.len() < text.len())]
    });
    let is_of_user =
        name.text == "config" && words[at..].iter().any(|word| word.text.starts_with("user."));
    let values = values.flatten().filter(|_| !is_of_user);
    found.extend(values.flat_map(|text| pieces(text).collect::<Vec<_>>()));
    found
}

/// Returns the forms of a command of which it is not known which options have a value in the next word.
fn of_any(base: &str, words: &[Word]) -> Vec<String> {
    let own: Vec<&str> = words[1..].iter().map(|word| word.shown.as_str()).collect();
    let mut found = forms(&[base], &own);
    for (from, to) in OTHER_NAMES {
        let further = &from[1..];
        let is_it = own.get(..further.len()).is_some_and(|first| first == further);
        if from[0] == base && is_it {
            let rest = &own[further.len()..];
            found.push([to, rest].concat().join(" "));
            found.extend(forms(to, rest));
        }
    }
    for (_, names) in ABBREVIATED.iter().filter(|(known, _)| *known == base) {
        let whole = |form: &str| {
            let (first, rest) = form.split_once(' ').unwrap_or((form, ""));
            let is_begun = |name: &&&str| first.len() > 2 && name.starts_with(first);
            let name = names.iter().find(is_begun).filter(|name| **name != first)?;
            Some([base, name, rest].join(" ").trim_end().to_owned())
        };
        let own = own.join(" ");
        let others = found.iter().filter_map(|form| form.strip_prefix(base)).map(str::trim_start);
        let made: Vec<String> = others.chain([own.as_str()]).filter_map(whole).collect();
        found.extend(made);
    }
    found.extend(of_aliases(base, words));
    let gives = |pair: &&[Word]| GIVE_COMMANDS.contains(&pair[0].text.as_str());
    found.extend(words.windows(2).filter(gives).flat_map(|pair| texts(&pair[1..])));
    found
}

/// Returns the commands of the program that an alias stands for which the command itself sets: `gh alias set x 'a b'`,
/// `cargo --config 'alias.x="a b"'`.
fn of_aliases(base: &str, words: &[Word]) -> Vec<String> {
    let set = match words {
        [_, alias, set, .., text] if alias.text == "alias" && set.text == "set" => {
            Some(&*text.text)
        }
        _ => None,
    };
    let named = words[1..].iter().map(|word| word.text.as_str());
    let named = named.filter(|text| text.contains("alias")).filter_map(|text| text.split_once('='));
    let texts = set.into_iter().chain(named.map(|(_, value)| value));
    texts
        .flat_map(|text| {
            let text = text.replace(['[', ']', '"', '\'', ','], " ");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let own = [base, " ", &text].concat();
            let after = text.split_once("-- ").map_or("", |(_, after)| after);
            let all = pieces(text.trim_start_matches('!')).chain(pieces(after));
            all.chain([own]).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns a command without the options before its first names: each may have a value in the next word, or not.
fn forms(base: &[&str], words: &[&str]) -> Vec<String> {
    let (first, rest) = words.split_at(words.len().min(MAX_WORDS));
    // The toolchain of `cargo +x` is an option, too.
    let is_option = |at: usize| first[at].len() > 1 && first[at].starts_with(['-', '+']);
    let can_have_value = |at: usize| {
        let is_one = first[at].starts_with('-') && !first[at].contains('=');
        is_one && at + 1 < first.len() && !is_option(at + 1)
    };
    let mut found = Vec::new();
    if !(0..first.len()).any(is_option) {
        return found;
    }
    let mut options = 0;
    for with_value in 0..1_u32 << MAX_OPTIONS {
        let mut kept = base.to_vec();
        let (mut at, mut end, mut number) = (0, 0, 0);
        while at < first.len() && kept.len() < base.len() + MAX_NAMES {
            if !is_option(at) {
                kept.push(first[at]);
                end = at + 1;
            } else if can_have_value(at) {
                // The later ones have one.
                at += usize::from(number >= MAX_OPTIONS || with_value >> number & 1 == 1);
                number += 1;
            }
            at += 1;
        }
        if end > kept.len() - base.len() {
            kept.extend(first[end..].iter().chain(rest));
            let form = kept.join(" ");
            if !found.contains(&form) {
                found.push(form);
            }
        }
        options = number.min(MAX_OPTIONS).max(options);
        if with_value + 1 >= 1 << options {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
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
            ("docker compose -f a -f b --env-file e down", "docker compose down"),
            ("kubectl -v 9 --insecure -n x delete y", "kubectl delete y"),
            ("docker-compose -f x down", "docker compose down"),
            ("minikube kubectl -- delete y", "kubectl delete y"),
            ("cargo +nightly publish", "cargo publish"),
            ("npm --silent pub", "npm publish"),
            ("git lfs push x", "git push push x"),
            ("git for-each-repo --config=x push", "git push"),
        ] {
            assert!(all(text).iter().any(|form| form == expected), "{text}: {:?}", all(text));
        }
        for text in
            ["git push", "npm test", "npm run x --silent", "gh pr list --limit=5", "kubectl get"]
        {
            assert!(all(text).is_empty(), "{text}: {:?}", all(text));
        }
    }
}
