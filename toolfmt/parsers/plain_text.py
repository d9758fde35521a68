r"""Text in plain characters, where markers may be in full-width, invisible or escaped ones.

full-width tool_call, &lt;tool_call&gt;, \<tool\_call\>      <tool_call>
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

UNSEEN: Final = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
"""Characters that are not seen."""
WIDER: Final = 0xFEE0
"""How far a full-width character is from the plain one."""
_PLAIN: Final = str.maketrans(
    {
        **{code + WIDER: code for code in range(0x21, 0x7F) if code != ord("|")},
        **dict(
            zip("\u3000\xa0\u2039\u203a\u3008\u3009\u300a\u300b\u27e8\u27e9\u3010\u3011", "  <><><><>[]", strict=True)
        ),
        **dict.fromkeys(UNSEEN, None),
    }
)
_ESCAPED: Final = re.compile(r"\\(n|(?=[<>\[\]|_*`\"]))")
_HIDING: Final = (*"\uff21\uff25\uff29\uff2f\uff35\uff41\uff45\uff49\uff4f\uff55", *UNSEEN)
"""One of these is in a text whose words are in full-width letters, or have invisible characters in them."""
_SIGNS: Final = "\uff1c\uff1e\uff3b\uff5b\uff5d\uff02\uff1d\u2039\u3008\u300a\u27e8\u3010\xa0"
_ESCAPES: Final = {"&": ("&lt;", "&#", "&quot;"), "\\": ("\\<", "\\[", "\\_", '{\\"')}
"""One of these is in a text whose markers are in other characters; a single one is found fast."""
_BRACKETS: Final = "<>[{"


def hides_words(text: str) -> bool:
    """Whether words in a text may be in full-width letters, or have invisible characters or backslashes in them."""
    return any(map(text.__contains__, _HIDING)) or ("\\" in text and "\\_" in text)


def may_have_markers(text: str) -> bool:
    """Whether a text has a bracket, or a character that may be meant as one."""
    return any(map(text.__contains__, _BRACKETS)) or not is_plain(text)


def is_plain(text: str) -> bool:
    """Whether a text has no characters that markers are damaged with: full-width, invisible or escaped ones."""
    if any(map(text.__contains__, _SIGNS)) or hides_words(text):
        return False
    return not any(sign in text and any(map(text.__contains__, signs)) for sign, signs in _ESCAPES.items())


def plain(text: str) -> str:
    """Return a text in plain characters."""
    return _ESCAPED.sub(lambda found: "\n" * len(found[1]), unescape(text)).translate(_PLAIN)
