//! Runs the properties of the fuzz targets on every input of the corpus, and on random variations of these: for
//! machines where coverage cannot guide a fuzzer. `SPILLWAY_PROPERTY_RUNS` is the number of variations of each.
#![cfg(test)]

#[allow(unreachable_pub, reason = "public for the fuzz targets, which are crates of their own")]
#[path = "../fuzz/src/properties/mod.rs"]
mod properties;

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

/// Returns the corpus of a target.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// An input of the corpus with a few bytes changed, inserted or removed.
fn altered(kept: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<Index>(), any::<u8>(), 0..3), 0..6);
    (prop::sample::select(kept), changes).prop_map(|(mut input, changes)| {
        for (at, byte, kind) in changes {
            let at = at.index(input.len() + 1);
            match kind {
                0 => input.insert(at, byte),
                1 if at < input.len() => input[at] = byte,
                _ if at < input.len() => _ = input.remove(at),
                _ => {}
            }
        }
        input
    })
}

fn holds(target: &str, check: fn(&[u8])) {
    let kept = kept(target);
    assert!(!kept.is_empty(), "nothing is kept for {target}");
    for input in &kept {
        check(input);
    }
    let runs = std::env::var("SPILLWAY_PROPERTY_RUNS").ok().and_then(|runs| runs.parse().ok());
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(runs.unwrap_or(200))
    };
    let result = TestRunner::new(config).run(&altered(kept), |input| {
        // Caught, so that proptest shrinks the input.
        let outcome = std::panic::catch_unwind(|| check(&input));
        outcome.map_err(|_| TestCaseError::fail("the promise was broken"))
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn pieces_give_what_the_whole_gives() {
    holds("capture", properties::capture::check);
}

#[test]
fn settings_are_taken_or_refused_with_a_field() {
    holds("config", properties::config::check);
}

#[test]
fn what_is_shown_keeps_the_limits_and_says_the_truth() {
    holds("cut", properties::cut::check);
}

#[test]
fn the_facts_about_a_result_are_what_a_parser_reads() {
    holds("history", properties::history::check);
}

#[test]
fn names_are_plain_and_known_again() {
    holds("names", properties::names::check);
}

#[test]
fn a_ban_never_allows_more() {
    holds("permission", properties::permission::check);
}

#[test]
fn only_secrets_become_stars_however_an_output_is_split() {
    holds("redact", properties::redact::check);
}

#[test]
fn ranges_are_the_output() {
    holds("ranges", properties::ranges::check);
}

#[test]
fn a_search_finds_what_a_loop_finds() {
    holds("search", properties::search::check);
}

#[test]
fn strings_come_back() {
    holds("utf16", properties::utf16::check);
}

#[test]
fn what_matters_is_shown_under_its_true_number() {
    holds("smart", properties::smart::check);
}

#[test]
fn a_terminal_shows_lines_of_the_output() {
    holds("terminal", properties::terminal::check);
}

#[test]
fn json_stays_json() {
    holds("json", properties::json::check);
}

#[test]
fn a_diff_is_shown_by_its_structure() {
    holds("diff", properties::diff::check);
}

#[test]
fn a_table_stays_a_table() {
    holds("csv", properties::csv::check);
}
