"""The daily loop: jobs, who sees to it that they run, what a run is, and whom it tells.

`jobs` is what may be done with them, as far as `wishes` can be, recorded in the `book`. A kernel that keeps `watch`, or
a scheduler that is `staying`, has a tick come when it is time: `ticking` finds what is due, and `acting` on one job
means a run (`running`) and a report of it (`delivery`). `scheduling` puts all of it together; `faces` is what a person
says of it, `tool` what a model does.
"""
