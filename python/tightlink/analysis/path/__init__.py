"""What a path carries: measured, predicted, and what would change it."""
