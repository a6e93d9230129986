//! Recognizes scripts of sed, awk and find that only process text.

use super::name_letters::is_in_variable;

/// Returns true if a sed script only prints, deletes and replaces: it accesses no file and runs no program.
pub(super) fn sed_is_harmless(script: &str) -> bool {
    let mut rest = script.trim();
    let mut groups = 0;
    while !rest.is_empty() {
        let Some(after) = sed_address(rest) else { return false };
        let mut letters = after.chars();
        let Some(command) = letters.next() else { return false };
        let after = letters.as_str();
        let Some(after) = (match command {
            'p' | 'd' | 'q' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'P' | 'D' | '=' => {
                Some(after)
            }
            '{' => {
                groups += 1;
                rest = after.trim_start_matches([' ', ';', '\n']);
                continue;
            }
            '}' => {
                groups -= 1;
                Some(after)
            }
            's' => sed_parts(after, 2, true).map(|after| {
                after.trim_start_matches(|c: char| "gIip".contains(c) || c.is_ascii_digit())
            }),
            'y' => sed_parts(after, 2, false),
            // Older programs take the rest of the line for the label.
            ':' | 'b' | 't' | 'T' => {
                Some(after.trim_start_matches(' ').trim_start_matches(is_in_variable))
            }
            // The rest of the line is a text, which continues on the next line after a backslash.
            'a' | 'i' | 'c' => sed_text(after),
            _ => None,
        }) else {
            return false;
        };
        let next = after.trim_start_matches(' ');
        if !next.is_empty() && !next.starts_with([';', '\n', '}']) {
            return false;
        }
        rest = next.trim_start_matches([' ', ';', '\n']);
    }
    groups == 0
}

/// Skips the text of a command that inserts text.
fn sed_text(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches(' ');
    let mut letters = 0;
    loop {
        let line = rest.split('\n').next().unwrap_or(rest);
        letters += line.trim_matches(['\\', ' ']).len();
        let goes_on = (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
        rest = &rest[line.len()..];
        // A text without an end includes what follows, which is judged as a script of its own.
        match (goes_on, rest.is_empty()) {
            (true, true) => return None,
            (true, false) => rest = &rest[1..],
            (false, _) => return (letters > 0).then_some(rest),
        }
    }
}

/// Skips up to two addresses and `!`.
fn sed_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(' ');
        let first = rest.chars().next()?;
        if first.is_ascii_digit() || matches!(first, '$' | '+' | '~' | ',' | '!') {
            rest = &rest[1..];
        } else if first == '/' {
            rest = sed_parts(rest, 1, true)?;
            rest = rest.strip_prefix('I').unwrap_or(rest);
        } else {
            return Some(rest);
        }
    }
}

/// Skips `parts` delimited parts of a sed command (`/a/b/` has two) and returns the rest. The first character is the
/// delimiter; inside a bracket expression of a pattern, which is the first part, it has no special meaning.
fn sed_parts(text: &str, parts: usize, is_pattern: bool) -> Option<&str> {
    let mark = text.chars().next()?;
    if mark.is_alphanumeric() || mark == '\\' || mark == '\n' || !mark.is_ascii() {
        return None;
    }
    let mut left = parts;
    let mut rest = &text[1..];
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        if letter == '\\' {
            rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        } else if letter == mark {
            left -= 1;
            if left == 0 {
                return Some(rest);
            }
        } else if letter == '[' && is_pattern && left == parts {
            rest = behind_bracket(rest)?;
        } else if letter == '\n' {
            return None;
        }
    }
    None
}

/// Skips a bracket expression; returns `None` where programs disagree.
fn behind_bracket(list: &str) -> Option<&str> {
    let list = list.strip_prefix('^').unwrap_or(list);
    let mut rest = list.strip_prefix(']').unwrap_or(list);
    loop {
        let at = rest.find([']', '[', '\\', '\n'])?;
        let behind = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b']' => return Some(behind),
            // A class: `[:alpha:]`.
            b'[' => match behind.chars().next().filter(|kind| ":.=".contains(*kind)) {
                Some(kind) => {
                    let is_end = |pair: &[u8]| pair == [kind as u8, b']'];
                    &behind[behind.as_bytes().windows(2).skip(1).position(is_end)? + 3..]
                }
                None => behind,
            },
            b'\\' if !behind.starts_with(']') => behind,
            _ => return None,
        };
    }
}

/// Returns true if an awk program runs no program and accesses no file but those it is given.
pub(super) fn awk_is_harmless(program: &str) -> bool {
    let bad =
        ["system", "getline", "|", "@", "close", "fflush", "\\\n", "include", "load", "extension"];
    let program = program.replace("||", "");
    // The list of its arguments is the list of files that it reads.
    if program.contains("ARGV") || bad.iter().any(|word| program.contains(word)) {
        return false;
    }
    // A comparison is followed by a number; a redirection of `print` by a name.
    let mut rest = program.as_str();
    while let Some(at) = rest.find('>') {
        let before_print = rest[..at].contains("print");
        rest = &rest[at + 1..];
        let value = rest.trim_start_matches(['=', ' ']);
        if before_print
            || !value.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
        {
            return false;
        }
    }
    true
}

/// Returns the number of arguments, none or one, of a test of find that runs nothing.
pub(super) fn find_test(word: &str) -> Option<usize> {
    Some(match word {
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex"
        | "-iregex" | "-type" | "-xtype" | "-size" | "-mtime" | "-atime" | "-ctime" | "-mmin"
        | "-amin" | "-cmin" | "-newer" | "-anewer" | "-cnewer" | "-maxdepth" | "-mindepth"
        | "-perm" | "-user" | "-group" | "-uid" | "-gid" | "-links" | "-inum" | "-samefile"
        | "-printf" | "-regextype" | "-lname" | "-ilname" | "-fstype" | "-used" | "-newermt" => 1,
        "-print" | "-print0" | "-ls" | "-empty" | "-not" | "!" | "-a" | "-and" | "-o" | "-or"
        | "(" | ")" | "," | "-prune" | "-depth" | "-d" | "-xdev" | "-mount" | "-follow" | "-L"
        | "-H" | "-P" | "-quit" | "-true" | "-false" | "-readable" | "-writable"
        | "-executable" | "-nouser" | "-nogroup" | "-daystart" | "-noleaf" | "-warn"
        | "-nowarn" | "-E" => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_sed() {
        for script in [
            "1,20p",
            "s/a/b/g",
            "s|a/b|c|",
            "/x/d",
            "$p",
            "1d;$d",
            "/a/,/b/p",
            "s/a\\/b/c/2p",
            "/x/!d",
            "10q",
            "/a/{s/b/c/;p}",
            "y/abc/xyz/",
            "s/[^/]*$//",
            "s/[[:space:]/]*$//;/[]/]/d",
            "12a\\ text; w x",
            "/x/i text\np",
            "$a\\\nmore\\\nlines",
            "3c\\text",
            ":a;N;$!ba;s/\\n/ /g",
            ":x\ns/a/b/\ntx",
            "/a/{:l;n;bl}",
            "",
        ] {
            assert!(sed_is_harmless(script), "{script}");
        }
        for script in [
            "e",
            "1e evil",
            "s/a/b/e",
            "s/.*/evil/e",
            "w out",
            "s/a/b/w out",
            "r /etc/passwd",
            "W x",
            "s/a/b/;e",
            "1!e x",
            "a\\",
            "/x/{e}",
            "s/a/b/ge",
            "p;e x",
            "p e",
            "}",
            "b;e",
            ":a;e",
            "ba;w x",
            ":a e",
            "ta}",
            "{s/[/]/;/e;y/p;/xx/}",
            "s/[\\]/]/x/e",
            "s/[/x/",
            "1a text\ne",
            "a\\\ntext\nw x",
        ] {
            assert!(!sed_is_harmless(script), "{script}");
        }
    }

    #[test]
    fn programs_of_awk() {
        for program in [
            "{print $1}",
            "/x/ {n++} END {print n}",
            "NR > 5",
            "$3 >= 10 {print}",
            "BEGIN{FS=\":\"}{print $2}",
            "NR == 1 || /x/",
        ] {
            assert!(awk_is_harmless(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"evil\")}",
            "{print > \"out\"}",
            "{print | \"sh\"}",
            "{\"evil\" | getline}",
            "BEGIN{x=\"sys\" \"tem\";@x(\"evil\")}",
            "@load \"x\"",
            "{print $1 > 5}",
            "BEGIN{ARGV[1]=\"/etc/passwd\"}1",
            "{print ||| \"evil\"}",
        ] {
            assert!(!awk_is_harmless(program), "{program}");
        }
    }
}
