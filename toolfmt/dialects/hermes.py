"""A JSON object between `<tool_call>` tags, and the families that changed little of it.

    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call>

Results are shown as `<tool_response>`. The key order is not guaranteed;
`parameters`, doubly encoded arguments and several objects in one pair of tags are
read with a notice; `<tool_calls>` is read too.
"""

from dataclasses import replace

from toolfmt.dialects._native import SGLANG, VLLM, XGRAMMAR, chat, in_tags, native, template, vllm_draft

_HERMES = chat(in_tags("<tool_call>\n", "\n</tool_call>"), in_tags("<tool_calls>\n", "\n</tool_calls>"))

DIALECTS = (
    native(
        "hermes",
        "a JSON object in <tool_call>; the usual format of fine-tuned models",
        _HERMES,
        template("NousResearch/Hermes-3-Llama-3.1-8B, tool_use"),
        template("HuggingFaceTB/SmolLM3-3B, xml_tools"),
        VLLM,
        aliases=("smollm3",),
    ),
    native(
        "bielik",
        "as hermes, with markers of its own around tools and results: Bielik 3",
        replace(
            _HERMES,
            hidden=(),
            tools="<|function_list|>\n[{tools}]\n<|function_list|>",
            tool_separator=",\n",
            result="<|function_output|>{content}",
            result_separator="",
        ),
        template("Bielik-11B-v3.0-Instruct"),
    ),
    native(
        "reka-edge",
        "as hermes, nothing between calls: Reka Edge",
        replace(
            _HERMES,
            forms=(replace(_HERMES.forms[0], separator=""), *_HERMES.forms[1:]),
            stop=("<sep>",),
            result_separator="",
        ),
        template("Reka-Edge"),
    ),
    native(
        "qwen25",
        "as hermes, with <think>: Qwen 2.5, QwQ and Qwen 3",
        _HERMES,
        template("Qwen/Qwen2.5-7B-Instruct"),
        template("Qwen/Qwen3-0.6B"),
        XGRAMMAR,
        aliases=("qwen", "qwen3", "qwen3-json", "holo2"),
    ),
    native(
        "qwen25-coder",
        "as hermes, in <tools>: Qwen 2.5 Coder, which copies the tag of the definitions",
        replace(
            _HERMES, forms=(in_tags("<tools>\n", "\n</tools>"), *_HERMES.forms), tools="<tools>\n{tools}\n</tools>"
        ),
        vllm_draft("qwen2_5_coder_tool_parser", "e6b870f"),
        aliases=("qwen2.5-coder", "qwen2-5-coder"),
    ),
    native(
        "granite4",
        "as hermes: Granite 4.0 and 4.1",
        replace(_HERMES, stop=("<|end_of_text|>",)),
        template("ibm-granite/granite-4.0"),
        VLLM,
    ),
    native(
        "ernie45",
        "as hermes, the answer in <response>: ERNIE 4.5 and 5",
        replace(
            _HERMES,
            unwrap=(("<response>", "</response>"),),
            stop=("</s>",),
            result="<tool_output>\n{content}\n</tool_output>",
            hidden=(("<tool_output>", "</tool_output>"),),
        ),
        VLLM,
    ),
    native(
        "longcat",
        "a JSON object in <longcat_tool_call>",
        replace(
            _HERMES,
            forms=(in_tags("<longcat_tool_call>\n", "\n</longcat_tool_call>"),),
            stop=(),
            special=("<longcat_user>", "<longcat_assistant>", "<longcat_system>", "<longcat_s>", "</longcat_s>"),
        ),
        VLLM,
    ),
    native(
        "trinity",
        "as hermes; calls in the reasoning are real: Arcee Trinity",
        replace(_HERMES, calls_in_reasoning="call"),
        SGLANG,
    ),
    native(
        "exaone4",
        "as hermes on one line: EXAONE 4",
        replace(
            _HERMES,
            forms=(in_tags("<tool_call>", "</tool_call>"), *_HERMES.forms[1:]),
            stop=("[|endofturn|]",),
            result="<tool_result>{content}</tool_result>",
            hidden=(("<tool_result>", "</tool_result>"),),
        ),
        XGRAMMAR,
    ),
)
