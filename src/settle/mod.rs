//! A clip becomes one that physics could have performed: a ragdoll follows it under contacts, limits and gravity.
