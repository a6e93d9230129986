//! Appends records to the file of a session.
//!
//! Writers take turns by a lock file. While a writer holds the lock, it checks the end of the file, moves aside an
//! incomplete line that another process left, and writes all lines of a batch with one write. If the write fails, the
//! file is truncated to its previous length.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::record::{MAX_LINE_LENGTH, NO_HASH, RESERVED, Sealer, VERSION, bound};
use super::redact::redact;
use crate::error::{Code, Error, Result, os_reason};
use crate::fs::file_names;
use crate::fs::folder::Folder;
use crate::fs::symlink_policy::SymlinkPolicy;
use crate::redaction::redactor::Rules;
use crate::util::sort::sort_by_key;

/// Maximum time that a batch waits for the lock, which each writer holds for one write.
const MAX_WAIT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const MAX_PAUSE: Duration = Duration::from_millis(5);

/// Settings of a log.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of all logs.
    pub dir: PathBuf,
    /// The session as its records name it.
    pub session: String,
    /// The session's part of the file names: see [`file_names::session`].
    pub stem: String,
    pub sealer: Sealer,
    /// Size at which a file is closed and the next one begun, in bytes.
    pub max_file_bytes: u64,
    /// The rules for secrets; `None` redacts nothing.
    pub redact: Option<Arc<Rules>>,
    /// Calls fsync after every batch.
    pub sync: bool,
}

/// Confirms that an event was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub event_id: String,
    /// Identifier of the writer.
    pub writer: String,
    /// Position in the writer's chain, from 1.
    pub seq: u64,
    /// Hash of the record.
    pub hash: String,
}

/// The writer of one session in one process.
#[derive(Debug)]
pub struct Log {
    options: Options,
    open: Option<Open>,
    writer: String,
    seq: u64,
    prev: String,
    /// Number of events lost since the last record that was written.
    dropped: u64,
}

#[derive(Debug)]
struct Open {
    folder: Folder,
    lock: File,
    file: File,
    /// Length of the file and hash of its last record, as this writer left them.
    left: Option<(u64, String)>,
}

/// The state of the end of a file.
struct End {
    length: u64,
    hash: String,
    /// Number of bytes moved aside.
    torn: u64,
}

impl Log {
    /// Creates a writer with a chain of its own. Nothing is written before the first record.
    pub fn new(options: Options) -> Result<Self> {
        let writer = file_names::random()?;
        let prev = NO_HASH.to_owned();
        Ok(Log { options, open: None, writer, seq: 0, prev, dropped: 0 })
    }

    /// Returns the path of the file that records are appended to.
    pub fn path(&self) -> PathBuf {
        self.options.dir.join(current(&self.options.stem))
    }

    /// Counts events that were lost before they reached the log.
    pub fn drop_events(&mut self, count: u64) {
        self.dropped += count;
    }

    /// Returns the number of lost events that no record reports yet.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes all events or none, and returns a receipt for each. Events that fail are counted as lost.
    pub fn append(&mut self, events: Vec<Map<String, Value>>, now_ms: u64) -> Result<Vec<Receipt>> {
        let count = events.len() as u64;
        self.write(events, now_ms).map_err(|error| {
            self.dropped += count;
            // The state of the file is unknown: the next batch opens it again.
            self.open = None;
            Error::new(
                Code::StorageWrite,
                format!(
                    "the audit log {} could not be written: {}",
                    self.path().display(),
                    os_reason(&error)
                ),
            )
        })
    }

    fn write(&mut self, events: Vec<Map<String, Value>>, now_ms: u64) -> io::Result<Vec<Receipt>> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        acquire(&open.lock)?;
        let written = self.write_locked(&mut open, events, now_ms);
        // Closing the file releases the lock too, should this fail.
        let unlocked = open.lock.unlock();
        if written.is_ok() && unlocked.is_ok() {
            self.open = Some(open);
        }
        written
    }

    fn open(&self) -> io::Result<Open> {
        let (folder, _) = Folder::open_or_make(&self.options.dir, SymlinkPolicy::TrustedOwners)?;
        let lock = folder.lock_file(&format!("{}.lock", self.options.stem))?;
        let file = folder.lock_file(&current(&self.options.stem))?;
        Ok(Open { folder, lock, file, left: None })
    }

    fn write_locked(
        &mut self,
        open: &mut Open,
        events: Vec<Map<String, Value>>,
        now_ms: u64,
    ) -> io::Result<Vec<Receipt>> {
        let name = current(&self.options.stem);
        if !open.folder.has(&name, &open.file) {
            // Another process began the next file.
            open.file = open.folder.lock_file(&name)?;
            open.left = None;
        }
        let mut end = self.end(open)?;
        if end.length > 0 && end.length >= self.options.max_file_bytes {
            self.begin_next(open, &name)?;
            end.length = 0;
        }
        let mut chain =
            Chain { seq: self.seq, prev: self.prev.clone(), after: end.hash, lines: String::new() };
        for (what, number) in [("audit.repaired", end.torn), ("audit.dropped", self.dropped)] {
            if number > 0 {
                let key = if what == "audit.repaired" { "bytes" } else { "events" };
                let note = json!({ "type": what, key: number });
                self.add(&mut chain, note.as_object().cloned().unwrap_or_default(), now_ms);
            }
        }
        let receipts =
            events.into_iter().map(|event| self.add(&mut chain, event, now_ms)).collect();
        self.put(open, &chain, end.length)?;
        (self.seq, self.prev, self.dropped) = (chain.seq, chain.prev, 0);
        open.left = Some((end.length + chain.lines.len() as u64, chain.after));
        Ok(receipts)
    }

    fn add(&self, chain: &mut Chain, mut event: Map<String, Value>, now_ms: u64) -> Receipt {
        for name in RESERVED {
            event.remove(name);
        }
        if let Some(rules) = &self.options.redact {
            let mut value = Value::Object(event);
            redact(&mut value, rules);
            event = match value {
                Value::Object(event) => event,
                _ => Map::new(),
            };
        }
        bound(&mut event);
        chain.seq += 1;
        let event_id = match event.get("eventId") {
            Some(Value::String(id)) => id.clone(),
            _ => format!("{}-{}", self.writer, chain.seq),
        };
        if !event.get("timestamp").is_some_and(Value::is_number) {
            event.insert("timestamp".to_owned(), now_ms.into());
        }
        let own = [
            ("v", VERSION.into()),
            ("eventId", event_id.clone().into()),
            ("sessionId", shortened(&self.options.session).into()),
            ("writer", self.writer.clone().into()),
            ("seq", chain.seq.into()),
            ("prev", chain.prev.clone().into()),
            ("after", chain.after.clone().into()),
        ];
        event.extend(own.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
        let (line, hash) = self.options.sealer.line(event);
        chain.lines.push_str(&line);
        chain.prev.clone_from(&hash);
        chain.after.clone_from(&hash);
        Receipt { event_id, writer: self.writer.clone(), seq: chain.seq, hash }
    }

    /// Appends the lines, completely or not at all.
    fn put(&self, open: &Open, chain: &Chain, length: u64) -> io::Result<()> {
        let put = || {
            write_at_end(&open.file, chain.lines.as_bytes(), length)?;
            if self.options.sync { open.file.sync_data() } else { Ok(()) }
        };
        put().inspect_err(|_| {
            // If truncating fails as well, the next batch finds an incomplete line and moves it aside.
            let _ = open.file.set_len(length);
        })
    }

    /// Checks the end of the file and repairs it.
    fn end(&self, open: &Open) -> io::Result<End> {
        let length = open.file.metadata()?.len();
        if let Some((left, hash)) = open.left.as_ref().filter(|(left, _)| *left == length) {
            return Ok(End { length: *left, hash: hash.clone(), torn: 0 });
        }
        if length == 0 {
            return Ok(End { length, hash: self.hash_of_last_part(open)?, torn: 0 });
        }
        let complete = after_last_line_feed(&open.file, length)?;
        let torn = length - complete;
        let hash_before = || match complete {
            0 => self.hash_of_last_part(open),
            _ => Ok(last_hash(&tail(&open.file, complete)?)),
        };
        if torn == 0 {
            return Ok(End { length, hash: hash_before()?, torn });
        }
        // Only the line feed is missing: the record is complete, so it stays.
        if torn <= MAX_LINE_LENGTH as u64
            && let Some(hash) = own_hash(&piece(&open.file, complete, torn)?, &self.options.sealer)
        {
            write_at_end(&open.file, b"\n", length)?;
            return Ok(End { length: length + 1, hash, torn: 0 });
        }
        let mut aside = open.folder.lock_file(&format!("{}.torn", self.options.stem))?;
        io::Seek::seek(&mut aside, io::SeekFrom::End(0))?;
        let mut torn_bytes = &open.file;
        io::Seek::seek(&mut torn_bytes, io::SeekFrom::Start(complete))?;
        io::copy(&mut io::Read::take(torn_bytes, torn), &mut aside)?;
        aside.write_all(b"\n")?;
        open.file.set_len(complete)?;
        Ok(End { length: complete, hash: hash_before()?, torn })
    }

    fn begin_next(&self, open: &mut Open, name: &str) -> io::Result<()> {
        let parts = parts(&open.folder, &self.options.stem)?;
        let number = parts.last().map_or(1, |number| number + 1);
        open.folder.rename(name, &part(&self.options.stem, number))?;
        open.file = open.folder.lock_file(name)?;
        Ok(())
    }

    fn hash_of_last_part(&self, open: &Open) -> io::Result<String> {
        let Some(number) = parts(&open.folder, &self.options.stem)?.pop() else {
            return Ok(NO_HASH.to_owned());
        };
        let file = open.folder.read(&part(&self.options.stem, number))?;
        let length = file.metadata()?.len();
        Ok(last_hash(&tail(&file, length)?))
    }
}

struct Chain {
    seq: u64,
    prev: String,
    after: String,
    lines: String,
}

/// Returns the name of the file that records are appended to.
pub fn current(stem: &str) -> String {
    format!("{stem}.jsonl")
}

/// Returns the name of an earlier file.
pub fn part(stem: &str, number: u64) -> String {
    format!("{stem}.{number:06}.jsonl")
}

/// Returns the numbers of the earlier files in ascending order.
pub fn parts(folder: &Folder, stem: &str) -> io::Result<Vec<u64>> {
    let number = |name: String| -> Option<u64> {
        let digits = name.strip_prefix(stem)?.strip_prefix('.')?.strip_suffix(".jsonl")?;
        (digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    };
    let mut numbers: Vec<u64> = folder.names()?.into_iter().filter_map(number).collect();
    sort_by_key(&mut numbers, |number| *number);
    Ok(numbers)
}

/// Waits for a lock for a bounded time.
pub(super) fn acquire(lock: &File) -> io::Result<()> {
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(std::fs::TryLockError::WouldBlock) if began.elapsed() < MAX_WAIT => {
                sleep(pause);
                pause = (pause * 2).min(MAX_PAUSE);
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds the lock",
                ));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Reads enough of the end of the file for one record and the line feed before it.
fn tail(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let bytes = length.min(MAX_LINE_LENGTH as u64 + 1);
    piece(file, length - bytes, bytes)
}

fn piece(file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut reader = file;
    io::Seek::seek(&mut reader, io::SeekFrom::Start(from))?;
    let mut piece = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(reader, bytes), &mut piece)?;
    Ok(piece)
}

/// Returns the offset after the last line feed. More bytes than a record has may follow it: a power failure can leave a
/// file with as many zeros as the file system had reserved.
fn after_last_line_feed(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let from = end.saturating_sub(MAX_LINE_LENGTH as u64);
        let block = piece(file, from, end - from)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

fn write_at_end(file: &File, bytes: &[u8], length: u64) -> io::Result<()> {
    let mut writer = file;
    io::Seek::seek(&mut writer, io::SeekFrom::Start(length))?;
    writer.write_all(bytes)
}

/// Returns the hash that the last line contains, which the next record refers to. A line that is not a record has none,
/// which verification reports.
fn last_hash(tail: &[u8]) -> String {
    let line = tail.strip_suffix(b"\n").unwrap_or(tail);
    let from = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let record: Option<Value> = serde_json::from_slice(&line[from..]).ok();
    let hash = record.as_ref().and_then(|record| record.get("hash")).and_then(Value::as_str);
    hash.unwrap_or(NO_HASH).to_owned()
}

/// Returns the hash of a complete record that lacks its line feed.
fn own_hash(line: &[u8], sealer: &Sealer) -> Option<String> {
    let Value::Object(mut record) = serde_json::from_slice(line).ok()? else { return None };
    let hash = record.remove("hash")?.as_str()?.to_owned();
    (sealer.hash(&record) == hash).then_some(hash)
}

/// Truncates a session's name for a record. File names keep long ones distinct.
fn shortened(session: &str) -> &str {
    const MAX_LENGTH: usize = 256;
    &session[..session.floor_char_boundary(MAX_LENGTH)]
}

/// Splits the path of a log's current file into its directory and the session's part of the name.
pub fn split(path: &Path) -> Option<(&Path, &str)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((dir, stem))
}
