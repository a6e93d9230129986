//! Limits and windows for tests.

use super::limits::{Direction, Limits};
use super::window::Window;
use crate::text::lines::LineRule;

/// Limits in lines and bytes, and in nothing else.
pub fn limits(max_lines: u64, max_bytes: u64, direction: Direction) -> Limits {
    Limits {
        max_lines,
        max_bytes,
        max_tokens: u64::MAX,
        direction,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    }
}

/// A window that a text went past in pieces of so many bytes.
pub fn window(text: &[u8], limits: &Limits, piece: usize) -> Window {
    let mut window = Window::new(limits);
    text.chunks(piece.max(1)).for_each(|piece| window.push(piece));
    window
}
