//! Suggestions for misspelt names.

use serde_json::Value;

use crate::error::{Code, Error, option_name};

/// Longer names are not compared: no known name is this long, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The error for the option `field`, whose last part `name` is none of `known`.
pub fn unknown(code: Code, field: &str, name: &str, known: &[impl AsRef<str>]) -> Error {
    let hint = nearest(name, known).map_or_else(
        || format!("expected one of {}", list(known)),
        |known| format!("did you mean {known}?"),
    );
    let message = format!("Unknown option \"{}\": {hint}", option_name(field));
    Error { code, message, field: Some(field.to_owned()) }
}

/// Describes a value for a message; long values are truncated.
pub fn describe(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Object(map) => {
            map.get("$type").and_then(Value::as_str).unwrap_or("an object").to_owned()
        }
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) if text.chars().count() > LONGEST => {
            format!("\"{}…\"", text.chars().take(LONGEST).collect::<String>())
        }
        other => other.to_string(),
    }
}

/// The error for a value that is none of the names `known`; `received` is how the message shows it.
pub fn not_one_of(
    code: Code,
    field: &str,
    name: &str,
    received: &str,
    known: &[impl AsRef<str>],
) -> Error {
    let quoted: Vec<String> = known.iter().map(|known| format!("'{}'", known.as_ref())).collect();
    let hint =
        nearest(name, known).map_or_else(String::new, |known| format!("; did you mean '{known}'?"));
    let problem = format!("expected one of {}, received {received}{hint}", list(&quoted));
    Error::field(code, field, problem)
}

fn list(names: &[impl AsRef<str>]) -> String {
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let short: String = name.chars().take(LONGEST).collect::<String>().to_lowercase();
    known
        .iter()
        .map(AsRef::as_ref)
        .map(|known| (strsim::damerau_levenshtein(&short, &known.to_lowercase()), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3).max(2))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Code = Code::InvalidArgument;

    #[test]
    fn suggests_the_nearest_option() {
        let known = ["maxAgeMs", "keepRecent"];
        let message = |name: &str| unknown(CODE, &format!("options.{name}"), name, &known).message;
        assert_eq!(message("maxAge"), "Unknown option \"maxAge\": did you mean maxAgeMs?");
        assert_eq!(
            message("KeepRecent"),
            "Unknown option \"KeepRecent\": did you mean keepRecent?"
        );
        assert_eq!(message("zzz"), "Unknown option \"zzz\": expected one of maxAgeMs, keepRecent");
    }

    #[test]
    fn suggests_the_nearest_value() {
        let message = |value: &str| {
            not_one_of(CODE, "direction", value, &format!("{value:?}"), &["head", "tail"]).message
        };
        let expected = "Invalid option \"direction\": expected one of 'head', 'tail', received";
        assert_eq!(message("Head"), format!("{expected} \"Head\"; did you mean 'head'?"));
        assert_eq!(message("sideways"), format!("{expected} \"sideways\""));
    }
}
