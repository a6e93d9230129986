//! Which names are those of files with secrets, and of the folder that git runs programs from. Case, full-width letters
//! and what file systems ignore in a name make no difference.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// The names before anybody adds one; `!` takes names out again.
pub const SENSITIVE_FILES: [&str; 5] = [".env", ".env.*", "!.env.example", "*.pem", "*.key"];

/// Git's folder, also by the short name that Windows gives it.
const GIT: [&str; 2] = [".git", "git~1"];

/// How folders are called that hold what is in git's folder and nothing else.
const BARE: &str = ".git";

static GIT_NAMES: LazyLock<SensitiveNames> =
    LazyLock::new(|| SensitiveNames::new(&GIT.map(str::to_owned)).unwrap_or_default());

/// Whether a path is git's folder or lies below one: there git finds programs that it runs, and settings that name more
/// of them. A glob does if it says so.
pub fn is_of_git(path: &str, is_glob: bool) -> bool {
    path.split(['/', '\\']).any(|name| match is_glob {
        true => GIT_NAMES.can_be_sensitive(name, false),
        false => GIT_NAMES.is_sensitive(name) || plain(name).ends_with(BARE),
    })
}

/// So many lists of alternatives in a glob are taken apart.
const MOST_ALTERNATIVES: usize = 3;

/// Names with at most one `*` each, in order; the last one that matches counts.
#[derive(Debug, Clone, Default)]
pub struct SensitiveNames(Vec<Name>);

#[derive(Debug, Clone)]
struct Name {
    counts: bool,
    start: String,
    end: Option<String>,
}

impl Name {
    fn is(&self, name: &str) -> bool {
        let Name { start, end, .. } = self;
        // Every word of every command comes by here, and nearly all differ in their first or last letter.
        let begins = start.is_empty() || start.as_bytes().first() == name.as_bytes().first();
        match end {
            None => begins && name == start,
            Some(end) => {
                let ends = end.is_empty() || end.as_bytes().last() == name.as_bytes().last();
                begins
                    && ends
                    && name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end.as_str())
            }
        }
    }
}

impl SensitiveNames {
    /// Reads names; the error is what is wrong with one.
    pub fn new(names: &[String]) -> Result<Self, String> {
        let read = |name: &String| {
            let (counts, body) =
                name.strip_prefix('!').map_or((true, name.as_str()), |rest| (false, rest));
            let body = plain(body);
            if body.is_empty() || body.contains('/') || body.matches('*').count() > 1 {
                return Err(format!("got {name:?}, allowed is a file name with at most one *"));
            }
            let (start, end) = body
                .split_once('*')
                .map_or((body.as_str(), None), |(start, end)| (start, Some(end.to_owned())));
            Ok(Name { counts, start: start.to_owned(), end })
        };
        names.iter().map(read).collect::<Result<_, _>>().map(SensitiveNames)
    }

    /// Whether a path ends in such a name.
    pub fn is_sensitive(&self, path: &str) -> bool {
        let name = plain(last(path));
        let found = self.0.iter().rev().find(|one| one.is(&name));
        found.is_some_and(|one| one.counts)
    }

    /// Whether a glob means such a name. One for any name at all counts only if `wide_counts`.
    pub fn can_be_sensitive(&self, glob: &str, wide_counts: bool) -> bool {
        if let Some((before, rest)) = glob.split_once('{')
            && let Some((all, behind)) = rest.split_once('}')
        {
            // Nested ones are not taken apart, nor many: they may mean anything.
            return all.contains('{')
                || glob.matches('{').count() > MOST_ALTERNATIVES
                || all.split(',').any(|one| {
                    self.can_be_sensitive(&[before, one, behind].concat(), wide_counts)
                });
        }
        let glob = plain(last(glob));
        let Some(first) = glob.find(['*', '?', '[']) else { return self.is_sensitive(&glob) };
        let start = &glob[..first];
        let end = glob.rfind(['*', '?', ']']).map_or("", |at| &glob[at + 1..]);
        let open_end = !end.contains('.');
        if start.is_empty() && open_end {
            return wide_counts;
        }
        self.0.iter().filter(|one| one.counts).any(|one| {
            // A wildcard does not stand for a dot at the beginning of a name.
            let longer = one.end.is_some() && start.starts_with(&one.start);
            let starts = longer || one.start.starts_with(start);
            let starts = starts && (!start.is_empty() || !one.start.starts_with('.'));
            let tail = one.end.as_deref().unwrap_or(&one.start);
            let ends = open_end || tail.is_empty() || end.ends_with(tail) || tail.ends_with(end);
            // One that may end in anything does not say that it ends like that.
            starts && ends && (wide_counts || !open_end || !one.start.is_empty())
        })
    }
}

fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A name as the most careless file system compares it.
fn plain(name: &str) -> String {
    let mut name: String = if name.is_ascii() {
        name.to_ascii_lowercase()
    } else {
        name.nfkc().filter(|letter| !is_ignored(*letter)).flat_map(char::to_lowercase).collect()
    };
    // A stream of a file on Windows: `.env::$DATA`.
    let end = name.find(':').unwrap_or(name.len());
    name.truncate(name[..end].trim_end_matches([' ', '.']).len());
    name
}

/// Letters that HFS+ ignores in a name, by the table that git keeps of them.
fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> SensitiveNames {
        let names: Vec<String> = SENSITIVE_FILES.map(str::to_owned).to_vec();
        SensitiveNames::new(&names).unwrap()
    }

    #[test]
    fn names_are_compared_as_the_most_careless_file_system_does() {
        for path in [
            "/.env",
            "/p/.ENV",
            "/p/.env ",
            "/p/.env.",
            "/p/.env::$DATA",
            "/p/.ｅnv",
            "/p/.e\u{200c}nv",
            "/p/.env.local",
            "/KEY.PEM",
            "/id.key",
            "a\\.env",
        ] {
            assert!(names().is_sensitive(path), "{path}");
        }
        for path in ["/.env.example", "/my.environment.md", "/env", "/.envrc", "/key", "/monkey"] {
            assert!(!names().is_sensitive(path), "{path}");
        }
    }

    #[test]
    fn a_glob_is_sensitive_when_it_says_so() {
        for glob in [
            ".env",
            ".e*",
            ".env*",
            "*.pem",
            "*.{md,pem}",
            "**/.env.*",
            "**/*.key",
            "{a/.env,b}",
            "{a,b}/.{x,e*}",
            "a*.key",
            "{a,{b,c}}",
        ] {
            assert!(names().can_be_sensitive(glob, false), "{glob}");
        }
        for glob in [
            "*.md",
            "**/*.ts",
            "*",
            "**/*",
            "src/*.rs",
            "a*.ts",
            "**/*.{js,jsx,ts,tsx}",
            "{package,tsconfig}.json",
            "README*",
        ] {
            assert!(!names().can_be_sensitive(glob, false), "{glob}");
        }
        assert!(names().can_be_sensitive("*", true));
        assert!(!names().can_be_sensitive("src/*.ts", true));
    }

    #[test]
    fn what_means_the_folder_of_git_is_of_git() {
        for path in [
            "/p/.git/hooks/a",
            "/p/.GIT",
            "/.git./a",
            "GIT~1\\config",
            "/.git::$INDEX_ALLOCATION/a",
            "/.g\u{200c}it",
        ] {
            assert!(is_of_git(path, false), "{path}");
        }
        assert!(is_of_git("/a.git/b", false));
        for glob in ["/p/.g?t/hooks", "/p/.*", "/.gi[t]/a", "/p/.git/*"] {
            assert!(is_of_git(glob, true), "{glob}");
        }
        for path in ["/p/.github/a", "/git/a", "/p/.gitignore", "/a.gitx/b"] {
            assert!(!is_of_git(path, false), "{path}");
            assert!(!is_of_git(path, true), "{path}");
        }
        for glob in ["/p/*", "/p/**/a", "/p/*.md", "/p/.github*"] {
            assert!(!is_of_git(glob, true), "{glob}");
        }
    }

    #[test]
    fn a_name_with_a_folder_is_refused() {
        assert!(SensitiveNames::new(&["a/b".into()]).is_err());
    }
}
