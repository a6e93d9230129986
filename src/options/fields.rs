//! Reads single fields: whether a name is known, allowed in this place, and its value valid.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Value, json};

use super::settings::OPTIONS;
use super::tools::PROFILES;
use crate::error::{Code, Error, Result};
use crate::truncation::limits::Direction;
pub(crate) use crate::util::option_values::{array, boolean, object, strings, text};
use crate::util::suggest;
pub(crate) use crate::util::suggest::{refuse, refuse_choice};

/// The truncation settings of one layer; `None` means not set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Layer {
    pub max_lines: Option<u64>,
    pub max_bytes: Option<u64>,
    pub max_tokens: Option<u64>,
    pub direction: Option<Direction>,
    pub enabled: Option<bool>,
    pub strategy: Option<String>,
    pub terminal: Option<bool>,
    pub retention_days: Option<f64>,
    pub storage_dir: Option<String>,
}

/// The kind of a layer, which decides which settings it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigLayer {
    /// The service's `global`.
    Global,
    /// `updateConfig`, when the storage exists already.
    Update,
    /// A tool's own settings, declared or set by the user.
    Tool,
    /// The options of one call.
    Call,
    /// A complete configuration for a strategy.
    Strategy,
}

const SERVICE_FIELDS: [&str; 2] = ["retentionDays", "storageDir"];
pub(crate) const STRATEGIES: [&str; 9] =
    ["default", "auto", "line", "byte", "smart", "json", "diff", "csv", "tests"];

impl ConfigLayer {
    fn code(self) -> Code {
        if matches!(self, ConfigLayer::Call | ConfigLayer::Strategy) {
            Code::InvalidArgument
        } else {
            Code::InvalidConfig
        }
    }

    /// Returns the settings that are allowed in this layer.
    fn allowed(self) -> &'static [&'static str] {
        static OF_A_TOOL: [&str; 7] =
            ["maxLines", "maxBytes", "maxTokens", "direction", "enabled", "strategy", "terminal"];
        static OF_THE_SERVICE: LazyLock<Vec<&str>> =
            LazyLock::new(|| [&OF_A_TOOL[..], &SERVICE_FIELDS].concat());
        static OF_A_STRATEGY: LazyLock<Vec<&str>> =
            LazyLock::new(|| [&OF_THE_SERVICE[..], &["hardCeilingBytes"]].concat());
        static OF_A_CALL: [&str; 7] =
            ["maxLines", "maxBytes", "maxTokens", "direction", "skip", "strategy", "terminal"];
        match self {
            ConfigLayer::Call => &OF_A_CALL,
            ConfigLayer::Update | ConfigLayer::Tool => &OF_A_TOOL,
            ConfigLayer::Global => &OF_THE_SERVICE,
            ConfigLayer::Strategy => &OF_A_STRATEGY,
        }
    }
}

/// Reads a layer. `path` is its name in messages, such as `tools.bash`.
pub(super) fn layer(value: &Value, place: ConfigLayer, path: &str) -> Result<Layer> {
    let code = place.code();
    let map = object(value, code, path)?;
    let mut layer = Layer::default();
    for (key, value) in map {
        let field = format!("{path}.{key}");
        match key.as_str() {
            _ if !place.allowed().contains(&key.as_str()) => {
                return Err(misplaced(key, &field, place));
            }
            "maxLines" => layer.max_lines = Some(count(value, code, &field)?),
            "maxBytes" => layer.max_bytes = Some(count(value, code, &field)?),
            "maxTokens" => layer.max_tokens = Some(count(value, code, &field)?),
            "direction" => layer.direction = Some(one_of(value, &Direction::ALL, code, &field)?),
            "enabled" => layer.enabled = Some(boolean(value, code, &field)?),
            "skip" => layer.enabled = Some(!boolean(value, code, &field)?),
            // Accepted and ignored: a strategy does not depend on these.
            "strategy" | "terminal" | "hardCeilingBytes" if place == ConfigLayer::Strategy => {}
            "terminal" => layer.terminal = Some(boolean(value, code, &field)?),
            "strategy" => layer.strategy = Some(choice(value, &STRATEGIES, code, &field)?),
            "retentionDays" => layer.retention_days = Some(days(value, code, &field)?),
            _ => layer.storage_dir = Some(text(value, code, &field)?),
        }
    }
    Ok(layer)
}

fn misplaced(key: &str, field: &str, place: ConfigLayer) -> Error {
    let home = if SERVICE_FIELDS.contains(&key) {
        Some("its `global`")
    } else if OPTIONS.contains(&key) && !ConfigLayer::Tool.allowed().contains(&key) {
        Some("the options of TruncationService")
    } else {
        None
    };
    if let Some(home) = home {
        let problem =
            format!("belongs to the service as a whole; set it in {home} when the service is made");
        return Error::field(place.code(), field, problem);
    }
    suggest::unknown(place.code(), field, key, place.allowed())
}

/// Reads a whole number of at least 1.
pub(super) fn count(value: &Value, code: Code, field: &str) -> Result<u64> {
    count_from(1, value, code, field)
}

/// Reads a whole number of at least `min` that JavaScript represents exactly.
pub(crate) fn count_from(min: u64, value: &Value, code: Code, field: &str) -> Result<u64> {
    const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
    value
        .as_f64()
        .filter(|number| (min as f64..=MAX_SAFE_INTEGER).contains(number))
        .filter(|number| number.fract() == 0.0)
        .map(|number| number as u64)
        .ok_or_else(|| refuse(value, code, field, &format!("a whole number of at least {min}")))
}

/// Reads a whole number of at least 1, or `Infinity` for no limit.
pub(super) fn bound(value: &Value, code: Code, field: &str) -> Result<u64> {
    if is_infinity(value) {
        return Ok(u64::MAX);
    }
    count(value, code, field)
        .map_err(|_| refuse(value, code, field, "a whole number of at least 1, or Infinity"))
}

fn is_infinity(value: &Value) -> bool {
    value.get("$type").and_then(Value::as_str) == Some("Infinity")
}

/// Reads a number of days above 0; `Infinity` means that files never expire.
pub(super) fn days(value: &Value, code: Code, field: &str) -> Result<f64> {
    let number = if is_infinity(value) { Some(f64::INFINITY) } else { value.as_f64() };
    number
        .filter(|number| *number > 0.0)
        .ok_or_else(|| refuse(value, code, field, "a number of days above 0, or Infinity"))
}

/// Encodes a number for JSON, which has no infinity.
pub fn finite_or_infinity(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { json!({ "$type": "Infinity" }) }
}

pub(crate) fn choice(value: &Value, allowed: &[&str], code: Code, field: &str) -> Result<String> {
    let chosen = value.as_str().filter(|text| allowed.contains(text));
    chosen.map(str::to_owned).ok_or_else(|| refuse_choice(value, allowed, code, field))
}

pub(super) fn profile_name(value: &Value, code: Code, field: &str) -> Result<String> {
    choice(value, &PROFILES.each_ref().map(|profile| profile.name), code, field)
}

/// Reads one of a few values by the name that it is serialized as.
pub(super) fn one_of<T: Serialize + Copy>(
    value: &Value,
    all: &[T],
    code: Code,
    field: &str,
) -> Result<T> {
    let words: Vec<Value> = all.iter().map(|each| json!(each)).collect();
    let found = all.iter().zip(&words).find(|(_, word)| *word == value);
    let found = found.map(|(each, _)| *each);
    found.ok_or_else(|| {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        refuse_choice(value, &words, code, field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &Value, place: ConfigLayer) -> String {
        layer(value, place, "global")
            .map_or_else(|error| error.message, |layer| format!("{layer:?}"))
    }

    #[test]
    fn a_wrong_value_is_named_with_what_is_allowed() {
        let cases = [
            (
                json!({ "maxLines": 0 }),
                "Invalid option \"global.maxLines\": expected a whole number of at least 1, received 0",
            ),
            (
                json!({ "maxLines": 1.5 }),
                "Invalid option \"global.maxLines\": expected a whole number of at least 1, received 1.5",
            ),
            (
                json!({ "maxBytes": { "$type": "NaN" } }),
                "Invalid option \"global.maxBytes\": expected a whole number of at least 1, received NaN",
            ),
            (
                json!({ "maxBytes": "10" }),
                "Invalid option \"global.maxBytes\": expected a whole number of at least 1, received \"10\"",
            ),
            (
                json!({ "direction": "up" }),
                "Invalid option \"global.direction\": expected one of 'head', 'tail', 'both', received \"up\"",
            ),
            (
                json!({ "enabled": null }),
                "Invalid option \"global.enabled\": expected true or false, received null",
            ),
            (json!({ "maxLine": 1 }), "Unknown option \"global.maxLine\": did you mean maxLines?"),
            (
                json!({ "retentionDays": 0 }),
                "Invalid option \"global.retentionDays\": expected a number of days above 0, or Infinity, received 0",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(message(&value, ConfigLayer::Global), expected);
        }
        assert!(
            message(&json!({ "zzz": 1 }), ConfigLayer::Call)
                .contains("expected one of maxLines, maxBytes, maxTokens, direction, skip")
        );
    }

    #[test]
    fn a_setting_of_the_service_is_sent_there() {
        for place in [ConfigLayer::Tool, ConfigLayer::Call, ConfigLayer::Update] {
            assert!(
                message(&json!({ "retentionDays": 3 }), place).contains("set it in its `global`")
            );
            for option in OPTIONS.iter().filter(|option| **option != "strategy") {
                assert!(
                    message(&json!({ *option: 3 }), place)
                        .contains("the options of TruncationService"),
                    "{option}"
                );
            }
        }
        assert!(
            layer(
                &json!({ "retentionDays": { "$type": "Infinity" } }),
                ConfigLayer::Global,
                "global"
            )
            .is_ok()
        );
    }
}
