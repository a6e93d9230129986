//! Compiles the table of rules, so that many lines can be matched quickly.

use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::ranking::Ranking;
use super::table::{RULES, Rule};
use crate::truncation::lazy_regex::LazyRegex;
use crate::util::regex_source::RegexSource;

/// Levels of loggers that need no action.
static QUIET: LazyRegex = LazyRegex::new(
    r"(^|[\s\[|(<])(FINE|FINER|FINEST|DEBUG|TRACE|VERBOSE|INFO|NOTICE|CONFIG)([\]\s:|)>]|$)|(level=|\[)(debug|trace|verbose|info|notice)\b|^npm (http|silly|verbose|verb|info|timing|notice) ",
);
/// They are near the start of a line.
const QUIET_WITHIN: usize = 80;

/// A longer line is judged by its start.
const JUDGED: usize = 1024;

/// The worth of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// How much it matters.
    pub weight: u16,
    /// Lines before it that belong to it.
    pub before: u8,
    /// Lines after it that belong to it.
    pub after: u8,
}

/// A rule that comes on top of the table.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// The line holds one of them, in any case of ASCII letters.
    pub words: Vec<String>,
    /// And this matches, if there is one.
    pub pattern: Option<RegexSource>,
    /// As in the table.
    pub weight: u16,
    /// As in the table.
    pub before: u8,
    /// As in the table.
    pub after: u8,
}

/// Rules that may come on top. All of them together have a bit each in a mask.
pub const MAX_EXTRA: usize = 64;
/// The longest expression, the deepest, and what it may take when it is compiled, in bytes.
const MAX_PATTERN_LENGTH: usize = 4096;
const NEST_LIMIT: u32 = 64;
const SIZE_LIMIT: usize = 1 << 20;

impl Extra {
    /// Checks that its pattern can be used; the error says why not.
    pub fn check(&self) -> Result<(), String> {
        self.pattern.as_ref().map_or(Ok(()), |pattern| compiled(pattern).map(|_| ()))
    }
}

fn compiled(pattern: &RegexSource) -> Result<Regex, String> {
    let length = pattern.source.len();
    if !(1..=MAX_PATTERN_LENGTH).contains(&length) {
        return Err(format!("expected 1 to {MAX_PATTERN_LENGTH} bytes, received {length}"));
    }
    RegexBuilder::new(&pattern.source)
        .nest_limit(NEST_LIMIT)
        .size_limit(SIZE_LIMIT)
        .case_insensitive(pattern.ignore_case)
        .multi_line(pattern.multi_line)
        .dot_matches_new_line(pattern.dot_all)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => {
                format!("takes more than {limit} bytes when it is compiled")
            }
            // The last line of the report says what is wrong.
            error => error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
        })
}

/// Rules that can be asked.
#[derive(Debug)]
pub struct Rules {
    ranking: Ranking,
    rules: Vec<Ready>,
    words: AhoCorasick,
    /// The rule of each word.
    rule_of: Vec<usize>,
}

#[derive(Debug)]
struct Ready {
    condition: Condition,
    verdict: Verdict,
}

/// The condition that a line with a word of a rule has to meet, too.
#[derive(Debug)]
enum Condition {
    Nothing,
    OfTable(LazyRegex),
    OfCaller(Regex),
}

impl Condition {
    fn is_met(&self, line: &[u8]) -> bool {
        match self {
            Condition::Nothing => true,
            Condition::OfTable(lazy) => lazy.get().is_some_and(|pattern| pattern.is_match(line)),
            Condition::OfCaller(pattern) => pattern.is_match(line),
        }
    }
}

static BUILT_IN: LazyLock<Arc<Rules>> = LazyLock::new(|| {
    let rules = Rules::new(RULES);
    Arc::new(rules.unwrap_or_else(|_| unreachable!("built-in rules are valid")))
});

impl Rules {
    /// The rules by default.
    pub fn built_in() -> Arc<Rules> {
        Arc::clone(&BUILT_IN)
    }

    /// Makes a table ready.
    pub fn new(table: &[Rule]) -> Result<Self, String> {
        Rules::with(table, &[]).map_err(|(_, problem)| problem)
    }

    /// The rules by default and others on top of them. A refusal names the other that is at fault.
    pub fn extended(extras: &[Extra]) -> Result<Self, (Option<usize>, String)> {
        Rules::with(RULES, extras)
    }

    fn with(table: &[Rule], extras: &[Extra]) -> Result<Self, (Option<usize>, String)> {
        let (mut words, mut rule_of, mut rules) = (Vec::new(), Vec::new(), Vec::new());
        for (index, rule) in table.iter().enumerate() {
            words.extend(rule.words.iter().map(|word| word.as_bytes()));
            rule_of.extend(rule.words.iter().map(|_| index));
            let condition = match rule.pattern {
                "" => Condition::Nothing,
                pattern => Condition::OfTable(LazyRegex::new(pattern)),
            };
            let Rule { weight, before, after, .. } = *rule;
            rules.push(Ready { condition, verdict: Verdict { weight, before, after } });
        }
        for (place, extra) in extras.iter().enumerate() {
            words.extend(extra.words.iter().map(|word| word.as_bytes()));
            rule_of.extend(extra.words.iter().map(|_| rules.len()));
            let pattern = extra.pattern.as_ref().map(compiled).transpose();
            let pattern = pattern.map_err(|problem| (Some(place), problem))?;
            let condition = pattern.map_or(Condition::Nothing, Condition::OfCaller);
            let Extra { weight, before, after, .. } = *extra;
            rules.push(Ready { condition, verdict: Verdict { weight, before, after } });
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .map_err(|error| (None, error.to_string()))?;
        Ok(Rules { ranking: Ranking::built_in(), rules, words, rule_of })
    }

    /// The rules by default with other trees to rank lines by.
    pub fn ranked_by(ranking: Ranking) -> Result<Self, String> {
        Rules::new(RULES).map(|rules| Rules { ranking, ..rules })
    }

    /// The trees that rank lines.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// Where the first word of any rule ends in these bytes, from an offset on.
    pub fn next_word(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let input = Input::new(bytes).range(from.min(bytes.len())..).earliest(true);
        self.words.find(input).map(|found| found.end())
    }

    /// Returns the worth of a line, or `None` for an ordinary one. Terminal escapes must be removed before.
    pub fn judge(&self, line: &[u8]) -> Option<Verdict> {
        let line = line.get(..JUDGED).unwrap_or(line);
        let mut asked = 0u128;
        let mut best: Option<Verdict> = None;
        for found in self.words.find_overlapping_iter(line) {
            let Some(&index) = self.rule_of.get(found.pattern().as_usize()) else { continue };
            let bit = 1u128.checked_shl(u32::try_from(index).unwrap_or(0)).unwrap_or(0);
            if asked & bit != 0 {
                continue;
            }
            asked |= bit;
            let Some(rule) = self.rules.get(index) else { continue };
            let is_veto = rule.verdict.weight == 0;
            if !is_veto && best.is_some_and(|best| best.weight >= rule.verdict.weight) {
                continue;
            }
            if rule.condition.is_met(line) {
                if is_veto {
                    return None;
                }
                best = Some(rule.verdict);
            }
        }
        best.map(|best| if self.is_quiet(line) { best.quieter() } else { best })
    }

    /// Returns true if a rule without weight marks a line as good news.
    pub fn is_vetoed(&self, line: &[u8]) -> bool {
        let line = line.get(..JUDGED).unwrap_or(line);
        self.words.find_overlapping_iter(line).any(|found| {
            let index = self.rule_of.get(found.pattern().as_usize());
            index
                .and_then(|index| self.rules.get(*index))
                .is_some_and(|rule| rule.verdict.weight == 0 && rule.condition.is_met(line))
        })
    }

    /// Returns true if a line marks itself as no news, and does not report a failed answer.
    pub fn is_quiet(&self, line: &[u8]) -> bool {
        let start = line.get(..QUIET_WITHIN).unwrap_or(line);
        QUIET.get().and_then(|quiet| quiet.find(start)).is_some_and(|found| {
            let rest = line.get(found.end()..).unwrap_or_default();
            !rest.windows(3).any(|code| matches!(code, [b' ', b'5', b'0']))
        })
    }
}

impl Verdict {
    /// Returns the verdict about a line that is less important, such as one of a debug log: half of the weight.
    #[must_use]
    pub fn quieter(self) -> Self {
        Verdict { weight: self.weight / 2, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncation::smart::table::MAX_WEIGHT;

    fn weight(line: &str) -> u16 {
        Rules::built_in().judge(line.as_bytes()).map_or(0, |verdict| verdict.weight)
    }

    #[test]
    fn every_rule_can_be_made_ready() {
        Rules::new(RULES).unwrap();
        assert!(RULES.len() + MAX_EXTRA <= 128);
        assert!(QUIET.get().is_some());
        for rule in RULES {
            assert!(LazyRegex::new(rule.pattern).get().is_some(), "{rule:?}");
            assert!(rule.weight <= MAX_WEIGHT && !rule.words.is_empty(), "{rule:?}");
            for word in rule.words {
                assert_eq!(*word, word.to_ascii_lowercase());
                assert!(!word.contains('\n') && word.len() >= 3 || !word.is_ascii(), "{word:?}");
            }
        }
    }

    #[test]
    fn failures_outweigh_warnings_and_good_news_weighs_nothing() {
        for line in [
            "src/a.c:5:4: error: conflicting types for 'f'",
            "error[E0308]: mismatched types",
            "src/x.ts(29,9): error TS2322: Type 'S' is not assignable to type 'string'.",
            "make[1]: *** [Makefile:951: src/jv_aux.lo] Error 1",
            "E: Sub-process /usr/bin/dpkg returned an error code (1)",
            "test a::b ... FAILED",
            "AssertionError: 'a' != 'b'",
            "\tjava.lang.ClassNotFoundException: com.acme.X",
            "--- FAIL: TestX (0.00s)",
            "panic: runtime error: index out of range [5] with length 3",
            "3: /src/test/chrono-test.cc:289: Failure",
            "==1==    definitely lost: 2,628 bytes in 181 blocks",
            "127.0.0.1 - - [x] \"GET /api HTTP/1.1\" 502 157",
            "FAILED (failures=6, errors=1, skipped=81)",
            "KeyError: 'SEK'",
            "12:00:01 INFO werkzeug 127.0.0.1 \"GET /x HTTP/1.1\" 500 -",
            "npm ERR! code ELIFECYCLE",
            "Error: Cannot find module './x'",
            "  Expected: 3",
            "    while executing",
            "no rate for CHF at lib/Rates.pm line 12.",
            "stack traceback:",
            "<error id=\"nullPointer\" severity=\"error\" msg=\"Null pointer dereference\">",
            "<failure message=\"expected 1 but was 2\" type=\"AssertionError\">",
            "time=2026-01-02T03:04:05Z level=error msg=\"no route to peer\" peer=7",
            "t=2026-01-02 lvl=eror msg=\"chain head is behind\"",
            "{\"level\":\"error\",\"msg\":\"queue is full\"}",
            "{\"level\":50,\"time\":1767323045000,\"msg\":\"queue is full\"}",
            "=CRASH REPORT==== 2-Jan-2026::03:04:05.000000 ===",
            "** Reason for termination == ",
            "** (MatchError) no match of right hand side value: :none",
            "{badmatch,{down,tcp}}",
            "*** Error code 1",
            "src/Data/Graph.hs:88:17:",
            "    Not in scope: 'lookupp'",
            "[x] /src/Login.swift:41:22: value of type 'Session' has no member 'tokn'",
            "  Line   src/Cart.php",
            "db-0-a81f      0/1   CrashLoopBackOff   41   3d",
            "      Reason:       OOMKilled",
            "  # aws_db_instance.main must be replaced",
            "1700000400.123456 [0 10.0.0.9:51022] \"FLUSHALL\"",
            "1700000400.123456 [0 10.0.0.9:51022] \"config\" \"set\" \"dir\" \"/tmp\"",
            "18741 rename(\"/srv/a.bin\", \"/mnt/a.bin\") = -1 EXDEV (Invalid cross-device link)",
            "rsync: write failed on \"/mnt/b/a.iso\": No space left on device (28)",
        ] {
            assert!(weight(line) >= 850, "{line}: {}", weight(line));
        }
        assert!((1..400).contains(&weight("warning: unused variable: `x`")));
        for line in [
            "test a::error ... ok",
            "0 errors, 0 warnings",
            "tests/test_errors.py::test_error PASSED [ 10%]",
            "  \u{2713} fails when the file is missing",
            "cc -Werror -c error.c -o error.o",
            "Found 0 errors.",
            "compiling the parser",
            "[ RUN      ] nvim_set_keymap throws an error when given a number: 0.68 ms OK",
            "see perlfunc.pl line 3 for more",
            "it came while executing the step",
            "The command \"make error-pages\" exited with 0.",
            "*** Parser [Acme.Tree]:",
            "{\"level\":\"info\",\"msg\":\"queue is empty\"}",
            "{\"level\":30,\"msg\":\"queue is empty\"}",
            "time=2026-01-02T03:04:05Z level=info msg=\"listening\"",
            "npm http fetch GET 200 https://x/error-ex 12ms",
            "[1 of 9] Compiling Data.Tree  ( src/Data/Tree.hs, dist/Data/Tree.o )",
            "- [x] write the docs",
            "installing backoff 2.2.1",
            "         Rows Removed by Filter: 12",
            "1700000400.123456 [0 10.0.0.9:51022] \"GET\" \"flushall\"",
            "lseek(3, 0, SEEK_CUR) = -1",
        ] {
            assert_eq!(weight(line), 0, "{line}");
        }
    }
}
