//! Arguments of `grep` and similar programs: which of them are files, and which are patterns.

use super::Concern;
use super::word::Word;
use crate::permission::sensitive::SensitiveNames;
use crate::util::words::has_word;

/// Long options with a number, and those of `rg` with another value that is neither a file nor a pattern.
const NUMBERED: &str = "\
    --after-context --before-context --context --max-count --max-depth --maxdepth --max-columns --threads";
const FILTERS: &str = "\
    --glob --iglob --type --type-not --type-add --type-clear --replace --encoding --max-filesize --sort --sortr --color --colors --engine \
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

/// Returns the letters of the options of a search that have a value.
pub(super) fn valued_letters(program: &str) -> &'static str {
    match program {
        _ if is_ripgrep(program) => "ABCEMTdefgjmrt",
        "fd" | "fdfind" => "CESXcdejotx",
        "grep" | "egrep" | "fgrep" | "ggrep" => "ABCDdefm",
        "ugrep" | "ug" | "ugrep+" | "ug+" => "ABCDJKMNOdefgmt",
        "ag" => "ABCGWgmp",
        "ack" => "ABCTmt",
        _ => "",
    }
}

/// Returns the letters of a word's short options up to the first one that has a value, and that value, which is empty if it is the
/// next word.
pub(super) fn letters_of<'w>(program: &str, word: &'w Word) -> (&'w str, Option<&'w str>) {
    word.option_letters(valued_letters(program))
}

/// Returns the options and the files among the arguments of `program`.
pub(super) fn files(program: &str, words: &[Word]) -> Vec<Word> {
    let texts = texts(program, words);
    words
        .iter()
        .enumerate()
        .filter(|(at, _)| texts.binary_search(at).is_err())
        .map(|(_, word)| word.clone())
        .collect()
}

/// Returns the indexes of the arguments of `program` that are neither options nor files, in order: patterns, globs and other values.
pub(super) fn texts(program: &str, words: &[Word]) -> Vec<usize> {
    let mut texts = Vec::new();
    let mut given = words.iter().any(|word| gives_pattern(program, word));
    let mut next = None;
    let mut options = true;
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        match next.take() {
            Some(Next::Pattern | Next::Filter) => {
                texts.push(at);
                continue;
            }
            Some(Next::Number) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                texts.push(at);
                continue;
            }
            _ => {}
        }
        if options && text.len() > 1 && text.starts_with('-') {
            options = text != "--";
            next = value_of(program, word);
            if has_pattern(program, word) {
                texts.push(at);
            }
        } else if !given {
            given = true;
            texts.push(at);
        }
    }
    texts
}

/// Returns true if an option gives the pattern, so that no argument does.
fn gives_pattern(program: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    match text.strip_prefix("--") {
        Some(long) => {
            long.starts_with("reg") || long.starts_with("file=") || matches!(long, "file" | "files")
        }
        None => letters_of(program, word).0.contains(['e', 'f']),
    }
}

/// Returns what the word after an option is, if it is its value and no file.
fn value_of(program: &str, option: &Word) -> Option<Next> {
    let is_of = |list: &str| has_word(list, &option.text);
    match letters_of(program, option) {
        (letters, Some("")) => match letters.chars().next_back() {
            Some('e') => Some(Next::Pattern),
            Some('f') => None,
            Some('A' | 'B' | 'C' | 'J' | 'M' | 'j' | 'm') => Some(Next::Number),
            // It is an action of `grep`.
            Some('d') if is_ripgrep(program) => Some(Next::Number),
            _ => Some(Next::Filter),
        },
        _ if option.text == "--regexp" => Some(Next::Pattern),
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
        let before = at.checked_sub(1).map(|at| &words[at]);
        let is_before = |names: &[&str]| before.is_some_and(|word| names.contains(&&*word.text));
        // `ag` takes an expression.
        if !is_rg && is_before(&["-G", "--file-search-regex"]) {
            return expresses_secrets(text, sensitive);
        }
        let of_bundle =
            |word| letters_of(program, word).1.filter(|_| is_rg && takes_glob(program, word));
        let is_value =
            before.is_some_and(|word| is_glob_option(&word.text) || of_bundle(word) == Some(""));
        let glob = match text.split_once('=') {
            Some((option, glob)) if is_glob_option(option) => glob,
            _ if is_value => text,
            _ => match of_bundle(word) {
                Some(glob) => glob.strip_prefix('=').unwrap_or(glob),
                None => return false,
            },
        };
        !glob.is_empty()
            && !glob.starts_with('!')
            && sensitive.can_be_found(glob.trim_start_matches('/'), true)
    };
    let (_, word) = words.iter().enumerate().find(is_glob)?;
    Some(Concern::always(format!("{} can mean files with secrets", word.brief())))
}

/// Returns true if an option takes a glob. Programs accept abbreviations of long options.
fn is_glob_option(option: &str) -> bool {
    GLOBS.contains(&option) || (option.len() > 5 && "--include".starts_with(option))
}

/// Returns true if the last option of a bundle takes a glob: `-g`, `-ng`.
pub(super) fn takes_glob(program: &str, word: &Word) -> bool {
    letters_of(program, word).0.ends_with('g')
}

/// Returns true if the value of an option in the same word is a pattern or a glob: `-efoo`, `-g!foo`.
fn has_pattern(program: &str, word: &Word) -> bool {
    let (letters, value) = letters_of(program, word);
    let is_pattern = letters.ends_with('e') || (is_ripgrep(program) && letters.ends_with('g'));
    is_pattern && value.is_some_and(|value| !value.is_empty())
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
