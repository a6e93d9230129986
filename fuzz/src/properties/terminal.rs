//! Rendered terminal output has no control characters, is independent of chunks, and every line is at its recorded
//! source.

use spillway_core::text::terminal::source_map::{Mark, Origins, Stretch};
use spillway_core::text::terminal::{MAX_LENGTH, Sink, Terminal, clean, is_clean};

use super::input::Input;

/// Cursor movements of real outputs, so that a fuzzer need not find every byte.
const MOVES: [&[u8]; 24] = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\x08",
    b"\t",
    b"\x1b[K",
    b"\x1b[2K",
    b"\x1b[1K",
    b"\x1b[J",
    b"\x1b[2J",
    b"\x1b[A",
    b"\x1b[3A",
    b"\x1b[9B",
    b"\x1b[7C",
    b"\x1b[2D",
    b"\x1b[40G",
    b"\x1b[3;9H",
    b"\x1b[24;1H",
    b"\x1b7",
    b"\x1b8",
    b"\x1b[2P",
    b"\x1b[?1049h",
    b"\x1b[?1049l",
    b"\x1b[31m",
];

#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    breaks: u64,
    origins: Origins,
}

impl Sink for Shown {
    fn block(&mut self, text: &[u8], marks: &[Mark]) {
        let mut at = 0;
        let count = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as u64;
        for mark in marks {
            self.breaks += count(&text[at..mark.offset]);
            at = mark.offset;
            self.origins.note(self.breaks + 1, (self.text.len() + at) as u64, *mark);
        }
        self.breaks += count(&text[at..]);
        self.text.extend_from_slice(text);
    }
}

fn shown(raw: &[u8], piece: usize) -> Shown {
    let (mut terminal, mut shown) = (Terminal::new(), Shown::default());
    raw.chunks(piece).for_each(|piece| terminal.push(piece, &mut shown));
    terminal.finish(&mut shown);
    shown
}

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let piece = input.below(512) + 1;
    let mut raw = Vec::new();
    for byte in input.content(4 * 1024) {
        // The upper half encodes movements, and the rest of it malformed text.
        match MOVES.get(usize::from(byte.wrapping_sub(0xc0))) {
            Some(sequence) => raw.extend_from_slice(sequence),
            None => raw.push(byte),
        }
    }
    let whole = shown(&raw, raw.len().max(1));
    assert_eq!(shown(&raw, piece).text, whole.text);
    assert_eq!(clean(&raw), whole.text);
    assert!(is_clean(&whole.text));

    let (mut start, mut line) = (0, 0);
    for text in whole.text.split_inclusive(|byte| *byte == b'\n') {
        line += 1;
        let content = text.strip_suffix(b"\n").unwrap_or(text);
        let end = start + content.len() as u64;
        let ranges = whole.origins.ranges(Stretch { line, last_line: line, start, end });
        assert!(ranges.len() == 1 || content.len() >= MAX_LENGTH, "line {line}: {ranges:?}");
        for range in ranges {
            let before = &raw[..range.from_byte as usize];
            let breaks = before.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(range.from_line, breaks + 1, "line {line}");
            assert!(!raw[range.from_byte as usize..range.to_byte as usize].contains(&b'\n'));
        }
        start += text.len() as u64;
    }
}
