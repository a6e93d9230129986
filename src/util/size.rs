//! Reads sizes as people write them: `51200`, `50k`, `1.5MiB`.

/// Returns the number of bytes: a number with at most one dot, then `k`, `m`, `g` or `t` in either case, each 1,024 times
/// the one before, then `b` or `iB`. `None` for everything else, for 0 and for more than 2^53 − 1.
pub fn bytes(text: &str) -> Option<u64> {
    let unit_at =
        text.find(|each: char| !each.is_ascii_digit() && each != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit = unit.to_ascii_lowercase();
    let prefix = unit.strip_suffix('b').unwrap_or(&unit);
    let power = match prefix.strip_suffix('i').unwrap_or(prefix) {
        "" if unit.is_empty() || unit == "b" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let begins_and_ends_with_digits = [number.chars().next(), number.chars().last()]
        .iter()
        .all(|end| end.is_some_and(|digit| digit.is_ascii_digit()));
    if !begins_and_ends_with_digits {
        return None;
    }
    let size = (number.parse::<f64>().ok()? * 1024f64.powi(power)).round();
    (1.0..=9_007_199_254_740_991.0).contains(&size).then_some(size as u64)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let table: [(&str, Option<u64>); 26] = [
            ("51200", Some(51200)),
            ("1", Some(1)),
            ("7b", Some(7)),
            ("50k", Some(51200)),
            ("50K", Some(51200)),
            ("50kb", Some(51200)),
            ("50KiB", Some(51200)),
            ("1.5MiB", Some(1_572_864)),
            ("0.5k", Some(512)),
            ("2g", Some(2_147_483_648)),
            ("1t", Some(1_099_511_627_776)),
            ("9007199254740991", Some(9_007_199_254_740_991)),
            ("9007199254740993", None),
            ("99999999t", None),
            ("0", None),
            ("0.1", None),
            ("", None),
            ("k", None),
            (".5k", None),
            ("5.k", None),
            ("1.2.3k", None),
            ("-5", None),
            ("50 k", None),
            ("50kk", None),
            ("7ib", None),
            ("５０k", None),
        ];
        for (text, size) in table {
            assert_eq!(bytes(text), size, "{text:?}");
        }
    }
}
