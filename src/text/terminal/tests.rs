use proptest::prelude::*;

use super::cases::CASES;
use super::source_map::{Origins, Stretch};
use super::*;
use crate::text::lossy;

mod naive;

use self::naive::{Token, naive, token};

/// The clean text, and the sources of its lines.
#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    origins: Origins,
}

impl Sink for Shown {
    fn block(&mut self, text: &[u8], marks: &[Mark]) {
        for mark in marks {
            let before = [&self.text, &text[..mark.offset]].concat();
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            self.origins.note(line as u64, before.len() as u64, *mark);
        }
        self.text.extend_from_slice(text);
    }
}

impl Shown {
    fn of(raw: &[u8], piece: usize) -> Self {
        let (mut terminal, mut shown) = (Terminal::new(), Shown::default());
        for piece in raw.chunks(piece.max(1)) {
            terminal.push(piece, &mut shown);
        }
        let breaks = raw.iter().filter(|byte| **byte == b'\n').count();
        let lines = breaks + usize::from(raw.last().is_some_and(|last| *last != b'\n'));
        assert_eq!(terminal.size(), (raw.len() as u64, lines as u64));
        terminal.finish(&mut shown);
        shown
    }

    /// Returns every line with its raw line number and its raw range.
    fn lines(&self) -> Vec<(Vec<u8>, u64, std::ops::Range<usize>)> {
        let (mut at, mut number, mut all) = (0, 0, Vec::new());
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        if self.text.is_empty() {
            return all;
        }
        for line in text.split(|byte| *byte == b'\n') {
            number += 1;
            let (start, end) = (at as u64, (at + line.len()) as u64);
            let stretch = Stretch { line: number, last_line: number, start, end };
            let ranges = self.origins.ranges(stretch);
            // The parts of a long line become final one by one.
            assert!(
                ranges.len() == 1 || line.len() >= MAX_LENGTH,
                "line {number}: {ranges:?} of {:?}",
                self.origins
            );
            let Some(last) = ranges.last() else { continue };
            assert_eq!(
                last.from_line, last.to_line,
                "line {number} from {ranges:?} of {:?}",
                self.origins
            );
            all.push((
                line.to_vec(),
                last.from_line,
                last.from_byte as usize..last.to_byte as usize,
            ));
            at += line.len() + 1;
        }
        all
    }
}

#[test]
fn sequences_give_these_lines() {
    for (raw, expected) in CASES {
        let shown = Shown::of(raw.as_bytes(), usize::MAX);
        let lines: Vec<(String, u64)> = shown
            .lines()
            .into_iter()
            .map(|(text, line, _)| (String::from_utf8(text).unwrap(), line))
            .collect();
        let lines: Vec<(&str, u64)> =
            lines.iter().map(|(text, line)| (text.as_str(), *line)).collect();
        assert_eq!(lines, *expected, "{raw:?}");
    }
}

#[test]
fn what_is_clean_comes_as_it_is() {
    for text in [
        "",
        "a",
        "a\n",
        "a\n\n\nb",
        "\n",
        "\tx  \n y\t\n",
        "\u{feff}你好 e\u{301}\u{1f469}\u{200d}\u{1f469}\n",
    ] {
        assert_eq!(clean(text.as_bytes()), text.as_bytes());
        let shown = Shown::of(text.as_bytes(), 1);
        assert_eq!(shown.text, text.as_bytes());
    }
    let long = "0123456789\n".repeat(20_000) + &"x".repeat(50_000) + "\nend";
    for piece in [100, 4096, 65_536, usize::MAX] {
        let shown = Shown::of(long.as_bytes(), piece);
        assert_eq!(shown.text, long.as_bytes());
        for (text, line, place) in shown.lines() {
            assert_eq!(text, &long.as_bytes()[place], "{line}");
        }
    }
}

#[test]
fn a_long_line_is_not_buffered() {
    let mut terminal = Terminal::new();
    let mut shown = Shown::default();
    for _ in 0..1000 {
        terminal.push(&[b'x'; 1000], &mut shown);
    }
    assert!(shown.text.len() >= 1_000_000 - MAX_LENGTH);
    terminal.push(b"\x1b[31m!\rY\n\x1b[Anot reached", &mut shown);
    terminal.finish(&mut shown);
    let text = String::from_utf8(shown.text.clone()).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    assert!(
        first.len() == 1_000_001 && first.ends_with("x!") && first.contains("xY"),
        "{}",
        &first[990_000..]
    );
    assert_eq!(second, "not reached");
    assert_eq!(shown.lines()[0].2, 0..1_000_008);
}

#[test]
fn memory_does_not_grow_with_the_output() {
    let hostile: [&[u8]; 8] = [
        b"\x1b[A\x1b[512Gx\x1b[63B\n",
        b"\x1b]0;never ended ",
        b"\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;",
        b"a\xcc\x81\xcc\x81\xcc\x81\x08",
        b"\x1b[?1049hhello\n",
        b"x\x1b[512@",
        b"\x1b[9;9H\x1b7\x1b8\x0b",
        b"\t\r\xe5\xa5\xbd\x1b[3D\x1b[2P",
    ];
    for piece in hostile {
        let mut terminal = Terminal::new();
        struct Nowhere;
        impl Sink for Nowhere {
            fn block(&mut self, _: &[u8], _: &[Mark]) {}
        }
        for _ in 0..20_000 {
            terminal.push(piece, &mut Nowhere);
        }
        assert!(terminal.page.held() <= 1 << 20, "{piece:?}: {}", terminal.page.held());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn the_screen_is_that_of_a_naive_one(
        tokens in prop::collection::vec(token(), 0..120),
        piece in 1usize..40,
    ) {
        let raw: Vec<u8> = tokens.iter().flat_map(Token::bytes).collect();
        let shown = Shown::of(&raw, piece);
        let lines: Vec<(String, u64)> =
            shown.lines().into_iter().map(|(text, line, _)| (decoded(&text), line)).collect();
        let expected: Vec<(String, u64)> =
            naive(&tokens).into_iter().map(|(text, line)| (decoded(&text), line)).collect();
        prop_assert_eq!(lines, expected, "{:?}", String::from_utf8_lossy(&raw));
    }

    #[test]
    fn pieces_do_not_matter_and_clean_text_stays_clean(
        tokens in prop::collection::vec(prop_oneof![
            20 => token(),
            1 => (0usize..9000).prop_map(|length| Token::Text(&LONG[..length])),
            1 => (0usize..200).prop_map(|lines| Token::Text(&MANY[..lines * 6])),
        ], 0..60),
        piece in 1usize..3000,
    ) {
        let raw: Vec<u8> = tokens.iter().flat_map(Token::bytes).collect();
        let whole = Shown::of(&raw, usize::MAX);
        let split = Shown::of(&raw, piece);
        prop_assert_eq!(&split.text, &whole.text);
        prop_assert_eq!(split.lines(), whole.lines());
        prop_assert!(is_clean(&whole.text));
        for (_, line, place) in whole.lines() {
            // The text shown occurs in the raw line that is named.
            let before = raw[..place.start].iter().filter(|byte| **byte == b'\n').count() as u64;
            prop_assert_eq!(before + 1, line);
            prop_assert!(!raw[place].contains(&b'\n'));
        }
        let again = clean(&whole.text);
        prop_assert_eq!(again.as_ref(), &whole.text[..]);
    }
}

static LONG: [u8; 9000] = {
    let mut text = [b'x'; 9000];
    let mut at = 0;
    // Characters of three bytes, so that the limit falls inside of one.
    while at + 3 < 9000 {
        (text[at], text[at + 1], text[at + 2]) = (0xe5, 0xa5, 0xbd);
        at += 7;
    }
    text
};

static MANY: [u8; 1200] = {
    let mut text = [b'.'; 1200];
    let mut at = 5;
    while at < 1200 {
        text[at] = b'\n';
        at += 6;
    }
    text
};

fn decoded(text: &[u8]) -> String {
    lossy::Shown::decode(text, lossy::Source::Text).text.into_owned()
}

#[test]
fn another_screen_begins_a_line_behind_one_of_any_length() {
    // The cursor may be in a lower row that nothing was written to.
    let moves = ["", "\x1b[3;1H", "\x1b[3;1H\x1b[A", "\x1b[9B"];
    for (length, moves) in
        (MAX_LENGTH - 2..=MAX_LENGTH + 2).flat_map(|length| moves.map(|moves| (length, moves)))
    {
        let behind = format!("{moves}\x1b[?1049h\n\x1b[2Jz");
        let raw = [&vec![b'x'; length][..], behind.as_bytes()].concat();
        let shown = Shown::of(&raw, usize::MAX);
        let lines: Vec<(usize, u64)> =
            shown.lines().into_iter().map(|(text, line, _)| (text.len(), line)).collect();
        assert_eq!(lines.iter().map(|(length, _)| length).sum::<usize>(), length + 1);
        assert_eq!(lines.last(), Some(&(1, 2)), "{length}, {moves:?}: {lines:?}");
    }
}

#[test]
fn what_scrolled_out_does_not_come_back() {
    let raw = ["\x1b[?1049h", &"x".repeat(4096), &"line\n".repeat(2 * ROWS), "\x1b[2A\x1b[J"];
    for piece in [1, usize::MAX] {
        let shown = Shown::of(raw.concat().as_bytes(), piece);
        assert_eq!(shown.lines().len(), ROWS - 3, "{piece}");
    }
}

#[test]
fn what_is_left_of_a_long_line_on_another_screen_has_a_place_of_its_own() {
    for behind in ["", "z", "\x1b[24;1H#", "\x1b[24;1H#\x1b[24;1H#"] {
        for before in [1, MAX_LENGTH, 2 * MAX_LENGTH] {
            let raw =
                ["y".repeat(before), format!("\x1b[?1049h{}{behind}", "x".repeat(MAX_LENGTH))];
            for piece in [1, usize::MAX] {
                let lines = Shown::of(raw.concat().as_bytes(), piece).lines();
                assert!(lines.iter().all(|(_, line, _)| *line == 1), "{before}, {behind:?}");
            }
        }
    }
}

fn piece_of_line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zé\u{1f600} ]{0,20}",
        1 => (0..2 * MAX_LENGTH).prop_map(|length| "x".repeat(length)),
        3 => "\u{1b}\\[[0-9;?]{0,4}[A-HJKLMPSTXdfhlrsu]",
        1 => prop_oneof![Just("\u{1b}c"), Just("\u{1b}D"), Just("\u{1b}E"), Just("\u{1b}M"), Just("\u{1b}[2J")].prop_map(str::to_owned),
        1 => "[\r\u{8}\u{b}\u{c}\t]",
    ]
}

proptest! {
    #[test]
    fn a_single_line_stays_one_whatever_it_does(pieces in proptest::collection::vec(piece_of_line(), 0..12)) {
        let line = pieces.concat();
        let shown = clean_line(&line);
        prop_assert!(!shown.contains('\n'), "{shown:?}");
    }
}

#[test]
fn a_long_line_that_clears_the_screen_stays_one() {
    let start = "x".repeat(MAX_LENGTH + 10);
    for mode in ["2J", "J", "1J", "H\u{1b}[J"] {
        let shown = clean_line(&format!("{start}\u{1b}[{mode}after")).into_owned();
        assert!(shown.starts_with("xxx") && shown.ends_with("after"), "{mode}: {}", shown.len());
        assert!(!shown.contains('\n'), "{mode}");
    }
}
