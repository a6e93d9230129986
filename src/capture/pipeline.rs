//! One output on its way through: counted, kept at the ends that may be shown, and saved, piece by piece. A text that
//! arrives in a thousand pieces gives the same result as one that arrives whole.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capture::bounded_buffer::{Hold, units};
use crate::error::{Code, Error, Result, os_reason};
use crate::storage::head_tail_file::Collection;
use crate::storage::omitted_range::Part;
use crate::storage::open_store::OpenStore;
use crate::storage::read::{Joined, Unfinished, unreadable};
use crate::storage::redact::{Redactor, Rules};
use crate::storage::save::{Save, SaveError, SaveRequest, Saved};
use crate::text::lines::LineRule;
use crate::text::lossy::Source;
use crate::text::utf16::Encoder;
use crate::truncation::head_tail::fits;
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::notice::{Circumstances, Wording};
use crate::truncation::preview_buffer::Window;
use crate::truncation::render::{Foreign, Form, Rendered, render};
use crate::truncation::smart::rules::Rules as SmartRules;

/// Units that are transcoded, looked at and written before the next: small enough to stay in the processor's cache.
const PIECE: usize = 64 * 1024;

/// An output that is coming in.
#[derive(Debug)]
pub struct Intake {
    limits: Limits,
    /// Which end is shown once the call turns out to have failed.
    if_failed: Direction,
    source: Source,
    encoder: Encoder,
    scratch: Vec<u8>,
    window: Window,
    hold: Option<Hold>,
    redactor: Option<Redactor>,
    keep: Keep,
    collected: Vec<u8>,
    outcome: Outcome,
}

/// Where the full output goes.
#[derive(Debug)]
enum Keep {
    Nowhere,
    Disk(Box<Save>),
    /// For a storage of the caller's that takes it as a whole.
    Memory(Collection),
}

impl Keep {
    fn write(&mut self, bytes: &[u8]) -> std::result::Result<(), SaveError> {
        match self {
            Keep::Nowhere => Ok(()),
            Keep::Disk(save) => save.write(bytes),
            Keep::Memory(collection) => collection.push(bytes).map_err(uncollected),
        }
    }

    fn take(&mut self) -> Keep {
        std::mem::replace(self, Keep::Nowhere)
    }
}

fn uncollected(error: io::Error) -> SaveError {
    let (code, message) = (Code::StorageWrite.as_str(), os_reason(&error));
    SaveError { code, message, attempts: Vec::new() }
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
    /// What is ready for a storage of the caller's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<Collected>,
}

/// What was collected in memory for a storage of the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Its bytes.
    pub bytes: u64,
    /// How many secrets were redacted, if there were rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
    /// What of the output it is, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
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
    /// What of the output is there, if that storage took only a part.
    pub part: Option<Part>,
    /// Why a storage of the caller's did not take it.
    pub lost: Option<String>,
    /// A notice to use instead of ours.
    pub notice: Option<String>,
    /// Notices of earlier previews that stood in the output and were cut off.
    pub earlier: Option<String>,
    /// Others that there must be room for beside the same text.
    pub room: Vec<String>,
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
    pub fn new(
        limits: Limits,
        source: Source,
        save: Option<(Arc<OpenStore>, SaveRequest)>,
    ) -> Self {
        let keep = match save {
            Some((store, request)) => Keep::Disk(Box::new(Save::new(store, request))),
            None => Keep::Nowhere,
        };
        Intake {
            limits,
            if_failed: limits.direction,
            source,
            encoder: Encoder::default(),
            scratch: Vec::new(),
            window: Window::new(&limits),
            hold: None,
            redactor: None,
            keep,
            collected: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    /// Keeps everything in memory and off the disk as long as the output can be within these limits. An output that stays
    /// within them has nothing to be cut: [`Intake::whole`] is all of it.
    #[must_use]
    pub fn holding(self, limits: Limits) -> Self {
        Intake { hold: Some(Hold::new(limits)), ..self }
    }

    /// Is ready to show another end, should it turn out at the end that the call failed. To be said before anything comes in.
    pub fn turn_if_failed(&mut self, direction: Direction) {
        self.if_failed = direction;
        self.window = self.fresh_window(None);
    }

    /// Remembers of the text whatever may be asked for.
    fn fresh_window(&self, rules: Option<Arc<SmartRules>>) -> Window {
        let is_sure = self.if_failed == self.limits.direction;
        let direction = if is_sure { self.if_failed } else { Direction::Both };
        Window::judging(&Limits { direction, ..self.limits }, rules)
    }

    /// Takes the secrets out of what is saved or collected. What is shown of the output stays as it is.
    pub fn redact(&mut self, rules: Arc<Rules>) {
        self.redactor.get_or_insert_default().add(rules);
    }

    /// Looks for what matters by these rules. To be said before anything comes in.
    pub fn judge_by(&mut self, rules: Arc<SmartRules>) {
        self.window = self.fresh_window(Some(rules));
    }

    /// Keeps only the first and the last part of an output that has more bytes than this.
    pub fn keep_at_most(&mut self, most: u64) {
        self.keep = match self.keep.take() {
            Keep::Nowhere => Keep::Nowhere,
            Keep::Disk(save) => Keep::Disk(Box::new(save.with_most(most))),
            Keep::Memory(collection) => Keep::Memory(collection.with_most(most)),
        };
    }

    /// Collects in memory what would be saved, instead of saving it, for a storage that takes it as a whole.
    #[must_use]
    pub fn collecting(self) -> Self {
        Intake { keep: Keep::Memory(Collection::default()), ..self }
    }

    /// What was collected.
    pub fn collected(&self) -> &[u8] {
        &self.collected
    }

    /// What was collected, once.
    pub fn take_collected(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.collected)
    }

    /// Says that bytes from outside came in, so that what is not well-formed is shown as such.
    pub fn saw_bytes(&mut self) {
        self.source = Source::Bytes;
    }

    /// Takes the next UTF-16 units of a text.
    pub fn push_units(&mut self, units: &[u16]) {
        for piece in units.chunks(PIECE) {
            let mut bytes = std::mem::take(&mut self.scratch);
            bytes.clear();
            self.encoder.push(piece, &mut bytes);
            self.take(&bytes);
            self.scratch = bytes;
        }
    }

    /// Takes the next bytes: of a text, its WTF-8.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.end_units();
        self.take(bytes);
    }

    /// Half a pair whose other half did not follow stays alone.
    fn end_units(&mut self) {
        if !self.encoder.is_between_characters() {
            let mut rest = Vec::new();
            self.encoder.finish(&mut rest);
            self.take(&rest);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
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
        let Intake { redactor, keep, .. } = self;
        let kept = match redactor {
            Some(redactor) => redactor.push(bytes, |bytes| keep.write(bytes)),
            None => keep.write(bytes),
        };
        self.note(kept);
    }

    /// Once it could not be kept, nothing more is tried.
    fn note(&mut self, kept: std::result::Result<(), SaveError>) {
        if let Err(error) = kept {
            self.keep = Keep::Nowhere;
            self.redactor = None;
            self.outcome.save_error = Some(error);
        }
    }

    /// Ends what is saved and collected.
    fn close(&mut self) {
        self.window.finish();
        let mut redactions = None;
        if let Some(mut redactor) = self.redactor.take() {
            let kept = redactor.finish(|bytes| self.keep.write(bytes));
            redactions = Some(redactor.count());
            self.note(kept);
        }
        let closed = match self.keep.take() {
            Keep::Nowhere => Ok(()),
            Keep::Disk(save) => save.publish().map(|saved| {
                self.outcome.saved = Some(Saved { redactions, ..saved });
            }),
            Keep::Memory(collection) => collection.finish().map_err(uncollected).map(|all| {
                let (bytes, part) = all;
                let collected = Collected { bytes: bytes.len() as u64, redactions, part };
                self.outcome.collected = Some(collected);
                self.collected = bytes;
            }),
        };
        self.note(closed);
    }

    /// Ends the output: what was saved becomes visible.
    pub fn finish(&mut self) -> &Outcome {
        self.end_units();
        match &self.hold {
            Some(hold) if hold.fits(self.source) => {
                // The rules stay, for whoever reads it.
                self.keep = Keep::Nowhere;
                return &self.outcome;
            }
            Some(_) => self.spill(),
            None => {}
        }
        self.close();
        &self.outcome
    }

    /// Forgets the output, and the file if it is not visible yet.
    pub fn abandon(&mut self) {
        self.keep = Keep::Nowhere;
        self.release();
    }

    /// Gives back the memory that is held for rendering.
    pub fn release(&mut self) {
        self.hold = None;
        self.window = self.fresh_window(None);
    }

    /// What came so far, as it would be saved.
    pub fn reader(&self) -> Result<Unfinished> {
        match (&self.hold, &self.keep, &self.outcome.save_error) {
            (Some(hold), ..) => Ok(Unfinished::of(match &self.redactor {
                Some(redactor) => redactor.rest(hold.bytes()),
                None => hold.bytes().to_vec(),
            })),
            (None, Keep::Disk(save), _) => {
                let saved = save.reader().map_err(unreadable)?;
                let Some(redactor) = self.redactor.as_ref().filter(|_| !saved.incomplete) else {
                    return Ok(saved);
                };
                let Unfinished { file, bytes, incomplete } = saved;
                let rest = redactor.rest(&[]);
                let all = bytes + rest.len() as u64;
                let file = Box::new(Joined::new(file, bytes, rest));
                Ok(Unfinished { file, bytes: all, incomplete })
            }
            (None, _, Some(error)) => Err(Error::new(
                Code::StorageNotFound,
                format!("the output is not kept: {}", error.message),
            )),
            (None, _, None) => Err(Error::new(Code::StorageNotFound, "the output is not kept")),
        }
    }

    /// Whether the whole output keeps its limits as it will be shown.
    pub fn fits(&self) -> bool {
        match &self.hold {
            Some(hold) => hold.fits(self.source),
            None => fits(&self.window.ended(), self.source, &self.limits),
        }
    }

    /// Whether all of it is held, and nothing is saved.
    pub fn is_held(&self) -> bool {
        self.hold.is_some()
    }

    /// The whole text in UTF-16 units, if it keeps the limits: what is still held, or what a terminal would show.
    pub fn whole(&self) -> Option<Vec<u16>> {
        match &self.hold {
            Some(hold) if hold.fits(self.source) => Some(hold.units(self.source)),
            None if self.limits.terminal => {
                let window = self.window.ended();
                let text = window.all().filter(|_| fits(&window, self.source, &self.limits));
                text.map(|text| units(text, self.source))
            }
            _ => None,
        }
    }

    /// Bytes and lines so far.
    pub fn size(&self) -> (u64, u64) {
        if let Some(hold) = &self.hold {
            return hold.size();
        }
        let totals = self.window.raw_totals();
        let lines =
            LineRule::Terminated.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
        (totals.bytes, lines)
    }

    /// The text for the model.
    pub fn render(&self, style: &Style, request: &RenderRequest) -> Rendered {
        let saved = self.outcome.saved.as_ref();
        let part = request.part.or_else(|| saved.and_then(|saved| saved.part));
        // What a storage of the caller's did not take is not kept here either.
        let saved = saved.filter(|_| request.lost.is_none()).map(|saved| saved.path.clone());
        let path = request.path.clone().or(saved).unwrap_or_default();
        let lost = request
            .lost
            .clone()
            .or_else(|| self.outcome.save_error.as_ref().map(|error| error.message.clone()));
        let circumstances = Circumstances {
            failed: request.failed,
            lost: lost.filter(|_| path.is_empty()),
            path,
            part,
            ceiling: request.ceiling,
            tools: style.available_tools.clone(),
            foreign: request.preview.is_some(),
            earlier: request.earlier.clone(),
        };
        let direction = if request.failed { self.if_failed } else { self.limits.direction };
        let limits = Limits { direction, ..self.limits };
        let form = Form {
            limits,
            wording: style.wording,
            inside: style.notice_inside,
            notice: request.notice.as_deref(),
            room: &request.room,
            preview: request.preview.as_deref().map(|text| Foreign {
                text,
                removed_lines: request.removed_lines,
                removed_bytes: request.removed_bytes,
            }),
        };
        let window = match &self.hold {
            Some(hold) => Cow::Owned(hold.window(&limits)),
            None => self.window.ended(),
        };
        render(&window, self.source, &form, &circumstances)
    }
}

#[cfg(test)]
mod tests;
