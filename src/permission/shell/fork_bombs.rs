//! Commands that start themselves again and again: loops that only start others, and functions that call themselves.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, Pipeline,
    SeparatorOperator as Separator, SimpleCommand,
};

/// Returns true if the condition of a loop is always the same.
pub(super) fn never_ends(condition: &CompoundList) -> bool {
    let [item] = condition.0.as_slice() else { return false };
    let is_fixed = match item.0.first.seq.as_slice() {
        [Command::Simple(simple)] => simple
            .word_or_name
            .as_ref()
            .is_some_and(|word| matches!(word.value.as_str(), ":" | "true" | "false")),
        // A number alone, or a test of one.
        [other] => matches!(&*other.to_string().replace(' ', ""), "((1))" | "[[1]]" | "((0))"),
        _ => false,
    };
    let is_test = matches!(
        &*item.0.first.to_string().replace(' ', ""),
        "[1]" | "[0]" | "test1" | "/bin/true" | "/usr/bin/true"
    );
    (is_fixed || is_test) && item.0.additional.is_empty()
}

/// Returns true if a list starts commands and waits for none of them, also in a subshell or a shell of its own.
pub(super) fn starts_only(list: &CompoundList) -> bool {
    let starts = |pipeline: &Pipeline| match pipeline.seq.as_slice() {
        [Command::Compound(CompoundCommand::Subshell(shell), _)] => starts_only(&shell.list),
        [Command::Compound(CompoundCommand::BraceGroup(group), _)] => starts_only(&group.list),
        [Command::Simple(simple)] => starts_in_shell(simple),
        _ => false,
    };
    !list.0.is_empty()
        && list.0.iter().all(|item| {
            matches!(item.1, Separator::Async)
                || (item.0.additional.is_empty() && starts(&item.0.first))
        })
}

/// Returns true for a shell whose text ends in `&`: `sh -c "… &"`.
pub(super) fn starts_in_shell(simple: &SimpleCommand) -> bool {
    let name = simple.word_or_name.as_ref().map_or("", |word| word.value.as_str());
    let is_shell = matches!(
        name.rsplit('/').next().unwrap_or_default(),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "eval" | "setsid" | "nohup"
    );
    let starts = |item: &Item| {
        matches!(item, Item::Word(word)
            if word.value.trim_end_matches(['"', '\'']).trim_end().ends_with('&'))
    };
    is_shell && simple.suffix.iter().flat_map(|suffix| &suffix.0).any(starts)
}

/// Returns true if a function calls itself twice concurrently without an end.
pub(super) fn forks(name: &str, body: &CompoundCommand) -> bool {
    let list = match body {
        CompoundCommand::BraceGroup(group) => &group.list,
        CompoundCommand::Subshell(shell) => &shell.list,
        _ => return false,
    };
    let calls = |pipeline: &Pipeline| {
        let is_call = |command: &&Command| match command {
            Command::Simple(simple) => simple
                .word_or_name
                .as_ref()
                .is_some_and(|word| word.value.trim_matches(['"', '\'']) == name),
            Command::Compound(inner, _) => forks(name, inner),
            _ => false,
        };
        pipeline.seq.iter().filter(is_call).count()
    };
    list.0.iter().any(|item| {
        let others = item.0.additional.iter().map(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        let counts: Vec<usize> = std::iter::once(&item.0.first).chain(others).map(calls).collect();
        counts.iter().any(|count| *count > 1)
            || (matches!(item.1, Separator::Async) && counts.iter().any(|count| *count > 0))
    })
}
