//! Settings of any shape are accepted or refused with a field and a message, and accepted ones give a usable plan.

use serde_json::Value;
use spillway_core::error::{Code, Error};
use spillway_core::options::{Call, Plan, Settings, limits_of};

use super::input::Input;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let (failed, handled) = (input.flag(), input.flag());
    let length = input.below(32);
    let tool = String::from_utf8_lossy(input.take(length)).into_owned();
    let Ok(value) = serde_json::from_slice::<Value>(input.rest()) else { return };

    // The same value in every place where one is allowed.
    let settings = Settings::new(&value).map_err(|error| refused(&error, Code::InvalidConfig));
    for strategy in ["default", "line", "byte", &tool] {
        match limits_of(&value, strategy) {
            Ok(limits) => assert!(limits.max_lines > 0 && limits.max_bytes > 0),
            Err(error) => refused(&error, Code::InvalidArgument),
        }
    }
    let Ok(mut settings) = settings else { return check_layers(&value, &tool) };
    let call = Call { tool: &tool, failed, handled, ..Call::default() };
    check_plan(&settings.plan(&call).expect("settings that were taken give a plan"));
    let bounds = settings.bounds();
    assert!(bounds.retention_days > 0.0 && bounds.max_bytes > 0 && bounds.max_files > 0);
    // One layer of the settings again, as an update and as a tool's own.
    if let Some(global) = value.get("global") {
        if let Err(error) = settings.update(global) {
            refused(&error, Code::InvalidConfig);
        }
        if let Err(error) = settings.set_tool(&tool, global) {
            refused(&error, Code::InvalidConfig);
        }
        for options in [None, Some(global)] {
            match settings.plan(&Call { declared: Some(global), options, ..call }) {
                Ok(plan) => check_plan(&plan),
                Err(error) => assert!(error.field.is_some(), "{error}"),
            }
        }
    }
}

/// Checks the value as a layer by itself, over the defaults.
fn check_layers(value: &Value, tool: &str) {
    let mut settings = Settings::new(&Value::Object(Default::default())).expect("nothing is wrong");
    if let Err(error) = settings.update(value) {
        refused(&error, Code::InvalidConfig);
    }
    if let Err(error) = settings.set_tool(tool, value) {
        refused(&error, Code::InvalidConfig);
    }
    match settings.plan(&Call { tool, options: Some(value), ..Call::default() }) {
        Ok(plan) => check_plan(&plan),
        Err(error) => refused(&error, Code::InvalidArgument),
    }
}

fn refused(error: &Error, code: Code) {
    assert_eq!(error.code, code, "{error}");
    let field = error.field.as_deref().expect("a field");
    // An option of a call is named without the name of the argument.
    let option = field.strip_prefix("options.").unwrap_or(field);
    assert!(error.message.contains(&format!("\"{option}\"")), "{error}");
}

fn check_plan(plan: &Plan) {
    assert!(plan.limits.max_lines > 0 && plan.limits.max_bytes > 0);
    assert!(plan.default_limits.max_lines > 0 && plan.default_limits.max_bytes > 0);
    assert!(!plan.sure_units.is_nan());
    serde_json::to_string(plan).expect("a plan crosses as JSON");
}
