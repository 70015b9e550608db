"""Listing, reading and instantiating templates."""

from typing import Any

import pytest

from app.schemas.templates.catalog import load_templates
from tests.factories import Org
from tests.factories.orgs import Api, get_data

IDS = sorted(load_templates())


def _ids(org: Org, query: str) -> list[str]:
    answer = org.api("viewer").get(f"/schema-templates?{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [template["id"] for template in answer.json["data"]]


def test_anybody_who_is_signed_in_may_read_them(org: Org) -> None:
    person = Api(org.app.test_client(), org.tokens["viewer"], None)
    assert person.get("/schema-templates").status_code == 200
    assert person.get("/schema-templates/invoice").status_code == 200
    assert org.anonymous().get("/schema-templates").status_code == 401
    assert org.anonymous().get("/schema-templates/invoice").status_code == 401


def test_a_key_that_makes_schemas_of_them_may_read_them(org: Org) -> None:
    key = org.key("admin")
    listed = key.get("/schema-templates").json["data"]
    assert [one["id"] for one in listed] == [
        record["id"] for record in org.api().get("/schema-templates").json["data"]
    ]
    assert key.get("/schema-templates/invoice").status_code == 200
    assert key.post("/schema-templates/invoice/instantiate", {}).status_code == 201


def test_the_list_has_no_fields_but_counts_them(org: Org) -> None:
    listed = org.api("viewer").get("/schema-templates").json["data"]
    assert [template["name"] for template in listed] == sorted(
        t.name for t in load_templates().values()
    )
    invoice = next(template for template in listed if template["id"] == "invoice")
    assert invoice.keys() == {
        *("id", "name", "industry", "document_type", "description", "field_count")
    }
    assert invoice["field_count"] == len(load_templates()["invoice"].fields)


def test_the_list_is_filtered_and_sorted(org: Org) -> None:
    assert _ids(org, "industry=tax") == ["w2", "w9"]
    assert _ids(org, "q=AGREEMENT") == ["non_disclosure_agreement"]
    assert _ids(org, "q=w2") == ["w2"]
    assert _ids(org, "q=%25") == _ids(org, "q=nothing") == []
    assert _ids(org, "document_type=lease") == ["lease"]
    assert _ids(org, "industry=tax&document_type=lease") == []
    assert _ids(org, "sort=-id") == IDS[::-1]
    assert org.api("viewer").get("/schema-templates?industry=sports").status_code == 422


def test_pages_have_each_template_once(org: Org) -> None:
    api, cursor, seen = org.api("viewer"), "", []
    while cursor is not None:
        query = f"&cursor={cursor}" if cursor else ""
        answer = api.get(f"/schema-templates?page_size=5&sort=industry{query}").json
        assert answer["meta"]["total"] == len(IDS)
        seen += [(template["industry"], template["id"]) for template in answer["data"]]
        cursor = answer["meta"]["next_cursor"]
    assert seen == sorted((t.industry, t.id) for t in load_templates().values())


@pytest.mark.parametrize("template_id", IDS)
def test_a_template_becomes_a_schema_that_can_be_published(org: Org, template_id: str) -> None:
    api = org.api("admin")
    template = api.get(f"/schema-templates/{template_id}").json["data"]
    schema = get_data(api.post(f"/schema-templates/{template_id}/instantiate", {}), 201)
    copied = ("name", "document_type", "description", "guidelines", "fields")
    assert {name: schema[name] for name in copied} == {name: template[name] for name in copied}
    assert (schema["status"], schema["revision"]) == ("draft", 1)
    assert schema["created_by"] == str(org.users["admin"])
    version = api.post(f"/schemas/{schema['id']}/publish", {}).json["data"]
    read = api.get(f"/schema-versions/{version['id']}").json["data"]
    assert read["fields"] == template["fields"]
    assert api.get(f"/schemas/{schema['id']}").json["data"]["current_version"]["number"] == 1


def test_name_kind_and_fields_can_be_chosen(org: Org) -> None:
    body = {
        "name": "Freight invoices",
        "document_type": "freight_invoice",
        "fields": ["total_amount", "line_items", "invoice_number", "total_amount"],
    }
    answer = org.api("admin").post("/schema-templates/invoice/instantiate", body)
    schema = answer.json["data"]
    assert (schema["name"], schema["document_type"]) == ("Freight invoices", "freight_invoice")
    keys = [field["key"] for field in schema["fields"]]
    assert keys == ["invoice_number", "line_items", "total_amount"]
    assert len(schema["fields"][1]["columns"]) == 11


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"fields": ["invoice_number", "colour"]}, 400, "fields.1"),
        ({"fields": []}, 400, "fields"),
        ({"fields": [1]}, 422, "fields.0"),
        ({"fields": ["x"] * 501}, 422, "fields"),
        ({"name": " "}, 422, "name"),
        ({"colour": 1}, 422, "colour"),
    ],
)
def test_what_does_not_fit_is_refused(
    org: Org, body: dict[str, Any], status: int, field: str
) -> None:
    answer = org.api("admin").post("/schema-templates/invoice/instantiate", body)
    assert answer.status_code == status, answer.json
    assert answer.json["error"]["field"] == field
    assert org.api("admin").get("/schemas").json["meta"]["total"] == 0


def test_an_unknown_template_is_not_found(org: Org) -> None:
    api = org.api("admin")
    for name in ("horoscope", "INVOICE", "..%2Fcatalog", "invoice.toml"):
        assert api.get(f"/schema-templates/{name}").status_code == 404
        assert api.post(f"/schema-templates/{name}/instantiate", {}).status_code == 404


def test_only_admins_instantiate(org: Org) -> None:
    answer = org.api("reviewer").post("/schema-templates/invoice/instantiate", {})
    assert answer.status_code == 403
    assert answer.json["error"]["code"] == "insufficient_role"
