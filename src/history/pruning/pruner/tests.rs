use super::super::policies::{Policy, tests as fixture};
use super::super::schedule::{Reason, Rule, When};
use super::*;
use proptest::prelude::*;

const PRICES: Prices = Prices { read: 0.1, write: 1.25, miss: 1.25 };

fn pruner(policies: &[Policy], keep_recent: usize, max_loss: f64) -> Pruner {
    let rules = Rules {
        removes_thinking: false,
        policies: policies.to_vec(),
        keep_recent,
        keep_messages: 0,
        keep_preamble: false,
        keep_errors: false,
        keep_used: 0,
    };
    let rule = Rule {
        prices: PRICES,
        cheapest: Prices { read: 0.025, ..PRICES },
        cache_lifetime_ms: 300_000.0,
        max_loss,
        when: When::Cache,
    };
    Pruner::new(rules, rule, Account::default())
}

fn result(tokens: f64) -> Item {
    fixture::result(0, tokens)
}

fn message(role: Role, tokens: f64) -> Message {
    Message { role, tokens, thinking: 0.0, is_without_thinking: false }
}

/// A call of the model, and results of these sizes.
fn turn(pruner: &mut Pruner, results: &[f64]) {
    pruner.push(message(Role::Assistant, 50.0));
    for &tokens in results {
        pruner.push(message(Role::Other, tokens));
        pruner.push_item(result(tokens), Form::Whole, None);
    }
}

#[test]
fn a_cold_cache_is_a_free_moment_and_a_warm_one_waits() {
    let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 1, 0.1);
    pruner.push(message(Role::User, 100.0));
    turn(&mut pruner, &[1000.0]);
    turn(&mut pruner, &[5000.0]);
    pruner.resume(5, Some(0.0));
    let warm = pruner.decide(1000.0, 0, usize::MAX);
    assert_eq!((warm.decision.reason, warm.goes.len()), (Reason::TooEarly, 0));
    let cold = pruner.decide(400_000.0, 0, usize::MAX);
    assert_eq!((cold.decision.reason, cold.goes), (Reason::Free, vec![0]));
    assert_eq!(cold.tokens_before - cold.tokens_after, 990.0);
}

#[test]
fn what_the_model_has_not_seen_stays_however_many_they_are() {
    let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 5, 0.1);
    turn(&mut pruner, &[9000.0; 17]);
    assert_eq!(pruner.decide(0.0, 0, usize::MAX).goes, [0usize; 0]);
    turn(&mut pruner, &[10.0]);
    // All of them belong to a response that continues.
    assert_eq!(pruner.decide(1e9, 0, 0).goes, [0usize; 0]);
    // One of them is among the newest five, and the others have been seen.
    assert_eq!(pruner.decide(2e9, 0, usize::MAX).goes.len(), 13);
}

#[test]
fn nothing_in_front_of_a_bound_message_changes() {
    let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 0, 0.1);
    for _ in 0..3 {
        turn(&mut pruner, &[9000.0]);
    }
    turn(&mut pruner, &[10.0]);
    assert_eq!(pruner.decide(1e9, 7, usize::MAX).goes, [0usize; 0]);
    assert_eq!(pruner.decide(2e9, 2, usize::MAX).goes, [1, 2]);
    assert_eq!(pruner.decide(3e9, 0, usize::MAX).goes, [0]);
}

#[test]
fn what_a_provider_reported_counts_from_then_on() {
    let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 9, 0.1);
    pruner.push(message(Role::User, 100.0));
    for _ in 0..2 {
        turn(&mut pruner, &[1000.0]);
    }
    let first = pruner.decide(0.0, 0, usize::MAX);
    assert_eq!((first.repeated, first.pause), (0.0, None));
    turn(&mut pruner, &[1000.0]);
    let cheapest = Prices { read: 0.025, ..PRICES };
    let correction = |cache_lifetime_ms| Correction {
        prices: PRICES,
        cheapest,
        cache_lifetime_ms,
        uncounted: 0.0,
    };
    pruner.correct(correction(f64::INFINITY));
    let warm = pruner.decide(1e9, 0, usize::MAX);
    assert_eq!((warm.decision.cold, warm.pause), (false, Some(1e9)));
    assert_eq!(warm.repeated, first.tokens_after);
    pruner.correct(correction(10.0));
    assert!(pruner.decide(1e9 + 20.0, 0, usize::MAX).decision.cold);
}

#[test]
fn a_history_that_was_rewritten_is_new_behind_the_change() {
    let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 0, 0.1);
    turn(&mut pruner, &[9000.0]);
    turn(&mut pruner, &[10.0]);
    assert_eq!(pruner.decide(0.0, 0, usize::MAX).goes, [0]);
    pruner.keep(0);
    turn(&mut pruner, &[20.0]);
    let answer = pruner.decide(1.0, 0, usize::MAX);
    assert_eq!((answer.tokens_before, answer.tokens_after), (70.0, 70.0));
}

#[test]
fn signed_reasoning_after_a_change_is_removed_with_it() {
    for (removes_thinking, expected) in [(true, Some(1)), (false, None)] {
        let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], 1, 0.1);
        pruner.rules.removes_thinking = removes_thinking;
        for _ in 0..2 {
            pruner.push(Message { thinking: 40.0, ..message(Role::Assistant, 50.0) });
            pruner.push(message(Role::Other, 1000.0));
            pruner.push_item(result(1000.0), Form::Whole, None);
        }
        pruner.push(Message { thinking: 40.0, ..message(Role::Assistant, 50.0) });
        let answer = pruner.decide(0.0, 0, usize::MAX);
        assert_eq!((answer.goes, answer.without_thinking_from), (vec![0], expected));
        let gone = if removes_thinking { 990.0 + 80.0 } else { 990.0 };
        assert_eq!(answer.tokens_before - answer.tokens_after, gone);
        pruner.count();
        assert_eq!(pruner.starts.last().copied(), Some(answer.tokens_after));
        // Reasoning that comes after the change was made after what was sent, and stays.
        pruner.push(Message { thinking: 40.0, ..message(Role::Assistant, 50.0) });
        assert_eq!(pruner.decide(1.0, 0, usize::MAX).without_thinking_from, None);
    }
}

proptest! {
    #[test]
    fn the_total_never_exceeds_that_of_doing_nothing_by_more_than_the_share(
        requests in prop::collection::vec(
            (prop::collection::vec(1.0..20_000.0f64, 0..6), 0.0..400_000.0f64, 0usize..40),
            1..60,
        ),
        keep in 0usize..6,
        max_loss in 0.0..0.3f64,
    ) {
        let mut pruner = pruner(&[Policy::Results { min_tokens: 0.0 }], keep, max_loss);
        let (mut now, mut gone) = (0.0, Vec::new());
        for (results, pause, rewritten) in requests {
            if rewritten == 0 {
                let half = pruner.messages.len() / 2;
                pruner.keep(half);
                gone.retain(|place| *place < pruner.items.len());
            }
            turn(&mut pruner, &results);
            now += pause;
            let answer = pruner.decide(now, 0, usize::MAX);
            let mut anew = pruner.clone();
            anew.count_again_from(0);
            for counted in [&mut anew, &mut pruner] {
                counted.count();
            }
            prop_assert_eq!(&anew.starts, &pruner.starts);
            prop_assert_eq!(&anew.unpruned_starts, &pruner.unpruned_starts);
            let Costs { by_rule, cheapest } = pruner.account.costs;
            for costs in [by_rule, cheapest] {
                let bound = (1.0 + max_loss) * costs.unpruned;
                prop_assert!(costs.paid <= bound * (1.0 + 1e-9));
            }
            let bound = (1.0 + max_loss) * by_rule.unpruned;
            for place in &answer.goes {
                prop_assert!(!gone.contains(place));
            }
            gone.extend(answer.goes);
            let freed: f64 = gone.iter().map(|&place| pruner.items[place].tokens - 10.0).sum();
            prop_assert!((answer.tokens_before - answer.tokens_after - freed).abs() < 1e-6 * bound.max(1.0));
        }
    }
}
