"""Drivers: what decides the next step of an agent. Each takes a state and gives it back with one step more.

    NativeDriver(client)          a provider's own tool calling
    TextDriver(model, dialect=…)  calls in the text of any model, in any dialect; "react" is ReAct
    DecisionDriver(model)         one JSON decision at a time, checked before it is done
    ScriptedDriver(steps)         a script in place of a model; `scripted(path)` reads one

Whatever has `async def step(state, runtime)` is a driver too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
