//! Suggestions for misspelt names.

use std::cmp::Reverse;

use serde_json::Value;

use crate::error::{Code, Error, option_name};

/// Longer names are not compared: no known name is this long, and the comparison is quadratic.
const MAX_LENGTH: usize = 64;

/// Returns the error for the option `field`, whose last part `name` is not among `known`.
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
    const MAX_LENGTH: usize = 60;
    match value {
        Value::Object(map) => {
            map.get("$type").and_then(Value::as_str).unwrap_or("an object").to_owned()
        }
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) if text.chars().count() > MAX_LENGTH => {
            format!("\"{}…\"", text.chars().take(MAX_LENGTH).collect::<String>())
        }
        other => other.to_string(),
    }
}

/// The error for a value that is not what is `allowed`: names the field and the value. `None` is an option that is missing.
pub fn refuse<'v>(
    value: impl Into<Option<&'v Value>>,
    code: Code,
    field: &str,
    allowed: &str,
) -> Error {
    refuse_near(value, allowed, &[""; 0], code, field)
}

/// Returns the error for a value that is not among the names `known`, with the nearest one.
pub fn refuse_choice<'v>(
    value: impl Into<Option<&'v Value>>,
    known: &[impl AsRef<str>],
    code: Code,
    field: &str,
) -> Error {
    refuse_near(value, &listed(known), known, code, field)
}

/// The error for a value that is neither one of the names `known` nor else `allowed`, with the nearest name.
pub fn refuse_near<'v>(
    value: impl Into<Option<&'v Value>>,
    allowed: &str,
    known: &[impl AsRef<str>],
    code: Code,
    field: &str,
) -> Error {
    let value = value.into();
    let near = value.and_then(Value::as_str).and_then(|name| nearest(name, known));
    let hint = near.map_or_else(String::new, |known| format!("; did you mean '{known}'?"));
    let received = value.map_or_else(|| "undefined".to_owned(), describe);
    Error::field(code, field, format!("expected {allowed}, received {received}{hint}"))
}

/// Lists names as messages do: `one of 'head', 'tail', 'both'`.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{}'", name.as_ref())).collect();
    if names.len() == 1 { list(&quoted) } else { format!("one of {}", list(&quoted)) }
}

fn list(names: &[impl AsRef<str>]) -> String {
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// Returns the name that `name` most probably means, upper and lower case taken as equal. A name is near if a third of
/// its letters differ at most, or if it alone begins with `name`, or `name` with it: `zh` means `zh-CN`. The
/// longest beginning in common decides between equally near names: `prun` means `prune` and not `run`.
///
/// `nearest` in `lib/util/suggest.ts` decides the same; `__test__/validation/suggestions.json` holds both to it.
pub fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let short: String = name.chars().take(MAX_LENGTH).collect::<String>().to_lowercase();
    let known = || known.iter().map(AsRef::as_ref).map(|known| (known.to_lowercase(), known));
    let (distance, _, best) = known()
        .map(|(lower, known)| {
            let distance = strsim::osa_distance(&short, &lower);
            (distance, Reverse(common_length(&short, &lower)), known)
        })
        .min_by_key(|(distance, common, _)| (*distance, *common))?;
    let letters = letter_count(&short).max(letter_count(best));
    if distance <= (letters / 3).max(1) {
        return Some(best);
    }
    let mut begun = known().filter(|(lower, _)| is_beginning(&short, lower));
    let (_, first) = begun.next()?;
    begun.next().is_none().then_some(first)
}

/// Counts the letters of a name without the dashes of an option.
fn letter_count(name: &str) -> usize {
    name.trim_start_matches('-').chars().count()
}

/// Counts the letters that two words have in common at their beginning.
fn common_length(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Returns true if one begins with the other, which has two letters at least.
fn is_beginning(a: &str, b: &str) -> bool {
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    letter_count(shorter) >= 2 && longer.starts_with(shorter)
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
            refuse_choice(&Value::from(value), &["head", "tail"], CODE, "direction").message
        };
        let expected = "Invalid option \"direction\": expected one of 'head', 'tail', received";
        assert_eq!(message("Head"), format!("{expected} \"Head\"; did you mean 'head'?"));
        assert_eq!(message("sideways"), format!("{expected} \"sideways\""));
    }

    #[test]
    fn suggests_what_typescript_suggests() {
        let cases = include_str!("../../__test__/validation/suggestions.json");
        let cases: Vec<(String, Vec<String>, Option<String>)> =
            serde_json::from_str(cases).unwrap();
        for (given, known, meant) in cases {
            assert_eq!(nearest(&given, &known), meant.as_deref(), "{given} of {known:?}");
        }
    }
}
