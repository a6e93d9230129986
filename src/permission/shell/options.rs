//! Options and arguments of programs: which of them run a program, load code, or access files elsewhere.
//!
//! The table knows most options by name. For programs whose arguments are code, and for those in no table, names and
//! values are also judged by general rules: an option whose name resembles one that runs a program is asked about, and
//! a value that leads out of the directory is read, wherever it is.

use super::analyzer::Walker;
use super::commands_in_words::texts;
use super::decode;
use super::name_letters::is_in_plain_name;
use super::option_names::{
    EXCLUDING_STARTS, RUNNING_COMMANDS, WRITING_WORDS, hands_danger, is_built_in, is_plain_ssh,
    is_python, letter_runs, names_file, names_settings, says_it_runs, sql_touches, starts_shell,
    words_of,
};
use super::programs::{self, Effect, Hit, Kind, Opt, Program};
use super::read_only_commands;
use super::simple_command::{glued, leads_out};
use super::word::Word;
use super::{AnalyzedCommand, Concern, CoveredBy};
use crate::permission::Domain;
use crate::permission::sensitive::is_of_git;
use crate::util::words::has_word;

/// Options with which an interpreter reads no code from its input.
const ONLY_TELLS: [&str; 11] =
    ["version", "V", "VV", "help", "h", "?", "m", "i", "ini", "test", "run"];

/// Modules of Python that are judged by their own line of the table, so that `-m` is not asked about in addition. Like a script
/// that `python` is given, they run what the project says and nothing else.
const MODULES_OF_THE_TABLE: [&str; 14] = [
    "pytest",
    "mypy",
    "ruff",
    "black",
    "flake8",
    "isort",
    "pylint",
    "json.tool",
    "py_compile",
    "compileall",
    "unittest",
    "doctest",
    "venv",
    "build",
];

/// Options with which programs that open a shell only list what is open.
const LISTS_SESSIONS: [&str; 3] = ["-ls", "-list", "-wipe"];

/// Programs that make an environment for a version of Python.
const MAKE_ENVIRONMENTS: [&str; 8] =
    ["virtualenv", "uv", "uvx", "pipx", "pipenv", "poetry", "pdm", "hatch"];

/// Maximum length of a path.
const MAX_VALUE: usize = 4096;

/// Maximum number of arguments before a word that determine its meaning.
const MAX_BEFORE: usize = 8;

/// Returns true for a name that some programs take for a command whose output they read: `|x`. A row of a table is none.
fn is_piped(text: &str) -> bool {
    text.strip_prefix('|').is_some_and(|rest| !rest.is_empty() && !rest.contains(['|', '\n']))
}

/// Returns true for options of `awk` and `sed` whose value is a file with the program.
fn names_script(option: &str) -> bool {
    matches!(option, "-f" | "--file" | "-E" | "--exec" | "-i" | "--include")
}

/// Returns true for the text of a program rather than the name of a file.
fn is_code_of(value: &str) -> bool {
    value.contains([' ', '\n', '(', ';', '{', '\'', '"', '$', '|'])
}

/// Returns true for a path on this machine, and not `host:path` or an address.
pub(super) fn is_local(text: &str) -> bool {
    !text.split('/').next().unwrap_or_default().contains(':')
}

impl Walker<'_> {
    /// Judges the options of a program and the files that its arguments name. Returns the indexes of arguments that are
    /// not options.
    pub(super) fn options(
        &mut self,
        base: &str,
        program: Option<&'static Program>,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) -> Vec<usize> {
        let is_code = program.is_none_or(|program| program.kind.runs_arguments());
        let mut operands = Vec::new();
        let mut before: Vec<&str> = Vec::new();
        // Number of arguments that cannot be the value of an option.
        let mut firm = 0;
        let mut names_follow = false;
        // True if the previous word could have this one as its value.
        let mut could_be_value = false;
        let mut ended = false;
        let mut at = 1;
        let is_batch = |word: &Word| word.text.trim_start_matches('-') == "batch";
        if let Some(program) = program
            && program.stdin
            && !(words.len() == 2 && matches!(words[1].text.as_str(), "--version" | "--help"))
            && !(base == "gdb" && words.iter().skip(1).any(is_batch))
        {
            self.ask_of_input(command, format!("{base} takes commands from its input"));
        }
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            at += 1;
            if text == "--" {
                if program.is_some_and(|program| program.has("--")) {
                    found(base, "--", words, at - 1, command);
                }
                ended = true;
                could_be_value = false;
                continue;
            }
            if text.len() > 1 && text.starts_with('-') && (is_code || !ended) {
                let next = words.get(at).filter(|next| {
                    let is_value = |program: &Program| {
                        let hits = program.hits(text, &before);
                        hits.iter().any(|hit| hit.option.effect == Effect::Hands)
                    };
                    next.known
                        && (!next.text.starts_with('-')
                            || next.text == "-"
                            || program.is_some_and(is_value))
                });
                let module = program.and_then(|program| program.module(text, &before));
                let module = module.map(|module| match module {
                    "" => (at, words.get(at).map_or("", |next| next.text.as_str())),
                    module => (at - 1, module),
                });
                let is_read = module.is_some_and(|(_, name)| MODULES_OF_THE_TABLE.contains(&name));
                let (took, may_take) = if is_read {
                    (true, false)
                } else {
                    self.option(base, program, (word, next), &before, command)
                };
                if let Some((at, name)) = module {
                    if !name.is_empty() {
                        self.inner_at(base, words, at, name, command);
                    }
                    return operands;
                }
                if took {
                    at += 1;
                }
                could_be_value = may_take && !took;
                continue;
            }
            if let Some(program) = program {
                if let Some(mark) = program.marks(text) {
                    found(base, mark, words, at - 1, command);
                    if mark == "@" && leads_out(&text[1..]) {
                        self.reaches(word, &text[1..], command);
                    }
                }
                let is_listed = |only: &str| only.split(',').any(|one| one == text);
                if before.is_empty() && program.only.is_some_and(|only| !is_listed(only)) {
                    found(base, text, words, at - 1, command);
                }
                let is_later = firm > 0 && text.len() < 3;
                let known = program.command(text, &before).filter(|option| {
                    // Names of packages are not commands of its own, except for files and URLs.
                    let is_place = option.name.starts_with("*.") || option.name.ends_with(":*");
                    let is_it = (!names_follow || is_place) && !is_later;
                    is_it
                        && !(option.name == "api"
                            && base == "gh"
                            && read_only_commands::only_gets(words))
                });
                if let Some(option) = known {
                    found(base, option.name, words, at - 1, command);
                    if option.name.ends_with(":*") {
                        self.reaches(word, text, command);
                    }
                }
                let first = before.first().copied().unwrap_or_default();
                let is_among =
                    |list: &str| list.split(',').any(|one| !first.is_empty() && one == first);
                if is_among(program.writes) {
                    self.value_of(Domain::Edit, word, text, command);
                } else if is_among(program.reads) {
                    self.reaches(word, text, command);
                }
                if program.script
                    && self.script(base, words, at - 1, (&before, could_be_value), command)
                {
                    operands.push(at - 1);
                    self.behind_script(words, at, command);
                    return operands;
                }
                // Behind code in an option there are files.
                if program.script && !before.is_empty() && word.known && leads_out(text) {
                    self.reaches(word, text, command);
                }
                if program.sql && !operands.is_empty() && sql_touches(text) {
                    ask(command, word, format!("a command of {base} can run something"));
                }
                if program.runs(&before, text) && self.inner(base, program, words, at - 1, command)
                {
                    operands.push(at - 1);
                    return operands;
                }
            }
            if is_code && word.known && is_piped(text) {
                ask(command, word, format!("{base} can run {}", word.brief()));
                self.guess_values(&[&text[1..]], command);
            }
            if program.is_none()
                && ((before.is_empty() && has_word(RUNNING_COMMANDS, text))
                    || starts_shell(base, text, &words[at - 2].text))
            {
                found(base, text, words, at - 1, command);
            }
            // The first argument of these determines the meaning of the others.
            let is_builder = matches!(base, "docker" | "podman" | "nerdctl");
            let is_local = |program: &Program| {
                let first = before.first().copied();
                let is_package = matches!(first, Some("add" | "install" | "i" | "link"));
                (!program.free && !program.script)
                    || (program.script && is_package)
                    || (is_builder && first == Some("build"))
            };
            // `gh api /repos/a/b`: the path of an address.
            let is_address = matches!(base, "gh" | "glab") && before.first() == Some(&"api");
            if is_code && word.known && !is_address && program.is_none_or(is_local) {
                self.reaches(word, text, command);
            }
            // `vault kv put x a=@../y`
            let given =
                text.rsplit_once('@').filter(|(name, _)| name.is_empty() || name.ends_with('='));
            if let Some((_, path)) = given.filter(|(_, path)| is_code && leads_out(path)) {
                self.value_of(Domain::Read, word, path, command);
            }
            operands.push(at - 1);
            // The value of an option can be such a word too.
            names_follow |= super::simple_command::BEFORE_NAMES.contains(&text) && !could_be_value;
            // Only the first ones matter.
            if before.len() < MAX_BEFORE {
                before.push(text);
            }
            firm += usize::from(!could_be_value);
            could_be_value = false;
        }
        if let Some(program) = program {
            if let [_, .., last] = operands[..]
                && program.copies
                && is_local(&words[last].text)
            {
                self.value_of(Domain::Edit, &words[last], &words[last].text, command);
            }
            let only_tells = words.iter().skip(1).any(|word| {
                let name = word.text.trim_start_matches('-');
                word.text.starts_with('-')
                    && (ONLY_TELLS.contains(&name) || (name == "v" && !base.starts_with("py")))
            });
            if program.script && operands.is_empty() && command.concerns.is_empty() && !only_tells {
                self.ask_of_input(command, format!("{base} takes code from its input"));
            }
            let opens_shell = program.kind == Kind::Runner
                && (program.input == "*" || program.only.is_some())
                && !words.iter().skip(1).any(|word| LISTS_SESSIONS.contains(&word.text.as_str()));
            if opens_shell && operands.is_empty() && command.concerns.is_empty() && !only_tells {
                self.ask_of_input(command, format!("{base} opens a shell or a prompt"));
            }
            if program.sql && operands.len() < 2 && !only_tells {
                self.ask_of_input(command, format!("{base} takes commands from its input"));
            }
        }
        operands
    }

    /// Judges one option. Returns whether the next word is its value, and whether it may be.
    fn option(
        &mut self,
        base: &str,
        program: Option<&'static Program>,
        (word, next): (&Word, Option<&Word>),
        before: &[&str],
        command: &mut AnalyzedCommand,
    ) -> (bool, bool) {
        let text = word.text.as_str();
        let is_code = program.is_none_or(|program| program.kind.runs_arguments());
        let hits = program.map(|program| program.hits(text, before)).unwrap_or_default();
        let mut took = false;
        let mut free = false;
        for hit in &hits {
            if hit.option.effect == Effect::Runs {
                let value = hit.value.or(next.map(|next| next.text.as_str())).unwrap_or_default();
                let is_usual = match hit.option.name {
                    "-e" | "--rsh" if base == "rsync" => is_plain_ssh(value),
                    "-p" | "--python" if MAKE_ENVIRONMENTS.contains(&base) => is_python(value),
                    _ => false,
                };
                if is_usual {
                    return (hit.value.is_none(), false);
                }
                if let (None, Some(next)) = (hit.value, next) {
                    command.others.extend(texts(std::slice::from_ref(next)));
                }
                // The code of a language is judged by its strings.
                if program.is_none_or(|program| !program.script && !program.sql) {
                    let after = value.split_once('=').map_or("", |(_, after)| after);
                    self.guess_values(&[value, after], command);
                }
            }
            let takes = !matches!(hit.option.effect, Effect::Free | Effect::Runs);
            if hit.option.effect == Effect::Runs {
                // The word after it is judged as a file only for programs whose arguments are files.
                let is_free = program.is_some_and(|program| program.free || program.script);
                let is_of_text =
                    program.is_some_and(|program| matches!(program.kind, Kind::Awk | Kind::Sed));
                // `php -r` is followed by code, and `-r` of others by a module to load.
                let names_next = (is_free && names_file(hit.option.name))
                    || (hit.option.name == "-r" && base != "php")
                    || (is_of_text && names_script(hit.option.name));
                let file = match (hit.value, next) {
                    (Some(value), _) if !is_code_of(value) => Some((word, value)),
                    (None, Some(next)) if names_next => Some((next, next.text.as_str())),
                    _ => None,
                };
                if let Some((from, value)) = file.filter(|(_, value)| leads_out(value)) {
                    self.reaches(from, value, command);
                }
            }
            let (value, from) = match (hit.value, next) {
                (Some(value), _) => (value, word),
                (None, Some(next)) if takes => {
                    took = true;
                    (next.text.as_str(), next)
                }
                _ => ("", word),
            };
            free |= matches!(hit.option.effect, Effect::Free | Effect::Valued);
            self.effect(base, hit.option, (word, value, from), command);
        }
        // `-pe` has code after it, as `-e` has.
        let awaits = |hit: &Hit<'_, '_>| hit.option.effect == Effect::Runs && hit.value.is_none();
        free &= !hits.iter().any(awaits);
        if !hits.is_empty() || !is_code || !word.known {
            return (took, !free);
        }
        let name = &text[..text.find('=').unwrap_or(text.len())];
        // Programs in no row can write long options with one dash.
        let is_long = || program.is_none() && name.len() > 4 && says_it_runs(name, true);
        let is_named = text.starts_with("--")
            || program.is_some_and(|program| program.style != programs::Style::Usual)
            || is_long();
        if is_named && says_it_runs(name, true) {
            ask(command, word, format!("{name} of {base} can run something"));
            command.others.extend(texts(
                &[Some(word), next].into_iter().flatten().cloned().collect::<Vec<_>>(),
            ));
        }
        let parts = words_of(name);
        if !is_named {
            let (letter, rest) = text.split_at_checked(2).unwrap_or((text, ""));
            let value = if rest.is_empty() { next.map_or("", |next| &next.text) } else { rest };
            if names_settings(letter, value) || (program.is_none() && letter_runs(letter, value)) {
                ask(command, word, format!("{letter} of {base} can run something"));
            }
        }
        if !is_named {
            if let Some(value) =
                glued(&text[1..]).find(|value| leads_out(value) || names_git(value, false))
            {
                self.reaches(word, value, command);
            }
        } else if parts.first().is_some_and(|first| EXCLUDING_STARTS.contains(&first.as_str())) {
            // These exclude files.
            return (false, true);
        }
        let inline = text.split_once('=').map(|(_, value)| (value, word));
        let value = inline.or(next.map(|next| (next.text.as_str(), next)));
        if let Some((value, from)) = value {
            let writes = parts.iter().any(|part| has_word(WRITING_WORDS, part));
            if is_named
                && writes
                && !leads_out(value)
                && value.contains(['/', '.'])
                && !value.contains([' ', ':', '\n', '{'])
            {
                self.value_of(Domain::Edit, from, value, command);
            } else {
                self.reaches(from, value, command);
            }
        }
        (false, inline.is_none())
    }

    /// Applies the effect of an option of the table to its value.
    fn effect(
        &mut self,
        base: &str,
        option: &Opt,
        (word, value, from): (&Word, &str, &Word),
        command: &mut AnalyzedCommand,
    ) {
        let runs = match option.effect {
            Effect::Free | Effect::Valued => false,
            Effect::Runs | Effect::Keeps | Effect::Enters => true,
            // Some programs take this for a command that receives their output.
            Effect::Writes => value.starts_with(['|', '!']) || value.starts_with("%pipe%"),
            Effect::Reads => false,
            Effect::Loads => !is_built_in(value),
            Effect::Hands => hands_danger(value),
            // Only the category can be a custom module.
            Effect::Warns => value.split(':').nth(2).is_some_and(|name| name.contains('.')),
        };
        if runs {
            ask(
                command,
                word,
                format!("{} of {base} can run something or write somewhere else", option.name),
            );
            command.others.extend(texts(
                &[word.clone(), from.clone()][..1 + usize::from(from.shown != word.shown)],
            ));
        }
        match option.effect {
            _ if value.is_empty() || value == "-" => {}
            // Elsewhere it is the name of a format.
            Effect::Valued if option.name == "--output" && leads_out(value) => {
                self.value_of(Domain::Edit, from, value, command);
            }
            // `curl -H @file`.
            Effect::Valued if value.strip_prefix('@').is_some_and(leads_out) => {
                self.reaches(from, &value[1..], command);
            }
            Effect::Writes | Effect::Keeps => {
                self.value_of(Domain::Edit, from, value, command);
                if value.contains(['=', ',']) {
                    self.reaches(from, value, command);
                }
            }
            Effect::Reads => {
                self.reaches(from, value, command);
                let is_one_path = !value.contains(['=', ',', ':', '@', '<', ';', '{', ' ']);
                if is_one_path || self.sensitive.is_sensitive(value) {
                    self.value_of(Domain::Read, from, value, command);
                }
            }
            Effect::Enters => self.value_of(Domain::Read, from, value, command),
            Effect::Hands if value.starts_with('@') => {
                self.value_of(Domain::Read, from, &value[1..], command);
            }
            Effect::Runs if leads_out(value) && names_file(option.name) => {
                self.reaches(from, value, command);
            }
            _ => {}
        }
    }

    /// Adds a value that is a file.
    pub(super) fn value_of(
        &mut self,
        domain: Domain,
        word: &Word,
        value: &str,
        command: &mut AnalyzedCommand,
    ) {
        let file = Word { text: value.to_owned(), tilde: value.starts_with('~'), ..word.clone() };
        command.concerns.extend(self.file(domain, &file));
    }

    /// Adds the paths outside, or in git's directory, that a value names.
    pub(super) fn reaches(&mut self, word: &Word, value: &str, command: &mut AnalyzedCommand) {
        // A name leads nowhere.
        if value.len() > MAX_VALUE || value.chars().all(is_in_plain_name) {
            return;
        }
        let lower = value.to_ascii_lowercase();
        let scheme = ["file://localhost", "file://", "fileb://"]
            .iter()
            .find_map(|scheme| lower.find(scheme).map(|at| at + scheme.len()));
        if let Some(scheme) = scheme {
            // `curl` takes lists and ranges in an address for several.
            let path = value[scheme..].split([' ', '\n', '"', '\'']).next().unwrap_or_default();
            let path = decode::percent(path);
            let glob = path.contains(['{', '[']);
            let file = Word { glob, ..word.clone() };
            return self.value_of(Domain::Read, &file, &path, command);
        }
        let is_object = value.starts_with('{') && value.contains([':', '"', '\'', ' ']);
        if value.contains("://") || is_object {
            return;
        }
        // `concat:a|b` of ffmpeg
        let is_list = value.contains("concat:");
        let is_end = |letter| "=,:@<;{}".contains(letter) || (is_list && letter == '|');
        let pieces = value.split(is_end).chain([value]);
        for piece in pieces {
            let piece = piece.trim_matches(['"', '\'', ' ', '[', ']']);
            // A text with white space is not a path.
            if piece.is_empty() || piece.contains(char::is_whitespace) {
                continue;
            }
            if names_git(piece, word.glob) {
                return self.value_of(Domain::Edit, word, piece, command);
            }
            if leads_out(piece) {
                return self.value_of(Domain::Read, word, piece, command);
            }
        }
    }
}

/// Returns true if a path contains git's directory.
fn names_git(path: &str, is_glob: bool) -> bool {
    path.contains(['.', '~'])
        && path.split(['/', '\\']).any(|name| {
            let begins = name.starts_with('.')
                || name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("git~"));
            begins && name.len() > 2 && is_of_git(name, is_glob)
        })
}

pub(super) fn ask(command: &mut AnalyzedCommand, word: &Word, reason: String) {
    command.concerns.push(Concern { reason, covered_by: CoveredBy::Word(word.shown.clone()) });
}

fn found(base: &str, name: &str, words: &[Word], at: usize, command: &mut AnalyzedCommand) {
    ask(command, &words[at], format!("{name} of {base} can run something or write somewhere else"));
    command.others.extend(texts(&words[at..words.len().min(at + 2)]));
}
