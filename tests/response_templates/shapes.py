"""Response templates in the shapes that model families use, and texts that their models write.

The shapes are those of transformers' documentation ("Response parsing") and of its `transformers serve` command.
"""

from __future__ import annotations

WHOLE = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
ANSWER = {"role": "assistant"}

JSON_TAGS = {
    "defaults": ANSWER,
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>", "content": "text"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": WHOLE,
        },
        "content": {"close": ["<|im_end|>", "<|endoftext|>"], "content": "text"},
    },
}
JSON_LINES = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": WHOLE,
        },
        "content": {"close_pattern": r"\s*(?:<\|im_end\|>|<\|endoftext\|>)"},
    },
}
PARAMETERS = {
    "defaults": ANSWER,
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>",
            "close_pattern": r"</function>\s*</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {
                "tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>",
                "value_parser": {"name": "json", "args": {"allow_non_json": True}},
            },
            "transform": NAMED,
        },
        "content": {"close_pattern": r"\s*(?:<\|im_end\|>|<\|endoftext\|>)"},
    },
}
OPEN_FUNCTION = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>"},
            "transform": NAMED,
        },
    },
}
LITERALS = {
    "defaults": ANSWER,
    "start_anchor": ["<|turn>model\n", "<tool_response|>"],
    "fields": {
        "thinking": {"open": "<|channel>thought\n", "close": "<channel|>"},
        "tool_calls": {
            "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
            "close": "<tool_call|>",
            "repeats": True,
            "content": "json",
            "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
            "transform": NAMED,
        },
        "content": {"close": ["<turn|>", "<|tool_response>", "<eos>"]},
    },
}
ACTIONS = {
    "defaults": ANSWER,
    "start_anchor": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    "fields": {
        "content": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
        "thinking": {"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
        "tool_calls": {
            "open": "<|START_ACTION|>",
            "close": "<|END_ACTION|>",
            "content": "json",
            "transform_each": True,
            "transform": {"type": "function", "function": {"name": "{tool_name}", "arguments": "{parameters}"}},
        },
    },
}
STARTS_THINKING = {
    "defaults": ANSWER,
    "start_anchor": "Assistant:",
    "fields": {
        "thinking": {"open_pattern": r"(?:^|<think>\s*)", "close": "</think>"},
        "content": {"open": "<response>\n", "close_pattern": r"\n?</response>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": WHOLE,
        },
    },
}
CHANNELS = {
    "defaults": ANSWER,
    "start_anchor": "<|start|>assistant",
    "fields": {
        "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
        "content": {"open": "<|channel|>final<|message|>", "close": ["<|end|>", "<|return|>"]},
        "tool_calls": {
            "open_pattern": r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
            "close": "<|call|>",
            "repeats": True,
            "content": "json",
            "transform": NAMED,
        },
    },
}
RECIPIENTS = {
    "start_anchor": "<|start|>assistant",
    "fields": {
        "reasoning_content": {"open_pattern": r"to=self<\|message\|>", "close": "<|eom|>"},
        "tool_calls": {
            "open_pattern": r'<atem:invoke\b[^>]*?\bname="(?P<name>[^"]+)">',
            "close": "</atem:invoke>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {
                "tag_pattern": r'<atem:parameter\b[^>]*?\bname="(?P<key>[^"]+)"[^>]*?>(?P<value>.*?)</atem:parameter>',
                "value_parser": {"name": "json", "args": {"allow_non_json": True}},
            },
            "transform": NAMED,
        },
        "content": {"open_pattern": r"to=user<\|message\|>", "close": ["<|eot|>", "<|eom|>"]},
    },
}
BLOCKS = {
    "start_anchor": "<|message_model|>",
    "fields": {
        "thinking": {
            "open_pattern": r"(?:<\|message_model\|>)?[^<]*<\|content_thinking\|>",
            "close": "<|end_message|>",
            "repeats": True,
            "join": "",
            "content_args": {"strip": False},
        },
        "content": {
            "open_pattern": r"(?:<\|message_model\|>)?[^<]*<\|content_text\|>",
            "close": "<|end_message|>",
            "repeats": True,
            "join": "",
            "content_args": {"strip": False},
        },
        "tool_calls": {
            "open_pattern": r"(?:<\|message_model\|>)?[^<]*<\|content_invoke_tool_json\|>",
            "close": "<|end_message|>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{content.name}", "arguments": "{content.args}"}},
        },
    },
}
HEADERS = {
    "start_anchor_pattern": r"<\|start\|>assistant",
    "defaults": {"thinking": "", "content": "", "tool_calls": []},
    "fields": {
        "thinking": {"open_pattern": r"<\|channel\|>analysis<\|message\|>", "close": "<|end|>"},
        "content": {"open_pattern": r"<\|channel\|>final<\|message\|>", "close": ["<|return|>", "<|end|>"]},
        "tool_calls": {
            "open_pattern": r"(?:<\|start\|>assistant )?to=(?P<name>\w+)"
            r"<\|channel\|>analysis(?: <\|constrain\|>xml)?<\|message\|>",
            "close": ["<|call|>", "<|end|>"],
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": '<p name="(?P<key>[^"]+)">(?P<value>.*?)</p>'},
            "transform": NAMED,
        },
    },
}
BRACKETS = {
    "start_anchor": ["[/INST]", "[/TOOL_RESULTS]"],
    "fields": {
        "thinking": {"open": "[THINK]", "close": "[/THINK]"},
        "tool_calls": {
            "open_pattern": r"\[TOOL_CALLS\](?P<name>[A-Za-z0-9_.:-]+)\[ARGS\]",
            "close_pattern": r"(?=\[TOOL_CALLS\]|</s>)",
            "repeats": True,
            "content": "json",
            "transform": NAMED,
        },
        "content": {"close": "</s>"},
    },
}
KEYED = {
    "start_anchor": "<|assistant|>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": r"<tool_call>(?P<name>[\w.]+)\s*",
            "close": "</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {
                "tag_pattern": r"<arg_key>(?P<key>[^<]+)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>",
                "value_parser": {"name": "json", "args": {"allow_non_json": True}},
            },
            "transform": NAMED,
        },
        "content": {"close": "<|user|>"},
    },
}
TEMPLATES = {
    "json-tags": JSON_TAGS,
    "json-lines": JSON_LINES,
    "parameters": PARAMETERS,
    "open-function": OPEN_FUNCTION,
    "literals": LITERALS,
    "actions": ACTIONS,
    "starts-thinking": STARTS_THINKING,
    "channels": CHANNELS,
    "recipients": RECIPIENTS,
    "blocks": BLOCKS,
    "headers": HEADERS,
    "brackets": BRACKETS,
    "keyed": KEYED,
}

TEXTS = {
    "json-tags": [
        "Hello there.",
        "<think>\nHm, Paris.\n</think>\n\nHello.<|im_end|>",
        (
            '<think>x</think>\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris", "days": 3}}\n'
            "</tool_call><|im_end|>"
        ),
        (
            'Let me look.\n<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
            '<tool_call>{"name": "run", "arguments": {"o": {"a": [1, null, true]}}}</tool_call>'
        ),
    ],
    "json-lines": [
        "Hello there.<|im_end|>",
        (
            '<think>x</think>\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris", "days": 3}}\n'
            '</tool_call>\n<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call><|im_end|>\n<|endoftext|>'
        ),
    ],
    "parameters": [
        "Hi.<|im_end|>",
        (
            "<think>\nx\n</think>\n\nText.\n\n<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n"
            "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call><|im_end|>"
        ),
        (
            '<tool_call>\n<function=run>\n<parameter=o>\n{"a": [1, 2]}\n</parameter>\n</function>\n</tool_call>\n'
            "<tool_call>\n<function=run>\n</function>\n</tool_call>"
        ),
    ],
    "open-function": [
        (
            "<think>x</think>\n<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n"
            "</tool_call>"
        )
    ],
    "literals": [
        "<|channel>thought\nHm.<channel|>Hello.<turn|>",
        '<|tool_call>call:weather{city:<|"|>New York<|"|>,days:3,o:{m:true},l:[1,2]}<tool_call|>',
        'Text <|tool_call>call:run{}<tool_call|><|tool_call>call:run{o:{a:<|"|>é \n"x"<|"|>}}<tool_call|>',
    ],
    "actions": [
        "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>",
        (
            '<|START_THINKING|>I should call.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": '
            '"weather", "parameters": {"city": "Paris"}},\n    {"tool_call_id": "1", "tool_name": "run", "parameters": '
            "{}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>"
        ),
        (
            '<|START_RESPONSE|>Write <|START_ACTION|>[{"tool_name": "run", "parameters": {}}]<|END_ACTION|> so.'
            "<|END_RESPONSE|>"
        ),
    ],
    "starts-thinking": [
        (
            'Hm, Paris.\n</think>\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
            "</s>"
        ),
        "Hm.\n</think>\n\n<response>\nHello <think> you.\n</response>\n</s>",
        "No end of it",
    ],
    "channels": [
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|end|>",
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.weather "
            '<|constrain|>json<|message|>{"city": "Paris"}<|call|>'
        ),
        "<|channel|>final<|message|>See <|channel|>commentary to=functions.run<|message|>{}<|call|> so.<|return|>",
    ],
    "recipients": [
        " to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>Hello.<|eot|>",
        (
            ' to=weather<|message|><atem:function_calls>\n<atem:invoke name="weather">\n<atem:parameter name="city">'
            'Paris</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n</atem:invoke>\n'
            "</atem:function_calls><|eot|>"
        ),
    ],
    "blocks": [
        "<|content_thinking|>Hm.<|end_message|><|message_model|>me<|content_text|>Hello.<|end_message|>",
        (
            '<|message_model|>weather<|content_invoke_tool_json|>{"name": "weather", "args": {"city": "Paris"}}'
            "<|end_message|>"
        ),
        "<|content_text|>One.<|end_message|><|message_model|><|content_text|> Two.<|end_message|>",
    ],
    "headers": [
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=weather<|channel|>analysis <|constrain|>xml"
            '<|message|><p name="city">Paris</p><p name="note">a\nb</p><|call|>'
        ),
        "<|start|>assistant to=run<|channel|>analysis<|message|><|end|><|channel|>final<|message|>Done.<|return|>",
    ],
    "brackets": [
        '[THINK]Hm.[/THINK]Hello.[TOOL_CALLS]weather[ARGS]{"city": "Paris"}[TOOL_CALLS]run[ARGS]{"o": {}}</s>',
        "Hello.</s>",
    ],
    "keyed": [
        (
            "<think>Hm.</think>\n<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
            "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call><|user|>"
        )
    ],
}
