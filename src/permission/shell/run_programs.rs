//! Programs and scripts among the operands of a program, which runs them: `npx x`, `python a.py`, `nice make`.

use super::analyzer::Walker;
use super::option_names::is_input;
use super::options::ask;
use super::program_names;
use super::programs::{self, Kind, Program};
use super::simple_command::leads_out;
use super::word::Word;
use super::{AnalyzedCommand, Concern, CoveredBy};

impl Walker<'_> {
    /// Judges the first argument of an interpreter: whether it is a script, to which all following arguments belong.
    pub(super) fn script(
        &mut self,
        base: &str,
        words: &[Word],
        at: usize,
        (before, could_be_value): (&[&str], bool),
        command: &mut AnalyzedCommand,
    ) -> bool {
        let word = &words[at];
        let text = word.text.as_str();
        if is_input(text) {
            self.ask_of_input(command, format!("{base} takes code from its input"));
            ask(command, word, format!("{base} takes code from its input"));
        } else if text.contains("://")
            || ["npm:", "jsr:", "data:", "blob:", "node:"].iter().any(|it| text.starts_with(it))
        {
            ask(command, word, format!("{base} takes code from another place"));
        }
        let is_first = before.last().is_none_or(|last| matches!(*last, "run" | "watch"));
        if could_be_value || !is_first || !word.known || !text.contains(['.', '/']) {
            return false;
        }
        self.reaches(word, text, command);
        // Programs of packages are scripts too.
        let name = &*program_names::base(text);
        let name = [".js", ".mjs", ".cjs", ".rb", ".php"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        if programs::find(name)
            .is_some_and(|program| matches!(program.kind, Kind::Code | Kind::Fd) && !program.script)
        {
            self.inner_at(base, words, at, name, command);
        }
        true
    }

    /// Adds paths outside in the options of a script.
    pub(super) fn behind_script(
        &mut self,
        words: &[Word],
        from: usize,
        command: &mut AnalyzedCommand,
    ) {
        for word in words[from..].iter().filter(|word| word.known && word.text.starts_with('-')) {
            if let Some((_, value)) = word.text.split_once('=') {
                self.reaches(word, value, command);
            }
        }
    }

    /// Adds a question about commands in the input, which a rule for the program alone does not answer.
    pub(super) fn ask_of_input(&self, command: &mut AnalyzedCommand, reason: String) {
        command.concerns.push(match self.has_input {
            true => Concern::of_input(reason),
            false => Concern { reason, covered_by: CoveredBy::Word("-".into()) },
        });
    }

    /// Returns the command that a program is given to run.
    pub(super) fn inner(
        &mut self,
        base: &str,
        program: &Program,
        words: &[Word],
        at: usize,
        command: &mut AnalyzedCommand,
    ) -> bool {
        let text = words[at].text.as_str();
        if is_input(text) {
            self.ask_of_input(command, format!("{base} takes code from its input"));
            ask(command, &words[at], format!("{base} takes code from its input"));
        }
        // The version follows the name of a package.
        let name = text.get(1..).and_then(|rest| rest.find('@')).map_or(text, |end| &text[..=end]);
        let is_code = || {
            programs::find(name).is_some_and(|inner| matches!(inner.kind, Kind::Code | Kind::Fd))
        };
        if program.runs.ends_with('?') && words[1..=at].len() == 1 && !is_code() {
            return false;
        }
        self.inner_at(base, words, at, name, command);
        true
    }

    pub(super) fn inner_at(
        &mut self,
        base: &str,
        words: &[Word],
        at: usize,
        name: &str,
        command: &mut AnalyzedCommand,
    ) {
        if self.is_nested() {
            command
                .concerns
                .push(Concern::always(format!("{base} runs programs that run programs")));
            return;
        }
        let mut words = words[at..].to_vec();
        if words[0].known && leads_out(&words[0].text) {
            let program = words[0].clone();
            self.reaches(&program, &program.text, command);
        }
        if name != words[0].text {
            words[0] = Word::plain(name);
        }
        self.nested += 1;
        let mut judged = AnalyzedCommand::default();
        self.apart(|walker| judged = walker.judge(&words, Vec::new()));
        self.nested -= 1;
        judged.quiet = true;
        command.concerns.append(&mut judged.concerns);
        self.push(judged);
    }
}

impl Program {
    /// Returns the module that an option runs; empty if it is the next word.
    pub(super) fn module<'w>(&self, word: &'w str, before: &[&str]) -> Option<&'w str> {
        let hits = if self.runs == "-m" { self.hits(word, before) } else { Vec::new() };
        let hit = hits.into_iter().find(|hit| hit.option.name == "-m")?;
        Some(hit.value.unwrap_or(""))
    }

    /// Returns true if a word after these is the name of another program that is run.
    pub(super) fn runs(&self, before: &[&str], word: &str) -> bool {
        !self.runs.is_empty()
            && self.runs.split(',').any(|one| match one {
                "*" => before.is_empty() && !self.runs.split(',').any(|other| other == word),
                "?" => before.is_empty() && !word.contains('/'),
                "" => false,
                one => one.split('/').eq(before.iter().copied()),
            })
    }
}
