"""What the templates' constraints let through, by values as they stand on paper."""

import pytest

from app.engines.fields import Field, ValueProblem, normalize
from app.schemas.templates.catalog import load_templates

GOOD = [
    ("invoice.iban", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    ("invoice.bic", "COBADEFFXXX", "COBADEFFXXX"),
    ("invoice.supplier_vat_number", "ATU 33864707", "ATU33864707"),
    ("invoice.line_items.tax_rate", "7,7", 7.7),
    ("bank_statement.sort_code", "12-34-56", "12-34-56"),
    ("bank_check.routing_number", "111000025", "111000025"),
    ("bank_check.account_number", "0001 234567", "0001 234567"),
    ("bill_of_lading.containers.container_number", "CSQU 305438 3", "CSQU3054383"),
    ("bill_of_lading.imo_number", "IMO 9319466", "9319466"),
    ("bill_of_lading.goods.hs_code", "8471.30.00", "8471.30.00"),
    ("bill_of_lading.goods.un_number", "UN 1263", "UN 1263"),
    ("w2.employee_ssn", "XXX-XX-6789", "XXX-XX-6789"),
    ("w2.employer_ein", "91-1144442", "911144442"),
    ("w2.wages", "52,345.67", {"amount": "52345.67", "currency": "USD"}),
    ("w2.box_12.code", "DD", "DD"),
    ("w2.box_12.code", "TP", "TP"),
    ("w2.tipped_occupation_codes", "101", "101"),
    ("purchase_order.incoterm", "DDU", "DDU"),
    ("delivery_note.incoterm", "DAT", "DAT"),
    ("lab_report.collected_date", "5 May 2026", "2026-05-05"),
    ("lab_report.collected_time", "7:40 am", "07:40:00"),
    ("lease.deposit_form", "insurance", "insurance"),
    ("w9.ssn", "536-90-4399", "536904399"),
    ("w9.exempt_payee_code", 13, 13),
    ("passport.mrz_line_1", f"P<UTOERIKSSON<<ANNA<MARIA{'<' * 19}", None),
    ("passport.mrz_line_2", "L898902C36UTO7408122F1204159ZE184226B<<<<<10", None),
    ("passport.issuing_country", "D<<", "D<<"),
    ("health_insurance_card.rx_bin", "610014", "610014"),
    ("health_insurance_card.member_services_phone", "(800) 627-8797", "+18006278797"),
    ("insurance_claim.vehicle_identification_number", "1HGCM82633A004352", "1HGCM82633A004352"),
    ("lab_report.results.loinc_code", "718-7", "718-7"),
    ("know_your_customer.lei", "213800KUD8LAJWSQ9D15", "213800KUD8LAJWSQ9D15"),
    ("know_your_customer.giin", "98Q96B.00000.LE.250", "98Q96B.00000.LE.250"),
    ("driving_licence.mrz_line", f"D1NLD15094962111659VV80{'<' * 7}", None),
]
BAD = [
    ("invoice.iban", "DE89 3704 0044 0532 0130 01"),
    ("invoice.line_items.tax_rate", 119),
    ("bank_check.routing_number", "111000026"),
    ("bank_check.amount", "-5.00 USD"),
    ("bill_of_lading.containers.container_number", "CSQU 305438 4"),
    ("bill_of_lading.containers.container_number", "\u0421SQU3054383"),
    ("w2.wages", "52,345.67 EUR"),
    ("w2.employee_ssn", "12-345-6789"),
    ("w2.box_12.code", "X"),
    ("w9.exempt_payee_code", 14),
    ("passport.mrz_line_1", "P<UTOERIKSSON<<ANNA<MARIA"),
    ("insurance_claim.vehicle_identification_number", "1HGCM82633A00435O"),
    ("lease.rent_due_day", 32),
]


def _field(path: str) -> Field:
    template, *keys = path.split(".")
    members = load_templates()[template].fields
    for key in keys:
        (field,) = (member for member in members if member["key"] == key)
        members = field["columns"]
    return field


@pytest.mark.parametrize(("path", "value", "wanted"), GOOD)
def test_what_stands_on_paper_is_taken(path: str, value: object, wanted: object) -> None:
    found = normalize(_field(path), value)
    assert found == (value if wanted is None else wanted)


@pytest.mark.parametrize(("path", "value"), BAD)
def test_what_cannot_be_is_refused(path: str, value: object) -> None:
    with pytest.raises(ValueProblem):
        normalize(_field(path), value)
