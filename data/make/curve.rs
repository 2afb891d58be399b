//! Curves over time: from a few keys to a value at any instant.

/// The cubic from `[value, slope]` to `[value, slope]` for `t` from 0 to 1 (Hermite).
pub fn hermite(t: f64, [p0, v0]: [f64; 2], [p1, v1]: [f64; 2]) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * p0 + (t3 - 2.0 * t2 + t) * v0 + (3.0 * t2 - 2.0 * t3) * p1 + (t3 - t2) * v1
}

/// From 0 to 1 with level ends; constant outside.
pub fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Keys of `[time, value]`, joined by cubics whose slopes are those of the neighbours; level at both ends.
pub fn through(keys: &[[f64; 2]], time: f64) -> f64 {
    let slope = |k: usize| {
        if k == 0 || k + 1 == keys.len() {
            return 0.0;
        }
        (keys[k + 1][1] - keys[k - 1][1]) / (keys[k + 1][0] - keys[k - 1][0])
    };
    let sloped: Vec<[f64; 3]> = keys.iter().enumerate().map(|(k, key)| [key[0], key[1], slope(k)]).collect();
    with_slopes(&sloped, time)
}

/// Keys of `[time, value, slope]`, joined by cubics; constant outside.
pub fn with_slopes(keys: &[[f64; 3]], time: f64) -> f64 {
    let (first, last) = (keys[0], keys[keys.len() - 1]);
    if time <= first[0] {
        return first[1];
    }
    let Some(pair) = keys.windows(2).find(|w| time < w[1][0]) else { return last[1] };
    let (a, b) = (pair[0], pair[1]);
    let span = b[0] - a[0];
    hermite((time - a[0]) / span, [a[1], a[2] * span], [b[1], b[2] * span])
}
