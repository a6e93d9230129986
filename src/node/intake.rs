//! One output on its way through. The JavaScript thread copies a slice in while a thread of the pool works on the one
//! before; two buffers take turns, so that no fresh memory is needed however long the output is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::{AsyncTask, External, Utf16String};
use napi::{Env, JsString};
use napi_derive::napi;
use serde::Deserialize;
use spillway_core::config::limits_of;
use spillway_core::intake::{Intake, RenderRequest, SaveRequest, Style};
use spillway_core::store::places::{Durability, Places};
use spillway_core::text::shown::Source;
use spillway_core::truncate::limits::Limits;
use spillway_core::truncate::notice::ENGLISH;
use spillway_core::truncate::render::Rendered;

use crate::config::{SettingsHandle, lock as lock_settings, parse};
use crate::error::{Result, from_core, from_json};
use crate::strings::append_utf16;
use crate::task::{Job, run};

/// An output that is coming in.
pub type IntakeHandle = External<Arc<Shared>>;

/// What the two threads share.
pub struct Shared {
    intake: Mutex<Intake>,
    arrived: Mutex<Arrived>,
    style: Style,
}

#[derive(Default)]
struct Arrived {
    units: Vec<u16>,
    bytes: Vec<u8>,
    spare_units: Vec<u16>,
    spare_bytes: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    limits: Limits,
    #[serde(default)]
    bytes: bool,
    save: Option<SaveRequest>,
    #[serde(default)]
    dirs: Vec<String>,
    #[serde(default)]
    durability: Durability,
}

/// The text for the model and what is known about it, as JSON.
#[napi(object, object_from_js = false)]
pub struct Shortened {
    /// Preview and notice.
    pub content: Utf16String,
    /// The facts.
    pub facts: String,
}

/// The end of an output.
#[napi(object, object_from_js = false)]
pub struct Finished {
    /// What became of the full output, as JSON.
    pub outcome: String,
    /// Whether the output keeps its limits after all, as it will be shown.
    pub fits: bool,
    /// Bytes of the whole output.
    pub bytes: f64,
    /// The text for the model, if it was asked for.
    pub shortened: Option<Shortened>,
}

/// Prepares; the disk is not touched before the first slice is worked on.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn intake_open(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    request: String,
) -> Result<IntakeHandle> {
    let request: Request = serde_json::from_str(&request).map_err(|error| from_json(&error))?;
    let settings = lock_settings(settings);
    let style = Style {
        wording: settings.wording(),
        notice_inside: settings.notice_inside(),
        available_tools: settings.available_tools().to_vec(),
    };
    let places = Places::new(&request.dirs, request.durability);
    let source = if request.bytes { Source::Bytes } else { Source::Text };
    let intake = Intake::new(request.limits, source, request.save.map(|save| (places, save)));
    let shared = Shared { intake: Mutex::new(intake), arrived: Mutex::default(), style };
    Ok(External::new(Arc::new(shared)))
}

/// Copies the next slice of a text in.
#[napi(catch_unwind)]
pub fn intake_push_text(
    env: &Env,
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    text: JsString<'_>,
) -> Result<()> {
    append_utf16(env, &text, &mut lock(&intake.arrived).units)
}

/// Copies the next bytes in.
#[napi(catch_unwind)]
pub fn intake_push_bytes(#[napi(ts_arg_type = "object")] intake: &IntakeHandle, bytes: &[u8]) {
    lock(&intake.arrived).bytes.extend_from_slice(bytes);
}

/// Works on what has been copied in.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn intake_drain(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) -> AsyncTask<Job<()>> {
    let shared = Arc::clone(intake);
    run(move || {
        shared.drain();
        Ok(())
    })
}

/// Ends the output: works on the rest, makes the saved file visible, and puts the text together if `render` says how.
#[napi(catch_unwind, ts_return_type = "Promise<Finished>")]
pub fn intake_finish(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    render: Option<String>,
) -> Result<AsyncTask<Job<Finished>>> {
    let request = render.as_deref().map(parse_render).transpose()?;
    let shared = Arc::clone(intake);
    Ok(run(move || {
        shared.drain();
        let mut intake = lock(&shared.intake);
        let outcome = serde_json::to_string(intake.finish()).unwrap_or_default();
        let shortened = request.map(|request| intake.render(&shared.style, &request).into());
        Ok(Finished { outcome, fits: intake.fits(), bytes: intake.size().0 as f64, shortened })
    }))
}

/// Puts the text together, at once: its size is bounded by the limits.
#[napi(catch_unwind)]
pub fn intake_render(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    render: String,
) -> Result<Shortened> {
    let request = parse_render(&render)?;
    Ok(lock(&intake.intake).render(&intake.style, &request).into())
}

/// Forgets the output; a file that is not yet visible never will be.
#[napi(catch_unwind)]
pub fn intake_abort(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) {
    lock(&intake.intake).abandon();
}

/// Whether a text keeps the limits that a strategy reads out of a configuration.
#[napi(catch_unwind)]
pub fn fits(env: &Env, text: JsString<'_>, config: String, strategy: String) -> Result<bool> {
    Ok(read_at_once(env, &text, &config, &strategy)?.fits())
}

/// What a strategy makes of a text, at once and without saving it; nothing if the text keeps the limits.
#[napi(catch_unwind)]
pub fn shorten(
    env: &Env,
    text: JsString<'_>,
    config: String,
    strategy: String,
) -> Result<Option<Shortened>> {
    let intake = read_at_once(env, &text, &config, &strategy)?;
    let style = Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() };
    Ok((!intake.fits()).then(|| intake.render(&style, &RenderRequest::default()).into()))
}

fn read_at_once(env: &Env, text: &JsString<'_>, config: &str, strategy: &str) -> Result<Intake> {
    let limits = limits_of(&parse(config)?, strategy).map_err(from_core)?;
    let mut units = Vec::new();
    append_utf16(env, text, &mut units)?;
    let mut intake = Intake::new(limits, Source::Text, None);
    intake.push_units(&units);
    intake.finish();
    Ok(intake)
}

impl Shared {
    fn drain(&self) {
        let (units, bytes) = {
            let arrived = &mut *lock(&self.arrived);
            let spare_units = std::mem::take(&mut arrived.spare_units);
            let spare_bytes = std::mem::take(&mut arrived.spare_bytes);
            (
                std::mem::replace(&mut arrived.units, spare_units),
                std::mem::replace(&mut arrived.bytes, spare_bytes),
            )
        };
        {
            let mut intake = lock(&self.intake);
            intake.push_units(&units);
            intake.push_bytes(&bytes);
        }
        let mut arrived = lock(&self.arrived);
        arrived.spare_units = emptied(units);
        arrived.spare_bytes = emptied(bytes);
    }
}

fn emptied<T>(mut buffer: Vec<T>) -> Vec<T> {
    buffer.clear();
    buffer
}

impl From<Rendered> for Shortened {
    fn from(rendered: Rendered) -> Self {
        Shortened {
            content: Utf16String::from(rendered.content),
            facts: serde_json::to_string(&rendered.facts).unwrap_or_default(),
        }
    }
}

fn parse_render(text: &str) -> Result<RenderRequest> {
    serde_json::from_str(text).map_err(|error| from_json(&error))
}

/// A panic while a lock was held is reported by the call it happened in; the next call goes on with what is there.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
