"""Service functions for bulk import: accept files with many documents, and import them."""

from app.intake.bulk_import.service.accepting import import_local_file, import_records
from app.intake.bulk_import.service.labels import LabelsAs
from app.intake.bulk_import.service.running import run_import

__all__ = ["LabelsAs", "import_local_file", "import_records", "run_import"]
