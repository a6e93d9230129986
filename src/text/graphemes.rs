//! Splits texts at grapheme boundaries, so that no visible character is split.

use unicode_segmentation::GraphemeCursor;

/// Returns the last grapheme boundary at or before `limit`, or 0 if the first grapheme alone is longer.
pub fn floor(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let at = floor_char(text, limit);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// Returns the first grapheme boundary at or after `limit`, or the end of the text if the last grapheme alone is
/// longer.
pub fn ceil(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let at = (limit..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
}

/// Returns the last character boundary at or before `limit`.
pub fn floor_char(text: &str, limit: usize) -> usize {
    text.floor_char_boundary(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_accents_stay_whole() {
        let family = "👨‍👩‍👧";
        let text = format!("ab{family}e\u{301}z");
        let first = 2 + family.len();
        for limit in 0..=text.len() {
            let cut = floor(&text, limit);
            assert!(
                cut <= limit && [0, 1, 2, first, first + 3, text.len()].contains(&cut),
                "{limit} -> {cut}"
            );
            let cut = ceil(&text, limit);
            assert!(
                cut >= limit && [0, 1, 2, first, first + 3, text.len()].contains(&cut),
                "{limit} -> {cut}"
            );
        }
    }

    #[test]
    fn a_grapheme_over_the_limit_leaves_nothing() {
        let zalgo = format!("a{}", "\u{301}".repeat(100));
        assert_eq!(floor(&zalgo, 50), 0);
        assert_eq!(ceil(&zalgo, 50), zalgo.len());
    }
}
