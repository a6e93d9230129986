//! The rules by which the output of a test runner is read: the forms of its lines, and the meaning of a line of each form.
//! The [runners](super::runners) are data.

/// The event that a line reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEvent {
    /// This runner is at work.
    Starts,
    /// This runner is at work and tests follow: the run is unfinished until its totals.
    Announces,
    /// A part of the output begins, from which on other rules apply.
    Section(u8),
    /// Numbers of tests, added to those of other parts of the run.
    Totals(Form),
    /// Numbers of tests of a part, which the next such line includes. The failure just before them is the part itself, and counts
    /// only if [`Runner::fails_itself`].
    Subtotals(Form),
    /// The latest numbers of a part were the totals.
    TotalsEnd,
    /// A test passed, or was skipped. Counts if the output contains no totals.
    Passed,
    Skipped,
    /// A test runs. Its output explains its failure, should it fail.
    Runs,
    /// A test runs, and the line has its name and its output.
    Prints,
    /// A test runs that fails if it has no result when the output ends.
    Begins,
    /// A test begins where tests run one by one: the one before has a result.
    BeginsNext,
    /// A test is over. It passed unless its result was another.
    Finishes,
    /// A test, or the latest if the line names none, has a result.
    Settles,
    /// All tests of the scope have their results.
    Concludes,
    /// The process of the scope is over: tests that have no result will get none. It failed itself if none of its tests did.
    Stops,
    /// The process ends in an error, and what follows explains it.
    Panics,
    /// The run was interrupted: its totals do not count the tests that were running.
    Interrupts,
    /// A group of tests `id`, which is nested by `indent`.
    Group,
    /// The file or program that the next tests belong to: tests of the same name elsewhere are others.
    Scope,
    /// The next line of the name of a scope: a part of it, or the rest of a line that was broken.
    ScopeContinues,
    /// The title of the next tests, which is a part of their names.
    Title,
    /// The first part of a name that continues in the next lines, up to a colon.
    NameBegins,
    /// A further part of a name that continues in the next lines.
    NameContinues,
    /// The name of a failure that was listed before, above its explanation.
    Heading,
    /// A test failed.
    Fails(Then),
    /// A failure does not count: the test passed when it was tried again.
    Recovers,
    /// The scope itself failed.
    ScopeFails,
    /// Something ended the process, or failed outside of a test: this runner is at work, and its totals may not count it.
    Aborts,
    /// Where the test failed: the first place counts.
    Place,
    /// Where the test failed: the last place before the message counts.
    LastPlace,
    /// The place of the test that the next line names.
    NextPlace,
    /// The message, if there is none yet.
    Message,
    /// The message is in the next line that is not blank.
    MessageFollows,
    /// The explanation of a failure is over.
    Ends,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `2 failed`.
    NumberFirst,
    /// `Failed: 2`, `failures=2`, `fail 2`.
    WordFirst,
}

/// The lines after the one that names a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Something else: the line is part of a list.
    Nothing,
    /// The explanation of the failure, up to the next name.
    Explanation,
    /// The explanation of the failure, up to the next name; its first line that is not blank is the message.
    MessageFirst,
}

/// One form of line.
#[derive(Debug)]
pub(super) struct Rule {
    /// The section in which the rule applies; `None` is everywhere.
    pub section: Option<u8>,
    pub pattern: &'static str,
    pub event: LineEvent,
}

/// The lines of a test runner.
#[derive(Debug)]
pub(super) struct Runner {
    pub name: &'static str,
    /// True if the same failure is also named without the first parts of its name.
    pub abbreviates: bool,
    /// True if a test fails whenever its subtest `name/subtest` does, so that the subtest says it all.
    pub has_subtests: bool,
    /// True if its failures count only beside another sign of the runner, since other programs print such lines too.
    pub needs_sign: bool,
    /// True if it names every failure, so that there are at least as many as it names, whatever its totals say.
    pub lists_all: bool,
    /// True if names and messages are written with the escapes of TeamCity.
    pub escapes: bool,
    /// A text in the message of a part that failed by itself, and not because its tests did.
    pub fails_itself: Option<&'static str>,
    pub inside: Inside,
    pub rules: &'static [Rule],
}

/// The other runner that counts the same tests, if it printed to the same output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    No,
    Of(&'static str),
    OfAny,
}

/// The properties that most runners have in common.
pub(super) const RUNNER: Runner = Runner {
    name: "",
    abbreviates: false,
    has_subtests: false,
    needs_sign: true,
    lists_all: false,
    escapes: false,
    fails_itself: None,
    inside: Inside::No,
    rules: &[],
};

pub(super) const fn rule(pattern: &'static str, event: LineEvent) -> Rule {
    Rule { section: None, pattern, event }
}

pub(super) const fn within(section: u8, pattern: &'static str, event: LineEvent) -> Rule {
    Rule { section: Some(section), pattern, event }
}
