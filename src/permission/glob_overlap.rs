//! Whether two globs of paths can mean the same path. Where that is hard to tell, they can.

/// Pairs of places in two globs that are looked at.
const MOST_PAIRS: usize = 1 << 16;

/// A part of a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Letter(char),
    /// Any letter of a name.
    One,
    /// Any number of letters of a name.
    Name,
    /// Anything.
    Rest,
}

impl Part {
    fn repeats(self) -> bool {
        matches!(self, Part::Name | Part::Rest)
    }

    /// Whether a letter of this can be one of that.
    fn shares(self, other: Part) -> bool {
        match (self, other) {
            (Part::Letter(one), Part::Letter(two)) => one == two,
            (Part::One | Part::Name, Part::Letter('/'))
            | (Part::Letter('/'), Part::One | Part::Name) => false,
            _ => true,
        }
    }
}

/// Whether there may be a path that both globs mean. `crosses`: a `*` of the first stands for `/`, too.
pub fn can_meet(glob: &str, crosses: bool, other: &str) -> bool {
    let mut starts = glob.chars().zip(other.chars());
    let plain = |(one, two): &(char, char)| !is_special(*one) && !is_special(*two);
    if starts.by_ref().take_while(plain).any(|(one, two)| one != two) {
        return false;
    }
    let (one, two) = (parts(glob, crosses), parts(other, false));
    if one.len().saturating_mul(two.len()) > MOST_PAIRS {
        return true;
    }
    // From the ends: whether what is left of both can be the same.
    let mut behind: Vec<bool> = Vec::new();
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; two.len() + 1];
        for to in (0..=two.len()).rev() {
            let below = |to: usize| behind.get(to).copied().unwrap_or_default();
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
        behind = row;
    }
    behind.first().copied().unwrap_or(true)
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
        let (part, behind) = match letter {
            '*' if rest.starts_with('*') => {
                let behind = rest.trim_start_matches('*');
                // It can be no folder at all.
                (Part::Rest, Some(behind.strip_prefix('/').unwrap_or(behind)))
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
        rest = behind.unwrap_or(rest);
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
