"""The tool's name and a JSON object of the arguments, distinguished by markers.

    [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}                                        mistral-v11
    <｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜>         deepseek-v31
    <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>   kimi-k2
    <function=get_weather>{"city": "Paris"}</function>                                    functionary-v31
    ✿FUNCTION✿: get_weather                                                               qwen-fncall, in two lines
    ✿ARGS✿: {"city": "Paris"}
    get_weather                                                                           glm4-0414, in two lines
    {"city": "Paris"}

A comment after each form names the formats that write it.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.dialects._native import MISTRAL, SGLANG, THINK, VLLM, XGRAMMAR, json_call, native, template
from toolfmt.formatters.json_schemas import described_line, function_line

_MISTRAL = "[TOOL_CALLS]{calls}"
_MISTRAL_FORMS = {
    "name": Form(section=_MISTRAL, call="{name}[ARGS]{args}", separator=""),
    "id": Form(
        section=_MISTRAL, call="{name}[CALL_ID]{id}[ARGS]{args}", separator="", id_if_missing="call0000{index1}"
    ),
    "bare": Form(section=_MISTRAL, call="{name}{args}", separator=""),
    "list": Form(section=_MISTRAL, call="{call}", array=True, each=False, json=json_call(id="{id}")),
}
_DEEPSEEK = "<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>"
_DEEPSEEK_RESULT = "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>"


def _mistral(*order: str, result: str) -> Syntax:
    """The syntax that writes the first of these forms and reads them all."""
    return Syntax(
        forms=tuple(_MISTRAL_FORMS[kind] for kind in order),
        reasoning=(("[THINK]", "[/THINK]"), *THINK),
        stop=("</s>",),
        special=MISTRAL,
        tools="[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]",
        tool_separator=", ",
        result=result,
        result_separator="",
    )


DIALECTS = (
    native(
        "mistral-v11",
        "[TOOL_CALLS]name[ARGS]{...}: Mistral tokenizers v11 and later",
        _mistral("name", "id", "bare", "list", result="[TOOL_RESULTS]{content}[/TOOL_RESULTS]"),
        template("mistralai/Ministral-3-14B-Reasoning-2512"),
        VLLM,
        SGLANG,
        aliases=("mistral",),
    ),
    native(
        "mistral-v11-callid",
        "[TOOL_CALLS]name[CALL_ID]id[ARGS]{...}: Mistral Small 3.2, Devstral 2507",
        _mistral("id", "name", "bare", "list", result="[TOOL_RESULTS]{id}[TOOL_CONTENT]{content}[/TOOL_RESULTS]"),
        template("mistralai/Mistral-Small-3.2-24B-Instruct-2506"),
        template("unsloth/mistral-Devstral-Small-2507"),
    ),
    native(
        "deepseek-v3",
        "name and a fenced JSON object between DeepSeek's markers: V3, R1",
        Syntax(
            forms=(
                Form(
                    section=_DEEPSEEK,
                    call="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{args}\n```<｜tool▁call▁end｜>",
                    each=False,
                    alone=True,
                ),
                Form(
                    section=_DEEPSEEK,
                    call="<｜tool▁call▁begin｜>{name}\n```json\n{args}\n```<｜tool▁call▁end｜>",
                    alone=True,
                ),
            ),
            reasoning=THINK,
            stop=("<｜end▁of▁sentence｜>",),
            result=_DEEPSEEK_RESULT,
            results="<｜tool▁outputs▁begin｜>{results}<｜tool▁outputs▁end｜>",
        ),
        template("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("deepseekv3", "deepseek-r1", "deepseek-r1-distill"),
    ),
    native(
        "deepseek-v31",
        "name and a JSON object between DeepSeek's markers: V3.1",
        Syntax(
            forms=(
                Form(
                    section=_DEEPSEEK,
                    call="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args}<｜tool▁call▁end｜>",
                    separator="",
                    each=False,
                    alone=True,
                ),
            ),
            reasoning=THINK,
            stop=("<｜end▁of▁sentence｜>",),
            result=_DEEPSEEK_RESULT,
            result_separator="",
        ),
        template("deepseek-ai/DeepSeek-V3.1"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("deepseekv31",),
    ),
    native(
        "kimi-k2",
        "an id that holds the name, and a JSON object: Kimi K2 to K2.6",
        Syntax(
            forms=tuple(
                Form(
                    section=f"<|{section}_begin|>{{calls}}<|{section}_end|>",
                    call="<|tool_call_begin|>{id}<|tool_call_argument_begin|>{args}<|tool_call_end|>",
                    separator="",
                    each=False,
                    alone=True,
                    name_in_id="functions.{name}:{index}",
                )
                for section in ("tool_calls_section", "tool_call_section")
            ),
            reasoning=THINK,
            stop=("<|im_end|>",),
            tools="[{tools}]",
            tool_separator=", ",
            result="## Return of {id}\n{content}",
        ),
        template("moonshotai/Kimi-K2"),
        template("Kimi-K2-Thinking"),
        VLLM,
        SGLANG,
        XGRAMMAR,
    ),
    native(
        "plamo3",
        "name and a JSON object between PLaMo's markers",
        Syntax(
            forms=(
                Form(
                    section="<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>",
                    call="<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}"
                    "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
                    "{?<|plamo:constrain|>json<|plamo:msg|>?}{args}"
                    "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                    separator="",
                    each=False,
                    alone=True,
                ),
            ),
            reasoning=(("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
            stop=("<|plamo:tag|>",),
        ),
        VLLM,
    ),
    native(
        "solar-open",
        "id, name and a JSON object between Solar's markers",
        Syntax(
            forms=(
                Form(
                    section="<|tool_calls|>{calls}",
                    call="<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{args}<|tool_call:end|>",
                    separator="",
                    each=False,
                    alone=True,
                    id_if_missing="call0000{index1}",
                ),
            ),
            reasoning=(("<|think|>", "<|end|>"),),
            stop=("<|calls|>", "<|end|>"),
            tools="<|tools:begin|><|tool:begin|>{tools}<|tool:end|><|tools:end|>",
            tool_separator="<|tool:end|><|tool:begin|>",
            result="<|tool_response:begin|>{id}<|tool_response:name|>{name}<|tool_response:result|>"
            "{content}<|tool_response:end|>",
            results="<|tool_response|>{results}",
            result_separator="",
        ),
        template("upstage/Solar-Open-100B"),
        schema=function_line,
    ),
    native(
        "functionary-v31",
        "<function=name>{...}</function>: Functionary 3.1, Llama 3.1 custom tools",
        Syntax(
            forms=(Form(call="<function={name}>{args}</function>", separator=""),),
            stop=("<|eom_id|>", "<|eot_id|>"),
            tool_separator="\n\n",
        ),
        template("meetkai/functionary-medium-v3.1"),
        schema=described_line,
    ),
    native(
        "qwen-fncall",
        "name and JSON after words between flowers: Qwen 1.5 and 2 as Qwen-Agent prompts them",
        Syntax(
            forms=(Form(call="✿FUNCTION✿: {name}\n✿ARGS✿: {args}"),),
            stop=("✿RESULT✿", "✿RETURN✿", "<|im_end|>"),
            result="✿RESULT✿: {content}",
            results="{results}\n✿RETURN✿: ",
        ),
        Provenance(
            reference="QwenLM/Qwen-Agent, qwen_agent/llm/fncall_prompts/qwen_fncall_prompt.py",
            kind="source",
            revision="2f7415f",
        ),
        aliases=("qwen-agent",),
    ),
    native(
        "glm4-0414",
        "name and JSON on lines of their own, without a marker: GLM-4-9B and GLM-4-0414",
        Syntax(
            forms=(Form(call="{name}\n{args}", separator="<|assistant|>", offered=True),),
            unwrap=(("<|assistant|>", ""),),
            stop=("<|observation|>", "<|user|>", "<|endoftext|>"),
            tools="# 可用工具\n\n{tools}",
            result="<|observation|>\n{content}",
            result_separator="",
        ),
        Provenance(reference="modelscope/ms-swift, swift/agent_template/glm4.py", kind="source", revision="07011f3"),
        aliases=("glm4", "chatglm4"),
    ),
)
