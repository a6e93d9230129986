use super::*;
use crate::truncation::fixture::limits;
use crate::truncation::notice::{CHINESE, ENGLISH, OPENCODE};
use proptest::prelude::*;

fn rendered(text: &str, limits: Limits, wording: &Wording, inside: bool) -> Rendered {
    let mut window = Window::new(&limits);
    window.push(text.as_bytes());
    let form = Form { limits, wording, inside, notice: None, room: &[], preview: None };
    let circumstances = Circumstances { path: "/data/tool_1_abc.txt".into(), ..Default::default() };
    render(&window, Source::Text, &form, &circumstances)
}

#[test]
fn the_notice_stands_where_the_text_is_missing() {
    let text: String = (0..100).map(|i| format!("line{i}\n")).collect();
    let head = rendered(&text, limits(2, 1000, Direction::Head), &ENGLISH, false).content;
    assert!(
        head.starts_with("line0\nline1\n\n...98 lines truncated...\n\nThe tool call succeeded"),
        "{head}"
    );
    let tail = rendered(&text, limits(2, 1000, Direction::Tail), &ENGLISH, false).content;
    assert!(
        tail.starts_with("...98 lines truncated...") && tail.ends_with("\n\nline98\nline99"),
        "{tail}"
    );
    let both = rendered(&text, limits(3, 1000, Direction::Both), &ENGLISH, false).content;
    assert!(both.starts_with("line0\n...98 lines truncated...\nline99\n\nThe tool"), "{both}");
}

#[test]
fn the_facts_point_at_the_preview() {
    let text = "你好😀\n".repeat(100);
    for direction in [Direction::Head, Direction::Tail, Direction::Both] {
        let Rendered { content, preview, facts } =
            rendered(&text, limits(4, 1000, direction), &ENGLISH, false);
        let (preview_at, preview) = (preview.start, &content[preview]);
        assert_eq!(units(&content[..preview_at]), facts.preview.from);
        assert!(preview.starts_with("你好😀\n") && preview.ends_with("你好😀"), "{preview}");
    }
}

#[test]
fn one_line_says_it_all_when_both_ends_share_the_budget() {
    let text = format!("HEAD-{}-TAIL", "x".repeat(500));
    let content = rendered(&text, limits(2000, 300, Direction::Both), &OPENCODE, true).content;
    assert!(content.len() <= 300 && content.contains("/data/tool_1_abc.txt ..."), "{content}");
    assert!(content.starts_with("HEAD-") && content.ends_with("-TAIL"), "{content}");
}

#[test]
fn a_place_stands_in_the_text_whole_or_not_at_all() {
    let text: String = (0..100).map(|i| format!("line{i}\n")).collect();
    for wording in [&ENGLISH, &CHINESE, &OPENCODE] {
        for direction in Direction::ALL {
            for max_bytes in 1..400 {
                let limits = limits(50, max_bytes, direction);
                let Rendered { content, preview, .. } = rendered(&text, limits, wording, true);
                assert!(content.len() as u64 <= max_bytes, "{content}");
                let has_place = content.contains("/data/tool_1_abc.txt");
                assert!(has_place || !content.contains("/data"), "{content}");
                // There is room for the marker, a line break and some text.
                assert!(has_place || max_bytes < 45 || !preview.is_empty(), "{content}");
            }
        }
    }
}

fn wordy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("word ".to_owned()),
        Just("\n".to_owned()),
        Just("你好，".to_owned()),
        Just("👨‍👩‍👧".to_owned()),
        Just("é".to_owned()),
        "[0-9a-f]{1,40}",
        "[ -~]{1,60}",
        Just("\r\n\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Head), Just(Direction::Tail), Just(Direction::Both)]
}

proptest! {
    #[test]
    fn a_preview_keeps_its_tokens(
        text in wordy(), max_tokens in 1u64..200, max_lines in 1u64..40, max_bytes in 1u64..2000,
        direction in direction(), inside: bool, chinese: bool,
    ) {
        let limits = Limits { max_tokens, ..limits(max_lines, max_bytes, direction) };
        prop_assume!(of_text(&text, Mode::Upper) > max_tokens);
        let wording = if chinese { &CHINESE } else { &ENGLISH };
        let Rendered { content, preview, facts } = rendered(&text, limits, wording, inside);
        let bounded = if inside { &content[..] } else { &content[preview.clone()] };
        prop_assert!(of_text(bounded, Mode::Upper) <= max_tokens, "{bounded:?}");
        if max_lines == 39 && max_bytes > 1990 && !inside {
            prop_assert_eq!(facts.limited_by, Unit::Tokens);
        }
    }

    #[test]
    fn a_limit_in_tokens_that_is_not_reached_changes_nothing(
        text in wordy(), max_lines in 1u64..9, max_bytes in 1u64..300, direction in direction(),
    ) {
        let plain = limits(max_lines, max_bytes, direction);
        prop_assume!(!plain.allow(size(&text).0, text.len() as u64));
        let wide = Limits { max_tokens: 1 << 40, ..plain };
        let (plain, wide) = (rendered(&text, plain, &ENGLISH, false), rendered(&text, wide, &ENGLISH, false));
        prop_assert_eq!(plain.content, wide.content);
    }
}

proptest! {
    #[test]
    fn with_the_notice_inside_everything_keeps_the_limits(
        lines in 1u64..40, max_lines in 1u64..20, max_bytes in 1u64..500, width in 1usize..200,
        direction in prop_oneof![Just(Direction::Head), Just(Direction::Tail), Just(Direction::Both)],
        opencode: bool,
    ) {
        let text = format!("{}\n", "é".repeat(width)).repeat(lines as usize);
        let limits = limits(max_lines, max_bytes, direction);
        prop_assume!(!limits.allow(lines, text.len() as u64));
        let wording = if opencode { &OPENCODE } else { &ENGLISH };
        let Rendered { content, .. } = rendered(&text, limits, wording, true);
        let (lines, bytes) = size(&content);
        prop_assert!(lines <= max_lines && bytes <= max_bytes, "{lines} lines, {bytes} bytes: {content}");
        prop_assert!(!content.is_empty());
    }
}
