//! One output on its way through: counted, kept at the ends that may be shown, and saved, piece by piece. A text that
//! arrives in a thousand pieces gives the same result as one that arrives whole.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capture::hold::Hold;
use crate::store::lease::Leases;
use crate::store::places::Places;
use crate::store::save::{Save, SaveError, Saved};
use crate::text::lines::LineRule;
use crate::text::shown::Source;
use crate::text::utf16::Encoder;
use crate::truncate::cut::fits;
use crate::truncate::limits::Limits;
use crate::truncate::notice::{Circumstances, Wording};
use crate::truncate::render::{Foreign, Form, Rendered, render};
use crate::truncate::window::Window;

/// Units that are transcoded, looked at and written before the next: small enough to stay in the processor's cache.
const PIECE: usize = 64 * 1024;

/// An output that is coming in.
#[derive(Debug)]
pub struct Intake {
    limits: Limits,
    source: Source,
    encoder: Encoder,
    scratch: Vec<u8>,
    window: Window,
    hold: Option<Hold>,
    save: Option<Save>,
    outcome: Outcome,
}

/// What became of the full output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The saved file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_error: Option<SaveError>,
}

/// Where and under which names an output is saved.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveRequest {
    /// The tool's name; any text.
    pub tool: String,
    /// The session's id in UTF-16 units, because it need not be well-formed.
    pub session: Option<Vec<u16>>,
    /// Milliseconds since the epoch.
    pub now_ms: u64,
}

/// What the text around a cut should say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RenderRequest {
    /// The call failed.
    pub failed: bool,
    /// The ceiling that overruled the tool's wish.
    pub ceiling: Option<u64>,
    /// Where a storage of the caller's put the output.
    pub path: Option<String>,
    /// Why a storage of the caller's did not take it.
    pub lost: Option<String>,
    /// A notice to use instead of ours.
    pub notice: Option<String>,
    /// A preview that a strategy of the caller's made.
    pub preview: Option<String>,
    /// What that strategy said about lines.
    pub removed_lines: Option<u64>,
    /// What that strategy said about bytes.
    pub removed_bytes: Option<u64>,
}

/// The settings of a service that a text is put together by.
#[derive(Debug, Clone)]
pub struct Style {
    /// The words.
    pub wording: &'static Wording,
    /// Whether the whole text keeps the limits.
    pub notice_inside: bool,
    /// The tools that a notice may name.
    pub available_tools: Vec<String>,
}

impl Intake {
    /// An output that will be cut within these limits, and saved unless `save` is `None`.
    pub fn new(limits: Limits, source: Source, save: Option<(Places, SaveRequest)>) -> Self {
        let save = save.map(|(places, request)| {
            Save::new(places, request.session.as_deref(), &request.tool, request.now_ms)
        });
        Intake {
            limits,
            source,
            encoder: Encoder::default(),
            scratch: Vec::new(),
            window: Window::new(&limits),
            hold: None,
            save,
            outcome: Outcome::default(),
        }
    }

    /// Keeps everything in memory and off the disk as long as the output can be within these limits. An output that stays
    /// within them has nothing to be cut: [`Intake::whole`] is all of it.
    #[must_use]
    pub fn holding(self, limits: Limits) -> Self {
        Intake { hold: Some(Hold::new(limits)), ..self }
    }

    /// Says that bytes from outside came in, so that what is not well-formed is shown as such.
    pub fn saw_bytes(&mut self) {
        self.source = Source::Bytes;
    }

    /// Holds the lease of the session that the output is saved for.
    pub fn hold_leases(&mut self, leases: Arc<Leases>) {
        self.save = self.save.take().map(|save| save.with_leases(leases));
    }

    /// Takes the next UTF-16 units of a text.
    pub fn push_units(&mut self, units: &[u16]) {
        for piece in units.chunks(PIECE) {
            let mut bytes = std::mem::take(&mut self.scratch);
            bytes.clear();
            self.encoder.push(piece, &mut bytes);
            self.push_bytes(&bytes);
            self.scratch = bytes;
        }
    }

    /// Takes the next bytes: of a text, its WTF-8.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if let Some(hold) = &mut self.hold {
            if hold.take(bytes) {
                return;
            }
            self.spill();
        }
        self.pass_on(bytes);
    }

    /// What was held turned out to be too long.
    fn spill(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.pass_on(hold.bytes());
        }
    }

    fn pass_on(&mut self, bytes: &[u8]) {
        self.window.push(bytes);
        if let Some(save) = &mut self.save
            && let Err(error) = save.write(bytes)
        {
            self.save = None;
            self.outcome.save_error = Some(error);
        }
    }

    /// Ends the output: what was saved becomes visible.
    pub fn finish(&mut self) -> &Outcome {
        let mut rest = Vec::new();
        self.encoder.finish(&mut rest);
        self.push_bytes(&rest);
        match &self.hold {
            Some(hold) if hold.fits(self.source) => self.save = None,
            Some(_) => self.spill(),
            None => {}
        }
        match self.save.take().map(Save::publish) {
            Some(Ok(saved)) => self.outcome.saved = Some(saved),
            Some(Err(error)) => self.outcome.save_error = Some(error),
            None => {}
        }
        &self.outcome
    }

    /// Forgets the output, and the file if it is not visible yet.
    pub fn abandon(&mut self) {
        self.hold = None;
        self.save = None;
        self.window = Window::new(&self.limits);
    }

    /// Whether the whole output keeps its limits as it will be shown.
    pub fn fits(&self) -> bool {
        match &self.hold {
            Some(hold) => hold.fits(self.source),
            None => fits(&self.window, self.source, &self.limits),
        }
    }

    /// The whole output in UTF-16 units, if it is still held.
    pub fn whole(&self) -> Option<Vec<u16>> {
        self.hold.as_ref().map(|hold| hold.units(self.source))
    }

    /// Bytes and lines so far.
    pub fn size(&self) -> (u64, u64) {
        if let Some(hold) = &self.hold {
            return hold.size();
        }
        let totals = self.window.totals();
        let lines =
            LineRule::Terminated.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
        (totals.bytes, lines)
    }

    /// The text for the model.
    pub fn render(&self, style: &Style, request: &RenderRequest) -> Rendered {
        let saved = self.outcome.saved.as_ref().map(|saved| saved.path.clone());
        let path = request.path.clone().or(saved).unwrap_or_default();
        let lost = request
            .lost
            .clone()
            .or_else(|| self.outcome.save_error.as_ref().map(|error| error.message.clone()));
        let circumstances = Circumstances {
            failed: request.failed,
            lost: lost.filter(|_| path.is_empty()),
            path,
            ceiling: request.ceiling,
            tools: style.available_tools.clone(),
            foreign: request.preview.is_some(),
        };
        let form = Form {
            limits: self.limits,
            wording: style.wording,
            inside: style.notice_inside,
            notice: request.notice.as_deref(),
            preview: request.preview.as_deref().map(|text| Foreign {
                text,
                removed_lines: request.removed_lines,
                removed_bytes: request.removed_bytes,
            }),
        };
        render(&self.window, self.source, &form, &circumstances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncate::limits::Direction;
    use crate::truncate::notice::ENGLISH;
    use proptest::prelude::*;

    fn style() -> Style {
        Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() }
    }

    #[test]
    fn what_stays_within_limits_never_touches_the_disk() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("outputs");
        let dirs = [dir.display().to_string()];
        let places = || Places::new(&dirs, crate::store::places::Durability::Process);
        let request = SaveRequest { tool: "x".to_owned(), session: None, now_ms: 5 };
        let limits = Limits {
            max_lines: 3,
            max_bytes: 20,
            direction: Direction::Tail,
            line_rule: LineRule::Terminated,
        };
        let open =
            || Intake::new(limits, Source::Text, Some((places(), request.clone()))).holding(limits);

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

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(
            text in "[a-c你\\n😀]{0,400}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            tail: bool,
        ) {
            let direction = if tail { Direction::Tail } else { Direction::Head };
            let limits = Limits { max_lines: 3, max_bytes: 20, direction, line_rule: LineRule::Terminated };
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
}
