//! File names: `{tool}_{milliseconds}_{random}.txt`, `….partial.txt` for a part of an output, and `{slug}-{hash}` for
//! the folder of a session.
//!
//! The file name is portable for every name of a tool or a session: no separator, no leading dot, no reserved device
//! name, and short enough for every file system.

use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::util::hex::hex;

const SLUG_BYTES: usize = 48;
/// 36^13 is more than 2^67.
const RANDOM_CHARS: usize = 13;
const HASH_CHARS: usize = 12;
const TEMPORARY_PREFIX: &str = ".spillway_";
const TEMPORARY_SUFFIX: &str = ".tmp";
const SUFFIX: &str = ".txt";
const PARTIAL_SUFFIX: &str = ".partial.txt";
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Turns the name of a tool or session into a part of a file name: `[A-Za-z0-9_-]`, at most 48 bytes, `tool` if nothing
/// remains.
pub fn slug(name: &str) -> String {
    let mut slug: String = name
        .chars()
        .take(SLUG_BYTES)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    if slug.starts_with('-') {
        slug.replace_range(..1, "_");
    }
    if slug.bytes().any(|byte| byte.is_ascii_alphanumeric()) { slug } else { "tool".to_owned() }
}

/// Returns a name for a new output, or for a part of one.
pub fn output(slug: &str, now_ms: u64, is_partial: bool) -> Result<String> {
    let suffix = if is_partial { PARTIAL_SUFFIX } else { SUFFIX };
    Ok(format!("{slug}_{now_ms}_{}{suffix}", random()?))
}

/// Returns a name for a file in progress, for file systems without unnamed files.
pub fn temporary(now_ms: u64) -> Result<String> {
    Ok(format!("{TEMPORARY_PREFIX}{now_ms}_{}{TEMPORARY_SUFFIX}", random()?))
}

/// Returns the folder name of a session. Sessions with equal slugs differ in the hash of the id's UTF-16 units.
pub fn session(id: &[u16]) -> String {
    let bytes: Vec<u8> = id.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let hash = hex(&Sha256::digest(&bytes)[..HASH_CHARS / 2]);
    format!("{}-{hash}", slug(&String::from_utf16_lossy(id)))
}

/// Returns true if [`output`] could have made the name.
pub fn is_output(name: &str) -> bool {
    // From the right, because a tool may be named like one of our files.
    let stem = name.strip_suffix(PARTIAL_SUFFIX).or_else(|| name.strip_suffix(SUFFIX));
    let mut parts = stem.unwrap_or_default().rsplitn(3, '_');
    let (Some(random), Some(time), Some(slug)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    is_random(random) && is_number(time) && is_slug(slug)
}

/// Returns true if the name is that of a part of an output.
pub fn is_partial(name: &str) -> bool {
    name.ends_with(PARTIAL_SUFFIX)
}

/// The name of the tool in the name of an output.
pub fn tool(name: &str) -> &str {
    name.rsplitn(3, '_').nth(2).unwrap_or_default()
}

/// Returns the time of the save in milliseconds since the epoch.
pub fn saved_ms(name: &str) -> i64 {
    let time = name.rsplit('_').nth(1);
    time.and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// Returns true if [`temporary`] could have made the name.
pub fn is_temporary(name: &str) -> bool {
    let inner =
        name.strip_prefix(TEMPORARY_PREFIX).and_then(|rest| rest.strip_suffix(TEMPORARY_SUFFIX));
    inner
        .and_then(|inner| inner.split_once('_'))
        .is_some_and(|(time, random)| is_number(time) && is_random(random))
}

/// Returns true if [`session`] could have made the name.
pub fn is_session(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(slug, hash)| {
        is_slug(slug)
            && hash.len() == HASH_CHARS
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn is_slug(text: &str) -> bool {
    (1..=SLUG_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_number(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM_CHARS && text.bytes().all(|byte| DIGITS.contains(&byte))
}

/// Returns a random part of a name, unpredictable and unique.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(Code::Internal, format!("the system gave no random bytes: {error}"))
    })?;
    let mut number = u128::from_le_bytes(bytes);
    let mut text = String::with_capacity(RANDOM_CHARS);
    for _ in 0..RANDOM_CHARS {
        let digit = usize::try_from(number % 36).unwrap_or(0);
        text.push(char::from(DIGITS[digit]));
        number /= 36;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_tool_names_become_plain_ones() {
        let cases = [
            ("", "tool"),
            ("   ", "tool"),
            ("../../etc/passwd", "______etc_passwd"),
            ("C:\\x", "C__x"),
            (".bashrc", "_bashrc"),
            ("-rf", "_rf"),
            ("a\0b\nc\u{1b}[31m", "a_b_c__31m"),
            ("CON", "CON"),
            ("bash:stream", "bash_stream"),
            ("工具", "tool"),
            ("ｂａｓｈ", "tool"),
            ("__proto__", "__proto__"),
            ("%2e%2e%2f", "_2e_2e_2f"),
            ("$(id)", "__id_"),
        ];
        for (name, expected) in cases {
            assert_eq!(slug(name), expected, "{name:?}");
            for partial in [false, true] {
                let file = output(&slug(name), 1_700_000_000_000, partial).unwrap();
                assert!(is_output(&file) && !file.starts_with('.'), "{file}");
                assert_eq!(is_partial(&file), partial, "{file}");
            }
        }
        assert_eq!(slug(&"x".repeat(100_000)).len(), SLUG_BYTES);
    }

    #[test]
    fn only_our_own_names_are_ours() {
        for name in [
            "notes.txt",
            "bash_1_x.txt",
            "bash__aaaaaaaaaaaaa.txt",
            "bash_1_AAAAAAAAAAAAA.txt",
            "_1_aaaaaaaaaaaaa.txt",
            "a/b_1_aaaaaaaaaaaaa.txt",
            "bash_1_aaaaaaaaaaaaa.part.txt",
            "bash_1_aaaaaaaaaaaaa.partial.partial.txt",
            ".partial.txt",
        ] {
            assert!(!is_output(name), "{name}");
        }
        assert!(is_output("bash_1700000000000_abcdef_1_aaaaaaaaaaaaa.txt"));
        assert_eq!(saved_ms("bash_1_2_1700000000000_aaaaaaaaaaaaa.txt"), 1_700_000_000_000);
        assert!(is_temporary(&temporary(5).unwrap()) && !is_temporary(".spillway_x.tmp"));
    }

    #[test]
    fn sessions_never_meet() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let ids =
            ["a/b", "a_b", "ABC", "abc", "CON", "con", "", &"x".repeat(10_000), "../../outside"];
        let folders: std::collections::HashSet<String> =
            ids.iter().map(|id| session(&units(id)).to_lowercase()).collect();
        assert_eq!(folders.len(), ids.len());
        assert!(ids.iter().all(|id| is_session(&session(&units(id)))));
        assert_ne!(session(&[0xd800]), session(&[0xd801]));
    }

    #[test]
    fn random_parts_do_not_repeat() {
        let names: std::collections::HashSet<String> =
            (0..10_000).map(|_| random().unwrap()).collect();
        assert_eq!(names.len(), 10_000);
    }
}
