//! An output that comes in chunks, strings and bytes in any order, gives the same result as in one chunk.

use std::io::Read;
use std::sync::Arc;

use spillway_core::capture::pipeline::{Intake, Outcome, RenderRequest, Style};
use spillway_core::redaction::redactor::Rules;
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::head_tail_file::MIN_BYTES;
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::read::Unfinished;
use spillway_core::storage::save::SaveRequest;
use spillway_core::text::lossy::Source;
use spillway_core::text::omitted_range::OmittedRange;
use spillway_core::text::utf16;
use spillway_core::truncation::notice::{CHINESE, ENGLISH, OPENCODE};
use spillway_core::util::regex_source::RegexSource;

use super::input::{Input, encode};

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = input.limits();
    let hold = match input.byte() % 4 {
        0 => None,
        1 => Some(input.limits()),
        _ => Some(limits),
    };
    let style = Style {
        wording: input.pick(&[&ENGLISH, &CHINESE, &OPENCODE]),
        notice_inside: input.flag(),
        available_tools: vec!["grep".to_owned(), "read".to_owned()],
    };
    let request = RenderRequest {
        failed: input.flag(),
        path: Some("/data/x_1_aaaaaaaaaaaaa.txt".to_owned()),
        ..RenderRequest::default()
    };
    // A save costs more than everything else.
    let root =
        (input.byte() == 0xff).then(|| tempfile::tempdir().expect("there is room for a folder"));
    let is_collected = root.is_none() && input.flag();
    let rules = input.flag().then(rules);
    let max_bytes = input.flag().then(|| MIN_BYTES + input.below(4096) as u64);
    let is_peeked = input.flag();
    let pieces = pieces(&mut input);
    let bytes = join(&pieces);
    let has_bytes = pieces.iter().any(|piece| matches!(piece, Piece::Bytes(_)));

    let open = || {
        let save = root.as_ref().map(|root| {
            let places = StoreDirs::new(&[root.path().display().to_string()], Durability::Process);
            (Arc::new(OpenStore::new(places)), SaveRequest::default())
        });
        let mut intake = Intake::new(limits, Source::Text, save);
        if is_collected {
            intake = intake.collecting();
        }
        if let Some(rules) = &rules {
            intake.redact(Arc::clone(rules));
        }
        if let Some(max_bytes) = max_bytes {
            intake.keep_at_most(max_bytes);
        }
        match hold {
            Some(limits) => intake.holding(limits),
            None => intake,
        }
    };
    let mut whole = open();
    if has_bytes {
        whole.saw_bytes();
    }
    whole.push_bytes(&bytes);
    let mut split = open();
    for piece in &pieces {
        match piece {
            Piece::Units(units) => split.push_units(units),
            Piece::Bytes(bytes) => {
                split.saw_bytes();
                split.push_bytes(bytes);
            }
        }
        if is_peeked {
            // Rendering changes nothing.
            split.render(&style, &request);
            seen(&split);
        }
    }
    let (read, read_split) = (seen(&whole), seen(&split));
    if let (Some(read), Some(split)) = (&read, &read_split) {
        // The other half of a surrogate pair at the end may still follow.
        assert!(read.starts_with(split) || split.starts_with(read));
    }
    let outcomes = [whole.finish().clone(), split.finish().clone()];
    // First, because a disk without room changes the notice too.
    assert!(outcomes.iter().all(|outcome| outcome.save_error.is_none()), "{outcomes:?}");
    assert_eq!(whole.size(), split.size());
    assert_eq!(whole.size().0, bytes.len() as u64);
    assert_eq!(whole.fits(), split.fits());
    assert_eq!(whole.whole(), split.whole());
    if whole.whole().is_none() {
        assert_eq!(whole.render(&style, &request), split.render(&style, &request));
    } else if !has_bytes {
        assert_eq!(whole.whole(), Some(utf16::decode(&bytes)));
    }
    let is_kept = (root.is_some() || is_collected) && whole.whole().is_none();
    let [kept, kept_split] = [(&mut whole, &outcomes[0]), (&mut split, &outcomes[1])]
        .map(|(intake, outcome)| kept(intake, outcome));
    assert_eq!(kept, kept_split);
    assert_eq!(kept.is_some(), is_kept);
    if let Some(kept) = kept {
        check_kept(&kept, &bytes, rules.is_some(), max_bytes);
        if let Some(read) = read.filter(|_| kept.part.is_none()) {
            assert_eq!(read, kept.bytes);
        }
    }
}

fn rules() -> Arc<Rules> {
    let run = RegexSource { source: "x{3,}".to_owned(), ..RegexSource::default() };
    let rules = Rules::new(&[run], &["word word".to_owned()], false);
    Arc::new(rules.expect("these are rules"))
}

/// Returns the readable part of an output in progress.
fn seen(intake: &Intake) -> Option<Vec<u8>> {
    let Unfinished { file, bytes, .. } = intake.reader().ok()?;
    let mut seen = Vec::new();
    file.take(bytes).read_to_end(&mut seen).expect("what came in can be read");
    assert_eq!(seen.len() as u64, bytes);
    Some(seen)
}

/// The saved or collected output.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    bytes: Vec<u8>,
    redactions: Option<u64>,
    part: Option<OmittedRange>,
}

fn kept(intake: &mut Intake, outcome: &Outcome) -> Option<Kept> {
    if let Some(saved) = &outcome.saved {
        let bytes = std::fs::read(&saved.path).expect("what was saved is there");
        assert_eq!(saved.bytes, bytes.len() as u64);
        return Some(Kept { bytes, redactions: saved.redactions, part: saved.part });
    }
    let collected = outcome.collected.as_ref()?;
    let bytes = intake.take_collected();
    assert_eq!(collected.bytes, bytes.len() as u64);
    Some(Kept { bytes, redactions: collected.redactions, part: collected.part })
}

fn check_kept(kept: &Kept, all: &[u8], is_redacted: bool, max_bytes: Option<u64>) {
    assert_eq!(kept.redactions.is_some(), is_redacted);
    assert_eq!(
        kept.part.is_some(),
        max_bytes.is_some_and(|max_bytes| all.len() as u64 > max_bytes)
    );
    let Some(part) = kept.part else { return check_same(&kept.bytes, all, is_redacted) };
    assert!(kept.bytes.len() as u64 <= max_bytes.unwrap_or(0));
    assert_eq!(part.total_bytes(), all.len() as u64);
    let (head, tail) = (part.head_bytes as usize, part.tail_bytes as usize);
    check_same(&kept.bytes[..head], &all[..head], is_redacted);
    check_same(&kept.bytes[kept.bytes.len() - tail..], &all[all.len() - tail..], is_redacted);
}

/// Checks that redaction keeps the length and the line breaks.
fn check_same(kept: &[u8], came: &[u8], is_redacted: bool) {
    assert_eq!(kept.len(), came.len());
    let is_fine = |(kept, came): (&u8, &u8)| {
        kept == came || (is_redacted && *kept == b'*' && !matches!(came, b'\r' | b'\n'))
    };
    assert!(kept.iter().zip(came).all(is_fine));
}

enum Piece {
    Units(Vec<u16>),
    Bytes(Vec<u8>),
}

fn pieces(input: &mut Input<'_>) -> Vec<Piece> {
    let mut starts: Vec<(usize, bool)> =
        (0..input.below(9)).map(|_| (input.below(65_536), input.flag())).collect();
    let first_is_text = input.flag();
    let content = input.content(6 * 1024);
    for (at, _) in &mut starts {
        *at %= content.len() + 1;
    }
    starts.push((0, first_is_text));
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([content.len()]);
    let stretches = starts.iter().zip(ends);
    stretches
        .map(|(&(from, is_text), to)| {
            let bytes = &content[from..to];
            if is_text { Piece::Units(utf16::decode(bytes)) } else { Piece::Bytes(bytes.to_vec()) }
        })
        .collect()
}

/// Joins all chunks: consecutive strings are one string.
fn join(pieces: &[Piece]) -> Vec<u8> {
    let (mut bytes, mut string) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Units(units) => string.extend_from_slice(units),
            Piece::Bytes(more) => {
                bytes.extend(encode(&std::mem::take(&mut string)));
                bytes.extend_from_slice(more);
            }
        }
    }
    bytes.extend(encode(&string));
    bytes
}
