"""Service functions that notify users of events, in the application and by email."""
