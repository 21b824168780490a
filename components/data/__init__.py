"""Where prompts come from, how they are split, and the step that writes them."""
