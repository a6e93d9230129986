//! The parameters of the detector, and those of each profile.
//!
//! The defaults for attempts, calls, repetitions and the cool-down are Moryflow's (ADR 0002, part B). The three
//! signals, which are the same outcome, the same error and the same exchange of messages, and their numbers were
//! measured on 239 recorded sessions: see `docs/doom-loop.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Code, Result};
use crate::options::fields::{boolean, choice, count_from, object, refuse, strings};
use crate::tools::plain;
use crate::util::language::Language;
use crate::util::suggest;

/// Counts at which a level is reached; `None` disables the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Levels {
    /// The model is warned.
    pub warn: Option<u64>,
    /// The user is asked.
    pub ask: Option<u64>,
    /// The call is stopped without a question.
    pub stop: Option<u64>,
}

/// The numbers that differ between profiles.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    same_tool: Levels,
    poll: Levels,
    cycle: Levels,
    max_period: usize,
    same_error: Option<u64>,
    unknown_tool: Option<u64>,
    same_answer: Option<u64>,
    standstill: Option<usize>,
    window: usize,
    warn_whatever_the_outcome: bool,
    budget_is_attempt: bool,
    always_is_attempt: bool,
}

const DEFAULTS: Numbers = Numbers {
    same_tool: Levels { warn: Some(3), ask: Some(5), stop: None },
    poll: Levels { warn: Some(10), ask: Some(20), stop: None },
    cycle: Levels { warn: None, ask: Some(3), stop: None },
    max_period: 5,
    same_error: Some(4),
    unknown_tool: None,
    same_answer: Some(3),
    standstill: None,
    window: 20,
    warn_whatever_the_outcome: false,
    budget_is_attempt: false,
    always_is_attempt: false,
};

const PROFILES: [(&str, Numbers); 6] = [
    (
        "opencode",
        Numbers { same_tool: Levels { warn: None, ask: Some(3), stop: None }, ..DEFAULTS },
    ),
    ("openclaw-2026-02", DEFAULTS),
    (
        "openclaw",
        Numbers {
            same_tool: Levels { warn: Some(10), ask: None, stop: Some(20) },
            poll: Levels { warn: Some(10), ask: None, stop: Some(20) },
            // Ten and twenty calls of a pair.
            cycle: Levels { warn: Some(5), ask: None, stop: Some(10) },
            max_period: 2,
            same_error: None,
            unknown_tool: Some(10),
            // A few calls in any order with the same results: more than the threshold of one call, which must be
            // visible in the window.
            standstill: Some(30),
            window: 30,
            warn_whatever_the_outcome: true,
            ..DEFAULTS
        },
    ),
    ("snow", DEFAULTS),
    ("takumi", DEFAULTS),
    ("moryflow", Numbers { budget_is_attempt: true, always_is_attempt: true, ..DEFAULTS }),
];

/// Multiple of the budget of calls at which a run ends whatever was approved.
const HARD_CAP_FACTOR: u64 = 5;

const FIELDS: [&str; 11] = [
    "profile",
    "maxAttempts",
    "maxToolCalls",
    "sameToolThreshold",
    "sameErrorThreshold",
    "sameAnswerThreshold",
    "cooldownToolCalls",
    "headless",
    "language",
    "volatileFields",
    "pollTools",
];

/// All parameters of the detector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRules {
    /// Maximum number of approved loops in a run; the next question is a stop.
    pub max_attempts: u64,
    /// Number of calls until the user is asked; `None` for no budget.
    pub max_tool_calls: Option<u64>,
    /// Number of calls that are not checked after an approval.
    pub cooldown: u64,
    /// Repetitions of a call with the same outcome, the call being checked included.
    pub same_tool: Levels,
    /// Repetitions of a call that waits, with the same outcome.
    pub poll: Levels,
    /// Repetitions of a cycle of two calls or more.
    pub cycle: Levels,
    /// Maximum length of a cycle in calls.
    pub max_period: usize,
    /// Number of consecutive turns that end in the same error.
    pub same_error: Option<u64>,
    /// Number of calls of a tool that does not exist.
    pub unknown_tool: Option<u64>,
    /// Number of answers without a call to the same message.
    pub same_answer: Option<u64>,
    /// Number of consecutive calls that are the same few calls, in any order, with the same results.
    pub standstill: Option<usize>,
    /// Number of calls remembered.
    pub window: usize,
    /// True if a warning comes even when outcomes change.
    pub warn_whatever_the_outcome: bool,
    /// True if the approval of more calls than the budget counts as an attempt.
    pub budget_is_attempt: bool,
    /// True if a question with a permanent approval still counts as an attempt.
    pub always_is_attempt: bool,
    /// True if no user can be asked: every question is a stop.
    pub headless: bool,
    pub language: Language,
    /// Names of fields that do not distinguish calls and results, by normalized tool name; those under `*` for every
    /// tool.
    pub volatile: BTreeMap<String, Vec<String>>,
    /// Further tools that wait, by normalized name.
    pub poll_tools: Vec<String>,
}

impl Default for LoopRules {
    fn default() -> Self {
        LoopRules::of(DEFAULTS)
    }
}

impl LoopRules {
    fn of(numbers: Numbers) -> Self {
        LoopRules {
            max_attempts: 3,
            max_tool_calls: Some(60),
            cooldown: 3,
            same_tool: numbers.same_tool,
            poll: numbers.poll,
            cycle: numbers.cycle,
            max_period: numbers.max_period,
            same_error: numbers.same_error,
            unknown_tool: numbers.unknown_tool,
            same_answer: numbers.same_answer,
            standstill: numbers.standstill,
            window: numbers.window,
            warn_whatever_the_outcome: numbers.warn_whatever_the_outcome,
            budget_is_attempt: numbers.budget_is_attempt,
            always_is_attempt: numbers.always_is_attempt,
            headless: false,
            language: Language::English,
            volatile: BTreeMap::new(),
            poll_tools: Vec::new(),
        }
    }

    /// Reads the options of a caller. The error names the invalid option.
    pub fn read(options: &Value) -> Result<Self> {
        const CODE: Code = Code::InvalidConfig;
        let options = object(options, CODE, "options")?;
        let mut rules = match options.get("profile") {
            Some(name) if !is_undefined(name) => LoopRules::of(profile(name)?),
            _ => LoopRules::default(),
        };
        for (key, value) in options {
            if is_undefined(value) {
                continue;
            }
            match key.as_str() {
                "profile" => {}
                "maxAttempts" => rules.max_attempts = count_from(0, value, CODE, key)?,
                "maxToolCalls" => rules.max_tool_calls = limit(1, value, key)?,
                "sameToolThreshold" => rules.set_same_tool(limit(1, value, key)?),
                "sameErrorThreshold" => rules.same_error = limit(2, value, key)?,
                "sameAnswerThreshold" => rules.same_answer = limit(2, value, key)?,
                "cooldownToolCalls" => rules.cooldown = count_from(0, value, CODE, key)?,
                "headless" => rules.headless = boolean(value, CODE, key)?,
                "language" => {
                    let name = choice(value, &["en", "zh-CN"], CODE, key)?;
                    rules.language = Language::of(&name);
                }
                "volatileFields" => rules.volatile = volatile(value, key)?,
                "pollTools" => {
                    rules.poll_tools =
                        strings(value, CODE, key)?.iter().map(|name| plain(name)).collect();
                }
                _ => return Err(suggest::unknown(CODE, key, key, &FIELDS)),
            }
        }
        Ok(rules)
    }

    /// Returns the number of calls after which a run ends, whatever was approved.
    pub fn hard_cap(&self) -> Option<u64> {
        self.max_tool_calls.map(|calls| calls.saturating_mul(HARD_CAP_FACTOR))
    }

    /// Sets the threshold, and a window that holds as many calls as the rule needs.
    fn set_same_tool(&mut self, threshold: Option<u64>) {
        self.same_tool.ask = threshold;
        self.same_tool.warn =
            self.same_tool.warn.filter(|warn| threshold.is_none_or(|ask| *warn < ask));
        let calls = threshold.and_then(|calls| usize::try_from(calls).ok()).unwrap_or(0);
        self.window = self.window.max(calls.min(MAX_WINDOW));
    }
}

/// Maximum number of calls remembered.
pub const MAX_WINDOW: usize = 1000;

fn profile(name: &Value) -> Result<Numbers> {
    let names = PROFILES.map(|(name, _)| name);
    let name = choice(name, &names, Code::InvalidConfig, "profile")?;
    Ok(PROFILES.iter().find(|(known, _)| *known == name).map_or(DEFAULTS, |(_, numbers)| *numbers))
}

fn is_undefined(value: &Value) -> bool {
    tag(value) == Some("undefined")
}

fn tag(value: &Value) -> Option<&str> {
    value.get("$type").and_then(Value::as_str)
}

/// Reads a whole number, or `None` for `Infinity`.
fn limit(min: u64, value: &Value, field: &str) -> Result<Option<u64>> {
    if tag(value) == Some("Infinity") {
        return Ok(None);
    }
    count_from(min, value, Code::InvalidConfig, field).map(Some).map_err(|_| {
        let allowed = format!("a whole number of at least {min}, or Infinity");
        refuse(value, Code::InvalidConfig, field, &allowed)
    })
}

/// Reads a list for every tool, or one per tool.
fn volatile(value: &Value, field: &str) -> Result<BTreeMap<String, Vec<String>>> {
    if value.is_array() {
        return Ok(BTreeMap::from([("*".to_owned(), strings(value, Code::InvalidConfig, field)?)]));
    }
    let Value::Object(tools) = value else {
        let allowed = "an array of strings, or an object with one per tool";
        return Err(refuse(value, Code::InvalidConfig, field, allowed));
    };
    let mut own = BTreeMap::new();
    for (tool, names) in tools {
        own.insert(plain(tool), strings(names, Code::InvalidConfig, &format!("{field}.{tool}"))?);
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(options: Value) -> String {
        LoopRules::read(&options).map_or_else(|error| error.message, |rules| format!("{rules:?}"))
    }

    #[test]
    fn options_are_checked_and_named() {
        assert_eq!(LoopRules::read(&json!({})).unwrap(), LoopRules::default());
        assert_eq!(
            message(json!({ "maxToolCalls": 0 })),
            "Invalid option \"maxToolCalls\": expected a whole number of at least 1, or Infinity, received 0"
        );
        assert_eq!(
            message(json!({ "maxToolCall": 3 })),
            "Unknown option \"maxToolCall\": did you mean maxToolCalls?"
        );
        assert!(
            message(json!({ "volatileFields": 3 }))
                .starts_with("Invalid option \"volatileFields\": expected")
        );
        let unbounded =
            LoopRules::read(&json!({ "maxToolCalls": { "$type": "Infinity" } })).unwrap();
        assert_eq!((unbounded.max_tool_calls, unbounded.hard_cap()), (None, None));
        assert_eq!(LoopRules::default().hard_cap(), Some(300));
    }

    #[test]
    fn a_threshold_of_the_caller_is_within_the_window() {
        let rules = LoopRules::read(&json!({ "sameToolThreshold": 50 })).unwrap();
        assert_eq!(rules.window, 50);
        let rules = LoopRules::read(&json!({ "sameToolThreshold": 2 })).unwrap();
        assert_eq!(rules.same_tool, Levels { warn: None, ask: Some(2), stop: None });
    }
}
