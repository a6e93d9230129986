//! Settings: what may be set where, and which of several layers wins.
//!
//! Settings arrive as JSON and leave as JSON, because they change rarely and are asked for once per tool. Values that
//! JSON cannot hold (`NaN`, functions, …) arrive as `{"$type": "NaN"}`, so that the message can name them.

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
pub(crate) use smart_rules::{LONGEST_WORD, MOST_AROUND, MOST_WORDS, smart_rule};
pub use tools::{DEFAULTS, Defaults, ToolDefaults, built_in_tools};
