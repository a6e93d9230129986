//! Bindings of the settings of a service: read once, evaluated per tool.

use std::sync::{Arc, Mutex, MutexGuard};

use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde_json::Value;
use spillway_core::options::{
    self, Call, DEFAULTS, OPTIONS, Settings, built_in_tools, finite_or_infinity,
};
use spillway_core::tools::{Kind, arguments, kind_of};
use spillway_core::util::sort::object;
use spillway_core::util::sync;

use crate::error::{Result, from_core};
use crate::intake_stages::Buffers;
use crate::json::{json, parse};

/// The settings of one service.
pub type SettingsHandle = External<Service>;

/// The native state of one service.
pub struct Service {
    settings: Mutex<Settings>,
    pub(crate) buffers: Arc<Buffers>,
}

/// Returns the defaults, and the settings that differ for single tools, as JSON.
#[napi(catch_unwind)]
pub fn default_settings() -> String {
    let tools =
        object(built_in_tools().map(|(name, tool)| (name.to_owned(), serde_json::json!(tool))));
    serde_json::json!({ "config": DEFAULTS, "tools": tools, "optionFields": OPTIONS }).to_string()
}

/// Reads the options of a service.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn settings_open(options: String) -> Result<SettingsHandle> {
    let settings = Settings::new(&parse(&options)?).map_err(from_core)?;
    Ok(External::new(Service { settings: Mutex::new(settings), buffers: Arc::default() }))
}

/// Returns the settings that the facade needs itself, as JSON.
#[napi(catch_unwind)]
pub fn settings_facts(#[napi(ts_arg_type = "object")] settings: &SettingsHandle) -> String {
    let settings = lock(settings);
    let bounds = settings.bounds();
    serde_json::json!({
        "storageDirs": settings.storage_dirs(),
        "durability": settings.places().durability,
        "maxStoreBytes": bound_or_tag(bounds.max_bytes),
        "maxStoreFiles": bound_or_tag(bounds.max_files),
        "maxFileBytes": settings.max_file_bytes(),
        "redacts": settings.redact().is_some(),
        "retentionDays": finite_or_infinity(bounds.retention_days),
        "sweepOnSave": settings.sweeps_on_save(),
        "storageTimeoutMs": settings.storage_timeout_ms(),
    })
    .to_string()
}

/// Validates limits of a store that do not come with the options of a service; `path` is prepended to the names of the
/// fields.
#[napi(catch_unwind)]
pub fn check_bounds(options: String, path: String) -> Result<()> {
    options::check_bounds(&parse(&options)?, &path).map_err(from_core)
}

/// Changes the service-wide settings.
#[napi(catch_unwind)]
pub fn settings_update(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    change: String,
) -> Result<()> {
    lock(settings).update(&parse(&change)?).map_err(from_core)
}

/// Sets the user's entry for a tool.
#[napi(catch_unwind)]
pub fn settings_set_tool(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    tool: String,
    entry: String,
) -> Result<()> {
    lock(settings).set_tool(&tool, &parse(&entry)?).map_err(from_core)
}

/// Returns the plan for a call as JSON.
#[napi(catch_unwind)]
pub fn settings_plan(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    tool: String,
    failed: bool,
    handled: bool,
    defaults: Option<String>,
    declared: Option<String>,
    options: Option<String>,
) -> Result<String> {
    let defaults = defaults.as_deref().map(parse::<Value>).transpose()?;
    let declared = declared.as_deref().map(parse::<Value>).transpose()?;
    let options = options.as_deref().map(parse::<Value>).transpose()?;
    let call = Call {
        tool: &tool,
        failed,
        handled,
        defaults: defaults.as_ref(),
        declared: declared.as_ref(),
        options: options.as_ref(),
    };
    Ok(json(&lock(settings).plan(&call).map_err(from_core)?))
}

/// Returns true if a tool runs commands, by its whole name or by the part after that of its server.
#[napi(catch_unwind)]
pub fn is_shell_tool(tool: String) -> bool {
    kind_of(&tool) == Some(Kind::Terminal)
}

/// Returns the command in the arguments of a shell tool, given as JSON.
#[napi(catch_unwind)]
pub fn command_of(args: String) -> Result<Option<String>> {
    Ok(arguments::command_of(&parse(&args)?))
}

pub(crate) fn lock(settings: &SettingsHandle) -> MutexGuard<'_, Settings> {
    sync::lock(&settings.settings)
}

fn bound_or_tag(bound: u64) -> Value {
    if bound == u64::MAX { finite_or_infinity(f64::INFINITY) } else { serde_json::json!(bound) }
}
