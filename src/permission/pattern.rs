//! Which targets a pattern matches.
//!
//! A pattern is `scheme:body`, or a body alone. The scheme is split off before anything else: a glob with `fs:` in front
//! would not see `**` as a whole component. Paths, addresses and tools of servers are globs in which `*` and `?` stop at
//! `/` and `**` does not; commands and queries are plain text in which `*` stands for anything. `regex:` begins a regular
//! expression, which is searched for in the target with and without its scheme; its time is linear.

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

use super::Domain;
use super::glob_overlap::can_meet;
use super::paths::fold;

/// Longer patterns are refused: globs are compiled, and no user writes such a rule.
pub const MAX_PATTERN_BYTES: usize = 1024;
const MAX_WILDCARDS: usize = 64;
const MAX_ALTERNATIVES: usize = 64;
const REGEX_BYTES: usize = 256 * 1024;
const REGEX_NESTING: u32 = 64;

const MAX_SCHEME_LENGTH: usize = 5;

/// How patterns are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Style {
    /// Upper and lower case of paths are the same, as on Windows and macOS.
    pub fold_case: bool,
    /// `*` crosses `/` in paths too, as OpenCode reads patterns.
    pub star_crosses: bool,
    /// `~/` and `$HOME/` at the beginning of a path stand for this folder.
    pub home: Option<String>,
}

/// A target with its scheme, taken apart once for all the patterns that it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'t> {
    whole: &'t str,
    scheme: Option<&'static str>,
    body: &'t str,
    start: &'t str,
    is_ascii: bool,
}

impl<'t> Subject<'t> {
    /// Takes a target apart.
    pub fn new(whole: &'t str) -> Self {
        let (scheme, body) = split_scheme(whole);
        Subject { whole, scheme, body, start: start_of(body), is_ascii: whole.is_ascii() }
    }

    /// With its scheme.
    pub fn whole(&self) -> &'t str {
        self.whole
    }

    /// Its first word or folder.
    pub fn start(&self) -> &'t str {
        self.start
    }
}

/// Returns the first word or folder of a text without a scheme.
pub(super) fn start_of(text: &str) -> &str {
    let text = text.strip_prefix('/').unwrap_or(text);
    let end = text.bytes().position(|byte| matches!(byte, b' ' | b'/'));
    &text[..end.unwrap_or(text.len())]
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    scheme: Option<&'static str>,
    /// The rule is about every target of its domain.
    catch_all: bool,
    matcher: Matcher,
    fold: bool,
    /// A glob of files as it is matched.
    glob: Option<String>,
}

#[derive(Debug, Clone)]
enum Matcher {
    Everything,
    Literal(String),
    /// Begins so; with `bare`, is that without the space at its end.
    Prefix {
        text: String,
        bare: bool,
    },
    /// Begins so, and matches.
    Compiled {
        start: String,
        regex: Regex,
    },
    /// A regular expression of the user's: searched for, in the whole target and in its body.
    Search(Regex),
}

impl Pattern {
    /// Reads a pattern for a domain, or for every domain without one. The error is what is wrong with it.
    pub fn new(source: &str, domain: Option<Domain>, style: &Style) -> Result<Self, String> {
        if source.is_empty() {
            return Err("is empty; a rule for everything has *".into());
        }
        if source.len() > MAX_PATTERN_BYTES {
            return Err(format!(
                "expected at most {MAX_PATTERN_BYTES} bytes, received {}",
                source.len()
            ));
        }
        if let Some(expression) = source.strip_prefix("regex:") {
            let matcher = Matcher::Search(regular(expression)?);
            return Ok(Pattern {
                source: source.into(),
                scheme: None,
                catch_all: false,
                matcher,
                fold: false,
                glob: None,
            });
        }
        let (scheme, body) = split_scheme(source);
        if let (Some(scheme), Some(domain)) = (scheme, domain)
            && !domain.schemes().contains(&scheme)
        {
            return Err(format!(
                "begins with {scheme}:, targets of {} begin with {}:",
                domain.as_str(),
                domain.schemes().join(": or ")
            ));
        }
        let paths = match (scheme, domain) {
            (Some(scheme), _) => matches!(scheme, "vault" | "fs" | "url" | "mcp"),
            (None, Some(domain)) => {
                !matches!(domain, Domain::Bash | Domain::WebSearch | Domain::Tool)
            }
            (None, None) => false,
        };
        let files = matches!(scheme, Some("vault" | "fs"))
            || (scheme.is_none() && matches!(domain, Some(Domain::Read | Domain::Edit)));
        let fold_case = files && style.fold_case;
        let mut body = body.to_owned();
        if files {
            body = from_home(&body, style);
        }
        // Without a scheme, a path that begins at the root is one of the file system, and any other lies in the vault,
        // unless it may begin anywhere.
        let scheme = match scheme {
            None if files && body.starts_with('/') => Some("fs"),
            None if files && !body.starts_with('*') => Some("vault"),
            other => other,
        };
        let matcher = if body == "*" && (scheme.is_none() || !paths) {
            Matcher::Everything
        } else if paths {
            path_glob(&if files { fold(&body, fold_case) } else { body.clone() }, files, style)?
        } else {
            text_glob(&body)?
        };
        let catch_all = matches!(matcher, Matcher::Everything)
            || (paths && matches!(body.trim_start_matches('/'), "**" | "*" | "**/*"));
        let fold_case = files && fold_case;
        let glob = files.then(|| fold(body.strip_prefix('/').unwrap_or(&body), fold_case));
        Ok(Pattern { source: source.into(), scheme, catch_all, matcher, fold: fold_case, glob })
    }

    /// Returns true if the pattern may match a path that a glob can expand to, given as a target with its scheme.
    pub fn can_meet(&self, target: &str, style: &Style) -> bool {
        let (scheme, body) = split_scheme(target);
        let Some(glob) =
            self.glob.as_deref().filter(|_| self.scheme.is_none_or(|own| Some(own) == scheme))
        else {
            return false;
        };
        can_meet(glob, style.star_crosses, &fold(body.strip_prefix('/').unwrap_or(body), self.fold))
    }

    /// Returns true if the pattern matches a target.
    pub fn matches(&self, &Subject { whole, scheme, body, is_ascii, .. }: &Subject<'_>) -> bool {
        if self.scheme.is_some() && self.scheme != scheme {
            return false;
        }
        let folded;
        let body = if self.fold || !is_ascii {
            folded = fold(body, self.fold);
            folded.as_str()
        } else {
            body
        };
        let stripped = match scheme {
            Some("vault" | "fs") => body.strip_prefix('/').unwrap_or(body),
            _ => body,
        };
        match &self.matcher {
            Matcher::Everything => true,
            Matcher::Literal(text) => stripped == text,
            Matcher::Prefix { text, bare } => {
                stripped.starts_with(text.as_str())
                    || (*bare && Some(stripped) == text.strip_suffix(' '))
            }
            Matcher::Compiled { start, regex } => {
                stripped.starts_with(start.as_str()) && regex.is_match(stripped.as_bytes())
            }
            Matcher::Search(regex) => {
                regex.is_match(whole.as_bytes()) || regex.is_match(body.as_bytes())
            }
        }
    }

    /// The folder that the pattern is about with everything in it and nothing else, as a target.
    pub fn all_of(&self) -> Option<String> {
        let Matcher::Prefix { text, .. } = &self.matcher else { return None };
        let scheme = self.scheme.filter(|_| self.glob.is_some())?;
        Some([scheme, ":/", text.strip_suffix('/')?].concat())
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns true if the pattern matches everything.
    pub fn is_catch_all(&self) -> bool {
        self.catch_all
    }

    /// Returns true if exactly one target matches.
    pub fn is_literal(&self) -> bool {
        matches!(self.matcher, Matcher::Literal(_))
    }

    /// Returns true if the last wildcard may match nothing, with the space before it: `ls *`.
    pub fn is_bare(&self) -> bool {
        matches!(self.matcher, Matcher::Prefix { bare: true, .. })
    }

    /// Returns true if it ignores case.
    pub fn folds(&self) -> bool {
        self.fold
    }

    /// The program of a pattern that names only one, for which a rule against it covers its arguments too.
    pub fn one_word(&self) -> Option<&str> {
        match &self.matcher {
            Matcher::Literal(text) if !text.contains(' ') => Some(text),
            _ => None,
        }
    }

    /// Returns the text that every match begins with, to find the rules that can match at all.
    pub fn literal_prefix(&self) -> &str {
        match &self.matcher {
            // `ls *` is also `ls`.
            Matcher::Prefix { text, bare: true } => text.trim_end(),
            Matcher::Literal(text)
            | Matcher::Prefix { text, .. }
            | Matcher::Compiled { start: text, .. } => text,
            _ => "",
        }
    }

    /// Returns true if the pattern contains this word as text, not by a wildcard.
    pub fn names(&self, word: &str) -> bool {
        let (_, body) = split_scheme(&self.source);
        !matches!(self.matcher, Matcher::Search(_))
            && body
                .split_whitespace()
                .any(|part| part == word || part.trim_end_matches('*') == word)
    }
}

/// The scheme, if the text begins with one that is known, and what follows.
pub fn split_scheme(text: &str) -> (Option<&'static str>, &str) {
    let mut start = text.bytes().take(MAX_SCHEME_LENGTH + 1);
    let Some(end) = start.position(|byte| byte == b':') else { return (None, text) };
    let scheme = match &text[..end] {
        "vault" => "vault",
        "fs" => "fs",
        "shell" => "shell",
        "url" => "url",
        "query" => "query",
        "mcp" => "mcp",
        "tool" => "tool",
        _ => return (None, text),
    };
    (Some(scheme), &text[end + 1..])
}

/// A text as a pattern that matches it and nothing else.
pub fn escaped(target: &str) -> String {
    let (scheme, body) = split_scheme(target);
    let special: &[char] = match scheme {
        Some("shell" | "query" | "tool") => &['*', '?', '\\'],
        _ => &['*', '?', '\\', '[', ']', '{', '}', '!'],
    };
    let mut all = scheme.map_or_else(String::new, |scheme| format!("{scheme}:"));
    for letter in body.chars() {
        if special.contains(&letter) {
            all.push('\\');
        }
        all.push(letter);
    }
    all
}

fn from_home(body: &str, style: &Style) -> String {
    let Some(home) = &style.home else { return body.to_owned() };
    for start in ["~", "$HOME"] {
        match body.strip_prefix(start) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                return format!("{}{rest}", home.trim_end_matches('/'));
            }
            _ => {}
        }
    }
    body.to_owned()
}

fn regular(expression: &str) -> Result<Regex, String> {
    RegexBuilder::new(expression)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .nest_limit(REGEX_NESTING)
        .build()
        .map_err(|error| format!("is not a regular expression that can be used: {error}"))
}

fn path_glob(body: &str, files: bool, style: &Style) -> Result<Matcher, String> {
    let body = if files { body.strip_prefix('/').unwrap_or(body) } else { body };
    if body.matches(['*', '?', '[']).count() > MAX_WILDCARDS {
        return Err(format!("expected at most {MAX_WILDCARDS} wildcards, received more"));
    }
    if body.matches([',', '{']).count() > MAX_ALTERNATIVES {
        return Err(format!("expected at most {MAX_ALTERNATIVES} alternatives, received more"));
    }
    if files && body.split('/').any(|part| part == "..") {
        return Err("has .. in it, and targets have none".into());
    }
    if !body.contains(['*', '?', '[', '{', '\\']) {
        return Ok(Matcher::Literal(body.to_owned()));
    }
    if let Some(start) = body.strip_suffix("**")
        && !start.contains(['*', '?', '[', '{', '\\'])
        && (start.is_empty() || start.ends_with('/'))
    {
        return Ok(Matcher::Prefix { text: start.to_owned(), bare: false });
    }
    let glob = GlobBuilder::new(body)
        .literal_separator(!style.star_crosses)
        .backslash_escape(true)
        .build()
        .map_err(|error| format!("is not a glob: {}", error.kind()))?;
    // The expression is compiled here and not there: with bounds of our own, and with an error instead of a panic.
    compiled(String::new(), glob.regex())
}

fn text_glob(body: &str) -> Result<Matcher, String> {
    let mut literal = String::new();
    let mut expression = String::from("(?s-u)^");
    let mut wild = 0;
    let mut letters = body.chars().peekable();
    // A space and a star at the end also match nothing at all: `ls *` is `ls` too.
    let bare = body.len() > 2 && body.ends_with(" *");
    let body_end = body.len() - if bare { 2 } else { 0 };
    let mut at = 0;
    while let Some(letter) = letters.next() {
        if bare && at == body_end {
            break;
        }
        at += letter.len_utf8();
        let plain = match letter {
            '\\' if letters.peek().is_some_and(|next| matches!(next, '*' | '?' | '\\')) => {
                at += 1;
                letters.next()
            }
            '*' => {
                expression.push_str(".*");
                None
            }
            '?' => {
                expression.push_str("(?:[\\x00-\\x7f]|[\\xc0-\\xff][\\x80-\\xbf]*)");
                None
            }
            other => Some(other),
        };
        match plain {
            Some(letter) => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    expression.push_str(&format!("\\x{byte:02x}"));
                }
                if wild == 0 {
                    literal.push(letter);
                }
            }
            None => {
                wild += 1;
                if letters.peek().is_none() && wild == 1 && letter == '*' {
                    return Ok(Matcher::Prefix { text: literal, bare: false });
                }
            }
        }
    }
    if wild > MAX_WILDCARDS {
        return Err(format!("expected at most {MAX_WILDCARDS} wildcards, received {wild}"));
    }
    if wild == 0 {
        return Ok(if bare {
            literal.push(' ');
            Matcher::Prefix { text: literal, bare: true }
        } else {
            Matcher::Literal(literal)
        });
    }
    expression.push_str(if bare { "(?: .*)?$" } else { "$" });
    compiled(literal, &expression)
}

fn compiled(start: String, expression: &str) -> Result<Matcher, String> {
    RegexBuilder::new(expression)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build()
        .map(|regex| Matcher::Compiled { start, regex })
        .map_err(|_| "is too large".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, domain: Domain, target: &str) -> bool {
        Pattern::new(pattern, Some(domain), &Style::default())
            .unwrap()
            .matches(&Subject::new(target))
    }

    #[test]
    fn the_scheme_is_split_off_before_the_glob_is_read() {
        assert!(matches("fs:**/*.env*", Domain::Read, "fs:/home/u/.env"));
        assert!(matches("fs:**/*.env*", Domain::Read, "fs:/.env"));
        assert!(matches("vault:**/*.md", Domain::Read, "vault:/a.md"));
        assert!(matches("vault:/**/*.md", Domain::Read, "vault:/a/b.md"));
        assert!(!matches("vault:**/*.md", Domain::Read, "fs:/a.md"));
        assert!(!matches("vault:*.md", Domain::Read, "vault:/a/b.md"));
        assert!(matches("vault:**", Domain::Edit, "vault:/a\nb"));
        assert!(matches("mcp:git/*", Domain::Mcp, "mcp:git/log"));
        assert!(!matches("mcp:git/*", Domain::Mcp, "mcp:gitx/log"));
        assert!(matches(
            "url:https://*.example.com/**",
            Domain::WebFetch,
            "url:https://a.example.com/b/c"
        ));
        assert!(!matches(
            "url:https://*.example.com/**",
            Domain::WebFetch,
            "url:https://evil/.example.com/b"
        ));
    }

    #[test]
    fn a_path_without_a_scheme_lies_where_it_begins() {
        assert!(matches("src/**", Domain::Read, "vault:/src/a"));
        assert!(!matches("src/**", Domain::Read, "fs:/src/a"));
        assert!(matches("/etc/**", Domain::Read, "fs:/etc/a"));
        assert!(!matches("/etc/**", Domain::Read, "vault:/etc/a"));
        for target in ["vault:/a/.env", "fs:/a/.env", "vault:/.env"] {
            assert!(matches("**/.env", Domain::Read, target), "{target}");
            assert!(matches("*", Domain::Read, target), "{target}");
        }
    }

    #[test]
    fn a_star_in_a_command_stands_for_anything() {
        for target in ["shell:rm -rf /x", "shell:rm 'a\nb'", "shell:rm"] {
            assert!(matches("shell:*", Domain::Bash, target), "{target}");
            assert!(matches("*", Domain::Bash, target), "{target}");
            assert!(matches("rm *", Domain::Bash, target), "{target}");
        }
        assert!(!matches("ls *", Domain::Bash, "shell:lstmeval"));
        assert!(matches("ls*", Domain::Bash, "shell:lstmeval"));
        assert!(matches("git * --force*", Domain::Bash, "shell:git push --force-with-lease"));
        assert!(matches("* --version", Domain::Bash, "shell:node --version"));
        assert!(!matches("git status", Domain::Bash, "shell:git status -s"));
        assert!(matches("find . -name \\*.ts", Domain::Bash, "shell:find . -name *.ts"));
        assert!(!matches("find . -name \\*.ts", Domain::Bash, "shell:find . -name a.ts"));
        assert!(matches("file?.txt", Domain::Bash, "shell:file1.txt"));
        assert!(matches("file?.txt", Domain::Bash, "shell:fileé.txt"));
        assert!(!matches("file?.txt", Domain::Bash, "shell:file12.txt"));
        assert!(matches("foo+bar", Domain::Bash, "shell:foo+bar"));
    }

    #[test]
    fn an_escaped_target_matches_itself_only() {
        for target in ["shell:ls *", "vault:/a[1]{b}*.md", "shell:echo '\\*'", "query:what? *"] {
            let domain = match split_scheme(target).0 {
                Some("vault") => Domain::Read,
                Some("query") => Domain::WebSearch,
                _ => Domain::Bash,
            };
            assert!(matches(&escaped(target), domain, target), "{target}");
        }
        assert!(!matches(&escaped("shell:ls *"), Domain::Bash, "shell:ls -a"));
        assert!(!matches(&escaped("vault:/a*.md"), Domain::Read, "vault:/ab.md"));
    }

    #[test]
    fn a_regular_expression_is_searched_for_with_and_without_the_scheme() {
        assert!(matches("regex:^git (status|log)$", Domain::Bash, "shell:git log"));
        assert!(matches("regex:^shell:git ", Domain::Bash, "shell:git log"));
        assert!(!matches("regex:^git$", Domain::Bash, "shell:git log"));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_a_reason() {
        let refuse = |pattern: &str| {
            Pattern::new(pattern, Some(Domain::Read), &Style::default()).unwrap_err()
        };
        assert!(refuse("").contains("is empty"));
        assert_eq!(refuse(&"a".repeat(1_000_000)), "expected at most 1024 bytes, received 1000000");
        assert!(refuse(&"{".repeat(1000)).contains(" alternatives, received more"));
        assert!(refuse(&"*a".repeat(300)).contains(" wildcards, received "));
        assert!(refuse("shell:ls").contains("vault: or fs:"));
        assert!(refuse("vault:../x").contains(".."));
        for pattern in ["[!", "[z-a]", "{a", "regex:(", "regex:(?=a)", "regex:a{1000}{1000}"] {
            refuse(pattern);
        }
        let nested = format!("regex:{}{}", "(".repeat(400), ")".repeat(400));
        refuse(&nested);
    }

    #[test]
    fn case_and_normal_forms_fold_where_the_file_system_does() {
        let style = Style { fold_case: true, ..Style::default() };
        let pattern = Pattern::new("vault:Secret/**", Some(Domain::Read), &style).unwrap();
        assert!(pattern.matches(&Subject::new("vault:/SECRET/a")));
        let exact = Pattern::new("vault:Secret/**", Some(Domain::Read), &Style::default()).unwrap();
        assert!(!exact.matches(&Subject::new("vault:/SECRET/a")));
        let composed =
            Pattern::new("vault:caf\u{e9}", Some(Domain::Read), &Style::default()).unwrap();
        assert!(composed.matches(&Subject::new("vault:/cafe\u{301}")));
    }

    #[test]
    fn a_home_is_put_in_at_the_beginning_only() {
        let style = Style { home: Some("/home/u".into()), ..Style::default() };
        for (pattern, target) in [
            ("~/projects/*", "fs:/home/u/projects/a"),
            ("$HOME/projects/*", "fs:/home/u/projects/a"),
            ("fs:~", "fs:/home/u"),
        ] {
            let pattern = Pattern::new(pattern, Some(Domain::Read), &style).unwrap();
            assert!(pattern.matches(&Subject::new(target)), "{target}");
        }
    }
}
