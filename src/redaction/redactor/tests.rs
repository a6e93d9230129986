use super::*;
use proptest::prelude::*;

fn pattern(source: &str) -> RegexSource {
    RegexSource { source: source.to_owned(), ..RegexSource::default() }
}

fn by(mut redactor: Redactor, rules: Rules) -> Redactor {
    redactor.add(Arc::new(rules));
    redactor
}

fn rules(patterns: &[&str], values: &[&str], known: bool) -> Rules {
    let patterns: Vec<RegexSource> = patterns.iter().map(|source| pattern(source)).collect();
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    Rules::new(&patterns, &values, known).unwrap()
}

fn run<'a>(mut redactor: Redactor, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<u8>, u64) {
    let mut out = Vec::new();
    let mut write = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok::<(), ()>(())
    };
    for piece in pieces {
        redactor.push(piece, &mut write).unwrap();
    }
    redactor.finish(&mut write).unwrap();
    (out, redactor.count())
}

fn redacted(text: &str, rules: Rules) -> (String, u64) {
    let (out, count) = run(by(Redactor::default(), rules), [text.as_bytes()].into_iter());
    (String::from_utf8(out).unwrap(), count)
}

/// Redacts the whole text at once.
fn oracle(text: &[u8], patterns: &[&str], values: &[&str]) -> (Vec<u8>, u64) {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for source in patterns {
        let regex = Regex::new(source).unwrap();
        stretches.extend(regex.find_iter(text).map(|found| (found.start(), found.end())));
    }
    for value in values.iter().filter(|value| value.len() <= text.len()) {
        let places = 0..=text.len() - value.len();
        let held = places.filter(|&at| text[at..].starts_with(value.as_bytes()));
        stretches.extend(held.map(|at| (at, at + value.len())));
    }
    stretches.sort_unstable();
    let (mut out, mut count, mut covered) = (text.to_vec(), 0, 0);
    for (from, to) in stretches {
        count += u64::from(from >= covered);
        covered = covered.max(to);
        out[from..to].iter_mut().filter(|byte| !b"\r\n".contains(byte)).for_each(|b| *b = b'*');
    }
    (out, count)
}

#[test]
fn every_byte_of_a_secret_is_masked_and_line_breaks_stay() {
    let rules = rules(&["(?s)<<.*?>>", "id=(?<secret>\\d+)"], &["päss", "ssword"], false);
    let (text, count) = redacted("a <<b\r\nc>> id=42 pässword!\n", rules);
    assert_eq!((text.as_str(), count), ("a ***\r\n*** id=** *********!\n", 3));
}

#[test]
fn what_is_no_rule_is_refused_by_its_place() {
    let refused = |patterns: &[&str], values: &[&str]| {
        let patterns: Vec<RegexSource> = patterns.iter().map(|source| pattern(source)).collect();
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Rules::new(&patterns, &values, false).unwrap_err()
    };
    for source in ["", "(", "(?=x)", r"(a)\1", "x*", r"\b", r"(?-u:\xff)", &"(".repeat(500)] {
        let (place, problem) = refused(&["fine", source], &[]);
        assert_eq!(place, "patterns[1]", "{source}: {problem}");
    }
    let (place, problem) = refused(&[], &["long enough", "abc"]);
    assert_eq!((place.as_str(), problem.ends_with("received 3")), ("values[1]", true));
    assert_eq!(refused(&vec!["x"; MAX_PATTERNS + 1], &[]).0, "patterns");
}

#[test]
fn flags_mean_what_they_mean() {
    let flags =
        RegexSource { ignore_case: true, multi_line: true, dot_all: true, ..pattern("^b.c") };
    let rules = Rules::new(&[flags], &[], false).unwrap();
    assert_eq!(redacted("a\nB\nC", rules), ("a\n*\n*".to_owned(), 1));
}

#[test]
fn of_a_match_that_is_too_long_at_least_the_longest_is_masked() {
    let text = format!("id={}.", "7".repeat(3 * (STEP + MAX_MATCH_LENGTH)));
    let (out, count) = redacted(&text, rules(&[r"id=\d+"], &[], false));
    assert!(out[..MAX_MATCH_LENGTH].bytes().all(|byte| byte == MASK) && out.len() == text.len());
    assert_eq!((count, out.ends_with("7.")), (1, true));
}

#[test]
fn secrets_are_found_wherever_a_window_ends() {
    let secret = "S3CRET-value-0123456789";
    let whole = STEP + MAX_MATCH_LENGTH + LOOK_AHEAD;
    for edge in [STEP, whole, 2 * STEP, whole + STEP] {
        for at in (edge - secret.len() - 9..edge + 9).step_by(3) {
            let text = format!("{}{secret}{}", "€".repeat(at / 3), ".".repeat(whole + STEP));
            let by_value = redacted(&text, rules(&[], &[secret], false));
            let by_pattern = redacted(&text, rules(&[r"\bS3CRET-value-\d{10}\b"], &[], false));
            let expected = text.replace(secret, &"*".repeat(secret.len()));
            assert!(by_value == (expected.clone(), 1) && by_pattern == (expected, 1), "{at}");
        }
    }
}

#[test]
fn a_column_of_secrets_is_masked_in_all_windows() {
    let row = |secret: &str, at: usize| format!("{at},me{at},{secret},a note\r\n");
    let table = |secret: &str| {
        let rows = (0..40_000).map(|at| row(secret, at));
        let head = "id,user,password,note\r\n".to_owned();
        std::iter::once(head).chain(rows).collect::<String>()
    };
    let text = table("hunter2hunter2") + "\n1,b,hunter2hunter2,c\n";
    let expected = table(&"*".repeat(14)) + "\n1,b,hunter2hunter2,c\n";
    assert!(text.len() > 4 * (STEP + MAX_MATCH_LENGTH));
    for size in [text.len(), 4711, STEP + 1] {
        let made = by(Redactor::default(), rules(&[], &[], true));
        let (out, count) = run(made, text.as_bytes().chunks(size));
        assert!(out == expected.as_bytes(), "in pieces of {size}");
        assert_eq!(count, 40_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn neither_splits_nor_windows_matter(
        text in "[ab1é\\r\\n \u{3b1}]{0,120}", step in 1usize..40,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        patterns in prop::collection::vec(prop::sample::select(vec![
            "a+?b", "ab", "\\bb1?\\b", "(?m)^a", "(?m)b$", "\\Aa", "b\\z", "1{2,5}", "(?s)a.b", "[é\u{3b1}]{1,3}", "a|ab|abb", "\\Bb",
        ]), 0..4),
        values in prop::collection::vec(prop::sample::select(vec!["aaaa", "abab", "b1b1", "a\nb\n", "ééa"]), 0..3),
    ) {
        // Long enough for every match of these patterns in such a text, except for long runs of one letter.
        let longest = 121;
        let bytes = text.as_bytes();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.extend([0, bytes.len()]);
        ends.sort_unstable();
        let pieces = ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        let redactor = by(Redactor::with_window(step, longest), rules(&patterns, &values, false));
        prop_assert_eq!(run(redactor, pieces), oracle(bytes, &patterns, &values));
    }

    #[test]
    fn splits_do_not_matter_even_where_matches_are_too_long(
        text in "[ab ]{0,200}", step in 1usize..20, longest in 4usize..12,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let made = || by(Redactor::with_window(step, longest), rules(&["a[ab]*", "b.*a", "(?: a)+$"], &["abab"], false));
        let bytes = text.as_bytes();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.extend([0, bytes.len()]);
        ends.sort_unstable();
        let pieces = ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(run(made(), pieces), run(made(), [bytes].into_iter()));
    }
}
