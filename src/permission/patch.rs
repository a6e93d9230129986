//! Finds the files that a patch names.
//!
//! Tools that apply patches are lenient in different ways: they accept headers with white space around them, in other
//! case, with quoted names. Every line that one of them takes for a header is one here. A line too many costs a target
//! to evaluate, a line too few hides a file.

use super::Domain;
use super::targets::UnresolvedTarget;

/// White space that some programs take for the end of a line.
const BREAKS: [char; 9] =
    ['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
/// Maximum number of spaces examined in the two names of a git header.
const MAX_SPACES: usize = 64;

/// Adds the files that a patch names, or an unreadable target.
pub(super) fn patched(text: &str, found: &mut Vec<UnresolvedTarget>) {
    let mut patch = Patch { found, updated: None };
    let before = patch.found.len();
    for line in text.split('\n') {
        patch.line(line);
        let inner = line.trim_end_matches('\r');
        if inner.contains(BREAKS) {
            inner.split(BREAKS).for_each(|line| patch.line(line));
        }
    }
    if patch.found.len() == before {
        patch.unreadable();
    }
}

struct Patch<'a> {
    found: &'a mut Vec<UnresolvedTarget>,
    /// The file that the current lines change, which a header may move.
    updated: Option<String>,
}

impl Patch<'_> {
    fn line(&mut self, whole: &str) {
        let line = whole.trim();
        let after = |marker: &str| {
            let rest = line.strip_prefix(marker)?;
            rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
        };
        if let Some(rest) = line.strip_prefix("***") {
            self.starred(rest.trim(), !whole.starts_with('*'));
        } else if let Some(name) = after("+++").or_else(|| after("---")) {
            if !is_range(name, '-') {
                self.names(name);
            }
        } else if let Some(names) = after("diff --git") {
            self.of_git(names);
        } else if let Some(name) = line.strip_prefix("Index:") {
            self.names(name.trim_start());
        } else if let Some(name) = after("rename from").or_else(|| after("rename old")) {
            self.git_name(name, &[Domain::Edit, Domain::Read]);
        } else if let Some(name) = after("copy from") {
            self.git_name(name, &[Domain::Read]);
        } else if let Some(name) =
            ["rename to", "rename new", "copy to"].into_iter().find_map(after)
        {
            self.git_name(name, &[Domain::Edit]);
        }
    }

    /// Handles a header of Codex's patches, or the first of a context diff.
    fn starred(&mut self, rest: &str, is_indented: bool) {
        let is = |word: &str| rest.eq_ignore_ascii_case(word);
        if rest.trim_matches('*').is_empty()
            || is_range(rest, '*')
            || ["begin patch", "end patch", "end of file"].into_iter().any(is)
        {
            return;
        }
        let (word, name) = rest.split_once(':').unwrap_or((rest, ""));
        let (word, name) = (word.trim_end().to_ascii_lowercase(), name.trim());
        match word.as_str() {
            "add file" | "update file" | "delete file" => {
                self.push(Domain::Edit, name);
                self.updated = Some(name.to_owned());
            }
            "move to" => {
                // The content of the file can be read under its new name.
                if let Some(updated) = self.updated.take() {
                    self.push(Domain::Read, &updated);
                }
                self.push(Domain::Edit, name);
            }
            _ if rest.contains(": ") || rest.ends_with(':') => {
                if !is_indented {
                    self.unreadable();
                }
            }
            _ => self.names(rest),
        }
    }

    /// Handles a name in the header of a diff, with or without a date after it.
    fn names(&mut self, text: &str) {
        let Some((name, _)) = first_name(text) else { return self.unreadable() };
        self.stripped(&name);
        // Without a tab some programs take only the first word.
        if !text.starts_with('"')
            && !text.contains('\t')
            && let Some((word, _)) = name.split_once(char::is_whitespace)
        {
            self.stripped(word);
        }
    }

    fn git_name(&mut self, text: &str, domains: &[Domain]) {
        let Some((name, _)) = first_name(text) else { return self.unreadable() };
        domains.iter().for_each(|domain| self.push(*domain, &name));
    }

    /// Handles the two names after `diff --git`. For an empty file there are no others.
    fn of_git(&mut self, text: &str) {
        if text.contains('"') {
            let (first, rest) = match text.split_once(" \"") {
                Some((first, _)) if !text.starts_with('"') => {
                    (Some(first.to_owned()), &text[first.len() + 1..])
                }
                _ => first_name(text).map_or((None, ""), |(name, rest)| (Some(name), rest)),
            };
            match (first, first_name(rest.trim_start())) {
                (Some(first), Some((second, _))) => {
                    self.stripped(&first);
                    self.stripped(&second);
                }
                _ => self.unreadable(),
            }
            return;
        }
        let spaces = || text.match_indices(' ').take(MAX_SPACES);
        let only = spaces().nth(1).is_none();
        // If both are the same file, as they are where no other header names it, its name shows where the second
        // begins.
        let halves = spaces().map(|(at, _)| (&text[..at], &text[at + 1..]));
        let same = |(one, other): &(&str, &str)| {
            let below = |name: &str| name.find('/').map_or(0, |at| at + 1);
            only || one[below(one)..] == other[below(other)..]
        };
        for (one, other) in halves.filter(same) {
            self.stripped(one);
            self.stripped(other);
        }
    }

    /// Adds a path below the prefix of a diff (`a/`, `b/`). Other first components are stripped by some programs as
    /// well.
    fn stripped(&mut self, path: &str) {
        let (folder, below) = path.split_once('/').unwrap_or(("", ""));
        let is_usual = matches!(folder, "a" | "b");
        let leads_away = below.starts_with('/') || below.split('/').any(|part| part == "..");
        if !is_usual || leads_away {
            self.push(Domain::Edit, path);
        }
        if is_usual || leads_away {
            self.push(Domain::Edit, below);
        }
    }

    fn push(&mut self, domain: Domain, path: &str) {
        if path != "/dev/null" {
            self.found.push(UnresolvedTarget::Path(domain, path.to_owned()));
        }
    }

    fn unreadable(&mut self) {
        self.found.push(UnresolvedTarget::Unreadable(Domain::Edit, "patch".into()));
    }
}

/// Returns true for line numbers of a context diff: `1,5 ****`.
fn is_range(text: &str, mark: char) -> bool {
    let numbers = text.trim_end_matches(mark);
    let numbers = numbers.strip_suffix(' ').filter(|_| numbers.len() < text.len());
    numbers.is_some_and(|text| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    })
}

/// Splits off a name, which ends at a tab or is quoted with the escapes of C.
fn first_name(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (name, rest) = text.split_once('\t').unwrap_or((text, ""));
        return Some((name.trim_end().to_owned(), rest));
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.as_bytes();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => {
                let rest = &quoted[quoted.len() - rest.len()..];
                return Some((String::from_utf8(bytes).ok()?, rest));
            }
            b'\\' => {
                let (escape, after) = rest.split_first()?;
                let digits = rest.get(..3).filter(|digits| {
                    digits[0] <= b'3' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
                });
                let (byte, after) = match digits {
                    Some(digits) => {
                        (digits.iter().fold(0, |byte, digit| byte * 8 + (digit - b'0')), &rest[3..])
                    }
                    None => (escaped(*escape)?, after),
                };
                bytes.push(byte);
                rest = after;
            }
            byte => bytes.push(*byte),
        }
    }
}

fn escaped(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        patched(text, &mut found);
        let told = found.into_iter().map(|one| match one {
            UnresolvedTarget::Path(domain, path) => format!("{} {path}", domain.as_str()),
            UnresolvedTarget::Unreadable(..) => "?".to_owned(),
            other => format!("{other:?}"),
        });
        let mut told: Vec<String> = told.collect();
        told.dedup();
        told
    }

    #[test]
    fn headers_count_as_lenient_tools_take_them() {
        for (text, files) in [
            ("*** Begin Patch\n  *** Add File: ../x\n+a\n*** End Patch", vec!["edit ../x"]),
            ("*** begin patch\n***\tadd file :../x", vec!["edit ../x"]),
            (
                "*** Update File: .env\n*** Move to:../x",
                vec!["edit .env", "read .env", "edit ../x"],
            ),
            ("*** Begin Patch\r*** Delete File: x", vec!["?", "edit x"]),
            ("*** Begin Patch\n*** End of File", vec!["?"]),
            ("*** Replace File: x", vec!["?"]),
            (
                "*** old.c\tMon\n--- new.c\tTue\n***************\n*** 1,5 ****\n--- 1 ----",
                vec!["edit old.c", "edit new.c"],
            ),
            ("rename from .env\nrename to x\n", vec!["edit .env", "read .env", "edit x"]),
            ("copy from .env\ncopy to a/x\n", vec!["read .env", "edit a/x"]),
            (
                "diff --git a/x b/../x\nnew file mode 100644\n",
                vec!["edit x", "edit b/../x", "edit ../x"],
            ),
            ("diff --git a/my file b/my file\nold mode 100644", vec!["edit my file"]),
            ("diff --git \"a/\\170\" \"b/\\171\"", vec!["edit x", "edit y"]),
            ("diff --git a/x \"b/\\171\"", vec!["edit x", "edit y"]),
            ("Index: x", vec!["edit x"]),
            ("--- /dev/null\n+++ \"b/../\\170\"", vec!["edit b/../x", "edit ../x"]),
            ("+++ \"b/\\303\\244\\\"\\n\"\t2020", vec!["edit ä\"\n"]),
            ("+++ \"b/x", vec!["?"]),
            ("+++ \"b/\\q\"", vec!["?"]),
            ("+++ \"b/\\377\"", vec!["?"]),
            ("   +++ ../x 2020-01-01", vec!["edit ../x 2020-01-01", "edit ../x"]),
            ("+++ w/../x", vec!["edit w/../x", "edit ../x"]),
            ("+++ b//etc/x", vec!["edit b//etc/x", "edit /etc/x"]),
            ("--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b", vec!["edit src/x.rs"]),
        ] {
            assert_eq!(of(text), files, "{text}");
        }
    }
}
