use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// A session as the model sees it, and as it was.
struct Session {
    fold: Fold,
    texts: HashMap<u32, String>,
}

impl Session {
    fn new() -> Self {
        Session { fold: Fold::new(Options::default()), texts: HashMap::new() }
    }

    fn add(&mut self, text: &str, given: Given<'_>) -> (String, Vec<Edit>) {
        let id = self.texts.len() as u32;
        let folded = self.fold.fold(text, &Given { id, call: id, ..given });
        let shown = apply(text, &folded.edits);
        assert!(shown.len() <= text.len(), "longer: {shown}");
        let back = unfold(&shown, &folded.edits, |id| self.texts.get(&id).map(String::as_str));
        assert_eq!(back.as_deref(), Some(text), "{shown}");
        self.texts.insert(id, text.to_owned());
        (shown, folded.edits)
    }
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut out = Vec::new();
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(&units[at..edit.from]);
        out.extend(edit.text.encode_utf16());
        at = edit.to;
    }
    out.extend_from_slice(&units[at..]);
    String::from_utf16(&out).unwrap()
}

fn file(lines: std::ops::Range<usize>) -> String {
    lines
        .map(|at| format!("const value{at} = compute({at}, 'as in the file')"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn numbered(text: &str, first: usize) -> String {
    text.split('\n')
        .enumerate()
        .map(|(at, line)| format!("{:>6}\t{line}", first + at))
        .collect::<Vec<_>>()
        .join("\n")
}

const READ: Given<'static> = Given {
    id: 0,
    call: 0,
    tool: "read",
    args: r#"{"path":"src/a.ts"}"#,
    protected: false,
    argument: false,
    keep: &[],
    min_lines: None,
    min_bytes: None,
    since: None,
    beside: &[],
    hidden: &[],
};
const RUN: Given<'static> = Given {
    id: 0,
    call: 0,
    tool: "bash",
    args: r#"{"command":"npm test"}"#,
    protected: false,
    argument: false,
    keep: &[],
    min_lines: None,
    min_bytes: None,
    since: None,
    beside: &[],
    hidden: &[],
};

#[test]
fn a_run_becomes_a_pointer_with_both_numberings() {
    let mut session = Session::new();
    session.add(&numbered(&file(0..100), 1), READ);
    let (shown, edits) = session.add(&file(40..80), RUN);
    assert_eq!(edits.len(), 1);
    assert!(
        shown.contains("\n[lines 4-37: same as lines 44-77 of the read of src/a.ts above]\n"),
        "{shown}"
    );
    let (shown, _) = session.add(&numbered(&file(20..60), 21), READ);
    assert!(
        shown.contains("[lines 24-57: same as lines 24-57 of the read of src/a.ts above]"),
        "{shown}"
    );
    let (shown, _) = session.add(&file(0..30), Given { args: r#"{"command":"cat b"}"#, ..RUN });
    assert!(
        shown.contains("[lines 4-27: same as lines 4-27 of the 2nd newest read of src/a.ts above]"),
        "{shown}"
    );
}

#[test]
fn calls_of_one_name_are_counted_from_the_newest() {
    let version = |of: usize| -> String {
        (0..60).map(|at| format!("version {of} const value{at} = compute({at})\n")).collect()
    };
    let mut session = Session::new();
    session.add(&version(1), READ);
    for (text, pointer) in [
        (version(2), None),
        (version(3), None),
        (version(2), Some("same as lines 4-57 of the 2nd newest read of src/a.ts above]")),
        ("removed".to_owned(), None),
        (version(2), Some("same as lines 4-57 of the 4th newest read of src/a.ts above]")),
    ] {
        let (shown, _) = session.add(&text, READ);
        assert_eq!(shown.contains(" above"), pointer.is_some(), "{shown}");
        assert!(pointer.is_none_or(|pointer| shown.contains(pointer)), "{shown}");
    }
}

#[test]
fn ends_errors_diffs_and_protected_results_stay() {
    let mut session = Session::new();
    let text = file(0..60);
    session.add(&text, READ);
    let with_error = format!("{}\nerror: it does not compile\n{}", file(0..30), file(30..60));
    session.add(&with_error, RUN);
    let (shown, edits) = session.add(&with_error, Given { args: "", ..RUN });
    assert_eq!(edits.len(), 2);
    assert!(shown.contains("\nerror: it does not compile\n"), "{shown}");
    let lines: Vec<&str> = text.split('\n').collect();
    let (shown, _) = session.add(&text, Given { args: "{}", ..RUN });
    let shown: Vec<&str> = shown.split('\n').collect();
    assert_eq!(shown[..3], lines[..3]);
    assert_eq!(shown[shown.len() - 3..], lines[57..]);
    let hunk = format!(
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,60 +1,60 @@\n{}",
        text.replace("const", " const")
    );
    session.add(&text.replace("const", " const"), RUN);
    let (_, edits) = session.add(&hunk, Given { args: r#"{"command":"git diff"}"#, ..RUN });
    assert_eq!(edits, []);
    let (_, edits) = session.add(&text, Given { protected: true, ..READ });
    assert_eq!(edits, []);
}

#[test]
fn the_same_call_again_shows_what_differs() {
    let mut session = Session::new();
    let first = file(0..40);
    session.add(&first, RUN);
    let second = first.replace("value20 ", "other20 ").replace("value30 ", "other30 ");
    let (shown, _) = session.add(&second, RUN);
    assert!(shown.contains("[2 of 40 lines differ from the output of `npm test` above, to which \"as there\" points]\n[lines 4-20: as there]\nconst other20"), "{shown}");
    assert!(shown.contains("\n[lines 22-30: as there]\n"), "{shown}");
}

#[test]
fn the_sentence_says_how_lines_differ() {
    let base: Vec<String> = file(0..40).lines().map(str::to_owned).collect();
    let numbered = |lines: &[String]| {
        let lines = lines.iter().enumerate();
        lines.map(|(at, line)| format!("{:6}\t{line}", at + 1)).collect::<Vec<_>>()
    };
    let with = |at: usize, line: &str| {
        let mut lines = base.clone();
        lines.insert(at, line.to_owned());
        lines
    };
    let replaced = |at: usize, line: &str| {
        let mut lines = base.clone();
        line.clone_into(&mut lines[at]);
        lines
    };
    let with_end = |lines: &[String]| [lines, &[String::new()]].concat();
    let moved = [&base[..8], &base[28..32], &base[8..28], &base[32..]].concat();
    let short = [&base[..20], &base[21..]].concat();
    for (before, after, head, tail) in [
        (
            base.clone(),
            replaced(20, "const value977 = compute(3, 'as in the file')"),
            "1 of 40 lines differs",
            "; 1 only in numbers",
        ),
        (base.clone(), replaced(20, "an other one"), "1 of 40 lines differs", ""),
        (base.clone(), with(20, "one more line"), "1 of 41 lines differs", ""),
        (numbered(&base), numbered(&with(20, "one more line")), "1 of 41 lines differs", ""),
        (base.clone(), short, "0 of 39 lines differ", "; 1 of its lines is gone"),
        (base.clone(), with_end(&replaced(20, "an other one")), "1 of 40 lines differs", ""),
        (with_end(&base), replaced(20, "an other one"), "1 of 40 lines differs", ""),
        (base.clone(), moved, "0 of 40 lines differ", "; 20 are in another place"),
    ] {
        let mut session = Session::new();
        session.add(&before.join("\n"), RUN);
        // Runs are too short for pointers that name the result themselves.
        let (shown, _) = session.add(&after.join("\n"), Given { min_lines: Some(40), ..RUN });
        let sentence = format!(
            "[{head} from the output of `npm test` above, to which \"as there\" points{tail}]\n"
        );
        assert!(shown.contains(&sentence), "{sentence}{shown}");
    }
}

#[test]
fn hits_stand_under_their_path() {
    let mut session = Session::new();
    let text =
        "src/deep/a.ts:1:one\nsrc/deep/a.ts:20:two\nsrc/deep/a.ts-21-\nsrc/deep/b.ts:3:three\n";
    let grep = Given { args: r#"{"command":"grep -rn o src"}"#, ..RUN };
    let (shown, _) = session.add(text, grep.clone());
    assert_eq!(shown, "src/deep/a.ts\n1:one\n20:two\n21-\nsrc/deep/b.ts:3:three\n");
    let (shown, _) = session.add(
        "./src/x/a.ts\n./src/x/b.ts\n./src/x/c.ts\n./y",
        Given { args: r#"{"command":"find ."}"#, ..RUN },
    );
    assert_eq!(shown, "./src/x/\n  a.ts\n  b.ts\n  c.ts\n./y");
    for (text, expected) in [
        (
            "src/deep/a.ts:one\nsrc/deep/a.ts:  two\nsrc/deep/a.ts:\nsrc/deep/b.ts:3 three\n",
            "src/deep/a.ts:\n  one\n    two\n  \nsrc/deep/b.ts:3 three\n",
        ),
        ("src/a.ts:one\nsrc/a.ts:two\n", "src/a.ts:one\nsrc/a.ts:two\n"),
        ("src/a.ts:3\nsrc/b.ts:0\nsrc/c.ts:12\n", "src/\n  a.ts:3\n  b.ts:0\n  c.ts:12\n"),
        (
            "http://a/b x\nhttp://a/b y\nhttp://a/b z\n",
            "http://a/b x\nhttp://a/b y\nhttp://a/b z\n",
        ),
    ] {
        assert_eq!(session.add(text, grep.clone()).0, expected);
    }
    let (_, edits) = session.add(text, Given { args: r#"{"command":"make"}"#, ..RUN });
    assert_eq!(edits, []);
}

#[test]
fn what_left_the_context_is_not_pointed_to() {
    let mut session = Session::new();
    session.add(&file(0..60), READ);
    session.fold.forget(&[0], false);
    assert_eq!(session.fold.size().1, 0);
    assert_eq!(session.add(&file(0..60), RUN).1, []);
    session.fold.clear();
    assert_eq!(session.add(&file(0..60), Given { args: "", ..RUN }).1, []);
}

/// A step of a session with reads of one file, by their numbers.
enum Step {
    Read(usize),
    Short,
    Gone(&'static [u32]),
    Pruned(&'static [u32]),
}

#[test]
fn a_pointer_counts_the_calls_that_are_in_view() {
    use Step::{Gone, Pruned, Read, Short};
    let version = |of: usize| -> String {
        (0..60).map(|at| format!("version {of} const value{at} = compute({at})\n")).collect()
    };
    for (steps, name, counts) in [
        (vec![Read(1)], "the read", vec![]),
        (vec![Read(1), Read(2)], "the 2nd newest read", vec![1]),
        (vec![Read(1), Short, Read(2), Short], "the 4th newest read", vec![1, 2, 3]),
        (vec![Read(2), Read(1)], "the newest read", vec![]),
        (vec![Read(1), Read(2), Short, Read(3), Gone(&[1, 2])], "the 2nd newest read", vec![3]),
        (vec![Read(1), Read(2), Pruned(&[1]), Read(3)], "the 3rd newest read", vec![1, 2]),
        (vec![Read(1), Read(2), Pruned(&[1]), Gone(&[1])], "the read", vec![]),
        (vec![Read(2), Read(1), Gone(&[0])], "the read", vec![]),
    ] {
        let mut session = Session::new();
        for step in steps {
            match step {
                Read(of) => drop(session.add(&version(of), READ)),
                Short => {
                    let call = session.texts.len() as u32;
                    session.texts.insert(call, String::new());
                    assert!(session.fold.count(call, READ.tool, READ.args));
                }
                Gone(ids) => session.fold.forget(ids, false),
                Pruned(ids) => session.fold.forget(ids, true),
            }
        }
        let folded = session.fold.fold(&version(1), &Given { id: 99, call: 99, ..RUN });
        let pointer = format!("same as lines 4-57 of {name} of src/a.ts above]");
        assert!(folded.edits[0].text.contains(&pointer), "{pointer}: {:?}", folded.edits);
        assert_eq!(folded.counts, counts, "{pointer}");
    }
}

#[test]
fn arguments_of_one_call_count_once() {
    let mut session = Session::new();
    let edit = Given { tool: "edit", argument: true, ..READ };
    for (call, lines) in [(0, 0..30), (0, 30..60), (2, 60..90), (2, 90..120)] {
        let id = session.texts.len() as u32;
        session.texts.insert(id, file(lines.clone()));
        session.fold.fold(&file(lines), &Given { id, call, ..edit.clone() });
    }
    assert!(session.fold.count(4, "edit", READ.args));
    let folded = session.fold.fold(&file(30..60), &Given { id: 5, call: 5, ..RUN });
    assert!(
        folded.edits[0].text.contains("of the 3rd newest arguments of edit src/a.ts above]"),
        "{:?}",
        folded.edits
    );
    assert_eq!(folded.counts, [2, 4]);
}

#[test]
fn calls_that_no_pointer_can_name_are_not_counted() {
    let mut session = Session::new();
    session.add(&file(0..60), READ);
    for call in 1..20_000 {
        let args = format!(r#"{{"command":"echo {call}"}}"#);
        assert!(!session.fold.count(call, "bash", &args));
    }
    assert_eq!(session.add(&file(0..60), RUN).1.len(), 1);
    // More than 100 calls of its name come later: a model would not count them.
    for call in 30_000..30_200 {
        session.fold.count(call, READ.tool, READ.args);
    }
    assert_eq!(session.add(&file(0..60), RUN).1, []);
}

#[test]
fn the_index_is_bounded() {
    let max = 256 * 1024;
    let mut fold = Fold::new(Options { max_index_bytes: max, ..Options::default() });
    for round in 0..400 {
        fold.fold(
            &file(round * 200..round * 200 + 200),
            &Given { id: round as u32, call: round as u32, ..RUN },
        );
        assert!(fold.size().0 <= max, "{round}: {:?}", fold.size());
    }
    let (bytes, lines) = fold.size();
    assert!(lines > 5_000 && bytes <= 24 * lines + 400 * 250, "{bytes} bytes for {lines} lines");
    let mut fold = Fold::new(Options::default());
    fold.fold(&"same\n".repeat(1_000_000), &RUN);
    let folded = fold.fold(&"same\n".repeat(100_000), &Given { id: 1, ..READ });
    assert_eq!(folded.edits.len(), 1);
    assert!(fold.size().0 <= 8 * 1024 * 1024);
    fold.fold(&"x".repeat(100_000_000), &Given { id: 2, ..READ });
    assert!(fold.size().0 <= 8 * 1024 * 1024);
}

#[test]
fn a_result_of_which_only_the_start_is_indexed_is_not_compared_as_a_whole() {
    let max_index_bytes = 24 * 2 * 100;
    let mut fold = Fold::new(Options { max_index_bytes, ..Options::default() });
    fold.fold(&file(0..200), &RUN);
    let edits = fold.fold(&file(0..200), &Given { id: 1, ..RUN }).edits;
    let texts: Vec<&str> = edits.iter().map(|edit| &*edit.text).collect();
    assert!(!texts.is_empty() && texts.iter().all(|text| !text.contains("differ")), "{texts:?}");
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0..12u8).prop_map(|at| format!("the line with the number {at} of a file that is read again and again")),
        2 => (0..90u32, 0..4u8).prop_map(|(at, kind)| {
            let body = format!("body {} of a numbered line, as long as they are in a file", at % 7);
            match kind {
                0 => format!("{at:>6}\t{body}"),
                1 => format!("{at}:{body}"),
                2 => format!("{at:05}| {body}"),
                _ => format!("src/deep/file{}.ts:{at}:{body}", at % 2),
            }
        }),
        1 => Just("[lines 1-9: same as lines 1-9 of the read of src/a.ts above]".to_owned()),
        1 => Just("error: it failed 𝒳".to_owned()),
        1 => Just(String::new()),
        1 => "[ -~é𝒳\r]{0,30}",
    ]
}

fn texts() -> impl Strategy<Value = Vec<(Vec<String>, usize, usize)>> {
    let block = proptest::collection::vec(line(), 0..40);
    proptest::collection::vec((block, 0..6usize, 0..3usize), 1..8)
}

proptest! {
    #[test]
    fn what_was_folded_is_found_again(texts in texts()) {
        let runs = [RUN, READ, Given { args: r#"{"command":"grep -n x ."}"#, ..RUN }];
        let (mut session, mut again) = (Session::new(), Session::new());
        let mut all: Vec<String> = Vec::new();
        for (lines, copies, tool) in texts {
            let mut text = lines.join("\n");
            if copies > 0 && !all.is_empty() {
                let earlier = &all[copies % all.len()];
                text = if copies % 2 == 0 { format!("{text}\n{}", numbered(earlier, copies * 97)) } else { format!("{earlier}\n{text}") };
            }
            let shown = session.add(&text, runs[tool].clone());
            prop_assert_eq!(shown, again.add(&text, runs[tool].clone()));
            all.push(text);
        }
    }
}

#[test]
fn calls_that_run_at_the_same_time_do_not_point_to_each_other() {
    let beside = |path: &str| labels("read", &format!(r#"{{"path":"{path}"}}"#));
    let mut session = Session::new();
    session.add(&file(0..60), READ);
    // Both began with one text in view, and both may stand first.
    session.add(&file(60..90), Given { since: Some(1), beside: &beside("src/b.ts"), ..RUN });
    let of_b = Given { args: r#"{"path":"src/b.ts"}"#, since: Some(1), ..READ };
    let run = labels("bash", RUN.args);
    let (shown, _) = session.add(&file(30..90), Given { beside: &run, ..of_b.clone() });
    assert!(shown.contains("of the read of src/a.ts above]"), "{shown}");
    assert!(shown.contains("value89"), "{shown}");
    // No pointer names a text that may not be the newest of its name.
    let (shown, _) = session.add(&file(0..30), Given { beside: &beside("src/a.ts"), ..of_b });
    assert_eq!(shown, file(0..30));
}

#[test]
fn a_pointer_to_numbered_lines_counts_their_numbers() {
    let mut session = Session::new();
    let text = format!("head of it\n\n{}", numbered(&file(0..60), 201));
    session.add(&text, READ);
    let (shown, _) = session.add(&text, RUN);
    assert!(shown.contains("[lines 202-"), "{shown}");
}

/// Stretches of ten lines: each text has some of them, so that most windows are in several texts.
fn stretches(of: &[usize]) -> String {
    let lines = of.iter().map(|&at| file(at * 10..at * 10 + 10));
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Clone)]
enum Change {
    Add(Vec<usize>),
    Forget(Vec<u32>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        3 => proptest::collection::vec(0..5usize, 1..5).prop_map(Change::Add),
        1 => proptest::collection::vec(0..12u32, 1..4).prop_map(Change::Forget),
    ];
    proptest::collection::vec(change, 1..16)
}

proptest! {
    #[test]
    fn what_stays_after_others_left_is_known_as_if_they_had_never_been(
        changes in changes(),
        probe in proptest::collection::vec(0..5usize, 2..6),
    ) {
        let text_of = |args: &str, of: &[usize], fold: &mut Fold, id: u32, protected: bool| {
            fold.fold(&stretches(of), &Given { id, call: id, args, protected, ..READ })
        };
        let args_of = |id: u32| format!(r#"{{"path":"src/{id}.ts"}}"#);
        let mut fold = Fold::new(Options::default());
        let mut texts: Vec<(u32, Vec<usize>)> = Vec::new();
        let mut next = 0;
        for change in changes {
            match change {
                Change::Add(of) => {
                    text_of(&args_of(next), &of, &mut fold, next, true);
                    texts.push((next, of));
                    next += 1;
                }
                Change::Forget(ids) => {
                    fold.forget(&ids, false);
                    texts.retain(|(id, _)| !ids.contains(id));
                }
            }
        }
        let mut fresh = Fold::new(Options::default());
        for (id, of) in &texts {
            text_of(&args_of(*id), of, &mut fresh, *id, true);
        }
        let probe_of = |fold: &mut Fold| text_of(r#"{"path":"probe"}"#, &probe, fold, 1000, false);
        prop_assert_eq!(probe_of(&mut fold), probe_of(&mut fresh));
    }
}
