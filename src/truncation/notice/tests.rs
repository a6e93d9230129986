use super::messages::ALL;
use super::*;
use crate::text::lossy::Source;
use crate::truncation::head_tail::{Gap, cut};
use crate::truncation::limits::Limits;
use crate::truncation::preview_buffer::Window;

fn sample(direction: Direction) -> Cut<'static> {
    let limits = Limits {
        max_lines: 4,
        max_bytes: 1000,
        direction,
        max_tokens: u64::MAX,
        line_rule: Default::default(),
        keep: Default::default(),
        terminal: false,
    };
    let mut window = Window::new(&limits);
    window.push("line\n".repeat(100).as_bytes());
    cut(&window, Source::Text, &limits, Gap { bytes: 30, tokens: 0 }).into_owned()
}

const SAMPLE_PART: OmittedRange =
    OmittedRange { head_bytes: 2 << 50, tail_bytes: 2 << 50, omitted_bytes: 2 << 51 };

fn saved(tools: &[&str]) -> Circumstances {
    Circumstances {
        path: "/tmp/x.txt".into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        ..Default::default()
    }
}

#[test]
fn the_hint_names_only_what_the_model_has() {
    let hint = ENGLISH.hint(&sample(Direction::Head), &saved(&[]));
    assert!(hint.contains("succeeded") && hint.ends_with("/tmp/x.txt"), "{hint}");
    let hint = ENGLISH.hint(&sample(Direction::Head), &saved(&["Grep", "view"]));
    assert!(
        hint.contains("Use Grep to search") && hint.contains("Use view on that file from line 5"),
        "{hint}"
    );
    let failed = Circumstances { failed: true, ..saved(&[]) };
    assert!(!ENGLISH.hint(&sample(Direction::Head), &failed).contains("succeeded"));
}

#[test]
fn a_partial_file_is_not_called_the_full_output() {
    let part = OmittedRange { head_bytes: 1000, tail_bytes: 900, omitted_bytes: 100 };
    let partial = Circumstances { part: Some(part), ..saved(&["Grep", "view"]) };
    for wording in ALL {
        let hint = wording.hint(&sample(Direction::Head), &partial);
        let says = ["1000", "900", "2000", "/tmp/x.txt"].iter().all(|text| hint.contains(text));
        assert!(says && !hint.to_lowercase().contains("full") && !hint.contains("完整"), "{hint}");
        let compact = wording.compact(&partial).unwrap();
        assert!(!compact.contains("full") && !compact.contains("完整"), "{compact}");
    }
    let hint = ENGLISH.hint(&sample(Direction::Head), &partial);
    assert!(hint.contains("Use view on that file from line 5"), "{hint}");
    let short = OmittedRange { head_bytes: 10, ..part };
    let hint =
        ENGLISH.hint(&sample(Direction::Head), &Circumstances { part: Some(short), ..partial });
    assert!(hint.contains("Use Grep") && !hint.contains("Use view"), "{hint}");
}

#[test]
fn a_notice_has_a_ceiling() {
    let tools = saved(&["Grep", "view", "task"]);
    let whole_or_part = [None, Some(SAMPLE_PART)];
    for (wording, part) in ALL.iter().flat_map(|each| whole_or_part.map(|part| (each, part))) {
        for direction in [Direction::Head, Direction::Tail, Direction::Both] {
            let mut circumstances = tools.clone();
            circumstances.ceiling = Some(u64::MAX);
            circumstances.part = part;
            let cut =
                Cut { total_lines: u64::MAX / 2, total_bytes: u64::MAX / 2, ..sample(direction) };
            let hint = wording.hint(&cut, &circumstances);
            let bytes = hint.len() + wording.longest_marker(u64::MAX) + 4;
            assert!(bytes <= 512 + 10, "{bytes} bytes: {hint}");
            assert!(hint.lines().count() + 4 <= 8, "{hint}");
            circumstances.lost = Some("x".repeat(1000));
            assert!(wording.hint(&cut, &circumstances).len() <= 512);
        }
    }
}

#[test]
fn every_marker_is_recognised_and_ordinary_text_is_not() {
    for wording in ALL {
        for unit in [Unit::Lines, Unit::Bytes, Unit::Tokens] {
            let text = format!("a\n{}\nb", wording.marker(unit, 12));
            assert!(contains_bare_marker(&text));
            // A document may speak of lines in the same words.
            assert_eq!(contains_marker(&text), unit != Unit::Lines, "{text}");
        }
        assert!(contains_marker(&wording.gap(3, 5, 7, None)));
        for part in [None, Some(SAMPLE_PART)] {
            let compact = wording.compact(&Circumstances { part, ..saved(&[]) }).unwrap();
            assert!(contains_marker(&compact), "{compact}");
        }
    }
    for text in [
        "",
        "... lines truncated...",
        "12 lines truncated",
        "...x lines truncated...",
        "the output was truncated",
    ] {
        assert!(!contains_marker(text), "{text}");
    }
}

#[test]
fn values_are_filled_in_literally() {
    assert_eq!(fill("to: {path}", &[("path", "/a/{n}/$&")]), "to: /a/{n}/$&");
}

#[test]
fn an_empty_preview_leaves_no_blank_lines() {
    assert_eq!(
        assemble("", &["marker", "hint"], "\n\n", Direction::Head).content,
        "marker\n\nhint"
    );
    let tail = assemble("end", &["marker", "hint"], "\n\n", Direction::Tail);
    assert_eq!(tail.content.get(tail.preview_start..), Some("end"));
}
