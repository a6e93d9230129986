//! The stages of an output that comes in, and the state that their threads share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use spillway_core::capture::pipeline::{Intake, Style};
use spillway_core::error::Result as CoreResult;
use spillway_core::storage::line_index::LineIndex;
use spillway_core::storage::range::{Range, RangeRead};
use spillway_core::text::utf16::Encoder;
use spillway_core::util::sync::{lock, wait};

/// The state shared by the threads.
pub struct Shared {
    pub(crate) arrived: Mutex<Vec<Slice>>,
    encoding: Mutex<Encoding>,
    pub(crate) writing: Mutex<Writing>,
    written: Condvar,
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) style: Style,
    progress: Progress,
    /// The line index of the output, for reads while it comes in.
    index: Arc<Mutex<LineIndex>>,
}

/// Progress of the stages, readable while a thread is at work.
#[derive(Default)]
struct Progress {
    bytes: AtomicU64,
    lines: AtomicU64,
}

/// The first stage. A task that leaves it takes a number, and waits for its turn at the second.
#[derive(Default)]
struct Encoding {
    encoder: Encoder,
    next: u64,
}

/// The second stage.
pub(crate) struct Writing {
    pub(crate) intake: Intake,
    turn: u64,
}

/// A slice that was copied in and not processed yet.
pub(crate) enum Slice {
    Units(Vec<u16>),
    Latin1(Vec<u8>),
    Bytes(Vec<u8>),
}

/// Recycled buffers. New memory costs more than the copy into it, because the system has to clear every page first.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) units: Mutex<Vec<Vec<u16>>>,
    pub(crate) bytes: Mutex<Vec<Vec<u8>>>,
}

/// Two outputs at a time with two buffers each; a service keeps no more than a few megabytes.
const KEPT_BUFFERS: usize = 4;
const KEPT_BYTES: usize = 1 << 20;

/// A slice is appended to the previous one if that is shorter than this: a tool that prints word by word does not take
/// a buffer per word.
pub(crate) const JOINED_LENGTH: usize = 1 << 14;

impl Shared {
    pub(crate) fn new(intake: Intake, buffers: Arc<Buffers>, style: Style) -> Self {
        Shared {
            arrived: Mutex::default(),
            encoding: Mutex::default(),
            writing: Mutex::new(Writing { intake, turn: 0 }),
            written: Condvar::new(),
            buffers,
            style,
            progress: Progress::default(),
            index: Arc::default(),
        }
    }

    /// Returns the numbers of bytes and lines so far, also while a thread is at work.
    pub(crate) fn progress(&self) -> [u64; 2] {
        [&self.progress.bytes, &self.progress.lines].map(|count| count.load(Ordering::Relaxed))
    }

    /// Prepares to read a part of the output so far.
    pub(crate) fn read(&self, range: Range) -> CoreResult<RangeRead> {
        self.drain(false);
        let unfinished = lock(&self.writing).intake.reader()?;
        RangeRead::of_unfinished(unfinished, Arc::clone(&self.index), range)
    }

    /// Takes bytes that did not pass through JavaScript.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        let mut writing = lock(&self.writing);
        writing.intake.saw_bytes();
        writing.intake.push_bytes(bytes);
        self.note(&writing.intake);
    }

    fn note(&self, intake: &Intake) {
        let (bytes, lines) = intake.size();
        self.progress.bytes.store(bytes, Ordering::Relaxed);
        self.progress.lines.store(lines, Ordering::Relaxed);
    }

    /// Processes the slices that were copied in. Two tasks may do so at a time: one transcodes while the other writes.
    pub(crate) fn drain(&self, is_end: bool) {
        let mut encoding = lock(&self.encoding);
        let arrived = std::mem::take(&mut *lock(&self.arrived));
        let saw_bytes = arrived.iter().any(|slice| matches!(slice, Slice::Bytes(_)));
        let mut ready: Vec<Vec<u8>> =
            arrived.into_iter().map(|slice| self.transcode(slice, &mut encoding.encoder)).collect();
        if is_end {
            let mut rest = Vec::new();
            encoding.encoder.finish(&mut rest);
            ready.push(rest);
        }
        let ticket = encoding.next;
        encoding.next += 1;
        drop(encoding);

        let mut writing = lock(&self.writing);
        while writing.turn != ticket {
            writing = wait(&self.written, writing);
        }
        // The turn is passed on even if writing panics, or the next task would wait indefinitely.
        let mut turn = Turn { writing, written: &self.written };
        if saw_bytes {
            turn.writing.intake.saw_bytes();
        }
        for bytes in ready {
            turn.writing.intake.push_bytes(&bytes);
            put_back(&self.buffers.bytes, bytes);
        }
        self.note(&turn.writing.intake);
    }

    fn transcode(&self, slice: Slice, encoder: &mut Encoder) -> Vec<u8> {
        match slice {
            Slice::Bytes(bytes) if encoder.is_between_characters() => bytes,
            // A high surrogate whose other half did not follow is a lone one.
            Slice::Bytes(bytes) => {
                let mut joined = spare(&self.buffers.bytes);
                encoder.finish(&mut joined);
                joined.extend_from_slice(&bytes);
                put_back(&self.buffers.bytes, bytes);
                joined
            }
            Slice::Latin1(text) if text.is_ascii() && encoder.is_between_characters() => text,
            Slice::Latin1(text) => {
                let mut bytes = spare(&self.buffers.bytes);
                encoder.push_latin1(&text, &mut bytes);
                put_back(&self.buffers.bytes, text);
                bytes
            }
            Slice::Units(units) => {
                let mut bytes = spare(&self.buffers.bytes);
                encoder.push(&units, &mut bytes);
                put_back(&self.buffers.units, units);
                bytes
            }
        }
    }
}

/// A turn at the second stage.
struct Turn<'a> {
    writing: MutexGuard<'a, Writing>,
    written: &'a Condvar,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.writing.turn += 1;
        self.written.notify_all();
    }
}

pub(crate) fn spare<T>(buffers: &Mutex<Vec<Vec<T>>>) -> Vec<T> {
    lock(buffers).pop().unwrap_or_default()
}

fn put_back<T>(buffers: &Mutex<Vec<Vec<T>>>, mut buffer: Vec<T>) {
    let mut kept = lock(buffers);
    let fits = (1..=KEPT_BYTES).contains(&(buffer.capacity() * size_of::<T>()));
    if fits && kept.len() < KEPT_BUFFERS {
        buffer.clear();
        kept.push(buffer);
    }
}
