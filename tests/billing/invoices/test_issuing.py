from tests.billing.conftest import Customer


def test_first(customer: Customer) -> None:
    customer.used("documents_per_month", "2001-03-05", 1200)
    customer.issue("2001-03")
    invoices = customer.list_invoices()
    import json

    print(json.dumps(invoices, indent=1))
    up = customer.org.api("admin").get("/billing/invoices/upcoming")
    print(up.json)
    assert 0
