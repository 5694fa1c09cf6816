"""Checks documents against a JSON schema of draft 7: which of them it refuses.

usage: validate.py FILE

FILE has one JSON value a line: the schema, then the documents as {"value": …} and, where a part of the schema is
meant, "at": a JSON pointer into it such as #/definitions/Upload. A line `NUMBER<tab>why` goes to the standard output
for each document that is refused, by its number from 0, and a last line `checked N`. Exit 1: the schema itself is
invalid.
"""

import json
import sys

from jsonschema import Draft7Validator
from jsonschema.exceptions import SchemaError, best_match


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        # Not splitlines(): JSON texts may hold U+2028 as it is.
        lines = file.read().split("\n")
    schema = json.loads(lines[0])
    try:
        Draft7Validator.check_schema(schema)
    except SchemaError as error:
        print(f"the schema is invalid: {error.message} at {list(error.absolute_path)}", file=sys.stderr)
        return 1

    whole = Draft7Validator(schema)
    parts = {}
    checked = 0
    for line in lines[1:]:
        document = json.loads(line)
        validator = whole
        at = document.get("at")
        if at is not None:
            if at not in parts:
                parts[at] = Draft7Validator({"$ref": at, "definitions": schema["definitions"]})
            validator = parts[at]
        if not validator.is_valid(document["value"]):
            error = best_match(validator.iter_errors(document["value"]))
            place = "/".join(str(part) for part in error.absolute_path)
            why = f"/{place}: {error.message}".replace("\n", " ")
            print(f"{checked}\t{why[:300]}")
        checked += 1
    print(f"checked {checked}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
