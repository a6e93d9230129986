//! A search finds the lines that a loop over the lines finds, in one call or in many.

use spillway_core::error::Code;
use spillway_core::storage::excerpt::Match;
use spillway_core::storage::pattern::{PatternOptions, compile};
use spillway_core::storage::search::{Findings, Query, Search};
use spillway_core::text::lossy::{Shown, Source};

use super::input::Input;

/// Maximum length of lines that are shown whole, neighbours included.
const SHOWN: usize = 1024;
const BESIDE: usize = 512;
/// Length of two truncation marks, which are shown in any case.
const MARKS: u64 = 6;
/// Maximum length of a match that is always found.
const SURE: usize = 64 * 1024;
/// More calls than this for one input are no new case.
const MAX_PAGES: usize = 16;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let reading = PatternOptions { ignore_case: input.flag(), literal: input.flag() };
    let length = input.below(64);
    let pattern = String::from_utf8_lossy(input.take(length)).into_owned();
    let length = input.below(64);
    let cursor = String::from_utf8_lossy(input.take(length / 2)).into_owned();
    let query = Query {
        pattern,
        ignore_case: reading.ignore_case,
        literal: reading.literal,
        before: input.below(4) as u32,
        after: input.below(4) as u32,
        max_matches: 1000,
        max_bytes: 1 << 22,
        cursor: None,
    };
    let (max_matches, max_bytes) = (input.count().max(1), input.count().max(1));
    let step = input.pick(&[1, 1 << 20, u64::MAX]);
    // Compiling a pattern costs most, so not every search runs for every input.
    let (tries_cursor, asks_engine, turns_pages) =
        (input.byte().is_multiple_of(4), input.flag(), input.flag());
    // Sometimes with a line that is too long to be searched in one piece.
    let bytes = input.file(1_200_000);

    if tries_cursor
        && let Ok(found) = run(&bytes, Query { cursor: Some(cursor), ..query.clone() }, step)
    {
        // A cursor may be invalid; its position is still within the output.
        assert!(found.matches.iter().all(|found| found.byte <= bytes.len() as u64));
    }
    let regex = match compile(&query.pattern, reading) {
        Ok(regex) => regex,
        Err(error) => {
            assert_eq!(
                (error.code, error.field.as_deref()),
                (Code::InvalidArgument, Some("pattern"))
            );
            assert!(error.message.len() < 200, "{}", error.message);
            return;
        }
    };
    let all = run(&bytes, query.clone(), step).expect("the pattern is right");
    let lines = lines(&bytes);
    let is_long = lines.iter().any(|line| line.len() > 1 << 20);
    assert_eq!(
        all.lines_searched,
        if all.truncated { all.lines_searched } else { lines.len() as u64 }
    );
    let is_odd = bytes.contains(&b'\r') && continues_after_the_end(&query.pattern);
    if !is_long && !is_odd && !all.truncated {
        let expected: Vec<u64> =
            (1..).zip(&lines).filter(|(_, line)| regex.is_match(line)).map(|(at, _)| at).collect();
        assert_eq!(all.matches.iter().map(|found| found.line).collect::<Vec<_>>(), expected);
        if asks_engine {
            check_plainly(&query, reading, &lines, &expected);
        }
    }
    for found in &all.matches {
        check_match(found, &query, &lines, bytes.len());
    }

    // In a line that is searched in pieces, a match of this length may be found or not, depending on where the search
    // began.
    let may_be_missed = lines
        .iter()
        .filter(|line| line.len() > 1 << 20)
        .any(|line| regex.find(line).is_some_and(|found| found.len() > SURE));
    if !turns_pages || all.truncated || may_be_missed || all.matches.len() > MAX_PAGES {
        return;
    }
    let (mut paged, mut searched) = (Vec::new(), 0);
    let mut next = None;
    loop {
        let limited = Query { max_matches, max_bytes, cursor: next, ..query.clone() };
        let page = run(&bytes, limited, step).expect("the cursor is right");
        assert_eq!(page.truncated, page.next.is_some());
        assert!(page.matches.len() as u64 <= max_matches);
        let shown: u64 = page.matches.iter().map(Match::bytes).sum();
        assert!(shown <= max_bytes.max(MARKS), "{shown} bytes");
        searched += page.lines_searched;
        assert!(!page.truncated || !page.matches.is_empty(), "a call that gets nowhere");
        paged.extend(page.matches);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(searched, lines.len() as u64);
    let place = |found: &Match| (found.line, found.byte);
    assert_eq!(
        paged.iter().map(place).collect::<Vec<_>>(),
        all.matches.iter().map(place).collect::<Vec<_>>()
    );
}

/// Returns true if a pattern continues after the end of a line, as `$^` does. The end includes the carriage returns
/// before a break, so such a pattern never matches a line that ends with one.
fn continues_after_the_end(pattern: &str) -> bool {
    let mut ends = pattern.match_indices('$').chain(pattern.match_indices(r"\z"));
    ends.any(|(at, end)| {
        !matches!(pattern[at + end.len()..].chars().next(), None | Some(')' | '|'))
    })
}

fn run(bytes: &[u8], query: Query, step: u64) -> spillway_core::error::Result<Findings> {
    let mut search = Search::over(bytes.to_vec(), "memory:/x", query)?;
    loop {
        if let Some(found) = search.step(step)? {
            return Ok(found);
        }
    }
}

/// Splits into lines without their breaks.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines
        .map(|line| match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        })
        .collect()
}

/// Compares with the engine itself, line by line, where neither carriage returns nor malformed text occur.
fn check_plainly(query: &Query, reading: PatternOptions, lines: &[&[u8]], expected: &[u64]) {
    let pattern =
        if reading.literal { regex::escape(&query.pattern) } else { query.pattern.clone() };
    let plain = regex::RegexBuilder::new(&pattern).case_insensitive(reading.ignore_case).build();
    let texts: Option<Vec<&str>> =
        lines.iter().map(|line| std::str::from_utf8(line).ok()).collect();
    let (Ok(plain), Some(texts)) = (plain, texts) else { return };
    if pattern.contains('R') || texts.iter().any(|line| line.contains('\r')) {
        return;
    }
    let found: Vec<u64> =
        (1..).zip(texts).filter(|(_, line)| plain.is_match(line)).map(|(at, _)| at).collect();
    assert_eq!(found, expected, "{pattern:?}");
}

fn check_match(found: &Match, query: &Query, lines: &[&[u8]], size: usize) {
    let show = |line: &[u8]| Shown::decode(line, Source::Text).text.into_owned();
    let at = found.line as usize - 1;
    let line = lines[at];
    let start: usize = line.as_ptr() as usize - lines[0].as_ptr() as usize;
    assert!((start..=size).contains(&(found.byte as usize)));
    if line.len() <= SHOWN {
        assert_eq!((found.text.as_str(), found.partial), (show(line).as_str(), false));
    }
    let before = &lines[at.saturating_sub(query.before as usize)..at];
    let after = &lines[at + 1..(at + 1 + query.after as usize).min(lines.len())];
    for (shown, expected) in [(&found.before, before), (&found.after, after)] {
        if expected.iter().chain([&line]).all(|line| line.len() <= BESIDE) {
            assert_eq!(*shown, expected.iter().map(|line| show(line)).collect::<Vec<_>>());
        }
    }
}
