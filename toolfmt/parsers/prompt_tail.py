r"""Where an answer begins, derived from the prompt's tail.

<|im_start|>assistant\n<think>\n     the answer begins inside reasoning
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from toolfmt.dialect.frames import Frame
    from toolfmt.dialect.syntax import Syntax


def reasoning_opener(syntax: Syntax, prompt: str) -> str:
    """The marker of the reasoning block in which the prompt ends: opened last and not closed; "" if there is none."""
    found, at = "", -1
    for opener, closer in syntax.reasoning:
        opened = prompt.rfind(opener.strip())
        if opened > at and (not closer or prompt.rfind(closer.strip()) < opened):
            found, at = opener, opened
    thinks = syntax.frame is not None and _opens_thought(syntax.frame, prompt)
    return syntax.frame.start if thinks and syntax.frame is not None else found


def _opens_thought(frame: Frame, prompt: str) -> bool:
    """Whether the prompt ends in a header, and that of a thought."""
    for found in re.finditer(re.escape(frame.start), prompt):
        header = regex.fullmatch(frame.header, prompt[found.start() :])
        if header is not None:
            said = {key: value or "" for key, value in header.groupdict().items()}
            return frame.route(said).to == "reasoning"
    return False
