//! Pathspecs of git: words with which its commands name files, such as `:(top,icase)src`.

use crate::permission::shell::word::Word;

/// Returns true if a pattern of git has a word of magic: `:(top,icase)x`.
fn has_magic(text: &str, name: &str) -> bool {
    let magic = text.strip_prefix(":(").and_then(|magic| magic.split(')').next());
    magic.is_some_and(|magic| magic.split(',').any(|one| one == name))
}

/// Returns true if a pattern of git leaves files out.
pub(crate) fn is_exclusion(text: &str) -> bool {
    text.starts_with(":!") || text.starts_with(":^") || has_magic(text, "exclude")
}

/// Returns true if a path of git begins at the top of the work tree: `:/x`, `:(top)x`, and `HEAD:x` of a commit.
pub(crate) fn is_from_top(text: &str) -> bool {
    if text.starts_with(":(") {
        return has_magic(text, "top");
    }
    let path = text.split_once(':').map(|(_, path)| path);
    path.is_some_and(|path| !path.starts_with("./") && !path.starts_with("../"))
}

/// Returns the files that a pattern of git means, of which a wildcard also matches slashes; `None` if it leaves files out.
pub(crate) fn pattern_of(word: &Word, folds_all: bool) -> Option<Word> {
    let text = word.text.as_str();
    if is_exclusion(text) {
        return None;
    }
    let path = text.strip_prefix(':').map_or(text, |piece| without_magic(piece, text));
    let path = match folds_all || has_magic(text, "icase") {
        true => path.replace(|letter: char| letter.is_ascii_alphabetic(), "?"),
        false if word.glob => path.to_owned(),
        false => path.replace('*', "**"),
    };
    let glob = word.glob || path.contains(['*', '?', '[']);
    let text = if path.is_empty() { ".".to_owned() } else { path };
    Some(Word { text, glob, ..word.clone() })
}

/// Returns true if git compares a path without regard to case.
pub(crate) fn folds_case(words: &[Word], path: &str) -> bool {
    has_magic(path, "icase") || folds_all(words)
}

pub(super) fn folds_all(words: &[Word]) -> bool {
    words.iter().any(|word| word.text == "--icase-pathspecs")
}

/// Strips the magic prefix of a pathspec: `(icase)`, or the slash of `:/x`, which is no root. The colon before it is gone.
pub(crate) fn without_magic<'p>(piece: &'p str, word: &str) -> &'p str {
    let magic = piece
        .strip_prefix('(')
        .or(Some(piece).filter(|_| word.starts_with(":(") && !piece.starts_with(':')));
    if let Some((_, path)) = magic.and_then(|magic| magic.split_once(')')) {
        return path;
    }
    if !word.starts_with(':') {
        return piece;
    }
    piece.trim_start_matches(['/', '^', '!'])
}
