//! Suggestions for misspelt names.

use crate::error::{Code, Error};

/// Longer names are not compared: no known name is this long, and the comparison is quadratic.
const LONGEST: usize = 64;

/// Returns the error for an unknown name, with the nearest known one as a suggestion. `what` is the kind of name it is
/// not, such as `a setting`.
pub fn unknown(
    code: Code,
    field: &str,
    name: &str,
    known: &[impl AsRef<str>],
    what: &str,
) -> Error {
    let short: String = name.chars().take(LONGEST).collect::<String>().to_lowercase();
    let nearest = known
        .iter()
        .map(AsRef::as_ref)
        .map(|known| (strsim::damerau_levenshtein(&short, &known.to_lowercase()), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3).max(2));
    let hint = nearest.map_or_else(
        || format!("known are {}", known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
        |(_, known)| format!("did you mean {known}?"),
    );
    Error::field(code, field, format!("is not {what}; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let message = |name: &str| {
            unknown(
                Code::InvalidArgument,
                &format!("options.{name}"),
                name,
                &["maxAgeMs", "keepRecent"],
                "an option",
            )
            .message
        };
        assert_eq!(message("maxAge"), "options.maxAge: is not an option; did you mean maxAgeMs?");
        assert_eq!(message("zzz"), "options.zzz: is not an option; known are maxAgeMs, keepRecent");
    }
}
