//! Decides whether two path globs can match the same path. Where that is hard to decide, the answer is yes.
//!
//! Both globs are split into tokens: a literal character, any character of a name, any number of characters of a name,
//! anything. Let `overlap(i, j)` be true if some text is matched by the tokens of the first glob from `i` on and by
//! those of the second from `j` on. It is the usual recursion for matching a pattern, with a second pattern in place of
//! the text:
//!
//! - both are at their end: true;
//! - token `i` repeats (`*` or `**`): `overlap(i + 1, j)`, or it consumes one character that token `j` can match too;
//! - token `j` repeats: the same with the sides exchanged;
//! - otherwise both tokens consume one character, which must be possible for both: `overlap(i + 1, j + 1)`.
//!
//! The table is filled from the ends, one row at a time, in time and memory proportional to the product of the lengths,
//! which is bounded.

/// Letters that begin a wildcard.
pub(super) const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// Escapes a name as a glob that matches only it.
pub(super) fn literal(name: &str) -> String {
    let is_plain = |letter: char| !WILDCARDS.contains(&letter) && letter != '\\';
    let escaped = |letter: char| (!is_plain(letter)).then_some('\\').into_iter().chain([letter]);
    name.chars().flat_map(escaped).collect()
}

/// Maximum number of pairs of tokens compared.
const MAX_PAIRS: usize = 1 << 16;

/// A token of a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Letter(char),
    /// Any character of a name.
    One,
    /// Any number of characters of a name.
    Name,
    /// Any text.
    Rest,
}

impl Part {
    fn repeats(self) -> bool {
        matches!(self, Part::Name | Part::Rest)
    }

    /// Returns true if a character can match both tokens.
    fn shares(self, other: Part) -> bool {
        match (self, other) {
            (Part::Letter(one), Part::Letter(two)) => one == two,
            (Part::One | Part::Name, Part::Letter('/'))
            | (Part::Letter('/'), Part::One | Part::Name) => false,
            _ => true,
        }
    }
}

/// Returns true if a path may exist that both globs match. `crosses`: `*` in the first glob matches `/` too.
pub(crate) fn can_meet(glob: &str, crosses: bool, other: &str) -> bool {
    let mut starts = glob.chars().zip(other.chars());
    let plain = |(one, two): &(char, char)| !is_special(*one) && !is_special(*two);
    if starts.by_ref().take_while(plain).any(|(one, two)| one != two) {
        return false;
    }
    // A name is short: most long globs cannot match it for their letters alone.
    let only_stars = |glob: &str| !glob.contains(|letter| letter != '*' && is_special(letter));
    if only_stars(glob) && !other.contains(is_special) {
        // `**/` matches nothing as well.
        let letters = glob.bytes().filter(|byte| !matches!(byte, b'*' | b'/')).count();
        if letters > other.len() {
            return false;
        }
    }
    let (one, two) = (parts(glob, crosses), parts(other, false));
    if one.len().saturating_mul(two.len()) > MAX_PAIRS {
        return true;
    }
    // From the ends: each cell says whether the rests of both globs overlap.
    let mut next_row: Vec<bool> = Vec::new();
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; two.len() + 1];
        for to in (0..=two.len()).rev() {
            let below = |to: usize| next_row.get(to).copied().unwrap_or_default();
            let beside = row.get(to + 1).copied().unwrap_or_default();
            let can = match (one.get(at), two.get(to)) {
                (None, None) => true,
                (Some(part), None) => part.repeats() && below(to),
                (None, Some(part)) => part.repeats() && beside,
                (Some(part), Some(other)) => {
                    let shares = part.shares(*other);
                    match (part.repeats(), other.repeats()) {
                        (true, true) => below(to) || beside,
                        (true, false) => below(to) || (shares && beside),
                        (false, true) => beside || (shares && below(to)),
                        (false, false) => shares && below(to + 1),
                    }
                }
            };
            if let Some(cell) = row.get_mut(to) {
                *cell = can;
            }
        }
        next_row = row;
    }
    next_row.first().copied().unwrap_or(true)
}

fn is_special(letter: char) -> bool {
    matches!(letter, '*' | '?' | '[' | '{' | '\\')
}

fn parts(glob: &str, crosses: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = glob;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let group = |close: char| rest.find(close).map(|end| &rest[end + 1..]);
        let (part, after) = match letter {
            '*' if rest.starts_with('*') => {
                let after = rest.trim_start_matches('*');
                // It may match no directory at all.
                (Part::Rest, Some(after.strip_prefix('/').unwrap_or(after)))
            }
            '*' if crosses => (Part::Rest, None),
            '*' => (Part::Name, None),
            '?' => (Part::One, None),
            '[' if group(']').is_some() => (Part::One, group(']')),
            '{' if group('}').is_some() => {
                (Part::Rest, rest.rfind('}').map(|end| &rest[end + 1..]))
            }
            '\\' => {
                let next = rest.chars().next().unwrap_or('\\');
                (Part::Letter(next), rest.get(next.len_utf8()..))
            }
            letter => (Part::Letter(letter), None),
        };
        parts.push(part);
        rest = after.unwrap_or(rest);
    }
    parts
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn globs_meet_where_a_path_is_of_both() {
        for (one, two) in [
            ("private/**", "p*/a"),
            ("private/**", "*/a"),
            ("private/**", "?rivate/a"),
            ("private/**", "[op]rivate/*"),
            ("private/**", "{private,x}/a"),
            ("**/secret*.txt", "s*.txt"),
            ("**/secret*.txt", "a/b/*"),
            ("a/*.ts", "*/b.ts"),
            ("a\\*b", "a*b"),
        ] {
            assert!(can_meet(one, false, two), "{one} {two}");
        }
        for (one, two) in [
            ("private/**", "p*"),
            ("private/**", "src/*.ts"),
            ("**/secret*.txt", "*.md"),
            ("a/*.ts", "*.ts"),
            ("a/?", "a/b/*"),
            ("a\\*b", "a?c"),
        ] {
            assert!(!can_meet(one, false, two), "{one} {two}");
        }
        assert!(can_meet("a*.ts", true, "a/*.ts") && !can_meet("a*.ts", false, "a/*.ts"));
    }

    proptest! {
        #[test]
        fn a_path_of_both_is_never_missed(
            one in "[ab/*?]{1,8}", two in "[ab/*?]{1,8}", path in "[ab]{1,3}(/[ab]{1,3}){0,2}",
        ) {
            let is = |glob: &str| {
                GlobBuilder::new(glob).literal_separator(true).build()
                    .is_ok_and(|glob| glob.compile_matcher().is_match(&path))
            };
            if is(&one) && is(&two) {
                prop_assert!(can_meet(&one, false, &two));
            }
        }
    }
}
