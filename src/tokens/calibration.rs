//! How far estimates are off for one model, learnt from what its provider counted.

use crate::util::sort::sort_by;

/// A ratio further off than this comes from something else than the tokenizer.
const BOUND: f64 = 8.0;

/// The factor that real counts suggest: the median of actual by estimated, a pair counting as much as it has tokens, so
/// that one wrong pair changes little. Between an eighth and eight; 1 with no pair that can be used.
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
