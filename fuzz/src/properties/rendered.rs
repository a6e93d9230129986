//! Rendering a text, shared by the properties of the strategies.

use spillway_core::text::lines::LineRule;
use spillway_core::text::lossy::Source;
use spillway_core::truncation::limits::Limits;
use spillway_core::truncation::notice::{CHINESE, Circumstances, ENGLISH, Wording};
use spillway_core::truncation::preview_buffer::Window;
use spillway_core::truncation::render::{Form, render};
use spillway_core::truncation::smart::Keep;

use super::input::Input;

/// Limits and messages, and the size of the chunks that the text may come in.
pub struct Case {
    pub limits: Limits,
    wording: &'static Wording,
    inside: bool,
    size: usize,
}

impl Case {
    pub fn new(input: &mut Input, keep: Keep) -> Self {
        Case {
            limits: Limits { keep, line_rule: LineRule::Terminated, ..input.limits() },
            wording: input.pick(&[&ENGLISH, &CHINESE]),
            inside: input.flag(),
            size: input.below(512) + 1,
        }
    }

    /// Returns a buffer that the text was pushed into at once.
    pub fn window(&self, text: &[u8]) -> Window {
        let mut window = Window::new(&self.limits);
        window.push(text);
        window
    }

    /// Checks that the rendered text is within the limits, and the same if the text comes in chunks.
    pub fn check(&self, window: &Window, text: &[u8]) {
        let Case { limits, wording, inside, size } = *self;
        let mut pieces = Window::new(&limits);
        text.chunks(size).for_each(|piece| pieces.push(piece));
        let form = Form { limits, wording, inside, notice: None, room: &[], preview: None };
        let circumstances = Circumstances { path: "/data/x.txt".to_owned(), ..Default::default() };
        let made = render(window, Source::Text, &form, &circumstances);
        assert_eq!(render(&pieces, Source::Text, &form, &circumstances), made);
        let bound = if inside { &made.content } else { &made.content[made.preview.clone()] };
        assert!(bound.len() as u64 <= limits.max_bytes, "{bound}");
        assert!(bound.lines().count() as u64 <= limits.max_lines, "{bound}");
    }
}
