//! Lists of words in one text: in a slice of texts each word takes forty bytes more, and its address is written when the binary
//! is loaded.

use memchr::{memchr, memchr_iter};

/// Returns true if a word is one of a list, in which a space is between each two.
///
/// ```
/// use spillway_base::util::words::has_word;
///
/// assert!(has_word("sh bash zsh", "bash"));
/// assert!(!has_word("sh bash zsh", "ash"));
/// assert!(!has_word("sh bash zsh", "bash zsh"));
/// assert!(!has_word("sh bash zsh", ""));
/// ```
pub fn has_word(list: &str, word: &str) -> bool {
    after(list, word, b' ').is_some()
}

/// Returns the words after a name in a table of such lists, each of which begins a line.
///
/// ```
/// use spillway_base::util::words::row;
///
/// assert_eq!(row("git push pull\ngh api", "gh"), Some("api"));
/// assert_eq!(row("git push pull\ngh api", "push"), None);
/// ```
pub fn row(table: &'static str, name: &str) -> Option<&'static str> {
    after(table, name, b'\n')?.strip_prefix(' ')?.lines().next()
}

/// Returns the names of a table.
pub fn names(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter_map(|line| line.split(' ').next())
}

/// Returns the text after a word that is at the start or after a separator.
#[inline(never)]
fn after<'t>(text: &'t str, word: &str, separator: u8) -> Option<&'t str> {
    let first = *word.as_bytes().first()?;
    if memchr(b' ', word.as_bytes()).is_some() {
        return None;
    }
    let bytes = text.as_bytes();
    memchr_iter(first, bytes).find_map(|at| {
        if at > 0 && bytes[at - 1] != separator {
            return None;
        }
        let rest = bytes[at..].strip_prefix(word.as_bytes())?;
        let ends = matches!(rest.first(), None | Some(b' ' | b'\n'));
        ends.then(|| text.get(text.len() - rest.len()..)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_rows_are_found_as_in_a_split_text() {
        let table = "sh a ab\nash sh\nb * \u{fc}a\nbash ba b";
        for word in [
            "", " ", "a", "ab", "b", "ba", "sh", "ash", "bash", "*", "\u{fc}", "\u{fc}a", "a ab",
            "a\nb",
        ] {
            for list in table.lines() {
                let is_one = !word.is_empty() && list.split(' ').any(|known| known == word);
                assert_eq!(has_word(list, word), is_one, "{word:?} in {list:?}");
            }
            let found = table.lines().find_map(|line| {
                line.split_once(' ').filter(|(name, _)| *name == word).map(|(_, rest)| rest)
            });
            assert_eq!(row(table, word), found, "{word:?}");
        }
    }
}
