"""Read tools from functions, models, every provider's tool JSON, MCP and files.

    @registry.register
    def get_weather(city: str, days: int = 1) -> str:
        '''Look up the weather.

        Args:
            city: The city's name.
            days: How many days ahead.
        '''

    tool(get_weather).parameters["properties"]["city"]    # {"type": "string", "description": "The city's name."}
    tools([get_weather, {"name": "now", "input_schema": {"type": "object"}}])
    load_tools("tools.json")

Invalid input raises an error that says which entry is wrong and why.
"""

from toolfmt.tools.reading import load_tools, tool, tools
from toolfmt.tools.registry import ToolRegistry
from toolfmt.tools.signature import Injected

__all__ = ["Injected", "ToolRegistry", "load_tools", "tool", "tools"]
