//! Which values next to the name of a secret are secrets, and not types, references or placeholders.

use super::plain_words::{is_plain_word, is_sentence};
use super::secret_names::Kind;

/// How a value is attached to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `NAME=value` of an environment variable, and equally clear forms.
    Variable,
    /// `name=value` that fills its line.
    Property,
    /// `name = value`, `name := value`, `name => value`.
    Assigned,
    /// `name: value`.
    Colon,
    /// `name: |`, with the value in the next lines.
    Block,
    /// `--name=value`.
    Option,
    /// `--name value`.
    OptionWord,
    /// `['--name', 'value']`, `{ name: 'NAME', value: 'value' }`.
    Pair,
    /// Columns of a table.
    Column,
    /// `<name>value</name>`.
    Element,
    /// `name(value)`.
    Call,
    /// `The name is value.`
    Sentence,
}

/// Character statistics of a value.
struct CharCounts {
    digits: usize,
    lower: usize,
    upper: usize,
    /// Number of characters that are neither letters, digits, spaces, nor word joiners.
    special: usize,
    spaces: usize,
}

fn char_counts(value: &[u8]) -> CharCounts {
    let mut counts = CharCounts { digits: 0, lower: 0, upper: 0, special: 0, spaces: 0 };
    for byte in value {
        let count = match byte {
            b'0'..=b'9' => &mut counts.digits,
            b'a'..=b'z' => &mut counts.lower,
            b'A'..=b'Z' => &mut counts.upper,
            b' ' => &mut counts.spaces,
            byte if byte.is_ascii_punctuation() && !b"_-.,:/".contains(byte) => &mut counts.special,
            _ => continue,
        };
        *count += 1;
    }
    counts
}

/// Number of bytes of a value that decide what it is. Many names can share one long value.
const MAX_JUDGED: usize = 512;

fn beginning(value: &[u8]) -> &[u8] {
    value.get(..MAX_JUDGED).unwrap_or(value)
}

/// Returns true if a value is a secret, given its kind and how it is attached to its name.
pub(super) fn is_secret(
    kind: Kind,
    form: Form,
    value: &[u8],
    is_quoted: bool,
    is_whole_line: bool,
) -> bool {
    let text = String::from_utf8_lossy(beginning(value));
    let text = text.trim();
    let value = text.as_bytes();
    let shortest = if form == Form::Sentence { 6 } else { 4 };
    if value.len() < shortest && form != Form::Pair {
        return false;
    }
    let is_in_code = !is_quoted
        && !matches!(
            form,
            Form::Variable
                | Form::Property
                | Form::Option
                | Form::OptionWord
                | Form::Pair
                | Form::Element
                | Form::Block
        );
    if is_reference(value) || is_in_code && is_member_of_code(value) || is_plain_word(text) {
        return false;
    }
    let CharCounts { digits, lower, upper, special, spaces } = char_counts(value);
    let letters = lower + upper;
    let is_password = kind == Kind::Password;
    let is_literal = is_quoted || form == Form::Element;
    if kind == Kind::Login {
        return matches!(form, Form::Variable | Form::Property | Form::Pair | Form::Option)
            && spaces == 0
            && value.len() >= 8
            && (digits > 0 && letters > 0 || upper >= 12 && upper == value.len())
            && !["oauth", "http", "sha", "md5"].iter().any(|start| text.starts_with(start));
    }
    if kind == Kind::Key {
        return matches!(form, Form::Variable | Form::Pair | Form::Option) && is_entropic(value);
    }
    if spaces > 0 {
        // A passphrase, not a sentence about one.
        let is_phrase = (is_password || (kind == Kind::Secret && upper == 0)) && !is_sentence(text);
        return is_literal
            && kind != Kind::Token
            && (form == Form::Variable || is_phrase)
            && value.len() >= 8;
    }
    if matches!(form, Form::Variable | Form::Pair) {
        return value.len() >= if is_password { 4 } else { 8 } || form == Form::Pair;
    }
    if form == Form::Option && value.len() >= 4 {
        return digits > 0 || upper > 0 || special > 0 || is_password || value.len() >= 12;
    }
    if form == Form::OptionWord && (is_quoted && is_password) && value.len() >= 4 {
        return true;
    }
    if form == Form::OptionWord && is_password && value.len() >= 4 && digits > 0 {
        return true;
    }
    let only_numbers = letters == 0 && special == 0;
    if only_numbers {
        return is_password && digits == value.len() && digits >= 6 && form != Form::Column;
    }
    // Names of types have capitals, and so have passwords.
    let is_name = is_snake(text) || !is_password && is_snake(&text.to_ascii_lowercase());
    if !is_literal && (is_algorithm(text) || is_number(text) || is_name) {
        return false;
    }
    let min = match (kind, form) {
        (Kind::Token, Form::Call) => 16,
        (Kind::Token, _) if !is_quoted => 8,
        _ => 6,
    };
    if digits > 0 && value.len() >= min {
        return true;
    }
    if special > 0 && letters > 0 && value.len() >= min && kind != Kind::Token {
        // The mark at the end of a sentence is none of a password.
        let is_chosen = || {
            let inner = char_counts(value.get(..value.len() - 1).unwrap_or_default());
            inner.special > 0 && inner.upper > 1 && inner.lower > 0
        };
        return is_literal || !is_code(value) && (form != Form::Sentence || is_chosen());
    }
    if is_literal
        && upper > 1
        && lower > 1
        && value.len() >= 16
        && case_changes(value) * 5 >= value.len() * 2
    {
        return true;
    }
    // A lower-case word could be anything in code; it is a password where only one can be.
    let is_word = upper == 0
        && digits == 0
        && value.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-');
    if kind == Kind::Secret && is_word && form == Form::Property {
        return value.len() >= 8;
    }
    is_password
        && is_word
        && match form {
            Form::Property => value.len() >= 4,
            Form::Element => value.len() >= 6,
            Form::Colon => value.len() >= 8 && (is_quoted || is_whole_line),
            Form::OptionWord => value.len() >= 8 && is_whole_line,
            _ => false,
        }
}

/// Returns the number of changes between upper and lower case.
pub(super) fn case_changes(value: &[u8]) -> usize {
    value
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_uppercase() != b.is_ascii_uppercase()))
        .count()
}

/// Returns true if a value looks machine-made.
pub(super) fn is_entropic(value: &[u8]) -> bool {
    let CharCounts { digits, lower, upper, spaces, .. } = char_counts(value);
    spaces == 0
        && value.len() >= 16
        && digits >= 2
        && lower + upper >= 2
        && !value.starts_with(b"/")
        && !value.contains(&b'*')
        && value.iter().all(|byte| byte.is_ascii_graphic())
        && longest_word(value) < 8
}

/// Returns true for a key of 16 bytes or more as hexadecimal digits.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit)
}

/// Returns the length of the longest run of letters of one case.
fn longest_word(value: &[u8]) -> usize {
    value.split(|byte| !byte.is_ascii_lowercase()).map(<[u8]>::len).max().unwrap_or(0)
}

/// Returns true if a value refers to the secret or only mentions it: `${NAME}`, `settings.name`, `TOKEN_NAME`, a path,
/// a URL, `<your password>`, `****`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let value = beginning(value);
    let Some((first, rest)) = value.split_first() else { return true };
    let starts = |part: &[u8]| value.starts_with(part);
    let is_short = value.len() <= MAX_MEMBER_LENGTH;
    let is_constant = value.contains(&b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && value.iter().any(u8::is_ascii_uppercase);
    let is_one_byte = !rest.is_empty() && rest.iter().all(|byte| byte == first);
    let is_file = is_short && is_file(value);
    let is_variable = match first {
        b'$' => {
            // Names of several variables have no digits, as a password with the same mark in it has.
            let has_digit = rest.contains(&b'$') && rest.iter().any(u8::is_ascii_digit);
            !has_digit
                && rest
                    .split(|byte| b":.$".contains(byte))
                    .all(|part| part.is_empty() || is_identifier(part))
                || matches!(rest.first(), Some(b'{' | b'(' | b'$' | b'['))
                || value.contains(&b'.') && !value.contains(&b'!')
        }
        b'%' => {
            value.ends_with(b"%")
                || matches!(rest, [b's' | b'd' | b'v' | b'q' | b'(' | b'{' , ..] if rest.len() < 3 || rest.contains(&b')'))
        }
        b'#' => rest.iter().all(u8::is_ascii_hexdigit),
        // A password can begin with the mark of a reference.
        b'@' | b'&' | b'{' | b'<' | b'*' | b'/' if is_chosen(rest) => false,
        b'@' | b'&' => rest.split(|byte| *byte == b'{').next().is_some_and(is_identifier),
        b'!' | b'+' => {
            rest.iter().all(|byte| byte.is_ascii_alphabetic() || b"._!$?()".contains(byte))
        }
        b'{' | b'<' => true,
        b'[' => value.ends_with(b"]"),
        b'*' => is_identifier(rest) || rest.first() == Some(&b'*'),
        b'/' => !is_base64(value),
        b'~' | b'^' if rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') => true,
        b'~' => rest.first() == Some(&b'/'),
        b'.' => matches!(rest.first(), Some(b'.' | b'/')),
        b'-' => rest.first() == Some(&b'-'),
        _ => false,
    };
    (is_member(value) && value.split(|byte| *byte == b'.').all(is_word))
        || is_constant
        || is_one_byte
        || is_file
        || is_variable
        || value.iter().enumerate().any(|(at, byte)| {
            !byte.is_ascii_alphanumeric() && value.get(at..).is_some_and(begins_mark)
        })
        || [
            &b"arn:"[..],
            b"ENC[",
            b"env:",
            b"file:",
            b"ssm:",
            b".*",
            b".+",
            b"vault:",
            b"projects/",
            b"sha512-",
            b"op:",
            b"process.env",
            b"import.meta",
            b"os.environ",
        ]
        .iter()
        .any(|part| starts(part))
        || (value.get(1..3) == Some(b":\\") && first.is_ascii_alphabetic())
        || (is_one_letter_run(value))
}

/// Returns true for the start of an address, a variable, a template, a regular expression, or an ellipsis.
fn begins_mark(text: &[u8]) -> bool {
    matches!(
        text,
        [b':', b'/', b'/', ..]
            | [b'$', b'{' | b'(', ..]
            | [b'{' | b'#', b'{', ..]
            | [b'<', b'%', ..]
            | [b'.', b'.', b'.', ..]
            | [b'[', b'0', b'-', b'9', ..]
            | [b'[', b'a', b'-', b'z', ..]
            | [b'[', b'A', b'-', b'Z', ..]
            | [b'(', b'?', ..]
            | [b'\\', b'd' | b'w', ..]
            | [0xe2, 0x80, 0xa6, ..]
    )
}

/// Maximum number of bytes of the name of an encoding, an algorithm or a type.
const MAX_ALGORITHM_LENGTH: usize = 256;
/// Maximum number of bytes of `settings.name`, and of the name of a file.
const MAX_MEMBER_LENGTH: usize = 48;

/// Returns true for letters of both cases with a digit among them, as passwords have, and names only if it belongs to an
/// algorithm: `OAuth2Token`.
fn is_chosen(part: &[u8]) -> bool {
    let CharCounts { lower, upper, .. } = char_counts(part);
    let is_turn =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_digit() && b.is_ascii_alphabetic());
    part.len() >= 6
        && lower > 0
        && upper > 0
        && part.windows(2).any(is_turn)
        && part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#%^_+".contains(byte))
        && !std::str::from_utf8(part).is_ok_and(is_algorithm)
}

fn is_identifier(part: &[u8]) -> bool {
    part.first().is_some_and(|first| !first.is_ascii_digit())
        && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Returns true for a value in the form of `settings.name`. Tokens have dots between their parts, too.
fn is_member(value: &[u8]) -> bool {
    value.len() <= MAX_MEMBER_LENGTH
        && value.contains(&b'.')
        && value.split(|byte| *byte == b'.').all(is_identifier)
}

/// Returns true for `user2.password` and the like, which code has where no quotes are. Digits within the parts, or in all
/// of them, are those of a token.
pub(super) fn is_member_of_code(value: &[u8]) -> bool {
    if !is_member(value) {
        return false;
    }
    let is_turn =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_digit() && b.is_ascii_alphabetic());
    let has_turn = value.windows(2).any(is_turn);
    let numbers =
        value.split(|byte| !byte.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    let longest = value.split(|byte| !byte.is_ascii_alphabetic()).map(<[u8]>::len).max();
    let has_numbers =
        value.split(|byte| *byte == b'.').all(|part| part.iter().any(u8::is_ascii_digit));
    let is_random = has_turn && numbers > 1
        || has_numbers && value.len() >= 8 && longest.is_some_and(|longest| longest < 4);
    !is_random
}

/// Returns true for a part of a name that has no digits, or is as short as `v2`, or an algorithm.
fn is_word(part: &[u8]) -> bool {
    part.len() < 4
        || !part.iter().any(u8::is_ascii_digit)
        || std::str::from_utf8(part).is_ok_and(is_algorithm)
}

/// Returns true for a placeholder such as `sk-xxxxxxxx` or `xxxx-xxxx`.
fn is_one_letter_run(value: &[u8]) -> bool {
    value
        .chunk_by(|a, b| a == b)
        .any(|run| run.len() >= 6 && matches!(run.first(), Some(b'x' | b'X' | b'*' | b'.')))
}

fn is_file(value: &[u8]) -> bool {
    const ENDS: &str = "\
        txt pem key json yaml yml env js mjs cjs ts tsx py rb rs go sh toml ini crt cer p12 jks md xml";
    let Some(dot) = value.iter().rposition(|byte| *byte == b'.') else {
        return value.iter().filter(|byte| **byte == b'/').count() > 1 && !is_base64(value);
    };
    dot > 0
        && ENDS.split(' ').any(|end| value.get(dot + 1..) == Some(end.as_bytes()))
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(byte))
}

/// Returns true if a value may be a user and a password in base64, judging by its letters.
pub(super) fn is_base64_text(value: &[u8]) -> bool {
    let CharCounts { lower, upper, .. } = char_counts(value);
    value.len() >= 8
        && value.len().is_multiple_of(4)
        && lower > 0
        && upper > 1
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
        && case_changes(value) * 3 >= value.len()
}

/// Returns true for a long value in both cases, as machine-made tokens are.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let CharCounts { lower, upper, .. } = char_counts(value);
    value.len() >= 16
        && lower > 1
        && upper > 1
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(byte))
        && !is_reference(value)
}

/// Returns true if a value with slashes is more likely base64 than a path.
fn is_base64(value: &[u8]) -> bool {
    let CharCounts { digits, lower, upper, .. } = char_counts(value);
    value.len() >= 20
        && digits > 0
        && lower > 0
        && upper > 2
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte))
        && longest_word(value) < 7
}

/// Returns true if an unquoted value is an expression: `sha256(name)`, `tokens[0]`, `a->b`.
pub(super) fn is_code(value: &[u8]) -> bool {
    let value = beginning(value);
    let name = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_$.?!:->".contains(byte))
        .count();
    let begins = value
        .first()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'));
    let after = value.get(name..).unwrap_or_default();
    let closes = |open: u8, close: u8| {
        after.first() == Some(&open)
            && (after.contains(&close) || after.len() == 1 || close == b')')
    };
    // Code without blanks: `token})}catch{}return{`, `key===void`, `null,next`.
    let goes_on = matches!(after.first(), Some(b'}' | b')' | b'=' | b',' | b'*'));
    let identifier = value.get(..name).unwrap_or_default();
    let is_keyword = matches!(identifier, b"null" | b"true" | b"false" | b"yield" | b"class");
    let is_minified = match after.first() {
        Some(b'}' | b')') => !identifier.iter().any(u8::is_ascii_digit),
        Some(b'=') => after.starts_with(b"===") || identifier.ends_with(b"!"),
        _ => false,
    };
    is_keyword && goes_on
        || begins && is_minified
        || begins
            && (closes(b'(', b')')
                || closes(b'[', b']')
                || closes(b'{', b'}')
                || closes(b'<', b'>')
                || value.windows(2).any(|pair| matches!(pair, b"->" | b"::" | b"??" | b"?.")))
}

/// Returns true if a value is a number of source code: `0x10`, `262144u32`, `10n`.
fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches('-');
    let hex = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    let digits = hex.unwrap_or(value).trim_end_matches(|letter: char| {
        letter.is_ascii_digit()
            || (hex.is_some() && letter.is_ascii_hexdigit())
            || "uifnlUL_".contains(letter)
    });
    digits.is_empty() && value.len() <= 20
}

/// Returns true if a value is an identifier: `user_token_2`.
fn is_snake(value: &str) -> bool {
    let words = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
    value.contains('_')
        && value.len() - words.len() <= 2
        && words.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Returns true if a value names an encoding, an algorithm or a type: `base64url`, `Uint8Array`, `HS256`.
fn is_algorithm(value: &str) -> bool {
    const NAMES: &str = "\
        base64 base58 base32 base16 utf8 utf16 sha1 sha224 sha256 sha384 sha512 sha3 md5 uint8 uint16 uint32 \
        uint64 int32 int64 float32 float64 oauth2 http2 hs256 hs384 hs512 rs256 es256 ed25519 x509 argon2 aes128 aes256";
    if value.len() > MAX_ALGORITHM_LENGTH || !value.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let name = value.to_ascii_lowercase().replace('-', "");
    let rest = NAMES.split(' ').fold(name.clone(), |rest, name| rest.replace(name, ""));
    rest.len() < name.len() && !rest.bytes().any(|byte| byte.is_ascii_digit())
}
