"""The files that `toolfmt convert` reads and writes: Parquet, zstd, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt import convert

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow comes with the extra corpora, and that with test")
parquet = pytest.importorskip("pyarrow.parquet")

Run = Callable[..., tuple[int, str, str]]

TO = ("--from", "openai-chat", "--to", "anthropic")
CHAT = [
    {"role": "user", "content": "Łódź?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n":1.0}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "18C"},
]
PLAIN = [{"role": "user", "content": "Hi", "name": "ann"}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}}]


def written(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return parquet.read_table(path).to_pylist()


def anthropic(messages: Any, tools: Any = None) -> Any:
    value = {"messages": messages} | ({"tools": tools} if tools else {})
    return convert(value, source="openai-chat", target="anthropic").value


@pytest.mark.parametrize("texts", [False, True])
def test_columns_stay_beside_the_conversation(run: Run, tmp_path: Path, texts: bool) -> None:  # noqa: FBT001
    as_it_is = json.dumps if texts else lambda value: value
    rows = [
        {"id": 7, "messages": as_it_is(CHAT), "tools": as_it_is(TOOLS), "score": 0.5, "tags": ["a"]},
        {"id": 8, "messages": as_it_is(PLAIN), "tools": None, "score": None, "tags": []},
    ]
    file, out = written(tmp_path / "in.parquet", rows), tmp_path / "out.parquet"
    code, _, err = run("convert", file, *TO, "-o", out)
    assert code == 0
    assert err.splitlines()[-1] == "toolfmt: 2 converted to anthropic, 1 without loss"
    found = read(out)
    assert [json.loads(one.pop("conversation")) for one in found] == [anthropic(CHAT, TOOLS), anthropic(PLAIN)]
    assert found == [{key: row[key] for key in ("id", "score", "tags")} for row in rows]
    assert parquet.read_schema(out).field("id").type == pyarrow.int64()
    back = tmp_path / "back.jsonl"
    assert run("convert", out, "--from", "anthropic", "--to", "openai-chat", "-o", back)[0] == 0
    assert [json.loads(line)["messages"][0]["content"] for line in back.read_text("utf-8").splitlines()] == [
        "Łódź?",
        "Hi",
    ]


def test_a_column_is_named(run: Run, tmp_path: Path) -> None:
    rows = [{"chosen": CHAT, "rejected": json.dumps(PLAIN)}, {"chosen": PLAIN, "rejected": "[{"}]
    file, out = written(tmp_path / "in.parquet", rows), tmp_path / "out.parquet"
    skip = ("--on-error", "skip")
    assert run("convert", file, *TO, "--column", "chosen", "-o", out)[0] == 0
    assert [json.loads(one["conversation"]) for one in read(out)] == [anthropic(CHAT), anthropic(PLAIN)]
    assert [one["rejected"] for one in read(out)] == [one["rejected"] for one in rows]
    assert run("convert", file, *TO, "--column", "rejected", "-o", out, *skip)[0] == 1
    assert [json.loads(one["conversation"]) for one in read(out)] == [anthropic(PLAIN)]
    assert len(read(out)[0]["chosen"]) == 3
    # Where there are no columns, what stood in them is a loss.
    _, _, err = run("convert", file, *TO, "--column", "chosen", "-o", tmp_path / "out.jsonl")
    assert run("convert", file, *TO, "--column", "chosen", "--strict")[0] == 2
    code, _, err = run("convert", file, *TO, "--column", "chozen")
    assert (code, "no column 'chozen'; there are chosen, rejected" in err) == (2, True)


def test_lines_become_a_table_and_the_table_lines(run: Run, tmp_path: Path) -> None:
    file, table, back = tmp_path / "in.jsonl", tmp_path / "t.parquet", tmp_path / "back.jsonl"
    file.write_text("".join(json.dumps({"messages": one}, ensure_ascii=False) + "\n" for one in (CHAT, PLAIN)), "utf-8")
    same = ("--from", "openai-chat", "--to", "openai-chat")
    assert run("convert", file, *same, "-o", table)[0] == 0
    assert run("convert", table, *same, "-o", back)[0] == 0
    assert back.read_text("utf-8") == file.read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back.jsonl", "in.jsonl", "t.parquet"]
    file.write_text("", "utf-8")
    assert run("convert", file, *same, "-o", table)[0] == 1, "there is no conversation"
    assert read(table) == []
    assert parquet.read_schema(table).names == ["conversation"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_table_in_many_batches_stops_and_goes_on(run: Run, tmp_path: Path, jobs: int) -> None:
    chats = [json.dumps([{"role": "user", "content": f"{at} {'x' * 5000}"}]) for at in range(900)]
    rows = [{"id": at, "messages": "[{" if at == 800 else chat} for at, chat in enumerate(chats)]
    file, out = written(tmp_path / "in.parquet", rows, row_group_size=350), tmp_path / "out.parquet"
    code, _, err = run("convert", file, *TO, "-o", out, "-j", jobs)
    assert code == 2
    assert f"{file}:801: " in err
    assert not out.exists()
    assert (tmp_path / "out.parquet.rows").exists()
    assert run("convert", file, *TO, "-o", out, "-j", jobs, "--on-error", "quarantine", "--resume")[0] == 1
    assert [one["id"] for one in read(out)] == [at for at in range(900) if at != 800]
    whole = tmp_path / "whole.parquet"
    assert run("convert", file, *TO, "-o", whole, "--on-error", "skip")[0] == 1
    assert whole.read_bytes() == out.read_bytes()
    (aside,) = (tmp_path / "out.parquet.quarantine.jsonl").read_text("utf-8").splitlines()
    assert json.loads(aside)["line"] == 801
    assert json.loads(json.loads(aside)["text"])["id"] == 800
    assert not (tmp_path / "out.parquet.rows").exists()


def test_tables_of_other_columns_do_not_go_into_one(run: Run, tmp_path: Path) -> None:
    one = written(tmp_path / "one.parquet", [{"id": 1, "messages": PLAIN}])
    two = written(tmp_path / "two.parquet", [{"name": "x", "messages": PLAIN}])
    code, _, err = run("convert", one, two, *TO, "-o", tmp_path / "out.parquet")
    assert (code, "different columns: convert them to a folder" in err) == (2, True)
    assert run("convert", one, two, *TO, "-o", f"{tmp_path / 'out'}/")[0] == 0
    assert read(tmp_path / "out" / "two.parquet")[0]["name"] == "x"


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl.zst"])
def test_damaged_files_are_named(run: Run, tmp_path: Path, name: str) -> None:
    good, file = tmp_path / f"good-{name}", tmp_path / name
    source = tmp_path / "source.jsonl"
    source.write_text((json.dumps({"messages": CHAT}) + "\n") * 50, "utf-8")
    assert run("convert", source, "--from", "openai-chat", "--to", "openai-chat", "-o", good)[0] == 0
    file.write_bytes(good.read_bytes()[:-30])
    code, _, err = run("convert", file, *TO)
    assert code == 2
    assert err.startswith(f"toolfmt: {file}: damaged")
    assert err.count("\n") == 1


def test_zstd_in_and_out(run: Run, tmp_path: Path) -> None:
    file, out, back = tmp_path / "in.jsonl", tmp_path / "out.jsonl.zst", tmp_path / "back.jsonl"
    file.write_text((json.dumps({"messages": CHAT}, ensure_ascii=False) + "\n") * 4000, "utf-8")
    same = ("--from", "openai-chat", "--to", "openai-chat")
    assert run("convert", file, *same, "-o", out, "-j", 2)[0] == 0
    assert out.read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert out.stat().st_size < file.stat().st_size / 50
    assert run("convert", out, *same, "-o", back)[0] == 0
    assert back.read_bytes() == file.read_bytes()
    assert run("convert", "-", *same, stdin=out.read_bytes())[1] == file.read_text("utf-8")


def test_a_folder_of_tables_goes_on_behind_a_complete_one(run: Run, tmp_path: Path) -> None:
    inside, out = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    for name in ("a", "b"):
        written(inside / f"{name}.parquet", [{"id": name, "messages": json.dumps(PLAIN)}])
    written(inside / "c.parquet", [{"id": "c", "messages": json.dumps(PLAIN)}, {"id": "d", "messages": "[{"}])
    assert run("convert", inside, *TO, "-o", f"{out}/")[0] == 2
    assert sorted(path.name for path in out.iterdir()) == ["a.parquet", "b.parquet", "c.parquet.rows"]
    assert run("convert", inside, *TO, "-o", f"{out}/", "--resume", "--on-error", "skip")[0] == 1
    assert sorted(path.name for path in out.iterdir()) == ["a.parquet", "b.parquet", "c.parquet"]
    assert [one["id"] for path in sorted(out.iterdir()) for one in read(path)] == ["a", "b", "c"]


def test_a_list_of_rows_is_many_conversations(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    xlam = {"query": "Weather?", "answers": "[]", "tools": "[]"}
    for entry in (xlam, {"prompt": "Hi.", "completion": "Hello."}, {"custom_id": "1", "body": {"input": "Hi."}}):
        file.write_text(json.dumps([entry, entry]), "utf-8")
        assert run("stats", file)[2] == "toolfmt: 2 conversations, 0 unreadable\n"
    file.write_text(json.dumps([{"type": "human", "content": "Hi."}] * 2), "utf-8")
    assert run("stats", file)[2] == "toolfmt: 1 conversation, 0 unreadable\n"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("between", ["", "\n", "\n\n  "])
def test_values_one_after_the_other_are_rows(run: Any, tmp_path: Path, indent: int | None, between: str) -> None:
    rows = [{"messages": [{"role": "user", "content": f"Q{number}"}]} for number in range(3)]
    path = tmp_path / "rows.json"
    path.write_text("\ufeff" + between.join(json.dumps(row, indent=indent) for row in rows), encoding="utf-8")
    code, out, err = run("convert", path, "--to", "anthropic")
    assert (code, [json.loads(line) for line in out.splitlines()]) == (0, rows), err
    path.write_text(path.read_text(encoding="utf-8") + "}", encoding="utf-8")
    assert run("convert", path, "--to", "anthropic")[0] == 2


def test_the_provider_is_the_target_of_a_check(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": " "}]}) + "\n", encoding="utf-8")
    assert run("check", path, "--provider", "anthropic", "--json") == run("check", path, "--to", "anthropic", "--json")


def test_what_a_folder_leaves_out_is_named(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / ".data"
    (folder / ".git" / "objects").mkdir(parents=True)
    for name in (".git/objects/a.jsonl", ".hidden.jsonl", "a.jsonl", "b.txt", "c.md"):
        (folder / name).write_text(json.dumps({"messages": [{"role": "user", "content": name}]}), "utf-8")
    code, out, err = run("convert", folder, "--to", "openai-chat")
    assert (code, json.loads(out)["messages"][0]["content"]) == (0, "a.jsonl"), err
    left = ", ".join(str(folder / name) for name in (".git", ".hidden.jsonl", "b.txt"))
    assert f"not read, because of their names: {left} and 1 more" in err
    for command in ("stats", "check", "view"):
        assert f"{left} and 1 more" in run(command, folder)[2]
    code, _, err = run("stats", folder / ".hidden.jsonl")
    assert (code, "not read" in err) == (0, False)
