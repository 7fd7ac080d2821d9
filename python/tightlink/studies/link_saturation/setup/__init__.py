"""What is simulated: sweeps over packet sizes, perturbed links, mixed sizes, connections, random arrivals."""
