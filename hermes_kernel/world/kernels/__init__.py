"""Kernels of one's own, for work that must not touch the person's notebook. Nothing heavy is imported before a call."""

from hermes_kernel.world.kernels.own import OwnKernel

__all__ = ["OwnKernel"]
