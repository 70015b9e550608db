"""Service functions of scheduled exports: manage them, start their runs, deliver their files."""
