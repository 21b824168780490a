"""What runs inside the sandbox's processes; standard library alone, since they see no site-packages."""
