//! How records get into the file of a session.
//!
//! A lock file says whose turn it is. Under it the end of the file is looked at, so that what another process left torn is
//! put aside before anything follows it; then all lines of a batch go out in one write. If that fails, the file is cut back
//! to where it was.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::record::{LONGEST_LINE, NO_HASH, RESERVED, Sealer, VERSION, bound};
use super::redact::redact;
use crate::error::{Code, Error, Result, os_reason};
use crate::storage::file_names;
use crate::storage::folder::Folder;
use crate::storage::redact::Rules;
use crate::storage::symlink_policy::Links;
use crate::util::sort::sort_by_key;

/// How long a batch waits for another process. Whoever holds the lock holds it for one write.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What a log goes by.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of all logs.
    pub dir: PathBuf,
    /// The session, as the records name it.
    pub session: String,
    /// The session's part of the file names: see [`file_names::session`].
    pub stem: String,
    /// Makes the hashes.
    pub sealer: Sealer,
    /// Bytes of a file; then another begins.
    pub max_file_bytes: u64,
    /// What counts as a secret.
    pub redact: Option<Arc<Rules>>,
    /// Every batch waits until the disk has it.
    pub sync: bool,
}

/// What was written of one event.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The id of the event.
    pub event_id: String,
    /// Who wrote it.
    pub writer: String,
    /// The place in the writer's chain, from 1.
    pub seq: u64,
    /// The hash of the record.
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
    /// Events that could not be written since the last that was.
    dropped: u64,
}

#[derive(Debug)]
struct Open {
    folder: Folder,
    lock: File,
    file: File,
    /// The file as this writer left it: its length and the hash of its last record.
    left: Option<(u64, String)>,
}

/// The end of the file.
struct End {
    length: u64,
    hash: String,
    /// Bytes that were put aside.
    torn: u64,
}

impl Log {
    /// A writer with a chain of its own. The disk is not touched before the first record.
    pub fn new(options: Options) -> Result<Self> {
        let writer = file_names::random()?;
        let prev = NO_HASH.to_owned();
        Ok(Log { options, open: None, writer, seq: 0, prev, dropped: 0 })
    }

    /// The file that records go to.
    pub fn path(&self) -> PathBuf {
        self.options.dir.join(current(&self.options.stem))
    }

    /// Counts events that were lost before they came here.
    pub fn drop_events(&mut self, count: u64) {
        self.dropped += count;
    }

    /// Events that could not be written, and of which the log does not tell yet.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes events, all or none of them, and answers for each. Each is a JSON object. What fails is counted as dropped.
    pub fn append(&mut self, events: Vec<Map<String, Value>>, now_ms: u64) -> Result<Vec<Receipt>> {
        let count = events.len() as u64;
        self.write(events, now_ms).map_err(|error| {
            self.dropped += count;
            // Whatever it was, the next batch looks anew.
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
        // Closing the file gives the lock back as well, if this fails.
        let unlocked = open.lock.unlock();
        if written.is_ok() && unlocked.is_ok() {
            self.open = Some(open);
        }
        written
    }

    fn open(&self) -> io::Result<Open> {
        let (folder, _) = Folder::open_or_make(&self.options.dir, Links::Trusted)?;
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

    /// Puts the lines at the end of the file, whole or not at all.
    fn put(&self, open: &Open, chain: &Chain, length: u64) -> io::Result<()> {
        let put = || {
            write_at_end(&open.file, chain.lines.as_bytes(), length)?;
            if self.options.sync { open.file.sync_data() } else { Ok(()) }
        };
        put().inspect_err(|_| {
            // If this fails too, the next batch finds a torn end and puts it aside.
            let _ = open.file.set_len(length);
        })
    }

    /// Looks at the end of the file and repairs it.
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
        // Only its line feed is missing: it can be read, so it stays.
        if torn <= LONGEST_LINE as u64
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

/// The file that is written to.
pub fn current(stem: &str) -> String {
    format!("{stem}.jsonl")
}

/// An earlier file.
pub fn part(stem: &str, number: u64) -> String {
    format!("{stem}.{number:06}.jsonl")
}

/// The numbers of the earlier files, ascending.
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

/// Waits for a lock, but not for ever.
pub(super) fn acquire(lock: &File) -> io::Result<()> {
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(std::fs::TryLockError::WouldBlock) if began.elapsed() < LONGEST_WAIT => {
                sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
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

/// As much of the end as a record can have, and the line feed before it.
fn tail(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let bytes = length.min(LONGEST_LINE as u64 + 1);
    piece(file, length - bytes, bytes)
}

fn piece(file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut reader = file;
    io::Seek::seek(&mut reader, io::SeekFrom::Start(from))?;
    let mut piece = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(reader, bytes), &mut piece)?;
    Ok(piece)
}

/// Where the last line that has its end is over. What comes after it can be longer than any record: a power cut may leave a
/// file with as many zeros as the file system had set aside.
fn after_last_line_feed(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let from = end.saturating_sub(LONGEST_LINE as u64);
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

/// The hash that the last line says it has; the next record names it. What is no record has none, and verifying finds it.
fn last_hash(tail: &[u8]) -> String {
    let line = tail.strip_suffix(b"\n").unwrap_or(tail);
    let from = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let record: Option<Value> = serde_json::from_slice(&line[from..]).ok();
    let hash = record.as_ref().and_then(|record| record.get("hash")).and_then(Value::as_str);
    hash.unwrap_or(NO_HASH).to_owned()
}

/// The hash of a whole record without a line feed, if it is one.
fn own_hash(line: &[u8], sealer: &Sealer) -> Option<String> {
    let Value::Object(mut record) = serde_json::from_slice(line).ok()? else { return None };
    let hash = record.remove("hash")?.as_str()?.to_owned();
    (sealer.hash(&record) == hash).then_some(hash)
}

/// A session's name as a record has it. The file's name tells long ones apart.
fn shortened(session: &str) -> &str {
    const LONGEST: usize = 256;
    &session[..session.floor_char_boundary(LONGEST)]
}

/// The folder and the session's part of the name of a log, by the path of its current file.
pub fn split(path: &Path) -> Option<(&Path, &str)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((dir, stem))
}
