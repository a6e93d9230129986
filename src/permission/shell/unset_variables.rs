//! Variables that nothing in a command sets. In `rm -rf "$x/"` an empty one leaves the root.

use super::analyzer::Walker;
use super::name_letters::{is_in_program, is_in_variable};
use super::variable_names::is_read_by_programs;

/// Maximum number of searches of the command for a name.
pub(super) const MAX_SEARCHES: usize = 32;

/// Variables that most systems set.
const OF_SYSTEM: [&str; 6] = ["TMP", "TEMP", "HOSTNAME", "SECONDS", "WORKSPACE", "CI"];
const OF_SYSTEM_BEGIN: [&str; 4] = ["CI_", "GITHUB_", "RUNNER_", "BUILDKITE_"];

/// Parts of commands that give scripts their arguments.
const GIVE_ARGUMENTS: [&str; 6] = ["-exec", "-ok", "xargs", "parallel", "fd ", "set "];

/// Tests that a command makes before it uses a variable.
const TESTS: [&str; 8] = ["-n ", "-z ", "-d ", "-e ", "-f ", "-r ", "-w ", "-v "];

impl Walker<'_> {
    /// Returns true if nothing in the command sets or tests a variable, and the system does not set it either.
    pub(super) fn is_unset(&mut self, name: &str) -> bool {
        if name.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'@' | b'*')) {
            // The arguments of a function or of a script are not known.
            return !name.is_empty()
                && name != "0"
                && !self.is_shadow
                && !self.has_input
                && self.functions.is_empty()
                && !GIVE_ARGUMENTS.iter().any(|given| self.whole.contains(given));
        }
        let is_name = name.chars().all(is_in_variable);
        let is_of_system = is_read_by_programs(name)
            || OF_SYSTEM.contains(&name)
            || OF_SYSTEM_BEGIN.iter().any(|start| name.starts_with(start));
        if !is_name || is_of_system || self.searches_left == 0 || self.whole.is_empty() {
            return false;
        }
        self.searches_left -= 1;
        !sets_any(&self.whole, name) && !is_set(&self.whole, name)
    }
}

/// Returns true if a text sets variables whose names do not occur in it, or stops at one that is not set.
fn sets_any(text: &str, name: &str) -> bool {
    if evaluates_unknown(text, name) {
        return true;
    }
    let commands = text.split(|letter: char| ";&|(){}`\"'\n".contains(letter));
    commands.into_iter().any(|command| {
        // A dot is a command, too, and not only the current folder.
        let mut before = "then";
        command.split_whitespace().any(|word| {
            let stops = before == "set" && word.starts_with('-') && word.contains('u');
            let reads = word == "."
                && matches!(before, "then" | "do" | "else" | "builtin" | "command" | "if" | "!");
            before = word;
            stops || reads || matches!(word, "source" | "nounset" | "mapfile" | "readarray")
        })
    })
}

/// Returns true if an `eval` reads more than what follows it: the output of a command, or a variable but for `name`, which
/// would be set already.
fn evaluates_unknown(text: &str, name: &str) -> bool {
    let own = [["$", name].concat(), ["${", name, "}"].concat()];
    // The longer form first, and a longer name is another variable.
    let text = &text.replace(&own[1], "x");
    let text = &without_variable(text, &own[0]);
    text.match_indices("eval").any(|(at, word)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        // Quotes within `$'…'` are escaped.
        // Texts for other shells have a backslash in front of each quote, and more of them the deeper they are.
        let is_known = || {
            is_literal(after)
                || is_literal(&after.replace("\\'", "'"))
                || is_literal(&after.replace('\\', ""))
        };
        !before.ends_with(is_in_program) && !after.starts_with(is_in_program) && !is_known()
    })
}

/// Returns a text with a letter in place of a variable.
fn without_variable(text: &str, variable: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(variable) {
        made.push_str(before);
        let is_longer = after.starts_with(is_in_variable);
        made.push_str(if is_longer { variable } else { "x" });
        rest = after;
    }
    made.push_str(rest);
    made
}

/// Returns true if the words at the beginning of a text are the same before and after a shell expands them.
fn is_literal(text: &str) -> bool {
    // Stands for the quote of `$'…'`.
    const ESCAPED: char = '\0';
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None) if letters.next_if_eq(&'\'').is_some() => {}
            ('`', _) | ('\\', None) => return false,
            ('$', Some('\'' | ESCAPED)) if letters.peek() == Some(&'(') => return false,
            ('$', None) if letters.next_if_eq(&'\'').is_some() => quote = Some(ESCAPED),
            ('\\', Some(ESCAPED)) => _ = letters.next(),
            ('\'', Some(ESCAPED)) => quote = None,
            ('$', None | Some('"')) => return false,
            ('\\', Some('"')) => {
                let starts = letters.next() == Some('$') && letters.peek() == Some(&'(');
                if starts {
                    return false;
                }
            }
            ('\'' | '"', None) => quote = Some(letter),
            (mark, Some(open)) if mark == open => quote = None,
            (';' | '&' | '|' | '\n' | ')' | '}', None) => return true,
            _ => {}
        }
    }
    true
}

/// Returns true if a text may set a variable, or tests it.
fn is_set(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_in_variable) || after.starts_with(is_in_variable) {
            return false;
        }
        let opened = before.strip_suffix('{').unwrap_or(before);
        let Some(outside) = opened.strip_suffix('$') else {
            let declares = ["unset ", "unset -v ", "declare ", "local ", "typeset "];
            return !declares.iter().any(|word| before.ends_with(word)) || after.starts_with('=');
        };
        // In a text for another shell both are escaped: `sh -c "[ -n \"\$x\" ]"`.
        let outside = outside.trim_end_matches('\\');
        let outside = outside.strip_suffix('"').unwrap_or(outside).trim_end_matches('\\');
        TESTS.iter().any(|test| outside.ends_with(test))
            || after.starts_with(":?")
            || after.starts_with(":=")
            || after.starts_with('?')
            || after.trim_start_matches(['"', '}']).trim_start().starts_with("!=")
    })
}

#[cfg(test)]
mod tests {
    use super::{is_set, sets_any};

    #[test]
    fn a_variable_is_unset_where_nothing_sets_or_tests_it() {
        for text in [
            "find . -exec rm -rf /$X ;",
            "cp -r . b; rm -rf /$X",
            "eval 'rm -rf \"$X/\"'",
            "eval rm -rf '\"$X/\"'",
            "eval \"rm -rf \\\"\\$X/\\\"\"",
            "bash -c 'eval \"rm -rf \\$X/\"'",
            "eval \"rm -rf \\\"$X/\\\"\"",
            "eval rm -rf \"$X/\"",
            "eval \"rm -rf ${X}/\"",
        ] {
            assert!(!sets_any(text, "X"), "{text}");
        }
        for text in ["rm -rf /$X", "rm -rf \"${X}/\"", "unset X; rm -rf $X/*", "XY=1; rm /$X"] {
            assert!(!is_set(text, "X") && !sets_any(text, "X"), "{text}");
        }
        for text in [
            "X=a; rm -rf /$X",
            "read X; rm -rf /$X",
            "for X in a; do rm -rf /$X; done",
            "[ -n \"$X\" ] && rm -rf \"$X/\"",
            "test -d $X && rm -rf $X/*",
            "rm -rf \"${X:?}/\"",
            ": ${X:=a}; rm -rf $X/*",
            "[[ $X != '' ]] && rm -rf $X/*",
        ] {
            assert!(is_set(text, "X"), "{text}");
        }
        for text in [
            "if . ./env; then rm -rf /$X; fi",
            "set -eu; rm -rf /$X",
            ". ./env; rm -rf /$X",
            "source env && rm -rf /$X",
            "eval \"$(direnv export)\"; rm -rf /$X",
            "eval \"\\$(direnv export)\"; rm -rf /$X",
            "eval '$(direnv export)'; rm -rf /$X",
            "eval $Y; rm -rf /$X",
            "eval \"$XY\"; rm -rf /$X",
            "bash -c \"eval \\\"\\$(x)\\\"; rm -rf /$X\"",
        ] {
            assert!(sets_any(text, "X"), "{text}");
        }
    }
}
