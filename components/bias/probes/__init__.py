"""The probes: every module of this folder is one."""
