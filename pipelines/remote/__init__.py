"""Runs on a cluster, through KFP's API: submit, list, read, fetch, cancel."""
