//! Bindings of the rule for outdated results: columns of a history in, indexes of results out.

use napi::bindgen_prelude::Utf16String;
use napi::{Env, JsString};
use napi_derive::napi;
use spillway_core::history::outdated::{Answer, Rule, outdated};
use spillway_core::history::overflow::classify;
use spillway_core::history::result_classifier;
use spillway_core::history::result_facts::Facts;
use spillway_core::history::tools::ToolNames;
use spillway_core::tokens::cost;

use crate::error::Result;
use crate::json::{json, parse};
use crate::strings::{append_low_bytes, append_utf16, pieces};

/// Fact of the message itself: the call failed.
#[napi]
pub const FACT_FAILED: u16 = Facts::FAILED.bits();

/// Fact of the message itself: it must not be replaced.
#[napi]
pub const FACT_FIXED: u16 = Facts::FIXED.bits();

/// Fact about a tool: it runs commands.
#[napi]
pub const FACT_TERMINAL: u16 = Facts::TERMINAL_TOOL.bits();

/// Fact known from elsewhere: the call succeeded.
#[napi]
pub const FACT_SUCCEEDED: u16 = Facts::SUCCEEDED.bits();

/// Fact known from elsewhere: there is no output on the error stream, unless `FACT_STDERR_FILLED` is set too.
#[napi]
pub const FACT_STDERR_KNOWN: u16 = Facts::STDERR_KNOWN.bits();

/// Fact known from elsewhere: there is output on the error stream.
#[napi]
pub const FACT_STDERR_FILLED: u16 = Facts::STDERR_FILLED.bits();

/// Number of units that `textEndFacts` needs of the start of a text.
#[napi]
pub const TEXT_HEAD_UNITS: u32 = result_classifier::HEAD_UNITS as u32;

/// Number of units that `textEndFacts` needs of the end of a text.
#[napi]
pub const TEXT_TAIL_UNITS: u32 = result_classifier::TAIL_UNITS as u32;

/// A text that starts with a brace and ends like this has `TEXT_USUAL_FACTS`.
#[napi]
pub const TEXT_USUAL_END: &str = result_classifier::USUAL_END;

/// The facts about a text with the usual end.
#[napi]
pub const TEXT_USUAL_FACTS: u16 = result_classifier::USUAL_FACTS.bits();

/// The parameters of the rule. `keepRecent` may be `Infinity`.
#[napi(object, object_to_js = false)]
pub struct OutdatedRule {
    /// Current time in milliseconds since the epoch.
    pub now: f64,
    /// Age in milliseconds.
    pub max_age_ms: f64,
    /// Number of results.
    pub keep_recent: f64,
    /// True if errors count among the newest.
    pub count_errors: bool,
    /// True if output on the error stream is an error.
    pub stderr_is_error: bool,
}

/// Returns the outdated results, given their times (not finite for unknown) and the facts about each.
///
/// The answer is a string of numbers. It begins with 1, followed by the indexes of outdated results; or with 0,
/// followed by the indexes of results about which more must be known first. Indexes are ascending and encoded as
/// ranges, each as the first index and the one after the last. A number takes two units, the upper one first: an array
/// of them would cost fifty times as much, and not every host supports typed arrays here.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn outdated_results(times: &[f64], facts: &[u16], rule: OutdatedRule) -> Utf16String {
    let facts: Vec<Facts> = facts.iter().map(|bits| Facts::from_bits(*bits)).collect();
    let rule = Rule {
        now: rule.now,
        max_age_ms: rule.max_age_ms,
        keep_recent: rule.keep_recent as usize,
        count_errors: rule.count_errors,
        stderr_is_error: rule.stderr_is_error,
    };
    let (settled, places) = match outdated(times, &facts, &rule) {
        Answer::Read(places) => (0, places),
        Answer::Outdated(places) => (1, places),
    };
    let mut answer = vec![settled];
    for run in places.chunk_by(|place, next| *next == place + 1) {
        for place in [run[0], run[0] + run.len() as u32] {
            answer.extend([(place >> 16) as u16, place as u16]);
        }
    }
    answer.into()
}

/// Returns the facts about each tool by its name, with the caller's own terminal tools if there are any.
#[napi(catch_unwind)]
pub fn tool_facts(names: Vec<String>, terminal_tools: Option<Vec<String>>) -> Vec<u16> {
    let known = ToolNames::new(terminal_tools.as_deref());
    names.iter().map(|name| known.kind(name).bits()).collect()
}

/// Returns the facts about the ends of texts, one unit per text. Each text gives its first `TEXT_HEAD_UNITS` and its
/// last `TEXT_TAIL_UNITS` units; all are concatenated to one string. `latin1` promises that no unit is above 0xff.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn text_end_facts(env: &Env, ends: JsString<'_>, latin1: bool) -> Result<Utf16String> {
    const LENGTH: usize = result_classifier::HEAD_UNITS + result_classifier::TAIL_UNITS;
    let facts: Vec<u16> = if latin1 {
        let texts = latin1_of(env, &ends)?;
        let texts =
            texts.chunks_exact(LENGTH).map(|text| text.split_at(result_classifier::HEAD_UNITS));
        texts.map(|(head, tail)| result_classifier::ends_latin1(head, tail).bits()).collect()
    } else {
        let mut units = Vec::new();
        append_utf16(env, &ends, &mut units)?;
        let texts =
            units.chunks_exact(LENGTH).map(|text| text.split_at(result_classifier::HEAD_UNITS));
        texts.map(|(head, tail)| result_classifier::ends(head, tail).bits()).collect()
    };
    Ok(facts.into())
}

/// Returns the facts about a whole text. `latin1` promises that the text has no unit above 0xff.
#[napi(catch_unwind)]
pub fn text_facts(env: &Env, text: JsString<'_>, latin1: bool) -> Result<u16> {
    if latin1 {
        return Ok(result_classifier::whole_latin1(&latin1_of(env, &text)?).bits());
    }
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    Ok(result_classifier::whole(&units).bits())
}

/// Returns the facts about many whole texts, one unit per text; texts are passed as to `textsTokens`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn texts_facts(
    env: &Env,
    texts: JsString<'_>,
    lengths: &[u32],
    latin1: bool,
) -> Result<Utf16String> {
    let facts: Vec<u16> = if latin1 {
        let texts = latin1_of(env, &texts)?;
        pieces(&texts, lengths).map(|text| result_classifier::whole_latin1(text).bits()).collect()
    } else {
        let mut units = Vec::new();
        append_utf16(env, &texts, &mut units)?;
        pieces(&units, lengths).map(|text| result_classifier::whole(text).bits()).collect()
    };
    Ok(facts.into())
}

/// Returns the size of a text as `[bytes, tokens]`.
#[napi(catch_unwind)]
pub fn text_cost(env: &Env, text: JsString<'_>) -> Result<Vec<f64>> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    let cost = cost(&units);
    Ok(vec![cost.bytes as f64, cost.tokens as f64])
}

/// Classifies an error or an answer of a provider, both as JSON.
#[napi(catch_unwind)]
pub fn classify_overflow(request: String) -> Result<String> {
    Ok(json(&classify::classify(&parse(&request)?)))
}

fn latin1_of(env: &Env, text: &JsString<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append_low_bytes(env, text, text.latin1_len()?, &mut bytes)?;
    Ok(bytes)
}
