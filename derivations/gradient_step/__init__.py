"""What one gradient step does to the first layer: spike, bulk, orders, leaps."""
