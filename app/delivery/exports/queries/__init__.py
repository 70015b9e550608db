"""SQL queries for export records and for the rows of export files."""
