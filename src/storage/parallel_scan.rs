//! Going ahead of a search in a large file, on several threads at once: whole lines in which nothing is found need no other
//! look. What comes of it is what one thread would find, only sooner.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use memchr::{memchr, memchr_iter, memrchr};

use super::pattern::Pattern;

/// Bytes that a scout reads at once. A line that is longer ends its way.
const BLOCK: usize = 64 * 1024;
/// Bytes that a scout looks at before it says what it saw.
const PART: u64 = 2 << 20;
/// So many parts are looked at before the search is there, for each scout.
const AHEAD: u64 = 2;
/// More of them would wait for the memory, not for each other.
const MOST: usize = 4;
/// What is smaller is searched before a thread is started, and what finds much is over before that.
const LEAST: u64 = 8 << 20;

/// The scouts of a search. Dropped, they come back at once.
#[derive(Debug)]
pub struct Scouts {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    count: usize,
    pattern: Pattern,
    size: u64,
    /// What they have seen from where the search is on, in order and without gaps.
    seen: VecDeque<Stretch>,
    /// The part that is waited for next, once they are on their way.
    due: Option<u64>,
    /// They rest up to here.
    rest_to: u64,
}

#[derive(Debug)]
struct Shared {
    file: File,
    round: Mutex<Round>,
    changed: Condvar,
    is_over: AtomicBool,
}

/// Where the scouts are.
#[derive(Debug, Default)]
struct Round {
    /// Parts of an earlier one are of no use any more.
    number: u64,
    /// The parts that nobody has taken yet.
    free: Range<u64>,
    /// The first of them may begin inside of no line.
    start: u64,
    /// No part is taken that begins behind this.
    until: u64,
    seen: BTreeMap<u64, Way>,
}

/// What a scout saw of a part.
#[derive(Debug, Default)]
struct Way {
    stretches: Vec<Stretch>,
    /// It came through: no line is too long, and the file can be read.
    is_through: bool,
}

/// Whole lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// Nothing is found in them: their bytes, and their breaks.
    Clear(u64, u64),
    /// Something may be found in so many bytes.
    Open(u64),
}

impl Scouts {
    /// Scouts for a search in a file of this size that begins at a byte of it; none if the file is too small for them, or
    /// only one thread can run.
    pub fn of(file: File, size: u64, from: u64, pattern: &Pattern) -> Option<Self> {
        let count = thread::available_parallelism().map_or(1, usize::from).min(MOST);
        Scouts::so_many(count, file, size, from, pattern)
    }

    fn so_many(count: usize, file: File, size: u64, from: u64, pattern: &Pattern) -> Option<Self> {
        let rest_to = from.saturating_add(LEAST);
        if cfg!(not(unix)) || count < 2 || size.saturating_sub(rest_to) < LEAST {
            return None;
        }
        let (round, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { file, round, changed, is_over: AtomicBool::new(false) });
        let (threads, seen) = (Vec::new(), VecDeque::new());
        Some(Scouts {
            shared,
            threads,
            count,
            pattern: pattern.clone(),
            size,
            seen,
            due: None,
            rest_to,
        })
    }

    /// What is known of the lines at a byte, with which a line begins: the search goes on behind them.
    pub fn next(&mut self, from: u64) -> Option<Stretch> {
        while self.seen.is_empty() {
            let part = match self.due {
                Some(part) => part,
                None => self.set_out(from)?,
            };
            let way = self.shared.wait_for(part, self.count as u64);
            self.seen.extend(way.stretches);
            self.due = Some(part + PART).filter(|next| way.is_through && next + PART <= self.size);
            if !way.is_through {
                self.rest_to = part + LEAST;
            }
        }
        self.seen.pop_front()
    }

    /// Sends everyone out from a byte on, and answers the first part.
    fn set_out(&mut self, from: u64) -> Option<u64> {
        if from < self.rest_to || self.size.saturating_sub(from) < LEAST {
            return None;
        }
        while self.threads.len() < self.count {
            let (shared, pattern) = (Arc::clone(&self.shared), self.pattern.clone());
            let thread = thread::Builder::new().name("spillway-search".to_owned());
            match thread.spawn(move || shared.look_out(&pattern)) {
                Ok(thread) => self.threads.push(thread),
                // Fewer will do.
                Err(_) => self.count = self.threads.len(),
            }
        }
        if self.threads.is_empty() {
            self.rest_to = u64::MAX;
            return None;
        }
        let mut round = self.shared.lock();
        let (number, free) = (round.number + 1, from..self.size);
        *round = Round { number, free, start: from, until: 0, seen: BTreeMap::new() };
        Some(from)
    }
}

impl Drop for Scouts {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        drop(self.shared.lock());
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // It has nothing to say any more.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, round: MutexGuard<'a, Round>) -> MutexGuard<'a, Round> {
        self.changed.wait(round).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a part, and lets the scouts go on to others.
    fn wait_for(&self, part: u64, count: u64) -> Way {
        let mut round = self.lock();
        round.until = part + count * AHEAD * PART;
        self.changed.notify_all();
        loop {
            match round.seen.remove(&part) {
                Some(way) => return way,
                None => round = self.wait(round),
            }
        }
    }

    /// What a thread does: looks at one part after the other.
    fn look_out(&self, pattern: &Pattern) {
        let mut block = vec![0; BLOCK];
        let mut round = self.lock();
        while !self.is_over.load(Ordering::Relaxed) {
            let (number, start) = (round.number, round.free.start);
            if start + PART > round.free.end || start > round.until {
                round = self.wait(round);
                continue;
            }
            round.free.start += PART;
            let is_inside = start > round.start;
            drop(round);
            let mut stretches = Vec::new();
            let look =
                || self.look(pattern, &mut block, start..start + PART, is_inside, &mut stretches);
            let is_through = matches!(catch_unwind(AssertUnwindSafe(look)), Ok(Some(())));
            round = self.lock();
            if round.number == number {
                round.seen.insert(start, Way { stretches, is_through });
                self.changed.notify_all();
            }
        }
    }

    /// Goes over the lines that begin in a part of the file, which may begin inside of a line. Nothing if a line is too
    /// long, or the file cannot be read: whoever comes after will see.
    fn look(
        &self,
        pattern: &Pattern,
        block: &mut [u8],
        part: Range<u64>,
        is_inside: bool,
        seen: &mut Vec<Stretch>,
    ) -> Option<()> {
        let mut at = part.start;
        if is_inside {
            // The break before the first line may be the byte before the part.
            let read = read_at(&self.file, block, at - 1)?;
            at += memchr(b'\n', block.get(..read)?)? as u64;
        }
        while at < part.end && !self.is_over.load(Ordering::Relaxed) {
            let read = read_at(&self.file, block, at)?;
            let block = block.get(..read)?;
            let last = (part.end - at - 1) as usize;
            let beyond = block.get(last..).and_then(|behind| memchr(b'\n', behind));
            let end = beyond.map(|end| last + end).or_else(|| memrchr(b'\n', block))?;
            let lines = block.get(..=end)?;
            let bytes = lines.len() as u64;
            at += bytes;
            if pattern.is_match(lines) {
                seen.push(Stretch::Open(bytes));
                continue;
            }
            let breaks = memchr_iter(b'\n', lines).count() as u64;
            match seen.last_mut() {
                Some(Stretch::Clear(all, before)) => {
                    (*all, *before) = (*all + bytes, *before + breaks);
                }
                _ => seen.push(Stretch::Clear(bytes, breaks)),
            }
        }
        Some(())
    }
}

/// Reads without moving the place where the file is read by others.
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

    use super::super::pattern::{Reading, compile};
    use super::*;

    const SIZE: usize = 6 * LEAST as usize;

    /// Goes over a text, leaving to nobody what the scouts leave; answers what they saw, and where they were none the wiser.
    /// That what they say is true is checked.
    fn seen(text: &[u8], pattern: &str) -> (Vec<Stretch>, usize) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let pattern = compile(pattern, Reading::default()).unwrap();
        let Some(mut scouts) = Scouts::so_many(2, file, text.len() as u64, 0, &pattern) else {
            return (Vec::new(), 0);
        };
        scouts.rest_to = 0;
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(stretch) = scouts.next(at as u64) {
            let (Stretch::Clear(bytes, _) | Stretch::Open(bytes)) = stretch;
            let lines = &text[at..][..bytes as usize];
            assert!(lines.ends_with(b"\n"));
            if let Stretch::Clear(_, breaks) = stretch {
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
    fn lines_in_which_nothing_is_found_are_clear() {
        for length in [1, 2, 7, 64, 1000, 50_000] {
            let (stretches, end) = seen(&lines(SIZE, length), "needle");
            assert!(SIZE - end < LEAST as usize, "{length}: {end}");
            assert!(stretches.iter().all(|stretch| matches!(stretch, Stretch::Clear(..))));
        }
    }

    #[test]
    fn what_is_found_stays_open_wherever_it_is() {
        let part = PART as usize;
        let near = [part - 7, part - 3, part - 1, part, part + 1];
        for at in [0, 1, 300_000, 5 * part + 500_000].into_iter().chain(near) {
            let mut text = lines(SIZE, 10);
            text[at..at + 6].copy_from_slice(b"needle");
            let (stretches, end) = seen(&text, "needle");
            let open = stretches.iter().filter(|stretch| matches!(stretch, Stretch::Open(..)));
            assert_eq!(open.count(), 1, "{at}");
            assert!(SIZE - end < LEAST as usize, "{at}: {end}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_to_the_search() {
        for start in [0, 1000, PART as usize - 1000, 3 * PART as usize] {
            let mut text = lines(SIZE, 10);
            text[start..start + 2 * BLOCK].fill(b'x');
            let (_, end) = seen(&text, "needle");
            assert!(end <= start && start - end < BLOCK, "{start}: {end}");
        }
    }

    #[test]
    fn a_small_file_is_left_to_the_search() {
        assert_eq!(seen(&lines(2 * LEAST as usize - 1, 10), "needle"), (Vec::new(), 0));
    }

    #[test]
    fn after_a_line_that_is_too_long_they_set_out_again() {
        let mut text = lines(SIZE, 10);
        let long = 3 * PART as usize..3 * PART as usize + 3 * BLOCK;
        text[long].fill(b'x');
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        let pattern = compile("needle", Reading::default()).unwrap();
        let mut scouts = Scouts::so_many(2, file, SIZE as u64, 0, &pattern).unwrap();
        scouts.rest_to = 0;
        let mut at = 0;
        let mut rests = 0;
        while SIZE as u64 - at >= LEAST {
            match scouts.next(at) {
                Some(Stretch::Clear(bytes, _) | Stretch::Open(bytes)) => at += bytes,
                None => (at, rests) = (scouts.rest_to, rests + 1),
            }
        }
        assert_eq!(rests, 1);
    }
}
