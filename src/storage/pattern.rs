//! Patterns for line-by-line search that can be run over a whole buffer of lines at once.
//!
//! A pattern is rewritten until no match can extend over the end of a line: `^`, `$`, `\A` and `\z` match at the ends
//! of a line (carriage returns before a line feed belong to the break), and no class contains a line feed. The
//! rewritten pattern has the engine's guarantee of linear time.

use std::ops::Range;

use regex_automata::meta::{Config, Regex};
use regex_automata::{Input, MatchKind};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, RepetitionKind, RepetitionRange};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use crate::error::{Code, Error, Result};

/// Maximum length of a pattern in bytes.
pub const MAX_LENGTH: usize = 1024;
/// Maximum nesting of groups.
const NEST_LIMIT: u32 = 50;
/// Maximum estimated cost of a pattern. The engine's time grows with its square, and at this size 10 KiB of the worst
/// text take some ten milliseconds. The longest pattern of plain text costs exactly as much.
const MAX_COST: u64 = MAX_LENGTH as u64;
/// Cost of `\w`, `\pL` and similar classes: a pattern of them at the maximum compiles in ten milliseconds.
const NAMED_CLASS: u64 = 25;
/// Cost of `.` and `[^x]`, which match characters of one to four bytes.
const WIDE_CLASS: u64 = 3;
/// Maximum size in bytes of the compiled pattern, and of the cache while searching.
const SIZE_LIMIT: usize = 1 << 20;
const CACHE_LIMIT: usize = 2 << 20;

/// How a pattern is interpreted.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternOptions {
    /// Matches upper and lower case alike.
    pub ignore_case: bool,
    /// Treats the pattern as plain text.
    pub literal: bool,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Returns true if the text contains a match.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.0.is_match(Input::new(text).earliest(true))
    }

    /// Returns an offset at which, reading from `from` on, it is certain that there is a match. The match may begin
    /// earlier and end later.
    pub fn earliest_match_end(&self, text: &[u8], from: usize) -> Option<usize> {
        let input = Input::new(text).span(from..text.len()).earliest(true);
        self.0.search_half(&input).map(|half| half.offset())
    }

    /// Returns the first match.
    pub fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        self.find_at(text, 0)
    }

    /// Returns the first match that begins at or after `from`.
    pub fn find_at(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        self.0.search(&Input::new(text).span(from..text.len())).map(|found| found.range())
    }
}

/// Compiles a pattern.
pub fn compile(pattern: &str, reading: PatternOptions) -> Result<Pattern> {
    if pattern.is_empty() || pattern.len() > MAX_LENGTH {
        let length = pattern.len();
        return Err(refuse(format!("expected 1 to {MAX_LENGTH} bytes, received {length}")));
    }
    let escaped = reading.literal.then(|| regex_syntax::escape(pattern));
    let text = escaped.as_deref().unwrap_or(pattern);
    let ast = ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(text).map_err(|error| {
        refuse(format!("{} (at character {})", error.kind(), error.span().start.column))
    })?;
    if estimated_cost(&ast) > MAX_COST {
        return Err(refuse(TOO_LARGE));
    }
    let parsed = TranslatorBuilder::new()
        .utf8(false)
        .multi_line(true)
        .case_insensitive(reading.ignore_case)
        .build()
        .translate(text, &ast)
        .map_err(|error| refuse(error.kind()))?;
    let within_lines = rewrite(&parsed)?;
    let config = Config::new()
        .match_kind(MatchKind::LeftmostFirst)
        .utf8_empty(false)
        .nfa_size_limit(Some(SIZE_LIMIT))
        .hybrid_cache_capacity(CACHE_LIMIT);
    // The rewritten form is compiled directly: printed and parsed again, `(a+)?` would be `a+?`.
    let built = Regex::builder().configure(config).build_from_hir(&within_lines);
    built.map(Pattern).map_err(|error| match error.size_limit() {
        Some(_) => refuse(TOO_LARGE),
        None => refuse("cannot be compiled"),
    })
}

fn refuse(problem: impl std::fmt::Display) -> Error {
    Error::field(Code::InvalidArgument, "pattern", problem)
}

const TOO_LARGE: &str = "is too large; use smaller counts or classes, such as [a-z] for \\w";

/// Estimates the cost of a pattern: its length in bytes with every counted repetition written out. Recurses as deep as
/// the pattern nests, which `NEST_LIMIT` bounds.
fn estimated_cost(ast: &Ast) -> u64 {
    let sum = |parts: &[Ast]| parts.iter().map(estimated_cost).fold(0, u64::saturating_add);
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 1,
        Ast::Literal(literal) => literal.c.len_utf8() as u64,
        Ast::Dot(_) => WIDE_CLASS,
        Ast::ClassUnicode(_) | Ast::ClassPerl(_) => NAMED_CLASS,
        Ast::ClassBracketed(class) => WIDE_CLASS.max(weight_of_set(&class.kind)),
        Ast::Repetition(repetition) => {
            let times = match repetition.op.kind {
                RepetitionKind::Range(
                    RepetitionRange::Exactly(times)
                    | RepetitionRange::AtLeast(times)
                    | RepetitionRange::Bounded(_, times),
                ) => times.max(1),
                _ => 1,
            };
            estimated_cost(&repetition.ast).saturating_mul(times.into())
        }
        Ast::Group(group) => estimated_cost(&group.ast),
        Ast::Alternation(alternation) => sum(&alternation.asts),
        Ast::Concat(concat) => sum(&concat.asts),
    }
}

fn weight_of_set(set: &ClassSet) -> u64 {
    match set {
        ClassSet::Item(item) => weight_of_item(item),
        ClassSet::BinaryOp(op) => weight_of_set(&op.lhs).saturating_add(weight_of_set(&op.rhs)),
    }
}

fn weight_of_item(item: &ClassSetItem) -> u64 {
    match item {
        ClassSetItem::Unicode(_) | ClassSetItem::Perl(_) => NAMED_CLASS,
        ClassSetItem::Bracketed(class) => weight_of_set(&class.kind),
        ClassSetItem::Union(union) => {
            union.items.iter().map(weight_of_item).fold(0, u64::saturating_add)
        }
        _ => 1,
    }
}

/// Rewrites a pattern so that it matches within lines. Recurses as deep as the pattern nests, which `NEST_LIMIT`
/// bounds.
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
            Hir::repetition(merged(repetition.with(rewrite(&repetition.sub)?)))
        }
        // No caller needs groups, and the engine is faster without them.
        HirKind::Capture(capture) => rewrite(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(each(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)?),
    })
}

/// Merges a repetition of a repetition into one with the same meaning, as in `(x+)*`: the engine would try all
/// combinations for every byte.
fn merged(outer: Repetition) -> Repetition {
    let HirKind::Repetition(inner) = outer.sub.kind() else { return outer };
    // `?`, `*` and `+`.
    let is_plain = |each: &Repetition| each.min <= 1 && each.max.is_none_or(|max| max == 1);
    if outer.greedy != inner.greedy || !is_plain(&outer) || !is_plain(inner) {
        return outer;
    }
    Repetition { min: outer.min.min(inner.min), max: outer.max.and(inner.max), ..inner.clone() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'a>(pattern: &str, text: &'a [u8]) -> Vec<&'a [u8]> {
        let Pattern(regex) = compile(pattern, PatternOptions::default()).unwrap();
        regex.find_iter(text).map(|found| &text[found.range()]).collect()
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
    fn repetitions_of_repetitions_are_one() {
        let rewritten = |pattern: &str| rewrite(&regex_syntax::parse(pattern).unwrap()).unwrap();
        for (nested, one) in [
            ("x********", "x*"),
            ("(?:(?:x+)+)+y", "x+y"),
            ("((x+)*)+", "x*"),
            ("(((x?)?)+)?", "x*"),
            ("((x?)?)?", "x?"),
            (r"\b*****", r"\b*"),
            ("(x+?)??", "x*?"),
        ] {
            assert_eq!(rewritten(nested), rewritten(one), "{nested}");
        }
        for different in ["(x*?)*", "(x{2,})*", "(x*){2,}", "(x{0,2})*", "(x*){0,2}"] {
            assert_ne!(rewritten(different), rewritten("x*"), "{different}");
        }
    }

    proptest! {
        #[test]
        fn repetitions_of_repetitions_find_what_they_did(
            part in prop::sample::select(vec!["a", "(a|ab)", "(ab|a)", "(|a)", r"\b", "(a?b)"]),
            operators in prop::collection::vec(
                prop::sample::select(vec!["?", "*", "+", "??", "*?", "+?", "{2}", "{0,2}", "{2,}"]),
                1..5,
            ),
            ending in prop::sample::select(vec!["", "b", "$", "a+"]),
            text in "[ab ]{0,12}",
        ) {
            let nested = operators.iter().fold(part.to_owned(), |part, operator| format!("({part}){operator}"));
            let pattern = format!("{nested}{ending}");
            let as_it_is = regex::bytes::RegexBuilder::new(&pattern).multi_line(true).build().unwrap();
            let expected: Vec<&[u8]> = as_it_is.find_iter(text.as_bytes()).map(|found| found.as_bytes()).collect();
            prop_assert_eq!(found(&pattern, text.as_bytes()), expected);
        }
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        let long = "x".repeat(MAX_LENGTH + 1);
        let deep = "(".repeat(500);
        let (big, bigger) = ("(?:(?:aa){2}){1000}", r"(\w{200}){200}");
        for pattern in ["", "(", "a{2,1}", "a\\nb", "a\nb", r"\w{41}", big, bigger, &deep, &long] {
            let error = compile(pattern, PatternOptions::default()).unwrap_err();
            assert_eq!(
                (error.code, error.field.as_deref()),
                (Code::InvalidArgument, Some("pattern"))
            );
        }
        let error = compile("ab(c", PatternOptions::default()).unwrap_err();
        assert_eq!(error.message, "Invalid option \"pattern\": unclosed group (at character 3)");
    }

    #[test]
    fn what_people_search_for_is_not_too_large() {
        let longest = "(".repeat(MAX_LENGTH);
        assert!(compile(&longest, PatternOptions { literal: true, ignore_case: true }).is_ok());
        for pattern in [
            r"(?i)\b(error|warning|fatal|panic(ked)?)\b.{0,200}\bat\s+\S+:\d+",
            r"^\s*(\w+)\s*[:=]\s*(\w+)(\s*,\s*\w+){0,5}$",
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}",
            r"(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}",
        ] {
            assert!(compile(pattern, PatternOptions::default()).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn a_literal_is_what_it_says() {
        let reading = PatternOptions { literal: true, ignore_case: true };
        let regex = compile("A.(b", reading).unwrap();
        assert!(regex.is_match(b"xa.(Bx") && !regex.is_match(b"axxb"));
    }
}
