//! Which words of `grep` and its like are files, and which are what is searched for.

use super::Doubt;
use super::word::Word;
use crate::permission::sensitive::SensitiveNames;

/// Letters of options of `grep` that take no value.
const PLAIN_LETTERS: &[u8] = b"EFGPRUTZHILabchilnoqrsuvwxyz";

/// Options with a number of lines.
const NUMBERED: [&str; 4] = ["-A", "-B", "-C", "-m"];

/// Options of `rg` whose value is neither a file nor what is searched for.
const FILTERS: [&str; 7] = ["-g", "--glob", "--iglob", "-t", "--type", "-T", "--type-not"];

/// Options whose value is a glob of the files that are searched.
const GLOBS: [&str; 4] = ["-g", "--glob", "--iglob", "--include"];

/// What the next word is.
enum Next {
    Pattern,
    Filter,
    Number,
}

/// The options and the files among the arguments of `program`.
pub(super) fn files(program: &str, words: &[Word]) -> Vec<Word> {
    let mut given = words.iter().any(gives_pattern);
    let mut found = Vec::new();
    let mut next = None;
    let mut options = true;
    for word in words {
        let text = word.text.as_str();
        match next.take() {
            Some(Next::Pattern | Next::Filter) => continue,
            Some(Next::Number) if text.bytes().all(|byte| byte.is_ascii_digit()) => continue,
            _ => {}
        }
        if options && text.len() > 1 && text.starts_with('-') {
            options = text != "--";
            next = value_of(program, text);
            found.push(word.clone());
        } else if given {
            found.push(word.clone());
        } else {
            given = true;
        }
    }
    found
}

/// Whether an option says what is searched for, so that no argument does.
fn gives_pattern(word: &Word) -> bool {
    let text = word.text.as_str();
    match text.strip_prefix('-') {
        None => false,
        Some(long) if long.starts_with('-') => {
            text.starts_with("--reg")
                || text.starts_with("--file=")
                || matches!(text, "--file" | "--files")
        }
        Some(letters) => letters.contains(['e', 'f']),
    }
}

fn value_of(program: &str, option: &str) -> Option<Next> {
    if NUMBERED.contains(&option) {
        return Some(Next::Number);
    }
    let is_rg = program == "rg";
    if is_rg && FILTERS.contains(&option) {
        return Some(Next::Filter);
    }
    // Other options can have an `e` as their value.
    let ends_in_e = |letters: &str| {
        letters.strip_suffix('e').is_some_and(|before| {
            before.bytes().all(|letter| !is_rg && PLAIN_LETTERS.contains(&letter))
        })
    };
    let is_it = option == "--regexp" || option.strip_prefix('-').is_some_and(ends_in_e);
    (is_it && (is_rg || program.ends_with("grep"))).then_some(Next::Pattern)
}

/// Globs that say that files with secrets are searched.
pub(super) fn secrets(words: &[Word], sensitive: &SensitiveNames) -> Option<Doubt> {
    let is_glob = |(at, word): &(usize, &Word)| {
        let text = word.text.as_str();
        let glob = match text.split_once('=') {
            Some((option, glob)) if GLOBS.contains(&option) => glob,
            _ if *at > 0 && GLOBS.contains(&words[at - 1].text.as_str()) => text,
            _ if text.starts_with("-g") => &text[2..],
            _ => return false,
        };
        !glob.starts_with('!') && sensitive.can_be_sensitive(glob, false)
    };
    let (_, word) = words.iter().enumerate().find(is_glob)?;
    Some(Doubt::always(format!("{} can mean files with secrets", word.told)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Vec<String> {
        let words: Vec<Word> = command.split(' ').map(Word::plain).collect();
        files(&words[0].text, &words[1..])
            .into_iter()
            .map(|word| word.text)
            .filter(|text| !text.starts_with('-'))
            .collect()
    }

    #[test]
    fn what_is_searched_for_is_no_file() {
        for command in [
            "grep /x f",
            "grep -r -e /x f",
            "grep -rne /x f",
            "grep -A 3 /x f",
            "grep -m 1 -C 2 /x f",
            "grep --regexp /x f",
            "rg -g *.ts /x f",
            "rg -t ts -e /x f",
            "grep -e -f f",
        ] {
            assert_eq!(found(command), ["f"], "{command}");
        }
    }

    #[test]
    fn a_file_is_not_taken_for_what_is_searched_for() {
        assert_eq!(found("grep -rf p f"), ["p", "f"]);
        assert_eq!(found("grep --file p f"), ["p", "f"]);
        assert_eq!(found("rg --files f"), ["f"]);
        assert_eq!(found("grep x -drecurse f"), ["x", "f"]);
        assert_eq!(found("rg x -re f"), ["x", "f"]);
        assert_eq!(found("rg x -tjade f"), ["x", "f"]);
        assert_eq!(found("grep x -A f"), ["f"]);
        assert_eq!(found("grep -e x -- f"), ["f"]);
    }
}
