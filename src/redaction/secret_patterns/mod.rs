//! Patterns of well-known secrets.
//!
//! A pattern must be distinctive: a long output must not be masked all over because something in it looks random. Text
//! around a secret that helps to read the output, such as the name of a header, is kept.
//!
//! One pass over the text finds the words that can accompany a secret, and each such position is examined by itself.
//!
//! | module | contents |
//! | --- | --- |
//! | [`secret_names`] | names of secrets |
//! | [`name_value_pairs`] | a name and its value |
//! | [`separators`] | separators between a name and its value |
//! | [`before_value`] | quotes, types and colours before a value |
//! | [`value`] | the end of a value |
//! | [`escapes`] | escape sequences of a terminal |
//! | [`secret_values`] | values that are secrets |
//! | [`plain_words`] | words in place of a value |
//! | [`described_values`] | a value in another member than its name |
//! | [`headers`] | credentials and cookies |
//! | [`contexts`] | addresses, keys between header and footer lines |
//! | [`tokens`] | the prefixes of vendors |
//! | [`shapes`] | tokens of vendors in several parts |
//! | [`commands`] | options of programs |
//! | [`operands`] | operands of programs |
//! | [`piped_passwords`] | standard input |
//! | [`statements`] | phrases |
//! | [`yaml`] | values over several lines |
//! | [`secret_objects`] | Secrets of Kubernetes in JSON |
//! | [`json_texts`] | texts of several lines in JSON |
//! | [`lists`] | lists below a name |
//! | [`tables`] | columns |
//! | [`sql_rows`] | columns of SQL |

mod before_value;
mod commands;
mod contexts;
mod described_values;
mod escapes;
mod headers;
mod json_texts;
mod lists;
mod name_value_pairs;
mod operands;
mod piped_passwords;
mod plain_words;
mod secret_names;
mod secret_objects;
mod secret_values;
mod separators;
mod shapes;
mod sql_rows;
mod statements;
mod tables;
mod tokens;
mod value;
mod yaml;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input};

use escapes::Plain;
pub(crate) use secret_names::is_secret_name;
use separators::replacement;
use shapes::{Marked, Shape};
pub(super) use tables::Table;

/// Number of bytes before a position that decide whether there is a secret.
pub(super) const LOOK_BEHIND: usize = 256;

/// Maximum number of bytes of a secret, and of the text after it, before the word by which it is found.
const MAX_BEFORE: usize = 96;

/// Number of bytes at the end of a long value in which names are looked for: the value of such a name can go on after the end.
const NAMES_AT_END: usize = 256;

/// The kind of word that was found.
#[derive(Debug)]
enum Place {
    /// A token, with its row in the table.
    Token(usize),
    /// A token in several parts.
    Shape(Shape),
    /// A key with a mark in its middle.
    Marked(Marked),
    /// The name of a secret.
    Name,
    /// A program with arguments.
    Program,
    Address,
    Oracle,
    PrivateKey,
    Putty,
    WebToken,
    Bearer,
    Azure,
    Telegram,
    Dot,
    Dash,
    Mailchimp,
    Twilio,
    PgPass,
    Identified,
    /// A command that writes a text into a pipe.
    Writer,
    HereString,
    /// A phrase before a secret, with its row in the table.
    Statement(usize),
    /// A statement of SQL with rows.
    Insert,
    Copy,
    /// The kind of an object of Kubernetes.
    SecretKind,
    /// The values of an object of Kubernetes.
    SecretData,
    /// The same in JSON.
    SecretObjectKind,
    SecretObjectData,
}

impl Place {
    /// Returns true if a secret at the word in `range` can depend on the lines around it.
    fn is_of_lines(&self, text: &[u8], range: Range<usize>) -> bool {
        match self {
            Place::Name | Place::Program => {
                let word = text.get(range).unwrap_or_default().to_ascii_lowercase();
                matches!(
                    &word[..],
                    b"password" | b"passwd" | b"secret" | b"requirepass" | b"masterauth"
                )
            }
            Place::SecretKind | Place::PgPass | Place::Statement(_) => true,
            _ => false,
        }
    }
}

#[derive(Debug)]
struct Places {
    automaton: AhoCorasick,
    places: Vec<Place>,
    longest: usize,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let fixed = [
        ("://", Place::Address),
        ("jdbc:oracle:", Place::Oracle),
        ("---BEGIN ", Place::PrivateKey),
        ("--- BEGIN ", Place::PrivateKey),
        ("Private-Lines:", Place::Putty),
        ("eyJ", Place::WebToken),
        ("bearer", Place::Bearer),
        ("Q~", Place::Azure),
        (":AA", Place::Telegram),
        (".", Place::Dot),
        ("-", Place::Dash),
        ("-us", Place::Mailchimp),
        ("AC", Place::Twilio),
        ("identified by", Place::Identified),
        ("identified with", Place::Identified),
        ("insert into ", Place::Insert),
        ("\ncopy ", Place::Copy),
        ("kind:", Place::SecretKind),
        ("data:", Place::SecretData),
        ("\"kind\"", Place::SecretObjectKind),
        ("\"kind\\", Place::SecretObjectKind),
        ("data\"", Place::SecretObjectData),
        ("data\\", Place::SecretObjectData),
        ("echo ", Place::Writer),
        ("printf ", Place::Writer),
        ("<<<", Place::HereString),
        ("*:*:", Place::PgPass),
        (":5432:", Place::PgPass),
        (":5433:", Place::PgPass),
        (":6432:", Place::PgPass),
        (":3306:", Place::PgPass),
    ];
    let tokens = tokens::TOKENS.iter().enumerate();
    let names = secret_names::triggers().map(|word| (Cow::Owned(word), Place::Name));
    let words: Vec<(Cow<'static, str>, Place)> = fixed
        .into_iter()
        .chain(tokens.map(|(row, token)| (token.prefix, Place::Token(row))))
        .chain(shapes::shapes().map(|shape| (shape.prefix, Place::Shape(shape))))
        .chain(shapes::marked().map(|key| (key.mark, Place::Marked(key))))
        .chain(statements::phrases().map(|(phrase, row)| (phrase, Place::Statement(row))))
        .chain(commands::programs().map(|name| (name, Place::Program)))
        .map(|(word, place)| (Cow::Borrowed(word), place))
        .chain(names)
        .collect();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words.iter().map(|(word, _)| word.as_ref()))
        .unwrap_or_else(|_| unreachable!("the words make an automaton"));
    let longest = words.iter().map(|(word, _)| word.len()).max().unwrap_or(1);
    let places = words.into_iter().map(|(_, place)| place).collect();
    Places { automaton, places, longest }
});

/// Finds every secret that begins in `range`, and some of those after it. The [`LOOK_BEHIND`] bytes before the range
/// and all text after it are used as context. `table` is one that began before the range, and then one that continues after it.
pub(super) fn search(
    text: &[u8],
    range: Range<usize>,
    table: &mut Option<Table>,
    found: &mut impl FnMut(Range<usize>),
) {
    let Some(plain) = Plain::new(text) else { return search_plain(text, range, table, found) };
    let range = plain.place(range.start)..plain.place(range.end);
    if let Some(table) = table {
        table.at = plain.place(table.at);
    }
    search_plain(&plain.text, range, table, &mut |secret| found(plain.range(&secret)));
    if let Some(table) = table {
        table.at = plain.original(table.at);
    }
}

/// Does the same in a text without escape sequences.
fn search_plain(
    text: &[u8],
    range: Range<usize>,
    table: &mut Option<Table>,
    found: &mut impl FnMut(Range<usize>),
) {
    let Places { automaton, places, longest } = &*PLACES;
    let decided = range.end;
    let range = range.start..text.len().min(range.end + MAX_BEFORE);
    let end = text.len().min(range.end + longest - 1);
    if range.start >= end {
        return;
    }
    // The position of the next last line of a private key, and the end of the last key, inside of which everything is
    // redacted already.
    let (mut last_line, mut covered) = (None, 0);
    let mut inserted = 0;
    // The bytes of objects of JSON that were read, and the most of them.
    let (mut read, max) = (0, 8 * text.len());
    let mut runs = tokens::Runs::default();
    // The last secret that has a name.
    let mut named = 0..0;
    // The end of the last text in JSON whose lines were read.
    let mut unescaped = range.start;
    for hit in automaton.find_overlapping_iter(Input::new(text).range(range.start..end)) {
        let (from, to) = (hit.start(), hit.end());
        let Some(place) =
            places.get(hit.pattern().as_usize()).filter(|_| from < range.end && from >= covered)
        else {
            continue;
        };
        if from >= unescaped && place.is_of_lines(text, from..to) {
            let start = range.start;
            unescaped = json_texts::around(text, &(from..to), unescaped, &mut |secret| {
                if secret.start >= start {
                    found(secret);
                }
            });
        }
        let secret = match place {
            Place::Token(row) => {
                let token = tokens::TOKENS
                    .get(*row)
                    .filter(|token| token.prefix.starts_with('.') || is_start(text, from))
                    .filter(|token| token.service().is_none_or(|name| is_before(text, from, name)));
                let secret = token
                    .and_then(|token| token.at(text, from, &mut runs))
                    .map(|(from, to)| from..to);
                if let Some(secret) = secret.as_ref()
                    && matches!(token, Some(token) if token.is_aws_id())
                    && let Some(beside) = contexts::beside(text, secret.end, true)
                {
                    found(beside);
                }
                secret
            }
            Place::Shape(shape) => shape.token(text, from),
            Place::Marked(key) => key.key(text, from),
            // A name within a long value that is one secret: its own value ends with that.
            Place::Name if named.contains(&from) && to + NAMES_AT_END < named.end => None,
            Place::Name => {
                lists::items(text, from..to, found);
                let headed = Table::headed(text, from..to).filter(|_| from < decided);
                begin(table, headed, text, from, found);
                let secret = name_value_pairs::secret(text, from..to);
                if let Some(next) =
                    secret.as_ref().and_then(|secret| after_change(text, secret.end))
                {
                    found(next);
                }
                named = secret.clone().unwrap_or(named);
                secret
            }
            Place::Program => {
                commands::in_text(text, from..to, found);
                None
            }
            Place::Address => contexts::address(text, from),
            Place::Oracle => contexts::oracle(text, to),
            Place::PrivateKey => {
                let begin = from
                    - text.get(..from).map_or(0, |before| {
                        before.iter().rev().take(2).take_while(|byte| **byte == b'-').count()
                    });
                let key = contexts::private_key(text, begin, &mut last_line);
                covered = key.as_ref().map_or(covered, |key| key.end);
                key
            }
            Place::Putty => contexts::putty(text, to),
            Place::WebToken => contexts::web_token(text, from, &mut runs),
            Place::Bearer if is_start(text, from) => contexts::bearer(text, to),
            Place::Bearer => None,
            Place::Azure => contexts::azure(text, from),
            Place::Telegram => contexts::telegram(text, from),
            Place::Dot => contexts::discord(text, from).or_else(|| contexts::ably(text, from)),
            Place::Dash => contexts::dashed(text, from),
            Place::Mailchimp => contexts::mailchimp(text, from),
            Place::Twilio => twilio(text, from),
            Place::PgPass => contexts::pgpass(text, from, to),
            Place::Identified => contexts::identified(text, to),
            Place::Writer if is_start(text, from) => piped_passwords::written(text, to),
            Place::Writer => None,
            Place::HereString => piped_passwords::given(text, from),
            // No byte is read twice, also if a text in a row has the form of a statement.
            Place::Insert if from >= inserted => {
                inserted = sql_rows::inserted(text, to, found);
                None
            }
            Place::Insert => None,
            Place::Copy => {
                let copied = sql_rows::copied(text, to).filter(|_| from < decided);
                begin(table, copied, text, from, found);
                None
            }
            Place::SecretKind => {
                yaml::secret_of_kind(text, from..to, found);
                None
            }
            Place::SecretData => {
                yaml::secret_of_data(text, from..to, found);
                None
            }
            Place::SecretObjectKind if read < max => {
                read += secret_objects::of_kind(text, to - 1, found);
                None
            }
            Place::SecretObjectData if read < max => {
                read += secret_objects::of_data(text, from + "data".len(), found);
                None
            }
            // Objects in objects, each of which says that it is a Secret, would be read again and again.
            Place::SecretObjectKind | Place::SecretObjectData => None,
            Place::Statement(row) => statements::after(*row, text, from..to),
        };
        if let Some(secret) = secret {
            found(secret);
        }
    }
    contexts::key_bodies(text, range.start..decided, found);
    if table.as_mut().is_some_and(|table| !table.rows(text, decided, found)) {
        *table = None;
    }
}

/// Ends a table at the start of another one, and finds the secrets in its last rows.
fn begin(
    table: &mut Option<Table>,
    next: Option<Table>,
    text: &[u8],
    at: usize,
    found: &mut impl FnMut(Range<usize>),
) {
    if next.is_some() {
        if let Some(before) = table {
            before.rows(text, at, found);
        }
        *table = next;
    }
}

/// Returns the value that replaces the one in quotes which ends at `at`: `"old" -> "new"`.
fn after_change(text: &[u8], at: usize) -> Option<Range<usize>> {
    let quote = text.get(at).filter(|quote| **quote == b'"');
    let new = value::quoted(text, quote.and_then(|_| replacement(text, at + 1))?)?.range;
    (new.len() >= 4 && !secret_values::is_reference(text.get(new.clone())?)).then_some(new)
}

/// Returns the secret next to the id of a Twilio account.
fn twilio(text: &[u8], at: usize) -> Option<Range<usize>> {
    let id = text.get(at..at + 34)?;
    let is_id = id.starts_with(b"AC")
        && id.iter().skip(2).all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_id && is_start(text, at)).then(|| contexts::beside(text, at + 34, false)).flatten()
}

/// Returns true if a word near before a position begins with a name, in any case of its letters.
fn is_before(text: &[u8], at: usize, name: &[u8]) -> bool {
    let before = text.get(at.saturating_sub(MAX_BEFORE)..at).unwrap_or_default();
    let words = before.split(|byte| !byte.is_ascii_alphabetic());
    words.filter_map(|word| word.get(..name.len())).any(|start| start.eq_ignore_ascii_case(name))
}

/// Returns true if a word begins here, also directly after an escape of JSON or of a URL, or a terminal colour, which
/// end in a letter.
fn is_start(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(24)..at).unwrap_or_default();
    let Some(last) = before.last() else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let is_hex = |part: &[u8]| part.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        _ => escapes::last_end(text, at.saturating_sub(24)..at) == Some(at),
    }
}

/// Finds the secrets in the arguments of a program.
pub(crate) fn in_arguments(words: &[&str], mut found: impl FnMut(usize, Range<usize>)) {
    let Some((first, rest)) = words.split_first() else { return };
    let program = first.rsplit(['/', '\\']).next().unwrap_or(first);
    let rest: Vec<&[u8]> = rest.iter().map(|word| word.as_bytes()).collect();
    commands::in_words(program.as_bytes(), &rest, &mut |at, part| found(at + 1, part));
}
