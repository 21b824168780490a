"""Short requests made from the templates and subjects in this folder."""
