//! Consecutive ranges of an output add up to the output: nothing is missing, repeated or split.

use spillway_core::storage::range::{MAX_BYTES, MIN_BYTES, Piece, Range, RangeRead};
use spillway_core::text::lossy::{Shown, Source};
use spillway_core::text::utf8_boundary;

use super::input::Input;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let count = input.count().max(1);
    let any = Range {
        from_line: input.flag().then(|| input.count().max(1)),
        line_count: input.flag().then(|| input.count().max(1)),
        from_byte: input.flag().then(|| input.count()),
        byte_count: input.flag().then(|| input.count().max(1)),
        max_bytes: input.flag().then(|| input.count().clamp(MIN_BYTES, MAX_BYTES)),
    };
    let step = input.pick(&[1, 1 << 20, u64::MAX]);
    let bytes = input.file(270 * 1024);
    let size = bytes.len() as u64;
    // More reads of one input are no new case.
    let most_reads = if size > MAX_BYTES / 2 { 4 } else { 64 };
    let read = |range| read(&bytes, range, step);

    check_any(&read(any), any, &bytes);

    let whole = Shown::decode(&bytes, Source::Text).text;
    let by_lines = Range { from_line: Some(1), line_count: Some(count), ..Range::default() };
    let by_bytes = Range {
        from_byte: Some(0),
        byte_count: Some(count.max(size / most_reads)),
        ..Range::default()
    };
    let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    for first in [by_lines, by_bytes] {
        if first == by_lines && breaks / count > most_reads {
            continue;
        }
        let (mut joined, mut end, mut line) = (String::new(), 0, 1);
        let mut next = Some(first);
        while let Some(range) = next {
            let piece = read(range);
            assert_eq!(piece.from_byte, end);
            assert!(piece.byte_count <= MAX_BYTES);
            assert!(piece.byte_count > 0 || piece.next.is_none(), "no way on from {piece:?}");
            if first == by_lines {
                assert_eq!(piece.from_line, Some(line));
                assert!(piece.line_count <= Some(count));
            }
            line += piece.text.matches('\n').count() as u64;
            end += piece.byte_count;
            joined.push_str(&piece.text);
            next = piece.next;
        }
        assert_eq!((joined.as_str(), end), (&*whole, size));
    }

    // Adjacent ranges that are chosen without `next` miss nothing either.
    let width =
        by_bytes.byte_count.unwrap_or(MAX_BYTES).min(MAX_BYTES - utf8_boundary::MAX_LENGTH as u64);
    let starts = (0..=size / width).map(|at| at * width);
    let joined: String = starts
        .map(|from| Range { from_byte: Some(from), byte_count: Some(width), ..Range::default() })
        .map(|range| read(range).text)
        .collect();
    assert_eq!(joined, whole);
}

fn read(bytes: &[u8], range: Range, step: u64) -> Piece {
    let mut read = RangeRead::over(bytes.to_vec(), "memory:/x", range);
    loop {
        if let Some(piece) = read.step(step).expect("memory can be read") {
            return piece;
        }
    }
}

/// Checks that any requested range is a part of the output with correct numbers.
fn check_any(piece: &Piece, asked: Range, bytes: &[u8]) {
    let size = bytes.len() as u64;
    assert_eq!(piece.total_bytes, size);
    let (from, to) = (piece.from_byte as usize, (piece.from_byte + piece.byte_count) as usize);
    assert_eq!(piece.text, Shown::decode(&bytes[from..to], Source::Text).text);
    let max_bytes = asked.max_bytes.unwrap_or(MAX_BYTES);
    assert!(piece.byte_count <= max_bytes);
    assert_eq!(piece.next.is_some(), to < bytes.len());
    assert_eq!(piece.from_line.is_some(), asked.from_line.is_some());
    let Some(line) = asked.from_line.filter(|_| asked.from_byte.is_none()) else { return };
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let before: usize = lines.by_ref().take(line as usize - 1).map(<[u8]>::len).sum();
    assert_eq!(from, before);
    let wanted = usize::try_from(asked.line_count.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let length: usize = lines.take(wanted).map(<[u8]>::len).sum();
    if length as u64 <= max_bytes {
        assert_eq!(to - from, length);
        assert!(!piece.partial, "whole lines");
    }
}
