//! The statements, functions, callbacks and loops of code, as far as they give values on.

use std::collections::HashSet;

use super::code_text::{arguments_of, closing, end_of, last_name, start_of, words};
use super::paths_in_code::MAX_BEFORE;
use crate::permission::shell::name_letters::is_in_identifier;
use crate::util::words::has_word;

/// Maximum number of calls of functions of the code whose values are followed.
pub(super) const MAX_CALLS: usize = 2048;

/// A function of the code.
pub(super) struct Function<'t> {
    pub(super) name: &'t str,
    pub(super) parameters: &'t str,
    /// Names that it has its parameters from without naming them.
    pub(super) implied: &'static [&'static str],
}

/// Returns the statements of a code. A list or call continues in the next line.
pub(super) fn statements_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, end) in text.match_indices([';', '\n']) {
        let statement = &text[from..at];
        if end == "\n" && statement.trim_end().ends_with(['[', '(', ',']) {
            continue;
        }
        found.push(statement);
        from = at + 1;
    }
    found.push(&text[from..]);
    found.retain(|statement| !statement.trim().is_empty());
    found
}

/// Returns the calls of functions of a code, with what is given to each.
pub(super) fn calls_of<'t>(text: &'t str, defined: &HashSet<&str>) -> Vec<(&'t str, &'t str)> {
    let is_definition =
        |at: usize| ["def ", "function ", "sub "].iter().any(|begin| text[..at].ends_with(begin));
    let calls = words(text).filter(|(at, word)| defined.contains(word) && !is_definition(*at));
    let calls = calls.filter_map(|(at, name)| {
        Some((name, arguments_of(text[at + name.len()..].strip_prefix(['(', ' '])?)))
    });
    calls.take(MAX_CALLS + 1).collect()
}

/// Returns the function that a statement defines.
pub(super) fn function_in(statement: &str) -> Option<Function<'_>> {
    // Perl takes its parameters from a list, and shells from numbers.
    let kinds: [(&str, &[&str]); 3] =
        [("def ", &[]), ("function ", &["1"]), ("sub ", &["_", "shift"])];
    for (begin, implied) in kinds {
        if let Some((_, rest)) = statement.split_once(begin)
            && let Some((at, name)) = words(rest).next()
        {
            return Some(Function {
                name,
                parameters: parameters(&rest[at + name.len()..]),
                implied,
            });
        }
    }
    let begins = ["lambda", "=>", "->"].iter().any(|begin| statement.contains(begin));
    let (left, right) = statement.split_once('=').filter(|_| begins)?;
    let name = last_name(left.trim_end());
    (!name.is_empty()).then_some(Function { name, parameters: parameters(right), implied: &[] })
}

/// Returns the parameters of a function, of which a text is what follows its name.
fn parameters(text: &str) -> &str {
    let text = ["async ", "lambda", "->", "function"]
        .iter()
        .fold(start_of(text).trim_start(), |text, begin| {
            text.strip_prefix(begin).unwrap_or(text).trim_start()
        });
    if let Some(inner) = text.strip_prefix('(') {
        return &inner[..closing(inner)];
    }
    match text.split_once('|') {
        Some((_, inner)) => inner.split('|').next().unwrap_or_default(),
        None => text.split([':', '{', '=']).next().unwrap_or_default(),
    }
}

/// Returns true if a name is what a function is given for each value of a list: `dirs.forEach((d) => …)`.
pub(super) fn is_of_callback(statement: &str, at: usize, after: &str) -> bool {
    const EACH: &str = "\
        forEach map flatMap filter some every each reduce reduceRight for_each find findIndex findLast then from eachSeries ForEach";
    let before = end_of(&statement[..at], MAX_BEFORE);
    let mut depth = 0;
    let opened = before.char_indices().rev().filter(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        let is_open = depth > 0;
        depth = depth.min(0);
        is_open
    });
    // The list of parameters has a bracket of its own, or none.
    let callers: Vec<&str> =
        opened.take(2).map(|(at, _)| last_name(before[..at].trim_end())).collect();
    let further =
        after.trim_start_matches(|letter| is_in_identifier(letter) || ", )".contains(letter));
    let is_parameter = further.starts_with("=>")
        || callers.first() == Some(&"function")
        || before.contains("lambda ") && further.starts_with(':');
    is_parameter && callers.iter().any(|caller| has_word(EACH, caller))
}

/// Returns the part of a loop with the names that it gives its values: `for (const [a, b] of …)`, `for my $a (…)`.
pub(super) fn loop_names(statement: &str) -> &str {
    let is_for = |(_, word): &(usize, &str)| matches!(*word, "for" | "foreach");
    let Some((at, word)) = words(statement).find(is_for) else { return "" };
    let rest = &statement[at + word.len()..];
    let end = [" of ", " in "].iter().filter_map(|sign| rest.find(sign)).min();
    &rest[..end.or_else(|| rest.find('(')).unwrap_or(0)]
}
