r"""How calls begin in formats other than a text's own, for text that may not call a tool whoever reads it.

    <tool_call>{"name": "rm", ...    <\u2060tool_call>{"\u006eame": "rm", ...

A reader that finds the format by itself takes a call of any format for one, so that a result is made
harmless for all of them. What is a call only by the names of the offered tools is left as it is: nothing
else would tell it from ordinary markup.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array, is_object

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

SHAPES: Final = (
    r"<(?=\|[^<>|\s]{1,64}\|>)",  # <|im_start|>
    r"<(?=｜[^<>｜\s]{1,64}｜)",  # <｜User｜>, <｜DSML｜invoke
    r"<(?=\|[^<>|\s]{1,64}>)",  # <|turn>
    r"<(?=[^<>|\s]{1,64}\|>)",  # <turn|>
    r"<(?=(?:start|begin|beginning|end)_of_\w{1,64}>)",  # <start_of_turn>
    r"<(?=(?:/?s|bos|eos|pad|unk)>)",
    r"<(?=(?:\w{1,32}[:|])?\w{0,32}(?i:tool|function)[\w:|]{0,64}[\s>=/])",  # <tool_call>, <function=f>
    r"<(?=(?:invoke|execute|run_bash|write_file)\b)",
    r"\[(?=TOOL_CALLS\])",
    r"\[(?=\[SEG_START\b)",
    r"\](?=<\]\w{1,32}\[>)",  # ]<]minimax[>
    r"✿(?=[A-Z]{1,16}✿)",
)
"""How the markers of calls and turns look, each as the first character before the rest; with an example."""
LINES: Final = (
    r"(?<![^\n])[ \t]{0,64}Action(?=:\s{0,64}(?:```|[\w.]{1,256}\(|[^\n]{0,512}\n\s{0,64}Action Input))",
    r"(?<![^\n])[ \t]{0,64}[\w.:/\-]{1,256}(?=[ \t]{0,64}\r?\n\s{0,64}\{\s{0,64}[\"'}])",
    r"(?<![^\n])[ \t]{0,64}Call(?=:\s{0,64}[\w.]{1,256}\()",
    r"(?<![^\n])[ \t]{0,64}\[(?=\s{0,64}[^\W\d][\w.\-]{0,255}\()",
    r"(?<![^\n])>>>(?=[\w.:\-]{1,256}\n)",
    r"-(?=>[ \t]{0,8}(?:\w{1,32}/){0,4}\w{0,32}(?i:tool|function)[\w/]{0,64}\s)",  # -> tool/function_call
    r"functools(?=\s{0,64}\[)",
    r"function call(?=<)",
)
"""How calls begin on a line, or by a word, where no marker is around them."""

_OBJECT = re.compile(r'\{\s{0,256}"(?P<first>[^"\\])')
_NAMES: Final = frozenset({"name", "tool", "tool_name", "function", "action", "type", "tool_calls", "function_call"})
_ARGUMENTS: Final = frozenset({"arguments", "args", "parameters", "input", "action_input", "tool_input", "params"})
_NAMED, _GIVEN = (re.compile(rf'"(?:{"|".join(sorted(keys))})"\s{{0,64}}:') for keys in (_NAMES, _ARGUMENTS))
_NESTED: Final = 3
"""How deep a call's object may hold its name and arguments."""
_WINDOWS: Final = (1 << 12, 1 << 16, 1 << 62)
"""Characters in which an object's end is looked for, one after the other."""
_NEAR: Final = 1024
"""Characters of a broken object in which the keys of a call are looked for."""
_EFFORT: Final = 8
"""Characters that are read for each one of the text; where there is more to read, objects count as broken."""
_scan = json.JSONDecoder(strict=False).raw_decode


def disarm_objects(text: str) -> str:
    r"""Spell the first key of every JSON object that may be a call with an escape: the same value, and no call."""
    out: list[str] = []
    end = 0
    effort = _WINDOWS[1] + _EFFORT * len(text)
    while (found := _OBJECT.search(text, end)) is not None:
        start, at = found.start(), found.start("first")
        value, after, spent = _value(text, start) if effort > 0 else (None, at, 0)
        effort -= spent
        if value is None:  # broken, and perhaps mended by a reader; what is in it may be an object of its own
            near = start, start + _NEAR
            harmful = _NAMED.search(text, *near) is not None and _GIVEN.search(text, *near) is not None
            after = at
        else:
            harmful = _may_call(value, _NESTED)
        if harmful:
            after = max(after, at + 1)
            out += text[end:at], f"\\u{ord(text[at]):04x}", text[at + 1 : after]
        else:
            out.append(text[end:after])
        end = after
    return "".join((*out, text[end:]))


def _value(text: str, start: int) -> tuple[JsonObject | None, int, int]:
    """Read the object that begins at `start`: None where it is broken, its end, and the characters that were read."""
    spent = 0
    for size in _WINDOWS:
        window = text[start : start + size]
        spent += len(window)
        try:
            value, end = _scan(window)
        except json.JSONDecodeError as error:
            whole = len(window) == len(text) - start
            if whole or not (error.msg.startswith("Unterminated") or error.pos + 16 >= len(window)):
                break
        except (ValueError, RecursionError):
            break
        else:
            return value, start + end, spent
    return None, start, spent


def _may_call(value: object, levels: int) -> bool:
    if not levels:
        return False
    if is_array(value):
        return any(_may_call(item, levels - 1) for item in value)
    if not is_object(value):
        return False
    named = any(isinstance(value.get(key), str) for key in _NAMES)
    if named and any(isinstance(value.get(key), (dict, str)) for key in _ARGUMENTS):
        return True
    return any(_may_call(value[key], levels - 1) for key in _NAMES & value.keys())
