use csv_core::{ReadRecordResult, ReaderBuilder};
use proptest::prelude::*;

use crate::truncation::fixture::{self, check_rendered, held, preview, window};
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::notice::{CHINESE, ENGLISH};
use crate::truncation::smart::{Keep, Lean};
use crate::truncation::strategies::Preview;

fn limits(max_lines: u64, max_bytes: u64) -> Limits {
    Limits { keep: Keep::Csv(Lean::Late), ..fixture::limits(max_lines, max_bytes, Direction::Head) }
}

fn made(text: &str, max_lines: u64, max_bytes: u64) -> Option<Preview> {
    let limits = limits(max_lines, max_bytes);
    let window = window(text.as_bytes(), &limits, 700);
    preview(&window, &limits)
}

/// Parses a table with the reference parser.
fn rows(text: &str, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let (mut rest, mut rows) = (text.as_bytes(), Vec::new());
    let (mut out, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
    loop {
        let (mut written, mut fields) = (0, 0);
        loop {
            let (result, read, wrote, ended) =
                reader.read_record(rest, &mut out[written..], &mut ends[fields..]);
            rest = &rest[read..];
            written += wrote;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return rows,
                other => panic!("{other:?}"),
            }
        }
        let starts = std::iter::once(0).chain(ends[..fields].iter().copied());
        let fields = starts.zip(&ends[..fields]);
        rows.push(
            fields
                .map(|(from, to)| String::from_utf8_lossy(&out[from..*to]).into_owned())
                .collect(),
        );
    }
}

fn table(count: usize) -> String {
    let mut text = String::from("id,name,status,ms\n");
    for id in 0..count {
        let (status, ms) = match id {
            4321 => ("failed", 12),
            2777 => ("ok", 90_000),
            _ => ("ok", 10 + id % 7),
        };
        text.push_str(&format!("{id},row {id},{status},{ms}\n"));
    }
    text
}

#[test]
fn the_header_both_ends_and_rows_that_differ_are_kept() {
    let made = made(&table(6000), 60, 4000).unwrap();
    let shown = rows(&made.text, b',');
    let ids: Vec<&str> = shown.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(shown[0], ["id", "name", "status", "ms"]);
    for id in ["0", "4321", "2777", "5999"] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    assert!(shown.len() <= 60 && made.text.len() > 500);
    let count = shown.len() - 1;
    assert!(
        made.missing.starts_with(&format!("Shown: the header and {count} of 6000 rows, lines 1-")),
        "{}",
        made.missing
    );
    assert!(
        made.missing.contains(", 4323, ") && made.missing.ends_with("-6001."),
        "{}",
        made.missing
    );
}

#[test]
fn delimiters_quotes_and_breaks_are_those_of_the_text() {
    let cases: &[(&str, u8, &str, &str)] = &[
        ("tabs", b'\t', "a\tb\tc\n", "1\t2, and 3\t4\n"),
        ("semicolons", b';', "a;b\n", "1,5;2,5\n"),
        ("quotes", b',', "a,b\n", "\"x, \"\"y\"\"\nz\",2\n"),
        ("carriage returns", b',', "a,b\r\n", "1,\"2\r\n3\"\r\n"),
        ("a mark in front", b',', "\u{feff}a,b\n", "1,2\n"),
        ("blank lines", b',', "a,b\n\n", "1,2\n\n"),
    ];
    for (name, delimiter, header, row) in cases {
        let text = format!("{header}{}", row.repeat(3000));
        let made = made(&text, 40, 3000).unwrap_or_else(|| panic!("{name}"));
        let (shown, whole) = (rows(&made.text, *delimiter), rows(&text, *delimiter));
        assert_eq!(shown[0], whole[0], "{name}");
        assert!(
            shown.len() > 5 && shown[1..].iter().all(|row| *row == whole[1]),
            "{name}: {shown:?}"
        );
        assert!(made.text.lines().count() <= 40);
    }
}

#[test]
fn a_text_that_is_no_table_is_left_to_others() {
    let prose = "It is late, and the rain, which fell all day, has stopped.\nNobody knows why.\n"
        .repeat(50);
    for text in ["", "a\n", "a,b\n", "one\ntwo\nthree\n", &prose, "a,b\n1,2\n3\n4\n5,6,7\n8\n9\n"] {
        assert!(made(text, 2000, 60_000).is_none(), "{text}");
    }
    // A header that is longer than the preview, and a quote that is not closed.
    assert!(made(&format!("{},b\n1,2\n", "a".repeat(900)), 2000, 500).is_none());
    assert!(made("a,b\n\"1,2\n3,4\n", 2000, 500).is_none());
    // A log whose timestamps contain a comma, and one line without one.
    let log = "12:00:01,123 INFO step\n".repeat(500);
    assert!(made(&format!("{log}ValueError: x\n{log}"), 2000, 500).is_none());
}

#[test]
fn rows_that_are_cut_off_or_too_long_are_left_out() {
    let mut text = table(300);
    let at = text.find("\n150,").unwrap() + 1;
    text.insert_str(at, &format!("1,{},ok,5\n", "x".repeat(5000)));
    text.push_str("300,row");
    let shown = rows(&made(&text, 2000, 3000).unwrap().text, b',');
    assert!(shown.iter().all(|row| row.len() == 4), "{shown:?}");
    assert_eq!(shown.last().unwrap()[0], "299");
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let limits = limits(2000, 51_200);
    for row in ["1,2\n", "error,2\n", "\"a\nb\",failed\n"] {
        let text = format!("a,b\n{}", row.repeat(400_000));
        let window = window(text.as_bytes(), &limits, 1 << 16);
        assert!(held(&window) < 4 << 20);
        let made = preview(&window, &limits).unwrap();
        assert!(made.text.lines().count() >= 1999, "{}", made.text.lines().count());
    }
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9 .-]{0,12}",
        1 => "(,|;|\t|\"\"|\n|\r\n|\u{4f60}|x){0,9}".prop_map(|text| format!("\"{text}\"")),
        1 => prop_oneof![Just("error"), Just("failed"), Just(""), Just("1e9")].prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_preview_is_a_table_of_rows_that_are_there(
        (columns, rows_of) in (2usize..6).prop_flat_map(|columns| {
            (Just(columns), prop::collection::vec(prop::collection::vec(field(), columns), 1..120))
        }),
        delimiter in prop::sample::select(vec![b',', b'\t', b';']),
        crlf in any::<bool>(),
        max_lines in 1u64..60,
        max_bytes in 1u64..3000,
        piece in 1usize..900,
        inside in any::<bool>(),
        chinese in any::<bool>(),
    ) {
        let separator = char::from(delimiter).to_string();
        let header: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        let end = if crlf { "\r\n" } else { "\n" };
        let text: String = std::iter::once(&header).chain(&rows_of).map(|row| row.join(&separator) + end).collect();
        let whole = rows(&text, delimiter);
        let limits = limits(max_lines, max_bytes);
        let wording = if chinese { &CHINESE } else { &ENGLISH };
        let split = check_rendered(&text, limits, piece, wording, inside);

        let Some(made) = preview(&split, &limits) else {
            let header = header.join(&separator).len() as u64;
            prop_assert!(header > max_bytes || whole.len() < 2 || whole.iter().any(|row| row.len() != columns), "{}", text);
            return Ok(());
        };
        prop_assert!(made.text.len() as u64 <= max_bytes && made.text.lines().count() as u64 <= max_lines);
        let shown = rows(&made.text, delimiter);
        prop_assert_eq!(&shown[0], &whole[0]);
        let mut rest = whole.iter();
        for row in &shown {
            prop_assert!(rest.any(|whole| whole == row), "{:?} of {}", row, text);
        }
        let mut end = 0;
        for piece in &made.cut.pieces {
            prop_assert!(end <= piece.bytes.start && piece.bytes.start <= piece.bytes.end);
            end = piece.bytes.end;
            let before = text.as_bytes()[..piece.bytes.start as usize].iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(piece.first_line, before as u64 + 1);
            let inside = text.as_bytes()[piece.bytes.start as usize..end as usize].iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(piece.last_line, (before + inside) as u64 + 1);
        }
    }
}
