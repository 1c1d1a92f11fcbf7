"""What the core asks for, done. Knows the core, never a face.

`ports` are the protocols; `perform` carries a turn's commands out, and everything races the latch in `stop`. `model`
asks endpoints, `local` is one of our own; `tools` runs what a reply asks for, in `kernels` and over `mcp` too; `store`
keeps the facts, `importing` brings others'; a `recording` keeps what passes the wire. `aside` asks a model
beside the turn, `compressing` has it summarise.
"""
