//! Locks that stay usable after a panic.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic of another thread while it held the lock is reported by the call in which it happened; this
/// call continues with the state as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until another thread notifies `condition`, and locks again.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
