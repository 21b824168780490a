"""The trusted side of an execution: answers the operator calls of untrusted workflow code, and meters them."""
