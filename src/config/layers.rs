//! Layers, weakest first: defaults, profile, built-in settings of the tool, the service's `global`, what the tool
//! declares, the user's entry for the tool, the fact that the call failed, the options of the call.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fields::{self, Layer, Place, STRATEGIES};
use super::redaction;
use super::tools::{self, DEFAULTS, Profile};
use crate::error::{Code, Error, Result};
use crate::store::part::LEAST_BYTES;
use crate::store::places::{Durability, Places, is_root};
use crate::store::redact::Rules;
use crate::store::sweep::Bounds;
use crate::suggest;
use crate::text::lines::LineRule;
use crate::truncate::limits::{Direction, Limits};
use crate::truncate::notice::{Language, Wording};

/// The hard ceiling, unless it is set: so many times the limit in bytes.
const CEILING_FACTOR: u64 = 4;

/// Everything that a service was told, checked.
#[derive(Debug, Clone)]
pub struct Settings {
    global: Layer,
    updates: Layer,
    tools: Vec<(String, Layer)>,
    strategy: Option<String>,
    custom_strategy: bool,
    hard_ceiling: Option<u64>,
    profile: Option<&'static Profile>,
    language: Language,
    available_tools: Vec<String>,
    notice_inside: bool,
    storage_dirs: Vec<String>,
    durability: Durability,
    max_store_bytes: u64,
    max_store_files: u64,
    max_file_bytes: Option<u64>,
    redact: Option<Arc<Rules>>,
    sweep_on_save: Option<bool>,
    storage_timeout_ms: u64,
}

/// What happens to an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It is bounded.
    Bound,
    /// The caller wants it left alone.
    Leave,
    /// Its tool wants it left alone, which holds up to the hard ceiling.
    Ceiling,
}

/// What a call does, worked out from all layers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The effective settings, as `effectiveConfig` shows them.
    pub config: Value,
    /// For each of them, the layer that it came from.
    pub sources: Map<String, Value>,
    /// What happens to the output.
    pub mode: Mode,
    /// The budget, as the strategy reads it.
    pub limits: Limits,
    /// The budget when a tool's wish, or a custom strategy, is overruled.
    pub default_limits: Limits,
    /// A text of so many UTF-16 units or fewer surely needs nothing.
    pub sure_units: f64,
    /// Bytes up to which a tool's own wish is granted.
    pub hard_ceiling_bytes: u64,
    /// Whether the caller's own strategy object decides.
    pub custom_strategy: bool,
}

/// One call, as far as its settings go.
#[derive(Debug, Default)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The call failed.
    pub failed: bool,
    /// The output says of itself that it has been dealt with.
    pub handled: bool,
    /// What the tool declares.
    pub declared: Option<&'a Value>,
    /// The options of the call.
    pub options: Option<&'a Value>,
}

/// The options of a service, by name.
pub const OPTIONS: [&str; 19] = [
    "global",
    "tools",
    "onEvent",
    "storage",
    "strategy",
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

/// The budget that a strategy reads out of a configuration; what that leaves open is as by default.
pub fn limits_of(config: &Value, strategy: &str) -> Result<Limits> {
    let layer = fields::layer(config, Place::Strategy, "config")?;
    let limits = Limits {
        max_lines: layer.max_lines.unwrap_or(DEFAULTS.max_lines),
        max_bytes: layer.max_bytes.unwrap_or(DEFAULTS.max_bytes),
        direction: layer.direction.unwrap_or(DEFAULTS.direction),
        line_rule: LineRule::Terminated,
    };
    Ok(strategy_limits(strategy, limits, u64::MAX))
}

/// What a strategy makes of both limits. Lines alone could be of any length; `ceiling` bounds them.
fn strategy_limits(strategy: &str, limits: Limits, ceiling: u64) -> Limits {
    match strategy {
        "line" => Limits { max_bytes: ceiling, ..limits },
        "byte" => Limits { max_lines: u64::MAX, ..limits },
        _ => limits,
    }
}

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
                "global" => settings.global = fields::layer(value, Place::Global, "global")?,
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
                "storageDirs" => settings.storage_dirs = strings(value, code, field)?,
                "availableTools" => settings.available_tools = strings(value, code, field)?,
                "durability" => {
                    let name = fields::choice(value, &["process", "file", "full"], code, field)?;
                    settings.durability = match name.as_str() {
                        "full" => Durability::Full,
                        "file" => Durability::File,
                        _ => Durability::Process,
                    }
                }
                "maxStoreBytes" => settings.max_store_bytes = fields::count(value, code, field)?,
                "maxStoreFiles" => settings.max_store_files = fields::count(value, code, field)?,
                "maxFileBytes" => {
                    let most = fields::count_from(LEAST_BYTES, value, code, field)?;
                    settings.max_file_bytes = Some(most);
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
                // A message begins with a name, even with this one.
                "" => return Err(suggest::unknown(code, "\"\"", key, &OPTIONS, "a setting")),
                _ => return Err(suggest::unknown(code, key, key, &OPTIONS, "a setting")),
            }
        }
        if let Some(dir) = &settings.global.storage_dir {
            settings.storage_dirs.insert(0, dir.clone());
        }
        for (index, dir) in settings.storage_dirs.iter().enumerate() {
            let field = if settings.global.storage_dir.is_none() {
                format!("storageDirs.{index}")
            } else {
                "global.storageDir".to_owned()
            };
            check_dir(dir, &field)?;
        }
        Ok(settings)
    }

    /// Changes the service-wide settings; what is not given stays.
    pub fn update(&mut self, value: &Value) -> Result<()> {
        let new = fields::layer(value, Place::Update, "config")?;
        let old = std::mem::take(&mut self.updates);
        self.updates = Layer {
            max_lines: new.max_lines.or(old.max_lines),
            max_bytes: new.max_bytes.or(old.max_bytes),
            direction: new.direction.or(old.direction),
            enabled: new.enabled.or(old.enabled),
            strategy: new.strategy.or(old.strategy),
            ..old
        };
        Ok(())
    }

    /// Sets the user's entry for a tool; the layers below stay as they are.
    pub fn set_tool(&mut self, name: &str, value: &Value) -> Result<()> {
        let layer = fields::layer(value, Place::Tool, &format!("tools.{name}"))?;
        self.tools.retain(|(known, _)| known != name);
        self.tools.push((name.to_owned(), layer));
        Ok(())
    }

    /// The folders that were asked for, in order.
    pub fn storage_dirs(&self) -> &[String] {
        &self.storage_dirs
    }

    /// Where outputs are saved, and what a save survives.
    pub fn places(&self) -> Places {
        Places::new(&self.storage_dirs, self.durability)
    }

    /// What a store may hold.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            retention_days: self.global.retention_days.unwrap_or(DEFAULTS.retention_days),
            max_bytes: self.max_store_bytes,
            max_files: self.max_store_files,
        }
    }

    /// Whether a store keeps itself within its bounds.
    pub fn sweeps_on_save(&self) -> bool {
        let by_profile = self.profile.is_none_or(|profile| profile.sweeps);
        self.sweep_on_save.unwrap_or(by_profile)
    }

    /// Bytes that a saved file may have, if there is a bound.
    pub fn max_file_bytes(&self) -> Option<u64> {
        self.max_file_bytes
    }

    /// What is redacted in what is saved.
    pub fn redact(&self) -> Option<&Arc<Rules>> {
        self.redact.as_ref()
    }

    /// Milliseconds to wait for a custom storage.
    pub fn storage_timeout_ms(&self) -> u64 {
        self.storage_timeout_ms
    }

    /// The tools that a notice may name.
    pub fn available_tools(&self) -> &[String] {
        &self.available_tools
    }

    /// The words of notices.
    pub fn wording(&self) -> &'static Wording {
        tools::wording(self.profile, self.language)
    }

    /// Whether the whole text keeps the limits.
    pub fn notice_inside(&self) -> bool {
        self.notice_inside
    }

    /// What a call does.
    pub fn plan(&self, call: &Call<'_>) -> Result<Plan> {
        let declared =
            call.declared.map(|value| fields::layer(value, Place::Tool, "declared")).transpose()?;
        let options =
            call.options.map(|value| fields::layer(value, Place::Call, "options")).transpose()?;
        let canonical = tools::canonical(call.tool);
        let built_in = canonical
            .filter(|_| self.profile.is_none_or(|profile| profile.tools))
            .and_then(tools::defaults_of);
        let built_in = built_in.map(|tool| Layer {
            max_lines: tool.max_lines,
            direction: tool.direction,
            enabled: tool.enabled,
            ..Layer::default()
        });
        let failed =
            call.failed.then(|| Layer { direction: Some(Direction::Tail), ..Layer::default() });
        // An entry for a tool under another of its names holds too; the very name wins over it.
        let by_alias = self.tools.iter().filter(|(name, _)| {
            name != call.tool && canonical.is_some() && tools::canonical(name) == canonical
        });
        let by_name = self.tools.iter().filter(|(name, _)| name == call.tool);

        let mut fold = Fold::new(self.strategy.as_deref(), self.custom_strategy);
        fold.add("built-in tool", built_in.as_ref());
        fold.add("global", Some(&self.global));
        if !self.storage_dirs.is_empty() {
            fold.note("storageDir", "global");
        }
        fold.add("global", Some(&self.updates));
        fold.add("declared", declared.as_ref());
        for (_, layer) in by_alias.chain(by_name) {
            fold.add("tool", Some(layer));
        }
        fold.add("failed result", failed.as_ref());
        fold.add("call", options.as_ref());
        Ok(self.finish(fold, call))
    }

    fn finish(&self, fold: Fold, call: &Call<'_>) -> Plan {
        let ceiling = self.hard_ceiling.unwrap_or(fold.max_bytes.saturating_mul(CEILING_FACTOR));
        let line_rule = self.profile.map_or(LineRule::Terminated, |profile| profile.line_rule);
        let default_limits = Limits {
            max_lines: fold.max_lines,
            max_bytes: fold.max_bytes,
            direction: fold.direction,
            line_rule,
        };
        let limits = strategy_limits(&fold.strategy, default_limits, ceiling);
        let by_tool =
            fold.source("enabled") == "built-in tool" || fold.source("enabled") == "declared";
        let mode = match (fold.enabled, by_tool) {
            (true, _) if call.handled && fold.source("enabled") != "call" => Mode::Ceiling,
            (true, _) => Mode::Bound,
            (false, true) => Mode::Ceiling,
            (false, false) => Mode::Leave,
        };
        // A UTF-16 unit is at most three bytes, and a line has at least one unit.
        let sure = |max_lines: u64, max_bytes: u64| (max_lines as f64).min((max_bytes / 3) as f64);
        let split = f64::from(u8::from(line_rule == LineRule::Split));
        let sure_units = match mode {
            // Nobody knows what the caller's strategy thinks of a short text.
            Mode::Bound if fold.custom => -1.0,
            Mode::Bound => sure(limits.max_lines, limits.max_bytes) - split,
            Mode::Leave => f64::MAX,
            Mode::Ceiling => sure(u64::MAX, ceiling),
        };
        let mut config = json!({
            "maxLines": fold.max_lines,
            "maxBytes": fold.max_bytes,
            "direction": fold.direction,
            "enabled": fold.enabled,
            "strategy": fold.strategy,
            "hardCeilingBytes": ceiling,
        });
        if let Value::Object(config) = &mut config {
            let days = self.bounds().retention_days;
            config.insert(
                "retentionDays".into(),
                if days.is_finite() { json!(days) } else { json!({ "$type": "Infinity" }) },
            );
            if let Some(dir) = self.storage_dirs.first() {
                config.insert("storageDir".into(), json!(dir));
            }
        }
        Plan {
            config,
            custom_strategy: fold.custom,
            sources: fold.sources,
            mode,
            limits,
            default_limits,
            sure_units,
            hard_ceiling_bytes: ceiling,
        }
    }
}

/// The layers so far, one over the other.
struct Fold {
    max_lines: u64,
    max_bytes: u64,
    direction: Direction,
    enabled: bool,
    strategy: String,
    custom: bool,
    sources: Map<String, Value>,
}

impl Fold {
    fn new(strategy: Option<&str>, custom: bool) -> Self {
        let names = [
            "maxLines",
            "maxBytes",
            "direction",
            "enabled",
            "retentionDays",
            "storageDir",
            "strategy",
        ];
        let mut fold = Fold {
            max_lines: DEFAULTS.max_lines,
            max_bytes: DEFAULTS.max_bytes,
            direction: DEFAULTS.direction,
            enabled: DEFAULTS.enabled,
            strategy: strategy.unwrap_or("default").to_owned(),
            custom,
            sources: names.iter().map(|name| ((*name).to_owned(), json!("default"))).collect(),
        };
        if custom {
            fold.strategy = "custom".to_owned();
        }
        if custom || strategy.is_some() {
            fold.note("strategy", "global");
        }
        fold
    }

    fn add(&mut self, source: &str, layer: Option<&Layer>) {
        let Some(layer) = layer else { return };
        if let Some(value) = layer.max_lines {
            self.max_lines = value;
            self.note("maxLines", source);
        }
        if let Some(value) = layer.max_bytes {
            self.max_bytes = value;
            self.note("maxBytes", source);
        }
        if let Some(value) = layer.direction {
            self.direction = value;
            self.note("direction", source);
        }
        if let Some(value) = layer.enabled {
            self.enabled = value;
            self.note("enabled", source);
        }
        if let Some(value) = &layer.strategy {
            self.strategy.clone_from(value);
            self.custom = false;
            self.note("strategy", source);
        }
        if layer.retention_days.is_some() {
            self.note("retentionDays", source);
        }
    }

    fn note(&mut self, field: &str, source: &str) {
        self.sources.insert(field.to_owned(), json!(source));
    }

    fn source(&self, field: &str) -> &str {
        self.sources.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

/// The facade sends what is not data as `{"$type": kind}`.
fn kind(value: &Value, kind: &str, code: Code, field: &str, allowed: &str) -> Result<bool> {
    if value.get("$type").and_then(Value::as_str) == Some(kind) {
        return Ok(true);
    }
    Err(fields::refuse(value, code, field, allowed))
}

fn strings(value: &Value, code: Code, field: &str) -> Result<Vec<String>> {
    let Value::Array(items) = value else {
        return Err(fields::refuse(value, code, field, "an array of strings"));
    };
    items
        .iter()
        .enumerate()
        .map(|(index, item)| fields::text(item, code, &format!("{field}.{index}")))
        .collect()
}

fn check_dir(dir: &str, field: &str) -> Result<()> {
    let refused = dir.trim().is_empty() || dir.contains('\0') || is_root(dir);
    if refused {
        let problem = format!("got {dir:?}, allowed is the path of a folder that is not the root");
        return Err(Error::field(Code::InvalidConfig, field, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: Value, call: &Call<'_>) -> Plan {
        Settings::new(&options).and_then(|settings| settings.plan(call)).unwrap()
    }

    fn tool(name: &str) -> Call<'_> {
        Call { tool: name, ..Call::default() }
    }

    #[test]
    fn each_layer_wins_over_those_below_field_by_field() {
        let options =
            json!({ "global": { "maxLines": 100 }, "tools": { "bash": { "maxBytes": 10 } } });
        let declared = json!({ "maxLines": 50, "maxBytes": 20 });
        let call_options = json!({ "direction": "both" });
        let call = Call {
            declared: Some(&declared),
            options: Some(&call_options),
            failed: true,
            ..tool("shell")
        };
        let plan = plan(options, &call);
        assert_eq!(
            plan.limits,
            Limits {
                max_lines: 50,
                max_bytes: 10,
                direction: Direction::Both,
                line_rule: LineRule::Terminated
            }
        );
        let sources = ["maxLines", "maxBytes", "direction", "enabled"]
            .map(|field| plan.sources[field].as_str().unwrap());
        assert_eq!(sources, ["declared", "tool", "call", "default"]);
    }

    #[test]
    fn a_tool_that_is_off_is_left_alone_up_to_the_ceiling() {
        assert_eq!(plan(json!({}), &tool("read_file")).mode, Mode::Ceiling);
        assert_eq!(
            plan(json!({ "tools": { "read": { "enabled": true } } }), &tool("Read")).mode,
            Mode::Bound
        );
        assert_eq!(plan(json!({ "global": { "enabled": false } }), &tool("x")).mode, Mode::Leave);
        let skip = json!({ "skip": false });
        assert_eq!(
            plan(json!({}), &Call { options: Some(&skip), ..tool("read") }).mode,
            Mode::Bound
        );
        assert_eq!(plan(json!({}), &Call { handled: true, ..tool("x") }).mode, Mode::Ceiling);
    }

    #[test]
    fn what_is_sure_without_looking() {
        assert_eq!(plan(json!({}), &tool("x")).sure_units, 2000.0);
        assert_eq!(plan(json!({ "strategy": "byte" }), &tool("x")).sure_units, 17066.0);
        assert_eq!(plan(json!({ "profile": "opencode" }), &tool("x")).sure_units, 1999.0);
        assert_eq!(plan(json!({}), &tool("read")).sure_units, 68266.0);
    }

    #[test]
    fn a_failed_result_shows_its_end() {
        assert_eq!(
            plan(json!({ "global": { "direction": "head" } }), &Call { failed: true, ..tool("x") })
                .limits
                .direction,
            Direction::Tail
        );
    }

    #[test]
    fn updates_add_up() {
        let mut settings = Settings::new(&json!({ "global": { "maxLines": 9 } })).unwrap();
        settings.update(&json!({ "maxBytes": 5 })).unwrap();
        settings.update(&json!({ "maxLines": 7 })).unwrap();
        let limits = settings.plan(&tool("x")).unwrap().limits;
        assert_eq!((limits.max_lines, limits.max_bytes), (7, 5));
        assert!(settings.update(&json!({ "storageDir": "/tmp/x" })).is_err());
    }

    #[test]
    fn unknown_options_and_bad_folders_are_errors() {
        let message = |options| Settings::new(&options).map(|_| ()).unwrap_err().message;
        assert_eq!(
            message(json!({ "globl": {} })),
            "globl: is not a setting; did you mean global?"
        );
        assert!(message(json!({ "": 1 })).starts_with("\"\": is not a setting; known are global"));
        assert!(
            message(json!({ "tools": { "bash": { "storageDir": "/x" } } }))
                .starts_with("tools.bash.storageDir: belongs")
        );
        assert!(
            message(json!({ "storageDirs": ["/x", ""] })).starts_with("storageDirs.1: got \"\"")
        );
        assert!(
            message(json!({ "global": { "storageDir": "/" } })).starts_with("global.storageDir")
        );
        assert!(message(json!({ "onEvent": 3 })).starts_with("onEvent: got 3"));
    }
}
