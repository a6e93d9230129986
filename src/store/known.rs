//! The shapes of well-known secrets.
//!
//! A shape is in the table only if it is distinctive: a long output must not be riddled with stars because something in
//! it looks random. What stands around a secret and helps to read the output, such as the name of a header, is left.

use std::sync::OnceLock;

use super::redact::{Expression, Pattern};

/// A kind of secret.
struct Shape {
    /// The expression; its group `secret`, if it has one, is what is redacted. So is a group `named`, unless it stands for
    /// something else as a variable does, and a group `value`, if it has a digit as well: words have none.
    pattern: &'static str,
    /// A text with such a secret, which is what stands between the angle brackets.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    example: &'static str,
    /// A text that looks similar and has none.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    harmless: &'static str,
}

/// Where a word begins, also behind an escape of JSON or of a URL, or a colour of a terminal, which end in a letter.
macro_rules! start {
    () => {
        r"(?:(?-u:\b)|\\(?:[bfnrt]|u[0-9a-fA-F]{4})|%[0-9a-fA-F]{2}|(?:\x1b|\\u001[bB])\[[0-9;]{0,16}m)"
    };
}

// The examples are put together so that no scanner takes them for secrets that were leaked here.
static SHAPES: &[Shape] = &[
    // Private keys, also with `\n` for line breaks as in JSON. Without its last line a key is still one.
    Shape {
        pattern: concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:[A-Za-z0-9+/=\\:,.()\s]|-[A-Za-z0-9])*",
            r"(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)?",
        ),
        example: concat!(
            "<-----BEGIN RSA PRIVATE",
            " KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow/+=\n-----END RSA PRIVATE",
            " KEY-----> \n",
        ),
        harmless: "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----",
    },
    // AWS: ids of keys, and the keys where they are named.
    Shape {
        pattern: r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)",
        example: concat!("id: <AKIA", "IOSFODNN7EXAMPLE>;"),
        harmless: "AKIAIOSFODNN7 and MAKIAIOSFODNN7EXAMPLES",
    },
    Shape {
        pattern: r#"(?i)aws_?secret_?(?:access_?)?key["']?\s{0,8}[=:]\s{0,8}["']?(?<secret>[a-z0-9/+]{40})"#,
        example: concat!("AWS_SECRET_ACCESS_KEY=<wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY>\n"),
        harmless: "AWS_SECRET_ACCESS_KEY=${SECRET}",
    },
    // GitHub and GitLab.
    Shape {
        pattern: r"gh[pousr]_[A-Za-z0-9]{36,}",
        example: concat!("<gh", "p_0123456789abcdefghijABCDEFGHIJ012345>"),
        harmless: "ghp_short and ghp_of_a_function_with_a_long_name_indeed",
    },
    Shape {
        pattern: r"github_pat_[A-Za-z0-9_]{36,}",
        example: concat!("<github", "_pat_0123456789abcdefghijAB_0123456789abcdefghij>"),
        harmless: "github_pat_name",
    },
    Shape {
        pattern: r"glpat-[A-Za-z0-9_-]{20,}",
        example: concat!("<gl", "pat-0123456789abcdefghij>"),
        harmless: "glpat-none",
    },
    // Slack: tokens and addresses of webhooks.
    Shape {
        pattern: concat!(start!(), r"(?<secret>(?:xox[a-z]|xapp)-[A-Za-z0-9-]{20,})"),
        example: concat!("<xox", "b-0123456789-0123456789abcdef>"),
        harmless: "xoxb-example",
    },
    Shape {
        pattern: r"https://hooks\.slack\.com/(?:services|workflows|triggers)/(?<secret>[A-Za-z0-9/_-]{20,})",
        example: concat!(
            "https://hooks.slack.com",
            "/services/<T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX>"
        ),
        harmless: "https://hooks.slack.com/services/",
    },
    // Google: keys of an API, and tokens.
    Shape {
        pattern: r"AIza[0-9A-Za-z_-]{35}",
        example: concat!("key=<AI", "za0123456789abcdefghijABCDEFGHIJ01234>&x"),
        harmless: "AIza is how they begin",
    },
    Shape {
        pattern: concat!(start!(), r"(?<secret>ya29\.[0-9A-Za-z_-]{20,})"),
        example: concat!("<ya", "29.0123456789abcdefghij>"),
        harmless: "ya29.txt",
    },
    // OpenAI, Anthropic, OpenRouter and others that begin alike.
    Shape {
        pattern: concat!(
            start!(),
            r"(?<secret>sk-(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,}))"
        ),
        example: concat!("<s", "k-ant-api03-0123456789abcdefghij_-A> "),
        harmless: "sk-learn, task-0123456789abcdefghijABCDEFGHIJKL and sk-a-class-of-a-style-sheet-that-is-long",
    },
    // Stripe, npm, PyPI, Hugging Face, SendGrid, DigitalOcean.
    Shape {
        pattern: concat!(start!(), r"(?<secret>[rs]k_(?:live|test)_[A-Za-z0-9]{16,})"),
        example: concat!("<s", "k_live_0123456789abcdef>"),
        harmless: "sk_live_example",
    },
    Shape {
        pattern: r"npm_[A-Za-z0-9]{36}(?-u:\b)",
        example: concat!("<np", "m_0123456789abcdefghijABCDEFGHIJ012345>"),
        harmless: "npm_config_registry and npm_package_version",
    },
    Shape {
        pattern: r"pypi-[A-Za-z0-9_-]{50,}",
        example: concat!("<py", "pi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0g>"),
        harmless: "pypi-publish",
    },
    Shape {
        pattern: r"hf_[A-Za-z0-9]{30,}",
        example: concat!("<h", "f_0123456789abcdefghijABCDEFGHIJ0123>"),
        harmless: "hf_hub_download",
    },
    Shape {
        pattern: concat!(start!(), r"(?<secret>SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64})"),
        example: concat!(
            "<S",
            "G.0123456789abcdefghijAB.0123456789abcdefghijABCDEFGHIJ0123456789abc>"
        ),
        harmless: "SG.Form.Input",
    },
    Shape {
        pattern: r"do[opr]_v1_[a-f0-9]{64}",
        example: concat!(
            "<do",
            "p_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef>"
        ),
        harmless: "dop_v1_00",
    },
    // Azure: keys in a connection string.
    Shape {
        pattern: r"(?:Account|SharedAccess)Key=(?<secret>[A-Za-z0-9+/]{16,}={0,2})",
        example: concat!(
            "AccountName=x;AccountKey=<0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij",
            "ABCDEFGHIJ0123456789abcdefghij012345==>;",
        ),
        harmless: "AccountKey=none",
    },
    // JSON web tokens: header and claims are JSON, and `eyJ` is what `{"` becomes.
    Shape {
        pattern: r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        example: concat!(
            "<eyJ",
            "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N>\n"
        ),
        harmless: "eyJhbGciOiJIUzI1NiJ9 alone",
    },
    // Headers, and whatever says that a token follows.
    Shape {
        pattern: concat!("(?i)", start!(), r"bearer {1,8}(?<secret>[a-z0-9._~+/-]{16,}=*)"),
        example: concat!("Proxy: Bearer <0123456789", "abcdef.~+/-==>\r\n"),
        harmless: "the bearer of this ring; Authorization: Bearer $TOKEN",
    },
    Shape {
        pattern: r#"(?i)authorization\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?basic {1,8}(?<secret>(?-i:[a-z+/]{0,64}[A-Z0-9][A-Za-z0-9+/]{5,}={0,2}))"#,
        example: "Authorization: Basic <dXNlcjpwYXNz>\r\n",
        harmless: "Authorization: Basic authentication",
    },
    Shape {
        pattern: r#"(?i)authorization\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?(?:token|bearer|apikey) {1,8}(?<value>[a-z0-9._~+/-]{8,}=*)"#,
        example: "Authorization: token <0123456789>\r\n",
        harmless: "authorization: token required",
    },
    Shape {
        pattern: r#"(?i)x-(?:api-key|auth-token|access-token)\\?["']?[ \t]{0,8}:[ \t]{0,8}\\?["']?(?<value>[a-z0-9._~+/=-]{8,})"#,
        example: r#"-H "X-Api-Key: <0123abcdef>""#,
        harmless: "X-Api-Key: required; X-Api-Key: $KEY",
    },
    // All of the cookies: which one opens a session nobody knows.
    Shape {
        pattern: r#"(?i)cookie\\?["']?[ \t]{0,8}:[ \t]{0,8}\\?["']?[!-~&&[^=:;,"'\\]]{1,128}=(?<secret>[^\r\n"'\\]{6,})"#,
        example: r#""Cookie": "session=<0123abcdef; theme=dark>""#,
        harmless: "Cookie: none, and a cookie: it expires with max-age=5",
    },
    // Values that are named as secrets. In quotes, and as a program, a file or an address has them.
    Shape {
        pattern: concat!(
            r"(?i)(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|secret|private)[_-]?key)",
            r#"\\?["'`]?[ \t]{0,8}(?:=>?|:=?)[ \t]{0,8}\\?["'`](?<value>[^\s"'`\\]{8,})\\?["'`]"#,
        ),
        example: r#"{"db_api_key": "<hunter2hunter2>", "password_hint": "hunter2hunter2"}"#,
        harmless: r#"{ "password": "Passwort", "token": "${TOKEN_01}", "max_tokens": "12345678" }"#,
    },
    Shape {
        pattern: concat!(
            r"(?i)(?:passw(?:or)?d|passphrase|(?:client|app|jwt)[_-]?secret|(?:access|auth|api|bearer|refresh)[_-]?token",
            r"|(?:api|access|secret)[_-]?key)",
            r#"["']?[ \t]{0,8}(?:=|:=?)[ \t]{0,8}(?<value>[!-~&&[^"'`\\,;&(){}<>\[\]|$*]]{8,})(?:[\s"'`\\,;&)}|]|\z)"#,
        ),
        example: "api_key: <hunter2hunter2>\n",
        harmless: "password: required, api_key = sha256(name), password: user1.password and access_token=$TOKEN_01",
    },
    Shape {
        pattern: concat!(
            r"(?i)--(?:[a-z0-9]{1,32}-){0,4}(?:passw(?:or)?d|passphrase|secret|token|api-?key|secret-key|access-key)",
            r#"(?:=| {1,8})\\?["']?(?<value>[!-~&&[^"'`\\;&(){}<>\[\]|$*]]{8,})"#,
        ),
        example: "deploy --auth-token <hunter2hunter2> --dry-run",
        harmless: "  --token TOKEN_NAME   The token; --password <password>, --token-file token_1.txt",
    },
    Shape {
        pattern: r#"[?&](?:access_|auth_)?(?:token|api_?key|secret|password|sig)=(?<value>[A-Za-z0-9._~%+/=-]{8,})"#,
        example: "https://example.com/?a=1&token=<hunter2hunter2>&b",
        harmless: "?token=required&tokens=12345678",
    },
    // Variables of the environment, which say nothing but their value.
    Shape {
        pattern: concat!(
            "(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|SECRET_KEY)=",
            r#"["']?(?<named>[!-~&&[^"'`\\;&(){}<>\[\]|$*]]{8,})"#,
        ),
        example: "export DB_PASSWORD='<correcthorse>'\n",
        harmless: "PASSWORD=$OTHER_PASSWORD, TOKEN=none and GITHUB_TOKEN=os.environ",
    },
    Shape {
        pattern: r#"(?-u:\b)curl\s(?:[^\n]*?\s)?(?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"'=$-][^\s:"']{0,128}:(?<secret>[^\s"']{3,})"#,
        example: "curl -sS -u me:<hunter2> https://example.com",
        harmless: "curl -u $ME:$PASSWORD https://example.com\ndocker run -u 1000:1000",
    },
    // The password in a URL.
    Shape {
        pattern: r#"://[!-~&&[^/:@"'<>]]*:(?<secret>[!-~&&[^/@"'<>]]{3,})@"#,
        example: "postgres://user:<hunter2!>@db.example:5432/name",
        harmless: "http://example.com:8080/a@b and git@example.com:x/y",
    },
];

/// The expressions of all shapes, compiled when they are first asked for.
pub(super) fn expressions() -> &'static [Expression] {
    static EXPRESSIONS: OnceLock<Vec<Expression>> = OnceLock::new();
    EXPRESSIONS.get_or_init(|| SHAPES.iter().filter_map(|shape| compiled(shape).ok()).collect())
}

/// Whether a name says that its value is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    const ENDS: [&str; 11] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "accesstoken",
        "authtoken",
        "refreshtoken",
    ];
    const NAMES: [&str; 4] = ["token", "authorization", "cookie", "setcookie"];
    let plain: String = name
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    NAMES.contains(&plain.as_str()) || ENDS.iter().any(|end| plain.ends_with(end))
}

fn compiled(shape: &Shape) -> Result<Expression, String> {
    let expression =
        Expression::new(&Pattern { source: shape.pattern.to_owned(), ..Pattern::default() })?;
    Ok(expression
        .only("named", |value| !is_reference(value))
        .only("value", |value| value.iter().any(u8::is_ascii_digit) && !is_reference(value)))
}

/// Whether a value says where the value is: `${NAME}`, `settings.name`, `TOKEN_NAME`, a path, an address.
fn is_reference(value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|first| !first.is_ascii_digit())
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let mut parts = value.split(|byte| *byte == b'.');
    let is_member = value.contains(&b'.') && parts.all(is_name);
    let is_constant = value.contains(&b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    is_member
        || is_constant
        || matches!(value.first(), Some(b'$' | b'{' | b'<' | b'%' | b'/' | b'.' | b'~' | b'@'))
        || value.windows(3).any(|part| part == b"://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_finds_its_example_and_nothing_else() {
        for (index, shape) in SHAPES.iter().enumerate() {
            let expression = compiled(shape).unwrap_or_else(|problem| panic!("{index}: {problem}"));
            let (before, rest) = shape.example.split_once('<').unwrap();
            let (secret, after) = rest.rsplit_once('>').unwrap();
            let text = format!("{before}{secret}{after}");
            assert_eq!(expression.secrets(&text), [secret], "{text}");
            assert_eq!(expression.secrets(shape.harmless), [""; 0]);
        }
        assert_eq!(expressions().len(), SHAPES.len());
    }

    #[test]
    fn no_shape_finds_anything_in_what_is_harmless_for_another() {
        for shape in SHAPES {
            for expression in expressions() {
                assert_eq!(expression.secrets(shape.harmless), [""; 0]);
            }
        }
    }

    #[test]
    fn a_secret_is_found_behind_whatever_ends_in_a_letter() {
        let github = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
        let openai = concat!("s", "k-proj-0123456789abcdefghijABCDEFGHIJ012345");
        for secret in [github, openai] {
            for before in [r"a\n", r"\t", r"\u000a", "%20", "\u{1b}[31m", r"\u001b[1;31m", "", "="]
            {
                let text = format!("{before}{secret}");
                let found = |one: &Expression| one.secrets(&text).contains(&secret);
                assert!(expressions().iter().any(found), "{text}");
            }
        }
    }

    #[test]
    fn values_that_are_named_secrets_are_found() {
        let all = |text: &str| -> Vec<String> {
            let all = expressions().iter().flat_map(|one| one.secrets(text));
            all.map(str::to_owned).collect()
        };
        for text in [
            "PASSWORD=hunter2hunter2",
            r#"{"api_key":"hunter2hunter2"}"#,
            r#"{\"api_key\": \"hunter2hunter2\"}"#,
            "api_key: hunter2hunter2",
            "dbPassword = 'hunter2hunter2'",
            "--token hunter2hunter2",
            "--password=hunter2hunter2",
            "--password='hunter2hunter2'",
            "curl -u user:hunter2hunter2 https://example.com",
            "curl https://example.com --user 'user:hunter2hunter2'",
            "X-Api-Key: hunter2hunter2",
            "Cookie: session=hunter2hunter2",
            "Set-Cookie: session=hunter2hunter2",
            "AccountKey=hunter2hunter2hunter2hunter2",
            "Authorization: Basic dXNlcjpodW50ZXIy",
            "https://example.com/?token=hunter2hunter2",
        ] {
            assert!(!all(text).is_empty(), "{text}");
        }
        for text in [
            "The password must have 8 characters. Password: at least one digit (0-9) is required.",
            "const token = await getToken2(user)\nlet password: string = process.env.PASSWORD_2",
            "password = forms.CharField(max_length=128)\nsecret = new Secret('name')",
            r#"{"type": "object", "properties": {"password": {"type": "string"}}}"#,
            r#"{"token": "identifier", "password": "Please enter 8 characters", "secret": "/run/secrets/db1"}"#,
            "--token string   token of the API, 20 characters; --password PASSWORD_1",
            "total_tokens: 12345678, max_tokens=12345678",
            "api_key=OPENAI_API_KEY_1 and SECRET=${SECRET_1}",
            "docker run -u 1000:1000 image",
        ] {
            assert_eq!(all(text), [""; 0], "{text}");
        }
    }
}
