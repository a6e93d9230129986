use super::*;
use crate::storage::fixture::saved;
use proptest::prelude::*;

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.to_owned(),
        ignore_case: false,
        literal: false,
        before: 0,
        after: 0,
        max_matches: 100,
        max_bytes: 65_536,
        cursor: None,
    }
}

fn run(places: &StoreDirs, path: &str, query: Query) -> Findings {
    let mut search = Search::open(places, path, None, query).unwrap();
    loop {
        if let Some(findings) = search.step(1).unwrap() {
            return findings;
        }
    }
}

fn pages(places: &StoreDirs, path: &str, query: Query) -> (Vec<Match>, u64) {
    let (mut matches, mut lines, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page = run(places, path, Query { cursor, ..query.clone() });
        assert_eq!(page.truncated, page.next.is_some());
        matches.extend(page.matches);
        lines += page.lines_searched;
        cursor = page.next;
        if cursor.is_none() {
            return (matches, lines);
        }
    }
}

#[test]
fn a_match_has_its_line_its_place_and_its_neighbours() {
    let (_root, places, path) = saved(b"one\r\ntwo\r\nthree err\r\nfour\nfive");
    let found = run(&places, &path, Query { before: 1, after: 2, ..query("err$") });
    assert_eq!(found.lines_searched, 5);
    let [only] = &found.matches[..] else { panic!("{found:?}") };
    assert_eq!((only.line, only.text.as_str(), only.byte), (3, "three err", 16));
    assert_eq!(
        (&only.before, &only.after),
        (&vec!["two".into()], &vec!["four".into(), "five".into()])
    );
}

#[test]
fn neighbours_are_shown_behind_long_ones_too() {
    let lengths = [0, 3, 65_535, 0, 65_536, 65_537, 513, 100_000, 1, 0, 30_000, 40_000, 2];
    let lines: Vec<String> =
        lengths.iter().enumerate().map(|(at, &length)| at.to_string().repeat(length)).collect();
    let shown = |line: &String| match line.len() {
        0..=512 => line.clone(),
        _ => format!("{}…", &line[..512]),
    };
    for ending in ["", "\n", "\r\n"] {
        let (_root, places, path) = saved((lines.join("\r\n") + ending).as_bytes());
        for query in [query("^"), query("^$"), query("0+0$|22$|55")] {
            let found = run(&places, &path, Query { before: 3, after: 4, ..query });
            assert!(!found.matches.is_empty());
            for Match { line, before, after, .. } in found.matches {
                let at = line as usize - 1;
                let to = lines.len().min(at + 5);
                let expected: Vec<_> = lines[at.saturating_sub(3)..at].iter().map(shown).collect();
                assert_eq!(before, expected, "{line}");
                let expected: Vec<_> = lines[at + 1..to].iter().map(shown).collect();
                assert_eq!(after, expected, "{line}");
            }
        }
    }
}

#[test]
fn neighbours_beyond_a_very_long_line_are_not_shown() {
    let long = "x".repeat((1 << 20) + 70_000);
    let (_root, places, path) = saved(format!("a\n{long}\nhit\n{long}\nb\n").as_bytes());
    let found = run(&places, &path, Query { before: 2, after: 2, ..query("hit") });
    let [only] = &found.matches[..] else { panic!("{found:?}") };
    assert_eq!(
        (&only.before, &only.after),
        (&vec![format!("…{}", &long[..512])], &vec![format!("{}…", &long[..512])])
    );
}

#[test]
fn long_lines_are_searched_in_pieces_and_shown_around_the_match() {
    for at in [0, 1000, (1 << 20) - 3, 1 << 20, (1 << 20) + 5, 3_000_000 - 6] {
        let mut text = b"first\n".to_vec();
        text.extend(std::iter::repeat_n(b'.', 3_000_000));
        text[6 + at..6 + at + 6].copy_from_slice(b"needle");
        text.extend(b"\nneedle again\n");
        let (_root, places, path) = saved(&text);
        for pattern in ["needle", r"ne+dle\b", r"(?:^|\.)needle(?:\.|$)"] {
            let found = run(&places, &path, Query { before: 1, after: 1, ..query(pattern) });
            let again = pattern != r"(?:^|\.)needle(?:\.|$)";
            assert_eq!(found.matches.len(), 1 + usize::from(again), "{pattern} {at}");
            let first = &found.matches[0];
            assert_eq!((first.line, first.partial), (2, true));
            assert!((at as u64 + 5..=at as u64 + 6).contains(&first.byte), "{at} {first:?}");
            assert!(first.text.contains("needle") && first.text.len() < 1100);
            assert_eq!(first.before, ["first"]);
            assert_eq!(found.lines_searched, 3);
        }
        // The end of a piece is not the end of the line.
        assert!(run(&places, &path, query(r"^\.+$")).matches.is_empty());
    }
}

#[test]
fn what_does_not_fit_comes_with_the_next_call() {
    let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    let (_root, places, path) = saved(text.as_bytes());
    for limits in [(7, 65_536), (100, 50), (100, 1)] {
        let (max_matches, max_bytes) = limits;
        let (matches, lines) =
            pages(&places, &path, Query { max_matches, max_bytes, ..query("7") });
        let expected: Vec<u64> =
            (0..1000).filter(|line| line.to_string().contains('7')).map(|line| line + 1).collect();
        assert_eq!(
            matches.iter().map(|each| each.line).collect::<Vec<_>>(),
            expected,
            "{limits:?}"
        );
        assert_eq!(lines, 1000);
    }
    for cursor in ["x", "", "1", "0:0", "2:0", "1:99999999", "18446744073709551615:7"] {
        let bad = Query { cursor: Some(cursor.into()), ..query("7") };
        let error = Search::open(&places, &path, None, bad).unwrap_err();
        assert_eq!(error.field.as_deref(), Some("options.after"), "{cursor}");
    }
}

#[test]
fn the_end_of_a_long_line_is_looked_for_in_steps() {
    let blocks = 20;
    let line = "x".repeat(blocks * BLOCK);
    let (_root, places, path) = saved(format!("first\n{line}\nlast\n").as_bytes());
    let query = Query { max_matches: 1, ..query("x") };
    let mut search = Search::open(&places, &path, None, query).unwrap();
    let mut steps = 0;
    let found = loop {
        steps += 1;
        if let Some(found) = search.step(1).unwrap() {
            break found;
        }
    };
    assert_eq!((found.matches.len(), found.lines_searched), (1, 2));
    assert_eq!(found.next, Some(format!("3:{}", "first\n".len() + line.len() + 1)));
    assert!(steps >= blocks, "{steps}");
}

#[test]
fn broken_bytes_keep_the_limit_as_they_are_shown() {
    let (_root, places, path) = saved(&[b'\xff'; 100]);
    let found = run(&places, &path, Query { max_bytes: 90, ..query(r"(?-u:\xff)") });
    let [only] = &found.matches[..] else { panic!("{found:?}") };
    assert!(only.text.contains('\u{fffd}') && only.text.len() <= 90, "{only:?}");
}

#[test]
fn a_large_file_is_searched_as_a_small_one_is() {
    let line = "a line of a log that says nothing\n";
    let needles = [0, 5, 100_000, 246_723, 246_724, 700_000, 999_998, 999_999];
    let mut text = line.repeat(1_000_000).into_bytes();
    for number in needles {
        text[number * line.len() + 2..][..6].copy_from_slice(b"needle");
    }
    let (_root, places, path) = saved(&text);
    let (matches, lines) = pages(&places, &path, Query { max_matches: 3, ..query("needle") });
    let found: Vec<usize> = matches.iter().map(|each| each.line as usize - 1).collect();
    assert_eq!((found, lines), (needles.to_vec(), 1_000_000));
    let bytes = matches.iter().map(|each| each.byte as usize);
    assert!(bytes.eq(needles.iter().map(|number| number * line.len() + 2)), "{matches:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_search_is_that_of_a_loop_over_the_lines(
        text in "[ab \\r\\n]{0,60}",
        pattern in prop::sample::select(vec!["a", "a+b", "^a", "b$", "^$", "a\\s*b", "[^a]", "x*", "\\bab\\b", "a$|^b", "\\B", "(?s).b", "\\Aa", "b\\z"]),
        max_matches in 1u64..5,
    ) {
        let (_root, places, path) = saved(text.as_bytes());
        let regex = compile(pattern, PatternOptions::default()).unwrap();
        let mut lines: Vec<&str> = text.split('\n').collect();
        if lines.last() == Some(&"") {
            lines.pop();
        }
        let ended = lines.len() - usize::from(!text.is_empty() && !text.ends_with('\n'));
        let lines: Vec<&str> = lines.iter().enumerate()
            .map(|(at, line)| if at < ended { line.strip_suffix('\r').unwrap_or(line) } else { line }).collect();
        let expected: Vec<(u64, &str)> = lines.iter().enumerate()
            .filter(|(_, line)| regex.is_match(line.as_bytes())).map(|(at, line)| (at as u64 + 1, *line)).collect();
        let (matches, searched) = pages(&places, &path, Query { max_matches, ..query(pattern) });
        let found: Vec<(u64, &str)> = matches.iter().map(|each| (each.line, each.text.as_str())).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(searched, lines.len() as u64);
    }
}
