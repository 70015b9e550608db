"""The WSGI application that gunicorn serves."""

from app.factory import create_app

app = create_app()
