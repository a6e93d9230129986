//! Classifies a tool result by its text: whether it comes from a terminal, and whether the command failed.
//!
//! A terminal tool that answers in JSON has `stdout`, `stderr` or `exitCode` among the members of the top-level object.
//! A text that is not JSON, such as a truncated one, comes from a terminal if it contains one of these names with its
//! quotes and colon; the outcome of the command is unknown then. JSON without these members, or with them further
//! inside, comes from another tool.

use memchr::memmem;

use super::result_facts::Facts;
use crate::json::members::{self, Key, LastMembers, Value};

/// Number of UTF-16 code units that [`ends`] needs of the start of a text.
pub const HEAD_UNITS: usize = 32;
/// Number of UTF-16 code units that [`ends`] needs of the end of a text: the usual members after the output, a command
/// and a date included.
pub const TAIL_UNITS: usize = 160;

/// The most common end of a result: written by `JSON.stringify`, and a success. A text that starts with a brace and
/// ends like this has [`USUAL_FACTS`], whether it is JSON or not, so that the owner of the text need not call the core.
pub const USUAL_END: &str = r#","stderr":"","exitCode":0}"#;
/// The facts about a text with a [`USUAL_END`].
pub const USUAL_FACTS: Facts = Facts::PLAIN.and(Facts::TERMINAL_SHAPE);

const ERROR_START: &[u8] = b"Error:";
const MARKERS: [&[u8]; 3] = [b"\"stdout\":", b"\"stderr\":", b"\"exitCode\":"];

/// Returns the facts about a whole text. Nothing is left open.
pub fn whole(text: &[u16]) -> Facts {
    of_bytes(&narrow(text), leading_space(text.iter().copied()))
}

/// Returns the facts about a whole text in Latin-1.
pub fn whole_latin1(text: &[u8]) -> Facts {
    of_bytes(text, leading_space(text.iter().map(|byte| u16::from(*byte))))
}

/// `text` has one byte per unit, after `space` units of white space.
fn of_bytes(text: &[u8], space: usize) -> Facts {
    let start = text.get(space..).unwrap_or_default();
    if start.starts_with(ERROR_START) {
        return Facts::STARTS_AS_ERROR.and(by_markers(text));
    }
    if !start.first().is_some_and(|&byte| may_start_json(byte)) {
        return by_markers(text);
    }
    let mut found = Members::default();
    if !members::members_on_trust(text, |key, value| found.see(key, value)) {
        return by_markers(text);
    }
    // Nearly always it makes no difference whether the text really is JSON: the markers of a success suffice.
    let (facts, otherwise) = (found.facts(), by_markers(text));
    if facts == otherwise || members::members(text, |_, _| ()) { facts } else { otherwise }
}

/// Returns the facts that follow from the ends of a text, whatever is between them; [`whole`] would return them too.
///
/// `head` and `tail` are the first [`HEAD_UNITS`] and the last [`TAIL_UNITS`] units of a text that is at least that
/// long.
pub fn ends(head: &[u16], tail: &[u16]) -> Facts {
    ends_of_bytes(&narrow(head), leading_space(head.iter().copied()), &narrow(tail))
}

/// Returns the facts that follow from the ends of a text in Latin-1.
pub fn ends_latin1(head: &[u8], tail: &[u8]) -> Facts {
    ends_of_bytes(head, leading_space(head.iter().map(|byte| u16::from(*byte))), tail)
}

/// `head` and `tail` have one byte per unit; `space` is the number of leading white space units.
fn ends_of_bytes(head: &[u8], space: usize, tail: &[u8]) -> Facts {
    let start = head.get(space..).unwrap_or_default();
    // A text that is not an object has neither an exit code nor an error stream.
    let plain = Facts::START_KNOWN.and(Facts::EXIT_KNOWN).and(Facts::STDERR_KNOWN);
    if start.starts_with(ERROR_START) {
        return plain.and(Facts::STARTS_AS_ERROR);
    }
    let Some(&first) = start.first().filter(|_| !ERROR_START.starts_with(start)) else {
        // The rest of the word is not known.
        return Facts::NONE;
    };
    if first == b'{' {
        return Facts::START_KNOWN.and(object_end(tail));
    }
    let marked = !may_start_json(first) && (has_marker(tail) || has_marker(head));
    if marked { plain.and(Facts::SHAPE_KNOWN).and(Facts::TERMINAL_SHAPE) } else { plain }
}

/// Returns the facts that follow from the end of a text that starts with a brace, whether the text is JSON or not.
///
/// If it is JSON, the last members decide. If it is not, one marker makes it a terminal's and nothing makes it an
/// error. A success stated by members that are markers too therefore holds in both cases, and most results are such; a
/// failure holds only in the first case, and stays open.
fn object_end(tail: &[u8]) -> Facts {
    let mut facts = Facts::NONE;
    let mut seen = (false, false);
    for member in LastMembers::of(tail).into_iter().flatten() {
        let name = Name::of(member.key);
        if name.is_some() && member.marker && !member.key.0.contains(&b'\\') {
            facts = facts.and(Facts::SHAPE_KNOWN).and(Facts::TERMINAL_SHAPE);
        }
        // The last of several equal keys counts, which is the first one here.
        match name {
            Some(Name::ExitCode)
                if !std::mem::replace(&mut seen.0, true) && !exit_failed(member.value) =>
            {
                facts = facts.and(Facts::EXIT_KNOWN);
            }
            Some(Name::Stderr)
                if !std::mem::replace(&mut seen.1, true) && !filled(member.value) =>
            {
                facts = facts.and(Facts::STDERR_KNOWN);
            }
            _ => {}
        }
    }
    facts
}

/// The members of a terminal's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Stdout,
    Stderr,
    ExitCode,
}

impl Name {
    fn of(key: Key<'_>) -> Option<Self> {
        let names =
            [("stdout", Name::Stdout), ("stderr", Name::Stderr), ("exitCode", Name::ExitCode)];
        names.into_iter().find(|(spelling, _)| key.is(spelling)).map(|(_, name)| name)
    }
}

#[derive(Debug, Default)]
struct Members {
    any: bool,
    exit_failed: bool,
    stderr_filled: bool,
}

impl Members {
    fn see(&mut self, key: Key<'_>, value: Value<'_>) {
        let Some(name) = Name::of(key) else { return };
        self.any = true;
        match name {
            Name::Stdout => {}
            Name::Stderr => self.stderr_filled = filled(value),
            Name::ExitCode => self.exit_failed = exit_failed(value),
        }
    }

    fn facts(&self) -> Facts {
        let signs = [
            (self.any, Facts::TERMINAL_SHAPE),
            (self.exit_failed, Facts::EXIT_FAILED),
            (self.stderr_filled, Facts::STDERR_FILLED),
        ];
        signs
            .into_iter()
            .filter(|(is, _)| *is)
            .fold(Facts::PLAIN, |facts, (_, sign)| facts.and(sign))
    }
}

/// Returns true for anything but zero. `null` is the exit code that Node reports for a killed command, which is no
/// success.
fn exit_failed(value: Value<'_>) -> bool {
    let (Value::Number(raw) | Value::Text(raw)) = value else { return true };
    // The parser accepts some spellings that JSON has not; none of them is zero.
    std::str::from_utf8(raw).ok().and_then(|raw| raw.parse::<f64>().ok()) != Some(0.0)
}

/// Returns true for output on the error stream: a string or a list of lines that is not empty.
fn filled(value: Value<'_>) -> bool {
    match value {
        Value::Text(raw) => !raw.is_empty(),
        Value::Nested { empty } => !empty,
        Value::Number(_) | Value::Word => false,
    }
}

fn by_markers(bytes: &[u8]) -> Facts {
    if has_marker(bytes) { Facts::PLAIN.and(Facts::TERMINAL_SHAPE) } else { Facts::PLAIN }
}

fn has_marker(bytes: &[u8]) -> bool {
    MARKERS.iter().any(|marker| memmem::find(bytes, marker).is_some())
}

/// Converts to one byte per unit: ASCII unchanged, everything else to a byte above it.
fn narrow(units: &[u16]) -> Vec<u8> {
    units.iter().map(|&unit| unit.min(0xff) as u8).collect()
}

fn may_start_json(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

fn leading_space(text: impl Iterator<Item = u16>) -> usize {
    text.take_while(|unit| is_space(*unit)).count()
}

/// Returns true for white space that JavaScript's `trim` removes.
fn is_space(unit: u16) -> bool {
    matches!(
        unit,
        0x09..=0x0d | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TERMINAL: Facts = Facts::PLAIN.and(Facts::TERMINAL_SHAPE);

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn of(text: &str) -> Facts {
        whole(&units(text))
    }

    #[test]
    fn json_of_a_terminal() {
        for text in [
            r#"{"stdout":"Build completed"}"#,
            r#"{"stdout":"","stderr":"","exitCode":0}"#,
            "\n { \"exitCode\" : 0.0 }\n",
            r#"{"exitCode":"0","stderr":null}"#,
            r#"{"exitCode":-0,"stderr":[]}"#,
            r#"{"exitCode":1,"stderr":"x","exitCode":0,"stderr":""}"#,
            r#"{"std\u006fut":"x"}"#,
        ] {
            assert_eq!(of(text), TERMINAL, "{text}");
        }
    }

    #[test]
    fn json_of_a_terminal_that_failed() {
        for exit_code in
            ["1", "-1", "137", "0.5", "\"1\"", "null", "true", "1e999", "[]", "{\"a\":0}", "\"\""]
        {
            let text = format!(r#"{{"stdout":"x","exitCode":{exit_code}}}"#);
            assert_eq!(of(&text), TERMINAL.and(Facts::EXIT_FAILED), "{text}");
        }
        for stderr in ["\"x\"", "\"\\n\"", "[\"x\"]", "{\"text\":\"x\"}"] {
            let text = format!(r#"{{"stderr":{stderr}}}"#);
            assert_eq!(of(&text), TERMINAL.and(Facts::STDERR_FILLED), "{text}");
        }
    }

    #[test]
    fn json_of_something_else() {
        for text in [
            r#"{"path":"/path/to/file"}"#,
            r#"{"result":{"stdout":"","exitCode":1}}"#,
            r#"[{"stdout":"","exitCode":1}]"#,
            r#""a \"stdout\": b""#,
            r#"{"text":"{\"stdout\":\"x\",\"exitCode\":1}"}"#,
            "42",
            "null",
        ] {
            assert_eq!(of(text), Facts::PLAIN, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_json_is_recognized_by_its_markers() {
        for text in [
            r#"{"stdout":"cut he"#,
            r#"a "exitCode":1 b"#,
            "{\"stderr\":\"x\"} and more",
            "[\"stdout\":",
        ] {
            assert_eq!(of(text), TERMINAL, "{text}");
        }
        for text in [
            "",
            "   ",
            "File content: …",
            r#"{"stdout" : "cut"#,
            "stdout:",
            r#"\"stdout\": \"exitCode\""#,
        ] {
            assert_eq!(of(text), Facts::PLAIN, "{text}");
        }
        assert_eq!(
            of("\u{feff}{\"exitCode\":1}"),
            TERMINAL,
            "JSON does not begin with a byte order mark"
        );
        assert_eq!(of(r#"\"stdout": "#), TERMINAL, "as a search for the marker would find it");
    }

    #[test]
    fn errors_are_recognized_by_their_start() {
        let error = Facts::PLAIN.and(Facts::STARTS_AS_ERROR);
        assert_eq!(of("Error: \"stdout\":"), error.and(Facts::TERMINAL_SHAPE));
        for text in ["Error:", "Error: no", " \n\t Error: no", "\u{feff}\u{a0}\u{3000}Error: no"] {
            assert_eq!(of(text), error, "{text}");
        }
        for text in ["error: no", "Error no", "TypeError: no", "An Error: no"] {
            assert_eq!(of(text), Facts::PLAIN, "{text}");
        }
    }

    #[test]
    fn units_that_end_in_an_ascii_byte_are_not_ascii() {
        // U+0122, U+013A and U+017B have the low bytes of a quote, a colon and a brace.
        assert_eq!(of("\u{122}stdout\u{122}\u{13a}"), Facts::PLAIN);
        assert_eq!(of("\u{17b}\"stdout\":\"\"}"), TERMINAL, "by marker, not as JSON");
        assert_eq!(of("{\"stdout\":\"\u{122},\u{122}exitCode\u{122}:1\"}"), TERMINAL);
    }

    fn seen(text: &str) -> Facts {
        let text = units(text);
        assert!(text.len() >= HEAD_UNITS.max(TAIL_UNITS));
        ends(&text[..HEAD_UNITS], &text[text.len() - TAIL_UNITS..])
    }

    #[test]
    fn the_ends_tell_a_success() {
        let log = "12:00 \\\"exitCode\\\":1} ok\\n".repeat(40);
        for end in [
            r#"","stderr":"","exitCode":0}"#,
            "\",\n  \"stderr\": \"\",\n  \"exitCode\": 0\n}\n",
            r#"","exitCode":0,"stderr":"","command":"cargo test -- \"a b\"","at":1750000000000,"ok":true}"#,
            r#"\\","stderr":null,"exitCode":0}"#,
        ] {
            let text = format!("{{\"stdout\":\"{log}{end}");
            assert_eq!(seen(&text), TERMINAL, "{end}");
            assert_eq!(of(&text), TERMINAL, "{end}");
        }
    }

    #[test]
    fn the_ends_leave_open_what_they_do_not_show() {
        let log = "line\\n".repeat(100);
        let known = Facts::START_KNOWN;
        let shape = known.and(Facts::SHAPE_KNOWN).and(Facts::TERMINAL_SHAPE);
        for (end, expected) in [
            // This is a failure only if the whole is JSON.
            (r#"","stderr":"","exitCode":1}"#, shape.and(Facts::STDERR_KNOWN)),
            (r#"","stderr":"x","exitCode":0}"#, shape.and(Facts::EXIT_KNOWN)),
            (r#"","exitCode":0}"#, shape.and(Facts::EXIT_KNOWN)),
            (r#"","exitCode" :0}"#, known.and(Facts::EXIT_KNOWN)),
            (r#"","stderr":"","exitCode":0,"files":[]}"#, known),
            (r#"","stderr":"","exitCode":0}}"#, known),
            (r#"","stderr":"","exitCode":0}]"#, known),
            (r#"\"stderr\":\"\",\"exitCode\":0}"#, known),
            (r#"\"stderr\":\"\",\"exitCode\":0}""#, known),
            (r#"","exitCode":0,"exitCode":1}"#, shape),
            (r#"","exitCode":1,"exitCode":0}"#, shape.and(Facts::EXIT_KNOWN)),
            ("…[cut]", known),
        ] {
            assert_eq!(seen(&format!("{{\"stdout\":\"{log}{end}")), expected, "{end}");
        }
    }

    #[test]
    fn the_ends_of_plain_text() {
        let log = "line\n".repeat(100);
        let plain = Facts::START_KNOWN.and(Facts::EXIT_KNOWN).and(Facts::STDERR_KNOWN);
        let terminal = plain.and(Facts::SHAPE_KNOWN).and(Facts::TERMINAL_SHAPE);
        let error = plain.and(Facts::STARTS_AS_ERROR);
        for (text, expected) in [
            (format!("Build\n{log}"), plain),
            (format!("Build\n{log}\"exitCode\": 1"), terminal),
            (format!("a \"stdout\":\n{log}"), terminal),
            (format!("[\n{log}\"exitCode\": 1"), plain),
            (format!("\n Error: {log}"), error),
            (format!("Errors {log}"), plain),
            (format!("{}Error: {log}", " ".repeat(HEAD_UNITS)), Facts::NONE),
            (format!("{}Error: {log}", " ".repeat(HEAD_UNITS - 3)), Facts::NONE),
            (format!("{}Error: {log}", " ".repeat(HEAD_UNITS - 6)), error),
        ] {
            assert_eq!(seen(&text), expected, "{text}");
        }
    }

    /// Results of terminals, or texts that resemble them, longer than the ends that are examined or not.
    fn results() -> impl Strategy<Value = String> {
        let value = prop::sample::select(vec![
            "\"\"",
            "\"x\"",
            "0",
            "1",
            "null",
            "true",
            "[]",
            "[1]",
            "{}",
            "\"a\\\"\"",
            "\"\\\\\"",
            "\"\\\\\\\"exitCode\\\":0}\"",
            "0x0",
            "\"",
        ]);
        let key = prop::sample::select(vec![
            "\"stdout\":",
            "\"stderr\":",
            "\"exitCode\":",
            "\"exitCode\" : ",
            "\"at\":",
            "\"\\u0065xitCode\":",
            "\"exitCode",
            "\\\"exitCode\\\":",
        ]);
        let filler = prop_oneof![
            Just(String::new()),
            "[a-z\\\\\"{}:,]{0,12}",
            Just("line\\n".repeat(60)),
            Just("a\\\"\\\\".repeat(70)),
            Just("é😀".repeat(120)),
            Just("\\".repeat(301)),
        ];
        let member = (key, value).prop_map(|(key, value)| format!("{key}{value}"));
        let start = prop::sample::select(vec![
            "{", " {", "", "[{", "Error: {", "x{", "\u{a0}{", "{{", "{\"a\":{",
        ]);
        let end = prop::sample::select(vec!["}", " }\n", "", "}}", "}]", "\"}", ",}"]);
        let body = (prop::collection::vec(member, 0..5), filler, any::<prop::sample::Index>());
        (start, body, end).prop_map(|(start, (mut members, filler, at), end)| {
            members.insert(at.index(members.len() + 1), format!("\"stdout\":\"{filler}\""));
            format!("{start}{}{end}", members.join(","))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn the_ends_never_contradict_the_whole(text in results(), cut in 0usize..8) {
            let text = units(&text);
            let text = &text[cut.min(text.len())..];
            if text.len() < HEAD_UNITS.max(TAIL_UNITS) {
                return Ok(());
            }
            let (head, tail) = (&text[..HEAD_UNITS], &text[text.len() - TAIL_UNITS..]);
            let seen = ends(head, tail);
            let known = whole(text);
            if text.iter().all(|unit| *unit < 0x100) {
                let latin1 = |units: &[u16]| units.iter().map(|unit| *unit as u8).collect::<Vec<_>>();
                prop_assert_eq!(whole_latin1(&latin1(text)), known);
                prop_assert_eq!(ends_latin1(&latin1(head), &latin1(tail)), seen);
            }
            for stderr_is_error in [true, false] {
                let (early, late) = (seen.is_error(stderr_is_error), known.is_error(stderr_is_error));
                prop_assert!(early.is_none() || early == late, "{:?} {:?}", seen, known);
            }
            let (early, late) = (seen.is_terminal(), known.is_terminal());
            // Nothing more is ever read of an error.
            prop_assert!(early.is_none() || late.is_none() || early == late, "{:?} {:?}", seen, known);
        }

        #[test]
        fn the_usual_end_says_it_all(text in results()) {
            let text = format!("{{{text}{USUAL_END}");
            prop_assert_eq!(whole(&units(&text)), USUAL_FACTS, "{}", text);
        }

        #[test]
        fn the_whole_is_what_a_parser_makes_of_it(text in results()) {
            let facts = whole(&units(&text));
            if text.trim_start().starts_with("Error:") {
                prop_assert_eq!(facts.is_error(true), Some(true));
                return Ok(());
            }
            let (terminal, failed, stderr) = match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(value) => {
                    let failed = value.get("exitCode").is_some_and(|code| code.as_f64() != Some(0.0) && code.as_str() != Some("0"));
                    let stderr = value.get("stderr").is_some_and(|stderr| {
                        !matches!(stderr.as_str(), Some("") | None) || stderr.as_array().is_some_and(|list| !list.is_empty())
                    });
                    let any = ["stdout", "stderr", "exitCode"].iter().any(|key| value.get(key).is_some());
                    (any, failed, stderr)
                }
                Err(_) => (MARKERS.iter().any(|marker| memmem::find(text.as_bytes(), marker).is_some()), false, false),
            };
            prop_assert_eq!(facts.is_terminal(), Some(terminal), "{}", text);
            prop_assert_eq!(facts.any(Facts::EXIT_FAILED), failed, "{}", text);
            prop_assert_eq!(facts.any(Facts::STDERR_FILLED), stderr, "{}", text);
        }
    }
}
