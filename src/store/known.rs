//! The shapes of well-known secrets.
//!
//! A shape is in the table only if it is distinctive: a long output must not be riddled with stars because something in
//! it looks random. What stands around a secret and helps to read the output, such as the name of a header, is left.

use std::sync::OnceLock;

use super::redact::{Expression, Pattern};

/// A kind of secret.
struct Shape {
    /// The expression; its group `secret`, if it has one, is what is redacted.
    pattern: &'static str,
    /// A text with such a secret, which is what stands between the angle brackets.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    example: &'static str,
    /// A text that looks similar and has none.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    harmless: &'static str,
}

// The examples are put together so that no scanner takes them for secrets that were leaked here.
const SHAPES: [Shape; 21] = [
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
        pattern: r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)",
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
        pattern: r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{36,}",
        example: concat!("<gh", "p_0123456789abcdefghijABCDEFGHIJ012345>"),
        harmless: "ghp_short and ghp_of_a_function_with_a_long_name_indeed",
    },
    Shape {
        pattern: r"(?-u:\b)github_pat_[A-Za-z0-9_]{36,}",
        example: concat!("<github", "_pat_0123456789abcdefghijAB_0123456789abcdefghij>"),
        harmless: "github_pat_name",
    },
    Shape {
        pattern: r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}",
        example: concat!("<gl", "pat-0123456789abcdefghij>"),
        harmless: "glpat-none",
    },
    // Slack: tokens and addresses of webhooks.
    Shape {
        pattern: r"(?-u:\b)(?:xox[a-z]|xapp)-[A-Za-z0-9-]{20,}",
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
        pattern: r"(?-u:\b)AIza[0-9A-Za-z_-]{35}",
        example: concat!("key=<AI", "za0123456789abcdefghijABCDEFGHIJ01234>&x"),
        harmless: "AIza is how they begin",
    },
    Shape {
        pattern: r"(?-u:\b)ya29\.[0-9A-Za-z_-]{20,}",
        example: concat!("<ya", "29.0123456789abcdefghij>"),
        harmless: "ya29.txt",
    },
    // OpenAI, Anthropic, OpenRouter and others that begin alike.
    Shape {
        pattern: r"(?-u:\b)sk-(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})",
        example: concat!("<s", "k-ant-api03-0123456789abcdefghij_-A> "),
        harmless: "sk-learn, task-0123456789abcdefghijABCDEFGHIJKL and sk-a-class-of-a-style-sheet-that-is-long",
    },
    // Stripe, npm, PyPI, Hugging Face, SendGrid, DigitalOcean.
    Shape {
        pattern: r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        example: concat!("<s", "k_live_0123456789abcdef>"),
        harmless: "sk_live_example",
    },
    Shape {
        pattern: r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)",
        example: concat!("<np", "m_0123456789abcdefghijABCDEFGHIJ012345>"),
        harmless: "npm_config_registry and npm_package_version",
    },
    Shape {
        pattern: r"(?-u:\b)pypi-[A-Za-z0-9_-]{50,}",
        example: concat!("<py", "pi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0g>"),
        harmless: "pypi-publish",
    },
    Shape {
        pattern: r"(?-u:\b)hf_[A-Za-z0-9]{30,}",
        example: concat!("<h", "f_0123456789abcdefghijABCDEFGHIJ0123>"),
        harmless: "hf_hub_download",
    },
    Shape {
        pattern: r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
        example: concat!(
            "<S",
            "G.0123456789abcdefghijAB.0123456789abcdefghijABCDEFGHIJ0123456789abc>"
        ),
        harmless: "SG.Form.Input",
    },
    Shape {
        pattern: r"(?-u:\b)do[opr]_v1_[a-f0-9]{64}",
        example: concat!(
            "<do",
            "p_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef>"
        ),
        harmless: "dop_v1_00",
    },
    // Azure: keys of a storage account in a connection string.
    Shape {
        pattern: r"AccountKey=(?<secret>[A-Za-z0-9+/]{86}==)",
        example: concat!(
            "AccountName=x;AccountKey=<0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij",
            "ABCDEFGHIJ0123456789abcdefghij012345==>;",
        ),
        harmless: "AccountKey=none",
    },
    // JSON web tokens: header and claims are JSON, and `eyJ` is what `{"` becomes.
    Shape {
        pattern: r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        example: concat!(
            "<eyJ",
            "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N>\n"
        ),
        harmless: "eyJhbGciOiJIUzI1NiJ9 alone",
    },
    // Headers, and whatever says that a token follows.
    Shape {
        pattern: r#"(?i)(?:authorization["']?\s{0,8}[:=]\s{0,8}["']?(?:basic|token|bearer)|(?-u:\b)bearer) {1,8}(?<secret>[a-z0-9._~+/-]{16,}=*)"#,
        example: concat!("Authorization: Bearer <0123456789", "abcdef.~+/-==>\r\n"),
        harmless: "the bearer of this ring; Authorization: Bearer $TOKEN",
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

fn compiled(shape: &Shape) -> Result<Expression, String> {
    Expression::new(&Pattern { source: shape.pattern.to_owned(), ..Pattern::default() })
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
        for shape in &SHAPES {
            for expression in expressions() {
                assert_eq!(expression.secrets(shape.harmless), [""; 0]);
            }
        }
    }
}
