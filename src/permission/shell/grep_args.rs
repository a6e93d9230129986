//! Arguments of `grep` and similar programs: which of them are files, and which are patterns.

use super::Concern;
use super::word::Word;
use crate::permission::sensitive::SensitiveNames;
use crate::util::words::has_word;

/// Long options with a number, and those of `rg` with another value that is neither a file nor a pattern.
const NUMBERED: &str = "\
    --after-context --before-context --context --max-count --max-depth --maxdepth --max-columns --threads --max-filesize";
const FILTERS: &str = "\
    --glob --iglob --type --type-not --type-add --type-clear --replace --encoding --sort --sortr --color --colors --engine \
    --context-separator --field-match-separator --field-context-separator --path-separator --dfa-size-limit \
    --regex-size-limit --pre-glob --hyperlink-format --generate";

/// Options whose value is a glob of the files to search.
const GLOBS: [&str; 4] = ["-g", "--glob", "--iglob", "--include"];

/// Maximum size of a compiled expression for file paths.
const MAX_EXPRESSION: usize = 256 * 1024;

/// The role of the next word.
enum Next {
    Pattern,
    Filter,
    Number,
}

/// Returns true for `rg`, and for the program that adds other formats to it.
pub(super) fn is_ripgrep(program: &str) -> bool {
    matches!(program, "rg" | "rga")
}

/// Returns the letters of a word's short options up to the first one that has a value, and what follows: the value, unless it
/// is the next word.
pub(super) fn letters_of<'w>(program: &str, word: &'w str) -> (&'w str, Option<&'w str>) {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let letters = letters.unwrap_or_default();
    let with_value = match program {
        "rg" | "rga" => "ABCEMTdefgjmrt",
        "fd" | "fdfind" => "CESXcdejotx",
        "grep" | "egrep" | "fgrep" | "ggrep" => "ABCDdefm",
        "ugrep" | "ug" | "ugrep+" | "ug+" => "ABCDJKMNOdefgmt",
        _ => "ABCGTgmpt",
    };
    match letters.find(|letter| with_value.contains(letter)) {
        Some(at) => (&letters[..=at], Some(&letters[at + 1..])),
        None => (letters, None),
    }
}

/// Returns the options and the files among the arguments of `program`.
pub(super) fn files(program: &str, words: &[Word]) -> Vec<Word> {
    split(program, words).1
}

/// Returns the index of the pattern, if it is a word of its own.
pub(super) fn pattern_at(program: &str, words: &[Word]) -> Option<usize> {
    split(program, words.get(1..)?).0.map(|at| at + 1)
}

/// Returns the index of the pattern, and the options and files.
fn split(program: &str, words: &[Word]) -> (Option<usize>, Vec<Word>) {
    let mut pattern = None;
    let mut given = words.iter().any(|word| gives_pattern(program, word));
    let mut found = Vec::new();
    let mut next = None;
    let mut options = true;
    for (at, word) in words.iter().enumerate() {
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
            pattern = Some(at);
        }
    }
    (pattern, found)
}

/// Returns true if an option gives the pattern, so that no argument does.
fn gives_pattern(program: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    match text.strip_prefix("--") {
        Some(long) => {
            long.starts_with("reg") || long.starts_with("file=") || matches!(long, "file" | "files")
        }
        None => letters_of(program, text).0.contains(['e', 'f']),
    }
}

/// Returns what the word after an option is, if it is its value and no file.
fn value_of(program: &str, option: &str) -> Option<Next> {
    let is_of = |list: &str| has_word(list, option);
    match letters_of(program, option) {
        (letters, Some("")) => match letters.chars().next_back() {
            Some('e') => Some(Next::Pattern),
            Some('f') => None,
            Some('A' | 'B' | 'C' | 'J' | 'M' | 'd' | 'j' | 'm') => Some(Next::Number),
            _ => Some(Next::Filter),
        },
        _ if option == "--regexp" => Some(Next::Pattern),
        _ if is_of(NUMBERED) => Some(Next::Number),
        _ if is_ripgrep(program) && is_of(FILTERS) => Some(Next::Filter),
        _ => None,
    }
}

/// Returns a concern if globs select files with secrets.
pub(super) fn secrets(
    program: &str,
    words: &[Word],
    sensitive: &SensitiveNames,
) -> Option<Concern> {
    let is_rg = is_ripgrep(program);
    let is_glob = |(at, word): &(usize, &Word)| {
        let text = word.text.as_str();
        let before = if *at > 0 { words[at - 1].text.as_str() } else { "" };
        // `ag` takes an expression.
        if !is_rg && matches!(before, "-G" | "--file-search-regex") {
            return expresses_secrets(text, sensitive);
        }
        let glob = match text.split_once('=') {
            Some((option, glob)) if is_glob_option(option) => glob,
            _ if is_glob_option(before)
                || (is_rg && is_bundle(before) && before.ends_with('g')) =>
            {
                text
            }
            _ if is_rg && is_bundle(text) => match text.split_once('g') {
                Some((_, glob)) => glob.strip_prefix('=').unwrap_or(glob),
                None => return false,
            },
            _ => return false,
        };
        !glob.is_empty()
            && !glob.starts_with('!')
            && sensitive.can_be_found(glob.trim_start_matches('/'), true)
    };
    let (_, word) = words.iter().enumerate().find(is_glob)?;
    Some(Concern::always(format!("{} can mean files with secrets", word.told)))
}

/// Returns true if an option takes a glob. Programs accept abbreviations of long options.
fn is_glob_option(option: &str) -> bool {
    GLOBS.contains(&option) || (option.len() > 5 && "--include".starts_with(option))
}

/// Returns true if a word contains several short options.
fn is_bundle(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && !text.starts_with("--")
}

/// Returns true if an expression for file paths matches files with secrets. One that cannot be compiled may.
pub(super) fn expresses_secrets(expression: &str, sensitive: &SensitiveNames) -> bool {
    let basic = expression.replace("\\(", "(").replace("\\)", ")").replace("\\|", "|");
    let read = |text: &str| {
        let whole = format!("(?i-u)^(?:{text})$");
        regex::bytes::RegexBuilder::new(&whole).size_limit(MAX_EXPRESSION).build()
    };
    let all: Vec<_> = [expression, &basic].into_iter().filter_map(|text| read(text).ok()).collect();
    all.is_empty() || all.iter().any(|expression| sensitive.can_be_matched(expression))
}

/// Returns the index of the filter of `jq`, which is its first argument unless a file holds it.
pub(super) fn filter_of_jq(base: &str, words: &[Word]) -> Option<usize> {
    let from_file = |word: &Word| match word.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.starts_with("-from") || long == "-",
        Some(letters) => letters.contains('f'),
        None => false,
    };
    let is_jq = matches!(base, "jq" | "gojq" | "jaq") && !words.iter().any(from_file);
    words
        .iter()
        .skip(1)
        .position(|word| !word.text.starts_with('-'))
        .filter(|_| is_jq)
        .map(|at| at + 1)
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
            "grep x -drecurse f",
            "rg x -re f",
            "rg x -tjade f",
            "rg --sort path x f",
            "rg -g!x /x f",
        ] {
            assert_eq!(found(command), ["f"], "{command}");
        }
    }

    #[test]
    fn a_file_is_not_taken_for_what_is_searched_for() {
        assert_eq!(found("grep -rf p f"), ["p", "f"]);
        assert_eq!(found("grep --file p f"), ["p", "f"]);
        assert_eq!(found("rg --files f"), ["f"]);
        assert_eq!(found("grep x -A f"), ["f"]);
        assert_eq!(found("grep -e x -- f"), ["f"]);
    }
}
