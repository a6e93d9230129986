use super::*;
use proptest::prelude::*;
use serde_json::json;

fn unbounded() -> LoopRules {
    LoopRules { max_tool_calls: None, ..LoopRules::default() }
}

fn check(detector: &mut Detector, at: usize, arguments: u8) -> LoopVerdict {
    detector.check(&at.to_string(), "tool", &arguments.to_string(), None, None)
}

/// A naive version of the rules for calls without results, applied to the whole sequence.
fn is_asked(calls: &[u8]) -> bool {
    let last = calls.last().copied();
    let in_a_row = calls.iter().rev().take_while(|call| Some(**call) == last).count();
    let cycle = (2..=5).any(|period| {
        let Some(from) = calls.len().checked_sub(3 * period) else { return false };
        let rounds: Vec<&[u8]> = calls[from..].chunks(period).collect();
        rounds.iter().all(|round| *round == rounds[0])
            && rounds[0].iter().any(|call| *call != rounds[0][0])
    });
    in_a_row >= 5 || cycle
}

proptest! {
    #[test]
    fn calls_without_results_are_judged_as_the_rules_say(calls in prop::collection::vec(0u8..3, 0..60)) {
        let mut detector = Detector::new(unbounded());
        for at in 0..calls.len() {
            let verdict = check(&mut detector, at, calls[at]);
            prop_assert_eq!(verdict.action == Action::Ask, is_asked(&calls[..=at]), "{:?}", &calls[..=at]);
        }
    }

    #[test]
    fn a_saved_detector_continues(calls in prop::collection::vec((0u8..3, 0u8..2), 0..40), at in 0usize..40) {
        let mut whole = Detector::new(LoopRules::default());
        let mut resumed = Detector::new(LoopRules::default());
        for (index, (call, result)) in calls.into_iter().enumerate() {
            if index == at {
                resumed = Detector::from_json(LoopRules::default(), &resumed.to_json()).unwrap();
            }
            let verdicts = [&mut whole, &mut resumed].map(|detector| {
                let verdict = check(detector, index, call);
                detector.record(&index.to_string(), &format!("result {result}"), None);
                verdict
            });
            prop_assert_eq!(&verdicts[0], &verdicts[1]);
        }
    }
}

#[test]
fn an_id_that_comes_again_is_another_call_once_something_happened() {
    let again = |detector: &mut Detector, turn: Option<&str>| {
        detector.check("call_0", "tool", "1", turn, None).action
    };
    let rounds = |between: &mut dyn FnMut(&mut Detector, usize) -> Option<String>| {
        let mut detector = Detector::new(LoopRules::default());
        (0..5)
            .map(|at| {
                let turn = between(&mut detector, at);
                again(&mut detector, turn.as_deref())
            })
            .collect::<Vec<_>>()
    };
    let expected = [[Action::Allow; 4].as_slice(), &[Action::Ask]].concat();
    assert_eq!(rounds(&mut |_, at| Some(at.to_string())), expected);
    let said = |detector: &mut Detector, at: usize| {
        detector.observe(Role::Assistant, &format!("step {at}"));
        None
    };
    assert_eq!(rounds(&mut { said }), expected);
    assert_eq!(rounds(&mut |_, _| None), [Action::Allow; 5]);

    // Calls of two tools with ids that restart in every turn: a cycle.
    let mut detector = Detector::new(LoopRules::default());
    let mut actions = Vec::new();
    for _ in 0..3 {
        actions.push(detector.check("call_0", "a", "1", None, None).action);
        actions.push(detector.check("call_1", "b", "1", None, None).action);
    }
    assert_eq!(actions.last(), Some(&Action::Ask));

    // Without anything in between there is still the cap.
    let mut detector = Detector::new(LoopRules::default());
    let stopped = (1..=1000).find(|_| again(&mut detector, None) == Action::Stop);
    assert_eq!(stopped, Some(301));
}

#[test]
fn calls_side_by_side_may_be_asked_about_again() {
    let mut detector = Detector::new(unbounded());
    for at in 0..4 {
        check(&mut detector, at, 1);
        detector.record(&at.to_string(), "same", None);
    }
    for _ in 0..10 {
        assert_eq!(check(&mut detector, 10, 1).action, Action::Ask);
        assert_eq!(check(&mut detector, 11, 2).action, Action::Allow);
    }
    assert!(detector.approve("10", Approval::Once));
    assert_eq!(check(&mut detector, 10, 1).action, Action::Allow);
}

#[test]
fn an_approval_is_for_the_call_that_was_asked_about() {
    let rules = LoopRules {
        max_tool_calls: None,
        cooldown: 0,
        ..LoopRules::read(&json!({ "sameToolThreshold": 1 })).unwrap()
    };
    let mut detector = Detector::new(rules);
    let ask = |detector: &mut Detector, tool: &str, arguments: &str| {
        detector.check("c", tool, arguments, None, None).action
    };
    assert_eq!(ask(&mut detector, "a", "1"), Action::Ask);
    assert!(detector.approve("c", Approval::Once));
    assert_eq!(ask(&mut detector, "a", "1"), Action::Allow);
    assert_eq!(ask(&mut detector, "b", "1"), Action::Ask);
    assert_eq!(ask(&mut detector, "a", "2"), Action::Ask);
    assert_eq!(ask(&mut detector, "a", "1"), Action::Ask);
    assert!(detector.approve("c", Approval::Once));
    assert!(!detector.approve("c", Approval::Once));
}

#[test]
fn a_state_of_another_version_is_refused() {
    let mut state: Value =
        serde_json::from_str(&Detector::new(LoopRules::default()).to_json()).unwrap();
    state["version"] = json!(2);
    let error = Detector::from_json(LoopRules::default(), &state.to_string()).unwrap_err();
    assert_eq!(error.message, "Invalid option \"state\": expected version 1, received 2");
}

#[test]
fn unanswered_questions_do_not_pile_up() {
    let rules = LoopRules {
        max_tool_calls: None,
        ..LoopRules::read(&json!({ "sameToolThreshold": 1 })).unwrap()
    };
    let mut detector = Detector::new(rules);
    for at in 0..3 * MAX_ANSWERED {
        assert_eq!(check(&mut detector, at, 1).action, Action::Ask);
    }
    assert_eq!(detector.pending().len(), MAX_ANSWERED);
}
