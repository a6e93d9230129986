//! Computes how much of a model's context the input may use.

use crate::history::compaction::limits::DOCUMENT;

/// The limits of a model in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Input and output together; 0 if unknown.
    pub context: f64,
    /// Maximum output; 0 if unknown.
    pub output: f64,
    /// Maximum input, if the provider has such a limit.
    pub input: Option<f64>,
}

/// Default reserve in tokens, unless the maximum output is less.
const RESERVED: f64 = 20_000.0;

/// Default reserve as a share of a window that is not larger than that.
const RESERVED_SHARE: f64 = 0.2;

/// Returns the maximum number of input tokens: the context without the larger of answer and reserve, and at most the
/// provider's input limit without the reserve, because the next turn adds to it before the next check. Returns `None`
/// if the context is unknown, or if nothing would be left.
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
    // A maximum output as large as the context says nothing about the input.
    let is_known = output < context;
    let usable = match input {
        Some(input) => (input - reserved).min(if is_known { context - output } else { context }),
        None if is_known => context - output.max(reserved),
        None => context - reserved,
    };
    // With nothing usable every request would be an overflow.
    (usable > 0.0).then_some(usable)
}

/// Returns the maximum number of tokens of a history if the model's limits are unknown: as many as a compaction leaves.
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
