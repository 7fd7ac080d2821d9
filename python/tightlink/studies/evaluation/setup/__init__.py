"""Controls, and the pack of tests that they go through."""
