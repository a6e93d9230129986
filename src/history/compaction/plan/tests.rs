use super::super::limits::numbers;
use super::*;
use proptest::prelude::*;

const WANTED: Wanted = Wanted {
    environment: 0.0,
    recent_turns: 3,
    protect_output: 0.0,
    min_output: 0.0,
    inclusive: false,
    force: false,
    can_summarize: true,
};

/// `u` the user, `a` the model, `c` a call, `r` its result, `x` a result with words of the user, `s` instructions, `S` a
/// summary.
fn history(text: &str, sizes: &[f64]) -> (Vec<Message>, Vec<(usize, usize)>, Vec<Output>) {
    let role = |letter| match letter {
        'u' | 'x' => Role::User,
        's' => Role::System,
        'S' => Role::Summary,
        'r' => Role::Tool,
        _ => Role::Assistant,
    };
    let messages: Vec<Message> = text
        .chars()
        .zip(sizes.iter().cycle())
        .map(|(letter, &size)| Message { role: role(letter), size })
        .collect();
    let results: Vec<usize> = text
        .chars()
        .enumerate()
        .filter(|(_, l)| matches!(l, 'r' | 'x'))
        .map(|(at, _)| at)
        .collect();
    let pairs = results.iter().map(|&at| (text[..at].rfind('c').unwrap_or_default(), at)).collect();
    let outputs = results
        .iter()
        .filter_map(|&at| Some((at, messages.get(at)?.size)))
        .filter(|(_, size)| *size > 10.0)
        .map(|(message, size)| Output { message, size: size - 4.0, placeholder: 6.0 })
        .collect();
    (messages, pairs, outputs)
}

fn planned(text: &str, sizes: &[f64], window: f64, wanted: &Wanted) -> CompactionPlan {
    let (messages, pairs, outputs) = history(text, sizes);
    let limits = CompactionLimits::of_window(window, 0.0, 100.0, numbers("").expect("known"));
    plan(&messages, &pairs, &outputs, &limits, wanted)
}

#[test]
fn outputs_go_first_and_then_everything_old() {
    let text = "sucrucrucruaua";
    let small = planned(text, &[50.0], 2000.0, &WANTED);
    assert_eq!((small.step, small.reason), (Step::None, Some(CompactionReason::NotNeeded)));
    let mut sizes = [50.0; 14];
    sizes[3] = 900.0;
    let outputs = planned(text, &sizes, 2200.0, &WANTED);
    assert_eq!((outputs.step, outputs.from), (Step::Outputs, 7));
    assert_eq!(outputs.outputs, [0, 1]);
    let all = planned(text, &[500.0, 500.0, 900.0, 100.0, 100.0], 6000.0, &WANTED);
    assert_eq!((all.step, all.first, all.from, all.turn), (Step::Summary, 1, 7, 7));
    assert_eq!(all.head, (7, 7));
}

#[test]
fn fewer_turns_than_protected_are_all_protected() {
    let plan = planned("ucrua", &[180.0], 1200.0, &WANTED);
    assert_eq!((plan.step, plan.reason), (Step::None, Some(CompactionReason::NothingOld)));
}

#[test]
fn a_turn_that_is_too_long_is_cut_behind_what_the_user_said() {
    let text = format!("su{}", "cr".repeat(40));
    let no_outputs = Wanted { min_output: 1e9, ..WANTED };
    let plan = planned(&text, &[100.0], 4000.0, &no_outputs);
    assert_eq!((plan.step, plan.turn, plan.head), (Step::Summary, 1, (1, 2)));
    // Half of 3,200: 200 of instructions and user, a summary of 100, and 13 messages of which 12 are whole pairs.
    assert_eq!(plan.from, 82 - 12);
    let older = planned(&format!("s{}ua", "ucrcrcr".repeat(3)), &[300.0], 4000.0, &no_outputs);
    assert_eq!((older.turn, older.from, older.head), (15, 15, (15, 15)));
}

#[test]
fn words_of_the_user_beside_a_result_are_kept_with_its_call() {
    let no_outputs = Wanted { min_output: 1e9, ..WANTED };
    for (begin, turn, head) in [
        ("sucrcx", 5, (4, 6)),
        ("sucrccxr", 6, (4, 8)),
        ("sucrcrx", 6, (4, 7)),
        ("succxu", 4, (2, 6)),
        ("sucrcxux", 5, (4, 8)),
    ] {
        let text = format!("{begin}{}", "cr".repeat(40));
        let plan = planned(&text, &[100.0], 4000.0, &no_outputs);
        assert_eq!((plan.step, plan.turn, plan.head), (Step::Summary, turn, head), "{begin}");
    }
}

#[test]
fn of_turns_that_do_not_fit_the_oldest_is_cut_and_the_others_stay_whole() {
    let cut = |text: &str, sizes: &[f64], window: f64| {
        let plan = planned(text, sizes, window, &Wanted { min_output: 1e9, ..WANTED });
        (plan.step, plan.turn, plan.from)
    };
    let three = format!("s{}ua", "ucrcrcrcrcr".repeat(3));
    assert_eq!(cut(&three, &[100.0], 1750.0), (Step::Summary, 23, 32));
    let each = |turns: &[f64]| -> Vec<f64> {
        let halves = turns.iter().flat_map(|size| [size / 2.0; 2]);
        std::iter::once(10.0).chain(halves).collect()
    };
    // 16,000 are usable.
    for (turns, from) in [
        ([3000.0, 3000.0, 4800.0, 4800.0, 4800.0], 5),
        ([3000.0, 3000.0, 15_000.0, 3000.0, 6000.0], 7),
        ([3000.0, 3000.0, 3000.0, 15_000.0, 3000.0], 9),
        ([3000.0, 3000.0, 3000.0, 3000.0, 15_900.0], 9),
    ] {
        let found = cut("suauauauaua", &each(&turns), 20_000.0);
        assert_eq!(found, (Step::Summary, from, from), "{turns:?}");
    }
}

#[test]
fn a_turn_that_is_too_long_loses_outputs_first() {
    let text = format!("su{}", "cr".repeat(40));
    let plan = planned(&text, &[10.0, 100.0], 3000.0, &WANTED);
    assert_eq!(plan.step, Step::Outputs);
    assert!(plan.total - plan.after_outputs > 0.0 && plan.after_outputs <= 1200.0);
}

#[test]
fn nothing_is_asked_for_what_would_not_help() {
    let plan = planned("Suauaua", &[10.0, 200.0], 800.0, &WANTED);
    assert_eq!((plan.step, plan.reason), (Step::None, Some(CompactionReason::NothingOld)));
    let forced = planned("suauauaua", &[10.0, 1.0], 1e6, &Wanted { force: true, ..WANTED });
    assert_eq!(forced.step, Step::Summary);
    let little = planned("sa uauaua", &[1.0, 1.0, 1.0, 100.0], 500.0, &WANTED);
    assert_eq!(little.step, Step::None);
}

#[test]
fn a_budget_of_outputs_is_kept() {
    let (messages, pairs, outputs) = history("ucrcrcrucruaua", &[100.0]);
    let limits = CompactionLimits::of_target(10.0, 1.0);
    let wanted = Wanted { protect_output: 100.0, can_summarize: false, ..WANTED };
    let gone = |wanted: &Wanted| plan(&messages, &pairs, &outputs, &limits, wanted).outputs;
    assert!(gone(&wanted).starts_with(&[0, 1]));
    assert!(gone(&Wanted { min_output: 1e6, ..wanted }).is_empty());
}

/// Returns the size kept, with a summary of maximum size.
fn kept(plan: &CompactionPlan, limits: &CompactionLimits) -> f64 {
    match plan.step {
        Step::None => plan.total,
        Step::Outputs => plan.after_outputs,
        Step::Summary => plan.after_cut + limits.min_summary(),
    }
}

proptest! {
    #[test]
    fn a_larger_window_never_keeps_less(
        letters in prop::collection::vec(prop::sample::select(vec!["u", "a", "cr", "ccrr", "ua", "cx", "ccrx"]), 1..30),
        sizes in prop::collection::vec(1.0..900.0f64, 1..40),
        window in 1000.0..30_000.0f64,
        more in 0.0..5000.0f64,
        can_summarize: bool,
    ) {
        let text = format!("s{}", letters.concat());
        let (messages, pairs, outputs) = history(&text, &sizes);
        let wanted = Wanted { can_summarize, ..WANTED };
        let of = |window: f64| {
            // A summary of constant size, so that only the kept part is compared.
            let limits = CompactionLimits::of_window(window, 0.0, 100.0, numbers("").expect("known"));
            let plan = plan(&messages, &pairs, &outputs, &limits, &wanted);
            (kept(&plan, &limits), plan)
        };
        let (less, small) = of(window);
        let (greater, large) = of(window + more);
        prop_assert!(greater >= less - 1e-6, "{small:?} {large:?}");
        if small.step == large.step && small.step != Step::None {
            prop_assert!(large.from <= small.from);
        }
    }

    #[test]
    fn pairs_stay_whole_and_the_last_words_stay(
        letters in prop::collection::vec(prop::sample::select(vec!["u", "a", "cr", "ccrr", "cx", "ccxr", "S", "s"]), 0..30),
        sizes in prop::collection::vec(1.0..900.0f64, 1..40),
        window in 0.0..30_000.0f64,
    ) {
        let text = letters.concat();
        let (messages, pairs, outputs) = history(&text, &sizes);
        let limits = CompactionLimits::of_window(window, 0.0, 1000.0, numbers("").expect("known"));
        let plan = plan(&messages, &pairs, &outputs, &limits, &WANTED);
        let stays = |at: usize| at >= plan.from || (plan.head.0..plan.head.1).contains(&at);
        for (call, result) in pairs {
            prop_assert!(!(call < plan.from && plan.from <= result));
            prop_assert_eq!(stays(call), stays(result));
        }
        if let Some(last) = text.rfind(['u', 'x']) {
            prop_assert!(stays(last));
        }
        prop_assert!(plan.first <= plan.turn && plan.turn <= plan.from);
    }
}
