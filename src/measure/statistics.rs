//! Many numbers become the few that describe them.

/// The mean; 0 of no numbers.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The root of the mean square; 0 of no numbers.
pub fn rms(squares: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for square in squares {
        sum += square;
        count += 1;
    }
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
}

/// The value below which `share` (0 to 1) of the numbers lie, between neighbours by straight lines; 0 of no numbers.
/// The order of `values` changes.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let at = share * last as f64;
    let below = at.floor() as usize;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (at - below as f64) * (high - low)
}

/// The greatest; 0 of no numbers.
pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_neighbours() {
        assert_eq!(percentile(&mut [3.0, 1.0, 2.0, 4.0, 5.0], 0.5), 3.0);
        assert!((percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.95) - 3.85).abs() < 1e-12);
        assert_eq!(percentile(&mut [7.0], 0.95), 7.0);
        assert_eq!(percentile(&mut [], 0.95), 0.0);
    }
}
