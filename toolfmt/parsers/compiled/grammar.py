"""A syntax compiled for reading: one pattern finds everything that may begin in text.

Built once per dialect and shared by all its parsers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import regex

from toolfmt.dialect.syntax import PLAIN_NAME, TAG_NAME, Form, Pair, Syntax, markers
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.bodies.json_shapes import compile_shape
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar, ending
from toolfmt.parsers.compiled.cut_heads import CutHeads
from toolfmt.parsers.compiled.head_parts import HeadParts
from toolfmt.parsers.compiled.leading import Leading
from toolfmt.parsers.compiled.payload import PayloadEnds
from toolfmt.parsers.compiled.sections import (
    BODY,
    FormGrammar,
    Section,
    any_of,
    before_call,
    closing,
    distinguished,
    first_of_body,
    form_start,
    in_part,
    lead_of,
    next_call,
    section_opener,
    unsure_first,
    with_and_without,
)
from toolfmt.parsers.scanning.patterns import (
    BROKEN_CALL,
    GAP,
    JSON_HINT,
    SLOT,
    Head,
    first_characters,
    head,
    literal,
    plain_start,
    strip_groups,
)
from toolfmt.parsers.scanning.raw_ends import Around
from toolfmt.parsers.scanning.resuming import Nesting, Resync

_PUNCTUATION = re.compile(r"[\\()\[\]{},;`]+").fullmatch
"""Closers that are kept in text: a bracket need not be the format's."""
_FIRST_TAG = re.compile(r"\A\s*(<[^<>{}\s]+>)(\w*)")
"""A call's marker, and the word after it."""
_BEHIND_NAME = re.compile(r"\{name\}\s*([^\w\s<>{}\"'.:/\-])")
_LOOKS_BEHIND = re.compile(r"\(\?<!\[[^\]]*\]\)").match
_MOST_WORDS = 4096
"""The largest number of characters held back as a possible body of a call without arguments."""
_YAML = r"""[ \t]{0,64}(?:\r?\n|</|\{|[^\s:<]{1,64}:)"""
"""The beginning of YAML after a tag; if prose follows instead, the tag was only mentioned."""
_BARE = r"(?:`{3,8}+[\w+.\-]{0,32}\s{0,64})?" + JSON_HINT


class CompiledSyntax:
    """A syntax, compiled."""

    def __init__(self, syntax: Syntax, tools: Collection[str] = ()) -> None:
        """Compile all forms and markers; `tools` are names that open a call without another marker."""
        self.syntax = syntax
        self.tags = any_of(name for name in tools if regex.fullmatch(TAG_NAME, name))
        self._end_tag = rf"</\s{{0,8}}(?:{self.tags})\s{{0,64}}>"
        self.names = any_of(name for name in tools if regex.fullmatch(PLAIN_NAME, name))
        self.breaks = "\n" if syntax.lines else ""
        """Characters after which otherwise plain text may begin a marker."""
        self.flags = regex.IGNORECASE if syntax.ignore_case else 0
        self.sections = list(self._sections())
        line = r"(?<![^\n])[ \t]{0,8}" if syntax.lines else ""
        marks = list(self._marks())
        patterns = [f"{line}(?P<{group}>{strip_groups(source)})" for group, source in marks]
        calls = [form.json for form in syntax.forms if form.json is not None] if syntax.bare else []
        self.bare = (calls[0], compile_shape(*calls)) if calls else None
        """The shape of a call without a marker."""
        quotes = {quote for form in syntax.forms if form.literals for quote in form.literals.quotes if len(quote) > 1}
        source = "|".join(
            rf"(?P<opens>(?<![ \t`\"'(]){re.escape(quote)})|{re.escape(quote)}" for quote in sorted(quotes)
        )
        self.own_quote = regex.compile(source) if source else None
        """Matches a quote of literals that is a marker; after a blank, as in prose, it does not open one."""
        if self.bare:
            patterns.append(f"(?P<bare>{_BARE})")
        self._marked, self._line = marks, line
        self._rivals: dict[str, regex.Pattern[str] | None] = {}
        self.marker = regex.compile("|".join(patterns) or r"(?!)", self.flags)
        sources = [source for _, source in marks]
        lookbehinds = {found.group() for source in sources if (found := _LOOKS_BEHIND(source)) is not None}
        firsts = first_characters(
            [source for source in sources if not _LOOKS_BEHIND(source)],
            bare=self.bare is not None,
            ignore_case=syntax.ignore_case,
        )
        places = [f"[{firsts}]" if firsts else r"(?!)", *(f"{place}[\\s\\S]" for place in sorted(lookbehinds))]
        indent = [r"(?<![^\n])[ \t]"] if syntax.lines else []  # a marker's line may be indented
        self.first = re.compile("|".join([*places, *indent]))
        self.stop = re.compile(r"[\s\S]" if lookbehinds else f"[{firsts}{self.breaks}]" if firsts else r"(?!)").search
        """Finds a possible beginning of a marker in plain text."""
        self.cut_heads = CutHeads(syntax, self._head, self.flags)
        self.leading = Leading(syntax, self.openers, self.flags)
        edges = [(opener[-1:], closer[:1], closer[-1:]) for opener, closer in syntax.reasoning]
        self.opens = any(after.isspace() for *_, after in edges), any(opening.isspace() for opening, *_ in edges)
        """Whether white space at the beginning of the text, and of reasoning, belongs to the markers."""
        self.ends = syntax.before_calls.isspace(), any(closing.isspace() for _, closing, _ in edges)
        """Whether white space at their end does."""

    # Compiled on demand: few answers need these, and compiling takes longer than reading.
    @cached_property
    def reasoning_ends(self) -> list[regex.Pattern[str] | None]:
        """The ends of reasoning, by opener; the last is for reasoning opened by the prompt."""
        return [self._end(opener, self.syntax.reasoning) for opener in self._opened_by()]

    @cached_property
    def in_reasoning(self) -> list[regex.Pattern[str]]:
        """The patterns of what may appear in reasoning, in the same order."""
        return [*map(self._in_reasoning, self._opened_by())]

    @cached_property
    def reasoning_again(self) -> list[regex.Pattern[str]]:
        """The patterns of a repeated opener of reasoning, in the same order."""
        again = [literal(opener) for opener, _ in self.syntax.reasoning]
        return [regex.compile(f"{GAP}(?:{source})", self.flags) for source in (*again, "|".join(again))]

    @cached_property
    def wrapped_ends(self) -> list[regex.Pattern[str] | None]:
        """The ends of an answer with markers, by opener."""
        return [self._end(opener, self.syntax.unwrap) for opener, _ in self.syntax.unwrap]

    @cached_property
    def hidden_ends(self) -> list[regex.Pattern[str] | None]:
        """The ends of hidden text, by opener."""
        return [self._end(opener, self.syntax.hidden) for opener, _ in self.syntax.hidden]

    @cached_property
    def answer(self) -> regex.Pattern[str]:
        """Matches the beginning of an answer with markers whose reasoning was skipped."""
        answers = "|".join(literal(opener) for opener, _ in self.syntax.unwrap)
        return regex.compile(f"{GAP}(?:{answers or '(?!)'})", self.flags)

    @cached_property
    def elements(self) -> list[ElementGrammar]:
        """The different grammars of arguments as elements."""
        forms = [form for section in self.sections for form in section.forms]
        return list({each.value_starts: each for form in forms if (each := form.elements) is not None}.values())

    @cached_property
    def arguments(self) -> list[tuple[ElementGrammar, Section]]:
        """The arguments that are recognised outside a call, each with its section."""
        due = {
            each.alone: (each, section)
            for section in reversed(self.sections if self.syntax.frame is None else [])
            for form in section.forms
            if (each := form.elements) is not None and each.alone
        }
        return [*due.values()]

    def earlier(self, group: str) -> regex.Pattern[str] | None:
        """Compile the marks with precedence over this one and the same beginning, which have to be awaited."""
        if group not in self._rivals:
            self._rivals[group] = self._earlier(group)
        return self._rivals[group]

    def _opened_by(self) -> list[str]:
        return [*(opener for opener, _ in self.syntax.reasoning), ""]

    def _marks(self) -> Iterator[tuple[str, str]]:
        """Yield everything that may appear in text, as a group's name and a pattern; the first match counts."""
        syntax = self.syntax
        for number, section in enumerate(self.sections):
            if section.opener:
                yield f"s{number}", section.opener
            yield from ((f"c{number}_{at}", source) for at, source in section.heads)
        yield from self.further_marks()
        for kind, pairs in (("r", syntax.reasoning), ("h", syntax.hidden), ("u", syntax.unwrap)):
            yield from ((f"{kind}{number}", self.label(opener)) for number, (opener, _) in enumerate(pairs))
            yield from ((f"x{kind}{number}", literal(closer)) for number, (_, closer) in enumerate(pairs) if closer)
        yield from ((f"e{number}", self.label(stop)) for number, stop in enumerate(syntax.stop))
        yield from (
            (f"o{number}_{at}", closer)
            for number, section in enumerate(self.sections)
            for at, closer in enumerate(section.closers)
            if not _PUNCTUATION(closer)
        )
        yield from (
            (f"m{number}_{at}", rf"{literal(tag)}(?={BROKEN_CALL}|\s{{0,8}}{word or '(?!)'}\b)")
            for number, section in enumerate(self.sections)
            for at, form in enumerate(section.forms)
            for tag, word in _FIRST_TAG.findall(form.form.call)
            if not section.opener
        )
        tails = {form.tail.pattern for section in self.sections for form in section.forms if form.tail}
        yield from ((f"t{number}", tail) for number, tail in enumerate(sorted(tails)) if not _PUNCTUATION(tail))
        yield from ((f"v{number}", elements.alone) for number, (elements, _) in enumerate(self.arguments))
        loose = "|".join(dict.fromkeys(filter(None, (elements.loose_closers for elements, _ in self.arguments))))
        yield from [("tv", loose)] if loose else []

    def _earlier(self, group: str) -> regex.Pattern[str] | None:
        sources: list[str] = []
        for known, source in self._marked:
            if known == group:
                start = plain_start(source)
                begun = ((one, plain_start(one)) for one in sources)
                rivals = [
                    strip_groups(one) for one, other in begun if start.startswith(other) or other.startswith(start)
                ]
                return regex.compile(f"{self._line}(?:{'|'.join(rivals)})", self.flags) if rivals else None
            sources.append(source)
        return None

    def _end(self, opener: str, pairs: tuple[Pair, ...]) -> regex.Pattern[str] | None:
        return regex.compile(source, self.flags) if (source := closing(opener, pairs)) else None

    def _in_reasoning(self, opener: str) -> regex.Pattern[str]:
        closer = closing(opener, self.syntax.reasoning)
        drafts = closer and self.syntax.calls_in_reasoning == "draft"
        openers = [] if drafts else [f"(?P<call>{self.openers()})"]
        if closer:
            openers.insert(0, f"(?P<end>{closer})")
        else:
            others = [self.label(opener) for opener, _ in (*self.syntax.reasoning, *self.syntax.unwrap)]
            others += map(self.label, self.syntax.stop)
            openers.insert(0, "(?P<next>" + "|".join(others) + ")")
        line = r"(?<![^\n])[ \t]{0,8}" if self.syntax.lines else ""
        return regex.compile(f"{line}(?:{'|'.join(openers)})", self.flags)

    def openers(self) -> str:
        """Return the pattern of everything that may begin a call, without groups."""
        sources = [section.opener for section in self.sections if section.opener]
        sources += [source for section in self.sections for _, source in section.heads]
        sources += [source for _, source in self.further_marks()]
        return "|".join(map(strip_groups, sources)) or r"(?!)"

    def label(self, marker: str) -> str:
        """Compile a marker of reasoning, of an answer or of the turn's end."""
        return literal(marker)

    def further_marks(self) -> Iterable[tuple[str, str]]:
        """Return the groups and patterns of further markers that begin calls."""
        return ()

    def _sections(self) -> Iterator[Section]:
        grouped: dict[str, list[Form]] = {}
        for form in self.syntax.forms:
            opening, _, closer = form.section.partition("{calls}")
            grouped.setdefault(f"{opening.strip()}{{calls}}{closer.strip()}", []).append(form)
        openers: list[str] = []
        for template, forms in grouped.items():
            openers.append(section_opener(template.partition("{calls}")[0], forms))
            openers.extend(
                strip_groups(begin.source)
                for form in forms
                if (form.alone or form.section == "{calls}") and (begin := self.begin(form)) is not None
            )
        line = r"(?<![^\n])[ \t]{0,8}" if self.syntax.lines else ""
        begins = tuple(line + source for source in openers if source)
        for template, forms in grouped.items():
            opening, _, closing_text = template.partition("{calls}")
            closers = [literal(text) for text in with_and_without(closing_text)]
            closers += [literal(end) for end in forms[0].ends if closing_text]
            closer = "|".join(closers)
            compiled = distinguished([self._form(form, closer, begins) for form in forms])
            heads = [next_call(form, f"f{at}") for at, form in unsure_first(compiled)]
            if opening and not closer:  # before a head that would match the marker itself
                heads.insert(0, rf"{GAP}(?P<again>{literal(opening)})")
            # If the closer is a single bracket, a second one is text.
            surplus = "(?P<extra>(?!))?" if closing_text in ("]", "}") else rf"(?P<extra>[}}\]]{{1,8}}{GAP})?"
            closes = [rf"{GAP}(?:[,;]{GAP})?{surplus}(?P<close>{source})" for source in closers if source]
            bracketed = len(closing_text) > 1 and closing_text.lstrip().startswith(("[", "{"))
            heads = [*(closes if bracketed else ()), *heads, *closes]  # else its bracket would begin a call
            tails = [form.tail.pattern for form in compiled if form.tail]
            calls = strip_groups("|".join(form.head.source for form in compiled if form.head))
            inner = Nesting([calls], tails, self.flags)
            yield Section(
                opener=section_opener(opening, forms),
                closer=regex.compile(closer, self.flags) if closer else None,
                ends=tuple(regex.compile(source, self.flags) for source in closers[:-1] if source),
                closers=[source for source in closers if source],
                forms=compiled,
                bare=forms[0].bare,
                next=tuple(regex.compile(source, self.flags) for source in heads),
                marked=tuple(
                    regex.compile(f"{GAP}(?:[,;]{GAP})?{form_start(form)}", self.flags)
                    for form in compiled
                    if lead_of(form.form)
                ),
                resync=Resync([*closers, *tails], begins, self.flags),
                nesting=Nesting([literal(opening)], closers, self.flags) if closing_text else inner,
                inner=inner,
            )

    def begin(self, form: Form) -> Head | None:
        """Compile the beginning of a call; a tool's name alone counts only before a body."""
        parts = BODY.split(form.call)
        if not parts[0].strip():
            return None
        begin = self._head(parts[0])
        if form.literals is not None and form.literals.keywords:
            begin = replace(begin, source=begin.source.replace(f"(?P<name>{SLOT})", f"(?P<name>{PLAIN_NAME})"))
        if form.tentative and form.literals is None and parts[1:2] == ["args"]:
            return replace(begin, source=rf"{begin.source}(?={GAP}\{{)")
        if not form.offered:
            unsure = form.tentative and form.section == "{calls}" and not parts[0].rstrip().endswith("}")
            return replace(begin, source=begin.source + before_call(parts[0], form)) if unsure else begin
        if form.call.startswith("<"):
            others = rf"(?:[^<]|<(?!/?(?:{self.tags})[\s/>])){{1,{_MOST_WORDS}}}"
            # without an argument's element: not a call, but meant as one
            words = rf"(?!{GAP}\{{|`(?!``)|[\"']){others}{self._end_tag}"
            follow = {"yaml": _YAML, "args": rf"{GAP}\{{"}.get(parts[1], rf"{GAP}<|{words}")
            source = begin.source.replace(f"(?P<name>{TAG_NAME})", f"(?P<name>{self.tags})")
            return replace(begin, source=rf"{source}(?:(?<=/>)|(?={follow}))")
        plain = begin.source.replace(f"{PLAIN_NAME}+", PLAIN_NAME)
        source = plain.replace(f"(?P<name>{PLAIN_NAME})", f"(?P<name>{self.names})")
        return replace(begin, source=r"(?<![^\n>])" + source + r"(?<=\n)")  # on its own line, or after a marker

    def _head(self, template: str) -> Head:
        """Compile a call's head; a quote instead of the name means that the marker is only mentioned."""
        found = self._named_head(template)
        return replace(found, source=found.source.replace("(?P<name>", "(?![`\"'])(?P<name>"))

    def _named_head(self, template: str) -> Head:
        """Compile a call's head; its name stays on the line if lines matter, and is a plain word if it comes first."""
        found = head(template)
        if self.syntax.lines:
            found = replace(found, source=found.source.replace(r"\s{0,64}+(?P<name>", r"[ \t]{0,64}+(?P<name>"))
            if not template.startswith("{name}"):
                return found
        following = _BEHIND_NAME.search(template)
        if following and not template.startswith("{name}"):  # otherwise a name might contain the marker that ends it
            narrow = SLOT.replace("<>{", f"<>{{{re.escape(following[1])}")
            return replace(found, source=found.source.replace(f"(?P<name>{SLOT})", f"(?P<name>{narrow})"))
        return found

    def _form(self, form: Form, closer: str, begins: tuple[str, ...]) -> FormGrammar:
        pieces = BODY.split(form.call)
        tail = pieces[-1] if len(pieces) > 1 else ""
        end = self._end_tag if form.offered and tail else literal(tail)
        end = "|".join([end, *map(literal, form.ends)]) if end else ""
        body = pieces[1] if len(pieces) > 1 else ""
        payload = None
        if "payload" in pieces[1::2]:
            payload = PayloadEnds(end, begins, self.flags)
        frame = self.syntax.frame
        if frame is not None:
            begins, closer = (literal(frame.start),), "|".join(map(literal, (*frame.ends, frame.start)))
        whole, end = end, in_part(end, tail, [*begins, closer]) if form.elements else end
        follow = end or closer or "|".join(begins)
        begin = self.begin(form)
        if begin is not None and pieces[0].rstrip().endswith("}"):  # a name without an end marker
            begin = replace(begin, source=begin.source + first_of_body(form, body, end))
        middle = literal(pieces[2]) if len(pieces) > 3 else ""  # noqa: PLR2004 - head, slot, literal, slot, tail
        parts = HeadParts(form.parts, form.elements, follow, self.flags) if form.parts and form.elements else None
        if begin is not None and parts is not None:
            begin = replace(begin, source=parts.start)
        next_or_stop = (*begins, *map(literal, self.syntax.stop))
        own = begin.source if begin is not None and parts is None else literal(form.section.partition("{calls}")[0])
        section = "" if parts or begin is None else literal(form.section.partition("{calls}")[0])
        inside = parts.start if parts else ""
        if frame is not None and begin is None:  # a message is the whole call
            own, inside = literal(frame.body), r"[\s\S]"
        lead = next((literal(tag) for tag, _ in _FIRST_TAG.findall(form.call)), "")
        around = Around(begins, strip_groups(own), follow, inside, section, section_end=closer, lead=lead)
        extra = ")" if form.literals is None else ""
        return FormGrammar(
            form=form,
            head=begin,
            head_pattern=regex.compile(begin.source if begin else "", self.flags),
            parts=parts,
            escaped=form.elements is not None and form.elements.escape != "none",
            body=body,
            middle=regex.compile(middle, self.flags) if middle else None,
            extra_tail=regex.compile(rf"{GAP}(?P<extra>[}}\]{extra}]{{1,8}}{GAP})?(?:{end})", self.flags),
            payload=payload,
            tail=regex.compile(end, self.flags) if end else None,
            whole_tail=regex.compile(whole, self.flags),
            shape=compile_shape(form.json) if form.json else None,
            elements=ElementGrammar(form.elements, around, markers(self.syntax), ignore_case=self.syntax.ignore_case)
            if form.elements
            else None,
            json=form.json,
            literals=LiteralGrammar(form.literals, ending(end, closer, own, next_or_stop)) if form.literals else None,
            begins="|".join(begins),
        )
