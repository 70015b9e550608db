"""Schema import from files that other tools or organizations have created."""
