//! Programs: their access to the files in their arguments, and the effects of their options.
//!
//! The table is `programs.txt`, with one line for all programs that behave alike; its first lines explain the format.
//! An option that runs a program makes a command a question even if a rule allows the program, unless the rule names
//! the option itself. Options are compared by their normalized names: case and hyphens are ignored, an abbreviation
//! matches (`--upload-p`), and so does an extended name (`--config-file` for `--config`). Short options are found in a
//! bundle (`-xI`).

use std::sync::{LazyLock, OnceLock};

use crate::util::hash::NameMap;

/// The effect of a program on its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// None: their values need not be known.
    Inert,
    /// Shows the content of files.
    Reader,
    /// Shows the content of files; the first argument is a pattern.
    Grep,
    /// Shows the names in directories, by default the current one.
    Lister,
    /// Changes files.
    Writer,
    /// Shows the content of files, and changes them.
    Both,
    /// Reads the first file and writes the second one.
    Filter,
    /// Reads all but the last, which it writes.
    Copier,
    /// Changes both ends.
    Mover,
    /// Arguments are programs, or name what is run.
    Code,
    /// Arguments are a command, or a text for a shell.
    Runner,
    /// `git`, with its own commands.
    Git,
    /// A stream editor with a script.
    Sed,
    /// A language for processing lines.
    Awk,
    /// Finds files, and runs programs on them.
    Find,
    /// Finds files as `fd` does, and runs programs on them.
    Fd,
    /// Writes the file in `of=` and reads the file in `if=`.
    Dd,
    /// Runs with arguments, but changes the shell itself.
    Shell,
}

impl Kind {
    /// Returns true if any argument can be a program or name what is run.
    pub(super) fn runs_arguments(self) -> bool {
        matches!(self, Kind::Code | Kind::Runner | Kind::Fd)
    }
}

/// The effect of an option on its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Runs it, loads code from it, or has another effect that is asked about.
    Runs,
    /// Writes the file, which is also asked about.
    Keeps,
    /// Writes the file or the directory.
    Writes,
    /// Reads the file.
    Reads,
    /// Runs in the folder, which is also asked about.
    Enters,
    /// Loads a module unless it is a built-in one.
    Loads,
    /// Passes it to another program as options.
    Hands,
    /// Warnings of Python, whose category can be a module.
    Warns,
    /// No effect.
    Free,
    /// No effect; the value is a text or a number.
    Valued,
}

/// The notation of long options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// With two dashes.
    Usual,
    /// With one dash or two, and the value after `=` or `:` or in the next word.
    Dash,
    /// With one dash, and the value may be attached.
    Glued,
}

/// An option of a program, or a subcommand.
#[derive(Debug)]
pub struct Opt {
    /// The name as it is written in the table.
    pub name: &'static str,
    pub effect: Effect,
    /// The subcommand before it, if it has this effect only there.
    after: &'static str,
    /// True if the name is a prefix.
    is_start: bool,
    /// True for a subcommand.
    is_word: bool,
    key: String,
}

/// A line of the table.
#[derive(Debug)]
pub struct Program {
    pub kind: Kind,
    pub style: Style,
    /// True if arguments that are not options are not local files.
    pub free: bool,
    /// True if the first argument is a script, to which the following ones belong.
    pub script: bool,
    /// True if it reads commands from its input.
    pub stdin: bool,
    /// True if arguments are statements of a database.
    pub sql: bool,
    /// True if it copies: the last argument is written.
    pub copies: bool,
    /// The subcommands whose arguments are another command; `*` if there is no subcommand.
    pub runs: &'static str,
    /// The words after which a program that may run it receives the input; `*` for all, `lines` if each line is a
    /// command unless there is one.
    pub input: &'static str,
    /// The subcommands after which each argument is a file that is read.
    pub reads: &'static str,
    /// The subcommands after which each argument is a file that is written.
    pub writes: &'static str,
    /// The first arguments that run nothing, if any other runs something.
    pub only: Option<&'static str>,
    /// Its options as they are written in the table, and as they were read when they were needed.
    written: &'static str,
    read: OnceLock<Vec<Opt>>,
}

/// A match of an argument with an option.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'p, 'w> {
    pub option: &'p Opt,
    /// The value, if it is in the same word.
    pub value: Option<&'w str>,
}

static TEXT: &str = include_str!("programs.txt");

static PROGRAMS: LazyLock<(Vec<Program>, NameMap<usize>)> = LazyLock::new(|| {
    let mut programs = Vec::new();
    let mut names = NameMap::default();
    for (line, row) in rows() {
        names.extend(line.split(' ').map(|name| (name, programs.len())));
        programs.push(row);
    }
    (programs, names)
});

fn rows() -> impl Iterator<Item = (&'static str, Program)> {
    let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut parts = line.split(" | ");
        let names = parts.next()?;
        let mut about = parts.next()?.split(' ');
        let kind = kind(about.next()?)?;
        let written = parts.next().unwrap_or_default();
        let mut program = Program {
            kind,
            style: Style::Usual,
            free: false,
            script: false,
            stdin: false,
            sql: false,
            copies: false,
            runs: "",
            input: "",
            reads: "",
            writes: "",
            only: None,
            written,
            read: OnceLock::new(),
        };
        for word in about {
            match word {
                "dash" => program.style = Style::Dash,
                "glued" => program.style = Style::Glued,
                "free" => program.free = true,
                "script" => program.script = true,
                "stdin" => program.stdin = true,
                "sql" => program.sql = true,
                "copies" => program.copies = true,
                _ => match word.split_once('=')? {
                    ("runs", value) => program.runs = value,
                    ("input", value) => program.input = value,
                    ("reads", value) => program.reads = value,
                    ("writes", value) => program.writes = value,
                    ("only", value) => program.only = Some(value),
                    _ => return None,
                },
            }
        }
        Some((names, program))
    })
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "inert" => Kind::Inert,
        "reader" => Kind::Reader,
        "grep" => Kind::Grep,
        "lister" => Kind::Lister,
        "writer" => Kind::Writer,
        "both" => Kind::Both,
        "filter" => Kind::Filter,
        "copier" => Kind::Copier,
        "mover" => Kind::Mover,
        "code" => Kind::Code,
        "runner" => Kind::Runner,
        "git" => Kind::Git,
        "sed" => Kind::Sed,
        "awk" => Kind::Awk,
        "find" => Kind::Find,
        "fd" => Kind::Fd,
        "dd" => Kind::Dd,
        "shell" => Kind::Shell,
        _ => return None,
    })
}

fn option(text: &'static str) -> Opt {
    // `>-o` and `:format/-o`.
    let marks_option = |rest: &str| rest.starts_with('-') || rest.contains("/-");
    let effect = match text.as_bytes().first().filter(|_| text.get(1..).is_some_and(marks_option)) {
        Some(b'!') => Effect::Keeps,
        Some(b'>') => Effect::Writes,
        Some(b'<') => Effect::Reads,
        Some(b'^') => Effect::Enters,
        Some(b'?') => Effect::Loads,
        Some(b'~') => Effect::Hands,
        Some(b'%') => Effect::Warns,
        Some(b'.') => Effect::Free,
        Some(b':') => Effect::Valued,
        _ => Effect::Runs,
    };
    let name = if effect == Effect::Runs { text } else { &text[1..] };
    let (after, name) = name
        .split_once('/')
        .filter(|(before, name)| !before.is_empty() && !name.is_empty())
        .unwrap_or(("", name));
    let is_start = name.starts_with('-') && name.ends_with('*');
    let name = if is_start { &name[..name.len() - 1] } else { name };
    let is_word = !name.starts_with(['-', '+', '=', '@']);
    Opt { name, effect, after, is_start, is_word, key: normal(name) }
}

/// Normalizes the name of an option.
pub fn normal(name: &str) -> String {
    let name = name.trim_start_matches('-');
    let name = name.strip_prefix("config.").or_else(|| name.strip_prefix("test.")).unwrap_or(name);
    let letters = name.chars().filter(|letter| !matches!(letter, '-' | '_' | '.'));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Tools whose names are written after that of the machine that they compile for: `arm-none-eabi-gcc`.
const CROSS_TOOLS: [&str; 12] = [
    "gcc", "g++", "cpp", "clang", "clang++", "ld", "objcopy", "objdump", "strip", "nm", "readelf",
    "gdb",
];

/// Returns the line for a program, by its name without a directory. A version after the name (`clang-17`) and a machine
/// before it do not matter.
pub fn find(name: &str) -> Option<&'static Program> {
    let (programs, names) = &*PROGRAMS;
    let exact = |name: &str| names.get(name).map(|at| &programs[*at]);
    let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
    exact(name).or_else(|| name.trim_end_matches(digits).strip_suffix('-').and_then(exact)).or_else(
        || {
            let tool = name.trim_end_matches(digits).trim_end_matches('-').rsplit('-').next()?;
            CROSS_TOOLS.contains(&tool).then(|| exact(tool)).flatten()
        },
    )
}

/// Options of many programs without an effect that are prefixes of others.
const HARMLESS: [&str; 20] = [
    "help", "version", "verbose", "quiet", "silent", "debug", "color", "colors", "check", "fix",
    "write", "watch", "list", "all", "force", "yes", "json", "dryrun", "test", "coverage",
];

impl Opt {
    fn matters(&self) -> bool {
        !matches!(self.effect, Effect::Free | Effect::Valued)
    }

    fn counts(&self, before: &[&str]) -> bool {
        match self.matters() {
            true => self.after.is_empty() || before.contains(&self.after),
            // A later word may be a file of this name.
            false => self.after.is_empty() || before.first() == Some(&self.after),
        }
    }
}

impl Program {
    fn options(&self) -> &[Opt] {
        let texts = || self.written.split(' ').filter(|text| !text.is_empty());
        self.read.get_or_init(|| texts().map(option).collect())
    }

    /// Returns true if no option of it runs or writes anything.
    pub fn is_plain(&self) -> bool {
        !self.options().iter().any(Opt::matters)
    }

    /// Returns true if a word is in the line as it is.
    pub fn has(&self, word: &str) -> bool {
        self.options().iter().any(|option| option.name == word)
    }

    /// Returns the mark because of which a word is asked about: `=` in it, or `+` or `@` at its start.
    pub fn marks(&self, word: &str) -> Option<&'static str> {
        let has = |mark: &str| self.has(mark);
        match word.as_bytes() {
            [b'-', ..] => None,
            // The number of a line, its end, and what is added later.
            [b'+', b'G' | b'F'] => None,
            [b'+', line @ ..] if !line.is_empty() && line.iter().all(u8::is_ascii_digit) => None,
            [b'+', ..] if has("+") => Some("+"),
            [b'@', ..] if has("@") => Some("@"),
            _ if word.contains('=') && has("=") => Some("="),
            _ => None,
        }
    }

    /// Returns the subcommand of the table that a word is, after these ones.
    pub fn command(&self, word: &str, before: &[&str]) -> Option<&Opt> {
        let is_it = |option: &&Opt| {
            option.is_word
                && option.counts(before)
                && match (option.name.strip_suffix('*'), option.name.strip_prefix('*')) {
                    (Some(start), _) => {
                        word.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
                    }
                    (_, Some(end)) => word.ends_with(end),
                    _ => option.name == word,
                }
        };
        self.options().iter().find(is_it)
    }

    /// Returns the options of the table that a word is, or could abbreviate.
    pub fn hits<'w>(&self, word: &'w str, before: &[&str]) -> Vec<Hit<'_, 'w>> {
        let is_long = word.starts_with("--") || (self.style == Style::Dash && word.len() > 1);
        if is_long {
            return self.long(word, before).into_iter().collect();
        }
        let options = || {
            let options = self.options().iter().filter(|option| option.counts(before));
            options.filter(|option| option.name.starts_with('-') && !option.name.starts_with("--"))
        };
        let is_glued = self.style == Style::Glued;
        let whole = options()
            .filter(|option| option.name.len() > 2 || option.is_start || is_glued)
            .filter(|option| word.starts_with(option.name))
            .max_by_key(|option| option.name.len());
        if let Some(option) = whole {
            let value = word[option.name.len()..].trim_start_matches(['=', ':', ',']);
            return vec![Hit { option, value: Some(value).filter(|value| !value.is_empty()) }];
        }
        let mut found = Vec::new();
        if is_glued {
            return found;
        }
        for (at, letter) in word.char_indices().skip(1) {
            let rest = &word[at + letter.len_utf8()..];
            let is_it = |option: &&Opt| {
                option
                    .name
                    .strip_prefix('-')
                    .is_some_and(|name| name.strip_prefix(letter).is_some_and(str::is_empty))
            };
            let Some(option) = options().find(is_it) else { continue };
            let value = rest.strip_prefix('=').unwrap_or(rest);
            let value = Some(value).filter(|value| !value.is_empty());
            found.push(Hit { option, value });
            if !matches!(option.effect, Effect::Free | Effect::Runs) {
                break;
            }
        }
        found
    }

    fn long<'w>(&self, word: &'w str, before: &[&str]) -> Option<Hit<'_, 'w>> {
        let end = word.find(['=', ':']).unwrap_or(word.len());
        let (name, value) = (&word[..end], word.get(end + 1..));
        let key = normal(name);
        let options = || {
            let options = self.options().iter().filter(|option| option.counts(before));
            options.filter(|option| option.name.starts_with('-'))
        };
        let is_short = |option: &&Opt| self.style == Style::Usual && !option.name.starts_with("--");
        // Single letters are case-sensitive.
        let is_it = |option: &&Opt| match key.len() {
            1 => option.name.trim_start_matches('-') == name.trim_start_matches('-'),
            _ => option.key == key,
        };
        let exact = options().filter(|option| !is_short(option)).find(is_it);
        if exact.is_none() && HARMLESS.contains(&key.as_str()) {
            return None;
        }
        let long = || options().filter(|option| option.key.len() > 1 && option.matters());
        let found = exact
            .or_else(|| long().find(|option| is_begun(name, &key, &option.key)))
            .or_else(|| long().find(|option| option.is_start && name.starts_with(option.name)))
            .or_else(|| long().find(|option| is_longer(name, &option.key)))?;
        Some(Hit { option: found, value })
    }
}

/// Returns true if a name can abbreviate that of an option. One letter after one dash is an option of its own.
fn is_begun(name: &str, key: &str, of: &str) -> bool {
    !key.is_empty() && of.starts_with(key) && (key.len() > 1 || name.starts_with("--"))
}

/// Returns true if a name begins with that of an option, and continues with another word.
fn is_longer(name: &str, key: &str) -> bool {
    let mut left = key.chars();
    let mut next = left.next();
    if key.len() < 3 {
        return false;
    }
    for letter in name.trim_start_matches('-').chars() {
        let is_mark = matches!(letter, '-' | '_' | '.' | '/');
        let Some(wanted) = next else { return is_mark || letter.is_ascii_uppercase() };
        if is_mark {
            continue;
        }
        if letter.to_ascii_lowercase() != wanted {
            return false;
        }
        next = left.next();
    }
    false
}

/// Returns the option of a list that a word is, or could abbreviate.
pub fn flag<'f>(word: &str, flags: &[&'f str]) -> Option<&'f str> {
    // Most words are not options.
    if !word.starts_with(['-', '+']) && !word.contains('=') {
        return flags.iter().copied().find(|flag| *flag == word);
    }
    let name = word.split('=').next().unwrap_or(word);
    let can_be_long = name.len() > 2 && name.starts_with("--");
    let is_short = word.starts_with('-') && !word.starts_with("--");
    flags.iter().copied().find(|flag| match flag.as_bytes() {
        // Programs accept an unambiguous abbreviation of a long option.
        [b'-', b'-', ..] => can_be_long && flag.starts_with(name),
        [b'-', letter] => is_short && word.as_bytes()[1..].contains(letter),
        [b'-', ..] => word.starts_with(flag),
        _ => name == *flag,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(rows().count(), lines.count());
        let all: usize = rows().map(|(names, _)| names.split(' ').count()).sum();
        assert_eq!(PROGRAMS.1.len(), all, "each program is there once");
    }

    #[test]
    fn options_are_found_however_they_are_written() {
        let found = |program: &str, word: &str| {
            let hits = find(program).unwrap().hits(word, &[]);
            hits.into_iter().any(|hit| hit.option.matters())
        };
        for (program, words) in [
            (
                "tar",
                "-I -xIf -Izstd --to-command=x --to-com --checkpoint-a=exec=x --use-Compress_Program",
            ),
            ("go", "-exec --exec=x -toolexec --toolexec -o=x"),
            ("jest", "--globalSetup --global-setup=x --globalsetup --GLOBAL_SETUP --config-file"),
            ("gcc", "-fplugin=x -wrapper -ox -B."),
            ("curl", "-so --remote-name-all -K"),
            ("npm", "--config.script-shell=x --scriptShell"),
        ] {
            for word in words.split(' ') {
                assert!(found(program, word), "{program} {word}");
            }
        }
        for (program, words) in [
            ("tar", "--exclude=x - -- --verbose -z"),
            ("go", "-race --race -v -count=1"),
            ("jest", "--coverage --watch -t --ci"),
            ("curl", "-sSL --silent --request"),
        ] {
            for word in words.split(' ') {
                assert!(!found(program, word), "{program} {word}");
            }
        }
        assert!(find("make").unwrap().marks("CC=evil").is_some());
        assert!(find("npm").unwrap().command("delete", &["pkg"]).is_some());
        assert!(find("npm").unwrap().command("delete", &["run"]).is_none());
    }
}
