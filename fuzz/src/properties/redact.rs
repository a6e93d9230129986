//! Secrets become as many stars, and nothing else changes, however an output is split.

use std::convert::Infallible;
use std::sync::Arc;

use spillway_core::redaction::redactor::{Redactor, Rules};
use spillway_core::util::regex_source::RegexSource;

use super::input::Input;

/// Parts of secrets, for the fuzzer to put together.
const PARTS: [&str; 21] = [
    "password=",
    "\"api_key\": \"",
    "Authorization: Bearer ",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n",
    "https://user:",
    "@host/",
    "AKIA",
    "ghp_",
    "sk-",
    "eyJhbGciOiJIUzI1NiJ9.",
    "export TOKEN=",
    "--password ",
    "abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "\\\"",
    "\r\n",
    "\nuser,password\nbob,hunter2hunter2\n",
    "\n| id | api_key |\n|----|----|\n| 1 | ",
    "passwords:\n  - hunter2hunter2\n  - ",
    "password: |\n  correct horse\n  ",
    "::add-mask::",
];

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let (known, has_pattern) = (input.flag(), input.flag());
    let length = input.below(24);
    let source = String::from_utf8_lossy(input.take(length)).into_owned();
    let values: Vec<String> = (0..input.below(3))
        .map(|_| {
            let length = input.below(16);
            String::from_utf8_lossy(input.take(length)).into_owned()
        })
        .collect();
    let pattern = RegexSource { source, multi_line: true, ..RegexSource::default() };
    let patterns = if has_pattern { vec![pattern] } else { Vec::new() };
    // A refusal names its place.
    let rules = match Rules::new(&patterns, &values, known) {
        Ok(rules) => Arc::new(rules),
        Err((place, _)) => {
            assert!(place.starts_with("patterns[") || place.starts_with("values"), "{place}");
            return;
        }
    };
    let steps = [1 + input.below(16), 1 + input.below(4096), 1 << 20];
    let step = input.pick(&steps);
    let parts: Vec<(usize, &str)> =
        (0..input.below(8)).map(|_| (input.below(65_536), input.pick(&PARTS))).collect();
    let mut text = input.content(300_000);
    for (at, part) in parts {
        let at = at % (text.len() + 1);
        text.splice(at..at, part.bytes());
    }

    let whole = redacted(&rules, text.chunks(text.len().max(1)));
    assert_eq!(whole.len(), text.len(), "another length");
    for (before, after) in text.iter().zip(&whole) {
        let is_break = matches!(before, b'\n' | b'\r');
        assert!(before == after || (*after == b'*' && !is_break), "{before} became {after}");
    }
    assert!(whole == redacted(&rules, text.chunks(step)), "not the same in pieces of {step}");
    for value in values.iter().filter(|value| !value.contains(['*', '\n', '\r'])) {
        let is_there = memchr::memmem::find(&whole, value.as_bytes()).is_some();
        assert!(!is_there, "{value:?} was not redacted");
    }
}

fn redacted<'t>(rules: &Arc<Rules>, pieces: impl Iterator<Item = &'t [u8]>) -> Vec<u8> {
    let mut redactor = Redactor::default();
    redactor.add(Arc::clone(rules));
    let mut out = Vec::new();
    let mut write = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok::<(), Infallible>(())
    };
    for piece in pieces {
        let Ok(()) = redactor.push(piece, &mut write);
    }
    let Ok(()) = redactor.finish(&mut write);
    out
}
