//! Truncates results that are too long.
//!
//! The start is kept, up to a line break if there is one in the last fifth of the room. If the end looks as if it
//! states an outcome, it is kept too. The limit includes the marker and the suffix.

use super::char_weight::Weight;
use crate::text::utf16;

/// The parameters of truncation.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// How characters are counted.
    pub weight: Weight,
    /// Length kept of each text where there is room for it.
    pub min_keep: u64,
    /// Suffixes of a truncated text, longest first; `{removed}` is the number of removed characters. The first that
    /// takes at most half of the room is used, or the only one as far as it fits.
    pub suffixes: &'a [String],
}

/// A text, or the ends of one that is much longer than the limit.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    start: &'a [u16],
    end: &'a [u16],
    units: usize,
    weight: u64,
    characters: u64,
}

impl<'a> Text<'a> {
    /// Wraps a whole text.
    pub fn whole(text: &'a [u16], weight: Weight) -> Self {
        let (weight, characters) = (weight.measure(text), characters(text));
        Text { start: text, end: text, units: text.len(), weight, characters }
    }

    /// Wraps the ends of a text of `units` units, with the length and the number of characters of the whole. The first
    /// must have two more units than the limit, the second [`END_UNITS`].
    pub fn ends(
        start: &'a [u16],
        end: &'a [u16],
        units: usize,
        weight: u64,
        characters: u64,
    ) -> Self {
        Text { start, end, units, weight, characters }
    }
}

/// Number of units examined at the end of a text. The first character may be split.
pub const END_UNITS: usize = MAX_TAIL as usize + 2;

/// A truncated text: its start, a marker and its end if that is important, and the suffix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Number of units of the start.
    pub head: usize,
    /// Number of units of the end.
    pub tail: usize,
    /// The text between the two.
    pub middle: &'static str,
    /// The suffix.
    pub suffix: String,
    /// Number of characters removed.
    pub removed: u64,
}

/// Separates the two ends of a text.
pub const MIDDLE: &str = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n";

/// Minimum room for keeping both ends.
const BOTH_ENDS_FROM: u64 = 4_000;
const MAX_TAIL: u64 = 4_000;
/// Number of units examined at the end.
const LOOK: usize = 2_000;

/// Truncates the texts of one result to at most `max` in total. `None` for a text that is not changed.
pub fn cut_all(texts: &[Text<'_>], max: u64, rule: &Rule<'_>) -> Vec<Option<Kept>> {
    let weights: Vec<u64> = texts.iter().map(|text| text.weight).collect();
    if weights.iter().sum::<u64>() <= max {
        return vec![None; texts.len()];
    }
    let shares = shares(&weights, max, rule.min_keep);
    texts.iter().zip(shares).map(|(text, share)| cut(text, share, rule)).collect()
}

/// Divides the room among texts in proportion to their lengths. Each gets its minimum if possible. The sum never
/// exceeds `max`.
fn shares(weights: &[u64], max: u64, min_keep: u64) -> Vec<u64> {
    let filled = weights.iter().filter(|weight| **weight > 0).count().max(1) as u64;
    let min_share = min_keep.min(max / filled);
    let floors = weights.iter().map(|weight| min_share.min(*weight));
    let open: u64 = weights.iter().zip(floors.clone()).map(|(weight, floor)| weight - floor).sum();
    let room = max.saturating_sub(floors.clone().sum());
    let share = |part: u64| {
        let share = u128::from(room) * u128::from(part) / u128::from(open.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    weights.iter().zip(floors).map(|(weight, floor)| floor + share(weight - floor)).collect()
}

/// Truncates one text to at most `max`, or returns `None` if it is not longer.
pub fn cut(text: &Text<'_>, max: u64, rule: &Rule<'_>) -> Option<Kept> {
    let (weight, total) = (rule.weight, text.weight);
    if total <= max {
        return None;
    }
    // Number of characters removed if these units of the ends are kept.
    let gone = |head: usize, tail: usize| {
        let head = characters(text.start.get(..head).unwrap_or_default());
        let tail = characters(text.end.get(text.end.len() - tail..).unwrap_or_default());
        text.characters.saturating_sub(head + tail)
    };
    let template = suffix_for(total, max, rule);
    // With as many digits as the number can have.
    let room = max.saturating_sub(length(&fill(template, total), weight));
    let (head, tail) = if room > 0 { ends(text, room, weight) } else { (0, 0) };
    let removed = gone(head, tail);
    let suffix = fitting(fill(template, removed), max, weight);
    if suffix.is_empty() && head == 0 {
        // Any text is better than none.
        let head = weight.fit(text.start, max);
        let removed = gone(head, 0);
        return Some(Kept { head, tail: 0, middle: "", suffix, removed });
    }
    Some(Kept { head, tail, middle: if tail > 0 { MIDDLE } else { "" }, suffix, removed })
}

/// Returns the suffix for a limit.
fn suffix_for<'a>(total: u64, max: u64, rule: &Rule<'a>) -> &'a str {
    let [only] = rule.suffixes else {
        let fits = |suffix: &&String| length(&fill(suffix, total), rule.weight) <= max / 2;
        return rule.suffixes.iter().find(fits).map_or("", String::as_str);
    };
    only
}

/// Returns the number of units kept of both ends.
fn ends(text: &Text<'_>, room: u64, weight: Weight) -> (usize, usize) {
    let Text { start, end, units, .. } = *text;
    let middle = length(MIDDLE, weight);
    if room <= BOTH_ENDS_FROM
        || !is_important(end.get(end.len().saturating_sub(LOOK)..).unwrap_or_default())
    {
        return (head(start, room, weight), 0);
    }
    let tail_room = (room * 3 / 10).min(MAX_TAIL);
    let mut tail = weight.fit_end(end, tail_room);
    let shown = end.get(end.len() - tail..).unwrap_or_default();
    if let Some(at) = shown.iter().position(|&unit| unit == LINE_FEED)
        && at * 5 < shown.len()
    {
        tail -= at + 1;
    }
    let before = start.get(..start.len().min(units - tail)).unwrap_or_default();
    (head(before, room.saturating_sub(tail_room + middle), weight), tail)
}

const LINE_FEED: u16 = 0x0a;

/// Returns the number of units kept of the start: up to the last line break if it is beyond four fifths of the room.
fn head(text: &[u16], room: u64, weight: Weight) -> usize {
    let end = weight.fit(text, room);
    let looked = text.get(..text.len().min(end + 1)).unwrap_or_default();
    match looked.iter().rposition(|&unit| unit == LINE_FEED) {
        Some(at) if at * 5 > end * 4 => at,
        _ => end,
    }
}

/// Returns true if the end of a text states an outcome: a failure, a result, or the end of a structure.
fn is_important(end: &[u16]) -> bool {
    let text = String::from_utf16_lossy(end).to_lowercase();
    let parts = [
        "error",
        "exception",
        "failed",
        "fatal",
        "traceback",
        "panic",
        "stack trace",
        "errno",
        "exit code",
    ];
    let words = ["total", "summary", "result", "complete", "finished", "done"];
    text.trim_end().ends_with('}')
        || parts.iter().any(|part| text.contains(part))
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| words.contains(&word))
}

fn fill(template: &str, removed: u64) -> String {
    template.replace("{removed}", &removed.to_string())
}

fn length(text: &str, weight: Weight) -> u64 {
    weight.measure(&utf16::of_text(text))
}

/// Truncates a suffix to the room.
fn fitting(words: String, max: u64, weight: Weight) -> String {
    let units = utf16::of_text(&words);
    let end = weight.fit(&units, max);
    if end == units.len() {
        words
    } else {
        String::from_utf16_lossy(units.get(..end).unwrap_or_default())
    }
}

/// Returns the number of characters. A lone surrogate is one.
pub fn characters(units: &[u16]) -> u64 {
    let is_pair = |pair: &[u16]| match pair {
        &[high, low] => high & 0xfc00 == 0xd800 && low & 0xfc00 == 0xdc00,
        _ => false,
    };
    let pairs = units.windows(2).filter(|pair| is_pair(pair)).count();
    (units.len() - pairs) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::overflow::limits::{OPENCLAW, OPENCLAW_2026_02};
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn shown(text: &[u16], kept: &Kept) -> Vec<u16> {
        let mut out = text[..kept.head].to_vec();
        out.extend(units(kept.middle));
        out.extend(&text[text.len() - kept.tail..]);
        out.extend(units(&kept.suffix));
        out
    }

    fn cut_text(text: &str, max: u64, suffixes: &[&str]) -> String {
        let suffixes: Vec<String> = suffixes.iter().map(ToString::to_string).collect();
        let text = units(text);
        let rule = Rule { weight: Weight::Script, min_keep: 0, suffixes: &suffixes };
        cut(&Text::whole(&text, rule.weight), max, &rule).map_or_else(
            || String::from_utf16_lossy(&text),
            |kept| String::from_utf16_lossy(&shown(&text, &kept)),
        )
    }

    #[test]
    fn characters_stay_whole_and_the_cap_holds() {
        assert_eq!(cut_text("hello", 5, &["!"]), "hello");
        assert_eq!(cut_text("aaa😀z", 5, &["!"]), "aaa!");
        assert_eq!(cut_text(&"x".repeat(100), 4, &["[{removed}]"]), "[100");
        assert_eq!(cut_text("abcdef", 1, &["😀"]), "a");
        assert_eq!(cut_text("😀😀", 1, &["😀"]), "");
        assert_eq!(cut_text("你好你好", 8, OPENCLAW.suffixes), "你…");
    }

    #[test]
    fn a_line_break_in_the_last_fifth_is_a_better_end() {
        let text = |at: usize| format!("{}\n{}", "a".repeat(at), "b".repeat(200));
        assert_eq!(cut_text(&text(81), 101, &["!"]), format!("{}!", "a".repeat(81)));
        let long = cut_text(&text(80), 101, &["!"]);
        assert_eq!(long.len(), 101, "exactly four fifths are not enough");
        assert_eq!(cut_text(&text(100), 101, &["!"]), format!("{}!", "a".repeat(100)));
    }

    #[test]
    fn an_end_that_matters_stays() {
        let text = format!("{}TypeError: x is null\n  at main", "data\n".repeat(4_000));
        let cut = cut_text(&text, 6_000, OPENCLAW.suffixes);
        assert!(
            cut.starts_with("data\n") && cut.contains("TypeError: x is null\n  at main\n\n[..."),
            "{cut}"
        );
        assert!(cut.contains(MIDDLE) && units(&cut).len() <= 6_000);
        assert!(
            !cut_text(&"normal line\n".repeat(4_000), 6_000, OPENCLAW.suffixes).contains("omitted")
        );
        let dense = format!("{}done", "数据\n".repeat(4_000));
        assert!(cut_text(&dense, 5_000, OPENCLAW.suffixes).contains("done"));
    }

    #[test]
    fn several_texts_share_the_room() {
        assert_eq!(shares(&[100, 300], 100, 0), [25, 75]);
        assert_eq!(shares(&[10, 0, 990], 100, 20), [10, 0, 90]);
        assert_eq!(shares(&[5_000, 5_000, 5_000], 100, 2_000), [33, 33, 33]);
    }

    fn text() -> impl Strategy<Value = Vec<u16>> {
        let piece = prop_oneof![
            4 => "[a-z\n]{0,40}".prop_map(|text| units(&text)),
            1 => "[你好世界😀]{0,20}".prop_map(|text| units(&text)),
            1 => Just(units("Error: total")),
            1 => prop::collection::vec(0xd800u16..0xe000, 0..3),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_cut_keeps_the_cap(
            texts in prop::collection::vec(text(), 0..5),
            max in 0u64..3_000,
            min_keep in 0u64..3_000,
            script: bool,
            which in 0usize..3,
        ) {
            let own = ["[{removed}]"];
            let words = [OPENCLAW.suffixes, OPENCLAW_2026_02.suffixes, &own][which];
            let suffixes: Vec<String> = words.iter().map(ToString::to_string).collect();
            let weight = Weight::of(script);
            let rule = Rule { weight, min_keep, suffixes: &suffixes };
            let whole: Vec<Text> = texts.iter().map(|text| Text::whole(text, weight)).collect();
            let kept = cut_all(&whole, max, &rule);
            prop_assert_eq!(kept.len(), texts.len());
            // The ends give the same result.
            let ends: Vec<Text> = whole
                .iter()
                .map(|text| Text {
                    start: &text.start[..text.units.min(max as usize + 2)],
                    end: &text.end[text.units.saturating_sub(END_UNITS)..],
                    ..*text
                })
                .collect();
            prop_assert_eq!(&cut_all(&ends, max, &rule), &kept);
            let after: u64 = texts.iter().zip(&kept).map(|(text, kept)| match kept {
                None => weight.measure(text),
                Some(kept) => {
                    assert!(kept.head + kept.tail <= text.len());
                    weight.measure(&shown(text, kept))
                }
            }).sum();
            prop_assert!(after <= max, "{after} of {max}");
            let fits = texts.iter().map(|text| weight.measure(text)).sum::<u64>() <= max;
            prop_assert_eq!(fits, kept.iter().all(Option::is_none));
        }
    }
}
