//! Judges one simple command.

use std::rc::Rc;

use super::analyzer::{TOO_MUCH, Walker, pieces};
use super::destroying::destroying_code::commands_in;
use super::destroying::destroying_commands::MAX_TAILS;
use super::destroying::disk_writers::{named_outputs, option_values};
use super::program_names::{base, name_in_system};
use super::programs::{self, Kind, Program};
use super::redirect::{Fed, HERE_DOCUMENT};
use super::shells::has_known_options;
use super::variables::{self, Assigned, RUNNING_INDEX};
use super::word::Word;
use super::wrappers::{self, Wrapped, unwrap};
use super::{
    AnalyzedCommand, Concern, dialects, git::git_commands, possible_commands,
    printing::printed_environment, read_only_commands, revisions, subcommands,
};
use crate::permission::Domain;

/// Maximum number of words at both ends of a command that are examined for what they destroy.
pub(super) const MAX_DESTROYED: usize = 128;

/// Maximum number of words examined of a git command.
const MAX_GIT_WORDS: usize = 2048;

/// Maximum number of letters of short options in one word.
const MAX_LETTERS: usize = 8;

/// Builtins, beside those that change the shell, that may take a word for a number or the name of a variable.
const TAKE_NUMBERS: [&str; 11] = [
    "printf", "test", "[", "wait", "shift", "ulimit", "umask", "exit", "return", "break",
    "continue",
];

/// Words of a package manager that precede the name of a package or a script.
pub(super) const BEFORE_NAMES: [&str; 10] =
    ["run", "run-script", "add", "install", "i", "remove", "rm", "uninstall", "why", "info"];

/// Options of pull-request tools whose value is a text.
const BODY_OPTIONS: [&str; 6] = ["-b", "--body", "-t", "--title", "-m", "--message"];

impl Walker<'_> {
    /// Judges a command by its words.
    pub(super) fn run(
        &mut self,
        assigned: Vec<Assigned>,
        words: Vec<Word>,
        concerns: Vec<Concern>,
    ) {
        let mut concerns = concerns;
        let mut assigned = assigned;
        // A variable before a command is passed to it.
        for one in assigned.iter_mut().filter(|one| !words.is_empty() && !one.is_handed()) {
            let reason = variables::can_change(&one.name);
            let is_fixed = one.value.is_some();
            one.concern.get_or_insert_with(|| match is_fixed {
                true => Concern::unless_exact(reason),
                false => Concern::always(reason),
            });
        }
        let fed = std::mem::take(&mut self.fed);
        let quiet_prefix = assigned.iter().all(|one| one.concern.is_none());
        let shown: Vec<&str> = assigned.iter().map(|one| one.raw.as_str()).collect();
        concerns.extend(assigned.iter().filter_map(|one| one.concern.clone()));
        for one in &assigned {
            let value = one.raw.split_once('=').map_or("", |(_, value)| value);
            let name =
                if one.raw.contains("+=") { format!("{}+", one.name) } else { one.name.clone() };
            self.remember(&name, value);
        }
        let before = self.facts.len();
        self.remember_words(&words, &fed.texts);
        for one in assigned.iter().filter(|one| one.revision && words.is_empty()) {
            self.constants.set_revision(&one.name);
        }
        for (one, value) in assigned.iter().filter_map(|one| Some((one, one.value.as_ref()?))) {
            // Assignments before a command do not apply to its own words.
            if words.is_empty() {
                self.constants.set(&one.name, &Word::plain(value));
            }
        }
        let values: Vec<&str> = assigned
            .iter()
            .filter(|one| one.concern.is_some())
            .filter_map(|one| one.value.as_deref())
            .collect();
        if words.is_empty() {
            if !shown.is_empty() || !concerns.is_empty() {
                let quiet = concerns.is_empty();
                let text =
                    if shown.is_empty() { "redirection".to_owned() } else { shown.join(" ") };
                let mut command =
                    AnalyzedCommand { text, concerns, quiet, ..AnalyzedCommand::default() };
                self.guess_values(&values, &mut command);
                self.push(command);
            }
            return;
        }
        let mut command = self.judge(&words, concerns);
        self.guess_values(&values, &mut command);
        let quoted = values.iter().filter(|value| value.contains(['"', '\'']));
        for text in quoted.flat_map(|value| commands_in(value)).take(MAX_TAILS) {
            command.others.extend(self.text_destroys(&text).into_iter().map(str::to_owned));
        }
        let destroyed = match words.len() <= 2 * MAX_DESTROYED {
            true => self.destroys(&words, &fed.texts),
            // The program and its options, and the last words.
            false => {
                let (first, last) =
                    (&words[..MAX_DESTROYED], &words[words.len() - MAX_DESTROYED..]);
                self.destroys(&[first, last].concat(), &fed.texts)
            }
        };
        command.others.extend(destroyed);
        if self.is_function(&words[0].text) {
            // The parameters of a function are gone after the call.
            self.facts.truncate(before);
        }
        self.code_in_files(&words, &mut command);
        self.feed(fed, &words, &mut command);
        if !quiet_prefix {
            command.others.push(command.text.clone());
            command.text = format!("{} {}", shown.join(" "), command.text);
        }
        if self.with_code {
            subcommands::add_forms(&mut command.others);
        }
        command.others.retain(|other| *other != command.text);
        self.push(command);
    }

    /// Judges the input of a command: some programs only show or store it, others run it.
    fn feed(&mut self, fed: Fed, words: &[Word], command: &mut AnalyzedCommand) {
        // The input of these is arguments.
        let takes_arguments = || {
            words.iter().any(|word| matches!(word.text.as_str(), "xargs" | "gxargs" | "parallel"))
        };
        if let Some(piped) = self.piped.clone()
            && possible_commands::runs_input(words)
            && !takes_arguments()
        {
            self.guess_texts(&[piped], command);
        }
        if fed.has_secret && takes_text(words) {
            let reason = format!("{} can print secrets of the environment", command.text);
            command.concerns.push(Concern::unless_exact(reason));
        }
        self.names_in_input(&fed.texts, words, command);
        self.code_in_input(&fed.texts, words, command);
        if (fed.texts.is_empty() && !fed.has_document) || takes_text(words) {
            return;
        }
        command.others.extend(fed.texts.iter().flat_map(|text| pieces(text)));
        if fed.has_document {
            command.concerns.push(Concern::always(HERE_DOCUMENT));
        }
        if possible_commands::runs_input(words) {
            self.guess_texts(&fed.texts, command);
        }
    }

    pub(super) fn judge(&mut self, words: &[Word], concerns: Vec<Concern>) -> AnalyzedCommand {
        if !self.spend(words.len()) {
            let text = words[0].shown.clone();
            let concerns = vec![Concern::unread(TOO_MUCH)];
            let mut command = AnalyzedCommand { text, concerns, ..AnalyzedCommand::default() };
            self.guess_last(words, &mut command);
            return command;
        }
        if let Some(inner) = self.in_folder(words, &concerns) {
            return inner;
        }
        // Git takes the name of a commit for one, whatever it is.
        let named;
        let words = match words[0].text == "git" && words.iter().any(|word| word.revision) {
            true => {
                named = with_revisions(words);
                &named
            }
            false => words,
        };
        let text = shown(words);
        let name = &words[0];
        let mut command = AnalyzedCommand { text, concerns, ..AnalyzedCommand::default() };
        for word in words {
            command.concerns.extend(
                word.concerns
                    .iter()
                    .map(|reason| Concern::always(format!("{}: {reason}", word.brief()))),
            );
        }
        if !name.known || name.glob || name.tilde || !name.text.is_ascii() || name.text.is_empty() {
            command.concerns.push(Concern::always("the program is not known beforehand"));
            command.others = tails(words);
            return command;
        }
        // Names are equal in any case if the file system is case-insensitive.
        let base = &*base(&name.text);
        if base != name.text {
            command.others.push(format!("{base}{}", &command.text[name.shown.len()..]));
        }
        let is_builtin = base == name.text;
        // An interpreter reads its script, and prints lines of a file that is not a script.
        if self.with_named && name.text.contains('/') {
            self.named(name);
        }
        self.printed_secrets(base, words, &mut command);
        // Any file can have the name of a program without effects.
        let is_itself = is_builtin || name_in_system(&name.text) == Some(base);
        if let Some(wrapped) = unwrap(base, words) {
            self.judge_wrapped(base, wrapped, words, &mut command);
            command.quiet &= is_itself;
            return command;
        }
        let program = programs::find(base)
            .or_else(|| {
                programs::find(base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
            })
            .filter(|program| is_builtin || program.kind != Kind::Shell);
        // The other words of git are scanned for each of its words.
        if words.len() > MAX_GIT_WORDS && program.is_some_and(|one| one.kind == Kind::Git) {
            command.concerns.push(Concern::unread(TOO_MUCH));
            return command;
        }
        let inert = program.is_some_and(|program| program.kind == Kind::Inert);
        if !inert {
            self.unknown_words(words, program, &mut command);
        }
        self.secrets(words, program, &mut command);
        let copies = Rc::clone(&self.copies);
        printed_environment::ask(base, program, words, &copies, &mut command);
        // Pagers and editors run such a word when they start.
        let run: Vec<&str> = words.iter().filter_map(|word| word.text.strip_prefix("+!")).collect();
        self.guess_values(&run, &mut command);
        self.outputs(named_outputs(base, &words[1..]), &mut command);
        self.code_in_words(base, program, words, &mut command);
        let with_settings = program
            .filter(|program| program.kind == Kind::Git)
            .map(|_| self.with_settings(words, &mut command.concerns));
        let with_settings = with_settings.as_deref().unwrap_or(words);
        if self.with_code {
            command.others.extend(subcommands::without_options(base, program, with_settings));
        }
        let (operands, is_inner_judged) = match program.map(|program| program.kind) {
            Some(Kind::Fd) => self.fd(base, program, words, &mut command),
            _ => (self.options(base, program, words, &mut command), false),
        };
        self.whole_folders(base, program, words, &operands);
        self.edited_files(base, (words, &operands), &mut command);
        self.may_change(base, program, words, &operands);
        self.copied_files(base, program, words, &operands);
        super::passed_input::ask(base, program, words, self.has_input, &mut command);
        if git_commands::reads_its_settings(base, words) {
            command.repositories = self.git_folders(base, words);
        }
        if let Some(program) = program {
            self.judge_known(base, program, (words, with_settings, &operands), &mut command);
            // Other builtins take their words for texts.
            let takes_numbers = program.kind == Kind::Shell || TAKE_NUMBERS.contains(&base);
            let runs = |word: &Word| word.known && variables::has_running_index(&word.text);
            if takes_numbers && words.iter().any(runs) {
                command.concerns.push(Concern::always(RUNNING_INDEX));
            }
        }
        if is_itself {
            command.same_as = read_only_commands::same_as(base, name, &command.text);
            command.is_read_only =
                self.wants_read_only && read_only_commands::is_read_only(base, program, words);
        }
        if let Some((how, from)) =
            possible_commands::mode(base, program.map(|program| program.kind), words)
            && !is_inner_judged
        {
            self.guess(words, from, how, &mut command);
        }
        command
    }

    /// Judges a program that runs its arguments as a command, and that command.
    fn judge_wrapped(
        &mut self,
        base: &str,
        wrapped: Wrapped,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        if matches!(base, "time" | "gtime") {
            let own = wrapped.own(words).get(1..).unwrap_or_default();
            self.outputs(option_values(base, own), command);
        }
        self.secrets(wrapped.own(words), None, command);
        if base == "env" && wrapped.runs_nothing(words) {
            self.printed_secrets("printenv", &words[..1], command);
        }
        if has_known_options(base) {
            for file in wrappers::script_files(words) {
                command.concerns.extend(self.file(Domain::Read, file));
            }
        }
        self.nested += 1;
        // Deeper ones are not read one by one: all commands that they may run are examined instead.
        let wrapped = if self.is_nested() { Wrapped::Unknown } else { wrapped };
        if self.has_input && matches!(wrapped, Wrapped::Unknown) {
            super::passed_input::ask_shell(base, words, command);
        }
        self.wrapped(wrapped, words, command);
        self.nested -= 1;
    }

    /// Adds files that a command writes.
    fn outputs(&mut self, files: Vec<&str>, command: &mut AnalyzedCommand) {
        for file in files {
            let tilde = file.starts_with('~');
            command.concerns.extend(self.file(Domain::Edit, &Word { tilde, ..Word::plain(file) }));
        }
    }

    /// Judges words with unknown values.
    fn unknown_words(
        &mut self,
        words: &[Word],
        program: Option<&Program>,
        command: &mut AnalyzedCommand,
    ) {
        let free = |word: &Word| {
            program.is_some_and(|program| match program.kind {
                // A file can be named like an option that names the parent directory.
                Kind::Copier | Kind::Mover => !can_end_in_parent(&word.text),
                _ => program.is_plain() && kinds_of_files(program.kind),
            })
        };
        for (at, word) in words.iter().enumerate().skip(1) {
            if !word.known && word.concerns.is_empty() {
                if word.one && is_message(words, at, program) {
                    continue;
                }
                command
                    .concerns
                    .push(Concern::always(format!("{} is not known beforehand", word.brief())));
            } else if word.glob_start && !free(word) {
                command
                    .concerns
                    .push(Concern::always(format!("{} can become an option", word.brief())));
            }
        }
    }

    /// Returns the directories from which git looks for its repository.
    fn git_folders(&self, base: &str, words: &[Word]) -> Vec<String> {
        let is_git = base == "git";
        let options = words.windows(2).filter(|pair| is_git && pair[0].text == "-C");
        options.fold(self.places.clone(), |places, pair| {
            let folder = &pair[1].text;
            let from = if folder.starts_with(['/', '~']) { vec!["/".to_owned()] } else { places };
            from.iter().filter_map(|place| self.folders.absolute(folder, place)).collect()
        })
    }
}

/// Words with what stands for names of commits put in.
fn with_revisions(words: &[Word]) -> Vec<Word> {
    let known = |word: &Word| match word.revision {
        true => {
            let text = [revisions::STANDS_FOR, &word.text].concat();
            Word { text, known: true, one: true, ..word.clone() }
        }
        false => word.clone(),
    };
    words.iter().map(known).collect()
}

/// Joins words in their display form with spaces.
pub(super) fn shown(words: &[Word]) -> String {
    let length = words.iter().map(|word| word.shown.len() + 1).sum();
    let mut text = String::with_capacity(length);
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.shown);
    }
    text
}

/// Returns the commands that begin at each of the words.
pub(super) fn tails(words: &[Word]) -> Vec<String> {
    (0..words.len().min(MAX_TAILS)).map(|at| shown(&words[at..])).collect()
}

/// Returns the possible values attached to the letters of short options, which are few.
pub(super) fn glued(letters: &str) -> impl Iterator<Item = &str> {
    letters.char_indices().skip(1).take(MAX_LETTERS).map(|(at, _)| &letters[at..])
}

/// Returns true if a path may be outside of the directory that it is relative to.
pub(super) fn leads_out(path: &str) -> bool {
    path.starts_with(['/', '~'])
        || path.split('/').any(|part| part == ".." || dialects::can_be_parent(part))
}

/// Returns true if a command only shows or stores its input.
fn takes_text(words: &[Word]) -> bool {
    let name = words.first().filter(|name| name.known && !name.glob);
    let base = name.map(|name| name_in_system(&name.text).unwrap_or(&name.text));
    let kind = base.and_then(programs::find).map(|program| program.kind);
    match kind {
        Some(
            Kind::Inert | Kind::Reader | Kind::Grep | Kind::Writer | Kind::Both | Kind::Filter,
        ) => true,
        Some(Kind::Git) => git_commands::reads_message(words),
        _ => base.is_some_and(|base| super::passed_input::is_text(base, kind, words)),
    }
}

/// Returns true if a glob can match a name that ends in the parent directory.
fn can_end_in_parent(glob: &str) -> bool {
    let end = glob.rfind(['*', '?', ']']).map_or(glob, |at| &glob[at + 1..]);
    end.bytes().all(|byte| byte == b'.')
}

/// Returns true if the arguments of such programs are files only.
fn kinds_of_files(kind: Kind) -> bool {
    matches!(kind, Kind::Reader | Kind::Lister | Kind::Grep | Kind::Writer | Kind::Both)
}

/// Returns true if a word is the text of a message, which is not run.
pub(super) fn is_message(words: &[Word], at: usize, program: Option<&Program>) -> bool {
    match program.map(|program| program.kind) {
        Some(Kind::Git) => git_commands::is_message(words, at),
        Some(_) if matches!(words[0].text.as_str(), "gh" | "glab") => {
            BODY_OPTIONS.contains(&words[at - 1].text.as_str())
        }
        _ => false,
    }
}
