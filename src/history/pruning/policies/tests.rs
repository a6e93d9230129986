use super::super::budget::Order;
use super::*;

fn may_go(view: &View<'_>, rules: &Rules) -> Vec<Form> {
    goals(view, rules).iter().map(|goal| goal.form).collect()
}

/// A result of this many tokens in a message; its placeholder has 10.
pub(crate) fn result(message: usize, tokens: f64) -> Item {
    Item {
        message,
        kind: Kind::Result,
        tokens,
        trimmed: (tokens > 1000.0).then_some(800.0),
        placeholder: 10.0,
        fixed: false,
        failed: false,
        terminal: false,
        writes: false,
        time: f64::NAN,
        read: None,
    }
}

pub(crate) fn rules(policies: &[Policy]) -> Rules {
    Rules {
        removes_thinking: false,
        policies: policies.to_vec(),
        keep_recent: 0,
        keep_messages: 0,
        keep_preamble: false,
        keep_errors: false,
        keep_used: 0,
    }
}

/// A history: the user speaks in message 0, the model in each odd one up to 99, and results are in even ones.
pub(crate) fn view<'a>(items: &'a [Item], forms: &'a [Form], answers: &'a [usize]) -> View<'a> {
    let tokens = items.iter().zip(forms).map(|(item, form)| item.size(*form)).sum();
    let unseen_from = answers.last().copied().unwrap_or(0);
    View {
        items,
        forms,
        tokens,
        turns: &[0],
        answers,
        bound_to: 0,
        unseen_from,
        budget_from: 0,
        now: 1e6,
        uses: &[],
    }
}

const ANSWERS: [usize; 5] = [1, 3, 5, 7, 99];

/// Returns the indexes of the items to prune.
fn goes(items: &[Item], rules: &Rules) -> Vec<usize> {
    let forms = vec![Form::Whole; items.len()];
    gone(&may_go(&view(items, &forms, &ANSWERS), rules))
}

fn gone(forms: &[Form]) -> Vec<usize> {
    let places = forms.iter().enumerate().filter(|(_, form)| **form == Form::Gone);
    places.map(|(at, _)| at).collect()
}

fn results(tokens: &[f64]) -> Vec<Item> {
    tokens.iter().enumerate().map(|(at, tokens)| result(2 * at + 2, *tokens)).collect()
}

const NOTHING: [usize; 0] = [];

#[test]
fn the_newest_stay_and_so_does_what_must() {
    let items = results(&[100.0, 100.0, 10.0, 100.0, 100.0]);
    assert_eq!(
        goes(&items, &rules(&[Policy::Results { min_tokens: 0.0 }])),
        [0, 1, 3, 4],
        "no longer than 10"
    );
    assert_eq!(
        goes(&items, &Rules { keep_recent: 2, ..rules(&[Policy::Results { min_tokens: 0.0 }]) }),
        [0, 1]
    );
    assert_eq!(goes(&items, &rules(&[])), NOTHING);
    let mut some = items.clone();
    some[0].fixed = true;
    some[1].failed = true;
    assert_eq!(goes(&some, &rules(&[Policy::Results { min_tokens: 0.0 }])), [1, 3, 4]);
    let kept = Rules { keep_errors: true, ..rules(&[Policy::Results { min_tokens: 0.0 }]) };
    assert_eq!(goes(&some, &kept), [3, 4]);
}

#[test]
fn what_the_model_has_not_seen_stays() {
    let items = results(&[100.0, 100.0, 100.0]);
    let forms = [Form::Whole; 3];
    for (answers, expected) in
        [(&[1, 3, 5, 7][..], &[0, 1, 2][..]), (&[1, 3, 5], &[0, 1]), (&[1], &[]), (&[], &[])]
    {
        let view = view(&items, &forms, answers);
        assert_eq!(
            gone(&may_go(&view, &rules(&[Policy::Results { min_tokens: 0.0 }]))),
            expected,
            "{answers:?}"
        );
    }
}

#[test]
fn the_newest_messages_of_the_model_are_kept_with_all_after_them() {
    let items = results(&[100.0, 100.0, 100.0, 100.0]);
    let forms = [Form::Whole; 4];
    let view = view(&items, &forms, &[1, 3, 5, 7]);
    for (keep_messages, expected) in
        [(0, &[0, 1, 2][..]), (1, &[0, 1, 2]), (2, &[0, 1]), (3, &[0]), (4, &[]), (5, &[])]
    {
        let rules = Rules { keep_messages, ..rules(&[Policy::Results { min_tokens: 0.0 }]) };
        assert_eq!(gone(&may_go(&view, &rules)), expected, "{keep_messages}");
    }
}

#[test]
fn the_preamble_stays_if_it_is_to() {
    let items = results(&[100.0, 100.0]);
    let forms = [Form::Whole; 2];
    for (turns, keep_preamble, expected) in [
        (&[3, 5][..], true, &[1][..]),
        (&[3], false, &[0, 1]),
        (&[], true, &[]),
        (&[], false, &[0, 1]),
    ] {
        let view = View { turns, ..view(&items, &forms, &ANSWERS) };
        let rules = Rules { keep_preamble, ..rules(&[Policy::Results { min_tokens: 0.0 }]) };
        assert_eq!(gone(&may_go(&view, &rules)), expected, "{turns:?} {keep_preamble}");
    }
}

#[test]
fn policies_combine_and_nothing_comes_back() {
    let items = results(&[100.0, 2000.0, 2000.0]);
    let pressure = Pressure { context_window: 100.0, trim_at: 0.0, clear_at: 1e9, min_tokens: 0.0 };
    let budget = Budget {
        protect_tokens: 2000.0,
        min_tokens: 0.0,
        protect_turns: 0,
        target_tokens: None,
        order: Order::Oldest,
    };
    let rules = rules(&[Policy::Budget(budget), Policy::Pressure(pressure)]);
    let forms = may_go(&view(&items, &[Form::Whole; 3], &ANSWERS), &rules);
    assert_eq!(forms, [Form::Gone, Form::Gone, Form::Trimmed]);
    assert_eq!(may_go(&view(&items, &forms, &ANSWERS), &rules), forms);
}

#[test]
fn old_results_of_terminals_go_and_those_without_a_time_stay() {
    let at = |time: f64, terminal: bool, failed: bool| Item {
        time,
        terminal,
        failed,
        ..result(2, 100.0)
    };
    // The current time is 1,000,000.
    let items = [
        at(98_999.0, true, false),
        at(99_999.0, true, false),
        at(100_000.0, true, false),
        at(98_999.0, false, false),
        at(98_999.0, true, true),
        at(f64::NAN, true, false),
        at(2e6, true, false),
    ];
    let rules = rules(&[Policy::Outdated { max_age_ms: 900_000.0 }]);
    assert_eq!(goes(&items, &rules), [0, 1]);
    // Only results of terminals with a time that did not fail are counted, as in the rule itself.
    assert_eq!(goes(&items, &Rules { keep_recent: 2, ..rules.clone() }), [0, 1]);
    assert_eq!(goes(&items, &Rules { keep_recent: 3, ..rules.clone() }), [0]);
    assert_eq!(goes(&items[..2], &Rules { keep_recent: 1, ..rules }), [0]);
}

#[test]
fn long_arguments_go_in_front_of_the_newest_results() {
    let call = |message: usize, tokens: f64, writes: bool| Item {
        kind: Kind::Arguments,
        writes,
        trimmed: None,
        ..result(message, tokens)
    };
    let items = [
        call(1, 500.0, true),
        result(2, 5.0),
        call(3, 499.0, true),
        call(3, 900.0, false),
        call(3, 900.0, true),
        result(4, 5.0),
        call(5, 900.0, true),
        result(6, 5.0),
    ];
    let policy = rules(&[Policy::Arguments { min_tokens: 500.0 }]);
    assert_eq!(goes(&items, &policy), [0, 4, 6]);
    assert_eq!(goes(&items, &Rules { keep_recent: 1, ..policy.clone() }), [0, 4]);
    assert_eq!(goes(&items, &Rules { keep_recent: 2, ..policy.clone() }), [0]);
    assert_eq!(goes(&items, &Rules { keep_recent: 3, ..policy }), NOTHING);
    // Arguments are not results.
    assert_eq!(goes(&items[4..5], &rules(&[Policy::Results { min_tokens: 0.0 }])), NOTHING);
}
