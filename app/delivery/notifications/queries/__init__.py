"""SQL of notifications: recipients, open notifications, and emails."""
