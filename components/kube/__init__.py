"""The Kubernetes API as plain dictionaries: one small client that outlives dropped watches, conflicts and restarts.

``cluster.Cluster`` is the way in. Nothing here knows of judges or training.
"""
