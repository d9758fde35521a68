"""Arguments as pairs of a key element and a value element.

    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call>

Values are raw; their types come from the tool's schema.
"""

from dataclasses import replace

from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.dialects._native import SGLANG, THINK, VLLM, XGRAMMAR, json_call, native, template, vllm_draft
from toolfmt.formatters.json_schemas import function_line


def _with_json(form: Form) -> tuple[Form, ...]:
    """A form, and JSON objects where its pairs are due, into which models fall back."""
    tag = form.call.partition("{")[0].partition(">")[0] + ">"
    closer = tag.replace("<", "</")
    if form.section == "{calls}":
        return form, Form(section=f"{tag}{{calls}}{closer}", call="{call}", tentative=True, json=json_call())
    return form, *(
        Form(section=form.section, call=call, json=json_call()) for call in (f"{tag}{{call}}{closer}", "{call}")
    )


_PAIRS = Elements(
    member="<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>", escape="none", indent="", closers_optional=True
)
_COMPACT = replace(_PAIRS, member="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>", separator="")
_GLM = Form(call="<tool_call>{name}\n{members}</tool_call>", elements=_PAIRS)
_GLM47 = Form(call="<tool_call>{name}{members}</tool_call>", elements=_COMPACT, separator="")


_LING = replace(_GLM, call="<tool_call>{name}\n{members}\n</tool_call>", elements=replace(_PAIRS, separator=""))
_CLOSE = Syntax(
    forms=_with_json(_GLM47),
    reasoning=THINK,
    tools="<tools>\n{tools}\n</tools>",
    hidden=(("<tool_response>", "</tool_response>"),),
    result="<tool_response>{content}</tool_response>",
    result_separator="",
)
_ON_LINES = replace(
    _CLOSE, forms=_with_json(_GLM), result="<tool_response>\n{content}\n</tool_response>", result_separator="\n"
)


def _hunyuan(end: str) -> Syntax:
    """Hunyuan 3, whose tags end in `end`: a tokenizer may ship them with a suffix."""
    return Syntax(
        forms=_with_json(
            Form(
                section=f"<tool_calls{end}\n{{calls}}\n</tool_calls{end}",
                call=f"<tool_call{end}{{name}}<tool_sep{end}\n{{members}}</tool_call{end}",
                each=False,
                alone=True,
                elements=replace(
                    _PAIRS, member=f"<arg_key{end}{{key}}</arg_key{end}\n<arg_value{end}{{value}}</arg_value{end}"
                ),
            )
        ),
        reasoning=((f"<think{end}", f"</think{end}"),),
        stop=("<｜hy_eos｜>",),
        tools=_ON_LINES.tools,
        hidden=((f"<tool_response{end}", f"</tool_response{end}"),),
        result=f"<tool_response{end}\n{{content}}\n</tool_response{end}",
        results=f"<tool_responses{end}\n{{results}}\n</tool_responses{end}",
    )


_HORIZON = Form(
    section="<ifm|tool_calls>\n{calls}\n</ifm|tool_calls>",
    call="<ifm|tool_call>{name}\n{members}</ifm|tool_call>",
    each=False,
    alone=True,
    elements=replace(
        _PAIRS,
        member="<ifm|arg_key>{key}</ifm|arg_key>\n{?<ifm|arg_type>{type}</ifm|arg_type>\n?}"
        "<ifm|arg_value>{value}</ifm|arg_value>",
    ),
)

DIALECTS = (
    native(
        "glm45",
        "<arg_key> and <arg_value> on lines: GLM 4.5 and 4.6",
        replace(
            _ON_LINES,
            reasoning=(("<think>", "</think>\n"),),
            before_calls="\n",
            stop=("<|observation|>", "<|user|>"),
            special=("[gMASK]", "<sop>"),
        ),
        template("GLM-4.6"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("glm",),
    ),
    native(
        "glm47",
        "<arg_key> and <arg_value> without line breaks: GLM 4.7 and 5; GLM 5.3 Flash also writes JSON after the name",
        replace(
            _CLOSE,
            forms=(*_CLOSE.forms, Form(call="<tool_call>{name}>{args}</tool_call>", separator="")),
            stop=("<|observation|>", "<|user|>"),
            special=("[gMASK]", "<sop>"),
        ),
        template("GLM-4.7-Flash"),
        VLLM,
        SGLANG,
    ),
    native(
        "ling3",
        "as glm45: Ling 3",
        replace(
            _ON_LINES, forms=_with_json(_LING), before_calls="\n", stop=("<|role_end|>",), special=("<role>", "</role>")
        ),
        template("inclusionAI/Ling-3.0-flash"),
        VLLM,
        SGLANG,
    ),
    native(
        "spark25",
        "as glm47: Spark 2.5",
        replace(_CLOSE, stop=("<｜end▁of▁sentence｜>",)),
        template("Spark2.5"),
        schema=function_line,
    ),
    native(
        "poolside-v1",
        "as glm47: Poolside Laguna",
        replace(
            _CLOSE,
            stop=("</assistant>",),
            special=("<assistant>", "<system>", "</system>", "<user>", "</user>"),
            tools="<available_tools>\n{tools}\n</available_tools>",
            result_separator="\n",
        ),
        template("poolside/Laguna-S-2.1"),
        VLLM,
        SGLANG,
    ),
    native(
        "iquest-q1",
        "as glm47 in <iquest_tool_call>",
        replace(_CLOSE, forms=_with_json(replace(_GLM47, call="<iquest_tool_call>{name}{members}</iquest_tool_call>"))),
        SGLANG,
    ),
    native(
        "iquest-coder-v2",
        "as glm45 in <iquestcoder_tool_call>: iQuest Coder 2",
        replace(
            _ON_LINES,
            forms=_with_json(replace(_GLM, call="<iquestcoder_tool_call>{name}\n{members}</iquestcoder_tool_call>")),
        ),
        vllm_draft("iquest_coder_v2_tool_parser", "2006094"),
    ),
    native(
        "solar-open2",
        "a key and a raw value between Solar's markers: Solar Open 2",
        Syntax(
            forms=(
                Form(
                    call="<|tool_call:start|>{name}\n{members}<|tool_call:end|>",
                    elements=replace(
                        _PAIRS,
                        member="<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>",
                        closers_optional=False,
                    ),
                ),
            ),
            reasoning=(("<|think:start|>", "<|think:end|>"), *THINK),
        ),
        replace(VLLM, reference="vllm-project/vllm, vllm/tool_parsers/solar_open2_tool_parser.py", revision="25e2bef"),
    ),
    native(
        "hy-v3",
        "<arg_key> and <arg_value> after <tool_sep>: Hunyuan 3",
        _hunyuan(">"),
        template("tencent/Hy3"),
        VLLM,
        SGLANG,
        aliases=("hunyuan",),
    ),
    native("hy-v3-suffix", "as hy-v3 with :opensource in every tag", _hunyuan(":opensource>"), template("tencent/Hy3")),
    native(
        "hy-v4",
        "<arg_key> and <arg_value> without line breaks: Hunyuan 4",
        replace(
            _CLOSE,
            forms=_with_json(replace(_GLM47, section="<tool_calls>{calls}</tool_calls>", each=False, alone=True)),
        ),
        VLLM,
    ),
    native(
        "k2-horizon",
        "pairs, typed pairs or JSON in <ifm|tool_call>: K2 Horizon",
        replace(
            _CLOSE,
            forms=_with_json(_HORIZON),
            reasoning=tuple((f"<ifm|{kind}>", f"</ifm|{kind}>") for kind in ("think", "think_fast", "think_faster")),
        ),
        VLLM,
        SGLANG,
        aliases=("k2-horizon-json", "k2-horizon-typed"),
    ),
)
