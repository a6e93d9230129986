//! The operators of `${…}` that change a value.

/// Returns a value as an operator of `${…}` changes it. `None` for one that is not known.
pub(super) fn changed(value: &str, operator: &str) -> Option<String> {
    let mut letters = operator.chars();
    let (first, rest) = (letters.next()?, letters.as_str());
    let is_twice = rest.starts_with(first);
    let pattern = if is_twice { &rest[1..] } else { rest };
    let pattern = unquoted(pattern);
    Some(match first {
        '#' => without_start(value, &pattern, is_twice).to_owned(),
        '%' => without_end(value, &pattern, is_twice).to_owned(),
        '/' => {
            let (from, to) = pattern.split_once('/').unwrap_or((&pattern, ""));
            if is_twice { value.replace(from, to) } else { value.replacen(from, to, 1) }
        }
        ':' if rest.starts_with('?') => value.to_owned(),
        ':' => part(value, rest)?,
        ',' => value.to_lowercase(),
        '^' => value.to_uppercase(),
        '@' | '?' => value.to_owned(),
        _ => return None,
    })
}

fn unquoted(pattern: &str) -> String {
    pattern.replace(['"', '\'', '\\'], "")
}

/// Removes a start, which may begin with a star.
fn without_start<'v>(value: &'v str, pattern: &str, is_longest: bool) -> &'v str {
    match pattern.strip_prefix('*') {
        Some(end) => {
            let at = if is_longest { value.rfind(end) } else { value.find(end) };
            at.map_or(value, |at| &value[at + end.len()..])
        }
        None => value.strip_prefix(pattern).unwrap_or(value),
    }
}

/// Removes an end, which may end with a star.
fn without_end<'v>(value: &'v str, pattern: &str, is_longest: bool) -> &'v str {
    match pattern.strip_suffix('*') {
        Some(start) => {
            let at = if is_longest { value.find(start) } else { value.rfind(start) };
            at.map_or(value, |at| &value[..at])
        }
        None => value.strip_suffix(pattern).unwrap_or(value),
    }
}

/// Returns the part of a value from an offset on, up to a length.
fn part(value: &str, range: &str) -> Option<String> {
    let (from, length) = range.split_once(':').unwrap_or((range, ""));
    let from: isize = from.trim().parse().ok()?;
    let count = value.chars().count();
    let from =
        if from < 0 { count.saturating_sub(from.unsigned_abs()) } else { from.unsigned_abs() };
    let length = if length.is_empty() { count } else { length.trim().parse().ok()? };
    Some(value.chars().skip(from).take(length).collect())
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn operators_change_values() {
        for (value, operator, expected) in [
            ("xrm", "#x", "rm"),
            ("a/b/rm", "##*/", "rm"),
            ("a/b", "#*/", "b"),
            ("/etc/x", "%/*", "/etc"),
            ("/etc/x", "%%/*", ""),
            ("rmy", "%y", "rm"),
            ("rX", "/X/m", "rm"),
            ("a_b_c", "//_/ ", "a b c"),
            ("a.b", "/\".\"", "ab"),
            (" rm", ":1", "rm"),
            ("xrmx", ":1:2", "rm"),
            ("xrm", ": -2", "rm"),
            ("RM", ",,", "rm"),
            ("rm", ":?no", "rm"),
        ] {
            assert_eq!(changed(value, operator).as_deref(), Some(expected), "{value} {operator}");
        }
        assert_eq!((changed("a", ""), changed("a", ":x")), (None, None));
    }
}
