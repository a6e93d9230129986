//! Bindings of range reads and searches of saved outputs, which run step by step so that the facade can abort between
//! two steps.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use napi::bindgen_prelude::{AsyncTask, Either, External, Latin1String, Utf16String};
use napi_derive::napi;
use serde_json::json;
use spillway_core::error::{Code, Error, Result as CoreResult};
use spillway_core::fs::file_names;
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::pattern;
use spillway_core::storage::range::{self, Range, RangeRead};
use spillway_core::storage::search::{self, Query, Search};
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::intake::{IntakeHandle, to_js};
use crate::intake_stages::Shared;
use crate::json::{json, parse};
use crate::storage::StoreHandle;
use crate::task::{Job, run};

/// A read or a search in progress.
pub type StepsHandle = External<Arc<Mutex<Steps>>>;

/// Time budget of one step, after which an abort takes effect. A number of bytes would not do, because one pattern can
/// be a thousand times slower than another.
const STEP_TIME: Duration = Duration::from_millis(20);
/// Number of bytes between two checks of the clock.
const STEP_BYTES: u64 = 256 * 1024;

/// The state of a request, which is opened with the first step, because opening may wait for the disk.
pub enum Steps {
    /// Requested, not opened yet.
    Asked(Asked, Ask),
    /// A range of an output that is still coming in.
    AskedOfUnfinished(Arc<Shared>, Range),
    /// A read in progress.
    Range(RangeRead),
    /// A search in progress.
    Search(Box<Search>),
    /// Failed.
    Over,
}

/// The output to open.
pub struct Asked {
    store: Arc<OpenStore>,
    path: String,
    /// The folder of the session that it must belong to.
    session: Option<String>,
}

/// The kind of request.
pub enum Ask {
    /// A range.
    Range(Range),
    /// The lines that match.
    Search(Query),
}

/// The result of a request.
#[napi(object, object_from_js = false)]
pub struct Answer {
    /// The text of a range.
    #[napi(ts_type = "string")]
    pub text: Either<Latin1String, Utf16String>,
    /// The facts as JSON.
    pub facts: String,
}

/// Returns the defaults and maximums of ranges and searches, as JSON.
#[napi(catch_unwind)]
pub fn reading_limits() -> String {
    json!({
        "range": { "minBytes": range::MIN_BYTES, "maxBytes": range::MAX_BYTES },
        "search": {
            "maxContext": search::MAX_CONTEXT,
            "matches": search::MATCHES,
            "maxMatches": search::MAX_MATCHES,
            "bytes": search::SHOWN_BYTES,
            "maxBytes": search::MAX_SHOWN_BYTES,
            "patternBytes": pattern::MAX_LENGTH,
        },
    })
    .to_string()
}

/// Prepares to read a range of a saved output; with a session, only if it was saved for it.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn range_open(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    path: String,
    session: Option<Utf16String>,
    range: String,
) -> Result<StepsHandle> {
    let range = parse(&range)?;
    Ok(steps(store, path, session, Ask::Range(range)))
}

/// Prepares to search a saved output; with a session, only if it was saved for it.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn search_open(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    path: String,
    session: Option<Utf16String>,
    query: String,
) -> Result<StepsHandle> {
    let query = parse(&query)?;
    Ok(steps(store, path, session, Ask::Search(query)))
}

/// Prepares to read a range of bytes in memory, under a path like that of a file.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn range_of_bytes(bytes: &[u8], path: String, range: String) -> Result<StepsHandle> {
    let range = parse(&range)?;
    let read = RangeRead::over(bytes.to_vec(), &path, range);
    Ok(External::new(Arc::new(Mutex::new(Steps::Range(read)))))
}

/// Prepares to search bytes in memory, under a path like that of a file.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn search_of_bytes(bytes: &[u8], path: String, query: String) -> Result<StepsHandle> {
    let query = parse(&query)?;
    let search = Search::over(bytes.to_vec(), &path, query).map_err(from_core)?;
    Ok(External::new(Arc::new(Mutex::new(Steps::Search(Box::new(search))))))
}

/// Prepares to read a range of an output that is still coming in.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn range_of_intake(
    #[napi(ts_arg_type = "object")] intake: &IntakeHandle,
    range: String,
) -> Result<StepsHandle> {
    let range = parse(&range)?;
    let asked = Steps::AskedOfUnfinished(Arc::clone(intake), range);
    Ok(External::new(Arc::new(Mutex::new(asked))))
}

/// Runs the next step; resolves to nothing if it is not the last.
#[napi(catch_unwind, ts_return_type = "Promise<Answer | null>")]
pub fn steps_next(
    #[napi(ts_arg_type = "object")] steps: &StepsHandle,
) -> AsyncTask<Job<Option<Answer>>> {
    let steps = Arc::clone(steps);
    run(move || lock(&steps).next())
}

fn steps(store: &StoreHandle, path: String, session: Option<Utf16String>, ask: Ask) -> StepsHandle {
    let session = session.map(|id| file_names::session(&id));
    let asked = Asked { store: Arc::clone(store), path, session };
    External::new(Arc::new(Mutex::new(Steps::Asked(asked, ask))))
}

impl Steps {
    fn next(&mut self) -> CoreResult<Option<Answer>> {
        *self = match std::mem::replace(self, Steps::Over) {
            Steps::Asked(Asked { store, path, session }, Ask::Range(range)) => {
                let session = session.as_deref();
                let (places, indexes) = (&store.places, &store.indexes);
                Steps::Range(RangeRead::open(places, indexes, &path, session, range)?)
            }
            Steps::Asked(Asked { store, path, session }, Ask::Search(query)) => {
                let session = session.as_deref();
                Steps::Search(Box::new(Search::open(&store.places, &path, session, query)?))
            }
            Steps::AskedOfUnfinished(shared, range) => Steps::Range(shared.read(range)?),
            under_way => under_way,
        };
        match self {
            Steps::Range(read) => Ok(for_a_while(|| read.step(STEP_BYTES))?.map(|mut piece| {
                let text = to_js(std::mem::take(&mut piece.text));
                Answer { text, facts: json(&piece) }
            })),
            Steps::Search(search) => Ok(for_a_while(|| search.step(STEP_BYTES))?.map(|found| {
                Answer { text: Either::A(String::new().into()), facts: json(&found) }
            })),
            Steps::Asked(..) | Steps::AskedOfUnfinished(..) | Steps::Over => {
                Err(Error::new(Code::Internal, "the request is over"))
            }
        }
    }
}

/// Repeats until there is a result, or the time of a step is over.
fn for_a_while<T>(mut go_on: impl FnMut() -> CoreResult<Option<T>>) -> CoreResult<Option<T>> {
    let until = Instant::now() + STEP_TIME;
    loop {
        let answer = go_on()?;
        if answer.is_some() || Instant::now() >= until {
            return Ok(answer);
        }
    }
}
