//! Work on a thread of the pool, for which a call returns a promise.

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};
use spillway_core::error::{Code, Error, Result, catch_panic};

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
        catch_panic(work).map_err(crate::error::from_core)
    }

    // Moves the finished value; cannot panic.
    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<T> {
        Ok(output)
    }
}
