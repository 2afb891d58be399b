//! Stops a batch on Ctrl-C or SIGTERM: a flag that is checked before each job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Exit code after a second signal: the usual one of a program that Ctrl-C ended, 128 + SIGINT.
const ENDED: i32 = 130;

/// The flag of this process, which the first signal sets. A second signal ends the process at once; the next run removes its
/// unfinished files.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let made = || {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        let handler = move || {
            if raised.swap(true, Ordering::Relaxed) {
                std::process::exit(ENDED);
            }
        };
        // If the handler cannot be installed, signals keep their default effect.
        let _ = ctrlc::set_handler(handler);
        flag
    };
    Arc::clone(FLAG.get_or_init(made))
}
