//! Secrets among the operands of commands, which no option names: `net user me X`, `htpasswd -b file me X`, `rclone
//! obscure X`.

use std::ops::Range;

use super::secret_names::is_secret_name;
use super::secret_values;

/// The index of the secret operand, from 0; options are not counted.
#[derive(Debug, Clone, Copy)]
enum Place {
    At(usize),
    /// The last of at least this number.
    Last(usize),
    /// The only one.
    Only,
    /// The one after a name of a secret at this place.
    NamedAt(usize),
    /// The part of the first one between `/` and `@`.
    BehindSlash,
    /// The one after the name of a share of Windows.
    BehindShare,
    /// The last one, after a setting of an account whose name begins in one of these ways.
    Setting(&'static str),
    /// The part after the colon of the last one.
    BehindColon,
}

struct Row {
    programs: &'static str,
    /// The operands that come first, such as `user` of `net user`.
    first: &'static str,
    /// Options with a value in the next word.
    valued: &'static str,
    /// A letter that a group of options must have, as in `-nbB`.
    flag: Option<u8>,
    place: Place,
}

const fn row(programs: &'static str, first: &'static str, place: Place) -> Row {
    Row { programs, first, valued: "", flag: None, place }
}

static ROWS: &[Row] = &[
    row("net net.exe", "user", Place::At(2)),
    row("net net.exe", "use", Place::BehindShare),
    Row { valued: "-C -r", flag: Some(b'b'), ..row("htpasswd", "", Place::Last(2)) },
    row("rclone", "obscure", Place::At(1)),
    Row { valued: "-salt -in", ..row("openssl", "passwd", Place::At(1)) },
    Row { valued: "-m -S -R -P", ..row("mkpasswd", "", Place::At(0)) },
    row("wpa_passphrase", "", Place::At(1)),
    row("bitcoin-cli", "walletpassphrase", Place::At(1)),
    row("ansible-vault", "encrypt_string", Place::At(1)),
    row("bw", "unlock", Place::At(1)),
    row("bw", "login", Place::At(2)),
    Row { valued: "--registry", ..row("cargo", "login", Place::At(1)) },
    row("ngrok", "authtoken", Place::At(1)),
    row("ngrok", "config add-authtoken", Place::At(2)),
    row("mc mcli", "alias set", Place::At(5)),
    row("git", "config", Place::NamedAt(1)),
    Row { valued: "-h -p -n -s", ..row("redis-cli valkey-cli", "auth", Place::Last(2)) },
    row("requirepass masterauth", "", Place::Only),
    row("ConvertTo-SecureString", "", Place::At(0)),
    row("sqlplus", "", Place::BehindSlash),
    row("snyk", "auth", Place::At(1)),
    row("vault", "operator unseal", Place::At(2)),
    row("grafana-cli", "admin reset-admin-password", Place::At(2)),
    row("grafana", "cli admin reset-admin-password", Place::At(3)),
    row("poetry", "config", Place::Setting("http-basic. pypi-token.")),
    row(
        "composer",
        "config",
        Place::Setting("http-basic. bearer. github-oauth. gitlab- bitbucket-oauth."),
    ),
    row("bundle bundler", "config", Place::BehindColon),
];

/// Returns the names of all programs in any order.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|row| row.programs.split(' '))
}

/// Finds the secrets in the operands of a program: the index of the argument, and the range within it.
pub(super) fn in_words(
    program: &[u8],
    words: &[&[u8]],
    found: &mut impl FnMut(usize, Range<usize>),
) {
    let rows = ROWS.iter().filter(|row| {
        row.programs.split(' ').any(|name| name.as_bytes().eq_ignore_ascii_case(program))
    });
    for row in rows {
        if let Some((at, part)) = row.secret(program, words) {
            found(at, part);
        }
    }
}

impl Row {
    fn secret(&self, program: &[u8], words: &[&[u8]]) -> Option<(usize, Range<usize>)> {
        let has_flag = |flag: u8| {
            words.iter().any(|word| {
                word.starts_with(b"-") && !word.starts_with(b"--") && word.contains(&flag)
            })
        };
        if self.flag.is_some_and(|flag| !has_flag(flag)) {
            return None;
        }
        let operands = self.operands(program, words);
        let is_first = |(at, wanted): (usize, &str)| {
            operands
                .get(at)
                .and_then(|at| words.get(*at))
                .is_some_and(|word| word.eq_ignore_ascii_case(wanted.as_bytes()))
        };
        if !self.first.split_terminator(' ').enumerate().all(is_first) {
            return None;
        }
        let at = match self.place {
            Place::At(count) => operands.get(count),
            Place::Last(min) => operands.last().filter(|_| operands.len() >= min),
            Place::Only => operands.first().filter(|_| operands.len() == 1),
            Place::NamedAt(count) => operands.get(count + 1).filter(|_| {
                let name = operands.get(count).and_then(|at| words.get(*at));
                name.and_then(|name| std::str::from_utf8(name).ok()).is_some_and(is_secret_name)
            }),
            Place::BehindSlash => operands.first(),
            Place::BehindColon => operands.last().filter(|_| operands.len() > 2),
            Place::Setting(starts) => {
                let name = operands.get(1).and_then(|at| words.get(*at))?;
                let is_account = starts.split(' ').any(|start| name.starts_with(start.as_bytes()));
                operands.last().filter(|_| is_account && operands.len() > 2)
            }
            Place::BehindShare => {
                let is_share = |at: &usize| {
                    words.get(*at).is_some_and(|word| word.trim_ascii().starts_with(b"\\\\"))
                };
                operands.iter().position(is_share).and_then(|share| operands.get(share + 1))
            }
        };
        let at = *at?;
        let word = *words.get(at)?;
        let part = match self.place {
            Place::BehindSlash => {
                let slash = word.iter().position(|byte| *byte == b'/').filter(|at| *at > 0)?;
                let end = word.iter().rposition(|byte| *byte == b'@').unwrap_or(word.len());
                slash + 1..end
            }
            Place::BehindColon => {
                let colon = word.iter().position(|byte| *byte == b':').filter(|at| *at > 0)?;
                // An address.
                (word.get(colon + 1) != Some(&b'/')).then_some(colon + 1..word.len())?
            }
            _ => 0..word.len(),
        };
        let secret = word.get(part.clone())?;
        let is_secret =
            secret.len() >= 4 && !secret.starts_with(b"$") && !secret_values::is_reference(secret);
        is_secret.then_some((at, part))
    }

    /// Returns the places of the operands. Programs of Windows have options that begin with a slash.
    fn operands(&self, program: &[u8], words: &[&[u8]]) -> Vec<usize> {
        let has_slashes = program.get(..3).is_some_and(|name| name.eq_ignore_ascii_case(b"net"));
        let mut is_value = false;
        let mut operands = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let is_option = word.starts_with(b"-") || (has_slashes && word.starts_with(b"/"));
            if !is_option && !is_value {
                operands.push(at);
            }
            is_value = is_option && self.valued.split(' ').any(|option| option.as_bytes() == *word);
        }
        operands
    }
}
