//! The analysis of shell commands: what a command runs, reads and writes.
//!
//! The grammar is `brush-parser`'s. Only what is known to mean here what it means to a shell is taken as understood; all
//! the rest becomes a [`Concern`], and a concern is a question. Every simple command is a target of its own, wherever it
//! is; files that are redirected to and from, and those that well-known programs read and write, are targets too.
//!
//! | module | contents |
//! | --- | --- |
//! | [`preflight`] | texts that are not even parsed |
//! | [`fast_path`] | texts that need no parser |
//! | [`word`] | the value of a word: its text, or that it is not known beforehand |
//! | [`analyzer`] | the state of a reading, and how much may be read |
//! | [`constructs`] | the commands of lists, pipelines, loops and functions |
//! | [`current_folders`] | folders that a command can run in |
//! | [`simple_command`] | one simple command |
//! | [`wrapped_command`] | commands that other programs run |
//! | [`named_secrets`] | words that name files with secrets |
//! | [`destroying`] | commands that destroy the machine or a home, end it or lock it |
//! | [`name_letters`] | the letters of a name |
//! | [`code`] | code in other languages that a command gives to a program |
//! | [`expand`] | the values that a command itself says its words have |
//! | [`expand_parameters`] | the operators of `${…}` |
//! | [`known_values`] | values that a command sets for its later parts |
//! | [`unset_variables`] | variables that no part of a command sets |
//! | [`printing`] | the output of commands |
//! | [`command_tables`] | tables of commands by their words |
//! | [`builtins`] | builtins of the shell that change its state |
//! | [`redirect`] | redirections: files read and written, input passed on |
//! | [`dialects`] | differences of other shells from bash |
//! | [`variables`], [`variable_names`] | variables that change which program runs |
//! | [`constants`] | variables with a known text |
//! | [`container_paths`] | paths of the machine that a container is given |
//! | [`decode`] | decoding of base64, hexadecimal digits and other encodings |
//! | [`revisions`] | commands that print the name of a commit |
//! | [`read_only_commands`] | commands that only read |
//! | [`git`] | the language of git: its commands, settings, patterns and helpers |
//! | [`sed_awk_find`] | programs with a language of their own |
//! | [`fd`] | folders that `fd` searches, and the commands that it runs |
//! | [`files`] | files that a command reads, finds and changes |
//! | [`commands_in_words`] | texts in words and lines that may be commands |
//! | [`names_in_input`] | programs that read the names of files from their input |
//! | [`subcommands`] | the subcommand of a program after its options |
//! | [`shells`] | names of shells |
//! | [`program_names`] | the name of a program in its path |
//! | [`wrappers`] | programs that run their arguments |
//! | [`env_command`] | the options of `env` |
//! | [`possible_commands`] | arguments of other programs that may be commands |
//! | [`programs`] | the uses that programs make of their arguments; the table is `programs.txt` |
//! | [`known_programs`] | the words of a program of the table, by its kind |
//! | [`options`], [`option_names`] | the options and arguments of a program |
//! | [`run_programs`] | operands that a program runs |
//! | [`passed_input`] | programs that pass their input to an interpreter elsewhere |
//! | [`grep_args`] | words of a search that are files |
//! | [`script_safety`] | scripts of sed, awk and find that only look at text |

use std::borrow::Cow;

use super::Domain;
use super::paths::Folders;
use super::sensitive::SensitiveNames;

mod analyzer;
mod builtins;
mod code;
mod command_tables;
mod commands_in_words;
mod constants;
mod constructs;
mod container_paths;
mod current_folders;
mod decode;
mod destroying;
mod dialects;
mod env_command;
mod expand;
mod expand_parameters;
mod fast_path;
mod fd;
mod files;
mod git;
mod grep_args;
mod known_programs;
mod known_values;
mod name_letters;
mod named_secrets;
mod names_in_input;
mod option_names;
mod options;
mod passed_input;
mod possible_commands;
mod preflight;
mod printing;
mod program_names;
pub mod programs;
mod read_only_commands;
mod redirect;
mod revisions;
mod run_programs;
mod script_safety;
mod sed_awk_find;
mod shells;
mod simple_command;
mod subcommands;
mod unset_variables;
mod variable_names;
mod variables;
mod word;
mod wrapped_command;
mod wrappers;

pub(super) use files::copied_files::{Copied, Source};
pub use printing::printed_files::{PrintedLines, printed_files, printed_lines};
pub use printing::printed_form::printed_form;
pub(super) use shells::has_known_options;

/// Maximum number of characters of a command or a word that are quoted in a reason.
const MAX_BRIEF: usize = 200;

/// Returns the beginning of a text for a sentence.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_BRIEF) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The reason to ask about a command although a rule allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// A sentence for a person.
    pub reason: String,
    pub covered_by: CoveredBy,
}

/// The permissions that cover a concern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoveredBy {
    /// None.
    Nothing,
    /// None, and full access does not cover it either: a hard deny may be about what was not read.
    NotEvenFullAccess,
    /// One for exactly this command, whatever else may run.
    ThisCommand,
    /// One for all commands: the text that another was written for says nothing about what this one is given to run.
    AllCommands,
    /// One that contains this word, one for exactly this command, and one for all commands.
    Word(String),
}

impl Concern {
    /// Creates a concern about code in the input of a command.
    pub fn of_input(reason: impl Into<String>) -> Self {
        Concern { reason: reason.into(), covered_by: CoveredBy::AllCommands }
    }

    /// Creates a concern that no rule covers.
    pub fn always(reason: impl Into<String>) -> Self {
        Concern { reason: reason.into(), covered_by: CoveredBy::Nothing }
    }

    /// Creates a concern about a part that was not read.
    pub fn unread(reason: impl Into<String>) -> Self {
        Concern { reason: reason.into(), covered_by: CoveredBy::NotEvenFullAccess }
    }

    /// Creates a concern that only a rule for exactly this command covers.
    pub fn unless_exact(reason: impl Into<String>) -> Self {
        Concern { reason: reason.into(), covered_by: CoveredBy::ThisCommand }
    }

    /// Returns true if a rule for this command or a part of it can cover it, so that one may be suggested.
    pub fn may_be_covered(&self) -> bool {
        matches!(self.covered_by, CoveredBy::ThisCommand | CoveredBy::Word(_))
    }

    /// Returns true if a part of the command was not read, so that no hard deny could be found in it.
    pub fn leaves_unread(&self) -> bool {
        self.covered_by == CoveredBy::NotEvenFullAccess
    }
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyzedCommand {
    /// Its words joined by spaces, quoted where needed.
    pub text: String,
    /// Other forms. Denials and questions count for them, permissions do not.
    pub others: Vec<String>,
    /// The reasons to ask about it.
    pub concerns: Vec<Concern>,
    /// True if other commands describe its effect: only denials and questions about it count.
    pub quiet: bool,
    /// True if a rule for all calls of the program may be suggested.
    pub prefix: bool,
    /// Directories from which it looks for a git repository.
    pub repositories: Vec<String>,
    /// Another form, for which permissions count too.
    pub same_as: Option<String>,
    /// True if it only reads, as far as that is requested.
    pub is_read_only: bool,
}

/// A file that a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Read or edit.
    pub domain: Domain,
    /// Absolute and normalized path; with wildcards if `glob`.
    pub path: String,
    /// The path with every `..` as written.
    pub written: String,
    /// True if the shell expands wildcards.
    pub glob: bool,
    /// True if only its existence is revealed.
    pub names: bool,
}

/// Maximum number of folders, one in another, in which secrets are looked for.
pub(super) const MAX_FOLDER_DEPTH: usize = 3;

/// Selects the files of a folder that are shown or copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// Globs of which one matches; none if all files are.
    pub only: Vec<String>,
    /// Globs of what is left out.
    pub without: Vec<String>,
    /// True without the names that begin with a dot.
    pub is_visible: bool,
    /// True if only links are.
    pub is_link: bool,
    /// How many folders deep secrets are looked for.
    pub depth: usize,
}

impl Content {
    /// Everything in a folder as it is, and not what only may be there.
    pub(super) fn on_disk() -> Self {
        Content { only: vec!["*".to_owned()], depth: MAX_FOLDER_DEPTH, ..Content::default() }
    }
}

/// A parsed command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub commands: Vec<AnalyzedCommand>,
    pub files: Vec<FileUse>,
    /// Folders of which everything is shown or copied, and with [`Domain::Edit`] those of which it is changed.
    pub contents: Vec<(FileUse, Content)>,
    /// Arguments of other programs as files, if requested. It is unknown whether they are paths, and what the program
    /// does with them.
    pub named: Vec<FileUse>,
    /// Files that may be changed, if requested: it is unknown whether they are.
    pub possibly_changed: Vec<FileUse>,
    /// Sources that are put into a folder, if their destination is one.
    pub(super) copied: Vec<Copied>,
}

/// Stack size for a command on which the parser recurses. Only the used part takes memory.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Quotes a text as one word of a shell.
pub fn quoted(text: &str) -> String {
    word::quoted(text)
}

/// The kinds of rules that a reading is compared with, beside those about the commands themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleKinds {
    /// Rules about reading files: [`Reading::named`] is filled.
    pub files: bool,
    /// Rules about changing files: [`Reading::possibly_changed`] is filled.
    pub edits: bool,
    /// Rules that ask about or deny programs: what code runs is among [`AnalyzedCommand::others`].
    pub programs: bool,
    /// A permission for all commands that only read: [`AnalyzedCommand::is_read_only`] is filled.
    pub read_only: bool,
}

/// Reads a command that runs in `cwd`. `sensitive` recognizes names of files with secrets.
pub fn read(
    command: &str,
    folders: &Folders,
    cwd: &str,
    sensitive: &SensitiveNames,
    kinds: RuleKinds,
) -> Reading {
    let work = || {
        let mut walker = analyzer::Walker::new(folders, cwd, sensitive, kinds);
        walker.source(command);
        walker.finish()
    };
    if !preflight::is_deep(command) {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.ok().and_then(|thread| thread.join().ok())
    })
    .unwrap_or_else(|| analyzer::Walker::new(folders, cwd, sensitive, kinds).refuse(command))
}

/// Returns true if a command changes nothing: each part of it only reads, or is one of those that `checks` knows by their words, no
/// file is written, and nothing about it is not understood.
pub fn is_read_only(command: &str, checks: impl Fn(&str) -> bool) -> bool {
    let reading = read_alone(command);
    let changes_nothing = |simple: &AnalyzedCommand| {
        simple.concerns.is_empty() && (simple.is_read_only || simple.quiet || checks(&simple.text))
    };
    reading.commands.iter().all(changes_nothing)
        && !reading.files.iter().any(|file| file.domain == Domain::Edit)
}

/// Reads a command that runs in a folder of which nothing is known.
fn read_alone(command: &str) -> Reading {
    let cwd = "/v";
    let folders = Folders {
        vault: cwd.to_owned(),
        real_vault: None,
        cwd: cwd.to_owned(),
        home: None,
        windows: false,
        fold_case: false,
    };
    let kinds = RuleKinds { read_only: true, ..RuleKinds::default() };
    read(command, &folders, cwd, &SensitiveNames::none(), kinds)
}

#[cfg(test)]
mod tests;
