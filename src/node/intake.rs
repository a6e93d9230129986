//! Bindings of the pipeline of one output. It works in stages: while the JavaScript thread copies a slice in, one
//! thread of the pool transcodes the previous slice, and another one writes the slice before that. Buffers are
//! recycled, so that no new memory is needed however long the output is.

use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, Either, External, Latin1String, Utf16String};
use napi::{Env, JsString};
use napi_derive::napi;
use serde::Deserialize;
use spillway_core::capture::pipeline::{Intake, RenderRequest, Style};
use spillway_core::error::Code;
use spillway_core::options::{limits_of, smart_rules};
use spillway_core::permission::shell::printed_form;
use spillway_core::storage::save::SaveRequest;
use spillway_core::text::lossy::Source;
use spillway_core::text::utf16;
use spillway_core::truncation::limits::{Direction, Limits};
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::render::Rendered;
use spillway_core::truncation::smart::Query;
use spillway_core::truncation::smart::rules::Rules;
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::intake_stages::{JOINED_LENGTH, Shared, Slice, spare};
use crate::json::{json, parse};
use crate::options::{SettingsHandle, lock as lock_settings};
use crate::storage::{PIECE_BYTES, ReaderHandle, StoreHandle, reader_over};
use crate::strings::{append_low_bytes, append_utf16};
use crate::task::{Job, run};

/// An output that is coming in.
pub type IntakeHandle = External<Arc<Shared>>;

/// Maximum length in bytes of a text assembled here: strings of the engine are limited to 512 MiB, and some of it is
/// the notice.
const MAX_TEXT_LENGTH: u64 = 511 << 20;

/// Bounds limits by the maximum length of a string.
fn as_one_string(limits: Limits) -> Limits {
    Limits { max_bytes: limits.max_bytes.min(MAX_TEXT_LENGTH), ..limits }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    limits: Limits,
    /// The end that is shown if the call turns out to have failed.
    if_failed: Option<Direction>,
    /// Holds the output in memory while it can be within these limits.
    hold: Option<Limits>,
    #[serde(default)]
    bytes: bool,
    /// Collects the output in memory, for a storage that takes it as a whole.
    #[serde(default)]
    collect: bool,
    save: Option<SaveRequest>,
    /// The question that lines may answer.
    query: Option<String>,
    /// The command that prints the output.
    command: Option<String>,
}

/// The text for the model, and the facts about it as JSON.
#[napi(object, object_from_js = false)]
pub struct Shortened {
    /// Preview and notice.
    #[napi(ts_type = "string")]
    pub content: Either<Latin1String, Utf16String>,
    /// The facts as JSON.
    pub facts: String,
}

/// The result of an output that has ended.
#[napi(object, object_from_js = false)]
pub struct Finished {
    /// The fate of the full output, as JSON.
    pub outcome: String,
    /// True if the output is within its limits in the form in which it is shown.
    pub fits: bool,
    /// Length of the whole output in bytes.
    pub bytes: f64,
    /// The whole output, if it was held in memory and is within its limits; or the text that a terminal would show of
    /// it, if that was requested and is within them.
    #[napi(ts_type = "string")]
    pub whole: Option<Utf16String>,
    /// True if it was held in memory, so that nothing of it is saved.
    pub held: bool,
    /// The text for the model, if it was requested and the output had to be truncated.
    pub shortened: Option<Shortened>,
}

/// Prepares a pipeline without accessing the disk. Saves into `store` if the request has names for the file.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn intake_open(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    request: String,
    #[napi(ts_arg_type = "object | undefined")] store: Option<&StoreHandle>,
) -> Result<IntakeHandle> {
    let mut request: Request = parse(&request)?;
    let query = request.query.as_deref().and_then(Query::new);
    // A question is about lines, whatever they are part of.
    if let Some(command) = request.command.as_deref().filter(|_| query.is_none()) {
        request.limits.keep = request.limits.keep.knowing(printed_form(command));
    }
    let buffers = Arc::clone(&settings.buffers);
    let settings = lock_settings(settings);
    let style = Style {
        wording: settings.wording(),
        notice_inside: settings.notice_inside(),
        available_tools: settings.available_tools().to_vec(),
    };
    let source = if request.bytes { Source::Bytes } else { Source::Text };
    let is_kept = request.collect || request.save.is_some();
    let save = store.map(|store| Arc::clone(store)).zip(request.save);
    // A string that came as one can be returned whatever its length is.
    let is_one = request.hold.is_none() && !request.bytes;
    let limits = if is_one { request.limits } else { as_one_string(request.limits) };
    let mut intake = Intake::new(limits, source, save);
    if request.collect {
        intake = intake.collecting();
    }
    if let Some(rules) = settings.redact().filter(|_| is_kept) {
        intake.redact(Arc::clone(rules));
    }
    if let Some(limits) = request.hold {
        intake = intake.holding(as_one_string(limits));
    }
    if let Some(direction) = request.if_failed {
        intake.turn_if_failed(direction);
    }
    if settings.smart_rules().is_some() || query.is_some() {
        intake.judge_by(settings.smart_rules().cloned(), query);
    }
    Ok(External::new(Arc::new(Shared::new(intake, buffers, style))))
}

/// Applies the settings of a custom storage on top of those of the service: its redaction, and its maximum size.
#[napi(catch_unwind)]
pub fn intake_keep_by(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
) {
    let settings = lock_settings(settings);
    let intake = &mut lock(&intake.writing).intake;
    if let Some(rules) = settings.redact() {
        intake.redact(Arc::clone(rules));
    }
    if let Some(max_bytes) = settings.max_file_bytes() {
        intake.keep_at_most(max_bytes);
    }
}

/// Returns a reader of the collected text, and removes it from the intake.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn intake_collected_text(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
) -> ReaderHandle {
    reader_over(lock(&intake.writing).intake.take_collected())
}

/// Returns collected bytes from an offset on, each as a Latin-1 character; empty at the end. Not every host lets a
/// native module create a buffer, and every host can create one from such a string.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn intake_collected_bytes<'env>(
    env: &'env Env,
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    from: f64,
) -> Result<JsString<'env>> {
    let writing = lock(&intake.writing);
    let rest = writing.intake.collected().get(from as usize..).unwrap_or_default();
    env.create_string_latin1(rest.get(..PIECE_BYTES).unwrap_or(rest))
}

/// Copies the next slice of a text in.
#[napi(catch_unwind)]
pub fn intake_push_text(
    env: &Env,
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    text: JsString<'_>,
) -> Result<()> {
    let mut arrived = lock(&intake.arrived);
    if let Some(Slice::Units(last)) = arrived.last_mut()
        && last.len() < JOINED_LENGTH
    {
        return append_utf16(env, &text, last);
    }
    let mut units = spare(&intake.buffers.units);
    append_utf16(env, &text, &mut units)?;
    arrived.push(Slice::Units(units));
    Ok(())
}

/// Copies the next slice of a text in, which holds only Latin-1 and has `length` units.
#[napi(catch_unwind)]
pub fn intake_push_latin1(
    env: &Env,
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    text: JsString<'_>,
    length: u32,
) -> Result<()> {
    let mut arrived = lock(&intake.arrived);
    if let Some(Slice::Latin1(last)) = arrived.last_mut()
        && last.len() < JOINED_LENGTH
    {
        return append_low_bytes(env, &text, length as usize, last);
    }
    let mut bytes = spare(&intake.buffers.bytes);
    append_low_bytes(env, &text, length as usize, &mut bytes)?;
    arrived.push(Slice::Latin1(bytes));
    Ok(())
}

/// Copies the next bytes in.
#[napi(catch_unwind)]
pub fn intake_push_bytes(#[napi(ts_arg_type = "object")] intake: &IntakeHandle, bytes: &[u8]) {
    let mut arrived = lock(&intake.arrived);
    if let Some(Slice::Bytes(last)) = arrived.last_mut()
        && last.len() < JOINED_LENGTH
    {
        return last.extend_from_slice(bytes);
    }
    let mut copy = spare(&intake.buffers.bytes);
    copy.extend_from_slice(bytes);
    arrived.push(Slice::Bytes(copy));
}

/// Processes the slices that were copied in.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn intake_drain(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) -> AsyncTask<Job<()>> {
    let shared = Arc::clone(intake);
    run(move || {
        shared.drain(false);
        Ok(())
    })
}

/// Ends the output: processes the rest, makes the saved file visible, and renders the text if `render` is given.
#[napi(catch_unwind, ts_return_type = "Promise<Finished>")]
pub fn intake_finish(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    render: Option<String>,
) -> Result<AsyncTask<Job<Finished>>> {
    let request = render.as_deref().map(parse::<RenderRequest>).transpose()?;
    let shared = Arc::clone(intake);
    Ok(run(move || {
        shared.drain(true);
        let intake = &mut lock(&shared.writing).intake;
        let outcome = json(intake.finish());
        let bytes = intake.size().0 as f64;
        let (whole, held) = (intake.whole(), intake.is_held());
        let shortened = request
            .filter(|_| whole.is_none())
            .map(|request| intake.render(&shared.style, &request).into());
        let whole = whole.map(Utf16String::from);
        Ok(Finished { outcome, fits: intake.fits(), bytes, whole, held, shortened })
    }))
}

/// Processes the slices that were copied in, and renders the text as if the output ended here.
#[napi(catch_unwind, ts_return_type = "Promise<Glimpse>")]
pub fn intake_peek(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
) -> AsyncTask<Job<Glimpse>> {
    let shared = Arc::clone(intake);
    run(move || {
        shared.drain(false);
        let intake = &lock(&shared.writing).intake;
        let (bytes, lines) = intake.size();
        let whole = intake.whole().map(Utf16String::from);
        let shortened = match &whole {
            Some(_) => None,
            None => Some(intake.render(&shared.style, &RenderRequest::default()).into()),
        };
        Ok(Glimpse { whole, shortened, bytes: bytes as f64, lines: lines as f64 })
    })
}

/// An output while it comes in.
#[napi(object, object_from_js = false)]
pub struct Glimpse {
    /// The whole output so far, if it may still be within its limits.
    #[napi(ts_type = "string")]
    pub whole: Option<Utf16String>,
    /// The text that would be shown otherwise.
    pub shortened: Option<Shortened>,
    /// Number of bytes so far.
    pub bytes: f64,
    /// Number of lines so far.
    pub lines: f64,
}

/// Returns the progress as `[bytes, lines]`.
#[napi(catch_unwind)]
pub fn intake_progress(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) -> Vec<f64> {
    intake.progress().map(|count| count as f64).to_vec()
}

/// Renders the text synchronously: its size is bounded by the limits.
#[napi(catch_unwind)]
pub fn intake_render(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    render: String,
) -> Result<Shortened> {
    let request: RenderRequest = parse(&render)?;
    Ok(lock(&intake.writing).intake.render(&intake.style, &request).into())
}

/// Discards the output, and the file if it is not visible yet. Runs on a thread, because another may still be at work
/// on the output, and releasing the space of a large file takes time.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn intake_abort(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) -> AsyncTask<Job<()>> {
    let shared = Arc::clone(intake);
    run(move || {
        lock(&shared.writing).intake.abandon();
        Ok(())
    })
}

/// Releases the memory of an output that has ended at once. While a thread is at work on it, the memory is released
/// with the handle.
#[napi(catch_unwind)]
pub fn intake_release(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) {
    if let Ok(mut writing) = intake.writing.try_lock() {
        writing.intake.release();
    }
}

/// Returns true if a text is within the limits that a strategy reads from a configuration.
#[napi(catch_unwind)]
pub fn fits(env: &Env, text: JsString<'_>, config: String, strategy: String) -> Result<bool> {
    Ok(read_at_once(env, &text, &config, &strategy, None)?.fits())
}

/// Rules for lines that are worth showing.
pub type RulesHandle = External<Arc<Rules>>;

/// Reads rules that are added to the built-in ones.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn smart_rules_open(rules: String) -> Result<RulesHandle> {
    let rules = smart_rules(&parse(&rules)?, Code::InvalidConfig, "rules").map_err(from_core)?;
    Ok(External::new(rules))
}

/// Applies a strategy to a text synchronously and without saving it; returns nothing if the text is within the limits.
#[napi(catch_unwind)]
pub fn shorten(
    env: &Env,
    text: JsString<'_>,
    config: String,
    strategy: String,
    #[napi(ts_arg_type = "object | undefined")] rules: Option<&RulesHandle>,
) -> Result<Option<Shortened>> {
    let intake = read_at_once(env, &text, &config, &strategy, rules)?;
    let style = Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() };
    let request = RenderRequest {
        lost: Some("there was no way to save it".to_owned()),
        ..Default::default()
    };
    Ok((!intake.fits()).then(|| intake.render(&style, &request).into()))
}

fn read_at_once(
    env: &Env,
    text: &JsString<'_>,
    config: &str,
    strategy: &str,
    rules: Option<&RulesHandle>,
) -> Result<Intake> {
    let limits = limits_of(&parse(config)?, strategy).map_err(from_core)?;
    let mut units = Vec::new();
    append_utf16(env, text, &mut units)?;
    let mut intake = Intake::new(limits, Source::Text, None);
    if let Some(rules) = rules {
        intake.judge_by(Some(Arc::clone(rules)), None);
    }
    intake.push_units(&units);
    intake.finish();
    Ok(intake)
}

impl From<Rendered> for Shortened {
    fn from(rendered: Rendered) -> Self {
        Shortened { content: to_js(rendered.content), facts: json(&rendered.facts) }
    }
}

/// Chooses the encoding: ASCII is passed as Latin-1, which V8 copies without decoding; other text is cheaper as UTF-16,
/// which is made here on the worker thread.
pub(crate) fn to_js(text: String) -> Either<Latin1String, Utf16String> {
    if text.is_ascii() { Either::A(text.into()) } else { Either::B(utf16::of_text(&text).into()) }
}
