//! The configuration of a user: what holds crosses as JSON, and the file is changed on a thread.

use std::path::PathBuf;

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use spillway_core::config::file::{self, Updated};
use spillway_core::config::{edit, fields, load, tree};

use crate::error::{Result, from_core};
use crate::json::json;
use crate::task::{Job, run};

/// What holds, as JSON. `inline` is JSON.
#[napi(catch_unwind)]
pub fn config_load(file: Option<String>, inline: Option<String>) -> Result<String> {
    let read = file.as_deref().map_or(Ok(None), |file| file::read(&PathBuf::from(file)));
    load::load(file.as_deref().unwrap_or(""), file::found(&read), inline.as_deref())
        .map_err(from_core)
}

/// What a text that is the user's file would mean, as JSON.
#[napi(catch_unwind)]
pub fn config_text(file: String, text: String) -> Result<String> {
    load::load(&file, load::Found::Text(&text), None).map_err(from_core)
}

/// The text of a file, read on a thread; empty if there is none.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn config_read(file: String) -> AsyncTask<Job<String>> {
    run(move || file::text(&PathBuf::from(file)))
}

/// The value of a text, as JSON.
#[napi(catch_unwind)]
pub fn config_content(text: String) -> Result<String> {
    edit::content(&text).map(|node: tree::Node| node.json()).map_err(from_core)
}

/// Changes a file by a merge patch, with `seen` only if that is its text. Answers the text, or nothing if it was another.
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

/// What is odd about a configuration, as JSON in and out.
#[napi(catch_unwind)]
pub fn config_lint(config: String) -> Result<String> {
    Ok(json(&load::lint(&config).map_err(from_core)?))
}

/// The JSON Schema for editors.
#[napi(catch_unwind)]
pub fn config_schema() -> String {
    json(&fields::schema())
}

/// The keys as a table of Markdown.
#[napi(catch_unwind)]
pub fn config_table() -> String {
    fields::table()
}
