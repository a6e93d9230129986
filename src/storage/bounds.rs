//! Selects the outputs to remove: by age, total bytes and number. Outputs younger than an hour are never removed.

use crate::util::sort::sort_by_key;
use serde::Serialize;

pub(super) const HOUR_MS: i64 = 60 * 60 * 1000;
pub(super) const DAY_MS: i64 = 24 * HOUR_MS;

/// Limits of a store.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Number of days after which an output expires; infinity means never.
    pub retention_days: f64,
    /// Maximum total size of all outputs in bytes.
    pub max_bytes: u64,
    /// Maximum number of outputs.
    pub max_files: u64,
}

/// The reason why an output was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemovalReason {
    Age,
    Bytes,
    Count,
}

/// The outputs that were kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StoreTotals {
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

/// The properties of an output that decide whether it is removed.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Time of the last change in milliseconds since the epoch.
    pub modified_ms: i64,
    pub bytes: u64,
    /// True if a session uses it: it is removed after those that are not in use.
    pub leased: bool,
    /// True if it must not be removed, whatever the limits are.
    pub stays: bool,
}

impl Bounds {
    /// Creates limits by age only.
    pub fn of_age(retention_days: f64) -> Self {
        Bounds { retention_days, max_bytes: u64::MAX, max_files: u64::MAX }
    }

    /// Returns the age in milliseconds above which an output expires, or `None` for never.
    fn age_ms(&self) -> Option<i64> {
        let days = self.retention_days;
        days.is_finite().then(|| ((days * DAY_MS as f64) as i64).max(HOUR_MS))
    }

    /// Removes expired outputs, then outputs in excess of a limit: those not in use first, and the oldest first.
    /// `remove` takes the index of an output and returns whether it was removed.
    pub fn apply(
        &self,
        candidates: &[Candidate],
        now_ms: i64,
        mut remove: impl FnMut(usize, RemovalReason) -> bool,
    ) -> StoreTotals {
        let age = |candidate: &Candidate| now_ms.saturating_sub(candidate.modified_ms);
        let age_ms = self.age_ms();
        let mut rest: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
        rest.retain(|(index, candidate)| {
            let is_old = age_ms.is_some_and(|max_age| age(candidate) > max_age) && !candidate.stays;
            !(is_old && remove(*index, RemovalReason::Age))
        });
        sort_by_key(&mut rest, |(_, candidate)| (candidate.leased, candidate.modified_ms));
        let mut kept = StoreTotals {
            files: rest.len() as u64,
            bytes: rest.iter().map(|(_, candidate)| candidate.bytes).sum(),
        };
        for (index, candidate) in rest {
            let reason = if kept.bytes > self.max_bytes {
                RemovalReason::Bytes
            } else if kept.files > self.max_files {
                RemovalReason::Count
            } else {
                break;
            };
            // A date far in the future comes from a wrong clock; such a file would otherwise never expire.
            let may_go = !(-DAY_MS..=HOUR_MS).contains(&age(candidate)) && !candidate.stays;
            if may_go && remove(index, reason) {
                kept.files -= 1;
                kept.bytes -= candidate.bytes;
            }
        }
        kept
    }
}
