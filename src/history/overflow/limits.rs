//! The limits of tool results in a context.
//!
//! A profile is data: the numbers, messages and order of a system at a point in time. [`OPENCLAW`] has the newest
//! numbers and is the default of a recovery; [`OPENCLAW_2026_02`] has those of the document, and is used by the
//! document's functions.

use std::collections::BTreeSet;

use serde::Serialize;

use super::plan::Order;

/// Maximum length of a result for any window: about 100,000 tokens.
pub const HARD_MAX_TOOL_RESULT_CHARS: u64 = 400_000;

/// Length kept of a result where there is room for it: enough to see its subject.
pub const MIN_KEEP_CHARS: u64 = 2_000;

/// Maximum share of the window for one result.
pub const MAX_TOOL_RESULT_CONTEXT_SHARE: f64 = 0.3;

/// Maximum number of compactions in a recovery.
pub const MAX_OVERFLOW_COMPACTION_ATTEMPTS: u32 = 3;

/// Characters per token in all of these rules.
pub const CHARS_PER_TOKEN: u64 = 4;

/// Suffix of a result that was truncated before it was added to a session.
pub const GUARD_TRUNCATION_SUFFIX: &str = "\n\n⚠️ [Content truncated during persistence — original exceeded size limit. \
     Use offset/limit parameters or request specific sections for large content.]";

/// The numbers and messages of a system.
#[derive(Debug)]
pub struct OverflowProfile {
    /// Public name.
    pub name: &'static str,
    /// Maximum length of a result by window: for windows below a number of tokens, a number of characters; the last one
    /// for all others. Empty if only the share counts.
    tiers: &'static [(f64, u64)],
    /// Maximum length if the window is unknown.
    unknown_window: u64,
    /// Maximum length of the part of a result that one request shows, by window.
    projection: &'static [(f64, u64)],
    /// Limits of all results together, if there are any.
    aggregate: Option<AggregateNumbers>,
    /// Length kept of a result where there is room for it.
    pub min_keep: u64,
    /// True if characters of dense scripts count four times.
    pub weighted: bool,
    /// The first step of a recovery.
    pub order: Order,
    /// Suffixes of a truncated text, longest first: the first that takes at most half of the room is used. `{removed}`
    /// is the number of removed characters.
    pub suffixes: &'static [&'static str],
}

/// Limits of all results together.
#[derive(Debug)]
struct AggregateNumbers {
    request_share: f64,
    request_max: u64,
    recovery_results: u64,
    recovery_share: f64,
}

/// The newest numbers, and the default of a recovery.
pub static OPENCLAW: OverflowProfile = OverflowProfile {
    name: "openclaw",
    tiers: &[(100_000.0, 16_000), (200_000.0, 32_000), (f64::INFINITY, 64_000)],
    unknown_window: 16_000,
    projection: &[(100_000.0, 16_000), (f64::INFINITY, 32_000)],
    aggregate: Some(AggregateNumbers {
        request_share: 0.25,
        request_max: 256_000,
        recovery_results: 4,
        recovery_share: 0.5,
    }),
    min_keep: 0,
    weighted: true,
    order: Order::CheapestFirst,
    suffixes: &[
        "\n\n[... {removed} more characters truncated; rerun with narrower args if needed]",
        "\n[... {removed} more characters truncated]",
        "…",
    ],
};

/// The numbers of the document.
pub static OPENCLAW_2026_02: OverflowProfile = OverflowProfile {
    name: "openclaw-2026-02",
    tiers: &[],
    unknown_window: HARD_MAX_TOOL_RESULT_CHARS,
    projection: &[],
    aggregate: None,
    min_keep: MIN_KEEP_CHARS,
    weighted: false,
    order: Order::CompactionFirst,
    suffixes: &[
        "\n\n⚠️ [Content truncated — original was too large for the model's context window. {removed} more characters; \
         use offset/limit parameters or request specific sections for large content.]",
        "\n[... {removed} more characters truncated]",
        "…",
    ],
};

/// Follows the number in every suffix that has one.
pub const COUNTED: &str = " more characters";

/// Returns the texts before the number in the suffixes of all profiles. A truncated text is recognized by these and
/// [`COUNTED`].
pub fn openings() -> BTreeSet<&'static str> {
    let suffixes = [&OPENCLAW, &OPENCLAW_2026_02].into_iter().flat_map(|profile| profile.suffixes);
    suffixes.filter_map(|suffix| Some(suffix.split_once("{removed}")?.0.trim_start())).collect()
}

/// Returns a profile by name.
pub fn profile(name: &str) -> Option<&'static OverflowProfile> {
    [&OPENCLAW, &OPENCLAW_2026_02].into_iter().find(|profile| profile.name == name)
}

/// The limits for one window, in characters, weighted as [`OverflowProfile::weighted`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverflowLimits {
    /// Maximum length of one result.
    pub per_result: u64,
    /// Maximum length of one result in one request.
    pub projection: u64,
    /// Maximum length of all results in one request, if there is a limit.
    pub request: Option<u64>,
    /// Maximum length of all results after a recovery, if there is a limit.
    pub recovery: Option<u64>,
    /// Length kept of a result where there is room for it.
    pub min_keep: u64,
    /// True if characters of dense scripts count four times.
    pub weighted: bool,
}

/// Returns the limits for a window in tokens, which is not finite if it is unknown. `cap` is the caller's own limit of
/// a result, within the share of the window.
pub fn limits(profile: &OverflowProfile, window: f64, cap: Option<u64>) -> OverflowLimits {
    let share = share_of(window, MAX_TOOL_RESULT_CONTEXT_SHARE);
    let bounded = |cap: u64| share.map_or(cap, |share| share.min(cap));
    let tier = |tiers: &[(f64, u64)]| {
        let found = tiers.iter().find(|(below, _)| window < *below);
        found.map_or(HARD_MAX_TOOL_RESULT_CHARS, |(_, cap)| *cap)
    };
    let of = |tiers: &[(f64, u64)]| match cap {
        Some(cap) => bounded(cap),
        None if !window.is_finite() => profile.unknown_window,
        None => bounded(tier(tiers)),
    };
    let per_result = of(profile.tiers);
    let projection = of(profile.projection).min(per_result);
    let (request, recovery) = profile.aggregate.as_ref().map_or((None, None), |numbers| {
        let request = share_of(window, numbers.request_share).unwrap_or(0).max(projection);
        let recovery = share_of(window, numbers.recovery_share).unwrap_or(0);
        let results = per_result.saturating_mul(numbers.recovery_results);
        (Some(request.min(numbers.request_max)), Some(recovery.max(results)))
    });
    let OverflowProfile { min_keep, weighted, .. } = *profile;
    OverflowLimits { per_result, projection, request, recovery, min_keep, weighted }
}

/// Returns a share of the window in characters, rounded down to whole tokens.
fn share_of(window: f64, share: f64) -> Option<u64> {
    let tokens = (window * share).floor();
    window.is_finite().then(|| (tokens.max(0.0) as u64).saturating_mul(CHARS_PER_TOKEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_result(profile: &OverflowProfile, window: f64) -> u64 {
        limits(profile, window, None).per_result
    }

    #[test]
    fn the_documents_numbers() {
        for (window, cap) in [
            (0.0, 0),
            (128_000.0, 153_600),
            (200_000.0, 240_000),
            (333_333.0, 399_996),
            (333_334.0, 400_000),
            (2e6, 400_000),
            (f64::NAN, 400_000),
        ] {
            assert_eq!(per_result(&OPENCLAW_2026_02, window), cap, "{window}");
        }
    }

    #[test]
    fn the_newest_numbers() {
        for (window, cap) in [
            (10_000.0, 12_000),
            (99_999.0, 16_000),
            (100_000.0, 32_000),
            (199_999.0, 32_000),
            (200_000.0, 64_000),
            (f64::NAN, 16_000),
            (f64::INFINITY, 16_000),
        ] {
            assert_eq!(per_result(&OPENCLAW, window), cap, "{window}");
        }
        assert_eq!(limits(&OPENCLAW, 10_000.0, Some(50_000)).per_result, 12_000);
        assert_eq!(limits(&OPENCLAW, 100_000.0, Some(200_000)).per_result, 120_000);
        assert_eq!(limits(&OPENCLAW, 100_000.0, Some(8_000)).per_result, 8_000);
    }

    #[test]
    fn all_results_together() {
        for (window, request) in
            [(20e3, 20_000), (128e3, 128_000), (200e3, 200_000), (272e3, 256_000), (1e6, 256_000)]
        {
            assert_eq!(limits(&OPENCLAW, window, None).request, Some(request), "{window}");
        }
        assert_eq!(limits(&OPENCLAW, 200_000.0, None).recovery, Some(400_000));
        assert_eq!(limits(&OPENCLAW, 1e6, None).projection, 32_000);
        assert_eq!(limits(&OPENCLAW_2026_02, 1e6, None).request, None);
    }
}
