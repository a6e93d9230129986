//! Line boundaries and line counts.

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};

/// Returns the number of line feeds.
pub fn breaks(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

/// Rules for counting lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineRule {
    /// `
    /// ` ends a line, `\r
    /// ` is one break, and a final break does not begin another line.
    #[default]
    Terminated,
    /// The pieces between `
    /// `, as `text.split('
    /// ')` returns them: a final break is followed by an empty line, and `\r` is part of the text. Some agents count
    /// this way; their profiles select it.
    Split,
}

impl LineRule {
    /// Returns the number of lines of a text that contains `breaks` line feeds.
    pub fn count(self, breaks: u64, is_empty: bool, ends_with_break: bool) -> u64 {
        match self {
            LineRule::Split => breaks + 1,
            LineRule::Terminated if is_empty || ends_with_break => breaks,
            LineRule::Terminated => breaks + 1,
        }
    }

    /// Returns the end of the line's content, given that its line feed is at `at`.
    pub fn content_end(self, text: &[u8], at: usize) -> usize {
        match self {
            LineRule::Terminated if at > 0 && text.get(at - 1) == Some(&b'\r') => at - 1,
            _ => at,
        }
    }

    /// Returns the end of the content of the last line.
    pub fn last_content_end(self, text: &[u8]) -> usize {
        match (self, text.last()) {
            (LineRule::Terminated, Some(b'\n')) => self.content_end(text, text.len() - 1),
            _ => text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rule: LineRule, text: &str) -> u64 {
        let breaks = text.matches('\n').count() as u64;
        rule.count(breaks, text.is_empty(), text.ends_with('\n'))
    }

    #[test]
    fn a_final_break_starts_no_line() {
        let cases =
            [("", 0, 1), ("a", 1, 1), ("a\n", 1, 2), ("a\nb", 2, 2), ("\n", 1, 2), ("\n\n", 2, 3)];
        for (text, terminated, split) in cases {
            assert_eq!(count(LineRule::Terminated, text), terminated, "{text:?}");
            assert_eq!(count(LineRule::Split, text), split, "{text:?}");
        }
    }

    #[test]
    fn a_carriage_return_belongs_to_the_break() {
        assert_eq!(LineRule::Terminated.content_end(b"ab\r\ncd", 3), 2);
        assert_eq!(LineRule::Split.content_end(b"ab\r\ncd", 3), 3);
        assert_eq!(LineRule::Terminated.last_content_end(b"ab\r\n"), 2);
        assert_eq!(LineRule::Terminated.last_content_end(b"ab\r"), 3);
    }
}
