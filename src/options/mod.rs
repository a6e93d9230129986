//! Settings: which are allowed where, and which of several layers wins.
//!
//! Settings come and are returned as JSON, because they change rarely and are read once per tool. Values that JSON
//! cannot hold (`NaN`, functions, …) come as `{"$type": "NaN"}`, so that a message can name them.
//!
//! | module | contents |
//! | --- | --- |
//! | `fields` | the settings of a layer, and the checks of their values |
//! | [`layers`] | the order of layers, and the resulting settings of one call |
//! | [`settings`] | the options of a service |
//! | [`redaction`], [`smart_rules`] | rules for secrets, and rules for important lines |
//! | [`tools`] | defaults, settings of tools, profiles of known agents |
//!
//! ```
//! use serde_json::json;
//! use spillway_core::options::{Call, Settings};
//!
//! let options = json!({ "global": { "maxLines": 100 }, "tools": { "bash": { "maxBytes": 4096 } } });
//! let settings = Settings::new(&options).map_err(|error| error.message)?;
//! let plan = settings.plan(&Call { tool: "bash", ..Call::default() }).map_err(|error| error.message)?;
//! assert_eq!((plan.limits.max_lines, plan.limits.max_bytes), (100, 4096));
//! assert_eq!(plan.sources.get("maxBytes"), Some(&json!("tool")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod fields;
mod layers;
pub(crate) mod redaction;
mod settings;
mod smart_rules;
mod tools;

pub use fields::finite_or_infinity;
pub use layers::{Call, Mode, Plan, limits_of};
pub use settings::{OPTIONS, Settings, check_bounds};
pub use smart_rules::smart_rules;
pub(crate) use smart_rules::{MAX_AROUND, MAX_WORD_LENGTH, MAX_WORDS, smart_rule};
pub use tools::{DEFAULTS, Defaults, ToolDefaults, built_in_tools};
