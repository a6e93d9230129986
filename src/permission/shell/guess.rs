//! Commands that may stand among the words of a program that runs some of them, where nobody knows which. Each is looked at as
//! if it ran: its files, and bans of commands and of files, count. None needs a permission of its own.

use super::analyzer::{RESERVE, Walker};
use super::programs::{self, Kind};
use super::simple_command::glued;
use super::word::Word;
use super::wrappers::is_wrapper;
use super::{Doubt, Simple};

/// What becomes of the doubts about commands that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// They are doubts about the program.
    Keep,
    /// None counts: that the words are a command is not likely.
    Drop,
}

/// Programs that take commands and run them on another machine, later, or in a language of their own.
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

/// Words of package managers and git behind which a command stands.
const BEFORE_COMMANDS: [&str; 9] =
    ["exec", "x", "dlx", "run", "--", "foreach", "-x", "--exec", "--call"];

/// Programs whose arguments are commands from the first on.
const RUN_PACKAGES: [&str; 3] = ["npx", "bunx", "pnpx"];

/// Programs that run commands of another system of files, or texts that are no commands.
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

/// Options whose value is the folder that a command runs in.
const FOLDER_LETTERS: [&str; 5] = ["-C", "-D", "-d", "-w", "-W"];
const FOLDER_NAMES: [&str; 8] =
    ["--chdir", "--cwd", "--wd", "--work", "--dir", "--root", "--pwd", "--current-dir"];

/// How the words of a program are looked at, and where they begin; `None` if it runs none of them.
pub(super) fn mode(base: &str, kind: Option<Kind>, words: &[Word]) -> Option<(Guess, usize)> {
    match kind {
        None => Some((Guess::Drop, 1)),
        Some(Kind::Runner) if !RUN_ELSEWHERE.contains(&base) => Some((Guess::Keep, 1)),
        Some(Kind::Code) if RUN_PACKAGES.contains(&base) => Some((Guess::Drop, 1)),
        Some(Kind::Code | Kind::Git) if !RUN_NO_FILES.contains(&base) => {
            let is_before = |word: &Word| {
                BEFORE_COMMANDS.contains(&word.text.split('=').next().unwrap_or_default())
            };
            words.iter().skip(1).position(is_before).map(|at| (Guess::Drop, at + 1))
        }
        // The name of an architecture, and a command.
        Some(Kind::Inert) if base == "arch" => Some((Guess::Keep, 1)),
        _ => None,
    }
}

impl Walker<'_> {
    /// Whether a word is a program that does something with files that its arguments name.
    fn may_begin(&self, word: &Word) -> bool {
        let name = word.text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
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
        by_kind || (!self.is_nested() && is_wrapper(name)) || name.starts_with("mkfs")
    }

    /// Looks at the end of a command that is too much, once: what is never allowed mostly stands there.
    pub(super) fn guess_last(&mut self, words: &[Word], command: &mut Simple) {
        if let Some(nested) = self.take_reserve() {
            let from = words.len().saturating_sub(RESERVE).max(1);
            self.guess(words, from, Guess::Keep, command);
            self.end_reserve(nested);
        }
    }

    /// Looks at what a program is given to read as if it was a command, and ran.
    pub(super) fn guess_texts(&mut self, texts: &[String], command: &mut Simple) {
        self.guessing(Guess::Keep, command, |walker| {
            for text in texts {
                walker.apart(|walker| walker.source(text));
            }
        });
    }

    /// Does something with commands of which nobody knows whether they run.
    fn guessing(&mut self, how: Guess, command: &mut Simple, work: impl FnOnce(&mut Self)) {
        let outer = (self.guess.replace(how), std::mem::take(&mut self.kept));
        work(self);
        self.guess = outer.0;
        for doubt in std::mem::replace(&mut self.kept, outer.1) {
            if !command.doubts.contains(&doubt) {
                command.doubts.push(doubt);
            }
        }
    }

    /// Looks at whatever may be a command among the words from one on.
    pub(super) fn guess(&mut self, words: &[Word], from: usize, how: Guess, command: &mut Simple) {
        // Among the words of a command that may run are no others than among those of the whole.
        if self.is_flat {
            return;
        }
        self.guessing(how, command, |walker| walker.guess_words(words, from));
    }

    fn guess_words(&mut self, words: &[Word], from: usize) {
        let places = self.places.clone();
        for word in self.folders_among(words, from) {
            self.places.extend(self.folders.absolute(&word, places.first().map_or("/", |at| at)));
        }
        // The shortest first: they take the least, and there can be too many.
        for (at, word) in words.iter().enumerate().skip(from).rev().filter(|(_, word)| word.known) {
            if self.is_exhausted() {
                break;
            }
            if !word.text.starts_with('-') && self.may_begin(word) {
                self.is_flat = true;
                let rest = &words[at..];
                // Behind it stand lists of arguments, each for a command of its own.
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

    /// Folders in which a command among the words may run.
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

    /// What may run is no command that needs a permission.
    pub(super) fn as_guess(&mut self, command: &mut Simple) {
        let Some(how) = self.guess else { return };
        command.quiet = true;
        let doubts: Vec<Doubt> = std::mem::take(&mut command.doubts);
        if how == Guess::Keep {
            self.kept.extend(doubts);
        }
    }
}

/// Whether a program runs what it is given to read.
pub(super) fn runs_input(words: &[Word]) -> bool {
    let name = words[0].text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_shell = is_wrapper(&name)
        || programs::find(&name).is_some_and(|program| program.kind == Kind::Runner);
    is_shell && !RUN_ELSEWHERE.contains(&name.as_str())
}

/// Whether a text may be a command with arguments or redirections.
fn may_be_text(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_whitespace() || b"<>|;&$`".contains(&byte))
}
