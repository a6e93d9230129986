//! Secrets on the standard input of a program that reads a password there: `echo X | sudo -S ls`, `chpasswd <<< me:X`.

use std::ops::Range;

use super::{commands, secret_values, value};

/// Maximum number of bytes that are examined of the program that reads.
const MAX_COMMAND_LENGTH: usize = 192;

/// Programs that keep what they read as a secret, and the words with which they do.
const KEEPERS: [(&[u8], [&[u8]; 2]); 7] = [
    (b"gh", [b"secret", b"set"]),
    (b"docker", [b"secret", b"create"]),
    (b"podman", [b"secret", b"create"]),
    (b"wrangler", [b"secret", b"put"]),
    (b"vercel", [b"env", b"add"]),
    (b"pass", [b"insert", b"insert"]),
    (b"secret-tool", [b"store", b"store"]),
];

/// The form of the secret that a program reads.
#[derive(Debug, Clone, Copy)]
enum Reads {
    Password,
    /// `user:password`
    User,
}

/// Returns the secret that is written into a pipe by the `echo` or `printf` that ends at `at`.
pub(super) fn written(text: &[u8], at: usize) -> Option<Range<usize>> {
    let words = commands::words(text, at, false);
    let end = words.last()?.end;
    let rest = text.get(end..text.len().min(end + MAX_COMMAND_LENGTH))?;
    let gap = rest.iter().take_while(|byte| b"\"' \t\\".contains(byte)).count();
    let (b'|', command) = rest.get(gap..)?.split_first()? else { return None };
    let command = command.split(|byte| b"\r\n;|&)`".contains(byte)).next()?;
    let reads = reads(command)?;
    let is_option = |word: &Range<usize>| text.get(word.start) == Some(&b'-');
    let mut given = words.into_iter().skip_while(is_option);
    let mut secret = given.next()?;
    // `printf '%s\n' X`
    if text.get(secret.clone())?.contains(&b'%')
        && let Some(next) = given.next()
    {
        secret = next;
    }
    if given.next().is_some() {
        return None;
    }
    part(text, secret, reads)
}

/// Returns the secret after the `<<<` that is at `at`.
pub(super) fn given(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(at.saturating_sub(MAX_COMMAND_LENGTH)..at)?;
    let command = before.rsplit(|byte| b"\r\n;|&(`".contains(byte)).next()?;
    let reads = reads(command)?;
    let from = at + 3;
    let gap = text.get(from..)?.iter().take(8).take_while(|byte| **byte == b' ').count();
    let word =
        value::quoted(text, from + gap).or_else(|| value::bare(text, from + gap, false))?.range;
    part(text, word, reads)
}

/// Returns what a command reads from its standard input, if that is a secret.
fn reads<'a>(command: &'a [u8]) -> Option<Reads> {
    // The command can end with the text that holds it: `"… --password-stdin\n"`.
    let unquoted = |word: &'a [u8]| word.split(|byte| b"\\\"'".contains(byte)).next();
    let words = command.split(u8::is_ascii_whitespace).filter_map(unquoted);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).take(16).collect();
    let has = |wanted: &[u8]| words.contains(&wanted);
    let runs = |name: &[u8]| {
        words.iter().take(4).any(|word| word.rsplit(|byte| *byte == b'/').next() == Some(name))
    };
    let is_group = |word: &&&[u8]| word.starts_with(b"-") && !word.starts_with(b"--");
    let asks_sudo = || {
        let mut options = words.iter().skip(1).take_while(|word| word.starts_with(b"-"));
        options.any(|word| *word == b"--stdin" || is_group(&word) && word.contains(&b'S'))
    };
    if runs(b"chpasswd") {
        return Some(Reads::User);
    }
    let keeps_secret =
        || KEEPERS.iter().any(|(name, words)| runs(name) && words.iter().all(|word| has(word)));
    let is_reader = has(b"--password-stdin")
        || keeps_secret()
        || has(b"--with-token")
        || words.first().is_some_and(|word| word.ends_with(b"sudo")) && asks_sudo()
        || runs(b"passwd") && has(b"--stdin")
        || runs(b"cryptsetup")
        || runs(b"kinit")
        || runs(b"smbpasswd") && has(b"-s")
        || runs(b"op") && has(b"signin");
    is_reader.then_some(Reads::Password)
}

fn part(text: &[u8], word: Range<usize>, reads: Reads) -> Option<Range<usize>> {
    let bytes = text.get(word.clone())?;
    let end = bytes.strip_suffix(b"\\n").map_or(bytes.len(), <[u8]>::len);
    let from = match reads {
        Reads::Password => 0,
        Reads::User => bytes.iter().position(|byte| *byte == b':')? + 1,
    };
    let secret = bytes.get(from..end)?;
    let is_secret =
        secret.len() >= 4 && !secret.starts_with(b"$") && !secret_values::is_reference(secret);
    is_secret.then_some(word.start + from..word.start + end)
}
