"""Teams of members."""
