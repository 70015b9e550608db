"""SQL of label sets: reading and lists, the save, and the changes of state."""
