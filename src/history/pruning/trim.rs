//! Trims a long result to its start and its end before it is pruned completely.

use crate::history::overflow::char_weight::Weight;

/// The parameters of trimming. Characters are UTF-16 code units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Length up to which a text is kept whole.
    pub max_chars: usize,
    /// Length kept of the start.
    pub head_chars: usize,
    /// Length kept of the end.
    pub tail_chars: usize,
}

/// The parts of a trimmed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trimmed {
    /// Number of units of the start.
    pub head: usize,
    /// Number of units of the end.
    pub tail: usize,
    /// The note at the end.
    pub note: String,
}

/// Separates the two ends. This text and that of the note are OpenClaw's.
pub const MIDDLE: &str = "\n...\n";

/// Trims a text, or returns `None` if it is kept whole. `path` is where the full output was saved. Characters are not
/// split, so either end may be one unit shorter than the rule says.
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
