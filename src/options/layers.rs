//! Merges layers. From weakest to strongest: defaults, profile, built-in settings of the tool, the caller's defaults, the
//! service's `global`, settings declared by the tool, the user's entry for the tool, the settings for failed calls, the options
//! of the call.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fields::{self, ConfigLayer, Layer};
use super::settings::Settings;
use super::tools::{self, DEFAULTS};
use crate::error::Result;
use crate::text::lines::LineRule;
use crate::tokens;
use crate::tools::printed_by;
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::smart::Keep;

/// Default of the hard ceiling as a multiple of the limit in bytes.
const CEILING_FACTOR: u64 = 4;

/// How an output is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It is truncated.
    Bound,
    /// It is left whole at the caller's request.
    Leave,
    /// It is left whole up to the hard ceiling, as its tool requests.
    Ceiling,
}

/// The settings of one call, computed from all layers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The effective settings, as `effectiveConfig` shows them.
    pub config: Value,
    /// The layer that each of them comes from.
    pub sources: Map<String, Value>,
    pub mode: Mode,
    /// The limits as the strategy interprets them.
    pub limits: Limits,
    /// The limits if a tool's own setting, or a custom strategy, is overruled.
    pub default_limits: Limits,
    /// Maximum length in UTF-16 code units of a text that is within the limits for certain; -1 if there is none.
    pub sure_units: f64,
    /// Maximum number of bytes up to which a tool's own setting holds.
    pub hard_ceiling_bytes: u64,
    /// True if a strategy object of the caller decides.
    pub custom_strategy: bool,
}

/// The facts about a call that its settings depend on.
#[derive(Debug, Default)]
pub struct Call<'a> {
    pub tool: &'a str,
    pub failed: bool,
    /// True if the output contains a notice already.
    pub handled: bool,
    /// The caller's defaults.
    pub defaults: Option<&'a Value>,
    /// The settings that the tool declares.
    pub declared: Option<&'a Value>,
    pub options: Option<&'a Value>,
}

/// Returns the limits that a strategy reads from a configuration. Settings that it lacks have their defaults.
pub fn limits_of(config: &Value, strategy: &str) -> Result<Limits> {
    let layer = fields::layer(config, ConfigLayer::Strategy, "config")?;
    let limits = Limits {
        max_lines: layer.max_lines.unwrap_or(DEFAULTS.max_lines),
        max_bytes: layer.max_bytes.unwrap_or(DEFAULTS.max_bytes),
        max_tokens: layer.max_tokens.unwrap_or(u64::MAX),
        direction: layer.direction.unwrap_or(DEFAULTS.direction),
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    Ok(strategy_limits(strategy, limits, u64::MAX, ""))
}

/// Applies a strategy to both limits. A limit on lines alone does not limit bytes; `ceiling` does.
fn strategy_limits(strategy: &str, limits: Limits, ceiling: u64, tool: &str) -> Limits {
    match strategy {
        "line" => Limits { max_bytes: ceiling, ..limits },
        "byte" => Limits { max_lines: u64::MAX, ..limits },
        _ => Limits { keep: Keep::of(strategy, printed_by(tool)), ..limits },
    }
}

impl Settings {
    /// Computes the settings of a call.
    pub fn plan(&self, call: &Call<'_>) -> Result<Plan> {
        let defaults = call
            .defaults
            .map(|value| fields::layer(value, ConfigLayer::Tool, "defaults"))
            .transpose()?;
        let declared = call
            .declared
            .map(|value| fields::layer(value, ConfigLayer::Tool, "declared"))
            .transpose()?;
        let options = call
            .options
            .map(|value| fields::layer(value, ConfigLayer::Call, "options"))
            .transpose()?;
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
        // An entry under another name of the tool applies too; one under the exact name wins over it.
        let by_alias = self.tools.iter().filter(|(name, _)| {
            name != call.tool && canonical.is_some() && tools::canonical(name) == canonical
        });
        let by_name = self.tools.iter().filter(|(name, _)| name == call.tool);

        let mut fold = Fold::new();
        fold.add("built-in tool", built_in.as_ref());
        // A profile has the numbers and rules of its agent, and no others.
        fold.add("caller", defaults.as_ref().filter(|_| self.profile.is_none()));
        fold.choose(self.strategy.as_deref(), self.custom_strategy);
        fold.add("global", Some(&self.global));
        if !self.storage_dirs.is_empty() {
            fold.note("storageDir", "global");
        }
        fold.add("global", Some(&self.updates));
        fold.add("declared", declared.as_ref());
        for (_, layer) in by_alias.chain(by_name) {
            fold.add("tool", Some(layer));
        }
        let is_end_chosen =
            fold.is_end_chosen() || options.as_ref().is_some_and(|call| call.direction.is_some());
        fold.add("failed result", failed.as_ref());
        fold.add("call", options.as_ref());
        if is_end_chosen {
            fold.leave_callers_strategy();
        }
        Ok(self.finish(fold, call))
    }

    fn finish(&self, fold: Fold, call: &Call<'_>) -> Plan {
        let ceiling = self.hard_ceiling.unwrap_or(fold.max_bytes.saturating_mul(CEILING_FACTOR));
        let line_rule = self.profile.map_or(LineRule::Terminated, |profile| profile.line_rule);
        let default_limits = Limits {
            max_lines: fold.max_lines,
            max_bytes: fold.max_bytes,
            max_tokens: fold.max_tokens.unwrap_or(u64::MAX),
            direction: fold.direction,
            line_rule,
            keep: Default::default(),
            terminal: fold.terminal,
        };
        let limits = strategy_limits(&fold.strategy, default_limits, ceiling, call.tool);
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
            // A custom strategy may truncate texts of any length.
            Mode::Bound if fold.custom => -1.0,
            Mode::Bound => {
                let sure = sure(limits.max_lines, limits.max_bytes) - split;
                sure.min(tokens::units_within(limits.max_tokens) as f64)
            }
            Mode::Leave => f64::MAX,
            Mode::Ceiling => sure(u64::MAX, ceiling),
        };
        let mut config = json!({
            "maxLines": fold.max_lines,
            "maxBytes": fold.max_bytes,
            "direction": fold.direction,
            "enabled": fold.enabled,
            "strategy": fold.strategy,
            "terminal": fold.terminal,
            "hardCeilingBytes": ceiling,
        });
        if let Value::Object(config) = &mut config {
            if let Some(max_tokens) = fold.max_tokens {
                config.insert("maxTokens".into(), json!(max_tokens));
            }
            let days = fields::finite_or_infinity(self.bounds().retention_days);
            config.insert("retentionDays".into(), days);
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

/// The layers merged so far.
struct Fold {
    max_lines: u64,
    max_bytes: u64,
    max_tokens: Option<u64>,
    direction: Direction,
    enabled: bool,
    strategy: String,
    custom: bool,
    terminal: bool,
    sources: Map<String, Value>,
}

impl Fold {
    fn new() -> Self {
        let names = [
            "maxLines",
            "maxBytes",
            "direction",
            "enabled",
            "retentionDays",
            "storageDir",
            "strategy",
            "terminal",
        ];
        Fold {
            max_lines: DEFAULTS.max_lines,
            max_bytes: DEFAULTS.max_bytes,
            max_tokens: None,
            direction: DEFAULTS.direction,
            enabled: DEFAULTS.enabled,
            strategy: "default".to_owned(),
            custom: false,
            terminal: false,
            sources: names.iter().map(|name| ((*name).to_owned(), json!("default"))).collect(),
        }
    }

    /// Sets the strategy of the service.
    fn choose(&mut self, strategy: Option<&str>, custom: bool) {
        let Some(strategy) = strategy.or(custom.then_some("custom")) else { return };
        self.strategy = strategy.to_owned();
        self.custom = custom;
        self.note("strategy", "global");
    }

    /// Returns true if a setting names the end that is kept.
    fn is_end_chosen(&self) -> bool {
        matches!(self.source("direction"), "global" | "declared" | "tool")
    }

    /// Drops a strategy that is only a default of the caller: it would show other lines than the chosen end.
    fn leave_callers_strategy(&mut self) {
        if self.source("strategy") == "caller" {
            self.strategy = "default".to_owned();
            self.note("strategy", "default");
        }
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
        if let Some(value) = layer.max_tokens {
            self.max_tokens = Some(value);
            self.note("maxTokens", source);
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
        if let Some(value) = layer.terminal {
            self.terminal = value;
            self.note("terminal", source);
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
                max_tokens: u64::MAX,
                line_rule: LineRule::Terminated,
                keep: Default::default(),
                terminal: false
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
            "Unknown option \"globl\": did you mean global?"
        );
        assert!(
            message(json!({ "": 1 })).starts_with("Unknown option \"\": expected one of global")
        );
        assert!(
            message(json!({ "tools": { "bash": { "storageDir": "/x" } } }))
                .starts_with("Invalid option \"tools.bash.storageDir\": belongs")
        );
        assert!(
            message(json!({ "storageDirs": ["/x", ""] }))
                .starts_with("Invalid option \"storageDirs[1]\": expected")
        );
        assert!(
            message(json!({ "global": { "storageDir": "/" } }))
                .starts_with("Invalid option \"global.storageDir\"")
        );
        let both = json!({ "global": { "storageDir": "/x" }, "storageDirs": ["/y", "/"] });
        assert!(message(both).starts_with("Invalid option \"storageDirs[1]\": expected"));
        assert!(
            message(json!({ "onEvent": 3 })).starts_with("Invalid option \"onEvent\": expected")
        );
    }
}
