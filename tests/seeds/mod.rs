//! Repeats a test with random numbers from consecutive seeds; a failing case prints its seed.

use crate::perturbed::Noise;

struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {}", self.0);
        }
    }
}

/// Runs `law` with the seeds 1 to `count`.
pub fn for_seeds(count: u64, law: impl Fn(&mut Noise)) {
    for seed in 1..=count {
        let _shown = Seed(seed);
        law(&mut Noise(seed));
    }
}

/// A whole number below `end`.
pub fn below(noise: &mut Noise, end: usize) -> usize {
    (noise.even() * end as f64) as usize
}

#[test]
fn property_tests_draw_the_same_cases_in_every_run() {
    let seed = proptest::test_runner::Config::default().rng_seed;
    let fixed = matches!(seed, proptest::test_runner::RngSeed::Fixed(_));
    assert!(fixed, "the seed is random: run tests with cargo, which sets it from .cargo/config.toml");
}
