//! Reads reports of test runs in XML: JUnit and its dialects, TRX of `dotnet test`, xUnit.net and NUnit.
//!
//! A report may be a single line of any length, so it is read tag by tag as the bytes come, in bounded memory.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::report::{Counts, Failure, bounded};
use super::xml_text::{attribute, place, unescaped};
use super::{MAX_FAILURES, MAX_ID, MAX_MESSAGE, WITHIN};

/// Maximum number of bytes of a tag that are examined and shown.
const MAX_TAG: usize = 4 * 1024;
/// Maximum number of bytes of the text of a failure that are examined.
const MAX_TEXT: usize = 16 * 1024;
/// Maximum number of bytes of the text of a failure that a preview shows, if its tag has no message.
const MAX_SHOWN: usize = 1024;
/// Maximum number of bytes of tags that are kept for the preview.
const MAX_KEPT: usize = 1 << 22;

/// Elements that are a report; the first element of the text decides.
const ROOTS: &[&str] =
    &["testsuites", "testsuite", "TestRun", "assemblies", "assembly", "test-run", "test-results"];
/// Starts of the first line of a report.
const STARTS: &[&[u8]] =
    &[b"<?xml", b"<testsuite", b"<TestRun", b"<assemblies", b"<test-run", b"<test-results"];
/// Elements that are a test.
const TESTS: &[Element] = &[
    Element { dialect: "junit", name: "testcase", ids: &["name"], group: "classname" },
    Element { dialect: "trx", name: "UnitTestResult", ids: &["testName"], group: "" },
    Element { dialect: "nunit", name: "test-case", ids: &["fullname", "name"], group: "" },
    Element { dialect: "xunit", name: "test", ids: &["name"], group: "" },
];
/// Elements that hold a failure, the attributes with the outcome of a test, and their values.
const FAILURES: &[&str] = &["failure", "error", "ErrorInfo"];
const OUTCOMES: &[&str] = &["outcome", "result", "status"];
const FAILED: &[&str] = &["Failed", "Fail", "fail", "Error", "Timeout", "Aborted", "Failure"];
const SKIPPED: &[&str] =
    &["NotExecuted", "Skipped", "Skip", "Ignored", "Inconclusive", "notrun", "disabled"];

/// The element of a test in one dialect.
#[derive(Debug)]
struct Element {
    dialect: &'static str,
    name: &'static str,
    /// The attributes of the name, best first, and of the group that the test belongs to.
    ids: &'static [&'static str],
    group: &'static str,
}

/// A tag of the text.
#[derive(Debug, Clone, Default)]
pub(super) struct Tag {
    pub bytes: Range<u64>,
    /// Its line, from 1, and the one on which it ends.
    pub lines: (u64, u64),
    pub text: Vec<u8>,
}

/// A failure with the tags that name and explain it.
#[derive(Debug, Clone)]
pub(super) struct XmlFailure {
    pub failure: Failure,
    pub tags: Vec<Tag>,
}

/// A test whose element is open.
#[derive(Debug, Clone, Default)]
struct Test {
    element: &'static str,
    failure: Failure,
    tags: Vec<Tag>,
    has_failed: bool,
    was_skipped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of a report, at the start of a line or after it.
    Seeking,
    Elsewhere,
    Text,
    Tag,
    Comment,
    Data,
    /// The text is another document.
    Over,
}

#[derive(Debug, Clone)]
pub(super) struct XmlScanner {
    place: Place,
    /// The start of the line, or the current tag as far as it is examined.
    tag: Vec<u8>,
    tag_at: u64,
    tag_line: u64,
    at: u64,
    line: u64,
    /// The last bytes of a comment or section of data.
    tail: [u8; 2],
    test: Option<Test>,
    /// True within the element of a failure.
    is_failure: bool,
    text: Vec<u8>,
    /// Where that text begins, and on which line.
    text_at: (u64, u64),
    has_root: bool,
    dialect: &'static str,
    counts: Counts,
    failures: Vec<XmlFailure>,
    kept: usize,
}

impl XmlScanner {
    pub(crate) fn new() -> Self {
        XmlScanner {
            place: Place::Seeking,
            tag: Vec::new(),
            tag_at: 0,
            tag_line: 1,
            at: 0,
            line: 1,
            tail: [0; 2],
            test: None,
            is_failure: false,
            text: Vec::new(),
            text_at: (0, 0),
            has_root: false,
            dialect: "",
            counts: Counts::default(),
            failures: Vec::new(),
            kept: 0,
        }
    }

    /// Returns the dialect, the numbers and the failures if tests were reported.
    pub(crate) fn finish(&self) -> Option<(&'static str, Counts, &[XmlFailure])> {
        self.counts.total?;
        Some((self.dialect, self.counts, &self.failures))
    }

    /// Takes the next bytes of the text.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let used = match self.place {
                Place::Seeking => self.seek(rest),
                Place::Elsewhere => self.skip_line(rest),
                Place::Text => self.read_text(rest),
                Place::Tag => self.read_tag(rest),
                Place::Comment => self.skip_to(rest, b"--"),
                Place::Data => self.read_data(rest),
                Place::Over => rest.len(),
            };
            let (read, after) = rest.split_at(used.min(rest.len()));
            self.at += read.len() as u64;
            self.line += memchr_iter(b'\n', read).count() as u64;
            rest = after;
        }
    }

    /// Looks for a report at the start of a line.
    fn seek(&mut self, bytes: &[u8]) -> usize {
        let Some(&byte) = bytes.first() else { return 0 };
        if self.tag.is_empty() && (byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf))
        {
            return 1;
        }
        if self.tag.is_empty() {
            (self.tag_at, self.tag_line) = (self.at, self.line);
        }
        self.tag.push(byte);
        let begins = |start: &&[u8]| start.starts_with(&self.tag);
        if STARTS.iter().any(|start| *start == self.tag) {
            self.place = Place::Tag;
        } else if !STARTS.iter().any(begins) {
            self.tag.clear();
            self.place = if byte == b'\n' { Place::Seeking } else { Place::Elsewhere };
        }
        1
    }

    fn skip_line(&mut self, bytes: &[u8]) -> usize {
        match memchr(b'\n', bytes) {
            Some(end) => {
                self.place = Place::Seeking;
                end + 1
            }
            None => bytes.len(),
        }
    }

    fn read_text(&mut self, bytes: &[u8]) -> usize {
        let end = memchr(b'<', bytes);
        let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        self.keep_text(text);
        if end.is_some() {
            (self.tag_at, self.tag_line) = (self.at + text.len() as u64, self.line);
            self.tag_line += memchr_iter(b'\n', text).count() as u64;
            self.tag.clear();
            self.tag.push(b'<');
            self.place = Place::Tag;
            return text.len() + 1;
        }
        text.len()
    }

    fn keep_text(&mut self, text: &[u8]) {
        if self.is_failure {
            if self.text.trim_ascii().is_empty() {
                self.text.clear();
                self.text_at = (self.at, self.line);
            }
            let room = MAX_TEXT.saturating_sub(self.text.len());
            self.text.extend_from_slice(text.get(..room).unwrap_or(text));
        }
    }

    fn read_tag(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            used += 1;
            if self.tag.len() < MAX_TAG {
                self.tag.push(byte);
            }
            if self.tag == b"<!--" {
                (self.place, self.tail) = (Place::Comment, [0; 2]);
                return used;
            }
            if self.tag == b"<![CDATA[" {
                (self.place, self.tail) = (Place::Data, [0; 2]);
                return used;
            }
            if byte == b'>' && !self.is_quoted() {
                let end = self.at + used as u64;
                let breaks = memchr_iter(b'\n', bytes.get(..used).unwrap_or_default()).count();
                self.place = Place::Text;
                self.end_tag(end, self.line + breaks as u64);
                return used;
            }
        }
        used
    }

    /// Returns true if the tag so far ends inside the value of an attribute, which may contain `>`.
    fn is_quoted(&self) -> bool {
        if self.tag.len() >= MAX_TAG {
            return false;
        }
        let mut quote = None;
        for &byte in &self.tag {
            match quote {
                Some(open) if byte == open => quote = None,
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                _ => {}
            }
        }
        quote.is_some()
    }

    /// Skips to the end of a comment: `>` after `end`.
    fn skip_to(&mut self, bytes: &[u8], end: &[u8; 2]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'>' && self.tail == *end {
                self.place = Place::Text;
                return at + 1;
            }
            self.tail = [self.tail[1], byte];
        }
        bytes.len()
    }

    fn read_data(&mut self, bytes: &[u8]) -> usize {
        let used = self.skip_to(bytes, b"]]");
        self.keep_text(bytes.get(..used).unwrap_or_default());
        if self.place == Place::Text && self.is_failure {
            let end = self.text.len().saturating_sub(3);
            self.text.truncate(end);
        }
        used
    }

    fn end_tag(&mut self, end: u64, end_line: u64) {
        let text = std::mem::take(&mut self.tag);
        let source = String::from_utf8_lossy(&text).into_owned();
        let tag = Tag { bytes: self.tag_at..end, lines: (self.tag_line, end_line), text };
        let name =
            source.trim_start_matches(['<', '/']).split([' ', '\t', '\n', '\r', '/', '>']).next();
        let Some(name) = name else { return };
        if !self.has_root && !name.starts_with(['?', '!']) {
            self.has_root = true;
            if !ROOTS.contains(&name) {
                self.place = Place::Over;
                return;
            }
        }
        if source.starts_with("</") {
            return self.close(name);
        }
        if let Some(element) = TESTS.iter().find(|element| element.name == name) {
            self.open_test(element, &source, tag);
        } else if FAILURES.contains(&name) {
            self.open_failure(&source, tag);
        } else if name == "skipped"
            && let Some(test) = &mut self.test
        {
            test.was_skipped = true;
        }
        if source.ends_with("/>") {
            self.close(name);
        }
    }

    fn open_test(&mut self, element: &Element, source: &str, tag: Tag) {
        self.dialect = element.dialect;
        let name = element.ids.iter().find_map(|id| attribute(source, id)).unwrap_or_default();
        // Some runners repeat the name, or write the same word for every test.
        let is_group = |group: &String| !group.is_empty() && *group != name && group != "test";
        let group = attribute(source, element.group).filter(is_group);
        let id = group.map_or_else(|| name.clone(), |group| format!("{group}{WITHIN}{name}"));
        let place = match (attribute(source, "file"), attribute(source, "line")) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => String::new(),
        };
        let outcome = OUTCOMES.iter().find_map(|name| attribute(source, name)).unwrap_or_default();
        self.test = Some(Test {
            element: element.name,
            failure: Failure {
                id: bounded(&id, MAX_ID),
                message: String::new(),
                place: bounded(&place, MAX_ID),
            },
            tags: vec![tag],
            has_failed: FAILED.contains(&outcome.as_str()),
            was_skipped: SKIPPED.contains(&outcome.as_str()),
        });
    }

    fn open_failure(&mut self, source: &str, tag: Tag) {
        let Some(test) = &mut self.test else { return };
        let message = attribute(source, "message").unwrap_or_default();
        let first = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if test.failure.message.is_empty() {
            test.failure.message = bounded(first.trim(), MAX_MESSAGE);
        }
        test.has_failed = true;
        test.tags.push(tag);
        self.is_failure = true;
        self.text.clear();
    }

    fn close(&mut self, name: &str) {
        if FAILURES.contains(&name) {
            self.end_failure();
        }
        let Some(test) = self.test.take_if(|test| test.element == name) else { return };
        self.counts.total = Some(self.counts.total.unwrap_or(0) + 1);
        if !test.has_failed {
            self.counts.skipped += u64::from(test.was_skipped);
            return;
        }
        self.counts.failed += 1;
        let held: usize = test.tags.iter().map(|tag| tag.text.len()).sum();
        if self.failures.len() < MAX_FAILURES {
            self.kept += held;
            let tags = if self.kept <= MAX_KEPT { test.tags } else { Vec::new() };
            self.failures.push(XmlFailure { failure: test.failure, tags });
        }
    }

    /// Reads message and place from the text of a failure where its tag does not say.
    fn end_failure(&mut self) {
        self.is_failure = false;
        let text = unescaped(&String::from_utf8_lossy(&self.text));
        let Some(test) = &mut self.test else { return };
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        if test.failure.message.is_empty() {
            test.tags.extend(shown_text(&self.text, self.text_at));
            // PHPUnit repeats the name in the first line.
            let name = test.failure.id.rsplit(WITHIN).next().unwrap_or_default();
            let message = lines().find(|line| name.is_empty() || !line.contains(name));
            test.failure.message = bounded(message.unwrap_or_default(), MAX_MESSAGE);
        }
        if test.failure.place.is_empty() {
            test.failure.place =
                lines().find_map(place).map(|place| bounded(&place, MAX_ID)).unwrap_or_default();
        }
    }
}

/// Returns the beginning of the text of a failure as a preview shows it.
fn shown_text(text: &[u8], (at, line): (u64, u64)) -> Option<Tag> {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let shown = text.get(start..text.len().min(start + MAX_SHOWN))?.trim_ascii_end();
    // Without a part of a character at the end.
    let shown = match std::str::from_utf8(shown) {
        Err(error) if error.error_len().is_none() => shown.get(..error.valid_up_to())?,
        _ => shown,
    };
    let breaks = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
    let first = line + breaks(text.get(..start)?);
    let from = at + start as u64;
    Some(Tag {
        bytes: from..from + shown.len() as u64,
        lines: (first, first + breaks(shown)),
        text: shown.to_vec(),
    })
}
