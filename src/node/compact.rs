//! Bindings of compaction: columns in, indexes out.

use napi_derive::napi;
use serde::Deserialize;
use serde_json::Value;
use spillway_core::error::Code;
use spillway_core::history::compaction::acceptance::{CompactionLog, Outcome, judge};
use spillway_core::history::compaction::changed_files::{
    Outcome as EditOutcome, is_edit, lines, merged,
};
use spillway_core::history::compaction::cut_points::{Role, cuts};
use spillway_core::history::compaction::images::images;
use spillway_core::history::compaction::limits::{CompactionLimits, Numbers, PROFILES, numbers};
use spillway_core::history::compaction::messages::{WORDS, Wish, instructions, is_chinese, words};
use spillway_core::history::compaction::plan::{Message, Output, Wanted, plan};
use spillway_core::util::suggest::refuse_choice;

use crate::error::{Result, from_core};
use crate::json::{json as written, parse, rows};

/// Columns of a message in [`compaction_plan`]: role and size.
const MESSAGE_COLUMNS: usize = 2;

/// Columns of an output in [`compaction_plan`]: the index of its message, its size, and that of its placeholder.
const OUTPUT_COLUMNS: usize = 3;

/// Returns the names of all profiles.
#[napi(catch_unwind)]
pub fn compaction_profiles() -> Vec<String> {
    PROFILES.iter().map(|one| one.name.to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Returns the numbers of a profile as JSON; without a name the defaults.
#[napi(catch_unwind)]
pub fn compaction_numbers(profile: Option<String>) -> Result<String> {
    Ok(written(numbers_of(profile.as_deref())?))
}

/// The sizes that limits depend on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sizes {
    profile: Option<String>,
    window: Option<f64>,
    target: Option<f64>,
    chars: Option<f64>,
    trigger_share: f64,
    reserved: f64,
    summary: f64,
}

/// Returns the limits as JSON: for a target if given, else for a window, else for a number of characters; `null`
/// without any of them.
#[napi(catch_unwind)]
pub fn compaction_limits(sizes: String) -> Result<String> {
    let sizes: Sizes = parse(&sizes)?;
    let own = *numbers_of(sizes.profile.as_deref())?;
    let numbers = Numbers { trigger_share: sizes.trigger_share, ..own };
    let limits = match (sizes.target, sizes.window, sizes.chars) {
        (Some(target), _, _) => Some(CompactionLimits::of_target(target, sizes.summary)),
        (None, Some(window), _) => {
            Some(CompactionLimits::of_window(window, sizes.reserved, sizes.summary, &numbers))
        }
        (None, None, Some(chars)) => {
            Some(CompactionLimits::of_chars(chars, sizes.summary, &numbers))
        }
        (None, None, None) => None,
    };
    Ok(written(&limits))
}

/// The input of `compactionPlan`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Question {
    trigger: f64,
    usable: f64,
    cut: f64,
    summary: f64,
    wanted: Wanted,
}

/// Makes a plan, as JSON. `pairs` holds two numbers per call: the message of the call and that of its result.
#[napi(catch_unwind)]
pub fn compaction_plan(
    messages: &[f64],
    pairs: &[u32],
    outputs: &[f64],
    question: String,
) -> Result<String> {
    let Question { trigger, usable, cut, summary, wanted } = parse(&question)?;
    let limits = CompactionLimits { trigger, usable, cut, summary };
    let messages: Vec<Message> = rows::<MESSAGE_COLUMNS, _>(messages)?
        .iter()
        .map(|&[role, size]| Message { role: role_of(role as u32), size })
        .collect();
    let outputs: Vec<Output> = rows::<OUTPUT_COLUMNS, _>(outputs)?
        .iter()
        .map(|&[message, size, placeholder]| Output {
            message: message as usize,
            size,
            placeholder,
        })
        .collect();
    Ok(written(&plan(&messages, &pairs_of(pairs)?, &outputs, &limits, &wanted)))
}

/// Returns the positions at which a history may be split: two numbers each, the index of the first message after the
/// split, and 1 if a turn begins there.
#[napi(catch_unwind)]
pub fn compaction_cuts(roles: &[u32], pairs: &[u32]) -> Result<Vec<u32>> {
    let roles: Vec<Role> = roles.iter().copied().map(role_of).collect();
    let found = cuts(&roles, &pairs_of(pairs)?);
    Ok(found.iter().flat_map(|cut| [cut.at as u32, u32::from(cut.is_turn)]).collect())
}

/// Returns the messages whose images are removed to free `excess`.
#[napi(catch_unwind)]
pub fn compaction_images(sizes: &[f64], excess: f64) -> Vec<u32> {
    images(sizes, excess).iter().map(|&at| at as u32).collect()
}

/// Decides whether a summary is used.
#[napi(catch_unwind)]
pub fn compaction_verdict(outcome: String) -> Result<String> {
    let outcome: Outcome = parse(&outcome)?;
    Ok(written(&judge(&outcome)))
}

/// Decides whether to compact, given the earlier compactions as JSON.
#[napi(catch_unwind)]
pub fn compaction_permit(past: String, answers: f64, force: bool) -> Result<String> {
    let past: CompactionLog = parse(&past)?;
    Ok(written(&past.decide(answers as u64, force)))
}

/// Records a compaction that replaced `dropped` answers of the model, or one that failed.
#[napi(catch_unwind)]
pub fn compaction_past(past: String, answers: f64, dropped: Option<f64>) -> Result<String> {
    let past: CompactionLog = parse(&past)?;
    let next = match dropped {
        Some(dropped) => past.compacted(answers as u64, dropped as u64),
        None => past.failed(answers as u64),
    };
    Ok(written(&next))
}

/// Returns the texts that are put into a history, as JSON; without a language those of all languages.
#[napi(catch_unwind)]
pub fn compaction_words(chinese: Option<bool>) -> String {
    match chinese {
        Some(chinese) => written(words(chinese)),
        None => written(&WORDS),
    }
}

/// Returns the instructions for the summarizer.
#[napi(catch_unwind)]
pub fn compaction_instructions(turn: bool, update: bool, tokens: f64, chinese: bool) -> String {
    instructions(&Wish { turn, update, tokens, chinese })
}

/// Returns true if a text is Chinese.
#[napi(catch_unwind)]
pub fn is_chinese_text(text: String) -> bool {
    is_chinese(&text)
}

/// Returns true if calls of a tool belong in the list of changed files.
#[napi(catch_unwind)]
pub fn is_edit_tool(tool: String) -> bool {
    is_edit(&tool)
}

/// Returns the entries of a call for the list of changed files. `failed` is omitted if there is no result.
#[napi(catch_unwind)]
pub fn changed_files(tool: String, args: String, failed: Option<bool>) -> Result<Vec<String>> {
    let args: Value = parse(&args)?;
    let outcome = match failed {
        None => EditOutcome::Unknown,
        Some(true) => EditOutcome::Failed,
        Some(false) => EditOutcome::Done,
    };
    Ok(lines(&tool, &args, outcome))
}

/// Merges new entries into a list of changed files; the oldest in excess of `limit` are dropped.
#[napi(catch_unwind)]
pub fn changed_files_merged(known: Vec<String>, added: Vec<String>, limit: u32) -> Vec<String> {
    merged(&known, &added, limit as usize)
}

fn pairs_of(pairs: &[u32]) -> Result<Vec<(usize, usize)>> {
    let pairs = rows::<2, _>(pairs)?.iter();
    Ok(pairs.map(|&[call, result]| (call as usize, result as usize)).collect())
}

fn numbers_of(profile: Option<&str>) -> Result<&'static Numbers> {
    numbers(profile.unwrap_or_default()).ok_or_else(|| {
        let names: Vec<&str> =
            PROFILES.iter().map(|one| one.name).filter(|name| !name.is_empty()).collect();
        let name = profile.unwrap_or_default();
        from_core(refuse_choice(
            &Value::from(name),
            &names,
            Code::InvalidArgument,
            "options.profile",
        ))
    })
}

fn role_of(number: u32) -> Role {
    match number {
        0 => Role::User,
        1 => Role::Assistant,
        2 => Role::Summary,
        3 => Role::System,
        4 => Role::Tool,
        _ => Role::Other,
    }
}
