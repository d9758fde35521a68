"""The sandbox: what transformers offers to a template works; what could harm or never end is refused, with the line."""

import threading
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.filters import FILTERS as KNOWN

from toolfmt.errors import TemplateError, TemplateRefusedError
from toolfmt.workshop.chat_templates.sandbox import TemplateLimits, render

DATA = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"b": "<é>", "a": [1, 2.5, None, True]}]}

OFFERED = {
    "{{ tools[0] | tojson }}": '{"b": "<é>", "a": [1, 2.5, null, true]}',
    "{{ tools[0] | tojson(sort_keys=true, separators=(',', ':')) }}": '{"a":[1,2.5,null,true],"b":"<é>"}',
    "{{ tools[0].b | tojson(ensure_ascii=true) }}": '"<\\u00e9>"',
    "{{ {'a': 1} | tojson(indent=2) }}": '{\n  "a": 1\n}',
    "{{ '<' }}": "<",
    "{% generation %}{{ messages[0].content }}{% endgeneration %}": "Hi",
    "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}"
    "{% endfor %}": "02",
    "  {% if true %}\n  x\n  {% endif %}\n": "  x\n",
    "{% set ns = namespace(a='') %}{% for m in messages %}{% set ns.a = m.content %}{% endfor %}{{ ns.a }}": "Hi",
    "{{ dict(a=1) }}{{ dict.fromkeys('a') }}": "{'a': 1}{'a': None}",
    "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) ~ m('a') }}": "[1][a]",
    "{% for m in messages recursive %}{{ loop.index }}{{ loop.last }}{% endfor %}": "1True",
    "{{ nothing }}{{ nothing is defined }}{{ 'a' in nothing }}": "FalseFalse",
    "{{ messages | map(attribute='role') | join('+') }}{{ messages[::-1] | length }}": "user1",
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}": "1",
    "{{ 'a' in 'cat' }}{{ 'role' in messages[0] }}{{ 3 not in [1] }}": "TrueTrueTrue",
    "{{ '%02d' % 7 }}{{ '{:>3}'.format(1) }}{{ 'ab' * 2 }}{{ 2 ** 3 }}{{ [1] + [2] }}": "07  1abab8[1, 2]",
    "{{ 1 < 2 < 3 }}{{ {'a': 1} == {'a': 1.0} }}": "TrueTrue",
    "{{ messages[0].get('role', 'none') }}": "user",
}


@pytest.mark.parametrize(("source", "text"), OFFERED.items())
def test_offers_what_transformers_offers(source: str, text: str) -> None:
    assert render(source, DATA) == text


ENDLESS = [
    "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
    "{% for a in range(100000) %}{% for b in range(100000) if a < 0 %}{% endfor %}{% endfor %}",
    "{% for a in range(100000) %}{{ range(100000) | select('none') | list }}{% endfor %}",
    "{% for a in range(100000) %}{% set x = range(100000) | list %}{% endfor %}",
    "{% for a in range(100000) %}{% set x = range(100000) | sum %}{% endfor %}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    (
        "{% block a %}{% for i in range(100000) %}{{ self.b() }}{% endfor %}{% endblock %}{% block b %}"
        "{% for i in range(100000) %}x{% endfor %}{% endblock %}"
    ),
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
    (
        "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}"
        "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}"
    ),
    "{% set ns = namespace(x=(1,)) %}{% for i in range(99) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}",
    "{% set ns = namespace(x=(1,)) %}{% for i in range(99) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {}[ns.x] }}",
    "{{ 'x' * 10 ** 9 }}",
    "{{ [1] * 10 ** 9 }}",
    "{{ 10 ** (10 ** 9) }}",
    "{% set ns = namespace(x=7) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{{ 'x'.ljust(10 ** 9) }}",
    "{{ 'x'.zfill(10 ** 9) }}",
    "{{ '\t'.expandtabs(10 ** 9) }}",
    "{{ '{:1000000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 10 ** 9) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%*d' % (10 ** 9, 1) }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ ('b' * 10000).join(['a'] * 100000) }}",
    "{{ (['a'] * 100000) | join('b' * 10000) }}",
    "{{ ('a' * 100000) | replace('a', 'b' * 10000) }}",
    "{{ [1] | batch(10 ** 9, 'x') | list }}",
    "{{ [] | slice(10 ** 9) | list }}",
    "{{ 'x' | indent(10 ** 9, true) }}",
    "{{ 'x' | center(10 ** 9) }}",
    "{{ 1.5 | round(10 ** 9, 'ceil') }}",
    "{{ 1 | round(-(10 ** 8)) }}",
    "{{ '%*d' % (-(10 ** 9), 1) }}",
    "{{ '{:{w}}'.format(1, w='999999999') }}",
    "{{ '{:{w[a][0]}}'.format(1, w={'a': [-999999999]}) }}",
    "{{ '{:{w[0]}}'.format(1, w=['<999999999']) }}",
    "{{ [1] | tojson(indent=10 ** 9) }}",
    (
        "{% set ns = namespace(x=[1]) %}{% for i in range(150) %}{% set ns.x = [ns.x] %}{% endfor %}"
        "{{ ns.x | tojson(indent=10 ** 5) }}"
    ),
    "{{ ('<!---->' * 100000) | striptags }}",
    "{{ ('b' * 1000000).rfind('a' + 'b' * 500000) }}",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_whatever_would_take_too_long_or_too_much_is_ended(source: str) -> None:
    with pytest.raises(
        TemplateError, match=r"line 1: it (takes more than 3\d{5} steps|makes more than|makes a number)"
    ):
        render(source, DATA, limits=TemplateLimits(steps=300_000))


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% block a %}{{ self.a() }}{% endblock %}",
        "{{" + "(" * 5000 + "1" + ")" * 5000 + "}}",
    ],
)
def test_what_is_inside_itself_is_ended(source: str) -> None:
    with pytest.raises(TemplateError, match="too deep"):
        render(source, DATA)


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update(a=1) }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ cycler(1).next.__func__.x }}",
        "{{ ('{0.__class__.__mro__}').format(1) }}",
        "{{ (messages | map(attribute='__class__') | first).x }}",
        "{{ ('' | attr('__class__')).mro() }}",
        "{{ raise_exception.__globals__.x }}",
        "{{ self._TemplateReference__context.environment }}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{{ namespace(__init__=1) }}",
        "{% include 'x' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
        "{% do messages.clear() %}",
        "{{ lipsum() }}",
        "{{ [1, 2] | random }}",
        "{{ 1e999 }}",
    ],
)
def test_no_way_leads_out(source: str) -> None:
    before = repr(DATA)
    with pytest.raises(TemplateError, match="line 1"):
        render(source, DATA)
    assert repr(DATA) == before


def test_the_names_of_the_counting_give_nothing_back() -> None:
    source = "{{ [-99999999] | map('(turn)') | list | length }}{% for i in range(90000) %}{% endfor %}"
    with pytest.raises(TemplateError, match=r"more than 5\d{4} steps"):
        render(source, DATA, limits=TemplateLimits(steps=50_000))


def test_output_and_source_have_a_limit() -> None:
    with pytest.raises(TemplateError, match="writes more than 100 characters"):
        render("{% for i in range(60) %}xx{% endfor %}", {}, limits=TemplateLimits(output=100))
    with pytest.raises(TemplateError, match="has 101 characters; 100 are read"):
        render("x" * 101, {}, limits=TemplateLimits(source=100))


def test_a_refusal_keeps_the_words_of_the_template_and_the_line() -> None:
    with pytest.raises(TemplateRefusedError, match="line 2, refuses the conversation: Roles must alternate") as caught:
        render("x\n{{ raise_exception('Roles must alternate') }}", {})
    assert (caught.value.message, caught.value.line) == ("Roles must alternate", 2)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\n{% if %}", "line 2: Expected an expression"),
        ("a\n\n{{ x.y }}", "line 3: it needs 'x': give it in variables="),
        ("{{ 1 / 0 }}", "line 1: division by zero"),
        ("{{ x | nofilter }}", "line 1: No filter named 'nofilter'"),
        ("{% endfor %}", "line 1: Encountered unknown tag"),
        ("{{ nothing | tojson }}", "line 1: Object of type Undefined is not JSON serializable"),
        ("{{ [1] + 'a' }}", "line 1: can only concatenate list"),
    ],
)
def test_every_error_has_its_line(source: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        render(source, {})


def test_a_date_is_written_only_if_it_is_given() -> None:
    assert render("{{ strftime_now('%d %b %Y') }}", {}, now=datetime(2024, 7, 26, tzinfo=UTC)) == "26 Jul 2024"
    assert render("{{ strftime_now is defined }}", {}) == "False"
    with pytest.raises(TemplateError, match="give now="):
        render("{{ strftime_now('%Y') }}", {})


def test_nothing_is_left_over() -> None:
    before = threading.active_count()
    for source in ENDLESS[:3]:
        with pytest.raises(TemplateError):
            render(source, DATA, limits=TemplateLimits(steps=1000))
    assert threading.active_count() == before
    assert render("{{ 'fresh' }}", {}) == "fresh"


def test_a_long_conversation_is_well_within_the_limits() -> None:
    messages = [{"role": "user", "content": "word " * 1000}] * 1000
    source = (
        "{% for m in messages %}{% if loop.last or messages[loop.index0 + 1].role == 'user' %}"
        "{{ '<' + m.role + '>' + m.content.split('</think>')[-1].strip('\\n') | trim }}{% endif %}{% endfor %}"
    )
    assert len(render(source, {"messages": messages})) > 4_000_000


VALUES = [
    *("messages", "messages[0]", "messages[0].content", "nothing", "''", "'a b'", "7", "-1", "2.5", "[1, 'a']"),
    *(
        "{'a': 1}",
        "(1, 2)",
        "none",
        "true",
        "range(3)",
        "namespace(a=1)",
        "dict",
        "loop",
        "self",
        "m",
        "10 ** 9",
        "'{:9}'",
    ),
]
FILTERS = sorted(KNOWN)
METHODS = [
    "format(1)",
    "join(x)",
    "split()",
    "items()",
    "get('a')",
    "upper",
    "strip(x)",
    "replace(x, x)",
    "__class__",
    "a",
]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "in", "not in", "<", "and", "is"]
EXPRESSIONS = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("({} | {})".format, inner, st.sampled_from(FILTERS)),
        st.builds("({} | {}({}))".format, inner, st.sampled_from(FILTERS), inner),
        st.builds("({}).{}".format, inner, st.sampled_from(METHODS)),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({})({})".format, inner, inner),
    ),
    max_leaves=5,
)
STATEMENTS = [
    *("{{{{ {} }}}}", "{{% set x = {} %}}", "{{% if {} %}}a{{% endif %}}"),
    "{{% for x in {} %}}{{{{ x }}}}{{% endfor %}}",
]


@given(st.lists(st.builds(str.format, st.sampled_from(STATEMENTS), EXPRESSIONS), min_size=1, max_size=4))
def test_whatever_a_template_does_it_renders_or_is_a_template_error(parts: list[str]) -> None:
    before = repr(DATA)
    try:
        text = render("".join(parts), DATA, limits=TemplateLimits(steps=100_000, text=1_000_000))
    except TemplateError:
        text = ""
    assert isinstance(text, str)
    assert repr(DATA) == before
