"""What runs inside the steps of Gavel's pipelines: one folder a step, plus the libraries that steps share."""
