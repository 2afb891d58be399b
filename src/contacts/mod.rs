//! A motion becomes contact labels: which parts of the body rest when, and how high the ground lies.
