"""What limits a link or a router: bits or packets, and how long packets should be."""
