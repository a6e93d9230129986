//! Commands whose output is the name of a commit, so that it can be neither an option nor a path, and is safe as an argument.

/// The placeholder for the name of a commit.
pub(super) const STANDS_FOR: &str = "0000000000000000000000000000000000000000";

/// Options of `git rev-parse` that print the name of a commit, or nothing.
const REV_PARSE: [&str; 4] = ["--verify", "--short", "-q", "--quiet"];

/// Options of `git rev-list` that print names of commits and nothing else.
const REV_LIST: [&str; 8] = [
    "-1",
    "--max-count=1",
    "--max-parents=0",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--reverse",
    "--all",
];

/// Formats of `git log` that are a name of a commit.
const FORMATS: [&str; 8] = [
    "--format=%H",
    "--format=%h",
    "--pretty=%H",
    "--pretty=%h",
    "--format=format:%H",
    "--format=format:%h",
    "--pretty=format:%H",
    "--pretty=format:%h",
];

/// Branches that are there in most repositories.
const BRANCHES: [&str; 6] = ["HEAD", "main", "master", "develop", "dev", "trunk"];

/// Splits the text after a dollar into such a command between parentheses and the rest.
pub(super) fn substitution(after: &str) -> Option<(&str, &str)> {
    let (inner, rest) = after.strip_prefix('(')?.split_once(')')?;
    is_revision(inner).then_some((inner, rest))
}

/// Returns true if a word is such a command and nothing else: it can also expand to nothing.
pub(super) fn is_whole(raw: &str) -> bool {
    let raw = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
    raw.strip_prefix('$').and_then(substitution).is_some_and(|(_, rest)| rest.is_empty())
}

/// Returns true if a text is a command that prints the name of a commit, or nothing.
pub(super) fn is_revision(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b" _./~^@{}=%:-|>".contains(&byte);
    text.starts_with("git ") && text.bytes().all(is_letter) && text.split("||").all(prints_one)
}

fn prints_one(command: &str) -> bool {
    let command = command.trim();
    let command = command.strip_suffix("2>/dev/null").unwrap_or(command);
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains(['>', '|', '{', '}']);
    if command.contains(['|', '>']) {
        return false;
    }
    match words.as_slice() {
        ["echo", name] => is_usual(name),
        ["git", "merge-base", rest @ ..] => {
            rest.len() > 1
                && rest.iter().all(|word| {
                    is_name(word) || matches!(*word, "--fork-point" | "--octopus" | "--all")
                })
        }
        ["git", "rev-parse", rest @ ..] => {
            // It prints unknown arguments unchanged.
            let is_checked = rest.contains(&"--verify");
            rest.iter().any(|word| !word.starts_with('-'))
                && rest.iter().all(|word| match word.starts_with('-') {
                    true => {
                        REV_PARSE.contains(word)
                            || word.strip_prefix("--short=").is_some_and(is_number)
                    }
                    false => is_usual(word) || (is_checked && is_name(word)),
                })
        }
        ["git", "rev-list", rest @ ..] => {
            rest.iter().any(|word| !word.starts_with('-'))
                && rest.iter().all(|word| is_name(word) || REV_LIST.contains(word))
        }
        ["git", "log", "-1", format, rest @ ..] => {
            FORMATS.contains(format) && rest.iter().all(is_name)
        }
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for a name that cannot be a file, or a usual name of a commit: `HEAD~2`, `origin/main`, `@{u}`.
fn is_usual(name: &str) -> bool {
    let end = name.find(['~', '^', '@']).unwrap_or(name.len());
    let (branch, steps) = name.split_at(end);
    let own = branch.strip_prefix("origin/").or(branch.strip_prefix("upstream/"));
    let is_step = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'~' | b'^');
    match steps {
        "@{u}" | "@{upstream}" => true,
        "@" if branch.is_empty() => true,
        steps => BRANCHES.contains(&own.unwrap_or(branch)) && steps.bytes().all(is_step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_commit_is_no_option_and_no_path() {
        for text in [
            "git merge-base HEAD origin/HEAD",
            "git merge-base HEAD feature/x || git rev-parse HEAD~1",
            "git merge-base main HEAD 2>/dev/null || echo HEAD~1",
            "git rev-parse HEAD",
            "git rev-parse --short=8 HEAD^",
            "git rev-parse --verify -q refs/heads/x",
            "git rev-list --max-parents=0 HEAD",
            "git log -1 --format=%H",
        ] {
            assert!(is_revision(text), "{text}");
        }
        for text in [
            "git rev-parse .env",
            "git rev-parse id_rsa",
            "git rev-parse ../../etc/passwd",
            "git rev-parse --show-toplevel",
            "git rev-parse --sq-quote x",
            "git rev-parse",
            "git merge-base --is-ancestor a b",
            "git log -1 --format=%B",
            "git log -1 --format=%H --output=x",
            "git rev-list --pretty=%B HEAD",
            "git log --format=%H | cat",
            "git -c core.pager=x rev-parse HEAD",
            "git merge-base a b > x",
            "git merge-base a b; evil",
            "echo -x",
            "evil",
            "git merge-base HEAD $x",
            "git branch --show-current",
        ] {
            assert!(!is_revision(text), "{text}");
        }
    }
}
