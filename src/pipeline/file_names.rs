//! Names of the files that are written next to outputs.

/// Extension of tables of contact labels next to outputs.
pub(crate) const CONTACT_TABLE: &str = "contacts.csv";
/// Extension of tables of forces next to outputs.
#[cfg(feature = "physics")]
pub(crate) const FORCE_TABLE: &str = "forces.csv";
/// Extension of arrays of forces next to outputs.
#[cfg(all(feature = "physics", feature = "formats"))]
pub(crate) const FORCE_ARRAYS: &str = "forces.npz";
/// Extension of the report pages next to outputs.
pub(crate) const CLIP_PAGE: &str = "report.html";
/// Name of the report for scripts in a folder of outputs.
pub(crate) const REPORT: &str = "report.json";
/// Name of the report page in a folder of outputs.
pub(crate) const REPORT_PAGE: &str = "report.html";
