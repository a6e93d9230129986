//! Finds where a result says that its full output was saved.
//!
//! Only the text counts: a path that the model was never shown is not disclosed to it.

use memchr::memmem;

/// The location of an output according to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    pub path: String,
    /// True if only a part of the output was saved.
    pub partial: bool,
}

/// The text before a path, the text that ends it besides the end of the line, and whether only a part was saved.
const LEADS: &[(&str, &str, bool)] = &[
    ("Full output saved to: ", "", false),
    ("bytes saved to: ", "", true),
    ("完整输出已保存到：", "", false),
    ("字节已保存到：", "", true),
    ("full output saved to ", " ...", false),
    ("full content saved to ", " ...", false),
    ("first and last part saved to ", " ...", true),
    ("完整输出已保存到 ", " ...", false),
    ("开头和结尾部分已保存到 ", " ...", true),
    ("Full output: ", "]", false),
    ("full output preserved at ", ";", false),
    ("; full output: ", "]", false),
    ("[partial: ", "]", true),
    ("[read ", "]", false),
];

/// Maximum length of a path in bytes.
const MAX_LENGTH: usize = 4096;

/// Maximum number of occurrences examined at either end of a text.
const MAX: usize = 16;

/// Returns the paths in a text, last first. Any text can contain such a line: only the storage knows which of them are
/// saved outputs.
pub fn saved(text: &str) -> Vec<Saved> {
    let mut found: Vec<_> = LEADS
        .iter()
        .flat_map(|lead| {
            memmem::find_iter(text.as_bytes(), lead.0.as_bytes()).map(move |at| (at, lead))
        })
        .collect();
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    if found.len() > 2 * MAX {
        found.drain(MAX..found.len() - MAX);
    }
    let mut places: Vec<Saved> = Vec::new();
    for (at, lead) in found {
        let Some(rest) = text.get(at + lead.0.len()..) else { continue };
        if let Some(place) = read(rest, lead).filter(|place| !places.contains(place)) {
            places.push(place);
        }
    }
    places
}

fn read(rest: &str, (_, end, partial): &(&str, &str, bool)) -> Option<Saved> {
    let line = rest.split(['\n', '\r']).next()?;
    let line = if end.is_empty() { line } else { line.split_once(end)?.0 };
    let path = if is_windows(line) { line.to_owned() } else { unescaped(line) };
    let path = path.trim_end();
    let is_path = path.starts_with('/') || path.contains(":\\") || path.contains("://");
    (is_path && path.len() <= MAX_LENGTH && !path.contains(char::is_control))
        .then(|| Saved { path: path.to_owned(), partial: *partial || path.contains(".partial.") })
}

/// Returns true for a drive and one backslash: the text is not JSON, which would have two.
fn is_windows(line: &str) -> bool {
    let after = line.split_once(":\\").map(|(_, after)| after);
    after.is_some_and(|after| !after.starts_with('\\'))
}

/// Unescapes a path if the text is JSON, in which the end of the line, or of the text, is escaped.
fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => match characters.next() {
                Some(next @ ('\\' | '/')) => out.push(next),
                _ => break,
            },
            _ => out.push(character),
        }
    }
    out
}

/// Returns the lines that can replace a result, longer first.
pub fn markers(saved: Option<&Saved>) -> [String; 2] {
    match saved {
        None => [
            "[tool result elided: aggregate tool-result budget exceeded; rerun the command if the output is needed]".to_owned(),
            "[tool result elided]".to_owned(),
        ],
        Some(Saved { path, partial: true }) => {
            [format!("[tool result elided: part of the output is at {path}] [partial: {path}]"), format!("[partial: {path}]")]
        }
        Some(Saved { path, partial: false }) => [
            format!("[tool result elided: full output preserved at {path}; read it if it is needed]"),
            format!("[read {path}]"),
        ],
    }
}

/// Returns the suffixes of a truncated text whose full output is in a file: first those that name the file, then those
/// of the profile.
pub fn suffixes(saved: &Saved, words: &[&str]) -> Vec<String> {
    let Saved { path, partial } = saved;
    // Braces in a path are not a placeholder.
    let what = if *partial { "part of the output" } else { "full output" };
    let with_path = (!path.contains('{'))
        .then(|| format!("\n\n[... {{removed}} more characters truncated; {what}: {path}]"));
    with_path.into_iter().chain(words.iter().map(ToString::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::overflow::limits::{COUNTED, OPENCLAW, OPENCLAW_2026_02, openings};

    #[test]
    fn every_suffix_with_a_number_is_known_again() {
        let saved = Saved { path: "/tmp/out.txt".to_owned(), partial: false };
        for profile in [&OPENCLAW, &OPENCLAW_2026_02] {
            let all = suffixes(&saved, profile.suffixes);
            let numbered: Vec<_> =
                all.iter().filter_map(|one| one.split_once("{removed}")).collect();
            assert_eq!(numbered.len(), 3);
            for (before, after) in numbered {
                assert!(openings().contains(before.trim_start()) && after.starts_with(COUNTED));
            }
        }
    }

    fn path(text: &str) -> Option<String> {
        saved(text).into_iter().next().map(|saved| saved.path)
    }

    #[test]
    fn the_words_of_a_notice_are_recognised() {
        for text in [
            "abc\n\nFull output saved to: /tmp/out 1.txt\nUse grep to search that file.",
            "完整输出已保存到：/tmp/out 1.txt\n可用 grep 搜索该文件。",
            "a\n... output truncated; full output saved to /tmp/out 1.txt ...\nb",
            "[Showing lines 1-2. Full output: /tmp/out 1.txt]",
            r#"{"stdout":"a\n\nFull output saved to: /tmp/out 1.txt\nUse grep"}"#,
            r#"{"stdout":"Full output saved to: /tmp/out 1.txt"}"#,
            "Full output saved to: /tmp/other.txt\nFull output saved to: /tmp/out 1.txt",
        ] {
            assert_eq!(path(text).as_deref(), Some("/tmp/out 1.txt"), "{text}");
        }
        assert_eq!(
            path("Full output saved to: C:\\new\\a.txt\n").as_deref(),
            Some("C:\\new\\a.txt")
        );
        assert_eq!(
            path(r#"{"a":"Full output saved to: C:\\new\\a.txt"}"#).as_deref(),
            Some("C:\\new\\a.txt")
        );
        for text in
            ["", "Full output: yes]", "[read me]", "saved to: ", "Full output saved to: \u{7}/x"]
        {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn parts_are_never_called_full() {
        let found = saved("First 5 and last 5 of its 20 bytes saved to: /tmp/a.partial.txt");
        assert_eq!(found, [Saved { path: "/tmp/a.partial.txt".to_owned(), partial: true }]);
        for marker in markers(found.first()) {
            assert!(
                !marker.contains("full") && marker.contains("[partial: /tmp/a.partial.txt]"),
                "{marker}"
            );
            assert_eq!(saved(&marker), found, "a marker can be read again");
        }
        let full = Saved { path: "/tmp/a".to_owned(), partial: false };
        for marker in markers(Some(&full)) {
            assert_eq!(saved(&marker), std::slice::from_ref(&full), "{marker}");
        }
    }
}
