//! An output that arrives in pieces, strings and bytes in any order, gives what it gives in one piece.

use std::sync::Arc;

use spillway_core::intake::{Intake, Outcome, RenderRequest, Style};
use spillway_core::store::opened::OpenStore;
use spillway_core::store::places::{Durability, Places};
use spillway_core::store::save::SaveRequest;
use spillway_core::text::shown::Source;
use spillway_core::text::utf16;
use spillway_core::truncate::notice::{CHINESE, ENGLISH, OPENCODE};

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
    let is_peeked = input.flag();
    let pieces = pieces(&mut input);
    let bytes = join(&pieces);
    let has_bytes = pieces.iter().any(|piece| matches!(piece, Piece::Bytes(_)));

    let open = || {
        let save = root.as_ref().map(|root| {
            let places = Places::new(&[root.path().display().to_string()], Durability::Process);
            (Arc::new(OpenStore::new(places)), SaveRequest::default())
        });
        let intake = Intake::new(limits, Source::Text, save);
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
            // Looking changes nothing.
            split.render(&style, &request);
        }
    }
    let outcomes = [whole.finish().clone(), split.finish().clone()];
    assert_eq!(whole.size(), split.size());
    assert_eq!(whole.size().0, bytes.len() as u64);
    assert_eq!(whole.fits(), split.fits());
    assert_eq!(whole.whole(), split.whole());
    if whole.whole().is_none() {
        assert_eq!(whole.render(&style, &request), split.render(&style, &request));
    } else if !has_bytes {
        assert_eq!(whole.whole(), Some(utf16::decode(&bytes)));
    }
    for outcome in outcomes {
        check_outcome(&outcome, &bytes, root.is_some() && whole.whole().is_none());
    }
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

/// The bytes of all pieces: strings that follow each other are one string.
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

fn check_outcome(outcome: &Outcome, bytes: &[u8], is_saved: bool) {
    assert_eq!(outcome.save_error, None);
    let saved = outcome.saved.as_ref();
    assert_eq!(saved.map(|saved| saved.bytes), is_saved.then_some(bytes.len() as u64));
    if let Some(saved) = saved {
        assert_eq!(std::fs::read(&saved.path).expect("what was saved is there"), bytes);
    }
}
