//! Ctrl-C and the system's wish to end become a flag that a batch looks at before each job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code after a second signal: that of a program which Ctrl-C ended.
const ENDED: i32 = 130;

/// A flag that the first signal sets, once for the process. A second signal ends the process at once: what is half
/// written is swept by the next run.
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
        // Where signals cannot be heard, they do what they always did.
        let _ = ctrlc::set_handler(handler);
        flag
    };
    Arc::clone(FLAG.get_or_init(made))
}
