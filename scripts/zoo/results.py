"""Results of the zoo in a file, so that a second call goes on where the first one ended."""
import json
import os


class Results:
    """A file of results that is complete after each model."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if os.path.exists(path):
            with open(path) as file:
                self.rows = json.load(file)

    def put(self, key, row):
        self.rows[key] = row
        with open(self.path + ".part", "w") as file:
            json.dump(self.rows, file, indent=1)
        os.rename(self.path + ".part", self.path)
