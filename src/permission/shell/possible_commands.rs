//! Words of a program that may be a command that it runs. Each is examined as if it ran: its files, and denials of
//! commands and files, count. None needs a permission of its own.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::analyzer::{RESERVE, Walker};
use super::expand::closing;
use super::printing::printed_secrets::may_print;
use super::program_names::base;
use super::programs::{self, Kind};
use super::simple_command::glued;
use super::word::Word;
use super::wrappers::is_wrapper;
use super::{AnalyzedCommand, Concern, files::edited_files};

/// How concerns about commands that may run are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// They are concerns about the program.
    Keep,
    /// They are dropped: the words are unlikely to be a command.
    Drop,
}

/// Programs that run commands on another machine, later, or in a language of their own.
const RUN_ELSEWHERE: [&str; 12] = [
    "ssh",
    "openssl",
    "sqlite3",
    "psql",
    "mysql",
    "redis-cli",
    "ansible",
    "ansible-playbook",
    "vagrant",
    "systemctl",
    "crontab",
    "ldd",
];

/// Words of package managers and git that precede a command.
const BEFORE_COMMANDS: [&str; 9] =
    ["exec", "x", "dlx", "run", "--", "foreach", "-x", "--exec", "--call"];

/// Words before the names of packages, and the number of words among which they are.
const ADD_PACKAGES: [&str; 7] =
    ["install", "add", "inject", "remove", "uninstall", "upgrade", "-S"];
const MAX_BEFORE: usize = 8;

/// Programs whose arguments are a command from the first on.
const RUN_PACKAGES: [&str; 3] = ["npx", "bunx", "pnpx"];

/// Programs that run commands in another file system, or texts that are not commands.
const RUN_NO_FILES: [&str; 16] = [
    "docker",
    "podman",
    "kubectl",
    "helm",
    "docker-compose",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "nodejs",
    "perl",
    "ruby",
    "php",
    "make",
];

/// Maximum number of words of a possible command in which one that prints secrets is looked for: each word begins one.
const MAX_PRINTING: usize = 256;

/// Maximum number of substitutions in a text that was not understood.
const MAX_HIDDEN: usize = 32;

/// Options whose value is the working directory of a command.
const FOLDER_LETTERS: [&str; 5] = ["-C", "-D", "-d", "-w", "-W"];
const FOLDER_NAMES: [&str; 8] =
    ["--chdir", "--cwd", "--wd", "--work", "--dir", "--root", "--pwd", "--current-dir"];

/// Returns how the words of a program are examined, and where they begin; `None` if it runs none of them.
pub(super) fn mode(base: &str, kind: Option<Kind>, words: &[Word]) -> Option<(Guess, usize)> {
    match kind {
        None if edited_files::has(edited_files::unversioned(base)) => None,
        None => Some((Guess::Drop, 1)),
        Some(Kind::Runner) if !RUN_ELSEWHERE.contains(&base) => Some((Guess::Keep, 1)),
        Some(Kind::Code) if RUN_PACKAGES.contains(&base) => Some((Guess::Drop, 1)),
        Some(Kind::Code | Kind::Git | Kind::Fd) if !RUN_NO_FILES.contains(&base) => {
            let is_before = |word: &Word| {
                BEFORE_COMMANDS.contains(&word.text.split('=').next().unwrap_or_default())
            };
            words.iter().skip(1).position(is_before).map(|at| (Guess::Drop, at + 1))
        }
        // The name of an architecture, followed by a command.
        Some(Kind::Inert) if base == "arch" => Some((Guess::Keep, 1)),
        _ => None,
    }
}

impl Walker<'_> {
    /// Returns true if a word is a program that accesses files named by its arguments.
    fn may_begin(&self, word: &Word) -> bool {
        let name = &*base(&word.text);
        let kind = programs::find(name).map(|program| program.kind);
        let by_kind = matches!(
            kind,
            Some(
                Kind::Reader
                    | Kind::Grep
                    | Kind::Lister
                    | Kind::Writer
                    | Kind::Both
                    | Kind::Filter
                    | Kind::Copier
                    | Kind::Mover
                    | Kind::Dd
                    | Kind::Sed
                    | Kind::Awk
                    | Kind::Find
            )
        );
        by_kind
            || (!self.is_nested() && is_wrapper(name))
            || name.starts_with("mkfs")
            || name == "tar"
    }

    /// Returns true if a word is a program that can change files in place, and not the name of a package to install.
    fn may_edit(word: &Word, before: &[Word]) -> bool {
        let name = base(&word.text);
        let name = edited_files::unversioned(&name);
        (edited_files::has(name) || edited_files::is_interpreter(name)) && !precede_packages(before)
    }

    /// Examines the end of a command that exceeds the limits once, where a hard deny is most likely.
    pub(super) fn guess_last(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        if let Some(nested) = self.take_reserve() {
            let from = words.len().saturating_sub(RESERVE).max(1);
            self.guess(words, from, Guess::Keep, command);
            self.end_reserve(nested);
        }
    }

    /// Examines the input of a program as if it were a command that runs.
    pub(super) fn guess_texts(&mut self, texts: &[String], command: &mut AnalyzedCommand) {
        self.guessing(Guess::Keep, command, |walker| {
            for text in texts {
                walker.apart(|walker| walker.source(text));
            }
        });
    }

    /// Examines the values of variables that can change what is run as if they were commands.
    pub(super) fn guess_values(&mut self, values: &[&str], command: &mut AnalyzedCommand) {
        self.guessing(Guess::Drop, command, |walker| {
            for value in values.iter().filter(|value| may_be_text(value)) {
                walker.apart(|walker| walker.source(value));
            }
        });
    }

    /// Examines the substitutions in a text that was not understood as a whole: an index, arithmetic and the value
    /// for an unset variable can hold some that no word shows.
    pub(super) fn guess_hidden(&mut self, text: &str) {
        self.guessing(Guess::Drop, &mut AnalyzedCommand::default(), |walker| {
            for inner in substitutions(text) {
                if walker.substituted.contains(&fingerprint(inner)) {
                    continue;
                }
                let Some(left) = walker.left.checked_sub(inner.len()) else { break };
                walker.left = left;
                walker.apart(|walker| walker.source(inner));
            }
        });
    }

    /// Runs `work` on commands of which it is unknown whether they run.
    pub(super) fn guessing(
        &mut self,
        how: Guess,
        command: &mut AnalyzedCommand,
        work: impl FnOnce(&mut Self),
    ) {
        let outer = (self.guess.replace(how), std::mem::take(&mut self.kept));
        work(self);
        self.guess = outer.0;
        for concern in std::mem::replace(&mut self.kept, outer.1) {
            if !command.concerns.contains(&concern) {
                command.concerns.push(concern);
            }
        }
    }

    /// Examines all possible commands among the words from an index on.
    pub(super) fn guess(
        &mut self,
        words: &[Word],
        from: usize,
        how: Guess,
        command: &mut AnalyzedCommand,
    ) {
        // The commands within a command that may run are among those of the whole.
        if self.is_flat {
            return;
        }
        self.guessing(how, command, |walker| walker.guess_words(words, from));
    }

    fn guess_words(&mut self, words: &[Word], from: usize) {
        let places = self.places.clone();
        // Options behind a program that changes files are its own: `clang-format -i x`.
        let edits = words.iter().skip(from).position(|word| Self::may_edit(word, &[]));
        let own = &words[..edits.map_or(words.len(), |at| from + at)];
        for word in self.folders_among(own, from) {
            self.places.extend(self.folders.absolute(&word, places.first().map_or("/", |at| at)));
        }
        // The shortest first: they cost the least, and there may be too many.
        for (at, word) in words.iter().enumerate().skip(from).rev().filter(|(_, word)| word.known) {
            if self.is_exhausted() {
                break;
            }
            if !word.text.starts_with('-')
                && (self.may_begin(word)
                    || Self::may_edit(word, &words[..at])
                    || may_print(&words[at..words.len().min(at + MAX_PRINTING)]))
            {
                self.is_flat = true;
                let rest = &words[at..];
                // It is followed by lists of arguments, each for a command of its own.
                let lists = rest.iter().position(|word| word.text.starts_with(":::"));
                for inner in [Some(rest), lists.map(|end| &rest[..end])].into_iter().flatten() {
                    self.apart(|walker| {
                        let one = walker.judge(inner, Vec::new());
                        walker.push(one);
                    });
                }
                self.is_flat = false;
            }
            let text = word.text.as_str();
            let values: Vec<&str> = match text.strip_prefix('-') {
                None => vec![text],
                Some(long) if long.starts_with('-') => {
                    text.split_once('=').map(|(_, value)| value).into_iter().collect()
                }
                Some(letters) => glued(letters).take(3).collect(),
            };
            for value in values.into_iter().filter(|value| may_be_text(value)) {
                self.apart(|walker| walker.source(value));
            }
        }
        self.places = places;
    }

    /// Returns the directories among the words that a command may run in.
    pub(super) fn folders_among(&self, words: &[Word], from: usize) -> Vec<String> {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate().skip(from) {
            let text = word.text.as_str();
            let next = words.get(at + 1).map(|word| word.text.clone());
            let is_long = FOLDER_NAMES.iter().any(|name| text.starts_with(name));
            let letters = FOLDER_LETTERS.iter().find(|name| text.starts_with(*name));
            match text.split_once('=') {
                Some((_, value)) if is_long => found.push(value.to_owned()),
                None if is_long => found.extend(next),
                _ if text == "-" || matches!(text, "-l" | "-i" | "--login") => {
                    found.extend(self.home.map(str::to_owned));
                }
                _ => match letters {
                    Some(letters) if text.len() > letters.len() => {
                        found.push(text[letters.len()..].trim_start_matches('=').to_owned());
                    }
                    Some(_) => found.extend(next),
                    None => {}
                },
            }
        }
        found.truncate(4);
        found
    }

    /// Marks a command that may run as one that needs no permission.
    pub(super) fn as_guess(&mut self, command: &mut AnalyzedCommand) {
        let Some(how) = self.guess else { return };
        command.quiet = true;
        let concerns: Vec<Concern> = std::mem::take(&mut command.concerns);
        if how == Guess::Keep {
            self.kept.extend(concerns);
        }
    }
}

/// Returns true if names of packages follow these words.
fn precede_packages(words: &[Word]) -> bool {
    let own: &[&str] = match words.first().map_or("", |word| &word.text) {
        "conda" | "mamba" | "micromamba" => &["create"],
        "nix-shell" => &["-p", "--packages"],
        _ => &[],
    };
    let mut before = words.iter().take(MAX_BEFORE).map(|word| word.text.as_str());
    before.any(|word| ADD_PACKAGES.contains(&word) || own.contains(&word))
}

/// Returns true if a program runs its input.
pub(super) fn runs_input(words: &[Word]) -> bool {
    let name = base(&words[0].text);
    let is_shell = is_wrapper(&name)
        || programs::find(&name).is_some_and(|program| program.kind == Kind::Runner);
    is_shell && !RUN_ELSEWHERE.contains(&&*name)
}

pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns what is between the brackets of each substitution, however it is quoted; the innermost first.
fn substitutions(text: &str) -> impl Iterator<Item = &str> {
    let openers = text.rmatch_indices(['(', '`']).filter(|(at, opener)| {
        *opener == "`" || text[..*at].ends_with(['$', '<', '>']) && !text[at + 1..].starts_with('(')
    });
    openers.take(MAX_HIDDEN).map(|(at, opener)| {
        let inner = &text[at + 1..];
        let end = if opener == "`" { inner.find('`') } else { closing(inner, '(', ')') };
        &inner[..end.unwrap_or(inner.len())]
    })
}

/// Returns true if a text may be a command with arguments or redirections.
fn may_be_text(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_whitespace() || b"<>|;&$`".contains(&byte))
}
