"""What pages share: figures as SVG and CSV, numbers in words, the style sheet."""
