"""The sample that the fork server reads before it reads documents."""

from app.engines.documents.readers.warming import read_sample


def test_every_page_of_the_sample_is_read() -> None:
    pages = read_sample()
    assert len(pages) == 12
    assert {page["text"] for page in pages} == {
        "Invoice 2024-17 of 3 May 2024\nTwo cafés crème and 12 pieces of cake\n"
        "Total due: 1,234.56 EUR\nPayable within thirty days"
    }
