"""Parameters as elements around raw values that say whether they are strings.

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

Kimi K3 writes the type's name: `<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>`.
"""

from dataclasses import replace

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.dialects._native import SGLANG, THINK, VLLM, XGRAMMAR, native, or_json, template
from toolfmt.formatters.json_schemas import function_line, sorted_line


def _marked(mark: str, *sections: str, space: str = "") -> tuple[Form, ...]:
    """The forms with this mark before each tag's name; the first section is written, all are read."""
    tag = f"{mark}{space}"
    elements = Elements(
        member=f'<{tag}parameter name="{{key}}"{{? string="{{string}}"?}}>{{value}}</{tag}parameter>',
        escape="none",
        indent="",
    )
    return tuple(
        form
        for section in sections
        for called in [
            Form(
                section=f"<{tag}{section}>\n{{calls}}\n</{tag}{section}>",
                call=f'<{tag}invoke name="{{name}}">\n{{members}}</{tag}invoke>',
                each=False,
                alone=True,
                elements=elements,
            )
        ]
        for form in (
            *or_json(called),
            replace(
                called, call=f'<{tag}invoke name="{{name}}">\n{{args}}\n</{tag}invoke>', elements=None, tentative=True
            ),
        )
    )


_DEEPSEEK = Syntax(
    forms=(),
    reasoning=THINK,
    before_calls="\n\n",
    stop=("<｜end▁of▁sentence｜>",),
    result="<tool_result>{content}</tool_result>",
    result_separator="\n\n",
)


DIALECTS = (
    native(
        "deepseek-v32",
        "DSML invokes in function_calls: DeepSeek V3.2",
        replace(
            _DEEPSEEK,
            forms=_marked("｜DSML｜", "function_calls", "tool_calls", "function_call", "tool_call"),
            tools="<functions>\n{tools}\n</functions>",
            result="<result>{content}</result>",
            results="<function_results>\n{results}\n</function_results>",
            result_separator="\n",
        ),
        template("deepseek-ai/DeepSeek-V3.2"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("deepseekv32",),
        schema=function_line,
    ),
    native(
        "deepseek-v4",
        "DSML invokes in tool_calls: DeepSeek V4",
        replace(_DEEPSEEK, forms=_marked("｜DSML｜", "tool_calls", "toolcalls", "function_calls", "tool_call")),
        template("deepseek-ai/DeepSeek-V4"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("deepseekv4",),
        schema=function_line,
    ),
    native(
        "deepseek-v41",
        "DSML invokes whose tags have a space: DeepSeek V4.1",
        replace(_DEEPSEEK, forms=_marked("｜DSML｜", "calls", space=" ")),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("deepseekv41",),
        schema=function_line,
    ),
    native(
        "gigachat35",
        "GCML invokes in tool_calls: GigaChat 3.5",
        Syntax(forms=_marked("｜GCML｜", "tool_calls"), reasoning=THINK, stop=("<|message_sep|>",)),
        SGLANG,
    ),
    native(
        "kimi-k3",
        "calls and arguments between <|open|>, <|sep|> and <|close|>: Kimi K3",
        Syntax(
            forms=or_json(
                Form(
                    section="<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>",
                    call='<|open|>call tool="{name}"{? index="{index1}"?}<|sep|>{members}<|close|>call<|sep|>',
                    separator="",
                    each=False,
                    alone=True,
                    elements=Elements(
                        member='<|open|>argument key="{key}"{? type="{type}"?}<|sep|>{value}<|close|>argument<|sep|>',
                        escape="keys",
                        indent="",
                        separator="",
                        type_names={"integer": "number"},
                        typed=True,
                    ),
                )
            ),
            reasoning=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
            unwrap=(("<|open|>response<|sep|>", "<|close|>response<|sep|>"),),
            stop=("<|close|>message<|sep|>", "<|end_of_msg|>"),
            tools="```json\n[{tools}]\n```",
            tool_separator=",",
            result='<|open|>message role="tool" tool="{name}" index="{index1}"<|sep|>{content}'
            "<|close|>message<|sep|><|end_of_msg|>",
            result_separator="",
        ),
        template("Kimi-K3"),
        Provenance(reference="moonshotai/Kimi-K3, encoding_k3.py", kind="source", revision="f831ab6"),
        VLLM,
        SGLANG,
        schema=sorted_line,
    ),
)
