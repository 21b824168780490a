"""The steps that open and close an arm of a study inside its pipeline."""
