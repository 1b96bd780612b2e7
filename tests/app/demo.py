"""The files of the demo session, by name."""

MODEL = "tidewatch/model.py"
REPORT = "tidewatch/report.py"
MAIN = "tidewatch/__main__.py"
TESTS = "tests/test_model.py"
README = "README.md"
NOTES = "NOTES.md"
