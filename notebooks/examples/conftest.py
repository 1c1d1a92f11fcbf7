"""The notebook in this folder asks whatever model is set and shows what that says: its test checks it instead."""

collect_ignore = ["tea_shop.ipynb"]
