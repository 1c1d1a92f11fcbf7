"""Hints and docstrings become a schema; what a model sends is held against it, mended where only one thing can be meant."""

# ruff: noqa: UP007, UP045 - the older spellings of a union are hints that people write

import dataclasses
import datetime as dt
import enum
import functools
import json
import typing
import uuid
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.world.tools import tool, tool_of, tools_in
from hermes_kernel.world.tools.arguments import Misfit, fit_arguments
from hermes_kernel.world.tools.docs import read_docs
from hermes_kernel.world.tools.revive import revive
from hermes_kernel.world.tools.schema import HintError, schema_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(TypedDict):
    street: str
    number: NotRequired[int]


@dataclasses.dataclass
class Person:
    name: str
    colour: Colour = Colour.RED
    tags: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class Tree:
    value: int
    children: list["Tree"] = dataclasses.field(default_factory=list)


class Pair(typing.NamedTuple):
    left: int
    right: str = "r"


Alias = typing.NewType("Alias", int)

SCHEMAS = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (Alias, {"type": "integer"}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a", 1], {"enum": ["a", 1]}),
    (Colour, {"type": "string", "enum": ["red", "blue"]}),
    (list, {"type": "array", "items": {}}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (tuple[int, int], {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
    (dict, {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Path, {"type": "string"}),
    (dt.date, {"type": "string", "format": "date"}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
]


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=lambda value: str(value)[:40])
def test_a_hint_has_the_schema_a_provider_expects(hint, schema):
    assert schema_of(hint) == schema


def test_classes_with_fields_are_objects_and_one_within_itself_ends():
    assert schema_of(Address)["required"] == ["street"]
    assert schema_of(Person)["required"] == ["name"]
    assert schema_of(Pair)["required"] == ["left"]
    assert schema_of(Tree)["properties"]["children"]["items"] == {"type": "object"}


def test_a_pydantic_model_is_described_by_itself_and_made_from_what_comes():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        sku: str
        count: int = pydantic.Field(default=1, ge=1, description="how many")

    class Order(pydantic.BaseModel):
        lines: list[Line]

    got = []

    def order(order: Order, note: Annotated[int, pydantic.Field(description="a note", ge=3)] = 3) -> str:
        got.append(order)
        return "ok"

    made = tool_of(order)
    schema = json.loads(made.parameters)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["note"]["description"] == "a note"
    fitted = fit_arguments({"order": {"lines": [{"sku": 5}]}}, schema)
    made.run(**fitted)
    assert got[0].lines[0].sku == "5"
    with pytest.raises(Misfit, match="minimum is 3"):
        fit_arguments({"order": {"lines": []}, "note": 1}, schema)


@pytest.mark.parametrize("hint", [typing.Callable[[], int], type, Literal[b"x"], complex])
def test_a_hint_without_a_json_form_is_refused_by_the_parameters_name(hint):
    def odd(thing):
        return thing

    odd.__annotations__["thing"] = hint
    with pytest.raises(HintError, match="odd: thing: "):
        tool_of(odd)


def test_a_function_a_model_cannot_call_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match="cannot be asked for \\*args"):
        tool(name="f")(lambda *args: args)
    with pytest.raises(TypeError, match=r"\*\*options"):
        tool(name="f")(lambda **options: options)
    with pytest.raises(TypeError, match=r"tool\(name="):
        tool(lambda: None)

    def undefined(x: "Missing") -> None: ...  # noqa: F821

    with pytest.raises(TypeError, match="'Missing' is not defined"):
        tool(undefined)


def test_a_decorated_function_is_the_function_it_was():
    def double(n: int) -> int:
        """Twice."""
        return 2 * n

    marked = tool(double)
    assert marked is double
    assert marked(4) == 8
    assert tool_of(marked).description == "Twice."
    assert tool_of(marked) is tool_of(marked)


class Unbound:
    """As a web framework's proxy for a request that there is not."""

    @property
    def __class__(self):
        raise RuntimeError("working outside of a request")


def test_options_are_kept_and_the_namespaces_tools_are_found():
    @tool(name="other", seconds=5, exclusive=True, repeatable=True)
    async def one() -> None: ...

    made = tool_of(one)
    assert (made.name, made.seconds, made.exclusive, made.repeatable) == ("other", 5, True, True)
    assert tools_in({"one": one, "_hidden": one, "x": 1, "f": lambda: 1, "proxy": Unbound()}) == (made,)


def test_methods_partials_and_callable_objects_are_tools_too():
    class Shop:
        def __init__(self):
            self.stock = {"a": 1}

        @tool(repeatable=True)
        def count(self, sku: str) -> int:
            """How many there are."""
            return self.stock[sku]

        def __call__(self, sku: str) -> int:
            """Call me."""
            return 7

    def add(a: int, b: int) -> int:
        """Sum."""
        return a + b

    counted = tool_of(Shop().count)
    assert json.loads(counted.parameters)["required"] == ["sku"]
    assert counted.repeatable
    assert counted.run(sku="a") == 1
    assert tool_of(Shop(), name="shop").run(sku="x") == 7
    assert tool_of(functools.partial(add, b=2), name="add2").run(a=1) == 3


def test_positional_only_and_defaulted_parameters_are_called_as_declared():
    def f(a: int, b: int = 2, /, c: int = 3, *, d: int = 4):
        return (a, b, c, d)

    run = tool_of(f).run
    assert run(a=1) == (1, 2, 3, 4)
    assert run(a=1, d=9, c=8) == (1, 2, 8, 9)


GOOGLE = """Find it.

More about it.

Args:
    query: What to
        look for.
    limit (int): How many.
    *names: ignored

Returns:
    The finds: all.

Example:
    find("x")
"""
NUMPY = """Find it.

More about it.

Parameters
----------
query : str
    What to
    look for.
limit : int, optional
    How many.

Returns
-------
list
    The finds.
"""
SPHINX = """Find it.

More about it.

:param query: What to
    look for.
:param int limit: How many.
:returns: the finds
:rtype: list
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_a_docstrings_parameters_become_descriptions_in_every_common_form(text):
    description, words = read_docs(text)
    assert description == "Find it.\n\nMore about it."
    assert words["query"] == "What to look for."
    assert words["limit"] == "How many."


def test_a_docstring_that_only_looks_like_sections_stays_whole():
    text = "Look a thing up: quickly.\n\nNote that the limit: is soft."
    assert read_docs(text) == (text, {})
    assert read_docs(None) == ("", {})


@given(st.text())
@settings(max_examples=300)
def test_no_docstring_is_too_odd_to_read(text):
    description, words = read_docs(text)
    assert isinstance(description, str)
    assert all(words.values())


# --- arguments --------------------------------------------------------------------------------------------------------


def schema_for(hint, required=True):
    return {
        "type": "object",
        "properties": {"x": schema_of(hint)},
        "required": ["x"] if required else [],
        "additionalProperties": False,
    }


MENDED = [
    (int, "3", 3), (int, 3.0, 3), (float, "2.5", 2.5), (bool, "true", True), (bool, "No", False), (bool, 1, True),
    (str, 5, "5"), (str, True, "true"), (list[int], "[1, 2]", [1, 2]), (list[int], ["1", 2.0], [1, 2]),
    (list[str], "one", ["one"]), (list[int], 4, [4]), (dict, '{"a": 1}', {"a": 1}), (dict[str, int], {"a": "1"}, {"a": 1}),
    (Literal["low", "high"], "HIGH", "high"), (Literal[1, 2], "2", 2), (Optional[int], "null", None),
    (Optional[int], "7", 7), (Optional[str], "null", "null"), (Union[int, str], "7", "7"), (Any, {"q": [1]}, {"q": [1]}),
    (Colour, "Red", "red"), (list[Person], '[{"name": "ada"}]', [{"name": "ada"}]),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "sent", "meant"), MENDED, ids=str)
def test_an_argument_is_mended_where_only_one_thing_can_be_meant(hint, sent, meant):
    fitted = fit_arguments({"x": sent}, schema_for(hint))
    assert fitted == {"x": meant}
    assert type(fitted["x"]) is type(meant)


REFUSED = [
    (int, "three", 'x: expected integer, got "three"'), (int, 2.5, "expected integer, got 2.5"), (int, True, "expected integer"),
    (int, None, "expected integer, got null"), (bool, 2, "expected boolean"), (str, ["a"], "expected string"),
    (list[int], ["a"], "x[0]: expected integer"), (dict, "no", "expected object"), (dict, [1], "expected object"),
    (Literal["low", "high"], "mid", 'expected one of "low", "high", got "mid"'), (tuple[int, int], [1], "expected 2 items, got 1"),
    (Person, {"colour": "red"}, "x: missing 'name'"), (Person, {"name": "a", "age": 3}, "does not know 'age'"),
    (Union[int, list[int]], {"a": 1}, "x:"), (float, "fast", "expected number"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "sent", "complaint"), REFUSED, ids=str)
def test_any_other_argument_is_refused_in_words_that_help(hint, sent, complaint):
    with pytest.raises(Misfit) as misfit:
        fit_arguments({"x": sent}, schema_for(hint))
    assert complaint in str(misfit.value)


def test_a_wrong_name_is_answered_with_the_names_there_are():
    schema = json.loads(tool_of(lambda_with_names()).parameters)
    with pytest.raises(
        Misfit, match=r"no parameter 'file'. Its parameters are: path \(string, required\), start \(integer\)"
    ):
        fit_arguments({"file": "x"}, schema)
    with pytest.raises(Misfit, match="missing 'path'"):
        fit_arguments({}, schema)
    assert fit_arguments({"Path": "x", "START": "3"}, schema) == {"path": "x", "start": 3}
    assert fit_arguments({"path": "x", "start": None}, schema) == {"path": "x"}


def lambda_with_names():
    def read(path: str, start: int = 1) -> str:
        return path

    return read


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HINTS = [hint for hint, _ in SCHEMAS] + [Person, Address, Tree, Pair, list[Person], dict[str, list[int]]]


@pytest.mark.no_cover
@given(st.sampled_from(HINTS), JSON)
@settings(max_examples=500, deadline=None)
def test_whatever_is_accepted_keeps_the_schema_and_fitting_again_changes_nothing(hint, sent):
    schema = schema_for(hint)
    try:
        fitted = fit_arguments({"x": sent}, schema)
    except Misfit as misfit:
        assert str(misfit)
        return
    jsonschema.Draft202012Validator({key: value for key, value in schema.items() if key != "x"}).validate(
        without_unique(fitted) if schema["properties"]["x"].get("uniqueItems") else fitted
    )
    assert fit_arguments(fitted, schema) == fitted


def without_unique(value):
    """A set is sent as a list, in which a model may say a thing twice."""
    return (
        {"x": [i for n, i in enumerate(value["x"]) if i not in value["x"][:n]]}
        if isinstance(value["x"], list)
        else value
    )


@given(st.sampled_from(HINTS), JSON)
@settings(max_examples=300, deadline=None)
def test_what_already_keeps_the_schema_is_passed_on_as_it_is(hint, sent):
    schema = schema_for(hint)
    if jsonschema.Draft202012Validator(schema).is_valid({"x": sent}) and not isinstance(sent, float):
        assert fit_arguments({"x": sent}, schema) == {"x": sent}


def test_arguments_come_to_the_function_as_its_hints_promise():
    assert revive(Colour, "red") is Colour.RED
    assert revive(Person, {"name": "a", "colour": "blue", "tags": ["x", "x"]}) == Person("a", Colour.BLUE, {"x"})
    assert revive(tuple[int, str], [1, "a"]) == (1, "a")
    assert revive(set[Colour], ["red"]) == {Colour.RED}
    assert revive(dict[str, dt.date], {"d": "2026-01-02"}) == {"d": dt.date(2026, 1, 2)}
    assert revive(Optional[uuid.UUID], None) is None
    assert revive(Union[Person, str], "x") == "x"
    assert revive(Pair, {"left": 1}) == Pair(1)
    assert revive(Tree, {"value": 1, "children": [{"value": 2}]}) == Tree(1, [Tree(2)])
    assert revive(float, 3) == 3.0


def test_a_schema_with_references_and_lists_of_types_is_understood():
    schema = {
        "type": "object",
        "properties": {
            "x": {"$ref": "#/$defs/n"},
            "y": {"type": ["integer", "null"]},
            "loop": {"$ref": "#/properties/loop"},
        },
        "$defs": {"n": {"type": "integer"}},
    }
    assert fit_arguments({"x": "3", "y": None, "loop": [1]}, schema) == {"x": 3, "y": None, "loop": [1]}


class Shop:
    def price(self, sku: str) -> str:
        """Look up a price."""
        return f"{sku}: 3"


def test_a_method_of_an_object_is_handed_over_as_it_is_and_can_bear_no_mark():
    with pytest.raises(TypeError, match=r"price can bear no mark: put @tool where it is defined"):
        tool(Shop().price)
    assert json.loads(tool_of(Shop().price).parameters)["required"] == ["sku"]
