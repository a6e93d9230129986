//! Finds outdated results of terminal tools.
//!
//! A result is outdated if it comes from a terminal, is strictly older than a limit, is not among the newest results of
//! all tools, and is not an error. The newest are counted by time, and by position among equal times. A result without
//! a time is never outdated; it counts as of the time of the nearest earlier result that has one.
//!
//! The rule is evaluated with the facts known so far and returns the results whose texts must be read first, until
//! nothing is open; then it returns the outdated ones. In a long history only those texts are read that can make a
//! difference: usually the old ones, and the few newest.

use super::result_facts::Facts;

/// The parameters of the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Current time in milliseconds since the epoch.
    pub now: f64,
    /// Age up to which a result is kept, in milliseconds.
    pub max_age_ms: f64,
    /// Number of newest results that are kept whatever their age is.
    pub keep_recent: usize,
    /// True if errors count among the newest results. Otherwise they are kept in addition.
    pub count_errors: bool,
    /// True if a result with output on its error stream is an error.
    pub stderr_is_error: bool,
}

/// The answer of one evaluation: ascending indexes of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// More must be known about these results; never empty.
    Read(Vec<u32>),
    /// These results are outdated.
    Outdated(Vec<u32>),
}

/// Evaluates the rule for the results of a history, oldest position first. `times` holds milliseconds since the epoch,
/// and `NaN` or an infinity for unknown times; `facts` holds the facts known about each result.
///
/// Call again after every [`Answer::Read`], with more facts about at least one of its results. Linear in the number of
/// results if they are ordered by time, as histories are.
pub fn outdated(times: &[f64], facts: &[Facts], rule: &Rule) -> Answer {
    let old = |at: usize| {
        times.get(at).is_some_and(|time| time.is_finite() && rule.now - time > rule.max_age_ms)
    };
    // Nearly always the facts equal those of the previous result.
    let mut last = Verdict::of(Facts::FIXED, rule);
    let mut verdict = |at: usize| {
        let facts = facts.get(at).copied().unwrap_or(Facts::FIXED);
        if facts != last.facts {
            last = Verdict::of(facts, rule);
        }
        last
    };

    let newest_first = newest_first(times);
    // The newest are kept without reading them, and nothing after the last candidate matters.
    let Some(oldest) = newest_first
        .iter()
        .rposition(|&at| old(at as usize) && verdict(at as usize).replaceable)
        .filter(|&rank| rank >= rule.keep_recent)
    else {
        return Answer::Outdated(Vec::new());
    };

    let (mut read, mut outdated) = (Vec::new(), Vec::new());
    // Results counted among the newest for certain, results counted unless they are errors, and errors.
    let (mut taken, mut perhaps, mut errors) = (0usize, 0usize, 0usize);
    for &at in newest_first.iter().take(oldest + 1) {
        let Verdict { counts, settled, replaceable, .. } = verdict(at as usize);
        let candidate = replaceable && old(at as usize);

        if taken >= rule.keep_recent && candidate && settled {
            outdated.push(at);
        } else {
            // After errors were found, look as far again: then the number of evaluations stays small even if all of the
            // newest are errors.
            let sought = rule.keep_recent.saturating_add(errors);
            let may_take_place =
                counts.is_none() && taken < rule.keep_recent && taken + perhaps < sought;
            let may_be_outdated = candidate && !settled && taken + perhaps >= rule.keep_recent;
            if may_take_place || may_be_outdated {
                read.push(at);
            }
        }
        match counts {
            Some(true) => taken += 1,
            Some(false) => errors += 1,
            None => perhaps += 1,
        }
    }
    // If nothing is left to read no result was uncertain, so every one was counted.
    let (mut places, answer): (_, fn(Vec<u32>) -> Answer) =
        if read.is_empty() { (outdated, Answer::Outdated) } else { (read, Answer::Read) };
    places.sort_unstable();
    answer(places)
}

/// The meaning of facts under a rule, apart from the age.
#[derive(Clone, Copy)]
struct Verdict {
    facts: Facts,
    /// True if the result counts among the newest; `None` if that is uncertain.
    counts: Option<bool>,
    /// True if the result may be outdated once it is old enough.
    replaceable: bool,
    /// True if nothing is uncertain.
    settled: bool,
}

impl Verdict {
    fn of(facts: Facts, rule: &Rule) -> Self {
        let error = facts.is_error(rule.stderr_is_error);
        let terminal = facts.is_terminal();
        Verdict {
            facts,
            counts: if rule.count_errors { Some(true) } else { error.map(|error| !error) },
            replaceable: !facts.any(Facts::FIXED) && terminal != Some(false) && error != Some(true),
            settled: terminal.is_some() && error.is_some(),
        }
    }
}

/// Returns the results from the newest to the oldest.
fn newest_first(times: &[f64]) -> Vec<u32> {
    let places = 0..u32::try_from(times.len()).unwrap_or(u32::MAX);
    // The usual case.
    if times.is_sorted() && times.iter().all(|time| time.is_finite()) {
        return places.rev().collect();
    }
    let mut nearest = f64::NEG_INFINITY;
    let mut results: Vec<(f64, u32)> = times
        .iter()
        .zip(places)
        .map(|(&time, place)| {
            if time.is_finite() {
                // Negative and positive zero are the same time.
                nearest = time + 0.0;
            }
            (nearest, place)
        })
        .collect();
    results.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    results.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: f64 = 60_000.0;
    const RULE: Rule = Rule {
        now: 1000.0 * MINUTE,
        max_age_ms: 15.0 * MINUTE,
        keep_recent: 5,
        count_errors: false,
        stderr_is_error: true,
    };
    const NOTHING: [u32; 0] = [];
    const SUCCESS: Facts = Facts::PLAIN.and(Facts::TERMINAL_SHAPE);
    const ERROR: Facts = SUCCESS.and(Facts::EXIT_FAILED);
    const FILE: Facts = Facts::PLAIN.and(Facts::OTHER_TOOL);

    /// Evaluates the rule for results given by their age in minutes, in order of position.
    fn ask(results: &[(f64, Facts)], rule: &Rule) -> Vec<u32> {
        let times: Vec<f64> = results.iter().map(|(age, _)| rule.now - age * MINUTE).collect();
        let facts: Vec<Facts> = results.iter().map(|(_, facts)| *facts).collect();
        match outdated(&times, &facts, rule) {
            Answer::Outdated(places) => places,
            Answer::Read(places) => {
                unreachable!("everything is known, and yet {places:?} were asked for")
            }
        }
    }

    #[test]
    fn ten_results_of_which_two_are_outdated() {
        let results = [
            (90.0, ERROR),
            (80.0, FILE),
            (70.0, SUCCESS),
            (40.0, SUCCESS),
            (30.0, SUCCESS),
            (25.0, SUCCESS),
            (20.0, ERROR),
            (15.0, SUCCESS),
            (10.0, SUCCESS),
            (5.0, FILE),
        ];
        assert_eq!(ask(&results, &RULE), [2, 3]);
        assert_eq!(ask(&results, &Rule { count_errors: true, ..RULE }), [2, 3, 4]);
        assert_eq!(ask(&results, &Rule { keep_recent: 0, ..RULE }), [2, 3, 4, 5]);
        assert_eq!(ask(&results, &Rule { keep_recent: usize::MAX, ..RULE }), NOTHING);
        assert_eq!(ask(&results, &Rule { max_age_ms: f64::INFINITY, ..RULE }), NOTHING);
    }

    #[test]
    fn exactly_the_limit_is_not_older() {
        let rule = Rule { keep_recent: 0, ..RULE };
        assert_eq!(ask(&[(15.0, SUCCESS)], &rule), NOTHING);
        assert_eq!(ask(&[(15.0 + 1.0 / MINUTE, SUCCESS)], &rule), [0]);
        assert_eq!(ask(&[(-5.0, SUCCESS)], &rule), NOTHING, "a clock that was set back");
    }

    #[test]
    fn the_order_is_that_of_time_then_position() {
        let rule = Rule { keep_recent: 1, ..RULE };
        assert_eq!(ask(&[(20.0, SUCCESS), (60.0, SUCCESS)], &rule), [1]);
        assert_eq!(ask(&[(20.0, SUCCESS), (20.0, SUCCESS)], &rule), [0]);
        let zeros = outdated(&[0.0, -0.0, -1.0], &[SUCCESS; 3], &rule);
        assert_eq!(zeros, Answer::Outdated(vec![0, 2]), "a zero is one time, whatever its sign");
    }

    #[test]
    fn without_a_time_a_result_stays_where_the_one_before_is() {
        let rule = Rule { keep_recent: 1, ..RULE };
        assert_eq!(
            ask(&[(60.0, SUCCESS), (f64::NAN, SUCCESS)], &rule),
            [0],
            "it is newer than the one before"
        );
        assert_eq!(
            ask(&[(f64::NAN, SUCCESS), (60.0, SUCCESS)], &rule),
            NOTHING,
            "it is older than all others"
        );
        assert_eq!(ask(&[(60.0, SUCCESS), (f64::INFINITY, SUCCESS), (30.0, SUCCESS)], &rule), [0]);
        assert_eq!(ask(&[(f64::NAN, SUCCESS), (f64::NAN, SUCCESS)], &rule), NOTHING);
    }

    #[test]
    fn nothing_is_read_that_cannot_matter() {
        let ages =
            |ages: &[f64]| -> Vec<f64> { ages.iter().map(|age| RULE.now - age * MINUTE).collect() };
        let unknown = [Facts::NONE; 8];
        let read = |places: &[u32]| Answer::Read(places.to_vec());
        let none = Answer::Outdated(Vec::new());

        let young = ages(&[8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(outdated(&young, &unknown, &RULE), none, "all too young");
        let few = ages(&[80.0, 70.0, 60.0, 50.0, 40.0]);
        assert_eq!(outdated(&few, &unknown[..5], &RULE), none, "all among the newest");
        let files = [FILE; 8];
        let old = ages(&[80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 19.0]);
        assert_eq!(outdated(&old, &files, &RULE), none, "no terminals");

        let mixed = ages(&[60.0, 50.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0]);
        assert_eq!(
            outdated(&mixed, &unknown, &RULE),
            read(&[0, 1, 3, 4, 5, 6, 7]),
            "the newest five and the old"
        );
        assert_eq!(outdated(&mixed, &unknown, &Rule { count_errors: true, ..RULE }), read(&[0, 1]));
        let mut facts = unknown;
        facts[7] = ERROR;
        assert_eq!(
            outdated(&mixed, &facts, &RULE),
            read(&[0, 1, 2, 3, 4, 5, 6]),
            "the error takes no place"
        );
    }

    /// A naive version of the rule with all facts known.
    fn oracle(times: &[f64], facts: &[Facts], rule: &Rule) -> Vec<u32> {
        let time = |at: usize| {
            times[..=at]
                .iter()
                .rev()
                .find(|time| time.is_finite())
                .copied()
                .unwrap_or(f64::NEG_INFINITY)
        };
        let newer = |a: usize, b: usize| time(a) > time(b) || time(a) == time(b) && a > b;
        let error = |at: usize| facts[at].is_error(rule.stderr_is_error) == Some(true);
        (0..times.len())
            .filter(|&at| {
                let places = (0..times.len())
                    .filter(|&other| newer(other, at) && (rule.count_errors || !error(other)))
                    .count();
                times[at].is_finite()
                    && rule.now - times[at] > rule.max_age_ms
                    && places >= rule.keep_recent
                    && !error(at)
                    && !facts[at].any(Facts::FIXED)
                    && facts[at].is_terminal() == Some(true)
            })
            .map(|at| at as u32)
            .collect()
    }

    fn time() -> impl Strategy<Value = f64> {
        prop_oneof![8 => (0i32..40).prop_map(|minutes| (980.0 + f64::from(minutes)) * MINUTE), 1 => Just(f64::NAN)]
    }

    fn facts() -> impl Strategy<Value = Facts> {
        let names = prop_oneof![3 => Just(Facts::NONE), 1 => Just(Facts::TERMINAL_TOOL), 1 => Just(Facts::OTHER_TOOL)];
        let message =
            prop_oneof![8 => Just(Facts::NONE), 1 => Just(Facts::FAILED), 1 => Just(Facts::FIXED)];
        let texts = [
            SUCCESS,
            ERROR,
            Facts::PLAIN,
            Facts::PLAIN.and(Facts::STARTS_AS_ERROR),
            SUCCESS.and(Facts::STDERR_FILLED),
        ];
        (names, message, prop::sample::select(texts.to_vec()))
            .prop_map(|(name, message, text)| name.and(message).and(text))
    }

    const TEXT: u16 = !(Facts::FAILED.bits()
        | Facts::FIXED.bits()
        | Facts::TERMINAL_TOOL.bits()
        | Facts::OTHER_TOOL.bits());

    proptest! {
        #[test]
        fn asking_step_by_step_gives_the_rule(
            results in prop::collection::vec((time(), facts()), 0..60),
            known in prop::collection::vec(any::<bool>(), 60),
            keep_recent in 0usize..8,
            count_errors: bool,
            stderr_is_error: bool,
        ) {
            let rule = Rule { keep_recent, count_errors, stderr_is_error, ..RULE };
            let (times, full): (Vec<f64>, Vec<Facts>) = results.into_iter().unzip();
            let mut facts: Vec<Facts> = full
                .iter()
                .zip(known)
                .map(|(facts, known)| if known { *facts } else { Facts::from_bits(facts.bits() & !TEXT) })
                .collect();
            for _ in 0..=full.len() {
                match outdated(&times, &facts, &rule) {
                    Answer::Outdated(places) => {
                        prop_assert_eq!(places, oracle(&times, &full, &rule));
                        return Ok(());
                    }
                    Answer::Read(places) => {
                        prop_assert!(!places.is_empty() && places.is_sorted());
                        for at in places {
                            prop_assert_ne!(facts[at as usize], full[at as usize], "asked twice");
                            facts[at as usize] = full[at as usize];
                        }
                    }
                }
            }
            prop_assert!(false, "no end of questions");
        }
    }

    #[test]
    fn many_errors_take_few_questions() {
        let count = 100_000;
        let mut times: Vec<f64> = vec![RULE.now - 60.0 * MINUTE];
        times.extend((0..count).map(|_| RULE.now - MINUTE));
        let mut facts = vec![Facts::NONE; times.len()];
        for questions in 0.. {
            match outdated(&times, &facts, &RULE) {
                Answer::Outdated(places) => {
                    assert_eq!(places, NOTHING);
                    assert!(questions < 20, "{questions}");
                    return;
                }
                Answer::Read(places) => places
                    .into_iter()
                    .for_each(|at| facts[at as usize] = if at == 0 { SUCCESS } else { ERROR }),
            }
        }
    }
}
