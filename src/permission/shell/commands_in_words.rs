//! Texts in words and lines that may be commands, for comparison with deny rules.

use super::analyzer::pieces;
use super::destroying::destroying_commands::MAX_TAILS;
use super::simple_command::shown;
use super::word::Word;

/// Maximum number of words before the command in a line of an editor, a database or a crontab.
const MAX_BEFORE: usize = 6;

/// Returns the commands that may be in a line after the word that says to run one: `.shell x`, `!x`.
pub(super) fn commands_of_line(piece: &str) -> Vec<String> {
    let line = piece.strip_prefix("shell:").unwrap_or(piece);
    let bare = |text: &str| {
        let text = text.trim_start_matches(|letter: char| "!:\\+@-.".contains(letter)).trim();
        text.strip_prefix("shell:").unwrap_or(text).to_owned()
    };
    let mut found = vec![bare(line)];
    found.extend(line.split_once('=').map(|(_, value)| bare(value)));
    let mut rest = line;
    for _ in 0..MAX_BEFORE {
        let Some((_, after)) = rest.split_once(' ') else { break };
        found.push(bare(after));
        rest = after;
    }
    found
}

/// Returns the texts among words that may be commands, for comparison with deny rules: whole words, values of options,
/// and their content.
pub(super) fn texts(words: &[Word]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words.iter().take(MAX_TAILS) {
        let text = word.text.as_str();
        let value = match text.strip_prefix('-') {
            None => text,
            Some(long) if long.starts_with('-') => {
                text.split_once('=').map_or("", |(_, value)| value)
            }
            Some(short) => short.get(1..).unwrap_or_default(),
        };
        // `+!x` of a pager, `EXEC:x`, `-wrapper x,y`, `-Dexec.executable=x`.
        let bare = value.trim_start_matches(['+', '!']);
        found.extend(pieces(bare));
        let after = bare.split_once([':', '=']).map(|(_, after)| after);
        found.extend(
            after
                .filter(|_| text != value || bare != value || bare.contains(' '))
                .into_iter()
                .flat_map(pieces),
        );
        if bare.contains(',') && !bare.contains(' ') {
            found.extend(pieces(&bare.replace(',', " ")));
        }
    }
    found
}

/// Returns the commands that `parallel` makes of its words and the arguments after `:::`.
pub(super) fn commands_of_parallel(words: &[Word]) -> Vec<String> {
    let Some(end) = words.iter().position(|word| word.text.starts_with(":::")) else {
        return Vec::new();
    };
    with_arguments(&words[..end], words[end + 1..].iter().map(|word| word.text.as_str()))
}

/// Returns the commands that begin at each of the words, with each of the arguments.
pub(super) fn with_arguments<'a>(
    words: &[Word],
    arguments: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut found = Vec::new();
    for argument in arguments.take(MAX_TAILS) {
        for start in 1..words.len().min(MAX_TAILS) {
            let inner = shown(&words[start..]).replace('\'', "");
            found.push(match inner.contains("{}") {
                true => inner.replace("{}", argument),
                false => [&inner, " ", argument].concat(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_commands() {
        assert_eq!(commands_of_line("shell:.shell a b"), ["shell a b", "a b", "b"]);
        assert_eq!(commands_of_line("shell:!a b"), ["a b", "b"]);
        assert_eq!(commands_of_line("shell:X=a b"), ["X=a b", "a b", "b"]);
    }
}
