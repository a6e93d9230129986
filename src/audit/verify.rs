//! Verifies a log, line by line.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Map, Value};

use super::log::{acquire, current, part, parts, split};
use super::record::{MAX_LINE_LENGTH, NO_HASH, Sealer};
use crate::error::{Code, Error, Result, os_reason};
use crate::fs::folder::Folder;
use crate::fs::symlink_policy::SymlinkPolicy;
use crate::json::canonical::canonical;

/// Time budget of one step.
const STEP: Duration = Duration::from_millis(20);

/// A record that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bad {
    pub file: String,
    /// Line number, from 1.
    pub line: u64,
    /// Offset of the line in bytes.
    pub offset: u64,
    /// The mismatch in words.
    pub reason: String,
    /// The writer, if the record can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// Position in the writer's chain, if the record can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// An incomplete last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Torn {
    pub file: String,
    /// Line number, from 1.
    pub line: u64,
    /// Offset of the line in bytes.
    pub offset: u64,
    /// Length of the incomplete line.
    pub bytes: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// True if every record is as it was written.
    pub ok: bool,
    /// Number of records before the first bad one.
    pub records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad: Option<Bad>,
    /// The incomplete last line, which the next writer moves aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// Hash of the last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Number of writers.
    pub writers: u64,
    /// Number of events that the log reports as lost.
    pub dropped: u64,
    /// Names of the files in order.
    pub files: Vec<String>,
}

/// A verification in progress.
#[derive(Debug)]
pub struct Verifier {
    sealer: Sealer,
    waiting: VecDeque<(PathBuf, Source)>,
    now: Option<Reading>,
    /// Sequence number and hash of the last record of each writer.
    chains: HashMap<String, (u64, String)>,
    after: Option<String>,
    /// True if the first file is not the first of the log, so that what preceded it is unknown.
    begins_late: bool,
    heads: BTreeSet<String>,
    report: VerifyReport,
}

/// The bytes of a file. The current file is opened under the lock, because it may be renamed.
#[derive(Debug)]
enum Source {
    Open(File),
    Part(u64),
}

#[derive(Debug)]
struct Reading {
    path: PathBuf,
    reader: BufReader<File>,
    line: u64,
    offset: u64,
    is_last: bool,
}

impl Verifier {
    /// Opens a log by the path of its current file; earlier files are read first. A copy, or an earlier file, is read
    /// by itself. `heads` are hashes that must occur in it.
    pub fn open(path: &Path, sealer: Sealer, heads: BTreeSet<String>) -> Result<Self> {
        let (waiting, begins_late) = sources(path).map_err(|error| read_error(path, &error))?;
        let report = VerifyReport {
            files: waiting.iter().map(|(path, _)| path.display().to_string()).collect(),
            ..VerifyReport::default()
        };
        let (chains, now, after) = (HashMap::new(), None, None);
        Ok(Verifier { sealer, waiting, now, chains, after, begins_late, heads, report })
    }

    /// Continues for one step. Returns the report with the last one.
    pub fn step(&mut self) -> Result<Option<VerifyReport>> {
        let began = Instant::now();
        let mut line = Vec::new();
        loop {
            let Some(mut now) = self.next_file()? else { return Ok(Some(self.finish())) };
            while began.elapsed() < STEP {
                line.clear();
                let read = read_line(&mut now.reader, &mut line)
                    .map_err(|error| read_error(&now.path, &error))?;
                if read == 0 {
                    break;
                }
                now.line += 1;
                if let Err((reason, record)) = self.take(&now, &line) {
                    self.report.first_bad = Some(bad(&now, reason, record.as_ref()));
                    return Ok(Some(self.finish()));
                }
                now.offset += read;
            }
            if began.elapsed() >= STEP {
                self.now = Some(now);
                return Ok(None);
            }
        }
    }

    fn next_file(&mut self) -> Result<Option<Reading>> {
        if let Some(now) = self.now.take() {
            return Ok(Some(now));
        }
        let Some((path, source)) = self.waiting.pop_front() else { return Ok(None) };
        let file = match source {
            Source::Open(file) => file,
            Source::Part(number) => {
                let Some((dir, stem)) = split(&path).and_then(|(dir, name)| {
                    Some((dir, name.strip_suffix(&format!(".{number:06}"))?))
                }) else {
                    return Err(read_error(&path, &io::ErrorKind::InvalidInput.into()));
                };
                let opened = Folder::open(dir, SymlinkPolicy::TrustedOwners)
                    .and_then(|folder| folder.read(&part(stem, number)));
                opened.map_err(|error| read_error(&path, &error))?
            }
        };
        let is_last = self.waiting.is_empty();
        Ok(Some(Reading {
            path,
            reader: BufReader::with_capacity(1 << 16, file),
            line: 0,
            offset: 0,
            is_last,
        }))
    }

    /// Checks one line; only the last one may lack its line feed.
    fn take(
        &mut self,
        now: &Reading,
        line: &[u8],
    ) -> std::result::Result<(), (String, Option<Map<String, Value>>)> {
        let refuse = |reason: &str| Err((reason.to_owned(), None));
        let Some(text) = line.strip_suffix(b"\n") else {
            return self.take_unended(now, line);
        };
        if text.len() > MAX_LINE_LENGTH {
            return refuse("is longer than any record");
        }
        let Ok(Value::Object(record)) = serde_json::from_slice(text) else {
            return refuse("is not a record");
        };
        if canonical(&Value::Object(record.clone())).as_bytes() != text {
            return Err(("is not written as a log writes it".to_owned(), Some(record)));
        }
        self.follow(&record).map_err(|reason| (reason, Some(record)))
    }

    /// Checks the last line, which may be incomplete.
    fn take_unended(
        &mut self,
        now: &Reading,
        line: &[u8],
    ) -> std::result::Result<(), (String, Option<Map<String, Value>>)> {
        let torn = || Torn {
            file: now.path.display().to_string(),
            line: now.line,
            offset: now.offset,
            bytes: line.len() as u64,
        };
        if !now.is_last {
            return Err(("has no end".to_owned(), None));
        }
        match serde_json::from_slice::<Value>(line) {
            Err(error) if error.is_eof() && line.len() <= MAX_LINE_LENGTH => {
                self.report.torn = Some(torn());
                Ok(())
            }
            Ok(Value::Object(record))
                if canonical(&Value::Object(record.clone())).as_bytes() == line =>
            {
                self.follow(&record).map_err(|reason| (reason, Some(record)))?;
                self.report.torn = Some(Torn { bytes: 0, ..torn() });
                Ok(())
            }
            _ => Err(("is not a record".to_owned(), None)),
        }
    }

    /// Checks that a record follows on its predecessors.
    fn follow(&mut self, record: &Map<String, Value>) -> std::result::Result<(), String> {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let (hash, writer, prev, after) =
            (text("hash"), text("writer"), text("prev"), text("after"));
        let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
        let mut rest = record.clone();
        rest.remove("hash");
        if self.sealer.hash(&rest) != hash {
            return Err("its hash is another: it was changed, or the key is another".to_owned());
        }
        let before = self.after.as_deref().or((!self.begins_late).then_some(NO_HASH));
        if before.is_some_and(|before| before != after) {
            return Err(
                "it does not follow the record before it: one is missing, was put in, or was moved"
                    .to_owned(),
            );
        }
        match self.chains.get(writer) {
            Some((last, head)) if seq != last + 1 || prev != head => {
                return Err(format!("it does not follow record {last} of its writer"));
            }
            None if !self.begins_late && (seq != 1 || prev != NO_HASH) => {
                return Err("the records of its writer before it are missing".to_owned());
            }
            _ => {}
        }
        self.chains.insert(writer.to_owned(), (seq, hash.to_owned()));
        self.after = Some(hash.to_owned());
        self.heads.remove(hash);
        self.report.records += 1;
        if text("type") == "audit.dropped" {
            self.report.dropped += record.get("events").and_then(Value::as_u64).unwrap_or(0);
        }
        Ok(())
    }

    fn finish(&mut self) -> VerifyReport {
        let mut report = std::mem::take(&mut self.report);
        if report.first_bad.is_none() && !self.heads.is_empty() {
            report.first_bad = Some(Bad {
                file: report.files.last().cloned().unwrap_or_default(),
                line: report.records + 1,
                offset: 0,
                reason: "the record with the kept hash is not there: the end was cut off"
                    .to_owned(),
                writer: None,
                seq: None,
            });
        }
        report.ok = report.first_bad.is_none();
        report.head = self.after.clone();
        report.writers = self.chains.len() as u64;
        report
    }
}

type Sources = (VecDeque<(PathBuf, Source)>, bool);

fn sources(path: &Path) -> io::Result<Sources> {
    let not_a_log =
        || io::Error::new(io::ErrorKind::InvalidInput, "the name of a log ends in .jsonl");
    let (dir, stem) = split(path).ok_or_else(not_a_log)?;
    let folder = Folder::open(dir, SymlinkPolicy::TrustedOwners)?;
    // No file is renamed while the lock is held; it is released on drop. Reading works without it too.
    let lock = folder.existing_lock_file(&format!("{stem}.lock"));
    let lock = lock.ok().flatten().filter(|lock| acquire(lock).is_ok());
    let numbers = parts(&folder, stem)?;
    let begins_late = numbers.first().is_some_and(|first| *first != 1) || is_part(stem);
    let mut sources: VecDeque<(PathBuf, Source)> = numbers
        .iter()
        .map(|number| (dir.join(part(stem, *number)), Source::Part(*number)))
        .collect();
    match folder.read(&current(stem)) {
        Ok(file) => sources.push_back((path.to_owned(), Source::Open(file))),
        // A process ended between closing a file and beginning the next.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !sources.is_empty() => {}
        Err(error) => return Err(error),
    }
    drop(lock);
    Ok((sources, begins_late))
}

/// Returns true for the name of an earlier file, which says nothing about what preceded it.
fn is_part(stem: &str) -> bool {
    stem.rsplit_once('.').is_some_and(|(_, digits)| {
        digits.len() >= 6 && digits != "000001" && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Reads a line with its line feed. A line longer than any record is read only so far that its excess shows.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut bounded = io::Read::take(reader, MAX_LINE_LENGTH as u64 + 2);
    bounded.read_until(b'\n', line).map(|read| read as u64)
}

fn bad(now: &Reading, reason: String, record: Option<&Map<String, Value>>) -> Bad {
    let of = |name: &str| record.and_then(|record| record.get(name));
    Bad {
        file: now.path.display().to_string(),
        line: now.line,
        offset: now.offset,
        reason,
        writer: of("writer").and_then(Value::as_str).map(str::to_owned),
        seq: of("seq").and_then(Value::as_u64),
    }
}

fn read_error(path: &Path, error: &io::Error) -> Error {
    let code = if error.kind() == io::ErrorKind::NotFound {
        Code::StorageNotFound
    } else {
        Code::StorageRead
    };
    Error::field(
        code,
        "file",
        format!("{} could not be read: {}", path.display(), os_reason(error)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::log::{Log, Options};
    use proptest::prelude::*;
    use serde_json::json;
    use std::fs;

    fn options(dir: &Path, max_file_bytes: u64) -> Options {
        Options {
            dir: dir.to_owned(),
            session: "s".to_owned(),
            stem: "s-0".to_owned(),
            sealer: Sealer::default(),
            max_file_bytes,
            redact: None,
            sync: false,
        }
    }

    fn event(number: usize, bytes: usize) -> Map<String, Value> {
        json!({ "n": number, "note": "x".repeat(bytes) }).as_object().cloned().unwrap_or_default()
    }

    fn verify(path: &Path) -> VerifyReport {
        let mut verifier = Verifier::open(path, Sealer::default(), BTreeSet::new()).unwrap();
        loop {
            if let Some(report) = verifier.step().unwrap() {
                return report;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn writers_in_any_order_make_one_log(
            turns in prop::collection::vec((0usize..4, 1usize..4, 0usize..300), 1..40),
            max_file_bytes in 500u64..5000,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut logs: Vec<Log> = (0..4).map(|_| Log::new(options(dir.path(), max_file_bytes)).unwrap()).collect();
            let mut count = 0;
            for (writer, events, bytes) in turns {
                let events = (0..events).map(|n| event(n, bytes)).collect::<Vec<_>>();
                count += events.len() as u64;
                logs[writer].append(events, 1).unwrap();
            }
            let report = verify(&logs[0].path());
            prop_assert!(report.ok, "{report:?}");
            prop_assert_eq!(report.records, count);
        }

        #[test]
        fn an_end_that_is_cut_anywhere_is_repaired(records in 1usize..8, cut in 0usize..3000) {
            let dir = tempfile::tempdir().unwrap();
            let mut log = Log::new(options(dir.path(), 1 << 20)).unwrap();
            let path = log.path();
            for n in 0..records {
                log.append(vec![event(n, 10)], 1).unwrap();
            }
            let whole = fs::read(&path).unwrap();
            let left = &whole[..whole.len().saturating_sub(cut)];
            fs::write(&path, left).unwrap();
            // Complete lines in the text, with or without a line feed.
            let lines = left.split(|byte| *byte == b'\n').filter(|line| line.ends_with(b"}")).count() as u64;
            let torn = left.rsplit(|byte| *byte == b'\n').next().is_some_and(|last| !last.is_empty() && !last.ends_with(b"}"));
            let report = verify(&path);
            prop_assert!(report.ok, "{report:?}");
            prop_assert_eq!((report.records, report.torn.is_some_and(|torn| torn.bytes > 0)), (lines, torn));

            let mut other = Log::new(options(dir.path(), 1 << 20)).unwrap();
            other.append(vec![event(99, 0)], 1).unwrap();
            let report = verify(&path);
            prop_assert!(report.ok && report.torn.is_none(), "{report:?}");
            prop_assert_eq!(report.records, lines + 1 + u64::from(torn));
        }
    }

    #[test]
    fn a_torn_end_of_any_length_is_put_aside() {
        for torn in [
            vec![0; 10],
            vec![0; MAX_LINE_LENGTH],
            vec![0; MAX_LINE_LENGTH + 1],
            vec![0; 3 * MAX_LINE_LENGTH],
            [b"{\"a\":".as_slice(), &[0; 70_000]].concat(),
        ] {
            for records in 0..2 {
                let dir = tempfile::tempdir().unwrap();
                let mut log = Log::new(options(dir.path(), 1 << 20)).unwrap();
                for n in 0..records {
                    log.append(vec![event(n, 10)], 1).unwrap();
                }
                let mut content = fs::read(log.path()).unwrap_or_default();
                content.extend(&torn);
                fs::write(log.path(), content).unwrap();
                log.append(vec![event(9, 0)], 1).unwrap();
                let report = verify(&log.path());
                assert!(report.ok && report.torn.is_none(), "{report:?}");
                assert_eq!(report.records, records as u64 + 2);
                let aside = fs::read(dir.path().join("s-0.torn")).unwrap();
                assert!(aside.strip_suffix(b"\n") == Some(&torn[..]));
            }
        }
    }

    #[test]
    fn a_batch_that_fails_leaves_nothing_and_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::new(options(&dir.path().join("logs"), 1 << 20)).unwrap();
        fs::write(dir.path().join("logs"), "in the way").unwrap();
        assert_eq!(
            log.append(vec![event(1, 1), event(2, 1)], 1).unwrap_err().code,
            Code::StorageWrite
        );
        assert_eq!(log.dropped(), 2);
        fs::remove_file(dir.path().join("logs")).unwrap();
        let receipts = log.append(vec![event(3, 1)], 1).unwrap();
        assert_eq!((receipts.len(), receipts[0].seq, log.dropped()), (1, 2, 0));
        assert_eq!(verify(&log.path()).dropped, 2);
    }
}
