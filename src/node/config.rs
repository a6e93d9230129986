//! Bindings of the configuration. Files are read and changed on a thread.

use std::path::PathBuf;

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use spillway_core::config::file::{self, Updated};
use spillway_core::config::{edit, fields, load, tree};

use crate::error::{Result, from_core};
use crate::json::json;
use crate::task::{Job, run};

/// Returns the effective configuration as JSON. `inline` is JSON.
#[napi(catch_unwind)]
pub fn config_load(file: Option<String>, inline: Option<String>) -> Result<String> {
    let read = file.as_deref().map_or(Ok(None), |file| file::read(&PathBuf::from(file)));
    load::load(file.as_deref().unwrap_or(""), file::found(&read), inline.as_deref())
        .map_err(from_core)
}

/// Returns the configuration for a text as the user's file, as JSON.
#[napi(catch_unwind)]
pub fn config_text(file: String, text: String) -> Result<String> {
    load::load(&file, load::Found::Text(&text), None).map_err(from_core)
}

/// Reads the text of a file on a thread; empty if it does not exist.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn config_read(file: String) -> AsyncTask<Job<String>> {
    run(move || file::text(&PathBuf::from(file)))
}

/// Returns the value of a text as JSON.
#[napi(catch_unwind)]
pub fn config_content(text: String) -> Result<String> {
    edit::content(&text).map(|node: tree::Node| node.json()).map_err(from_core)
}

/// Applies a merge patch to a file; with `seen`, only if that is its text. Resolves to the new text, or to nothing if
/// the text was another.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn config_update(
    file: String,
    change: String,
    seen: Option<String>,
) -> AsyncTask<Job<Option<String>>> {
    run(move || {
        let change = load::inline_node(&change)?;
        Ok(match file::update(&PathBuf::from(file), &change, seen.as_deref())? {
            Updated::Done(text) => Some(text),
            Updated::Moved => None,
        })
    })
}

/// Returns the findings for a configuration, both as JSON.
#[napi(catch_unwind)]
pub fn config_lint(config: String) -> Result<String> {
    Ok(json(&load::lint(&config).map_err(from_core)?))
}

/// Returns the JSON Schema for editors.
#[napi(catch_unwind)]
pub fn config_schema() -> String {
    json(&fields::schema())
}

/// Returns the keys as a Markdown table.
#[napi(catch_unwind)]
pub fn config_table() -> String {
    fields::table()
}
