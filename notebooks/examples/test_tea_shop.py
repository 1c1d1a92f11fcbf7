from hermes_kernel.testing import call, fault, say


def test_the_model_is_told_what_is_in_stock(hermes_server, hermes_notebook):
    server = hermes_server([call("stock", {"tea": "sencha"}), say("Seven tins.")])
    assert hermes_notebook("tea_shop.ipynb").cells[-1] == "The order: Seven tins."
    assert server.requests[1].results == ["3"]


def test_a_broken_connection_is_no_broken_notebook(hermes_server, hermes_notebook):
    hermes_server([fault("disconnect"), say("Seven tins.")])
    assert hermes_notebook("tea_shop.ipynb").cells[-1] == "The order: Seven tins."
