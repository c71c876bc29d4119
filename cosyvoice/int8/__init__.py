"""Linear layers with 8-bit weights, and the choice of the kernel that multiplies them."""
