"""Many responses at once: which say the same, and how algorithms differ in them."""
