//! Bindings of call pairing: calls and results of a history in, pairs out.

use std::sync::Mutex;

use napi::Env;
use napi::bindgen_prelude::{External, Uint32ArraySlice};
use napi_derive::napi;
use spillway_core::error::{Code, Error};
use spillway_core::history::call_pairing::{Event, Names, Pairs};
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};

/// The calls and results of a history so far.
pub type PairsHandle = External<Mutex<Pairs>>;

/// Event: a message of the user.
#[napi]
pub const EVENT_USER: u32 = 0;

/// Event: the start of a message of the assistant.
#[napi]
pub const EVENT_ASSISTANT: u32 = 1;

/// Event: a call in that message.
#[napi]
pub const EVENT_CALL: u32 = 2;

/// Event: a result.
#[napi]
pub const EVENT_RESULT: u32 = 3;

/// Creates an empty history. `flat` means that every call and every result is a message of its own.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn pairs_new(flat: bool) -> PairsHandle {
    External::new(Mutex::new(Pairs::new(flat)))
}

/// Adds events. Each is three numbers: the kind of event, the number of the id, and the number of the tool's name, 0
/// for none.
///
/// Returns two numbers for each result among them: the index of its call plus 1, or 0 if there is none; and 1 if it is
/// late, else 0. The array is made here, because writes of a native module to an array of the caller are lost in Bun
/// before 1.4.
#[napi(catch_unwind, ts_return_type = "Uint32Array")]
pub fn pairs_extend<'env>(
    env: &'env Env,
    #[napi(ts_arg_type = "object")] pairs: &PairsHandle,
    events: &[u32],
) -> napi::Result<Uint32ArraySlice<'env>> {
    let events: Vec<Event> = events.chunks(3).map(event).collect::<Result<_>>()?;
    let answers = lock(pairs).extend(events);
    let numbers: Vec<u32> = answers
        .iter()
        .flat_map(|answer| {
            [answer.call.map_or(0, |call| call.saturating_add(1)), u32::from(answer.late)]
        })
        .collect();
    Uint32ArraySlice::copy_from(env, numbers)
}

/// Returns the calls without an answer, oldest first. Each is two numbers: its index, and 1 if it may still be running.
#[napi(catch_unwind)]
pub fn pairs_open(#[napi(ts_arg_type = "object")] pairs: &PairsHandle) -> Vec<u32> {
    let open = lock(pairs).open();
    open.iter().flat_map(|open| [open.call, u32::from(open.running)]).collect()
}

fn event(numbers: &[u32]) -> Result<Event> {
    let &[kind, id, name] = numbers else {
        return Err(from_core(Error::new(Code::Internal, "an event of three numbers".to_owned())));
    };
    let some = |number: u32| (number > 0).then_some(number);
    let names = Names { id: some(id), name: some(name) };
    match kind {
        EVENT_USER => Ok(Event::User),
        EVENT_ASSISTANT => Ok(Event::Assistant),
        EVENT_CALL => Ok(Event::Call(names)),
        EVENT_RESULT => Ok(Event::Result(names)),
        _ => Err(from_core(Error::new(Code::Internal, format!("no event has the number {kind}")))),
    }
}
