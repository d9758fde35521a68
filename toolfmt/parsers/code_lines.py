"""Whether a place in a line is inside of something: a quoted text, or a bracket that is not closed.

write(text="do [rm(p='/')]       the list is quoted: no call
Now [rm(p='/')]                  a call, if the tool is offered
"""

from __future__ import annotations

import re

_LONGEST = 4096
"""As much of a line as is looked at."""
_QUOTED = re.compile(r"""(?<=[=(\[{,:])(\s{0,8})(["'])(?:\\.|(?!\2).)*+(?P<end>\2)?""", re.DOTALL)
_BRACKETS = re.compile(r"[()\[\]{}]")
_WITHIN = re.compile(r"""[\w"'=(\[{\\]\Z""").search
"""What is right before something that is a part of a word, a text or an expression."""


def line_of(text: str) -> str:
    """The end of a text from its last line break on."""
    return text[text.rfind("\n") + 1 :][-_LONGEST:]


def inside_code(line: str) -> bool:
    """Whether what follows a line's beginning is quoted in it, or a part of an expression."""
    if _WITHIN(line) or any(found["end"] is None for found in _QUOTED.finditer(line)):
        return True
    depth = 0
    for bracket in _BRACKETS.findall(_QUOTED.sub("", line)):
        depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth > 0
