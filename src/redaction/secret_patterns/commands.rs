//! Secrets in arguments of commands whose options do not name them as secrets: `mysql -pX`, `curl -u me:X`.

use std::ops::Range;

use super::operands;
use super::plain_words::is_plain_word;
use super::secret_names::Kind;
use super::secret_values::{self, Form};
use super::value;

/// The part of an argument that is secret.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// The whole next argument.
    Next,
    /// The text attached to the option, `-pX`.
    Attached,
    /// The text after the colon of `user:password`, attached or in the next argument.
    AfterColon,
    /// The text after this byte of `user%password` or `user,password`.
    After(u8),
    /// The text after the first `=` of `name=value; name=value`.
    Cookies,
    /// The text after `=` of `name=value`.
    Assigned,
    /// The text after `pass:`.
    Source,
    /// The argument at this position after the option's word.
    Place(usize),
}

struct Row {
    programs: &'static str,
    /// An argument that must be present, such as `login`.
    word: &'static str,
    options: &'static str,
    part: Part,
}

const fn row(programs: &'static str, word: &'static str, options: &'static str, part: Part) -> Row {
    Row { programs, word, options, part }
}

static ROWS: &[Row] = &[
    row(
        "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlsh mysqlshow mycli mariadb mariadb-dump mariadb-admin",
        "",
        "-p",
        Part::Attached,
    ),
    row("curl", "", "-u --user -U --proxy-user", Part::AfterColon),
    row("curl", "", "-E --cert --proxy-cert", Part::AfterColon),
    row("curl", "", "-b --cookie", Part::Cookies),
    row("curl", "", "--oauth2-bearer", Part::Next),
    row("http https xh wget", "", "-a --auth", Part::AfterColon),
    row("etcdctl", "", "--user", Part::AfterColon),
    row("redis-cli valkey-cli", "", "-a --pass", Part::Next),
    row("sshpass", "", "-p", Part::Attached),
    row(
        "sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh clickhouse-client influx cypher-shell \
         rabbitmqadmin steghide ncftp ncftpput ncftpget psexec psexec64 psexec.exe psexec64.exe",
        "",
        "-p",
        Part::Next,
    ),
    row("docker podman nerdctl buildah skopeo helm az oc crane heroku", "login", "-p", Part::Next),
    row("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", "", "-w", Part::Next),
    row("sqlcmd bcp isql", "", "-P", Part::Next),
    row("smbclient smbmap rpcclient net winexe wmic", "", "-U --user", Part::After(b'%')),
    row("lftp", "", "-u --user", Part::After(b',')),
    row("7z 7za 7zz rar unrar", "", "-p -hp", Part::Attached),
    row("zip unzip", "", "-P", Part::Next),
    row("openssl", "", "-pass -passin -passout", Part::Source),
    row("openssl", "", "-k -K", Part::Next),
    row("keytool", "", "-new", Part::Next),
    row("qpdf", "", "--encrypt", Part::Place(1)),
    row("qpdf", "", "--encrypt", Part::Place(2)),
    row("pdftk", "", "user_pw owner_pw input_pw", Part::Next),
    row("pdftotext pdftoppm pdftocairo pdfimages pdfinfo", "", "-upw -opw", Part::Next),
    row("az", "keyvault", "--value", Part::Next),
    row("poetry", "publish", "-p", Part::Next),
    row("jenkins-cli jenkins-cli.jar", "", "-auth", Part::AfterColon),
    row("vault", "put", "", Part::Assigned),
    row("fly flyctl supabase doppler infisical", "secrets", "", Part::Assigned),
    row("xfreerdp wfreerdp", "", "/p:", Part::Attached),
    row("rdesktop evil-winrm vncviewer", "", "-p", Part::Next),
    row("rabbitmqctl", "", "add_user change_password", Part::Place(2)),
    row("vault", "", "login", Part::Place(1)),
    row("ssh-keygen", "", "-N -P", Part::Next),
    row("useradd usermod", "", "-p", Part::Next),
    row("security", "add-generic-password", "-w", Part::Next),
    row("security", "add-internet-password", "-w", Part::Next),
    row("security", "unlock-keychain", "-p", Part::Next),
    row("security", "create-keychain", "-p", Part::Next),
    row("pulumi", "", "--secret", Part::Place(2)),
    row("schtasks", "", "/rp", Part::Next),
    row("signtool", "", "/p", Part::Next),
    row("snmpget snmpset snmpwalk snmpbulkget snmpbulkwalk snmptrap", "", "-A -X -c", Part::Next),
    row("mosquitto_pub mosquitto_sub mosquitto_rr", "", "-P --pw", Part::Next),
    row("plink pscp psftp putty", "", "-pw", Part::Next),
    row("gem", "push", "-k --key", Part::Next),
    row("ipmitool", "", "-P", Part::Next),
    row("twine", "", "-p", Part::Next),
    row("dotnet", "nuget", "-k", Part::Next),
    row("gh", "secret", "-b --body", Part::Next),
    row("gh", "secret", "-b", Part::Attached),
    row("kubectl oc", "secret", "--from-literal", Part::After(b'=')),
    row("nmcli", "", "password", Part::Next),
    row("rclone", "config", "pass password", Part::Next),
    row("ConvertTo-SecureString", "", "-String", Part::Next),
];

/// Returns the names of all programs in any order.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|row| row.programs.split(' ')).chain(operands::programs())
}

/// Finds the secrets in the arguments of the program whose name is at `name`, up to the end of its command.
pub(super) fn in_text(text: &[u8], name: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    let before = text.get(name.start.saturating_sub(2)..name.start).unwrap_or_default();
    // A line that a change removes: `-mysql -pX`.
    let is_removed = matches!(before, [b'-'] | [b'\n', b'-']);
    let before = before.last().copied().unwrap_or(b' ');
    let after = text.get(name.end).copied().unwrap_or(b'\n');
    if before.is_ascii_alphanumeric()
        || matches!(before, b'_' | b'-' | b'.') && !is_removed
        || !matches!(after, b' ' | b'\t' | b'"' | b'\'' | b'\\')
    {
        return;
    }
    let Some(program) = text.get(name.clone()) else { return };
    let is_list = matches!(after, b'"' | b'\'');
    let words = words(text, name.end + usize::from(is_list), is_list);
    let given: Vec<&[u8]> = words.iter().filter_map(|word| text.get(word.clone())).collect();
    in_words(program, &given, &mut |word, part| {
        if let Some(place) = words.get(word) {
            found(place.start + part.start..place.start + part.end);
        }
    });
}

/// Splits the arguments of a command, or of a list such as `["mysql", "-pX"]`.
pub(super) fn words(text: &[u8], at: usize, is_list: bool) -> Vec<Range<usize>> {
    const MAX: usize = 64;
    let mut words = Vec::new();
    let limit = text.len().min(at + 4096);
    let mut at = at;
    while at < limit && words.len() < MAX {
        match text.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b',' | b'\n' | b'\r') if is_list => at += 1,
            Some(b'\\') if matches!(text.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            None | Some(b'\n' | b'\r' | b';' | b'|' | b')' | b'`' | b']' | b'}' | b'<' | b'>') => {
                break;
            }
            Some(_) => {
                let word = value::quoted(text, at).filter(|word| word.end <= limit);
                let word = match word {
                    Some(word) if is_list => word,
                    Some(word) => {
                        joined(text, &word).filter(|word| word.end <= limit).unwrap_or(word)
                    }
                    None if is_list => break,
                    None => {
                        let rest = text.get(at..limit).unwrap_or_default();
                        let length = rest
                            .iter()
                            .position(|byte| byte.is_ascii_whitespace() || b"\"';|`".contains(byte))
                            .unwrap_or(rest.len());
                        // `-p'password'`, `--user='me:password'` and `me:'password'`
                        let last = length.checked_sub(1).and_then(|last| rest.get(last));
                        let is_option = rest.first() == Some(&b'-');
                        if matches!(text.get(at + length), Some(b'"' | b'\''))
                            && (is_option && (length == 2 || last == Some(&b'='))
                                || last == Some(&b':'))
                            && let Some(value) = value::quoted(text, at + length)
                        {
                            words.push(at..value.range.end);
                            at = value.end;
                            continue;
                        }
                        if length == 0 {
                            break;
                        }
                        value::Value { range: at..at + length, end: at + length }
                    }
                };
                at = word.end;
                words.push(word.range);
            }
        }
    }
    words
}

/// Returns a word in quotes with the one that follows it after a colon: `"me":"password"`.
fn joined(text: &[u8], word: &value::Value) -> Option<value::Value> {
    let next = value::quoted(text, word.end + 1).filter(|_| text.get(word.end) == Some(&b':'))?;
    Some(value::Value { range: word.range.start..next.range.end, end: next.end })
}

/// Finds the secrets in the arguments of a program: the index of the argument, and the range within it.
pub(super) fn in_words(
    program: &[u8],
    words: &[&[u8]],
    found: &mut impl FnMut(usize, Range<usize>),
) {
    operands::in_words(program, words, found);
    let rows = ROWS.iter().filter(|row| {
        row.programs.split(' ').any(|name| name.as_bytes().eq_ignore_ascii_case(program))
    });
    for Row { word, options, part, .. } in rows {
        if !word.is_empty() && !words.iter().take(4).any(|given| *given == word.as_bytes()) {
            continue;
        }
        for option in options.split(' ') {
            let first = option.as_bytes().first();
            for (at, given) in words.iter().enumerate() {
                if first.is_some_and(|first| given.first() != Some(first)) {
                    continue;
                }
                let letter = option.as_bytes().get(1..).unwrap_or_default();
                let bundled = given.strip_suffix(letter).filter(|before| {
                    matches!((before, *part), ([b'-', letters @ ..], Part::AfterColon)
                        if option.len() == 2 && letters.iter().all(u8::is_ascii_alphabetic))
                });
                let Some(rest) = given.strip_prefix(option.as_bytes()).or(bundled.map(|_| &[][..]))
                else {
                    continue;
                };
                let next = words.get(at + 1).copied().unwrap_or_default();
                let is_long =
                    option.len() > 2 && option.starts_with('-') && !matches!(part, Part::Attached);
                let attached = if is_long {
                    rest.strip_prefix(b"=")
                } else {
                    Some(rest).filter(|rest| !rest.is_empty())
                };
                let (place, value) = match (*part, attached) {
                    (Part::Place(count), _) if rest.is_empty() => {
                        (at + count, words.get(at + count).copied().unwrap_or_default())
                    }
                    (Part::Place(_), _) | (Part::Attached, None) => continue,
                    (Part::Next, Some(_)) if !is_long => continue,
                    (_, Some(value)) => (at, value),
                    (_, None) if rest.is_empty() => (at + 1, next),
                    _ => continue,
                };
                let skipped = words.get(place).map_or(0, |word| word.len() - value.len());
                if let Some(secret) = secret_in(*part, value) {
                    found(place, skipped + secret.start..skipped + secret.end);
                }
            }
        }
    }
}

/// Returns true for a text that a machine made.
fn is_key(value: &[u8]) -> bool {
    secret_values::is_hex(value)
        || secret_values::is_entropic(value)
            && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
}

/// Returns true for `user:password` of a manual.
fn is_example(value: &[u8]) -> bool {
    let parts = std::str::from_utf8(value).ok().and_then(|text| text.split_once(':'));
    parts.is_some_and(|(user, password)| {
        matches!(user, "user" | "username" | "login" | "name")
            && (password == "pass" || is_plain_word(password))
    })
}

fn secret_in(part: Part, value: &[u8]) -> Option<Range<usize>> {
    if let [b'"' | b'\'', inner @ ..] = value {
        return secret_in(part, inner).map(|range| range.start + 1..range.end + 1);
    }
    let from = |separator: u8| value.iter().position(|byte| *byte == separator).map(|at| at + 1);
    // The password can have quotes of its own: `me:"password"`.
    let quote = |from: usize| usize::from(matches!(value.get(from), Some(b'"' | b'\'')));
    let range = match part {
        Part::Next | Part::Attached | Part::Place(_) => 0..value.len(),
        // A key in place of the user has no password: `key:`.
        Part::AfterColon if value.strip_suffix(b":").is_some_and(is_key) => 0..value.len() - 1,
        Part::AfterColon => from(b':').map(|from| from + quote(from))?..value.len(),
        Part::After(separator) => from(separator)?..value.len(),
        Part::Cookies => from(b'=')?..value.len(),
        Part::Assigned => from(b'=').filter(|_| value.first() != Some(&b'-'))?..value.len(),
        Part::Source => value.starts_with(b"pass:").then_some(5..value.len())?,
    };
    let secret = value.get(range.clone())?;
    // A path of Windows.
    if matches!(part, Part::AfterColon) && range.start == 2 && secret.starts_with(b"\\") {
        return None;
    }
    if matches!(part, Part::AfterColon) && is_example(value) {
        return None;
    }
    let is_secret = secret.len() >= 3
        && !secret.trim_ascii_start().starts_with(b"-")
        && !secret_values::is_reference(secret);
    if matches!(part, Part::Assigned) {
        // Nothing says which of the values are secrets.
        let is_strong = secret_values::is_secret(Kind::Secret, Form::Call, secret, false, false);
        return (is_secret && is_strong && !secret.starts_with(b"@")).then_some(range);
    }
    (is_secret && !value.starts_with(b"$")).then_some(range)
}
