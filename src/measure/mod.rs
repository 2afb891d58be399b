//! A motion becomes numbers that say how good it is: published quality metrics, each with its formula.
