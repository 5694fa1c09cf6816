"""Reports which documents a JSON schema of draft 7 rejects.

usage: validate.py FILE

FILE has one JSON value per line: the schema, then the documents as {"value": …}. If a document is to be checked against a
part of the schema, its object also has "at": a JSON pointer such as #/definitions/Upload. For each rejected document,
the script prints a line `NUMBER<tab>REASON`, with the document's number counted from 0. The last line is `checked N`. If
the schema itself is invalid, the script exits with 1.
"""

import json
import sys

from jsonschema import Draft7Validator
from jsonschema.exceptions import SchemaError, best_match


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        # splitlines() would also split at U+2028, which JSON texts may contain unescaped.
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
