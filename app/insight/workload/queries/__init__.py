"""SQL of what people have to do, and of what they did."""
