//! Measures hostile patterns: each is compiled and searched for in 10 KiB of several kinds, and must be refused or be
//! fast. `SPILLWAY_PROPERTY_RUNS` is the number of patterns; the times are meaningful with `cargo test --release --test
//! patterns`.
#![cfg(test)]
// The figures are printed for the developer who runs this.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use spillway_core::error::Code;
use spillway_core::storage::pattern::{PatternOptions, compile};

/// Limits for 99 of 100 patterns: to compile, and to search one subject.
const COMPILE: Duration = Duration::from_millis(10);
const MATCH: Duration = Duration::from_millis(1);
/// Limit for every pattern. An engine without backtracking still computes a set of states for every byte, so the worst
/// text for the largest pattern takes this long.
const WORST: Duration = Duration::from_millis(50);
/// Factor for a build without optimization, on a machine with other load.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 20 } else { 1 };
/// Length of a subject in bytes.
const SUBJECT: usize = 10 * 1024;
/// Number of tries before a time counts as too long, because the machine may have been busy.
const TRIES: usize = 5;

#[test]
fn b36_a_hostile_pattern_is_refused_or_quick() {
    let runs = std::env::var("SPILLWAY_PROPERTY_RUNS").ok().and_then(|runs| runs.parse().ok());
    let subjects = subjects();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut known = known().into_iter();
    let (mut compiled, mut searched, mut refused) = (Vec::new(), Vec::new(), 0);
    for _ in 0..runs.unwrap_or(300) {
        let pattern = known.next().unwrap_or_else(|| random.pattern(4));
        let reading =
            PatternOptions { ignore_case: random.below(4) == 0, literal: random.below(40) == 0 };
        let mut result = None;
        let took = fastest(COMPILE, || result = Some(compile(&pattern, reading)));
        compiled.push((took, pattern.clone()));
        let regex = match result.unwrap() {
            Ok(regex) => regex,
            Err(error) => {
                assert_eq!(error.code, Code::InvalidArgument);
                assert_eq!(error.field.as_deref(), Some("pattern"));
                refused += 1;
                continue;
            }
        };
        for subject in &subjects {
            let took = fastest(MATCH, || {
                // As a search does: finds where the first match ends, and then where it begins.
                let _ = regex.earliest_match_end(subject, 0).and_then(|_| regex.find(subject));
            });
            searched.push((took, pattern.clone()));
        }
    }
    assert!(refused > 0 && !searched.is_empty());
    check("compiling", compiled, COMPILE);
    check("searching", searched, MATCH);
}

fn check(what: &str, mut times: Vec<(Duration, String)>, usual: Duration) {
    times.sort();
    let (nearly_all, _) = &times[(times.len() - 1) * 99 / 100];
    let (worst, pattern) = &times[times.len() - 1];
    let pattern: String = pattern.chars().take(100).collect();
    println!("{what}: 99 % within {nearly_all:?}, at most {worst:?} ({pattern})");
    assert!(*nearly_all <= usual * SLOWNESS, "{what} takes {nearly_all:?}");
    assert!(*worst <= WORST * SLOWNESS, "{what} takes {worst:?}: {pattern}");
}

/// Returns the shortest time of a few tries; one within the limit is enough.
fn fastest(bar: Duration, mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let began = Instant::now();
        work();
        best = best.min(began.elapsed());
        if best <= bar {
            break;
        }
    }
    best
}

fn subjects() -> Vec<Vec<u8>> {
    let words = "error: 42 files at src/a.rs é 你好 😀 foo_bar(baz) = \"x\"\n";
    [
        "a",
        "aab",
        "é",
        "你",
        "a\u{301}",
        " a",
        words,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n",
    ]
    .iter()
    .map(|piece| piece.as_bytes().to_vec())
    .chain([vec![0xff], b"a\xe4\xbd".to_vec(), vec![0]])
    .map(|piece| piece.iter().copied().cycle().take(SUBJECT).collect())
    .collect()
}

/// Well-known hostile patterns.
fn known() -> Vec<String> {
    let texts = [
        r"(a+)+$",
        r"(a|aa)+$",
        r"(a*)*b",
        r"(x+x+)+y",
        r"(.*)*x",
        r"((a{0,5}){0,5}){0,5}b",
        r"a{1000}{1000}",
        r"(?:a?){500}a{500}",
        r"\b(?:.{0,100}x){8}\b",
        r"(\pL{10}){50}",
        r"\pL{100}",
        r"[\w\s]{500}",
        r"\w{400}\b",
        r"((((\w+)+)+)+)+$",
        r"(?i)(ß|ſ|K|İ){100}",
        r"[\p{L}&&\p{Greek}--\p{Lu}]",
        r"(?s).{1000}",
        r".*.*.*.*.*x",
        r"(?:[^a]|[^b]|[^c])*z$",
        r"\b\w+\b\s\b\w+\b$",
        r"(?u:\b.\b){200}",
        r"x{0,1000}y{0,1000}",
    ];
    let mut all: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    for (piece, times) in [
        ("(", 100_000),
        ("{", 100_000),
        ("[", 100_000),
        ("a", 1 << 20),
        ("(?:", 340),
        ("a|", 512),
        ("[a", 400),
        (r"\pL", 340),
        (r"\w*", 340),
        (".*", 512),
        ("(a*)*", 200),
        (r"\b", 512),
        ("a?", 512),
    ] {
        all.push(piece.repeat(times));
    }
    all.push(format!("{}a{}", "(?:".repeat(40), "*)+".repeat(40)));
    all.push(format!("{}a{}", "(".repeat(50), ")*".repeat(50)));
    all.push(format!(
        "[{}]",
        (0..200).map(|at| char::from_u32(0x100 + 3 * at).unwrap_or('x')).collect::<String>()
    ));
    all
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn pattern(&mut self, depth: usize) -> String {
        const ATOMS: [&str; 30] = [
            "a",
            "b",
            "aa",
            "x",
            ".",
            r"\w",
            r"\W",
            r"\d",
            r"\s",
            r"\S",
            r"\pL",
            r"\p{Greek}",
            r"\PN",
            "[^a]",
            r"[\w\s]",
            "[a-z&&[^m]]",
            "(?s:.)",
            r"\b",
            r"\B",
            "^",
            "$",
            "(?i:k)",
            "é",
            "你",
            r"\x{1F600}",
            r"[\x{0}-\x{10FFFF}]",
            r"(?-u:\xff)",
            r"(?-u:\w)",
            r"\A",
            r"\z",
        ];
        const COUNTS: [&str; 14] = [
            "*", "+", "?", "*?", "+?", "{2}", "{10}", "{50}", "{0,50}", "{100,}", "{1000}",
            "{0,1000}", "{2}{3}", "{30}{30}",
        ];
        if depth == 0 {
            return self.pick(&ATOMS).to_owned();
        }
        match self.below(6) {
            0 => self.pick(&ATOMS).to_owned(),
            1 => format!("({}|{})", self.pattern(depth - 1), self.pattern(depth - 1)),
            2 | 3 => format!("(?:{}){}", self.pattern(depth - 1), self.pick(&COUNTS)),
            _ => (0..=self.below(4)).map(|_| self.pattern(depth - 1)).collect(),
        }
    }
}
