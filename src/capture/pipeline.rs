//! The pipeline of one output: counts it, keeps the ends that may be shown, and saves it, piece by piece. An output
//! that comes in a thousand chunks gives the same result as one that comes whole.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capture::bounded_buffer::{BoundedBuffer, units};
use crate::error::{Code, Error, Result, os_reason};
use crate::redaction::redactor::{Redactor, Rules};
use crate::storage::head_tail_file::Collection;
use crate::storage::open_store::OpenStore;
use crate::storage::read::{Joined, Unfinished, unreadable};
use crate::storage::save::{Save, SaveError, SaveRequest, Saved};
use crate::text::lines::LineRule;
use crate::text::lossy::Source;
use crate::text::omitted_range::OmittedRange;
use crate::text::utf16::Encoder;
use crate::truncation::head_tail::fits;
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::notice::{Circumstances, Wording};
use crate::truncation::preview_buffer::Window;
use crate::truncation::render::{Foreign, Form, Rendered, render};
use crate::truncation::smart::Query;
use crate::truncation::smart::rules::Rules as SmartRules;

/// Number of units that are transcoded, scanned and written before the next: small enough to stay in the CPU cache.
const PIECE: usize = 64 * 1024;

/// The pipeline of one output.
#[derive(Debug)]
pub struct Intake {
    limits: Limits,
    /// The end that is shown if the call turns out to have failed.
    if_failed: Direction,
    source: Source,
    encoder: Encoder,
    scratch: Vec<u8>,
    window: Window,
    hold: Option<BoundedBuffer>,
    redactor: Option<Redactor>,
    keep: Keep,
    collected: Vec<u8>,
    outcome: Outcome,
}

/// Destination of the full output.
#[derive(Debug)]
enum Keep {
    Nowhere,
    Disk(Box<Save>),
    /// Collected in memory, for a custom storage that takes it as a whole.
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

/// The fate of the full output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// The reason why nothing was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_error: Option<SaveError>,
    /// The output collected for a custom storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<Collected>,
}

/// An output collected in memory for a custom storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Collected {
    pub bytes: u64,
    /// Number of redacted secrets; `None` without rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
    /// The part of the output that was collected, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<OmittedRange>,
}

/// Facts that the notice states.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RenderRequest {
    pub failed: bool,
    /// The hard ceiling in bytes that overruled the tool's own setting.
    pub ceiling: Option<u64>,
    /// Path at which a custom storage saved the output.
    pub path: Option<String>,
    /// The part of the output that the custom storage saved, if not all.
    pub part: Option<OmittedRange>,
    /// The reason why a custom storage did not save the output.
    pub lost: Option<String>,
    /// A notice that replaces the default one.
    pub notice: Option<String>,
    /// Notices of earlier previews that were in the output and are not in this preview.
    pub earlier: Option<String>,
    /// Other notices that must fit beside the same preview.
    pub room: Vec<String>,
    /// A preview made by a custom strategy.
    pub preview: Option<String>,
    /// Number of lines that the custom strategy removed.
    pub removed_lines: Option<u64>,
    /// Number of bytes that the custom strategy removed.
    pub removed_bytes: Option<u64>,
}

/// The settings of a service for rendering.
#[derive(Debug, Clone)]
pub struct Style {
    pub wording: &'static Wording,
    /// True if the notice counts towards the limits.
    pub notice_inside: bool,
    /// The tools that a notice may name.
    pub available_tools: Vec<String>,
}

impl Intake {
    /// Creates a pipeline for an output that is truncated to `limits`, and saved unless `save` is `None`.
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

    /// Keeps everything in memory and off the disk while the output can be within these limits. An output that stays
    /// within them is not truncated: [`Intake::whole`] returns all of it.
    #[must_use]
    pub fn holding(self, limits: Limits) -> Self {
        Intake { hold: Some(BoundedBuffer::new(limits)), ..self }
    }

    /// Keeps the other end too, in case the call turns out to have failed. Must be called before the first bytes.
    pub fn turn_if_failed(&mut self, direction: Direction) {
        self.if_failed = direction;
        self.window = self.fresh_window(None, None);
    }

    /// Creates a preview buffer that retains everything that rendering may need.
    fn fresh_window(&self, rules: Option<Arc<SmartRules>>, query: Option<Arc<Query>>) -> Window {
        let is_sure = self.if_failed == self.limits.direction;
        let direction = if is_sure { self.if_failed } else { Direction::Both };
        Window::judging(&Limits { direction, ..self.limits }, rules, query)
    }

    /// Redacts secrets in the saved or collected output. The preview is not redacted.
    pub fn redact(&mut self, rules: Arc<Rules>) {
        self.redactor.get_or_insert_default().add(rules);
    }

    /// Selects lines by these rules, those by default if there are none, and by a question. Must be called before the first
    /// bytes.
    pub fn judge_by(&mut self, rules: Option<Arc<SmartRules>>, query: Option<Arc<Query>>) {
        self.window = self.fresh_window(rules, query);
    }

    /// Saves only the first and the last part of an output with more than `max_bytes` bytes.
    pub fn keep_at_most(&mut self, max_bytes: u64) {
        self.keep = match self.keep.take() {
            Keep::Nowhere => Keep::Nowhere,
            Keep::Disk(save) => Keep::Disk(Box::new(save.with_limit(max_bytes))),
            Keep::Memory(collection) => Keep::Memory(collection.with_limit(max_bytes)),
        };
    }

    /// Collects in memory instead of saving, for a storage that takes the output as a whole.
    #[must_use]
    pub fn collecting(self) -> Self {
        Intake { keep: Keep::Memory(Collection::default()), ..self }
    }

    /// Returns the collected bytes.
    pub fn collected(&self) -> &[u8] {
        &self.collected
    }

    /// Returns the collected bytes and clears them.
    pub fn take_collected(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.collected)
    }

    /// Declares that bytes from outside came in, so that malformed ones are shown as such.
    pub fn saw_bytes(&mut self) {
        self.source = Source::Bytes;
    }

    /// Takes the next UTF-16 code units of a text.
    pub fn push_units(&mut self, units: &[u16]) {
        for piece in units.chunks(PIECE) {
            let mut bytes = std::mem::take(&mut self.scratch);
            bytes.clear();
            self.encoder.push(piece, &mut bytes);
            self.take(&bytes);
            self.scratch = bytes;
        }
    }

    /// Takes the next bytes; those of a text are WTF-8.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.end_units();
        self.take(bytes);
    }

    /// Writes a high surrogate whose other half did not follow as a lone one.
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

    /// Ends buffering: the output has become too long.
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

    /// Records the first error of saving, after which nothing more is saved.
    fn note(&mut self, kept: std::result::Result<(), SaveError>) {
        if let Err(error) = kept {
            self.keep = Keep::Nowhere;
            self.redactor = None;
            self.outcome.save_error = Some(error);
        }
    }

    /// Ends saving and collecting.
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

    /// Ends the output: the saved file becomes visible.
    pub fn finish(&mut self) -> &Outcome {
        self.end_units();
        match &self.hold {
            Some(hold) if hold.fits(self.source) => {
                // The rules are kept for later readers of the file.
                self.keep = Keep::Nowhere;
                return &self.outcome;
            }
            Some(_) => self.spill(),
            None => {}
        }
        self.close();
        &self.outcome
    }

    /// Discards the output, and the file if it is not visible yet.
    pub fn abandon(&mut self) {
        self.keep = Keep::Nowhere;
        self.release();
    }

    /// Releases the memory that is held for rendering.
    pub fn release(&mut self) {
        self.hold = None;
        self.window = self.fresh_window(None, None);
    }

    /// Returns a reader of the output so far, as it would be saved.
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

    /// Returns true if the whole output is within its limits in the form in which it is shown.
    pub fn fits(&self) -> bool {
        match &self.hold {
            Some(hold) => hold.fits(self.source),
            None => fits(&self.window.ended(), self.source, &self.limits),
        }
    }

    /// Returns true if the whole output is held in memory and nothing is saved.
    pub fn is_held(&self) -> bool {
        self.hold.is_some()
    }

    /// Returns the whole text in UTF-16 if it is within the limits: as it came, or as a terminal would show it.
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

    /// Returns the number of bytes and lines so far.
    pub fn size(&self) -> (u64, u64) {
        if let Some(hold) = &self.hold {
            return hold.size();
        }
        let totals = self.window.raw_totals();
        let lines =
            LineRule::Terminated.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
        (totals.bytes, lines)
    }

    /// Renders the text for the model.
    pub fn render(&self, style: &Style, request: &RenderRequest) -> Rendered {
        let saved = self.outcome.saved.as_ref();
        let part = request.part.or_else(|| saved.and_then(|saved| saved.part));
        // An output that a custom storage rejected is not available here either.
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
