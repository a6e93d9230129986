//! Tests of words that the rig does not know. With them, `cargo test --workspace` builds the rig as well.
#![cfg(target_os = "linux")]

use std::process::Command;

/// Runs the rig with the given words; returns whether it succeeded, and its messages.
fn run(words: &[&str]) -> std::io::Result<(bool, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_spillway-torture")).args(words).output()?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn names_what_is_unknown_or_missing() -> std::io::Result<()> {
    let cases: [(&[&str], &str); 3] = [
        (&[], "no part of the rig is called \"\""),
        (&["explode"], "no part of the rig is called \"explode\""),
        (&["bench"], "scratch"),
    ];
    for (words, expected) in cases {
        let (succeeded, message) = run(words)?;
        assert!(!succeeded, "{words:?} succeeded");
        assert!(message.contains(expected), "{words:?}: {message}");
    }
    Ok(())
}
