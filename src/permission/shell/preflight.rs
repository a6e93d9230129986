//! Rejects texts before parsing: too long, too deep, or with characters that shells and people read differently.

use brush_parser::{Token, TokenizerOptions, uncached_tokenize_str};

/// Maximum length of a single argument on Linux, so that no shell could be given more.
pub(super) const MAX_BYTES: usize = 128 * 1024;

/// Maximum nesting: the parser recurses for each level on the caller's stack.
pub(super) const MAX_OPENERS: usize = 200;

/// The parser reads the text after a parenthesis, or in a `case`, in two ways, and each inner one again for both. The number of pieces
/// of a text, doubled for each level, estimates the time; this limit is a few milliseconds.
const MAX_TRIES: usize = 1 << 20;

/// Number of parentheses up to which a text of any length is parsed in time.
const FEW_PARENTHESES: usize = 4;

/// Maximum number of digits of a file descriptor: the parser panics for larger ones.
const MAX_DIGITS: usize = 9;

/// Maximum number of here-documents: the parser searches the whole text for the end of each.
const MAX_DOCUMENTS: usize = 64;

/// Maximum number of tokens that the parser reads for one call, in all texts of it together: each takes it a microsecond.
pub(super) const MAX_TOKENS: usize = 20_000;

/// Nesting from which on the parser is given a stack of its own: each level takes a kilobyte or more, and a thread can
/// have little.
const FEW_OPENERS: usize = 8;

/// Maximum number of variables and substitutions in one word. The parser searches the whole word for the end of each.
const MAX_EXPANSIONS: usize = 128;

fn is_opening(word: &[u8]) -> bool {
    // Most words are none by their first letter.
    matches!(word.first(), Some(b'c' | b'f' | b'i' | b's' | b'u' | b'w'))
        && matches!(
            word,
            b"if" | b"while" | b"until" | b"for" | b"case" | b"select" | b"function" | b"coproc"
        )
}

/// Returns the reason for not parsing a text. Panics where the parser does: both read the same tokens.
pub(super) fn refuse(text: &str) -> Option<&'static str> {
    if text.len() > MAX_BYTES {
        return Some("the command is too long to be read");
    }
    // A text has no more openers than bytes.
    if (text.len() > MAX_OPENERS && openers(text) > MAX_OPENERS) || takes_too_long(text) {
        return Some("the command is nested too deeply to be read");
    }
    let redirects = memchr::memchr2(b'<', b'>', text.as_bytes()).is_some();
    if redirects && text.matches("<<").take(MAX_DOCUMENTS + 1).count() > MAX_DOCUMENTS {
        return Some("the command has too many here-documents to be read");
    }
    if redirects && has_huge_descriptor(text) {
        return Some("the number of a descriptor is too large to be read");
    }
    let strange = if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\n' && byte != b'\t')
    } else {
        text.chars().any(is_strange)
    };
    strange.then_some(STRANGE)
}

/// The reason for not reading a text with letters that shells and people read differently.
pub(super) const STRANGE: &str = "the command has letters that look like others or like nothing";

/// Returns a text without such letters, and with a space for each that looks like one.
pub(super) fn without_strange(text: &str) -> String {
    let plain = |letter: char| match is_strange(letter) {
        true => letter.is_whitespace().then_some(' '),
        false => Some(letter),
    };
    text.chars().filter_map(plain).collect()
}

/// Returns the nesting of the parser for a text, counted up to [`MAX_OPENERS`].
fn openers(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut openers = 0;
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_alphanumeric()) {
        openers += usize::from(matches!(byte, b'(' | b'{' | b'`' | b'['));
        openers += usize::from(is_opening(&bytes[from..at]));
        from = at + 1;
    }
    openers += usize::from(is_opening(&bytes[from..]));
    // Within a test these nest too.
    if text.contains("[[") {
        openers += text.bytes().filter(|byte| *byte == b'!').count();
        openers += text.matches("&&").count() + text.matches("||").count();
    }
    openers
}

/// Returns true if a text is only parsed with enough stack.
pub(super) fn is_deep(text: &str) -> bool {
    text.len() <= MAX_BYTES && (FEW_OPENERS + 1..=MAX_OPENERS).contains(&openers(text))
}

/// Returns true if a word has more expansions than the parser handles in time.
pub(super) fn has_many_expansions(word: &str) -> bool {
    let is_one = |byte: &u8| matches!(byte, b'$' | b'`');
    word.bytes().filter(is_one).take(MAX_EXPANSIONS + 1).count() > MAX_EXPANSIONS
}

/// Returns true if a text could stall the parser: a few dozen parentheses, or `case` in `case`, can take it years.
fn takes_too_long(text: &str) -> bool {
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'(').count();
    if count(text) + text.matches("case").count() <= FEW_PARENTHESES {
        return false;
    }
    let options = TokenizerOptions { enable_extended_globbing: false, ..Default::default() };
    // Quoted ones are parts of words, and take no time.
    let Ok(tokens) = uncached_tokenize_str(text, &options) else { return false };
    let (mut tries, mut cases, mut deepest) = (0, 0_usize, 0);
    for token in &tokens {
        match token {
            Token::Operator(text, _) => tries += count(text),
            Token::Word(word, _) if word == "case" => cases += 1,
            Token::Word(word, _) if word == "esac" => cases = cases.saturating_sub(1),
            Token::Word(..) => {}
        }
        deepest = cases.max(deepest);
    }
    tries += deepest;
    tries > FEW_PARENTHESES && (tries >= 32 || tokens.len() << tries > MAX_TRIES)
}

/// Estimates the number of tokens of a text: operators, ends of lines, and words. Quoted texts, comments and the bodies
/// of here-documents count as one, as far as they can be recognised without a grammar.
pub(super) fn tokens(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut tokens = 0;
    let mut in_word = false;
    let mut at = 0;
    // The end of a here-document that begins at the next line.
    let mut document: Option<&str> = None;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' => in_word = false,
            b'#' if !in_word => {
                at +=
                    bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
            }
            b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => {
                in_word = false;
                tokens += 1;
                if byte != b'\n' && bytes.get(at) == Some(&byte) {
                    at += 1;
                    if byte == b'<' && bytes.get(at) != Some(&b'<') {
                        document = Some(mark_of_document(&text[at..]));
                    }
                }
                if let Some(mark) = document.filter(|_| byte == b'\n') {
                    document = None;
                    at += end_of_document(&text[at..], mark);
                }
            }
            _ => {
                tokens += usize::from(!in_word);
                in_word = true;
                at += match byte {
                    b'\\' => usize::from(at < bytes.len()),
                    b'\'' | b'"' => end_of_quote(&bytes[at..], byte),
                    _ => 0,
                };
            }
        }
    }
    tokens
}

/// The word that ends a here-document, without its quotes.
fn mark_of_document(text: &str) -> &str {
    let text = text.trim_start_matches(['-', ' ', '\t', '\'', '"', '\\']);
    &text[..text
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(text.len())]
}

/// How many bytes the body of a here-document has; none where it has no end.
fn end_of_document(text: &str, mark: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if line.trim_matches(['\t', '\n']) == mark {
            return length;
        }
    }
    0
}

/// How many bytes follow a quote up to the end of the quoted text; none where it has no end.
fn end_of_quote(bytes: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if quote == b'"' => at += 1,
            _ if *byte == quote => return at,
            _ => {}
        }
    }
    0
}

/// Returns true if a redirection has a number that is too large, also across line continuations.
fn has_huge_descriptor(text: &str) -> bool {
    text.match_indices(['<', '>']).any(|(at, _)| {
        let before = text[..at].bytes().rev().filter(|byte| !matches!(byte, b'\\' | b'\n'));
        before.take_while(u8::is_ascii_digit).nth(MAX_DIGITS).is_some()
    })
}

/// Controls, white space that shells do not know, and characters without a width or with another direction.
fn is_strange(letter: char) -> bool {
    match letter {
        '\n' | '\t' | ' ' => false,
        _ if letter.is_control() || letter.is_whitespace() => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0e}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffd}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_as_the_parser_makes_them() {
        let options = TokenizerOptions { enable_extended_globbing: false, ..Default::default() };
        for text in [
            "",
            "ls",
            "a && b || c | d ; e &",
            "(cd a; ls) > b 2>&1",
            "echo 'a b; c' \"d 'e' f\" g\\ h",
            "for i in a b; do\n  ls $i\ndone",
            "cat <<E | wc\na b; c\nE\nls",
            "cat <<-'E' b\n\ta b\n\tE\nls",
            "a <<< b",
            "ls # a b 'c",
            "a#b 'c' d",
            "it\\'s a b",
        ] {
            let exact = uncached_tokenize_str(text, &options).unwrap().len();
            let counted = tokens(text);
            assert!(counted.abs_diff(exact) <= 3, "{text:?}: {counted} for {exact}");
        }
        // Nothing is left out of a text without an end.
        for text in ["'", "\"", "<<E\n", "# '\n", "<<E\nE\n"] {
            assert!(tokens(&format!("{text}{}", "a\n".repeat(1000))) >= 2000, "{text:?}");
        }
    }

    #[test]
    fn what_would_take_years_is_not_parsed() {
        for text in [
            "(",
            "( ",
            "for (( ",
            "((x); (",
            "case x in x) ",
            "case x in x) ( ",
            "esac; case x in (x) ",
        ] {
            assert!(takes_too_long(&text.repeat(40)), "{text}");
        }
        assert!(takes_too_long(&format!("((((((((( {}", "a;".repeat(9000))));
        let quoted = format!("git commit -m '{}'", "(as told) ".repeat(90));
        let nested = format!("echo {}pwd{}", "$(echo ".repeat(30), ")".repeat(30));
        let plain = "(cd a && (ls; (pwd))) && f() { ls; }; a=(1 2); ((x++)); for ((i=0; i<3; i++)); do ls; done";
        let cases = "case $x in a) ls ;; b) pwd ;; esac\n".repeat(40);
        for text in [&quoted, &nested, plain, &cases] {
            assert!(!takes_too_long(text), "{text}");
        }
    }
}
