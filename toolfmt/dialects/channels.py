r"""Formats whose messages have headers: channels and recipients.

    <|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>     harmony
     to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n...<|eot|>             muse
     to=f<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="a">...<|call|>    beam
    f<|content_invoke_tool_json|>{"name":"f","args":{"a":1}}<|end_message|>               inkling
    f\n{"a": 1}>>>g\n{}                                                                   functionary-v32

A comment after each form names the formats that write it.
"""

from functools import partial

from toolfmt.dialect.frames import Frame, Route
from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Elements, Form, JsonCall, Syntax
from toolfmt.dialects._native import SGLANG, VLLM, native, template
from toolfmt.formatters.declarations import TypeScript
from toolfmt.formatters.json_schemas import function_line

# What a part holds is possessive: split in every way, a run of parts would take time to the power of their number.
_HARMONY = (
    r"(?:<\|start\|>assistant|assistant)?(?:[ \t]{0,8}(?:to=(?P<recipient>[^\s<|]{1,256}+)"
    r"|<\|channel\|>[ \t]{0,8}(?P<channel>[^\s<|]{1,64}+)|<\|constrain\|>[ \t]{0,8}(?P<content>[\w\-]{1,64}+)"
    r"|(?P<content>json|code|text|xml)(?!\w))){0,8}[ \t]{0,8}<\|message\|>"
)
_NAME = r"[\w.:/\-]{1,256}"
_harmony_frame = partial(
    Frame,
    header=_HARMONY,
    start="<|start|>",
    opens=("<|start|>", "<|channel|>"),
    words=("analysis", "commentary", "final", "json", "code", "text", "xml"),
    ends=("<|end|>", "<|call|>", "<|return|>"),
)
_ARGS = Form(call="{args}")

DIALECTS = (
    native(
        "harmony",
        "messages with a channel and a recipient, JSON arguments: gpt-oss",
        Syntax(
            forms=(_ARGS,),
            frame=_harmony_frame(
                routes=(
                    Route(to="raw", recipient="functions.*", content="text"),
                    Route(to="call", recipient="functions.*"),
                    Route(to="raw", recipient="python", argument="code"),
                    Route(to="reasoning", recipient="assistant", channel="analysis"),
                    Route(to="text", recipient="assistant"),
                    Route(to="text", recipient="user"),
                    Route(to="reasoning", recipient="", channel="analysis"),
                    Route(to="text", recipient=""),
                    Route(to="call"),
                ),
                call="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>",
                between="<|call|><|start|>assistant",
                last="<|call|>",
            ),
            stop=("<|return|>",),
            tools="## functions\n\nnamespace functions {\n\n{tools}\n\n} // namespace functions",
            tool_separator="\n\n",
            result="<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{content}<|end|>",
            result_separator="",
        ),
        template("openai/gpt-oss-120b"),
        Provenance(reference="openai/harmony", kind="source"),
        VLLM,
        SGLANG,
        aliases=("openai", "gpt-oss", "openai-gptoss"),
        schema=TypeScript(indent=""),
    ),
    native(
        "muse",
        "messages with a recipient, parameters in <atem:invoke>: Muse",
        Syntax(
            forms=(
                Form(
                    call='<atem:function_calls>\n<atem:invoke name="{name}">\n{members}'
                    "</atem:invoke>\n</atem:function_calls>",
                    elements=Elements(
                        member='<atem:parameter name="{key}">{value}</atem:parameter>', escape="none", indent=""
                    ),
                ),
            ),
            frame=Frame(
                header=r"(?:<\|start\|>assistant)?[ \t]{0,8}to=(?P<recipient>[^\s<|]{1,256})[ \t]{0,8}<\|message\|>",
                start="<|start|>",
                opens=("<|start|>",),
                ends=("<|eom|>", "<|eot|>"),
                routes=(
                    Route(to="reasoning", recipient="self"),
                    Route(to="text", recipient="user"),
                    Route(to="text", recipient="commentary"),
                    Route(to="hidden", recipient="developer"),
                    Route(to="call"),
                ),
                call=" to={name}<|message|>",
                between="<|eom|><|start|>assistant",
                last="<|eot|>",
            ),
            stop=("<|eot|>",),
            result='<|start|>tool {name}<|message|><tool_output name="{name}">\n{content}\n</tool_output><|eot|>',
            result_separator="",
        ),
        template("Muse Glimmer"),
        VLLM,
        SGLANG,
        schema=function_line,
        aliases=("muse-glimmer", "musespark1x"),
    ),
    native(
        "beam",
        "harmony's headers, parameters in <rfl:parameter>: Beam",
        Syntax(
            forms=(
                Form(
                    call="{members}",
                    elements=Elements(
                        member='<rfl:parameter name="{key}">\n{value}\n</rfl:parameter>',
                        escape="none",
                        indent="",
                        separator="",
                    ),
                ),
            ),
            frame=_harmony_frame(
                routes=(
                    Route(to="reasoning", recipient="", channel="analysis"),
                    Route(to="text", recipient=""),
                    Route(to="text", recipient="user"),
                    Route(to="call"),
                ),
                call=" to={name}<|channel|>analysis <|constrain|>xml<|message|>",
                between="<|end|><|start|>assistant",
                last="<|call|>",
            ),
            stop=("<|call|>",),
            result="<|start|>{name} to=assistant<|message|>{content}<|end|>",
            result_separator="",
        ),
        SGLANG,
        VLLM,
    ),
    native(
        "inkling",
        "typed message blocks, JSON calls: Inkling",
        Syntax(
            forms=(
                Form(
                    call="{call}",
                    json=JsonCall(
                        template={"name": "{name}", "args": "{arguments}"},
                        accepts=({"name": "{name}", "arguments": "{arguments}"},),
                    ),
                ),
            ),
            frame=Frame(
                header=rf"(?:<\|message_model\|>)?[ \t]{{0,8}}(?P<recipient>{_NAME})?[ \t]{{0,8}}"
                r"<\|content_(?P<channel>\w{1,64})\|>",
                start="<|message_model|>",
                opens=("<|message_model|>",),
                body="|>",
                ends=("<|end_message|>", "<|content_model_end_sampling|>"),
                routes=(
                    Route(to="call", channel="invoke_tool_json"),
                    Route(to="raw", channel="invoke_tool_text"),
                    Route(to="reasoning", channel="thinking"),
                    Route(to="text"),
                ),
                call="{name}<|content_invoke_tool_json|>",
                between="<|end_message|><|message_model|>",
                last="<|end_message|>",
            ),
            stop=("<|content_model_end_sampling|>",),
            result="<|message_tool|>{name}<|content_text|>{content}<|end_message|>",
            result_separator="",
        ),
        VLLM,
        SGLANG,
    ),
    native(
        "functionary-v32",
        "a recipient's line after >>>, JSON arguments: Functionary v3.2",
        Syntax(
            forms=(_ARGS,),
            frame=Frame(
                header=r"(?:>>>)?(?:(?P<recipient>all|python)[ \t]{0,8}\n"
                rf"|(?P<recipient>{_NAME}(?<=\w))[ \t]{{0,8}}\n(?=\s{{0,64}}\{{))",
                start=">>>",
                ends=("<|eot_id|>",),
                routes=(
                    Route(to="text", recipient="all"),
                    Route(to="raw", recipient="python", argument="code"),
                    Route(to="call"),
                ),
                call="{name}\n",
                between=">>>",
                body="\n",
            ),
            stop=("<|eot_id|>",),
            tools="namespace functions {\n\n{tools}\n\n} // namespace functions",
            tool_separator="\n\n",
            result="{content}",
        ),
        template("meetkai/functionary-medium-v3.2"),
        schema=TypeScript(indent=""),
    ),
)
