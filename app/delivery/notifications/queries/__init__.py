"""SQL for notifications: recipients, open notifications, and emails."""
