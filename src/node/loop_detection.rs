//! Bindings of loop detection: calls in, verdicts out.

use std::sync::Mutex;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use spillway_core::loop_detection::detector::{Approval, Detector, LoopVerdict};
use spillway_core::loop_detection::messages::refused;
use spillway_core::loop_detection::repeated_replies::Role;
use spillway_core::loop_detection::rules::LoopRules;
use spillway_core::util::language::Language;
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::json::{json, parse};

/// The detector of one session.
pub type DoomLoopHandle = External<Mutex<Detector>>;

/// Creates a detector. `options` is JSON; `state` is the saved state of another detector.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn doom_loop_open(options: String, state: Option<String>) -> Result<DoomLoopHandle> {
    let options: serde_json::Value = parse(&options)?;
    let rules = LoopRules::read(&options).map_err(from_core)?;
    let detector = match state {
        Some(state) => Detector::from_json(rules, &state).map_err(from_core)?,
        None => Detector::new(rules),
    };
    Ok(External::new(Mutex::new(detector)))
}

/// Begins a run.
#[napi(catch_unwind)]
pub fn doom_loop_start_run(#[napi(ts_arg_type = "object")] detector: &DoomLoopHandle) {
    lock(detector).start_run();
}

/// Checks a call. Its arguments are JSON, and so is `identity`, which replaces them for comparing calls. The verdict is
/// JSON, or nothing if the call is simply allowed.
#[napi(catch_unwind)]
pub fn doom_loop_check(
    #[napi(ts_arg_type = "object")] detector: &DoomLoopHandle,
    call_id: String,
    tool: String,
    arguments: String,
    turn: Option<String>,
    identity: Option<String>,
) -> Option<String> {
    told(&lock(detector).check(&call_id, &tool, &arguments, turn.as_deref(), identity.as_deref()))
}

/// Records the outcome of a call.
#[napi(catch_unwind)]
pub fn doom_loop_record(
    #[napi(ts_arg_type = "object")] detector: &DoomLoopHandle,
    call_id: String,
    result: String,
    is_error: Option<bool>,
) {
    lock(detector).record(&call_id, &result, is_error);
}

/// Forgets the results of calls, which left the context.
#[napi(catch_unwind)]
pub fn doom_loop_forget(
    #[napi(ts_arg_type = "object")] detector: &DoomLoopHandle,
    call_ids: Vec<String>,
) {
    lock(detector).forget(&call_ids);
}

/// Approves a question, permanently or once. Returns false if there is none with this id.
#[napi(catch_unwind)]
pub fn doom_loop_approve(
    #[napi(ts_arg_type = "object")] detector: &DoomLoopHandle,
    call_id: String,
    always: bool,
) -> bool {
    let approval = if always { Approval::Always } else { Approval::Once };
    lock(detector).approve(&call_id, approval)
}

/// Records a message. The verdict is JSON, or nothing if there is no loop.
#[napi(catch_unwind)]
pub fn doom_loop_observe(
    #[napi(ts_arg_type = "object")] detector: &DoomLoopHandle,
    by_user: bool,
    text: String,
) -> Option<String> {
    let role = if by_user { Role::User } else { Role::Assistant };
    told(&lock(detector).observe(role, &text))
}

/// Returns the ids of open questions.
#[napi(catch_unwind)]
pub fn doom_loop_pending(#[napi(ts_arg_type = "object")] detector: &DoomLoopHandle) -> Vec<String> {
    lock(detector).pending().into_iter().map(str::to_owned).collect()
}

/// Returns the state for another detector, as JSON.
#[napi(catch_unwind)]
pub fn doom_loop_state(#[napi(ts_arg_type = "object")] detector: &DoomLoopHandle) -> String {
    lock(detector).to_json()
}

/// Returns the text for a model whose call was refused after a question, from the message of the verdict.
#[napi(catch_unwind)]
pub fn doom_loop_refused(language: String, message: Option<String>, may_ask: bool) -> String {
    refused(Language::of(&language), message.as_deref(), may_ask)
}

/// Returns the verdict as JSON, or nothing for a plain permission, as most are.
fn told(verdict: &LoopVerdict) -> Option<String> {
    (!verdict.is_plain()).then(|| json(verdict))
}
