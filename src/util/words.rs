//! Lists of words in one text: in a slice of texts each word takes forty bytes more, and its address is written when the binary
//! is loaded.

/// Returns true if a word is one of a list, in which a space is between each two.
///
/// ```
/// use spillway_base::util::words::has_word;
///
/// assert!(has_word("sh bash zsh", "bash"));
/// assert!(!has_word("sh bash zsh", "ash"));
/// ```
#[inline(never)]
pub fn has_word(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|known| known == word)
}

/// Returns the words after a name in a table of such lists, each of which begins a line.
pub fn row(table: &'static str, name: &str) -> Option<&'static str> {
    table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

/// Returns the names of a table.
pub fn names(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter_map(|line| line.split(' ').next())
}
