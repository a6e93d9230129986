//! Bindings of folding: a text in, its replaced parts out.

use std::sync::Mutex;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde::Deserialize;
use spillway_core::fold::{Edit, Fold, Given, Options, labels, unfold};
use spillway_core::util::sync::lock;

use crate::error::Result;
use crate::json::{json as written, parse};

/// The index of a session.
pub type FoldHandle = External<Mutex<Fold>>;

/// The description of a text that is folded.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct About {
    id: u32,
    call: u32,
    tool: String,
    #[serde(default)]
    args: String,
    #[serde(default)]
    protected: bool,
    #[serde(default)]
    argument: bool,
    #[serde(default)]
    keep: Vec<String>,
    min_lines: Option<usize>,
    min_bytes: Option<usize>,
    since: Option<u32>,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    hidden: Vec<(usize, usize)>,
}

/// An empty index with these limits, as JSON.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn fold_open(options: String) -> Result<FoldHandle> {
    Ok(External::new(Mutex::new(Fold::new(parse::<Options>(&options)?))))
}

/// Returns the edits of a text and the calls that they count as JSON, and remembers what of it is shown. `null` if it stays as it is.
#[napi(catch_unwind)]
pub fn fold_text(
    #[napi(ts_arg_type = "object")] fold: &FoldHandle,
    text: String,
    about: String,
) -> Result<Option<String>> {
    let about: About = parse(&about)?;
    let given = Given {
        id: about.id,
        call: about.call,
        tool: &about.tool,
        args: &about.args,
        protected: about.protected,
        argument: about.argument,
        keep: &about.keep,
        min_lines: about.min_lines,
        min_bytes: about.min_bytes,
        since: about.since,
        beside: &about.beside,
        hidden: &about.hidden,
    };
    let folded = lock(fold).fold(&text, &given);
    Ok((!folded.edits.is_empty()).then(|| written(&folded)))
}

/// Returns the names that pointers have for the texts of a call.
#[napi(catch_unwind)]
pub fn fold_labels(tool: String, args: String) -> Vec<String> {
    labels(&tool, &args).into()
}

/// Counts a call whose texts are short. Returns false if no pointer can name such a call.
#[napi(catch_unwind)]
pub fn fold_count(
    #[napi(ts_arg_type = "object")] fold: &FoldHandle,
    call: u32,
    tool: String,
    args: String,
) -> bool {
    lock(fold).count(call, &tool, &args)
}

/// Forgets texts that left the context. With `calls_stay`, their calls are still in view and still count.
#[napi(catch_unwind)]
pub fn fold_forget(
    #[napi(ts_arg_type = "object")] fold: &FoldHandle,
    ids: Vec<u32>,
    calls_stay: bool,
) {
    lock(fold).forget(&ids, calls_stay);
}

/// Forgets everything.
#[napi(catch_unwind)]
pub fn fold_clear(#[napi(ts_arg_type = "object")] fold: &FoldHandle) {
    lock(fold).clear();
}

/// Bytes and lines of the index.
#[napi(catch_unwind)]
pub fn fold_size(#[napi(ts_arg_type = "object")] fold: &FoldHandle) -> Vec<u32> {
    let (bytes, lines) = lock(fold).size();
    vec![bytes as u32, lines as u32]
}

/// Returns the text that was folded: `edits` as `foldText` gave them, `ids` and `texts` what they name. `null` if a text that
/// is named is not there or has fewer lines.
#[napi(catch_unwind)]
pub fn fold_undo(
    folded: String,
    edits: String,
    ids: Vec<u32>,
    texts: Vec<String>,
) -> Result<Option<String>> {
    let edits: Vec<Edit> = parse(&edits)?;
    let text_of = |id| {
        let at = ids.iter().position(|&named| named == id)?;
        texts.get(at).map(String::as_str)
    };
    Ok(unfold(&folded, &edits, text_of))
}
