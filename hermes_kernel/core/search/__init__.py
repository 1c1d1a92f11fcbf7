"""Finding what was said: how text becomes words, what a query means, which facts are messages, and how hits are ranked.

Pure, and the only description of it: the index, the fresh tail and the log in memory all ask here, so they agree.
"""
