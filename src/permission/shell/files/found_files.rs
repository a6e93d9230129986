//! Files that a search selects: the tests of `find`, and the pattern and the options of `fd`.

use crate::permission::shell::grep_args::letters_of;
use crate::permission::shell::sed_awk_find::is_negation;
use crate::permission::shell::word::Word;
use crate::permission::shell::{Content, MAX_FOLDER_DEPTH};

/// Options of `fd` with a value in the next word, beside those of one letter.
const VALUED_BY_FD: [&str; 5] =
    ["--max-depth", "--min-depth", "--size", "--changed-within", "--changed-before"];

/// Returns which files `find` selects for its actions.
pub(crate) fn content_found(words: &[Word]) -> Content {
    let mut content = Content { depth: MAX_FOLDER_DEPTH, ..Content::default() };
    // Expressions are compared with the names of secrets elsewhere.
    if words.iter().any(is_regex) {
        content.depth = 0;
    }
    let tests = without_commands(words);
    let alternatives: Vec<&[&Word]> = split(&tests).collect();
    let acts = |tests: &&&[&Word]| tests.iter().any(|word| is_action(&word.text));
    let mut acting = alternatives.iter().filter(acts);
    // Several that act select the files of all of them.
    let (Some(own), None) = (acting.next(), acting.next()) else { return content };
    for pruned in alternatives.iter().take_while(|tests| !acts(tests)) {
        if let Some((last, tests)) = pruned.split_last()
            && last.text == "-prune"
            && !has_regex(tests)
        {
            content.without.extend(names_of(tests).unwrap_or_default());
        }
    }
    // Tests after an action come too late.
    let end = own.iter().position(|word| is_action(&word.text)).unwrap_or(own.len());
    let own = &own[..end];
    let mut at = 0;
    let mut is_left_out = false;
    while let Some(word) = own.get(at) {
        let rest = &own[at..];
        let length = match &*word.text {
            "(" => group_length(rest),
            _ => 1 + usize::from(names_of(rest.get(..2).unwrap_or_default()).is_some()),
        };
        if is_negation(word) {
            is_left_out = !is_left_out;
            at += 1;
            continue;
        }
        let tests = &rest[..length];
        let names = names_of(tests).unwrap_or_default();
        match is_left_out {
            false if names.iter().all(|name| name != "*") => content.only.extend(names),
            false => {}
            true if !has_regex(tests) => content.without.extend(names),
            true => {}
        }
        let kind = rest.get(1).filter(|_| matches!(&*word.text, "-type" | "-xtype"));
        content.is_link |= !is_left_out && kind.is_some_and(|kind| kind.text == "l");
        is_left_out = false;
        at += length;
    }
    content
}

/// Returns true if `find` removes nothing but folders that are empty.
pub(super) fn deletes_empty_folders(words: &[Word]) -> bool {
    let is_of_folders = |pair: &[Word]| pair[0].text == "-type" && pair[1].text == "d";
    words.windows(2).any(is_of_folders)
        && !words
            .iter()
            .any(|word| is_negation(word) || matches!(&*word.text, "(" | "-o" | "-or" | ","))
}

fn is_regex(word: &Word) -> bool {
    matches!(&*word.text, "-regex" | "-iregex")
}

/// Returns true if the globs of such tests may mean more than the tests.
fn has_regex(tests: &[&Word]) -> bool {
    tests.iter().any(|word| is_regex(word))
}

fn is_action(text: &str) -> bool {
    matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir" | "-delete")
}

/// Returns the words of the tests and actions of `find` without the commands in them.
fn without_commands(words: &[Word]) -> Vec<&Word> {
    let is_before = |word: &&Word| {
        !word.text.starts_with(['-', '(', '!'])
            || matches!(
                &*word.text,
                "-L" | "-H" | "-P" | "-E" | "-mindepth" | "-maxdepth" | "-regextype"
            )
    };
    let mut in_command = false;
    let is_own = |word: &&Word| {
        if in_command {
            in_command = !matches!(&*word.text, ";" | "+");
            return false;
        }
        in_command = is_action(&word.text) && word.text != "-delete";
        true
    };
    words.iter().skip_while(is_before).filter(is_own).collect()
}

/// Returns how many words a group has that these begin with.
fn group_length(words: &[&Word]) -> usize {
    let mut depth = 0;
    let ends = |word: &&Word| {
        depth += i32::from(word.text == "(") - i32::from(word.text == ")");
        depth == 0
    };
    words.iter().position(ends).map_or(words.len(), |at| at + 1)
}

/// Returns the alternatives of an expression.
fn split<'a>(words: &'a [&'a Word]) -> impl Iterator<Item = &'a [&'a Word]> {
    let mut depth = 0;
    words.split(move |word| {
        depth += i32::from(word.text == "(") - i32::from(word.text == ")");
        depth == 0 && matches!(&*word.text, "-o" | "-or" | ",")
    })
}

/// Returns the globs of a test for names, or of a group of alternatives that are such tests.
fn names_of(tests: &[&Word]) -> Option<Vec<String>> {
    match tests {
        [test, value] => match &*test.text {
            "-name" | "-path" | "-wholename" => Some(vec![value.text.clone()]),
            "-iname" | "-ipath" | "-iwholename" => {
                let lower = value.text.to_lowercase();
                let is_same = lower == value.text;
                Some(
                    [vec![value.text.clone()], if is_same { Vec::new() } else { vec![lower] }]
                        .concat(),
                )
            }
            _ if is_regex(test) => {
                let globs = globs_of(&value.text)?;
                // The expression is for the path, of which only the end is known to be that of the name.
                let end = |glob: &String| match glob.rsplit_once(['*', '?', '/']) {
                    Some((before, end)) if glob[before.len()..].starts_with('/') => end.to_owned(),
                    Some((_, end)) => ["*", end].concat(),
                    None => glob.clone(),
                };
                Some(globs.iter().map(end).collect())
            }
            _ => None,
        },
        [open, inner @ .., close] if open.text == "(" && close.text == ")" => {
            let globs: Option<Vec<Vec<String>>> = split(inner).map(names_of).collect();
            globs.map(|globs| globs.concat())
        }
        _ => None,
    }
}

/// Returns the globs that mean the same as a regular expression, if it is simple: `.*\.\(js\|ts\)`.
fn globs_of(expression: &str) -> Option<Vec<String>> {
    let text = ["(", "|", ")"]
        .iter()
        .fold(expression.to_owned(), |text, sign| text.replace(&["\\", sign].concat(), sign));
    let texts: Vec<String> = match text.split_once('(') {
        Some((head, rest)) => {
            let (list, tail) = rest.split_once(')')?;
            list.split('|').map(|one| [head, one, tail].concat()).collect()
        }
        None => vec![text],
    };
    let glob_of = |text: String| {
        let mut glob = String::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_repeated = letters.peek() == Some(&'*');
            match letter {
                '.' if is_repeated => {
                    letters.next();
                    glob.push('*');
                }
                _ if is_repeated => return None,
                '.' => glob.push('?'),
                '\\' => glob.push(
                    letters.next().filter(|it| !it.is_alphanumeric() && !"*?[".contains(*it))?,
                ),
                '[' | ']' | '*' | '+' | '?' | '{' | '}' | '(' | ')' | '|' | '^' | '$' => {
                    return None;
                }
                _ => glob.push(letter),
            }
        }
        Some(glob)
    };
    texts
        .into_iter()
        .map(|text| glob_of(text.trim_end_matches('$').trim_start_matches('^').to_owned()))
        .collect()
}

/// Returns which files `fd` selects, given its own words. Only those that are there count.
pub(crate) fn content_of_fd(words: &[Word]) -> Content {
    let mut content = Content::on_disk();
    let (mut ends, mut pattern, mut is_glob, mut is_of_path) = (Vec::new(), None, false, false);
    let mut kinds = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let is_option = word.text.starts_with('-');
        let (name, value) = match (word.text.split_once('='), letters_of("fd", word)) {
            (Some((name, value)), _) if name.starts_with("--") => (name, Some(value.to_owned())),
            (_, (letters, Some(value))) => {
                (&letters[letters.len() - 1..], Some(value.to_owned()).filter(|it| !it.is_empty()))
            }
            (_, (letters, None)) => {
                is_glob |= letters.contains('g');
                is_of_path |= letters.contains('p');
                (&*word.text, None)
            }
        };
        is_glob |= name == "--glob";
        is_of_path |= name == "--full-path";
        let kind =
            ["e", "--extension", "E", "--exclude", "t", "--type"].iter().position(|it| *it == name);
        let is_valued =
            kind.is_some() || is_option && name.len() == 1 || VALUED_BY_FD.contains(&name);
        let value = match value {
            None if is_valued => rest.next().map(|next| next.text.clone()),
            value => value,
        };
        match (kind, value) {
            (Some(0 | 1), Some(value)) => ends.push(["*.", value.trim_start_matches('.')].concat()),
            (Some(2 | 3), Some(value)) => content.without.push(value),
            (Some(4 | 5), Some(value)) => kinds.push(value),
            _ if pattern.is_none() && !is_option => pattern = Some(&*word.text),
            _ => {}
        }
    }
    content.is_link =
        !kinds.is_empty() && kinds.iter().all(|kind| matches!(&**kind, "l" | "symlink"));
    let names = match pattern.filter(|_| !is_of_path) {
        Some(glob) if is_glob => Some(vec![glob.to_owned()]),
        Some(pattern) => globs_of(pattern).map(|globs| {
            let before = if pattern.starts_with('^') { "" } else { "*" };
            let after = if pattern.ends_with('$') { "" } else { "*" };
            globs.iter().map(|glob| [before, glob, after].concat()).collect()
        }),
        None => None,
    };
    match names {
        _ if !ends.is_empty() => content.only = ends,
        Some(names) if pattern != Some(".") => content.only = names,
        _ => {}
    }
    content
}
