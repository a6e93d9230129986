//! Commands that start themselves again and again: loops that only start others, and functions that call themselves.

use std::borrow::Cow;

use brush_parser::ast::{
    AndOr, AndOrList, ArithmeticForClauseCommand, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, CompoundListItem, Pipeline, Program,
    SeparatorOperator as Separator, SimpleCommand, UnexpandedArithmeticExpr,
};

use super::destroying_commands::is_same_path;
use crate::permission::shell::program_names::base;
use crate::permission::shell::shells::is_shell;

/// The number of commands at once from which on a loop is taken for an endless one.
const MANY: u64 = 10_000;

/// A pause in seconds below which a loop starts commands without one.
const PAUSE: f64 = 0.1;

/// Tests of files, which another command can change.
const TESTS_OF_FILES: [&str; 20] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-t", "-u", "-w", "-x",
    "-L", "-S", "-nt", "-ot",
];

/// Returns true if the condition of a loop is always the same, or holds for very many rounds.
pub(crate) fn never_ends(condition: &CompoundList) -> bool {
    let [item] = condition.0.as_slice() else { return false };
    let [command] = item.0.first.seq.as_slice() else { return false };
    if !item.0.additional.is_empty() {
        return false;
    }
    let text = command.to_string();
    match command {
        Command::Simple(simple) => match &*name_of(simple) {
            ":" | "true" | "false" | "echo" | "printf" | "date" => true,
            "sleep" => {
                words_of(simple).all(|word| word.parse().is_ok_and(|pause: f64| pause < PAUSE))
            }
            "[" | "test" | "let" => is_fixed(&text) || counts_far(&text),
            _ => false,
        },
        Command::ExtendedTest(..) | Command::Compound(CompoundCommand::Arithmetic(_), _) => {
            is_fixed(&text) || counts_far(&text)
        }
        _ => false,
    }
}

/// Returns true if a test compares only what is in it.
fn is_fixed(test: &str) -> bool {
    let has_name = |test: &str| test.contains(|letter: char| letter.is_ascii_alphabetic());
    match test.starts_with("((") || test.starts_with("let") {
        // A name is a variable here.
        true => !has_name(test.trim_start_matches("let")),
        false => {
            !test.contains(['$', '`'])
                && !test.split_whitespace().any(|word| TESTS_OF_FILES.contains(&word))
        }
    }
}

/// Returns true if a variable is compared with a number that a loop reaches only after very many rounds.
fn counts_far(test: &str) -> bool {
    test.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter_map(|word| word.parse::<u64>().ok())
        .any(|number| number >= MANY)
}

/// Returns true if a loop with a counter has no end, or one after very many rounds, upwards or downwards.
pub(crate) fn counts_for_long(clause: &ArithmeticForClauseCommand) -> bool {
    let text = |part: &Option<UnexpandedArithmeticExpr>| {
        part.as_ref().map_or_else(String::new, |part| part.value.trim().to_owned())
    };
    let (condition, step) = (text(&clause.condition), text(&clause.updater));
    matches!(condition.as_str(), "" | "1" | "true")
        || counts_far(&condition)
        || ([&condition, &step].iter().any(|part| part.contains('-'))
            && counts_far(&text(&clause.initializer))
            && !counts_far(&step))
}

/// Returns true if a word stands for very many values: `{1..100000}`, `$(seq 100000)`.
pub(crate) fn is_many(raw: &str) -> bool {
    let range = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
    let range = range.filter(|range| range.contains(".."));
    let printed = raw.trim_matches('"');
    let printed = printed
        .strip_prefix("$(")
        .and_then(|raw| raw.strip_suffix(')'))
        .or_else(|| printed.strip_prefix('`').and_then(|raw| raw.strip_suffix('`')));
    let words = printed.map(|text| text.split_whitespace().collect::<Vec<_>>());
    match (range, words) {
        (Some(range), _) => spans_many(&range.split("..").take(2).collect::<Vec<_>>()),
        (_, Some(words)) => prints_many(&words),
        _ => false,
    }
}

/// Returns true if a program prints the numbers of a long row: `seq 100000`.
fn prints_many(words: &[&str]) -> bool {
    match words.split_first() {
        Some((&"seq" | &"jot" | &"gseq", rest)) => !rest.contains(&"|") && spans_many(rest),
        _ => false,
    }
}

fn spans_many(ends: &[&str]) -> bool {
    let numbers = ends.iter().filter_map(|end| end.parse::<f64>().ok());
    numbers.fold(0.0, |most: f64, end| most.max(end.abs())) >= MANY as f64
}

/// Returns true if a list starts commands and waits for none of them, also in a subshell or a shell of its own.
pub(crate) fn starts_only(list: &CompoundList) -> bool {
    let starts = |pipeline: &Pipeline| match pipeline.seq.as_slice() {
        [Command::Compound(CompoundCommand::Subshell(shell), _)] => starts_only(&shell.list),
        [Command::Compound(CompoundCommand::BraceGroup(group), _)] => starts_only(&group.list),
        [Command::Simple(simple)] => starts_in_shell(simple),
        _ => false,
    };
    let starts = |item: &CompoundListItem| {
        matches!(item.1, Separator::Async)
            || (item.0.additional.is_empty() && starts(&item.0.first))
    };
    list.0.iter().any(starts) && list.0.iter().all(|item| starts(item) || only_counts(&item.0))
}

/// Returns true if a list changes a variable or prints, and so takes no time.
fn only_counts(list: &AndOrList) -> bool {
    list.additional.is_empty()
        && match list.first.seq.as_slice() {
            [Command::Simple(simple)] => {
                matches!(&*name_of(simple), "" | ":" | "let" | "true" | "echo" | "printf")
            }
            [Command::Compound(CompoundCommand::Arithmetic(_), _)] => true,
            _ => false,
        }
}

/// Returns true for a shell whose text ends in `&`: `sh -c "… &"`.
fn starts_in_shell(simple: &SimpleCommand) -> bool {
    let name = name_of(simple);
    let is_shell = is_shell(&name) || matches!(&*name, "eval" | "setsid" | "nohup");
    let starts = |item: &Item| {
        matches!(item, Item::Word(word)
            if word.value.trim_end_matches(['"', '\'']).trim_end().ends_with('&'))
    };
    is_shell && simple.suffix.iter().flat_map(|suffix| &suffix.0).any(starts)
}

/// Returns true if a function calls itself twice concurrently without an end.
pub(crate) fn forks(name: &str, body: &CompoundCommand) -> bool {
    let is_it = |simple: &SimpleCommand| {
        simple
            .word_or_name
            .as_ref()
            .is_some_and(|word| word.value.trim_matches(['"', '\'']) == name)
            // An exported function is known to other shells.
            || (is_shell(&name_of(simple))
                && words_of(simple)
                    .skip_while(|word| !(word.starts_with('-') && word.ends_with('c')))
                    .nth(1)
                    .is_some_and(|word| word.trim_matches(['"', '\'']) == name))
    };
    list_of(body).is_some_and(|list| starts_at_once(list, &is_it))
}

/// Returns true if a list has two commands at once that a test finds, or starts one in the background.
fn starts_at_once(list: &CompoundList, is_it: &impl Fn(&SimpleCommand) -> bool) -> bool {
    let in_group = |command: &Command| match command {
        Command::Compound(inner, _) => {
            list_of(inner).is_some_and(|list| starts_at_once(list, is_it))
        }
        _ => false,
    };
    list.0.iter().any(|item| {
        let counts: Vec<usize> =
            pipelines(&item.0).map(|pipeline| calls(pipeline, is_it)).collect();
        counts.iter().any(|count| *count > 1)
            || (matches!(item.1, Separator::Async) && counts.iter().any(|count| *count > 0))
            || pipelines(&item.0).any(|pipeline| pipeline.seq.iter().any(in_group))
    })
}

/// Returns true if a text for a shell starts the file or the program that it is run by twice, at the same time.
pub(crate) fn text_starts_itself(program: &Program) -> bool {
    let lists = &program.complete_commands;
    let items = || lists.iter().flat_map(|list| &list.0);
    let all = || items().flat_map(|item| pipelines(&item.0));
    let at_once = items().any(|item| matches!(item.1, Separator::Async))
        || all().any(|pipeline| pipeline.seq.len() > 1);
    at_once
        && (all().map(|pipeline| calls(pipeline, &is_own_file)).sum::<usize>() > 1
            || all().any(|pipeline| calls(pipeline, &gives_itself) > 0))
}

/// Returns true for a command that gives `$0` to itself.
fn gives_itself(simple: &SimpleCommand) -> bool {
    let name = name_of(simple);
    let words = std::iter::once(&*name).chain(words_of(simple));
    is_own_file(simple)
        && words.filter(|word| matches!(word.trim_matches('"'), "$0" | "${0}")).count() > 1
}

/// Returns true for `$0`, alone or as the script of a shell.
fn is_own_file(simple: &SimpleCommand) -> bool {
    let is_it = |raw: &str| {
        let raw = raw.trim_matches('"').trim_start_matches("./");
        matches!(raw, "$0" | "${0}" | "$BASH_SOURCE" | "${BASH_SOURCE}" | "${BASH_SOURCE[0]}")
    };
    let Some(name) = simple.word_or_name.as_ref().map(|word| word.value.as_str()) else {
        return false;
    };
    let first = simple.suffix.iter().flat_map(|suffix| &suffix.0).find_map(|item| match item {
        Item::Word(word) if !word.value.starts_with('-') || is_it(&word.value) => Some(word),
        _ => None,
    });
    let runs =
        is_shell(&name_of(simple)) || matches!(name, "exec" | "nohup" | "setsid" | "." | "source");
    is_it(name) || (runs && first.is_some_and(|word| is_it(&word.value)))
}

/// Counts the commands of a pipeline that a test finds, also in groups and subshells.
fn calls(pipeline: &Pipeline, is_it: &impl Fn(&SimpleCommand) -> bool) -> usize {
    let has_call = |command: &&Command| match command {
        Command::Simple(simple) => is_it(simple),
        Command::Compound(inner, _) => list_of(inner).is_some_and(|list| {
            let inner = list.0.iter().flat_map(|item| pipelines(&item.0));
            inner.map(|pipeline| calls(pipeline, is_it)).sum::<usize>() > 0
        }),
        _ => false,
    };
    pipeline.seq.iter().filter(has_call).count()
}

fn list_of(command: &CompoundCommand) -> Option<&CompoundList> {
    match command {
        CompoundCommand::BraceGroup(group) => Some(&group.list),
        CompoundCommand::Subshell(shell) => Some(&shell.list),
        _ => None,
    }
}

fn pipelines(list: &AndOrList) -> impl Iterator<Item = &Pipeline> {
    let others = list.additional.iter().map(|next| match next {
        AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
    });
    std::iter::once(&list.first).chain(others)
}

/// Returns true if one command of a pipeline prints without an end, and the next one starts a command for each line and
/// waits for none.
pub(crate) fn starts_for_each_line(pipeline: &Pipeline) -> bool {
    pipeline
        .seq
        .windows(2)
        .any(|pair| prints_for_ever(&pair[0]) && starts_for_lines(&pair[1], &pair[0].to_string()))
}

fn prints_for_ever(command: &Command) -> bool {
    match command {
        Command::Simple(simple) => {
            let name = name_of(simple);
            let words: Vec<&str> = std::iter::once(&*name).chain(words_of(simple)).collect();
            words[0] == "yes" || prints_many(&words)
        }
        Command::Compound(
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause),
            _,
        ) => never_ends(&clause.0),
        Command::Compound(CompoundCommand::ArithmeticForClause(clause), _) => {
            counts_for_long(clause)
        }
        _ => false,
    }
}

fn starts_for_lines(command: &Command, printed: &str) -> bool {
    match command {
        Command::Simple(simple) => {
            let name = name_of(simple);
            let words: Vec<&str> = words_of(simple).collect();
            let at_once = words.iter().enumerate().any(|(at, word)| {
                let value = word.strip_prefix("-P").or_else(|| word.strip_prefix("--max-procs="));
                let value = value.or_else(|| word.strip_prefix("-j"));
                let next = || words.get(at + 1).copied().unwrap_or_default();
                value.is_some_and(|value| if value.is_empty() { next() } else { value } == "0")
            });
            (matches!(&*name, "xargs" | "gxargs" | "parallel") && at_once)
                || (is_shell(&name)
                    && words.iter().all(|word| word.starts_with('-'))
                    && starts_in_background(printed))
        }
        Command::Compound(
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause),
            _,
        ) => {
            let condition = clause.0.to_string();
            condition.trim_start().starts_with("read") && starts_only(&clause.1.list)
        }
        _ => false,
    }
}

/// Returns true if a text has a `&` that starts something in the background.
fn starts_in_background(text: &str) -> bool {
    text.match_indices('&').any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        !before.ends_with(['&', '>', '<', '\\']) && !after.starts_with(['&', '>'])
    })
}

fn name_of(simple: &SimpleCommand) -> Cow<'_, str> {
    let name = simple.word_or_name.as_ref().map_or("", |word| word.value.as_str());
    base(name.trim_matches(['"', '\'']))
}

fn words_of(simple: &SimpleCommand) -> impl Iterator<Item = &str> {
    simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        Item::Word(word) => Some(word.value.as_str()),
        _ => None,
    })
}

/// Returns true if the text of a variable evaluates the variable twice, at the same time.
pub(super) fn evaluates_itself(name: &str, text: &str) -> bool {
    let own = ["$", name].concat();
    text.contains("eval") && text.contains(['&', '|']) && text.matches(&own).count() > 1
}

/// Returns true if a text starts a shell, which reads the text again when it begins.
pub(super) fn starts_shells(text: &str) -> bool {
    commands_of(text)
        .map(|command| command.split_whitespace().next().unwrap_or_default())
        .any(is_started)
}

/// Returns true if a text starts more than one shell that reads it again when it begins, and not a script.
pub(crate) fn starts_shells_again(text: &str) -> bool {
    commands_of(text).filter(|command| is_started(command.trim())).count() > 1
}

fn commands_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(['&', ';', '|', '(', ')', '`', '\n', '"', '\''])
}

fn is_started(name: &str) -> bool {
    let name = base(name);
    is_shell(&name) || matches!(&*name, "$0" | "${0}")
}

/// Returns the text of a file with `$0` in place of its own path.
pub(super) fn with_own_name(text: &str, path: &str) -> String {
    let is_end = |letter: char| letter.is_whitespace() || ";&|()\"'".contains(letter);
    text.split_inclusive(is_end)
        .map(|part| {
            let word = part.trim_end_matches(is_end);
            match is_same_path(word, path) && !word.is_empty() {
                true => ["$0", &part[word.len()..]].concat(),
                false => part.to_owned(),
            }
        })
        .collect()
}
