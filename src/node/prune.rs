//! Bindings of pruning: columns of the new part of a history in, indexes of items out.

use std::sync::Mutex;

use napi::bindgen_prelude::{External, Utf16String};
use napi::{Env, JsString};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::json;
use spillway_core::history::pruning::placeholder::{About, placeholder};
use spillway_core::history::pruning::policies::{Form, Item, Kind, Policy, Rules};
use spillway_core::history::pruning::pruner::{Account, Correction, Message, Pruner, Role};
use spillway_core::history::pruning::schedule::{Prices, Rule, When};
use spillway_core::history::pruning::superseded::{self, Access, Read};
use spillway_core::history::pruning::trim;
use spillway_core::history::pruning::used_results::Use;
use spillway_core::history::pruning::word_index::{Limits, WordIndex};
use spillway_core::history::result_facts::Facts;
use spillway_core::permission::reading_calls;
use spillway_core::tools;
use spillway_core::util::sync::lock;

use crate::error::Result;
use crate::json::{json as written, parse, rows};
use crate::overflow::OverflowCut;
use crate::strings::{append_low_bytes, append_utf16, pieces};

/// The pruning state of a history.
pub type PrunerHandle = External<Mutex<Pruner>>;

/// Columns of a message in [`pruner_append`]: role, tokens, number of items, tokens of thinking, 1 if its thinking was removed.
const MESSAGE_COLUMNS: usize = 5;

/// Columns of an item in [`pruner_append`]: flags, facts of its text and tool, tokens, tokens of the placeholder, time,
/// number of requests that contained it (-1 for none), first and last line that were read, tokens once it is trimmed
/// (-1 if it cannot be).
const ITEM_COLUMNS: usize = 9;

/// Flag of an item: it is the arguments of a call.
#[napi]
pub const ITEM_ARGUMENTS: u32 = 1;
/// Flag of an item: it must be kept.
#[napi]
pub const ITEM_FIXED: u32 = 1 << 1;
/// Flag of an item: the call writes files.
#[napi]
pub const ITEM_WRITES: u32 = 1 << 2;
/// Flag of an item: it is pruned already.
#[napi]
pub const ITEM_GONE: u32 = 1 << 3;
/// Flag of an item: it is the read of a file, whose path is the next of `paths`.
#[napi]
pub const ITEM_READ: u32 = 1 << 4;
/// Flag of an item: it is trimmed already.
#[napi]
pub const ITEM_TRIMMED: u32 = 1 << 5;

/// The rules of a pruner. `null` stands for infinity, which JSON lacks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    removes_thinking: bool,
    policies: Vec<Policy>,
    keep_recent: Option<usize>,
    keep_messages: Option<usize>,
    keep_preamble: bool,
    keep_errors: bool,
    keep_used: Option<usize>,
    prices: Prices,
    cheapest: Prices,
    cache_lifetime_ms: Option<f64>,
    max_loss: Option<f64>,
    schedule: When,
}

/// Figures of the schedule as the usage of a provider shows them. `null` stands for infinity.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Corrected {
    prices: Prices,
    cheapest: Prices,
    cache_lifetime_ms: Option<f64>,
    uncounted: f64,
}

/// Creates a pruner with rules given as JSON, which continues from an account if there is one.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn pruner_open(options: String, account: Option<String>) -> Result<PrunerHandle> {
    let options: Options = parse(&options)?;
    let account: Account = match account {
        Some(account) => parse(&account)?,
        None => Account::default(),
    };
    let rules = Rules {
        removes_thinking: options.removes_thinking,
        policies: options.policies,
        keep_recent: options.keep_recent.unwrap_or(usize::MAX),
        keep_messages: options.keep_messages.unwrap_or(usize::MAX),
        keep_preamble: options.keep_preamble,
        keep_errors: options.keep_errors,
        keep_used: options.keep_used.unwrap_or(usize::MAX),
    };
    let rule = Rule {
        prices: options.prices,
        cheapest: options.cheapest,
        cache_lifetime_ms: options.cache_lifetime_ms.unwrap_or(f64::INFINITY),
        max_loss: options.max_loss.unwrap_or(f64::INFINITY),
        when: options.schedule,
    };
    Ok(External::new(Mutex::new(Pruner::new(rules, rule, account))))
}

/// Drops the messages from `shared` on and appends the rest of the history. `uses` are those of [`IndexedWords`].
#[napi(catch_unwind)]
pub fn pruner_append(
    #[napi(ts_arg_type = "object")] pruner: &PrunerHandle,
    shared: u32,
    messages: &[f64],
    items: &[f64],
    paths: Vec<String>,
    uses: Vec<u32>,
) -> Result<()> {
    let messages = rows::<MESSAGE_COLUMNS, _>(messages)?;
    let mut items = rows::<ITEM_COLUMNS, _>(items)?.iter();
    let uses = rows::<3, _>(&uses)?;
    let mut pruner = lock(pruner);
    pruner.keep(shared as usize);
    let mut paths = paths.into_iter();
    for &[role, tokens, count, thinking, removed] in messages {
        let is_without_thinking = removed != 0.0;
        pruner.push(Message { role: role_of(role), tokens, thinking, is_without_thinking });
        for &[flags, facts, tokens, placeholder, time, carried, from_line, to_line, trimmed] in
            items.by_ref().take(count as usize)
        {
            let flags = flags as u32;
            let has = |flag: u32| flags & flag != 0;
            let facts = Facts::from_bits(facts as u16);
            let failed = facts.is_error(true) == Some(true);
            let path = if has(ITEM_READ) { paths.next() } else { None };
            let item = Item {
                message: 0,
                kind: if has(ITEM_ARGUMENTS) { Kind::Arguments } else { Kind::Result },
                tokens,
                trimmed: (trimmed >= 0.0).then_some(trimmed),
                placeholder,
                fixed: has(ITEM_FIXED),
                failed,
                terminal: facts.is_terminal() == Some(true),
                writes: has(ITEM_WRITES),
                time,
                read: path.map(|path| Box::new(Read { path, from_line, to_line, worked: !failed })),
            };
            let form = match (has(ITEM_GONE), has(ITEM_TRIMMED)) {
                (true, _) => Form::Gone,
                (false, true) => Form::Trimmed,
                (false, false) => Form::Whole,
            };
            pruner.push_item(item, form, (carried >= 0.0).then_some(carried as u64));
        }
    }
    for &[message, result, last_seen] in uses {
        pruner.push_use(Use {
            message: message as usize,
            result: result as usize,
            last_seen: (last_seen > 0).then_some(last_seen as usize),
        });
    }
    Ok(())
}

/// Declares that a request at `last_request` had the first `shared` messages, although this pruner did not see it.
#[napi(catch_unwind)]
pub fn pruner_resume(
    #[napi(ts_arg_type = "object")] pruner: &PrunerHandle,
    shared: u32,
    last_request: Option<f64>,
) {
    lock(pruner).resume(shared as usize, last_request);
}

/// Counts with what a provider reported, given as JSON, from now on.
#[napi(catch_unwind)]
pub fn pruner_correct(
    #[napi(ts_arg_type = "object")] pruner: &PrunerHandle,
    correction: String,
) -> Result<()> {
    let Corrected { prices, cheapest, cache_lifetime_ms, uncounted } = parse(&correction)?;
    let cache_lifetime_ms = cache_lifetime_ms.unwrap_or(f64::INFINITY);
    lock(pruner).correct(Correction { prices, cheapest, cache_lifetime_ms, uncounted });
    Ok(())
}

/// Decides what the request at `now` leaves out, as JSON, and records the request. Nothing in front of the message
/// `bound_to` may change, and the model has seen nothing from the message `unseen_from` on.
#[napi(catch_unwind)]
pub fn pruner_decide(
    #[napi(ts_arg_type = "object")] pruner: &PrunerHandle,
    now: f64,
    bound_to: u32,
    unseen_from: u32,
) -> String {
    written(&lock(pruner).decide(now, bound_to as usize, unseen_from as usize))
}

/// Returns the state of a pruner as JSON: its account, and for each item the number of requests that contained it.
#[napi(catch_unwind)]
pub fn pruner_state(#[napi(ts_arg_type = "object")] pruner: &PrunerHandle) -> String {
    let pruner = lock(pruner);
    let carried: Vec<Option<u64>> = pruner.carried().collect();
    json!({ "account": pruner.account(), "carried": carried }).to_string()
}

/// Returns the file access of a call as JSON: `{ "read": [path, from, to] }` with `null` for the end of the file, or `{
/// "writes": true }`, or `{}`. A command that only prints lines of one file is a read.
#[napi(catch_unwind)]
pub fn file_access(tool: String, args: String) -> Result<String> {
    let access = match Access::also_by_command(&tool, &parse(&args)?) {
        Access::Read(Read { path, from_line, to_line, .. }) => {
            let to_line = to_line.is_finite().then_some(to_line);
            json!({ "read": [path, from_line, to_line] })
        }
        Access::Write => json!({ "writes": true }),
        Access::None => json!({}),
    };
    Ok(access.to_string())
}

/// Returns a text that only runs of the same command have, in the place of a path; nothing if a call runs none.
#[napi(catch_unwind)]
pub fn same_command(tool: String, args: String) -> Result<Option<String>> {
    Ok(superseded::same_command(&tool, &parse(&args)?))
}

/// Returns true if `fileAccess` knows calls of a tool.
#[napi(catch_unwind)]
pub fn handles_files(tool: String) -> bool {
    superseded::handles_files(&tool)
}

/// Returns the placeholder of a result or of an argument.
#[napi(catch_unwind)]
pub fn pruned_placeholder(
    arguments: bool,
    repeatable: bool,
    chinese: bool,
    path: Option<String>,
    words: Option<String>,
) -> String {
    let kind = if arguments { Kind::Arguments } else { Kind::Result };
    let about = About { kind, repeatable, path: path.as_deref(), words: words.as_deref() };
    placeholder(about, chinese)
}

/// Returns true if a call certainly changes nothing.
#[napi(catch_unwind)]
pub fn only_reads(tool: String, args: String) -> Result<bool> {
    Ok(reading_calls::only_reads(&tool, &parse(&args)?))
}

/// The words of a history.
pub type WordIndexHandle = External<Mutex<WordIndex>>;

/// Flag of a text in [`index_words`]: it begins a message.
#[napi]
pub const TEXT_BEGINS: u8 = 1;
/// Flag of a text: it is a result, and may be pruned.
#[napi]
pub const TEXT_RESULT: u8 = 1 << 1;
/// Flag of a text: it is JSON.
#[napi]
pub const TEXT_JSON: u8 = 1 << 2;
/// Flag of a text: the model wrote it.
#[napi]
pub const TEXT_MODEL: u8 = 1 << 3;

/// Creates an index of the words of a history; a `long` one keeps more of them.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn word_index_open(long: bool) -> WordIndexHandle {
    let limits = if long { Limits::LONG } else { Limits::SHORT };
    External::new(Mutex::new(WordIndex::new(limits)))
}

/// The words of a history, and its uses of results.
#[napi(object)]
pub struct IndexedWords {
    /// For each result the words that its placeholder keeps.
    pub words: Vec<String>,
    /// Three numbers each: a message, the number of a result that it uses, and 0; or a message, the number of its result, and how
    /// many results ago the same text was one.
    pub uses: Vec<u32>,
}

/// Forgets the messages from `shared` on.
#[napi(catch_unwind)]
pub fn keep_words(#[napi(ts_arg_type = "object")] index: &WordIndexHandle, shared: u32) {
    lock(index).keep(shared as usize);
}

/// Reads the next texts, which are concatenated to one string, with flags and the length of each in UTF-16 units.
/// `latin1` promises that no unit is above 0xff.
#[napi(catch_unwind)]
pub fn index_words(
    env: &Env,
    #[napi(ts_arg_type = "object")] index: &WordIndexHandle,
    texts: JsString<'_>,
    lengths: &[u32],
    latin1: bool,
    flags: &[u8],
) -> napi::Result<IndexedWords> {
    let mut index = lock(index);
    let mut bytes = Vec::new();
    if latin1 {
        append_low_bytes(env, &texts, texts.latin1_len()?, &mut bytes)?;
    } else {
        let mut units = Vec::new();
        append_utf16(env, &texts, &mut units)?;
        // Any byte beyond ASCII ends a word.
        bytes.extend(units.iter().map(|&unit| u8::try_from(unit).unwrap_or(u8::MAX)));
    }
    let mut found = IndexedWords { words: Vec::new(), uses: Vec::new() };
    for (flags, text) in flags.iter().zip(pieces(&bytes, lengths)) {
        if flags & TEXT_BEGINS != 0 {
            index.message();
        }
        let message = index.messages().saturating_sub(1) as u32;
        if flags & TEXT_RESULT != 0 {
            let result = index.results();
            let indexed = index.index(text);
            let before = indexed.last_seen.into_iter();
            found.uses.extend(before.flat_map(|results| [message, result, results]));
            found.words.push(indexed.words);
            continue;
        }
        let used = index.say(text, flags & TEXT_JSON != 0);
        if flags & TEXT_MODEL != 0 {
            found.uses.extend(used.into_iter().flat_map(|result| [message, result, 0]));
        }
    }
    Ok(found)
}

/// Trims a text; `null` if it is kept whole. Characters are UTF-16 units.
#[napi(catch_unwind)]
pub fn trim_text(
    text: Utf16String,
    max_chars: f64,
    head_chars: f64,
    tail_chars: f64,
    chinese: bool,
    path: Option<String>,
) -> Option<OverflowCut> {
    let rule = trim::Rule {
        max_chars: max_chars as usize,
        head_chars: head_chars as usize,
        tail_chars: tail_chars as usize,
    };
    trim::trim(&text, &rule, chinese, path.as_deref()).map(|trimmed| OverflowCut {
        head: trimmed.head as u32,
        tail: trimmed.tail as u32,
        middle: trim::MIDDLE.to_owned(),
        suffix: trimmed.note,
    })
}

/// Returns true if a tool is one of these, in any spelling of its name. `*` in a pattern matches any characters.
#[napi(catch_unwind)]
pub fn is_one_of_tools(name: String, tools: Vec<String>) -> bool {
    tools::is_one_of(&name, &tools)
}

fn role_of(number: f64) -> Role {
    match number as u32 {
        0 => Role::User,
        1 => Role::Assistant,
        2 => Role::Summary,
        _ => Role::Other,
    }
}
