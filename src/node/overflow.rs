//! Histories that no longer fit: texts and columns in, places of cuts and the next step out.

use napi::bindgen_prelude::Utf16String;
use napi::{Env, JsString};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::json;
use spillway_core::error::{Code, Error as CoreError};
use spillway_core::history::overflow::aggregate::{self, Entry, Form};
use spillway_core::history::overflow::char_weight::{Weight, fingerprint};
use spillway_core::history::overflow::head_tail::{
    self, END_UNITS, Kept, Rule, Text, characters, cut_all,
};
use spillway_core::history::overflow::input_budget::{self, Model};
use spillway_core::history::overflow::limits::{self, Profile};
use spillway_core::history::overflow::plan::{self, Counters, Event, Order, State};
use spillway_core::history::overflow::saved_path::{self, Saved};

use crate::error::{Result, from_core};
use crate::json::{json as written, parse};
use crate::strings::append_utf16;

/// The constants of the document, and the transitions of a recovery, as JSON.
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

/// The limits of a profile for a window of so many tokens, as JSON.
#[napi(catch_unwind)]
pub fn overflow_limits(profile: String, window: f64, cap: Option<f64>) -> Result<String> {
    let limits = limits::limits(profile_of(&profile)?, window, cap.map(|cap| cap as u64));
    Ok(written(&limits))
}

/// The order in which a profile recovers.
#[napi(catch_unwind)]
pub fn overflow_order(profile: String) -> Result<String> {
    Ok(written(&profile_of(&profile)?.order))
}

/// How long a text is, and how many characters it has. With `weighted`, characters of dense scripts count four times.
#[napi(catch_unwind)]
pub fn overflow_size(env: &Env, text: JsString<'_>, weighted: bool) -> Result<Vec<f64>> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    Ok(vec![Weight::of(weighted).measure(&units) as f64, characters(&units) as f64])
}

/// So many units of the end of a text does `overflowCut` look at.
#[napi]
pub const OVERFLOW_END_UNITS: u32 = END_UNITS as u32;

/// A short name of a text.
#[napi(catch_unwind)]
pub fn text_fingerprint(env: &Env, text: JsString<'_>) -> Result<String> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    Ok(format!("{:x}.{:x}", units.len(), fingerprint(&units)))
}

/// How texts are cut.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CutRule {
    profile: String,
    weighted: bool,
    min_keep: u64,
    /// The caller's words instead of the profile's.
    suffix: Option<String>,
    /// Where the full output is, if the model may know.
    saved: Option<SavedAt>,
}

#[derive(Deserialize)]
struct SavedAt {
    path: String,
    partial: bool,
}

/// What stays of a text that was cut.
#[napi(object, object_from_js = false)]
pub struct OverflowCut {
    /// Units of its start.
    pub head: u32,
    /// Units of its end.
    pub tail: u32,
    /// What stands between the two.
    pub middle: String,
    /// What stands at the end.
    pub suffix: String,
}

/// Cuts the texts of one result to at most `max` together. `null` for a text that stays.
///
/// Of each text come its start, two units more than `max`, and its end, `OVERFLOW_END_UNITS`: the whole text twice if it is no
/// longer. `sizes` has three numbers for each: its units, its length as the rule counts, and its characters.
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
    let texts: Vec<Text> = ends
        .chunks_exact(2)
        .zip(sizes.chunks_exact(3))
        .filter_map(|(ends, sizes)| match (ends, sizes) {
            ([start, end], &[units, weight, characters]) => {
                Some(Text::ends(start, end, units as usize, weight as u64, characters as u64))
            }
            _ => None,
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

/// What becomes of each result, as JSON `{ forms, total, rebaselined }`: a form is `whole`, `frozen`, `marker`, `compact`
/// or the number of characters that it is cut to.
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

/// Where a text says that its full output is, the last place first, as JSON.
#[napi(catch_unwind)]
pub fn overflow_saved(text: String) -> String {
    let place = |Saved { path, partial }: Saved| json!({ "path": path, "partial": partial });
    json!(saved_path::saved(&text).into_iter().map(place).collect::<Vec<_>>()).to_string()
}

/// The two lines that can stand for a result whose output is at a path, or is nowhere.
#[napi(catch_unwind)]
pub fn overflow_markers(path: Option<String>, partial: bool) -> Vec<String> {
    let saved = path.map(|path| Saved { path, partial });
    saved_path::markers(saved.as_ref()).to_vec()
}

/// Where a recovery is and what it has used up.
#[derive(Deserialize)]
struct Question {
    order: Order,
    from: State,
    event: Event,
    counters: Counters,
}

/// The next transition, as JSON, or `null` if nothing may be tried any more.
#[napi(catch_unwind)]
pub fn overflow_next(question: String) -> Result<String> {
    let question: Question = parse(&question)?;
    let Question { order, from, event, counters } = question;
    Ok(written(&plan::next(order, from, event, &counters)))
}

/// The tokens that a model's input may have, or `null` if nobody knows.
#[napi(catch_unwind)]
pub fn usable_tokens(
    context: f64,
    output: f64,
    input: Option<f64>,
    reserved: Option<f64>,
) -> Option<f64> {
    input_budget::usable(&Model { context, output, input }, reserved)
}

/// The tokens that a history may have in a window.
#[napi(catch_unwind)]
pub fn target_tokens(window: f64, reserved: f64) -> f64 {
    input_budget::target(window, reserved)
}

fn profile_of(name: &str) -> Result<&'static Profile> {
    limits::profile(name).ok_or_else(|| {
        let problem = format!("got {name:?}, allowed is openclaw or openclaw-2026-02");
        from_core(CoreError::field(Code::InvalidArgument, "options.profile", problem))
    })
}
