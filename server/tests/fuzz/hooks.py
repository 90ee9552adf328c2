"""What schemathesis does differently for the Customer API."""

import schemathesis
from schemathesis.core.parameters import ParameterLocation

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@schemathesis.hook
def before_call(context, case, kwargs):
    # A create that is sent again with its key answers as it did before, though
    # what it made may be deleted by now. Whoever wants to go on with a new
    # instance sends no key that was used before.
    if case.meta is not None and case.meta.phase.name == "stateful" and case.headers:
        case.headers.pop("Idempotency-Key", None)

    # A name in a path is a text whatever it is made of, so a number there is no
    # wrong type but a name, which somebody may have: one is sent that nobody has.
    named = case.path_parameters or {}
    if "name" in named and not str(named["name"]).strip("-0123456789."):
        case.path_parameters["name"] = "nobody"


@schemathesis.hook
def filter_case(context, case):
    # In a form everything is a text, so that a number may be no wrong type; and an
    # Authorization that is left out is sent all the same. Schemathesis sees either, and
    # takes both together for a wrong call.
    if case.meta is None or case.media_type not in FORMS:
        return True
    parts = (ParameterLocation.BODY, ParameterLocation.HEADER)
    return not all(case.meta.is_negative_at(part) for part in parts)
