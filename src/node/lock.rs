//! What threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic while a lock was held is reported by the call it happened in; the next call goes on with what is there.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
