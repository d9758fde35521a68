r"""All calls of a turn in one JSON array.

    <|tool_call|>[{"name": "f", "arguments": {}}]                  granite3
    <tool_calls>[{"name": "f", "arguments": {}}]</tool_calls>      jamba, apriel, hunyuan-a13b
    <TOOLCALL>[{"name": "f", "arguments": {}}]</TOOLCALL>          nemotron-v2
    [TOOL_CALLS][{"name": "f", "arguments": {}, "id": "a1b2c3d4e"}]     mistral-v3
    functools[{"name": "f", "arguments": {}}]                      phi4-mini
    [{"name": "f", "arguments": {}}]                               xlam, no marker at all
    <|tools_prefix|>[{"f": {}}]<|tools_suffix|>                    apertus, the name is the key
    Action:\n```json\n[{"tool_name": "f", "parameters": {}}]```     command-r-plus

A comment after each form names the formats that write it.
"""

from dataclasses import replace

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.dialects._native import MISTRAL, SGLANG, THINK, VLLM, json_call, native, template, vllm_draft
from toolfmt.formatters.declarations import TypeScript
from toolfmt.formatters.json_schemas import function_line, gemini_tool, json_schema_formatter, openai_tool

_LIST = Form(section="{calls}", call="{call}", separator=", ", each=False, array=True, json=json_call())
_CLOSED = replace(_LIST, section="<tool_calls>{calls}</tool_calls>")
_COHERE_RESULT = """    {
        "tool_call_id": {id_json},
        "results": {
            "0": {"content": {content_json}}
        },
        "is_error": null
    }"""
_SINGULAR = replace(_LIST, section="<tool_call>{calls}</tool_call>")
_TAGGED = "<tools>\n{tools}\n</tools>"

DIALECTS = (
    native(
        "granite3",
        "a JSON array after <|tool_call|>: Granite 3",
        Syntax(
            forms=(replace(_LIST, section="<|tool_call|>{calls}"), _SINGULAR),
            reasoning=(("Here is my thought process:", "Here is my response:"), *THINK),
            unwrap=(("<response>", "</response>"),),
            stop=("<|end_of_text|>",),
            tools="[\n    {tools}\n]",
            tool_separator=",\n    ",
        ),
        template("ibm-granite/granite-3.3-2b-instruct"),
        VLLM,
        aliases=("granite",),
        schema=json_schema_formatter(openai_tool, indent=4, level=1),
    ),
    native(
        "jamba",
        "a JSON array in <tool_calls>: AI21 Jamba",
        Syntax(forms=(_CLOSED, _SINGULAR), stop=("<|eom|>",), tools="<tool_definitions>\n{tools}\n</tool_definitions>"),
        VLLM,
    ),
    native(
        "apriel",
        "a JSON array in <tool_calls>, reasoning before [BEGIN FINAL RESPONSE]: Apriel 1.5 and 1.6",
        Syntax(
            forms=(replace(_CLOSED, json=json_call(id="{id}")), _SINGULAR),
            reasoning=(("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
            before_calls="\n",
            unwrap=(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),),
            stop=("<|end|>",),
            tools="<available_tools>\n{tools}\n</available_tools>",
            result="<|begin_tool_result|>\n{content}",
        ),
        template("ServiceNow-AI/Apriel-1.6-15b-Thinker"),
        template("unsloth/Apriel-1.5"),
    ),
    native(
        "hunyuan-a13b",
        "a JSON array in <tool_calls>, the answer in <answer>: Hunyuan A13B",
        Syntax(
            forms=(_CLOSED, _SINGULAR),
            reasoning=THINK,
            calls_in_reasoning="draft",
            unwrap=(("<answer>", "</answer>"),),
            stop=("<|eos|>",),
            tools=_TAGGED,
            result="<tool_response>\n{content}\n</tool_response>",
        ),
        VLLM,
    ),
    native(
        "nemotron-v2",
        "a JSON array in <TOOLCALL>: Nemotron Nano 2",
        Syntax(
            forms=(replace(_CLOSED, section="<TOOLCALL>{calls}</TOOLCALL>"),),
            reasoning=THINK,
            before_calls="\n",
            stop=("<SPECIAL_12>",),
            tools="<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>",
            tool_separator=", ",
            result="{content}",
            results="<TOOL_RESPONSE>[{results}]</TOOL_RESPONSE>",
            result_separator=", ",
        ),
        template("NVIDIA-Nemotron-Nano-v2"),
        aliases=("nemotron-json",),
        schema=function_line,
    ),
    native(
        "mistral-v3",
        "a JSON array after [TOOL_CALLS]: Mistral tokenizers v3 to v7",
        Syntax(
            forms=(
                replace(_LIST, section="[TOOL_CALLS]{calls}", json=json_call(id="{id}")),
                Form(section="[TOOL_CALLS]{calls}", call="{name}[ARGS]{args}", separator=""),
                Form(section="[TOOL_CALLS]{calls}", call="{call}", json=json_call(id="{id}")),
            ),
            stop=("</s>",),
            special=MISTRAL,
            tools="[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]",
            tool_separator=", ",
            result='[TOOL_RESULTS]{"content": {content_json}, "call_id": {id_json}}[/TOOL_RESULTS]',
            result_separator="",
        ),
        template("mistralai/Mistral-Nemo-Instruct-2407"),
        VLLM,
    ),
    native(
        "phi4-mini",
        "a JSON array after the word functools: Phi-4-mini, FireFunction v2",
        Syntax(
            forms=(replace(_LIST, section="functools{calls}", tentative=True),),
            stop=("<|end|>",),
            tools="<|tool|>[{tools}]<|/tool|>",
            tool_separator=", ",
        ),
        VLLM,
        template("fireworks-ai/llama-3-firefunction-v2"),
        aliases=("phi4-mini-json", "firefunction-v2"),
    ),
    native(
        "xlam",
        "a JSON array without a marker: xLAM 2",
        Syntax(
            forms=(_LIST, _SINGULAR, replace(_LIST, section="[TOOL_CALLS]{calls}")),
            bare=True,
            reasoning=THINK,
            tools="[{tools}]",
            tool_separator=", ",
        ),
        VLLM,
    ),
    native(
        "cohere-command",
        "a JSON array in <|START_ACTION|>: Command R7B, A and A+",
        Syntax(
            forms=(
                replace(
                    _LIST,
                    section="<|START_ACTION|>{calls}<|END_ACTION|>",
                    json=JsonCall(
                        template={"tool_call_id": "{id}", "tool_name": "{name}", "parameters": "{arguments}"},
                        accepts=({"name": "{name}"}, {"arguments": "{arguments}"}),
                    ),
                    separator=",\n",
                    indent="    ",
                    id_if_missing="{index}",
                ),
            ),
            reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
            unwrap=(("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")),
            stop=("<|END_OF_TURN_TOKEN|>",),
            tools="```json\n[\n    {tools}\n]\n```",
            tool_separator=",\n    ",
            result=_COHERE_RESULT,
            results="<|START_TOOL_RESULT|>[\n{results}\n]<|END_TOOL_RESULT|>",
            result_separator=",\n",
        ),
        template("CohereForAI/c4ai-command-r7b-12-2024, tool_use"),
        VLLM,
        SGLANG,
        aliases=("cohere-command3", "cohere-command4", "cohere2moe"),
        schema=json_schema_formatter(lambda tool: {**gemini_tool(tool), "responses": None}, indent=None),
    ),
    native(
        "command-r-plus",
        "a fenced JSON array after the word Action: Command R and R+ of 2024",
        Syntax(
            forms=(
                replace(
                    _LIST,
                    section="Action:\n```json\n{calls}```",
                    json=replace(json_call("tool_name", "parameters"), indent=4),
                    separator=",\n",
                    indent="    ",
                ),
            ),
            stop=("<|END_OF_TURN_TOKEN|>",),
            result="{content}",
            results="<results>\n{results}</results>",
            result_separator="\n\n",
        ),
        Provenance(
            reference="ggerganov/llama.cpp, models/templates/CohereForAI-c4ai-command-r-plus-tool_use.jinja",
            kind="template",
            revision="7b5e080",
        ),
        aliases=("command-r",),
    ),
    native(
        "openpangu-v2",
        "a JSON array in <|tool_call_start|>: openPangu 2",
        Syntax(forms=(replace(_LIST, section="<|tool_call_start|>{calls}<|tool_call_end|>"),), reasoning=THINK),
        vllm_draft("openpangu_v2_tool_parser", "25d5396"),
        aliases=("openpanguv2",),
    ),
    native(
        "hyperclovax",
        "a JSON array after a header of its own: HyperCLOVA X SEED Think",
        Syntax(
            forms=(
                replace(_LIST, section="-> tool/function_call\n{calls}"),
                replace(_LIST, section="<|im_end|>\n<|im_start|>assistant -> tool/function_call\n{calls}"),
            ),
            before_calls=" ",
            reasoning=(("<|im_start|>assistant/think\n", "<|im_end|>\n"),),
            unwrap=(("<|im_start|>assistant\n", ""),),
            stop=("<|im_end|>", "<|stop|>", "<|endofturn|>"),
            result="<|im_start|>tool/function_response\n{content}<|im_end|>",
        ),
        vllm_draft("hyperclovax_seed_think_14b_tool_parser", "0676dfc"),
        aliases=("hyperclovax-seed-think",),
    ),
    native(
        "apertus",
        "a JSON array whose keys are the tools' names: Apertus",
        Syntax(
            forms=(
                replace(
                    _LIST,
                    section="<|tools_prefix|>{calls}<|tools_suffix|>",
                    json=JsonCall(template={"{name}": "{arguments}"}),
                ),
            ),
            reasoning=(("<|inner_prefix|>", "<|inner_suffix|>"),),
            calls_in_reasoning="call",
            stop=("<|assistant_end|>",),
            result="{content}",
            results="[{results}]",
            result_separator=", ",
        ),
        template("swiss-ai/Apertus-8B-Instruct"),
        VLLM,
        SGLANG,
        aliases=("apertus2509",),
        schema=TypeScript(indent="", last_comma=False),
    ),
)
