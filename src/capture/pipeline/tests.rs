use super::*;
use crate::storage::directories::{Durability, StoreDirs};
use crate::truncation::limits::Direction;
use crate::truncation::notice::ENGLISH;
use proptest::prelude::*;
use std::io::Read;

fn style() -> Style {
    Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() }
}

#[test]
fn what_stays_within_limits_never_touches_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("outputs");
    let places = StoreDirs::of(vec![dir.clone()], Durability::Process);
    let store = Arc::new(OpenStore::new(places));
    let request = SaveRequest { tool: "x".to_owned(), ..SaveRequest::default() };
    let limits = Limits {
        max_lines: 3,
        max_bytes: 20,
        direction: Direction::Tail,
        max_tokens: u64::MAX,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let open = || {
        let save = Some((Arc::clone(&store), request.clone()));
        Intake::new(limits, Source::Text, save).holding(limits)
    };

    let mut short = open();
    short.push_bytes(b"one\ntwo\n");
    assert_eq!(*short.finish(), Outcome::default());
    assert!(short.fits() && !dir.exists());
    assert_eq!(short.whole(), Some("one\ntwo\n".encode_utf16().collect()));

    let mut long = open();
    for piece in ["one\n", "two\n", "three\n", "four"] {
        long.push_bytes(piece.as_bytes());
    }
    let path = long.finish().saved.as_ref().unwrap().path.clone();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\ntwo\nthree\nfour");
    assert_eq!((long.fits(), long.whole(), long.size()), (false, None, (18, 4)));
}

#[test]
fn what_is_shown_is_never_redacted_and_what_is_kept_always() {
    let (_root, store) = crate::storage::fixture::store();
    let limits = Limits {
        max_lines: 2,
        max_bytes: 100,
        direction: Direction::Head,
        max_tokens: u64::MAX,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let rules = Rules::new(&[], &["hunter2".to_owned()], false).unwrap();
    let text = format!("it is hunter2\n{}it was hunter2\n", "filler\n".repeat(2000));
    let rules = Arc::new(rules);
    let mut saved = Intake::new(limits, Source::Text, Some((store, SaveRequest::default())));
    saved.redact(Arc::clone(&rules));
    saved.keep_at_most(4096);
    let mut collecting = Intake::new(limits, Source::Text, None).collecting();
    collecting.redact(rules);
    for intake in [&mut saved, &mut collecting] {
        intake.push_bytes(text.as_bytes());
        intake.finish();
    }
    let file = saved.outcome.saved.clone().unwrap();
    let collected = collecting.outcome.collected.clone().unwrap();
    let held = std::fs::read_to_string(&file.path).unwrap();
    assert!(held.starts_with("it is *******\n") && held.ends_with("\nit was *******\n"));
    let part = file.part.unwrap();
    assert_eq!((file.redactions, file.bytes), (Some(2), held.len() as u64));
    assert!(held.len() <= 4096 && part.total_bytes() == text.len() as u64);
    assert_eq!((collected.redactions, collected.part), (Some(2), None));
    assert_eq!(collecting.take_collected(), text.replace("hunter2", "*******").into_bytes());
    let shown = saved.render(&style(), &RenderRequest::default()).content;
    assert!(shown.starts_with("it is hunter2\n") && shown.contains("its 14029 bytes"), "{shown}");
}

#[test]
fn what_is_read_while_it_comes_in_is_what_would_be_saved() {
    let limits = Limits {
        max_lines: 2,
        max_bytes: 100,
        direction: Direction::Head,
        max_tokens: u64::MAX,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let (_root, store) = crate::storage::fixture::store();
    let rules = Rules::new(&[], &["hunter2".to_owned()], false).unwrap();
    let mut intake =
        Intake::new(limits, Source::Text, Some((store, SaveRequest::default()))).holding(limits);
    intake.redact(Arc::new(rules));
    intake.keep_at_most(1 << 20);
    let read = |intake: &Intake| {
        let Unfinished { file, bytes, incomplete } = intake.reader().unwrap();
        let mut text = String::new();
        file.take(bytes).read_to_string(&mut text).unwrap();
        (text, incomplete)
    };
    let (mut text, line) = (String::new(), "it is hunter2\n");
    for lines in [1, 10, 40_000, 7, 80_000] {
        let more = line.repeat(lines);
        intake.push_bytes(more.as_bytes());
        text.push_str(&more.replace("hunter2", "*******"));
        let whole = text.len() <= 1 << 20;
        let (seen, incomplete) = read(&intake);
        assert!(text.starts_with(&seen) && incomplete != whole, "{}", text.len());
        assert_eq!(seen.len(), if whole { text.len() } else { 1 << 19 });
    }
}

#[test]
fn half_a_pair_stays_before_the_bytes_that_follow_it() {
    let limits = Limits {
        max_lines: 3,
        max_bytes: 20,
        direction: Direction::Head,
        max_tokens: u64::MAX,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let mut intake = Intake::new(limits, Source::Text, None).holding(limits);
    intake.push_units(&[0x61, 0xd83d]);
    intake.push_bytes(b"b");
    intake.push_units(&[0xde00]);
    intake.finish();
    assert_eq!(intake.whole(), Some(vec![0x61, 0xd83d, 0x62, 0xde00]));
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(
        text in "[a-c你\\n😀]{0,400}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        tail: bool,
    ) {
        let direction = if tail { Direction::Tail } else { Direction::Head };
        let limits = Limits { max_lines: 3, max_bytes: 20, direction, max_tokens: u64::MAX, line_rule: LineRule::Terminated, keep: Default::default(), terminal: false };
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut whole = Intake::new(limits, Source::Text, None);
        whole.push_units(&units);
        whole.finish();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
        ends.push(units.len());
        ends.sort_unstable();
        let mut split = Intake::new(limits, Source::Text, None);
        let mut start = 0;
        for end in ends {
            split.push_units(&units[start..end]);
            start = end;
        }
        split.finish();
        prop_assert_eq!(whole.fits(), split.fits());
        let request = RenderRequest::default();
        prop_assert_eq!(whole.render(&style(), &request), split.render(&style(), &request));
    }
}
