"""The life of a webhook against a small model, and against what a real receiver saw."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from tests.delivery.webhooks.conftest import (
    Answer,
    Hooks,
    ReceivedRequest,
    build_verifier,
    compute_signature,
)
from tests.factories.state_machines import run_machine
from tests.factories.work import run_jobs_of

MAX_ATTEMPTS = 4
BROKEN = Answer(500, b"out of order")
STATUSES = ("abandoned", "failed", "delivered", "skipped")


@dataclass
class Model:
    """What is known of one delivery. `is_due` if an attempt would begin now."""

    status: str
    round: int = 1
    attempts_in_round: int = 0
    attempts: int = 0
    is_due: bool = False

    def begin_round(self) -> None:
        """Begin another round of attempts."""
        self.status, self.is_due = "pending", True
        self.round, self.attempts_in_round = self.round + 1, 0

    def fail(self) -> None:
        """Record a failed attempt."""
        self.count_attempt()
        self.status = "abandoned" if self.attempts_in_round == MAX_ATTEMPTS else "pending"

    def count_attempt(self) -> None:
        """Count an attempt; a retry is due later."""
        self.attempts += 1
        self.attempts_in_round += 1
        self.is_due = False


@dataclass
class State:
    """What is known of the webhook."""

    id: str
    path: str
    secrets: list[str]
    active: bool = True
    failures: int = 0
    deliveries: dict[str, Model] = field(default_factory=dict)
    seen: int = 0


class Life(RuleBasedStateMachine):
    """A webhook whose receiver fails and recovers, under an admin who acts on it."""

    hooks: Hooks
    number = 0

    @initialize()
    def create(self) -> None:
        type(self).number += 1
        path = f"/life/{self.number}"
        created = self.hooks.create(path)
        self.state = State(created["id"], path, [created["secret"]])

    def act(self, action: str, **body: Any) -> Any:
        path = f"/webhooks/{self.state.id}/{action}"
        return self.hooks.org.api("admin").post(path, json=body or None)

    def requests(self) -> list[ReceivedRequest]:
        """Return the requests since the last call, after verifying them."""
        every = self.hooks.receiver.list_requests(self.state.path)
        new, self.state.seen = every[self.state.seen :], len(every)
        for request in new:
            signature = compute_signature(self.state.secrets[0], request.body)
            assert request.headers["X-Service-Signature"] == signature
            for secret in self.state.secrets[:2]:
                build_verifier(secret).verify(request.body, request.headers)
        return new

    @rule(count=st.sampled_from([1, 2, 12]))
    def emit(self, count: int) -> None:
        self.hooks.create_deliveries(count)
        state = self.state
        shown = self.hooks.list_deliveries({"id": state.id}, page_size=1000)
        new = [delivery["id"] for delivery in shown if delivery["id"] not in state.deliveries]
        assert len(new) == count
        for delivery_id in new:
            status = "pending" if state.active else "abandoned"
            state.deliveries[delivery_id] = Model(status, is_due=state.active)

    @rule(works=st.booleans(), retry=st.booleans())
    def send(self, works: bool, retry: bool) -> None:
        state = self.state
        self.hooks.receiver.answers[state.path] = deque([Answer() if works else BROKEN])
        if retry:
            self.hooks.make_due()
            for model in state.deliveries.values():
                model.is_due |= model.status == "pending"
        due = {key for key, model in state.deliveries.items() if model.is_due and state.active}
        self.hooks.deliver()
        requests = self.requests()
        sent = Counter(request.headers["X-Service-Delivery"] for request in requests)
        assert max(sent.values(), default=0) <= 1, "no delivery twice"
        assert set(sent) <= due
        for request in requests:
            model = state.deliveries[request.headers["X-Service-Delivery"]]
            assert int(request.headers["X-Service-Attempt"]) == model.attempts + 1
        (self.succeed if works else self.fail)(due, set(sent))

    def succeed(self, due: set[str], sent: set[str]) -> None:
        assert sent == due
        for key in sent:
            self.state.deliveries[key].count_attempt()
            self.state.deliveries[key].status = "delivered"
        if sent:
            self.state.failures = 0

    def fail(self, due: set[str], sent: set[str]) -> None:
        state = self.state
        assert len(sent) == min(len(due), DEACTIVATE_AT - state.failures)
        for key in sent:
            state.deliveries[key].fail()
        state.failures += len(sent)
        if state.failures == DEACTIVATE_AT and sent:
            self.stop()

    def stop(self) -> None:
        """The webhook is deactivated, and what is pending is abandoned."""
        self.state.active = False
        for model in self.state.deliveries.values():
            model.is_due = False
            if model.status == "pending":
                model.status = "abandoned"

    @rule()
    def rotate(self) -> None:
        answer = self.act("rotate-secret")
        self.state.secrets.insert(0, answer.json["data"]["secret"])

    @rule()
    def deactivate(self) -> None:
        assert self.act("deactivate").status_code == 200
        if self.state.active:
            self.stop()

    @rule()
    def activate(self) -> None:
        assert self.act("activate").status_code == 200
        self.state.active, self.state.failures = True, 0

    @rule(statuses=st.none() | st.sets(st.sampled_from(STATUSES), min_size=1).map(sorted))
    def replay(self, statuses: list[str] | None) -> None:
        body = {} if statuses is None else {"statuses": statuses}
        assert self.act("activate", replay=body).status_code == 200
        self.state.active, self.state.failures = True, 0
        run_jobs_of(self.hooks.org, "bulk")
        count = 0
        for model in self.state.deliveries.values():
            # What was delivered was so within a day.
            if model.status in (statuses or STATUSES[:2]) and model.status != "delivered":
                model.begin_round()
                count += 1
        shown = self.hooks.get({"id": self.state.id})["replay"]
        assert shown["progress"] == {"done": count, "total": count}
        assert shown["finished_at"] is not None

    @precondition(lambda self: self.state.deliveries)
    @rule(data=st.data())
    def redeliver(self, data: st.DataObject) -> None:
        keys = list(self.state.deliveries)
        key = keys[data.draw(st.integers(0, len(keys) - 1))]
        model = self.state.deliveries[key]
        answer = self.act(f"deliveries/{key}/redeliver")
        if not self.state.active:
            assert answer.json["error"]["details"] == {"state": "deactivated"}
        elif model.status == "pending" and not model.attempts_in_round:
            assert answer.json["error"]["details"] == {"state": "pending"}
        else:
            assert answer.status_code == 202
            model.begin_round()

    @invariant()
    def everything_is_as_the_model_has_it(self) -> None:
        state = self.state
        shown = self.hooks.get({"id": state.id})
        assert (shown["active"], shown["consecutive_failures"]) == (state.active, state.failures)
        models = state.deliveries.values()
        statuses = Counter(model.status for model in models)
        assert shown["missed_count"] == statuses["abandoned"]
        assert (shown["replayable_until"] is None) is (statuses["abandoned"] == 0)
        counts = {name: shown["statistics"][name] for name in ("delivered", "failed", "pending")}
        assert counts == {
            "delivered": statuses["delivered"],
            "failed": statuses["abandoned"],
            "pending": statuses["pending"],
        }
        shown_deliveries = {
            delivery["id"]: (delivery["status"], delivery["round"], len(delivery["attempts"]))
            for delivery in self.hooks.list_deliveries({"id": state.id}, page_size=1000)
        }
        assert shown_deliveries == {
            key: (model.status, model.round, model.attempts)
            for key, model in state.deliveries.items()
        }

    def teardown(self) -> None:
        if hasattr(self, "state"):
            self.hooks.org.api("admin").delete(f"/webhooks/{self.state.id}")


def test_the_life_of_a_webhook(hooks: Hooks) -> None:
    run_machine(type("Life", (Life,), {"hooks": hooks}), examples=8, steps=16)
