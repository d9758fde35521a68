"""Each provider's API: requests are its `FORMAT`, answers and streams its `API`, in one module or in `NAME_answer`."""
