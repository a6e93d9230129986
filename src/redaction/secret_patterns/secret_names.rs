//! Names whose values are secrets, such as `DB_PASSWORD`, `apiKey` and `x-auth-token`.

use crate::util::words::has_word;

/// The kind of secret that a name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A password: chosen by a person, in any form.
    Password,
    /// A key, or a fully named token: made by a machine.
    Secret,
    /// A token, which is often something else in source code.
    Token,
    /// Some key: only a value that looks random is a secret.
    Key,
    /// The value of an `Authorization` header.
    Authorization,
    /// Cookies.
    Cookie,
    /// `REDIS_AUTH`, `SESSION_COOKIE`: only a value that is not a plain word is a secret.
    Login,
}

/// Words that trigger the examination of a name, in any case. Each ends a name, or precedes a known suffix.
const TRIGGERS: &str = "\
    password|passwd|passphrase|passwort|kennwort|passcode|contraseña|пароль|密码|口令|密钥|令牌|pass|pwd|psw|psk|pw|secret|\
    bw_session|secretstring|secret-string|token|key|credential|credentials|creds|authorization|cookie|mnemonic|phrase|pat|jwt|auth|sig|\
    signature|sessid|sessionid";

/// "Password" in further languages, in one text: each text of a list needs an address in the binary.
const FOREIGN: &str = "contrasena|contrasenya|mot de passe|mot_de_passe|motdepasse|senha|palavra-passe|palavra_passe|\
                       wachtwoord|lösenord|passord|adgangskode|salasana|hasło|heslo|jelszó|şifre|ŞİFRE|lozinka|parool|parolă|סיסמה|كلمة المرور|كلمة_المرور|mật khẩu|mật_khẩu|密碼|\
                       パスワード|暗証番号|비밀번호|암호";

/// Returns all words that trigger the examination of a name. The search ignores the case of letters of ASCII alone, so that words
/// with others are there in small letters, with one capital, and in capitals. Forms that differ only in the case of ASCII letters
/// are dropped.
pub(super) fn triggers() -> impl Iterator<Item = String> {
    TRIGGERS.split('|').chain(FOREIGN.split('|')).flat_map(|word| {
        let mut forms = vec![word.to_owned()];
        if !word.is_ascii() {
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (first, rest) = word.split_at(first);
            forms.extend([first.to_uppercase() + rest, word.to_uppercase()]);
            forms.dedup_by(|form, before| form.eq_ignore_ascii_case(before));
        }
        forms
    })
}

/// Suffixes of names of passwords, whatever precedes them.
const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "passcode",
    "contraseña",
    "пароль",
    "密码",
    "口令",
];
/// Suffixes that must be whole words: `smtp_pass`, but not `bypass`.
const PASSWORD_WORDS: &[&str] = &["pass", "pwd", "psw", "psk", "pw"];
/// Words that are joined to `pass` and `pwd` without a separator.
const BEFORE_SHORT: &str = "\
    db root admin user store key smtp mail ftp ssh sudo my http proxy require";
/// Suffixes of names of machine-made keys and tokens.
const SECRETS: &[&str] = &[
    "secret",
    "密钥",
    "令牌",
    "credential",
    "credentials",
    "creds",
    "mnemonic",
    "seed_phrase",
    "recovery_phrase",
    "secret_key_base",
    "secret_string",
    "key_data",
    "bw_session",
    "click_house_key",
];
/// Words before `key` that make it a secret; at the end those of vendors.
const SECRET_KEYS: &str = "\
    api access secret private encryption decryption signing master auth account shared preshared storage session app \
    application client service role admin root deploy webhook jwt hmac aes cipher crypto license subscription server write \
    ingest ingestion integration security anon functions stripe openai anthropic sendgrid mailgun twilio cohere mistral \
    gemini huggingface datadog pagerduty supabase cloudflare postmark algolia paypal braintree shopify pinecone rapidapi fastly \
    clickhouse";
/// Words before `token` that make it a secret with certainty.
const SECRET_TOKENS: &str = "\
    access auth refresh bearer id session security private api bot deploy sas vault github gitlab npm slack job";
/// Words before `token` that make it something else.
const OTHER_TOKENS: &str = "\
    next page continuation continue cancellation cancel sync cursor eos bos pad unk mask stop special start end per first \
    last max min syntax";
/// Words that make a key public, or a key of a table.
const OTHER_KEYS: &str = "\
    public publishable pub primary foreign cache sort partition hash range index object row group order host idempotency \
    translation lookup routing event unique dedup query restore";
/// Last words that number a secret, name its encoding, or say that it is there once more.
const SUFFIXES: &str = "\
    prod production dev development staging test old new current previous live value plain plaintext raw b64 base64 hex \
    default main primary secondary pem backup bak fallback sandbox canary confirmation confirm repeat v1 v2 v3";

/// Returns true if the value of this name is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    !matches!(kind_of(name), None | Some(Kind::Key | Kind::Login))
}

/// Returns the kind of secret that a name denotes.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    let words = words_of(name);
    let mut words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
    while words.len() > 1
        && words.last().is_some_and(|word| {
            has_word(SUFFIXES, word) || word.bytes().all(|byte| byte.is_ascii_digit())
        })
    {
        words.pop();
    }
    let last = words.last()?.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).copied().unwrap_or("");
    let joined = words.join("_");
    let is_short =
        |end: &str| last.strip_suffix(end).is_some_and(|first| has_word(BEFORE_SHORT, first));
    let ends = |list: &[&str]| list.iter().any(|end| last.ends_with(end) || joined.ends_with(end));
    if ends(PASSWORDS)
        || (PASSWORD_WORDS.contains(&last) && name != "PWD")
        || is_short("pass")
        || is_short("pwd")
    {
        return Some(Kind::Password);
    }
    if matches!(joined.as_str(), "cookie" | "set_cookie" | "setcookie" | "http_cookie") {
        return Some(Kind::Cookie);
    }
    if !before.is_empty() && matches!(last, "auth" | "cookie")
        || name.starts_with('_') && last == "auth"
    {
        return Some(Kind::Login);
    }
    if last.ends_with("authorization") {
        return Some(Kind::Authorization);
    }
    // The name of an object that holds the secret.
    if last == "secret" && has_word("existing pull", before) {
        return None;
    }
    if ends(SECRETS) {
        return Some(Kind::Secret);
    }
    if let Some(first) = last.strip_suffix("token") {
        let what = if first.is_empty() { before } else { first };
        return if has_word(OTHER_TOKENS, what) {
            None
        } else if has_word(SECRET_TOKENS, what) {
            Some(Kind::Secret)
        } else {
            Some(Kind::Token)
        };
    }
    if let Some(first) = last.strip_suffix("key") {
        let what = if first.is_empty() { before } else { first };
        if has_word(OTHER_KEYS, what) || words.iter().any(|word| word.starts_with("publi")) {
            return None;
        }
        let is_secret = if first.is_empty() {
            has_word(SECRET_KEYS, what)
        } else {
            SECRET_KEYS.split(' ').any(|word| first.ends_with(word))
        };
        return Some(if is_secret { Kind::Secret } else { Kind::Key });
    }
    match last {
        "pat"
            if has_word(
                "github gh gitlab gl azure ado devops ext git access bitbucket",
                before,
            ) =>
        {
            Some(Kind::Token)
        }
        "jwt" | "sessid" | "sessionid" | "phpsessid" | "jsessionid" => Some(Kind::Token),
        "auth" | "sig" | "signature" => Some(Kind::Key),
        _ if last.ends_with("sessid") || last.ends_with("sessionid") => Some(Kind::Token),
        _ if FOREIGN.split('|').any(|end| joined.ends_with(end)) => Some(Kind::Password),
        _ => None,
    }
}

/// Returns the words of a name in lower case, joined by `_`: `db_api_key` for `dbAPIKey` and `DB-api.key`.
fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut letters = name.chars().peekable();
    let mut last = None;
    while let Some(letter) = letters.next() {
        let before: Option<char> = last.replace(letter);
        if !letter.is_alphanumeric() {
            words.push('_');
            continue;
        }
        let after = letters.peek();
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins {
            words.push('_');
        }
        // The small form of the Turkish capital `İ` has a dot of its own.
        words.extend(letter.to_lowercase().filter(|letter| *letter != '\u{307}'));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::search;
    use super::*;

    /// Returns true if a search finds a random value next to a name.
    fn is_found(name: &str) -> bool {
        let text = format!("{{ name: '{name}', value: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ' }}");
        let mut count = 0;
        search(text.as_bytes(), 0..text.len(), &mut None, &mut |_| count += 1);
        count > 0
    }

    #[test]
    fn every_trigger_finds_a_name_and_is_there_once() {
        let mut seen = std::collections::HashSet::new();
        for word in triggers() {
            assert!(seen.insert(word.to_ascii_lowercase()), "{word} is there twice");
            let name = match word.as_str() {
                "phrase" => "seed_phrase",
                "pat" => "GH_PAT",
                "secretstring" => "SecretString",
                word => word,
            };
            assert!(is_found(name), "{name}");
        }
    }

    #[test]
    fn names_of_secrets_are_distinguished_from_other_names() {
        for (name, kind) in [
            ("DB_PASSWORD", Some(Kind::Password)),
            ("dbpassword", Some(Kind::Password)),
            ("spring.datasource.password", Some(Kind::Password)),
            ("MYSQL_PWD", Some(Kind::Password)),
            ("smtpPass", Some(Kind::Password)),
            ("PASSWORD_2", Some(Kind::Password)),
            ("password1", Some(Kind::Password)),
            ("ADMIN_PASSWORD_PROD", Some(Kind::Password)),
            ("PWD", None),
            ("OLDPWD", None),
            ("bypass", None),
            ("password_hint", None),
            ("passwordHash", None),
            ("SECRET_KEY_BASE", Some(Kind::Secret)),
            ("apiKey", Some(Kind::Secret)),
            ("openaiapikey", Some(Kind::Secret)),
            ("APIKey", Some(Kind::Secret)),
            ("x-amz-security-token", Some(Kind::Secret)),
            ("PRIVATE-TOKEN", Some(Kind::Secret)),
            ("client_secret", Some(Kind::Secret)),
            ("client-key-data", Some(Kind::Secret)),
            ("CLIENT_SECRET_VALUE", Some(Kind::Secret)),
            ("aws_access_key_id", None),
            ("token", Some(Kind::Token)),
            ("tokens", None),
            ("max_tokens", None),
            ("nextPageToken", None),
            ("GH_PAT", Some(Kind::Token)),
            ("SENTRY_KEY", Some(Kind::Key)),
            ("public_key", None),
            ("CACHE_KEY", None),
            ("monkey", Some(Kind::Key)),
            ("Proxy-Authorization", Some(Kind::Authorization)),
            ("Set-Cookie", Some(Kind::Cookie)),
            ("REDIS_AUTH", Some(Kind::Login)),
            ("session_cookie", Some(Kind::Login)),
            ("SESSION_COOKIE_NAME", None),
            ("auth", Some(Kind::Key)),
            ("stripe_key", Some(Kind::Secret)),
            ("wifi_psk", Some(Kind::Password)),
            ("auth.existingSecret", None),
            ("AZURE_DEVOPS_EXT_PAT", Some(Kind::Token)),
            ("BW_SESSION", Some(Kind::Secret)),
            ("OPENAI_API_KEY_BACKUP", Some(Kind::Secret)),
            ("secret_v2", Some(Kind::Secret)),
            ("passwordConfirmation", Some(Kind::Password)),
            ("db_pw", Some(Kind::Password)),
            ("pwm", None),
            ("x-rapidapi-key", Some(Kind::Secret)),
            ("ПАРОЛЬ_БД", None),
            ("БД_ПАРОЛЬ", Some(Kind::Password)),
            ("Şifre", Some(Kind::Password)),
            ("ŞİFRE", Some(Kind::Password)),
            ("CONTRASEÑA", Some(Kind::Password)),
            ("Contraseña", Some(Kind::Password)),
            ("Hasło", Some(Kind::Password)),
            ("Lösenord", Some(Kind::Password)),
            ("CLICKHOUSE_KEY", Some(Kind::Secret)),
            ("X-ClickHouse-Key", Some(Kind::Secret)),
            ("warehousekey", Some(Kind::Key)),
            ("house_key", Some(Kind::Key)),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
            assert!(kind.is_none() || is_found(name), "{name}");
        }
    }
}
