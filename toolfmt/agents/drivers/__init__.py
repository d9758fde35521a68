"""Drivers decide the next step of an agent: each takes a state and returns it with one more step.

    NativeDriver(client)          a provider's own tool calling
    TextDriver(model, dialect=…)  calls in the text of any model, in any dialect; "react" is ReAct
    DecisionDriver(model)         one JSON decision at a time, checked before it is carried out
    ScriptedDriver(steps)         a script in place of a model; `scripted(path)` reads one

Any object with `async def step(state, runtime)` is a driver.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
