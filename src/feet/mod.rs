//! Feet that slide, float or sink become feet that stand: contacts locked, the pelvis placed, the rest kept out of the floor.
