//! Secrets after a phrase: statements of Redis, SQL and PHP, commands that print a password, short codes and signatures
//! of addresses.

use std::ops::Range;

use super::before_value::{lines, literal};
use super::contexts::run;
use super::plain_words::is_plain_word;
use super::secret_names::{Kind, kind_of};
use super::secret_values::{self, Form};
use super::shapes::uuid_end;
use super::value;
use super::{MAX_BEFORE, is_start};

/// Maximum number of bytes around a phrase that are looked at.
const AROUND: usize = 128;

/// Maximum number of bytes of a value that is to be masked.
const MAX_MASKED_LENGTH: usize = 4096;

type Find = fn(&[u8], Range<usize>) -> Option<Range<usize>>;

/// Phrases with bars between them, and what finds the secret after one of them. Many short texts would need as many addresses in
/// the binary.
const ROWS: &[(&str, Find)] = &[
    ("auth ", redis_auth),
    (" on >| on '>| on \">", redis_user),
    ("password for |password is generated for ", password_of),
    ("define(", defined),
    ("password-command|passcommand", printed),
    ("?sig=|&sig=|client_assertion=|sonar.login=", signature),
    (
        "pin: |pin=|pin\":|pin is |pin code: |otp: |otp=|otp\":|otp is |otp code: |\
         verification code: |verification code is ",
        code,
    ),
    ("recovery code: ", recovery_code),
    ("secretid|secret_id|secret id", secret_id),
    ("@tcp(|@unix(", before_host),
    ("::add-mask::|##[add-mask]|issecret=true]", masked),
    ("securestring", secure),
    ("userpwd", of_user),
    ("login: |logins: |credentials: |creds: |user/pass: |username/password: ", of_login),
    ("?code=|&code=", granted),
    ("unseal key |recovery key ", numbered),
    ("seed phrase: |recovery phrase: |mnemonic: |mnemonic phrase: |seed words: ", seed),
    ("backup codes: |recovery codes: |scratch codes: ", codes),
    (
        "with password |password is set to |password set to |password 0 |password 7 |secret 0 |\
         secret 9 |rocommunity |rwcommunity |rocommunity6 |rwcommunity6 |key 0 |key 7 |snmp-server community |pre-shared-key |bindpw |rootpw |: eap \"|\
         : xauth \"",
        directive,
    ),
    (";pwd=|;password={|pwd={", of_odbc),
    ("type=\"password\"|type='password'|type=password|type=\\\"password\\\"", of_input),
    ("form-data; name=", of_form),
    ("password to proceed to installation:", of_installation),
    ("okta", okta),
    ("send \"|send \\\"", sent),
    (
        "$1$|$5$|$6$|$y$|$2a$|$2b$|$2y$|$apr1$|$argon2|pbkdf2_sha|{ssha|{sha|{smd5}|{md5}|{crypt}",
        hashed,
    ),
    (
        "\"d\"|\"d\\\"|\"k\"|\"k\\\"|\"p\"|\"p\\\"|\"q\"|\"q\\\"|\"dp\"|\"dp\\\"|\"dq\"|\"dq\\\"|\
         \"qi\"|\"qi\\\"",
        web_key,
    ),
    (
        "basicauth(|basic_auth(|digestauth(|ntlmauth(|userpassword(|networkcredential(|\
         awscredentials(|staticcredentials(|staticcredentialsprovider(|passwordcredential(|\
         passwordcredentials(|passwordauthentication(|plaincredentials(|basiccredentials(|\
         credentials.basic(|db.auth(|.login(|jwt.sign(|jwt.verify(|jwt.encode(|jwt.decode(|\
         createhmac(|pgp_sym_encrypt(|pgp_sym_decrypt(|aes_encrypt(|aes_decrypt(|cx_oracle.connect(|oracledb.connect(|oci_connect(",
        second_argument,
    ),
    (
        "plainauth(|getconnection(|mysqli_connect(|mysql_connect(|mysql_pconnect(|mysqldb.connect(|\
         pymysql.connect(|odbc_connect(|db2_connect(|new sequelize(|->real_connect(|mysqli(|new pdo(|\
         ftp_login(|imap_open(|ldap_bind(|ssh2_auth_password(",
        third_argument,
    ),
];

/// Returns all phrases, each with its row.
pub(super) fn phrases() -> impl Iterator<Item = (&'static str, usize)> {
    let rows = ROWS.iter().enumerate();
    rows.flat_map(|(row, (phrases, _))| phrases.split('|').map(move |phrase| (phrase, row)))
}

/// Returns the secret after a phrase.
pub(super) fn after(row: usize, text: &[u8], phrase: Range<usize>) -> Option<Range<usize>> {
    let (_, find) = ROWS.get(row)?;
    find(text, phrase)
}

/// Returns the text of the line before a position, and the one after another.
fn line(text: &[u8], at: &Range<usize>) -> Option<(Vec<u8>, Range<usize>)> {
    let before = text.get(at.start.saturating_sub(AROUND)..at.start)?;
    let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = text.get(at.end..text.len().min(at.end + AROUND))?;
    let end = at.end + run(rest, |byte| byte != b'\n' && byte != b'\r');
    Some((before.get(begin..)?.to_ascii_lowercase(), at.end..end))
}

fn is_of_value(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`;,)(<>|".contains(&byte)
}

/// Returns a word that can be a secret.
fn word(text: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..text.len().min(from + AROUND))?;
    let length = run(rest, is_of_value);
    let bytes = rest.get(..length)?;
    let is_hidden = bytes.iter().all(|byte| *byte == b'*');
    (length >= 4 && !is_hidden && !secret_values::is_reference(bytes))
        .then_some(from..from + length)
}

fn has_digit(text: &[u8], range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|bytes| bytes.iter().any(u8::is_ascii_digit))
}

/// The value that a job tells its runner to mask: the rest of the line, or of the quoted text.
fn masked(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + MAX_MASKED_LENGTH))?;
    let length = run(rest, |byte| !b"\"'`\r\n".contains(&byte));
    let bytes = rest.get(..length)?;
    let escape = bytes.windows(2).position(|pair| matches!(pair, b"\\n" | b"\\r"));
    let bytes = bytes.get(..escape.unwrap_or(length))?;
    let bytes = bytes.strip_suffix(b"\\").unwrap_or(bytes).trim_ascii_end();
    let is_word = std::str::from_utf8(bytes).is_ok_and(is_plain_word);
    let is_hidden = bytes.iter().all(|byte| *byte == b'*');
    (bytes.len() >= 3 && !is_hidden && !is_word && !secret_values::is_reference(bytes))
        .then_some(at.end..at.end + bytes.len())
}

/// `AUTH PASSWORD` and `AUTH USER PASSWORD`, alone in a line or after a prompt.
fn redis_auth(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let (before, rest) = line(text, &at)?;
    let before = before.trim_ascii_end();
    let is_command = text.get(at.start..at.start + 4) == Some(b"AUTH")
        && (before.is_empty() || before.ends_with(b">") || before.ends_with(b"redis-cli"));
    let words = text.get(rest.clone())?.trim_ascii_end();
    let spaces = words.iter().filter(|byte| **byte == b' ').count();
    let last = words.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let secret = word(text, rest.start + last)?;
    (is_command && spaces < 2 && secret.len() >= 6 && has_digit(text, &secret)).then_some(secret)
}

/// `ACL SETUSER name on >PASSWORD`, and the same in a file of users.
fn redis_user(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let (before, _) = line(text, &at)?;
    let is_user = before.starts_with(b"user ")
        || before.windows(8).any(|part| part.eq_ignore_ascii_case(b"setuser "));
    word(text, at.end).filter(|_| is_user)
}

/// `set password for root = 'PASSWORD'`, `Password for root: PASSWORD`.
fn password_of(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let (_, rest) = line(text, &at)?;
    let words = text.get(rest.clone())?;
    // The port of a host, and the `:` of a prompt, have no space after them.
    let name = run(words, |byte| !matches!(byte, b'=' | b':' | b'<'));
    let sign = *words.get(name).filter(|sign| **sign != b'<')?;
    let gap = run(words.get(name + 1..)?, |byte| byte == b' ');
    let from = rest.start + name + 1 + gap;
    if let Some(quoted) = value::quoted(text, from) {
        let is_text = text.get(quoted.range.start) != Some(&b' ');
        return Some(quoted.range).filter(|range| is_text && range.len() >= 4);
    }
    let secret = word(text, from)?;
    let after = text.get(secret.end..rest.end)?.trim_ascii();
    let is_alone = after.is_empty() || after == b";";
    (is_alone && gap > 0 && (sign == b'=' || has_digit(text, &secret))).then_some(secret)
}

/// `define('DB_PASSWORD', 'PASSWORD')` of PHP.
fn defined(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let skip = |from: usize| {
        let rest = text.get(from..text.len().min(from + AROUND))?;
        Some(from + run(rest, |byte| byte == b' ' || byte == b'\t'))
    };
    let name = value::quoted(text, skip(at.end)?)?.range;
    let named = text.get(name.clone())?;
    let ends: [&[u8]; 6] = [b"PASSWORD", b"_KEY", b"_SALT", b"SECRET", b"TOKEN", b"_PASS"];
    let comma = skip(name.end + 1)?;
    if !ends.iter().any(|end| named.ends_with(end)) || text.get(comma) != Some(&b',') {
        return None;
    }
    let secret = value::quoted(text, skip(comma + 1)?)?.range;
    let bytes = text.get(secret.clone())?;
    (bytes.len() >= 4 && !secret_values::is_reference(bytes)).then_some(secret)
}

/// `--password-command 'echo PASSWORD'`.
fn printed(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let (_, rest) = line(text, &at)?;
    let words = text.get(rest.clone())?;
    let after = |printer: &[u8]| {
        let at = words.windows(printer.len()).take(16).position(|part| part == printer)?;
        Some(rest.start + at + printer.len())
    };
    word(text, after(b"echo ").or_else(|| after(b"printf "))?)
}

/// The value of a parameter of AWS or Azure whose type says that it is secret, in an object, or in a command where it can
/// also come first.
fn secure(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const NAMES: [&[u8]; 4] = [b"--value", b"\"value", b"\"Value", b"\"defaultValue"];
    let (before, rest) = line(text, &at)?;
    let after = text.get(at.end..text.len().min(at.end + AROUND))?;
    let named = |words: &[u8], name: &[u8]| {
        let found = words.windows(name.len()).position(|part| part == name)? + name.len();
        let gap = run(words.get(found..)?, |byte| b"\\\": =\n\t".contains(&byte));
        (gap > 0).then_some(found + gap)
    };
    let is_command = text.get(at.end).is_none_or(|byte| !b"\\\"'".contains(byte));
    let from = if is_command {
        let start = at.start - before.len();
        named(&before, NAMES[0])
            .map(|from| start + from)
            .or_else(|| named(text.get(rest)?, NAMES[0]).map(|from| at.end + from))?
    } else {
        let object = after.get(..run(after, |byte| !b"{}".contains(&byte)))?;
        NAMES.iter().skip(1).find_map(|name| named(object, name)).map(|from| at.end + from)?
    };
    let quotes = usize::from(is_command && matches!(text.get(from), Some(b'"' | b'\'')));
    word(text, from + quotes).filter(|secret| secret.len() >= 4)
}

/// `Unseal Key 1: KEY`
fn numbered(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + AROUND))?;
    let digits = run(rest, |byte| byte.is_ascii_digit());
    let is_number = digits > 0 && rest.get(digits..digits + 2) == Some(b": ");
    let secret = word(text, at.end + digits + 2).filter(|_| is_number)?;
    (secret.len() >= 20 && has_digit(text, &secret)).then_some(secret)
}

/// The words of a wallet: 12 to 24, none of which makes a sentence.
fn seed(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
    const OTHERS: [&[u8]; 11] =
        [b"the", b"a", b"of", b"to", b"and", b"is", b"are", b"in", b"your", b"for", b"with"];
    let rest = text.get(at.end..text.len().min(at.end + 2 * AROUND))?;
    let words = rest.get(..run(rest, |byte| byte.is_ascii_lowercase() || byte == b' '))?;
    let words = words.trim_ascii_end();
    let is_word = |word: &[u8]| (3..=8).contains(&word.len()) && !OTHERS.contains(&word);
    let count = words.split(|byte| *byte == b' ').filter(|word| is_word(word)).count();
    let all = words.split(|byte| *byte == b' ').count();
    (count == all && COUNTS.contains(&count)).then_some(at.end..at.end + words.len())
}

/// Codes for a second factor, which are used once each.
fn codes(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + 2 * AROUND))?;
    let is_of_code = |byte: u8| byte.is_ascii_alphanumeric() || b"-, ".contains(&byte);
    let codes = rest.get(..run(rest, is_of_code))?.trim_ascii_end();
    let mut words = codes.split(|byte| b", ".contains(byte)).filter(|word| !word.is_empty());
    let is_code = |word: &[u8]| word.len() >= 6 && word.iter().any(u8::is_ascii_digit);
    (!codes.is_empty() && words.all(is_code)).then_some(at.end..at.end + codes.len())
}

/// A password after the words of a configuration or a message. It has digits and letters, unlike what else can follow.
fn directive(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + 2))?;
    let secret = word(text, at.end + run(rest, |byte| matches!(byte, b'"' | b'\'')))?;
    let bytes = text.get(secret.clone())?;
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    let is_mixed =
        bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic);
    let is_secret = secret_values::is_secret(Kind::Password, Form::Call, bytes, false, false);
    (is_start(text, at.start) && is_mixed && is_secret)
        .then_some(secret.start..secret.start + bytes.len())
}

/// A text that a script of `expect` sends after it has seen a question for a password: `send "PASSWORD\r"`.
fn sent(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(at.start.saturating_sub(AROUND)..at.start)?;
    let asks = |word: &[u8]| before.windows(word.len()).any(|part| part == word);
    let secret = word(text, at.end).filter(|_| asks(b"assword") || asks(b"assphrase"))?;
    let bytes = text.get(secret.clone())?;
    let length = run(bytes, |byte| byte != b'\\');
    let is_text = length >= 4 && bytes.first() != Some(&b'$') && length < bytes.len();
    is_text.then_some(secret.start..secret.start + length)
}

/// The hash of a password as `crypt`, LDAP and Django keep it, with its salt.
fn hashed(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const MIN_LENGTH: usize = 16;
    /// Number of `$` in a hash of Argon2, which has most.
    const MAX_PARTS: usize = 5;
    let rest = text.get(at.start..text.len().min(at.start + 2 * AROUND))?;
    let mut parts = 0;
    let scheme = match rest.first() {
        Some(b'{') => run(rest.get(..16)?, |byte| byte != b'}') + 1,
        _ => 0,
    };
    let is_of_hash = |byte: &&u8| byte.is_ascii_alphanumeric() || b"$./+=,_-".contains(byte);
    let bytes = rest.get(scheme..)?.iter().take_while(is_of_hash);
    let length = bytes.take_while(|byte| {
        parts += usize::from(**byte == b'$');
        parts <= MAX_PARTS
    });
    let length = length.count();
    let all = rest.get(..scheme + length)?;
    let hash = all.rsplit(|byte| matches!(byte, b'$' | b'}')).next()?;
    let has = |is: fn(&u8) -> bool| hash.iter().any(is);
    let is_random =
        has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    (hash.len() >= MIN_LENGTH && is_random && !secret_values::is_reference(hash))
        .then_some(at.start..at.start + all.len())
}

/// The private parts of a JSON web key, whose object says what kind of key it is.
fn web_key(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const MAX_KEY_LENGTH: usize = 2048;
    let rest = text.get(at.end..text.len().min(at.end + 8))?;
    let colon = at.end + run(rest, |byte| b"\" ".contains(&byte));
    let rest = text
        .get(colon + 1..text.len().min(colon + 9))
        .filter(|_| text.get(colon) == Some(&b':'))?;
    let secret = value::quoted(text, colon + 1 + run(rest, |byte| byte == b' '))?.range;
    let bytes = text.get(secret.clone())?;
    let is_key = bytes.len() >= 20
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let around =
        text.get(at.start.saturating_sub(2 * AROUND)..text.len().min(secret.end + MAX_KEY_LENGTH))?;
    let is_in_key = || around.windows(4).any(|part| part == b"\"kty");
    (is_key && is_in_key()).then_some(secret)
}

/// The password after the name of a user: `HTTPBasicAuth('me', 'PASSWORD')`.
fn second_argument(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    argument(text, at.end, 1)
}

/// The password after an address or a connection and the name of a user.
fn third_argument(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    argument(text, at.end, 2)
}

fn argument(text: &[u8], at: usize, count: usize) -> Option<Range<usize>> {
    let mut at = lines(text, at);
    for _ in 0..count {
        let end = match value::quoted(text, at) {
            Some(quoted) => lines(text, quoted.end),
            None => {
                let rest = text.get(at..text.len().min(at + AROUND))?;
                at + run(rest, |byte| !b",()\"';\n".contains(&byte))
            }
        };
        at = lines(text, end + 1);
        if text.get(end) != Some(&b',') {
            return None;
        }
    }
    let secret = value::quoted(text, literal(text, at))?.range;
    let bytes = text.get(secret.clone())?;
    let is_secret = secret_values::is_secret(Kind::Password, Form::Pair, bytes, true, true);
    (bytes.len() >= 3 && !bytes.contains(&b' ') && is_secret).then_some(secret)
}

/// The signature of an address, however short it is.
fn signature(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + 2 * AROUND))?;
    let length = run(rest, |byte| byte.is_ascii_alphanumeric() || b"%-_.~+/=".contains(&byte));
    let secret = at.end..at.end + length;
    let bytes = rest.get(..length)?;
    // A word alone can be the name of a function.
    (length >= 6 && has_digit(text, &secret) && !secret_values::is_reference(bytes))
        .then_some(secret)
}

/// The password of `CURLOPT_USERPWD, "me:PASSWORD"`.
fn of_user(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + 8))?;
    let both = word(text, at.end + run(rest, |byte| b"=:, \"'".contains(&byte)))?;
    let colon = text.get(both.clone())?.iter().position(|byte| *byte == b':')?;
    let secret = word(text, both.start + colon + 1)?;
    (colon > 0
        && secret_values::is_secret(
            Kind::Password,
            Form::Pair,
            text.get(secret.clone())?,
            true,
            true,
        ))
    .then_some(secret)
}

/// The password of `login: admin / PASSWORD`, alone in a line.
fn of_login(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const USERS: [&[u8]; 8] =
        [b"admin", b"administrator", b"root", b"user", b"test", b"demo", b"guest", b"postgres"];
    let (_, rest) = line(text, &at)?;
    let words = text.get(rest.clone())?;
    let slash = words.iter().position(|byte| *byte == b'/')?;
    let user = words.get(..slash)?.trim_ascii();
    let gap = run(words.get(slash + 1..)?, |byte| byte == b' ');
    let secret = word(text, rest.start + slash + 1 + gap)?;
    let bytes = text.get(secret.clone())?;
    let is_alone = text.get(secret.end..rest.end)?.trim_ascii().is_empty();
    let is_user = user.iter().all(|byte| is_of_value(*byte) && *byte != b'/');
    let is_known = |name: &[u8]| USERS.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_password = match has_digit(text, &secret) {
        true => is_known(user) || gap > 0,
        false => is_known(user) && gap > 0 && !is_known(bytes),
    };
    let is_secret = secret_values::is_secret(Kind::Password, Form::Pair, bytes, false, true);
    (is_alone && is_user && is_password && is_secret && !bytes.contains(&b'/')).then_some(secret)
}

/// The code of an address that an authorization server sends a user back to.
fn granted(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let secret = signature(text, at)?;
    let has = |is: fn(&u8) -> bool| text.get(secret.clone()).is_some_and(|all| all.iter().any(is));
    (secret.len() >= 16 && has(u8::is_ascii_alphabetic)).then_some(secret)
}

/// Four to ten digits after `PIN`, `OTP` and the like.
fn code(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let (before, _) = line(text, &at)?;
    let rest = text.get(at.end..text.len().min(at.end + 16))?;
    let gap = run(rest, |byte| matches!(byte, b' ' | b'"' | b'\''));
    let digits = rest.get(gap..)?;
    let length = run(digits, |byte| byte.is_ascii_digit());
    let ends = digits
        .get(length)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte));
    // A pin of a chip.
    let is_hardware = before.trim_ascii_end().ends_with(b"gpio");
    let from = at.end + gap;
    ((4..=10).contains(&length) && ends && !is_hardware && is_start(text, at.start))
        .then_some(from..from + length)
}

/// `SecretID: UUID` of Consul, Nomad and Vault. Other identifiers name the place of a secret.
fn secret_id(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(at.end..text.len().min(at.end + AROUND))?;
    let gap = run(rest, |byte| b"\\\"':=| \t".contains(&byte));
    let from = at.end + gap;
    let to = uuid_end(text, from).filter(|_| gap > 0)?;
    let ends = text.get(to).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    ends.then_some(from..to)
}

/// The password of the address of a database in Go: `me:PASSWORD@tcp(host:3306)/x`.
fn before_host(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(at.start.saturating_sub(MAX_BEFORE)..at.start)?;
    let is_of_login = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`=<>".contains(*byte);
    let login = before.get(before.len() - before.iter().rev().take_while(is_of_login).count()..)?;
    let password = login.get(run(login, |byte| byte != b':') + 1..)?;
    let is_secret = password.len() >= 3
        && !b"$%{".contains(password.first()?)
        && !secret_values::is_reference(password);
    is_secret.then_some(at.start - password.len()..at.start)
}

fn recovery_code(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let secret = word(text, at.end)?;
    let bytes = text.get(secret.clone())?;
    let is_code = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    (is_code && bytes.len() >= 8 && has_digit(text, &secret)).then_some(secret)
}

/// The password of a driver's address, also in braces: `;PWD=PASSWORD`, `PWD={PASSWORD};`.
fn of_odbc(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let phrase = text.get(at.clone())?;
    let is_inside = phrase.starts_with(b";") || text.get(..at.start)?.ends_with(b";");
    let from = at.end - usize::from(phrase.ends_with(b"{"));
    let rest = text.get(from..text.len().min(from + AROUND))?;
    let range = if rest.first() == Some(&b'{') {
        // A brace in the password is written twice.
        let mut to = 1;
        while rest.get(to..)?.starts_with(b"}}") || *rest.get(to)? != b'}' {
            to += if rest.get(to) == Some(&b'}') { 2 } else { 1 };
        }
        let is_setting = is_inside || rest.get(to + 1) == Some(&b';');
        is_setting.then_some(from + 1..from + to)?
    } else {
        let length = run(rest, |byte| is_of_value(byte) || byte == b',');
        from..from + Some(length).filter(|_| is_inside)?
    };
    let bytes = text.get(range.clone())?;
    let is_path = bytes.contains(&b'/') || bytes.contains(&b'\\');
    let is_secret = secret_values::is_secret(Kind::Password, Form::Property, bytes, true, true);
    (!is_path && is_secret).then_some(range)
}

/// The value of a field for a password in HTML.
fn of_input(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const VALUES: [&[u8]; 2] = [b" value=", b" VALUE="];
    let before = text.get(at.start.saturating_sub(2 * AROUND)..at.start)?;
    let tag = before.get(before.iter().rposition(|byte| *byte == b'<')?..)?;
    let rest = text.get(at.end..text.len().min(at.end + 4 * AROUND))?;
    let rest = rest.get(..run(rest, |byte| byte != b'>'))?;
    let find = |part: &[u8]| VALUES.iter().find_map(|value| memchr::memmem::find(part, value));
    let from = match find(rest) {
        Some(place) => at.end + place,
        None => at.start - tag.len() + find(tag)?,
    };
    let from = from + VALUES[0].len();
    let secret = match value::quoted(text, from) {
        Some(value) => value.range,
        None => from..from + run(text.get(from..text.len().min(from + AROUND))?, is_of_value),
    };
    let bytes = text.get(secret.clone())?;
    let is_input = tag.get(1..6)?.eq_ignore_ascii_case(b"input");
    let is_near = secret.start + MAX_BEFORE >= at.start;
    let is_secret = secret_values::is_secret(Kind::Password, Form::Pair, bytes, true, true);
    (is_input && is_near && is_secret).then_some(secret)
}

/// The value of a field with the name of a secret in a form of several parts.
fn of_form(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const ENDS: [&[u8]; 3] = [b"\r\n\r\n", b"\n\n", b"\\r\\n\\r\\n"];
    let rest = text.get(at.end..text.len().min(at.end + 4 * AROUND))?;
    let name = rest.get(run(rest, |byte| matches!(byte, b'"' | b'\\'))..)?;
    let name = name.get(..run(name, |byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte)))?;
    let kind = kind_of(std::str::from_utf8(name).ok()?)?;
    let headers = rest.get(..rest.len().min(2 * AROUND))?;
    let ends = ENDS.iter().filter_map(|end| {
        Some(headers.windows(end.len()).position(|part| part == *end)? + end.len())
    });
    let from = ends.min()?;
    let value = rest.get(from..)?;
    let value = value.get(..run(value, |byte| !b"\r\n\\".contains(&byte)))?;
    let is_file = headers.get(..from)?.windows(9).any(|part| part == b"filename=");
    let is_secret = secret_values::is_secret(kind, Form::Pair, value, true, true);
    (!is_file && is_secret).then_some(at.end + from..at.end + from + value.len())
}

/// The first password of Jenkins, in a line of its own.
fn of_installation(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const LENGTH: usize = 32;
    let rest = text.get(at.end..text.len().min(at.end + AROUND))?;
    let is_gap = |byte: u8| byte.is_ascii_whitespace() || byte == b'*';
    let from = at.end + run(rest, is_gap);
    let secret = word(text, from)?;
    let is_hex = text.get(secret.clone())?.iter().all(u8::is_ascii_hexdigit);
    (is_hex && secret.len() == LENGTH).then_some(secret)
}

/// A token near the name of its service, which alone tells it from other texts.
fn okta(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    const LENGTH: usize = 42;
    let rest = text.get(at.end..text.len().min(at.end + AROUND))?;
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let from = (1..rest.len()).find(|place| {
        let before = rest.get(place - 1).is_some_and(|byte| !is_of_token(byte));
        before && rest.get(*place..).is_some_and(|token| token.starts_with(b"00"))
    })?;
    let token = rest.get(from..)?;
    let token = token.get(..run(token, |byte| is_of_token(&byte)))?;
    let has = |is: fn(&u8) -> bool| token.iter().any(is);
    (token.len() == LENGTH && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
        .then_some(at.end + from..at.end + from + LENGTH)
}
