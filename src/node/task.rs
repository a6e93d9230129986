//! Work on a thread of the pool, for which a call returns a promise.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};
use spillway_core::error::{Code, Error, Result};

type Work<T> = Box<dyn FnOnce() -> Result<T> + Send>;

/// A unit of work. It runs off the JavaScript thread, and a panic in it becomes an error.
pub struct Job<T: Send + 'static> {
    work: Option<Work<T>>,
}

/// Starts `work` and returns a promise of its result.
pub fn run<T>(work: impl FnOnce() -> Result<T> + Send + 'static) -> AsyncTask<Job<T>>
where
    T: Send + ToNapiValue + TypeName + 'static,
{
    AsyncTask::new(Job { work: Some(Box::new(work)) })
}

impl<T> Task for Job<T>
where
    T: Send + ToNapiValue + TypeName + 'static,
{
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T> {
        let Some(work) = self.work.take() else {
            return Err(crate::error::from_core(Error::new(
                Code::Internal,
                "the work was started twice",
            )));
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result.map_err(crate::error::from_core),
            Err(panic) => {
                Err(crate::error::from_core(Error::new(Code::Internal, describe(&*panic))))
            }
        }
    }

    // Moves the finished value; cannot panic.
    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<T> {
        Ok(output)
    }
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_call() {
        let mut job =
            Job::<u32> { work: Some(Box::new(|| std::panic::resume_unwind(Box::new("planted")))) };
        let error = job.compute().map_err(|error| error.reason.clone());
        assert!(
            matches!(&error, Err(reason) if reason.contains("INTERNAL") && reason.contains("planted")),
            "{error:?}"
        );
    }
}
