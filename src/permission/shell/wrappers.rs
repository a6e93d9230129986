//! Programs that run their arguments, and where the command begins.

use super::name_letters::is_in_variable;
use std::sync::LazyLock;

use super::env_command::{Environment, environment};
use super::shells::has_known_options;
use super::word::{Word, quoted};
use crate::util::hash::NameMap;

/// The command that a program runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// The words from this index on.
    Words(usize),
    /// The words from this index on, and further unknown words.
    WordsAndMore(usize),
    /// The words from this index on, with elevated rights: the outer command is judged too.
    Powerful(usize),
    /// A text for a shell.
    Text(usize),
    /// Texts for a shell that are made of the words from this index on.
    Texts(usize, Vec<String>),
    /// None: the program only reads.
    Nothing,
    /// The command of `env`.
    Environment(Environment),
    /// An unknown command.
    Unknown,
}

impl Wrapped {
    /// Returns the words of the program itself, before the command that it runs.
    pub(crate) fn own<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        match self {
            Self::Words(at)
            | Self::WordsAndMore(at)
            | Self::Powerful(at)
            | Self::Text(at)
            | Self::Texts(at, _) => &words[..*at],
            Self::Environment(env) => &words[..env.at],
            Self::Nothing | Self::Unknown => words,
        }
    }

    /// Returns true if there is no command.
    pub(crate) fn runs_nothing(&self, words: &[Word]) -> bool {
        match self {
            Self::Nothing => true,
            Self::Environment(env) => env.at >= words.len() && env.split.is_none(),
            _ => false,
        }
    }
}

struct Wrapper {
    names: &'static [&'static str],
    /// Options without a value.
    plain: &'static [&'static str],
    /// Options with a value, in the same word or the next.
    valued: &'static [&'static str],
    /// Number of arguments before the command.
    before: usize,
}

static WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["timeout", "gtimeout"],
        plain: &["--preserve-status", "--foreground", "-v", "--verbose"],
        valued: &["-s", "--signal", "-k", "--kill-after"],
        before: 1,
    },
    Wrapper { names: &["nice"], plain: &[], valued: &["-n", "--adjustment"], before: 0 },
    Wrapper { names: &["ionice"], plain: &["-t"], valued: &["-c", "-n"], before: 0 },
    Wrapper {
        names: &["nohup", "caffeinate", "chronic", "builtin"],
        plain: &[],
        valued: &[],
        before: 0,
    },
    Wrapper {
        names: &["setsid"],
        plain: &["-w", "--wait", "-f", "--fork", "-c", "--ctty"],
        valued: &[],
        before: 0,
    },
    Wrapper {
        names: &["time", "gtime"],
        plain: &["-p", "-v", "-q", "-a", "-l", "--portability", "--verbose", "--quiet", "--append"],
        valued: &["-f", "--format"],
        before: 0,
    },
    Wrapper {
        names: &["stdbuf"],
        plain: &[],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        before: 0,
    },
    Wrapper { names: &["command"], plain: &["-p"], valued: &[], before: 0 },
    Wrapper { names: &["exec"], plain: &["-c", "-l"], valued: &[], before: 0 },
];

static POWERFUL: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        plain: &[
            "-n",
            "-S",
            "-k",
            "-K",
            "-b",
            "-H",
            "-E",
            "-A",
            "-P",
            "-B",
            "--non-interactive",
            "--preserve-env",
            "--stdin",
            "--background",
            "--set-home",
        ],
        valued: &["-u", "--user", "-g", "--group", "-p", "--prompt", "-T", "--preserve-env"],
        before: 0,
    },
    Wrapper { names: &["doas"], plain: &["-n"], valued: &["-u"], before: 0 },
];

static XARGS: Wrapper = Wrapper {
    names: &["xargs", "gxargs"],
    plain: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
    valued: &[
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-L",
        "--max-lines",
        "-I",
        "-d",
        "--delimiter",
        "-s",
        "--max-chars",
        "-E",
    ],
    before: 0,
};

static WATCH: Wrapper = Wrapper {
    names: &["watch"],
    plain: &[
        "-b",
        "--beep",
        "-c",
        "--color",
        "-C",
        "--no-color",
        "-d",
        "--differences",
        "--differences=permanent",
        "-e",
        "--errexit",
        "-g",
        "--chgexit",
        "-p",
        "--precise",
        "-r",
        "--no-rerun",
        "-t",
        "--no-title",
        "-w",
        "--no-wrap",
        "-x",
        "--exec",
    ],
    valued: &["-n", "--interval", "-q", "--equexit"],
    before: 0,
};

static PARALLEL: Wrapper = Wrapper {
    names: &["parallel"],
    plain: &[
        "-k",
        "--keep-order",
        "-t",
        "--verbose",
        "-u",
        "--ungroup",
        "--group",
        "--lb",
        "--line-buffer",
        "--bar",
        "--eta",
        "--progress",
        "--tag",
        "--will-cite",
    ],
    valued: &["-j", "--jobs", "-P", "--max-procs", "--delay", "--halt", "--retries", "--timeout"],
    before: 0,
};

/// Maximum number of arguments of `parallel` that are put in one by one.
const MAX_ARGUMENTS: usize = 16;

/// A wrapper, and what it makes of the place of its command.
type Row = (&'static Wrapper, fn(usize) -> Wrapped);

/// The wrappers by their names.
static BY_NAME: LazyLock<NameMap<Row>> = LazyLock::new(|| {
    let rows = |list: &'static [Wrapper], wrapped: fn(usize) -> Wrapped| {
        list.iter().flat_map(move |row| row.names.iter().map(move |name| (*name, (row, wrapped))))
    };
    rows(WRAPPERS, Wrapped::Words)
        .chain(rows(POWERFUL, Wrapped::Powerful))
        .chain(rows(std::slice::from_ref(&XARGS), Wrapped::WordsAndMore))
        .collect()
});

/// Returns the command that a command runs, if its program runs another one. `name` is the program without its
/// directory.
pub(super) fn unwrap(name: &str, words: &[Word]) -> Option<Wrapped> {
    match name {
        _ if has_known_options(name) => return Some(shell(words)),
        "env" => return Some(of_env(words)),
        "watch" => return watch(words),
        "parallel" => return parallel(words),
        "command" if is_lookup(words) => return Some(Wrapped::Nothing),
        _ => {}
    }
    let (wrapper, wrapped) = BY_NAME.get(name)?;
    Some(first_word(wrapper, words).map_or(Wrapped::Unknown, wrapped))
}

/// Returns true if a command only looks for a program: `command -v X`.
pub(super) fn is_lookup(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.text == "command")
        && words
            .get(1)
            .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V" | "-pv" | "-pV"))
}

/// Returns true if a word sets a variable for the command after it.
pub(super) fn is_assignment(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    name.len() < text.len()
        && name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(is_in_variable)
}

/// Returns true if a program only runs the command after its options.
pub(super) fn is_wrapper(name: &str) -> bool {
    has_known_options(name) || name == "env" || BY_NAME.contains_key(name)
}

/// Returns the index of the command, or `None` if an option is unknown or there is no command.
fn first_word(wrapper: &Wrapper, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.known || word.glob {
            return None;
        }
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if is_assignment(text) && wrapper.names.contains(&"sudo") {
            at += 1;
            continue;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let name = text.split('=').next().unwrap_or(text);
        let number = text[1..].bytes().all(|byte| byte.is_ascii_digit());
        at += if wrapper.plain.contains(&text) || (number && wrapper.names.contains(&"nice")) {
            1
        } else if wrapper.valued.contains(&text) {
            2
        } else if (name.len() < text.len() && wrapper.valued.contains(&name))
            || (!text.starts_with("--")
                && text.len() > 2
                && text.is_char_boundary(2)
                && wrapper.valued.contains(&&text[..2]))
        {
            1
        } else {
            return None;
        };
    }
    for _ in 0..wrapper.before {
        words.get(at).filter(|word| word.known && !word.glob)?;
        at += 1;
    }
    (at < words.len()).then_some(at)
}

/// Returns true if a shell is given this text for a word, whatever files there are.
fn is_certain(word: &Word) -> bool {
    word.known && !word.glob && word.concerns.is_empty()
}

/// Returns the text of words that a program hands to a shell with spaces between them.
pub(super) fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns what `watch` runs, if that is certain.
fn watch(words: &[Word]) -> Option<Wrapped> {
    let at = first_word(&WATCH, words)?;
    if words[1..at].iter().any(|word| matches!(word.text.as_str(), "-x" | "--exec")) {
        return Some(Wrapped::Words(at));
    }
    words[at..].iter().all(is_certain).then(|| Wrapped::Texts(at, vec![joined(&words[at..])]))
}

/// Returns what GNU `parallel` runs with the arguments after `:::`, if that is certain.
fn parallel(words: &[Word]) -> Option<Wrapped> {
    let at = first_word(&PARALLEL, words)?;
    let end = at + words[at..].iter().position(|word| word.text == ":::")?;
    let (command, arguments) = (joined(&words[at..end]), &words[end + 1..]);
    let is_plain = |word: &Word| word.shown == word.text;
    let has_place = command.contains("{}");
    let is_read = words[at..].iter().all(is_certain)
        && (1..=MAX_ARGUMENTS).contains(&arguments.len())
        && words[at..].iter().filter(|word| word.text.starts_with(":::")).count() == 1
        && !command.replace("{}", "").contains('{')
        && (!has_place || arguments.iter().all(is_plain));
    let texts = arguments.iter().map(|argument| match command.as_str() {
        "" => argument.text.clone(),
        _ if has_place => command.replace("{}", &argument.text),
        // A shell makes it the path of a home folder before `parallel` has it.
        _ if argument.tilde => [&command, " ", &argument.shown].concat(),
        _ => [&command, " ", &quoted(&argument.text)].concat(),
    });
    is_read.then(|| Wrapped::Texts(at, texts.collect()))
}

/// Returns what `env` runs.
fn of_env(words: &[Word]) -> Wrapped {
    let Some(env) = environment(words) else { return Wrapped::Unknown };
    match env {
        Environment { at, split: None, .. } if at >= words.len() => Wrapped::Nothing,
        Environment { at, assigned, written, folder: None, split: None }
            if assigned.is_empty() && written.is_empty() =>
        {
            Wrapped::Words(at)
        }
        _ => Wrapped::Environment(env),
    }
}

fn shell(words: &[Word]) -> Wrapped {
    // Further words are parameters of the text, in which they are unknown.
    let is_harmless = |option: &str| {
        let letters = option.trim_start_matches(['-', '+']);
        LONG_SHELL_OPTIONS.contains(&option)
            || !option.starts_with("--") && letters.bytes().all(|one| SHELL_OPTIONS.contains(&one))
    };
    shell_text(words, is_harmless).map_or(Wrapped::Unknown, Wrapped::Text)
}

/// Returns the place of the text that a shell runs, if it has only certain options. All of them come before the text,
/// also after `-c`.
pub(super) fn shell_text(words: &[Word], is_known: impl Fn(&str) -> bool) -> Option<usize> {
    let is_certain = |word: &&Word| word.known && !word.glob;
    let mut has_text = false;
    let mut at = 1;
    loop {
        let word = words.get(at).filter(is_certain)?;
        let Some(letters) = word.text.strip_prefix(['-', '+']) else {
            return has_text.then_some(at);
        };
        at += 1;
        if matches!(letters, "" | "-") {
            return words.get(at).filter(is_certain).filter(|_| has_text).map(|_| at);
        }
        if !is_known(&word.text) {
            return None;
        }
        if !letters.starts_with('-') {
            has_text |= letters.contains('c');
            // The names of further options are words of their own.
            at += letters.matches(['o', 'O']).count();
        }
    }
}

/// Returns the files that a shell runs: its start-up file, and its script if no option holds a text for it.
pub(super) fn script_files(words: &[Word]) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut has_script = true;
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let Some(letters) = word.text.strip_prefix(['-', '+']).filter(|_| word.known) else {
            found.extend(has_script.then_some(word));
            break;
        };
        if matches!(&*word.text, "--rcfile" | "--init-file") {
            found.extend(rest.next());
        } else if !letters.starts_with('-') {
            has_script &= !letters.contains(['c', 's']);
            // The names of further options are words of their own.
            for _ in letters.matches(['o', 'O']) {
                rest.next();
            }
        }
    }
    found.retain(|word| word.known && !word.text.is_empty());
    found
}

/// Options of shells that change no file that is read: `-c`, `-l`, and those of `set`.
const SHELL_OPTIONS: &[u8] = b"abcefhklmntuvxBCEHPToO";
const LONG_SHELL_OPTIONS: [&str; 6] =
    ["--login", "--norc", "--noprofile", "--noediting", "--posix", "--verbose"];

#[cfg(test)]
mod tests {
    use super::*;

    fn find(command: &str) -> Option<Wrapped> {
        let words: Vec<Word> = command.split(' ').map(Word::plain).collect();
        unwrap(&words[0].text, &words)
    }

    #[test]
    fn env_says_where_its_command_begins_and_what_it_changes() {
        let env = |command: &str| match find(command) {
            Some(Wrapped::Environment(env)) => env,
            other => panic!("{command}: {other:?}"),
        };
        assert_eq!((env("env PATH=x ls").at, env("env PATH=x ls").assigned), (2, vec![1]));
        assert_eq!(env("env -iu A --ch=/x B=C -C y ls").folder, Some((6, 0)));
        assert_eq!(env("env -iu A --ch=/x B=C -C y ls").at, 7);
        assert_eq!(env("env -C/x ls").folder, Some((1, 2)));
        for (command, split) in [
            ("env -S ls", (2, 0)),
            ("env -vSls", (1, 3)),
            ("env --split=ls", (1, 8)),
            ("env -i --split-string ls", (3, 0)),
        ] {
            assert_eq!(env(command).split, Some(split), "{command}");
        }
    }

    #[test]
    fn the_inner_command_is_found_behind_options() {
        assert_eq!(find("timeout -k 5 --signal=KILL 10 npm test"), Some(Wrapped::Words(5)));
        assert_eq!(find("nice -n10 ls"), Some(Wrapped::Words(2)));
        assert_eq!(find("nice -5 ls"), Some(Wrapped::Words(2)));
        assert_eq!(find("env -i NODE_ENV=test ls"), Some(Wrapped::Words(3)));
        assert_eq!(find("env"), Some(Wrapped::Nothing));
        assert_eq!(find("env --bad ls"), Some(Wrapped::Unknown));
        assert_eq!(find("xargs -0 -n 1 rm"), Some(Wrapped::WordsAndMore(4)));
        assert_eq!(find("sudo -u root rm"), Some(Wrapped::Powerful(3)));
        assert_eq!(find("timeout 5"), Some(Wrapped::Unknown));
        assert_eq!(find("bash -lc ls"), Some(Wrapped::Text(2)));
        assert_eq!(find("bash -c -- ls"), Some(Wrapped::Text(3)));
        assert_eq!(find("bash --norc -euo pipefail -c -x - ls"), Some(Wrapped::Text(7)));
        assert_eq!(find("bash -c --rcfile x ls"), Some(Wrapped::Unknown));
        assert_eq!(find("bash script.sh"), Some(Wrapped::Unknown));
        assert_eq!(find("exec -a x ls"), Some(Wrapped::Unknown));
        assert_eq!(find("ls"), None);
    }
}
