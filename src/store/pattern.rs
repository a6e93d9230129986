//! Patterns for a search line by line, made so that a whole buffer of lines can be searched at once.
//!
//! A pattern is rewritten until no match can reach over the end of a line: `^`, `$`, `\A` and `\z` mean the ends of a line (carriage
//! returns before it belong to the break), and no class holds a line feed. What is left has the engine's
//! guarantee: time that grows with the text and never explodes.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use crate::error::{Code, Error, Result};

/// Bytes of a pattern.
pub const LONGEST: usize = 1024;
/// Groups in groups.
const NEST_LIMIT: u32 = 50;
/// Bytes of the compiled pattern, and of what is worked out while searching.
const SIZE_LIMIT: usize = 2 << 20;
const CACHE_LIMIT: usize = 2 << 20;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// The pattern is the text itself.
    pub literal: bool,
}

/// Compiles a pattern.
pub fn compile(pattern: &str, reading: Reading) -> Result<Regex> {
    if pattern.is_empty() || pattern.len() > LONGEST {
        let length = pattern.len();
        return Err(refuse(format!("has {length} bytes, allowed are 1 to {LONGEST}")));
    }
    let escaped = reading.literal.then(|| regex_syntax::escape(pattern));
    let parsed = ParserBuilder::new()
        .nest_limit(NEST_LIMIT)
        .utf8(false)
        .multi_line(true)
        .case_insensitive(reading.ignore_case)
        .build()
        .parse(escaped.as_deref().unwrap_or(pattern));
    let parsed = parsed.map_err(|error| refuse(describe(&error)))?;
    let within_lines = rewrite(&parsed)?;
    RegexBuilder::new(&within_lines.to_string())
        .nest_limit(NEST_LIMIT * 4)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(CACHE_LIMIT)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                refuse("is too large; use smaller counts or classes, such as [a-z] for \\w")
            }
            _ => refuse("cannot be compiled"),
        })
}

fn refuse(problem: impl std::fmt::Display) -> Error {
    Error::field(Code::InvalidArgument, "pattern", problem)
}

fn describe(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} (at character {})", error.kind(), error.span().start.column)
        }
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "is not a regular expression".to_owned(),
    }
}

/// The same pattern within lines. As deep as the pattern nests, which is bounded.
fn rewrite(hir: &Hir) -> Result<Hir> {
    let each = |parts: &[Hir]| parts.iter().map(rewrite).collect::<Result<Vec<Hir>>>();
    Ok(match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            return Err(refuse("lines are searched one by one, so it cannot contain a line feed"));
        }
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start | Look::StartLF | Look::StartCRLF) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndLF | Look::EndCRLF) => {
            let carriage_return = Hir::repetition(Repetition {
                min: 0,
                max: None,
                greedy: true,
                sub: Box::new(Hir::literal(*b"\r")),
            });
            Hir::concat(vec![carriage_return, Hir::look(Look::EndLF)])
        }
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(rewrite(&repetition.sub)?))
        }
        // Nobody asks for groups, and the engine is faster without them.
        HirKind::Capture(capture) => rewrite(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(each(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn found<'a>(pattern: &str, text: &'a [u8]) -> Vec<&'a [u8]> {
        let regex = compile(pattern, Reading::default()).unwrap();
        regex.find_iter(text).map(|found| found.as_bytes()).collect()
    }

    #[test]
    fn no_match_reaches_over_the_end_of_a_line() {
        let text = b"ab\r\ncd\n\nef";
        let no_bytes: &[u8] = b"";
        assert_eq!(found(r"b\s+c", text), [no_bytes; 0]);
        assert_eq!(found(r"[^x]+", text), [&b"ab\r"[..], b"cd", b"ef"]);
        assert_eq!(found(r"\Aef\z", text), [b"ef"]);
        assert_eq!(found(r"b$", text), [b"b\r"]);
        assert_eq!(found(r"(?s).+d", text), [b"cd"]);
        assert_eq!(found(r"(?-u:\xff)x", b"\xffx"), [b"\xffx"]);
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        let long = "x".repeat(LONGEST + 1);
        for pattern in
            ["", "(", "a{2,1}", "a\\nb", "a\nb", r"(\w{200}){200}", &"(".repeat(500), &long]
        {
            let error = compile(pattern, Reading::default()).unwrap_err();
            assert_eq!(
                (error.code, error.field.as_deref()),
                (Code::InvalidArgument, Some("pattern"))
            );
        }
        let error = compile("ab(c", Reading::default()).unwrap_err();
        assert_eq!(error.message, "pattern: unclosed group (at character 3)");
    }

    #[test]
    fn a_literal_is_what_it_says() {
        let reading = Reading { literal: true, ignore_case: true };
        let regex = compile("A.(b", reading).unwrap();
        assert!(regex.is_match(b"xa.(Bx") && !regex.is_match(b"axxb"));
    }

    #[test]
    fn hostile_patterns_cost_little() {
        for pattern in
            [r"(a*)*b", r"(x+x+)+y", r"(\pL{10}){50}", r"((((\w+)+)+)+)+$", r"[\w\s]{500}"]
        {
            let began = Instant::now();
            if let Ok(regex) = compile(pattern, Reading::default()) {
                let _ = regex.find(&[b'a'; 10_000]);
            }
            assert!(began.elapsed() < Duration::from_secs(2), "{pattern}: {:?}", began.elapsed());
        }
    }
}
