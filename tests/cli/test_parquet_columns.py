"""Parquet with columns of lists and structs, as Hugging Face's datasets write them: null for all that a row has not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Run = Callable[..., tuple[int, str, str]]


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def turns(name: str, arguments: Any, result: str) -> list[dict[str, Any]]:
    call = {"id": f"c_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c_{name}", "content": result},
        {"role": "assistant", "content": result},
    ]


SKY = tool("sky", city={"type": "string"})
ADD = tool("add", a={"type": "integer"}, b={"type": "array", "items": {"type": "string"}})
PLAIN = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
ROWS: list[dict[str, Any]] = [
    {"messages": turns("sky", '{"city":"Rome"}', "24C"), "tools": [SKY]},
    {"messages": turns("add", '{"a":1,"b":[]}', "3"), "tools": [ADD]},
    {"messages": PLAIN, "tools": [SKY, ADD]},
]
OBJECTS: list[dict[str, Any]] = [
    {"messages": turns("sky", {"city": "Rome"}, "24C"), "tools": [SKY]},
    {"messages": turns("add", {"a": 1, "b": ["x"]}, "3"), "tools": [ADD]},
]
TEXTS = [{**row, "tools": json.dumps(row["tools"])} for row in ROWS]
TOOLACE: list[dict[str, Any]] = [
    {
        "system": 'You may call: [{"name": "sky", "parameters": {"type": "object", "properties": {}}}]',
        "conversations": [
            {"from": "user", "value": "Weather?"},
            {"from": "assistant", "value": '[sky(city="Rome")]'},
            {"from": "tool", "value": '[{"name": "sky", "results": {"t": 24}}]'},
            {"from": "assistant", "value": "24."},
        ],
    },
    {
        "system": "Be brief.",
        "conversations": [{"from": "user", "value": "Hi"}, {"from": "assistant", "value": "Hello"}],
    },
]
PICTURES: list[dict[str, Any]] = [
    {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
        ]
    }
]


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("rows", [ROWS, OBJECTS, TEXTS, TOOLACE, PICTURES])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "hf-chat"])
def test_nulls_of_a_struct_are_neither_losses_nor_content(
    run: Run, tmp_path: Path, rows: list[dict[str, Any]], target: str
) -> None:
    expected = run("convert", lines(tmp_path / "rows.jsonl", rows), "--to", target)
    assert expected[0] == 0, expected
    stored = table(tmp_path / "rows.parquet", rows)
    found = run("convert", stored, "--to", target)
    assert list(map(json.loads, found[1].splitlines())) == list(map(json.loads, expected[1].splitlines()))
    assert found[0] == 0
    assert found[2] == expected[2]
    exported = lines(tmp_path / "exported.jsonl", pq.read_table(stored).to_pylist())
    assert run("convert", exported, "--to", target, "--drop-nulls")[1:] == found[1:]
    mixed = isinstance(rows[0].get("tools"), list)
    assert ("--drop-nulls" in run("convert", exported, "--to", target, "--on-error", "skip")[2]) == mixed


@pytest.mark.parametrize(
    ("rows", "target"),
    [(ROWS, "openai-chat"), (ROWS, "gemini"), (OBJECTS, "hf-chat"), (TOOLACE, "sharegpt"), (PICTURES, "openai-chat")],
)
def test_columns_are_written_and_read_back(run: Run, tmp_path: Path, rows: list[dict[str, Any]], target: str) -> None:
    numbered = [{"number": number, **row} for number, row in enumerate(rows)]
    given = table(tmp_path / "rows.parquet", numbered)
    code, _, err = run("convert", given, "--to", target, "--columns", "--out", tmp_path / "out.parquet")
    assert code == 0, err
    written = pq.read_table(tmp_path / "out.parquet")
    assert written["number"].to_pylist() == list(range(len(rows)))
    assert any(pa.types.is_list(field.type) for field in written.schema)
    again = run("convert", tmp_path / "out.parquet", "--from", target, "--to", target)
    assert again[0] == 0
    whole = run("convert", lines(tmp_path / "rows.jsonl", rows), "--to", target)
    made = [json.loads(line) for line in again[1].splitlines()]
    assert [{key: item for key, item in row.items() if key != "number"} for row in made] == [
        json.loads(line) for line in whole[1].splitlines()
    ]


@pytest.mark.parametrize(
    "arguments", [[{"a": 1}, {"a": 1.5}], [{"a": 1}, {"a": "x"}], [{"a": 2**70}], [{}], [{"a": 1, "b": None}]]
)
def test_columns_that_would_change_a_value_are_refused(run: Run, tmp_path: Path, arguments: list[Any]) -> None:
    given = lines(tmp_path / "rows.jsonl", [{"messages": turns("f", one, "1")} for one in arguments])
    out = tmp_path / "out.parquet"
    options = ("--from", "hf-chat", "--to", "hf-chat", "--out", out)
    code, _, err = run("convert", given, *options, "--columns")
    assert (code, "leave out --columns" in err, out.exists()) == (2, True, False)
    assert run("convert", given, *options, "--overwrite")[0] == 0


def test_columns_of_many_batches_have_one_type(run: Run, tmp_path: Path) -> None:
    padding = "x" * 1500
    rows = [{"messages": turns("f", {"a" if number % 2 else "b": number}, padding)} for number in range(1500)]
    rows.append({"messages": turns("g", {"late": "only here"}, "1")})
    given = lines(tmp_path / "rows.jsonl", rows)
    out = tmp_path / "out.parquet"
    assert run("convert", given, "--from", "hf-chat", "--to", "hf-chat", "--columns", "--out", out)[0] == 0
    found = pq.read_table(out)["messages"].to_pylist()
    assert found[-1][1]["tool_calls"][0]["function"]["arguments"] == {"a": None, "b": None, "late": "only here"}
    assert found[0][1]["tool_calls"][0]["function"]["arguments"] == {"a": None, "b": 0, "late": None}


def test_columns_are_those_of_a_table(run: Run, tmp_path: Path) -> None:
    given = lines(tmp_path / "rows.jsonl", ROWS)
    code, _, err = run("convert", given, "--to", "anthropic", "--columns", "--out", tmp_path / "out.jsonl")
    assert (code, "--columns has an effect only if" in err) == (2, True)
