"""HTTP operations: declaration, validation, responses and documentation."""
