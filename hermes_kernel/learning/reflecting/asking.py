"""A model for side work on another thread: the same as `Models.aside` has, with connections of its own, for those of
the conversation are bound to its event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from hermes_kernel.models import Models
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.model import OpenAIModel


@asynccontextmanager
async def apart(models: Models) -> AsyncIterator[Aside]:
    """The model for side work, as long as this lasts. One that was handed to the agent is used as it is.

    Raises:
        NoEndpoint: there is no model to ask.
    """
    aside, settings = models.aside(), models.settings
    if not isinstance(aside.model, OpenAIModel):
        yield aside
        return
    reads = 0 if settings.aux_model else settings.context_window
    model = models.another(settings.with_(context_window=reads), aside.model.routes)
    try:
        yield replace(aside, model=model)
    finally:
        await model.aclose()


def window(aside: Aside, settings_window: int) -> int:
    """Tokens that the model reads at most, as far as is known; 0: not known."""
    return aside.model.window(aside.route) if isinstance(aside.model, OpenAIModel) else settings_window
