"""The sample document that the fork server reads at its start."""

from app.engines.documents.readers.warming import read_sample

TEXT = """Invoice 2024-17 of 3 May 2024
Two cafés crème and 12 pieces of cake
Total due: 1,234.56 EUR
Payable within thirty days"""


def test_every_page_of_the_sample_is_read() -> None:
    assert [page["text"] for page in read_sample()] == [TEXT] * 12
