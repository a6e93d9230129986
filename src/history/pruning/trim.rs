//! What stays of a long result before it goes altogether: its start, its end, and how much that is of the whole.

use crate::history::overflow::char_weight::Weight;

/// How long is too long. Characters are UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Up to this length a text stays whole.
    pub max_chars: usize,
    /// So much of the start stays.
    pub head_chars: usize,
    /// So much of the end stays.
    pub tail_chars: usize,
}

/// The parts of a text that was trimmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trimmed {
    /// Units of its start.
    pub head: usize,
    /// Units of its end.
    pub tail: usize,
    /// What stands at the end.
    pub note: String,
}

/// Stands between the two ends. These words and those of the note are OpenClaw's.
pub const MIDDLE: &str = "\n...\n";

/// Trims a text, or answers none if it stays whole. `path` is where the full output was saved. Characters stay whole, so
/// either end can have one unit less than the rule has.
pub fn trim(text: &[u16], rule: &Rule, chinese: bool, path: Option<&str>) -> Option<Trimmed> {
    let total = text.len();
    if total <= rule.max_chars || rule.head_chars.saturating_add(rule.tail_chars) >= total {
        return None;
    }
    let head = Weight::Units.fit(text, rule.head_chars as u64);
    let tail = Weight::Units.fit_end(text, rule.tail_chars as u64);
    Some(Trimmed { head, tail, note: note(head, tail, total, chinese, path) })
}

fn note(head: usize, tail: usize, total: usize, chinese: bool, path: Option<&str>) -> String {
    let (counts, path) = if chinese {
        let path = path.map(|path| format!("，全文见 {path}")).unwrap_or_default();
        (format!("工具结果已裁剪：保留前 {head} 个和后 {tail} 个字符，共 {total} 个字符"), path)
    } else {
        let path = path.map(|path| format!(" All of it is in {path}")).unwrap_or_default();
        let kept = format!("kept first {head} chars and last {tail} chars of {total} chars.");
        (format!("Tool result trimmed: {kept}"), path)
    };
    format!("\n\n[{counts}{path}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn rule(max_chars: usize, head_chars: usize, tail_chars: usize) -> Rule {
        Rule { max_chars, head_chars, tail_chars }
    }

    #[test]
    fn both_counts_are_said() {
        let text = units("AAAAA\nBBBBB");
        let trimmed = trim(&text, &rule(10, 7, 3), false, None).unwrap();
        assert_eq!((trimmed.head, trimmed.tail), (7, 3));
        assert_eq!(
            trimmed.note,
            "\n\n[Tool result trimmed: kept first 7 chars and last 3 chars of 11 chars.]"
        );
        let saved = trim(&text, &rule(10, 7, 3), false, Some("/tmp/x")).unwrap();
        assert!(saved.note.ends_with("of 11 chars. All of it is in /tmp/x]"), "{}", saved.note);
        let chinese = trim(&text, &rule(10, 7, 3), true, Some("/tmp/x")).unwrap();
        assert_eq!(
            chinese.note,
            "\n\n[工具结果已裁剪：保留前 7 个和后 3 个字符，共 11 个字符，全文见 /tmp/x]"
        );
    }

    #[test]
    fn what_is_short_stays_whole() {
        let text = units("0123456789");
        assert_eq!(trim(&text, &rule(10, 2, 2), false, None), None);
        assert!(trim(&text, &rule(9, 2, 2), false, None).is_some());
        // The ends would meet.
        assert_eq!(trim(&text, &rule(5, 6, 4), false, None), None);
        assert_eq!(trim(&text, &rule(0, usize::MAX, 4), false, None), None);
    }

    proptest! {
        #[test]
        fn characters_stay_whole(text in "[a😀你]{0,40}", max in 0usize..40, head in 0usize..40, tail in 0usize..40) {
            let text = units(&text);
            if let Some(trimmed) = trim(&text, &rule(max, head, tail), false, None) {
                prop_assert!(trimmed.head + 1 >= head && trimmed.head <= head);
                prop_assert!(trimmed.tail + 1 >= tail && trimmed.tail <= tail);
                prop_assert!(String::from_utf16(&text[..trimmed.head]).is_ok());
                prop_assert!(String::from_utf16(&text[text.len() - trimmed.tail..]).is_ok());
            } else {
                prop_assert!(text.len() <= max || head + tail >= text.len());
            }
        }
    }
}
