//! The words of `env`: its options, the variables that it sets, and the text that it splits.

use super::variables;
use super::word::Word;

/// The changes that `env` makes for the command that it runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Environment {
    /// Index of the command; after the last word if there is none.
    pub at: usize,
    /// Indexes of assignments of variables that can change what is run.
    pub assigned: Vec<usize>,
    /// Directories in variables that programs write to.
    pub written: Vec<(usize, usize)>,
    /// The directory that it runs in: the index of the word, and the offset in it.
    pub folder: Option<(usize, usize)>,
    /// A text that is split into words of `env` before those that follow.
    pub split: Option<(usize, usize)>,
}

/// Long options of `env` and the equivalent letters; `0` where there is none.
static ENV_OPTIONS: [(&str, u8); 13] = [
    ("--ignore-environment", b'i'),
    ("--null", b'0'),
    ("--unset", b'u'),
    ("--chdir", b'C'),
    ("--split-string", b'S'),
    ("--argv0", b'a'),
    ("--debug", b'v'),
    ("--block-signal", b' '),
    ("--default-signal", b' '),
    ("--ignore-signal", b' '),
    ("--list-signal-handling", b' '),
    ("--help", b' '),
    ("--version", b' '),
];

/// Reads the options and variables of `env`; `None` if one is not known.
pub(super) fn environment(words: &[Word]) -> Option<Environment> {
    let mut env = Environment { at: 1, ..Environment::default() };
    while let Some(word) = words.get(env.at) {
        if !word.known || word.glob {
            return None;
        }
        let text = word.text.as_str();
        let (letters, is_long) = match text.strip_prefix('-') {
            None if text.contains('=') => {
                let name = text.split('=').next().unwrap_or(text);
                let value = &text[name.len() + 1..];
                if variables::is_written_folder(name, value) {
                    env.written.push((env.at, name.len() + 1));
                } else if !variables::is_handed(name, value) {
                    env.assigned.push(env.at);
                }
                env.at += 1;
                continue;
            }
            None => break,
            Some("") => {
                env.at += 1;
                continue;
            }
            Some("-") => {
                env.at += 1;
                break;
            }
            Some(long) if long.starts_with('-') => {
                let name = text.split('=').next().unwrap_or(text);
                let mut found = ENV_OPTIONS.iter().filter(|(known, _)| known.starts_with(name));
                match (found.next(), found.next()) {
                    (Some((_, letter)), None) => (std::slice::from_ref(letter), true),
                    _ => return None,
                }
            }
            Some(letters) => (letters.as_bytes(), false),
        };
        let own = env.at;
        env.at += 1;
        for (place, letter) in letters.iter().enumerate() {
            if matches!(letter, b'i' | b'0' | b'v' | b' ') {
                continue;
            }
            // The value is after the equal sign, after the letter, or the next word.
            let value = match (text.find('='), letters.get(place + 1)) {
                (Some(sign), _) if is_long => (own, sign + 1),
                (_, Some(_)) if !is_long => (own, place + 2),
                _ => {
                    env.at += 1;
                    (own + 1, 0)
                }
            };
            if words.get(value.0).is_none_or(|word| !word.known || word.glob) {
                return None;
            }
            match letter {
                b'u' | b'a' => {}
                b'C' => env.folder = Some(value),
                b'S' => {
                    env.split = Some(value);
                    return Some(env);
                }
                _ => return None,
            }
            break;
        }
    }
    Some(env)
}

/// Splits a text into words as `env -S` does; a word with a variable is unknown.
pub(super) fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut known = true;
    let mut quote = None;
    let mut letters = text.chars();
    loop {
        let letter = letters.next();
        let ends = match (letter, quote) {
            (None, _) => true,
            (Some('#'), None) if word.is_none() => true,
            (Some(letter), None) => letter.is_ascii_whitespace(),
            _ => false,
        };
        if ends {
            words.extend(word.take().map(|text| Word { known, ..Word::plain(&text) }));
            known = true;
            match letter {
                None | Some('#') => return words,
                _ => continue,
            }
        }
        let Some(letter) = letter else { return words };
        let text = word.get_or_insert_with(String::new);
        match letter {
            '\\' if quote != Some('\'') => match letters.next() {
                // Outside of quotes it separates words.
                Some('_') if quote.is_none() => {
                    words.extend(word.take().map(|text| Word { known, ..Word::plain(&text) }));
                }
                Some('c') => letters = "".chars(),
                Some('_') => text.push(' '),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(next @ ('f' | 'r' | 'v')) => text.push(next),
                Some(next) => text.push(next),
                None => {}
            },
            '$' if quote != Some('\'') => {
                known = false;
                text.push('$');
            }
            '\'' | '"' if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            letter => text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_blanks_outside_of_quotes() {
        let texts: Vec<String> =
            split("a 'b c'\\_d\"e\\_f\" $x # y").into_iter().map(|word| word.text).collect();
        assert_eq!(texts, ["a", "b c", "de f", "$x"].map(str::to_owned));
    }
}
