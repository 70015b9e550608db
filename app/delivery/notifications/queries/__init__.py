"""SQL queries for notifications: recipients, open notifications, and emails."""
