//! The options of a service, each validated once.

use std::sync::Arc;

use serde_json::Value;

use super::fields::{self, ConfigLayer, Layer, STRATEGIES};
use super::redaction;
use super::smart_rules::smart_rules;
use super::tools::{self, DEFAULTS, Profile};
use crate::error::{Code, Error, Result};
use crate::redaction::redactor::Rules;
use crate::storage::bounds::Bounds;
use crate::storage::directories::{Durability, StoreDirs, is_root};
use crate::storage::head_tail_file::MIN_BYTES;
use crate::truncation::notice::Wording;
use crate::truncation::smart::rules::Rules as SmartRules;
use crate::util::language::Language;
use crate::util::suggest;

/// The validated options of a service.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) global: Layer,
    pub(super) updates: Layer,
    pub(super) tools: Vec<(String, Layer)>,
    pub(super) strategy: Option<String>,
    pub(super) custom_strategy: bool,
    pub(super) smart_rules: Option<Arc<SmartRules>>,
    pub(super) hard_ceiling: Option<u64>,
    pub(super) profile: Option<&'static Profile>,
    pub(super) language: Language,
    pub(super) available_tools: Vec<String>,
    pub(super) notice_inside: bool,
    pub(super) storage_dirs: Vec<String>,
    pub(super) durability: Durability,
    pub(super) max_store_bytes: u64,
    pub(super) max_store_files: u64,
    pub(super) max_file_bytes: Option<u64>,
    pub(super) redact: Option<Arc<Rules>>,
    pub(super) sweep_on_save: Option<bool>,
    pub(super) storage_timeout_ms: u64,
}

/// The names of the options of a service.
pub const OPTIONS: [&str; 20] = [
    "global",
    "tools",
    "onEvent",
    "storage",
    "strategy",
    "smartRules",
    "storageDirs",
    "durability",
    "maxStoreBytes",
    "maxStoreFiles",
    "maxFileBytes",
    "redact",
    "sweepOnSave",
    "hardCeilingBytes",
    "noticeInside",
    "language",
    "availableTools",
    "formatNotice",
    "storageTimeoutMs",
    "profile",
];

impl Settings {
    /// Reads the options of a service.
    pub fn new(options: &Value) -> Result<Self> {
        let code = Code::InvalidConfig;
        let map = fields::object(options, code, "options")?;
        let mut settings = Settings {
            global: Layer::default(),
            updates: Layer::default(),
            tools: Vec::new(),
            strategy: None,
            custom_strategy: false,
            smart_rules: None,
            hard_ceiling: None,
            profile: None,
            language: Language::English,
            available_tools: Vec::new(),
            notice_inside: false,
            storage_dirs: Vec::new(),
            durability: Durability::default(),
            max_store_bytes: 4 << 30,
            max_store_files: 10_000,
            max_file_bytes: None,
            redact: None,
            sweep_on_save: None,
            storage_timeout_ms: 30_000,
        };
        for (key, value) in map {
            let field = key.as_str();
            match field {
                "global" => settings.global = fields::layer(value, ConfigLayer::Global, "global")?,
                "tools" => {
                    for (name, value) in fields::object(value, code, "tools")? {
                        settings.set_tool(name, value)?;
                    }
                }
                "strategy" if value.is_string() => {
                    settings.strategy = Some(fields::choice(value, &STRATEGIES, code, field)?)
                }
                "strategy" => {
                    settings.custom_strategy =
                        kind(value, "strategy", code, field, "a strategy or the name of one")?
                }
                "smartRules" => {
                    settings.smart_rules = Some(smart_rules(value, code, field)?);
                }
                "storage" => {
                    _ = kind(
                        value,
                        "storage",
                        code,
                        field,
                        "an object with save, read, cleanup and getStorageDir",
                    )?
                }
                "onEvent" | "formatNotice" => {
                    _ = kind(value, "function", code, field, "a function")?
                }
                "storageDirs" => settings.storage_dirs = fields::strings(value, code, field)?,
                "availableTools" => settings.available_tools = fields::strings(value, code, field)?,
                "durability" => {
                    settings.durability = fields::one_of(value, &Durability::ALL, code, field)?
                }
                "maxStoreBytes" => settings.max_store_bytes = fields::bound(value, code, field)?,
                "maxStoreFiles" => settings.max_store_files = fields::bound(value, code, field)?,
                "maxFileBytes" => {
                    let max_bytes = fields::count_from(MIN_BYTES, value, code, field)?;
                    settings.max_file_bytes = Some(max_bytes);
                }
                "redact" => settings.redact = redaction::rules(value, code, field)?,
                "sweepOnSave" => {
                    settings.sweep_on_save = Some(fields::boolean(value, code, field)?)
                }
                "hardCeilingBytes" => {
                    settings.hard_ceiling = Some(fields::count(value, code, field)?)
                }
                "noticeInside" => settings.notice_inside = fields::boolean(value, code, field)?,
                "language" => {
                    let name = fields::choice(value, &["en", "zh-CN"], code, field)?;
                    settings.language =
                        if name == "en" { Language::English } else { Language::Chinese };
                }
                "storageTimeoutMs" => {
                    settings.storage_timeout_ms = fields::count(value, code, field)?
                }
                "profile" => {
                    settings.profile = tools::profile(&fields::profile_name(value, code, field)?)
                }
                _ => return Err(suggest::unknown(code, key, key, &OPTIONS)),
            }
        }
        for (index, dir) in settings.storage_dirs.iter().enumerate() {
            check_dir(dir, &format!("storageDirs[{index}]"))?;
        }
        if let Some(dir) = &settings.global.storage_dir {
            check_dir(dir, "global.storageDir")?;
            settings.storage_dirs.insert(0, dir.clone());
        }
        Ok(settings)
    }

    /// Changes the service-wide settings; those that are not given are kept.
    pub fn update(&mut self, value: &Value) -> Result<()> {
        let new = fields::layer(value, ConfigLayer::Update, "config")?;
        let old = std::mem::take(&mut self.updates);
        self.updates = Layer {
            max_lines: new.max_lines.or(old.max_lines),
            max_bytes: new.max_bytes.or(old.max_bytes),
            max_tokens: new.max_tokens.or(old.max_tokens),
            direction: new.direction.or(old.direction),
            enabled: new.enabled.or(old.enabled),
            strategy: new.strategy.or(old.strategy),
            terminal: new.terminal.or(old.terminal),
            ..old
        };
        Ok(())
    }

    /// Sets the user's entry for a tool; the layers below it are not changed.
    pub fn set_tool(&mut self, name: &str, value: &Value) -> Result<()> {
        let layer = fields::layer(value, ConfigLayer::Tool, &format!("tools.{name}"))?;
        self.tools.retain(|(known, _)| known != name);
        self.tools.push((name.to_owned(), layer));
        Ok(())
    }

    /// Returns the requested directories in order.
    pub fn storage_dirs(&self) -> &[String] {
        &self.storage_dirs
    }

    /// Returns the directories that outputs are saved to, and the durability of a save.
    pub fn places(&self) -> StoreDirs {
        StoreDirs::new(&self.storage_dirs, self.durability)
    }

    /// Returns the limits of a store.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            retention_days: self.global.retention_days.unwrap_or(DEFAULTS.retention_days),
            max_bytes: self.max_store_bytes,
            max_files: self.max_store_files,
        }
    }

    /// Returns true if a store enforces its limits by itself.
    pub fn sweeps_on_save(&self) -> bool {
        let by_profile = self.profile.is_none_or(|profile| profile.sweeps);
        self.sweep_on_save.unwrap_or(by_profile)
    }

    /// Returns the maximum size of a saved file in bytes, if there is one.
    pub fn max_file_bytes(&self) -> Option<u64> {
        self.max_file_bytes
    }

    /// Returns the rules for secrets in saved outputs.
    pub fn redact(&self) -> Option<&Arc<Rules>> {
        self.redact.as_ref()
    }

    /// Returns the caller's rules for `smart`.
    pub fn smart_rules(&self) -> Option<&Arc<SmartRules>> {
        self.smart_rules.as_ref()
    }

    /// Returns how long to wait for a custom storage, in milliseconds.
    pub fn storage_timeout_ms(&self) -> u64 {
        self.storage_timeout_ms
    }

    /// Returns the tools that a notice may name.
    pub fn available_tools(&self) -> &[String] {
        &self.available_tools
    }

    /// Returns the messages of notices.
    pub fn wording(&self) -> &'static Wording {
        tools::wording(self.profile, self.language)
    }

    /// Returns true if the notice counts towards the limits.
    pub fn notice_inside(&self) -> bool {
        self.notice_inside
    }
}

/// Validates limits of a store that do not come with the options of a service. Messages name a field by `path` and its
/// key.
pub fn check_bounds(options: &Value, path: &str) -> Result<()> {
    let code = Code::InvalidConfig;
    for (key, value) in fields::object(options, code, path)? {
        let field = format!("{path}{key}");
        match key.as_str() {
            "retentionDays" => _ = fields::days(value, code, &field)?,
            "maxStoreBytes" | "maxStoreFiles" => _ = fields::bound(value, code, &field)?,
            _ => return Err(suggest::unknown(code, &field, key, &BOUNDS)),
        }
    }
    Ok(())
}

const BOUNDS: [&str; 3] = ["retentionDays", "maxStoreBytes", "maxStoreFiles"];

/// Returns true for a value that the facade sends as `{"$type": kind}`, because it is not data.
fn kind(value: &Value, kind: &str, code: Code, field: &str, allowed: &str) -> Result<bool> {
    if value.get("$type").and_then(Value::as_str) == Some(kind) {
        return Ok(true);
    }
    Err(fields::refuse(value, code, field, allowed))
}

fn check_dir(dir: &str, field: &str) -> Result<()> {
    let refused = dir.trim().is_empty() || dir.contains('\0') || is_root(dir);
    if refused {
        let problem =
            format!("expected the path of a folder that is not the root, received {dir:?}");
        return Err(Error::field(Code::InvalidConfig, field, problem));
    }
    Ok(())
}
