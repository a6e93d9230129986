//! Reads code of other languages without a grammar: its words, the arguments of its calls, its brackets and its tokens.

use crate::permission::shell::name_letters::is_in_identifier;

/// Maximum number of bytes of an argument that is read.
const MAX_GIVEN: usize = 256;

/// Returns where each of the calls of a list is in a text, and what follows it.
#[inline(never)]
pub(super) fn calls_in<'t>(text: &'t str, calls: &str) -> Vec<(usize, &'t str)> {
    let places = calls
        .split('|')
        .flat_map(|call| text.match_indices(call).map(|(at, _)| (at, at + call.len())));
    places.map(|(at, end)| (at, start_of(&text[end..]))).collect()
}

/// Returns what follows each of the calls of a list.
pub(super) fn given_to<'t>(text: &'t str, calls: &str) -> impl Iterator<Item = &'t str> {
    calls_in(text, calls).into_iter().map(|(_, given)| given)
}

/// Returns what follows each of the calls of a list, whose names are not the ends of others.
pub(crate) fn given_to_words<'t>(text: &'t str, calls: &str) -> Vec<&'t str> {
    let is_end = |at: usize| {
        text[..at].ends_with(is_in_identifier) && text[at..].starts_with(is_in_identifier)
    };
    let calls = calls_in(text, calls).into_iter().filter(|(at, _)| !is_end(*at));
    calls.map(|(_, given)| given).collect()
}

/// Returns as much of a text as is read of an argument.
pub(crate) fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_GIVEN)]
}

/// Returns the end of a text, of at most `max` bytes.
pub(crate) fn end_of(text: &str, max: usize) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(max))..]
}

/// Returns what a call is given, of which a text is what follows its bracket.
pub(crate) fn arguments_of(text: &str) -> &str {
    let given = start_of(text).split([';', '\n']).next().unwrap_or_default();
    &given[..closing(given)]
}

/// Returns where a part of a text begins. The part must be a slice of that text.
pub(crate) fn place_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Returns the names and words in a text, and where they are.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|letter| !is_in_identifier(letter)).filter(|word| !word.is_empty());
    words.map(move |word| (place_in(text, word), word))
}

/// Returns the name that a text ends with.
pub(crate) fn last_name(text: &str) -> &str {
    text.rsplit(|letter| !is_in_identifier(letter)).next().unwrap_or_default()
}

/// Returns where the bracket closes that a text is in.
pub(crate) fn closing(text: &str) -> usize {
    let mut depth = 1;
    let end = text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.unwrap_or(text.len())
}

/// Splits code into words, strings with their quotes, line ends with the indentation that follows, and other letters.
pub(crate) fn tokens(code: &str, is_inner: bool) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let line = || rest.find('\n').unwrap_or(rest.len());
        let begins = rest.len() == code.len()
            || code[..code.len() - rest.len()].ends_with([' ', '\t', '\n', ';', '{']);
        // Between two values it divides.
        let divides = rest.starts_with("// ") && found.last().is_some_and(|token| is_word(token));
        let is_comment = begins && !divides && (first == '#' || rest.starts_with("//"));
        let end = match first {
            '\n' => rest.find(|letter: char| !letter.is_whitespace()).unwrap_or(rest.len()),
            _ if is_comment => line(),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' | '`' => string_end(rest, first),
            _ if is_in_identifier(first) => {
                rest.find(|letter| !is_in_identifier(letter)).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let token = &rest[..end];
        rest = &rest[end..];
        if is_comment || token.starts_with("/*") || matches!(first, ' ' | '\t' | '\r') {
            continue;
        }
        let is_code = matches!(found[..], [.., "exec" | "eval", "("] | [.., "eval"]);
        match is_code && !is_inner && matches!(first, '"' | '\'') && token.len() > 1 {
            true => found.extend(tokens(token.trim_matches(first), true)),
            false => found.push(token),
        }
    }
    found
}

/// Returns where a string ends. Without an end it is one line long.
fn string_end(text: &str, quote: char) -> usize {
    if let Some(triple) = ["\"\"\"", "'''"].into_iter().find(|triple| text.starts_with(triple)) {
        return text[3..].find(triple).map_or(text.len(), |end| end + 6);
    }
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = !is_escaped && (*letter == quote || (*letter == '\n' && quote != '`'));
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, letter)| if letter == '\n' { at } else { at + 1 })
}

/// Returns true for a token that is a name or a number.
pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(is_in_identifier)
}
