//! One output on its way through: counted, kept at the ends that may be shown, and saved, piece by piece. A text that
//! arrives in a thousand pieces gives the same result as one that arrives whole.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capture::hold::Hold;
use crate::error::{Code, Error, Result};
use crate::store::opened::OpenStore;
use crate::store::part::{Collection, Part};
use crate::store::read::{Joined, Unfinished, unreadable};
use crate::store::redact::{Redactor, Rules};
use crate::store::save::{Save, SaveError, SaveRequest, Saved};
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
    redactor: Option<Redactor>,
    save: Option<Save>,
    collection: Option<Collection>,
    collected: Vec<u8>,
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
        let save = save.map(|(store, request)| Save::new(store, request));
        Intake {
            limits,
            source,
            encoder: Encoder::default(),
            scratch: Vec::new(),
            window: Window::new(&limits),
            hold: None,
            redactor: None,
            save,
            collection: None,
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

    /// Takes the secrets out of what is saved or collected. What is shown of the output stays as it is.
    pub fn redact(&mut self, rules: Arc<Rules>) {
        self.redactor.get_or_insert_default().add(rules);
    }

    /// Keeps only the first and the last part of an output that has more bytes than this.
    pub fn keep_at_most(&mut self, most: u64) {
        self.save = self.save.take().map(|save| save.with_most(most));
        self.collection = self.collection.take().map(|collection| collection.with_most(most));
    }

    /// Collects what would be saved in memory, for a storage that takes it as a whole.
    #[must_use]
    pub fn collecting(self) -> Self {
        Intake { collection: Some(Collection::default()), ..self }
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
        let Intake { redactor, save, collection, .. } = self;
        let mut keep = |bytes: &[u8]| keep(save, collection, bytes);
        let kept = match redactor {
            Some(redactor) => redactor.push(bytes, keep),
            None => keep(bytes),
        };
        self.note(kept);
    }

    /// Once nothing could be saved, nothing more is tried.
    fn note(&mut self, kept: std::result::Result<(), SaveError>) {
        if let Err(error) = kept {
            self.save = None;
            self.redactor = None;
            self.outcome.save_error = Some(error);
        }
    }

    /// Ends what is saved and collected.
    fn close(&mut self) {
        let mut redactions = None;
        if let Some(mut redactor) = self.redactor.take() {
            let Intake { save, collection, .. } = self;
            let kept = redactor.finish(|bytes| keep(save, collection, bytes));
            redactions = Some(redactor.count());
            self.note(kept);
        }
        match self.save.take().map(Save::publish) {
            Some(Ok(saved)) => self.outcome.saved = Some(Saved { redactions, ..saved }),
            Some(Err(error)) => self.outcome.save_error = Some(error),
            None => {}
        }
        if let Some(collection) = self.collection.take() {
            let (bytes, part) = collection.finish();
            self.outcome.collected =
                Some(Collected { bytes: bytes.len() as u64, redactions, part });
            self.collected = bytes;
        }
    }

    /// Ends the output: what was saved becomes visible.
    pub fn finish(&mut self) -> &Outcome {
        self.end_units();
        match &self.hold {
            Some(hold) if hold.fits(self.source) => {
                // The rules stay, for whoever reads it.
                (self.save, self.collection) = (None, None);
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
        self.hold = None;
        self.save = None;
        self.collection = None;
        self.window = Window::new(&self.limits);
    }

    /// What came so far, as it would be saved.
    pub fn reader(&self) -> Result<Unfinished> {
        match (&self.hold, &self.save, &self.outcome.save_error) {
            (Some(hold), ..) => Ok(Unfinished::of(self.redacted(hold.bytes()))),
            (None, Some(save), _) => {
                let saved = save.reader().map_err(unreadable)?;
                let Some(redactor) = self.redactor.as_ref().filter(|_| !saved.incomplete) else {
                    return Ok(saved);
                };
                let Unfinished { file, bytes, incomplete } = saved;
                let rest = redactor.rest();
                let all = bytes + rest.len() as u64;
                let file = Box::new(Joined::new(file, bytes, rest));
                Ok(Unfinished { file, bytes: all, incomplete })
            }
            (None, None, Some(error)) => Err(Error::new(
                Code::StorageNotFound,
                format!("the output is not kept: {}", error.message),
            )),
            (None, None, None) => Err(Error::new(Code::StorageNotFound, "the output is not kept")),
        }
    }

    fn redacted(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(mut redactor) = self.redactor.clone() else { return bytes.to_vec() };
        let mut out = Vec::with_capacity(bytes.len());
        let mut write = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = redactor.push(bytes, &mut write);
        let Ok(()) = redactor.finish(&mut write);
        out
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
        let saved = self.outcome.saved.as_ref();
        let part = request.part.or_else(|| saved.and_then(|saved| saved.part));
        let saved = saved.map(|saved| saved.path.clone());
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

fn keep(
    save: &mut Option<Save>,
    collection: &mut Option<Collection>,
    bytes: &[u8],
) -> std::result::Result<(), SaveError> {
    if let Some(collection) = collection {
        collection.push(bytes);
    }
    save.as_mut().map_or(Ok(()), |save| save.write(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::places::{Durability, Places};
    use crate::truncate::limits::Direction;
    use crate::truncate::notice::ENGLISH;
    use proptest::prelude::*;
    use std::io::Read;

    fn style() -> Style {
        Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() }
    }

    #[test]
    fn what_stays_within_limits_never_touches_the_disk() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("outputs");
        let places = Places { dirs: vec![dir.clone()], durability: Durability::Process };
        let store = Arc::new(OpenStore::new(places));
        let request = SaveRequest { tool: "x".to_owned(), ..SaveRequest::default() };
        let limits = Limits {
            max_lines: 3,
            max_bytes: 20,
            direction: Direction::Tail,
            line_rule: LineRule::Terminated,
        };
        let open = || {
            let save = Some((Arc::clone(&store), request.clone()));
            Intake::new(limits, Source::Text, save).holding(limits)
        };

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

    #[test]
    fn what_is_shown_is_never_redacted_and_what_is_kept_always() {
        let (_root, store) = crate::store::fixture::store();
        let limits = Limits {
            max_lines: 2,
            max_bytes: 100,
            direction: Direction::Head,
            line_rule: LineRule::Terminated,
        };
        let rules = Rules::new(&[], &["hunter2".to_owned()], false).unwrap();
        let text = format!("it is hunter2\n{}it was hunter2\n", "filler\n".repeat(2000));
        let mut saved = Intake::new(limits, Source::Text, Some((store, SaveRequest::default())));
        saved.redact(Arc::new(rules));
        saved.keep_at_most(4096);
        let mut saved = saved.collecting();
        saved.push_bytes(text.as_bytes());
        let outcome = saved.finish().clone();
        let (file, collected) = (outcome.saved.unwrap(), outcome.collected.unwrap());
        let held = std::fs::read_to_string(&file.path).unwrap();
        assert!(held.starts_with("it is *******\n") && held.ends_with("\nit was *******\n"));
        let part = file.part.unwrap();
        assert_eq!((file.redactions, file.bytes), (Some(2), held.len() as u64));
        assert!(held.len() <= 4096 && part.total_bytes() == text.len() as u64);
        assert_eq!((collected.redactions, collected.part), (Some(2), None));
        assert_eq!(saved.take_collected(), text.replace("hunter2", "*******").into_bytes());
        let shown = saved.render(&style(), &RenderRequest::default()).content;
        assert!(
            shown.starts_with("it is hunter2\n") && shown.contains("its 14029 bytes"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_read_while_it_comes_in_is_what_would_be_saved() {
        let limits = Limits {
            max_lines: 2,
            max_bytes: 100,
            direction: Direction::Head,
            line_rule: LineRule::Terminated,
        };
        let (_root, store) = crate::store::fixture::store();
        let rules = Rules::new(&[], &["hunter2".to_owned()], false).unwrap();
        let mut intake = Intake::new(limits, Source::Text, Some((store, SaveRequest::default())))
            .holding(limits);
        intake.redact(Arc::new(rules));
        intake.keep_at_most(1 << 20);
        let read = |intake: &Intake| {
            let Unfinished { file, bytes, incomplete } = intake.reader().unwrap();
            let mut text = String::new();
            file.take(bytes).read_to_string(&mut text).unwrap();
            (text, incomplete)
        };
        let (mut text, line) = (String::new(), "it is hunter2\n");
        for lines in [1, 10, 40_000, 7, 80_000] {
            let more = line.repeat(lines);
            intake.push_bytes(more.as_bytes());
            text.push_str(&more.replace("hunter2", "*******"));
            let whole = text.len() <= 1 << 20;
            let (seen, incomplete) = read(&intake);
            assert!(text.starts_with(&seen) && incomplete != whole, "{}", text.len());
            assert_eq!(seen.len(), if whole { text.len() } else { 1 << 19 });
        }
    }

    #[test]
    fn half_a_pair_stays_before_the_bytes_that_follow_it() {
        let limits = Limits {
            max_lines: 3,
            max_bytes: 20,
            direction: Direction::Head,
            line_rule: LineRule::Terminated,
        };
        let mut intake = Intake::new(limits, Source::Text, None).holding(limits);
        intake.push_units(&[0x61, 0xd83d]);
        intake.push_bytes(b"b");
        intake.push_units(&[0xde00]);
        intake.finish();
        assert_eq!(intake.whole(), Some(vec![0x61, 0xd83d, 0x62, 0xde00]));
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
