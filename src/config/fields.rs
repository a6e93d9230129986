//! The keys of a configuration: names, kinds, defaults. Validation, the schema for editors and the table in the docs
//! are made from this.

use serde_json::{Value, json};

use crate::options::fields::STRATEGIES;
use crate::options::{MAX_AROUND, MAX_WORD_LENGTH, MAX_WORDS};
use crate::permission::pattern::MAX_PATTERN_BYTES;
use crate::permission::{DECISIONS, DOMAINS};
use crate::truncation::smart::rules::MAX_EXTRA;
use crate::truncation::smart::table::MAX_WEIGHT;
use crate::util::sort::object;
use crate::util::suggest::listed;

/// The largest whole number that every JSON parser represents exactly.
const LARGEST: u64 = (1 << 53) - 1;

/// The path to the sections.
pub const RUNTIME: [&str; 2] = ["agents", "runtime"];

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of at least this.
    Count(u64),
    /// A number of bytes of at least 1, as a number or as text with a unit, such as `50k`.
    Size,
    /// A number of days above 0.
    Days,
    /// `true` or `false`.
    Switch,
    /// One of these words; the second list has aliases.
    Choice(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// An array of non-empty strings.
    Names,
    /// An array of file names, each with at most one `*`.
    FileNames,
    /// A URL that begins with one of these. It may have a password in it, and is never repeated in a message.
    Url(&'static [&'static str]),
    /// The absolute path of a folder: a relative one would be another folder wherever a program is started.
    Folder,
    /// Permission rules.
    Rules,
    /// Rules of the strategy `smart`.
    SmartRules,
}

/// A key.
#[derive(Debug)]
pub struct Field {
    /// The documented name.
    pub key: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    pub kind: Kind,
    /// The default as JSON; empty for none.
    pub default: &'static str,
    /// The unit of a number.
    pub unit: &'static str,
    /// The description.
    pub about: &'static str,
    /// The name of the option of the capability.
    pub option: &'static str,
}

/// The keys of one capability.
#[derive(Debug)]
pub struct Section {
    /// Name under `agents.runtime`.
    pub key: &'static str,
    /// The description.
    pub about: &'static str,
    /// True if the section may be replaced by `true` or `false`.
    pub switch: bool,
    pub fields: &'static [Field],
}

const fn count(
    key: &'static str,
    min: u64,
    default: &'static str,
    unit: &'static str,
    about: &'static str,
) -> Field {
    Field { key, aliases: &[], kind: Kind::Count(min), default, unit, about, option: key }
}

pub static SECTIONS: [Section; 6] = [
    Section {
        key: "mode",
        about: "The mode in which a session starts.",
        switch: false,
        fields: &[Field {
            key: "default",
            aliases: &["global"],
            kind: Kind::Choice(&["agent", "full_access"], &[("ask", "agent")]),
            default: "\"agent\"",
            unit: "",
            about: "`full_access` allows everything without asking, except hard denies. `ask` means the same as `agent`.",
            option: "default",
        }],
    },
    Section {
        key: "compaction",
        about: "When a long history is compacted.",
        switch: false,
        fields: &[
            Field {
                key: "maxChars",
                aliases: &["fallbackCharLimit"],
                kind: Kind::Count(1),
                default: "120000",
                unit: "UTF-16 units",
                about: "Size of a history that is compacted when the model's window is not known.",
                option: "maxChars",
            },
            Field {
                key: "recentTurns",
                aliases: &["protectedTurns"],
                kind: Kind::Count(1),
                default: "3",
                unit: "turns of the user",
                about: "The newest turns, which are kept.",
                option: "recentTurns",
            },
        ],
    },
    Section {
        key: "truncation",
        about: "Limits of the preview of a long output. `false` switches truncation off.",
        switch: true,
        fields: &[
            count("maxLines", 1, "2000", "lines", "Maximum lines of a preview."),
            Field {
                key: "maxBytes",
                aliases: &[],
                kind: Kind::Size,
                default: "51200",
                unit: "UTF-8 bytes",
                about: "Maximum bytes of a preview.",
                option: "maxBytes",
            },
            count("maxTokens", 1, "", "tokens, estimated", "Maximum tokens of a preview."),
            Field {
                key: "direction",
                aliases: &[],
                kind: Kind::Choice(&["head", "tail", "both"], &[]),
                default: "\"head\"",
                unit: "",
                about: "Which part of the output the preview keeps.",
                option: "direction",
            },
            Field {
                key: "strategy",
                aliases: &[],
                kind: Kind::Choice(&STRATEGIES, &[]),
                default: "\"default\"",
                unit: "",
                about: "How the kept part is chosen.",
                option: "strategy",
            },
            Field {
                key: "smartRules",
                aliases: &[],
                kind: Kind::SmartRules,
                default: "[]",
                unit: "",
                about: "Patterns that the strategy `smart` looks for in addition to its own.",
                option: "smartRules",
            },
            Field {
                key: "enabled",
                aliases: &[],
                kind: Kind::Switch,
                default: "true",
                unit: "",
                about: "Truncates outputs; with `false` they pass unchanged.",
                option: "enabled",
            },
            Field {
                key: "terminal",
                aliases: &[],
                kind: Kind::Switch,
                default: "false",
                unit: "",
                about: "Resolves terminal sequences before an output is measured and shown.",
                option: "terminal",
            },
            Field {
                key: "ttlDays",
                aliases: &["retentionDays"],
                kind: Kind::Days,
                default: "7",
                unit: "days",
                about: "How long a saved output is kept.",
                option: "retentionDays",
            },
        ],
    },
    Section {
        key: "doomLoop",
        about: "When an agent that repeats itself is stopped.",
        switch: false,
        fields: &[
            count(
                "maxAttempts",
                0,
                "3",
                "approvals",
                "Number of times that a loop may be approved in a run.",
            ),
            count(
                "maxToolCalls",
                1,
                "60",
                "calls",
                "Number of calls in a run after which the user is asked.",
            ),
            count(
                "sameToolThreshold",
                1,
                "5",
                "calls",
                "Number of equal calls with equal results after which the user is asked.",
            ),
            count(
                "sameErrorThreshold",
                2,
                "4",
                "turns",
                "Number of turns with the same error after which the user is asked.",
            ),
            count(
                "sameAnswerThreshold",
                2,
                "3",
                "answers",
                "Number of equal answers without a call after which the user is asked.",
            ),
            count(
                "cooldownToolCalls",
                0,
                "3",
                "calls",
                "Number of calls after an approval that are not checked for loops.",
            ),
        ],
    },
    Section {
        key: "permission",
        about: "Permissions of tools.",
        switch: false,
        fields: &[
            Field {
                key: "rules",
                aliases: &[],
                kind: Kind::Rules,
                default: "[]",
                unit: "",
                about: "Rules that follow the built-in ones; the last rule that matches decides.",
                option: "rules",
            },
            Field {
                key: "outsideEdit",
                aliases: &[],
                kind: Kind::Choice(&["deny", "ask"], &[]),
                default: "\"deny\"",
                unit: "",
                about: "The decision about edits outside the vault.",
                option: "outsideEdit",
            },
            Field {
                key: "mcpServers",
                aliases: &[],
                kind: Kind::Names,
                default: "[]",
                unit: "",
                about: "MCP servers whose tools are allowed.",
                option: "mcpServers",
            },
            Field {
                key: "sensitiveFiles",
                aliases: &[],
                kind: Kind::FileNames,
                default: "",
                unit: "",
                about: "Names of files with secrets, in place of the built-in list, with at most one `*` each; a name after `!` is excluded.",
                option: "sensitiveFiles",
            },
        ],
    },
    Section {
        key: "fleet",
        about: "Where workers on several machines keep outputs and shared state.",
        switch: false,
        fields: &[
            Field {
                key: "store",
                aliases: &[],
                kind: Kind::Url(&["s3://", "azblob://"]),
                default: "",
                unit: "",
                about: "The bucket that outputs are saved in, unless `SPILLWAY_STORE` names one.",
                option: "store",
            },
            Field {
                key: "spoolDir",
                aliases: &[],
                kind: Kind::Folder,
                default: "",
                unit: "",
                about: "The folder that keeps outputs until the bucket has them, unless `SPILLWAY_SPOOL_DIR` names one.",
                option: "spoolDir",
            },
            Field {
                key: "coordination",
                aliases: &[],
                kind: Kind::Url(&["redis://", "rediss://", "postgres://", "postgresql://"]),
                default: "",
                unit: "",
                about: "The server with the state that workers share, unless `SPILLWAY_COORDINATION` names one.",
                option: "coordination",
            },
        ],
    },
];

/// Returns a section by its name.
pub fn section(key: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.key == key)
}

impl Section {
    /// Returns a key by any of its names.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == name || field.aliases.contains(&name))
    }

    /// Returns the keys of its fields, without their other names.
    pub fn names(&self) -> Vec<&'static str> {
        self.fields.iter().map(|field| field.key).collect()
    }
}

impl Kind {
    /// Returns the allowed values for an error message.
    pub fn allowed(self) -> String {
        match self {
            Kind::Count(min) => format!("a whole number of at least {min}"),
            Kind::Size => {
                "a whole number of at least 1, or a size such as \"50k\" or \"1.5MiB\"".into()
            }
            Kind::Days => "a number of days above 0".into(),
            Kind::Switch => "true or false".into(),
            Kind::Choice(words, _) => listed(words),
            Kind::Names => "an array of strings that are not empty".into(),
            Kind::FileNames => "an array of file names with at most one * each".into(),
            Kind::Url(beginnings) => format!("a URL that begins with {}", beginnings.join(" or ")),
            Kind::Folder => "the absolute path of a folder".into(),
            Kind::Rules => "an array of rules".into(),
            Kind::SmartRules => format!("an array of at most {MAX_EXTRA} rules"),
        }
    }

    fn schema(self) -> Value {
        match self {
            Kind::Count(min) => {
                json!({ "type": "integer", "minimum": min, "maximum": LARGEST })
            }
            Kind::Size => json!({ "anyOf": [
                Kind::Count(1).schema(),
                { "type": "string", "pattern": "^\\d+(\\.\\d+)?([kKmMgGtT]([iI]?[bB])?|[bB])?$" },
            ] }),
            Kind::Days => json!({ "type": "number", "exclusiveMinimum": 0 }),
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Choice(words, others) => {
                let others = others.iter().map(|(other, _)| *other);
                json!({ "enum": words.iter().copied().chain(others).collect::<Vec<_>>() })
            }
            Kind::Names => {
                json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
            }
            Kind::FileNames => {
                let name =
                    json!({ "type": "string", "pattern": "^[^/*]*\\*?[^/*]*$", "minLength": 1 });
                json!({ "type": "array", "items": name })
            }
            Kind::Url(beginnings) => {
                json!({ "type": "string", "pattern": format!("^({})[^\\s]+$", beginnings.join("|")) })
            }
            Kind::Folder => json!({ "type": "string", "minLength": 1 }),
            Kind::Rules => json!({ "type": "array", "items": { "$ref": "#/$defs/rule" } }),
            Kind::SmartRules => json!({
                "type": "array",
                "maxItems": MAX_EXTRA,
                "items": { "$ref": "#/$defs/smartRule" },
            }),
        }
    }
}

/// Returns the JSON Schema (2020-12) of a configuration, for editors. Keys of the application are allowed everywhere.
pub fn schema() -> Value {
    let sections = object(SECTIONS.iter().map(|section| {
        let mut properties = serde_json::Map::new();
        for field in section.fields {
            let mut schema = field.kind.schema();
            schema["description"] = json!(sentence(field));
            if let Ok(default) = serde_json::from_str::<Value>(field.default) {
                schema["default"] = default;
            }
            for alias in field.aliases {
                let mut other = field.kind.schema();
                other["description"] = json!(format!("Another name of {}.", field.key));
                properties.insert((*alias).to_owned(), other);
            }
            properties.insert(field.key.to_owned(), schema);
        }
        let mut schema = json!({
            "type": if section.switch { json!(["object", "boolean"]) } else { json!("object") },
            "description": section.about,
        });
        schema["properties"] = Value::Object(properties);
        (section.key.to_owned(), schema)
    }));
    let names = |table: Vec<&str>| json!(table);
    let domains: Vec<&str> =
        DOMAINS.iter().map(|(name, _)| *name).chain(std::iter::once("*")).collect();
    let decisions: Vec<&str> = DECISIONS.iter().map(|(name, _)| *name).collect();
    let targets = json!({ "type": "array", "items": { "type": "string" } });
    let whole = |max: u64, about: &str| json!({ "type": "integer", "minimum": 0, "maximum": max, "description": about });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of Spillway",
        "type": "object",
        "properties": {
            "agents": {
                "type": "object",
                "properties": { "runtime": { "type": "object", "properties": sections } },
            },
        },
        "$defs": {
            "rule": {
                "type": "object",
                "description": "The decision about targets that the pattern matches.",
                "required": ["domain", "pattern", "decision"],
                "additionalProperties": false,
                "properties": {
                    "domain": { "enum": names(domains), "description": "The kind of access." },
                    "pattern": { "type": "string", "minLength": 1, "maxLength": MAX_PATTERN_BYTES, "description": "A glob such as vault:**/*.md, a command such as git *, or regex: and an expression." },
                    "decision": { "enum": names(decisions) },
                    "approved": { "type": "boolean", "description": "An answer \"always\": it turns questions into permissions and never overrides a deny." },
                    "examples": {
                        "type": "object",
                        "description": "Targets that are checked when the rule is read.",
                        "additionalProperties": false,
                        "properties": { "match": targets.clone(), "noMatch": targets },
                    },
                },
            },
            "smartRule": {
                "type": "object",
                "description": "A kind of line that matters. Of all rules that hold for a line the highest weight decides.",
                "required": ["words", "weight"],
                "additionalProperties": false,
                "properties": {
                    "words": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MAX_WORDS,
                        "items": { "type": "string", "minLength": 1, "maxLength": MAX_WORD_LENGTH },
                        "description": "The line holds one of them, in either case. In 3 to 128 bytes each.",
                    },
                    "pattern": { "type": "string", "minLength": 1, "description": "And this regular expression of Rust's regex crate matches." },
                    "weight": whole(MAX_WEIGHT.into(), "How much the line matters. Errors have 850 and more, 0 is a veto."),
                    "before": whole(MAX_AROUND, "Lines before it that belong to it."),
                    "after": whole(MAX_AROUND, "Lines after it that belong to it."),
                },
            },
        },
    })
}

fn sentence(field: &Field) -> String {
    let unit = if field.unit.is_empty() { String::new() } else { format!(" In {}.", field.unit) };
    format!("{}{unit}", field.about)
}

/// Returns the keys as a Markdown table.
pub fn table() -> String {
    let mut out = String::from(
        "| key | other names | allowed | default | unit | what it does |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for section in &SECTIONS {
        for field in section.fields {
            let code =
                |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
            let others: Vec<String> = field.aliases.iter().map(|name| code(name)).collect();
            out.push_str(&format!(
                "| `{}.{}` | {} | {} | {} | {} | {} |\n",
                section.key,
                field.key,
                others.join(", "),
                field.kind.allowed(),
                if field.default.is_empty() { "none".into() } else { code(field.default) },
                field.unit,
                field.about,
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_json_and_names_are_distinct() {
        for section in &SECTIONS {
            let mut names: Vec<&str> = section
                .fields
                .iter()
                .flat_map(|field| std::iter::once(field.key).chain(field.aliases.iter().copied()))
                .collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
            for field in section.fields {
                let json: Result<Value, _> = serde_json::from_str(field.default);
                assert!(field.default.is_empty() || json.is_ok(), "{}", field.key);
            }
        }
    }

    #[test]
    fn defaults_are_those_of_the_capabilities() {
        use crate::options::DEFAULTS;
        let default = |key: &str| {
            let field = section("truncation").unwrap().field(key).unwrap();
            serde_json::from_str::<Value>(field.default).unwrap()
        };
        assert_eq!(default("maxLines"), json!(DEFAULTS.max_lines));
        assert_eq!(default("maxBytes"), json!(DEFAULTS.max_bytes));
        assert_eq!(default("retentionDays").as_f64(), Some(DEFAULTS.retention_days));
        assert_eq!(default("direction"), json!(DEFAULTS.direction));
    }
}
