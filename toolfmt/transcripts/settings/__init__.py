"""The settings of a request, one table per API, and the engine that reads and writes all of them."""
