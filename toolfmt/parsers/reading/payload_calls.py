"""Calls whose last part is raw text: their head, the text, and the argument that it becomes."""

from __future__ import annotations

from toolfmt import jsontext
from toolfmt.model import JsonObject
from toolfmt.parsers.bodies.json_values import skip_space
from toolfmt.parsers.compiled.payload import followed_by_call, read_payload, read_prose
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import cut_off, match_next, skip_cut
from toolfmt.parsers.scanning.pieces import Pieces, Taker
from toolfmt.parsers.scanning.sink import Draft, Spoken


class PayloadReader:
    """Reads the raw text of one call."""

    def __init__(self, cur: Cursor, draft: Draft, form: FormGrammar) -> None:
        """Read the raw text of `draft`, whose `form` has one."""
        assert form.payload is not None  # noqa: S101 - asked by the caller
        self.cur = cur
        self.draft = draft
        self.form = form
        self.ends = form.payload

    def read(self, arguments: JsonObject) -> Reading[None]:
        """Read the raw text after the call's data into `arguments`, and the tail."""
        pieces = Pieces()
        key = self.form.form.payload.get(self.draft.name)
        yield from self._middle()
        complete = bool(self.draft.pieces) or key in arguments
        if not (complete and (yield from self._unclosed())):
            yield from self._raw(pieces)
        text = pieces.text()
        if key is not None and text and key in arguments:
            raise Malformed("duplicate_key", f"{key!r} is given in the header and in the body", self.cur.at)
        if key is not None and not self.draft.pieces:  # arguments in the header are complete
            arguments.setdefault(key, text)
        elif text:
            raise Malformed("malformed", f"text where {self.draft.name!r} takes none", self.cur.at)
        if not self.draft.pieces:
            self.draft.add(jsontext.dumps(arguments))

    def _unclosed(self) -> Reading[bool]:
        """Whether the call ends here without its closing marker, because its data are complete."""
        if (yield from match_next(self.cur, self.ends.empty)) is not None:
            return False
        at, cut = self.cur.at, skip_cut(self.cur, self.ends.empty)
        ended = cut or (yield from followed_by_call(self.cur, self.ends))
        if ended:
            what = "cut off" if cut else "missing"
            self.draft.note("missing_close", f"the call's closing marker is {what}", at, self.cur.at)
        return ended

    def prose(self) -> Reading[None]:
        """Emit the raw text after an object as text for the user."""
        yield from self._middle()
        if not (yield from read_prose(self.cur, self.ends, Spoken(self.draft.sink, self.cur.at))):
            self.draft.sink.note("missing_close", "the closing marker of a text is missing", (self.cur.at, self.cur.at))

    def _raw(self, out: Taker) -> Reading[None]:
        unsure = yield from read_payload(self.cur, self.ends, out)
        if unsure is not None:
            self.draft.note("ambiguous_closer", "a closing marker with another one after it was read as text", *unsure)

    def _middle(self) -> Reading[None]:
        """Read what comes between the call's data and the raw text."""
        if self.form.middle is None:
            return
        yield from skip_space(self.cur)
        middle = yield from match_next(self.cur, self.form.middle)
        if middle is None:
            if cut_off(self.cur, self.form.middle):
                raise Truncated
            raise Malformed("malformed", "the call's header does not end", self.cur.at)
        self.cur.pos = middle.end()
