//! Sections: the lines between two rules (`____ name ____`) or two numbers (`1)`). A test runner sets off its failures so, each
//! from its name to its end.

use std::ops::RangeInclusive;

use super::blocks::Block;
use super::words::{Start, start};
use crate::truncation::lines::{Chosen, Line, Lines};
use crate::util::sort::sort_by_key;

/// Maximum number of lines of a section beyond the block or line that it is looked for.
const FARTHEST: usize = 256;
/// A line of this value by the hand rules, or more, is shown with its section.
const GRAVE: i64 = 850;
/// Maximum number of such lines that sections are looked for from.
const MAX_GRAVE: usize = 256;

fn is_border(line: &Line) -> bool {
    matches!(start(line.text.as_bytes()), Start::Rule | Start::Item)
}

/// Returns the rule or number above a line, or the line itself, and how many more lines a section may have. `None` if a line
/// between them is not remembered, or they are too far apart.
fn border(lines: &Lines, number: u64) -> Option<(u64, usize)> {
    let (mut top, mut left) = (number, FARTHEST);
    while !is_border(lines.get(&top)?) {
        top = top.checked_sub(1)?;
        left = left.checked_sub(1)?;
    }
    Some((top, left))
}

/// Returns the line that names the section of a line: the rule or number above it, or what is between two rules.
fn heading(lines: &Lines, number: u64) -> Option<u64> {
    let (top, _) = border(lines, number)?;
    let has_name = |number: u64| {
        lines.get(&number).is_some_and(|line| line.text.contains(char::is_alphanumeric))
    };
    if has_name(top) {
        return Some(top);
    }
    let is_between = top.checked_sub(2).and_then(|above| lines.get(&above)).is_some_and(is_border);
    (is_between && has_name(top - 1)).then_some(top - 1)
}

/// Returns the section around lines that follow one another, if all of it is remembered and it is not too long.
fn around(lines: &Lines, first: u64, last: u64) -> Option<RangeInclusive<u64>> {
    let (mut top, mut left) = border(lines, first)?;
    let mut bottom = last;
    let is_rule = |number: Option<u64>| {
        let line = number.and_then(|number| lines.get(&number));
        line.is_some_and(|line| start(line.text.as_bytes()) == Start::Rule)
    };
    // The name is between two rules.
    if is_rule(Some(top)) && is_rule(top.checked_sub(2)) {
        top -= 2;
    }
    while lines.get(&(bottom + 1)).is_some_and(|line| !is_border(line)) {
        bottom += 1;
        left = left.checked_sub(1)?;
    }
    let is_blank = |number: u64| lines.get(&number).is_some_and(|line| line.text.trim().is_empty());
    while bottom > last && is_blank(bottom) {
        bottom -= 1;
    }
    Some(top..=bottom)
}

/// Adds the sections of the blocks that are shown and whose best line is at least so likely, from the first on, as long as
/// there is room.
pub(super) fn of_blocks(
    chosen: &mut Chosen<'_>,
    lines: &Lines,
    blocks: &[Block],
    min_peak: u32,
    limit: (u64, u64),
) {
    let mut ends: Vec<(u64, u64)> =
        blocks.iter().filter_map(|block| block.ends(min_peak)).collect();
    sort_by_key(&mut ends, |ends| *ends);
    for (first, last) in ends {
        if chosen.numbers.range(first..=last).next().is_some()
            && let Some(section) = around(lines, first, last)
        {
            chosen.add_all(section, limit);
        }
    }
}

/// Adds the line that names the section of a grave line by the hand rules. Returns true if it was not shown.
pub(super) fn name(
    chosen: &mut Chosen<'_>,
    lines: &Lines,
    (value, number): (i64, u64),
    limit: (u64, u64),
) -> bool {
    let heading = if value >= GRAVE { heading(lines, number) } else { None };
    heading.is_some_and(|top| !chosen.numbers.contains(&top) && chosen.add(top, limit))
}

/// Adds the sections of the gravest lines by the hand rules, at most `count`.
pub(super) fn of_grave(
    chosen: &mut Chosen<'_>,
    lines: &Lines,
    ranked: &[(i64, u64)],
    count: u64,
    limit: (u64, u64),
) {
    let mut sections: Vec<RangeInclusive<u64>> = Vec::new();
    let grave = ranked.iter().take(MAX_GRAVE).filter(|(value, _)| *value >= GRAVE);
    for (_, number) in grave {
        if sections.len() as u64 >= count || sections.iter().any(|section| section.contains(number))
        {
            continue;
        }
        if let Some(section) = around(lines, *number, *number) {
            chosen.add_all(section.clone(), limit);
            sections.push(section);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lossy::Source;
    use crate::truncation::lines::line;

    fn lines_of(texts: &[&str]) -> Lines {
        let numbered = (1u64..).zip(texts).filter(|(_, text)| **text != "~");
        let of = |text: &str| line(text.as_bytes(), 0..text.len() as u64, Source::Text, 100);
        numbered.map(|(number, text)| (number, of(text))).collect()
    }

    /// Lines, `~` for one that is not remembered; the number of one of them, and its section.
    type Case<'a> = (&'a [&'a str], u64, Option<(u64, u64)>);

    #[test]
    fn a_section_is_a_failure_from_its_name_to_its_end() {
        let cases: [Case<'_>; 7] = [
            (
                &["== FAILURES ==", "____ a ____", "", "x", "E y", "", "z", "", "____ b ____"],
                5,
                Some((2, 7)),
            ),
            (&["======", "ERROR: a", "------", "x", "y", "", "======"], 4, Some((1, 5))),
            (&["  1) a", "x", "", "y", "  2) b", "z"], 4, Some((1, 4))),
            (&["  1) a", "x", "  2) b", "y"], 4, Some((3, 4))),
            (&["x", "y", "===="], 2, None),
            (&["====", "x", "~", "y"], 4, None),
            (&["====", "x", "y", "~", "z"], 2, Some((1, 3))),
        ];
        for (texts, number, expected) in cases {
            let lines = lines_of(texts);
            let found = around(&lines, number, number);
            assert_eq!(found.map(|it| (*it.start(), *it.end())), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_section_is_named_by_its_border() {
        let cases: [(&[&str], Option<u64>); 6] = [
            (&["== FAILURES ==", "____ a ____", "", "x", "E y"], Some(2)),
            (&["======", "ERROR: a", "------", "x", "y"], Some(2)),
            (&["  1) a", "x", "", "y"], Some(1)),
            (&["x", "-----", "y"], None),
            (&["====", "~", "y"], None),
            (&["x", "y"], None),
        ];
        for (texts, expected) in cases {
            let lines = lines_of(texts);
            assert_eq!(heading(&lines, texts.len() as u64), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_long_section_is_none() {
        for (length, is_there) in [(200, true), (300, false)] {
            let text = |number| if number == 0 { "____ a ____" } else { "x" };
            let lines: Lines = (0..length)
                .map(|number| (number, line(text(number).as_bytes(), 0..1, Source::Text, 100)))
                .collect();
            assert_eq!(around(&lines, 1, 1).is_some(), is_there, "{length}");
        }
    }
}
