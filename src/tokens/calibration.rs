//! Calibrates estimates for one model by the counts of its provider.

use crate::util::sort::sort_by;

/// A ratio further from 1 than this has another cause than the tokenizer.
const BOUND: f64 = 8.0;

/// Returns the correction factor that real counts suggest: the median of actual / estimated, weighted by tokens, so
/// that one wrong pair changes little. The factor is between 1/8 and 8, and 1 if no pair is usable.
pub fn factor(estimated: &[f64], actual: &[f64]) -> f64 {
    let usable = |number: f64| number.is_finite() && number > 0.0;
    let mut ratios: Vec<(f64, f64)> = estimated
        .iter()
        .zip(actual)
        .filter(|(estimated, actual)| usable(**estimated) && usable(**actual))
        .map(|(estimated, actual)| ((actual / estimated).clamp(1.0 / BOUND, BOUND), *estimated))
        .collect();
    sort_by(&mut ratios, |a, b| a.0.total_cmp(&b.0));
    let half = ratios.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let median = ratios.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    median.map_or(1.0, |(ratio, _)| *ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_pair_changes_nothing() {
        assert_eq!(factor(&[], &[]), 1.0);
        assert_eq!(factor(&[100.0], &[250.0]), 2.5);
        assert_eq!(factor(&[100.0, 100.0, 100.0], &[130.0, 130.0, 9e9]), 1.3);
        assert_eq!(factor(&[10.0, 10_000.0], &[40.0, 12_000.0]), 1.2, "the long one counts");
        assert_eq!(factor(&[1.0, f64::NAN, -1.0, 0.0], &[1e9, 1.0, 1.0, 5.0]), 8.0);
    }
}
