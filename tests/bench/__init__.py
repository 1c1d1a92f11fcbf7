"""Speed, measured beside a bare ``openai`` loop and an HTTP floor in one run. Never a gate: machines are noisy."""
