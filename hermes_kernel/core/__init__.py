"""The rules of the agent: values and total functions. No I/O, clock, chance, environment or logging."""
