use proptest::prelude::*;

use crate::truncation::fixture::{self, check_rendered, held, preview, window};
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::notice::{CHINESE, ENGLISH, contains_marker};
use crate::truncation::smart::{Keep, Lean};
use crate::truncation::strategies::Preview;

fn limits(max_lines: u64, max_bytes: u64) -> Limits {
    Limits {
        keep: Keep::Diff(Lean::Late),
        ..fixture::limits(max_lines, max_bytes, Direction::Head)
    }
}

fn made(text: &str, max_lines: u64, max_bytes: u64) -> Option<Preview> {
    let limits = limits(max_lines, max_bytes);
    let window = window(text.as_bytes(), &limits, 700);
    preview(&window, &limits)
}

/// Makes a diff of `files` files of `hunks` hunks, each with `lines` added lines and half as many removed ones.
fn diff(files: usize, hunks: usize, lines: usize) -> String {
    let mut text = String::new();
    for file in 0..files {
        text.push_str(&format!(
            "diff --git a/src/m{file}.rs b/src/m{file}.rs\nindex 1111111..2222222 100644\n--- a/src/m{file}.rs\n+++ b/src/m{file}.rs\n"
        ));
        for hunk in 0..hunks {
            let at = hunk * 100 + 1;
            let old = lines / 2 + 2;
            text.push_str(&format!(
                "@@ -{at},{old} +{at},{} @@ fn f{hunk}()\n before\n",
                lines + 2
            ));
            text.extend((0..lines / 2).map(|line| format!("--- old {line}\n")));
            text.extend((0..lines).map(|line| format!("+++ new {line}\n")));
            text.push_str(" after\n");
        }
    }
    text
}

#[test]
fn every_file_and_head_comes_before_any_whole_hunk() {
    let text = diff(20, 3, 30);
    let Preview { text: shown, missing, cut } = made(&text, 2000, 9000).unwrap();
    assert_eq!(shown.matches("diff --git").count(), 20);
    assert_eq!(shown.matches("@@ fn f0()").count(), 20);
    assert!(shown.matches("+++ new").count() > 20, "{shown}");
    assert!(
        missing.starts_with("Shown: 20 of 20 files and ")
            && missing.ends_with(" of 60 hunks of a diff of +1800 -900 lines."),
        "{missing}"
    );
    assert_eq!(cut.pieces[0].first_line, 1);
}

#[test]
fn gaps_count_what_is_missing() {
    let text = diff(40, 1, 40);
    let shown = made(&text, 12, 2000).unwrap().text;
    assert!(shown.contains("lines truncated: "), "{shown}");
    let (mut added, mut removed, mut files) = (0, 0, 0);
    for line in shown.lines() {
        if let Some((_, gap)) = line.split_once(" lines truncated: ") {
            assert!(contains_marker(line), "{line}");
            let number = |before: &str| {
                let (_, rest) = gap.split_once(before)?;
                rest.split(|char: char| !char.is_ascii_digit()).next()?.parse::<u64>().ok()
            };
            added += number(", +").unwrap_or(0);
            removed += number(" -").unwrap_or(0);
            files += gap
                .contains("files")
                .then(|| number(&format!(" -{}, ", number(" -").unwrap())))
                .flatten()
                .unwrap_or(0);
        } else {
            added += u64::from(line.starts_with("+++ new"));
            removed += u64::from(line.starts_with("--- old"));
            files += u64::from(line.starts_with("diff --git"));
        }
    }
    assert_eq!((files, added, removed), (40, 1600, 800), "{shown}");
}

#[test]
fn diffs_are_recognized_by_their_structure() {
    let git = diff(2, 1, 4);
    let plain = git
        .lines()
        .filter(|line| !line.starts_with("diff ") && !line.starts_with("index "))
        .fold(String::new(), |all, line| all + line + "\n");
    let merge = "diff --cc a.c\nindex 1,2..3\n--- a/a.c\n+++ b/a.c\n@@@ -1,3 -1,2 +1,4 @@@\n  same\n +theirs\n+ ours\n++both\n- gone\n";
    let log = format!(
        "commit {}\nAuthor: A <a@b>\nDate:   now\n\n    Do it\n\n    Because.\n\n{git}",
        "0".repeat(40)
    );
    let colored: String = git.lines().map(|line| format!("\u{1b}[1m{line}\u{1b}[m\n")).collect();
    let mail = format!(
        "From {} Mon Sep 17 00:00:00 2001\nFrom: A\nSubject: [PATCH] Do it\n\nText.\n---\n a.c | 2 +-\n\n{git}-- \n2.39\n\n",
        "1".repeat(40)
    );
    let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n";
    for (text, part) in [
        (git.as_str(), "diff --git a/src/m1.rs"),
        (&plain, "+++ b/src/m1.rs"),
        (merge, "@@@ -1,3 -1,2 +1,4 @@@"),
        (&log, "    Do it"),
        (&colored, "diff --git a/src/m1.rs"),
        (&mail, "Subject: [PATCH] Do it"),
        (renamed, "rename to y"),
        (&git.replace('\n', "\r\n"), "diff --git a/src/m1.rs b/src/m1.rs\n"),
    ] {
        let made = made(text, 2000, 60_000).unwrap_or_else(|| panic!("{text}"));
        assert!(made.text.contains(part), "{}", made.text);
    }
    for text in [
        "no diff\n".repeat(30),
        "--- \n+++ \n".repeat(3) + &"text\n".repeat(30),
        git.clone() + &"[12:00:00] building\n".repeat(40),
        "@@ -1,2 +1,2 @@\n a\n-b\n+c\n".to_owned(),
        String::new(),
    ] {
        assert!(made(&text, 2000, 60_000).is_none(), "{text}");
    }
}

#[test]
fn merges_are_counted_by_the_result() {
    let text = "diff --cc a.c\n--- a/a.c\n+++ b/a.c\n@@@ -1,3 -1,1 +1,3 @@@\n  same\n- gone\n +theirs\n++both\n";
    let missing = made(text, 2000, 60_000).unwrap().missing;
    assert!(
        missing.contains("1 of 1 files and 1 of 1 hunks of a diff of +2 -1 lines"),
        "{missing}"
    );
}

#[test]
fn memory_does_not_grow_with_the_text() {
    for (files, hunks, lines) in [(3, 3, 200_000), (60_000, 1, 2), (2, 60_000, 2)] {
        let limits = limits(2000, 51_200);
        let text = diff(files, hunks, lines);
        let window = window(text.as_bytes(), &limits, 1 << 16);
        assert!(held(&window) < 5 << 20);
        let made = preview(&window, &limits).unwrap();
        let (lines, bytes) = (made.text.lines().count(), made.text.len());
        assert!(lines > 1900 || bytes > 45_000, "{lines}, {bytes}");
    }
}

/// Checks the number of every line by counting on from each gap.
fn check(text: &str, preview: &str) -> Result<(), TestCaseError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut next = 0;
    for line in preview.split('\n') {
        let gap = line.strip_prefix("...").and_then(|gap| gap.split_once(" lines truncated: "));
        if let Some((count, place)) = gap {
            let numbers: Vec<usize> = place
                .split(|char: char| !char.is_ascii_digit())
                .filter_map(|it| it.parse().ok())
                .collect();
            prop_assert_eq!(numbers[0], next + 1);
            prop_assert_eq!(numbers[1] + 1 - numbers[0], count.parse::<usize>().unwrap());
            next = numbers[1];
        } else {
            match line.strip_suffix('\u{2026}') {
                Some(start) => prop_assert!(lines[next].starts_with(start), "{}", line),
                None => prop_assert_eq!(lines[next], line),
            }
            next += 1;
        }
    }
    prop_assert_eq!(next, lines.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn previews_keep_their_limits_and_show_true_lines(
        shape in prop::collection::vec((0usize..4, 0usize..5, 0usize..40), 1..12),
        commits in any::<bool>(),
        long in any::<bool>(),
        max_lines in 1u64..120,
        max_bytes in 1u64..6000,
        piece in 1usize..9000,
        inside in any::<bool>(),
        chinese in any::<bool>(),
    ) {
        let mut text = String::new();
        for (files, hunks, lines) in shape {
            if commits {
                text.push_str(&format!("commit {}\nAuthor: A\n\n    Subject\n\n", "a".repeat(40)));
            }
            text.push_str(&diff(files, hunks, lines));
            if long && lines > 30 {
                text.push_str(&format!("@@ -1 +1 @@\n-{}\n+\u{4f60}{}\n", "x".repeat(9000), "\u{597d}".repeat(900)));
            }
        }
        let limits = limits(max_lines, max_bytes);
        let wording = if chinese { &CHINESE } else { &ENGLISH };
        let split = check_rendered(&text, limits, piece, wording, inside);
        if let Some(made) = preview(&split, &limits) {
            prop_assert!(made.text.len() as u64 <= max_bytes && made.text.lines().count() as u64 <= max_lines);
            check(&text, &made.text)?;
        }
    }
}
