//! Mean, root mean square and maximum of lists.

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

/// The greatest; 0 of no numbers.
pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
