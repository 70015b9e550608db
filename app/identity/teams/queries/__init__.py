"""SQL queries of teams, their tree and their members."""
