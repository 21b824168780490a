"""The step teardown-judge: ends the judge that this run started."""
