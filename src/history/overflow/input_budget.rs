//! How much of a model's context its input may use.

use crate::history::compaction::limits::DOCUMENT;

/// What a model can take, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Input and output together. 0 if nobody knows.
    pub context: f64,
    /// What an answer may have. 0 if nobody knows.
    pub output: f64,
    /// What the input may have, where the provider has such a limit.
    pub input: Option<f64>,
}

/// What stays free by default, unless an answer can have less.
const RESERVED: f64 = 20_000.0;

/// The same as a share of a window that is not larger than that.
const RESERVED_SHARE: f64 = 0.2;

/// Returns the tokens that the input may have: the context without the answer or what is reserved, whichever is more, and
/// not more than the provider's limit of the input without what is reserved, because the next turn adds to it before
/// anybody looks again. None if the context is not known, or if nothing would be left.
pub fn usable(model: &Model, reserved: Option<f64>) -> Option<f64> {
    let Model { context, output, input } = *model;
    if !context.is_finite() || context <= 0.0 {
        return None;
    }
    let output = if output.is_finite() { output.max(0.0) } else { 0.0 };
    let input = input.filter(|input| input.is_finite() && *input > 0.0);
    let reserved = reserved.unwrap_or_else(|| match input.unwrap_or(context) {
        _ if output > 0.0 => RESERVED.min(output),
        limit if limit <= RESERVED => RESERVED_SHARE * limit,
        _ => RESERVED,
    });
    // An answer as long as the context says nothing about the input.
    let is_known = output < context;
    let usable = match input {
        Some(input) => (input - reserved).min(if is_known { context - output } else { context }),
        None if is_known => context - output.max(reserved),
        None => context - reserved,
    };
    // With nothing usable every request would be an overflow.
    (usable > 0.0).then_some(usable)
}

/// The tokens that a history may have in a window where a model's limits are not known: as many as a compaction leaves it.
pub fn target(window: f64, reserved: f64) -> f64 {
    DOCUMENT.room(window, reserved).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_room_is_kept() {
        let of = |context, output, input| usable(&Model { context, output, input }, None);
        assert_eq!(of(100_000.0, 32_000.0, None), Some(68_000.0));
        assert_eq!(of(400_000.0, 128_000.0, Some(272_000.0)), Some(252_000.0));
        assert_eq!(of(200_000.0, 32_000.0, Some(200_000.0)), Some(168_000.0));
        assert_eq!(of(0.0, 32_000.0, None), None);
        assert_eq!(of(1_000.0, 32_000.0, None), None);
        assert_eq!(of(100_000.0, 0.0, None), Some(80_000.0));
        assert_eq!(of(8_000.0, 0.0, None), Some(6_400.0));
        assert_eq!(target(128_000.0, 0.0), 123_904.0);
        assert_eq!(target(1_000.0, 0.0), 800.0);
    }
}
