//! `fd`: the folders that it searches, and the commands that it runs on what it finds.

use super::analyzer::Walker;
use super::files::found_files::content_of_fd;
use super::files::whole_folders::values_of;
use super::grep_args::letters_of;
use super::possible_commands::Guess;
use super::programs::{self, Kind, Program};
use super::word::Word;
use super::{AnalyzedCommand, Concern, grep_args};
use crate::permission::Domain;
use crate::permission::glob_overlap::WILDCARDS;

impl Walker<'_> {
    /// Judges the options of `fd` and what it runs. Returns the indexes of arguments that are not options, and whether what it
    /// runs is judged.
    pub(super) fn fd(
        &mut self,
        base: &str,
        program: Option<&'static Program>,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) -> (Vec<usize>, bool) {
        self.finds_secrets_by_fd(words, command);
        let (own, commands) = commands_of(base, words);
        if !runs_only_readers(base, words, &own, &commands) {
            let operands = self.options(base, program, words, command);
            let is_own = |at: &&usize| own.binary_search(at).is_ok();
            let of_fd: Vec<usize> = operands.iter().filter(is_own).copied().collect();
            // That it runs a command is asked about already.
            let mut found = AnalyzedCommand::default();
            if !commands.is_empty() {
                self.guessing(Guess::Drop, command, |walker| {
                    walker.found_by_fd((&own, &commands), words, &of_fd, &mut found);
                });
            }
            return (operands, !commands.is_empty());
        }
        let own_words: Vec<Word> =
            std::iter::once(&0).chain(&own).map(|at| words[*at].clone()).collect();
        let operands = self.options(base, program, &own_words, command);
        let operands: Vec<usize> = operands.iter().map(|at| own[at - 1]).collect();
        self.found_by_fd((&own, &commands), words, &operands, command);
        (operands, true)
    }

    /// Asks about the command that `fd` runs on files, if its pattern matches files with secrets.
    fn finds_secrets_by_fd(&self, words: &[Word], command: &mut AnalyzedCommand) {
        let is_short = |text: &str| text.starts_with('-') && !text.starts_with("--");
        let has = |letters: [char; 2], names: [&str; 2]| {
            words.iter().any(|word| match is_short(&word.text) {
                true => word.text.contains(letters),
                false => names.contains(&word.text.as_str()),
            })
        };
        if !has(['x', 'X'], ["--exec", "--exec-batch"]) {
            return;
        }
        let is_hidden = has(['H', 'u'], ["--hidden", "--unrestricted"]);
        let mut rest = words[1..].iter().map(|word| word.text.as_str());
        let mut finds = false;
        while let Some(text) = rest.next() {
            finds |= match text {
                "-x" | "-X" | "--exec" | "--exec-batch" => break,
                "-e" | "--extension" => {
                    let end = [".", rest.next().unwrap_or_default()].concat();
                    self.sensitive.is_sensitive(&end)
                        || self.sensitive.is_sensitive(&["x", &end].concat())
                }
                "-t" | "--type" | "-d" | "--max-depth" | "-E" | "--exclude" => {
                    _ = rest.next();
                    false
                }
                _ if text.starts_with('-') || !is_hidden || text == "." => false,
                _ => {
                    let start = text
                        .strip_prefix('^')
                        .map_or([".*", text].concat(), |text| ["(.*/)?", text].concat());
                    let whole =
                        start.strip_suffix('$').map_or([&start, ".*"].concat(), str::to_owned);
                    self.sensitive.can_be_found(text, false)
                        || grep_args::expresses_secrets(&whole, self.sensitive)
                }
            };
        }
        if finds {
            command.concerns.push(Concern::always("fd can find files with secrets"));
        }
    }

    /// Judges the commands that `fd` runs on what it finds. The operands are indexes of words.
    fn found_by_fd(
        &mut self,
        (own, commands): (&[usize], &[Vec<Word>]),
        words: &[Word],
        operands: &[usize],
        command: &mut AnalyzedCommand,
    ) {
        let own: Vec<Word> = own.iter().map(|at| words[*at].clone()).collect();
        if own.iter().any(|word| word.has_letter('L') || word.text == "--follow") {
            command.concerns.push(Concern::always("fd follows links"));
        }
        let roots = roots_of(&own, operands.iter(), words);
        for root in &roots {
            command.concerns.extend(self.file(Domain::Read, root));
        }
        // A pattern matches a part of a name; the whole one is the most probable.
        let mut content = content_of_fd(&own);
        for glob in &mut content.only {
            let name = glob.trim_matches('*');
            if !name.is_empty() && !name.contains(WILDCARDS) {
                *glob = name.to_owned();
            }
        }
        self.nested += 1;
        for inner in commands {
            // Without a place for the names, these follow.
            let has_place = inner.iter().any(|word| word.text == "{}");
            let names = (!has_place).then(|| Word::plain("{}"));
            let inner: Vec<Word> = inner.iter().cloned().chain(names).collect();
            self.for_each_file(&inner, &roots, &content, command);
        }
        self.nested -= 1;
    }
}

/// Returns the indexes of the words of `fd` itself, and the commands that it runs on what it finds, each up to a `;`.
pub(super) fn commands_of(base: &str, words: &[Word]) -> (Vec<usize>, Vec<Vec<Word>>) {
    let (mut own, mut commands) = (Vec::new(), Vec::new());
    let mut rest = words.iter().enumerate().skip(1);
    while let Some((at, word)) = rest.next() {
        if !matches!(&*word.text, "-x" | "-X" | "--exec" | "--exec-batch") {
            own.push(at);
        }
        let value = match word.text.split_once('=') {
            Some(("--exec" | "--exec-batch", value)) => Some(value),
            _ if matches!(&*word.text, "--exec" | "--exec-batch") => None,
            _ => match letters_of(base, word) {
                (letters, value) if letters.ends_with(['x', 'X']) => {
                    value.filter(|value| !value.is_empty())
                }
                _ => continue,
            },
        };
        let more = rest.by_ref().map(|(_, word)| word).take_while(|word| word.text != ";").cloned();
        commands.push(value.map(Word::plain).into_iter().chain(more).collect());
    }
    (own, commands)
}

/// Returns the folders that `fd` searches, given its own words and the indexes of its operands among all of them.
pub(super) fn roots_of<'a>(
    own: &[Word],
    operands: impl Iterator<Item = &'a usize>,
    words: &[Word],
) -> Vec<Word> {
    let mut found = values_of(own, "--base-directory,--search-path");
    // Also at the end of a bundle: `-HC folder`.
    found.extend(own.iter().enumerate().filter_map(|(at, word)| match letters_of("fd", word) {
        (letters, Some("")) if letters.ends_with('C') => own.get(at + 1).cloned(),
        (letters, Some(value)) if letters.ends_with('C') => Some(Word::plain(value)),
        _ => None,
    }));
    // The first operand is the pattern.
    found.extend(operands.skip(1).map(|at| words[*at].clone()));
    if found.is_empty() { vec![Word::plain(".")] } else { found }
}

/// Returns true if `fd` runs commands of which each only looks at the files that it is given as they are.
fn runs_only_readers(base: &str, words: &[Word], own: &[usize], commands: &[Vec<Word>]) -> bool {
    let is_bundle = |at: &usize| {
        words[*at].text.starts_with("--exec")
            || letters_of(base, &words[*at]).0.contains(['x', 'X'])
    };
    let is_reader = |command: &Vec<Word>| {
        let name = command.first().filter(|name| name.known).map_or("", |name| &name.text);
        programs::find(name).is_some_and(|program| {
            matches!(program.kind, Kind::Inert | Kind::Reader | Kind::Grep | Kind::Lister)
                && program.is_plain()
        }) && command.iter().all(|word| word.text == "{}" || !word.text.contains(['{', '}']))
    };
    !commands.is_empty() && commands.iter().all(is_reader) && !own.iter().any(is_bundle)
}
