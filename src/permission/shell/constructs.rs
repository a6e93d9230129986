//! The constructs of a shell: lists, pipelines, loops, functions, tests.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline,
    SeparatorOperator as Separator, SimpleCommand,
};

use super::analyzer::Walker;
use super::destroying::destroying_commands::FORKS;
use super::destroying::fork_bombs::{
    counts_for_long, forks, is_many, never_ends, starts_for_each_line, starts_only,
};
use super::word::Word;
use super::{AnalyzedCommand, dialects};

/// Maximum number of times that the body of a loop is read, once per value.
const MAX_UNROLLED: usize = 32;

impl Walker<'_> {
    pub(crate) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                Separator::Sequence => self.and_or(&item.0),
                Separator::Async => self.apart(|walker| walker.and_or(&item.0)),
            }
        }
    }

    /// Reads an AND-OR list. Commands after `&&` run in the directory that a change before it leads to; commands after
    /// `||` or after the list may also run in the previous one.
    pub(super) fn and_or(&mut self, list: &AndOrList) {
        let mut left: Vec<String> = Vec::new();
        let mut went_well = true;
        self.pipeline(&list.first);
        // An assignment after `&&` is only known as far as the list continues, unless nothing before it can fail.
        let mut sure = sets_only(&list.first);
        let mut known = self.constants.len();
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => {
                    if self.next_places.is_some() {
                        left.extend(self.places.iter().cloned());
                    }
                    self.settle(went_well);
                    self.pipeline(pipeline);
                    sure &= sets_only(pipeline);
                    if sure {
                        known = self.constants.len();
                    }
                    went_well = true;
                }
                AndOr::Or(pipeline) => {
                    self.settle(false);
                    self.add_possible_folders(std::mem::take(&mut left));
                    self.constants.forget(known);
                    self.pipeline(pipeline);
                    self.constants.forget(known);
                    sure = false;
                    went_well = false;
                }
            }
        }
        self.constants.forget(known);
        self.settle(false);
        self.add_possible_folders(left);
    }

    pub(super) fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [command] = pipeline.seq.as_slice() {
            self.command(command);
            if pipeline.bang {
                self.settle(false);
            }
            return;
        }
        if starts_for_each_line(pipeline) {
            let others = vec![FORKS.to_owned()];
            self.push(AnalyzedCommand {
                text: "… | …".into(),
                others,
                ..AnalyzedCommand::default()
            });
        }
        let (outer, had_input) = (self.piped.take(), self.has_input);
        for (at, command) in pipeline.seq.iter().enumerate() {
            self.has_input |= at > 0;
            self.apart(|walker| walker.command(command));
            self.piped = if at + 1 < pipeline.seq.len() { self.prints(command) } else { None };
        }
        (self.piped, self.has_input) = (outer, had_input);
    }

    /// Reads a construct in a subshell, whose changes of directory end with it.
    pub(crate) fn apart(&mut self, work: impl FnOnce(&mut Self)) {
        let (places, next, home) = (self.places.clone(), self.next_places.take(), self.home);
        let known = self.constants.len();
        work(self);
        self.constants.forget(known);
        (self.places, self.next_places, self.home) = (places, next, home);
    }

    /// Reads a construct with an input of its own.
    pub(crate) fn with_input(&mut self, input: Option<String>, work: impl FnOnce(&mut Self)) {
        let outer = (std::mem::replace(&mut self.piped, input), self.has_input);
        self.has_input = true;
        work(self);
        (self.piped, self.has_input) = outer;
    }

    /// Reads a construct that may run several times, or not at all.
    pub(super) fn repeated(&mut self, work: impl FnOnce(&mut Self)) {
        self.repeats += 1;
        let known = self.constants.len();
        work(self);
        self.constants.forget(known);
        self.settle(false);
        self.repeats -= 1;
    }

    pub(super) fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let read =
                    redirects.iter().flat_map(|list| &list.0).find_map(|one| self.read_by(one));
                let (outer, had_input) = (self.piped.clone(), self.has_input);
                self.piped = read.or(self.piped.take());
                self.has_input |=
                    redirects.iter().flat_map(|list| &list.0).any(super::redirect::gives_input);
                self.compound(compound);
                (self.piped, self.has_input) = (outer, had_input);
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect_alone(redirect);
                }
            }
            Command::Function(function) => {
                let name = function.fname.value.clone();
                let others: Vec<String> = self.calling_each_other(function);
                if others.iter().any(|other| forks(other, &function.body.0)) {
                    let others = vec![FORKS.to_owned()];
                    self.push(AnalyzedCommand {
                        text: format!("{name}()"),
                        others,
                        ..AnalyzedCommand::default()
                    });
                }
                self.remember_function(function);
                self.concern(&format!("{name}()"), "a function gives a name a new meaning");
                self.repeated(|walker| walker.compound(&function.body.0));
                for redirect in function.body.1.iter().flat_map(|list| &list.0) {
                    self.redirect_alone(redirect);
                }
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr);
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect_alone(redirect);
                }
            }
        }
    }

    pub(super) fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(_) => self.concern("((…))", "arithmetic can run commands"),
            CompoundCommand::ArithmeticForClause(clause) => {
                self.concern("for ((…))", "arithmetic can run commands");
                if counts_for_long(clause) && starts_only(&clause.body.list) {
                    let others = vec![FORKS.to_owned()];
                    self.push(AnalyzedCommand {
                        text: "for ((…))".into(),
                        others,
                        ..AnalyzedCommand::default()
                    });
                }
                self.repeated(|walker| walker.list(&clause.body.list));
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.apart(|walker| walker.list(&shell.list)),
            CompoundCommand::ForClause(clause) => {
                if let Some(reason) = super::variables::concern(&clause.variable_name) {
                    self.concern(&format!("for {}", clause.variable_name), reason);
                }
                let is_long = clause.values.iter().flatten().any(|value| is_many(&value.value));
                if is_long && starts_only(&clause.body.list) {
                    let others = vec![FORKS.to_owned()];
                    self.push(AnalyzedCommand {
                        text: "for …".into(),
                        others,
                        ..AnalyzedCommand::default()
                    });
                }
                let mut values = Vec::new();
                for value in clause.values.iter().flatten() {
                    values.push(self.value(&value.value, "for"));
                    self.remember_each(&clause.variable_name, &value.value);
                }
                if clause.values.is_none() {
                    self.remember_each(&clause.variable_name, "$@");
                }
                self.loop_over(&clause.variable_name, &values, &clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.value(&clause.value.value, "case");
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.value(&pattern.value, "case");
                    }
                    if let Some(list) = &case.cmd {
                        self.repeated(|walker| walker.list(list));
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.repeated(|walker| {
                    walker.list(&clause.then);
                    for other in clause.elses.iter().flatten() {
                        if let Some(condition) = &other.condition {
                            walker.list(condition);
                        }
                        walker.list(&other.body);
                    }
                });
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                if never_ends(&clause.0) && starts_only(&clause.1.list) {
                    let others = vec![FORKS.to_owned()];
                    self.push(AnalyzedCommand {
                        text: "while …".into(),
                        others,
                        ..AnalyzedCommand::default()
                    });
                }
                self.repeated(|walker| {
                    walker.list(&clause.0);
                    walker.list(&clause.1.list);
                });
            }
            CompoundCommand::Coprocess(process) => {
                self.concern("coproc", "a command runs beside the others");
                self.apart(|walker| walker.command(&process.body));
            }
        }
    }

    pub(super) fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Or(a, b) => {
                if dialects::begins_with_program(b) {
                    self.concern("[[ … || … ]]", dialects::TEST_RUNS);
                }
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner)
            }
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                use brush_parser::ast::UnaryPredicate as Is;
                if matches!(
                    predicate,
                    Is::ShellVariableIsSetAndAssigned | Is::ShellVariableIsSetAndNameRef
                ) {
                    self.concern("[[ -v … ]]", "an index of an array can run commands");
                }
                self.value(&word.value, "[[");
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                if dialects::looks_like_redirection(predicate) {
                    self.concern("[[ … ]]", dialects::TEST_REDIRECTS);
                }
                let text = predicate.to_string();
                for word in [left, right] {
                    let number = word.value.bytes().all(|byte| byte.is_ascii_digit());
                    if text.starts_with('-')
                        && !matches!(text.as_str(), "-nt" | "-ot" | "-ef")
                        && !number
                    {
                        self.concern("[[ … ]]", "arithmetic can run commands");
                    }
                    self.value(&word.value, "[[");
                }
            }
        }
    }

    /// Reads a loop over words. If all are known, the body is read with each of them.
    pub(super) fn loop_over(&mut self, name: &str, values: &[Word], list: &CompoundList) {
        let is_known = |word: &Word| word.known && word.concerns.is_empty() && !word.tilde;
        let can = !values.is_empty()
            && values.iter().all(is_known)
            && self.unrolled * values.len() <= MAX_UNROLLED
            && self.constants.can_follow(name);
        if !can {
            return self.repeated(|walker| walker.list(list));
        }
        self.unrolled *= values.len();
        for value in values {
            self.repeated(|walker| {
                walker.constants.set(name, value);
                walker.list(list);
            });
        }
        self.unrolled /= values.len();
    }
}

/// Returns true if a redirection passes the output of a command to another one.
pub(super) fn passes_output(simple: &SimpleCommand) -> bool {
    let passes = |item: &Item| {
        matches!(
            item,
            Item::IoRedirect(IoRedirect::File(
                _,
                IoFileRedirectKind::Write | IoFileRedirectKind::Append,
                IoFileRedirectTarget::ProcessSubstitution(..)
            ))
        )
    };
    simple.suffix.iter().flat_map(|suffix| &suffix.0).any(passes)
}

/// Returns true if a pipeline only assigns texts to variables, which never fails.
fn sets_only(pipeline: &Pipeline) -> bool {
    let [Command::Simple(simple)] = pipeline.seq.as_slice() else { return false };
    let is_set = |item: &Item| matches!(item, Item::AssignmentWord(_, raw) if !raw.value.contains(['(', '`', '[']));
    !pipeline.bang
        && simple.word_or_name.is_none()
        && simple.suffix.is_none()
        && simple.prefix.as_ref().is_some_and(|prefix| prefix.0.iter().all(is_set))
}
