//! Parallel pre-scan for searches in large files.
//!
//! Worker threads run ahead of the search and report runs of whole lines without a match, which the search then skips.
//! The results are the same as with a single thread.
//!
//! The file is divided into chunks of fixed size, and each worker claims the next chunk that no other has claimed. A
//! chunk begins in the middle of a line: its worker scans the lines that begin in it and reads on to the end of the
//! last one, so that every line is scanned once. Results are consumed in the order of the file. Workers stay at most a
//! few chunks per thread ahead of the search, which bounds the work that is lost if the search ends early.
//!
//! A search that has read past a chunk itself, because it had matches, restarts the workers further on. Results of the
//! earlier generation are discarded.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use memchr::{memchr, memchr_iter, memrchr};

use super::pattern::Pattern;
use crate::util::sync::{lock, wait};
use crate::util::threads;

/// Bytes read at a time by a worker. A line that is longer ends the scan of its chunk.
const READ_SIZE: usize = 64 * 1024;
/// Length of a chunk in bytes.
const CHUNK_SIZE: u64 = 2 << 20;
/// Number of chunks per worker that are scanned ahead of the search.
const CHUNKS_AHEAD: u64 = 2;
/// Maximum number of workers. More of them wait for the memory bus.
const MAX_THREADS: usize = 4;
/// Minimum file size in bytes: a smaller file is searched before a thread is started, and a search with many matches
/// ends before that.
const MIN_FILE_SIZE: u64 = 8 << 20;

/// The pre-scan of one search. Dropping it ends the workers.
#[derive(Debug)]
pub(crate) struct ParallelScan {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    count: usize,
    pattern: Pattern,
    size: u64,
    /// Runs of lines from the position of the search on, in order and without gaps.
    seen: VecDeque<LineRun>,
    /// Number of the next chunk to wait for, once the workers are running.
    due: Option<u64>,
    /// The workers are not restarted before this offset.
    resume_at: u64,
}

#[derive(Debug)]
struct Shared {
    file: File,
    state: Mutex<ScanState>,
    changed: Condvar,
    is_over: AtomicBool,
}

/// State shared by the workers.
#[derive(Debug, Default)]
struct ScanState {
    /// Incremented on every restart; results of an older generation are discarded.
    generation: u64,
    /// Chunks that no worker has claimed yet.
    free: Range<u64>,
    /// Start of the first chunk, the only one known to begin at a line boundary.
    start: u64,
    /// Back-pressure: chunks that start after this offset must not be claimed yet.
    until: u64,
    seen: BTreeMap<u64, ChunkResult>,
}

/// The result of scanning a chunk.
#[derive(Debug, Default)]
struct ChunkResult {
    stretches: Vec<LineRun>,
    /// True if the whole chunk was scanned: no line is too long, and the file can be read.
    is_complete: bool,
}

/// A run of whole lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRun {
    /// Lines without a match: their number of bytes and of line feeds.
    NoMatch(u64, u64),
    /// Number of bytes that may contain a match.
    MayMatch(u64),
}

impl ParallelScan {
    /// Starts a pre-scan for a search that begins at `from`. Returns `None` if the file is too small, or only one
    /// thread can run.
    pub(crate) fn of(file: File, size: u64, from: u64, pattern: &Pattern) -> Option<Self> {
        let count = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        ParallelScan::with_threads(count, file, size, from, pattern)
    }

    fn with_threads(
        count: usize,
        file: File,
        size: u64,
        from: u64,
        pattern: &Pattern,
    ) -> Option<Self> {
        let resume_at = from.saturating_add(MIN_FILE_SIZE);
        if cfg!(not(unix)) || count < 2 || size.saturating_sub(resume_at) < MIN_FILE_SIZE {
            return None;
        }
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { file, state, changed, is_over: AtomicBool::new(false) });
        let (threads, seen) = (Vec::new(), VecDeque::new());
        Some(ParallelScan {
            shared,
            threads,
            count,
            pattern: pattern.clone(),
            size,
            seen,
            due: None,
            resume_at,
        })
    }

    /// Returns the run of lines at `from`, where a line must begin, if the scan has reached it.
    pub(crate) fn next(&mut self, from: u64) -> Option<LineRun> {
        while self.seen.is_empty() {
            let part = match self.due {
                Some(part) => part,
                None => self.restart(from)?,
            };
            let way = self.shared.wait_for(part, self.count as u64);
            self.seen.extend(way.stretches);
            self.due = Some(part + CHUNK_SIZE)
                .filter(|next| way.is_complete && next + CHUNK_SIZE <= self.size);
            if !way.is_complete {
                self.resume_at = part + MIN_FILE_SIZE;
            }
        }
        self.seen.pop_front()
    }

    /// Starts or restarts the workers at an offset, and returns the number of the first chunk.
    fn restart(&mut self, from: u64) -> Option<u64> {
        if from < self.resume_at || self.size.saturating_sub(from) < MIN_FILE_SIZE {
            return None;
        }
        while self.threads.len() < self.count {
            let (shared, pattern) = (Arc::clone(&self.shared), self.pattern.clone());
            let work = move || shared.run_worker(&pattern);
            match threads::start("spillway-search", Box::new(work)) {
                Ok(thread) => self.threads.push(thread),
                // Fewer threads are enough.
                Err(_) => self.count = self.threads.len(),
            }
        }
        if self.threads.is_empty() {
            self.resume_at = u64::MAX;
            return None;
        }
        let mut state = self.shared.lock();
        let (generation, free) = (state.generation + 1, from..self.size);
        *state = ScanState { generation, free, start: from, until: 0, seen: BTreeMap::new() };
        Some(from)
    }
}

impl Drop for ParallelScan {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        drop(self.shared.lock());
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has no result.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ScanState> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, ScanState>) -> MutexGuard<'a, ScanState> {
        wait(&self.changed, state)
    }

    /// Waits for the result of a chunk, and lets the workers claim further ones.
    fn wait_for(&self, part: u64, count: u64) -> ChunkResult {
        let mut state = self.lock();
        state.until = part + count * CHUNKS_AHEAD * CHUNK_SIZE;
        self.changed.notify_all();
        loop {
            match state.seen.remove(&part) {
                Some(way) => return way,
                None => state = self.wait(state),
            }
        }
    }

    /// Runs a worker: claims and scans one chunk after the other.
    fn run_worker(&self, pattern: &Pattern) {
        let mut block = vec![0; READ_SIZE];
        let mut state = self.lock();
        while !self.is_over.load(Ordering::Relaxed) {
            let (generation, start) = (state.generation, state.free.start);
            if start + CHUNK_SIZE > state.free.end || start > state.until {
                state = self.wait(state);
                continue;
            }
            state.free.start += CHUNK_SIZE;
            let is_inside = start > state.start;
            drop(state);
            let mut stretches = Vec::new();
            let scan_chunk = || {
                self.scan_chunk(
                    pattern,
                    &mut block,
                    start..start + CHUNK_SIZE,
                    is_inside,
                    &mut stretches,
                )
            };
            let is_complete = matches!(catch_unwind(AssertUnwindSafe(scan_chunk)), Ok(Some(())));
            state = self.lock();
            if state.generation == generation {
                state.seen.insert(start, ChunkResult { stretches, is_complete });
                self.changed.notify_all();
            }
        }
    }

    /// Scans the lines that begin in a chunk, which may itself begin within a line. Returns `None` if a line is too
    /// long or the file cannot be read, in which case the search must scan the chunk itself.
    fn scan_chunk(
        &self,
        pattern: &Pattern,
        block: &mut [u8],
        part: Range<u64>,
        is_inside: bool,
        seen: &mut Vec<LineRun>,
    ) -> Option<()> {
        let mut at = part.start;
        if is_inside {
            // The break before the first line may be the byte before the chunk.
            let read = read_at(&self.file, block, at - 1)?;
            at += memchr(b'\n', block.get(..read)?)? as u64;
        }
        while at < part.end && !self.is_over.load(Ordering::Relaxed) {
            let read = read_at(&self.file, block, at)?;
            let block = block.get(..read)?;
            let last = (part.end - at - 1) as usize;
            let beyond = block.get(last..).and_then(|after| memchr(b'\n', after));
            let end = beyond.map(|end| last + end).or_else(|| memrchr(b'\n', block))?;
            let lines = block.get(..=end)?;
            let bytes = lines.len() as u64;
            at += bytes;
            if pattern.is_match(lines) {
                seen.push(LineRun::MayMatch(bytes));
                continue;
            }
            let breaks = memchr_iter(b'\n', lines).count() as u64;
            match seen.last_mut() {
                Some(LineRun::NoMatch(all, before)) => {
                    (*all, *before) = (*all + bytes, *before + breaks);
                }
                _ => seen.push(LineRun::NoMatch(bytes, breaks)),
            }
        }
        Some(())
    }
}

/// Reads without moving the position of the file, which others share.
#[cfg(unix)]
fn read_at(file: &File, block: &mut [u8], at: u64) -> Option<usize> {
    std::os::unix::fs::FileExt::read_at(file, block, at).ok()
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::pattern::{PatternOptions, compile};
    use super::*;

    const SIZE: usize = 6 * MIN_FILE_SIZE as usize;

    /// Scans a text without a search that follows. Returns the runs, and the offset at which the scan had no result;
    /// checks that runs without a match have none.
    fn seen(text: &[u8], pattern: &str) -> (Vec<LineRun>, usize) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let pattern = compile(pattern, PatternOptions::default()).unwrap();
        let Some(mut scan) = ParallelScan::with_threads(2, file, text.len() as u64, 0, &pattern)
        else {
            return (Vec::new(), 0);
        };
        scan.resume_at = 0;
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(stretch) = scan.next(at as u64) {
            let (LineRun::NoMatch(bytes, _) | LineRun::MayMatch(bytes)) = stretch;
            let lines = &text[at..][..bytes as usize];
            assert!(lines.ends_with(b"\n"));
            if let LineRun::NoMatch(_, breaks) = stretch {
                assert!(!pattern.is_match(lines));
                assert_eq!(breaks, memchr_iter(b'\n', lines).count() as u64);
            }
            all.push(stretch);
            at += bytes as usize;
        }
        (all, at)
    }

    fn lines(bytes: usize, of: usize) -> Vec<u8> {
        let line = [vec![b'.'; of - 1], vec![b'\n']].concat();
        line.into_iter().cycle().take(bytes).collect()
    }

    #[test]
    fn lines_without_a_match_are_skipped() {
        for length in [1, 2, 7, 64, 1000, 50_000] {
            let (stretches, end) = seen(&lines(SIZE, length), "needle");
            assert!(SIZE - end < MIN_FILE_SIZE as usize, "{length}: {end}");
            assert!(stretches.iter().all(|stretch| matches!(stretch, LineRun::NoMatch(..))));
        }
    }

    #[test]
    fn a_match_is_left_to_the_search_wherever_it_is() {
        let part = CHUNK_SIZE as usize;
        let near = [part - 7, part - 3, part - 1, part, part + 1];
        for at in [0, 1, 300_000, 5 * part + 500_000].into_iter().chain(near) {
            let mut text = lines(SIZE, 10);
            text[at..at + 6].copy_from_slice(b"needle");
            let (stretches, end) = seen(&text, "needle");
            let open = stretches.iter().filter(|stretch| matches!(stretch, LineRun::MayMatch(..)));
            assert_eq!(open.count(), 1, "{at}");
            assert!(SIZE - end < MIN_FILE_SIZE as usize, "{at}: {end}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_to_the_search() {
        for start in [0, 1000, CHUNK_SIZE as usize - 1000, 3 * CHUNK_SIZE as usize] {
            let mut text = lines(SIZE, 10);
            text[start..start + 2 * READ_SIZE].fill(b'x');
            let (_, end) = seen(&text, "needle");
            assert!(end <= start && start - end < READ_SIZE, "{start}: {end}");
        }
    }

    #[test]
    fn a_small_file_is_left_to_the_search() {
        assert_eq!(seen(&lines(2 * MIN_FILE_SIZE as usize - 1, 10), "needle"), (Vec::new(), 0));
    }

    #[test]
    fn the_scan_restarts_after_a_line_that_is_too_long() {
        let mut text = lines(SIZE, 10);
        let long = 3 * CHUNK_SIZE as usize..3 * CHUNK_SIZE as usize + 3 * READ_SIZE;
        text[long].fill(b'x');
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        let pattern = compile("needle", PatternOptions::default()).unwrap();
        let mut scan = ParallelScan::with_threads(2, file, SIZE as u64, 0, &pattern).unwrap();
        scan.resume_at = 0;
        let mut at = 0;
        let mut rests = 0;
        while SIZE as u64 - at >= MIN_FILE_SIZE {
            match scan.next(at) {
                Some(LineRun::NoMatch(bytes, _) | LineRun::MayMatch(bytes)) => at += bytes,
                None => (at, rests) = (scan.resume_at, rests + 1),
            }
        }
        assert_eq!(rests, 1);
    }
}
