//! Bindings of overflow recovery: texts and columns in, positions of cuts and the next step out.

use napi::bindgen_prelude::Utf16String;
use napi::{Env, JsString};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};
use spillway_core::error::Code;
use spillway_core::history::overflow::aggregate::{self, Entry, Form};
use spillway_core::history::overflow::char_weight::{Weight, fingerprint};
use spillway_core::history::overflow::head_tail::{
    self, END_UNITS, Kept, Rule, Text, characters, cut_all,
};
use spillway_core::history::overflow::input_budget::{self, Model};
use spillway_core::history::overflow::limits::{self, OverflowProfile};
use spillway_core::history::overflow::plan::{self, Counters, Event, Order, State};
use spillway_core::history::overflow::saved_path::{self, Saved};
use spillway_core::util::suggest::refuse_choice;

use crate::error::{Result, from_core};
use crate::json::{json as written, parse, rows};
use crate::strings::append_utf16;

/// Returns the constants of the document, and the transitions of a recovery, as JSON.
#[napi(catch_unwind)]
pub fn overflow_constants() -> String {
    json!({
        "HARD_MAX_TOOL_RESULT_CHARS": limits::HARD_MAX_TOOL_RESULT_CHARS,
        "MIN_KEEP_CHARS": limits::MIN_KEEP_CHARS,
        "MAX_TOOL_RESULT_CONTEXT_SHARE": limits::MAX_TOOL_RESULT_CONTEXT_SHARE,
        "MAX_OVERFLOW_COMPACTION_ATTEMPTS": limits::MAX_OVERFLOW_COMPACTION_ATTEMPTS,
        "GUARD_TRUNCATION_SUFFIX": limits::GUARD_TRUNCATION_SUFFIX,
        "charsPerToken": limits::CHARS_PER_TOKEN,
        "cut": { "openings": limits::openings(), "counted": limits::COUNTED, "middle": head_tail::MIDDLE },
        "transitions": plan::TRANSITIONS,
    })
    .to_string()
}

/// Returns the limits of a profile for a window in tokens, as JSON.
#[napi(catch_unwind)]
pub fn overflow_limits(profile: String, window: f64, cap: Option<f64>) -> Result<String> {
    let limits = limits::limits(profile_of(&profile)?, window, cap.map(|cap| cap as u64));
    Ok(written(&limits))
}

/// Returns the order in which a profile recovers.
#[napi(catch_unwind)]
pub fn overflow_order(profile: String) -> Result<String> {
    Ok(written(&profile_of(&profile)?.order))
}

/// Returns the length of a text, and its number of characters. With `weighted`, characters of dense scripts count four
/// times.
#[napi(catch_unwind)]
pub fn overflow_size(env: &Env, text: JsString<'_>, weighted: bool) -> Result<Vec<f64>> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    Ok(vec![Weight::of(weighted).measure(&units) as f64, characters(&units) as f64])
}

/// Number of units of the end of a text that `overflowCut` examines.
#[napi]
pub const OVERFLOW_END_UNITS: u32 = END_UNITS as u32;

/// Returns a short hash of a text.
#[napi(catch_unwind)]
pub fn text_fingerprint(env: &Env, text: JsString<'_>) -> Result<String> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    Ok(format!("{:x}.{:x}", units.len(), fingerprint(&units)))
}

/// The parameters of truncation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CutRule {
    profile: String,
    weighted: bool,
    min_keep: u64,
    /// The caller's suffix instead of the profile's.
    suffix: Option<String>,
    /// Path of the full output, if it may be disclosed to the model.
    saved: Option<SavedAt>,
}

#[derive(Deserialize)]
struct SavedAt {
    path: String,
    partial: bool,
}

/// A truncated text.
#[napi(object, object_from_js = false)]
pub struct OverflowCut {
    /// Number of units of the start.
    pub head: u32,
    /// Number of units of the end.
    pub tail: u32,
    /// The text between the two.
    pub middle: String,
    /// The suffix.
    pub suffix: String,
}

/// Truncates the texts of one result to at most `max` in total. `null` for a text that is not changed.
///
/// Each text is given by its start, two units more than `max`, and its end, `OVERFLOW_END_UNITS`: by the whole text
/// twice if it is no longer. `sizes` has three numbers for each: its units, its weighted length, and its characters.
#[napi(catch_unwind)]
pub fn overflow_cut(
    ends: Vec<Utf16String>,
    sizes: &[f64],
    max: f64,
    rule: String,
) -> Result<Vec<Option<OverflowCut>>> {
    let rule: CutRule = parse(&rule)?;
    let words = profile_of(&rule.profile)?.suffixes;
    let suffixes = match (rule.suffix, rule.saved) {
        (Some(suffix), _) => vec![suffix],
        (None, Some(SavedAt { path, partial })) => {
            saved_path::suffixes(&Saved { path, partial }, words)
        }
        (None, None) => words.iter().map(ToString::to_string).collect(),
    };
    let weight = Weight::of(rule.weighted);
    let rule = Rule { weight, min_keep: rule.min_keep, suffixes: &suffixes };
    let texts: Vec<Text> = rows::<2, _>(&ends)?
        .iter()
        .zip(rows::<3, _>(sizes)?)
        .map(|([start, end], &[units, weight, characters])| {
            Text::ends(start, end, units as usize, weight as u64, characters as u64)
        })
        .collect();
    let cut = |Kept { head, tail, middle, suffix, .. }| OverflowCut {
        head: head as u32,
        tail: tail as u32,
        middle: middle.to_owned(),
        suffix,
    };
    Ok(cut_all(&texts, max as u64, &rule).into_iter().map(|kept| kept.map(cut)).collect())
}

/// One result among others.
#[derive(Deserialize)]
struct Column {
    weight: u64,
    fresh: bool,
    frozen: Option<u64>,
    marker: u64,
    compact: u64,
}

/// Returns the forms of all results as JSON `{ forms, total, rebaselined }`: a form is `whole`, `frozen`, `marker`,
/// `compact` or the number of characters that the text is truncated to.
#[napi(catch_unwind)]
pub fn overflow_aggregate(results: String, cap: f64, budget: Option<f64>) -> Result<String> {
    let results: Vec<Column> = parse(&results)?;
    let entries: Vec<Entry> = results
        .into_iter()
        .map(|Column { weight, fresh, frozen, marker, compact }| Entry {
            weight,
            fresh,
            frozen,
            marker,
            compact,
        })
        .collect();
    let plan = aggregate::plan(&entries, cap as u64, budget.map(|budget| budget as u64));
    let forms: Vec<serde_json::Value> = plan
        .forms
        .iter()
        .map(|form| match form {
            Form::Whole => json!("whole"),
            Form::Frozen => json!("frozen"),
            Form::Marker => json!("marker"),
            Form::Compact => json!("compact"),
            Form::Cut(at) => json!(at),
        })
        .collect();
    Ok(json!({ "forms": forms, "total": plan.total, "rebaselined": plan.rebaselined }).to_string())
}

/// Returns the paths in a text at which its full output may be saved, last first, as JSON.
#[napi(catch_unwind)]
pub fn overflow_saved(text: String) -> String {
    let place = |Saved { path, partial }: Saved| json!({ "path": path, "partial": partial });
    json!(saved_path::saved(&text).into_iter().map(place).collect::<Vec<_>>()).to_string()
}

/// Returns the two lines that can replace a result whose output is at a path, or was not saved.
#[napi(catch_unwind)]
pub fn overflow_markers(path: Option<String>, partial: bool) -> Vec<String> {
    let saved = path.map(|path| Saved { path, partial });
    saved_path::markers(saved.as_ref()).to_vec()
}

/// The state of a recovery.
#[derive(Deserialize)]
struct Question {
    order: Order,
    from: State,
    event: Event,
    counters: Counters,
}

/// Returns the next transition as JSON, or `null` if none is left.
#[napi(catch_unwind)]
pub fn overflow_next(question: String) -> Result<String> {
    let question: Question = parse(&question)?;
    let Question { order, from, event, counters } = question;
    Ok(written(&plan::next(order, from, event, &counters)))
}

/// Returns the maximum number of input tokens of a model, or `null` if it is unknown.
#[napi(catch_unwind)]
pub fn usable_tokens(
    context: f64,
    output: f64,
    input: Option<f64>,
    reserved: Option<f64>,
) -> Option<f64> {
    input_budget::usable(&Model { context, output, input }, reserved)
}

/// Returns the maximum number of tokens of a history in a window.
#[napi(catch_unwind)]
pub fn target_tokens(window: f64, reserved: f64) -> f64 {
    input_budget::target(window, reserved)
}

fn profile_of(name: &str) -> Result<&'static OverflowProfile> {
    limits::profile(name).ok_or_else(|| {
        let known = ["openclaw", "openclaw-2026-02"];
        from_core(refuse_choice(
            &Value::from(name),
            &known,
            Code::InvalidArgument,
            "options.profile",
        ))
    })
}
