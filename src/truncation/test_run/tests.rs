use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::truncation::fixture::{check_rendered, held, limits, window};
use crate::truncation::limits::Direction;
use crate::truncation::notice::{CHINESE, ENGLISH};
use crate::truncation::smart::{Keep, Lean};

/// The outputs of real runners, which the specs read as well.
fn outputs() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("__test__/truncation/test-runs");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn tests(max_lines: u64, max_bytes: u64) -> Limits {
    Limits { keep: Keep::Tests(Lean::Late), ..limits(max_lines, max_bytes, Direction::Head) }
}

#[test]
fn memory_is_bounded_whatever_is_printed() {
    let outputs: [(&str, String); 4] = [
        (
            "failures of go",
            (0..100_000).map(|at| format!("--- FAIL: Test{at} (0.00s)\n")).collect(),
        ),
        ("groups of TAP", format!("TAP version 13\n{}", "# Subtest: a group\n".repeat(200_000))),
        (
            "one failure",
            format!("=== RUN TestA\n--- FAIL: TestA (0.00s)\n{}", "    at x\n".repeat(500_000)),
        ),
        (
            "tests that run",
            (0..100_000).map(|at| format!("=== RUN   Test{at}\n    a_test.go:1: x\n")).collect(),
        ),
    ];
    for (name, output) in outputs {
        let window = window(output.as_bytes(), &tests(100, 10_000), usize::MAX);
        assert!(held(&window) <= (1 << 22) + 4096, "{name}: {}", held(&window));
    }
}

#[test]
fn late_failures_are_named_when_memory_is_short() {
    let groups = "# Subtest: a group\nok 1 - a group\n".repeat(100_000);
    let output = format!("TAP version 13\n{groups}not ok 2 - the last test\n");
    let limits = tests(100, 10_000);
    let window = window(output.as_bytes(), &limits, usize::MAX);
    let preview = window.structured().unwrap().preview(&window, Source::Text, &limits, &ENGLISH);
    assert!(preview.unwrap().text.contains("not ok 2 - the last test"));
}

proptest! {
    #[test]
    fn previews_keep_the_limits_in_both_languages_and_in_pieces(
        picked in prop::collection::vec((0..64_usize, 0..40_usize), 1..12),
        bytes in 200..3_000_u64,
        lines in 5..60_u64,
        piece in 1..400_usize,
        inside: bool,
    ) {
        let outputs = outputs();
        let mut text = String::new();
        for (output, from) in picked {
            let lines: Vec<&str> = outputs[output % outputs.len()].lines().collect();
            let rest = lines.get(from.min(lines.len())..).unwrap_or_default();
            text.extend(rest.iter().flat_map(|line| [*line, "\n"]));
        }
        for wording in [&ENGLISH, &CHINESE] {
            check_rendered(&text, tests(lines, bytes), piece, wording, inside);
        }
    }
}
