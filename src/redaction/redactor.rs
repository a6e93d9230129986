//! Redacts secrets in an output before it is saved.
//!
//! Every byte of a secret becomes `*`, except line breaks, so that the saved output has the size, the lines and the
//! offsets of the original. Output of any size is scanned in overlapping windows at fixed offsets, so that the result
//! does not depend on how it is split into chunks.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input};
use regex::bytes::{Regex, RegexBuilder};

use super::secret_patterns;
use crate::util::regex_source::RegexSource;

/// Length in bytes up to which a match is guaranteed to be redacted. At least this much of a longer match is redacted
/// if a shorter part of it matches too; otherwise it is missed.
pub const MAX_MATCH_LENGTH: usize = 64 * 1024;
/// Number of bytes decided at a time.
const STEP: usize = 192 * 1024;
/// Number of bytes after a match that decide whether a word or line ends with it.
const LOOK_AHEAD: usize = 8;

/// Maximum length of a pattern in bytes.
const MAX_PATTERN_LENGTH: usize = 4096;
/// Maximum nesting of groups.
const NEST_LIMIT: u32 = 50;
/// Maximum size in bytes of a compiled pattern, and of the cache while searching.
const SIZE_LIMIT: usize = 2 << 20;
const CACHE_LIMIT: usize = 1 << 20;
/// Maximum number of patterns; each is a pass over the output.
pub const MAX_PATTERNS: usize = 100;
/// Maximum number of known values, and of their total bytes.
pub const MAX_VALUES: usize = 10_000;
const MAX_VALUE_BYTES: usize = 1 << 20;
/// Minimum length of a value in bytes: shorter ones would match everywhere.
pub const MIN_VALUE_LENGTH: usize = 4;

/// Replaces every byte of a secret.
const MASK: u8 = b'*';

/// The rules for secrets.
#[derive(Debug)]
pub struct Rules {
    expressions: Vec<Expression>,
    values: Option<Values>,
    known: bool,
}

/// A compiled expression, and the index of the group that is the secret if not all of a match is one.
#[derive(Debug)]
struct Expression {
    regex: Regex,
    secret: Option<usize>,
}

#[derive(Debug)]
struct Values {
    automaton: AhoCorasick,
    longest: usize,
}

/// A refused part of the rules: its path, such as `patterns.2`, and the problem.
pub type Refused = (String, String);

/// Name of the group that is the secret, where not all of a match is one.
const SECRET_GROUP: &str = "secret";

impl Expression {
    /// Compiles a pattern. The error states the problem.
    fn new(pattern: &RegexSource) -> Result<Self, String> {
        let length = pattern.source.len();
        if !(1..=MAX_PATTERN_LENGTH).contains(&length) {
            return Err(format!("expected 1 to {MAX_PATTERN_LENGTH} bytes, received {length}"));
        }
        let parsed = regex_syntax::ParserBuilder::new()
            .nest_limit(NEST_LIMIT)
            .case_insensitive(pattern.ignore_case)
            .multi_line(pattern.multi_line)
            .dot_matches_new_line(pattern.dot_all)
            .build()
            .parse(&pattern.source)
            .map_err(|error| match error {
                regex_syntax::Error::Parse(error) => {
                    format!("{} (at character {})", error.kind(), error.span().start.column)
                }
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                _ => "is not a regular expression".to_owned(),
            })?;
        if parsed.properties().minimum_len() == Some(0) {
            return Err("expected a pattern that matches at least one character, received one that matches an \
                        empty text"
                .to_owned());
        }
        let regex = RegexBuilder::new(&pattern.source)
            .nest_limit(NEST_LIMIT)
            .case_insensitive(pattern.ignore_case)
            .multi_line(pattern.multi_line)
            .dot_matches_new_line(pattern.dot_all)
            .size_limit(SIZE_LIMIT)
            .dfa_size_limit(CACHE_LIMIT)
            .build()
            .map_err(|_| {
                "is too large; use smaller counts or classes, such as [a-z] for \\w".to_owned()
            })?;
        let secret = regex.capture_names().position(|name| name == Some(SECRET_GROUP));
        Ok(Expression { regex, secret })
    }

    /// Returns the next match at or after `at`, and the part of it that is secret.
    fn find(&self, text: &[u8], at: usize) -> Option<(Stretch, Stretch)> {
        let whole =
            |found: regex::bytes::Match<'_>| Stretch { from: found.start(), to: found.end() };
        let all = whole(self.regex.find_at(text, at)?);
        let Some(group) = self.secret else { return Some((all, all)) };
        let groups = self.regex.captures_at(text, all.from);
        let secret = groups.and_then(|groups| groups.get(group)).map_or(all, whole);
        Some((all, secret))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    from: usize,
    to: usize,
}

impl Rules {
    /// Compiles a caller's rules. `known` adds the patterns of well-known secrets.
    pub fn new(patterns: &[RegexSource], values: &[String], known: bool) -> Result<Self, Refused> {
        // Checked before anything is compiled, which takes time and memory.
        for (list, count, max) in
            [("patterns", patterns.len(), MAX_PATTERNS), ("values", values.len(), MAX_VALUES)]
        {
            if count > max {
                return Err((
                    list.to_owned(),
                    format!("expected at most {max} entries, received {count}"),
                ));
            }
        }
        let at = |list: &str, index: usize| format!("{list}[{index}]");
        let expressions = patterns.iter().enumerate().map(|(index, pattern)| {
            Expression::new(pattern).map_err(|problem| (at("patterns", index), problem))
        });
        let expressions = expressions.collect::<Result<Vec<_>, _>>()?;
        for (index, value) in values.iter().enumerate() {
            // The message must not contain the value, because messages are logged.
            if !(MIN_VALUE_LENGTH..=MAX_MATCH_LENGTH).contains(&value.len()) {
                let length = value.len();
                let problem = format!(
                    "expected {MIN_VALUE_LENGTH} to {MAX_MATCH_LENGTH} bytes, received {length}"
                );
                return Err((at("values", index), problem));
            }
        }
        let bytes: usize = values.iter().map(String::len).sum();
        let too_large = || {
            let problem =
                format!("expected at most {MAX_VALUE_BYTES} bytes in all, received {bytes}");
            ("values".to_owned(), problem)
        };
        if bytes > MAX_VALUE_BYTES {
            return Err(too_large());
        }
        let longest = values.iter().map(String::len).max();
        let values = match longest {
            Some(longest) => {
                let automaton = AhoCorasick::new(values).map_err(|_| too_large())?;
                Some(Values { automaton, longest })
            }
            None => None,
        };
        Ok(Rules { expressions, values, known })
    }

    /// Returns true if the patterns of well-known secrets apply.
    pub fn knows(&self) -> bool {
        self.known
    }

    /// Returns true if the rules cannot match anything.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.values.is_none() && !self.known
    }
}

/// Redacts one output.
#[derive(Debug, Clone)]
pub struct Redactor {
    rules: Vec<Arc<Rules>>,
    buffer: Vec<u8>,
    /// Offset in the buffer up to which secrets are decided and bytes passed on; those before it are only kept as
    /// context.
    done: usize,
    /// Offset at which each expression is searched next.
    next: Vec<usize>,
    /// Secrets that begin at `done` or later.
    found: Vec<Stretch>,
    /// The last secret that was counted, which may extend beyond `done`.
    last: Stretch,
    count: u64,
    /// A table with a column of secrets that continues after `done`.
    table: Option<secret_patterns::Table>,
    masked: Vec<u8>,
    step: usize,
    longest: usize,
}

impl Default for Redactor {
    fn default() -> Self {
        Redactor::with_window(STEP, MAX_MATCH_LENGTH)
    }
}

impl Redactor {
    /// Adds rules. Must be called before the first byte.
    pub fn add(&mut self, rules: Arc<Rules>) {
        self.next.extend(rules.expressions.iter().map(|_| 0));
        self.rules.push(rules);
    }

    fn with_window(step: usize, longest: usize) -> Self {
        Redactor {
            rules: Vec::new(),
            buffer: Vec::new(),
            done: 0,
            next: Vec::new(),
            found: Vec::new(),
            last: Stretch { from: 0, to: 0 },
            count: 0,
            table: None,
            masked: Vec::new(),
            step,
            longest,
        }
    }

    /// Returns the number of secrets redacted so far; overlapping ones count as one.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next bytes, and passes on those that are decided.
    pub fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let full = self.done + self.step + self.longest + LOOK_AHEAD;
            let (fresh, later) = bytes.split_at(bytes.len().min(full - self.buffer.len()));
            self.buffer.extend_from_slice(fresh);
            if self.buffer.len() < full {
                return Ok(());
            }
            self.decide(self.done + self.step, &mut write)?;
            bytes = later;
        }
    }

    /// Ends the output, and passes on the rest.
    pub fn finish<E>(&mut self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.decide(self.buffer.len(), &mut write)
    }

    /// Returns the bytes not passed on yet as they would be if the output ended after `bytes`.
    pub fn rest(&self, bytes: &[u8]) -> Vec<u8> {
        let mut rest = Vec::new();
        let mut ended = self.clone();
        let mut write = |bytes: &[u8]| {
            rest.extend_from_slice(bytes);
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = ended.push(bytes, &mut write);
        let Ok(()) = ended.finish(&mut write);
        rest
    }

    /// Finds every secret that begins before `end`, and passes on the bytes up to there.
    fn decide<E>(
        &mut self,
        end: usize,
        write: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.search(end);
        self.found.sort_unstable();
        let decided = self.found.partition_point(|stretch| stretch.from < end);
        let mut secrets = vec![self.last];
        for stretch in self.found.drain(..decided) {
            match secrets.last_mut().filter(|last| stretch.from < last.to) {
                Some(last) => last.to = last.to.max(stretch.to),
                None => {
                    self.count += 1;
                    secrets.push(stretch);
                }
            }
        }
        self.last = secrets.last().copied().unwrap_or(self.last);
        let clear = self.buffer.get(self.done..end).unwrap_or_default();
        if secrets.iter().all(|secret| secret.to <= self.done) {
            write(clear)?;
        } else {
            self.masked.clear();
            self.masked.extend_from_slice(clear);
            for Stretch { from, to } in secrets {
                let from = from.max(self.done) - self.done;
                let to = to.clamp(self.done, end) - self.done;
                for byte in self.masked.get_mut(from..to).unwrap_or_default() {
                    if !matches!(byte, b'\n' | b'\r') {
                        *byte = MASK;
                    }
                }
            }
            write(&self.masked)?;
        }
        self.forget(end);
        Ok(())
    }

    /// Drops bytes that were passed on and are not needed as context.
    fn forget(&mut self, end: usize) {
        let dropped = end.saturating_sub(secret_patterns::LOOK_BEHIND);
        self.buffer.drain(..dropped);
        self.done = end - dropped;
        let shift = |at: &mut usize| *at = at.saturating_sub(dropped);
        self.next.iter_mut().for_each(shift);
        self.table.iter_mut().for_each(|table| shift(&mut table.at));
        for stretch in self.found.iter_mut().chain([&mut self.last]) {
            shift(&mut stretch.from);
            shift(&mut stretch.to);
        }
    }

    fn search(&mut self, end: usize) {
        let Redactor { rules, buffer, done, next, found, table, .. } = self;
        let expressions = rules.iter().flat_map(|rules| &rules.expressions);
        for (expression, next) in expressions.zip(next) {
            while *next < end {
                let Some((all, secret)) = expression.find(buffer, *next) else { break };
                if all.from >= end {
                    break;
                }
                if secret.from < secret.to {
                    found.push(secret);
                }
                *next = all.to;
            }
            *next = end.max(*next);
        }
        if rules.iter().any(|rules| rules.known) {
            secret_patterns::search(buffer, *done..end, table, &mut |secret| {
                found.push(Stretch { from: secret.start, to: secret.end });
            });
        }
        for Values { automaton, longest } in rules.iter().filter_map(|rules| rules.values.as_ref())
        {
            // Every offset is tried, so that no part of two overlapping values is left.
            let range = *done..buffer.len().min(end + longest - 1);
            for value in automaton.find_overlapping_iter(Input::new(buffer).range(range)) {
                let (from, to) = (value.start(), value.end());
                match found.last_mut().filter(|last| from < last.to && last.from < to) {
                    _ if from >= end => {}
                    Some(last) => {
                        *last = Stretch { from: from.min(last.from), to: to.max(last.to) }
                    }
                    None => found.push(Stretch { from, to }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
