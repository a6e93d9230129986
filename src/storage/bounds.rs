//! Which outputs have to go: by age, by bytes, by number. Never one younger than an hour.

use crate::util::sort::sort_by_key;
use serde::Serialize;

pub(super) const HOUR_MS: i64 = 60 * 60 * 1000;
pub(super) const DAY_MS: i64 = 24 * HOUR_MS;

/// The bounds of a store.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Days that an output is kept; infinity is for ever.
    pub retention_days: f64,
    /// Bytes of all outputs.
    pub max_bytes: u64,
    /// Outputs.
    pub max_files: u64,
}

/// Why an output was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was too old.
    Age,
    /// The store held too many bytes.
    Bytes,
    /// The store held too many outputs.
    Count,
}

/// What is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Outputs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An output, as far as bounds are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// When it was last changed, in milliseconds since the epoch.
    pub modified_ms: i64,
    /// Its bytes.
    pub bytes: u64,
    /// Somebody uses it: it goes after the others.
    pub leased: bool,
    /// It stays, whatever the bounds are.
    pub stays: bool,
}

impl Bounds {
    /// Only by age.
    pub fn of_age(retention_days: f64) -> Self {
        Bounds { retention_days, max_bytes: u64::MAX, max_files: u64::MAX }
    }

    /// The age in milliseconds above which an output goes; nothing if it never does.
    fn age_ms(&self) -> Option<i64> {
        let days = self.retention_days;
        days.is_finite().then(|| ((days * DAY_MS as f64) as i64).max(HOUR_MS))
    }

    /// Removes what is too old, and then what is over a bound: what nobody uses first, and the oldest of that before the
    /// others. `remove` takes the index of an output and answers whether it is gone.
    pub fn apply(
        &self,
        candidates: &[Candidate],
        now_ms: i64,
        mut remove: impl FnMut(usize, Reason) -> bool,
    ) -> Kept {
        let age = |candidate: &Candidate| now_ms.saturating_sub(candidate.modified_ms);
        let age_ms = self.age_ms();
        let mut rest: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
        rest.retain(|(index, candidate)| {
            let is_old = age_ms.is_some_and(|most| age(candidate) > most) && !candidate.stays;
            !(is_old && remove(*index, Reason::Age))
        });
        sort_by_key(&mut rest, |(_, candidate)| (candidate.leased, candidate.modified_ms));
        let mut kept = Kept {
            files: rest.len() as u64,
            bytes: rest.iter().map(|(_, candidate)| candidate.bytes).sum(),
        };
        for (index, candidate) in rest {
            let reason = if kept.bytes > self.max_bytes {
                Reason::Bytes
            } else if kept.files > self.max_files {
                Reason::Count
            } else {
                break;
            };
            // What is dated far in the future was made under a wrong clock, and would otherwise stay for ever.
            let may_go = !(-DAY_MS..=HOUR_MS).contains(&age(candidate)) && !candidate.stays;
            if may_go && remove(index, reason) {
                kept.files -= 1;
                kept.bytes -= candidate.bytes;
            }
        }
        kept
    }
}
