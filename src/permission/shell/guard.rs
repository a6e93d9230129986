//! Which texts are not even parsed: too long, too deep, or with letters that shells and people read differently.

/// A single argument of a program is no longer on Linux, so no shell could be given more.
pub(super) const MAX_BYTES: usize = 128 * 1024;

/// The parser calls itself for each, and its stack is the caller's.
const MAX_OPENERS: usize = 200;

const OPENING_WORDS: [&str; 8] =
    ["if", "while", "until", "for", "case", "select", "function", "coproc"];

/// Why a text is not parsed, if it is not.
pub(super) fn refuse(text: &str) -> Option<&'static str> {
    if text.len() > MAX_BYTES {
        return Some("the command is too long to be read");
    }
    let opening = |byte: u8| matches!(byte, b'(' | b'{' | b'`' | b'[');
    let mut openers = text.bytes().filter(|byte| opening(*byte)).count();
    if openers <= MAX_OPENERS {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        openers += words.filter(|word| OPENING_WORDS.contains(word)).count();
    }
    if openers > MAX_OPENERS {
        return Some("the command is nested too deeply to be read");
    }
    let strange = if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\n' && byte != b'\t')
    } else {
        text.chars().any(is_strange)
    };
    strange.then_some("the command has letters that look like others or like nothing")
}

/// Controls, white space that shells do not know, and letters without a width or with another direction.
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
