//! Turns any bytes into a case: choices are taken from the front, and the rest is content. A changed byte thus changes
//! one choice or one character, which is what a fuzzer learns from.

use spillway_core::text::lines::LineRule;
use spillway_core::text::utf16;
use spillway_core::truncation::limits::{Direction, Limits};

/// An input that choices are taken from.
pub struct Input<'a>(&'a [u8]);

/// Difficult byte sequences, which runs repeat.
const HARD: [&[u8]; 16] = [
    b"x",
    b"\n",
    b"\r\n",
    b"\r",
    b" word",
    "é".as_bytes(),
    "你".as_bytes(),
    "😀".as_bytes(),
    "\u{301}".as_bytes(),
    "👩\u{200d}".as_bytes(),
    "🇩".as_bytes(),
    "\u{fffd}".as_bytes(),
    b"\xff",
    b"\xe4\xbd",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
];

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Input(data)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Returns a number from 0 to below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        let mut number = usize::from(self.byte());
        if end > 256 {
            number |= usize::from(self.byte()) << 8;
        }
        if end > 65_536 {
            number |= usize::from(self.byte()) << 16;
        }
        number % end
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns a typical number: small, or as large as JavaScript represents exactly.
    pub fn count(&mut self) -> u64 {
        match self.byte() {
            0xff => (1 << 53) - 1,
            0xfe => 1 << 20,
            large @ 0xc0.. => u64::from(large - 0xbf) * 100,
            small => u64::from(small),
        }
    }

    /// Returns `count` bytes, or fewer if there are no more.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Returns all remaining bytes, with up to three long runs inserted: no fuzzer gets past a limit byte by byte.
    pub fn content(&mut self, longest_run: usize) -> Vec<u8> {
        let runs: Vec<(usize, usize, &[u8])> = (0..self.below(4))
            .map(|_| {
                let piece = self.pick(&HARD);
                (self.below(65_536), self.below(longest_run) / piece.len(), piece)
            })
            .collect();
        let mut content = self.rest().to_vec();
        for (at, times, piece) in runs {
            insert(&mut content, at, &piece.repeat(times));
        }
        content
    }

    /// Like `content`, sometimes with one run that is longer than a read buffer.
    pub fn file(&mut self, longest: usize) -> Vec<u8> {
        let long = if self.byte() == 0xff && self.flag() {
            let piece = self.pick(&HARD[..8]);
            piece.repeat((longest - self.below(8192)) / piece.len())
        } else {
            Vec::new()
        };
        let at = self.below(65_536);
        let mut content = self.content(512);
        insert(&mut content, at, &long);
        content
    }

    pub fn limits(&mut self) -> Limits {
        let direction = self.pick(&[Direction::Head, Direction::Tail, Direction::Both]);
        let line_rule = self.pick(&[LineRule::Terminated, LineRule::Split]);
        let (max_lines, max_bytes) = (self.count().max(1), self.count().max(1));
        // As in the strategies `line` and `byte`.
        let (max_lines, max_bytes) = match self.byte() % 4 {
            2 => (max_lines, max_bytes * 4),
            3 => (u64::MAX, max_bytes),
            _ => (max_lines, max_bytes),
        };
        Limits {
            max_lines,
            max_bytes,
            max_tokens: u64::MAX,
            direction,
            line_rule,
            keep: Default::default(),
            terminal: false,
        }
    }
}

fn insert(content: &mut Vec<u8>, at: usize, more: &[u8]) {
    let after = content.split_off(at % (content.len() + 1));
    content.extend_from_slice(more);
    content.extend(after);
}

/// Returns the WTF-8 of the string that these bytes encode, as a text from JavaScript can be.
pub fn as_text(bytes: &[u8]) -> Vec<u8> {
    encode(&utf16::decode(bytes))
}

/// Returns the WTF-8 of a string.
pub fn encode(units: &[u16]) -> Vec<u8> {
    let (mut encoder, mut out) = (utf16::Encoder::default(), Vec::new());
    encoder.push(units, &mut out);
    encoder.finish(&mut out);
    out
}
