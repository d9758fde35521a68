r"""JSON calls after markers that some families chose for themselves.

    <function_call> {"name": "f", "arguments": {}}                          granite-20b-fc
    <|action_start|><|plugin|>{"name": "f", "parameters": {}}<|action_end|>   internlm2
    <|function_call|>{"name": "f", "arguments": {}}                         gigachat3
    <tool_calls>\n{"name": "f", "arguments": {}}\n</tool_calls>             minimax-m1, a call a line

Where there is no closer, the end of the object is the end of the call.
"""

from dataclasses import replace

from toolfmt.dialect.syntax import Syntax
from toolfmt.dialects._native import SGLANG, THINK, VLLM, in_tags, json_call, native, template
from toolfmt.formatters.declarations import TypeScript

_PLUGIN = json_call(arguments="parameters")

DIALECTS = (
    native(
        "granite-20b-fc",
        "a JSON object after <function_call>, without a closer",
        Syntax(forms=(in_tags("<function_call> ", ""),), stop=("<|endoftext|>",)),
        VLLM,
    ),
    native(
        "internlm2",
        "a JSON object between <|action_start|><|plugin|> and <|action_end|>",
        Syntax(
            forms=(in_tags("<|action_start|><|plugin|>", "<|action_end|>", _PLUGIN),),
            stop=("<|im_end|>",),
            tools="[{tools}]",
            tool_separator=", ",
        ),
        VLLM,
        aliases=("internlm",),
    ),
    native(
        "interns1",
        "as internlm2, with white space between the markers, and <think>",
        Syntax(
            forms=(in_tags("<|action_start|> <|plugin|>\n", "<|action_end|>", _PLUGIN),),
            reasoning=THINK,
            stop=("<|im_end|>",),
            tools="[{tools}]",
            tool_separator=", ",
        ),
        SGLANG,
    ),
    native(
        "gigachat3",
        "a JSON object after <|function_call|>; one call a turn",
        Syntax(
            forms=(
                in_tags("<|function_call|>", ""),
                in_tags("<|message_sep|>\n\nfunction call<|role_sep|>\n", ""),
                in_tags("function call<|role_sep|>\n", ""),
            ),
            stop=("<|message_sep|>", "</s>"),
            tools="namespace functions {\n{tools}\n\n} // namespace functions",
            tool_separator="\n\n",
            result="function result<|role_sep|>\n{content}<|message_sep|>",
            result_separator="\n\n",
        ),
        template("ai-sage/GigaChat3.1-10B-A1.8B"),
        VLLM,
        SGLANG,
        aliases=("gigachat3-0",),
        schema=TypeScript(),
    ),
    native(
        "minimax-m1",
        "JSON objects, one a line, in <tool_calls>: MiniMax M1",
        Syntax(
            forms=(
                replace(in_tags("<tool_calls>\n", "\n</tool_calls>"), each=False),
                in_tags("<tool_call>\n", "\n</tool_call>"),
            ),
            reasoning=THINK,
            calls_in_reasoning="draft",
            stop=("<end_of_sentence>",),
            tools="<tools>\n{tools}\n</tools>",
            result="tool result: {content}",
        ),
        template("MiniMaxAI/MiniMax-M1"),
        aliases=("minimax",),
    ),
)
