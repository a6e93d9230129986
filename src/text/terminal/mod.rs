//! Renders output as a terminal would show it: without overwritten text, colours, titles and links.
//!
//! [`Terminal`] takes the bytes of an output in chunks of any size and returns lines without control characters but
//! tabs. For every line it knows the part of the raw output that last wrote it, which is where the line is found in the
//! saved output. Clean text is passed on without being buffered.
//!
//! - The screen is as wide as needed, and lines do not wrap. The cursor can reach the last [`ROWS`] rows; those above
//!   are final. The start of a line longer than [`MAX_LENGTH`] bytes is final, and the rest is not buffered.
//! - A line ends with a line feed, with or without a carriage return before it, and the next begins at its first
//!   column.
//! - Positions count from the top of the screen as long as that is known: from the start of the output, or from where
//!   the screen was cleared, with at most [`SURE_ROWS`] rows since. Text drawn at an unknown position (a bar at the
//!   bottom of the window) is dropped, up to the next line feed or a return to a known position.
//! - The alternate screen is discarded when it is left; it is shown only if the output ends on it.
//! - A title or a link that is not terminated ends with its line.
//!
//! [`line`] is one line and its columns, [`screen`] a screen with its cursor, [`sequence`] parses control sequences,
//! and [`source_map`] remembers where in the raw output each line was written.
//!
//! ```
//! use spillway_base::text::terminal::{clean, is_clean};
//!
//! let output = b"downloading 10 %\rdownloading 99 %\r\x1b[2K\x1b[32mdone\x1b[0m\n";
//! assert!(!is_clean(output));
//! assert_eq!(&*clean(output), b"done\n");
//! ```

#[cfg(test)]
mod cases;
mod line;
mod screen;
mod sequence;
pub mod source_map;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::memchr3;

pub use self::line::{at_column, columns_of};

use self::line::Place;
use self::screen::Page;
use self::sequence::{Action, Sequence};
use self::source_map::Mark;
use super::simd::{self, u8x16};
use super::utf16::incomplete_suffix;

/// Number of rows that the cursor can reach.
pub const ROWS: usize = 64;
/// Number of rows that every screen has: with no more of them, nothing has scrolled.
pub const SURE_ROWS: usize = 24;
/// Maximum length in bytes of a line that can still be changed.
pub const MAX_LENGTH: usize = 4 * 1024;
/// Maximum column that the cursor reaches without text.
pub const WIDEST: usize = 512;

const ESCAPE: u8 = 0x1b;

/// Receives the lines that are final.
pub trait Sink {
    /// Takes the next bytes of the clean text and the sources of its lines: marks are in ascending order, and their
    /// offsets refer to `text`.
    fn block(&mut self, text: &[u8], marks: &[Mark]);
}

/// Position in the raw output.
#[derive(Debug, Clone, Copy)]
struct Raw {
    /// Line number, from 1.
    line: u64,
    /// Offset at which the line begins.
    start: u64,
    /// Offset of the next byte.
    at: u64,
    /// True if the previous byte is a carriage return.
    is_returned: bool,
}

impl Raw {
    /// Returns the source of text that is written now.
    fn place(&self) -> Place {
        Place { line: self.line, start: self.start, end: None }
    }

    /// Returns the end of the line whose line feed is next.
    fn line_end(&self) -> u64 {
        self.at - u64::from(self.is_returned && self.at > self.start)
    }

    fn next_line(&mut self) {
        self.at += 1;
        self.line += 1;
        self.start = self.at;
        self.is_returned = false;
    }

    fn pass(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.is_returned = false;
    }
}

/// A terminal that an output is written to.
#[derive(Debug, Clone)]
pub struct Terminal {
    raw: Raw,
    page: Page,
    /// The main screen, while the alternate one is shown.
    behind: Option<Box<Page>>,
    sequence: Sequence,
    /// The start of an incomplete character.
    pending: Vec<u8>,
    /// True if the last byte was a line feed, or there was none.
    is_line_over: bool,
    /// True if only one line is rendered.
    is_single: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Terminal::new()
    }
}

impl Terminal {
    /// Creates a terminal with an empty screen.
    pub fn new() -> Self {
        let raw = Raw { line: 1, start: 0, at: 0, is_returned: false };
        Terminal {
            raw,
            page: Page::new(false, Some(0)),
            behind: None,
            sequence: Sequence::default(),
            pending: Vec::new(),
            is_line_over: true,
            is_single: false,
        }
    }

    /// Returns the number of raw bytes and lines so far.
    pub fn size(&self) -> (u64, u64) {
        let bytes = self.raw.at + self.pending.len() as u64;
        (bytes, self.raw.line - u64::from(self.is_line_over))
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let Some(&last) = bytes.last() else { return };
        self.is_line_over = last == b'\n';
        let mut rest = self.complete(bytes, sink);
        while !rest.is_empty() {
            let taken = self.step(rest, sink);
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.page.emit_some(sink);
    }

    /// Ends the output: everything on the screen is final.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        let pending = std::mem::take(&mut self.pending);
        self.page.text(&pending, &mut self.raw, sink);
        if let Some(mut main) = self.behind.take() {
            std::mem::swap(&mut self.page, &mut main);
            self.page.append_page(*main, &self.raw, sink);
        }
        self.page.settle(&self.raw);
        self.page.emit_all(sink);
    }

    /// Completes a character that the last chunk split, and returns the rest of the chunk.
    fn complete<'a>(&mut self, bytes: &'a [u8], sink: &mut dyn Sink) -> &'a [u8] {
        if self.pending.is_empty() {
            return bytes;
        }
        for (at, &byte) in bytes.iter().enumerate() {
            let is_text = byte >= 0x80;
            if is_text {
                self.pending.push(byte);
            }
            let open = if is_text { incomplete_suffix(&self.pending) } else { 0 };
            let whole = self.pending.len() - open;
            if whole > 0 {
                let text: Vec<u8> = self.pending.drain(..whole).collect();
                self.page.text(&text, &mut self.raw, sink);
            }
            // The bytes that follow instead may begin another character.
            if self.pending.is_empty() {
                return bytes.get(at + usize::from(is_text)..).unwrap_or_default();
            }
        }
        &[]
    }

    /// Takes text up to the next control character, or one control character; returns the number of bytes taken.
    fn step(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> usize {
        if self.sequence.is_on() || bytes.first() == Some(&ESCAPE) {
            let taken = self.sequence.take(bytes);
            self.raw.pass(taken.bytes);
            if let Some(action) = taken.action {
                self.act(action, sink);
            }
            return taken.bytes;
        }
        let end = next_control(bytes);
        let (text, rest) = bytes.split_at(end);
        if text.is_empty() {
            let Some(&control) = rest.first() else { return 0 };
            self.control(control, sink);
            return 1;
        }
        // Only a character at the very end of the chunk may be completed by the next.
        let open = if rest.is_empty() { incomplete_suffix(text) } else { 0 };
        let (text, open) = text.split_at(text.len() - open);
        self.page.lines(text, &mut self.raw, sink);
        self.pending.extend_from_slice(open);
        end
    }

    fn control(&mut self, control: u8, sink: &mut dyn Sink) {
        match control {
            b'\r' => self.page.carriage_return(),
            8 => self.page.back(),
            0x0b | 0x0c if !self.is_single => self.page.feed(&self.raw, sink),
            _ => {}
        }
        self.raw.pass(1);
        self.raw.is_returned = control == b'\r';
    }

    fn act(&mut self, action: Action, sink: &mut dyn Sink) {
        if let Action::Alternate(is_on) = action {
            if is_on && self.behind.is_none() && !self.is_single {
                self.page.leave(&self.raw);
                let main = std::mem::replace(&mut self.page, Page::new(true, Some(0)));
                self.page.begin(&self.raw);
                self.behind = Some(Box::new(main));
            } else if !is_on && let Some(main) = self.behind.take() {
                self.page = *main;
            }
            return;
        }
        if self.is_single && is_vertical(action) {
            return;
        }
        // A line of which the start was passed on already stays one line.
        if let Action::EraseScreen(mode) = action
            && self.is_single
        {
            self.page.act(Action::EraseLine(mode), &self.raw, sink);
            if mode == 2 {
                self.page.carriage_return();
            }
            return;
        }
        self.page.act(action, &self.raw, sink);
    }
}

fn is_vertical(action: Action) -> bool {
    use Action::*;
    matches!(
        action,
        Up(_)
            | Down(_)
            | NextRow(_)
            | PreviousRow(_)
            | Row(_)
            | Position(..)
            | Region(_)
            | LineFeed
            | ReverseFeed
            | Reset
    )
}

/// Returns the offset of the first control character other than tab and line feed.
fn next_control(bytes: &[u8]) -> usize {
    /// The search for the less frequent characters is bounded, because it is repeated after every control found by the
    /// other.
    const STEP: usize = 1024;
    let mut at = 0;
    for block in bytes.chunks(STEP) {
        let near = memchr3(ESCAPE, b'\r', 8, block).unwrap_or(block.len());
        let text = block.get(..near).unwrap_or_default();
        if has_control(text) {
            return at + text.iter().position(|byte| is_control(*byte)).unwrap_or(near);
        }
        at += near;
        if near < block.len() {
            break;
        }
    }
    at
}

fn has_control(text: &[u8]) -> bool {
    simd::any_byte(text, b' ', |bytes| {
        let is = |byte| bytes.simd_eq(u8x16::splat(byte));
        bytes.simd_lt(u8x16::splat(0x20)) & !(is(b'\t') | is(b'\n')) | is(0x7f)
    })
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t' && byte != b'\n' || byte == 0x7f
}

/// Returns true if a terminal would show exactly these bytes.
pub fn is_clean(bytes: &[u8]) -> bool {
    next_control(bytes) == bytes.len()
}

#[derive(Default)]
struct Collected(Vec<u8>);

impl Sink for Collected {
    fn block(&mut self, text: &[u8], _: &[Mark]) {
        self.0.extend_from_slice(text);
    }
}

/// Renders a whole output.
pub fn clean(bytes: &[u8]) -> Cow<'_, [u8]> {
    if is_clean(bytes) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(cleaned(Terminal::new(), bytes))
}

/// Renders a single line.
pub fn clean_line(line: &str) -> Cow<'_, str> {
    if is_clean(line.as_bytes()) {
        return Cow::Borrowed(line);
    }
    let terminal = Terminal { is_single: true, ..Terminal::new() };
    let bytes = cleaned(terminal, line.as_bytes());
    Cow::Owned(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

fn cleaned(mut terminal: Terminal, bytes: &[u8]) -> Vec<u8> {
    let mut sink = Collected::default();
    terminal.push(bytes, &mut sink);
    terminal.finish(&mut sink);
    sink.0
}
