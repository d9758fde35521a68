"""Which target tries each public function and each command, so that a new one without a target fails a test."""

from __future__ import annotations

FUNCTIONS = {
    **{
        name: name
        for name in ("parse", "detect", "convert", "check", "repair", "read_answer", "load_tools", "manifest")
    },
    **{name: name for name in ("grammar", "lower_schema", "render_calls", "render_results", "render_prompt", "inject")},
    **{name: name for name in ("response_dialect", "find_dialect", "diagnose", "convert_answer")},
    **dict.fromkeys(("parse_stream", "aparse_stream", "open_parser", "feedback"), "parse"),
    **dict.fromkeys(("read_stream", "aread_stream", "write_stream", "awrite_stream"), "streams"),
    "convert_request": "gateway",
    "text_dialect": "dialect",
    "scripted": "script",
    "from_config": "mcp_config",
    **dict.fromkeys(("connect", "connect_all"), "mcp"),
    **dict.fromkeys(("to_messages", "write_messages", "results_text"), "agents"),
}
"""The targets of the public functions of `toolfmt`, `toolfmt.execution`, `toolfmt.agents` and `toolfmt.mcp`."""
COMMANDS = {
    **dict.fromkeys(("view", "stats", "check", "convert", "parse", "detect", "render"), "commands"),
    **dict.fromkeys(("manifest", "inject", "grammar", "prompt", "doctor"), "commands"),
    "run": "executor",
    "chat": "script",
    "serve": "gateway",
    "probe": "read_answer",
}
"""The targets of the commands."""
OWN_FUNCTIONS = {
    *("default_registry", "register", "tool"),  # the program's functions and dialects
    *("all_sections", "sections", "window", "as_tool", "current_trace"),  # parts of the program's agents
    *("aserve", "serve", "mcp_server"),  # the MCP SDK reads the clients' messages; `tests/mcp` attacks them
}
"""Functions that read nothing that a stranger wrote."""
OWN_COMMANDS = {"formats", "dialects", "providers", "new-dialect", "demo", "recorded", "mcp-serve"}
"""Commands that read nothing that a stranger wrote."""
