//! Knowing a notice again.

use super::words::{ALL, Advice};

/// Whether a text holds a line that only a notice of Spillway writes, in any language and profile, so that a tool that
/// writes files can refuse a preview that was taken for the whole.
pub fn contains_marker(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        ALL.iter().any(|wording| {
            is_filled(wording.lines, line, true)
                || is_filled(wording.bytes, line, true)
                || is_filled(wording.tokens, line, true)
                || has_numbers(wording.gap, line)
                || has_numbers(wording.repeats, line)
                || wording.changes.iter().any(|template| has_numbers(template, line))
                // Where the preview has no gaps, only the notice says it.
                || wording.outcome.iter().any(|it| !it.is_empty() && line.starts_with(it))
                || is_advice(&wording.advice, line)
                || is_filled(wording.compact, line, false)
                || is_filled(wording.compact_part, line, false)
        })
    })
}

/// Whether a line is advice that always has the same words: where they do not say how the call went, it is all there is to know
/// a notice by.
fn is_advice(advice: &Advice, line: &str) -> bool {
    match advice {
        Advice::Available(_) => false,
        Advice::Fixed { plain, delegate } => line == *plain || *delegate == Some(line),
    }
}

/// Whether a line is a template with a number at each of its places.
fn has_numbers(template: &str, line: &str) -> bool {
    let mut rest = line;
    for (index, part) in template.split('{').enumerate() {
        let words = if index == 0 { part } else { part.split_once('}').map_or(part, |it| it.1) };
        if index > 0 {
            let number = rest.trim_start_matches(|char: char| char.is_ascii_digit());
            if number.len() == rest.len() {
                return false;
            }
            rest = number;
        }
        match rest.strip_prefix(words) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

fn is_filled(template: &str, line: &str, digits: bool) -> bool {
    let Some((before, after)) = template.split_once('{') else { return false };
    let Some((_, after)) = after.split_once('}') else { return false };
    let value = line.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    value.is_some_and(|value| {
        !value.is_empty() && (!digits || value.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
