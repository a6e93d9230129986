use super::super::result::Partial;
use super::*;
use crate::truncation::fixture::limits;
use proptest::prelude::*;

fn cut_text(text: &str, limits: &Limits) -> Cut<'static> {
    let mut window = Window::new(limits);
    window.push(text.as_bytes());
    cut(&window, Source::Text, limits, Gap { bytes: 30, tokens: 20 }).into_owned()
}

fn shown(text: &str, max_lines: u64, max_bytes: u64, direction: Direction) -> String {
    let cut = cut_text(text, &limits(max_lines, max_bytes, direction));
    let pieces: Vec<&str> = cut.pieces.iter().map(|piece| piece.text.as_ref()).collect();
    pieces.join("|")
}

#[test]
fn whole_lines_within_both_limits() {
    use Direction::{Head, Tail};
    let text = "ab\ncd\nef";
    assert_eq!(shown(text, 9, 5, Head), "ab\ncd");
    assert_eq!(shown(text, 9, 5, Tail), "cd\nef");
    assert_eq!(shown(text, 9, 4, Head), "ab");
    assert_eq!(shown(text, 1, 99, Tail), "ef");
    assert_eq!(shown("a\r\nb\r\nc", 2, 99, Head), "a\r\nb");
    assert_eq!(shown("a\r\nb\r\nc\r\n", 2, 99, Tail), "b\r\nc");
}

#[test]
fn a_line_that_is_shown_whole_is_not_called_partial() {
    // Only the last line break is in excess, and a carriage return is not text.
    let cut = cut_text("\r\r\n\r\n", &limits(2, 3, Direction::Tail));
    assert_eq!((cut.partials(), cut.kept_lines(), cut.kept_bytes()), (vec![], 2, 3));
}

#[test]
fn a_text_that_fits_is_shown_once() {
    for text in ["", "\n", "a", "a\n", "\n\n", "a\nb", "a\n\n", "\r\n\r\na", "a\nb\nc\nd\n"] {
        for direction in [Direction::Head, Direction::Tail, Direction::Both] {
            for max_lines in 4..9 {
                for max_bytes in [8, 32, 34, 36, 40, 48, 100] {
                    let limits = limits(max_lines, max_bytes, direction);
                    let cut = cut_text(text, &limits);
                    assert_eq!(cut.kept_bytes() + cut.removed_bytes(), text.len() as u64);
                    assert!(cut.removed_lines() <= cut.total_lines, "{text:?} {limits:?}");
                    let shown: u64 = cut.pieces.iter().map(|piece| piece.text.len() as u64).sum();
                    assert!(shown <= text.len() as u64, "{text:?} {limits:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_does_not_fit_is_cut_inside() {
    use Direction::{Head, Tail};
    assert_eq!(shown(&"a".repeat(11), 9, 10, Head), "a".repeat(10));
    assert_eq!(shown(&format!("y\n{}", "x".repeat(20)), 9, 10, Head), "y");
    assert_eq!(shown(&format!("y\n{}", "x".repeat(20)), 9, 10, Tail), "x".repeat(10));
    assert_eq!(shown("你好", 9, 4, Head), "你");
    assert_eq!(shown("你好", 9, 4, Tail), "好");
    assert_eq!(shown("你好", 9, 2, Head), "");
    let cut = cut_text(&"x".repeat(10_000), &limits(9, 10, Tail));
    assert_eq!(cut.partials(), [Partial { line: 1, shown: 10, total: 10_000 }]);
    assert_eq!((cut.kept_lines(), cut.removed_lines(), cut.removed_bytes()), (1, 0, 9_990));
}

#[test]
fn blank_lines_do_not_make_an_empty_preview() {
    use Direction::{Head, Tail};
    assert_eq!(shown(&format!("\n{}", "x".repeat(20)), 9, 5, Head), "\nxxxx");
    assert_eq!(shown(&format!("{}\n\n", "x".repeat(20)), 9, 5, Tail), "xxxx\n");
    assert_eq!(shown("\nabc", 1, 99, Head), "\n");
    assert_eq!(shown("abc\n\n", 1, 99, Tail), "\n");
    assert_eq!(shown("\n\n\n", 1, 99, Head), "\n");
}

#[test]
fn two_ends_share_the_budget_with_the_gap() {
    let text: String = (1..=100).map(|i| format!("line {i}\n")).collect();
    let cut = cut_text(&text, &limits(5, 1000, Direction::Both));
    let lines: Vec<(u64, u64)> =
        cut.pieces.iter().map(|piece| (piece.first_line, piece.last_line)).collect();
    assert_eq!(lines, [(1, 2), (99, 100)]);
    assert_eq!((cut.kept_lines(), cut.removed_lines(), cut.next_line()), (4, 96, 3));
    let one_line = format!("HEAD{}TAIL", "x".repeat(500));
    let cut = cut_text(&one_line, &limits(9, 100, Direction::Both));
    assert!(cut.pieces[0].text.starts_with("HEAD") && cut.pieces[1].text.ends_with("TAIL"));
    assert_eq!((cut.kept_lines(), cut.kept_bytes()), (1, 68));
    assert_eq!(cut.partials(), [Partial { line: 1, shown: 68, total: 508 }]);
}

#[test]
fn the_split_rule_counts_the_empty_piece() {
    let split = |text: &str, max_lines, direction| {
        let limits = Limits { line_rule: LineRule::Split, ..limits(max_lines, 999, direction) };
        cut_text(text, &limits)
    };
    let cut = split("a\nb\nc\n", 3, Direction::Head);
    assert_eq!((cut.pieces[0].text.as_ref(), cut.removed_lines()), ("a\nb\nc", 1));
    assert_eq!(split("a\nb\nc\n", 3, Direction::Tail).pieces[0].text, "b\nc\n");
    assert_eq!(split("a\r\nb\r\nc", 2, Direction::Head).pieces[0].text, "a\r\nb\r");
}

#[test]
fn the_split_rule_shows_no_empty_end() {
    let split = |text: &str, max_lines, max_bytes| {
        let limits = limits(max_lines, max_bytes, Direction::Tail);
        let cut = cut_text(text, &Limits { line_rule: LineRule::Split, ..limits });
        (cut.pieces[0].text.to_string(), cut.removed_lines())
    };
    assert_eq!(split("a\nb\n", 1, 999), ("b".to_owned(), 2));
    assert_eq!(split("a\nb\n\n", 1, 999), ("\n".to_owned(), 3));
    assert_eq!(split("a\nbcd\n", 9, 1), ("d".to_owned(), 2));
    assert_eq!(split("a\nb\n", 2, 999), ("b\n".to_owned(), 1));
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        3 => "[a-z ]{0,12}",
        1 => Just("你好".to_owned()),
        1 => Just("👨\u{200d}👩\u{200d}👧".to_owned()),
        1 => Just("e\u{301}\u{302}".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("🇩🇪🇫🇷".to_owned()),
    ];
    let bytes = prop_oneof![9 => word.prop_map(String::into_bytes), 1 => Just(vec![0xff]), 1 => Just(vec![0xed, 0xa0, 0x80])];
    prop::collection::vec(bytes, 0..40).prop_map(|parts| parts.concat())
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Head), Just(Direction::Tail), Just(Direction::Both)]
}

proptest! {
    #[test]
    fn every_cut_is_within_its_limits_and_true(
        text in any_text(), max_lines in 1u64..12, max_bytes in 1u64..120, direction in direction(),
    ) {
        let limits = limits(max_lines, max_bytes, direction);
        let mut window = Window::new(&limits);
        window.push(&text);
        prop_assume!(!fits(&window, Source::Text, &limits));
        let gap = 30;
        let cut = cut(&window, Source::Text, &limits, Gap { bytes: gap, tokens: 0 });
        let mut lines = 0;
        let mut bytes = 0;
        for piece in &cut.pieces {
            lines += LineRule::Terminated.count(
                piece.text.matches('\n').count() as u64, piece.text.is_empty(), piece.text.ends_with('\n'));
            bytes += piece.text.len() as u64;
            let raw = &text[piece.bytes.start as usize..piece.bytes.end as usize];
            prop_assert_eq!(Shown::decode(raw, Source::Text).text, piece.text.as_ref());
            prop_assert!(piece.first_line >= 1 && piece.last_line <= cut.total_lines.max(1));
            let before = text[..piece.bytes.start as usize].iter().filter(|&&b| b == b'\n').count() as u64;
            prop_assert_eq!(piece.first_line, before + 1);
        }
        if cut.direction == Direction::Both {
            lines += 1;
            bytes += gap + 2;
            prop_assert!(cut.pieces[0].bytes.end <= cut.pieces[1].bytes.start);
        }
        prop_assert!(lines <= max_lines && bytes <= max_bytes, "{} lines, {} bytes", lines, bytes);
        prop_assert!(cut.kept_lines() <= cut.total_lines);
    }

    #[test]
    fn a_preview_is_empty_only_when_no_grapheme_fits(
        text in any_text(), max_lines in 1u64..12, max_bytes in 26u64..120, direction in direction(),
    ) {
        let limits = limits(max_lines, max_bytes, direction);
        let mut window = Window::new(&limits);
        window.push(&text);
        prop_assume!(!fits(&window, Source::Text, &limits));
        let cut = cut(&window, Source::Text, &limits, Gap { bytes: 30, tokens: 0 });
        prop_assert!(!cut.pieces[0].text.is_empty() || cut.direction == Direction::Both);
    }
}
