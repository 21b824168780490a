"""The mixed baseline's data: six sets in their official forms and rows of one's own, split, de-duplicated and mixed."""
