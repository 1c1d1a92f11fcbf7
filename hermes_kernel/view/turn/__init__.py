"""One turn as it is seen: `seeing` folds its events into a `picture`; `panel` and `pieces` say it while it goes on,
`bundle` and `folded` what stays of it. Pure."""
