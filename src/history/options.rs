//! Options by name.

use crate::error::{Code, Error};

/// The error for an option that nobody knows, with the nearest that somebody does. `of` is the argument it stands in.
pub fn refuse(of: &str, option: &str, known: &[String]) -> Error {
    let short: String = option.chars().take(64).collect();
    let nearest = known
        .iter()
        .map(|name| {
            (strsim::damerau_levenshtein(&short.to_lowercase(), &name.to_lowercase()), name)
        })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3).max(2));
    let hint = nearest.map_or_else(
        || format!("known are {}", known.join(", ")),
        |(_, name)| format!("did you mean {name}?"),
    );
    Error::field(
        Code::InvalidArgument,
        format!("{of}.{short}"),
        format!("is not an option; {hint}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["maxAgeMs".to_owned(), "keepRecent".to_owned()];
        let error = refuse("options", "maxAge", &known);
        assert_eq!(error.message, "options.maxAge: is not an option; did you mean maxAgeMs?");
        assert_eq!(error.field.as_deref(), Some("options.maxAge"));
        assert_eq!(
            refuse("options", "zzz", &known).message,
            "options.zzz: is not an option; known are maxAgeMs, keepRecent"
        );
    }
}
