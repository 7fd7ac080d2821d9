"""Long attacks with random input; each module has ``main(seed, tries)``, which returns the number of violations."""
