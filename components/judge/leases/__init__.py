"""Who uses a judge of the cluster, and that it goes when nobody does any more.

For work that goes on for long: :func:`components.judge.leases.renewing.renewing`.
"""
