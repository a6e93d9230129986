//! What `git` runs besides itself.

use super::programs::flag;
use super::word::Word;
use super::{Doubt, Simple};
use crate::permission::Domain;

/// Commands of git that run nothing else, whatever their arguments but for the options below.
static GIT_COMMANDS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "add",
    "commit",
    "branch",
    "checkout",
    "switch",
    "restore",
    "stash",
    "tag",
    "fetch",
    "pull",
    "push",
    "merge",
    "rebase",
    "reset",
    "revert",
    "cherry-pick",
    "blame",
    "annotate",
    "grep",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "describe",
    "remote",
    "rm",
    "mv",
    "clean",
    "init",
    "clone",
    "worktree",
    "shortlog",
    "reflog",
    "cat-file",
    "rev-list",
    "name-rev",
    "show-ref",
    "for-each-ref",
    "apply",
    "am",
    "notes",
    "fsck",
    "gc",
    "count-objects",
    "whatchanged",
    "range-diff",
    "merge-base",
    "symbolic-ref",
    "var",
    "version",
    "config",
    "ls-remote",
    "diff-tree",
    "diff-index",
    "diff-files",
    "check-ignore",
    "show-branch",
    "cherry",
    "hash-object",
    "update-index",
    "sparse-checkout",
    "verify-commit",
    "format-patch",
    "archive",
    "bisect",
    "submodule",
    "help",
    "prune",
    "stripspace",
];

static GIT_FLAGS: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "-x",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--output",
    "--config",
    "--template",
    "--separate-git-dir",
    "--extcmd",
    "--tool",
    "--editor",
    "--strategy",
    "--gpg-sign",
    "--no-index",
    "--remote",
    "--edit",
    "--output-directory",
    "--reference",
    "--server-option",
    "--git-dir",
    "--work-tree",
    "--exec-path",
    "--config-env",
    "--unsafe-paths",
    "--build-fake-ancestor",
];

/// Options whose value, a word of its own, is a text.
static GIT_TEXTS: &[&str] = &["-m", "--message", "--grep", "--author", "--committer", "-S", "-G"];

/// Options of git itself, before the command, that change nothing of what is run.
static HARMLESS_OPTIONS: &[&str] = &[
    "--version",
    "--no-pager",
    "-P",
    "--help",
    "-h",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-v",
    "--bare",
    "-p",
    "--paginate",
];

/// Options of git itself whose value can be a word of its own.
static VALUED_OPTIONS: &[&str] =
    &["-c", "-C", "--git-dir", "--work-tree", "--config-env", "--exec-path", "--namespace"];

/// Where the command of git stands: behind the options of git itself and their values.
fn command_at(words: &[Word]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1 + usize::from(VALUED_OPTIONS.contains(&word.text.as_str()));
    }
    at
}

/// Doubts about a command of git.
pub(super) fn git(words: &[Word], command: &mut Simple) {
    let mut ask = |word: &Word, reason: String| {
        command.doubts.push(Doubt { reason, token: Some(word.told.clone()) })
    };
    let at = command_at(words);
    let options = words.iter().take(at).skip(1).filter(|word| word.text.starts_with('-'));
    // Whoever owns the folder says what git runs there.
    for word in options.filter(|word| !HARMLESS_OPTIONS.contains(&word.text.as_str())) {
        ask(word, format!("{} of git can run something", word.told));
    }
    let Some(sub) = words.get(at) else { return };
    let name = sub.text.as_str();
    let rest = &words[at + 1..];
    let first = rest.first().map_or("", |word| word.text.as_str());
    if !GIT_COMMANDS.contains(&name) {
        return ask(sub, format!("git {} can be another program or an alias", sub.told));
    }
    let harmless = match name {
        "config" => matches!(
            first,
            "--get" | "--get-all" | "--list" | "-l" | "get" | "list" | "--get-regexp"
        ),
        "bisect" => {
            matches!(first, "start" | "good" | "bad" | "reset" | "log" | "skip" | "old" | "new")
        }
        "submodule" => matches!(first, "" | "status" | "summary" | "init"),
        "archive" | "format-patch" => false,
        "help" => false,
        _ => true,
    };
    if !harmless {
        ask(sub, format!("git {} can run something or write somewhere else", sub.told));
    }
    for word in rest {
        let text = word.text.as_str();
        // It may be the value of an option, with more options behind it.
        if text == "--" {
            continue;
        }
        let short = match name {
            "clone" => flag(text, &["-u", "-c"]),
            "grep" => flag(text, &["-O"]),
            "ls-remote" | "push" | "fetch" | "pull" | "rebase" | "merge" | "cherry-pick"
            | "revert" => flag(text, &["-x", "-X", "-s", "-o"]).filter(|found| {
                !matches!(*found, "-o" | "-s")
                    || matches!(name, "push" | "pull" | "merge" | "rebase")
            }),
            "checkout" | "clean" => None,
            _ => None,
        };
        // `-x` alone is a flag of some commands that runs nothing.
        let long = if text.starts_with("--") { flag(text, GIT_FLAGS) } else { None };
        let long = long.filter(|_| {
            !matches!((name, text), ("config", "--edit") | ("stash" | "remote" | "push", "--"))
        });
        if let Some(found) = short.or(long) {
            ask(word, format!("{found} of git {name} can run something or write somewhere else"));
        }
        if text.contains("::")
            && !matches!(name, "log" | "commit" | "grep" | "diff" | "show" | "blame")
        {
            ask(word, "an address of git with :: names a program".into());
        }
    }
}

/// Files that a command of git reads or writes and that may lie outside: git does so with any path it is given. Inside of
/// its repository it only does what it is there for.
pub(super) fn outside(words: &[Word]) -> Vec<(Domain, Word)> {
    let Some((name, rest)) = words.get(command_at(words)..).and_then(<[Word]>::split_first) else {
        return Vec::new();
    };
    let name = name.text.as_str();
    let mut found = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| rest.get(at));
        if before.is_some_and(|before| GIT_TEXTS.contains(&before.text.as_str())) {
            continue;
        }
        let path = match word.text.strip_prefix('-') {
            None => word.text.as_str(),
            Some(long) if long.starts_with('-') => match long.split_once('=') {
                Some((name, value)) if !GIT_TEXTS.contains(&format!("-{name}").as_str()) => value,
                _ => continue,
            },
            // A text may follow its option at once.
            Some(short) if short.starts_with(['m', 'S', 'G']) => continue,
            Some(short) => short.get(1..).unwrap_or_default(),
        };
        let leads_out = path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
        if !leads_out || path.contains("://") {
            continue;
        }
        let is_written = match name {
            "init" | "worktree" => true,
            "clone" => at + 1 == rest.len(),
            _ => false,
        };
        let domain = if is_written { Domain::Edit } else { Domain::Read };
        found.push((domain, Word { text: path.to_owned(), ..word.clone() }));
    }
    found
}
