//! Programs with a language of their own: `sed`, `awk` and `find`.

use super::analyzer::Walker;
use super::destroying::destroying_code::with_joined_strings;
use super::files::edited_files::valued_letters;
use super::files::found_files::content_found;
use super::name_letters::is_in_variable;
use super::possible_commands::Guess;
use super::program_names::base;
use super::programs::{self, Kind};
use super::script_safety::{awk_is_harmless, find_test, sed_is_harmless};
use super::word::Word;
use super::wrappers::{self, Wrapped};
use super::{AnalyzedCommand, Concern, Content, CoveredBy, grep_args, printing::sed_output};
use crate::permission::Domain;
use crate::permission::glob_overlap::{WILDCARDS, can_meet};
use crate::permission::places;

/// Maximum number of searched folders, and of names in each, whose copies are judged.
const MAX_COPIED_ROOTS: usize = 4;
const MAX_COPIED_NAMES: usize = 32;

/// Returns true if a long option of sed is spelled out and contains no script.
fn is_known_of_sed(option: &str) -> bool {
    matches!(
        option,
        "--" | "--in-place"
            | "--quiet"
            | "--silent"
            | "--regexp-extended"
            | "--null-data"
            | "--zero-terminated"
            | "--separate"
            | "--unbuffered"
            | "--line-length"
            | "--posix"
            | "--sandbox"
            | "--debug"
            | "--version"
    )
}

/// Returns true if the name of a file is a script that accesses a file or runs a program: a letter after an address,
/// followed by a blank or a path.
fn is_script_of_bsd(text: &str) -> bool {
    let script = text.trim_start_matches(|letter: char| {
        letter.is_ascii_digit() || matches!(letter, '$' | ',' | '!' | ' ')
    });
    let mut letters = script.chars();
    let (command, next) = (letters.next(), letters.next());
    let is_command = matches!(command, Some('w' | 'W' | 'r' | 'R' | 'e'));
    let is_longer = text.contains([' ', ';', '{', '\n'])
        && text.starts_with(['s', 'w', 'r', '/', '{', '\\', '$', '1']);
    (is_command && matches!(next, Some('/' | ' ' | '\t' | '~')))
        || (is_longer && !sed_is_harmless(text))
}

/// Returns true if what a test of `find` selects is left out, and no group, alternative or second negation turns that
/// around. The word before it may be the value of another option.
pub(super) fn is_left_out(words: &[Word], at: usize) -> bool {
    at > 1
        && is_negation(&words[at - 1])
        && !is_negation(&words[at - 2])
        && !words[at - 2].text.starts_with('-')
        && !has_alternatives(words)
}

pub(super) fn is_negation(word: &Word) -> bool {
    matches!(word.text.as_str(), "!" | "-not")
}

/// Returns true if an expression of `find` is more than a list of tests that all hold.
pub(super) fn has_alternatives(words: &[Word]) -> bool {
    let mut in_command = false;
    words.iter().any(|word| {
        let text = word.text.as_str();
        if in_command {
            in_command = word.known && !matches!(text, ";" | "+");
            return false;
        }
        in_command = matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
        matches!(text, "(" | "-o" | "-or" | ",")
    })
}

/// How a place for the names that were found is shown.
pub(super) const FOUND: &str = "'{}'";

/// Maximum number of strings of a program that are read.
const MAX_STRINGS: usize = 64;

/// Returns the values of variables that a program of `awk` redirects to or from: `-v f=x '{print > f}'`.
fn files_by_variable<'v>(
    program: &str,
    assigned: &[(&str, &'v str)],
) -> impl Iterator<Item = (Domain, &'v str)> {
    let domain = move |name: &str| {
        program.match_indices(name).find_map(|(at, _)| {
            let (before, after) = (&program[..at], &program[at + name.len()..]);
            match before.trim_end().as_bytes().last() {
                _ if after.starts_with(is_in_variable) => None,
                Some(b'>') => Some(Domain::Edit),
                Some(b'<') => Some(Domain::Read),
                _ => None,
            }
        })
    };
    let found = assigned.iter().filter(|(name, _)| !name.is_empty());
    found.filter_map(|(name, value)| Some((domain(name)?, *value))).collect::<Vec<_>>().into_iter()
}

/// An option of `sed`.
struct SedOption<'w> {
    word: &'w Word,
    /// Its letters up to one that has a value; empty for a long option.
    letters: &'w str,
    /// Its name, if it is long.
    name: &'w str,
    /// The value in the same word.
    value: Option<&'w str>,
}

impl<'w> SedOption<'w> {
    fn of(word: &'w Word) -> Option<Self> {
        let text = word.text.as_str();
        if text.len() < 2 || !text.starts_with('-') {
            return None;
        }
        if text.starts_with("--") {
            let (name, value) =
                text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            return Some(SedOption { word, letters: "", name, value });
        }
        let (letters, value) = word.option_letters(valued_letters("sed"));
        Some(SedOption { word, letters, name: "", value })
    }

    /// Returns true if it is the option with this letter and this long name.
    fn is(&self, letter: char, name: &str) -> bool {
        self.letters.ends_with(letter) || self.name.len() > 2 && name.starts_with(self.name)
    }

    /// Returns true if it is spelled out, has no script, and means the same to every kind of `sed`.
    fn is_known(&self) -> bool {
        let text = self.word.text.as_str();
        let is_suffix = || text.starts_with("-i") && !text.starts_with("-ie");
        match self.name {
            "" => {
                text == "-e" || is_suffix() || text[1..].bytes().all(|it| b"nErsuzi".contains(&it))
            }
            name => text == "--expression" || is_known_of_sed(name),
        }
    }
}

/// The arguments of `sed`.
#[derive(Default)]
struct SedArguments<'w> {
    scripts: Vec<Word>,
    files: Vec<&'w Word>,
    in_place: bool,
}

impl<'w> SedArguments<'w> {
    fn of(words: &'w [Word], concerns: &mut Vec<Concern>) -> Self {
        let mut found = SedArguments::default();
        let mut has_script = false;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(option) = SedOption::of(word) else {
                found.files.push(word);
                continue;
            };
            let gives_script = option.is('e', "--expression");
            if gives_script || option.is('f', "--file") {
                has_script = true;
                let script = match option.value.filter(|value| !value.is_empty()) {
                    Some(value) => Some(Word { text: value.to_owned(), ..word.clone() }),
                    None => {
                        at += 1;
                        words.get(at - 1).cloned()
                    }
                };
                found.scripts.extend(script.filter(|_| gives_script));
            }
            if !option.is_known() {
                concerns.push(Concern {
                    reason: "an option of sed can be a script or is not known".into(),
                    covered_by: CoveredBy::Word(word.shown.clone()),
                });
            }
            if option.is('i', "--in-place") {
                found.in_place = true;
                at += usize::from(suffix_is_next(&option, &words[at..], concerns));
            }
        }
        if !has_script && !found.files.is_empty() {
            found.scripts.push(found.files.remove(0).clone());
        }
        found
    }
}

/// Judges the suffix of `sed -i`, which is appended to the names of the old files, or replaces them. Returns true if it is the next
/// word.
fn suffix_is_next(option: &SedOption<'_>, next: &[Word], concerns: &mut Vec<Concern>) -> bool {
    const ELSEWHERE: &str = "sed keeps the old files somewhere else";
    let leads_elsewhere = |suffix: &str| suffix.contains(['/', '*']);
    // In the sed of BSD and macOS the suffix is a word of its own. GNU sed takes such a word for a script without an effect.
    let is_alone = option.letters.ends_with('i') && option.value == Some("");
    let given = next.first().filter(|next| is_alone && next.known && !next.glob);
    let given = given.map_or("x", |next| next.text.as_str());
    let is_next = given.is_empty() || given.starts_with('.');
    if leads_elsewhere(option.value.unwrap_or_default()) || is_next && leads_elsewhere(given) {
        concerns.push(Concern::always(ELSEWHERE));
    }
    if is_alone && !is_next && next.get(1).is_some_and(|after| is_script_of_bsd(&after.text)) {
        concerns.push(Concern::always(
            "some kinds of sed take the word after -i for the end of a name, and the next for the script",
        ));
    }
    is_next
}

impl Walker<'_> {
    pub(super) fn sed(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let SedArguments { scripts, files, in_place } =
            SedArguments::of(words, &mut command.concerns);
        for script in &scripts {
            if script.known && !sed_is_harmless(&script.text) {
                command.concerns.push(Concern {
                    reason: "a script of sed can run commands and write files".into(),
                    covered_by: CoveredBy::Word(script.shown.clone()),
                });
                for file in sed_output::files_written(std::slice::from_ref(script)) {
                    command.concerns.extend(self.file(Domain::Edit, &Word::plain(file)));
                }
            }
        }
        for file in files {
            command.concerns.extend(self.file(Domain::Read, file));
            if in_place {
                command.concerns.extend(self.file(Domain::Edit, file));
            }
        }
    }

    pub(super) fn awk(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let mut program = None;
        let mut assigned = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "-F" || text == "-v" {
                at += 1;
                assigned.extend(words.get(at).and_then(|word| word.text.split_once('=')));
            } else if text.starts_with('-') && text.len() > 1 {
                // Looked up in the table.
            } else if program.is_none() {
                program = Some(word);
                if word.known && !awk_is_harmless(text) {
                    command.concerns.push(Concern {
                        reason: "a program of awk can run commands and write files".into(),
                        covered_by: CoveredBy::Word(word.shown.clone()),
                    });
                    self.awk_strings(word, command);
                    for (domain, value) in files_by_variable(text, &assigned) {
                        let file = Word { text: value.to_owned(), ..word.clone() };
                        command.concerns.extend(self.file(domain, &file));
                    }
                }
            } else if !text.contains('=') || text.contains('/') {
                command.concerns.extend(self.file(Domain::Read, word));
            }
            at += 1;
        }
    }

    /// Judges the strings of an `awk` program: files that it writes and reads, and commands.
    fn awk_strings(&mut self, program: &Word, command: &mut AnalyzedCommand) {
        let joined = with_joined_strings(&program.text);
        let mut before = "";
        let mut texts = Vec::new();
        for (at, part) in joined.split('"').enumerate().take(MAX_STRINGS) {
            let domain = match before.trim_end().chars().next_back() {
                _ if at % 2 == 0 => None,
                Some('>') => Some(Domain::Edit),
                Some('<') => Some(Domain::Read),
                _ => None,
            };
            match domain {
                Some(domain) => {
                    let file = Word { text: part.to_owned(), ..program.clone() };
                    command.concerns.extend(self.file(domain, &file));
                }
                None if at % 2 == 1 => texts.push(part),
                None => {}
            }
            before = part;
        }
        self.guess_values(&texts, command);
    }

    pub(super) fn find(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let mut at = 1;
        let mut roots = Vec::new();
        let follows = words.iter().any(|word| matches!(word.text.as_str(), "-L" | "-follow"));
        while let Some(word) = words.get(at).filter(|word| !word.text.starts_with(['-', '(', '!']))
        {
            roots.push(word.clone());
            at += 1;
        }
        // Options before the directories.
        if roots.is_empty() {
            while words
                .get(at)
                .is_some_and(|word| matches!(word.text.as_str(), "-L" | "-H" | "-P" | "-E"))
            {
                at += 1;
            }
            while let Some(word) =
                words.get(at).filter(|word| !word.text.starts_with(['-', '(', '!']))
            {
                roots.push(word.clone());
                at += 1;
            }
        }
        if roots.is_empty() {
            roots.push(Word::plain("."));
        }
        for root in &roots {
            command.concerns.extend(self.file(Domain::Read, root));
        }
        let finds_secrets = self.finds_secrets(words);
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir") {
                let end = words[at..]
                    .iter()
                    .position(|word| word.text == ";" || word.text == "+")
                    .map_or(words.len(), |end| at + end);
                let inner = &words[at + 1..end];
                if follows {
                    command.concerns.push(Concern::always("find follows links"));
                }
                self.found_folders(&roots, words, inner);
                if !inner.is_empty() {
                    self.folders_changed_by_find(&roots, words, inner);
                }
                if finds_secrets {
                    command.concerns.push(Concern::always("find can find files with secrets"));
                }
                self.nested += 1;
                if inner.is_empty() || self.is_nested() {
                    command.concerns.push(Concern::always("what find runs is not known"));
                    self.guess(inner, 0, Guess::Keep, command);
                } else {
                    self.for_each_file(inner, &roots, &content_found(words), command);
                }
                self.nested -= 1;
                at = end + 1;
            } else if text == "-delete" {
                command.concerns.push(Concern {
                    reason: "-delete of find removes files".into(),
                    covered_by: CoveredBy::Word("-delete".into()),
                });
                for root in &roots {
                    command.concerns.extend(self.file(Domain::Edit, root));
                }
                self.folders_changed_by_find(&roots, words, &[]);
                at += 1;
            } else if text.starts_with("-fprint") || text == "-fls" {
                command.concerns.push(Concern {
                    reason: format!("{text} of find writes to a file"),
                    covered_by: CoveredBy::Word(word.shown.clone()),
                });
                if let Some(file) = words.get(at + 1) {
                    command.concerns.extend(self.file(Domain::Edit, file));
                }
                at += 2;
            } else if let Some(values) = find_test(text) {
                at += 1 + values;
            } else {
                command.concerns.push(Concern {
                    reason: format!("{text} of find can run something or write somewhere"),
                    covered_by: CoveredBy::Word(word.shown.clone()),
                });
                at += 1;
            }
        }
    }

    /// Returns true if a test of find selects files with secrets.
    fn finds_secrets(&self, words: &[Word]) -> bool {
        words.windows(2).enumerate().any(|(at, pair)| {
            let text = pair[1].text.as_str();
            match pair[0].text.as_str() {
                _ if is_left_out(words, at) => false,
                "-name" | "-iname" | "-lname" | "-ilname" => {
                    self.sensitive.can_be_found(text, false)
                }
                "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                    self.sensitive.can_be_found(text, true)
                }
                "-regex" | "-iregex" => grep_args::expresses_secrets(text, self.sensitive),
                "-samefile" => self.sensitive.can_be_sensitive(text, false),
                _ => false,
            }
        })
    }

    /// Judges a command in which `{}` is replaced by the names found.
    pub(super) fn for_each_file(
        &mut self,
        inner: &[Word],
        roots: &[Word],
        content: &Content,
        command: &mut AnalyzedCommand,
    ) {
        if inner[0].text.contains("{}") {
            command.concerns.push(Concern::always("what find runs is not known"));
            return;
        }
        let program = programs::find(&base(&inner[0].text));
        let plain = program.is_some_and(|program| {
            matches!(
                program.kind,
                Kind::Inert | Kind::Reader | Kind::Grep | Kind::Lister | Kind::Writer | Kind::Both
            )
        });
        // Names begin with the directory that was searched, so none can be an option.
        let known_roots = roots.iter().all(|root| root.known && !root.can_be_option());
        let words: Vec<Word> = inner
            .iter()
            .map(|word| match (word.text.as_str(), &roots[0]) {
                ("{}", root) => Word {
                    text: root.text.clone(),
                    shown: FOUND.into(),
                    known: true,
                    tilde: root.tilde,
                    ..Word::default()
                },
                _ => word.clone(),
            })
            .collect();
        let mut judged = self.judge(&words, Vec::new());
        if !plain
            || !known_roots
            || inner.iter().any(|word| word.text != "{}" && word.text.contains("{}"))
        {
            judged.concerns.push(Concern::always("further arguments are names of files"));
        }
        self.push(judged);
        let inner = innermost(inner);
        let program = programs::find(&base(&inner[0].text));
        if program.is_some_and(|program| {
            program.copies || matches!(program.kind, Kind::Copier | Kind::Mover)
        }) {
            for root in roots.iter().take(MAX_COPIED_ROOTS) {
                for name in names_found(content) {
                    self.copies_found(inner, root, name);
                }
            }
        }
    }

    /// Adds the files that a command copies if it is given what has this name in a folder.
    fn copies_found(&mut self, inner: &[Word], root: &Word, name: &str) {
        let base = base(&inner[0].text);
        let found = Word {
            text: [root.text.trim_end_matches('/'), "/", name].concat(),
            glob: name.contains(WILDCARDS),
            ..root.clone()
        };
        let given = |word: &Word| if word.text == "{}" { found.clone() } else { word.clone() };
        let words: Vec<Word> = inner.iter().map(given).collect();
        let is_operand = |at: &usize| !words[*at].text.starts_with('-');
        let operands: Vec<usize> = (1..words.len()).filter(is_operand).collect();
        self.copied_files(&base, programs::find(&base), &words, &operands);
    }
}

/// Returns the names of the files that a search selects, for its copies: the last part of each glob, or a name that the system needs
/// and the glob means; `*` where none is known.
fn names_found(content: &Content) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for glob in &content.only {
        let name = glob.rsplit('/').next().filter(|name| !name.is_empty());
        names.extend(name);
        let pattern = name.filter(|name| name.contains(WILDCARDS) && !name.starts_with('*'));
        let Some(pattern) = pattern else { continue };
        for known in places::names_of_needed_files() {
            if can_meet(pattern, false, known) {
                names.push(known);
            }
        }
    }
    if names.is_empty() || names.len() > MAX_COPIED_NAMES {
        names.insert(0, "*");
    }
    names.truncate(MAX_COPIED_NAMES);
    names
}

/// Returns the command that runs in the end: that of `env`, `nice` and the like.
fn innermost(words: &[Word]) -> &[Word] {
    const MAX_DEPTH: usize = 8;
    let mut words = words;
    for _ in 0..MAX_DEPTH {
        let at = match wrappers::unwrap(&base(&words[0].text), words) {
            Some(Wrapped::Words(at) | Wrapped::WordsAndMore(at) | Wrapped::Powerful(at)) => at,
            Some(Wrapped::Environment(env)) => env.at,
            _ => break,
        };
        match words.get(at..) {
            Some(inner @ [_, ..]) => words = inner,
            _ => break,
        }
    }
    words
}
